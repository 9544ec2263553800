/* tests/stats/test_chi_square.c - against scipy (make_chi_square.py) and TV-A10 */
/* SPDX-License-Identifier: Apache-2.0 */
#include "cmocka_all.h"

#include "base/memory.h"
#include "chi_square_golden.h"
#include <internal/stats.h>

#include <math.h>

static void test_survival(void **state)
{
    (void)state;
    for (size_t i = 0; i < PX_LEN(survivals); i++) {
        const double got = px_chi2_survival(survivals[i].x, survivals[i].freedom);
        const double want = survivals[i].survival;
        if (!(fabs(got - want) <= 1e-10 * want + 1e-15 * (want > 0.5)))
            fail_msg("x %g, %g degrees: %.17g, not %.17g", survivals[i].x, survivals[i].freedom,
                     got, want);
    }
    assert_true(px_chi2_survival(-1, 3) == 1.0);
    assert_true(px_chi2_survival(INFINITY, 3) == 0.0);
    assert_true(isnan(px_chi2_survival(NAN, 3)));
    assert_true(isnan(px_chi2_survival(1, 0)));
}

static void test_critical(void **state)
{
    (void)state;
    for (size_t i = 0; i < PX_LEN(criticals); i++) {
        const double got = px_chi2_critical(criticals[i].p, criticals[i].freedom);
        if (!(fabs(got - criticals[i].x) <= 1e-10 * criticals[i].x))
            fail_msg("p %g, %g degrees: %.17g, not %.17g", criticals[i].p, criticals[i].freedom,
                     got, criticals[i].x);
    }
    assert_true(fabs(px_chi2_critical(0.05, 49) - 66.3386488630) <= 1e-9);
    assert_true(fabs(px_chi2_critical(0.05, 1) - 3.8414588207) <= 1e-9);
    assert_true(px_chi2_critical(0, 5) == INFINITY);
    assert_true(px_chi2_critical(1, 5) == 0.0);
    assert_true(isnan(px_chi2_critical(2, 5)));
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_survival),
                                       cmocka_unit_test(test_critical)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
