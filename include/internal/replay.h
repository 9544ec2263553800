/* include/internal/replay.h - a campaign's inputs made again from their seeds, and judged again
 *
 *     px_replay replay = {0};
 *     if (px_replay_check(campaign, 0, NULL, NULL, &replay, &err) == PX_OK)
 *         printf("%lld of %lld are not what was stored\n", (long long)replay.differ.count,
 *                (long long)replay.checked);
 *     px_replay_done(&replay);
 *
 * A network may judge the stored inputs as well: the campaign's own must say what it said, and of
 * another one, a repaired one for instance, it is told which failures it still has.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PXI_INTERNAL_REPLAY_H
#define PXI_INTERNAL_REPLAY_H

#include <plexor/predict.h>
#include <plexor/store.h>

PX_BEGIN_DECLS

#define PX_REPLAY_LISTED 20
typedef struct px_replay_ids { /* how many inputs, and which the first ones are; 0: not known */
    int64_t count, first[PX_REPLAY_LISTED];
} px_replay_ids;

typedef struct px_replay_kind { /* failures of one label that were taken for one class */
    int64_t label, prediction;
    int64_t count, still; /* still: another network has them too */
} px_replay_kind;

typedef struct px_replay { /* {0} to begin with */
    int64_t checked;
    int64_t stored;       /* of them, without a chain: taken as they are */
    px_replay_ids differ; /* not what their chain gives, or damaged */

    /* By px_replay_judge(): with the campaign's own network, */
    bool judged;
    px_replay_ids otherwise; /* predicted otherwise than is stored */
    /* or with another one. */
    bool judged_anew;
    int64_t failures, left_out; /* left out: no label, or no wrong class */
    int64_t still;              /* failing; ids[0 .. still-1] */
    int64_t *ids;
    px_replay_kind *kinds; /* those with most left first */
    size_t kind_count, kind_capacity;
    int64_t
        baked_batch; /* of a network that runs so many inputs at a time and no other number; 0 */
} px_replay;
void px_replay_done(px_replay *replay);

/* Makes input `id` again, or, with 0, all of them, and adds to *replay. PX_E_CANCELLED where
 * `progress` (may be NULL), which is told of ids, says false. */
px_status px_replay_check(px_campaign *campaign, int64_t id, px_progress_fn progress, void *context,
                          px_replay *replay, px_error *err);

/* What `model` says of stored inputs: `set` is the campaign as data for it (its folder as a SPEC,
 * split "all"), or some of it. */
px_status px_replay_judge(px_campaign *campaign, const px_model *model, const px_dataset *set,
                          const px_preprocess *pre, const px_predict_options *how,
                          px_replay *replay, px_error *err);
double px_replay_fixed(const px_replay *replay); /* a share; 1 where nothing failed */

PX_END_DECLS
#endif
