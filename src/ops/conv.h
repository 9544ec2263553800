/* src/ops/conv.h - Conv and ConvTranspose as their setup() leaves them in ctx->params */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PXI_OPS_CONV_H
#define PXI_OPS_CONV_H

#include "ops/conv_window.h"

/* Conv: X (N, in_channels, in...), W (out_channels, in_channels / group, kernel...),
 *       Y (N, out_channels, out...).
 * ConvTranspose: X (N, in_channels, out...), W (in_channels, out_channels / group, kernel...),
 *       Y (N, out_channels, in...): its window is that of the convolution it transposes, so
 *       window.in is the *result's* extent and window.out the data's. A large output_shape or
 *       output_padding may leave elements of Y that no tap reaches.
 * Channel counts are multiples of group. Input 2, if present, is a bias of out_channels. */
typedef struct pxi_conv_params {
    pxi_window window;
    int64_t batch, group, in_channels, out_channels;
    bool transposed, has_bias;
} pxi_conv_params;

/* The channels on the two sides of a convolution's window: `wide` is what the window slides over,
 * `narrow` its result. */
typedef struct pxi_conv_sides {
    pxi_window window; /* three axes */
    int64_t batch, group;
    int64_t wide_channels, narrow_channels; /* per group */
} pxi_conv_sides;

/* The three products of a convolution, all of which add to their result; weights are
 * (group * narrow_channels, wide_channels, kernel...). */
void pxi_conv_gather(const pxi_conv_sides *sides, const px_real *wide, const px_real *weights,
                     px_real *narrow);
void pxi_conv_scatter(const pxi_conv_sides *sides, const px_real *narrow, const px_real *weights,
                      px_real *wide);
void pxi_conv_weights(const pxi_conv_sides *sides, const px_real *wide, const px_real *narrow,
                      px_real *weights);

pxi_conv_sides pxi_conv_sides_of(const pxi_conv_params *params);

/* Fills (batch, channels, area) with a bias per channel, or with zeros when it is NULL. */
void pxi_conv_fill_bias(const px_real *bias, int64_t batch, int64_t channels, int64_t area,
                        px_real *y);

/* bias gradient += sums of dy (batch, channels, area) per channel */
void pxi_conv_bias_gradient(const px_real *dy, int64_t batch, int64_t channels, int64_t area,
                            px_real *dbias);

/* What Conv, ConvInteger and QLinearConv share: checks data and weight shapes (inputs `x` and `w`),
 * reads the window, sets out[0].shape. */
px_status pxi_conv_read(px_op_ctx *ctx, int x, int w, pxi_conv_params *params, px_error *err);

int64_t pxi_conv_flops(const px_op_ctx *ctx);

#endif
