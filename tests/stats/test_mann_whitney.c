/* tests/stats/test_mann_whitney.c - against scipy, the vectors of CSM TV-D8 and by counting */
/* SPDX-License-Identifier: Apache-2.0 */
#include "cmocka_all.h"

#include "base/memory.h"
#include "mann_whitney_golden.h"
#include "stats_values.h"
#include <internal/stats.h>

static px_mann_whitney_result run(const double *a, size_t n1, const double *b, size_t n2,
                                  px_alternative alternative, px_u_method method)
{
    px_mann_whitney_result r;
    px_error err = {0};
    assert_int_equal(px_mann_whitney(a, n1, b, n2, alternative, method, &r, &err), PX_OK);
    return r;
}

static void test_scipy(void **state)
{
    (void)state;
    double a[64], b[64];
    for (size_t i = 0; i < PX_LEN(tests_by_scipy); i++) {
        const int n1 = tests_by_scipy[i].a, n2 = tests_by_scipy[i].b;
        stats_column(a, n1, 3, tests_by_scipy[i].grid, tests_by_scipy[i].shift);
        stats_column(b, n2, 4, tests_by_scipy[i].grid, 0);
        const px_mann_whitney_result r =
            run(a, (size_t)n1, b, (size_t)n2, (px_alternative)tests_by_scipy[i].alternative,
                (px_u_method)tests_by_scipy[i].method);
        const double want = tests_by_scipy[i].p;
        if (r.u != tests_by_scipy[i].u || !(fabs(r.p - want) <= 1e-12 * want) ||
            !(r.smallest_p <= r.p + 1e-15 || tests_by_scipy[i].grid))
            fail_msg("case %zu (%d and %d): u %g, p %.17g, not %g, %.17g; smallest %g", i, n1, n2,
                     r.u, r.p, tests_by_scipy[i].u, want, r.smallest_p);
    }
}

static void test_spec(void **state)
{
    (void)state;
    static const double a[] = {1.1, 2.2, 3.3, 4.4, 5.5}, b[] = {2, 3, 3.3, .5};
    px_mann_whitney_result r = run(a, 5, b, 4, PX_GREATER, PX_U_AUTO);
    assert_true(r.u == 14.5 && !r.exact && fabs(r.sd - 4.065436973) < 1e-9 &&
                fabs(r.p - .162581340) < 1e-9);
    r = run(a, 5, b, 4, PX_TWO_SIDED, PX_U_AUTO);
    assert_true(fabs(r.p - .325162680) < 1e-9 && fabs(r.effect - .725) < 1e-12);
    assert_true(fabs(r.smallest_p - 2.0 / 126.0) < 1e-12);
    /* before scipy 1.7: one tail, on whichever side */
    r = run(a, 5, b, 4, PX_TWO_SIDED, PX_U_LEGACY);
    assert_true(fabs(r.p - .162581340) < 1e-9);
    r = run(b, 4, a, 5, PX_GREATER, PX_U_LEGACY);
    assert_true(fabs(r.p - .162581340) < 1e-9);
    static const double c[] = {1, 4, 5}, d[] = {2, 3, .5, .7};
    r = run(c, 3, d, 4, PX_GREATER, PX_U_AUTO);
    assert_true(r.u == 10.0 && r.exact && fabs(r.p - 4.0 / 35.0) < 1e-12);
    assert_true(fabs(r.smallest_p - 1.0 / 35.0) < 1e-12);
}

/* Every order of n1 and n2 values, one by one: how many give at least u. */
static void test_exact_by_counting(void **state)
{
    (void)state;
    for (int n1 = 1; n1 <= 5; n1++)
        for (int n2 = 1; n2 <= 5; n2++) {
            const int n = n1 + n2;
            for (unsigned chosen = 0; chosen < 1u << n; chosen++) {
                if (__builtin_popcount(chosen) != n1)
                    continue;
                double a[5], b[5];
                int u = 0, at_least = 0, all = 0, ia = 0, ib = 0;
                for (int i = 0; i < n; i++) {
                    if (chosen >> i & 1) {
                        a[ia++] = i;
                        u += ib;
                    } else {
                        b[ib++] = i;
                    }
                }
                for (unsigned other = 0; other < 1u << n; other++) {
                    if (__builtin_popcount(other) != n1)
                        continue;
                    int v = 0, below = 0;
                    for (int i = 0; i < n; i++) {
                        v += other >> i & 1 ? below : 0;
                        below += !(other >> i & 1);
                    }
                    all++;
                    at_least += v >= u;
                }
                const px_mann_whitney_result r =
                    run(a, (size_t)n1, b, (size_t)n2, PX_GREATER, PX_U_AUTO);
                if (r.u != u || fabs(r.p - (double)at_least / all) > 1e-12)
                    fail_msg("%d and %d: u %g, p %g, not %d, %d/%d", n1, n2, r.u, r.p, u, at_least,
                             all);
            }
        }
}

static void test_edges(void **state)
{
    (void)state;
    static const double same[] = {2, 2, 2}, broken[] = {1, NAN}, one[] = {7};
    px_mann_whitney_result r = run(same, 3, same, 3, PX_TWO_SIDED, PX_U_AUTO);
    assert_true(r.p == 1.0 && r.sd == 0.0 && r.effect == 0.5);
    assert_true(run(same, 3, same, 3, PX_TWO_SIDED, PX_U_LEGACY).p == 1.0);
    assert_true(isnan(run(broken, 2, one, 1, PX_LESS, PX_U_AUTO).p));
    assert_true(isnan(run(one, 0, one, 1, PX_LESS, PX_U_AUTO).p));
    r = run(one, 1, same, 1, PX_TWO_SIDED, PX_U_AUTO);
    assert_true(r.exact && r.p == 1.0 && r.smallest_p == 1.0);
    assert_true(run(one, 1, same, 1, PX_LESS, PX_U_AUTO).smallest_p == 0.5);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_scipy),
        cmocka_unit_test(test_spec),
        cmocka_unit_test(test_exact_by_counting),
        cmocka_unit_test(test_edges),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
