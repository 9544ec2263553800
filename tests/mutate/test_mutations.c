/* tests/mutate/test_mutations.c - worked examples of every mutation */
/* SPDX-License-Identifier: Apache-2.0 */
#include "base/memory.h"
#include "mutate/filters.h"
#include "mutate/warp.h"
#include "mutate_helpers.h"

#include <internal/mutate.h>
#include <internal/rng.h>
#include <math.h>
#include <plexor/extend.h>
#include <stdlib.h>
#include <string.h>

/* 5 x 5, value = 10 * (5 * row + column) */
static void ramp(uint8_t image[25])
{
    for (int i = 0; i < 25; i++)
        image[i] = (uint8_t)(10 * i);
}

/* 6 x 6 */
static void wild(uint8_t image[36])
{
    for (int r = 0; r < 6; r++)
        for (int c = 0; c < 6; c++)
            image[6 * r + c] = (uint8_t)((37 * r * r + 101 * c + 53 * r * c) % 256);
}

/* --- the canonical warp, before rounding ------------------------------------------------------ */

static const struct {
    const char *name;
    pxi_warp warp;
    int fill, row, count;
    double want[5];
} warps[] = {
#define COS30 0.86602540378443864676
#define SIN20 0.34202014332566873304
#define COS20 0.93969262078590838405
#define TURN30                         \
    {                                  \
        {{COS30, -0.5}, {0.5, COS30}}, \
        {                              \
            0                          \
        }                              \
    }
    {"rotation 30",
     TURN30,
     PXI_FILL_EDGE,
     0,
     5,
     {63.397460, 39.737206, 23.397460, 18.660254, 27.320508}},
    {"rotation 30",
     TURN30,
     PXI_FILL_EDGE,
     1,
     5,
     {106.698730, 88.038476, 71.698730, 55.358984, 39.019238}},
    {"rotation 30",
     TURN30,
     PXI_FILL_EDGE,
     2,
     5,
     {152.679492, 136.339746, 120.0, 103.660254, 87.320508}},
    {"rotation 30",
     TURN30,
     PXI_FILL_EDGE,
     3,
     5,
     {200.980762, 184.641016, 168.301270, 151.961524, 133.301270}},
    {"rotation 30",
     TURN30,
     PXI_FILL_EDGE,
     4,
     5,
     {212.679492, 221.339746, 216.602540, 200.262794, 176.602540}},
    {"rotation 30 on black", TURN30, 0, 0, 1, {16.987298}},
    {"rotation 30 on black", TURN30, 0, 4, 1, {56.987298}},
    {"shift (.5, -1)", {{{1, 0}, {0, 1}}, {.5, -1}}, PXI_FILL_EDGE, 0, 5, {25, 25, 35, 45, 55}},
    {"shift (.5, -1)",
     {{{1, 0}, {0, 1}}, {.5, -1}},
     PXI_FILL_EDGE,
     4,
     5,
     {200, 200, 210, 220, 230}},
    {"shear 20",
     {{{1, -SIN20}, {0, COS20}}, {0}},
     PXI_FILL_EDGE,
     0,
     5,
     {35.408162, 27.704081, 20, 29.396926, 38.793852}},
    {"zoom .8", {{{.8, 0}, {0, .8}}, {0}}, PXI_FILL_EDGE, 0, 5, {24, 32, 40, 48, 56}},
    {"scale .8", {{{1 / .8, 0}, {0, 1 / .8}}, {0}}, PXI_FILL_EDGE, 0, 5, {0, 7.5, 20, 32.5, 40}},
};

static void test_warp(void **state)
{
    (void)state;
    uint8_t image[25];
    double out[25];
    ramp(image);
    for (size_t i = 0; i < PX_LEN(warps); i++) {
        assert_int_equal(pxi_warp_values(&warps[i].warp, warps[i].fill, image, out, 5, 5, NULL),
                         PX_OK);
        for (int c = 0; c < warps[i].count; c++)
            if (!(fabs(out[5 * warps[i].row + c] - warps[i].want[c]) < 1e-6))
                fail_msg("%s, row %d, column %d: %.8f, not %.8f", warps[i].name, warps[i].row, c,
                         out[5 * warps[i].row + c], warps[i].want[c]);
    }
    assert_int_equal(pxi_warp_values(&warps[5].warp, 0, image, out, 5, 5, NULL), PX_OK);
    assert_true(fabs(out[4] - 7.320508) < 1e-6 && fabs(out[24] - 47.320508) < 1e-6);
    assert_true(fabs(out[12] - 120) < 1e-6);
}

/* --- mutations on 8-bit pictures ------------------------------------------------------------- */

static const struct {
    const char *text;
    enum { RAMP, WILD } image;
    int row, count;
    uint8_t want[6];
} cases[] = {
    /* what the canonical warp gives, rounded */
    {"rotation angle=30", RAMP, 0, 5, {63, 40, 23, 19, 27}},
    {"rotation angle=30 fill=black", RAMP, 0, 1, {17}},
    {"shear angle=20", RAMP, 0, 5, {35, 28, 20, 29, 39}},
    {"scale ratio=0.8", RAMP, 0, 5, {0, 8, 20, 33, 40}},
    {"shift x=0.2 y=-0.1", RAMP, 0, 5, {25, 25, 35, 45, 55}},
    {"cv-rotation angle=30", RAMP, 0, 5, {1, 14, 38, 57, 0}},
    {"cv-rotation angle=30", RAMP, 1, 5, {10, 41, 75, 109, 60}},
    {"cv-rotation angle=30", RAMP, 2, 5, {47, 80, 114, 148, 169}},
    {"cv-rotation angle=30", RAMP, 3, 5, {85, 119, 153, 186, 220}},
    {"cv-rotation angle=30", RAMP, 4, 5, {76, 158, 191, 208, 101}},
    {"cv-shear factor=0.2", RAMP, 1, 5, {52, 62, 72, 82, 73}},
    {"cv-translation x=1 y=1", RAMP, 1, 5, {0, 0, 10, 20, 30}},
    {"cv-translation x=1 y=1", RAMP, 0, 5, {0, 0, 0, 0, 0}},
    {"cv-translation x=-1 y=0", RAMP, 0, 5, {10, 20, 30, 40, 0}},
    {"cv-translation x=5 y=0", RAMP, 2, 5, {0, 0, 0, 0, 0}},
    {"cv-blur kind=box4", RAMP, 0, 5, {60, 60, 65, 75, 80}},
    {"cv-blur kind=gauss3", RAMP, 0, 5, {30, 35, 45, 55, 60}},
    {"cv-blur kind=median3", RAMP, 0, 5, {10, 20, 30, 40, 40}},
    {"cv-blur kind=bilateral6", RAMP, 2, 5, {104, 113, 120, 127, 136}},
    {"cv-blur kind=bilateral9", RAMP, 2, 5, {108, 114, 120, 126, 132}},
    {"cv-contrast gain=1.2", RAMP, 4, 5, {240, 252, 255, 255, 255}},
    {"cv-brightness bias=-20", RAMP, 0, 5, {0, 0, 0, 10, 20}},
    {"cv-brightness bias=-20 as=abs", RAMP, 0, 5, {20, 10, 0, 10, 20}},
    {"cv-brightness bias=19", RAMP, 4, 5, {219, 229, 239, 249, 255}},
    /* 4 x 4 laid on black, the room of one pixel on the right and below */
    {"cv-scale ratio=0.8", RAMP, 0, 5, {6, 19, 31, 44, 0}},
    {"cv-scale ratio=0.8", RAMP, 1, 5, {71, 84, 96, 109, 0}},
    {"cv-scale ratio=0.8", RAMP, 2, 5, {131, 144, 156, 169, 0}},
    {"cv-scale ratio=0.8 canvas=white", RAMP, 3, 5, {196, 209, 221, 234, 255}},
    {"cv-scale ratio=0.8", RAMP, 4, 5, {0, 0, 0, 0, 0}},
    {"cv-rotation angle=25", WILD, 0, 6, {0, 57, 74, 158, 80, 0}},
    {"cv-rotation angle=25", WILD, 1, 6, {103, 162, 195, 160, 131, 54}},
    {"cv-rotation angle=25", WILD, 2, 6, {134, 113, 70, 91, 140, 76}},
    {"cv-rotation angle=25", WILD, 3, 6, {119, 89, 69, 89, 83, 98}},
    {"cv-rotation angle=25", WILD, 4, 6, {87, 83, 129, 213, 159, 113}},
    {"cv-rotation angle=25", WILD, 5, 6, {34, 99, 105, 150, 166, 31}},
    {"cv-blur kind=box2", WILD, 0, 6, {83, 83, 146, 146, 145, 145}},
    {"cv-blur kind=box4", WILD, 0, 6, {114, 114, 111, 137, 131, 144}},
    {"cv-blur kind=box6", WILD, 0, 6, {103, 103, 114, 113, 127, 123}},
};

static void test_mutations(void **state)
{
    (void)state;
    for (size_t i = 0; i < PX_LEN(cases); i++) {
        uint8_t image[36], out[36];
        const int side = cases[i].image == RAMP ? 5 : 6;
        if (cases[i].image == RAMP)
            ramp(image);
        else
            wild(image);
        const px_drawn drawn = parsed(cases[i].text);
        assert_int_equal(px_mutation_apply(&drawn, image, out, side, side, 1, NULL), PX_OK);
        for (int c = 0; c < cases[i].count; c++)
            if (out[side * cases[i].row + c] != cases[i].want[c])
                fail_msg("'%s', row %d, column %d: %d, not %d", cases[i].text, cases[i].row, c,
                         out[side * cases[i].row + c], cases[i].want[c]);
    }
}

static void test_resize(void **state)
{
    static const struct {
        double factor;
        int side;
        uint8_t row[7];
    } sizes[] = {{.7, 4, {25, 178, 89, 180}},
                 {.9, 5, {6, 130, 167, 69, 202}},
                 {1.1, 7, {0, 79, 203, 84, 82, 212, 255}}};
    (void)state;
    uint8_t image[36], out[49];
    wild(image);
    for (size_t i = 0; i < PX_LEN(sizes); i++) {
        assert_int_equal(pxi_cv_resized(sizes[i].factor, 6), sizes[i].side);
        assert_int_equal(pxi_cv_resize(sizes[i].factor, image, 6, 6, out, NULL), PX_OK);
        assert_memory_equal(out, sizes[i].row, (size_t)sizes[i].side);
    }
    static const int of32[] = {26, 27, 29, 30}; /* a ratio of .8, .85, .9, .95 */
    for (int i = 0; i < 4; i++)
        assert_int_equal(pxi_cv_resized((80 + 5 * i) / 100.0, 32), of32[i]);
}

static void test_blur_and_levels(void **state)
{
    static const uint8_t image[9] = {10, 20, 30, 40, 50, 60, 70, 80, 90};
    static const uint8_t two[9] = {30, 30, 40, 30, 30, 40, 60, 60, 70};
    static const uint8_t three[9] = {37, 40, 43, 47, 50, 53, 57, 60, 63};
    static const uint8_t levels[4] = {10, 100, 200, 250};
    static const uint8_t half[4] = {75, 120, 170, 195}, brighter[4] = {15, 150, 255, 255};
    (void)state;
    uint8_t out[9];
    px_drawn drawn = parsed("blur size=2");
    assert_int_equal(px_mutation_apply(&drawn, image, out, 3, 3, 1, NULL), PX_OK);
    assert_memory_equal(out, two, 9);
    drawn = parsed("blur size=3");
    assert_int_equal(px_mutation_apply(&drawn, image, out, 3, 3, 1, NULL), PX_OK);
    assert_memory_equal(out, three, 9);
    drawn = parsed("contrast gain=0.5");
    assert_int_equal(px_mutation_apply(&drawn, levels, out, 2, 2, 1, NULL), PX_OK);
    assert_memory_equal(out, half, 4);
    drawn = parsed("brightness factor=1.5");
    assert_int_equal(px_mutation_apply(&drawn, levels, out, 2, 2, 1, NULL), PX_OK);
    assert_memory_equal(out, brighter, 4);
}

/* The mean by a reciprocal is the mean, for every sum there can be. */
static void test_box_mean(void **state)
{
    (void)state;
    for (int size = 1; size <= PXI_BOX_MOST; size++)
        for (int sum = 0; sum <= 255 * size * size; sum++) {
            /* a picture with that sum, as even as can be */
            uint8_t image[PXI_BOX_MOST * PXI_BOX_MOST], out[sizeof image];
            const int d = size * size, each = sum / d;
            for (int i = 0; i < d; i++)
                image[i] = (uint8_t)(i < sum % d ? each + 1 : each);
            assert_int_equal(pxi_box_blur(size, false, image, out, size, size, NULL), PX_OK);
            const int at = (size / 2) * size + size / 2; /* its window is the whole picture */
            if (out[at] != (2 * sum + d) / (2 * d))
                fail_msg("size %d, sum %d: %d", size, sum, out[at]);
        }
}

/* Salt is 1 and pepper 0, a five-hundredth each, rounded up; seeds repeat. */
static void test_noise(void **state)
{
    (void)state;
    uint8_t image[3 * 32 * 32], out[sizeof image], again[sizeof image];
    memset(image, 100, sizeof image);
    px_drawn drawn = parsed("noise kind=salt-pepper seed=7");
    assert_int_equal(px_mutation_apply(&drawn, image, out, 32, 32, 3, NULL), PX_OK);
    size_t salt = 0, pepper = 0;
    for (size_t i = 0; i < sizeof out; i++) {
        salt += out[i] == 1;
        pepper += out[i] == 0;
    }
    assert_in_range(salt, 5, 7);
    assert_in_range(pepper, 5, 7);

    drawn = parsed("noise kind=speckle seed=4000000000");
    assert_int_equal(px_mutation_apply(&drawn, image, out, 32, 32, 3, NULL), PX_OK);
    assert_int_equal(px_mutation_apply(&drawn, image, again, 32, 32, 3, NULL), PX_OK);
    assert_memory_equal(out, again, sizeof out);
    size_t black = 0, white = 0;
    for (size_t i = 0; i < sizeof out; i++) {
        black += out[i] == 0;
        white += out[i] == 255;
    }
    /* 100 + 100 n: below 0 for n < -1, 15.9 %; above 255 for n > 1.55, 6.1 % */
    assert_in_range(black, 400, 580);
    assert_in_range(white, 130, 250);

    drawn = parsed("noise seed=1");
    assert_int_equal(px_mutation_apply(&drawn, image, out, 32, 32, 3, NULL), PX_OK);
    const px_change change = pxi_change_between(image, out, sizeof out);
    assert_int_equal(change.linf, 1); /* sigma is 0.32 levels */
    assert_in_range(change.l0, 250, 450);

    drawn = parsed("pixel-change count=9 seed=3");
    assert_int_equal(px_mutation_apply(&drawn, image, out, 32, 32, 3, NULL), PX_OK);
    assert_in_range(pxi_change_between(image, out, sizeof out).l0, 7, 9);
}

/* TensorFuzz: N(0, sigma^2), and a chain that stays within its bound of what it began with. */
static void test_white_noise(void **state)
{
    (void)state;
    uint8_t origin[3 * 32 * 32], now[sizeof origin], next[sizeof origin];
    memset(origin, 120, sizeof origin);
    px_drawn drawn = parsed("white-noise sigma=0.1 constraint=1 seed=5");
    assert_int_equal(px_mutation_apply(&drawn, origin, now, 32, 32, 3, NULL), PX_OK);
    double sum = 0.0, squares = 0.0;
    for (size_t i = 0; i < sizeof now; i++) {
        sum += now[i] - 120.0;
        squares += (now[i] - 120.0) * (now[i] - 120.0);
    }
    const double mean = sum / sizeof now, sigma = sqrt(squares / sizeof now);
    if (fabs(mean) > 1.5 || fabs(sigma - 25.5) > 1.0)
        fail_msg("mean %g, sigma %g", mean, sigma);

    /* 0.2 of the range is 51 levels, and eight links would leave it far behind; near black the
     * range itself is the bound */
    memset(origin, 10, sizeof origin / 2);
    memcpy(now, origin, sizeof now);
    for (uint32_t link = 0; link < 8; link++) {
        drawn = parsed("white-noise sigma=0.1 constraint=0.2 seed=0");
        drawn.values[2] = link;
        assert_int_equal(px_mutation_apply_near(&drawn, origin, now, next, 32, 32, 3, NULL), PX_OK);
        memcpy(now, next, sizeof now);
    }
    const px_change change = pxi_change_between(origin, now, sizeof now);
    assert_int_equal(change.linf, 51);
    size_t at_bound = 0;
    for (size_t i = 0; i < sizeof now; i++)
        at_bound += abs((int)now[i] - (int)origin[i]) == 51;
    assert_in_range(at_bound, sizeof now / 8, sizeof now * 3 / 4);

    /* by itself it is bounded by the picture it is given */
    drawn = parsed("white-noise sigma=1 constraint=0.01 seed=9");
    assert_int_equal(px_mutation_apply(&drawn, origin, now, 32, 32, 3, NULL), PX_OK);
    assert_int_equal(pxi_change_between(origin, now, sizeof now).linf, 2);

    px_random random = px_rng(1, PX_RNG_TEST, 0, 0);
    const px_mutations from = mutations("tensorfuzz"), loose = mutations("tensorfuzz-free");
    drawn = px_mutation_draw(&from, &random);
    char text[PX_DRAWN_TEXT];
    assert_non_null(strstr(px_drawn_text(&drawn, text), "sigma=0.1 constraint=0.2 seed="));
    drawn = px_mutation_draw(&loose, &random);
    assert_non_null(strstr(px_drawn_text(&drawn, text), "constraint=1 "));
}

/* --- of a program's own ---------------------------------------------------------------------- */

static px_status lower_apply(const double *values, const uint8_t *in, uint8_t *out, int height,
                             int width, int channels, px_error *err)
{
    (void)err; /* cannot fail */
    for (int i = 0; i < height * width * channels; i++)
        out[i] = (uint8_t)(in[i] > values[0] ? in[i] - values[0] : 0);
    return PX_OK;
}

static const px_param lower_params[] = {
    {.name = "by", .def = 1, .min = 1, .max = 9, .type = PX_TYPE_INT, .help = "levels"},
    {.name = "seed", .def = 0, .min = 0, .max = 4294967295.0, .help = "of nothing"},
    PX_PARAM_END};

static void test_added(void **state)
{
    (void)state;
    static px_mutation lower;
    lower = (px_mutation){.entry = {.id = "lower", .title = "lowers", .params = lower_params},
                          .group = PX_MUTATION_PIXEL,
                          .apply = lower_apply};
    static const px_param many[] = {{.name = "a", .help = "a"}, {.name = "b", .help = "b"},
                                    {.name = "c", .help = "c"}, {.name = "d", .help = "d"},
                                    {.name = "e", .help = "e"}, PX_PARAM_END};
    px_mutation idle = lower, set = lower, taken = lower, bare = lower, full = lower, wordy = lower;
    idle.apply = NULL;
    set.entry.id = "nss";
    taken.entry.id = "shift";
    bare.entry.params = NULL;
    full.entry.params = many;
    wordy.entry.id = "an-id-that-has-more-letters";
    const struct {
        const px_mutation *mutation;
        const char *says;
    } refused[] = {
        {&idle, "it has one of"},
        {&set, "there is a set of mutations 'nss' already"},
        {&taken, "there is a mutation 'shift' already"},
        {&bare, "no table of settings"},
        {&full, "too many settings"},
        {&wordy, "its id is too long"},
    };
    const size_t before = px_mutation_count(), sets = px_mutation_set_count();
    for (size_t i = 0; i < PX_LEN(refused); i++) {
        px_error err = {0};
        assert_int_equal(px_mutation_add(refused[i].mutation, &err), PX_E_USAGE);
        if (!strstr(err.message, refused[i].says))
            fail_msg("'%s' does not say '%s'", err.message, refused[i].says);
    }
    assert_int_equal(px_mutation_count(), before);
    assert_int_equal(px_mutation_set_count(), sets);
    assert_int_equal(px_mutation_add(&lower, NULL), PX_OK);
    assert_int_equal(px_mutation_add(&lower, NULL), PX_E_USAGE); /* once is enough */

    uint8_t image[25], out[25];
    ramp(image);
    px_drawn drawn = parsed("lower by=7 seed=3");
    assert_int_equal(px_mutation_apply(&drawn, image, out, 5, 5, 1, NULL), PX_OK);
    assert_int_equal(out[0], 0);
    assert_int_equal(out[24], 233);

    /* every value of the range is drawn, and no other; the seed is drawn, too */
    const px_mutations from = mutations("lower");
    px_random random = px_rng(1, PX_RNG_TEST, 0, 0);
    unsigned seen = 0;
    double seeds = 0.0;
    for (int i = 0; i < 200; i++) {
        char text[PX_DRAWN_TEXT];
        drawn = px_mutation_draw(&from, &random);
        assert_in_range((long long)drawn.values[0], 1, 9);
        seen |= 1u << (int)drawn.values[0];
        seeds += drawn.values[1];
        const px_drawn again = parsed(px_drawn_text(&drawn, text));
        assert_memory_equal(again.values, drawn.values, sizeof drawn.values);
    }
    assert_int_equal(seen, 0x3fe);
    assert_true(seeds > 200.0 * 1e9);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_warp),        cmocka_unit_test(test_mutations),
        cmocka_unit_test(test_resize),      cmocka_unit_test(test_blur_and_levels),
        cmocka_unit_test(test_box_mean),    cmocka_unit_test(test_noise),
        cmocka_unit_test(test_white_noise), cmocka_unit_test(test_added),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
