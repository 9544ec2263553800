/* src/ops/conv_transpose.c - ConvTranspose (ONNX, since opset 1)
 *
 * The data gradient of the convolution whose window it carries, so forward is that convolution's
 * scatter and backward its gather. Opset 11 corrected the text on how output_shape splits its
 * padding (SAME_UPPER puts the odd element at the end); the corrected rule serves all versions.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#include "ops/conv.h"

#include "base/memory.h"
#include <internal/nn_check.h>

#include <string.h>

/* window->out is the data's extent and known; sets window->in (the result's) and the pads. */
static px_status transpose_resolve(const px_op_ctx *ctx, pxi_auto_pad auto_pad, pxi_window *w,
                                   px_error *err)
{
    int64_t extra[PXI_MAX_SPATIAL], wanted[PXI_MAX_SPATIAL + 2];
    PX_TRY(pxi_nn_ints(ctx, "output_padding", w->spatial, 0, INT32_MAX, 0, extra, err));
    const px_attr *shape = px_node_attr(ctx->node, "output_shape");
    const bool same = auto_pad == PXI_PAD_SAME_UPPER || auto_pad == PXI_PAD_SAME_LOWER;
    if (shape) { /* some exporters write batch and channels in front */
        const int skip = shape->count == (size_t)w->spatial + 2 ? 2 : 0;
        PX_TRY(pxi_nn_ints(ctx, "output_shape", w->spatial + skip, 0, INT32_MAX, 0, wanted, err));
        memmove(wanted, wanted + skip, (size_t)w->spatial * sizeof *wanted);
    }
    for (int i = 0; i < w->spatial; i++) {
        if (extra[i] >= PX_MAX(w->stride[i], w->dilation[i]))
            return pxi_op_fail(ctx, err, PX_E_INPUT,
                               "output_padding %lld is not smaller than stride or dilation",
                               (long long)extra[i]);
        if (w->out[i] < 1)
            return pxi_op_fail(ctx, err, PX_E_MISMATCH, "spatial axis %d of its data is empty", i);
        const int64_t full = w->stride[i] * (w->out[i] - 1) + extra[i] + pxi_window_extent(w, i);
        if (shape || same) {
            w->in[i] = shape ? wanted[i] : w->out[i] * w->stride[i];
            const int64_t total = PX_MAX(full - w->in[i], 0);
            w->pad_begin[i] = auto_pad == PXI_PAD_SAME_UPPER ? total / 2 : total - total / 2;
            w->pad_end[i] = total - w->pad_begin[i];
        } else {
            w->in[i] = full - w->pad_begin[i] - w->pad_end[i];
        }
        if (w->in[i] < 1 || w->in[i] > INT32_MAX)
            return pxi_op_fail(ctx, err, PX_E_MISMATCH,
                               "spatial axis %d of its result would have extent %lld", i,
                               (long long)w->in[i]);
    }
    return PX_OK;
}

static px_status transpose_read(px_op_ctx *ctx, pxi_conv_params *p, px_error *err)
{
    const px_shape *data = &ctx->in[0].shape, *weights = &ctx->in[1].shape;
    char has[PX_SHAPE_TEXT], want[PX_SHAPE_TEXT];
    PX_TRY(pxi_nn_rank(ctx, 0, 3, 2 + PXI_MAX_SPATIAL, err));
    p->transposed = true;
    p->batch = data->dim[0];
    p->in_channels = data->dim[1];
    PX_TRY(pxi_nn_int(ctx, "group", 1, INT32_MAX, 1, &p->group, err));
    if (weights->rank != data->rank || weights->dim[0] != p->in_channels)
        return pxi_op_fail(ctx, err, PX_E_MISMATCH, "weights of shape %s do not fit data of %s",
                           px_shape_text(weights, has), px_shape_text(data, want));
    if (p->in_channels % p->group != 0 ||
        __builtin_mul_overflow(weights->dim[1], p->group, &p->out_channels))
        return pxi_op_fail(ctx, err, PX_E_INPUT, "%lld groups do not divide %lld input channels",
                           (long long)p->group, (long long)p->in_channels);
    pxi_auto_pad auto_pad = PXI_PAD_NOTSET;
    PX_TRY(pxi_window_read(ctx, data, weights->dim + 2, &p->window, &auto_pad, err));
    memcpy(p->window.out, p->window.in, sizeof p->window.out);
    PX_TRY(transpose_resolve(ctx, auto_pad, &p->window, err));
    PX_TRY(pxi_nn_shape(ctx, 2, "the bias", 1, &p->out_channels, err));
    p->has_bias = pxi_op_has_in(ctx, 2);
    ctx->out[0].shape = (px_shape){.rank = data->rank, .dim = {p->batch, p->out_channels}};
    for (int i = 0; i < p->window.spatial; i++)
        ctx->out[0].shape.dim[2 + i] = p->window.in[i];
    return PX_OK;
}

static px_status transpose_setup(px_op_ctx *ctx, px_error *err)
{
    PX_TRY(pxi_op_arity(ctx, 2, 3, 1, 1, err));
    PX_TRY(pxi_nn_float(ctx, 0, 2, err));
    PX_TRY(pxi_op_params(ctx, sizeof(pxi_conv_params), err));
    ctx->out[0].dtype = PX_FLOAT32;
    return transpose_read(ctx, ctx->params, err);
}

static px_status transpose_forward(const px_op_ctx *ctx, px_error *err)
{
    (void)err;
    const pxi_conv_params *p = ctx->params;
    const pxi_conv_sides sides = pxi_conv_sides_of(p);
    px_real *y = PXI_F32(ctx->out[0]);
    pxi_conv_fill_bias(p->has_bias ? PXI_F32(ctx->in[2]) : NULL, p->batch, p->out_channels,
                       pxi_window_in_count(&p->window), y);
    pxi_conv_scatter(&sides, PXI_F32(ctx->in[0]), PXI_F32(ctx->in[1]), y);
    return PX_OK;
}

static void transpose_backward(const px_op_ctx *ctx)
{
    const pxi_conv_params *p = ctx->params;
    const pxi_conv_sides sides = pxi_conv_sides_of(p);
    const px_real *dy = PXI_F32(ctx->out_grad[0]);
    if (!dy)
        return;
    if (pxi_op_wants_grad(ctx, 0))
        pxi_conv_gather(&sides, dy, PXI_F32(ctx->in[1]), PXI_F32(ctx->in_grad[0]));
    if (pxi_op_wants_grad(ctx, 1))
        pxi_conv_weights(&sides, dy, PXI_F32(ctx->in[0]), PXI_F32(ctx->in_grad[1]));
    if (p->has_bias && pxi_op_wants_grad(ctx, 2))
        pxi_conv_bias_gradient(dy, p->batch, p->out_channels, pxi_window_in_count(&p->window),
                               PXI_F32(ctx->in_grad[2]));
}

const px_op px_op_convtranspose_1 = {
    .name = "ConvTranspose",
    .since = 1,
    .diff = PX_DIFF_YES,
    .setup = transpose_setup,
    .forward = transpose_forward,
    .backward = transpose_backward,
    .flops = pxi_conv_flops,
};
