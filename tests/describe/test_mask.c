/* tests/describe/test_mask.c - masks and their resampling: the checks of LGR C.15 */
/* SPDX-License-Identifier: Apache-2.0 */
#include "cmocka_all.h"

#include "base/memory.h"
#include "describe/mask.h"
#include <internal/rng.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const float small[4] = {0, 2, 1, 4};

static void assert_floats(const char *name, const float *got, const float *want, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (got[i] != want[i])
            fail_msg("%s, place %d: %.9g instead of %.9g", name, (int)i, (double)got[i],
                     (double)want[i]);
}

static void test_upsample(void **state)
{
    (void)state;
    static const float clamped[16] = {0,    .5f,     1.5f,    2,    .25f, .8125f, 1.9375f, 2.5f,
                                      .75f, 1.4375f, 2.8125f, 3.5f, 1,    1.75f,  3.25f,   4};
    static const float padded_last[4] = {.5625f, 1.3125f, 2.4375f, 2.25f};
    float out[16];
    pxi_upsample(small, 2, 2, 4, 4, /* zero_padded= */ false, out);
    assert_floats("clamped", out, clamped, 16);
    pxi_upsample(small, 2, 2, 4, 4, /* zero_padded= */ true, out);
    assert_floats("padded, last row", out + 12, padded_last, 4);
}

static void test_mask(void **state)
{
    (void)state;
    static const uint8_t want[16] = {0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 1, 1, 0, 0, 1, 1};
    uint8_t mask[16];
    assert_int_equal(pxi_mask(small, 2, 2, 2.0f, 4, 4, false, mask), 5);
    assert_memory_equal(mask, want, sizeof want);
}

static void test_edges(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        float map[4], level;
        bool padded;
        int ones;
    } cases[] = {
        {"flat at its level", {.1f, .1f, .1f, .1f}, .1f, false, 0},
        {"flat above", {.1f, .1f, .1f, .1f}, .0999f, false, 36},
        {"nothing but NaN", {NAN, NAN, NAN, NAN}, 0, false, 0},
        {"zeros outside exceed a level below 0", {-2, -2, -2, -2}, -1.2f, true, 4},
        {"the edge goes on below 0", {-2, -2, -2, -2}, -1.2f, false, 0},
        {"NaN level", {1, 1, 1, 1}, NAN, false, 0},
    };
    for (size_t i = 0; i < PX_LEN(cases); i++) {
        uint8_t mask[36];
        const int64_t got =
            pxi_mask(cases[i].map, 2, 2, cases[i].level, 6, 6, cases[i].padded, mask);
        int64_t ones = 0;
        for (size_t p = 0; p < sizeof mask; p++)
            ones += mask[p];
        if (got != cases[i].ones || ones != got)
            fail_msg("%s: %d ones, %d said", cases[i].name, (int)ones, (int)got);
    }
}

static void test_downsample(void **state)
{
    (void)state;
    static const uint8_t mask[16] = {0, 0, 1, 1, 0, 0, 1, 1, 0, 0, 0, 1, 0, 0, 0, 0};
    static const uint8_t loud[16] = {0, 0, 255, 9, 0, 0, 1, 1, 0, 0, 0, 7, 0, 0, 0, 0};
    static const float want[4] = {0, 1, 0, .25f};
    float out[4];
    pxi_mask_downsample(mask, 4, 4, 2, 2, out);
    assert_floats("ones", out, want, 4);
    pxi_mask_downsample(loud, 4, 4, 2, 2, out);
    assert_floats("any value but 0", out, want, 4);
}

/* The upsampler has the same bits, for maps that are wide, high, larger than the picture, strided.
 */
static void test_upsampler(void **state)
{
    (void)state;
    static const struct {
        int h, w, H, W, step;
    } cases[] = {{2, 2, 4, 4, 1}, {8, 8, 32, 32, 3},  {1, 1, 5, 7, 1},    {3, 7, 20, 11, 16},
                 {9, 9, 4, 4, 1}, {16, 1, 16, 16, 1}, {32, 32, 32, 32, 5}};
    for (size_t i = 0; i < PX_LEN(cases); i++)
        for (int padded = 0; padded < 2; padded++) {
            const int h = cases[i].h, w = cases[i].w, H = cases[i].H, W = cases[i].W;
            const size_t in = (size_t)(h * w), out = (size_t)(H * W), step = (size_t)cases[i].step;
            float *map = calloc(in, sizeof *map), *spread = calloc(in * step, sizeof *spread);
            float *want = calloc(out, sizeof *want), *got = calloc(out, sizeof *got);
            uint8_t *want_mask = calloc(out, 1), *got_mask = calloc(out, 1);
            px_random r = px_rng(1, PX_RNG_TEST, (uint32_t)i, 0);
            for (size_t p = 0; p < in; p++)
                spread[p * step] = map[p] = (float)px_rng_normal(&r);
            pxi_upsampler *u = NULL;
            assert_int_equal(pxi_upsampler_new(h, w, H, W, padded, &u, NULL), PX_OK);
            pxi_upsample(map, h, w, H, W, padded, want);
            pxi_upsampler_run(u, spread, (int64_t)step, got);
            assert_memory_equal(got, want, out * sizeof *got);
            for (int level = -1; level <= 4; level++) {
                const int64_t ones = pxi_mask(map, h, w, (float)level, H, W, padded, want_mask);
                assert_int_equal(
                    pxi_upsampler_mask(u, spread, (int64_t)step, (float)level, got_mask), ones);
                assert_memory_equal(got_mask, want_mask, out);
            }
            pxi_upsampler_free(u);
            free(map);
            free(spread);
            free(want);
            free(got);
            free(want_mask);
            free(got_mask);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_upsample),  cmocka_unit_test(test_mask),
        cmocka_unit_test(test_edges),     cmocka_unit_test(test_downsample),
        cmocka_unit_test(test_upsampler),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
