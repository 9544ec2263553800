/* src/cli/replay_fixed.h - which failures of a campaign another network still has */
#ifndef PLEXOR_CLI_REPLAY_FIXED_H
#define PLEXOR_CLI_REPLAY_FIXED_H

#include "cli/cli.h"

#include <plexor/store.h>

typedef struct replay_type { /* failures of one label that were taken for one class */
    int64_t label, prediction;
    int64_t count, still;
} replay_type;

typedef struct replay_fixed { /* {0} to begin with */
    int64_t count, still;
    int64_t left_out;  /* failures without a label, or whose class was right */
    int64_t *ids;      /* of those that still fail */
    replay_type *type; /* the ones with most left first, once sorted */
    size_t type_count, type_room;
} replay_fixed;

/* Takes a failure that the network now says `prediction` of; its label is `label` there. */
px_status replay_fixed_add(replay_fixed *fixed, const px_campaign_input *in, int64_t label,
                           int64_t prediction, px_error *err);
void replay_fixed_sort(replay_fixed *fixed);
double replay_fixed_share(const replay_fixed *fixed); /* 1 where there were no failures */
/* Names of classes are the campaign's. */
void replay_fixed_print(const replay_fixed *fixed, px_campaign *campaign);
void replay_fixed_json(const replay_fixed *fixed, px_campaign *campaign, px_json *json);
void replay_fixed_done(replay_fixed *fixed);

#endif
