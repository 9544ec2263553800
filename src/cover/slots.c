/* src/cover/slots.c - what criteria share whose state is a set: so many slots per neuron */
/* SPDX-License-Identifier: Apache-2.0 */
#include "cover/slots.h"

#include "base/memory.h"
#include "base/vector_math.h"

#include <internal/cover.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

px_status pxi_slots_check(const char *id, int64_t neurons, int64_t per_neuron, px_error *err)
{
    if (neurons <= PXI_BITSET_MOST / per_neuron)
        return PX_OK;
    return px_fail(err, PX_E_USAGE,
                   "%s: %" PRId64 " neurons with %" PRId64
                   " slots each are too many; take fewer sections, fewer layers, or --neurons chan",
                   id, neurons, per_neuron);
}

static int64_t slots_total(const pxi_slots_plan *plan, int64_t first, int64_t end)
{
    int64_t neurons = end - first;
    for (int64_t n = first; plan->left_out && n < end; n++)
        neurons -= plan->left_out[n];
    return neurons * plan->share;
}

px_status pxi_slots_open(const void *prepared, void **state, px_error *err)
{
    const pxi_slots_plan *plan = prepared;
    pxi_slots *slots = pxi_calloc(1, sizeof *slots);
    if (slots && plan) {
        const int64_t width = plan->extractor->width;
        slots->plan = plan;
        slots->total = slots_total(plan, 0, width);
        slots->low = pxi_calloc((size_t)width, sizeof *slots->low);
        slots->high = pxi_calloc((size_t)width, sizeof *slots->high);
        if (!slots->low || !slots->high ||
            !pxi_bitset_init(&slots->bits, width * plan->per_neuron)) {
            pxi_slots_close(slots);
            slots = NULL;
        }
    }
    if (!slots)
        return pxi_no_memory(err);
    *state = slots;
    return PX_OK;
}

void pxi_slots_close(void *state)
{
    pxi_slots *slots = state;
    if (!slots)
        return;
    pxi_bitset_done(&slots->bits);
    free(slots->low);
    free(slots->high);
    free(slots);
}

px_status pxi_slots_merge(void *state, const void *other, px_error *err)
{
    pxi_slots *slots = state;
    const pxi_slots *more = other;
    if (slots->bits.count != more->bits.count || slots->total != more->total)
        return px_fail(err, PX_E_MISMATCH, "one state has %" PRId64 " slots, the other %" PRId64,
                       slots->bits.count, more->bits.count);
    pxi_bitset_join(&slots->bits, &more->bits);
    return PX_OK;
}

static px_coverage slots_share(int64_t covered, int64_t total)
{
    return (px_coverage){.value = total > 0 ? (double)covered / (double)total : 0.0,
                         .covered = covered,
                         .total = total};
}

px_coverage pxi_slots_value(const void *state)
{
    const pxi_slots *slots = state;
    return slots_share(pxi_bitset_count(&slots->bits, 0, slots->bits.count), slots->total);
}

px_coverage pxi_slots_layer_value(const void *state, size_t layer)
{
    const pxi_slots *slots = state;
    const px_row_layer *which = &slots->plan->extractor->layers[layer];
    const int64_t first = which->offset, end = which->offset + which->count;
    const int64_t per = slots->plan->per_neuron;
    return slots_share(pxi_bitset_count(&slots->bits, first * per, end * per),
                       slots_total(slots->plan, first, end));
}

void pxi_slots_neurons_covered(const void *state, bool *covered)
{
    const pxi_slots *slots = state;
    const int64_t per = slots->plan->per_neuron;
    for (int64_t n = 0; n < slots->plan->extractor->width; n++)
        covered[n] = pxi_bitset_any(&slots->bits, n * per, (n + 1) * per);
}

px_status pxi_slots_save(const void *state, px_npz_writer *to, const char *prefix, px_error *err)
{
    const pxi_slots *slots = state;
    const int64_t sizes[] = {slots->bits.count, slots->total};
    const px_shape two = {.rank = 1, .dim = {2}};
    const px_shape words = {.rank = 1, .dim = {pxi_bitset_words(&slots->bits)}};
    PX_TRY(px_npz_put(to, prefix, "sizes", PX_INT64, &two, sizes, err));
    return px_npz_put(to, prefix, "bits", PX_UINT64, &words, slots->bits.words, err);
}

px_status pxi_slots_load(void *state, const px_npz *from, const char *prefix, px_error *err)
{
    pxi_slots *slots = state;
    const px_shape two = {.rank = 1, .dim = {2}}, any = {.rank = 1, .dim = {-1}};
    const void *values;
    PX_TRY(px_npz_take(from, prefix, "sizes", PX_INT64, &two, &values, NULL, err));
    int64_t sizes[2];
    memcpy(sizes, values, sizeof sizes);
    px_shape found;
    PX_TRY(px_npz_take(from, prefix, "bits", PX_UINT64, &any, &values, &found, err));
    if (sizes[0] < 0 || sizes[0] > PXI_BITSET_MOST || (sizes[0] + 63) / 64 != found.dim[0] ||
        sizes[1] < 0 || sizes[1] > PXI_BITSET_MOST || !pxi_bitset_is_clean(values, sizes[0]))
        return px_fail(err, PX_E_INPUT, "'%.100s' is damaged: sizes and bits do not fit", prefix);
    if (slots->plan && (sizes[0] != slots->bits.count || sizes[1] != slots->total))
        return px_fail(err, PX_E_MISMATCH,
                       "'%.100s' has %" PRId64 " slots, this network and these settings %" PRId64,
                       prefix, sizes[0], slots->bits.count);
    if (!slots->plan) {
        pxi_bitset_done(&slots->bits);
        if (!pxi_bitset_init(&slots->bits, sizes[0]))
            return pxi_no_memory(err);
        slots->total = sizes[1];
    }
    if (found.dim[0])
        memcpy(slots->bits.words, values, (size_t)found.dim[0] * sizeof *slots->bits.words);
    return PX_OK;
}

PXI_WIDE static void row_extremes(const float *restrict x, int64_t width, float *restrict low,
                                  float *restrict high)
{
    for (int64_t n = 0; n < width; n++) {
        low[n] = x[n] < low[n] ? x[n] : low[n];
        high[n] = x[n] > high[n] ? x[n] : high[n];
    }
}

void pxi_rows_extremes(const px_rows *rows, float *low, float *high)
{
    for (int64_t n = 0; n < rows->width; n++) {
        low[n] = INFINITY;
        high[n] = -INFINITY;
    }
    for (int64_t i = 0; i < rows->count; i++)
        if (!rows->rejected[i])
            row_extremes(pxi_row(rows, i), rows->width, low, high);
}
