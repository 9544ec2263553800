/* src/ops/deform_conv.c - DeformConv (ONNX, since opset 19; Dai et al., arXiv:1703.06211)
 *
 *     y(n, m, o) = bias(m) + sum over c, k of w(m, c, k) mask(n, k, o) x(n, c, o * stride + k *
 *                  dilation - pad + offset(n, k, o))
 *
 * in two dimensions, x read between its pixels, and 0 outside of the image. Offsets and masks are
 * shared by the channels of an offset group. All five inputs have gradients.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#include "ops/conv.h"

#include <internal/nn_check.h>
#include <math.h>

typedef struct deform_params {
    pxi_conv_params conv;
    int64_t offset_groups;
} deform_params;

static px_status deform_setup(px_op_ctx *ctx, px_error *err)
{
    PX_TRY(pxi_op_arity(ctx, 3, 5, 1, 1, err));
    PX_TRY(pxi_nn_float(ctx, 0, 4, err));
    PX_TRY(pxi_op_params(ctx, sizeof(deform_params), err));
    deform_params *p = ctx->params;
    PX_TRY(pxi_conv_read(ctx, 0, 1, &p->conv, err));
    if (p->conv.window.spatial != 2)
        return pxi_op_fail(ctx, err, PX_E_UNSUPPORTED, "deforming %d dimensions is not supported",
                           p->conv.window.spatial);
    PX_TRY(pxi_nn_int(ctx, "offset_group", 1, INT32_MAX, 1, &p->offset_groups, err));
    if (p->conv.in_channels % p->offset_groups != 0)
        return pxi_op_fail(ctx, err, PX_E_INPUT, "%lld offset groups do not divide %lld channels",
                           (long long)p->offset_groups, (long long)p->conv.in_channels);
    const pxi_window *w = &p->conv.window;
    const int64_t taps = p->offset_groups * w->kernel[0] * w->kernel[1];
    const int64_t offsets[] = {p->conv.batch, 2 * taps, w->out[0], w->out[1]};
    const int64_t masks[] = {p->conv.batch, taps, w->out[0], w->out[1]};
    PX_TRY(pxi_nn_shape(ctx, 2, "the offset", 4, offsets, err));
    PX_TRY(pxi_nn_shape(ctx, 3, "the bias", 1, &p->conv.out_channels, err));
    PX_TRY(pxi_nn_shape(ctx, 4, "the mask", 4, masks, err));
    p->conv.has_bias = pxi_op_has_in(ctx, 3);
    ctx->out[0].dtype = PX_FLOAT32;
    return PX_OK;
}

/* One place between pixels: four neighbours, their weights and the weights' slopes along both axes.
 */
typedef struct deform_spot {
    int64_t at[4]; /* -1: outside */
    double weight[4], down[4], right[4];
    double mask;
    int64_t offset_at, mask_at; /* of the vertical offset, and of the mask */
} deform_spot;

static void deform_spot_at(const px_op_ctx *ctx, int64_t n, int64_t group, int64_t tap, int64_t o,
                           deform_spot *spot)
{
    const deform_params *p = ctx->params;
    const pxi_window *w = &p->conv.window;
    const int64_t taps = w->kernel[0] * w->kernel[1], area = w->out[0] * w->out[1];
    const int64_t place = (n * p->offset_groups + group) * taps + tap;
    const px_real *offset = PXI_F32(ctx->in[2]);
    spot->offset_at = 2 * place * area + o;
    spot->mask_at = place * area + o;
    spot->mask = pxi_op_has_in(ctx, 4) ? (double)PXI_F32(ctx->in[4])[spot->mask_at] : 1.0;
    double y = (double)(o / w->out[1] * w->stride[0] + tap / w->kernel[1] * w->dilation[0] -
                        w->pad_begin[0]) +
               (double)offset[spot->offset_at];
    double x = (double)(o % w->out[1] * w->stride[1] + tap % w->kernel[1] * w->dilation[1] -
                        w->pad_begin[1]) +
               (double)offset[spot->offset_at + area];
    if (!(fabs(y) < 0x1p40) || !(fabs(x) < 0x1p40)) /* infinities and NaN: far outside */
        y = x = -0x1p40;
    const double top = floor(y), left = floor(x), dy = y - top, dx = x - left;
    for (int i = 0; i < 4; i++) {
        const double row = top + i / 2, column = left + i % 2;
        const bool inside =
            row >= 0.0 && row < (double)w->in[0] && column >= 0.0 && column < (double)w->in[1];
        const double wy = i / 2 ? dy : 1.0 - dy, wx = i % 2 ? dx : 1.0 - dx;
        spot->at[i] = inside ? (int64_t)row * w->in[1] + (int64_t)column : -1;
        spot->weight[i] = wy * wx;
        spot->down[i] = (i / 2 ? wx : -wx);
        spot->right[i] = (i % 2 ? wy : -wy);
    }
}

static double deform_read(const deform_spot *spot, const double *weight, const px_real *plane)
{
    double sum = 0.0;
    for (int i = 0; i < 4; i++)
        if (spot->at[i] >= 0)
            sum += weight[i] * (double)plane[spot->at[i]];
    return sum;
}

static px_status deform_forward(const px_op_ctx *ctx, px_error *err)
{
    const deform_params *p = ctx->params;
    const pxi_conv_params *conv = &p->conv;
    const pxi_window *w = &conv->window;
    const int64_t taps = w->kernel[0] * w->kernel[1], area = w->out[0] * w->out[1];
    const int64_t in = conv->in_channels / conv->group, out = conv->out_channels / conv->group;
    const int64_t together = conv->in_channels / p->offset_groups, pixels = w->in[0] * w->in[1];
    const px_real *weights = PXI_F32(ctx->in[1]);
    px_real *y = PXI_F32(ctx->out[0]);
    (void)err;
    pxi_conv_fill_bias(conv->has_bias ? PXI_F32(ctx->in[3]) : NULL, conv->batch, conv->out_channels,
                       area, y);
    for (int64_t n = 0; n < conv->batch; n++)
        for (int64_t o = 0; o < area; o++)
            for (int64_t c = 0; c < conv->in_channels; c++)
                for (int64_t k = 0; k < taps; k++) {
                    deform_spot spot;
                    deform_spot_at(ctx, n, c / together, k, o, &spot);
                    const px_real *plane =
                        PXI_F32(ctx->in[0]) + (n * conv->in_channels + c) * pixels;
                    const px_real value =
                        (px_real)(spot.mask * deform_read(&spot, spot.weight, plane));
                    for (int64_t m = c / in * out; m < (c / in + 1) * out; m++)
                        y[(n * conv->out_channels + m) * area + o] +=
                            weights[(m * in + c % in) * taps + k] * value;
                }
    return PX_OK;
}

static void deform_backward(const px_op_ctx *ctx)
{
    const deform_params *p = ctx->params;
    const pxi_conv_params *conv = &p->conv;
    const pxi_window *w = &conv->window;
    const int64_t taps = w->kernel[0] * w->kernel[1], area = w->out[0] * w->out[1];
    const int64_t in = conv->in_channels / conv->group, out = conv->out_channels / conv->group;
    const int64_t together = conv->in_channels / p->offset_groups, pixels = w->in[0] * w->in[1];
    const px_real *weights = PXI_F32(ctx->in[1]), *dy = ctx->out_grad[0].data;
    px_real *grad[5] = {0};
    if (!dy)
        return;
    for (int i = 0; i < ctx->in_count; i++)
        grad[i] = ctx->in_grad[i].data;
    if (grad[3])
        pxi_conv_bias_gradient(dy, conv->batch, conv->out_channels, area, grad[3]);
    for (int64_t n = 0; n < conv->batch; n++)
        for (int64_t o = 0; o < area; o++)
            for (int64_t c = 0; c < conv->in_channels; c++)
                for (int64_t k = 0; k < taps; k++) {
                    deform_spot spot;
                    deform_spot_at(ctx, n, c / together, k, o, &spot);
                    const int64_t start = (n * conv->in_channels + c) * pixels;
                    const px_real *plane = PXI_F32(ctx->in[0]) + start;
                    const double value = deform_read(&spot, spot.weight, plane);
                    double pull = 0.0; /* on mask * value */
                    for (int64_t m = c / in * out; m < (c / in + 1) * out; m++) {
                        const double d = (double)dy[(n * conv->out_channels + m) * area + o];
                        const int64_t at = (m * in + c % in) * taps + k;
                        pull += d * (double)weights[at];
                        if (grad[1])
                            grad[1][at] += (px_real)(d * spot.mask * value);
                    }
                    if (grad[4])
                        grad[4][spot.mask_at] += (px_real)(pull * value);
                    pull *= spot.mask;
                    if (grad[2]) {
                        grad[2][spot.offset_at] +=
                            (px_real)(pull * deform_read(&spot, spot.down, plane));
                        grad[2][spot.offset_at + area] +=
                            (px_real)(pull * deform_read(&spot, spot.right, plane));
                    }
                    for (int i = 0; grad[0] && i < 4; i++)
                        if (spot.at[i] >= 0)
                            grad[0][start + spot.at[i]] += (px_real)(pull * spot.weight[i]);
                }
}

/* Reading a place takes about ten operations, once per channel and tap. */
static int64_t deform_flops(const px_op_ctx *ctx)
{
    const deform_params *p = ctx->params;
    const double places = (double)p->conv.batch * (double)pxi_window_out_count(&p->conv.window) *
                          (double)p->conv.in_channels *
                          (double)pxi_window_kernel_count(&p->conv.window);
    return pxi_nn_flops(places * (10.0 + 2.0 * (double)(p->conv.out_channels / p->conv.group)));
}

const px_op px_op_deformconv_19 = {
    .name = "DeformConv",
    .since = 19,
    .diff = PX_DIFF_YES,
    .setup = deform_setup,
    .forward = deform_forward,
    .backward = deform_backward,
    .flops = deform_flops,
};
