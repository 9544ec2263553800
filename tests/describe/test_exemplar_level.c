/* tests/describe/test_exemplar_level.c - quantiles by radix and by histogram against sorting */
/* SPDX-License-Identifier: Apache-2.0 */
#include "cmocka_all.h"

#include "base/memory.h"
#include "describe/exemplar_level.h"
#include <internal/rng.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MOST = 5000 };

static int float_order(const void *a, const void *b)
{
    const float x = *(const float *)a, y = *(const float *)b;
    return (x > y) - (x < y);
}

/* Type 7 of the finite values, and the two order statistics that it lies between. */
static double sorted_quantile(const float *values, size_t count, double q, double *low,
                              double *high)
{
    static float sorted[MOST];
    size_t n = 0;
    *low = *high = NAN;
    for (size_t i = 0; i < count; i++)
        if (isfinite(values[i]))
            sorted[n++] = values[i];
    if (n == 0)
        return NAN;
    qsort(sorted, n, sizeof *sorted, float_order);
    const double at = q * (double)(n - 1);
    const size_t below = (size_t)floor(at);
    *low = (double)sorted[below];
    *high = (double)sorted[PX_MIN(below + 1, n - 1)];
    return (double)(float)(*low + (at - floor(at)) * (*high - *low));
}

/* In pieces of `piece`, as workers have them. */
static double radix_quantile(const float *values, size_t count, double q, size_t piece)
{
    static pxi_level_counts counts;
    static pxi_level_total total;
    pxi_level_pick pick = {0};
    for (int pass = 0; pass < PXI_LEVEL_PASSES; pass++) {
        pxi_level_zero_total(&total);
        for (size_t i = 0; i < count; i += piece) {
            pxi_level_zero(&counts);
            pxi_level_observe(&pick, pass, &counts, values + i, PX_MIN(piece, count - i));
            pxi_level_join(&total, &counts);
        }
        pxi_level_narrow(&pick, pass, q, &total);
    }
    return pick.level;
}

typedef struct sample {
    const char *name;
    float (*draw)(px_random *r);
} sample;

static float draw_normal(px_random *r)
{
    return (float)px_rng_normal(r);
}
static float draw_relu(px_random *r)
{
    return fmaxf(0.0f, (float)px_rng_normal(r));
}
static float draw_few(px_random *r)
{
    return (float)px_rng_below(r, 4) * 0.25f - 0.5f;
}
static float draw_wide(px_random *r)
{
    return (float)(px_rng_normal(r) * exp(20.0 * px_rng_normal(r)));
}
static float draw_near(px_random *r)
{
    return 1.0f + (float)px_rng_below(r, 3) * 0x1p-23f;
}
static float draw_zeros(px_random *r)
{
    return px_rng_below(r, 2) ? 0.0f : -0.0f;
}
static float draw_holes(px_random *r)
{
    static const float odd[] = {NAN, INFINITY, -INFINITY};
    return px_rng_below(r, 3) ? (float)px_rng_normal(r) : odd[px_rng_below(r, 3)];
}
static float draw_tiny(px_random *r)
{
    return (float)px_rng_normal(r) * 1e-41f;
}
static float draw_nothing(px_random *r)
{
    (void)r;
    return NAN;
}

static const sample samples[] = {
    {"normal", draw_normal}, {"rectified", draw_relu}, {"four values", draw_few},
    {"wide", draw_wide},     {"near 1", draw_near},    {"zeros of both signs", draw_zeros},
    {"holes", draw_holes},   {"denormal", draw_tiny},  {"nothing finite", draw_nothing},
};
static const size_t sizes[] = {1, 2, 3, 100, 101, MOST};
static const double quantiles[] = {0.0, 0.25, 0.5, 0.99, 0.995, 1.0};

static void test_radix(void **state)
{
    (void)state;
    static float values[MOST];
    for (size_t s = 0; s < PX_LEN(samples); s++)
        for (size_t n = 0; n < PX_LEN(sizes); n++) {
            px_random r = px_rng(3, PX_RNG_TEST, (uint32_t)s, (uint32_t)n);
            for (size_t i = 0; i < sizes[n]; i++)
                values[i] = samples[s].draw(&r);
            for (size_t q = 0; q < PX_LEN(quantiles); q++) {
                double low, high;
                const double want = sorted_quantile(values, sizes[n], quantiles[q], &low, &high);
                for (size_t piece = 1; piece <= MOST; piece *= 71) {
                    const double got = radix_quantile(values, sizes[n], quantiles[q], piece);
                    if (got != want && !(isnan(got) && isnan(want)))
                        fail_msg("%s, %d values in pieces of %d, quantile %g: %.9g, sorted %.9g",
                                 samples[s].name, (int)sizes[n], (int)piece, quantiles[q], got,
                                 want);
                }
            }
        }
}

/* A bin's width at most from the order statistics: there are 2^14 to 2^15 bins from 0 to the
 * largest value. The histogram is the same for any split. */
static void test_grid(void **state)
{
    (void)state;
    static float values[MOST];
    static pxi_level_grid whole, part, joined;
    for (size_t s = 0; s < PX_LEN(samples); s++) {
        px_random r = px_rng(4, PX_RNG_TEST, (uint32_t)s, 0);
        double largest = 0.0;
        for (size_t i = 0; i < MOST; i++) {
            values[i] = samples[s].draw(&r);
            largest = isfinite(values[i]) ? fmax(largest, fabs((double)values[i])) : largest;
        }
        pxi_grid_zero(&whole);
        pxi_grid_observe(&whole, values, MOST);
        pxi_grid_zero(&joined);
        for (size_t end = MOST; end > 0;) { /* pieces from the back */
            const size_t piece = PX_MIN(end, 700), first = end - piece;
            pxi_grid_zero(&part);
            pxi_grid_observe(&part, values + first, piece);
            pxi_grid_join(&joined, &part);
            end = first;
        }
        if (memcmp(&whole, &joined, sizeof whole) != 0)
            fail_msg("%s: another histogram in pieces", samples[s].name);
        for (size_t q = 0; q < PX_LEN(quantiles); q++) {
            double low, high;
            const double got = pxi_grid_level(&whole, quantiles[q]);
            const double want = sorted_quantile(values, MOST, quantiles[q], &low, &high);
            const double width = largest / 16384.0 + 1e-44;
            if (!(got >= low - width && got <= high + width) && !(isnan(got) && isnan(want)))
                fail_msg("%s, quantile %g: %.9g, sorted %.9g", samples[s].name, quantiles[q], got,
                         want);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_radix), cmocka_unit_test(test_grid)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
