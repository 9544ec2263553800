/* src/ops/conv.c - Conv (ONNX, since opset 1)
 *
 *     y(n, m, o) = bias(m) + sum over c, k of w(m, c, k) * x(n, c, o * stride + k * dilation - pad)
 */
/* SPDX-License-Identifier: Apache-2.0 */
#include "ops/conv.h"

#include <internal/nn_check.h>

px_status pxi_conv_read(px_op_ctx *ctx, int x, int w, pxi_conv_params *params, px_error *err)
{
    const px_shape *data = &ctx->in[x].shape, *weights = &ctx->in[w].shape;
    char has[PX_SHAPE_TEXT], want[PX_SHAPE_TEXT];
    PX_TRY(pxi_nn_rank(ctx, x, 3, 2 + PXI_MAX_SPATIAL, err));
    if (weights->rank != data->rank)
        return pxi_op_fail(ctx, err, PX_E_MISMATCH, "weights of shape %s do not fit data of %s",
                           px_shape_text(weights, has), px_shape_text(data, want));
    pxi_conv_params p = {
        .batch = data->dim[0], .in_channels = data->dim[1], .out_channels = weights->dim[0]};
    PX_TRY(pxi_nn_int(ctx, "group", 1, INT32_MAX, 1, &p.group, err));
    if (p.in_channels % p.group != 0 || p.out_channels % p.group != 0)
        return pxi_op_fail(ctx, err, PX_E_INPUT,
                           "%lld groups do not divide %lld input and %lld output channels",
                           (long long)p.group, (long long)p.in_channels, (long long)p.out_channels);
    if (p.in_channels / p.group != weights->dim[1])
        return pxi_op_fail(
            ctx, err, PX_E_MISMATCH, "weights of shape %s do not fit data of %s in %lld groups",
            px_shape_text(weights, has), px_shape_text(data, want), (long long)p.group);
    pxi_auto_pad auto_pad = PXI_PAD_NOTSET;
    PX_TRY(pxi_window_read(ctx, data, weights->dim + 2, &p.window, &auto_pad, err));
    PX_TRY(pxi_window_resolve(ctx, auto_pad, /* ceil_mode= */ false, &p.window, err));
    px_shape *out = &ctx->out[0].shape;
    *out = (px_shape){.rank = data->rank, .dim = {p.batch, p.out_channels}};
    for (int i = 0; i < p.window.spatial; i++)
        out->dim[2 + i] = p.window.out[i];
    *params = p;
    return PX_OK;
}

static px_status conv_setup(px_op_ctx *ctx, px_error *err)
{
    PX_TRY(pxi_op_arity(ctx, 2, 3, 1, 1, err));
    PX_TRY(pxi_nn_float(ctx, 0, 2, err));
    PX_TRY(pxi_op_params(ctx, sizeof(pxi_conv_params), err));
    pxi_conv_params *params = ctx->params;
    PX_TRY(pxi_conv_read(ctx, 0, 1, params, err));
    PX_TRY(pxi_nn_shape(ctx, 2, "the bias", 1, &params->out_channels, err));
    params->has_bias = pxi_op_has_in(ctx, 2);
    ctx->out[0].dtype = PX_FLOAT32;
    return PX_OK;
}

static px_status conv_forward(const px_op_ctx *ctx, px_error *err)
{
    (void)err;
    const pxi_conv_params *p = ctx->params;
    const pxi_conv_sides sides = pxi_conv_sides_of(p);
    px_real *y = PXI_F32(ctx->out[0]);
    pxi_conv_fill_bias(p->has_bias ? PXI_F32(ctx->in[2]) : NULL, p->batch, p->out_channels,
                       pxi_window_out_count(&p->window), y);
    pxi_conv_gather(&sides, PXI_F32(ctx->in[0]), PXI_F32(ctx->in[1]), y);
    return PX_OK;
}

static void conv_backward(const px_op_ctx *ctx)
{
    const pxi_conv_params *p = ctx->params;
    const pxi_conv_sides sides = pxi_conv_sides_of(p);
    const px_real *dy = PXI_F32(ctx->out_grad[0]);
    if (!dy)
        return;
    if (pxi_op_wants_grad(ctx, 0))
        pxi_conv_scatter(&sides, dy, PXI_F32(ctx->in[1]), PXI_F32(ctx->in_grad[0]));
    if (pxi_op_wants_grad(ctx, 1))
        pxi_conv_weights(&sides, PXI_F32(ctx->in[0]), dy, PXI_F32(ctx->in_grad[1]));
    if (p->has_bias && pxi_op_wants_grad(ctx, 2))
        pxi_conv_bias_gradient(dy, p->batch, p->out_channels, pxi_window_out_count(&p->window),
                               PXI_F32(ctx->in_grad[2]));
}

int64_t pxi_conv_flops(const px_op_ctx *ctx)
{
    const pxi_conv_params *p = ctx->params;
    const pxi_window *w = &p->window;
    const double taps = (double)pxi_window_kernel_count(w) * (double)pxi_window_out_count(w);
    return pxi_nn_flops(2.0 * (double)p->batch * (double)p->in_channels * (double)p->out_channels /
                        (double)p->group * taps);
}

const px_op px_op_conv_1 = {
    .name = "Conv",
    .since = 1,
    .diff = PX_DIFF_YES,
    .setup = conv_setup,
    .forward = conv_forward,
    .backward = conv_backward,
    .flops = pxi_conv_flops,
};
