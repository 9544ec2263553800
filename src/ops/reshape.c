/* src/ops/reshape.c - Reshape, Flatten, Squeeze, Unsqueeze: other shapes for the same bytes
 *
 * A plan makes them aliases (`view`); forward() copies where it is called all the same.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#include "ops/nest.h"

#include <string.h>

static px_status view_forward(const px_op_ctx *ctx, px_error *err)
{
    (void)err;
    if (ctx->out[0].data && ctx->out[0].data != ctx->in[0].data)
        memcpy(ctx->out[0].data, ctx->in[0].data, px_tensor_bytes(&ctx->in[0]));
    return PX_OK;
}

static void view_backward(const px_op_ctx *ctx)
{
    if (!pxi_op_wants_grad(ctx, 0) || !ctx->out_grad[0].data)
        return;
    px_real *dx = PXI_F32(ctx->in_grad[0]);
    const px_real *dy = PXI_F32(ctx->out_grad[0]);
    const int64_t count = px_shape_count(&ctx->in[0].shape);
#pragma omp simd
    for (int64_t i = 0; i < count; i++)
        dx[i] += dy[i];
}

/* 0 keeps the input's extent (unless `allow_zero`), one -1 is whatever is left over. */
static px_status reshape_to(px_op_ctx *ctx, const int64_t *wish, int64_t count, bool allow_zero,
                            px_error *err)
{
    const px_shape *in = &ctx->in[0].shape;
    px_shape out = {.rank = (int)count};
    int open = -1;
    PX_TRY(pxi_op_need_rank(ctx, count, err));
    for (int i = 0; i < out.rank; i++) {
        out.dim[i] = wish[i];
        if (wish[i] == -1 && open >= 0)
            return pxi_op_fail(ctx, err, PX_E_INPUT, "its shape has more than one -1");
        if (wish[i] == -1)
            open = i;
        else if (wish[i] < 0)
            return pxi_op_fail(ctx, err, PX_E_INPUT, "its shape has the extent %lld",
                               (long long)wish[i]);
        if (wish[i] == 0 && !allow_zero) {
            if (i >= in->rank)
                return pxi_op_fail(ctx, err, PX_E_INPUT,
                                   "its shape copies axis %d of an input of rank %d", i, in->rank);
            out.dim[i] = in->dim[i];
        }
    }
    if (open >= 0)
        out.dim[open] = 1;
    const int64_t have = px_shape_count(in);
    const int64_t rest = pxi_mul_all(out.dim, out.rank);
    if (open >= 0 && rest > 0)
        out.dim[open] = have / rest;
    if (pxi_mul_all(out.dim, out.rank) != have || (open >= 0 && rest == 0)) {
        char from[PX_SHAPE_TEXT], to[PX_SHAPE_TEXT];
        if (open >= 0)
            out.dim[open] = -1;
        return pxi_op_fail(ctx, err, PX_E_MISMATCH, "cannot reshape %s to %s",
                           px_shape_text(in, from), px_shape_text(&out, to));
    }
    ctx->out[0].dtype = ctx->in[0].dtype;
    ctx->out[0].shape = out;
    return PX_OK;
}

static px_status reshape_setup_attr(px_op_ctx *ctx, px_error *err)
{
    const int64_t *wish;
    int64_t count;
    PX_TRY(pxi_op_arity(ctx, 1, 1, 1, 1, err));
    PX_TRY(pxi_attr_ints(ctx, "shape", &wish, &count, err));
    if (count < 0)
        return pxi_op_fail(ctx, err, PX_E_INPUT, "lacks its attribute 'shape'");
    return reshape_to(ctx, wish, count, /* allow_zero= */ false, err);
}

static px_status reshape_setup(px_op_ctx *ctx, px_error *err)
{
    const int64_t *wish;
    int64_t count;
    PX_TRY(pxi_op_arity(ctx, 2, 2, 1, 1, err));
    PX_TRY(pxi_op_const_ints(ctx, 1, &wish, &count, err));
    return reshape_to(ctx, wish, count, px_node_int(ctx->node, "allowzero", 0) != 0, err);
}

static px_status flatten_setup(px_op_ctx *ctx, px_error *err)
{
    PX_TRY(pxi_op_arity(ctx, 1, 1, 1, 1, err));
    const px_shape *in = &ctx->in[0].shape;
    int64_t axis = px_node_int(ctx->node, "axis", 1);
    if (axis < -(int64_t)in->rank || axis > in->rank)
        return pxi_op_fail(ctx, err, PX_E_INPUT, "axis %lld is outside a tensor of rank %d",
                           (long long)axis, in->rank);
    if (axis < 0)
        axis += in->rank;
    ctx->out[0].dtype = ctx->in[0].dtype;
    ctx->out[0].shape = (px_shape){
        .rank = 2,
        .dim = {pxi_mul_all(in->dim, (int)axis), pxi_mul_all(in->dim + axis, in->rank - (int)axis)},
    };
    return PX_OK;
}

static px_status squeeze_axes(px_op_ctx *ctx, const int64_t *axes, int64_t count, px_error *err)
{
    const px_shape *in = &ctx->in[0].shape;
    bool marked[PX_MAX_RANK] = {false};
    PX_TRY(pxi_op_mark_axes(ctx, axes, count, in->rank, marked, err));
    px_shape out = {0};
    for (int i = 0; i < in->rank; i++) {
        if (count < 0)
            marked[i] = in->dim[i] == 1;
        if (marked[i] && in->dim[i] != 1)
            return pxi_op_fail(ctx, err, PX_E_INPUT, "cannot drop axis %d of extent %lld", i,
                               (long long)in->dim[i]);
        if (!marked[i])
            out.dim[out.rank++] = in->dim[i];
    }
    ctx->out[0].dtype = ctx->in[0].dtype;
    ctx->out[0].shape = out;
    return PX_OK;
}

static px_status unsqueeze_axes(px_op_ctx *ctx, const int64_t *axes, int64_t count, px_error *err)
{
    const px_shape *in = &ctx->in[0].shape;
    bool marked[PX_MAX_RANK] = {false};
    if (count < 0)
        return pxi_op_fail(ctx, err, PX_E_INPUT, "does not say which axes to insert");
    PX_TRY(pxi_op_need_rank(ctx, in->rank + count, err));
    px_shape out = {.rank = in->rank + (int)count};
    PX_TRY(pxi_op_mark_axes(ctx, axes, count, out.rank, marked, err));
    for (int i = 0, from = 0; i < out.rank; i++)
        out.dim[i] = marked[i] ? 1 : in->dim[from++];
    ctx->out[0].dtype = ctx->in[0].dtype;
    ctx->out[0].shape = out;
    return PX_OK;
}

typedef px_status (*view_axes)(px_op_ctx *ctx, const int64_t *axes, int64_t count, px_error *err);

static px_status axes_from(px_op_ctx *ctx, const char *attr, int max_in, view_axes rule,
                           px_error *err)
{
    const int64_t *axes;
    int64_t count;
    PX_TRY(pxi_op_arity(ctx, 1, max_in, 1, 1, err));
    PX_TRY(pxi_op_ints(ctx, attr, 1, &axes, &count, err));
    return rule(ctx, axes, count, err);
}

static px_status squeeze_setup_attr(px_op_ctx *ctx, px_error *err)
{
    return axes_from(ctx, "axes", 1, squeeze_axes, err);
}

static px_status squeeze_setup(px_op_ctx *ctx, px_error *err)
{
    return axes_from(ctx, NULL, 2, squeeze_axes, err);
}

static px_status unsqueeze_setup_attr(px_op_ctx *ctx, px_error *err)
{
    return axes_from(ctx, "axes", 1, unsqueeze_axes, err);
}

static px_status unsqueeze_setup(px_op_ctx *ctx, px_error *err)
{
    return axes_from(ctx, NULL, 2, unsqueeze_axes, err);
}

#define VIEW_OP(id, op_name, version, rule) \
    const px_op px_op_##id = {              \
        .name = op_name,                    \
        .since = version,                   \
        .diff = PX_DIFF_YES,                \
        .setup = rule,                      \
        .forward = view_forward,            \
        .backward = view_backward,          \
        .view = true,                       \
    };

VIEW_OP(reshape_1, "Reshape", 1, reshape_setup_attr)
VIEW_OP(reshape_5, "Reshape", 5, reshape_setup)
VIEW_OP(flatten_1, "Flatten", 1, flatten_setup)
VIEW_OP(squeeze_1, "Squeeze", 1, squeeze_setup_attr)
VIEW_OP(squeeze_13, "Squeeze", 13, squeeze_setup)
VIEW_OP(unsqueeze_1, "Unsqueeze", 1, unsqueeze_setup_attr)
VIEW_OP(unsqueeze_13, "Unsqueeze", 13, unsqueeze_setup)
