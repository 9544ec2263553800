/* tests/mutate/test_closeness.c - how near a changed input still is to its original */
/* SPDX-License-Identifier: Apache-2.0 */
#include "base/memory.h"
#include "mutate_helpers.h"

#include <internal/closeness.h>
#include <internal/mutate.h>
#include <internal/store.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "closeness_golden.h"

enum { SIDE = 28, PIXELS = SIDE * SIDE };

static int golden_value(uint32_t i, uint32_t stream)
{
    uint32_t x = i * 2654435761u + stream * 40503u + 12345u;
    x = (x ^ x >> 15) * 2246822519u;
    x = (x ^ x >> 13) * 3266489917u;
    return (int)((x ^ x >> 16) >> 24);
}

static px_closeness measured(const px_drawn *links, size_t count, int channels, int height,
                             int width, px_dtype dtype, const void *original, const void *changed)
{
    px_closeness out = {0};
    px_error err = {0};
    const px_shape shape = {.rank = 3, .dim = {channels, height, width}};
    if (px_closeness_measure(links, count, &shape, dtype, original, changed, &out, &err) != PX_OK)
        fail_msg("%s", err.message);
    return out;
}

/* Maps, resampling, region, SSIM and object are SciPy's and NumPy's. */
static void test_golden(void **state)
{
    (void)state;
    for (size_t g = 0; g < PX_LEN(closenesses); g++) {
        const int h = closenesses[g].height, w = closenesses[g].width;
        uint8_t x[32 * 32] = {0}, y[32 * 32];
        for (int i = 0; i < h * w; i++) {
            const int row = i / w, column = i % w;
            const int v = golden_value((uint32_t)i, (uint32_t)closenesses[g].stream);
            const bool in = row >= 2 && row < h / 2 && column >= 2 && column < w / 2;
            x[i] = (uint8_t)(!closenesses[g].blob ? v : in ? 128 + v / 2 : 0);
            const int other = golden_value((uint32_t)i, (uint32_t)closenesses[g].stream + 1);
            y[i] = (uint8_t)floor(x[i] + closenesses[g].share * (other - x[i]));
        }
        px_drawn *links = NULL;
        size_t count = 0;
        bool replayable = false;
        px_error err = {0};
        assert_int_equal(px_chain_parse(closenesses[g].chain, &links, &count, &replayable, &err),
                         PX_OK);
        const px_closeness c = measured(links, count, 1, h, w, PX_UINT8, x, y);
        free(links);
        if (!(fabs(c.similarity - closenesses[g].similarity) < 1e-9 &&
              fabs(c.inside - closenesses[g].inside) < 1e-9))
            fail_msg("%d x %d, %s: %.12g, %.12g instead of %.12g, %.12g", h, w,
                     closenesses[g].chain, c.similarity, c.inside, closenesses[g].similarity,
                     closenesses[g].inside);
    }
}

/* A ring around a bar, grey on black, of three channels: something to turn. */
static void thing(uint8_t *out)
{
    for (int i = 0; i < 3 * PIXELS; i++) {
        const double y = i % PIXELS / SIDE - 13.5, x = i % SIDE - 13.5, r = sqrt(x * x + y * y);
        const bool on = (r > 5 && r < 8) || (fabs(x) < 2 && fabs(y) < 6);
        out[i] = (uint8_t)(on ? 120 + 30 * (i / PIXELS) + 3 * (i % 7) : 0);
    }
}

static px_closeness after(const char *text, const uint8_t *original, uint8_t *changed)
{
    const px_drawn drawn = parsed(text);
    px_error err = {0};
    assert_int_equal(
        px_mutation_apply(&drawn, original, changed, SIDE, SIDE, /* channels= */ 3, &err), PX_OK);
    return measured(&drawn, 1, 3, SIDE, SIDE, PX_UINT8, original, changed);
}

/* Whatever moves is undone: what is left is the resampling. */
static void test_moves(void **state)
{
    (void)state;
    static const char *const moves[] = {
        "rotation angle=40",      "shear angle=20",        "scale ratio=0.8",
        "scale ratio=1.2",        "shift x=0.1 y=-0.1",    "rotation angle=-90 fill=black",
        "cv-rotation angle=-33",  "cv-shear factor=0.2",   "cv-translation x=2 y=-3",
        "cv-scale ratio=0.7",     "cv-scale ratio=1.1",    "cv-scale ratio=0.85 canvas=white",
        "cv-rotation angle=49.5", "cv-shear factor=-0.25",
    };
    uint8_t original[3 * PIXELS], changed[3 * PIXELS];
    thing(original);
    for (size_t i = 0; i < PX_LEN(moves); i++) {
        const px_closeness c = after(moves[i], original, changed);
        const px_closeness not_undone =
            measured(NULL, 0, 3, SIDE, SIDE, PX_UINT8, original, changed);
        if (!(c.similarity > 0.93 && c.inside > 0.9 && px_is_close(&c)))
            fail_msg("%s: similarity %g, inside %g", moves[i], c.similarity, c.inside);
        if (!(not_undone.similarity < c.similarity - 0.1 && not_undone.inside == 1.0))
            fail_msg("%s: %g as it is", moves[i], not_undone.similarity);
    }
}

static void test_values(void **state)
{
    (void)state;
    uint8_t original[3 * PIXELS], changed[3 * PIXELS];
    thing(original);
    px_closeness c = after("white-noise sigma=0.4 constraint=1 seed=3", original, changed);
    assert_true(c.similarity < 0.6 && c.inside == 1.0 && !px_is_close(&c));
    c = after("white-noise sigma=0.01 constraint=1 seed=3", original, changed);
    assert_true(c.similarity > 0.9 && px_is_close(&c));
    c = measured(NULL, 0, 3, SIDE, SIDE, PX_UINT8, original, original);
    assert_true(c.similarity > 1.0 - 1e-12 && c.similarity <= 1.0 && c.inside == 1.0);
}

static void test_out_of_frame(void **state)
{
    (void)state;
    uint8_t original[3 * PIXELS], changed[3 * PIXELS];
    thing(original);
    px_closeness c = after("cv-translation x=14 y=0", original, changed);
    assert_true(c.inside > 0.4 && c.inside < 0.6 && c.similarity > 0.99 && !px_is_close(&c));
    c = after("cv-translation x=28 y=0", original, changed); /* nothing of it is left to compare */
    assert_true(c.inside == 0.0 && c.similarity == 0.0 && !px_is_close(&c));
    /* There and back: what was cut off does not return. */
    const px_drawn links[] = {parsed("cv-translation x=14 y=0"),
                              parsed("cv-translation x=-14 y=0")};
    px_error err = {0};
    uint8_t middle[3 * PIXELS];
    for (int i = 0; i < 2; i++)
        assert_int_equal(px_mutation_apply(&links[i], i ? middle : original, i ? changed : middle,
                                           SIDE, SIDE, 3, &err),
                         PX_OK);
    c = measured(links, 2, 3, SIDE, SIDE, PX_UINT8, original, changed);
    assert_true(c.inside > 0.4 && c.inside < 0.6 && c.similarity > 0.99);
    /* Without a plain background: the area. */
    for (int i = 0; i < 3 * PIXELS; i++)
        original[i] = (uint8_t)golden_value((uint32_t)i, 1);
    c = after("cv-translation x=7 y=0", original, changed);
    assert_true(fabs(c.inside - 0.75) < 1e-12 && c.similarity > 0.999999);
}

/* The same picture as values from 0 to 1 is as similar. */
static void test_float(void **state)
{
    (void)state;
    uint8_t original[3 * PIXELS], changed[3 * PIXELS];
    float x[3 * PIXELS], y[3 * PIXELS];
    thing(original);
    const px_drawn drawn = parsed("rotation angle=25");
    const px_closeness c = after("rotation angle=25", original, changed);
    for (int i = 0; i < 3 * PIXELS; i++) {
        x[i] = (float)original[i] / 255.0f;
        y[i] = (float)changed[i] / 255.0f;
    }
    const px_closeness d = measured(&drawn, 1, 3, SIDE, SIDE, PX_FLOAT32, x, y);
    assert_true(fabs(c.similarity - d.similarity) < 1e-6 && fabs(c.inside - d.inside) < 1e-6);
}

/* Features of a recording: a shift in time is undone, and takes its share of the frames. */
static void test_recording(void **state)
{
    (void)state;
    enum { FRAMES = 40, BINS = 16, BY = 4 };
    static float x[FRAMES * BINS], y[FRAMES * BINS];
    for (int f = 0; f < FRAMES; f++)
        for (int b = 0; b < BINS; b++) {
            x[f * BINS + b] = (float)(4.0 * sin(0.5 * f + 0.3 * b) - 2.0);
            y[f * BINS + b] = f < BY ? -6.0f : (float)(4.0 * sin(0.5 * (f - BY) + 0.3 * b) - 2.0);
        }
    const px_drawn shift = parsed("audio-shift by=0.1"), gain = parsed("audio-gain db=3");
    px_closeness c = measured(&shift, 1, 1, FRAMES, BINS, PX_FLOAT32, x, y);
    assert_true(c.similarity > 0.9999 && fabs(c.inside - 0.9) < 1e-9 && px_is_close(&c));
    c = measured(&gain, 1, 1, FRAMES, BINS, PX_FLOAT32, x, y);
    assert_true(c.similarity < 0.5 && c.inside == 1.0);
}

static void test_not_known(void **state)
{
    (void)state;
    const float values[16] = {0};
    px_error err = {0};
    static const px_shape shapes[] = {{.rank = 1, .dim = {16}}, {.rank = 3, .dim = {1, 2, 8}}};
    for (size_t i = 0; i < PX_LEN(shapes); i++) {
        px_closeness c = {0};
        assert_int_equal(
            px_closeness_measure(NULL, 0, &shapes[i], PX_FLOAT32, values, values, &c, &err), PX_OK);
        assert_true(isnan(c.similarity) && isnan(c.inside) && !px_is_close(&c));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_golden),    cmocka_unit_test(test_moves),
        cmocka_unit_test(test_values),    cmocka_unit_test(test_out_of_frame),
        cmocka_unit_test(test_float),     cmocka_unit_test(test_recording),
        cmocka_unit_test(test_not_known),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
