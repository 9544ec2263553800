/* src/select/sel_mc_dropout.c - inputs on which the network disagrees with itself under dropout
 *
 * Y. Gal and Z. Ghahramani, Dropout as a Bayesian Approximation, ICML 2016; CSM B.8. The network
 * runs S times over each input while Dropout drops, normalisation being as in inference. What lies
 * before the first Dropout runs once (stochastic_cut.h). A network without Dropout gets one of
 * ratio `rate` before its last dense layer.
 *
 * Masks are addressed by (seed, input, pass), so the result depends on neither threads nor batches.
 * The one put in has those that it would have if it were in the file.
 */
#include "select/lazy_greedy.h"
#include "select/selectors.h"
#include "select/stochastic_cut.h"
#include "select/vote_scores.h"

#include "base/memory.h"
#include "base/worker_pool.h"
#include "engine/drop.h"
#include "engine/sample_plan.h"

#include <math.h>
#include <plexor/system.h>
#include <stdlib.h>
#include <string.h>

enum { MC_PASSES, MC_RATE, MC_SCORE, MC_TIES };
enum { MC_VARIATION, MC_ENTROPY, MC_INFORMATION, MC_SOFTMAX };

static const char *const mc_scores[] = {"variation", "entropy", "information", "softmax", NULL};
static const char *const mc_ties[] = {"entropy", "index", NULL};

static const px_param mc_settings[] = {
    [MC_PASSES] = {.name = "passes",
                   .fallback = 200,
                   .least = 1,
                   .most = 1e6,
                   .integer = true,
                   .help = "how often the network runs over each input"},
    [MC_RATE] = {.name = "rate",
                 .fallback = 0.5,
                 .least = 0,
                 .most = 0.999999,
                 .help = "of the Dropout that is put in where the network has none"},
    [MC_SCORE] = {.name = "score",
                  .choices = mc_scores,
                  .help = "variation: 1 - the largest share of votes; entropy of the mean "
                          "probabilities; information: that, less the passes' mean entropy; "
                          "softmax: 1 - the largest mean probability"},
    [MC_TIES] = {.name = "ties",
                 .choices = mc_ties,
                 .help = "among equals, the larger entropy of the mean probabilities comes first, "
                         "or the lower index"},
};

typedef struct mc_dropout {
    const px_model *model;
    px_scores scores;
    pxi_stochastic_cut cut;
    int64_t passes;
    double rate;
    int score;
    bool ties;       /* by entropy */
    double *entropy; /* per candidate */
} mc_dropout;

static int64_t mc_bytes(const px_selector_request *request)
{
    return request->count * (int64_t)sizeof(double);
}

static void mc_release(void *prepared)
{
    mc_dropout *mc = prepared;
    if (!mc)
        return;
    pxi_stochastic_cut_done(&mc->cut);
    free(mc->entropy);
    free(mc);
}

static px_status mc_prepare(const px_selector_request *request, void **out, px_error *err)
{
    const double *set = request->settings;
    mc_dropout *mc = pxi_calloc(1, sizeof *mc);
    if (mc)
        mc->entropy = pxi_calloc((size_t)request->count, sizeof *mc->entropy);
    if (!mc || !mc->entropy) {
        mc_release(mc);
        return px_fail(err, PX_E_NOMEM, "out of memory");
    }
    mc->model = request->model;
    mc->scores = request->scores;
    mc->passes = (int64_t)set[MC_PASSES];
    mc->rate = set[MC_RATE];
    mc->score = (int)set[MC_SCORE];
    mc->ties = set[MC_TIES] == 0.0;
    const px_status status = pxi_stochastic_cut_find(px_model_graph(request->model),
                                                     request->scores.value, &mc->cut, err);
    if (status == PX_OK)
        *out = mc;
    else
        mc_release(mc);
    return status;
}

/* --- passes
 * ----------------------------------------------------------------------------------------- */

typedef struct mc_worker {
    px_session *before, *behind;
    float *cut;       /* what the last dense layer reads, if Dropout is put in there */
    pxi_votes *votes; /* per row of the micro-batch */
    float *row;
    double *p;
} mc_worker;

typedef struct mc_run {
    mc_dropout *mc;
    const px_selector_job *job;
    px_plan *before, *behind;
    px_weights *weights; /* of a network with Dropout */
    int64_t batch;
    size_t floats; /* per input */
    size_t each;   /* values per sample at the cut, where Dropout is put in */
    mc_worker *workers;
    int worker_count;
    double *scores;
} mc_run_state;

static px_status run_plans(mc_run_state *r, px_error *err)
{
    const mc_dropout *mc = r->mc;
    const pxi_stochastic_cut *cut = &mc->cut;
    const px_shape sample = px_dataset_shape(r->job->set);
    px_feed feed, *feeds = pxi_calloc(cut->feed_count, sizeof *feeds);
    if (!feeds)
        return px_fail(err, PX_E_NOMEM, "out of memory");
    px_plan_options options = px_plan_options_default();
    options.batch = r->job->batch;
    options.keep = cut->feeds;
    options.keep_count = cut->feed_count;
    options.no_outputs = true;
    px_status status = pxi_sample_feed(mc->model, &sample, r->job->pre->channels_last, &feed, err);
    if (status == PX_OK)
        status = pxi_sample_plan(mc->model, &feed, options, r->job->count, &r->before, err);
    if (status != PX_OK)
        goto done;
    r->batch = px_plan_batch(r->before);
    r->floats = (size_t)px_shape_count(&sample);
    for (size_t i = 0; i < cut->feed_count; i++)
        feeds[i] =
            (px_feed){.value = cut->feeds[i], .shape = px_plan_shape(r->before, cut->feeds[i])};
    options = px_plan_options_default();
    options.batch = r->batch;
    options.feeds = feeds;
    options.feed_count = cut->feed_count;
    options.keep = &mc->scores.value;
    options.keep_count = 1;
    options.no_outputs = true;
    if (cut->dropouts > 0) {
        status = px_weights_new(mc->model, &r->weights, err);
        options.weights = r->weights;
        options.training = options.frozen_norms = true;
    } else if (feeds[0].shape.rank < 1 || feeds[0].shape.dim[0] != r->batch) {
        status = px_fail(err, PX_E_UNSUPPORTED,
                         "drops what the last dense layer reads, and there the batch is not the "
                         "first axis");
    } else {
        r->each = (size_t)(px_shape_count(&feeds[0].shape) / r->batch);
    }
    if (status == PX_OK)
        status = px_plan_new(mc->model, &options, &r->behind, err);
done:
    free(feeds);
    return status;
}

static px_status worker_init(const mc_run_state *r, mc_worker *w, px_error *err)
{
    const size_t batch = (size_t)r->batch, classes = (size_t)r->mc->scores.classes;
    PX_TRY(px_session_new(r->before, &w->before, err));
    PX_TRY(px_session_new(r->behind, &w->behind, err));
    w->cut = pxi_calloc(PX_MAX(batch * r->each, 1), sizeof *w->cut);
    w->votes = pxi_calloc(batch, sizeof *w->votes);
    w->row = pxi_calloc(classes, sizeof *w->row);
    w->p = pxi_calloc(classes, sizeof *w->p);
    bool ready = w->cut && w->votes && w->row && w->p;
    for (size_t i = 0; i < batch && ready; i++)
        ready = pxi_votes_init(&w->votes[i], r->mc->scores.classes);
    return ready ? PX_OK : px_fail(err, PX_E_NOMEM, "out of memory");
}

static void worker_done(const mc_run_state *r, mc_worker *w)
{
    px_session_free(w->before);
    px_session_free(w->behind);
    for (int64_t i = 0; w->votes && i < r->batch; i++)
        pxi_votes_done(&w->votes[i]);
    free(w->cut);
    free(w->votes);
    free(w->row);
    free(w->p);
}

/* The Dropout that was put in. */
static void drop(const mc_run_state *r, const mc_worker *w, int64_t first, int64_t samples,
                 int64_t pass)
{
    pxi_drop mask = pxi_drop_of(r->mc->rate);
    mask.seed = r->job->seed;
    float *to = px_session_input(w->behind, 0);
    for (int64_t n = 0; n < samples; n++)
        pxi_drop_row(&mask, (uint32_t)(first + n), (uint32_t)pass, w->cut + (size_t)n * r->each,
                     to + (size_t)n * r->each, r->each, /* adds= */ false);
}

static px_status vote(const mc_run_state *r, mc_worker *w, int64_t samples, px_error *err)
{
    const px_scores *scores = &r->mc->scores;
    const px_view view = px_session_view(w->behind, scores->value);
    if (!view.data || view.shape.rank < 2 || view.shape.dim[1] != scores->classes)
        return px_fail(err, PX_E_INTERNAL, "the plan does not keep the class scores");
    for (int64_t n = 0; n < samples; n++) {
        for (int c = 0; c < scores->classes; c++)
            w->row[c] = view.data[n * view.stride[0] + c * view.stride[1]];
        px_scores_probabilities(scores, w->row, w->p);
        pxi_votes_add(&w->votes[n], w->p);
    }
    return PX_OK;
}

static px_status run_batch(void *context, int worker, int64_t index, px_error *err)
{
    mc_run_state *r = context;
    const mc_dropout *mc = r->mc;
    mc_worker *w = &r->workers[worker];
    const int64_t first = index * r->batch, samples = PX_MIN(r->batch, r->job->count - first);
    float *input = px_session_input(w->before, 0);
    for (int64_t n = 0; n < samples; n++)
        PX_TRY(px_dataset_input(r->job->set, r->job->pre, first + n, input + (size_t)n * r->floats,
                                err));
    memset(input + (size_t)samples * r->floats, 0,
           (size_t)(r->batch - samples) * r->floats * sizeof *input);
    PX_TRY(px_session_forward(w->before, err));
    for (size_t i = 0; i < mc->cut.feed_count; i++) {
        const bool dropped = mc->cut.dropouts == 0 && i == 0;
        PX_TRY(px_session_read(w->before, mc->cut.feeds[i], -1,
                               dropped ? (void *)w->cut : px_session_input(w->behind, i), err));
    }
    for (int64_t n = 0; n < samples; n++)
        pxi_votes_clear(&w->votes[n]);
    for (int64_t pass = 0; pass < mc->passes; pass++) {
        if (mc->cut.dropouts > 0)
            px_session_draw(w->behind, r->job->seed, first, pass);
        else
            drop(r, w, first, samples, pass);
        PX_TRY(px_session_forward(w->behind, err));
        PX_TRY(vote(r, w, samples, err));
    }
    for (int64_t n = 0; n < samples; n++) {
        const pxi_vote_scores got = pxi_votes_value(&w->votes[n]);
        r->scores[first + n] = mc->score == MC_VARIATION     ? got.variation
                               : mc->score == MC_ENTROPY     ? got.entropy
                               : mc->score == MC_INFORMATION ? got.information
                                                             : got.softmax;
        r->mc->entropy[first + n] = got.entropy;
    }
    return PX_OK;
}

static bool run_tick(void *context, int64_t done, int64_t total)
{
    (void)total;
    const mc_run_state *r = context;
    return !r->job->progress ||
           r->job->progress(r->job->progress_context, PX_MIN(done * r->batch, r->job->count),
                            r->job->count);
}

static px_status mc_run(void *prepared, const px_selector_job *job, double *scores, px_error *err)
{
    const double start = px_clock_s();
    mc_run_state r = {.mc = prepared, .job = job, .scores = scores};
    px_pool *pool = NULL;
    if (job->count > UINT32_MAX) /* masks are addressed by 32 bits */
        return px_fail(err, PX_E_UNSUPPORTED, "%lld candidates are too many for it",
                       (long long)job->count);
    px_status status = run_plans(&r, err);
    const int64_t batches = status == PX_OK ? (job->count + r.batch - 1) / r.batch : 0;
    if (status == PX_OK)
        status = pxi_pool_new((int)PX_MIN((int64_t)job->threads, batches), &pool, err);
    if (status == PX_OK) {
        r.workers = pxi_calloc((size_t)pxi_pool_threads(pool), sizeof *r.workers);
        r.worker_count = r.workers ? pxi_pool_threads(pool) : 0;
        status = r.workers ? PX_OK : px_fail(err, PX_E_NOMEM, "out of memory");
    }
    for (int i = 0; i < r.worker_count && status == PX_OK; i++)
        status = worker_init(&r, &r.workers[i], err);
    if (status == PX_OK)
        status = pxi_pool_run(pool, batches, run_batch, &r, run_tick, &r, err);
    for (int i = 0; i < r.worker_count; i++)
        worker_done(&r, &r.workers[i]);
    free(r.workers);
    pxi_pool_free(pool);
    px_plan_free(r.before);
    px_plan_free(r.behind);
    px_weights_free(r.weights);
    job->times->pass += px_clock_s() - start;
    return status;
}

static px_status mc_arrange(void *prepared, double *scores, int64_t count, int64_t *order,
                            px_error *err)
{
    const mc_dropout *mc = prepared;
    pxi_keyed *keyed = pxi_calloc((size_t)count + 1, sizeof *keyed);
    if (!keyed)
        return px_fail(err, PX_E_NOMEM, "out of memory");
    int64_t scored = 0;
    for (int64_t i = 0; i < count; i++)
        if (!isnan(scores[i]))
            keyed[scored++] =
                (pxi_keyed){.key = scores[i], .tie = mc->ties ? mc->entropy[i] : 0.0, .item = i};
    pxi_keyed_sort(keyed, scored);
    for (int64_t i = 0; i < scored; i++)
        order[i] = keyed[i].item;
    pxi_append_unscored(scores, count, order, scored);
    free(keyed);
    return PX_OK;
}

static const char *dense_name(const mc_dropout *mc)
{
    const px_graph *graph = px_model_graph(mc->model);
    const px_node *node = &graph->nodes[mc->cut.dense];
    return node->name[0] ? node->name : graph->values[node->outputs[0]].name;
}

static void mc_remark(const void *prepared, px_text *text)
{
    const mc_dropout *mc = prepared;
    if (mc->cut.dropouts > 0)
        px_text_format(text, "mc-dropout: %lld passes through the network's own Dropout (%d)\n",
                       (long long)mc->passes, mc->cut.dropouts);
    else
        px_text_format(text,
                       "mc-dropout: the network has no Dropout; one of rate %g was put before '%s' "
                       "for %lld passes\n",
                       mc->rate, dense_name(mc), (long long)mc->passes);
}

static void mc_report(const void *prepared, px_json *json)
{
    const mc_dropout *mc = prepared;
    px_json_int(json, "passes", mc->passes);
    px_json_int(json, "dropouts", mc->cut.dropouts);
    px_json_string(json, "inserted_before", mc->cut.dropouts > 0 ? NULL : dense_name(mc));
}

const px_selector px_selector_mc_dropout = {
    .id = "mc-dropout",
    .title = "inputs on which the network disagrees with itself under dropout",
    .source = "Gal and Ghahramani, Dropout as a Bayesian Approximation, ICML 2016",
    .settings = mc_settings,
    .setting_count = PX_LEN(mc_settings),
    .needs = PX_NEEDS_CLASSES,
    .no_rows = true,
    .bytes = mc_bytes,
    .prepare = mc_prepare,
    .release = mc_release,
    .run = mc_run,
    .arrange = mc_arrange,
    .remark = mc_remark,
    .report = mc_report,
};
