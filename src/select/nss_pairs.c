/* src/select/nss_pairs.c - pairs of inputs through a network, both of a pair in one batch
 *
 * A worker takes a group of pairs, fills a micro-batch with them, and reads the neurons while they
 * are hot; nothing is kept of a pair after it was visited. Pixels are read once per pair where the
 * second of it is a fresh mutant.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#include "select/nss.h"
#include <internal/lane_watch.h>

#include <internal/mutate.h>
#include <internal/probe.h>
#include <internal/rng.h>
#include <math.h>
#include <string.h>

typedef struct pair_run {
    const pxi_pair_pass *pass;
    px_shape shape; /* of an input */
    px_scores scores;
    int64_t units;
} pair_run;

typedef struct pair_lane {
    px_probe_watch watch; /* first */
    float *pixels;        /* [floats]: the pair's first input, as stored */
    float *trace;         /* [rows][units] */
    bool *rejected;       /* [rows] */
    int64_t *classes;
    double *losses;
} pair_lane;

static px_status pair_open(pxi_lane *lane, px_error *err)
{
    const pair_run *r = lane->context;
    const size_t rows = (size_t)pxi_pass_rows(lane->pass);
    pair_lane *w = lane->state;
    (void)err;
    w->watch.probe = r->pass->probe;
    w->pixels = pxi_lane_array(lane, pxi_pass_floats(lane->pass), sizeof *w->pixels);
    w->trace = pxi_lane_array(lane, rows, (size_t)r->units * sizeof *w->trace);
    w->rejected = pxi_lane_array(lane, rows, sizeof *w->rejected);
    w->classes = pxi_lane_array(lane, rows, sizeof *w->classes);
    w->losses = pxi_lane_array(lane, rows, sizeof *w->losses);
    return PX_OK;
}

static int64_t pair_index(const pxi_pair_pass *pass, int64_t item)
{
    return pass->index ? pass->index[item] : item;
}

static px_status pair_fill(pxi_lane *lane, int64_t item, int view, float *input, px_error *err)
{
    const pair_run *r = lane->context;
    const pair_lane *w = lane->state;
    const pxi_pair_pass *pass = r->pass;
    const int64_t index = pair_index(pass, item);
    if (pass->kind == PXI_PAIR_ORIGINAL)
        return px_dataset_input(view == 0 ? pass->set : pass->originals, pass->pre, index, input,
                                err);
    const px_dataset *from = pass->kind == PXI_PAIR_FRESH ? pass->set : pass->originals;
    if (view == 0) {
        PX_TRY(px_dataset_pixels(from, index, w->pixels, err));
        memcpy(input, w->pixels, pxi_pass_floats(lane->pass) * sizeof *input);
    } else {
        px_random random = px_rng(pass->seed, PX_RNG_MUTATE,
                                  (uint32_t)px_dataset_index(from, index), pass->iteration);
        const px_drawn drawn = px_mutation_draw(&pass->from, &random);
        PX_TRY(px_mutation_apply_values(&drawn, &r->shape, !px_dataset_is_8bit(from), w->pixels,
                                        input, err));
    }
    return px_preprocess_apply(pass->pre, &r->shape, input, err);
}

static px_status pair_begin(pxi_lane *lane, const pxi_batch *batch, px_error *err)
{
    const pair_run *r = lane->context;
    pair_lane *w = lane->state;
    (void)err;
    w->watch.samples = batch->count;
    w->watch.trace = w->trace + batch->row * r->units;
    return PX_OK;
}

/* A batch of odd size parts a pair: pairs are looked at when the piece is complete. */
static px_status pair_visit(pxi_lane *lane, const pxi_batch *batch, px_error *err)
{
    const pair_run *r = lane->context;
    const pxi_pair_pass *pass = r->pass;
    pair_lane *w = lane->state;
    if (pass->predict) {
        int64_t *classes = w->classes + batch->row;
        PX_TRY(px_session_judge(lane->session, &r->scores, NULL, batch->count, classes, NULL, err));
        PX_TRY(px_session_judge(lane->session, &r->scores, classes, batch->count, classes,
                                w->losses + batch->row, err));
    }
    if (!batch->last)
        return PX_OK;
    const int64_t rows = batch->row + batch->count;
    px_probe_reject(pass->probe, w->trace, rows, w->rejected);
    for (int64_t i = 0; i < rows; i += 2) {
        const pxi_pair pair = {
            .index = pair_index(pass, batch->first + i / 2),
            .x = w->trace + i * r->units,
            .y = w->trace + (i + 1) * r->units,
            .rejected = w->rejected[i] || w->rejected[i + 1],
            .predicted = pass->predict ? (int)w->classes[i] : -1,
            .confidence = pass->predict ? (float)exp(-w->losses[i]) : NAN,
        };
        PX_TRY(pass->visit(pass->context, lane->number, &pair, err));
    }
    return PX_OK;
}

px_status pxi_pair_run(const pxi_pair_pass *pass, px_error *err)
{
    pair_run r = {.pass = pass,
                  .shape = px_dataset_shape(pass->set),
                  .units = px_probe_neuron_count(pass->probe)};
    const pxi_task task = {.model = pass->model,
                           .set = pass->set,
                           .pre = pass->pre,
                           .count = pass->count,
                           .threads = pass->threads,
                           .batch = pxi_probe_batch(pass->probe, pass->batch),
                           .max_batch = 256, /* larger ones are no faster */
                           .progress = pass->progress,
                           .progress_context = pass->progress_context};
    const pxi_visitor visitor = {.context = &r,
                                 .state_size = sizeof(pair_lane),
                                 .views = 2,
                                 .open = pair_open,
                                 .fill = pair_fill,
                                 .begin = pair_begin,
                                 .observe = pxi_lane_observe,
                                 .visit = pair_visit,
                                 .left = pass->left};
    px_plan_options wants = px_plan_options_default();
    if (pass->predict) {
        PX_TRY(px_model_scores(pass->model, &r.scores, err));
        wants = pxi_wants_scores(&r.scores);
    }
    wants.observe = px_probe_values(pass->probe, &wants.observe_count);
    wants.no_outputs = true;
    return pxi_pass_once(&task, &wants, &visitor, err);
}
