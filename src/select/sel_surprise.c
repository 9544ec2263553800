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
/* SPDX-License-Identifier: Apache-2.0 */
#include "select/lazy_greedy.h"
#include "select/selectors.h"

#include "base/memory.h"
#include "cover/profile_internal.h"
#include "cover/surprise_sections.h"

#include <internal/profile.h>
#include <internal/surprise.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

static const char *const sa_orders[] = {"surprise", "sc-cam", NULL};
static const char *const sa_filters[] = {"none", "class", "global", "top", NULL};
typedef struct sa_config { /* of all five; each has a table of its own */
    int order;
    int64_t m;
    double u;
    int filter;
    double variance, sample;
    int from; /* dsa */
    bool squared;
    double least;
    double bandwidth;   /* lsa */
    int inverse;        /* mdsa */
    int64_t components; /* mlsa */
    int64_t clusters;   /* mmdsa */
    double part;
} sa_config;

#define SA_PARAMS(U, FILTER)                                                                  \
    PX_PARAM_CHOICE(sa_config, order, 0, sa_orders,                                           \
                    "sc-cam: first an input of every bucket of surprise, then the others"),   \
        PX_PARAM_INT(sa_config, m, 1000, 1, PXI_SC_BUCKETS_MOST, "buckets for sc-cam"),       \
        PX_PARAM_REAL(sa_config, u, (U), 1e-30, 1e30, "upper bound of the buckets"),          \
        PX_PARAM_CHOICE(sa_config, filter, (FILTER), sa_filters,                              \
                        "leave out neurons whose variance is below `variance`: in any class " \
                        "(SADL), over all (global); top: keep the 300 that vary most in the " \
                        "class (dnn-tip)"),                                                   \
        PX_PARAM_REAL(sa_config, variance, 1e-5, 0, 1e30, "see filter"),                      \
        PX_PARAM_REAL(sa_config, sample, 1, 1e-6, 1,                                          \
                      "share of the training traces to compare with, drawn once")

typedef struct sa_selector {
    px_surprise *surprise;
    px_surprise_method method;
    bool buckets;
    double low, u;
    int64_t m;
    int64_t useful, identical; /* after arrange() */
} sa_selector;

static px_surprise_options sa_options(const sa_config *config, px_surprise_method method)
{
    px_surprise_options options = px_surprise_options_default(method);
    options.filter = (px_surprise_filter)config->filter;
    options.variance = config->variance;
    options.sample = config->sample;
    return options;
}

static int64_t sa_bytes(const px_selector_request *request, px_surprise_method method)
{
    const px_surprise_options options = sa_options(request->config, method);
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
    const sa_config *config = request->config;
    const px_surprise_method method = options.method;
    if (request->profile->data_hash == px_dataset_hash(request->set))
        return px_fail(err, PX_E_INPUT,
                       "compares candidates with training data, and these candidates are the very "
                       "data of the profile, so that each would be compared with itself; give "
                       "other candidates, or a profile of other data (--train SPEC)");
    px_traces traces;
    PX_TRY(
        px_profile_traces(request->profile, request->learned[0], request->extractor, &traces, err));
    sa_selector *s = NULL;
    PX_TRY(PX_NEW(s, 1, err));
    options.seed = request->seed;
    options.threads = request->threads;
    *s = (sa_selector){
        .method = method, .buckets = config->order != 0, .u = config->u, .m = config->m};
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
    return PX_GIVE(status, s, out, sa_release);
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
        return pxi_no_memory(err);
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

/* --- the five -------------------------------------------------------------------------------- */

static const px_learner *const sa_learners[] = {&px_learner_traces, NULL};

/* OWN: changes `options` as the selector's own settings ask. */
#define SA_SELECTOR(ID, METHOD, TITLE, SOURCE, NEEDS, OWN)                                       \
    static int64_t ID##_bytes(const px_selector_request *request)                                \
    {                                                                                            \
        return sa_bytes(request, METHOD);                                                        \
    }                                                                                            \
    static px_status ID##_prepare(const px_selector_request *request, void **out, px_error *err) \
    {                                                                                            \
        const sa_config *config = request->config;                                               \
        px_surprise_options options = sa_options(config, METHOD);                                \
        OWN;                                                                                     \
        return sa_prepare(request, options, out, err);                                           \
    }                                                                                            \
    const px_selector px_selector_##ID = {                                                       \
        .entry = {.id = #ID,                                                                     \
                  .title = TITLE,                                                                \
                  .source = SOURCE,                                                              \
                  .params = ID##_params,                                                         \
                  .config_size = sizeof(sa_config)},                                             \
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
static const px_param dsa_params[] = {
    SA_PARAMS(2, PX_FILTER_NONE),
    PX_PARAM_CHOICE(sa_config, from, 0, dsa_from,
                    "input: the distance to other classes starts at the input itself (code "
                    "of NLC, NSGen and DeepGini)"),
    PX_PARAM_FLAG(sa_config, squared, "of squared distances (code of DeepGini)"),
    PX_PARAM_REAL(sa_config, least, 0, 0, 1e30,
                  "stands in for a distance of 0 to other classes (NLC: 1e-6)"),
    PX_PARAM_END,
};
SA_SELECTOR(dsa, PX_DSA, "distance-based surprise", "Kim et al., SADL, ICSE 2019", PX_NEEDS_CLASSES,
            options.from_input = config->from != 0;
            options.squared = config->squared; options.least_dist = config->least)

static const px_param lsa_params[] = {
    SA_PARAMS(2000, PX_FILTER_CLASS),
    PX_PARAM_REAL(sa_config, bandwidth, 0, 0, 1e30,
                  "of an isotropic kernel (NLC: 0.2); 0: the class's covariance, by Scott's rule"),
    PX_PARAM_END,
};
SA_SELECTOR(lsa, PX_LSA, "likelihood-based surprise", "Kim et al., SADL, ICSE 2019",
            PX_NEEDS_CLASSES, options.bandwidth = config->bandwidth)

static const char *const mdsa_inverse[] = {"ridge", "pseudo", NULL};
static const px_param mdsa_params[] = {
    SA_PARAMS(100, PX_FILTER_NONE), /* the papers give no bound: 100 is ours */
    PX_PARAM_CHOICE(sa_config, inverse, 0, mdsa_inverse,
                    "of covariances that have none: add a ridge, or take the "
                    "pseudo-inverse (code of dnn-tip)"),
    PX_PARAM_END,
};
SA_SELECTOR(mdsa, PX_MDSA, "Mahalanobis distance to the class",
            "Kim et al., Reducing DNN Labelling Cost using Surprise Adequacy, FSE 2020",
            PX_NEEDS_CLASSES, options.pseudo = config->inverse != 0)

static const px_param mlsa_params[] = {
    SA_PARAMS(2000, PX_FILTER_NONE),
    PX_PARAM_INT(sa_config, components, 2, 1, 64, "of each class's mixture (simple-tip: 3)"),
    PX_PARAM_END,
};
SA_SELECTOR(mlsa, PX_MLSA, "likelihood under a mixture per class",
            "Weiss et al., A Review and Refinement of Surprise Adequacy, DeepTest 2021",
            PX_NEEDS_CLASSES, options.components = (int)config->components)

static const px_param mmdsa_params[] = {
    SA_PARAMS(100, PX_FILTER_NONE),
    PX_PARAM_INT(sa_config, clusters, 5, 2, 64,
                 "at most; the number from 2 on with the best silhouette is taken"),
    PX_PARAM_REAL(sa_config, part, 0.3, 1e-6, 1,
                  "share of the traces that clusters are found with"),
    PX_PARAM_END,
};
SA_SELECTOR(mmdsa, PX_MMDSA, "Mahalanobis distance to the nearest cluster",
            "Weiss et al., A Review and Refinement of Surprise Adequacy, DeepTest 2021", 0,
            options.most_clusters = (int)config->clusters;
            options.cluster_sample = config->part)
