/* tests/generate/test_synthesis_pixels.c - steps, bounds, rounding, distances, worked by hand */
/* SPDX-License-Identifier: Apache-2.0 */
#include "generate_helpers.h"

#include "base/memory.h"
#include "generate/synthesis_internal.h"

#include <math.h>
#include <string.h>

/* One value, 8-bit, at 1/255. */
static pxi_pixel_rule rule_of(double step, double distance)
{
    pxi_pixel_rule rule = {.whole = 255, .count = 1, .channels = 1, .plane = 1, .stddev = {1}};
    rule.step = pxi_pixel_levels(&rule, step);
    rule.distance = pxi_pixel_levels(&rule, distance);
    rule.high = 255;
    return rule;
}

static const struct {
    const char *name;
    double step, distance;
    float original, gradient, exact;
    int byte;
} steps[] = {
    {"within the distance", 1, 0.1, 100, 0.04f, 110.2f, 110},
    {"down is rounded up", 1, 0.1, 100, -0.04f, 89.8f, 90},
    {"cut at the distance", 1, 0.1, 100, 7, 125.5f, 125},
    {"cut at the distance below", 1, 0.1, 100, -7, 74.5f, 75},
    {"cut at the range", 1, 0.1, 250, 7, 255, 255},
    {"cut at the range below", 1, 0.1, 3, -7, 0, 0},
    {"a distance of whole levels keeps them", 1, 8.0 / 255, 100, 7, 108, 108},
    {"the same below", 1, 8.0 / 255, 100, -7, 92, 92},
    {"no gradient", 1, 0.1, 77, 0, 77, 77},
    {"less than a level", 1, 0.1, 77, 0.003f, 77.765f, 77},
    {"a step against the gradient", -2, 0.1, 77, 0.02f, 66.8f, 67},
};

static void test_steps(void **state)
{
    (void)state;
    for (size_t i = 0; i < PX_LEN(steps); i++) {
        const pxi_pixel_rule rule = rule_of(steps[i].step, steps[i].distance);
        float x = steps[i].original;
        uint8_t byte = 0;
        pxi_pixels_step(&rule, &steps[i].original, &steps[i].gradient, &x);
        pxi_pixels_round(&steps[i].original, &x, 1, &byte);
        if (fabsf(x - steps[i].exact) > 1e-4f || byte != steps[i].byte)
            fail_msg("'%s': %.6f, stored %d", steps[i].name, (double)x, byte);
        const pxi_pixel_distance form = pxi_pixels_distance(&rule, &steps[i].original, &x);
        if (form.linf > steps[i].distance)
            fail_msg("'%s': linf %.17g is beyond %.17g", steps[i].name, form.linf,
                     steps[i].distance);
    }
}

/* Floats never leave the ball by rounding, whatever the numbers. */
static void test_ball_is_kept(void **state)
{
    (void)state;
    pxi_pixel_rule rule = {.whole = 1, .count = 1, .channels = 1, .plane = 1, .stddev = {1}};
    rule.step = 1;
    rule.distance = 0.1;
    rule.high = 1;
    for (int i = 0; i <= 10000; i++) {
        const float from = (float)i / 10000.0f;
        for (int sign = -1; sign <= 1; sign += 2) {
            const float gradient = (float)sign * 3.0f;
            float x = from;
            pxi_pixels_step(&rule, &from, &gradient, &x);
            if (fabs((double)x - (double)from) > 0.1 || x < 0.0f || x > 1.0f)
                fail_msg("%.9g moved to %.9g", (double)from, (double)x);
        }
    }
}

/* The gradient lies as the network's input does; pixels are RGB planes. */
static void test_layouts(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        bool bgr, last;
        float moved[6]; /* per RGB plane of two pixels: gradient / std */
    } cases[] = {
        {"planes", false, false, {1, 2, 1.5f, 2, 1.25f, 1.5f}},
        {"channels last", false, true, {1, 4, 1, 2.5f, 0.75f, 1.5f}},
        {"bgr", true, false, {1.25f, 1.5f, 1.5f, 2, 1, 2}},
        {"bgr, channels last", true, true, {0.75f, 1.5f, 1, 2.5f, 1, 4}},
    };
    const float gradient[6] = {1, 2, 3, 4, 5, 6}, zero[6] = {0};
    for (size_t i = 0; i < PX_LEN(cases); i++) {
        const pxi_pixel_rule rule = {.whole = 1,
                                     .step = 1,
                                     .distance = 100,
                                     .high = 1000,
                                     .count = 6,
                                     .channels = 3,
                                     .plane = 2,
                                     .bgr = cases[i].bgr,
                                     .channels_last = cases[i].last,
                                     .stddev = {1, 2, 4}};
        float x[6] = {0};
        pxi_pixels_step(&rule, zero, gradient, x);
        if (memcmp(x, cases[i].moved, sizeof x) != 0)
            fail_msg("'%s': %g %g %g %g %g %g", cases[i].name, (double)x[0], (double)x[1],
                     (double)x[2], (double)x[3], (double)x[4], (double)x[5]);
    }
}

static void test_distances(void **state)
{
    (void)state;
    const pxi_pixel_rule rule = {.whole = 10, .count = 3};
    const float from[3] = {1, 2, 3}, to[3] = {4, 2, -1};
    const pxi_pixel_distance form = pxi_pixels_distance(&rule, from, to);
    assert_int_equal(form.l0, 2);
    assert_float_equal(form.l1, 0.7, 1e-12);
    assert_float_equal(form.l2, 0.5, 1e-12);
    assert_float_equal(form.linf, 0.4, 1e-12);
    assert_int_equal(pxi_pixels_distance(&rule, from, from).l0, 0);
}

/* LGR G.4. */
static void test_perturbation(void **state)
{
    (void)state;
    const float x[3] = {0.5f, 0.2f, 0.9f}, y[3] = {0.52f, 0.15f, 0.9f};
    uint8_t out[3];
    px_perturbation_bytes(x, y, 3, 1.0, false, out);
    assert_in_range(out[0], 178, 179); /* 0.7 */
    assert_int_equal(out[1], 0);
    assert_int_equal(out[2], 128); /* 0.5 */
    px_perturbation_bytes(x, y, 3, 1.0, true, out);
    assert_int_equal(out[0], 51);      /* 0.2 */
    assert_in_range(out[1], 127, 128); /* 0.5 */
    assert_int_equal(out[2], 0);
}

static void test_texts(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        double value; /* NaN: refused */
    } cases[] = {{"0.1", 0.1}, {"8/255", 8.0 / 255}, {"10%", 25.5}, {"1e-2", 0.01}, {"", NAN},
                 {"x", NAN},   {"1/0", NAN},         {"5%%", NAN},  {"nan", NAN},   {"1 2", NAN}};
    for (size_t i = 0; i < PX_LEN(cases); i++) {
        double value = -1;
        px_error err = {0};
        const px_status status = px_length_parse(cases[i].text, "--step", 0, 255, &value, &err);
        if ((status == PX_OK) == isnan(cases[i].value) ||
            (status == PX_OK && fabs(value - cases[i].value) > 1e-12))
            fail_msg("'%s': %g, %s", cases[i].text, value, err.message);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_steps),        cmocka_unit_test(test_ball_is_kept),
        cmocka_unit_test(test_layouts),      cmocka_unit_test(test_distances),
        cmocka_unit_test(test_perturbation), cmocka_unit_test(test_texts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
