/* tests/attribute/test_dpd.c - decision path discrepancy: CSM A.12 */
/* SPDX-License-Identifier: Apache-2.0 */
#include "cmocka_all.h"

#include <internal/dpd.h>
#include <math.h>

/* TV-A12: strictly below tau counts. */
static void test_worked_example(void **state)
{
    (void)state;
    static const double similarities[] = {.95, .80, .81, .40, .79};
    const px_tau tau = {.known = true, .tau = .81};
    px_dpd dpd = {0};
    assert_true(isnan(px_dpd_value(&dpd, PX_PATH_FULL)));
    for (int i = 0; i < 5; i++)
        px_dpd_count(&dpd, PX_PATH_FULL, &tau, similarities[i]);
    assert_true(fabs(px_dpd_value(&dpd, PX_PATH_FULL) - 3.0 / 5.0) < 1e-15);
    assert_true(fabs(px_dpd_mean(&dpd, PX_PATH_FULL) - 3.75 / 5.0) < 1e-15);
    assert_true(isnan(px_dpd_mean(&dpd, PX_PATH_LABEL_ONLY)));
    assert_int_equal(dpd.of[PX_PATH_FULL].apart, 3);
    assert_int_equal(dpd.of[PX_PATH_FULL].pairs, 5);
}

/* Where tau is the least that was seen, pairs at tau count, or none ever could. */
static void test_at_tau(void **state)
{
    (void)state;
    const px_tau tau = {.known = true, .tau = 0.25, .at_most = true};
    px_dpd dpd = {0};
    px_dpd_count(&dpd, PX_PATH_NO_NLDG, &tau, 0.25);
    px_dpd_count(&dpd, PX_PATH_NO_NLDG, &tau, 0.5);
    assert_int_equal(dpd.of[PX_PATH_NO_NLDG].apart, 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_worked_example),
                                       cmocka_unit_test(test_at_tau)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
