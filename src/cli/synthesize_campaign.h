/* src/cli/synthesize_campaign.h - synthesised inputs as a campaign */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PLEXOR_CLI_SYNTHESIZE_CAMPAIGN_H
#define PLEXOR_CLI_SYNTHESIZE_CAMPAIGN_H

#include "cli/pair_campaign.h"

#include <internal/synthesize.h>

typedef struct synthesize_campaign {
    pair_campaign pairs; /* opened by pair_campaign_open() */
    px_synthesis_options options;
    px_synthesis_row *known; /* results of an earlier run that was stopped */
    int64_t known_count;
} synthesize_campaign;

typedef struct synthesize_about { /* what decides the content */
    const cli_inputs *inputs;
    const px_synthesis_options *options; /* complete */
    const px_model *model;
    int classes;
    const px_suspicious *suspects;
    int64_t k, seed;
    const px_synthesis_job *job; /* lists and inputs */
} synthesize_about;

bool synthesize_is_campaign(const char *to); /* by its name: it ends in .campaign */

/* Says what it is about, with the first k neurons of every class in its table, and reads what is
 * there. */
px_status synthesize_campaign_begin(synthesize_campaign *to, const synthesize_about *about,
                                    px_error *err);
/* For px_synthesis_options.emit. */
px_status synthesize_campaign_add(void *context, const px_synthesis_made *made, px_error *err);
void synthesize_campaign_close(synthesize_campaign *to);

#endif
