/* src/cover/crit_tknc.c - TKNC, top-k neuron coverage
 *
 * Ma et al., DeepGauge (ASE 2018); CSM A.5. Neurons that were among the k most active of their
 * layer at least once / |N|. Ties go to the lower index; a layer with k neurons or less is covered
 * by the first input, and a layer whose neurons are all equal covers its first k (`constant=skip`:
 * none). `pattern-count`, as in Yan's package and a part of Revisiting's, counts the different
 * top-k sets of each layer instead and divides by |N| all the same.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#include "base/memory.h"
#include "cover/pattern_set.h"
#include "cover/slots.h"
#include "cover/top_neurons.h"

#include <internal/cover.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

enum { TKNC_NEURONS, TKNC_TAIL_INDEX, TKNC_PATTERN_COUNT };
enum { TKNC_MOST = 4096 }; /* k: a layer's indices lie on the stack */

static const char *const tknc_variants[] = {"canonical", "tail-index", "pattern-count", NULL};
static const char *const tknc_constant[] = {"count", "skip", NULL};

typedef struct tknc_config {
    int64_t k;
    int variant;
    int constant;
} tknc_config;

static const px_param tknc_params[] = {
    PX_PARAM_INT(tknc_config, k, 10, 1, TKNC_MOST,
                 "how many of each layer's most active neurons an input covers"),
    PX_PARAM_CHOICE(tknc_config, variant, 0, tknc_variants,
                    "tail-index: among equals the higher index wins (dnn-tip, DeepGini); "
                    "pattern-count: different top-k sets per layer, over the number of "
                    "neurons (packages of Yan and of Revisiting)"),
    PX_PARAM_CHOICE(tknc_config, constant, 0, tknc_constant,
                    "a layer whose neurons are all equal: count its first k, or skip it"),
    PX_PARAM_END,
};

typedef struct tknc_prepared {
    pxi_slots_plan plan;
    int64_t k;
    bool tail, patterns, skip_constant;
} tknc_prepared;

typedef struct tknc_state {
    const tknc_prepared *prepared; /* NULL: from a file alone */
    pxi_slots *slots;              /* one of the two */
    pxi_pattern_set *sets;         /* per layer */
    size_t layers;
    int64_t neurons; /* what patterns are divided by */
} tknc_state;

static px_status tknc_prepare(const px_criterion_request *request, void **out, px_error *err)
{
    PX_TRY(pxi_slots_check("tknc", request->extractor->width, 1, err));
    const tknc_config *config = request->config;
    tknc_prepared *prepared = NULL;
    PX_TRY(PX_NEW(prepared, 1, err));
    *prepared = (tknc_prepared){
        .plan = {.extractor = request->extractor, .per_neuron = 1, .share = 1},
        .k = config->k,
        .tail = config->variant == TKNC_TAIL_INDEX,
        .patterns = config->variant == TKNC_PATTERN_COUNT,
        .skip_constant = config->constant != 0,
    };
    *out = prepared;
    return PX_OK;
}

static void tknc_close(void *state)
{
    tknc_state *tknc = state;
    if (!tknc)
        return;
    pxi_slots_close(tknc->slots);
    pxi_pattern_sets_free(tknc->sets, tknc->layers);
    free(tknc);
}

static px_status tknc_open(const void *prepared, void **state, px_error *err)
{
    tknc_state *tknc = NULL;
    px_status status = PX_NEW(tknc, 1, err);
    if (tknc && prepared) {
        tknc->prepared = prepared;
        const px_extractor *extractor = tknc->prepared->plan.extractor;
        if (tknc->prepared->patterns) {
            tknc->neurons = extractor->width;
            tknc->sets = pxi_calloc(extractor->layer_count, sizeof *tknc->sets);
            tknc->layers = extractor->layer_count;
            if (!tknc->sets)
                status = pxi_no_memory(err);
        } else {
            void *slots = NULL;
            status = pxi_slots_open(prepared, &slots, err);
            tknc->slots = slots;
        }
    }
    if (status != PX_OK)
        tknc_close(tknc);
    else
        *state = tknc;
    return status;
}

/* The layer's most active neurons, ascending; returns how many, 0 where the layer is skipped. */
static int64_t tknc_top(const tknc_prepared *prepared, const px_row_layer *layer, const float *x,
                        uint32_t indices[TKNC_MOST])
{
    const float *row = x + layer->offset;
    if (prepared->skip_constant && pxi_row_is_constant(row, layer->count))
        return 0;
    const pxi_top top = pxi_top_find(row, layer->count, prepared->k);
    pxi_top_list(row, layer->count, &top, prepared->tail, indices);
    return top.count;
}

static pxi_pattern tknc_pattern(const uint32_t *indices, int64_t count)
{
    const XXH128_hash_t hash = XXH3_128bits(indices, (size_t)count * sizeof *indices);
    return (pxi_pattern){.low = hash.low64, .high = hash.high64};
}

static px_status tknc_observe(void *state, const px_rows *rows, px_error *err)
{
    tknc_state *tknc = state;
    const px_extractor *extractor = tknc->prepared->plan.extractor;
    uint32_t indices[TKNC_MOST];
    for (int64_t i = 0; i < rows->count; i++)
        for (size_t l = 0; !rows->rejected[i] && l < extractor->layer_count; l++) {
            const px_row_layer *layer = &extractor->layers[l];
            const int64_t count = tknc_top(tknc->prepared, layer, pxi_row(rows, i), indices);
            if (tknc->sets && count > 0)
                PX_TRY(pxi_pattern_set_add(&tknc->sets[l], tknc_pattern(indices, count), err));
            for (int64_t j = 0; !tknc->sets && j < count; j++)
                pxi_bitset_add(&tknc->slots->bits, layer->offset + indices[j]);
        }
    return PX_OK;
}

static double tknc_gain(const void *state, const px_rows *rows, int64_t i)
{
    const tknc_state *tknc = state;
    const px_extractor *extractor = tknc->prepared->plan.extractor;
    uint32_t indices[TKNC_MOST];
    int64_t gain = 0;
    for (size_t l = 0; !rows->rejected[i] && l < extractor->layer_count; l++) {
        const px_row_layer *layer = &extractor->layers[l];
        const int64_t count = tknc_top(tknc->prepared, layer, pxi_row(rows, i), indices);
        if (tknc->sets)
            gain += count > 0 && !pxi_pattern_set_has(&tknc->sets[l], tknc_pattern(indices, count));
        for (int64_t j = 0; !tknc->sets && j < count; j++)
            gain += !pxi_bitset_has(&tknc->slots->bits, layer->offset + indices[j]);
    }
    return (double)gain / (double)extractor->width;
}

static px_status tknc_merge(void *state, const void *other, px_error *err)
{
    tknc_state *tknc = state;
    const tknc_state *more = other;
    if (tknc->slots && more->slots)
        return pxi_slots_merge(tknc->slots, more->slots, err);
    if (!tknc->sets || tknc->layers != more->layers || tknc->neurons != more->neurons)
        return px_fail(err, PX_E_MISMATCH, "the two states are of other neurons or variants");
    for (size_t l = 0; l < tknc->layers; l++)
        PX_TRY(pxi_pattern_set_join(&tknc->sets[l], &more->sets[l], err));
    return PX_OK;
}

/* Patterns have no bound, so there is a count but no total. */
static px_coverage tknc_patterns(int64_t count, int64_t neurons)
{
    return (px_coverage){.value = neurons > 0 ? (double)count / (double)neurons : 0.0,
                         .covered = count};
}

static px_coverage tknc_value(const void *state)
{
    const tknc_state *tknc = state;
    if (tknc->slots)
        return pxi_slots_value(tknc->slots);
    int64_t count = 0;
    for (size_t l = 0; l < tknc->layers; l++)
        count += tknc->sets[l].count;
    return tknc_patterns(count, tknc->neurons);
}

static px_coverage tknc_layer_value(const void *state, size_t layer)
{
    const tknc_state *tknc = state;
    if (tknc->slots)
        return pxi_slots_layer_value(tknc->slots, layer);
    return tknc_patterns(tknc->sets[layer].count,
                         tknc->prepared->plan.extractor->layers[layer].count);
}

/* With patterns nothing is known about single neurons: none is called covered. */
static void tknc_neurons_covered(const void *state, bool *covered)
{
    const tknc_state *tknc = state;
    if (tknc->slots)
        pxi_slots_neurons_covered(tknc->slots, covered);
    else
        memset(covered, 0, (size_t)tknc->neurons * sizeof *covered);
}

static void tknc_remark(const void *state, px_text *text)
{
    const tknc_prepared *prepared = ((const tknc_state *)state)->prepared;
    if (!prepared)
        return;
    size_t small = 0;
    for (size_t l = 0; l < prepared->plan.extractor->layer_count; l++)
        small += prepared->plan.extractor->layers[l].count <= prepared->k;
    if (small > 0)
        px_text_format(text,
                       "tknc: %zu of %zu layers have no more than k = %" PRId64
                       " neurons; a single input covers them\n",
                       small, prepared->plan.extractor->layer_count, prepared->k);
}

static px_status tknc_save(const void *state, px_npz_writer *to, const char *prefix, px_error *err)
{
    const tknc_state *tknc = state;
    const px_shape one = {.rank = 1, .dim = {1}};
    const int64_t neurons = tknc->sets ? tknc->neurons : 0; /* 0: no patterns */
    PX_TRY(px_npz_put(to, prefix, "neurons", PX_INT64, &one, &neurons, err));
    return tknc->sets ? pxi_pattern_sets_save(tknc->sets, tknc->layers, to, prefix, err)
                      : pxi_slots_save(tknc->slots, to, prefix, err);
}

static px_status tknc_load(void *state, const px_npz *from, const char *prefix, px_error *err)
{
    tknc_state *tknc = state;
    const px_shape one = {.rank = 1, .dim = {1}};
    const void *values;
    PX_TRY(px_npz_take(from, prefix, "neurons", PX_INT64, &one, &values, NULL, err));
    const int64_t neurons = *(const int64_t *)values;
    if (neurons < 0 || neurons > PXI_BITSET_MOST)
        return px_fail(err, PX_E_INPUT, "'%.100s' is damaged: %" PRId64 " neurons", prefix,
                       neurons);
    if (tknc->prepared && neurons != (tknc->sets ? tknc->neurons : 0))
        return px_fail(err, PX_E_MISMATCH, "'%.100s' is of other neurons or another variant",
                       prefix);
    if (neurons > 0) {
        tknc->neurons = neurons;
        return pxi_pattern_sets_load(&tknc->sets, &tknc->layers, from, prefix, err);
    }
    if (!tknc->slots) {
        void *slots = NULL;
        PX_TRY(pxi_slots_open(NULL, &slots, err));
        tknc->slots = slots;
    }
    return pxi_slots_load(tknc->slots, from, prefix, err);
}

const px_criterion px_criterion_tknc = {
    .entry = {.id = "tknc",
              .title = "top-k neuron coverage",
              .source = "Ma et al., DeepGauge, ASE 2018",
              .params = tknc_params,
              .config_size = sizeof(tknc_config)},
    .unit = "neurons",
    .tap = PX_TAP_POST,
    .neurons = PX_VIEW_CHAN,
    .prepare = tknc_prepare,
    .release = free,
    .open = tknc_open,
    .close = tknc_close,
    .observe = tknc_observe,
    .gain = tknc_gain,
    .merge = tknc_merge,
    .value = tknc_value,
    .layer_value = tknc_layer_value,
    .neurons_covered = tknc_neurons_covered,
    .remark = tknc_remark,
    .save = tknc_save,
    .load = tknc_load,
};
