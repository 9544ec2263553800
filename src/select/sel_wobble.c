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
#include "select/selectors.h"
#include "select/wobble.h"

#include "base/memory.h"
#include "base/worker_pool.h"
#include "engine/sample_plan.h"

#include <math.h>
#include <plexor/system.h>
#include <stdlib.h>
#include <string.h>

enum { WOBBLE_BY };
enum { VIEWS = 5 }; /* the picture, and as many moves */

static const struct {
    int right, down;
} moves[VIEWS] = {{0, 0}, {1, 0}, {-1, 0}, {0, 1}, {0, -1}};

static const px_param wobble_settings[] = {
    [WOBBLE_BY] = {.name = "by",
                   .fallback = 1,
                   .least = 1,
                   .most = 64,
                   .integer = true,
                   .help = "pixels that a picture is moved by"},
};

typedef struct wobble {
    px_scores scores;
    int64_t by;
} wobble;

static px_status wobble_prepare(const px_selector_request *request, void **out, px_error *err)
{
    wobble *s = pxi_calloc(1, sizeof *s);
    if (!s)
        return px_fail(err, PX_E_NOMEM, "out of memory");
    s->scores = request->scores;
    s->by = (int64_t)request->settings[WOBBLE_BY];
    *out = s;
    return PX_OK;
}

/* --- passes
 * ----------------------------------------------------------------------------------------- */

typedef struct wobble_worker {
    px_session *session;
    float *pixels; /* of the candidate at hand, as stored */
    float *row;
    double *p;
    int class;    /* of the candidate at hand as it is; -1: none */
    double doubt; /* about that class, summed over the views so far */
} wobble_worker;

typedef struct wobble_runner {
    const wobble *s;
    const px_selector_job *job;
    px_plan *plan;
    px_shape shape; /* of an input */
    size_t floats;
    int64_t batch; /* inputs per run of the network, and candidates per piece of work */
    wobble_worker *workers;
    int worker_count;
    double *scores;
} wobble_runner;

static px_status runner_plan(wobble_runner *r, px_error *err)
{
    enum { BATCH_MOST = 256 };
    const px_selector_job *job = r->job;
    px_plan_options options = px_plan_options_default();
    px_feed feed = {0};
    r->shape = px_dataset_shape(job->set);
    r->floats = (size_t)px_shape_count(&r->shape);
    PX_TRY(pxi_sample_feed(job->model, &r->shape, job->pre->channels_last, &feed, err));
    options.batch = job->batch;
    options.keep = &r->s->scores.value;
    options.keep_count = 1;
    options.no_outputs = true;
    PX_TRY(pxi_sample_plan(job->model, &feed, options, BATCH_MOST, &r->plan, err));
    r->batch = px_plan_batch(r->plan);
    return PX_OK;
}

static px_status worker_init(const wobble_runner *r, wobble_worker *w, px_error *err)
{
    const size_t classes = (size_t)r->s->scores.classes;
    w->pixels = pxi_calloc(r->floats, sizeof *w->pixels);
    w->row = pxi_calloc(classes, sizeof *w->row);
    w->p = pxi_calloc(classes, sizeof *w->p);
    if (!w->pixels || !w->row || !w->p)
        return px_fail(err, PX_E_NOMEM, "out of memory");
    return px_session_new(r->plan, &w->session, err);
}

static void worker_done(wobble_worker *w)
{
    px_session_free(w->session);
    free(w->pixels);
    free(w->row);
    free(w->p);
}

/* Makes a network input of a view. Views come in order, so pixels are read once per candidate. */
static px_status view_fill(const wobble_runner *r, wobble_worker *w, int64_t candidate, int view,
                           float *input, px_error *err)
{
    const int64_t by = r->s->by;
    if (view == 0)
        PX_TRY(px_dataset_pixels(r->job->set, candidate, w->pixels, err));
    pxi_wobble_move(&r->shape, moves[view].right * by, moves[view].down * by, w->pixels, input);
    return px_preprocess_apply(r->job->pre, &r->shape, input, err);
}

static void view_judge(const wobble_runner *r, wobble_worker *w, int64_t candidate, int view)
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

/* As many candidates as a batch has inputs: their views fill whole batches. */
static px_status run_piece(void *context, int worker, int64_t number, px_error *err)
{
    const wobble_runner *r = context;
    const px_scores *scores = &r->s->scores;
    wobble_worker *w = &r->workers[worker];
    const int64_t first = number * r->batch;
    const int64_t views = VIEWS * PX_MIN(r->batch, r->job->count - first);
    float *input = px_session_input(w->session, 0);
    for (int64_t at = 0; at < views; at += r->batch) {
        const int64_t samples = PX_MIN(r->batch, views - at);
        for (int64_t i = 0; i < samples; i++)
            PX_TRY(view_fill(r, w, first + (at + i) / VIEWS, (int)((at + i) % VIEWS),
                             input + (size_t)i * r->floats, err));
        memset(input + (size_t)samples * r->floats, 0,
               (size_t)(r->batch - samples) * r->floats * sizeof *input);
        PX_TRY(px_session_forward(w->session, err));
        const px_view view = px_session_view(w->session, scores->value);
        if (!view.data || view.shape.rank < 2 || view.shape.dim[1] != scores->classes)
            return px_fail(err, PX_E_INTERNAL, "the plan does not keep the class scores");
        for (int64_t i = 0; i < samples; i++) {
            for (int c = 0; c < scores->classes; c++)
                w->row[c] = view.data[i * view.stride[0] + c * view.stride[1]];
            view_judge(r, w, first + (at + i) / VIEWS, (int)((at + i) % VIEWS));
        }
    }
    return PX_OK;
}

static bool run_tick(void *context, int64_t done, int64_t total)
{
    const wobble_runner *r = context;
    const px_selector_job *job = r->job;
    (void)total;
    return !job->progress ||
           job->progress(job->progress_context, PX_MIN(done * r->batch, job->count), job->count);
}

static px_status wobble_run(void *prepared, const px_selector_job *job, double *scores,
                            px_error *err)
{
    const double start = px_clock_s();
    wobble_runner r = {.s = prepared, .job = job, .scores = scores};
    px_pool *pool = NULL;
    px_status status = runner_plan(&r, err);
    const int64_t pieces = status == PX_OK ? (job->count + r.batch - 1) / r.batch : 0;
    if (status == PX_OK)
        status = pxi_pool_new((int)PX_MIN((int64_t)job->threads, pieces), &pool, err);
    if (status == PX_OK) {
        r.workers = pxi_calloc((size_t)pxi_pool_threads(pool), sizeof *r.workers);
        r.worker_count = r.workers ? pxi_pool_threads(pool) : 0;
        status = r.workers ? PX_OK : px_fail(err, PX_E_NOMEM, "out of memory");
    }
    for (int i = 0; i < r.worker_count && status == PX_OK; i++)
        status = worker_init(&r, &r.workers[i], err);
    if (status == PX_OK)
        status = pxi_pool_run(pool, pieces, run_piece, &r, run_tick, &r, err);
    if (status == PX_OK && job->predicted)
        *job->predicts = true;
    for (int i = 0; i < r.worker_count; i++)
        worker_done(&r.workers[i]);
    free(r.workers);
    pxi_pool_free(pool);
    px_plan_free(r.plan);
    job->times->pass += px_clock_s() - start;
    return status;
}

const px_selector px_selector_wobble = {
    .id = "wobble",
    .title = "inputs whose answer does not survive being moved by a pixel",
    .source = "plexor's own; docs/select.md has the measurements",
    .settings = wobble_settings,
    .setting_count = PX_LEN(wobble_settings),
    .needs = PX_NEEDS_CLASSES | PX_NEEDS_PICTURES,
    .no_rows = true,
    .prepare = wobble_prepare,
    .release = free,
    .run = wobble_run,
};
