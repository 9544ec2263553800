/* src/cover/sections.c - which of the k sections of its profiled range a neuron's value lies in
 *
 * Everything is worked out in double as (v - low) * inverse with inverse = k / (high - low), which
 * CSM A.2 makes the norm where rounding would tell it from other forms.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#include "cover/sections.h"

#include "base/memory.h"
#include "base/vector_math.h"

#include <stdlib.h>

void pxi_sections_free(void *sections)
{
    pxi_sections *s = sections;
    if (!s)
        return;
    free(s->low);
    free(s->high);
    free(s->inverse);
    free(s->is_dead);
    free(s);
}

px_status pxi_sections_new(const px_extractor *extractor, const px_ranges *ranges, int32_t k,
                           pxi_section_rule rule, bool exclude_dead, pxi_sections **out,
                           px_error *err)
{
    const int64_t width = extractor->width;
    const bool digitize = rule == PXI_SECTION_DIGITIZE;
    PX_TRY(pxi_slots_check("kmnc", width, (int64_t)k + digitize, err));
    pxi_sections *s = NULL;
    PX_TRY(PX_NEW(s, 1, err));
    s->low = pxi_calloc((size_t)width, sizeof *s->low);
    s->high = pxi_calloc((size_t)width, sizeof *s->high);
    s->inverse = pxi_calloc((size_t)width, sizeof *s->inverse);
    s->is_dead = pxi_calloc((size_t)width, sizeof *s->is_dead);
    if (!s->low || !s->high || !s->inverse || !s->is_dead) {
        pxi_sections_free(s);
        return pxi_no_memory(err);
    }
    s->rule = rule;
    s->k = k;
    for (int64_t n = 0; n < width; n++) {
        const float low = ranges->low[n], high = ranges->high[n];
        s->low[n] = low;
        s->high[n] = high;
        s->is_dead[n] = !(low < high);
        s->dead += s->is_dead[n];
        if (!s->is_dead[n]) {
            s->inverse[n] = (double)(digitize ? k - 1 : k) / ((double)high - (double)low);
            if (rule == PXI_SECTION_HALF_OPEN || rule == PXI_SECTION_UPPER_OPEN)
                s->high[n] = nextafterf(high, -INFINITY); /* v < high */
        } else if (!digitize || exclude_dead) {
            s->low[n] = INFINITY;
            s->high[n] = -INFINITY;
        }
    }
    s->plan = (pxi_slots_plan){.extractor = extractor,
                               .per_neuron = (int64_t)k + digitize,
                               .share = k,
                               .left_out = exclude_dead ? s->is_dead : NULL};
    *out = s;
    return PX_OK;
}

/* Values outside stay away from the conversion: what does not fit an integer is undefined. */
PXI_WIDE static void sections_floor(const float *restrict x, const float *restrict low,
                                    const float *restrict high, const double *restrict inverse,
                                    int64_t count, int32_t k, int32_t *restrict out)
{
    for (int64_t n = 0; n < count; n++) {
        const bool inside = x[n] >= low[n] && x[n] <= high[n];
        const double at = inside ? ((double)x[n] - (double)low[n]) * inverse[n] : -1.0;
        const int32_t section = (int32_t)at;
        out[n] = section >= k ? k - 1 : section;
    }
}

PXI_WIDE static void sections_ceil(const float *restrict x, const float *restrict low,
                                   const float *restrict high, const double *restrict inverse,
                                   int64_t count, int32_t k, int32_t *restrict out)
{
    for (int64_t n = 0; n < count; n++) {
        const bool inside = x[n] >= low[n] && x[n] <= high[n];
        const double at = inside ? ((double)x[n] - (double)low[n]) * inverse[n] : 0.0;
        const int32_t whole = (int32_t)at;
        const int32_t section = whole + ((double)whole < at) - 1;
        out[n] = section >= k ? k - 1 : section;
    }
}

/* numpy.digitize over k edges: 0 below the first, k from the last on. */
static int32_t section_digitize(const pxi_sections *s, float v, int64_t n)
{
    if (s->is_dead[n] && s->low[n] > s->high[n])
        return -1;
    if (v < s->low[n])
        return 0;
    if (v >= s->high[n])
        return s->k;
    const int32_t section = (int32_t)(((double)v - (double)s->low[n]) * s->inverse[n]);
    return 1 + PX_MIN(section, PX_MAX(s->k - 2, 0));
}

void pxi_sections_of(const pxi_sections *s, const float *x, int64_t first, int64_t count,
                     int32_t *out)
{
    if (s->rule == PXI_SECTION_DIGITIZE)
        for (int64_t n = 0; n < count; n++)
            out[n] = section_digitize(s, x[first + n], first + n);
    else
        (s->rule == PXI_SECTION_CEIL ? sections_ceil : sections_floor)(
            x + first, s->low + first, s->high + first, s->inverse + first, count, s->k, out);
}
