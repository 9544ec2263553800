/* src/select/sel_nac.c - inputs that activate neurons which no input before them activated
 *
 * NAC-guided selection: Feng et al., DeepGini, ISSTA 2020; CSM B.3, B.4. An element is a neuron
 * above t; with elements=tknc one that is among the k most active of its layer.
 */
#include "select/guided.h"
#include "select/selectors.h"

#include "base/memory.h"
#include "cover/nc.h"
#include "cover/slots.h"
#include "cover/top_neurons.h"

#include <stdlib.h>

enum { NAC_T, NAC_VARIANT, NAC_ELEMENTS, NAC_K, NAC_GUIDED };
enum { NAC_RAW, NAC_SCALED, NAC_RESCALED, NAC_SIGMOID };
enum { NAC_K_MOST = 4096 }; /* a layer's indices lie on the stack */

static const char *const nac_variants[] = {"raw", "scaled", "rescaled", "sigmoid", NULL};
static const char *const nac_elements[] = {"nac", "tknc", NULL};

static const px_param nac_settings[] = {
    [NAC_T] = {.name = "t",
               .fallback = 0.5,
               .least = -1e30,
               .most = 1e30,
               .help = "a neuron is activated above this"},
    [NAC_VARIANT] = {.name = "variant",
                     .choices = nac_variants,
                     .help = "what is compared with t: the value itself; scaled to 0..1 within its "
                             "layer (scaled, as DeepXplore does; rescaled: after channel means); "
                             "or its sigmoid (code of DeepGini and ATS)"},
    [NAC_ELEMENTS] = {.name = "elements",
                      .choices = nac_elements,
                      .help = "tknc: the k most active neurons of each layer, whatever t"},
    [NAC_K] = {.name = "k",
               .fallback = 1,
               .least = 1,
               .most = NAC_K_MOST,
               .integer = true,
               .help = "for elements=tknc"},
    PXI_GUIDED_PARAMS,
};

typedef struct nac {
    pxi_guided guided;
    const px_extractor *extractor;
    double cut;
    int64_t k; /* 0: by the cut */
} nac;

static void nac_choose(const double *settings, px_probe_options *options)
{
    const int variant = (int)settings[NAC_VARIANT];
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
    const double *set = request->settings;
    nac *p = pxi_calloc(1, sizeof *p);
    if (!p)
        return px_fail(err, PX_E_NOMEM, "out of memory");
    pxi_guided_init(&p->guided, "nac", set + NAC_GUIDED, request->seed);
    p->extractor = request->extractor;
    p->cut = pxi_nc_cut(set[NAC_T], (int)set[NAC_VARIANT] == NAC_SIGMOID);
    p->k = set[NAC_ELEMENTS] != 0.0 ? (int64_t)set[NAC_K] : 0;
    const px_status status =
        pxi_cover_rows_bits(&p->guided.rows, "nac", request->count, request->extractor->width, err);
    if (status == PX_OK)
        *out = p;
    else
        nac_release(p);
    return status;
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
    .id = "nac",
    .title = "inputs that activate neurons which none before them did",
    .source = "Feng et al., DeepGini, ISSTA 2020",
    .settings = nac_settings,
    .setting_count = PX_LEN(nac_settings),
    .tap = PX_TAP_POST,
    .neurons = PX_VIEW_CHAN,
    .choose = nac_choose,
    .bytes = nac_bytes,
    .prepare = nac_prepare,
    .release = nac_release,
    .score = nac_score,
    .arrange = pxi_guided_arrange,
    .remark = pxi_guided_remark,
    .report = pxi_guided_report,
};
