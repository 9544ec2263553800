/* src/ops/conv_loops.c - the three products of a convolution in plain C
 *
 * Result, data gradient and weight gradient walk the same loops: for each pair of channels and each
 * tap of the kernel, one row at a time, so that the innermost loop runs along contiguous memory and
 * padding is a matter of where a row starts and ends. ConvTranspose uses them in other roles.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#include "ops/conv.h"

typedef enum conv_product {
    CONV_GATHER,
    CONV_SCATTER,
    CONV_WEIGHTS,
} conv_product;

typedef struct conv_operands {
    const px_real *wide, *narrow, *weights; /* the one that is `result` is not read through here */
    px_real *result;
} conv_operands;

static void row_gather(const px_real *restrict wide, px_real weight, px_real *restrict narrow,
                       int64_t count, int64_t stride)
{
    if (stride == 1) {
#pragma omp simd
        for (int64_t i = 0; i < count; i++)
            narrow[i] += weight * wide[i];
    } else {
        for (int64_t i = 0; i < count; i++)
            narrow[i] += weight * wide[i * stride];
    }
}

static void row_scatter(const px_real *restrict narrow, px_real weight, px_real *restrict wide,
                        int64_t count, int64_t stride)
{
    if (stride == 1) {
#pragma omp simd
        for (int64_t i = 0; i < count; i++)
            wide[i] += weight * narrow[i];
    } else {
        for (int64_t i = 0; i < count; i++)
            wide[i * stride] += weight * narrow[i];
    }
}

static double row_dot(const px_real *restrict wide, const px_real *restrict narrow, int64_t count,
                      int64_t stride)
{
    double sum = 0.0;
#pragma omp simd reduction(+ : sum)
    for (int64_t i = 0; i < count; i++)
        sum += (double)wide[i * stride] * (double)narrow[i];
    return sum;
}

/* One pair of channel planes; the offsets say where they and their kernel start. */
static void conv_planes(const pxi_window *w, conv_product product, const conv_operands *operands,
                        int64_t wide_at, int64_t narrow_at, int64_t weight_at)
{
    for (int64_t kd = 0; kd < w->kernel[0]; kd++)
        for (int64_t kh = 0; kh < w->kernel[1]; kh++)
            for (int64_t kw = 0; kw < w->kernel[2]; kw++, weight_at++) {
                const int64_t k[3] = {kd, kh, kw};
                int64_t low[3], high[3], shift[3];
                for (int i = 0; i < 3; i++) {
                    pxi_window_span(w, i, k[i], &low[i], &high[i]);
                    shift[i] = k[i] * w->dilation[i] - w->pad_begin[i];
                }
                const int64_t count = high[2] - low[2], stride = w->stride[2];
                if (count == 0)
                    continue;
                double sum = 0.0;
                for (int64_t d = low[0]; d < high[0]; d++)
                    for (int64_t h = low[1]; h < high[1]; h++) {
                        const int64_t plane = d * w->stride[0] + shift[0];
                        const int64_t row = h * w->stride[1] + shift[1];
                        const int64_t wide = wide_at + (plane * w->in[1] + row) * w->in[2] +
                                             low[2] * stride + shift[2];
                        const int64_t narrow = narrow_at + (d * w->out[1] + h) * w->out[2] + low[2];
                        if (product == CONV_GATHER)
                            row_gather(operands->wide + wide, operands->weights[weight_at],
                                       operands->result + narrow, count, stride);
                        else if (product == CONV_SCATTER)
                            row_scatter(operands->narrow + narrow, operands->weights[weight_at],
                                        operands->result + wide, count, stride);
                        else
                            sum += row_dot(operands->wide + wide, operands->narrow + narrow, count,
                                           stride);
                    }
                if (product == CONV_WEIGHTS)
                    operands->result[weight_at] += (px_real)sum;
            }
}

static void conv_walk(const pxi_conv_sides *s, conv_product product, const conv_operands *operands)
{
    const int64_t wide_area = pxi_window_in_count(&s->window);
    const int64_t narrow_area = pxi_window_out_count(&s->window);
    const int64_t taps = pxi_window_kernel_count(&s->window);
    for (int64_t n = 0; n < s->batch; n++)
        for (int64_t g = 0; g < s->group; g++)
            for (int64_t m = 0; m < s->narrow_channels; m++) {
                const int64_t narrow = g * s->narrow_channels + m;
                const int64_t narrow_at =
                    (n * s->group * s->narrow_channels + narrow) * narrow_area;
                for (int64_t c = 0; c < s->wide_channels; c++)
                    conv_planes(&s->window, product, operands,
                                ((n * s->group + g) * s->wide_channels + c) * wide_area, narrow_at,
                                (narrow * s->wide_channels + c) * taps);
            }
}

void pxi_conv_gather(const pxi_conv_sides *sides, const px_real *wide, const px_real *weights,
                     px_real *narrow)
{
    conv_walk(sides, CONV_GATHER,
              &(conv_operands){.wide = wide, .weights = weights, .result = narrow});
}

void pxi_conv_scatter(const pxi_conv_sides *sides, const px_real *narrow, const px_real *weights,
                      px_real *wide)
{
    conv_walk(sides, CONV_SCATTER,
              &(conv_operands){.narrow = narrow, .weights = weights, .result = wide});
}

void pxi_conv_weights(const pxi_conv_sides *sides, const px_real *wide, const px_real *narrow,
                      px_real *weights)
{
    conv_walk(sides, CONV_WEIGHTS,
              &(conv_operands){.wide = wide, .narrow = narrow, .result = weights});
}

pxi_conv_sides pxi_conv_sides_of(const pxi_conv_params *p)
{
    pxi_conv_sides sides = {
        .window = pxi_window_3d(&p->window),
        .batch = p->batch,
        .group = p->group,
        .wide_channels = (p->transposed ? p->out_channels : p->in_channels) / p->group,
        .narrow_channels = (p->transposed ? p->in_channels : p->out_channels) / p->group,
    };
    pxi_window *w = &sides.window;
    bool pointwise = true;
    for (int i = 0; i < 3; i++)
        pointwise &=
            w->kernel[i] == 1 && w->stride[i] == 1 && w->in[i] == w->out[i] && w->pad_begin[i] == 0;
    if (pointwise) { /* a 1x1 convolution: the whole plane is one row */
        w->in[2] = w->out[2] = pxi_window_in_count(w);
        w->in[0] = w->in[1] = w->out[0] = w->out[1] = 1;
    }
    return sides;
}

void pxi_conv_fill_bias(const px_real *bias, int64_t batch, int64_t channels, int64_t area,
                        px_real *y)
{
    for (int64_t n = 0; n < batch; n++)
        for (int64_t c = 0; c < channels; c++, y += area)
            for (int64_t i = 0; i < area; i++)
                y[i] = bias ? bias[c] : 0;
}

void pxi_conv_bias_gradient(const px_real *dy, int64_t batch, int64_t channels, int64_t area,
                            px_real *dbias)
{
    for (int64_t c = 0; c < channels; c++) {
        double sum = 0.0;
        for (int64_t n = 0; n < batch; n++) {
            const px_real *plane = dy + (n * channels + c) * area;
            for (int64_t i = 0; i < area; i++)
                sum += (double)plane[i];
        }
        dbias[c] += (px_real)sum;
    }
}
