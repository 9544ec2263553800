/* src/cover/crit_tknp.c - TKNP, top-k neuron patterns: |{(top_k(x, 1), ..., top_k(x, L)) : x in T}|
 *
 * Ma et al., DeepGauge (ASE 2018); CSM A.6. How many different combinations of the layers' k most
 * active neurons the inputs show; a count without a bound. Which neurons they are matters, their
 * order does not (`variant=ordered`: it does, as in NLC's code). A layer with k neurons or less
 * always shows the same set. A pattern is kept as a 128-bit hash of its indices.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#include "base/memory.h"
#include "cover/pattern_set.h"
#include "cover/slots.h"
#include "cover/top_neurons.h"

#include <inttypes.h>
#include <stdlib.h>
#include <xxhash.h>

enum { TKNP_MOST = 4096 }; /* k: a layer's indices lie on the stack */

static const char *const tknp_variants[] = {"set", "ordered", NULL};

typedef struct tknp_config {
    int64_t k;
    int variant;
} tknp_config;

static const px_param tknp_params[] = {
    PX_PARAM_INT(tknp_config, k, 50, 1, TKNP_MOST,
                 "how many neurons of each layer make its pattern"),
    PX_PARAM_CHOICE(tknp_config, variant, 0, tknp_variants,
                    "ordered: the rank among the k matters too (code of NLC)"),
    PX_PARAM_END,
};

typedef struct tknp_prepared {
    const px_extractor *extractor;
    int64_t k;
    bool ordered;
} tknp_prepared;

typedef struct tknp_state {
    const tknp_prepared *prepared; /* NULL: from a file alone */
    pxi_pattern_set *sets;         /* one */
    size_t count;
} tknp_state;

static px_status tknp_prepare(const px_criterion_request *request, void **out, px_error *err)
{
    const tknp_config *config = request->config;
    tknp_prepared *prepared = NULL;
    PX_TRY(PX_NEW(prepared, 1, err));
    *prepared = (tknp_prepared){
        .extractor = request->extractor, .k = config->k, .ordered = config->variant != 0};
    *out = prepared;
    return PX_OK;
}

static void tknp_close(void *state)
{
    tknp_state *tknp = state;
    if (!tknp)
        return;
    pxi_pattern_sets_free(tknp->sets, tknp->count);
    free(tknp);
}

static px_status tknp_open(const void *prepared, void **state, px_error *err)
{
    tknp_state *tknp = pxi_calloc(1, sizeof *tknp);
    if (tknp && !(tknp->sets = pxi_calloc(1, sizeof *tknp->sets))) {
        free(tknp);
        tknp = NULL;
    }
    if (!tknp)
        return pxi_no_memory(err);
    tknp->prepared = prepared;
    tknp->count = 1;
    *state = tknp;
    return PX_OK;
}

/* A chain: each layer's indices are hashed together with the hash of the layers before it, so that
 * any number of layers fits. */
static pxi_pattern tknp_pattern(const tknp_prepared *prepared, const float *x)
{
    struct {
        pxi_pattern before;
        uint32_t indices[TKNP_MOST];
    } link;
    link.before = (pxi_pattern){0};
    for (size_t l = 0; l < prepared->extractor->layer_count; l++) {
        const px_row_layer *layer = &prepared->extractor->layers[l];
        const float *row = x + layer->offset;
        if (layer->count <= prepared->k && !prepared->ordered)
            continue; /* always the same set: tells no patterns apart */
        const pxi_top top = pxi_top_find(row, layer->count, prepared->k);
        pxi_top_list(row, layer->count, &top, /* tail= */ false, link.indices);
        if (prepared->ordered)
            pxi_top_rank(row, link.indices, top.count);
        const XXH128_hash_t hash =
            XXH3_128bits(&link, sizeof link.before + (size_t)top.count * sizeof *link.indices);
        link.before = (pxi_pattern){.low = hash.low64, .high = hash.high64};
    }
    return link.before;
}

static px_status tknp_observe(void *state, const px_rows *rows, px_error *err)
{
    tknp_state *tknp = state;
    for (int64_t i = 0; i < rows->count; i++)
        if (!rows->rejected[i])
            PX_TRY(pxi_pattern_set_add(tknp->sets, tknp_pattern(tknp->prepared, pxi_row(rows, i)),
                                       err));
    return PX_OK;
}

static double tknp_gain(const void *state, const px_rows *rows, int64_t i)
{
    const tknp_state *tknp = state;
    return !rows->rejected[i] &&
           !pxi_pattern_set_has(tknp->sets, tknp_pattern(tknp->prepared, pxi_row(rows, i)));
}

static px_status tknp_merge(void *state, const void *other, px_error *err)
{
    return pxi_pattern_set_join(((tknp_state *)state)->sets, ((const tknp_state *)other)->sets,
                                err);
}

static px_coverage tknp_value(const void *state)
{
    const int64_t count = ((const tknp_state *)state)->sets->count;
    return (px_coverage){.value = (double)count, .covered = count};
}

static void tknp_remark(const void *state, px_text *text)
{
    const tknp_prepared *prepared = ((const tknp_state *)state)->prepared;
    if (!prepared)
        return;
    size_t small = 0;
    for (size_t l = 0; l < prepared->extractor->layer_count; l++)
        small += prepared->extractor->layers[l].count <= prepared->k;
    if (small == prepared->extractor->layer_count && !prepared->ordered)
        px_text_format(text,
                       "tknp: no layer has more than k = %" PRId64
                       " neurons, so there is only one pattern; set tknp.k lower\n",
                       prepared->k);
}

static px_status tknp_save(const void *state, px_npz_writer *to, const char *prefix, px_error *err)
{
    const tknp_state *tknp = state;
    return pxi_pattern_sets_save(tknp->sets, tknp->count, to, prefix, err);
}

static px_status tknp_load(void *state, const px_npz *from, const char *prefix, px_error *err)
{
    tknp_state *tknp = state;
    return pxi_pattern_sets_load(&tknp->sets, &tknp->count, from, prefix, err);
}

const px_criterion px_criterion_tknp = {
    .entry = {.id = "tknp",
              .title = "top-k neuron patterns",
              .source = "Ma et al., DeepGauge, ASE 2018",
              .params = tknp_params,
              .config_size = sizeof(tknp_config)},
    .unit = "patterns",
    .tap = PX_TAP_POST,
    .neurons = PX_VIEW_CHAN,
    .prepare = tknp_prepare,
    .release = free,
    .open = tknp_open,
    .close = tknp_close,
    .observe = tknp_observe,
    .gain = tknp_gain,
    .merge = tknp_merge,
    .value = tknp_value,
    .remark = tknp_remark,
    .save = tknp_save,
    .load = tknp_load,
};
