/* tests/ops/test_math_layout.c - what descriptors promise a plan: axes in any order, memory shared
 *
 * Runs the gradient cases again, in float: once as they are, once with axes stored in another order
 * (`permute`), once with the output in input 0's memory (`inplace`). Results must agree.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#include "op_case.h"

#include "base/memory.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static const op_case cases[] = {
#include "gradient_cases_math.h"
#include "gradient_cases_nn.h"
    {.type = "QuantizeLinear",
     .opset = 13,
     .in = {{.shape = "2,3,4", .low = -9, .high = 9},
            {.shape = "3", .low = 0.1, .high = 1},
            {.shape = "3", .values = "1 2 -3", .dtype = PX_INT8}}},
    {.type = "DequantizeLinear",
     .opset = 13,
     .attrs = "axis=0",
     .in = {{.shape = "2,3", .low = -9, .high = 9, .dtype = PX_INT8}, {.shape = "2"}}},
    {.type = "DynamicQuantizeLinear", .opset = 11, .in = {{.shape = "2,3"}}},
};

/* Rewrites *tensor, of rank `rank`, so that stored axis i is logical axis perm[i]; its data is
 * replaced. */
static void store_in_order(px_tensor *tensor, const int *perm, int rank)
{
    const px_tensor old = *tensor;
    for (int i = 0; i < rank; i++)
        tensor->shape.dim[i] = old.shape.dim[perm[i]];
    if (!old.data)
        return;
    px_error err = {0};
    assert_int_equal(px_tensor_init(tensor, old.dtype, &tensor->shape, &err), PX_OK);
    const int64_t count = px_shape_count(&old.shape);
    for (int64_t k = 0; k < count; k++) {
        int64_t index[PX_MAX_RANK], rest = k, at = 0;
        for (int i = rank - 1; i >= 0; i--) {
            index[i] = rest % old.shape.dim[i];
            rest /= old.shape.dim[i];
        }
        for (int i = 0; i < rank; i++)
            at = at * tensor->shape.dim[i] + index[perm[i]];
        op_set(tensor, at, op_get(&old, k));
    }
    free(old.data);
}

static void widen_rank(px_shape *shape, int rank)
{
    px_shape wide = {.rank = rank};
    for (int i = 0; i < rank; i++) {
        const int axis = i - (rank - shape->rank);
        wide.dim[i] = axis < 0 ? 1 : shape->dim[axis];
    }
    *shape = wide;
}

static void start(op_run *run, const op_case *test)
{
    px_error err = {0};
    if (op_run_init(run, test, 3, &err) != PX_OK)
        fail_msg("case '%s': %s", op_case_name(test), err.message);
    for (int i = 0; i < run->ctx.in_count; i++)
        if (run->in[i].dtype == PX_FLOAT32 && !test->in[i].constant)
            assert_int_equal(px_tensor_init(&run->in_grad[i], PX_FLOAT32, &run->in[i].shape, &err),
                             PX_OK);
}

static void go(op_run *run, const op_case *test)
{
    px_error err = {0};
    if (op_run_forward(run, &err) != PX_OK)
        fail_msg("case '%s': %s", op_case_name(test), err.message);
}

static void compare(const px_tensor *a, const px_tensor *b, const op_case *test, const char *what)
{
    if (!px_shape_equal(&a->shape, &b->shape))
        fail_msg("case '%s': %s has another shape", op_case_name(test), what);
    for (int64_t k = 0; k < px_shape_count(&a->shape); k++)
        if (!(fabs(op_get(a, k) - op_get(b, k)) <= 1e-5 * fmax(1, fabs(op_get(a, k)))))
            fail_msg("case '%s': %s, element %d: %g in logical order, %g in another",
                     op_case_name(test), what, (int)k, op_get(a, k), op_get(b, k));
}

static void check_order(const op_case *test, const int *perm, int rank)
{
    op_run a, b;
    px_error err = {0};
    start(&a, test);
    start(&b, test);
    go(&a, test);
    if (a.op->diff == PX_DIFF_YES)
        op_run_backward(&a, 5);

    const px_status status = b.op->permute(&b.ctx, perm, rank, &err);
    if (status != PX_OK) { /* it may refuse an order, as Softmax of several axes that part */
        assert_int_equal(status, PX_E_UNSUPPORTED);
        op_run_done(&a);
        op_run_done(&b);
        return;
    }
    for (int i = 0; i < b.ctx.in_count; i++) {
        if (b.in[i].dtype == PX_NONE || (!b.op->elementwise && b.in[i].shape.rank != rank))
            continue;
        widen_rank(&b.in[i].shape, rank);
        widen_rank(&b.in_grad[i].shape, rank);
        widen_rank(&a.in_grad[i].shape, rank);
        store_in_order(&b.in[i], perm, rank);
        store_in_order(&b.in_grad[i], perm, rank);
        store_in_order(&a.in_grad[i], perm, rank);
    }
    store_in_order(&b.out[0], perm, rank);
    store_in_order(&a.out[0], perm, rank);
    go(&b, test);
    compare(&a.out[0], &b.out[0], test, "output 0");
    if (a.op->diff == PX_DIFF_YES && a.out_grad[0].data) {
        px_tensor_done(&b.out_grad[0]);
        store_in_order(&a.out_grad[0], perm, rank);
        b.out_grad[0] = a.out_grad[0];
        b.op->backward(&b.ctx);
        b.out_grad[0].data = NULL;
        for (int i = 0; i < b.ctx.in_count; i++)
            if (b.in_grad[i].data)
                compare(&a.in_grad[i], &b.in_grad[i], test, "a gradient");
    }
    op_run_done(&a);
    op_run_done(&b);
}

static void test_axes_in_any_order(void **state)
{
    (void)state;
    static const int orders[][3][4] = {
        {{0}}, {{0}}, {{1, 0}}, {{0, 2, 1}, {2, 0, 1}}, {{0, 2, 3, 1}, {3, 1, 0, 2}}};
    int checked = 0;
    for (size_t i = 0; i < PX_LEN(cases); i++) {
        op_run run;
        start(&run, &cases[i]);
        const int rank = run.out[0].shape.rank;
        const bool any = run.op->permute && rank > 1 && rank < (int)PX_LEN(orders);
        op_run_done(&run);
        for (int k = 0; any && k < (rank == 2 ? 1 : 2); k++, checked++)
            check_order(&cases[i], orders[rank][k], rank);
    }
    assert_true(checked > 50);
}

static void test_output_in_the_inputs_memory(void **state)
{
    (void)state;
    int checked = 0;
    for (size_t i = 0; i < PX_LEN(cases); i++) {
        op_run a, b;
        start(&a, &cases[i]);
        start(&b, &cases[i]);
        go(&a, &cases[i]);
        if (b.op->inplace && b.in[0].dtype == b.out[0].dtype &&
            px_shape_equal(&b.in[0].shape, &b.out[0].shape)) {
            free(b.out[0].data);
            b.out[0].data = b.in[0].data;
            go(&b, &cases[i]);
            if (memcmp(a.out[0].data, b.out[0].data, px_tensor_bytes(&a.out[0])) != 0)
                fail_msg("case '%s': another result in place", op_case_name(&cases[i]));
            b.out[0].data = NULL;
            checked++;
        }
        op_run_done(&a);
        op_run_done(&b);
    }
    assert_true(checked > 50);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_axes_in_any_order),
        cmocka_unit_test(test_output_in_the_inputs_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
