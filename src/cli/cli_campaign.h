/* src/cli/cli_campaign.h - what a campaign remembers of how its inputs are fed, and of how it was
 * begun
 */
#ifndef PLEXOR_CLI_CAMPAIGN_H
#define PLEXOR_CLI_CAMPAIGN_H

#include "cli/cli_net.h"

#include <plexor/store.h>

/* Where `data` names a campaign that was made with this model: the scale, mean and std that it was
 * made with, for those that were not given and that the model's metadata do not have either.
 * Anything else leaves `pre` alone; a campaign that cannot be read is told when it is opened. */
void cli_campaign_preprocess(const px_model *model, const cli_data *data, px_preprocess *pre);

/* From now on whoever called hears of the failures that are committed to it. */
void cli_campaign_watch(px_campaign *campaign);

/* Keeps the words of the run that begins a campaign; one that has some keeps those. */
px_status cli_campaign_begin(px_campaign *campaign, int argc, char **argv, px_error *err);
/* Those words, as for cli_parse(), kept with the call. */
px_status cli_campaign_begun(const char *folder, char ***words, int *count, px_error *err);

#endif
