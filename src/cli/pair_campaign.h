/* src/cli/pair_campaign.h - originals and what became of them, as a campaign
 *
 * An original is a seed, what was made of it a fault, or kept where the network still gets it
 * right.
 */
#ifndef PLEXOR_CLI_PAIR_CAMPAIGN_H
#define PLEXOR_CLI_PAIR_CAMPAIGN_H

#include "cli/cli_net.h"

#include <plexor/store.h>

typedef struct pair_campaign {
    px_campaign *campaign; /* NULL: there is none */
    const cli_inputs *inputs;
    bool rounds;  /* pixels are bytes */
    void *pixels; /* of one input, in the campaign's type */
    int64_t put, executions;
} pair_campaign;

typedef struct pair_made {
    int64_t input; /* its place in the data set */
    int64_t label, before, predicted;
    double confidence_before, confidence; /* NaN: unknown */
    int64_t l0;
    double l2, linf;
    int64_t executions; /* of the network, that it took */
    const char *chain;  /* JSON */
    /* Raw values, as px_dataset_pixels() gives them; `bytes` NULL where nothing is rounded. */
    const float *original, *exact;
    const uint8_t *bytes;
} pair_made;

/* A new campaign, empty, before anything else is done. */
px_status pair_campaign_open(pair_campaign *to, const char *folder, px_error *err);
/* Says what it is about. `inputs` is borrowed. */
px_status pair_campaign_identify(pair_campaign *to, const cli_inputs *inputs, bool keep_float,
                                 const px_model *model, int classes, const char *settings,
                                 int64_t seed, px_error *err);
px_status pair_campaign_put(pair_campaign *to, const pair_made *made, px_error *err);
px_status pair_campaign_finish(pair_campaign *to, const char *command, double seconds,
                               px_error *err);
void pair_campaign_close(pair_campaign *to);

#endif
