/* tests/ops/test_nn_golden.c - neural-network operators against PyTorch, see make_nn_golden.py */
#include "op_case.h"

#include "base/memory.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

static const struct {
    op_case test;
    struct {
        const char *shape, *values;
    } out[3];
} golden[] = {
#include "nn_golden.h"
};

static void check_output(const op_case *test, const px_tensor *got, int output, const char *shape,
                         const char *values)
{
    double dims[PX_MAX_RANK], expected[512];
    const size_t rank = op_numbers(shape, dims, PX_LEN(dims));
    const size_t count = op_numbers(values, expected, PX_LEN(expected));
    bool same = got->shape.rank == (int)rank && px_shape_count(&got->shape) == (int64_t)count;
    for (size_t i = 0; same && i < rank; i++)
        same = got->shape.dim[i] == (int64_t)dims[i];
    char text[PX_SHAPE_TEXT];
    if (!same)
        fail_msg("%s (%s): output %d is %s, expected [%s]", test->type, test->attrs, output,
                 px_shape_text(&got->shape, text), shape);
    for (size_t i = 0; i < count; i++) {
        const double value = op_get(got, (int64_t)i);
        if (!(fabs(value - expected[i]) <= 2e-5 * fmax(1, fabs(expected[i]))))
            fail_msg("%s (%s): output %d, element %d is %.8g, expected %.8g", test->type,
                     test->attrs, output, (int)i, value, expected[i]);
    }
}

static void test_forward_matches_pytorch(void **state)
{
    (void)state;
    for (size_t i = 0; i < PX_LEN(golden); i++) {
        op_run run;
        px_error err = {0};
        if (op_run_init(&run, &golden[i].test, 1, &err) != PX_OK ||
            op_run_forward(&run, &err) != PX_OK)
            fail_msg("%s", err.message);
        for (int k = 0; k < run.ctx.out_count; k++)
            check_output(&golden[i].test, &run.out[k], k, golden[i].out[k].shape,
                         golden[i].out[k].values);
        op_run_done(&run);
    }
}

/* Of equal maxima the first in scan order gets the gradient, as in PyTorch. */
static void test_ties_go_to_the_first(void **state)
{
    (void)state;
    static const op_case ties[] = {
        {.type = "MaxPool",
         .opset = 12,
         .attrs = "kernel_shape=[2,2]",
         .in = {{.shape = "1,1,2,2", .values = "1 3 3 3"}}},
        {.type = "GlobalMaxPool", .opset = 1, .in = {{.shape = "1,1,4", .values = "1 3 3 3"}}},
    };
    for (size_t i = 0; i < PX_LEN(ties); i++) {
        op_run run;
        px_error err = {0};
        assert_int_equal(op_run_init(&run, &ties[i], 1, &err), PX_OK);
        assert_int_equal(op_run_forward(&run, &err), PX_OK);
        assert_int_equal(px_tensor_init(&run.in_grad[0], PX_FLOAT32, &run.in[0].shape, &err),
                         PX_OK);
        op_run_backward(&run, 1);
        for (int64_t k = 0; k < 4; k++)
            if ((op_get(&run.in_grad[0], k) != 0) != (k == 1))
                fail_msg("%s: gradient %g at element %d", ties[i].type, op_get(&run.in_grad[0], k),
                         (int)k);
        op_run_done(&run);
    }
}

static void test_nan_goes_through(void **state)
{
    (void)state;
    static const op_case with_nan[] = {
        {.type = "MaxPool",
         .opset = 12,
         .attrs = "kernel_shape=[4]",
         .in = {{.shape = "1,1,4", .values = "1 nan 3 2"}}},
        {.type = "AveragePool",
         .opset = 11,
         .attrs = "kernel_shape=[4]",
         .in = {{.shape = "1,1,4", .values = "1 nan 3 2"}}},
        {.type = "GlobalMaxPool", .opset = 1, .in = {{.shape = "1,1,4", .values = "1 nan 3 2"}}},
        {.type = "Softmax", .opset = 13, .in = {{.shape = "4", .values = "1 nan 3 2"}}},
        {.type = "LogSoftmax", .opset = 13, .in = {{.shape = "4", .values = "1 nan 3 2"}}},
        {.type = "Conv",
         .opset = 11,
         .in = {{.shape = "1,1,4", .values = "1 nan 3 2"}, {.shape = "1,1,4", .values = "0"}}},
        {.type = "MatMul",
         .opset = 13,
         .in = {{.shape = "4", .values = "1 nan 3 2"}, {.shape = "4", .values = "0"}}},
    };
    for (size_t i = 0; i < PX_LEN(with_nan); i++) {
        op_run run;
        px_error err = {0};
        assert_int_equal(op_run_init(&run, &with_nan[i], 1, &err), PX_OK);
        assert_int_equal(op_run_forward(&run, &err), PX_OK);
        if (!isnan(op_get(&run.out[0], 0)))
            fail_msg("%s hides a NaN", with_nan[i].type);
        op_run_done(&run);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_forward_matches_pytorch),
        cmocka_unit_test(test_ties_go_to_the_first),
        cmocka_unit_test(test_nan_goes_through),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
