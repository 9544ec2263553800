/* tests/base/test_exact.c - sums against math.fsum, and their independence of order and split */
/* SPDX-License-Identifier: Apache-2.0 */
#include "base/exact.h"

#include "base/exact_golden.h"
#include "base/memory.h"
#include "cmocka_all.h"

#include <internal/rng.h>
#include <math.h>
#include <string.h>

static void test_golden(void **state)
{
    (void)state;
    for (size_t i = 0; i < PX_LEN(golden); i++) {
        pxi_exact sum = {{0}};
        bool lost = false;
        for (size_t k = 0; k < golden[i].count; k++)
            pxi_exact_add(&sum, golden[i].addends[k], &lost);
        const double got = pxi_exact_value(&sum);
        if (lost || got != golden[i].sum)
            fail_msg("'%s': %a, expected %a", golden[i].name, got, golden[i].sum);
        /* Value and rest are a sum without rounding as long as both fit 106 bits. */
        pxi_exact again = {{0}};
        pxi_exact_add(&again, got, &lost);
        pxi_exact_add(&again, pxi_exact_rest(&sum), &lost);
        if (fabs(pxi_exact_rest(&sum)) > 0x1p-53 * fabs(got))
            fail_msg("'%s': the rest %a is too large", golden[i].name, pxi_exact_rest(&sum));
        if (fabs(got) < 0x1p9 && memcmp(&again, &sum, sizeof sum) != 0)
            fail_msg("'%s': value and rest are not the sum", golden[i].name);
    }
}

/* Doubles of wild exponents, from far below the unit to the largest that are taken. */
static double wild(px_random *r)
{
    const double mantissa = 1.0 + px_rng_u01(r) + 0x1p-24 * px_rng_u01(r) + 0x1p-48 * px_rng_u01(r);
    const double x = ldexp(mantissa, (int)px_rng_below(r, 240) - 170);
    return px_rng_u32(r) & 1 ? -x : x;
}

static void test_order_and_split(void **state)
{
    (void)state;
    enum { COUNT = 4000, PARTS = 7 };
    static double x[COUNT];
    static int64_t order[COUNT];
    px_random r = px_rng(7, PX_RNG_TEST, 0, 0);
    pxi_exact first = {{0}};
    bool lost = false;
    for (int i = 0; i < COUNT; i++) {
        x[i] = wild(&r);
        pxi_exact_add(&first, x[i], &lost);
    }
    for (int round = 0; round < 50; round++) {
        pxi_exact part[PARTS] = {{{0}}};
        px_rng_permutation(&r, order, COUNT);
        for (int i = 0; i < COUNT; i++)
            pxi_exact_add(&part[px_rng_below(&r, PARTS)], x[order[i]], &lost);
        for (int i = PARTS - 1; i > 0; i--)
            pxi_exact_join(&part[i - 1], &part[i], &lost);
        assert_memory_equal(&part[0], &first, sizeof first);
    }
    assert_false(lost);
}

static void test_rounding_to_the_unit(void **state)
{
    (void)state;
    static const struct {
        double x, units;
    } cases[] = {
        {0x1p-97, 0},   {0x1.8p-97, 1}, {0x1.8p-96, 2},   {0x1.4p-95, 2}, {0x1.cp-95, 4},
        {0x1p-1074, 0}, {-0x1p-97, 0},  {-0x1.8p-97, -1}, {-0x1p-96, -1}, {0x1p-150, 0},
        {0.0, 0},       {-0.0, 0},      {0x1.1p-97, 1},   {0x1.fp-98, 0},
    };
    for (size_t i = 0; i < PX_LEN(cases); i++) {
        pxi_exact sum = {{0}};
        bool lost = false;
        pxi_exact_add(&sum, cases[i].x, &lost);
        if (lost || pxi_exact_value(&sum) != cases[i].units * 0x1p-96)
            fail_msg("%a became %a", cases[i].x, pxi_exact_value(&sum));
    }
}

static void test_lost(void **state)
{
    (void)state;
    const double bad[] = {NAN, INFINITY, -INFINITY, PXI_EXACT_MOST, -PXI_EXACT_MOST, 1e300};
    for (size_t i = 0; i < PX_LEN(bad); i++) {
        pxi_exact sum = {{0}};
        bool lost = false;
        pxi_exact_add(&sum, 1.0, &lost);
        assert_false(lost);
        pxi_exact_add(&sum, bad[i], &lost);
        if (!lost || pxi_exact_value(&sum) != 1.0)
            fail_msg("%a was added", bad[i]);
    }
    /* Doubling a sum leaves the range in the end. */
    pxi_exact sum = {{0}};
    bool lost = false;
    pxi_exact_add(&sum, 0x1.fffffffffffffp70, &lost);
    for (int i = 0; i < 24; i++)
        pxi_exact_join(&sum, &(pxi_exact){{sum.limb[0], sum.limb[1], sum.limb[2]}}, &lost);
    assert_false(lost);
    assert_true(pxi_exact_value(&sum) == 0x1.fffffffffffffp94);
    pxi_exact_join(&sum, &(pxi_exact){{sum.limb[0], sum.limb[1], sum.limb[2]}}, &lost);
    assert_true(lost);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_golden),
        cmocka_unit_test(test_order_and_split),
        cmocka_unit_test(test_rounding_to_the_unit),
        cmocka_unit_test(test_lost),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
