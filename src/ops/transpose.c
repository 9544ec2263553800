/* src/ops/transpose.c - Transpose: axes in another order */
/* SPDX-License-Identifier: Apache-2.0 */
#include "ops/nest.h"

typedef struct transpose_params {
    int perm[PX_MAX_RANK]; /* output axis i is input axis perm[i] */
} transpose_params;

static px_status transpose_setup(px_op_ctx *ctx, px_error *err)
{
    const int64_t *wish;
    int64_t count;
    PX_TRY(pxi_op_arity(ctx, 1, 1, 1, 1, err));
    PX_TRY(pxi_attr_ints(ctx, "perm", &wish, &count, err));
    const px_shape *in = &ctx->in[0].shape;
    if (count >= 0 && count != in->rank)
        return pxi_op_fail(ctx, err, PX_E_INPUT, "'perm' has %lld entries for a tensor of rank %d",
                           (long long)count, in->rank);
    PX_TRY(pxi_op_params(ctx, sizeof(transpose_params), err));
    transpose_params *params = ctx->params;
    bool used[PX_MAX_RANK] = {false};
    PX_TRY(pxi_op_mark_axes(ctx, wish, count, in->rank, used, err));
    ctx->out[0].dtype = ctx->in[0].dtype;
    ctx->out[0].shape.rank = in->rank;
    for (int i = 0; i < in->rank; i++) {
        const int64_t axis = count < 0 ? in->rank - 1 - i : wish[i];
        params->perm[i] = (int)(axis < 0 ? axis + in->rank : axis);
        ctx->out[0].shape.dim[i] = in->dim[params->perm[i]];
    }
    return PX_OK;
}

static px_status transpose_forward(const px_op_ctx *ctx, px_error *err)
{
    (void)err;
    const transpose_params *params = ctx->params;
    const px_shape *in = &ctx->in[0].shape, *out = &ctx->out[0].shape;
    int64_t from[PX_MAX_RANK], to[PX_MAX_RANK];
    pxi_strides(in, from);
    pxi_strides(out, to);
    pxi_nest nest = {0};
    for (int i = 0; i < out->rank; i++)
        pxi_nest_axis(&nest, out->dim[i], to[i], from[params->perm[i]]);
    pxi_nest_copy(&nest, px_dtype_size(ctx->in[0].dtype), ctx->out[0].data, ctx->in[0].data);
    return PX_OK;
}

static void transpose_backward(const px_op_ctx *ctx)
{
    if (!pxi_op_wants_grad(ctx, 0) || !ctx->out_grad[0].data)
        return;
    const transpose_params *params = ctx->params;
    const px_shape *in = &ctx->in[0].shape, *out = &ctx->out[0].shape;
    int64_t to[PX_MAX_RANK], from[PX_MAX_RANK], source[PX_MAX_RANK];
    pxi_strides(in, to);
    pxi_strides(out, from);
    for (int i = 0; i < out->rank; i++)
        source[params->perm[i]] = from[i];
    pxi_nest nest = {0};
    for (int i = 0; i < in->rank; i++)
        pxi_nest_axis(&nest, in->dim[i], to[i], source[i]);
    pxi_nest_add(&nest, PXI_F32(ctx->in_grad[0]), PXI_F32(ctx->out_grad[0]));
}

const px_op px_op_transpose_1 = {
    .name = "Transpose",
    .since = 1,
    .diff = PX_DIFF_YES,
    .setup = transpose_setup,
    .forward = transpose_forward,
    .backward = transpose_backward,
};
