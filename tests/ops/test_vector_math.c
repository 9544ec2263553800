/* tests/ops/test_vector_math.c - vectorised exp, tanh and erf against libm in double */
/* SPDX-License-Identifier: Apache-2.0 */
#include "base/vector_math.h"
#include "cmocka_all.h"

#include <float.h>
#include <stdio.h>

enum { COUNT = 1 << 12 };

PXI_WIDE static void run_exp(const float *x, float *y)
{
    for (size_t i = 0; i < COUNT; i++)
        y[i] = pxi_exp(x[i]);
}

PXI_WIDE static void run_tanh(const float *x, float *y)
{
    for (size_t i = 0; i < COUNT; i++)
        y[i] = pxi_tanh(x[i]);
}

PXI_WIDE static void run_erf(const float *x, float *y)
{
    for (size_t i = 0; i < COUNT; i++)
        y[i] = pxi_erf(x[i]);
}

static const struct {
    const char *name;
    void (*run)(const float *x, float *y);
    double (*exact)(double x);
    double low, high;
} functions[] = {
    {"exp", run_exp, exp, -110.0, 90.0},
    {"tanh", run_tanh, tanh, -12.0, 12.0},
    {"erf", run_erf, erf, -6.0, 6.0},
};

/* In units of the last place of the exact result. */
static void expect_close(const char *name, float x, float got, double exact)
{
    const float rounded = (float)exact;
    if (isinf(rounded) ? got == rounded : isnan(rounded) ? isnan(got) : false)
        return;
    int exponent;
    frexp(exact, &exponent);
    const double unit = ldexp(1.0, (exponent < -125 ? -125 : exponent) - FLT_MANT_DIG);
    if (!(fabs((double)got - exact) <= 3.0 * unit))
        fail_msg("%s(%a) is %a, expected %a: %.2f units off", name, (double)x, (double)got, exact,
                 fabs((double)got - exact) / unit);
}

static void check_range(size_t f, double low, double high)
{
    static float x[COUNT], y[COUNT];
    for (size_t i = 0; i < COUNT; i++)
        x[i] = (float)(low + (high - low) * (double)i / (COUNT - 1));
    functions[f].run(x, y);
    for (size_t i = 0; i < COUNT; i++)
        expect_close(functions[f].name, x[i], y[i], functions[f].exact((double)x[i]));
}

static void test_ranges(void **state)
{
    (void)state;
    for (size_t f = 0; f < sizeof functions / sizeof *functions; f++) {
        for (int part = 0; part < 64; part++) {
            const double step = (functions[f].high - functions[f].low) / 64.0;
            check_range(f, functions[f].low + part * step, functions[f].low + (part + 1) * step);
        }
        check_range(f, -1e-3, 1e-3);
        check_range(f, -1e-30, 1e-30);
        check_range(f, -1e30, 1e30);
    }
}

static void test_special_values(void **state)
{
    (void)state;
    static const float special[] = {NAN, -NAN, INFINITY, -INFINITY, 0.0f, -0.0f, FLT_MAX, -FLT_MAX};
    static float x[COUNT], y[COUNT];
    for (size_t i = 0; i < COUNT; i++)
        x[i] = special[i % (sizeof special / sizeof *special)];
    for (size_t f = 0; f < sizeof functions / sizeof *functions; f++) {
        functions[f].run(x, y);
        for (size_t i = 0; i < COUNT; i++)
            expect_close(functions[f].name, x[i], y[i], functions[f].exact((double)x[i]));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_ranges),
        cmocka_unit_test(test_special_values),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
