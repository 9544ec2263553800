/* tests/ops/test_math_gradient.c - backward() where differences say nothing: at kinks, at ties,
 * through rounding
 */
/* SPDX-License-Identifier: Apache-2.0 */
#include "op_case.h"

#include "base/memory.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

/* clang-format off */
#define F_(SHAPE, VALUES) {.shape = SHAPE, .values = VALUES}
#define V_(DTYPE, SHAPE, VALUES) {.shape = SHAPE, .values = VALUES, .dtype = DTYPE}

static const struct {
    op_case test;
    int input;            /* differentiated by */
    const char *expected; /* its gradient when all cotangents are 1 */
} rows[] = {
    {{.type = "Relu", .opset = 14, .in = {F_("3", "-1 0 1")}}, 0, "0 0 1"},
    {{.type = "LeakyRelu", .opset = 16, .attrs = "alpha=0.5", .in = {F_("3", "-1 0 1")}}, 0, "0.5 0.5 1"},
    {{.type = "PRelu", .opset = 16, .in = {F_("3", "-1 0 1"), F_("1", "0.5")}}, 0, "0.5 0.5 1"},
    {{.type = "PRelu", .opset = 16, .in = {F_("3", "-1 0 1"), F_("1", "0.5")}}, 1, "-1"},
    {{.type = "Abs", .opset = 13, .in = {F_("3", "-1 0 1")}}, 0, "-1 0 1"},
    {{.type = "Clip", .opset = 6, .attrs = "min=-1.0 max=1.0", .in = {F_("5", "-2 -1 0 1 2")}}, 0, "0 1 1 1 0"},
    {{.type = "HardSigmoid", .opset = 6, .in = {F_("3", "-2.5 0 2.5")}}, 0, "0 0.2 0"},
    {{.type = "Max", .opset = 13, .in = {F_("3", "1 2 3"), F_("3", "3 2 1")}}, 0, "0 0.5 1"},
    {{.type = "Max", .opset = 13, .name = "Max of three", .in = {F_("2", "2 2"), F_("", "2"), F_("2", "2 1")}}, 1, "0.8333333333"},
    {{.type = "Min", .opset = 13, .in = {F_("3", "1 2 3"), F_("1", "2")}}, 1, "1.5"},
    {{.type = "Pow", .opset = 15, .name = "Pow, 0 to the 0", .in = {F_("2", "0 0"), F_("2", "0 2")}}, 0, "0 0"},
    {{.type = "Pow", .opset = 15, .name = "Pow, 0 to the 0", .in = {F_("2", "0 0"), F_("2", "0 2")}}, 1, "0 0"},
    {{.type = "Where", .opset = 16, .in = {V_(PX_BOOL, "3", "1 0 7"), F_("", "inf"), F_("3", "0")}}, 1, "2"},
};
/* clang-format on */

static void check_ones(op_run *run, int input, const char *name, const char *text)
{
    px_error err = {0};
    double expected[32];
    const int64_t count = (int64_t)op_numbers(text, expected, PX_LEN(expected));
    assert_int_equal(px_tensor_init(&run->in_grad[input], PX_FLOAT32, &run->in[input].shape, &err),
                     PX_OK);
    assert_int_equal(px_tensor_init(&run->out_grad[0], PX_FLOAT32, &run->out[0].shape, &err),
                     PX_OK);
    for (int64_t k = 0; k < px_shape_count(&run->out[0].shape); k++)
        op_set(&run->out_grad[0], k, 1);
    run->op->backward(&run->ctx);
    assert_int_equal(px_shape_count(&run->in[input].shape), count);
    for (int64_t k = 0; k < count; k++)
        if (!(fabs(op_get(&run->in_grad[input], k) - expected[k]) < 1e-6))
            fail_msg("'%s': gradient %d by input %d is %g, expected %g", name, (int)k, input,
                     op_get(&run->in_grad[input], k), expected[k]);
}

static void test_at_kinks_and_ties(void **state)
{
    (void)state;
    for (size_t i = 0; i < PX_LEN(rows); i++) {
        op_run run;
        px_error err = {0};
        const char *name = op_case_name(&rows[i].test);
        if (op_run_init(&run, &rows[i].test, 1, &err) != PX_OK ||
            op_run_forward(&run, &err) != PX_OK)
            fail_msg("'%s': %s", name, err.message);
        check_ones(&run, rows[i].input, name, rows[i].expected);
        op_run_done(&run);
    }
}

/* The gradient of a quantised tensor is float32; rounding counts as the identity. */
static void test_straight_through(void **state)
{
    (void)state;
    static const struct {
        op_case test;
        const char *expected;
    } quantised[] = {
        {{.type = "QuantizeLinear", .opset = 13, .in = {F_("4", "-1 0.3 4 1000"), F_("", "2")}},
         "0.5 0.5 0.5 0"}, /* -1 / 2 rounds to 0, which is inside */
        {{.type = "QuantizeLinear",
          .opset = 13,
          .attrs = "axis=0",
          .in = {F_("2,2", "-300 1 2 300"), F_("2", "2 4"), V_(PX_INT8, "2", "0 1")}},
         "0 0.5 0.25 0.25"},
        {{.type = "DequantizeLinear",
          .opset = 13,
          .attrs = "axis=0",
          .in = {V_(PX_INT8, "2,2", "1 2 3 4"), F_("2", "2 4")}},
         "2 2 4 4"},
        {{.type = "DynamicQuantizeLinear",
          .opset = 11,
          .outputs = 3,
          .in = {F_("3", "-5 100 250")}},
         "1 1 1"},
    };
    for (size_t i = 0; i < PX_LEN(quantised); i++) {
        op_run run;
        px_error err = {0};
        assert_int_equal(op_run_init(&run, &quantised[i].test, 1, &err), PX_OK);
        assert_int_equal(op_run_forward(&run, &err), PX_OK);
        check_ones(&run, 0, op_case_name(&quantised[i].test), quantised[i].expected);
        op_run_done(&run);
    }
}

/* Where a plan stores an integer gradient for an integer tensor, nothing may be written to it. */
static void test_integers_get_no_gradient(void **state)
{
    (void)state;
    const op_case test = {
        .type = "DequantizeLinear", .opset = 13, .in = {V_(PX_INT8, "2", "1 2"), F_("", "2")}};
    op_run run;
    px_error err = {0};
    assert_int_equal(op_run_init(&run, &test, 1, &err), PX_OK);
    assert_int_equal(op_run_forward(&run, &err), PX_OK);
    assert_int_equal(px_tensor_init(&run.in_grad[0], PX_INT8, &run.in[0].shape, &err), PX_OK);
    op_run_backward(&run, 1);
    assert_true(op_get(&run.in_grad[0], 0) == 0 && op_get(&run.in_grad[0], 1) == 0);
    op_run_done(&run);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_at_kinks_and_ties),
        cmocka_unit_test(test_straight_through),
        cmocka_unit_test(test_integers_get_no_gradient),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
