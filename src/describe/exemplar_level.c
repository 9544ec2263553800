/* src/describe/exemplar_level.c - quantiles of more values than memory holds */
/* SPDX-License-Identifier: Apache-2.0 */
#include "describe/exemplar_level.h"

#include "base/memory.h"

#include <assert.h>
#include <math.h>
#include <stdbool.h>
#include <string.h>

/* --- exact, by radix ------------------------------------------------------------------------- */

static uint32_t float_bits(float value)
{
    uint32_t bits;
    value += 0.0f; /* -0 is 0 */
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

static bool bits_finite(uint32_t bits)
{
    return (bits & 0x7f800000u) != 0x7f800000u;
}

/* Unsigned order of keys is the order of the values. */
static uint32_t bits_key(uint32_t bits)
{
    return bits & 0x80000000u ? ~bits : bits | 0x80000000u;
}

static float key_value(uint32_t key)
{
    const uint32_t bits = key & 0x80000000u ? key & 0x7fffffffu : ~key;
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

void pxi_level_zero(pxi_level_counts *counts)
{
    memset(counts->bin, 0, sizeof counts->bin);
    counts->beyond = UINT32_MAX;
}

void pxi_level_zero_total(pxi_level_total *total)
{
    memset(total->bin, 0, sizeof total->bin);
    total->beyond = UINT32_MAX;
}

void pxi_level_observe(const pxi_level_pick *pick, int pass, pxi_level_counts *counts,
                       const float *values, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        const uint32_t bits = float_bits(values[i]);
        if (!bits_finite(bits))
            continue;
        const uint32_t key = bits_key(bits);
        if (pass == 0)
            counts->bin[key >> 21]++;
        else if (pass == 1 && key >> 21 == pick->prefix)
            counts->bin[key >> 10 & 2047u]++;
        else if (pass == 2 && key >> 10 == pick->prefix)
            counts->bin[key & 1023u]++;
        else if (pass == 2 && key >> 10 > pick->prefix)
            counts->beyond = PX_MIN(counts->beyond, key);
    }
}

void pxi_level_join(pxi_level_total *total, const pxi_level_counts *counts)
{
    for (int i = 0; i < PXI_LEVEL_BINS; i++)
        total->bin[i] += counts->bin[i];
    total->beyond = PX_MIN(total->beyond, counts->beyond);
}

static void pick_start(pxi_level_pick *pick, double quantile, const pxi_level_total *total)
{
    pick->count = 0;
    for (int i = 0; i < PXI_LEVEL_BINS; i++)
        pick->count += total->bin[i];
    if (pick->count == 0)
        return;
    const double at = quantile * (double)(pick->count - 1), below = floor(at);
    pick->rank = (uint64_t)below;
    pick->share = at - below;
}

void pxi_level_narrow(pxi_level_pick *pick, int pass, double quantile, const pxi_level_total *total)
{
    assert(quantile >= 0.0 && quantile <= 1.0);
    if (pass == 0)
        pick_start(pick, quantile, total);
    if (pick->count == 0) {
        pick->level = NAN;
        return;
    }
    uint32_t bin = 0;
    while (total->bin[bin] <= pick->rank)
        pick->rank -= total->bin[bin++];
    if (pass < PXI_LEVEL_PASSES - 1) {
        pick->prefix = pass == 0 ? bin : pick->prefix << 11 | bin;
        return;
    }
    const uint32_t low = pick->prefix << 10 | bin;
    uint32_t high = low;
    if (pick->share > 0.0 && pick->rank + 1 >= total->bin[bin]) {
        uint32_t next = bin + 1;
        while (next < 1024u && total->bin[next] == 0)
            next++;
        high = next < 1024u ? pick->prefix << 10 | next : total->beyond;
    }
    const double a = (double)key_value(low), b = (double)key_value(high);
    pick->level = (double)(float)(a + pick->share * (b - a)); /* masks compare floats */
}

/* --- approximate, by a grid ------------------------------------------------------------------ */

enum { GRID_HALF = PXI_GRID_BINS / 2, GRID_HALF_BITS = 15, GRID_FINEST = -164 };

void pxi_grid_zero(pxi_level_grid *grid)
{
    memset(grid->bin, 0, sizeof grid->bin);
    grid->count = 0;
    grid->exponent = GRID_FINEST; /* the least float is still in a bin of its own */
}

/* Halves rounded down, as shifting negative numbers is not defined. */
static int64_t halved(int64_t i, int times)
{
    return i >= 0 ? i >> times : -((-i - 1) >> times) - 1;
}

static void grid_coarsen(pxi_level_grid *grid, int exponent)
{
    const int by = exponent - grid->exponent, times = PX_MIN(by, 17);
    uint64_t *zero = grid->bin + GRID_HALF;
    for (int64_t i = 0; i < GRID_HALF; i++) {
        const uint64_t n = zero[i];
        zero[i] = 0;
        zero[halved(i, times)] += n;
    }
    for (int64_t i = -1; i >= -GRID_HALF; i--) {
        const uint64_t n = zero[i];
        zero[i] = 0;
        zero[halved(i, times)] += n;
    }
    grid->exponent = exponent;
}

void pxi_grid_observe(pxi_level_grid *grid, const float *values, size_t count)
{
    double limit = ldexp(1.0, grid->exponent + GRID_HALF_BITS);
    double scale = ldexp(1.0, -grid->exponent);
    for (size_t i = 0; i < count; i++) {
        const double value = (double)values[i];
        if (!isfinite(value))
            continue;
        if (fabs(value) >= limit) {
            int above = 0;
            (void)frexp(value, &above); /* |value| < 2^above */
            grid_coarsen(grid, above - GRID_HALF_BITS);
            limit = ldexp(1.0, grid->exponent + GRID_HALF_BITS);
            scale = ldexp(1.0, -grid->exponent);
        }
        grid->bin[GRID_HALF + (int64_t)floor(value * scale)]++;
        grid->count++;
    }
}

void pxi_grid_join(pxi_level_grid *grid, pxi_level_grid *other)
{
    if (grid->exponent < other->exponent)
        grid_coarsen(grid, other->exponent);
    else if (other->exponent < grid->exponent)
        grid_coarsen(other, grid->exponent);
    for (int i = 0; i < PXI_GRID_BINS; i++)
        grid->bin[i] += other->bin[i];
    grid->count += other->count;
}

double pxi_grid_level(const pxi_level_grid *grid, double quantile)
{
    assert(quantile >= 0.0 && quantile <= 1.0);
    if (grid->count == 0)
        return NAN;
    const double at = quantile * (double)(grid->count - 1);
    uint64_t before = 0;
    int bin = 0;
    while (bin < PXI_GRID_BINS - 1 && (double)(before + grid->bin[bin]) <= at)
        before += grid->bin[bin++];
    while (bin > 0 && grid->bin[bin] == 0) /* rounding went past the last value */
        before -= grid->bin[--bin];
    const double within = (at - (double)before + 0.5) / (double)grid->bin[bin];
    const double place = (double)(bin - GRID_HALF) + PX_MIN(within, 1.0);
    return (double)(float)ldexp(place, grid->exponent);
}
