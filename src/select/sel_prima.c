/* src/select/sel_prima.c - PRIMA: a ranker that learns how faults react to mutants
 *
 * Wang, You, Chen, Zhang, Dong & Zhang, Prioritizing Test Inputs for Deep Neural Networks via
 * Mutation Analysis, ICSE 2021; CSM B.6, which also says what the sources leave open. Boosted trees
 * learn, from labelled inputs that the network was not trained on, which reactions go with a wrong
 * prediction; the score is their log odds. Where the network makes no error on those inputs (or
 * nothing but errors) there is nothing to learn, and the score is the number of killed mutants.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#include "select/prima.h"
#include "select/selectors.h"
#include "stats/boosted_trees.h"

#include "base/memory.h"

#include <internal/rng.h>
#include <inttypes.h>
#include <math.h>
#include <plexor/system.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct prima_config {
    int64_t mutants;
    double ratio;
    double gf_scale;
    int64_t patch;
    int64_t patches;
    double noise;
    int64_t labelled;
    int64_t trees;
    int64_t depth;
    double rate;
    double columns;
} prima_config;

static const px_param prima_params[] = {
    PX_PARAM_INT(prima_config, mutants, 25, 1, 10000,
                 "changed networks per rule (gf, neb, nai, ws)"),
    PX_PARAM_REAL(prima_config, ratio, 0.1, 0, 1,
                  "share of the neurons (gf: of the weights) that a network has changed"),
    PX_PARAM_REAL_AS("gf-scale", prima_config, gf_scale, 1, 0, 1e6,
                     "noise of gf, in standard deviations of the layer's weights"),
    PX_PARAM_INT(prima_config, patch, 2, 1, 65536,
                 "height and width of what is changed in a picture, in pixels"),
    PX_PARAM_INT(prima_config, patches, 200, 1, 1e9,
                 "changed pictures per rule (gauss, reverse, black, white, shuffle), "
                 "at most; one per patch"),
    PX_PARAM_REAL(prima_config, noise, 0.1, 0, 1,
                  "standard deviation of gauss, as a share of white"),
    PX_PARAM_INT(prima_config, labelled, 0, 0, 1e15,
                 "labelled inputs to learn from, a random sample; 0: all"),
    PX_PARAM_INT(prima_config, trees, 100, 1, 100000, "of the ranker"),
    PX_PARAM_INT(prima_config, depth, 5, 1, PXI_BOOST_MAX_DEPTH, "of a tree"),
    PX_PARAM_REAL(prima_config, rate, 0.05, 1e-6, 1, "learning rate of the ranker"),
    PX_PARAM_REAL(prima_config, columns, 0.5, 1e-6, 1,
                  "share of the features that a tree may look at"),
    PX_PARAM_END,
};

typedef struct prima {
    pxi_prima_net *net;
    px_scores scores;
    pxi_prima_settings settings;
    pxi_boost_options boost;
    int64_t labelled_most;
    /* what came out */
    int64_t runs_each; /* of a network, per input */
    int64_t labelled, errors, unscored;
    double gains[PXI_PRIMA_WIDTH];
    bool by_kills;
} prima;

static void prima_release(void *prepared)
{
    prima *p = prepared;
    if (!p)
        return;
    pxi_prima_net_free(p->net);
    free(p);
}

static px_status prima_prepare(const px_selector_request *request, void **out, px_error *err)
{
    const prima_config *config = request->config;
    const px_shape shape = px_dataset_shape(request->set);
    prima *p = NULL;
    PX_TRY(PX_NEW(p, 1, err));
    p->scores = request->scores;
    p->settings = (pxi_prima_settings){.mutants = (int)config->mutants,
                                       .ratio = config->ratio,
                                       .gf_scale = config->gf_scale,
                                       .patch = (int)config->patch,
                                       .patches = config->patches,
                                       .noise = config->noise,
                                       .seed = request->seed};
    p->boost = pxi_boost_options_default();
    p->boost.trees = (int)config->trees;
    p->boost.depth = (int)config->depth;
    p->boost.rate = config->rate;
    p->boost.columns = config->columns;
    p->boost.seed = request->seed;
    p->labelled_most = config->labelled;
    px_status status = pxi_prima_cost(&shape, &p->settings, &p->runs_each, err);
    PX_THEN(status, pxi_prima_net_new(request->model, &p->net, err));
    return PX_GIVE(status, p, out, prima_release);
}

/* --- learning -------------------------------------------------------------------------------- */

typedef struct prima_lesson { /* the labelled inputs that count */
    const px_dataset *set;
    float *x; /* [count][PXI_PRIMA_WIDTH] */
    bool *fault;
    size_t count;
} prima_lesson;

static px_status lesson_visit(void *context, const pxi_prima_row *row, px_error *err)
{
    prima_lesson *l = context;
    (void)err;
    if (row->predicted < 0)
        return PX_OK;
    memcpy(l->x + l->count * PXI_PRIMA_WIDTH, row->features,
           PXI_PRIMA_WIDTH * sizeof *row->features);
    l->fault[l->count++] = row->predicted != px_dataset_label(l->set, row->index);
    return PX_OK;
}

typedef struct prima_progress { /* both passes together */
    const px_selector_job *job;
    int64_t before, total;
} prima_progress;

static bool prima_tick(void *context, int64_t done, int64_t total)
{
    const prima_progress *p = context;
    (void)total;
    return !p->job->progress ||
           p->job->progress(p->job->progress_context, p->before + done, p->total);
}

/* The labelled inputs to learn from, ascending: those with a label, or a sample of them. */
static px_status lesson_choose(const prima *p, const px_dataset *set, int64_t **out,
                               int64_t *out_count, px_error *err)
{
    const int64_t all = px_dataset_count(set);
    int64_t *index = NULL;
    PX_TRY(PX_NEW(index, all, err));
    int64_t labelled = 0, taken = 0;
    for (int64_t i = 0; i < all; i++)
        if (px_dataset_label(set, i) >= 0)
            index[labelled++] = i;
    int64_t need = p->labelled_most > 0 ? PX_MIN(p->labelled_most, labelled) : labelled;
    px_random random = px_rng(p->settings.seed, PX_RNG_SAMPLE, 0, PX_RNG_TREES);
    for (int64_t i = 0; i < labelled && taken < need; i++) { /* each with the chance that is left */
        const int64_t left = PX_MIN(labelled - i, (int64_t)UINT32_MAX);
        if (need - taken >= labelled - i ||
            (int64_t)px_rng_below(&random, (uint32_t)left) < need - taken)
            index[taken++] = index[i];
    }
    *out = index;
    *out_count = taken;
    return PX_OK;
}

static px_status prima_learn(prima *p, const px_selector_job *job, const pxi_prima_pass *shared,
                             const int64_t *index, int64_t count, pxi_boosted **ranker,
                             px_error *err)
{
    prima_lesson lesson = {.set = job->labelled};
    pxi_prima_pass pass = *shared;
    px_status status = PX_OK;
    lesson.x = pxi_calloc((size_t)count, PXI_PRIMA_WIDTH * sizeof *lesson.x);
    lesson.fault = pxi_calloc((size_t)count, sizeof *lesson.fault);
    if (!lesson.x || !lesson.fault) {
        status = pxi_no_memory_for(err, "%" PRId64 " labelled inputs", count);
        goto done;
    }
    pass.set = job->labelled;
    pass.pre = job->labelled_pre ? job->labelled_pre : job->pre;
    pass.index = index;
    pass.count = count;
    pass.visit = lesson_visit;
    pass.context = &lesson;
    status = count > 0 ? pxi_prima_run(&pass, err) : PX_OK;
    if (status != PX_OK)
        goto done;
    p->labelled = (int64_t)lesson.count;
    for (size_t i = 0; i < lesson.count; i++)
        p->errors += lesson.fault[i];
    p->by_kills = p->errors == 0 || p->errors == p->labelled;
    if (p->by_kills)
        goto done;
    p->boost.threads = job->threads;
    status = pxi_boosted_fit(lesson.x, lesson.fault, lesson.count, PXI_PRIMA_WIDTH, &p->boost,
                             ranker, err);
    if (status == PX_OK)
        pxi_boosted_gains(*ranker, p->gains);
done:
    free(lesson.x);
    free(lesson.fault);
    return status;
}

/* --- scoring --------------------------------------------------------------------------------- */

typedef struct prima_scorer {
    prima *p;
    const px_selector_job *job;
    const pxi_boosted *ranker; /* NULL: by kills */
    double *scores, seconds;
} prima_scorer;

static double kills_of(const float *features)
{
    double kills = 0.0;
    for (size_t r = 0; r < PXI_PRIMA_RULES; r++)
        kills += (double)features[r * PXI_PRIMA_FEATURES];
    return kills;
}

static px_status scorer_visit(void *context, const pxi_prima_row *row, px_error *err)
{
    prima_scorer *s = context;
    const double start = px_clock_s();
    (void)err;
    if (s->job->predicted)
        s->job->predicted[row->index] = row->predicted;
    if (s->job->confidence)
        s->job->confidence[row->index] = row->confidence;
    s->scores[row->index] = row->predicted < 0 ? (double)NAN
                            : s->ranker        ? pxi_boosted_score(s->ranker, row->features)
                                               : kills_of(row->features);
    s->p->unscored += row->predicted < 0;
    s->seconds += px_clock_s() - start;
    return PX_OK;
}

static px_status prima_run(void *prepared, const px_selector_job *job, double *scores,
                           px_error *err)
{
    prima *p = prepared;
    const px_shape sample = px_dataset_shape(job->set), other = px_dataset_shape(job->labelled);
    if (!px_shape_equal(&sample, &other))
        return px_fail(err, PX_E_MISMATCH,
                       "the labelled inputs (%.150s) are not of the size of "
                       "the candidates (%.150s)",
                       px_dataset_describe(job->labelled), px_dataset_describe(job->set));
    int64_t *index = NULL, count = 0;
    pxi_boosted *ranker = NULL;
    PX_TRY(lesson_choose(p, job->labelled, &index, &count, err));
    prima_progress progress = {.job = job, .total = p->runs_each * (count + job->count)};
    prima_scorer scorer = {.p = p, .job = job, .scores = scores};
    pxi_prima_pass pass = {.net = p->net,
                           .settings = &p->settings,
                           .scores = p->scores,
                           .set = job->set,
                           .pre = job->pre,
                           .count = job->count,
                           .batch = job->batch,
                           .threads = job->threads,
                           .visit = scorer_visit,
                           .context = &scorer,
                           .progress = prima_tick,
                           .progress_context = &progress};
    double start = px_clock_s();
    px_status status = prima_learn(p, job, &pass, index, count, &ranker, err);
    if (status == PX_OK) {
        job->times->learn = px_clock_s() - start;
        progress.before = p->runs_each * count;
        scorer.ranker = ranker;
        start = px_clock_s();
        status = pxi_prima_run(&pass, err);
        job->times->pass = px_clock_s() - start - scorer.seconds;
        job->times->score = scorer.seconds;
    }
    if (status == PX_OK && job->predicted && job->confidence)
        *job->predicts = true;
    pxi_boosted_free(ranker);
    free(index);
    return status;
}

/* --- telling --------------------------------------------------------------------------------- */

static void prima_remark(const void *prepared, px_text *text)
{
    const prima *p = prepared;
    if (p->by_kills)
        px_text_format(text,
                       "prima found %s among %" PRId64 " labelled inputs, so there was nothing to "
                       "learn from: the order is by killed mutants\n",
                       p->errors == 0 ? "no errors" : "nothing but errors", p->labelled);
    else
        px_text_format(text,
                       "prima learnt from %" PRId64 " labelled inputs, %" PRId64 " of them wrong\n",
                       p->labelled, p->errors);
    px_text_format(text, "prima ran networks %" PRId64 " times per input\n", p->runs_each);
    if (p->unscored > 0)
        px_text_format(text, "%" PRId64 " inputs have scores that are not numbers\n", p->unscored);
}

typedef struct gain_row {
    char name[64];
    double share;
} gain_row;

/* Of features that the trees used. */
static const void *gain_get(const void *prepared, size_t at, void *place)
{
    static const char *const names[5] = {"kills", "cosine", "difference", "largest", "distinct"};
    const prima *p = prepared;
    gain_row *row = place;
    double all = 0.0;
    size_t i = 0;
    for (size_t k = 0; k < PXI_PRIMA_WIDTH; k++)
        all += p->gains[k];
    while (i < PXI_PRIMA_WIDTH && (!(p->gains[i] > 0.0) || at-- > 0))
        i++;
    if (i == PXI_PRIMA_WIDTH)
        return NULL;
    const char *rule = pxi_prima_rule_names[i / PXI_PRIMA_FEATURES];
    const size_t feature = i % PXI_PRIMA_FEATURES;
    if (feature < PX_LEN(names))
        snprintf(row->name, sizeof row->name, "%s.%s", rule, names[feature]);
    else
        snprintf(row->name, sizeof row->name, "%s.distance%zu", rule, feature - PX_LEN(names));
    row->share = p->gains[i] / all;
    return row;
}

static const px_field gain_fields[] = {
    PX_CHARS(gain_row, name, "", "of the feature"),
    PX_FIELD(gain_row, share, "", "of the trees' gain"),
    PX_FIELDS_END,
};

static const char *const rankers[] = {"trees", "kills", NULL};

static const px_field prima_result[] = {
    PX_FIELD(prima, labelled, "labelled", "inputs that were learnt from"),
    PX_FIELD(prima, errors, "labelled_errors", "of them, that the network gets wrong"),
    PX_CHOICE(prima, by_kills, rankers, "ranker", "kills where there was nothing to learn"),
    PX_FIELD(prima, runs_each, "runs_per_input", "of networks"),
    PX_MAP_MADE(gain_get, gain_fields, "importance", "of features, as shares of the trees' gain"),
    PX_FIELDS_END,
};

const px_selector px_selector_prima = {
    .entry = {.id = "prima",
              .title = "PRIMA: learnt from how failures react to changed networks and pictures",
              .source = "Wang et al., PRIMA, ICSE 2021",
              .params = prima_params,
              .config_size = sizeof(prima_config)},
    .needs = PX_NEEDS_CLASSES | PX_NEEDS_LABELLED | PX_NEEDS_PICTURES,
    .no_rows = true,
    .prepare = prima_prepare,
    .release = prima_release,
    .run = prima_run,
    .remark = prima_remark,
    .result = prima_result,
};
