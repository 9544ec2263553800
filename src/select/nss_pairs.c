/* src/select/nss_pairs.c - pairs of inputs through a network, both of a pair in one batch
 *
 * A worker takes a group of pairs, fills a micro-batch with them, and reads the neurons while they
 * are hot; nothing is kept of a pair after it was visited. Pixels are read once per pair where the
 * second of it is a fresh mutant.
 */
#include "base/memory.h"
#include "base/worker_pool.h"
#include "engine/sample_plan.h"
#include "select/nss.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct pair_worker {
    px_session *session;
    float *inputs;  /* [2 pairs][floats]: the session's own where a batch holds all of them */
    float *own;     /* else these */
    float *trace;   /* [2 pairs][units] */
    bool *rejected; /* per input */
    int64_t *classes;
    double *losses;
} pair_worker;

typedef struct pair_runner {
    const pxi_pair_pass *pass;
    px_plan *plan;
    px_shape shape; /* of an input */
    size_t floats;
    px_scores scores;
    int64_t batch, group; /* inputs per run of the network; pairs per job */
    pair_worker *workers;
    int worker_count;
} pair_runner;

static px_status pair_plan(pair_runner *r, px_error *err)
{
    enum { BATCH_MOST = 256 };
    const pxi_pair_pass *pass = r->pass;
    px_plan_options options = px_plan_options_default();
    px_feed feed = {0};
    r->shape = px_dataset_shape(pass->set);
    r->floats = (size_t)px_shape_count(&r->shape);
    PX_TRY(pxi_sample_feed(pass->model, &r->shape, pass->pre->channels_last, &feed, err));
    options.batch = pass->batch;
    options.observe = px_probe_values(pass->probe, &options.observe_count);
    options.no_outputs = true;
    if (pass->predict) {
        PX_TRY(px_model_scores(pass->model, &r->scores, err));
        options.keep = &r->scores.value;
        options.keep_count = 1;
    }
    PX_TRY(pxi_sample_plan(pass->model, &feed, options, BATCH_MOST, &r->plan, err));
    r->batch = px_plan_batch(r->plan);
    r->group = r->batch % 2 == 0 ? r->batch / 2 : r->batch; /* whole batches either way */
    return PX_OK;
}

static px_status pair_worker_init(const pair_runner *r, pair_worker *w, px_error *err)
{
    const size_t inputs = 2 * (size_t)r->group;
    const size_t units = (size_t)px_probe_neuron_count(r->pass->probe);
    w->trace = pxi_calloc(inputs, units * sizeof *w->trace);
    w->rejected = pxi_calloc(inputs, sizeof *w->rejected);
    w->classes = pxi_calloc(inputs, sizeof *w->classes);
    w->losses = pxi_calloc(inputs, sizeof *w->losses);
    if (!w->trace || !w->rejected || !w->classes || !w->losses)
        return px_fail(err, PX_E_NOMEM, "out of memory for pairs of inputs");
    PX_TRY(px_session_new(r->plan, &w->session, err));
    w->inputs = px_session_input(w->session, 0);
    if (r->batch == 2 * r->group)
        return PX_OK;
    w->inputs = w->own = pxi_calloc(inputs, r->floats * sizeof *w->own);
    return w->own ? PX_OK : px_fail(err, PX_E_NOMEM, "out of memory for pairs of inputs");
}

static void pair_worker_done(pair_worker *w)
{
    px_session_free(w->session);
    free(w->own);
    free(w->trace);
    free(w->rejected);
    free(w->classes);
    free(w->losses);
}

/* Reads the two inputs of a pair, one behind the other. */
static px_status pair_fill(const pair_runner *r, int64_t index, float *x, px_error *err)
{
    const pxi_pair_pass *pass = r->pass;
    float *y = x + r->floats;
    if (pass->kind == PXI_PAIR_ORIGINAL) {
        PX_TRY(px_dataset_input(pass->set, pass->pre, index, x, err));
        return px_dataset_input(pass->originals, pass->pre, index, y, err);
    }
    const px_dataset *from = pass->kind == PXI_PAIR_FRESH ? pass->set : pass->originals;
    px_random random =
        px_rng(pass->seed, PX_RNG_MUTATE, (uint32_t)px_dataset_index(from, index), pass->iteration);
    const px_drawn drawn = px_mutation_draw(&pass->from, &random);
    PX_TRY(px_dataset_pixels(from, index, x, err));
    PX_TRY(px_mutation_apply_values(&drawn, &r->shape, !px_dataset_is_8bit(from), x, y, err));
    PX_TRY(px_preprocess_apply(pass->pre, &r->shape, x, err));
    return px_preprocess_apply(pass->pre, &r->shape, y, err);
}

/* Runs `inputs` of them, in batches. */
static px_status pair_forward(const pair_runner *r, pair_worker *w, int64_t inputs, px_error *err)
{
    const int64_t units = px_probe_neuron_count(r->pass->probe);
    float *to = px_session_input(w->session, 0);
    for (int64_t at = 0; at < inputs; at += r->batch) {
        const int64_t samples = PX_MIN(inputs - at, r->batch);
        px_probe_watch watch = {
            .probe = r->pass->probe, .samples = samples, .trace = w->trace + at * units};
        if (w->own)
            memcpy(to, w->own + (size_t)at * r->floats, (size_t)samples * r->floats * sizeof *to);
        memset(to + (size_t)samples * r->floats, 0,
               (size_t)(r->batch - samples) * r->floats * sizeof *to);
        px_session_observe(w->session, px_probe_observer, &watch);
        const px_status status = px_session_forward(w->session, err);
        px_session_observe(w->session, NULL, NULL);
        PX_TRY(status);
        if (!r->pass->predict)
            continue;
        PX_TRY(px_session_judge(w->session, &r->scores, NULL, samples, w->classes + at, NULL, err));
        PX_TRY(px_session_judge(w->session, &r->scores, w->classes + at, samples, w->classes + at,
                                w->losses + at, err));
    }
    px_probe_reject(r->pass->probe, w->trace, inputs, w->rejected);
    return PX_OK;
}

static px_status pair_group(void *context, int worker, int64_t number, px_error *err)
{
    const pair_runner *r = context;
    const pxi_pair_pass *pass = r->pass;
    pair_worker *w = &r->workers[worker];
    const int64_t units = px_probe_neuron_count(pass->probe);
    const int64_t first = number * r->group, pairs = PX_MIN(r->group, pass->count - first);
    for (int64_t i = 0; i < pairs; i++) {
        const int64_t index = pass->index ? pass->index[first + i] : first + i;
        PX_TRY(pair_fill(r, index, w->inputs + (size_t)(2 * i) * r->floats, err));
    }
    PX_TRY(pair_forward(r, w, 2 * pairs, err));
    for (int64_t i = 0; i < pairs; i++) {
        const pxi_pair pair = {
            .index = pass->index ? pass->index[first + i] : first + i,
            .x = w->trace + 2 * i * units,
            .y = w->trace + (2 * i + 1) * units,
            .rejected = w->rejected[2 * i] || w->rejected[2 * i + 1],
            .predicted = pass->predict ? (int)w->classes[2 * i] : -1,
            .confidence = pass->predict ? (float)exp(-w->losses[2 * i]) : NAN,
        };
        PX_TRY(pass->visit(pass->context, worker, &pair, err));
    }
    return PX_OK;
}

static bool pair_tick(void *context, int64_t done, int64_t total)
{
    const pair_runner *r = context;
    const pxi_pair_pass *pass = r->pass;
    (void)total;
    return !pass->progress || pass->progress(pass->progress_context,
                                             PX_MIN(done * r->group, pass->count), pass->count);
}

px_status pxi_pair_run(const pxi_pair_pass *pass, px_error *err)
{
    pair_runner r = {.pass = pass};
    px_pool *pool = NULL;
    px_status status = pair_plan(&r, err);
    if (status == PX_OK)
        status = pxi_pool_new(pass->threads, &pool, err);
    if (status == PX_OK) {
        r.worker_count = pxi_pool_threads(pool);
        r.workers = pxi_calloc((size_t)r.worker_count, sizeof *r.workers);
        if (!r.workers)
            status = px_fail(err, PX_E_NOMEM, "out of memory");
    }
    for (int i = 0; i < r.worker_count && status == PX_OK; i++)
        status = pair_worker_init(&r, &r.workers[i], err);
    if (status == PX_OK)
        status = pxi_pool_run(pool, (pass->count + r.group - 1) / r.group, pair_group, &r,
                              pair_tick, &r, err);
    for (int i = 0; r.workers && i < r.worker_count; i++)
        pair_worker_done(&r.workers[i]);
    free(r.workers);
    pxi_pool_free(pool);
    px_plan_free(r.plan);
    return status;
}
