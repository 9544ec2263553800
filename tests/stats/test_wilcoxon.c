/* tests/stats/test_wilcoxon.c - by counting all signs; ties, zeros, and A12 by its definition */
/* SPDX-License-Identifier: Apache-2.0 */
#include "cmocka_all.h"

#include "base/memory.h"
#include "stats_values.h"
#include <internal/stats.h>
#include <string.h>

static px_wilcoxon_result run(const double *a, const double *b, size_t n,
                              px_alternative alternative, bool normal)
{
    px_wilcoxon_result r;
    px_error err = {0};
    assert_int_equal(px_wilcoxon(a, b, n, alternative, normal, &r, &err), PX_OK);
    return r;
}

/* Every choice of signs of 1..n: how many have at least that sum. */
static void test_exact_by_counting(void **state)
{
    (void)state;
    for (int n = 1; n <= 8; n++)
        for (unsigned signs = 0; signs < 1u << n; signs++) {
            double d[8];
            int sum = 0, at_least = 0;
            for (int i = 0; i < n; i++) {
                d[i] = signs >> i & 1 ? i + 1 : -i - 1;
                sum += signs >> i & 1 ? i + 1 : 0;
            }
            for (unsigned other = 0; other < 1u << n; other++) {
                int s = 0;
                for (int i = 0; i < n; i++)
                    s += other >> i & 1 ? i + 1 : 0;
                at_least += s >= sum;
            }
            const px_wilcoxon_result r = run(d, NULL, (size_t)n, PX_GREATER, false);
            if (!r.exact || r.plus != sum || fabs(r.p - ldexp(at_least, -n)) > 1e-15)
                fail_msg("%d differences, signs %x: plus %g, p %g, not %d, %d/2^%d", n, signs,
                         r.plus, r.p, sum, at_least, n);
        }
}

/* scipy.stats.wilcoxon's example: heights of cross- and self-fertilised corn (Wilcoxon 1945). */
static void test_worked(void **state)
{
    (void)state;
    static const double d[] = {6, 8, 14, 16, 23, 24, 28, 29, 41, -48, 49, 56, 60, -67, 75};
    px_wilcoxon_result r = run(d, NULL, 15, PX_TWO_SIDED, false);
    assert_true(r.exact && r.plus == 96 && r.minus == 24 && fabs(r.p - 0.041259765625) < 1e-15);
    assert_true(fabs(r.effect - 0.6) < 1e-15 && fabs(r.smallest_p - 2.0 / 32768) < 1e-18);
    assert_true(fabs(run(d, NULL, 15, PX_GREATER, false).p - 0.0206298828125) < 1e-15);
    r = run(d, NULL, 15, PX_LESS, true);
    assert_true(!r.exact && fabs(r.p - px_normal_survival(-36.5 / sqrt(310))) < 1e-15);
}

static void test_ties_and_zeros(void **state)
{
    (void)state;
    static const double a[] = {3, 1, 4, 1, 5, 9}, b[] = {2, 1, 2, 3, 5, 8};
    const px_wilcoxon_result r = run(a, b, 6, PX_TWO_SIDED, false);
    /* 1, 2, -2, 1: ranks 1.5, 3.5, 3.5, 1.5 */
    assert_true(!r.exact && r.n == 4 && r.zeros == 2 && r.plus == 6.5 && r.minus == 3.5);
    assert_true(fabs(r.sd - sqrt((4.0 * 5 * 9 - 6) / 24)) < 1e-15);
    assert_true(fabs(r.p - 2 * px_normal_survival(1.0 / r.sd)) < 1e-15);
}

static void test_edges(void **state)
{
    (void)state;
    static const double same[] = {2, 2}, broken[] = {1, NAN}, endless[] = {INFINITY, 1};
    px_wilcoxon_result r = run(same, same, 2, PX_TWO_SIDED, false);
    assert_true(r.p == 1.0 && r.n == 0 && r.zeros == 2 && r.effect == 0.0 && r.smallest_p == 1.0);
    assert_true(isnan(run(broken, NULL, 2, PX_LESS, false).p));
    assert_true(isnan(run(endless, endless, 2, PX_LESS, false).p)); /* inf - inf */
    assert_true(isnan(run(same, same, 0, PX_LESS, false).p));
    assert_true(run(endless, NULL, 2, PX_GREATER, false).p == 0.25);
}

static void test_a12(void **state)
{
    (void)state;
    double a[12], b[9];
    stats_column(a, 12, 3, 5, 1);
    stats_column(b, 9, 4, 5, 0);
    double above = 0;
    for (int i = 0; i < 12; i++)
        for (int k = 0; k < 9; k++)
            above += a[i] > b[k] ? 1 : a[i] == b[k] ? 0.5 : 0;
    px_mann_whitney_result u;
    assert_int_equal(px_mann_whitney(a, 12, b, 9, PX_TWO_SIDED, PX_U_NORMAL, &u, NULL), PX_OK);
    assert_true(fabs(u.effect - above / 108) < 1e-15);
    assert_int_equal(px_mann_whitney(a, 0, b, 9, PX_TWO_SIDED, PX_U_NORMAL, &u, NULL), PX_OK);
    assert_true(isnan(u.effect));
    static const struct {
        double a12;
        const char *size;
    } sizes[] = {{0.5, "negligible"}, {0.559, "negligible"}, {0.561, "small"},
                 {0.4, "small"},      {0.641, "medium"},     {0.711, "large"},
                 {0, "large"},        {0.3, "medium"},       {NAN, "undefined"}};
    for (size_t i = 0; i < PX_LEN(sizes); i++)
        assert_string_equal(px_a12_size(sizes[i].a12), sizes[i].size);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_exact_by_counting),
        cmocka_unit_test(test_worked),
        cmocka_unit_test(test_ties_and_zeros),
        cmocka_unit_test(test_edges),
        cmocka_unit_test(test_a12),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
