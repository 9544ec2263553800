/* src/cli/pair_campaign.h - the campaign that attack and synthesize write their pairs into */
#ifndef PLEXOR_CLI_PAIR_CAMPAIGN_H
#define PLEXOR_CLI_PAIR_CAMPAIGN_H

#include "cli/cli_net.h"

#include <plexor/pairs.h>

typedef struct pair_campaign {
    px_campaign *campaign; /* NULL: there is none */
    px_pairs *pairs;       /* once it is identified */
} pair_campaign;

/* A new campaign, empty, before anything else is done. */
px_status pair_campaign_open(pair_campaign *to, const char *folder, px_error *err);
/* Says what it is about. `inputs` is borrowed. */
px_status pair_campaign_identify(pair_campaign *to, const cli_inputs *inputs, bool keep_float,
                                 const px_model *model, int classes, const char *settings,
                                 int64_t seed, px_error *err);
void pair_campaign_close(pair_campaign *to);

#endif
