/* src/select/sel_prima.c - PRIMA: a ranker that learns how faults react to mutants
 *
 * Wang, You, Chen, Zhang, Dong & Zhang, Prioritizing Test Inputs for Deep Neural Networks via
 * Mutation Analysis, ICSE 2021; CSM B.6, which also says what the sources leave open. Boosted trees
 * learn, from labelled inputs that the network was not trained on, which reactions go with a wrong
 * prediction; the score is their log odds. Where the network makes no error on those inputs (or
 * nothing but errors) there is nothing to learn, and the score is the number of killed mutants.
 */
#include "select/prima.h"
#include "select/selectors.h"
#include "stats/boosted_trees.h"

#include "base/memory.h"

#include <inttypes.h>
#include <math.h>
#include <plexor/rng.h>
#include <plexor/system.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    PRIMA_MUTANTS,
    PRIMA_RATIO,
    PRIMA_GF_SCALE,
    PRIMA_PATCH,
    PRIMA_PATCHES,
    PRIMA_NOISE,
    PRIMA_LABELLED,
    PRIMA_TREES,
    PRIMA_DEPTH,
    PRIMA_RATE,
    PRIMA_COLUMNS,
    PRIMA_SETTINGS,
};

static const px_param prima_settings[] = {
    [PRIMA_MUTANTS] = {.name = "mutants",
                       .fallback = 25,
                       .least = 1,
                       .most = 10000,
                       .integer = true,
                       .help = "changed networks per rule (gf, neb, nai, ws)"},
    [PRIMA_RATIO] = {.name = "ratio",
                     .fallback = 0.1,
                     .least = 0,
                     .most = 1,
                     .help =
                         "share of the neurons (gf: of the weights) that a network has changed"},
    [PRIMA_GF_SCALE] = {.name = "gf-scale",
                        .fallback = 1,
                        .least = 0,
                        .most = 1e6,
                        .help = "noise of gf, in standard deviations of the layer's weights"},
    [PRIMA_PATCH] = {.name = "patch",
                     .fallback = 2,
                     .least = 1,
                     .most = 65536,
                     .integer = true,
                     .help = "height and width of what is changed in a picture, in pixels"},
    [PRIMA_PATCHES] = {.name = "patches",
                       .fallback = 200,
                       .least = 1,
                       .most = 1e9,
                       .integer = true,
                       .help = "changed pictures per rule (gauss, reverse, black, white, shuffle), "
                               "at most; one per patch"},
    [PRIMA_NOISE] = {.name = "noise",
                     .fallback = 0.1,
                     .least = 0,
                     .most = 1,
                     .help = "standard deviation of gauss, as a share of white"},
    [PRIMA_LABELLED] = {.name = "labelled",
                        .fallback = 0,
                        .least = 0,
                        .most = 1e15,
                        .integer = true,
                        .help = "labelled inputs to learn from, a random sample; 0: all"},
    [PRIMA_TREES] = {.name = "trees",
                     .fallback = 100,
                     .least = 1,
                     .most = 100000,
                     .integer = true,
                     .help = "of the ranker"},
    [PRIMA_DEPTH] = {.name = "depth",
                     .fallback = 5,
                     .least = 1,
                     .most = PXI_BOOST_MAX_DEPTH,
                     .integer = true,
                     .help = "of a tree"},
    [PRIMA_RATE] = {.name = "rate",
                    .fallback = 0.05,
                    .least = 1e-6,
                    .most = 1,
                    .help = "learning rate of the ranker"},
    [PRIMA_COLUMNS] = {.name = "columns",
                       .fallback = 0.5,
                       .least = 1e-6,
                       .most = 1,
                       .help = "share of the features that a tree may look at"},
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
    const double *v = request->settings;
    const px_shape shape = px_dataset_shape(request->set);
    prima *p = pxi_calloc(1, sizeof *p);
    if (!p)
        return px_fail(err, PX_E_NOMEM, "out of memory");
    p->scores = request->scores;
    p->settings = (pxi_prima_settings){.mutants = (int)v[PRIMA_MUTANTS],
                                       .ratio = v[PRIMA_RATIO],
                                       .gf_scale = v[PRIMA_GF_SCALE],
                                       .patch = (int)v[PRIMA_PATCH],
                                       .patches = (int64_t)v[PRIMA_PATCHES],
                                       .noise = v[PRIMA_NOISE],
                                       .seed = request->seed};
    p->boost = pxi_boost_options_default();
    p->boost.trees = (int)v[PRIMA_TREES];
    p->boost.depth = (int)v[PRIMA_DEPTH];
    p->boost.rate = v[PRIMA_RATE];
    p->boost.columns = v[PRIMA_COLUMNS];
    p->boost.seed = request->seed;
    p->labelled_most = (int64_t)v[PRIMA_LABELLED];
    px_status status = pxi_prima_cost(&shape, &p->settings, &p->runs_each, err);
    if (status == PX_OK)
        status = pxi_prima_net_new(request->model, &p->net, err);
    if (status == PX_OK)
        *out = p;
    else
        prima_release(p);
    return status;
}

/* --- learning
 * -------------------------------------------------------------------------------------- */

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
    int64_t *index = pxi_calloc((size_t)all, sizeof *index);
    if (!index)
        return px_fail(err, PX_E_NOMEM, "out of memory for %" PRId64 " labelled inputs", all);
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
        status = px_fail(err, PX_E_NOMEM, "out of memory for %" PRId64 " labelled inputs", count);
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

/* --- scoring
 * --------------------------------------------------------------------------------------- */

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

/* --- telling
 * --------------------------------------------------------------------------------------- */

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

static void prima_report(const void *prepared, px_json *json)
{
    static const char *const names[5] = {"kills", "cosine", "difference", "largest", "distinct"};
    const prima *p = prepared;
    double all = 0.0;
    px_json_int(json, "labelled", p->labelled);
    px_json_int(json, "labelled_errors", p->errors);
    px_json_string(json, "ranker", p->by_kills ? "kills" : "trees");
    px_json_int(json, "runs_per_input", p->runs_each);
    for (size_t i = 0; i < PXI_PRIMA_WIDTH; i++)
        all += p->gains[i];
    px_json_object(json, "importance"); /* of features, as shares of the trees' gain */
    for (size_t i = 0; i < PXI_PRIMA_WIDTH; i++) {
        char name[64];
        const size_t feature = i % PXI_PRIMA_FEATURES;
        if (!(p->gains[i] > 0.0))
            continue;
        if (feature < PX_LEN(names))
            snprintf(name, sizeof name, "%s.%s", pxi_prima_rule_names[i / PXI_PRIMA_FEATURES],
                     names[feature]);
        else
            snprintf(name, sizeof name, "%s.distance%zu",
                     pxi_prima_rule_names[i / PXI_PRIMA_FEATURES], feature - PX_LEN(names));
        px_json_real(json, name, p->gains[i] / all);
    }
    px_json_end(json);
}

const px_selector px_selector_prima = {
    .id = "prima",
    .title = "PRIMA: learnt from how failures react to changed networks and pictures",
    .source = "Wang et al., PRIMA, ICSE 2021",
    .settings = prima_settings,
    .setting_count = PRIMA_SETTINGS,
    .needs = PX_NEEDS_CLASSES | PX_NEEDS_LABELLED | PX_NEEDS_PICTURES,
    .no_rows = true,
    .prepare = prima_prepare,
    .release = prima_release,
    .run = prima_run,
    .remark = prima_remark,
    .report = prima_report,
};
