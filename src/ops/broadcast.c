/* src/ops/broadcast.c - merging axes and walking over blocks */
/* SPDX-License-Identifier: Apache-2.0 */
#include "ops/broadcast.h"

bool pxi_broadcast_start(pxi_broadcast *w, const px_shape *out, int operands,
                         const px_shape *const *shapes)
{
    *w = (pxi_broadcast){.operands = operands};
    bool runs[PXI_OPERANDS][PX_MAX_RANK] = {{false}};
    size_t dim[PX_MAX_RANK];
    int rank = 0; /* of the merged axes */
    for (int i = 0; i < out->rank; i++) {
        if (out->dim[i] == 0)
            return false;
        if (out->dim[i] == 1)
            continue;
        bool alike = rank > 0;
        for (int k = 0; k < operands; k++) {
            const int axis = i - (out->rank - shapes[k]->rank);
            runs[k][rank] = axis >= 0 && shapes[k]->dim[axis] != 1;
            alike = alike && runs[k][rank] == runs[k][rank - 1];
        }
        if (alike)
            dim[rank - 1] *= (size_t)out->dim[i];
        else
            dim[rank++] = (size_t)out->dim[i];
    }

    w->rows = rank > 1 ? dim[rank - 2] : 1;
    w->columns = rank > 0 ? dim[rank - 1] : 1;
    w->outer = rank > 2 ? rank - 2 : 0;
    for (int k = 0; k < operands; k++) {
        size_t step = 1;
        w->column_stride[k] = 1; /* for a single element; else: */
        for (int i = rank - 1; i >= 0; i--) {
            const size_t stride = runs[k][i] ? step : 0;
            if (i == rank - 1)
                w->column_stride[k] = stride;
            else if (i == rank - 2)
                w->row_stride[k] = stride;
            else
                w->stride[k][i] = stride;
            step *= runs[k][i] ? dim[i] : 1;
        }
    }
    for (int i = 0; i < w->outer; i++)
        w->dim[i] = dim[i];
    return true;
}

bool pxi_broadcast_next(pxi_broadcast *w)
{
    w->out += w->rows * w->columns;
    for (int i = w->outer - 1; i >= 0; i--) {
        for (int k = 0; k < w->operands; k++)
            w->at[k] += w->stride[k][i];
        if (++w->index[i] < w->dim[i])
            return true;
        for (int k = 0; k < w->operands; k++)
            w->at[k] -= w->stride[k][i] * w->dim[i];
        w->index[i] = 0;
    }
    return false;
}

static px_shape binary_second_shape(const px_op_ctx *ctx)
{
    const pxi_binary_params *params = ctx->params;
    px_shape shape = ctx->in[1].shape;
    for (int i = 0; i < params->trailing; i++)
        shape.dim[shape.rank++] = 1;
    return shape;
}

px_status pxi_binary_align(px_op_ctx *ctx, int64_t axis, px_error *err)
{
    const px_shape *a = &ctx->in[0].shape, *b = &ctx->in[1].shape;
    pxi_binary_params *params = ctx->params;
    int first = a->rank;
    if (b->rank > 0 || axis != a->rank) /* the axis after the last one is a scalar's own */
        PX_TRY(pxi_op_axis(ctx, axis, PX_MAX(a->rank, 1), &first, err));
    if (first + b->rank > a->rank)
        return pxi_op_fail(
            ctx, err, PX_E_MISMATCH,
            "its input 1 has %d axes, which do not fit into the first's %d from axis %d", b->rank,
            a->rank, first);
    params->trailing = a->rank - first - b->rank;
    const px_shape second = binary_second_shape(ctx);
    PX_TRY(pxi_op_broadcast(ctx, a, &second, &ctx->out[0].shape, err));
    if (!px_shape_equal(&ctx->out[0].shape, a)) {
        char ta[PX_SHAPE_TEXT], tb[PX_SHAPE_TEXT];
        return pxi_op_fail(ctx, err, PX_E_MISMATCH,
                           "its input 1 of shape %s does not broadcast to %s", px_shape_text(b, tb),
                           px_shape_text(a, ta));
    }
    return PX_OK;
}

px_status pxi_binary_shape(px_op_ctx *ctx, bool old, px_error *err)
{
    const px_shape *a = &ctx->in[0].shape, *b = &ctx->in[1].shape;
    ctx->out[0].dtype = ctx->in[0].dtype;
    PX_TRY(pxi_op_params(ctx, sizeof(pxi_binary_params), err));
    if (!old)
        return pxi_op_broadcast(ctx, a, b, &ctx->out[0].shape, err);
    if (px_node_int(ctx->node, "broadcast", 0) == 0) {
        if (!px_shape_equal(a, b)) {
            char ta[PX_SHAPE_TEXT], tb[PX_SHAPE_TEXT];
            return pxi_op_fail(ctx, err, PX_E_MISMATCH,
                               "shapes %s and %s differ and the node does not ask for broadcasting",
                               px_shape_text(a, ta), px_shape_text(b, tb));
        }
        ctx->out[0].shape = *a;
        return PX_OK;
    }
    const int64_t end = b->rank < a->rank ? a->rank - b->rank : 0;
    return pxi_binary_align(ctx, px_node_int(ctx->node, "axis", end), err);
}

px_status pxi_binary_setup(px_op_ctx *ctx, unsigned types, bool old, px_error *err)
{
    PX_TRY(pxi_op_arity(ctx, 2, 2, 1, 1, err));
    PX_TRY(pxi_op_type(ctx, 0, types, err));
    PX_TRY(pxi_op_type_as_first(ctx, 1, err));
    return pxi_binary_shape(ctx, old, err);
}

bool pxi_binary_start(pxi_broadcast *w, const px_op_ctx *ctx, bool swap)
{
    const px_shape second = binary_second_shape(ctx);
    const px_shape *shapes[2] = {&ctx->in[0].shape, &second};
    if (swap) {
        shapes[0] = &second;
        shapes[1] = &ctx->in[0].shape;
    }
    return pxi_broadcast_start(w, &ctx->out[0].shape, 2, shapes);
}

void pxi_binary_forward(const px_op_ctx *ctx, pxi_binary_fn *kernel, const void *a, const void *b)
{
    pxi_broadcast w;
    for (bool more = pxi_binary_start(&w, ctx, false); more; more = pxi_broadcast_next(&w))
        kernel(&w, a, b, ctx->out[0].data);
}

void pxi_binary_backward(const px_op_ctx *ctx, pxi_gradient_fn *da, pxi_gradient_fn *db,
                         const void *a, const void *b)
{
    const void *y = ctx->out[0].data, *dy = ctx->out_grad[0].data;
    pxi_broadcast w;
    if (!dy)
        return;
    if (da && pxi_op_wants_grad(ctx, 0))
        for (bool more = pxi_binary_start(&w, ctx, false); more; more = pxi_broadcast_next(&w))
            da(&w, a, b, y, dy, ctx->in_grad[0].data);
    if (db && pxi_op_wants_grad(ctx, 1))
        for (bool more = pxi_binary_start(&w, ctx, true); more; more = pxi_broadcast_next(&w))
            db(&w, b, a, y, dy, ctx->in_grad[1].data);
}
