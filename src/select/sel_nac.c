/* src/select/sel_nac.c - inputs that activate neurons which no input before them activated
 *
 * NAC-guided selection: Feng et al., DeepGini, ISSTA 2020; CSM B.3, B.4. An element is a neuron
 * above t; with elements=tknc one that is among the k most active of its layer.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#include "select/guided.h"
#include "select/selectors.h"

#include "base/memory.h"
#include "cover/nc.h"
#include "cover/slots.h"
#include "cover/top_neurons.h"

#include <stdlib.h>

enum { NAC_RAW, NAC_SCALED, NAC_RESCALED, NAC_SIGMOID };
enum { NAC_K_MOST = 4096 }; /* a layer's indices lie on the stack */

static const char *const nac_variants[] = {"raw", "scaled", "rescaled", "sigmoid", NULL};
static const char *const nac_elements[] = {"nac", "tknc", NULL};

typedef struct nac_config {
    double t;
    int variant;
    int elements;
    int64_t k;
    pxi_guided_config guided;
} nac_config;

static const px_param nac_params[] = {
    PX_PARAM_REAL(nac_config, t, 0.5, -1e30, 1e30, "a neuron is activated above this"),
    PX_PARAM_CHOICE(nac_config, variant, 0, nac_variants,
                    "what is compared with t: the value itself; scaled to 0..1 within its "
                    "layer (scaled, as DeepXplore does; rescaled: after channel means); "
                    "or its sigmoid (code of DeepGini and ATS)"),
    PX_PARAM_CHOICE(nac_config, elements, 0, nac_elements,
                    "tknc: the k most active neurons of each layer, whatever t"),
    PX_PARAM_INT(nac_config, k, 1, 1, NAC_K_MOST, "for elements=tknc"),
    PXI_GUIDED_PARAMS(nac_config),
    PX_PARAM_END,
};

typedef struct nac {
    pxi_guided guided;
    const px_extractor *extractor;
    double cut;
    int64_t k; /* 0: by the cut */
} nac;

static void nac_choose(const void *config, px_probe_options *options)
{
    const int variant = ((const nac_config *)config)->variant;
    options->neurons = variant == NAC_SCALED     ? PX_VIEW_CHAN_SCALED
                       : variant == NAC_RESCALED ? PX_VIEW_CHAN_RESCALED
                                                 : PX_VIEW_CHAN;
}

static int64_t nac_bytes(const px_selector_request *request)
{
    return pxi_cover_rows_bytes(request->count, request->extractor->width, /* sections= */ false);
}

static void nac_release(void *prepared)
{
    nac *p = prepared;
    if (p)
        pxi_cover_rows_done(&p->guided.rows);
    free(p);
}

static px_status nac_prepare(const px_selector_request *request, void **out, px_error *err)
{
    const nac_config *config = request->config;
    nac *p = NULL;
    PX_TRY(PX_NEW(p, 1, err));
    pxi_guided_init(&p->guided, "nac", &config->guided, request->seed);
    p->extractor = request->extractor;
    p->cut = pxi_nc_cut(config->t, config->variant == NAC_SIGMOID);
    p->k = config->elements != 0 ? config->k : 0;
    const px_status status =
        pxi_cover_rows_bits(&p->guided.rows, "nac", request->count, request->extractor->width, err);
    return PX_GIVE(status, p, out, nac_release);
}

static void nac_above(const float *x, int64_t width, double cut, uint64_t *bits)
{
    for (int64_t first = 0; first < width; first += 64) {
        const int64_t count = PX_MIN(width - first, (int64_t)64);
        uint64_t word = 0;
        for (int64_t i = 0; i < count; i++)
            word |= (uint64_t)((double)x[first + i] > cut) << i;
        bits[first / 64] = word;
    }
}

static void nac_top(const nac *p, const float *x, uint64_t *bits)
{
    uint32_t indices[NAC_K_MOST];
    for (size_t l = 0; l < p->extractor->layer_count; l++) {
        const px_row_layer *layer = &p->extractor->layers[l];
        const pxi_top top = pxi_top_find(x + layer->offset, layer->count, p->k);
        pxi_top_list(x + layer->offset, layer->count, &top, /* tail= */ false, indices);
        for (int64_t i = 0; i < top.count; i++) {
            const int64_t bit = layer->offset + indices[i];
            bits[bit / 64] |= UINT64_C(1) << (bit % 64);
        }
    }
}

static px_status nac_score(void *prepared, void *worker, const px_rows *rows, double *scores,
                           px_error *err)
{
    (void)worker, (void)err;
    nac *p = prepared;
    pxi_cover_rows *to = &p->guided.rows;
    for (int64_t i = 0; i < rows->count; i++) {
        const int64_t index = rows->facts[i].index;
        if (rows->rejected[i])
            continue;
        if (p->k > 0)
            nac_top(p, pxi_row(rows, i), to->bits + index * to->words);
        else
            nac_above(pxi_row(rows, i), rows->width, p->cut, to->bits + index * to->words);
        scores[i] = (double)pxi_cover_rows_total(to, index);
    }
    return PX_OK;
}

const px_selector px_selector_nac = {
    .entry = {.id = "nac",
              .title = "inputs that activate neurons which none before them did",
              .source = "Feng et al., DeepGini, ISSTA 2020",
              .params = nac_params,
              .config_size = sizeof(nac_config)},
    .tap = PX_TAP_POST,
    .neurons = PX_VIEW_CHAN,
    .choose = nac_choose,
    .bytes = nac_bytes,
    .prepare = nac_prepare,
    .release = nac_release,
    .score = nac_score,
    .kept = pxi_guided_kept,
    .arrange = pxi_guided_arrange,
    .remark = pxi_guided_remark,
    .result = pxi_guided_fields,
};
