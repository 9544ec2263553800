/* src/select/sel_surprise.c - dsa, lsa, mdsa, mlsa, mmdsa: the most surprising inputs first
 *
 * Surprise adequacy as an order: Kim et al., SADL, ICSE 2019, and what came after it
 * (plexor/surprise.h); CSM B.5. order=sc-cam takes an input of every bucket of surprise first, as
 * the bounds that Neuron Sensitivity Guided Test Case Selection gives suggest, and then goes by
 * surprise.
 *
 * A candidate must not be its own reference: candidates that are the profile's own data are
 * refused.
 */
#include "select/lazy_greedy.h"
#include "select/selectors.h"

#include "base/memory.h"
#include "cover/profile_inside.h"
#include "cover/sc.h"

#include <inttypes.h>
#include <math.h>
#include <plexor/surprise.h>
#include <stdlib.h>

enum { SA_ORDER, SA_M, SA_U, SA_FILTER, SA_VARIANCE, SA_SAMPLE, SA_OWN };

static const char *const sa_orders[] = {"surprise", "sc-cam", NULL};
static const char *const sa_filters[] = {"none", "class", "global", "top", NULL};
static const char *const sa_no_yes[] = {"no", "yes", NULL};

/* In the order of SA_ORDER ... SA_SAMPLE; a selector's own settings follow. */
#define SA_SETTINGS(U, FILTER)                                                                    \
    [SA_ORDER] = {.name = "order",                                                                \
                  .choices = sa_orders,                                                           \
                  .help = "sc-cam: first an input of every bucket of surprise, then the others"}, \
    [SA_M] = {.name = "m",                                                                        \
              .fallback = 1000,                                                                   \
              .least = 1,                                                                         \
              .most = PXI_SC_BUCKETS_MOST,                                                        \
              .integer = true,                                                                    \
              .help = "buckets for sc-cam"},                                                      \
    [SA_U] = {.name = "u",                                                                        \
              .fallback = (U),                                                                    \
              .least = 1e-30,                                                                     \
              .most = 1e30,                                                                       \
              .help = "upper bound of the buckets"},                                              \
    [SA_FILTER] = {.name = "filter",                                                              \
                   .fallback = (FILTER),                                                          \
                   .choices = sa_filters,                                                         \
                   .help = "leave out neurons whose variance is below `variance`: in any class "  \
                           "(SADL), over all (global); top: keep the 300 that vary most in the "  \
                           "class (dnn-tip)"},                                                    \
    [SA_VARIANCE] = {.name = "variance",                                                          \
                     .fallback = 1e-5,                                                            \
                     .least = 0,                                                                  \
                     .most = 1e30,                                                                \
                     .help = "see filter"},                                                       \
    [SA_SAMPLE] = {.name = "sample",                                                              \
                   .fallback = 1,                                                                 \
                   .least = 1e-6,                                                                 \
                   .most = 1,                                                                     \
                   .help = "share of the training traces to compare with, drawn once"}

typedef struct sa_selector {
    px_surprise *surprise;
    px_surprise_method method;
    bool buckets;
    double low, u;
    int64_t m;
    int64_t useful, identical; /* after arrange() */
} sa_selector;

static px_surprise_options sa_options(const double *set, px_surprise_method method)
{
    px_surprise_options options = px_surprise_options_default(method);
    options.filter = (px_surprise_filter)set[SA_FILTER];
    options.variance = set[SA_VARIANCE];
    options.sample = set[SA_SAMPLE];
    return options;
}

static int64_t sa_bytes(const px_selector_request *request, px_surprise_method method)
{
    const px_surprise_options options = sa_options(request->settings, method);
    return px_surprise_bytes(&options, request->profile ? px_profile_count(request->profile) : 0,
                             request->extractor->width, request->classes);
}

static void sa_release(void *prepared)
{
    sa_selector *s = prepared;
    if (!s)
        return;
    px_surprise_free(s->surprise);
    free(s);
}

/* options: of the method, with the selector's own settings in them. */
static px_status sa_prepare(const px_selector_request *request, px_surprise_options options,
                            void **out, px_error *err)
{
    const double *set = request->settings;
    const px_surprise_method method = options.method;
    if (request->profile->data_hash == px_dataset_hash(request->set))
        return px_fail(err, PX_E_INPUT,
                       "compares candidates with training data, and these candidates are the very "
                       "data of the profile, so that each would be compared with itself; give "
                       "other candidates, or a profile of other data (--train SPEC)");
    px_traces traces;
    PX_TRY(
        px_profile_traces(request->profile, request->learned[0], request->extractor, &traces, err));
    sa_selector *s = pxi_calloc(1, sizeof *s);
    if (!s)
        return px_fail(err, PX_E_NOMEM, "out of memory");
    options.seed = request->seed;
    options.threads = request->threads;
    *s = (sa_selector){
        .method = method, .buckets = set[SA_ORDER] != 0.0, .u = set[SA_U], .m = (int64_t)set[SA_M]};
    px_status status = px_surprise_new(&traces, request->classes, &options, &s->surprise, err);
    /* A log density may be negative: then buckets begin at the lowest of the training data. */
    if (status == PX_OK && s->buckets && (method == PX_LSA || method == PX_MLSA)) {
        status = px_surprise_lowest(s->surprise, request->threads, &s->low, err);
        if (status == PX_OK && isnan(s->low))
            s->low = 0.0; /* no class has a density: nothing will be in any bucket */
    }
    if (status == PX_OK && !(s->low < s->u))
        status = px_fail(err, PX_E_USAGE,
                         "the lowest %s of the training data is %g, not below u=%g: there is "
                         "nothing to cut into buckets; raise u",
                         px_surprise_id(method), s->low, s->u);
    if (status == PX_OK)
        *out = s;
    else
        sa_release(s);
    return status;
}

static px_status sa_score(void *prepared, void *worker, const px_rows *rows, double *scores,
                          px_error *err)
{
    (void)worker;
    const sa_selector *s = prepared;
    return px_surprise_score(s->surprise, rows, 1, scores, err);
}

/* sc-cam: every input covers one bucket, so greedy takes the first input of each, by index. */
static px_status sa_arrange(void *prepared, double *scores, int64_t count, int64_t *order,
                            px_error *err)
{
    sa_selector *s = prepared;
    pxi_keyed *keyed = pxi_calloc((size_t)count + 1, sizeof *keyed);
    bool *hit = pxi_calloc((size_t)s->m, sizeof *hit);
    if (!keyed || !hit) {
        free(keyed);
        free(hit);
        return px_fail(err, PX_E_NOMEM, "out of memory");
    }
    int64_t at = 0, rest = 0;
    for (int64_t i = 0; i < count; i++) {
        if (isnan(scores[i]))
            continue;
        s->identical += s->method == PX_DSA && scores[i] == 0.0;
        const int64_t bucket =
            s->buckets && isfinite(scores[i]) ? pxi_sc_bucket(scores[i], s->low, s->u, s->m) : -1;
        if (bucket >= 0 && bucket < s->m && !hit[bucket]) {
            hit[bucket] = true;
            order[at++] = i;
        } else {
            keyed[rest++] = (pxi_keyed){.key = scores[i], .item = i};
        }
    }
    s->useful = at;
    pxi_keyed_sort(keyed, rest);
    for (int64_t i = 0; i < rest; i++)
        order[at++] = keyed[i].item;
    pxi_append_unscored(scores, count, order, at);
    free(keyed);
    free(hit);
    return PX_OK;
}

static void sa_remark(const void *prepared, px_text *text)
{
    const sa_selector *s = prepared;
    if (s->buckets)
        px_text_format(text,
                       "%s: %" PRId64 " of %" PRId64
                       " buckets have an input; these come first, then the others by surprise\n",
                       px_surprise_id(s->method), s->useful, s->m);
    if (s->identical > 0)
        px_text_format(text,
                       "dsa: %" PRId64
                       " candidates have the very trace of a training input; if they are among the "
                       "profile's data, their scores mean nothing\n",
                       s->identical);
    px_surprise_remark(s->surprise, text);
}

/* --- the five
 * -------------------------------------------------------------------------------------- */

static const px_learner *const sa_learners[] = {&px_learner_traces, NULL};

/* OWN: changes `options` as the selector's own settings `set` ask. */
#define SA_SELECTOR(ID, METHOD, TITLE, SOURCE, NEEDS, OWN)                                       \
    static int64_t ID##_bytes(const px_selector_request *request)                                \
    {                                                                                            \
        return sa_bytes(request, METHOD);                                                        \
    }                                                                                            \
    static px_status ID##_prepare(const px_selector_request *request, void **out, px_error *err) \
    {                                                                                            \
        const double *set = request->settings;                                                   \
        px_surprise_options options = sa_options(set, METHOD);                                   \
        OWN;                                                                                     \
        return sa_prepare(request, options, out, err);                                           \
    }                                                                                            \
    const px_selector px_selector_##ID = {                                                       \
        .id = #ID,                                                                               \
        .title = TITLE,                                                                          \
        .source = SOURCE,                                                                        \
        .settings = ID##_settings,                                                               \
        .setting_count = PX_LEN(ID##_settings),                                                  \
        .learners = sa_learners,                                                                 \
        .layers = "last-hidden",                                                                 \
        .tap = PX_TAP_POST,                                                                      \
        .neurons = PX_VIEW_CHAN,                                                                 \
        .needs = NEEDS,                                                                          \
        .bytes = ID##_bytes,                                                                     \
        .prepare = ID##_prepare,                                                                 \
        .release = sa_release,                                                                   \
        .score = sa_score,                                                                       \
        .arrange = sa_arrange,                                                                   \
        .remark = sa_remark,                                                                     \
    };

static const char *const dsa_from[] = {"trace", "input", NULL};
enum { DSA_FROM = SA_OWN, DSA_SQUARED, DSA_LEAST };
static const px_param dsa_settings[] = {
    SA_SETTINGS(2, PX_FILTER_NONE),
    [DSA_FROM] = {.name = "from",
                  .choices = dsa_from,
                  .help = "input: the distance to other classes starts at the input itself (code "
                          "of NLC, NSGen and DeepGini)"},
    [DSA_SQUARED] = {.name = "squared",
                     .choices = sa_no_yes,
                     .help = "of squared distances (code of DeepGini)"},
    [DSA_LEAST] = {.name = "least",
                   .fallback = 0,
                   .least = 0,
                   .most = 1e30,
                   .help = "stands in for a distance of 0 to other classes (NLC: 1e-6)"},
};
SA_SELECTOR(dsa, PX_DSA, "distance-based surprise", "Kim et al., SADL, ICSE 2019", PX_NEEDS_CLASSES,
            options.from_input = set[DSA_FROM] != 0.0;
            options.squared = set[DSA_SQUARED] != 0.0; options.least_dist = set[DSA_LEAST])

enum { LSA_BANDWIDTH = SA_OWN };
static const px_param lsa_settings[] = {
    SA_SETTINGS(2000, PX_FILTER_CLASS),
    [LSA_BANDWIDTH] = {.name = "bandwidth",
                       .fallback = 0,
                       .least = 0,
                       .most = 1e30,
                       .help = "of an isotropic kernel (NLC: 0.2); 0: the class's covariance, by "
                               "Scott's rule"},
};
SA_SELECTOR(lsa, PX_LSA, "likelihood-based surprise", "Kim et al., SADL, ICSE 2019",
            PX_NEEDS_CLASSES, options.bandwidth = set[LSA_BANDWIDTH])

static const char *const mdsa_inverse[] = {"ridge", "pseudo", NULL};
enum { MDSA_INVERSE = SA_OWN };
static const px_param mdsa_settings[] = {
    SA_SETTINGS(100, PX_FILTER_NONE), /* the papers give no bound: 100 is ours */
    [MDSA_INVERSE] = {.name = "inverse",
                      .choices = mdsa_inverse,
                      .help = "of covariances that have none: add a ridge, or take the "
                              "pseudo-inverse (code of dnn-tip)"},
};
SA_SELECTOR(mdsa, PX_MDSA, "Mahalanobis distance to the class",
            "Kim et al., Reducing DNN Labelling Cost using Surprise Adequacy, FSE 2020",
            PX_NEEDS_CLASSES, options.pseudo = set[MDSA_INVERSE] != 0.0)

enum { MLSA_COMPONENTS = SA_OWN };
static const px_param mlsa_settings[] = {
    SA_SETTINGS(2000, PX_FILTER_NONE),
    [MLSA_COMPONENTS] = {.name = "components",
                         .fallback = 2,
                         .least = 1,
                         .most = 64,
                         .integer = true,
                         .help = "of each class's mixture (simple-tip: 3)"},
};
SA_SELECTOR(mlsa, PX_MLSA, "likelihood under a mixture per class",
            "Weiss et al., A Review and Refinement of Surprise Adequacy, DeepTest 2021",
            PX_NEEDS_CLASSES, options.components = (int)set[MLSA_COMPONENTS])

enum { MMDSA_MOST = SA_OWN, MMDSA_PART };
static const px_param mmdsa_settings[] = {
    SA_SETTINGS(100, PX_FILTER_NONE),
    [MMDSA_MOST] = {.name = "clusters",
                    .fallback = 5,
                    .least = 2,
                    .most = 64,
                    .integer = true,
                    .help = "at most; the number from 2 on with the best silhouette is taken"},
    [MMDSA_PART] = {.name = "part",
                    .fallback = 0.3,
                    .least = 1e-6,
                    .most = 1,
                    .help = "share of the traces that clusters are found with"},
};
SA_SELECTOR(mmdsa, PX_MMDSA, "Mahalanobis distance to the nearest cluster",
            "Weiss et al., A Review and Refinement of Surprise Adequacy, DeepTest 2021", 0,
            options.most_clusters = (int)set[MMDSA_MOST];
            options.cluster_sample = set[MMDSA_PART])
