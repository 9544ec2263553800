/* src/cli/pair_campaign.h - the campaign that attack and synthesize write their pairs into */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PLEXOR_CLI_PAIR_CAMPAIGN_H
#define PLEXOR_CLI_PAIR_CAMPAIGN_H

#include "cli/cli_net.h"

#include <internal/pairs.h>

typedef struct pair_campaign {
    px_campaign *campaign; /* NULL: there is none */
    px_pairs *pairs;       /* once it is identified */
    const char *command;   /* "attack" */
} pair_campaign;

typedef struct pair_place { /* where it goes, as the user said */
    const char *folder;     /* NULL: nowhere */
    bool resume, fresh;
} pair_place;

#define PAIR_STORES "auto|float" /* pixels as what --store says */
enum { PAIR_STORE_AUTO, PAIR_STORE_FLOAT };

#define CLI_PAIR_OPTIONS(place)                                                                   \
    CLI_FLAG(0, "resume", &(place)->resume, "go on with the campaign of a run that was stopped"), \
        CLI_FLAG(0, "fresh", &(place)->fresh,                                                     \
                 "begin anew: what an earlier run made there is removed first")

/* False after the usage error of options that do not go together. */
bool pair_place_check(const cli_command *self, const pair_place *place, bool is_campaign);

/* A new campaign, or the one to go on with, before anything else is done. PX_E_USAGE where there is
 * one, with what can be done about it. */
px_status pair_campaign_open(pair_campaign *to, const cli_command *self, const pair_place *place,
                             px_error *err);
/* Says what it is about, and how many inputs are to come. `inputs` is borrowed. */
px_status pair_campaign_identify(pair_campaign *to, const cli_inputs *inputs, bool keep_float,
                                 const px_model *model, int classes, const char *settings,
                                 int64_t seed, px_error *err);
/* After a run that did not get to its end: how far the campaign is, and how to go on. */
void pair_campaign_stopped(const pair_campaign *to, px_error *err);
void pair_campaign_close(pair_campaign *to);

#endif
