/* src/attribute/conductance_sum.c - conductance: one step of the way, summed over places
 *
 * A scalar's part in a step is (h1 - h0) times the mean gradient between the two points, which the
 * trapezoid rule takes for (g0 + g1)/2. How far that may be off grows with (h1 - h0)(g1 - g0), the
 * *spread*: nothing is known of a scalar beside, so where the parts of all scalars of a cut do not
 * add up to the change of the score, what is missing is shared out by the squares of the spreads.
 * That is the conditional mean if errors are independent with standard deviations in proportion to
 * the spreads.
 *
 * Channels-last is the case that matters: a place is a row of channels, and all channels are summed
 * side by side. Of every channel 64 places in a row are added in float and those sums in double, in
 * NCHW order: the result depends neither on the layout nor on the vector width.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#include "attribute/paths_internal.h"

#include "base/memory.h"
#include "base/wide.h"

#include <math.h>
#include <string.h>

enum { sum_block = 64, sum_lanes = 32 };

typedef struct sum_rows { /* four tensors of one layout: places are `stride` apart */
    const float *h_from, *h_to, *g_from, *g_to;
    int64_t places, stride, grad_stride;
} sum_rows;

typedef enum sum_of { SUM_LEFT, SUM_BOTH, SUM_SPREADS } sum_of;

static inline __attribute__((always_inline)) float sum_term(sum_of what, float h1, float h0,
                                                            float g1, float g0)
{
    const float spread = (h1 - h0) * (g1 - g0);
    return what == SUM_SPREADS ? spread * spread : (h1 - h0) * (what == SUM_BOTH ? g0 + g1 : g0);
}

/* `lanes` neighbouring channels from channel c. Inlined with constants. */
static inline __attribute__((always_inline)) void rows_sum(const sum_rows *r, int64_t c, int lanes,
                                                           sum_of what, double *restrict sums)
{
    double sum[sum_lanes] = {0};
    for (int64_t first = 0; first < r->places; first += sum_block) {
        const int64_t end = PX_MIN(first + sum_block, r->places);
        float part[sum_lanes] = {0};
        for (int64_t p = first; p < end; p++) {
            const float *h1 = r->h_from + p * r->stride + c, *h0 = r->h_to + p * r->stride + c;
            const float *g1 = r->g_from + p * r->grad_stride + c;
            const float *g0 = r->g_to + p * r->grad_stride + c;
            for (int k = 0; k < lanes; k++)
                part[k] += sum_term(what, h1[k], h0[k], g1[k], g0[k]);
        }
        for (int k = 0; k < lanes; k++)
            sum[k] += (double)part[k];
    }
    for (int k = 0; k < lanes; k++)
        sums[c + k] += sum[k];
}

static inline __attribute__((always_inline)) void rows_all(const sum_rows *r, int64_t channels,
                                                           sum_of what, double *sums)
{
    int64_t c = 0;
    for (; c + sum_lanes <= channels; c += sum_lanes)
        rows_sum(r, c, sum_lanes, what, sums);
    for (; c + 16 <= channels; c += 16)
        rows_sum(r, c, 16, what, sums);
    for (; c + 8 <= channels; c += 8)
        rows_sum(r, c, 8, what, sums);
    for (; c < channels; c++)
        rows_sum(r, c, 1, what, sums);
}

PXI_WIDE static void rows_both(const sum_rows *r, int64_t channels, double *sums)
{
    rows_all(r, channels, SUM_BOTH, sums);
}

PXI_WIDE static void rows_left(const sum_rows *r, int64_t channels, double *sums)
{
    rows_all(r, channels, SUM_LEFT, sums);
}

PXI_WIDE static void rows_spreads(const sum_rows *r, int64_t channels, double *sums)
{
    rows_all(r, channels, SUM_SPREADS, sums);
}

static bool layout_is_rows(const pxi_neuron_layout *layout)
{
    return layout->space_rank <= 1 &&
           (layout->channel_rank == 0 ||
            (layout->channel_rank == 1 && layout->channel[0].stride == 1));
}

static int64_t layout_step(const pxi_neuron_layout *layout)
{
    return layout->space_rank == 1 ? layout->space[0].stride : 0;
}

/* One channel of any layout. */
static double channel_sum(const pxi_path_tap *tap, pxi_point from, pxi_point to, sum_of what,
                          int64_t channel)
{
    const pxi_neuron_layout *h = &tap->values, *g = &tap->grads;
    const int64_t h_at = pxi_extent_offset(h->channel, h->channel_rank, channel);
    const int64_t g_at = pxi_extent_offset(g->channel, g->channel_rank, channel);
    double sum = 0.0;
    for (int64_t first = 0; first < h->places; first += sum_block) {
        const int64_t end = PX_MIN(first + sum_block, h->places);
        float part = 0.0f;
        for (int64_t p = first; p < end; p++) {
            const int64_t i =
                h_at + (h->space_rank == 1 ? p * h->space[0].stride
                                           : pxi_extent_offset(h->space, h->space_rank, p));
            const int64_t j =
                g_at + (g->space_rank == 1 ? p * g->space[0].stride
                                           : pxi_extent_offset(g->space, g->space_rank, p));
            part += sum_term(what, from.value[i], to.value[i], from.grad[j], to.grad[j]);
        }
        sum += (double)part;
    }
    return sum;
}

static void step_sum(const pxi_path_tap *tap, pxi_point from, pxi_point to, sum_of what,
                     double *sums)
{
    static void (*const all_rows[])(const sum_rows *, int64_t, double *) = {
        [SUM_LEFT] = rows_left, [SUM_BOTH] = rows_both, [SUM_SPREADS] = rows_spreads};
    const int64_t channels = tap->values.channels;
    if (layout_is_rows(&tap->values) && layout_is_rows(&tap->grads)) {
        const sum_rows rows = {.h_from = from.value,
                               .h_to = to.value,
                               .g_from = from.grad,
                               .g_to = to.grad,
                               .places = tap->values.places,
                               .stride = layout_step(&tap->values),
                               .grad_stride = layout_step(&tap->grads)};
        all_rows[what](&rows, channels, sums);
        return;
    }
    for (int64_t c = 0; c < channels; c++)
        sums[c] += channel_sum(tap, from, to, what, c);
}

void pxi_conductance_add(const pxi_path_tap *tap, pxi_point from, pxi_point to, bool both,
                         double *sums)
{
    step_sum(tap, from, to, both ? SUM_BOTH : SUM_LEFT, sums);
}

void pxi_conductance_balance(const pxi_path_tap *tap, pxi_point from, pxi_point to, double change,
                             double *scratch, double *sums)
{
    const int64_t channels = tap->values.channels;
    double *parts = scratch, *spreads = scratch + channels;
    double missing = 2.0 * change, spread = 0.0;
    memset(scratch, 0, 2 * (size_t)channels * sizeof *scratch);
    step_sum(tap, from, to, SUM_BOTH, parts);
    step_sum(tap, from, to, SUM_SPREADS, spreads);
    for (int64_t c = 0; c < channels; c++) {
        missing -= parts[c];
        spread += spreads[c];
    }
    const double share = missing / spread; /* nothing may have changed: then it is no number */
    for (int64_t c = 0; c < channels; c++)
        sums[c] += isfinite(share) ? parts[c] + share * spreads[c] : parts[c];
}
