/* tests/ops/test_gradients.c - every backward() against central differences, in double
 *
 * The operators are compiled with PXI_REAL_DOUBLE here. L = sum over outputs of <w, out> for random
 * w; for each float input that is no constant, dL/dx from backward() is compared with (L(x + h) -
 * L(x - h)) / 2h, whose own error is about h^2 + eps / h = 1e-10.
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

static const op_case gradient_cases[] = {
#include "gradient_cases_math.h"
#include "gradient_cases_nn.h"
#include "gradient_cases_shape.h"
};

/* Operators with PX_DIFF_YES whose backward() is no derivative of forward(). */
static const struct {
    const char *type, *why;
} no_derivative[] = {
    {"QuantizeLinear", "straight-through; test_math_gradient.c"},
    {"DynamicQuantizeLinear", "straight-through; test_math_gradient.c"},
};

static const double already_there = 0.25; /* in_grad before backward(), which must add to it */

static bool case_differentiates(const op_run *run, int input)
{
    return run->in[input].dtype == PX_FLOAT32 && !run->test->in[input].constant;
}

/* L, for the cotangents that op_run_backward() has left in out_grad. */
static double case_loss(op_run *run)
{
    px_error err = {0};
    if (op_run_forward(run, &err) != PX_OK)
        fail_msg("case '%s': %s", op_case_name(run->test), err.message);
    double loss = 0;
    for (int i = 0; i < run->ctx.out_count; i++)
        if (run->out_grad[i].data)
            for (int64_t k = 0; k < px_shape_count(&run->out[i].shape); k++)
                loss += op_get(&run->out_grad[i], k) * op_get(&run->out[i], k);
    return loss;
}

static void case_backward(op_run *run, int only, unsigned seed)
{
    for (int i = 0; i < run->ctx.in_count; i++) {
        px_tensor_done(&run->in_grad[i]);
        run->in_grad[i] = run->in[i];
        run->in_grad[i].data = NULL;
        if (!case_differentiates(run, i) || (only >= 0 && i != only))
            continue;
        px_error err = {0};
        assert_int_equal(px_tensor_init(&run->in_grad[i], PX_FLOAT32, &run->in[i].shape, &err),
                         PX_OK);
        for (int64_t k = 0; k < px_shape_count(&run->in[i].shape); k++)
            op_set(&run->in_grad[i], k, already_there);
    }
    op_run_backward(run, seed);
}

/* Returns the number of gradient elements compared. */
static int64_t check_input(op_run *run, int input, const double *grad)
{
    px_tensor *x = &run->in[input];
    const int64_t count = px_shape_count(&x->shape);
    for (int64_t k = 0; k < count; k++) {
        const double at = op_get(x, k), h = 6e-6 * fmax(1, fabs(at));
        op_set(x, k, at + h);
        const double above = case_loss(run);
        op_set(x, k, at - h);
        const double below = case_loss(run);
        op_set(x, k, at);
        const double expected = (above - below) / (2 * h), got = grad[k] - already_there;
        if (!(fabs(got - expected) <= 1e-6 * fmax(1, fabs(expected))))
            fail_msg(
                "case '%s' (opset %d, attributes '%s'): input %d, element %d at %g: gradient %.9g, "
                "differences %.9g",
                op_case_name(run->test), run->test->opset, run->test->attrs ? run->test->attrs : "",
                input, (int)k, at, got, expected);
    }
    return count;
}

static void check_case(const op_case *test, unsigned seed)
{
    op_run run;
    px_error err = {0};
    if (op_run_init(&run, test, seed, &err) != PX_OK || op_run_forward(&run, &err) != PX_OK)
        fail_msg("case '%s': %s", op_case_name(test), err.message);
    if (run.op->diff != PX_DIFF_YES)
        fail_msg("case '%s': the operator has no gradient", op_case_name(test));
    int64_t compared = 0;
    for (int i = 0; i < run.ctx.in_count; i++) {
        if (!case_differentiates(&run, i))
            continue;
        const size_t bytes = px_tensor_bytes(&run.in[i]);
        double *all = pxi_alloc_aligned(bytes);
        assert_non_null(all);
        case_loss(&run); /* outputs as backward() expects them */
        case_backward(&run, -1, seed);
        memcpy(all, run.in_grad[i].data, bytes);
        case_backward(&run, i, seed); /* alone: the same, to the bit */
        if (memcmp(all, run.in_grad[i].data, bytes) != 0)
            fail_msg("case '%s': input %d: its gradient depends on which others are wanted",
                     op_case_name(test), i);
        compared += check_input(&run, i, all);
        free(all);
    }
    if (compared == 0)
        fail_msg("case '%s': nothing to differentiate", op_case_name(test));
    op_run_done(&run);
}

static void test_backward_matches_differences(void **state)
{
    (void)state;
    for (size_t i = 0; i < PX_LEN(gradient_cases); i++)
        check_case(&gradient_cases[i], (unsigned)i + 1);
}

static void test_every_differentiable_operator_has_a_case(void **state)
{
    (void)state;
    int missing = 0;
    for (const px_op *const *op = pxi_op_all(); *op; op++) {
        if ((*op)->diff != PX_DIFF_YES || (*op)->expands) /* those become others, which have cases */
            continue;
        bool found = false;
        for (size_t i = 0; i < PX_LEN(gradient_cases) && !found; i++) {
            const op_case *test = &gradient_cases[i];
            found =
                pxi_op_find(test->domain ? test->domain : "", test->type, test->opset, NULL) == *op;
        }
        for (size_t i = 0; i < PX_LEN(no_derivative) && !found; i++)
            found = strcmp(no_derivative[i].type, (*op)->name) == 0;
        if (!found) {
            print_error("%s (since opset %d) has a gradient and no case\n", (*op)->name,
                        (*op)->since);
            missing++;
        }
    }
    assert_int_equal(missing, 0);
}

/* What a plan relies on without asking. */
static void test_descriptors_are_consistent(void **state)
{
    (void)state;
    for (const px_op *const *op = pxi_op_all(); *op; op++) {
        if ((*op)->expands)
            continue;
        if (!(*op)->setup || !(*op)->forward || ((*op)->diff == PX_DIFF_YES) != !!(*op)->backward)
            fail_msg("%s (since opset %d) lacks setup, forward or backward, or has one too many",
                     (*op)->name, (*op)->since);
        if ((*op)->elementwise && !(*op)->permute)
            fail_msg("%s (since opset %d) is element-wise and cannot be permuted", (*op)->name,
                     (*op)->since);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_backward_matches_differences),
        cmocka_unit_test(test_every_differentiable_operator_has_a_case),
        cmocka_unit_test(test_descriptors_are_consistent),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
