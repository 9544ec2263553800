/* tests/stats/test_quantile.c */
/* SPDX-License-Identifier: Apache-2.0 */
#include "base/memory.h"
#include "cmocka_all.h"

#include <internal/stats.h>
#include <math.h>

static const struct {
    const char *name;
    size_t count;
    double values[10];
    double p, expected;
} cases[] = {
    {"0..9 at 0.99", 10, {0, 1, 2, 3, 4, 5, 6, 7, 8, 9}, 0.99, 8.91},
    {"lower quartile", 8, {.95, .90, .88, .97, .70, .60, .99, .80}, 0.25, 0.775},
    {"median of an even count", 4, {4, 1, 3, 2}, 0.5, 2.5},
    {"median of an odd count", 3, {3, 1, 2}, 0.5, 2},
    {"one value", 1, {7}, 0.3, 7},
    {"least", 3, {3, 1, 2}, 0, 1},
    {"greatest", 3, {3, 1, 2}, 1, 3},
    {"an infinite neighbour is not looked at", 2, {1, INFINITY}, 0, 1},
    {"nothing", 0, {0}, 0.5, NAN},
    {"a NaN", 2, {1, NAN}, 0, NAN},
    {"p outside", 2, {1, 2}, 1.5, NAN},
};

static void test_values(void **state)
{
    (void)state;
    for (size_t i = 0; i < PX_LEN(cases); i++) {
        double values[10];
        for (size_t k = 0; k < 10; k++)
            values[k] = cases[i].values[k];
        const double got = px_quantile(values, cases[i].count, cases[i].p);
        const double want = cases[i].expected;
        if (isnan(want) ? !isnan(got) : !(fabs(got - want) < 1e-12))
            fail_msg("case '%s': %.17g, expected %.17g", cases[i].name, got, want);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_values),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
