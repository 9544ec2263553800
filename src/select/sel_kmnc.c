/* src/select/sel_kmnc.c - inputs that reach sections of neurons' ranges which none before them did
 *
 * KMNC-guided selection: Feng et al., DeepGini, ISSTA 2020; CSM B.3, B.4. An element is one of the
 * k sections of the range that training data give a neuron; with elements=nbc or snac a corner
 * outside of it. An input is in one section of a neuron at most, so two bytes are kept for each.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#include "select/guided.h"
#include "select/selectors.h"

#include "base/memory.h"
#include "cover/corners.h"
#include "cover/sections.h"

#include <stdlib.h>

enum { KMNC_SECTIONS, KMNC_NBC, KMNC_SNAC };
enum { KMNC_CANONICAL, KMNC_GE = 5 }; /* what is between them is a pxi_section_rule of sections */
enum { KMNC_CHUNK = 512 };            /* neurons whose sections lie on the stack at a time */

static const char *const kmnc_variants[] = {"canonical", "ceil", "half-open", "upper-open",
                                            "digitize",  "ge",   NULL};
static const char *const kmnc_elements[] = {"kmnc", "nbc", "snac", NULL};

typedef struct kmnc_config {
    int64_t k;
    int variant;
    int elements;
    double s;
    pxi_guided_config guided;
} kmnc_config;

static const px_param kmnc_params[] = {
    PX_PARAM_INT(kmnc_config, k, 1000, 1, PXI_SECTIONS_MOST - 1, "sections per neuron"),
    PX_PARAM_CHOICE(kmnc_config, variant, 0, kmnc_variants,
                    "where sections end, as for the criterion kmnc; for nbc and snac canonical, or "
                    "ge: the end of the range is in the corner already (dnn-tip)"),
    PX_PARAM_CHOICE(kmnc_config, elements, 0, kmnc_elements,
                    "nbc: the corners above and below the range; snac: above it"),
    PX_PARAM_REAL(kmnc_config, s, 0, 0, 1e6,
                  "for nbc and snac: how many standard deviations beyond the range a corner "
                  "starts"),
    PXI_GUIDED_PARAMS(kmnc_config),
    PX_PARAM_END,
};

typedef struct kmnc {
    pxi_guided guided;
    pxi_sections *sections; /* one of the two */
    pxi_corners *corners;
} kmnc;

static int64_t kmnc_bytes(const px_selector_request *request)
{
    const int elements = ((const kmnc_config *)request->config)->elements;
    return pxi_cover_rows_bytes(request->count,
                                request->extractor->width * (elements == KMNC_NBC ? 2 : 1),
                                elements == KMNC_SECTIONS);
}

static void kmnc_release(void *prepared)
{
    kmnc *p = prepared;
    if (!p)
        return;
    pxi_cover_rows_done(&p->guided.rows);
    pxi_sections_free(p->sections);
    pxi_corners_free(p->corners);
    free(p);
}

static px_status kmnc_elements_new(kmnc *p, const px_selector_request *request,
                                   const px_ranges *ranges, px_error *err)
{
    const kmnc_config *config = request->config;
    const int elements = config->elements, variant = config->variant;
    const px_extractor *extractor = request->extractor;
    if (elements == KMNC_SECTIONS && variant == KMNC_GE)
        return px_fail(err, PX_E_USAGE,
                       "has variant=ge for corners alone: with elements=nbc or elements=snac");
    if (elements != KMNC_SECTIONS && variant != KMNC_CANONICAL && variant != KMNC_GE)
        return px_fail(err, PX_E_USAGE,
                       "has variant=%s for sections alone: with elements=%s it is canonical or ge",
                       kmnc_variants[variant], kmnc_elements[elements]);
    if (elements == KMNC_SECTIONS) {
        PX_TRY(pxi_sections_new(extractor, ranges, (int32_t)config->k, (pxi_section_rule)variant,
                                /* exclude_dead= */ false, &p->sections, err));
        return pxi_cover_rows_sections(&p->guided.rows, "kmnc", request->count, extractor->width,
                                       (int32_t)p->sections->plan.per_neuron, 1, err);
    }
    const pxi_corner_config corner = {
        .s = config->s, .variant = variant == KMNC_GE ? PXI_CORNER_GE : PXI_CORNER_STRICT};
    PX_TRY(pxi_corners_new("kmnc", extractor, ranges, &corner, elements == KMNC_NBC, &p->corners,
                           err));
    return pxi_cover_rows_bits(&p->guided.rows, "kmnc", request->count,
                               extractor->width * p->corners->plan.per_neuron, err);
}

static px_status kmnc_prepare(const px_selector_request *request, void **out, px_error *err)
{
    px_ranges ranges = {0};
    PX_TRY(
        px_profile_ranges(request->profile, request->learned[0], request->extractor, &ranges, err));
    kmnc *p = NULL;
    px_status status = PX_NEW(p, 1, err);
    if (status == PX_OK) {
        const kmnc_config *config = request->config;
        pxi_guided_init(&p->guided, "kmnc", &config->guided, request->seed);
        status = kmnc_elements_new(p, request, &ranges, err);
    }
    px_ranges_done(&ranges);
    return PX_GIVE(status, p, out, kmnc_release);
}

static void kmnc_sections(const kmnc *p, const float *x, int64_t width, uint16_t *to)
{
    int32_t section[KMNC_CHUNK];
    const int32_t none = p->guided.rows.per;
    for (int64_t first = 0; first < width; first += KMNC_CHUNK) {
        const int64_t count = PX_MIN(width - first, (int64_t)KMNC_CHUNK);
        pxi_sections_of(p->sections, x, first, count, section);
        for (int64_t n = 0; n < count; n++)
            to[first + n] = (uint16_t)(section[n] < 0 ? none : section[n]);
    }
}

static void kmnc_corners(const kmnc *p, const float *x, int64_t width, uint64_t *bits)
{
    for (int64_t n = 0; n < width; n++)
        for (unsigned hits = pxi_corner_hits(p->corners, n, (double)x[n]); hits; hits &= hits - 1) {
            const int64_t bit = n * p->corners->plan.per_neuron + __builtin_ctz(hits);
            bits[bit / 64] |= UINT64_C(1) << (bit % 64);
        }
}

static px_status kmnc_score(void *prepared, void *worker, const px_rows *rows, double *scores,
                            px_error *err)
{
    (void)worker, (void)err;
    kmnc *p = prepared;
    pxi_cover_rows *to = &p->guided.rows;
    for (int64_t i = 0; i < rows->count; i++) {
        const int64_t index = rows->facts[i].index;
        if (rows->rejected[i])
            continue;
        if (p->sections)
            kmnc_sections(p, pxi_row(rows, i), rows->width, to->sections + index * to->columns);
        else
            kmnc_corners(p, pxi_row(rows, i), rows->width, to->bits + index * to->words);
        scores[i] = (double)pxi_cover_rows_total(to, index);
    }
    return PX_OK;
}

static const px_learner *const kmnc_learners[] = {&px_learner_ranges, NULL};

const px_selector px_selector_kmnc = {
    .entry = {.id = "kmnc",
              .title = "inputs that reach sections of neurons' ranges which none before them did",
              .source = "Feng et al., DeepGini, ISSTA 2020",
              .params = kmnc_params,
              .config_size = sizeof(kmnc_config)},
    .learners = kmnc_learners,
    .tap = PX_TAP_POST,
    .neurons = PX_VIEW_CHAN,
    .bytes = kmnc_bytes,
    .prepare = kmnc_prepare,
    .release = kmnc_release,
    .score = kmnc_score,
    .kept = pxi_guided_kept,
    .arrange = pxi_guided_arrange,
    .remark = pxi_guided_remark,
    .result = pxi_guided_fields,
};
