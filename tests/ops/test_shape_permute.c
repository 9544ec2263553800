/* tests/ops/test_shape_permute.c - operators on tensors whose axes are stored in another order
 *
 * permute() promises: with every full-rank tensor stored so that stored axis i is logical axis
 * perm[i], forward() and backward() do the same. So a permuted run must equal the plain run with
 * its tensors transposed, to the last bits of a sum.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#include "cmocka_all.h"
#include "op_case.h"

#include "ops/op_list_shape.h"

#include "base/memory.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const op_case permute_cases[] = {
#include "gradient_cases_shape.h"
/* clang-format off */
#define DISTINCT_(SHAPE) {.shape = SHAPE, .distinct = true}
#define INTS_(SHAPE, VALUES) {.shape = SHAPE, .dtype = PX_INT64, .constant = true, .values = VALUES}
    {.type = "ArgMax", .opset = 13, .attrs = "axis=1", .in = {DISTINCT_("2,5,3,4")}},
    {.type = "ArgMin", .opset = 13, .attrs = "axis=-1", .in = {DISTINCT_("2,5,3,4")}},
    {.type = "ArgMin", .opset = 13, .attrs = "axis=-1 keepdims=0", .in = {DISTINCT_("2,5,3,4")}},
    {.type = "Concat", .opset = 13, .attrs = "axis=1", .in = {{.shape = "2,3,4,2"}, {.shape = "2,1,4,2"}}},
    {.type = "Split", .opset = 13, .attrs = "axis=1", .in = {{.shape = "2,5,3,2"}, INTS_("2", "2 3")}, .outputs = 2},
    {.type = "Slice", .opset = 13, .in = {{.shape = "2,3,5,4"}, INTS_("2", "-1 1"), INTS_("2", "-9 3"), INTS_("2", "2 3"), INTS_("2", "-2 1")}},
    {.type = "Pad", .opset = 13, .attrs = "mode=reflect", .in = {{.shape = "2,3,4,5"}, INTS_("8", "0 0 2 1 0 0 1 3")}},
    {.type = "Pad", .opset = 13, .in = {{.shape = "2,3,4,5"}, INTS_("8", "0 1 2 -1 1 0 1 3"), {.shape = ""}}},
    {.type = "Tile", .opset = 13, .in = {{.shape = "2,3,2,2"}, INTS_("4", "1 2 3 1")}},
    {.type = "ReduceMean", .opset = 13, .attrs = "axes=[2,3]", .in = {{.shape = "2,70,3,3"}}},
    {.type = "ReduceLogSumExp", .opset = 13, .attrs = "axes=[1]", .in = {{.shape = "2,7,3,3"}}},
    {.type = "ReduceMax", .opset = 13, .attrs = "axes=[1,3]", .in = {{.shape = "2,7,3,3", .values = "2"}}},
#undef DISTINCT_
#undef INTS_
    /* clang-format on */
};

/* Stored axis i is logical axis (i + turn) modulo rank, or the reverse of that. */
static void make_perm(int *perm, int rank, int which)
{
    for (int i = 0; i < rank; i++)
        perm[i] = which == 0   ? (i == 0          ? 0
                                  : i == rank - 1 ? 1
                                                  : i + 1) /* channels last */
                  : which == 1 ? rank - 1 - i
                               : (i + 1) % rank;
    if (rank == 2 && which == 0) { /* [N, C] is channels-last as it is */
        perm[0] = 0;
        perm[1] = 1;
    }
}

static px_shape permuted_shape(const px_shape *logical, const int *perm)
{
    px_shape stored = {.rank = logical->rank};
    for (int i = 0; i < logical->rank; i++)
        stored.dim[i] = logical->dim[perm[i]];
    return stored;
}

/* Copies between logical and stored order, one element after the other. */
static void reorder(px_tensor *stored, px_tensor *logical, const int *perm, bool to_stored)
{
    const px_shape *shape = &logical->shape;
    const int64_t count = px_shape_count(shape);
    for (int64_t i = 0; i < count; i++) {
        int64_t index[PX_MAX_RANK], rest = i, at = 0;
        for (int a = shape->rank - 1; a >= 0; a--) {
            index[a] = rest % shape->dim[a];
            rest /= shape->dim[a];
        }
        for (int a = 0; a < shape->rank; a++)
            at = at * shape->dim[perm[a]] + index[perm[a]];
        if (to_stored)
            op_set(stored, at, op_get(logical, i));
        else
            op_set(logical, i, op_get(stored, at));
    }
}

/* Exchanges a tensor's data for the same in stored order. */
static void store(px_tensor *tensor, const int *perm, int rank, bool copy)
{
    if (tensor->dtype == PX_NONE || tensor->shape.rank != rank)
        return;
    px_tensor stored = {.dtype = tensor->dtype, .shape = permuted_shape(&tensor->shape, perm)};
    if (tensor->data) {
        stored.data = pxi_alloc_aligned(px_tensor_bytes(tensor));
        assert_non_null(stored.data);
        if (copy)
            reorder(&stored, tensor, perm, /* to_stored= */ true);
        free(tensor->data);
    }
    *tensor = stored;
}

static void expect_same(const op_case *test, const char *what, int number, const px_tensor *logical,
                        px_tensor *stored, const int *perm, int rank)
{
    px_tensor got = {.dtype = logical->dtype, .shape = logical->shape};
    got.data = pxi_alloc_aligned(px_tensor_bytes(logical));
    assert_non_null(got.data);
    if (logical->shape.rank == rank)
        reorder(stored, &got, perm, /* to_stored= */ false);
    else
        memcpy(got.data, stored->data, px_tensor_bytes(logical));
    for (int64_t i = 0; i < px_shape_count(&logical->shape); i++) {
        const double a = op_get(logical, i), b = op_get(&got, i);
        if (!(fabs(a - b) <= 1e-5 * fmax(1.0, fabs(a))) && !(isnan(a) && isnan(b)))
            fail_msg("case '%s' (%s), perm %d%d..: %s %d, element %d is %g, plain %g",
                     op_case_name(test), test->attrs ? test->attrs : "", perm[0], perm[1], what,
                     number, (int)i, b, a);
    }
    free(got.data);
}

static void want_gradients(op_run *run)
{
    for (int i = 0; i < run->ctx.in_count; i++)
        if (run->in[i].dtype == PX_FLOAT32 && !run->test->in[i].constant)
            assert_int_equal(px_tensor_init(&run->in_grad[i], PX_FLOAT32, &run->in[i].shape, NULL),
                             PX_OK);
}

static void start(op_run *run, const op_case *test)
{
    px_error err = {0};
    if (op_run_init(run, test, 3, &err) != PX_OK)
        fail_msg("case '%s': %s", op_case_name(test), err.message);
}

static void forward(op_run *run)
{
    px_error err = {0};
    if (op_run_forward(run, &err) != PX_OK)
        fail_msg("case '%s': %s", op_case_name(run->test), err.message);
}

/* Seeds the permuted run's output gradients with the plain run's. */
static void backward_like(op_run *run, const op_run *plain, const int *perm, int rank)
{
    for (int i = 0; i < run->ctx.out_count; i++) {
        const px_tensor *from = &plain->out_grad[i];
        if (!from->data)
            continue;
        px_tensor *grad = &run->out_grad[i];
        *grad = *from;
        grad->data = pxi_alloc_aligned(px_tensor_bytes(from));
        assert_non_null(grad->data);
        memcpy(grad->data, from->data, px_tensor_bytes(from));
        store(grad, perm, rank, /* copy= */ true);
    }
    memset(run->ctx.scratch, 0xff, run->ctx.scratch_bytes);
    run->op->backward(&run->ctx);
}

/* False: the operator refused, as it may where a tensor of the node has another rank. */
static bool check_case(const op_case *test, int which)
{
    op_run plain, moved;
    int perm[PX_MAX_RANK] = {0};
    start(&plain, test);
    start(&moved, test);
    const int in_rank = plain.in[0].shape.rank, out_rank = plain.out[0].shape.rank;
    const int rank = PX_MAX(in_rank, out_rank);
    make_perm(perm, rank, which);
    const bool other_rank = in_rank != out_rank;
    const bool accepted = moved.op->permute(&moved.ctx, perm, rank, NULL) == PX_OK;
    if (accepted && other_rank)
        fail_msg("case '%s': permutes tensors of different ranks", op_case_name(test));
    if (!accepted && !other_rank)
        fail_msg("case '%s': refuses tensors of one rank", op_case_name(test));
    if (accepted) {
        want_gradients(&plain);
        want_gradients(&moved);
        for (int i = 0; i < moved.ctx.in_count; i++) {
            store(&moved.in[i], perm, rank, /* copy= */ true);
            store(&moved.in_grad[i], perm, rank, /* copy= */ true);
        }
        for (int i = 0; i < moved.ctx.out_count; i++)
            store(&moved.out[i], perm, rank, /* copy= */ false);
        forward(&plain);
        forward(&moved);
        for (int i = 0; i < plain.ctx.out_count; i++)
            if (plain.out[i].data)
                expect_same(test, "output", i, &plain.out[i], &moved.out[i], perm, rank);
        if (plain.op->backward) {
            op_run_backward(&plain, 5);
            backward_like(&moved, &plain, perm, rank);
            for (int i = 0; i < plain.ctx.in_count; i++)
                if (plain.in_grad[i].data)
                    expect_same(test, "gradient", i, &plain.in_grad[i], &moved.in_grad[i], perm,
                                rank);
        }
    }
    op_run_done(&plain);
    op_run_done(&moved);
    return accepted;
}

static void test_permuted_run_equals_transposed_run(void **state)
{
    (void)state;
    int checked = 0;
    for (size_t i = 0; i < PX_LEN(permute_cases); i++) {
        const op_case *test = &permute_cases[i];
        const px_op *op = pxi_op_find("", test->type, test->opset, NULL);
        if (!op || !op->permute || strchr(test->in[0].shape, ',') == NULL)
            continue;
        for (int which = 0; which < 3; which++)
            checked += check_case(test, which);
    }
    assert_true(checked > 100);
}

#define DECLARE(id) extern const px_op px_op_##id;
PXI_OPS_SHAPE(DECLARE)
#define ENTRY(id) &px_op_##id,
static const px_op *const shape_ops[] = {PXI_OPS_SHAPE(ENTRY)};

static void test_every_permutable_operator_has_a_case(void **state)
{
    (void)state;
    for (size_t i = 0; i < PX_LEN(shape_ops); i++) {
        bool found = !shape_ops[i]->permute;
        for (size_t k = 0; k < PX_LEN(permute_cases) && !found; k++) {
            const op_case *test = &permute_cases[k];
            found = pxi_op_find("", test->type, test->opset, NULL) == shape_ops[i] &&
                    strchr(test->in[0].shape, ',') && check_case(test, 1);
        }
        if (!found)
            fail_msg("%s (since opset %d) can be permuted and has no case", shape_ops[i]->name,
                     shape_ops[i]->since);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_permuted_run_equals_transposed_run),
        cmocka_unit_test(test_every_permutable_operator_has_a_case),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
