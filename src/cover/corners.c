/* src/cover/corners.c - the regions outside a neuron's profiled range: what NBC and SNAC share */
/* SPDX-License-Identifier: Apache-2.0 */
#include "cover/corners.h"

#include "base/memory.h"

#include <stdlib.h>

enum { CORNER_BUCKETS = 11 };

static const char *const corner_variants[] = {"canonical", "ge", "buckets", NULL};

const px_param pxi_corner_params[] = {
    PX_PARAM_REAL(pxi_corner_config, s, 0, 0, 1e6,
                  "how many standard deviations beyond the range a corner starts"),
    PX_PARAM_CHOICE(pxi_corner_config, variant, 0, corner_variants,
                    "ge: the end of the range is in the corner already (dnn-tip); "
                    "buckets: 11 steps of a thousandth of the range outwards, "
                    "which both corners share (DeepHunter)"),
    PX_PARAM_END,
};

const px_learner *const pxi_corner_learners[] = {&px_learner_ranges, NULL};

void pxi_corners_free(void *corners)
{
    pxi_corners *c = corners;
    if (!c)
        return;
    free(c->low);
    free(c->high);
    free(c->width);
    free(c);
}

px_status pxi_corners_new(const char *id, const px_extractor *extractor, const px_ranges *ranges,
                          const pxi_corner_config *config, bool lower, pxi_corners **out,
                          px_error *err)
{
    const int64_t width = extractor->width;
    const bool buckets = config->variant == PXI_CORNER_BUCKETS;
    const int64_t slots = buckets ? CORNER_BUCKETS : lower ? 2 : 1;
    PX_TRY(pxi_slots_check(id, width, slots, err));
    pxi_corners *c = NULL;
    PX_TRY(PX_NEW(c, 1, err));
    c->low = pxi_calloc((size_t)width, sizeof *c->low);
    c->high = pxi_calloc((size_t)width, sizeof *c->high);
    c->width = buckets ? pxi_calloc((size_t)width, sizeof *c->width) : NULL;
    if (!c->low || !c->high || (buckets && !c->width)) {
        pxi_corners_free(c);
        return pxi_no_memory(err);
    }
    c->rule = config->variant;
    c->lower = lower;
    for (int64_t n = 0; n < width; n++) {
        const double low = (double)ranges->low[n], high = (double)ranges->high[n];
        const double beyond = config->s > 0.0 ? config->s * ranges->deviation[n] : 0.0;
        c->low[n] = low - beyond;
        c->high[n] = high + beyond;
        if (buckets)
            c->width[n] = high > low ? (high - low) / 1000.0 : 0.05;
    }
    c->plan = (pxi_slots_plan){.extractor = extractor, .per_neuron = slots, .share = slots};
    *out = c;
    return PX_OK;
}

px_status pxi_corners_prepare(const char *id, const px_criterion_request *request, bool lower,
                              void **out, px_error *err)
{
    px_ranges ranges = {0};
    PX_TRY(
        px_profile_ranges(request->profile, request->learned[0], request->extractor, &ranges, err));
    pxi_corners *corners = NULL;
    const px_status status =
        pxi_corners_new(id, request->extractor, &ranges, request->config, lower, &corners, err);
    px_ranges_done(&ranges);
    if (status == PX_OK)
        *out = corners;
    return status;
}

unsigned pxi_corner_hits(const pxi_corners *c, int64_t n, double v)
{
    const bool reach = c->rule == PXI_CORNER_GE;
    const bool above = v > c->high[n] || (reach && v == c->high[n]);
    const bool below = c->lower && (v < c->low[n] || (reach && v == c->low[n]));
    if (!c->width)
        return (unsigned)above | (unsigned)below << 1;
    if (!above && !below)
        return 0;
    const double steps = (above ? v - c->high[n] : c->low[n] - v) / c->width[n];
    return 1u << (steps < CORNER_BUCKETS - 1 ? (int)steps : CORNER_BUCKETS - 1);
}

static void corners_add(pxi_slots *slots, const pxi_corners *c, int64_t n, double v)
{
    for (unsigned hits = pxi_corner_hits(c, n, v); hits; hits &= hits - 1)
        pxi_bitset_add(&slots->bits, n * c->plan.per_neuron + __builtin_ctz(hits));
}

px_status pxi_corners_observe(void *state, const px_rows *rows, px_error *err)
{
    (void)err;
    pxi_slots *slots = state;
    const pxi_corners *c = (const pxi_corners *)slots->plan;
    /* Corners reach outwards without end, so the extremes of all rows tell as much as each of them;
     * buckets do not, but where no extreme is outside, no row is. */
    pxi_rows_extremes(rows, slots->low, slots->high);
    for (int64_t n = 0; n < rows->width; n++) {
        if (slots->low[n] > slots->high[n])
            break; /* all rejected */
        if (!c->width) {
            corners_add(slots, c, n, (double)slots->low[n]);
            corners_add(slots, c, n, (double)slots->high[n]);
        } else if (pxi_corner_hits(c, n, (double)slots->low[n]) ||
                   pxi_corner_hits(c, n, (double)slots->high[n])) {
            for (int64_t i = 0; i < rows->count; i++)
                if (!rows->rejected[i])
                    corners_add(slots, c, n, (double)pxi_row(rows, i)[n]);
        }
    }
    return PX_OK;
}

double pxi_corners_gain(const void *state, const px_rows *rows, int64_t i)
{
    const pxi_slots *slots = state;
    const pxi_corners *c = (const pxi_corners *)slots->plan;
    if (rows->rejected[i])
        return 0.0;
    const float *x = pxi_row(rows, i);
    int64_t gain = 0;
    for (int64_t n = 0; n < rows->width; n++)
        for (unsigned hits = pxi_corner_hits(c, n, (double)x[n]); hits; hits &= hits - 1)
            gain += !pxi_bitset_has(&slots->bits, n * c->plan.per_neuron + __builtin_ctz(hits));
    return pxi_slots_gain(slots, gain);
}
