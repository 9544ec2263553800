/* src/ops/matmul.c - MatMul (ONNX, since opset 1), with numpy.matmul's rules
 *
 * A vector on the left is a row, one on the right a column, and that axis is dropped again; leading
 * axes are batches and broadcast. Integers (opset 9) and float64 are multiplied too, but have no
 * gradient.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#include <internal/gemm.h>

#include "base/memory.h"
#include <internal/nn_check.h>

#include <internal/tensor.h>
#include <string.h>

/* Strides of one operand over the broadcast batch axes: 0 where it has extent 1 or no such axis. */
static void matmul_strides(const px_shape *operand, int batch_rank, int64_t matrix, int64_t *stride)
{
    const int own = PX_MAX(operand->rank - 2, 0);
    int64_t step = matrix;
    for (int i = batch_rank - 1; i >= 0; i--) {
        const int axis = i - (batch_rank - own);
        stride[i] = axis >= 0 && operand->dim[axis] != 1 ? step : 0;
        step *= axis >= 0 ? operand->dim[axis] : 1;
    }
}

px_status pxi_matmul_read(px_op_ctx *ctx, int a, int b, pxi_matmul_params *params, px_error *err)
{
    const px_shape *sa = &ctx->in[a].shape, *sb = &ctx->in[b].shape;
    PX_TRY(pxi_nn_rank(ctx, a, 1, PX_MAX_RANK, err));
    PX_TRY(pxi_nn_rank(ctx, b, 1, PX_MAX_RANK, err));
    pxi_matmul_params p = {
        .m = sa->rank > 1 ? sa->dim[sa->rank - 2] : 1,
        .n = sb->rank > 1 ? sb->dim[sb->rank - 1] : 1,
        .k = sa->dim[sa->rank - 1],
    };
    if (p.k != sb->dim[PX_MAX(sb->rank - 2, 0)]) {
        char ta[PX_SHAPE_TEXT], tb[PX_SHAPE_TEXT];
        return pxi_op_fail(ctx, err, PX_E_MISMATCH, "shapes %s and %s do not multiply",
                           px_shape_text(sa, ta), px_shape_text(sb, tb));
    }
    px_shape ba = *sa, bb = *sb;
    ba.rank = PX_MAX(sa->rank - 2, 0);
    bb.rank = PX_MAX(sb->rank - 2, 0);
    PX_TRY(pxi_op_broadcast(ctx, &ba, &bb, &p.batch, err));
    PX_TRY(px_shape_check(&p.batch, err));
    p.batch_count = px_shape_count(&p.batch);
    matmul_strides(sa, p.batch.rank, p.m * p.k, p.a_stride);
    matmul_strides(sb, p.batch.rank, p.k * p.n, p.b_stride);
    p.b_is_shared = bb.rank == 0 || px_shape_count(&bb) == 1;
    for (int i = 0; i < p.batch.rank; i++) /* and A's batches follow each other without gaps */
        p.b_is_shared &= p.batch.dim[i] == 1 || p.a_stride[i] != 0;
    px_shape *out = &ctx->out[0].shape;
    *out = p.batch;
    if (out->rank + (sa->rank > 1) + (sb->rank > 1) > PX_MAX_RANK)
        return pxi_op_fail(ctx, err, PX_E_UNSUPPORTED,
                           "a result of more than %d dimensions is not supported", PX_MAX_RANK);
    if (sa->rank > 1)
        out->dim[out->rank++] = p.m;
    if (sb->rank > 1)
        out->dim[out->rank++] = p.n;
    *params = p;
    return PX_OK;
}

void pxi_matmul_at(const pxi_matmul_params *params, int64_t i, int64_t *a, int64_t *b)
{
    *a = *b = 0;
    for (int axis = params->batch.rank - 1; axis >= 0; axis--) {
        const int64_t at = i % params->batch.dim[axis];
        i /= params->batch.dim[axis];
        *a += at * params->a_stride[axis];
        *b += at * params->b_stride[axis];
    }
}

/* Defines matmul_TYPE(): one product of other types; unsigned arithmetic lets integers wrap. */
#define MATMUL_TYPED(suffix, type, wide)                                                  \
    static void matmul_##suffix(const pxi_matmul_params *p, const void *from_a,           \
                                const void *from_b, void *to, int64_t a_at, int64_t b_at, \
                                int64_t c_at)                                             \
    {                                                                                     \
        const type *a = (const type *)from_a + a_at, *b = (const type *)from_b + b_at;    \
        type *c = (type *)to + c_at;                                                      \
        for (int64_t i = 0; i < p->m; i++)                                                \
            for (int64_t j = 0; j < p->n; j++) {                                          \
                wide sum = 0;                                                             \
                for (int64_t q = 0; q < p->k; q++)                                        \
                    sum += (wide)a[i * p->k + q] * (wide)b[q * p->n + j];                 \
                c[i * p->n + j] = (type)sum;                                              \
            }                                                                             \
    }

MATMUL_TYPED(double, double, double)
MATMUL_TYPED(int32, int32_t, uint32_t)
MATMUL_TYPED(uint32, uint32_t, uint32_t)
MATMUL_TYPED(int64, int64_t, uint64_t)
MATMUL_TYPED(uint64, uint64_t, uint64_t)

typedef void matmul_function(const pxi_matmul_params *p, const void *a, const void *b, void *c,
                             int64_t a_at, int64_t b_at, int64_t c_at);

static matmul_function *matmul_typed(px_dtype dtype)
{
    switch (dtype) {
    case PX_FLOAT64:
        return matmul_double;
    case PX_INT32:
        return matmul_int32;
    case PX_UINT32:
        return matmul_uint32;
    case PX_INT64:
        return matmul_int64;
    case PX_UINT64:
        return matmul_uint64;
    default:
        return NULL;
    }
}

static px_status matmul_setup(px_op_ctx *ctx, px_error *err)
{
    PX_TRY(pxi_op_arity(ctx, 2, 2, 1, 1, err));
    const px_dtype dtype = ctx->in[0].dtype;
    if (dtype != ctx->in[1].dtype)
        return pxi_op_fail(ctx, err, PX_E_MISMATCH, "cannot multiply %s by %s",
                           px_dtype_name(dtype), px_dtype_name(ctx->in[1].dtype));
    if (dtype != PX_FLOAT32 && !matmul_typed(dtype))
        return pxi_op_fail(ctx, err, PX_E_UNSUPPORTED,
                           "multiplying matrices of %s is not supported", px_dtype_name(dtype));
    PX_TRY(pxi_op_params(ctx, sizeof(pxi_matmul_params), err));
    ctx->out[0].dtype = dtype;
    return pxi_matmul_read(ctx, 0, 1, ctx->params, err);
}

static px_status matmul_forward(const px_op_ctx *ctx, px_error *err)
{
    (void)err;
    const pxi_matmul_params *p = ctx->params;
    const px_tensor *a = &ctx->in[0], *b = &ctx->in[1], *y = &ctx->out[0];
    int64_t a_at, b_at;
    if (a->dtype != PX_FLOAT32) {
        for (int64_t i = 0; i < p->batch_count; i++) {
            pxi_matmul_at(p, i, &a_at, &b_at);
            matmul_typed(a->dtype)(p, a->data, b->data, y->data, a_at, b_at, i * p->m * p->n);
        }
        return PX_OK;
    }
    memset(y->data, 0, px_tensor_bytes(y));
    if (p->b_is_shared) {
        pxi_gemm_add(false, false, p->batch_count * p->m, p->n, p->k, 1, PXI_F32(*a), PXI_F32(*b),
                     PXI_F32(*y));
        return PX_OK;
    }
    for (int64_t i = 0; i < p->batch_count; i++) {
        pxi_matmul_at(p, i, &a_at, &b_at);
        pxi_gemm_add(false, false, p->m, p->n, p->k, 1, PXI_F32(*a) + a_at, PXI_F32(*b) + b_at,
                     PXI_F32(*y) + i * p->m * p->n);
    }
    return PX_OK;
}

static void matmul_backward(const px_op_ctx *ctx)
{
    const pxi_matmul_params *p = ctx->params;
    if (!ctx->out_grad[0].data || ctx->in[0].dtype != PX_FLOAT32)
        return;
    for (int64_t i = 0; i < p->batch_count; i++) {
        const px_real *dy = PXI_F32(ctx->out_grad[0]) + i * p->m * p->n;
        int64_t a_at, b_at;
        pxi_matmul_at(p, i, &a_at, &b_at);
        if (pxi_op_wants_grad(ctx, 0))
            pxi_gemm_add(false, true, p->m, p->k, p->n, 1, dy, PXI_F32(ctx->in[1]) + b_at,
                         PXI_F32(ctx->in_grad[0]) + a_at);
        if (pxi_op_wants_grad(ctx, 1))
            pxi_gemm_add(true, false, p->k, p->n, p->m, 1, PXI_F32(ctx->in[0]) + a_at, dy,
                         PXI_F32(ctx->in_grad[1]) + b_at);
    }
}

static int64_t matmul_flops(const px_op_ctx *ctx)
{
    const pxi_matmul_params *p = ctx->params;
    return pxi_nn_flops(2.0 * (double)p->batch_count * (double)p->m * (double)p->n * (double)p->k);
}

const px_op px_op_matmul_1 = {
    .name = "MatMul",
    .since = 1,
    .diff = PX_DIFF_YES,
    .setup = matmul_setup,
    .forward = matmul_forward,
    .backward = matmul_backward,
    .flops = matmul_flops,
};
