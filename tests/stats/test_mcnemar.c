/* tests/stats/test_mcnemar.c - McNemar's test against scipy */
/* SPDX-License-Identifier: Apache-2.0 */
#include "cmocka_all.h"

#include "base/memory.h"

#include <internal/stats.h>
#include <math.h>

static const struct {
    int64_t b, c;
    double chi2, chi2_p, exact_p;
} cases[] = {
#include "mcnemar_golden.h"
};

static bool near(double got, double expected)
{
    return fabs(got - expected) <= 1e-9 * fabs(expected);
}

static void test_scipy(void **state)
{
    (void)state;
    for (size_t i = 0; i < PX_LEN(cases); i++) {
        const px_mcnemar_result r = px_mcnemar(cases[i].b, cases[i].c);
        const bool exact = cases[i].b + cases[i].c < 25;
        if (!near(r.chi2, cases[i].chi2) || !near(r.chi2_p, cases[i].chi2_p) ||
            !near(r.exact_p, cases[i].exact_p) || r.exact != exact ||
            r.p != (exact ? r.exact_p : r.chi2_p))
            fail_msg("b %d, c %d: chi2 %.17g, p %.17g, exact %.17g", (int)cases[i].b,
                     (int)cases[i].c, r.chi2, r.chi2_p, r.exact_p);
    }
}

/* Which way it went does not matter; counts that cannot be do no harm. */
static void test_symmetry_and_bounds(void **state)
{
    (void)state;
    for (int64_t b = 0; b < 40; b++)
        for (int64_t c = 0; c < 40; c++) {
            const px_mcnemar_result r = px_mcnemar(b, c), s = px_mcnemar(c, b);
            assert_true(r.p == s.p && r.chi2 == s.chi2 && r.exact_p == s.exact_p);
            assert_true(r.exact_p > 0.0 && r.exact_p <= 1.0 && r.chi2_p > 0.0 && r.chi2_p <= 1.0);
        }
    assert_true(px_mcnemar(-3, 0).p == 1.0);
    const px_mcnemar_result large = px_mcnemar(INT64_MAX / 2, INT64_MAX / 2);
    assert_true(large.p == 1.0 && large.exact_p > 0.99);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_scipy),
        cmocka_unit_test(test_symmetry_and_bounds),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
