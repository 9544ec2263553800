/* tests/stats/test_weibull.c - the vectors of LGR E.8 and CSM TV-D6, edges, Kolmogorov's tail */
/* SPDX-License-Identifier: Apache-2.0 */
#include "cmocka_all.h"

#include "base/memory.h"
#include <internal/stats.h>
#include <math.h>

static px_reverse_weibull end_of(const double *values, size_t count, bool penalised)
{
    px_reverse_weibull r;
    px_error err = {0};
    assert_int_equal(px_reverse_weibull_fit(values, count, penalised, &r, &err), PX_OK);
    return r;
}

static bool near(double got, double want, double relative)
{
    return fabs(got - want) <= relative * fabs(want);
}

static void expected_maxima(double *g)
{
    for (int i = 0; i < 20; i++)
        g[i] = 2.0 - 0.5 * pow(-log((i + 0.5) / 20.0), 0.2);
}

static void test_spec_plain(void **state)
{
    (void)state;
    double g[20], y[20];
    expected_maxima(g);
    const px_reverse_weibull r = end_of(g, 20, false);
    assert_true(near(r.largest, 1.76030707, 1e-8) && r.note == PX_END_FITTED);
    assert_true(r.location == r.end && near(r.end, 1.93542, 1e-5) && near(r.shape, 4.4351, 1e-4));
    assert_true(near(r.scale, 0.43337, 1e-4) && near(r.log_likelihood, 17.4235, 1e-5));
    assert_true(r.ks > 0.0 && r.ks < 0.1 && r.ks_p > 0.9);
    for (int i = 0; i < 20; i++)
        y[i] = 2.0 - g[i];
    px_weibull two;
    assert_int_equal(px_weibull_fit(y, 20, &two, NULL), PX_OK);
    assert_true(near(two.shape, 5.173061, 1e-6) && near(two.scale, 0.499637, 1e-5));
    assert_true(near(two.log_likelihood, 17.405993, 1e-7));
}

static const double flat_maxima[] = {1.92, 1.98, 2.02, 2.04, 2.07, 2.1,  2.11, 2.15, 2.19, 2.22,
                                     2.23, 2.24, 2.25, 2.25, 2.3,  2.31, 2.33, 2.56, 2.58, 2.7};

static void test_spec_penalised(void **state)
{
    (void)state;
    px_reverse_weibull r = end_of(flat_maxima, 20, true);
    assert_true(near(r.location, 3.245200, 1e-4) && near(r.shape, 6.32290, 1e-4));
    assert_true(near(r.scale / 0.78, 1.40149, 1e-4) && r.note == PX_END_FITTED);
    assert_true(near(1.6 / r.location, 0.493036, 1e-4));
    r = end_of(flat_maxima, 20, false);
    assert_true(near(r.location, 10.3278, 1e-3) && near(r.shape, 51.73, 1e-3));
}

static void test_no_fit(void **state)
{
    (void)state;
    static const double same[] = {3, 3, 3}, broken[] = {1, NAN, 2}, zeros[] = {0, 0};
    px_reverse_weibull r = end_of(same, 3, false);
    assert_true(r.note == PX_END_CONSTANT && r.location == 3.0 && isnan(r.shape));
    r = end_of(zeros, 2, true);
    assert_true(r.note == PX_END_CONSTANT && r.location == 0.0);
    assert_true(isnan(end_of(broken, 3, false).location) && isnan(end_of(same, 0, false).location));
    /* exponential towards the end: the best shape is below 1, and a wants to be the largest */
    double crowded[40];
    for (int i = 0; i < 40; i++)
        crowded[i] = 5.0 - pow(-log((i + 0.5) / 40.0), 2.5);
    r = end_of(crowded, 40, false);
    assert_true(r.note == PX_END_OPEN && r.location == r.largest);
    /* two heaps fit no Weibull distribution */
    double heaps[400];
    for (int i = 0; i < 400; i++)
        heaps[i] = (i % 4 ? 1.0 : 2.0) + 1e-3 * i / 400.0;
    r = end_of(heaps, 400, false);
    assert_true(r.location == r.largest && r.note != PX_END_FITTED);
    assert_true(r.note == PX_END_OPEN || r.ks_p < 0.001);
}

static void test_undefined(void **state)
{
    (void)state;
    static const double same[] = {2, 2}, zero[] = {0, 1}, minus[] = {-1, 1},
                        endless[] = {1, INFINITY};
    const double *cases[] = {same, zero, minus, endless};
    px_weibull fit;
    for (size_t i = 0; i < PX_LEN(cases); i++) {
        assert_int_equal(px_weibull_fit(cases[i], 2, &fit, NULL), PX_OK);
        assert_true(isnan(fit.shape) && isnan(fit.scale) && isnan(fit.log_likelihood));
    }
    assert_int_equal(px_weibull_fit(same, 0, &fit, NULL), PX_OK);
    assert_true(isnan(fit.shape));
}

/* What can be counted by hand: n = 1 (D is uniform on 1/2..1), the ends. */
static void test_kolmogorov(void **state)
{
    (void)state;
    static const struct {
        double d;
        size_t n;
        double p, relative;
    } cases[] = {
        {0.75, 1, 0.5, 1e-12},
        {0.5, 1, 1.0, 0},
        {0.01, 50, 1.0, 0},
        {1.0, 7, 0.0, 0},
        {0.274, 10, 1 - 0.6284796154565, 1e-9}, /* Marsaglia, Tsang & Wang's own example */
    };
    for (size_t i = 0; i < PX_LEN(cases); i++) {
        double p;
        assert_int_equal(px_kolmogorov_survival(cases[i].d, cases[i].n, &p, NULL), PX_OK);
        if (fabs(p - cases[i].p) > cases[i].relative)
            fail_msg("d %g of %zu: %.12g, not %.12g", cases[i].d, cases[i].n, p, cases[i].p);
    }
    double p, next;
    assert_int_equal(px_kolmogorov_survival(0.1, 0, &p, NULL), PX_OK);
    assert_true(isnan(p));
    /* the three ways meet where one hands over to the next */
    assert_int_equal(px_kolmogorov_survival(2.0 / sqrt(900) - 1e-12, 900, &p, NULL), PX_OK);
    assert_int_equal(px_kolmogorov_survival(2.0 / sqrt(900) + 1e-12, 900, &next, NULL), PX_OK);
    assert_true(near(p, next, 1e-6));
    assert_int_equal(px_kolmogorov_survival(0.03, 1000, &p, NULL), PX_OK);
    assert_int_equal(px_kolmogorov_survival(0.03, 1001, &next, NULL), PX_OK);
    assert_true(near(p, next, 5e-3));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_spec_plain), cmocka_unit_test(test_spec_penalised),
        cmocka_unit_test(test_no_fit),     cmocka_unit_test(test_undefined),
        cmocka_unit_test(test_kolmogorov),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
