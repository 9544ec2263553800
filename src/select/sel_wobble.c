/* src/select/sel_wobble.c - inputs whose answer does not survive being moved by a pixel
 *
 * Plexor's own. The network sees a picture five times: as it is, and moved by a pixel to the right,
 * to the left, down and up, the nearest pixel coming in. With c the class it gives to the picture
 * as it is,
 *
 *     wobble(x) = 1 - mean of p_c over the five
 *
 * So two things add up: how unsure the answer is, and how little is left of it where nothing of
 * meaning changed. docs/select.md tells what it was compared with, and on what.
 *
 * A picture and its moved ones follow each other through the same session; sums are taken in that
 * order, so the result does not depend on threads.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#include "select/selectors.h"
#include "select/wobble.h"

#include "base/memory.h"
#include <internal/pass.h>

#include <internal/engine.h>
#include <math.h>
#include <plexor/system.h>
#include <stdlib.h>

enum { VIEWS = 5 }; /* the picture, and as many moves */

static const struct {
    int right, down;
} moves[VIEWS] = {{0, 0}, {1, 0}, {-1, 0}, {0, 1}, {0, -1}};

typedef struct wobble_config {
    int64_t by;
} wobble_config;

static const px_param wobble_params[] = {
    PX_PARAM_INT(wobble_config, by, 1, 1, 64, "pixels that a picture is moved by"),
    PX_PARAM_END,
};

typedef struct wobble {
    px_scores scores;
    int64_t by;
} wobble;

static px_status wobble_prepare(const px_selector_request *request, void **out, px_error *err)
{
    wobble *s = NULL;
    PX_TRY(PX_NEW(s, 1, err));
    s->scores = request->scores;
    s->by = ((const wobble_config *)request->config)->by;
    *out = s;
    return PX_OK;
}

/* --- the pass -------------------------------------------------------------------------------- */

typedef struct wobble_run {
    const wobble *s;
    const px_selector_job *job;
    px_shape shape; /* of an input */
    double *scores;
} wobble_run;

typedef struct wobble_lane {
    float *pixels; /* of the candidate at hand, as stored */
    float *row;    /* [classes] */
    double *p;     /* [classes] */
    int class;     /* of the candidate at hand as it is; -1: none */
    double doubt;  /* about that class, summed over the views so far */
} wobble_lane;

static px_status lane_open(pxi_lane *lane, px_error *err)
{
    const wobble_run *r = lane->context;
    const size_t classes = (size_t)r->s->scores.classes;
    wobble_lane *w = lane->state;
    (void)err;
    w->pixels = pxi_lane_array(lane, pxi_pass_floats(lane->pass), sizeof *w->pixels);
    w->row = pxi_lane_array(lane, classes, sizeof *w->row);
    w->p = pxi_lane_array(lane, classes, sizeof *w->p);
    return PX_OK;
}

/* Views come in order, so pixels are read once per candidate. */
static px_status view_fill(pxi_lane *lane, int64_t candidate, int view, float *input, px_error *err)
{
    const wobble_run *r = lane->context;
    const wobble_lane *w = lane->state;
    const int64_t by = r->s->by;
    if (view == 0)
        PX_TRY(px_dataset_pixels(r->job->set, candidate, w->pixels, err));
    pxi_wobble_move(&r->shape, moves[view].right * by, moves[view].down * by, w->pixels, input);
    return px_preprocess_apply(r->job->pre, &r->shape, input, err);
}

static void view_judge(const wobble_run *r, wobble_lane *w, int64_t candidate, int view)
{
    const px_scores *scores = &r->s->scores;
    px_scores_probabilities(scores, w->row, w->p);
    if (view == 0) {
        w->class = px_argmax(w->row, scores->classes);
        w->doubt = 0.0;
        if (r->job->predicted) {
            r->job->predicted[candidate] = w->class;
            r->job->confidence[candidate] = w->class < 0 ? NAN : (float)w->p[w->class];
        }
    }
    w->doubt += w->class < 0 ? NAN : pxi_wobble_doubt(w->p, scores->classes, w->class);
    if (view == VIEWS - 1)
        r->scores[candidate] = w->doubt / VIEWS;
}

static px_status views_visit(pxi_lane *lane, const pxi_batch *batch, px_error *err)
{
    const wobble_run *r = lane->context;
    wobble_lane *w = lane->state;
    for (int64_t i = 0; i < batch->count; i++) {
        PX_TRY(pxi_scores_row(lane->session, &r->s->scores, i, w->row, err));
        view_judge(r, w, batch->first + (batch->row + i) / VIEWS, (int)((batch->row + i) % VIEWS));
    }
    return PX_OK;
}

static px_status wobble_run_all(void *prepared, const px_selector_job *job, double *scores,
                                px_error *err)
{
    const double start = px_clock_s();
    wobble_run r = {
        .s = prepared, .job = job, .shape = px_dataset_shape(job->set), .scores = scores};
    const pxi_task task = {.model = job->model,
                           .set = job->set,
                           .pre = job->pre,
                           .count = job->count,
                           .threads = job->threads,
                           .batch = job->batch,
                           .max_batch = 256 /* larger ones are no faster */,
                           .progress = job->progress,
                           .progress_context = job->progress_context};
    const pxi_left left = {.array = {{scores, sizeof *scores},
                                     {job->predicted, sizeof *job->predicted},
                                     {job->confidence, sizeof *job->confidence}}};
    const pxi_visitor visitor = {.context = &r,
                                 .state_size = sizeof(wobble_lane),
                                 .views = VIEWS,
                                 .open = lane_open,
                                 .fill = view_fill,
                                 .visit = views_visit,
                                 .left = &left};
    const px_plan_options wants = pxi_wants_scores(&r.s->scores);
    const px_status status = pxi_pass_once(&task, &wants, &visitor, err);
    if (status == PX_OK && job->predicted)
        *job->predicts = true;
    job->times->pass += px_clock_s() - start;
    return status;
}

const px_selector px_selector_wobble = {
    .entry = {.id = "wobble",
              .title = "inputs whose answer does not survive being moved by a pixel",
              .source = "plexor's own; docs/select.md has the measurements",
              .params = wobble_params,
              .config_size = sizeof(wobble_config)},
    .needs = PX_NEEDS_CLASSES | PX_NEEDS_PICTURES,
    .no_rows = true,
    .prepare = wobble_prepare,
    .release = free,
    .run = wobble_run_all,
};
