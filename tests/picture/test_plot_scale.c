/* tests/picture/test_plot_scale.c - ranges, ticks, and how numbers are written */
/* SPDX-License-Identifier: Apache-2.0 */
#include "cmocka_all.h"
#include "picture/plot_scale.h"

#include <math.h>
#include <string.h>

static void test_ticks(void **state)
{
    (void)state;
    static const struct {
        bool log;
        double least, most, target;
        const char *labels; /* of those that have one */
    } cases[] = {
        {false, 0, 100, 5, "0 20 40 60 80 100"},
        {false, 0, 25, 10, "0 5 10 15 20 25"},
        {false, 0, 1, 6, "0 0.2 0.4 0.6 0.8 1.0"},
        {false, -1, 1, 4, "-1.0 -0.5 0 0.5 1.0"},
        {false, 3, 9.2, 7, "3 4 5 6 7 8 9"},
        {false, 0, 10000, 5, "0 2,000 4,000 6,000 8,000 10,000"},
        {false, 0, 8000, 4, "0 2000 4000 6000 8000"},
        {false, 0, 3e8, 3, "0 1e8 2e8 3e8"},
        {false, 0, 2.5e8, 5, "0 5e7 1e8 1.5e8 2e8 2.5e8"},
        {false, 0, 5e-7, 5, "0 1e-7 2e-7 3e-7 4e-7 5e-7"},
        {false, 0.0001, 0.0003, 2, "0.0001 0.0002 0.0003"},
        {false, 1e15, 1e15 + 4, 2, "1e15 1.000000000000002e15 1.000000000000004e15"},
        {true, 1, 1000, 5, "1 10 100 1000"},
        {true, 0.5, 20000, 5, "1 10 100 1,000 10,000"},
        {true, 1e-3, 1e-1, 5, "0.001 0.01 0.1"},
        {true, 1, 1e12, 5, "1 1,000 1e6 1e9 1e12"},
        {true, 12, 90, 5, "20 50"},
        {true, 20, 30, 5, "20 22 24 26 28 30"}, /* too short for powers: as a linear one */
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const pxi_scale scale = {
            .log = cases[i].log, .least = cases[i].least, .most = cases[i].most};
        pxi_ticks ticks;
        char got[400] = "";
        pxi_ticks_make(&scale, cases[i].target, &ticks);
        for (size_t k = 0; k < ticks.count; k++) {
            const double v = ticks.tick[k].value;
            if (v < cases[i].least - 1e-6 * fabs(cases[i].least) ||
                v > cases[i].most + 1e-6 * fabs(cases[i].most))
                fail_msg("case %zu: a tick at %g", i, v);
            if (!ticks.tick[k].label[0])
                continue;
            strcat(got, got[0] ? " " : "");
            strcat(got, ticks.tick[k].label);
        }
        if (strcmp(got, cases[i].labels) != 0)
            fail_msg("case %zu: '%s', not '%s'", i, got, cases[i].labels);
    }
}

/* Whatever the range: a few ticks, in order, no endless loop. */
static void test_ticks_of_any_range(void **state)
{
    (void)state;
    for (int e = -300; e <= 300; e += 7)
        for (int width = 0; width <= 300; width += 9) {
            const double least = pow(10, e), most = least * (1 + pow(10, -8 + width / 2.0));
            if (!(most < PXI_VALUE_MOST))
                continue;
            for (int log = 0; log < 2; log++) {
                const pxi_scale scale = {.log = log, .least = least, .most = most};
                pxi_ticks ticks;
                pxi_ticks_make(&scale, 6, &ticks);
                if (ticks.count < 1 || ticks.count >= PXI_TICKS_MOST)
                    fail_msg("1e%d to %g, log %d: %zu ticks", e, most, log, ticks.count);
                for (size_t k = 1; k < ticks.count; k++)
                    if (!(ticks.tick[k].value > ticks.tick[k - 1].value))
                        fail_msg("1e%d to %g, log %d: ticks out of order", e, most, log);
            }
        }
}

static void test_fit(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        px_plot_axis axis;
        double least, most;
        bool zero;
        double air;
        double want_least, want_most;
    } cases[] = {
        {"no data", {0}, INFINITY, -INFINITY, false, 0.1, 0, 1.1},
        {"air on both sides", {0}, -10, 10, false, 0.1, -12, 12},
        {"not below 0", {0}, 1, 101, false, 0.1, 0, 111},
        {"not above 0", {0}, -101, -1, false, 0.1, -111, 0},
        {"bars from 0", {0}, 50, 100, true, 0.1, 0, 110},
        {"bars down", {0}, -100, -50, true, 0, -100, 0},
        {"all alike", {0}, 10, 10, false, 0, 9, 11},
        {"all 0", {0}, 0, 0, false, 0, 0, 0.5},
        {"given", {.least = -2, .most = 3}, 0, 100, true, 0.1, -2, 3},
        {"log", {.log = true}, 1, 100, false, 0, 1, 100},
        {"log, alike", {.log = true}, 8, 8, false, 0, 4, 16},
        {"log bars", {.log = true}, 20, 100, true, 0, 10, 100},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const pxi_scale got = pxi_scale_fit(&cases[i].axis, cases[i].least, cases[i].most,
                                            cases[i].zero, cases[i].air);
        if (fabs(got.least - cases[i].want_least) > 1e-9 ||
            fabs(got.most - cases[i].want_most) > 1e-9)
            fail_msg("case '%s': %g to %g", cases[i].name, got.least, got.most);
    }
}

static void test_values_in_words(void **state)
{
    (void)state;
    static const struct {
        double value;
        const char *text;
    } cases[] = {
        {0, "0"},          {-3, "-3"},          {963, "963"},          {1234, "1234"},
        {12345, "12,345"}, {9.1, "9.1"},        {92.14, "92.1"},       {1.005e6, "1,005,000"},
        {2.5e9, "2.5e9"},  {0.1234, "0.123"},   {0.5, "0.5"},          {0.0001, "1e-4"},
        {-61.26, "-61.3"}, {1234.56, "1234.6"}, {99999.99, "100,000"}, {0.9996, "1"},
    };
    char text[PXI_TICK_TEXT];
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        assert_string_equal(pxi_value_text(cases[i].value, text), cases[i].text);
}

static void test_at(void **state)
{
    (void)state;
    const pxi_scale up = {.least = -10, .most = 10, .from = 200, .to = 100};
    assert_true(pxi_scale_at(&up, -10) == 200 && pxi_scale_at(&up, 10) == 100);
    assert_true(pxi_scale_at(&up, 0) == 150);
    assert_true(pxi_scale_at(&up, 1e300) == -1e6);
    const pxi_scale log = {.log = true, .least = 1, .most = 1000, .from = 0, .to = 300};
    assert_true(fabs(pxi_scale_at(&log, 10) - 100) < 1e-9);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_ticks), cmocka_unit_test(test_ticks_of_any_range),
        cmocka_unit_test(test_fit),   cmocka_unit_test(test_values_in_words),
        cmocka_unit_test(test_at),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
