/* src/cover/crit_surprise.c - LSC, DSC, MDSC: how much of the axis of surprise the inputs cover
 *
 * Kim, Feldt and Yoo, Guiding Deep Learning System Testing using Surprise Adequacy, ICSE 2019; CSM
 * A.8.6. Surprise adequacy (surprise.h) is cut into m buckets over [low, u), and SC = buckets hit /
 * m. low is 0, for LSA (a log density, so it can be negative) the lowest of the training traces
 * themselves: fixed before any test is seen. Other forms:
 *
 *     size     the number of buckets floor(sa / t), without a bound (NSGen, NLC, CAC)
 *     sadl     m edges from the suite's own lowest to u, and what lies beyond (SADL's code)
 *     dnn-tip  m buckets over [0, highest of the suite]
 *
 * The last two depend on the suite, so their state is all scores. +Inf is in no bucket.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#include "base/memory.h"
#include "cover/pattern_set.h"
#include "cover/surprise_sections.h"

#include <assert.h>
#include <internal/cover.h>
#include <internal/profile.h>
#include <internal/surprise.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { FORM_BUCKETS, FORM_SIZE, FORM_SADL, FORM_DNN_TIP };
enum { SC_BUCKETS_MOST = PXI_SC_BUCKETS_MOST + 1, SC_ROWS = 256 };

static const char *const sc_forms[] = {"buckets", "size", "sadl", "dnn-tip", NULL};
static const char *const sc_by[] = {"predicted", "label", NULL};
static const char *const sc_filters[] = {"none", "class", "global", "top", NULL};

typedef struct sc_config { /* of all three; each has a table of its own */
    int64_t m;
    double u;
    int form;
    double t;
    bool overflow;
    int by, filter;
    double variance, sample;
    int low; /* lsc */
    double bandwidth;
    int from; /* dsc */
    bool squared;
    double least;
    int inverse; /* mdsc */
} sc_config;

#define SC_PARAMS(U, T, FILTER)                                                                   \
    PX_PARAM_INT(sc_config, m, 1000, 1, SC_BUCKETS_MOST - 1, "buckets"),                          \
        PX_PARAM_REAL(sc_config, u, (U), 1e-30, 1e30, "upper bound of the buckets"),              \
        PX_PARAM_CHOICE(sc_config, form, FORM_BUCKETS, sc_forms,                                  \
                        "size: count the buckets of width t, without a bound (NSGen, NLC, CAC); " \
                        "sadl, dnn-tip: bounds from the suite itself, as in their code"),         \
        PX_PARAM_REAL(sc_config, t, (T), 1e-30, 1e30, "width of a bucket with form=size"),        \
        PX_PARAM_FLAG(sc_config, overflow, "yes: one more bucket for what is at or above u"),     \
        PX_PARAM_CHOICE(sc_config, by, 0, sc_by,                                                  \
                        "label: compare within the true class (code of NLC and NSGen)"),          \
        PX_PARAM_CHOICE(sc_config, filter, (FILTER), sc_filters,                                  \
                        "leave out neurons whose variance is below `variance`: in any class "     \
                        "(SADL), over all (global, NLC); top: keep the 300 that vary most in "    \
                        "the class (dnn-tip)"),                                                   \
        PX_PARAM_REAL(sc_config, variance, 1e-5, 0, 1e30, "see filter"),                          \
        PX_PARAM_REAL(sc_config, sample, 1, 1e-6, 1,                                              \
                      "share of the training traces to compare with, drawn once")

/* --- what does not change -------------------------------------------------------------------- */

typedef struct sc_axis { /* what a state without its network needs too */
    int64_t form, m, overflow;
    double low, u, t;
} sc_axis;

typedef struct sc_prepared {
    px_surprise *surprise;
    sc_axis axis;
} sc_prepared;

static void sc_release(void *prepared)
{
    sc_prepared *p = prepared;
    if (!p)
        return;
    px_surprise_free(p->surprise);
    free(p);
}

/* options: of the method, with the criterion's own settings in them. */
static px_status sc_prepare(const px_criterion_request *request, px_surprise_options options,
                            bool low_of_profile, void **out, px_error *err)
{
    const sc_config *config = request->config;
    const char *id = px_surprise_id(options.method);
    options.by = config->by != 0 ? PX_SURPRISE_LABEL : PX_SURPRISE_PREDICTED;
    options.filter = (px_surprise_filter)config->filter;
    options.variance = config->variance;
    options.sample = config->sample;
    options.seed = request->seed;
    options.threads = request->threads;
    px_traces traces;
    PX_TRY(
        px_profile_traces(request->profile, request->learned[0], request->extractor, &traces, err));
    sc_prepared *p = NULL;
    PX_TRY(PX_NEW(p, 1, err));
    p->axis = (sc_axis){.form = config->form,
                        .m = config->m,
                        .overflow = config->overflow,
                        .u = config->u,
                        .t = config->t};
    px_status status = px_surprise_new(&traces, request->classes, &options, &p->surprise, err);
    if (status == PX_OK && low_of_profile && p->axis.form == FORM_BUCKETS) {
        status = px_surprise_lowest(p->surprise, request->threads, &p->axis.low, err);
        if (status == PX_OK && isnan(p->axis.low))
            p->axis.low = 0.0; /* no class has a density: nothing will be in any bucket */
        if (status == PX_OK && !(p->axis.low < p->axis.u))
            status = px_fail(err, PX_E_USAGE,
                             "the lowest %s of the training traces is %g, not below u=%g: there is "
                             "nothing to cut into buckets; raise u",
                             id, p->axis.low, p->axis.u);
    }
    return PX_GIVE(status, p, out, sc_release);
}

/* --- state ----------------------------------------------------------------------------------- */

typedef struct sc_state {
    const sc_prepared *prepared; /* NULL: from a file alone */
    sc_axis axis;
    pxi_pattern_set *set; /* one: buckets, or scores where the suite decides */
    size_t set_count;
    int64_t below, above, infinite; /* inputs outside of the buckets */
} sc_state;

static void sc_close(void *state)
{
    sc_state *s = state;
    if (!s)
        return;
    pxi_pattern_sets_free(s->set, s->set_count);
    free(s);
}

static px_status sc_open(const void *prepared, void **state, px_error *err)
{
    sc_state *s = pxi_calloc(1, sizeof *s);
    if (s && !(s->set = pxi_calloc(1, sizeof *s->set))) {
        free(s);
        s = NULL;
    }
    if (!s)
        return pxi_no_memory(err);
    s->set_count = 1;
    s->prepared = prepared;
    if (s->prepared)
        s->axis = s->prepared->axis;
    *state = s;
    return PX_OK;
}

/* A number as a member of the set; the two zeros are one. */
static pxi_pattern pattern_of(double x)
{
    pxi_pattern pattern = {0};
    x += 0.0;
    memcpy(&pattern.low, &x, sizeof x);
    return pattern;
}

static double pattern_number(pxi_pattern pattern)
{
    double x;
    memcpy(&x, &pattern.low, sizeof x);
    return x;
}

int64_t pxi_sc_bucket(double sa, double low, double u, int64_t m)
{
    assert(m > 0);
    if (sa < low)
        return -1;
    if (sa >= u)
        return m;
    const double at =
        low == 0.0 ? floor(sa * (double)m / u) : floor((sa - low) * (double)m / (u - low));
    return (int64_t)fmin(at, (double)(m - 1)); /* sa just below u may round up to it */
}

typedef enum sc_place { SC_NOWHERE, SC_BELOW, SC_ABOVE, SC_INFINITE, SC_INSIDE } sc_place;

/* Where a score belongs; *member is what the set keeps of it, for SC_INSIDE, and for SC_ABOVE with
 * overflow. */
static sc_place sc_locate(const sc_axis *axis, double sa, double *member)
{
    if (isnan(sa))
        return SC_NOWHERE;
    if (isinf(sa))
        return SC_INFINITE;
    switch (axis->form) {
    case FORM_SIZE:
        *member = floor(sa / axis->t);
        return isfinite(*member) ? SC_INSIDE : SC_INFINITE;
    case FORM_BUCKETS:
        *member = (double)pxi_sc_bucket(sa, axis->low, axis->u, axis->m);
        return *member < 0.0 ? SC_BELOW : *member < (double)axis->m ? SC_INSIDE : SC_ABOVE;
    default: /* the suite decides */
        *member = sa;
        return SC_INSIDE;
    }
}

static bool sc_kept(const sc_axis *axis, sc_place place)
{
    return place == SC_INSIDE || (place == SC_ABOVE && axis->overflow);
}

static px_status sc_observe(void *state, const px_rows *rows, px_error *err)
{
    sc_state *s = state;
    double scores[SC_ROWS];
    for (int64_t first = 0; first < rows->count; first += SC_ROWS) {
        px_rows part = *rows;
        part.count = PX_MIN(rows->count - first, (int64_t)SC_ROWS);
        part.values += first * rows->width;
        part.facts += first;
        part.rejected += first;
        PX_TRY(px_surprise_score(s->prepared->surprise, &part, 1, scores, err));
        for (int64_t i = 0; i < part.count; i++) {
            double member = 0.0;
            const sc_place place = sc_locate(&s->axis, scores[i], &member);
            s->below += place == SC_BELOW;
            s->above += place == SC_ABOVE;
            s->infinite += place == SC_INFINITE;
            if (sc_kept(&s->axis, place))
                PX_TRY(pxi_pattern_set_add(s->set, pattern_of(member), err));
        }
    }
    return PX_OK;
}

/* --- value ----------------------------------------------------------------------------------- */

typedef struct sc_bits {
    uint64_t word[SC_BUCKETS_MOST / 64 + 1];
} sc_bits;

/* The bucket of a score where the suite has the given lowest and highest; -1: none. */
static int64_t suite_bucket(const sc_axis *axis, double sa, double lowest, double highest)
{
    if (axis->form == FORM_DNN_TIP) {
        if (sa < 0.0)
            return -1;
        const double bucket = highest > 0.0 ? floor(sa * (double)axis->m / highest) : 0.0;
        return (int64_t)fmin(bucket, (double)(axis->m - 1)); /* the highest itself is in the last */
    }
    /* numpy.digitize(sa, linspace(lowest, u, m)): the number of edges at or below, 1 .. m */
    if (sa >= axis->u || axis->m == 1)
        return axis->m;
    const double step = (axis->u - lowest) / (double)(axis->m - 1);
    int64_t edges = (int64_t)floor((sa - lowest) / step) + 1;
    if (edges < axis->m && lowest + (double)edges * step <= sa)
        edges++; /* division and multiplication round apart */
    else if (edges > 1 && lowest + (double)(edges - 1) * step > sa)
        edges--;
    return PX_MIN(edges, axis->m - 1);
}

/* Buckets hit by the scores of a set, and one more (NaN: no more). */
static int64_t suite_count(const sc_state *s, double more)
{
    double lowest = more, highest = more; /* fmin and fmax take the number of the two */
    const pxi_pattern_set *set = s->set;
    if (set->has_zero)
        lowest = fmin(lowest, 0.0), highest = fmax(highest, 0.0);
    for (int64_t i = 0; i < set->capacity; i++)
        if (set->table[i].low != 0) {
            lowest = fmin(lowest, pattern_number(set->table[i]));
            highest = fmax(highest, pattern_number(set->table[i]));
        }
    sc_bits hit = {{0}};
    int64_t count = 0;
    for (int64_t i = -2; i < set->capacity; i++) {
        double sa;
        if (i == -2 && !isnan(more))
            sa = more;
        else if (i == -1 && set->has_zero)
            sa = 0.0;
        else if (i >= 0 && set->table[i].low != 0)
            sa = pattern_number(set->table[i]);
        else
            continue;
        const int64_t bucket = suite_bucket(&s->axis, sa, lowest, highest);
        if (bucket < 0 || (hit.word[bucket / 64] >> (bucket % 64) & 1))
            continue;
        hit.word[bucket / 64] |= UINT64_C(1) << (bucket % 64);
        count++;
    }
    return count;
}

static bool by_suite(const sc_axis *axis)
{
    return axis->form == FORM_SADL || axis->form == FORM_DNN_TIP;
}

static int64_t sc_total(const sc_axis *axis)
{
    if (axis->form == FORM_SIZE)
        return 0;
    return axis->m + (axis->form == FORM_BUCKETS && axis->overflow);
}

static px_coverage sc_value(const void *state)
{
    const sc_state *s = state;
    const int64_t total = sc_total(&s->axis);
    const int64_t covered = by_suite(&s->axis) ? suite_count(s, NAN) : s->set->count;
    return (px_coverage){.value = total > 0 ? (double)covered / (double)total : (double)covered,
                         .covered = covered,
                         .total = total};
}

static double sc_gain(const void *state, const px_rows *rows, int64_t i)
{
    const sc_state *s = state;
    px_rows one = *rows;
    one.count = 1;
    one.values += i * rows->width;
    one.facts += i;
    one.rejected += i;
    double score, member = 0.0;
    if (rows->rejected[i] ||
        px_surprise_score(s->prepared->surprise, &one, 1, &score, NULL) != PX_OK)
        return 0.0;
    const sc_place place = sc_locate(&s->axis, score, &member);
    if (!sc_kept(&s->axis, place) || pxi_pattern_set_has(s->set, pattern_of(member)))
        return 0.0;
    const int64_t more = by_suite(&s->axis) ? suite_count(s, member) - suite_count(s, NAN) : 1;
    const int64_t total = sc_total(&s->axis);
    return total > 0 ? (double)more / (double)total : (double)more;
}

/* --- merge, files ---------------------------------------------------------------------------- */

static bool axis_same(const sc_axis *a, const sc_axis *b)
{
    return a->form == b->form && a->m == b->m && a->overflow == b->overflow && a->low == b->low &&
           a->u == b->u && a->t == b->t;
}

static px_status sc_merge(void *state, const void *other, px_error *err)
{
    sc_state *s = state;
    const sc_state *more = other;
    if (!axis_same(&s->axis, &more->axis))
        return px_fail(err, PX_E_MISMATCH, "the two states have other buckets");
    s->below += more->below;
    s->above += more->above;
    s->infinite += more->infinite;
    return pxi_pattern_set_join(s->set, more->set, err);
}

enum { SC_COUNTS = 6, SC_BOUNDS = 3 };

static px_status sc_save(const void *state, px_npz_writer *to, const char *prefix, px_error *err)
{
    const sc_state *s = state;
    const int64_t counts[SC_COUNTS] = {s->axis.form, s->axis.m, s->axis.overflow,
                                       s->below,     s->above,  s->infinite};
    const double bounds[SC_BOUNDS] = {s->axis.low, s->axis.u, s->axis.t};
    const px_shape of_counts = {.rank = 1, .dim = {SC_COUNTS}};
    const px_shape of_bounds = {.rank = 1, .dim = {SC_BOUNDS}};
    PX_TRY(px_npz_put(to, prefix, "axis", PX_INT64, &of_counts, counts, err));
    PX_TRY(px_npz_put(to, prefix, "bounds", PX_FLOAT64, &of_bounds, bounds, err));
    return pxi_pattern_sets_save(s->set, 1, to, prefix, err);
}

/* Whether the numbers in a loaded set could have come from sc_locate(). */
static bool members_sound(const sc_state *s)
{
    for (int64_t i = 0; i < s->set->capacity; i++) {
        const pxi_pattern pattern = s->set->table[i];
        if (pattern.low == 0 && pattern.high == 0)
            continue;
        const double x = pattern_number(pattern);
        if (pattern.high != 0 || !isfinite(x) || x == 0.0)
            return false;
        if (s->axis.form == FORM_BUCKETS &&
            (x != floor(x) || x < 0.0 || x >= (double)sc_total(&s->axis)))
            return false;
        if (s->axis.form == FORM_SIZE && x != floor(x))
            return false;
    }
    return true;
}

static px_status sc_load(void *state, const px_npz *from, const char *prefix, px_error *err)
{
    sc_state *s = state;
    const px_shape of_counts = {.rank = 1, .dim = {SC_COUNTS}};
    const px_shape of_bounds = {.rank = 1, .dim = {SC_BOUNDS}};
    const void *counts, *bounds;
    PX_TRY(px_npz_take(from, prefix, "axis", PX_INT64, &of_counts, &counts, NULL, err));
    PX_TRY(px_npz_take(from, prefix, "bounds", PX_FLOAT64, &of_bounds, &bounds, NULL, err));
    const int64_t *c = counts;
    const double *b = bounds;
    const sc_axis axis = {
        .form = c[0], .m = c[1], .overflow = c[2], .low = b[0], .u = b[1], .t = b[2]};
    if (c[0] < FORM_BUCKETS || c[0] > FORM_DNN_TIP || c[1] < 1 || c[1] >= SC_BUCKETS_MOST ||
        c[2] < 0 || c[2] > 1 || c[3] < 0 || c[4] < 0 || c[5] < 0 || !isfinite(b[0]) ||
        !isfinite(b[1]) || !isfinite(b[2]) || !(b[0] < b[1]) || !(b[1] > 0.0) || !(b[2] > 0.0))
        return px_fail(err, PX_E_INPUT, "'%.100s' is damaged: its buckets are impossible", prefix);
    if (s->prepared && !axis_same(&axis, &s->axis))
        return px_fail(err, PX_E_MISMATCH, "'%.100s' has other buckets", prefix);
    PX_TRY(pxi_pattern_sets_load(&s->set, &s->set_count, from, prefix, err));
    s->axis = axis;
    for (int i = 3; i < SC_COUNTS; i++) /* so that sums of states cannot overflow */
        if (c[i] < 0 || c[i] > (int64_t)1 << 50)
            return px_fail(err, PX_E_INPUT, "array '%s/axis' has impossible counts", prefix);
    s->below = c[3];
    s->above = c[4];
    s->infinite = c[5];
    if (!members_sound(s))
        return px_fail(err, PX_E_INPUT, "'%.100s' is damaged: it has buckets that do not exist",
                       prefix);
    return PX_OK;
}

static void sc_remark(const void *state, px_text *text)
{
    const sc_state *s = state;
    if (s->infinite > 0)
        px_text_format(text,
                       "%" PRId64 " inputs are infinitely surprising (nothing in training data to "
                       "compare them with) and in no bucket\n",
                       s->infinite);
    if (s->below + s->above > 0)
        px_text_format(
            text, "%" PRId64 " inputs are below the buckets, %" PRId64 " at or above u%s\n",
            s->below, s->above, s->axis.overflow ? "" : " (--set ...overflow=yes counts those)");
    if (s->prepared)
        px_surprise_remark(s->prepared->surprise, text);
}

/* --- the three ------------------------------------------------------------------------------- */

static const px_learner *const sc_learners[] = {&px_learner_traces, NULL};

#define SC_CRITERION(ID, TITLE, SOURCE)              \
    const px_criterion px_criterion_##ID = {         \
        .entry = {.id = #ID,                         \
                  .title = TITLE,                    \
                  .source = SOURCE,                  \
                  .params = ID##_params,             \
                  .config_size = sizeof(sc_config)}, \
        .unit = "buckets",                           \
        .learners = sc_learners,                     \
        .layers = "last-hidden",                     \
        .tap = PX_TAP_POST,                          \
        .neurons = PX_VIEW_CHAN,                     \
        .classes = true,                             \
        .prepare = ID##_prepare,                     \
        .release = sc_release,                       \
        .open = sc_open,                             \
        .close = sc_close,                           \
        .observe = sc_observe,                       \
        .gain = sc_gain,                             \
        .merge = sc_merge,                           \
        .value = sc_value,                           \
        .remark = sc_remark,                         \
        .save = sc_save,                             \
        .load = sc_load,                             \
    };

static const char *const lsc_low[] = {"profile", "zero", NULL};
static const px_param lsc_params[] = {
    SC_PARAMS(2000, 10, PX_FILTER_CLASS),
    PX_PARAM_CHOICE(sc_config, low, 0, lsc_low,
                    "where buckets begin: at the lowest score of the training traces, or at 0"),
    PX_PARAM_REAL(sc_config, bandwidth, 0, 0, 1e30,
                  "of an isotropic kernel (NLC: 0.2); 0: the class's covariance, by Scott's rule"),
    PX_PARAM_END,
};

static px_status lsc_prepare(const px_criterion_request *request, void **out, px_error *err)
{
    const sc_config *config = request->config;
    px_surprise_options options = px_surprise_options_default(PX_LSA);
    options.bandwidth = config->bandwidth;
    return sc_prepare(request, options, /* low_of_profile= */ config->low == 0, out, err);
}

SC_CRITERION(lsc, "likelihood surprise coverage", "Kim et al., SADL, ICSE 2019")

static const char *const dsc_from[] = {"trace", "input", NULL};
static const px_param dsc_params[] = {
    SC_PARAMS(2, 0.1, PX_FILTER_NONE),
    PX_PARAM_CHOICE(sc_config, from, 0, dsc_from,
                    "input: the distance to other classes starts at the input itself (code "
                    "of NLC, NSGen and DeepGini)"),
    PX_PARAM_FLAG(sc_config, squared, "of squared distances (code of DeepGini)"),
    PX_PARAM_REAL(sc_config, least, 0, 0, 1e30,
                  "stands in for a distance of 0 to other classes (NLC: 1e-6)"),
    PX_PARAM_END,
};

static px_status dsc_prepare(const px_criterion_request *request, void **out, px_error *err)
{
    const sc_config *config = request->config;
    px_surprise_options options = px_surprise_options_default(PX_DSA);
    options.from_input = config->from != 0;
    options.squared = config->squared;
    options.least_dist = config->least;
    return sc_prepare(request, options, /* low_of_profile= */ false, out, err);
}

SC_CRITERION(dsc, "distance surprise coverage", "Kim et al., SADL, ICSE 2019")

static const char *const mdsc_inverse[] = {"ridge", "pseudo", NULL};
static const px_param mdsc_params[] = {
    SC_PARAMS(100, 10, PX_FILTER_NONE), /* the papers give no bound: 100 is ours */
    PX_PARAM_FLAG(sc_config, squared, "without the root (code of dnn-tip)"),
    PX_PARAM_CHOICE(sc_config, inverse, 0, mdsc_inverse,
                    "of covariances that have none: add a ridge, or take the "
                    "pseudo-inverse (code of dnn-tip)"),
    PX_PARAM_END,
};

static px_status mdsc_prepare(const px_criterion_request *request, void **out, px_error *err)
{
    const sc_config *config = request->config;
    px_surprise_options options = px_surprise_options_default(PX_MDSA);
    options.squared = config->squared;
    options.pseudo = config->inverse != 0;
    return sc_prepare(request, options, /* low_of_profile= */ false, out, err);
}

SC_CRITERION(mdsc, "Mahalanobis surprise coverage",
             "Kim et al., Reducing DNN Labelling Cost using Surprise Adequacy, FSE 2020")
