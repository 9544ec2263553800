/* tests/doctor/test_spread.c - which inputs are looked at */
/* SPDX-License-Identifier: Apache-2.0 */
#include "cmocka_all.h"
#include "doctor/doctor_internal.h"

#include <stdlib.h>

/* Data come sorted by class or in turn: either way a sample has every class in about its share. */
static void test_classes_have_their_share(void **state)
{
    (void)state;
    static const struct {
        int64_t count, most;
        bool in_turn;
    } cases[] = {{10000, 200, true},
                 {10000, 200, false},
                 {10000, 1000, true},
                 {300, 200, true},
                 {100000, 200, true}};
    for (size_t i = 0; i < PX_LEN(cases); i++) {
        int64_t n = 0, classes[10] = {0}, last = -1;
        int64_t *indices = pxi_doctor_spread(cases[i].count, cases[i].most, &n);
        assert_non_null(indices);
        assert_int_equal(n, cases[i].most);
        for (int64_t k = 0; k < n; k++) {
            if (indices[k] <= last || indices[k] >= cases[i].count)
                fail_msg("case %zu: index %lld after %lld", i, (long long)indices[k],
                         (long long)last);
            last = indices[k];
            classes[cases[i].in_turn ? last % 10 : last * 10 / cases[i].count]++;
        }
        for (int c = 0; c < 10; c++)
            if (classes[c] * 20 < n) /* half of a tenth */
                fail_msg("case %zu: class %d has %lld of %lld", i, c, (long long)classes[c],
                         (long long)n);
        free(indices);
    }
}

static void test_few_are_all(void **state)
{
    (void)state;
    int64_t n = 0;
    int64_t *indices = pxi_doctor_spread(7, 200, &n);
    assert_int_equal(n, 7);
    for (int64_t i = 0; i < n; i++)
        assert_int_equal(indices[i], i);
    free(indices);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_classes_have_their_share),
        cmocka_unit_test(test_few_are_all),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
