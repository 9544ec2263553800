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
/* SPDX-License-Identifier: Apache-2.0 */
#include "select/lazy_greedy.h"
#include "select/selectors.h"
#include "select/stochastic_cut.h"
#include "select/vote_scores.h"

#include "base/memory.h"
#include "engine/drop.h"
#include <internal/pass.h>

#include <internal/engine.h>
#include <internal/field.h>
#include <internal/weights.h>
#include <math.h>
#include <plexor/system.h>
#include <stdlib.h>

enum { MC_VARIATION, MC_ENTROPY, MC_INFORMATION, MC_SOFTMAX };

static const char *const mc_scores[] = {"variation", "entropy", "information", "softmax", NULL};
static const char *const mc_ties[] = {"entropy", "index", NULL};

typedef struct mc_config {
    int64_t passes;
    double rate;
    int score;
    int ties;
} mc_config;

static const px_param mc_params[] = {
    PX_PARAM_INT(mc_config, passes, 200, 1, 1e6, "how often the network runs over each input"),
    PX_PARAM_REAL(mc_config, rate, 0.5, 0, 0.999999,
                  "of the Dropout that is put in where the network has none"),
    PX_PARAM_CHOICE(mc_config, score, 0, mc_scores,
                    "variation: 1 - the largest share of votes; entropy of the mean "
                    "probabilities; information: that, less the passes' mean entropy; "
                    "softmax: 1 - the largest mean probability"),
    PX_PARAM_CHOICE(mc_config, ties, 0, mc_ties,
                    "among equals, the larger entropy of the mean probabilities comes first, "
                    "or the lower index"),
    PX_PARAM_END,
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
    const mc_config *config = request->config;
    mc_dropout *mc = pxi_calloc(1, sizeof *mc);
    if (mc)
        mc->entropy = pxi_calloc((size_t)request->count, sizeof *mc->entropy);
    if (!mc || !mc->entropy) {
        mc_release(mc);
        return pxi_no_memory(err);
    }
    mc->model = request->model;
    mc->scores = request->scores;
    mc->passes = config->passes;
    mc->rate = config->rate;
    mc->score = config->score;
    mc->ties = config->ties == 0;
    const px_status status = pxi_stochastic_cut_find(px_model_graph(request->model),
                                                     request->scores.value, &mc->cut, err);
    return PX_GIVE(status, mc, out, mc_release);
}

/* --- the pass -----------------------------------------------------------------------------------
 *
 * The part before the first Dropout is run once, the part behind it once per pass.
 */

typedef struct mc_lane {
    float *cut;       /* [batch][each]: what the last dense layer reads, if Dropout is put there */
    pxi_votes *votes; /* per row of the micro-batch */
    float *row;       /* [classes] */
    double *p;        /* [classes] */
} mc_lane;

typedef struct mc_run {
    mc_dropout *mc;
    const px_selector_job *job;
    pxi_pass *behind;
    px_weights *weights; /* of a network with Dropout */
    size_t each;         /* values per sample at the cut, where Dropout is put in */
    double *scores;
} mc_run_state;

/* The part that is run again and again, on the lanes of `before`. */
static px_status behind_open(mc_run_state *r, const pxi_pass *before, px_error *err)
{
    const mc_dropout *mc = r->mc;
    const pxi_stochastic_cut *cut = &mc->cut;
    px_feed *feeds = NULL;
    px_status status = PX_NEW(feeds, cut->feed_count, err);
    px_plan_options wants = pxi_wants_scores(&mc->scores);
    for (size_t i = 0; feeds && i < cut->feed_count; i++)
        feeds[i] = (px_feed){.value = cut->feeds[i],
                             .shape = px_plan_shape(pxi_pass_plan(before), cut->feeds[i])};
    const pxi_task task = {.model = mc->model,
                           .feeds = feeds,
                           .feed_count = cut->feed_count,
                           .workers = pxi_pass_workers(before),
                           .batch = pxi_pass_batch(before)};
    if (status == PX_OK && cut->dropouts > 0) {
        status = px_weights_new(mc->model, &r->weights, err);
        wants.weights = r->weights;
        wants.training = wants.frozen_norms = true;
    } else if (status == PX_OK &&
               (feeds[0].shape.rank < 1 || feeds[0].shape.dim[0] != task.batch)) {
        status = px_fail(err, PX_E_UNSUPPORTED,
                         "drops what the last dense layer reads, and there the batch is not the "
                         "first axis");
    }
    PX_THEN(status, pxi_pass_open(&task, &wants, &(pxi_visitor){0}, &r->behind, err));
    free(feeds);
    return status;
}

/* Of the same worker as `lane`, which is of the part before. */
static px_session *behind_of(const mc_run_state *r, const pxi_lane *lane)
{
    return pxi_pass_lane(r->behind, lane->number)->session;
}

static px_status lane_open(pxi_lane *lane, px_error *err)
{
    mc_run_state *r = lane->context;
    const pxi_stochastic_cut *cut = &r->mc->cut;
    const size_t batch = (size_t)pxi_pass_batch(lane->pass);
    const size_t classes = (size_t)r->mc->scores.classes;
    mc_lane *w = lane->state;
    if (cut->dropouts == 0) {
        const px_shape shape = px_plan_shape(pxi_pass_plan(lane->pass), cut->feeds[0]);
        r->each = (size_t)px_shape_count(&shape) / batch;
    }
    w->cut = pxi_lane_array(lane, batch, r->each * sizeof *w->cut);
    w->row = pxi_lane_array(lane, classes, sizeof *w->row);
    w->p = pxi_lane_array(lane, classes, sizeof *w->p);
    w->votes = pxi_lane_array(lane, batch, sizeof *w->votes);
    for (size_t i = 0; w->votes && i < batch; i++)
        if (!pxi_votes_init(&w->votes[i], r->mc->scores.classes))
            return pxi_no_memory(err);
    return PX_OK;
}

static void lane_close(pxi_lane *lane)
{
    const mc_lane *w = lane->state;
    for (int64_t i = 0; w->votes && i < pxi_pass_batch(lane->pass); i++)
        pxi_votes_done(&w->votes[i]);
}

/* The Dropout that was put in. */
static void drop(const mc_run_state *r, const pxi_lane *lane, int64_t first, int64_t samples,
                 int64_t pass)
{
    const mc_lane *w = lane->state;
    pxi_drop mask = pxi_drop_of(r->mc->rate);
    mask.seed = r->job->seed;
    float *to = px_session_input(behind_of(r, lane), 0);
    for (int64_t n = 0; n < samples; n++)
        pxi_drop_row(&mask, (uint32_t)(first + n), (uint32_t)pass, w->cut + (size_t)n * r->each,
                     to + (size_t)n * r->each, r->each, /* adds= */ false);
}

static px_status vote(const mc_run_state *r, const pxi_lane *lane, int64_t samples, px_error *err)
{
    const mc_lane *w = lane->state;
    for (int64_t n = 0; n < samples; n++) {
        PX_TRY(pxi_scores_row(behind_of(r, lane), &r->mc->scores, n, w->row, err));
        px_scores_probabilities(&r->mc->scores, w->row, w->p);
        pxi_votes_add(&w->votes[n], w->p);
    }
    return PX_OK;
}

static px_status batch_visit(pxi_lane *lane, const pxi_batch *batch, px_error *err)
{
    const mc_run_state *r = lane->context;
    const mc_dropout *mc = r->mc;
    const mc_lane *w = lane->state;
    px_session *behind = behind_of(r, lane);
    for (size_t i = 0; i < mc->cut.feed_count; i++) {
        const bool dropped = mc->cut.dropouts == 0 && i == 0;
        PX_TRY(px_session_read(lane->session, mc->cut.feeds[i], -1,
                               dropped ? (void *)w->cut : px_session_input(behind, i), err));
    }
    for (int64_t n = 0; n < batch->count; n++)
        pxi_votes_clear(&w->votes[n]);
    for (int64_t pass = 0; pass < mc->passes; pass++) {
        if (mc->cut.dropouts > 0)
            px_session_draw(behind, r->job->seed, batch->first, pass);
        else
            drop(r, lane, batch->first, batch->count, pass);
        PX_TRY(px_session_forward(behind, err));
        PX_TRY(vote(r, lane, batch->count, err));
    }
    for (int64_t n = 0; n < batch->count; n++) {
        const pxi_vote_scores got = pxi_votes_value(&w->votes[n]);
        r->scores[batch->first + n] = mc->score == MC_VARIATION     ? got.variation
                                      : mc->score == MC_ENTROPY     ? got.entropy
                                      : mc->score == MC_INFORMATION ? got.information
                                                                    : got.softmax;
        mc->entropy[batch->first + n] = got.entropy;
    }
    return PX_OK;
}

static px_status mc_run(void *prepared, const px_selector_job *job, double *scores, px_error *err)
{
    const double start = px_clock_s();
    mc_run_state r = {.mc = prepared, .job = job, .scores = scores};
    if (job->count > UINT32_MAX) /* masks are addressed by 32 bits */
        return px_fail(err, PX_E_UNSUPPORTED, "%lld candidates are too many for it",
                       (long long)job->count);
    const pxi_task task = {.model = r.mc->model,
                           .set = job->set,
                           .pre = job->pre,
                           .count = job->count,
                           .threads = job->threads,
                           .batch = job->batch,
                           .progress = job->progress,
                           .progress_context = job->progress_context};
    const pxi_left left = {
        .array = {{scores, sizeof *scores}, {r.mc->entropy, sizeof *r.mc->entropy}}};
    const pxi_visitor visitor = {.context = &r,
                                 .state_size = sizeof(mc_lane),
                                 .open = lane_open,
                                 .visit = batch_visit,
                                 .close = lane_close,
                                 .left = &left};
    px_plan_options wants = px_plan_options_default();
    wants.keep = r.mc->cut.feeds;
    wants.keep_count = r.mc->cut.feed_count;
    wants.no_outputs = true;
    pxi_pass *pass = NULL;
    px_status status = pxi_pass_open(&task, &wants, &visitor, &pass, err);
    PX_THEN(status, behind_open(&r, pass, err));
    PX_THEN(status, pxi_pass_run(pass, err));
    pxi_pass_close(r.behind);
    pxi_pass_close(pass);
    px_weights_free(r.weights);
    job->times->pass += px_clock_s() - start;
    return status;
}

static px_status mc_arrange(void *prepared, double *scores, int64_t count, int64_t *order,
                            px_error *err)
{
    const mc_dropout *mc = prepared;
    pxi_keyed *keyed = NULL;
    PX_TRY(PX_NEW(keyed, (size_t)count + 1, err));
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

static px_datum mc_inserted(const void *prepared, char *text)
{
    const mc_dropout *mc = prepared;
    (void)text;
    return px_datum_text(mc->cut.dropouts > 0 ? NULL : dense_name(mc));
}

static const px_field mc_result[] = {
    PX_FIELD(mc_dropout, passes, "passes", "of every input"),
    PX_FIELD(mc_dropout, cut.dropouts, "dropouts", "of the network"),
    PX_MADE(TEXT, mc_inserted, "inserted_before", "where one was put; null: it has its own"),
    PX_FIELDS_END,
};

const px_selector px_selector_mc_dropout = {
    .entry = {.id = "mc-dropout",
              .title = "inputs on which the network disagrees with itself under dropout",
              .source = "Gal and Ghahramani, Dropout as a Bayesian Approximation, ICML 2016",
              .params = mc_params,
              .config_size = sizeof(mc_config)},
    .needs = PX_NEEDS_CLASSES,
    .no_rows = true,
    .bytes = mc_bytes,
    .prepare = mc_prepare,
    .release = mc_release,
    .run = mc_run,
    .arrange = mc_arrange,
    .remark = mc_remark,
    .result = mc_result,
};
