/* tests/select/test_fault_curve.c - TV-D1, edges, and what cannot be */
/* SPDX-License-Identifier: Apache-2.0 */
#include "cmocka_all.h"

#include "base/memory.h"
#include <internal/fault_curve.h>

#include <math.h>
#include <string.h>

static bool near(double got, double want)
{
    return fabs(got - want) < 1e-9 || (isnan(got) && isnan(want));
}

/* Flags 1,0,1,1,0,0,1,0 and types a,-,a,b,-,-,c,- in the order 7, 6, .. 0. */
static const int64_t order[] = {7, 6, 5, 4, 3, 2, 1, 0};
static const int64_t labels[] = {0, 2, 0, 0, 1, 0, 0, 0};
static const int32_t predicted[] = {0, 0, 0, 0, 2, 1, 0, 1};

static void test_spec(void **state)
{
    (void)state;
    px_fault_curve c;
    px_error err = {0};
    assert_int_equal(px_fault_curve_init(&c, order, 8, labels, predicted, 8, &err), PX_OK);
    static const int64_t types[] = {1, 1, 1, 2, 2, 2, 3, 3}, faults[] = {1, 1, 2, 3, 3, 3, 4, 4};
    assert_memory_equal(c.met[PX_FAULT_TYPES], types, sizeof types);
    assert_memory_equal(c.met[PX_FAULTS], faults, sizeof faults);
    assert_int_equal(c.total[PX_FAULTS], 4);
    assert_int_equal(c.total[PX_FAULT_TYPES], 3);
    const px_apfd_result apfd = px_apfd(&c, PX_FAULTS), by_types = px_apfd(&c, PX_FAULT_TYPES);
    const struct {
        const char *what;
        double got, want;
    } figures[] = {
        {"rate", px_fault_rate(&c), .5},
        {"fdr 25%", px_fdr(&c, px_percent_count(25, 8)), .5},
        {"fdr 50%", px_fdr(&c, px_percent_count(50, 8)), .75},
        {"apfd", apfd.value, .59375},
        {"apfd least", apfd.least, .25},
        {"apfd most", apfd.most, .75},
        {"apfd normalised", apfd.normalised, .6875},
        {"rauc", px_rauc(&c, PX_FAULT_TYPES, 8), .714285714},
        {"rauc of four", px_rauc(&c, PX_FAULT_TYPES, 4), .555555556},
        {"fault rauc", px_rauc(&c, PX_FAULTS, 8), .807692308},
        {"apfd by types", by_types.value, .5625},
        {"apfd by types, least", by_types.least, NAN},
        {"none", px_fdr(&c, 0), NAN},
        {"too many", px_fdr(&c, 9), NAN},
        {"too many", px_rauc(&c, PX_FAULTS, 9), NAN},
    };
    for (size_t i = 0; i < PX_LEN(figures); i++)
        if (!near(figures[i].got, figures[i].want))
            fail_msg("%s: %.12g, not %.12g", figures[i].what, figures[i].got, figures[i].want);
    double accuracy[10];
    px_accuracy_by_group(&c, 4, accuracy);
    assert_true(near(accuracy[0], .5) && near(accuracy[1], 0) && near(accuracy[2], 1) &&
                near(accuracy[3], .5));
    px_accuracy_by_group(&c, 3, accuracy); /* of 2, 3 and 3 */
    assert_true(near(accuracy[0], .5) && near(accuracy[1], 1.0 / 3.0) &&
                near(accuracy[2], 2.0 / 3.0));
    px_accuracy_by_group(&c, 10, accuracy);
    assert_true(isnan(accuracy[0]) && near(accuracy[1], 0));
    px_fault_curve_done(&c);
}

static void test_prefix(void **state)
{
    (void)state;
    px_fault_curve c;
    double accuracy[2];
    assert_int_equal(px_fault_curve_init(&c, order, 4, labels, predicted, 8, NULL), PX_OK);
    assert_int_equal(c.total[PX_FAULT_TYPES], 3); /* of all candidates */
    assert_true(near(px_fdr(&c, 4), .75) && near(px_rauc(&c, PX_FAULT_TYPES, 4), 5.0 / 9.0));
    assert_true(isnan(px_fdr(&c, 5)) && isnan(px_apfd(&c, PX_FAULTS).value));
    px_accuracy_by_group(&c, 2, accuracy);
    assert_true(isnan(accuracy[0]) && isnan(accuracy[1]));
    px_fault_curve_done(&c);
}

static void test_edges(void **state)
{
    (void)state;
    px_fault_curve c;
    static const int64_t both[] = {0, 1}, classes[] = {3, 4};
    static const int32_t right[] = {3, 4}, wrong[] = {-1, 3};
    assert_int_equal(px_fault_curve_init(&c, both, 2, classes, right, 2, NULL), PX_OK);
    assert_true(px_fault_rate(&c) == 0.0 && px_fdr(&c, 2) == 0.0);
    assert_true(isnan(px_rauc(&c, PX_FAULTS, 2)) && isnan(px_apfd(&c, PX_FAULTS).value));
    px_fault_curve_done(&c);
    assert_int_equal(px_fault_curve_init(&c, both, 2, classes, wrong, 2, NULL), PX_OK);
    assert_int_equal(c.total[PX_FAULT_TYPES], 2);
    assert_true(near(px_apfd(&c, PX_FAULTS).value, .5));
    assert_true(isnan(px_apfd(&c, PX_FAULTS).normalised));
    px_fault_curve_done(&c);
    assert_int_equal(px_fault_curve_init(&c, both, 0, classes, wrong, 0, NULL), PX_OK);
    assert_true(isnan(px_fault_rate(&c)) && isnan(px_apfd(&c, PX_FAULTS).value));
    px_fault_curve_done(&c);
}

static void test_refused(void **state)
{
    (void)state;
    static const int64_t twice[] = {1, 1}, beyond[] = {0, 2}, before[] = {-1, 0}, good[] = {0, 1};
    static const int64_t classes[] = {1, 1}, unlabelled[] = {1, -1};
    static const int32_t guesses[] = {0, 1};
    const struct {
        const int64_t *order, *labels;
        int64_t ranked;
        const char *message;
    } cases[] = {
        {twice, classes, 2, "had before"}, {beyond, classes, 2, "not there"},
        {before, classes, 2, "not there"}, {good, classes, 3, "does not fit"},
        {good, unlabelled, 2, "no label"},
    };
    for (size_t i = 0; i < PX_LEN(cases); i++) {
        px_fault_curve c = {.count = 77};
        px_error err = {0};
        if (px_fault_curve_init(&c, cases[i].order, cases[i].ranked, cases[i].labels, guesses, 2,
                                &err) != PX_E_INPUT ||
            !strstr(err.message, cases[i].message) || c.count != 77)
            fail_msg("case %zu: '%s'", i, err.message);
    }
}

static void test_percent_count(void **state)
{
    (void)state;
    static const struct {
        double percent;
        int64_t count, want;
    } cases[] = {{5, 10000, 500}, {5, 10001, 501}, {20, 35, 7}, {.1, 10, 1}, {100, 7, 7},
                 {300, 7, 7},     {5, 0, 0},       {7, 100, 7}, {0, 5, 1}};
    for (size_t i = 0; i < PX_LEN(cases); i++)
        if (px_percent_count(cases[i].percent, cases[i].count) != cases[i].want)
            fail_msg("%g%% of %d", cases[i].percent, (int)cases[i].count);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_spec),          cmocka_unit_test(test_prefix),
        cmocka_unit_test(test_edges),         cmocka_unit_test(test_refused),
        cmocka_unit_test(test_percent_count),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
