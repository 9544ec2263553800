/* src/cover/cover_run.c - a data set for a cover, whole or a shard of it, with a growth curve */
/* SPDX-License-Identifier: Apache-2.0 */
#include "cover/cover_internal.h"
#include <internal/block_run.h>

#include "base/memory.h"
#include "cover/criteria.h"

#include <stdlib.h>
#include <xxhash.h>

/* Bytes of a state from which on threads share one. */
#define SHARED_FROM ((size_t)64 << 20)

px_cover_run_options px_cover_run_options_default(void)
{
    return (px_cover_run_options){.shards = 1};
}

static px_status slot_open(void *context, void **state, px_error *err)
{
    const pxi_cover_slot *slot = context;
    return slot->criterion->open(slot->prepared, state, err);
}

static void slot_close(void *context, void *state)
{
    const pxi_cover_slot *slot = context;
    slot->criterion->close(state);
}

static px_status slot_observe(void *context, void *state, const px_rows *rows, px_error *err)
{
    const pxi_cover_slot *slot = context;
    const px_status status = slot->criterion->observe(state, rows, err);
    return status == PX_OK ? PX_OK
                           : px_fail_in(err, status, "criterion '%s'", slot->criterion->entry.id);
}

static px_status slot_merge(void *context, void *state, void *other, px_error *err)
{
    const pxi_cover_slot *slot = context;
    const px_status status = slot->criterion->merge(state, other, err);
    return status == PX_OK ? PX_OK
                           : px_fail_in(err, status, "criterion '%s'", slot->criterion->entry.id);
}

static bool slot_may_save(const void *context)
{
    const pxi_cover_slot *slot = context;
    return slot->criterion->save && slot->criterion->load;
}

static px_status slot_save(void *context, const void *state, px_npz_writer *to, const char *prefix,
                           px_error *err)
{
    const pxi_cover_slot *slot = context;
    return slot->criterion->save(state, to, prefix, err);
}

static px_status slot_load(void *context, void *state, const px_npz *from, const char *prefix,
                           px_error *err)
{
    const pxi_cover_slot *slot = context;
    return slot->criterion->load(state, from, prefix, err);
}

static const pxi_consumer_kind slot_kind = {slot_open, slot_close, slot_observe, slot_merge,
                                            slot_save, slot_load,  slot_may_save};

/* --- the growth curve ------------------------------------------------------------------------ */

typedef struct curve {
    px_cover *cover;
    pxi_consumer *consumers;
    const pxi_block_job *job;

    int64_t *stops;
    size_t count;
} curve;

static px_status curve_add(px_cover *cover, int64_t inputs, const pxi_consumer *consumers,
                           px_error *err)
{
    double *values = pxi_calloc(PX_MAX(cover->count, 1), sizeof *values);
    if (!values || pxi_grow(&cover->points, &cover->point_capacity, cover->point_count + 1,
                            sizeof *cover->points) != 0) {
        free(values);
        return pxi_no_memory(err);
    }
    for (size_t i = 0; i < cover->count; i++)
        values[i] = cover->slots[i].criterion->value(consumers[i].state).value;
    cover->points[cover->point_count++] = (px_cover_point){.inputs = inputs, .values = values};
    return PX_OK;
}

static px_status curve_stop(void *context, size_t i, px_error *err)
{
    const curve *c = context;
    const int64_t inputs = PX_MIN(c->stops[i] * PX_COVER_BLOCK, c->job->end - c->job->first);
    return curve_add(c->cover, inputs, c->consumers, err);
}

/* Points within the first block, where most curves rise most: 1, 2, 4, ... inputs, each with states
 * of its own. All of them together run as many inputs as a block has. */
static px_status curve_begin(px_cover *cover, const pxi_block_job *job, px_error *err)
{
    pxi_consumer *consumers = NULL;
    PX_TRY(PX_NEW(consumers, PX_MAX(cover->count, 1), err));
    px_status status = PX_OK;
    for (int64_t n = 1; n < PX_COVER_BLOCK && n < job->end - job->first && status == PX_OK;
         n *= 2) {
        pxi_block_job start = *job;
        start.end = job->first + n;
        start.threads = 1;
        start.consumers = consumers;
        start.stop_count = 0;
        start.progress = NULL;
        start.tally = NULL;
        for (size_t i = 0; i < cover->count && status == PX_OK; i++) {
            consumers[i] = job->consumers[i];
            consumers[i].state = NULL;
            status = slot_open(consumers[i].context, &consumers[i].state, err);
        }
        PX_THEN(status, pxi_block_run(&start, NULL, err));
        PX_THEN(status, curve_add(cover, n, consumers, err));
        for (size_t i = 0; i < cover->count; i++)
            if (consumers[i].state) {
                slot_close(consumers[i].context, consumers[i].state);
                consumers[i].state = NULL;
            }
    }
    free(consumers);
    return status;
}

static px_status curve_plan(curve *c, size_t wanted, px_error *err)
{
    const int64_t inputs = c->job->end - c->job->first;
    const int64_t blocks = (inputs + PX_COVER_BLOCK - 1) / PX_COVER_BLOCK;
    c->count = (size_t)PX_MIN((int64_t)wanted, blocks);
    PX_TRY(PX_NEW(c->stops, PX_MAX(c->count, 1), err));
    for (size_t i = 0; i < c->count; i++) /* evenly, the last one at the end */
        c->stops[i] = (int64_t)((i + 1) * (size_t)blocks / c->count);
    return PX_OK;
}

/* --- a run ----------------------------------------------------------------------------------- */

/* The data's own hash, or, where only some inputs take part, one of which ones too. */
static uint64_t run_data_hash(const px_dataset *set, const bool *only)
{
    const uint64_t hash = px_dataset_hash(set);
    return only ? XXH3_64bits_withSeed(only, (size_t)px_dataset_count(set) * sizeof *only, hash)
                : hash;
}

static px_status run_range(const px_cover *cover, const px_dataset *set,
                           const px_cover_run_options *options, pxi_block_job *job, px_error *err)
{
    if (!cover->model)
        return px_fail(err, PX_E_USAGE, "a state without its network cannot observe inputs");
    return pxi_block_shard(px_dataset_count(set), options->shard, options->shards, job, err);
}

static px_status run_blocks(px_cover *cover, pxi_block_job *job,
                            const px_cover_run_options *options, int64_t *done, px_error *err)
{
    curve points = {.cover = cover, .consumers = job->consumers, .job = job};
    px_status status = PX_OK;
    if (options->curve_points > 0 && job->end > job->first) {
        status = curve_plan(&points, options->curve_points, err);
        PX_THEN(status, curve_begin(cover, job, err));
        job->stops = points.stops;
        job->stop_count = points.count;
        job->stop = curve_stop;
        job->stop_context = &points;
    }
    PX_THEN(status, pxi_block_run(job, done, err));
    free(points.stops);
    return status;
}

/* Extraction is charged to those who asked for it, in equal parts. */
static void run_charge(px_cover *cover, const pxi_consumer *consumers, const pxi_tally *tally)
{
    for (size_t i = 0; i < cover->count; i++) {
        size_t sharing = 0;
        for (size_t k = 0; k < cover->count; k++)
            sharing += cover->slots[k].extractor == cover->slots[i].extractor;
        pxi_cover_slot *slot = &cover->slots[i];
        slot->observed += consumers[i].observed;
        slot->rejected += consumers[i].rejected;
        slot->seconds +=
            consumers[i].seconds + tally->extract_seconds[slot->extractor] / (double)sharing;
    }
}

px_status px_cover_run(px_cover *cover, const px_dataset *set, const px_preprocess *pre,
                       const px_cover_run_options *options, px_cover_tally *tally, px_error *err)
{
    pxi_consumer *consumers = pxi_calloc(PX_MAX(cover->count, 1), sizeof *consumers);
    pxi_tally counts = {
        .extract_seconds =
            pxi_calloc(PX_MAX(cover->extractors.count, 1), sizeof *counts.extract_seconds),
    };
    pxi_block_job job = {.rows = &cover->rows,
                         .set = set,
                         .pre = pre,
                         .batch = options->batch,
                         .threads = cover->threads,
                         .only = options->only,
                         .consumers = consumers,
                         .consumer_count = cover->count,
                         .progress = options->progress,
                         .progress_context = options->progress_context,
                         .tally = &counts};
    int64_t done = 0;
    px_status status = consumers && counts.extract_seconds
                           ? run_range(cover, set, options, &job, err)
                           : pxi_no_memory(err);
    if (status != PX_OK)
        goto done;
    pxi_cover_forget_curve(cover);
    const pxi_seen_range seen = {
        .data = run_data_hash(set, options->only), .first = job.first, .end = job.end};
    status = pxi_seen_may_add(&cover->seen, seen, err);
    if (status != PX_OK)
        goto done;
    for (size_t i = 0; i < cover->count; i++)
        consumers[i] = (pxi_consumer){
            .kind = &slot_kind,
            .context = &cover->slots[i],
            .extractor = cover->slots[i].extractor,
            .ordered = cover->slots[i].criterion->ordered,
            .shared = pxi_criterion_state_bytes(cover->slots[i].criterion,
                                                cover->slots[i].prepared) > SHARED_FROM,
            .state = cover->slots[i].state};
    status = run_blocks(cover, &job, options, &done, err);
    if (status == PX_OK || status == PX_E_CANCELLED) {
        pxi_seen_range part = seen;
        part.end = PX_MIN(seen.first + done * PX_COVER_BLOCK, seen.end);
        run_charge(cover, consumers, &counts);
        const px_status noted = pxi_seen_add(&cover->seen, part, status == PX_OK ? err : NULL);
        status = status == PX_OK ? noted : status;
    }
    if (tally)
        *tally = counts.sum;
done:
    free(consumers);
    free(counts.extract_seconds);
    return status;
}
