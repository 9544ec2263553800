/* src/localize/spectrum_run.c - a data set for a hit spectrum: one pass, on all workers */
/* SPDX-License-Identifier: Apache-2.0 */
#include "base/memory.h"
#include "localize/spectrum.h"
#include <internal/block_run.h>

#include <internal/cover.h>
#include <internal/data.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static px_status run_open(void *context, void **state, px_error *err)
{
    const px_spectrum *s = context;
    pxi_counts *counts = pxi_calloc(1, sizeof *counts);
    const px_status status = counts
                                 ? pxi_counts_init(counts, s->counts.classes, s->counts.width, err)
                                 : pxi_no_memory(err);
    if (status == PX_OK)
        *state = counts;
    else
        free(counts);
    return status;
}

static void run_close(void *context, void *state)
{
    (void)context;
    pxi_counts_done(state);
    free(state);
}

/* Says which neuron, if it is one: a value that is no number is neither active nor not. */
static px_status run_refuse(const px_spectrum *s, const px_rows *rows, int64_t i, px_error *err)
{
    const float *value = rows->values + i * rows->width;
    for (int64_t n = 0; n < rows->width; n++)
        if (!isfinite(value[n])) {
            const px_spectrum_layer *layer = &s->layers[pxi_spectrum_layer_of(s, n)];
            return px_fail(err, PX_E_INPUT,
                           "layer '%.120s': neuron %" PRId64 " is %s for input %" PRId64
                           ": it is neither active nor inactive; leave that input out, or that "
                           "layer (--layers)",
                           layer->name, n - layer->offset, isnan(value[n]) ? "NaN" : "infinite",
                           rows->facts[i].index);
        }
    return px_fail(err, PX_E_INPUT,
                   "input %" PRId64 " or its class scores are not finite numbers; leave it out",
                   rows->facts[i].index);
}

static px_status run_observe(void *context, void *state, const px_rows *rows, px_error *err)
{
    const px_spectrum *s = context;
    for (int64_t i = 0; i < rows->count; i++)
        if (rows->rejected[i])
            return run_refuse(s, rows, i, err);
    return pxi_counts_observe(state, rows, s->theta, err);
}

static px_status run_merge(void *context, void *state, void *other, px_error *err)
{
    (void)context;
    return pxi_counts_merge(state, other, err);
}

/* Of the classes that were seen: number, failed and passed inputs; and what was active in both. */
static px_status run_save(void *context, const void *state, px_npz_writer *to, const char *prefix,
                          px_error *err)
{
    const pxi_counts *counts = state;
    const px_shape shape = {.rank = 2, .dim = {2, counts->width}};
    int64_t *seen = NULL, used = 0;
    (void)context;
    PX_TRY(PX_NEW(seen, 3 * (size_t)counts->classes + 1, err));
    px_status status = PX_OK;
    for (int c = 0; c < counts->classes && status == PX_OK; c++) {
        const pxi_class_hits *of = &counts->of[c];
        char name[32];
        if (!of->active[PXI_FAIL])
            continue;
        seen[3 * used] = c;
        seen[3 * used + 1] = of->inputs[PXI_FAIL];
        seen[3 * used++ + 2] = of->inputs[PXI_PASS];
        snprintf(name, sizeof name, "active%d", c); /* one allocation for both */
        status = px_npz_put(to, prefix, name, PX_UINT32, &shape, of->active[PXI_FAIL], err);
    }
    if (status == PX_OK)
        status = px_npz_put(to, prefix, "seen", PX_INT64, &(px_shape){.rank = 2, .dim = {used, 3}},
                            seen, err);
    free(seen);
    return status;
}

static px_status run_load(void *context, void *state, const px_npz *from, const char *prefix,
                          px_error *err)
{
    pxi_counts *counts = state;
    const px_shape shape = {.rank = 2, .dim = {2, counts->width}};
    const void *classes, *active;
    px_shape found;
    (void)context;
    PX_TRY(px_npz_take(from, prefix, "seen", PX_INT64, &(px_shape){.rank = 2, .dim = {-1, 3}},
                       &classes, &found, err));
    for (int64_t i = 0; i < found.dim[0]; i++) {
        const int64_t *seen = (const int64_t *)classes + 3 * i;
        char name[32];
        if (seen[0] < 0 || seen[0] >= counts->classes)
            return px_fail(err, PX_E_INPUT, "there is no class %" PRId64, seen[0]);
        const int c = (int)seen[0];
        snprintf(name, sizeof name, "active%d", c);
        PX_TRY(px_npz_take(from, prefix, name, PX_UINT32, &shape, &active, NULL, err));
        PX_TRY(pxi_counts_open(counts, c, err));
        counts->of[c].inputs[PXI_FAIL] = seen[1];
        counts->of[c].inputs[PXI_PASS] = seen[2];
        memcpy(counts->of[c].active[PXI_FAIL], active,
               2 * (size_t)counts->width * sizeof(uint32_t));
    }
    return PX_OK;
}

static const pxi_consumer_kind run_kind = {.open = run_open,
                                           .close = run_close,
                                           .observe = run_observe,
                                           .merge = run_merge,
                                           .save = run_save,
                                           .load = run_load};

static px_status run_check(const px_spectrum *s, const px_dataset *set, px_error *err)
{
    if (!s->model)
        return px_fail(err, PX_E_USAGE, "a spectrum without its network cannot count inputs");
    PX_TRY(px_dataset_check_labels(set, s->counts.classes, err));
    const int64_t count = px_dataset_count(set);
    for (int64_t i = 0; i < count; i++)
        if (px_dataset_label(set, i) < 0)
            return px_fail(err, PX_E_INPUT,
                           "input %" PRId64 " has no label; without one nobody knows whether the "
                           "network is wrong",
                           i);
    if (px_spectrum_passed(s, PX_POOLED) + px_spectrum_failed(s, PX_POOLED) + count >
        PXI_SPECTRUM_MOST_INPUTS)
        return px_fail(err, PX_E_UNSUPPORTED, "a spectrum counts at most %" PRId64 " inputs",
                       PXI_SPECTRUM_MOST_INPUTS);
    return PX_OK;
}

px_status px_spectrum_run(px_spectrum *s, const px_dataset *set, const px_preprocess *pre,
                          const px_spectrum_run_options *options, px_error *err)
{
    const px_spectrum_run_options none = {0};
    const px_spectrum_run_options *o = options ? options : &none;
    pxi_consumer consumer = {.kind = &run_kind, .context = s, .state = &s->counts};
    pxi_block_job job = {.rows = &s->rows,
                         .set = set,
                         .pre = pre,
                         .batch = o->batch,
                         .threads = s->threads,
                         .consumers = &consumer,
                         .consumer_count = 1,
                         .progress = o->progress,
                         .progress_context = o->progress_context};
    PX_TRY(run_check(s, set, err));
    PX_TRY(pxi_block_shard(px_dataset_count(set), o->shard, o->shards, &job, err));
    pxi_seen_range seen = {.data = px_dataset_hash(set), .first = job.first, .end = job.end};
    PX_TRY(pxi_seen_may_add(&s->seen, seen, err));
    int64_t done = 0;
    px_status status = pxi_block_run(&job, &done, err);
    if (status == PX_OK || status == PX_E_CANCELLED) {
        seen.end = PX_MIN(seen.first + done * PX_COVER_BLOCK, seen.end);
        const px_status noted = pxi_seen_add(&s->seen, seen, status == PX_OK ? err : NULL);
        status = status == PX_OK ? noted : status;
    }
    return status;
}
