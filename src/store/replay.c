/* src/store/replay.c - inputs of a campaign made again, and judged again */
/* SPDX-License-Identifier: Apache-2.0 */
#include <internal/data.h>
#include <internal/replay.h>
#include <internal/store.h>

#include "base/memory.h"

#include <inttypes.h>
#include <plexor/graph.h>
#include <stdlib.h>

static void ids_add(px_replay_ids *ids, int64_t id)
{
    if (ids->count < PX_REPLAY_LISTED)
        ids->first[ids->count] = id;
    ids->count++;
}

void px_replay_done(px_replay *replay)
{
    free(replay->ids);
    free(replay->kinds);
    *replay = (px_replay){0};
}

/* --- made again ------------------------------------------------------------------------------ */

/* Inputs that cannot be read differ: what was stored is not there. */
static px_status replay_one(px_campaign *campaign, int64_t id, px_replay *replay, px_error *err)
{
    px_replayed replayed = PX_REPLAY_DIFFERS;
    const px_status status = px_campaign_replay(campaign, id, NULL, &replayed, err);
    if (status != PX_OK && status != PX_E_INPUT)
        return status;
    replay->checked++;
    if (status != PX_OK || replayed == PX_REPLAY_DIFFERS)
        ids_add(&replay->differ, id);
    else
        replay->stored += replayed == PX_REPLAY_STORED;
    return PX_OK;
}

px_status px_replay_check(px_campaign *campaign, int64_t id, px_progress_fn progress, void *context,
                          px_replay *replay, px_error *err)
{
    px_campaign_input in = {0};
    int64_t last = 0, damaged = 0;
    if (id)
        return replay_one(campaign, id, replay, err);
    PX_TRY(px_campaign_last(campaign, &last, err));
    for (;;) {
        const int64_t before = damaged;
        const px_status status =
            px_campaign_next(campaign, in.id, PX_INPUT_ANY, &in, NULL, &damaged, err);
        replay->checked += damaged - before;
        for (int64_t i = before; i < damaged; i++)
            ids_add(&replay->differ, 0);
        if (status != PX_OK || !in.id)
            return status;
        PX_TRY(replay_one(campaign, in.id, replay, err));
        if (progress && !progress(context, in.id, last))
            return px_fail(err, PX_E_CANCELLED, "stopped after input %" PRId64, in.id);
    }
}

/* --- judged again ---------------------------------------------------------------------------- */

static px_status replay_kind(px_replay *replay, int64_t label, int64_t prediction,
                             px_replay_kind **out, px_error *err)
{
    size_t i = 0;
    while (i < replay->kind_count &&
           (replay->kinds[i].label != label || replay->kinds[i].prediction != prediction))
        i++;
    if (i == replay->kind_count) {
        PX_TRY(PX_GROW(replay->kinds, replay->kind_capacity, i + 1, err));
        replay->kinds[i] = (px_replay_kind){.label = label, .prediction = prediction};
        replay->kind_count++;
    }
    *out = &replay->kinds[i];
    return PX_OK;
}

/* `label` is by the network's numbers, the input's own by the campaign's. */
static px_status replay_another(px_replay *replay, const px_campaign_input *in, int64_t label,
                                int64_t prediction, px_error *err)
{
    if (in->kind != PX_INPUT_FAULT)
        return PX_OK;
    if (in->label < 0 || label < 0 || in->prediction == in->label) {
        replay->left_out++;
        return PX_OK;
    }
    px_replay_kind *kind = NULL;
    PX_TRY(replay_kind(replay, in->label, in->prediction, &kind, err));
    replay->failures++;
    kind->count++;
    if (prediction == label)
        return PX_OK;
    replay->ids[replay->still++] = in->id;
    kind->still++;
    return PX_OK;
}

static int kind_order(const void *left, const void *right)
{
    const px_replay_kind *a = left, *b = right;
    const int64_t keys[][2] = {{b->still, a->still},
                               {b->count, a->count},
                               {a->label, b->label},
                               {a->prediction, b->prediction}};
    for (size_t i = 0; i < PX_LEN(keys); i++)
        if (keys[i][0] != keys[i][1])
            return keys[i][0] < keys[i][1] ? -1 : 1;
    return 0;
}

static px_status replay_compare(px_campaign *campaign, const px_dataset *set,
                                const px_predictions *said, px_replay *replay, px_error *err)
{
    PX_TRY(PX_NEW(replay->ids, said->count, err));
    for (int64_t i = 0; i < said->count; i++) {
        char name[32];
        px_campaign_input in;
        const int64_t id = strtoll(px_dataset_name(set, i, name, sizeof name), NULL, 10);
        PX_TRY(px_campaign_read(campaign, id, &in, NULL, err));
        if (replay->judged_anew)
            PX_TRY(replay_another(replay, &in, said->label[i], said->predicted[i], err));
        else if (in.prediction >= 0 && in.prediction != said->predicted[i])
            ids_add(&replay->otherwise, in.id);
    }
    if (replay->kind_count)
        qsort(replay->kinds, replay->kind_count, sizeof *replay->kinds, kind_order);
    return PX_OK;
}

px_status px_replay_judge(px_campaign *campaign, const px_model *model, const px_dataset *set,
                          const px_preprocess *pre, const px_predict_options *how,
                          px_replay *replay, px_error *err)
{
    px_campaign_identity identity;
    px_predictions said = {0};
    px_scores scores;
    PX_TRY(px_model_scores(model, &scores, err));
    if (px_dataset_has_labels(set))
        PX_TRY(px_dataset_check_labels(set, scores.classes, err));
    PX_TRY(px_predict(model, set, pre, how, &said, err));
    replay->judged_anew = px_campaign_identity_get(campaign, &identity) &&
                          identity.model_hash != px_model_hash(model);
    replay->judged = !replay->judged_anew;
    replay->baked_batch = said.batch_baked && said.batch < said.count ? said.batch : 0;
    free(replay->ids);
    replay->ids = NULL;
    const px_status status = replay_compare(campaign, set, &said, replay, err);
    px_predictions_done(&said);
    return status;
}

double px_replay_fixed(const px_replay *replay)
{
    return replay->failures ? 1.0 - (double)replay->still / (double)replay->failures : 1.0;
}
