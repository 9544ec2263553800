/* src/cover/crit_kmnc.c - KMNC, k-multisection neuron coverage
 *
 * Ma et al., DeepGauge (ASE 2018); CSM A.2. The range [low, high] that training data give a neuron
 * is split into k equal sections; KMNC = sections that some input hits / (k |N|). Values outside
 * belong to NBC. Neurons whose range is a single point can never be covered and stay in the
 * denominator (`dead=exclude` takes them out).
 */
/* SPDX-License-Identifier: Apache-2.0 */
#include "base/memory.h"
#include "cover/sections.h"

#include <inttypes.h>

enum { KMNC_CHUNK = 512 }; /* neurons whose sections lie on the stack at a time */

static const char *const kmnc_variants[] = {"canonical",  "ceil",     "half-open",
                                            "upper-open", "digitize", NULL};
static const char *const kmnc_dead[] = {"count", "exclude", NULL};

typedef struct kmnc_config {
    int64_t k;
    int variant;
    int dead;
} kmnc_config;

static const px_param kmnc_params[] = {
    PX_PARAM_INT(kmnc_config, k, 1000, 1, 65534, "sections per neuron"),
    PX_PARAM_CHOICE(kmnc_config, variant, 0, kmnc_variants,
                    "where sections end: ceil leaves out the lower end of the range (code "
                    "of NLC, NSGen and CAC), half-open and upper-open the upper end "
                    "(dnn-tip; the package of Revisiting), digitize has k edges and "
                    "counts both outsides (DeepGini, ATS)"),
    PX_PARAM_CHOICE(kmnc_config, dead, 0, kmnc_dead,
                    "neurons that never change in the training data: count them among all, "
                    "or exclude them"),
    PX_PARAM_END,
};

static px_status kmnc_prepare(const px_criterion_request *request, void **out, px_error *err)
{
    const kmnc_config *config = request->config;
    px_ranges ranges = {0};
    PX_TRY(
        px_profile_ranges(request->profile, request->learned[0], request->extractor, &ranges, err));
    pxi_sections *sections = NULL;
    const px_status status =
        pxi_sections_new(request->extractor, &ranges, (int32_t)config->k,
                         (pxi_section_rule)config->variant, config->dead != 0, &sections, err);
    px_ranges_done(&ranges);
    if (status == PX_OK)
        *out = sections;
    return status;
}

static px_status kmnc_observe(void *state, const px_rows *rows, px_error *err)
{
    (void)err;
    pxi_slots *slots = state;
    const pxi_sections *sections = (const pxi_sections *)slots->plan;
    const int64_t per = slots->plan->per_neuron;
    int32_t section[KMNC_CHUNK];
    for (int64_t i = 0; i < rows->count; i++)
        for (int64_t first = 0; !rows->rejected[i] && first < rows->width; first += KMNC_CHUNK) {
            const int64_t count = PX_MIN(rows->width - first, KMNC_CHUNK);
            pxi_sections_of(sections, pxi_row(rows, i), first, count, section);
            for (int64_t n = 0; n < count; n++)
                if (section[n] >= 0)
                    pxi_bitset_add(&slots->bits, (first + n) * per + section[n]);
        }
    return PX_OK;
}

static double kmnc_gain(const void *state, const px_rows *rows, int64_t i)
{
    const pxi_slots *slots = state;
    const pxi_sections *sections = (const pxi_sections *)slots->plan;
    const int64_t per = slots->plan->per_neuron;
    int32_t section[KMNC_CHUNK];
    int64_t gain = 0;
    for (int64_t first = 0; !rows->rejected[i] && first < rows->width; first += KMNC_CHUNK) {
        const int64_t count = PX_MIN(rows->width - first, KMNC_CHUNK);
        pxi_sections_of(sections, pxi_row(rows, i), first, count, section);
        for (int64_t n = 0; n < count; n++)
            gain +=
                section[n] >= 0 && !pxi_bitset_has(&slots->bits, (first + n) * per + section[n]);
    }
    return pxi_slots_gain(slots, gain);
}

static void kmnc_remark(const void *state, px_text *text)
{
    const pxi_slots *slots = state;
    const pxi_sections *sections = (const pxi_sections *)slots->plan;
    if (sections && sections->dead > 0)
        px_text_format(text,
                       "kmnc: %" PRId64 " of %" PRId64 " neurons never change in the profile%s\n",
                       sections->dead, slots->plan->extractor->width,
                       slots->plan->left_out ? " and are left out"
                                             : "; they cannot be covered but count among all "
                                               "(--set kmnc.dead=exclude leaves them out)");
}

static const px_learner *const kmnc_learners[] = {&px_learner_ranges, NULL};

const px_criterion px_criterion_kmnc = {
    .entry = {.id = "kmnc",
              .title = "k-multisection neuron coverage",
              .source = "Ma et al., DeepGauge, ASE 2018",
              .params = kmnc_params,
              .config_size = sizeof(kmnc_config)},
    .unit = "sections",
    .learners = kmnc_learners,
    .tap = PX_TAP_POST,
    .neurons = PX_VIEW_CHAN,
    .prepare = kmnc_prepare,
    .release = pxi_sections_free,
    PXI_SLOTS_STATE,
    .observe = kmnc_observe,
    .gain = kmnc_gain,
    .neurons_covered = pxi_slots_neurons_covered,
    .remark = kmnc_remark,
};
