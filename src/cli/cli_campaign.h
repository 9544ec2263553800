/* src/cli/cli_campaign.h - a campaign that a command works on: what it finds, how it was begun */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PLEXOR_CLI_CAMPAIGN_H
#define PLEXOR_CLI_CAMPAIGN_H

#include "cli/cli_net.h"

#include <plexor/store.h>

/* From now on whoever called hears of the failures that are committed to it. */
void cli_campaign_watch(px_campaign *campaign);

/* Keeps the words of the run that begins a campaign; one that has some keeps those. */
px_status cli_campaign_begin(px_campaign *campaign, int argc, char **argv, px_error *err);
/* Those words, as for cli_parse(), kept with the call. */
px_status cli_campaign_begun(const char *folder, char ***words, int *count, px_error *err);

#endif
