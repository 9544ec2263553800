/* src/ops/expand.c - Expand (broadcast to a shape) and Tile (repeat along axes)
 *
 * Backward sums what was repeated, in double.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#include "ops/nest.h"

/* --- Expand ---------------------------------------------------------------------------------- */

static px_status expand_setup(px_op_ctx *ctx, px_error *err)
{
    const int64_t *wish;
    int64_t count;
    PX_TRY(pxi_op_arity(ctx, 2, 2, 1, 1, err));
    PX_TRY(pxi_op_const_ints(ctx, 1, &wish, &count, err));
    PX_TRY(pxi_op_need_rank(ctx, count, err));
    px_shape target = {.rank = (int)count};
    for (int i = 0; i < target.rank; i++) {
        if (wish[i] < 0)
            return pxi_op_fail(ctx, err, PX_E_INPUT, "its shape has the extent %lld",
                               (long long)wish[i]);
        target.dim[i] = wish[i];
    }
    ctx->out[0].dtype = ctx->in[0].dtype;
    return pxi_op_broadcast(ctx, &ctx->in[0].shape, &target, &ctx->out[0].shape, err);
}

static px_status expand_forward(const px_op_ctx *ctx, px_error *err)
{
    (void)err;
    const px_shape *in = &ctx->in[0].shape, *out = &ctx->out[0].shape;
    int64_t from[PX_MAX_RANK], to[PX_MAX_RANK];
    pxi_strides(in, from);
    pxi_strides(out, to);
    pxi_nest nest = {0};
    for (int i = 0; i < out->rank; i++) {
        const int j = i - (out->rank - in->rank);
        pxi_nest_axis(&nest, out->dim[i], to[i], j < 0 || in->dim[j] == 1 ? 0 : from[j]);
    }
    pxi_nest_copy(&nest, px_dtype_size(ctx->in[0].dtype), ctx->out[0].data, ctx->in[0].data);
    return PX_OK;
}

static void expand_backward(const px_op_ctx *ctx)
{
    if (!pxi_op_wants_grad(ctx, 0) || !ctx->out_grad[0].data)
        return;
    const px_shape *in = &ctx->in[0].shape, *out = &ctx->out[0].shape;
    bool reduced[PX_MAX_RANK];
    for (int i = 0; i < out->rank; i++) {
        const int j = i - (out->rank - in->rank);
        reduced[i] = j < 0 || in->dim[j] == 1;
    }
    pxi_sum_into(out->rank, out->dim, reduced, PXI_F32(ctx->in_grad[0]), PXI_F32(ctx->out_grad[0]));
}

static px_status expand_permute(px_op_ctx *ctx, const int *perm, int rank, px_error *err)
{
    (void)perm;
    if (ctx->in[0].shape.rank != rank && px_shape_count(&ctx->in[0].shape) != 1)
        return pxi_permute_refuse(ctx, err);
    return PX_OK;
}

const px_op px_op_expand_8 = {
    .name = "Expand",
    .since = 8,
    .diff = PX_DIFF_YES,
    .setup = expand_setup,
    .forward = expand_forward,
    .backward = expand_backward,
    .permute = expand_permute,
};

/* --- Tile ------------------------------------------------------------------------------------ */

static px_status tile_by(px_op_ctx *ctx, const int64_t repeats[PX_MAX_RANK], px_error *err)
{
    const px_shape *in = &ctx->in[0].shape;
    ctx->out[0].dtype = ctx->in[0].dtype;
    ctx->out[0].shape = *in;
    for (int i = 0; i < in->rank; i++)
        if (repeats[i] < 0 ||
            __builtin_mul_overflow(in->dim[i], repeats[i], &ctx->out[0].shape.dim[i]))
            return pxi_op_fail(ctx, err, PX_E_INPUT, "cannot repeat axis %d %lld times", i,
                               (long long)repeats[i]);
    return PX_OK;
}

static px_status tile_setup_axis(px_op_ctx *ctx, px_error *err)
{
    PX_TRY(pxi_op_arity(ctx, 3, 3, 1, 1, err));
    int64_t repeats[PX_MAX_RANK], value[2];
    for (int i = 1; i < 3; i++) { /* both have the data's type */
        PX_TRY(pxi_op_need_const(ctx, i, err));
        if (px_shape_count(&ctx->in[i].shape) != 1)
            return pxi_op_fail(ctx, err, PX_E_INPUT, "its input %d is not one number", i);
        value[i - 1] = pxi_integer(&ctx->in[i], 0);
    }
    int axis;
    PX_TRY(pxi_op_axis(ctx, value[1], ctx->in[0].shape.rank, &axis, err));
    for (int i = 0; i < PX_MAX_RANK; i++)
        repeats[i] = i == axis ? value[0] : 1;
    return tile_by(ctx, repeats, err);
}

static px_status tile_setup(px_op_ctx *ctx, px_error *err)
{
    const int64_t *repeats;
    int64_t count;
    PX_TRY(pxi_op_arity(ctx, 2, 2, 1, 1, err));
    PX_TRY(pxi_op_const_ints(ctx, 1, &repeats, &count, err));
    if (count != ctx->in[0].shape.rank)
        return pxi_op_fail(ctx, err, PX_E_INPUT, "has %lld repeats for a tensor of rank %d",
                           (long long)count, ctx->in[0].shape.rank);
    return tile_by(ctx, repeats, err);
}

/* Each output axis is [repeats][extent]. */
static px_status tile_forward(const px_op_ctx *ctx, px_error *err)
{
    (void)err;
    const px_shape *in = &ctx->in[0].shape, *out = &ctx->out[0].shape;
    int64_t from[PX_MAX_RANK], to[PX_MAX_RANK];
    if (px_shape_count(out) == 0)
        return PX_OK;
    pxi_strides(in, from);
    pxi_strides(out, to);
    pxi_nest nest = {0};
    for (int i = 0; i < out->rank; i++) {
        pxi_nest_axis(&nest, out->dim[i] / in->dim[i], to[i] * in->dim[i], 0);
        pxi_nest_axis(&nest, in->dim[i], to[i], from[i]);
    }
    pxi_nest_copy(&nest, px_dtype_size(ctx->in[0].dtype), ctx->out[0].data, ctx->in[0].data);
    return PX_OK;
}

static void tile_backward(const px_op_ctx *ctx)
{
    const px_shape *in = &ctx->in[0].shape, *out = &ctx->out[0].shape;
    if (!pxi_op_wants_grad(ctx, 0) || !ctx->out_grad[0].data || px_shape_count(out) == 0)
        return;
    int64_t extent[PXI_NEST_RANK];
    bool reduced[PXI_NEST_RANK];
    for (int i = 0; i < out->rank; i++) {
        extent[2 * i] = out->dim[i] / in->dim[i];
        reduced[2 * i] = true;
        extent[2 * i + 1] = in->dim[i];
        reduced[2 * i + 1] = false;
    }
    pxi_sum_into(2 * out->rank, extent, reduced, PXI_F32(ctx->in_grad[0]),
                 PXI_F32(ctx->out_grad[0]));
}

const px_op px_op_tile_1 = {
    .name = "Tile",
    .since = 1,
    .diff = PX_DIFF_YES,
    .setup = tile_setup_axis,
    .forward = tile_forward,
    .backward = tile_backward,
    .permute = pxi_permute_nothing,
};

const px_op px_op_tile_6 = {
    .name = "Tile",
    .since = 6,
    .diff = PX_DIFF_YES,
    .setup = tile_setup,
    .forward = tile_forward,
    .backward = tile_backward,
    .permute = pxi_permute_nothing,
};
