/* src/cover/crit_npc.c - SNPC and ANPC: neuron path coverage by structure and by activation
 *
 * Xie et al., NPC, TOSEM 2022; CSM A.9. An input's critical decision path is compared with the
 * abstract paths of the class that the network predicts for it.
 *
 * SNPC: J = |P_l & A_l| / |P_l | A_l| per abstract path and layer, in m buckets; or one J over all
 * layers (over=path). ANPC: of the abstract path with the largest mean J, per layer the distance of
 * the activations to those of the nearest training input behind it, over the neurons of A_l, in m
 * buckets of [0, U_l), the last one open. U_l is the largest such distance among training inputs,
 * each without itself.
 *
 * A class without correctly classified training inputs has no abstract path: its elements count and
 * stay uncovered. compat=npc-code: ceil(J m), which has m + 1 values; abstract paths as
 * pxi_npc_abstract() says; ANPC looks at the last layer only.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#include "base/memory.h"
#include "cover/extract_relevance.h"
#include "cover/npc.h"
#include "cover/slots.h"

#include <internal/profile.h>
#include <inttypes.h>
#include <math.h>
#include <plexor/text.h>
#include <stdlib.h>
#include <string.h>

struct pxi_npc {
    pxi_slots_plan plan;     /* first: a "neuron" there is (layer, class, cluster) */
    px_extractor elements;   /* says so: width and layers */
    px_row_layer *of_layers; /* of `elements` */
    const px_extractor *extractor;
    int64_t neurons, m, most_layer;
    int classes, k;
    double alpha, upper;
    bool compat, whole; /* whole: one J for the path */
    uint8_t *paths;     /* [classes * k][neurons] */
    int64_t *sizes;     /* [classes * k] */
    /* ANPC: */
    const float **members; /* per cluster: [size][width], borrowed from the profile; NULL: SNPC */
    int64_t *widths;
    double *limits;
};
typedef pxi_npc npc;

static px_status npc_extract(const px_model *model, const px_probe_options *options,
                             const void *config, px_extractor **out, px_error *err)
{
    return pxi_extractor_relevance(model, options, ((const pxi_npc_config *)config)->lrp, out, err);
}

void pxi_npc_free(void *prepared)
{
    npc *p = prepared;
    if (!p)
        return;
    free(p->of_layers);
    free(p->paths);
    free(p->sizes);
    free(p->members);
    free(p->widths);
    free(p->limits);
    free(p);
}

/* --- what was learned ------------------------------------------------------------------------ */

static px_status npc_read_paths(npc *p, const px_criterion_request *request, px_error *err)
{
    const px_shape of_paths = {.rank = 3, .dim = {p->classes, p->k, p->neurons}};
    const px_shape of_sizes = {.rank = 2, .dim = {p->classes, p->k}};
    const px_tensor *paths, *sizes;
    PX_TRY(px_profile_get(request->profile, request->learned[0], "paths", PX_UINT8, &of_paths,
                          &paths, err));
    PX_TRY(px_profile_get(request->profile, request->learned[0], "sizes", PX_INT64, &of_sizes,
                          &sizes, err));
    const size_t slots = (size_t)(p->classes * p->k), bits = slots * (size_t)p->neurons;
    PX_TRY(PX_NEW(p->paths, bits, err));
    PX_TRY(PX_NEW(p->sizes, slots, err));
    bool any = false, fits = true;
    memcpy(p->paths, paths->data, bits * sizeof *p->paths);
    memcpy(p->sizes, sizes->data, slots * sizeof *p->sizes);
    for (size_t i = 0; i < bits; i++)
        fits &= p->paths[i] <= 1;
    for (size_t i = 0; i < slots; i++) {
        fits &= p->sizes[i] >= 0 && p->sizes[i] <= px_profile_count(request->profile);
        any |= p->sizes[i] > 0;
    }
    if (!fits)
        return px_fail(err, PX_E_INPUT, "'%.200s': its decision paths are damaged; make it again",
                       px_profile_name(request->profile));
    if (!any)
        return px_fail(err, PX_E_INPUT,
                       "'%.200s' has no training input that is classified correctly, and so no "
                       "decision path to compare with; give labelled training data of this network",
                       px_profile_name(request->profile));
    return PX_OK;
}

static px_status npc_read_members(npc *p, const px_criterion_request *request, px_error *err)
{
    const px_shape flat = {.rank = 1, .dim = {-1}};
    const px_shape of_limits = {.rank = 1, .dim = {(int64_t)p->extractor->layer_count}};
    const px_tensor *members, *limits;
    PX_TRY(px_profile_get(request->profile, request->learned[0], "members", PX_FLOAT32, &flat,
                          &members, err));
    PX_TRY(px_profile_get(request->profile, request->learned[0], "limits", PX_FLOAT64, &of_limits,
                          &limits, err));
    const size_t slots = (size_t)(p->classes * p->k), layers = p->extractor->layer_count;
    PX_TRY(PX_NEW(p->members, slots, err));
    PX_TRY(PX_NEW(p->widths, slots, err));
    PX_TRY(PX_NEW(p->limits, layers, err));
    memcpy(p->limits, limits->data, layers * sizeof *p->limits);
    const float *at = members->data;
    int64_t left = members->shape.dim[0];
    bool fits = true;
    for (size_t i = 0; i < slots && fits; i++) {
        for (int64_t n = 0; n < p->neurons; n++)
            p->widths[i] += p->paths[i * (size_t)p->neurons + (size_t)n];
        fits = p->widths[i] == 0 || p->sizes[i] <= left / p->widths[i];
        p->members[i] = at;
        if (fits && at) {
            at += p->sizes[i] * p->widths[i];
            left -= p->sizes[i] * p->widths[i];
        }
    }
    for (size_t l = 0; l < layers; l++)
        fits &= p->limits[l] >= 0.0 && isfinite(p->limits[l]);
    if (!fits || left != 0)
        return px_fail(err, PX_E_INPUT, "'%.200s': its path members are damaged; make it again",
                       px_profile_name(request->profile));
    return PX_OK;
}

/* Elements are ordered by layer, class, cluster, bucket. */
static px_status npc_elements(npc *p, const char *id, px_error *err)
{
    const size_t layers = p->extractor->layer_count;
    const int64_t each = (int64_t)p->classes * p->k;
    PX_TRY(PX_NEW(p->of_layers, layers, err));
    for (size_t l = 0; l < layers; l++) {
        const bool counts = p->whole ? l == 0 : !(p->compat && p->members) || l + 1 == layers;
        p->of_layers[l] = (px_row_layer){.name = p->extractor->layers[l].name,
                                         .offset = p->elements.width,
                                         .count = counts ? each : 0};
        p->elements.width += counts ? each : 0;
        p->most_layer = PX_MAX(p->most_layer, p->extractor->layers[l].count);
    }
    p->elements.layers = p->of_layers;
    p->elements.layer_count = layers;
    p->plan.extractor = &p->elements;
    p->plan.per_neuron = p->plan.share = p->compat && !p->members ? p->m + 1 : p->m;
    return pxi_slots_check(id, p->elements.width, p->plan.per_neuron, err);
}

static px_status npc_prepare(const px_criterion_request *request, bool activations, void **out,
                             px_error *err)
{
    npc *p = NULL;
    px_status status = PX_NEW(p, 1, err);
    if (status != PX_OK)
        return status;
    const pxi_npc_config *config = request->config;
    p->extractor = request->extractor;
    p->neurons = request->extractor->width / 2;
    p->classes = request->classes;
    p->k = (int)config->k;
    p->m = config->m;
    p->alpha = config->alpha;
    p->compat = config->compat != 0;
    p->whole = !activations && config->over != 0;
    p->upper = activations ? config->u : 0.0;
    status = npc_read_paths(p, request, err);
    PX_THEN_IF(status, activations, npc_read_members(p, request, err));
    PX_THEN(status, npc_elements(p, activations ? "anpc" : "snpc", err));
    return PX_GIVE(status, p, out, pxi_npc_free);
}

static px_status snpc_prepare(const px_criterion_request *request, void **out, px_error *err)
{
    return npc_prepare(request, /* activations= */ false, out, err);
}

px_status pxi_snpc_new(const px_criterion_request *request, pxi_npc **out, px_error *err)
{
    void *made = NULL;
    PX_TRY(snpc_prepare(request, &made, err));
    *out = made;
    return PX_OK;
}

static px_status anpc_prepare(const px_criterion_request *request, void **out, px_error *err)
{
    return npc_prepare(request, /* activations= */ true, out, err);
}

/* --- one input ------------------------------------------------------------------------------- */

bool pxi_npc_scratch_init(pxi_npc_scratch *scratch, const npc *p)
{
    scratch->path = pxi_calloc((size_t)p->neurons, sizeof *scratch->path);
    scratch->heap = pxi_calloc((size_t)p->most_layer, sizeof *scratch->heap);
    scratch->nearest = pxi_calloc(p->extractor->layer_count, sizeof *scratch->nearest);
    return scratch->path && scratch->heap && scratch->nearest;
}

void pxi_npc_scratch_done(pxi_npc_scratch *scratch)
{
    free(scratch->path);
    free(scratch->heap);
    free(scratch->nearest);
}

/* Adds an element to the set, or only asks whether it is new. */
static int64_t element_hit(const npc *p, pxi_bitset *set, bool commit, size_t layer, int64_t slot,
                           int64_t bucket)
{
    const int64_t bit = (p->of_layers[layer].offset + slot) * p->plan.per_neuron + bucket;
    if (pxi_bitset_has(set, bit))
        return 0;
    if (commit)
        pxi_bitset_add(set, bit);
    return 1;
}

static double layer_jaccard(const npc *p, const pxi_npc_scratch *scratch, int64_t slot,
                            size_t layer)
{
    const px_row_layer *l = &p->extractor->layers[layer];
    return pxi_npc_jaccard(scratch->path + l->offset, p->paths + slot * p->neurons + l->offset,
                           l->count);
}

int64_t pxi_snpc_columns(const npc *p)
{
    return p->whole ? p->k : p->k * (int64_t)p->extractor->layer_count;
}

int64_t pxi_snpc_buckets(const npc *p)
{
    return p->plan.per_neuron;
}

/* Of one abstract path; over the whole path `layer` does not matter. */
static int64_t snpc_bucket(const npc *p, const pxi_npc_scratch *scratch, int64_t slot, size_t layer)
{
    const double j = p->whole
                         ? pxi_npc_jaccard(scratch->path, p->paths + slot * p->neurons, p->neurons)
                         : layer_jaccard(p, scratch, slot, layer);
    return pxi_npc_bucket(j, p->m, p->compat);
}

static int64_t snpc_hits(const npc *p, const pxi_npc_scratch *scratch, int64_t first,
                         pxi_bitset *set, bool commit)
{
    const size_t layers = p->whole ? 1 : p->extractor->layer_count;
    int64_t fresh = 0;
    for (int64_t slot = first; slot < first + p->k; slot++)
        for (size_t l = 0; p->sizes[slot] > 0 && l < layers; l++)
            fresh += element_hit(p, set, commit, l, slot, snpc_bucket(p, scratch, slot, l));
    return fresh;
}

/* Squared distance to the nearest member, per layer. */
static void anpc_nearest(const npc *p, int64_t slot, const float *values, double *nearest)
{
    const uint8_t *path = p->paths + slot * p->neurons;
    for (size_t l = 0; l < p->extractor->layer_count; l++)
        nearest[l] = INFINITY;
    for (int64_t i = 0; i < p->sizes[slot]; i++) {
        const float *member = p->members[slot] + i * p->widths[slot];
        for (size_t l = 0; l < p->extractor->layer_count; l++) {
            const px_row_layer *layer = &p->extractor->layers[l];
            double sum = 0.0;
            for (int64_t n = layer->offset; n < layer->offset + layer->count; n++)
                if (path[n]) {
                    const double d = (double)values[n] - (double)*member++;
                    sum += d * d;
                }
            nearest[l] = PX_MIN(nearest[l], sum);
        }
    }
}

static int64_t anpc_bucket(const npc *p, size_t layer, double distance)
{
    const double upper = p->upper > 0.0 ? p->upper : p->limits[layer];
    if (!(upper > 0.0))
        return distance == 0.0 ? 0 : p->m - 1;
    const double at = floor(distance * (double)p->m / upper);
    return at < (double)(p->m - 1) ? (int64_t)at : p->m - 1;
}

static int64_t anpc_hits(const npc *p, pxi_npc_scratch *scratch, int64_t first, const float *values,
                         pxi_bitset *set, bool commit)
{
    const size_t layers = p->extractor->layer_count;
    int64_t best = -1, fresh = 0;
    double best_sum = 0.0;
    for (int64_t slot = first; slot < first + p->k; slot++) {
        double sum = 0.0;
        for (size_t l = 0; p->sizes[slot] > 0 && l < layers; l++)
            sum += layer_jaccard(p, scratch, slot, l);
        if (p->sizes[slot] > 0 && (best < 0 || sum > best_sum)) {
            best = slot;
            best_sum = sum;
        }
    }
    if (best < 0)
        return 0;
    anpc_nearest(p, best, values, scratch->nearest);
    for (size_t l = 0; l < layers; l++)
        if (p->of_layers[l].count > 0)
            fresh +=
                element_hit(p, set, commit, l, best, anpc_bucket(p, l, sqrt(scratch->nearest[l])));
    return fresh;
}

/* The path of row i. False: it has none to compare with. */
static bool npc_follow(const npc *p, pxi_npc_scratch *scratch, const px_rows *rows, int64_t i)
{
    const int c = rows->facts[i].predicted;
    if (rows->rejected[i] || c < 0 || c >= p->classes)
        return false;
    pxi_npc_path(p->extractor->layers, p->extractor->layer_count, pxi_row(rows, i), p->alpha,
                 scratch->path, scratch->heap);
    return true;
}

static int64_t npc_hits(const npc *p, pxi_npc_scratch *scratch, const px_rows *rows, int64_t i,
                        pxi_bitset *set, bool commit)
{
    if (!npc_follow(p, scratch, rows, i))
        return 0;
    const int64_t first = (int64_t)rows->facts[i].predicted * p->k;
    return p->members ? anpc_hits(p, scratch, first, pxi_row(rows, i) + p->neurons, set, commit)
                      : snpc_hits(p, scratch, first, set, commit);
}

void pxi_snpc_find(const npc *p, pxi_npc_scratch *scratch, const px_rows *rows, int64_t i,
                   int32_t *bucket)
{
    const int64_t columns = pxi_snpc_columns(p), layers = columns / p->k;
    const bool found = npc_follow(p, scratch, rows, i);
    const int64_t first = (int64_t)rows->facts[i].predicted * p->k;
    for (int64_t c = 0; c < columns; c++) {
        const int64_t slot = first + c / layers;
        bucket[c] = found && p->sizes[slot] > 0
                        ? (int32_t)snpc_bucket(p, scratch, slot, (size_t)(c % layers))
                        : -1;
    }
}

static px_status npc_observe(void *state, const px_rows *rows, px_error *err)
{
    pxi_slots *slots = state;
    const npc *p = (const npc *)(const void *)slots->plan;
    pxi_npc_scratch scratch = {0};
    const bool ready = pxi_npc_scratch_init(&scratch, p);
    for (int64_t i = 0; ready && i < rows->count; i++)
        npc_hits(p, &scratch, rows, i, &slots->bits, /* commit= */ true);
    pxi_npc_scratch_done(&scratch);
    return ready ? PX_OK : pxi_no_memory(err);
}

static double npc_gain(const void *state, const px_rows *rows, int64_t i)
{
    const pxi_slots *slots = state;
    const npc *p = (const npc *)(const void *)slots->plan;
    pxi_bitset set = slots->bits; /* the same words: only looked at */
    pxi_npc_scratch scratch = {0};
    int64_t fresh = 0;
    if (pxi_npc_scratch_init(&scratch, p))
        fresh = npc_hits(p, &scratch, rows, i, &set, /* commit= */ false);
    pxi_npc_scratch_done(&scratch);
    return pxi_slots_gain(slots, fresh);
}

static void npc_remark(const void *state, px_text *text)
{
    const pxi_slots *slots = state;
    const npc *p = (const npc *)(const void *)slots->plan;
    int without = 0;
    for (int c = 0; p && c < p->classes; c++) {
        int64_t members = 0;
        for (int i = 0; i < p->k; i++)
            members += p->sizes[c * p->k + i];
        without += members == 0;
    }
    if (without)
        px_text_format(text,
                       "%d of %d classes have no correctly classified training input, and so no "
                       "decision path: their elements stay uncovered\n",
                       without, p->classes);
}

/* --- descriptors ----------------------------------------------------------------------------- */

static const char *const npc_compats[] = {"none", "npc-code", NULL};
static const char *const snpc_overs[] = {"layers", "path", NULL};

#define NPC_PARAMS                                                                   \
    PX_PARAM_REAL(pxi_npc_config, alpha, 0.7, 0, 1,                                  \
                  "share of a layer's positive relevance that a path has to carry"), \
        PX_PARAM_REAL(pxi_npc_config, beta, 0.6, 0, 1,                               \
                      "share of training paths that a neuron has to be in"),         \
        PX_PARAM_INT(pxi_npc_config, k, 1, 1, 256, "abstract paths per class"),      \
        PX_PARAM_CHOICE(pxi_npc_config, compat, 0, npc_compats,                      \
                        "npc-code: count as the authors' program does"),             \
        PX_PARAM_REAL(pxi_npc_config, lrp, 0.5, 0, 10,                               \
                      "beta of the relevance rule: weight of negative contributions")

static const px_param snpc_params[] = {
    NPC_PARAMS,
    PX_PARAM_INT(pxi_npc_config, m, 100, 1, 1e6, "buckets of similarity"),
    PX_PARAM_CHOICE(pxi_npc_config, over, 0, snpc_overs,
                    "compare layer by layer, or the path as a whole"),
    PX_PARAM_END,
};

static const px_param anpc_params[] = {
    NPC_PARAMS,
    PX_PARAM_INT(pxi_npc_config, m, 200, 1, 1e6, "buckets of distance"),
    PX_PARAM_REAL(pxi_npc_config, u, 0, 0, 1e30,
                  "upper end of the distances; 0: the largest among training inputs, per layer"),
    PX_PARAM_END,
};

static const px_learner *const snpc_learners[] = {&pxi_learner_paths, NULL};
static const px_learner *const anpc_learners[] = {&pxi_learner_members, NULL};

const px_criterion px_criterion_snpc = {
    .entry = {.id = "snpc",
              .title = "structural neuron path coverage",
              .source = "Xie et al., NPC, TOSEM 2022",
              .params = snpc_params,
              .config_size = sizeof(pxi_npc_config)},
    .unit = "similarities of paths",
    .learners = snpc_learners,
    .tap = PX_TAP_POST,
    .neurons = PX_VIEW_CHAN,
    .classes = true,
    .extract = npc_extract,
    .prepare = snpc_prepare,
    .release = pxi_npc_free,
    PXI_SLOTS_STATE,
    .observe = npc_observe,
    .gain = npc_gain,
    .remark = npc_remark,
};

const px_criterion px_criterion_anpc = {
    .entry = {.id = "anpc",
              .title = "activation-based neuron path coverage",
              .source = "Xie et al., NPC, TOSEM 2022",
              .params = anpc_params,
              .config_size = sizeof(pxi_npc_config)},
    .unit = "distances from paths",
    .learners = anpc_learners,
    .tap = PX_TAP_POST,
    .neurons = PX_VIEW_CHAN,
    .classes = true,
    .extract = npc_extract,
    .prepare = anpc_prepare,
    .release = pxi_npc_free,
    PXI_SLOTS_STATE,
    .observe = npc_observe,
    .gain = npc_gain,
    .remark = npc_remark,
};
