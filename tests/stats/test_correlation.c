/* tests/stats/test_correlation.c - correlations, Student's tail and kappa: scipy, TV-D8, TV-B1b */
/* SPDX-License-Identifier: Apache-2.0 */
#include "cmocka_all.h"

#include "base/memory.h"
#include "correlation_golden.h"
#include "stats_values.h"
#include <internal/stats.h>

#include <float.h>

static bool near(double got, double want, double relative)
{
    return fabs(got - want) <= relative * fabs(want) + 1e-300;
}

static void test_beta(void **state)
{
    (void)state;
    for (size_t i = 0; i < PX_LEN(betas); i++) {
        const double got = px_incomplete_beta(betas[i].a, betas[i].b, betas[i].x);
        if (!near(got, betas[i].beta, 1e-10))
            fail_msg("I_%g(%g, %g): %.17g, not %.17g", betas[i].x, betas[i].a, betas[i].b, got,
                     betas[i].beta);
    }
    assert_true(isnan(px_incomplete_beta(0, 1, 0.5)));
    assert_true(isnan(px_incomplete_beta(1, 1, 1.5)));
    assert_true(isnan(px_incomplete_beta(1, 1, NAN)));
}

static void test_student(void **state)
{
    (void)state;
    for (size_t i = 0; i < PX_LEN(students); i++) {
        const double got = px_student_two_sided(students[i].t, students[i].freedom);
        if (!near(got, students[i].p, 1e-8))
            fail_msg("t %g, %g degrees: %.17g, not %.17g", students[i].t, students[i].freedom, got,
                     students[i].p);
    }
    assert_true(px_student_two_sided(INFINITY, 3) == 0.0);
    assert_true(px_student_two_sided(1e300, 3) >= 0.0);
    assert_true(isnan(px_student_two_sided(1, 0)));
    assert_true(isnan(px_student_two_sided(NAN, 3)));
    assert_true(near(px_student_two_sided(1.96, INFINITY), 0.04999579029644087, 1e-12));
}

static void test_correlations(void **state)
{
    (void)state;
    static double x[1000], y[1000];
    for (size_t i = 0; i < PX_LEN(correlations); i++) {
        const int n = correlations[i].count;
        assert_true(n <= (int)PX_LEN(x));
        stats_column(x, n, 1, correlations[i].grid, 0);
        stats_column(y, n, 2, correlations[i].grid, 0);
        for (int k = 0; k < n; k++)
            y[k] += correlations[i].share * x[k];
        const px_correlation pearson = px_pearson(x, y, (size_t)n);
        px_correlation spearman;
        assert_int_equal(px_spearman(x, y, (size_t)n, &spearman, NULL), PX_OK);
        const double got[] = {pearson.r, pearson.p, spearman.r, spearman.p};
        const double want[] = {correlations[i].pearson, correlations[i].pearson_p,
                               correlations[i].spearman, correlations[i].spearman_p};
        for (size_t k = 0; k < PX_LEN(got); k++) /* p of r near 1 has only so many digits */
            if (!(fabs(got[k] - want[k]) <= 1e-12 + 1e-7 * fabs(want[k])) &&
                !(isnan(got[k]) && isnan(want[k])))
                fail_msg("case %zu, figure %zu: %.17g, not %.17g", i, k, got[k], want[k]);
    }
}

static void test_spec(void **state)
{
    (void)state;
    static const double a[] = {1, 2, 3, 4, 5}, b[] = {2, 1, 4, 3, 7};
    static const double c[] = {1, 2, 2, 3}, d[] = {10, 20, 30, 30};
    static const bool flags[] = {false, false, true, true, true};
    static const double values[] = {.9, .8, .4, .85, .2};
    px_correlation r = px_pearson(a, b, 5);
    assert_true(fabs(r.r - .824163384) < 1e-9 && fabs(r.p - .086138631) < 1e-9);
    assert_int_equal(px_spearman(a, b, 5, &r, NULL), PX_OK);
    assert_true(fabs(r.r - .8) < 1e-12 && fabs(r.p - .104088039) < 1e-9);
    assert_int_equal(px_spearman(c, d, 4, &r, NULL), PX_OK);
    assert_true(fabs(r.r - .833333333) < 1e-9);
    r = px_point_biserial(flags, values, 5);
    assert_true(fabs(r.r + .644831420) < 1e-9 && fabs(r.t + 1.461264561) < 1e-8 &&
                fabs(r.p - .240090300) < 1e-9);
    const double numbers[] = {0, 0, 1, 1, 1};
    assert_true(near(px_pearson(numbers, values, 5).r, r.r, 1e-12));
}

static bool undefined(px_correlation c)
{
    return isnan(c.r) && isnan(c.t) && isnan(c.p);
}

static void test_undefined(void **state)
{
    (void)state;
    static const double up[] = {1, 2, 3}, flat[] = {.1, .1, .1}, broken[] = {1, NAN, 3};
    static const double endless[] = {1, INFINITY, 3}, tiny[] = {0x1p-600, 0x2p-600, 0x3p-600};
    static const bool none[] = {false, false, false}, one[] = {true, false, false};
    px_correlation r;
    assert_true(undefined(px_pearson(up, flat, 3)) && undefined(px_pearson(flat, up, 3)));
    assert_true(undefined(px_pearson(up, broken, 3)) && undefined(px_pearson(endless, up, 3)));
    assert_true(undefined(px_pearson(up, up, 1)) && undefined(px_pearson(up, up, 0)));
    assert_int_equal(px_spearman(up, flat, 3, &r, NULL), PX_OK);
    assert_true(undefined(r));
    assert_int_equal(px_spearman(broken, up, 3, &r, NULL), PX_OK);
    assert_true(undefined(r));
    assert_true(undefined(px_point_biserial(none, up, 3)));
    assert_true(undefined(px_point_biserial(one, flat, 3)));
    assert_true(undefined(px_point_biserial(one, broken, 3)));
    r = px_pearson(up, tiny, 3);
    assert_true(r.r == 1.0 && r.t == INFINITY && r.p == 0.0);
    r = px_pearson(up, tiny, 2);
    assert_true(r.r == 1.0 && r.p == 1.0);
}

static void test_kappa(void **state)
{
    (void)state;
    assert_true(fabs(px_kappa_sets(3, 3, 2, 10) - .523809524) < 1e-9);
    assert_true(px_kappa_sets(10, 10, 10, 10) == 1.0 && px_kappa_sets(0, 0, 0, 10) == 1.0);
    assert_true(fabs(px_kappa_sets(5, 5, 0, 10) + 1.0) < 1e-12);
    assert_true(isnan(px_kappa_sets(6, 6, 1, 10)) && isnan(px_kappa_sets(1, 1, 2, 10)));
    assert_true(isnan(px_kappa_sets(0, 0, 0, 0)) && isnan(px_kappa_sets(-1, 1, 0, 4)));
}

static void test_mean(void **state)
{
    (void)state;
    static const double x[] = {1e9 + 1, 1e9 + 2, 1e9 + 4};
    assert_true(near(px_mean(x, 3), 1e9 + 7.0 / 3.0, DBL_EPSILON));
    assert_true(near(px_standard_deviation(x, 3), 1.5275252316519468, 1e-12));
    assert_true(isnan(px_mean(x, 0)) && isnan(px_standard_deviation(x, 1)));
    static const double endless[] = {1, INFINITY};
    assert_true(px_mean(endless, 2) == INFINITY);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_beta),         cmocka_unit_test(test_student),
        cmocka_unit_test(test_correlations), cmocka_unit_test(test_spec),
        cmocka_unit_test(test_undefined),    cmocka_unit_test(test_kappa),
        cmocka_unit_test(test_mean),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
