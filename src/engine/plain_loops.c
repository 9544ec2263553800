/* src/engine/plain_loops.c - fused units on plain loops, for values that fast kernels would hide */
/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/plain_loops.h"

#include "base/memory.h"
#include "base/wide.h"

#include <stdlib.h>
#include <string.h>

PXI_WIDE static void plain_add(float v, const float *w, float *sum, size_t count)
{
    for (size_t i = 0; i < count; i++)
        sum[i] += v * w[i];
}

/* Weights with a group's result channels side by side: [group][ky][kx][in][out]. */
static float *plain_pack(const pxi_conv_shape *s, const float *weights)
{
    const int64_t oc = s->out_channels / s->group, ic = s->in_channels / s->group;
    const int64_t taps = s->kernel[0] * s->kernel[1];
    float *packed = pxi_calloc((size_t)(s->group * oc * ic * taps), sizeof *packed);
    for (int64_t g = 0; packed && g < s->group; g++)
        for (int64_t o = 0; o < oc; o++)
            for (int64_t i = 0; i < ic; i++)
                for (int64_t t = 0; t < taps; t++)
                    packed[((g * taps + t) * ic + i) * oc + o] =
                        weights[((g * oc + o) * ic + i) * taps + t];
    return packed;
}

/* The sums of one pixel: `sum` has all result channels. */
static void plain_pixel(const pxi_conv_shape *s, const float *packed, const float *x, int64_t oy,
                        int64_t ox, float *sum)
{
    const int64_t oc = s->out_channels / s->group, ic = s->in_channels / s->group;
    for (int64_t ky = 0; ky < s->kernel[0]; ky++)
        for (int64_t kx = 0; kx < s->kernel[1]; kx++) {
            const int64_t iy = oy * s->stride[0] - s->pad_begin[0] + ky * s->dilation[0];
            const int64_t ix = ox * s->stride[1] - s->pad_begin[1] + kx * s->dilation[1];
            if (iy < 0 || iy >= s->in[0] || ix < 0 || ix >= s->in[1])
                continue;
            const float *v = x + (iy * s->in[1] + ix) * s->in_channels;
            for (int64_t g = 0; g < s->group; g++) {
                const float *w = packed + ((g * s->kernel[0] + ky) * s->kernel[1] + kx) * ic * oc;
                for (int64_t i = 0; i < ic; i++)
                    plain_add(v[g * ic + i], w + i * oc, sum + g * oc, (size_t)oc);
            }
        }
}

px_status pxi_plain_conv(const pxi_conv_shape *s, const float *weights, const float *bias,
                         const pxi_act *act, bool adds, const float *x, float *y, px_error *err)
{
    const size_t channels = (size_t)s->out_channels;
    float *packed = plain_pack(s, weights), *sum = pxi_calloc(channels, sizeof *sum);
    if (packed && sum)
        for (int64_t oy = 0; oy < s->out[0]; oy++)
            for (int64_t ox = 0; ox < s->out[1]; ox++, y += channels) {
                memset(sum, 0, channels * sizeof *sum);
                plain_pixel(s, packed, x, oy, ox, sum);
                for (size_t o = 0; o < channels; o++)
                    y[o] = (adds ? y[o] : 0.0f) + sum[o] + (bias ? bias[o] : 0.0f);
                pxi_act_forward(act, y, channels);
            }
    const bool done = packed && sum;
    free(packed);
    free(sum);
    return done ? PX_OK : pxi_no_memory(err);
}

void pxi_plain_product(int64_t k, int64_t n, const float *b, bool transposed, const float *bias,
                       const pxi_act *act, const float *x, float *y)
{
    memset(y, 0, (size_t)n * sizeof *y);
    for (int64_t i = 0; i < k && !transposed; i++)
        plain_add(x[i], b + i * n, y, (size_t)n);
    for (int64_t j = 0; j < n; j++) {
        for (int64_t i = 0; i < k && transposed; i++)
            y[j] += x[i] * b[j * k + i];
        y[j] += bias ? bias[j] : 0.0f;
    }
    pxi_act_forward(act, y, (size_t)n);
}
