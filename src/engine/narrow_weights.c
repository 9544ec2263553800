/* src/engine/narrow_weights.c - weight gradients of convolutions with few result channels, stride 1
 *
 *     dW[o][c][ky][kx] = sum over pixels of x[c][y + ky][x + kx] g[o][y][x]
 *
 * Data and gradient are copied into planes, and strips of 16 neighbouring pixels are multiplied for
 * all taps of a kernel's row and all result channels at once. Sums of a sample are in float, sums
 * over samples in double; their order is fixed.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/narrow.h"

#include "base/memory.h"
#include "base/wide.h"

#include <string.h>

#ifdef __clang__
#pragma STDC FP_CONTRACT ON
#else
#pragma GCC optimize("fp-contract=fast")
#endif

enum { LANES = 16, GROUP = 6 /* result channels at a time: with 5 taps 30 sums in registers */ };

typedef float lanes __attribute__((vector_size(64), aligned(4), may_alias));

bool pxi_narrow_weights_takes(const pxi_conv_shape *s)
{
    return pxi_narrow_takes(s, NULL, false) && s->in_channels <= 4 && s->kernel[1] <= 5;
}

typedef struct grad_planes { /* sizes, in floats */
    size_t row;              /* of a plane of the gradient: whole strips */
    size_t plane, all;       /* one plane of the gradient; all of them */
    size_t data;             /* the planes of the data */
    size_t sums;             /* weights and bias */
} grad_planes;

static grad_planes narrow_planes(const pxi_conv_shape *s)
{
    grad_planes p = {.row = ((size_t)s->out[1] + LANES - 1) / LANES * LANES};
    p.plane = (size_t)s->out[0] * p.row;
    p.all = (size_t)s->out_channels * p.plane;
    p.data = pxi_narrow_planes_size(s);
    p.sums = (size_t)(s->out_channels * (s->in_channels * s->kernel[0] * s->kernel[1] + 1));
    return p;
}

size_t pxi_narrow_weights_scratch(const pxi_conv_shape *s)
{
    const grad_planes p = narrow_planes(s);
    return (p.all + p.data) * sizeof(float) + p.sums * sizeof(double);
}

static inline __attribute__((always_inline)) void
grad_split_row(const float *g, float *planes, size_t plane, size_t width, const size_t oc)
{
    for (size_t o = 0; o < oc; o++)
        for (size_t x = 0; x < width; x++)
            planes[o * plane + x] = g[x * oc + o];
}

#define SPLIT_CASE(channels)                               \
    case channels:                                         \
        grad_split_row(g, row, p->plane, width, channels); \
        break;

/* (h, w, o) to planes (o, h, row); what fills the last strip of a row is zero from the start. */
PXI_WIDE_FUSED static void grad_split(const pxi_conv_shape *s, const grad_planes *p, const float *g,
                                      float *planes)
{
    const size_t oc = (size_t)s->out_channels, width = (size_t)s->out[1];
    for (size_t y = 0; y < (size_t)s->out[0]; y++, g += width * oc) {
        float *row = planes + y * p->row;
        switch (oc) {
            SPLIT_CASE(1)
            SPLIT_CASE(2)
            SPLIT_CASE(3)
            SPLIT_CASE(4)
            SPLIT_CASE(5)
            SPLIT_CASE(6)
            SPLIT_CASE(7)
            SPLIT_CASE(8)
        default:
            break;
        }
    }
}

static inline __attribute__((always_inline)) double grad_total(const lanes *v)
{
    float sum = 0.0f;
    for (int i = 0; i < LANES; i++)
        sum += (*v)[i];
    return (double)sum;
}

/* One row of taps, one input channel, `oc` result channels; `oc` and `kw` are constants after
 * inlining. sums[o * step + kx] takes what a sample adds. */
static inline __attribute__((always_inline)) void
grad_row(const pxi_conv_shape *s, const grad_planes *p, const float *data, size_t stride,
         const float *g, double *sums, size_t step, const int oc, const int kw)
{
    lanes acc[GROUP * 5];
    for (int i = 0; i < oc * kw; i++)
        acc[i] = (lanes){0};
    for (size_t y = 0; y < (size_t)s->out[0]; y++)
        for (size_t x = 0; x < p->row; x += LANES) {
            const float *from = data + y * stride + x, *back = g + y * p->row + x;
            for (int k = 0; k < kw; k++) {
                const lanes v = *(const lanes *)(const void *)(from + k);
                for (int o = 0; o < oc; o++)
                    acc[o * kw + k] +=
                        v * *(const lanes *)(const void *)(back + (size_t)o * p->plane);
            }
        }
    for (int o = 0; o < oc; o++)
        for (int k = 0; k < kw; k++)
            sums[(size_t)o * step + (size_t)k] += grad_total(&acc[o * kw + k]);
}

#define GRAD_CASE(channels)                                                       \
    case channels:                                                                \
        if (s->kernel[1] == 5)                                                    \
            grad_row(s, p, data, stride, g, sums, step, channels, 5);             \
        else if (s->kernel[1] == 3)                                               \
            grad_row(s, p, data, stride, g, sums, step, channels, 3);             \
        else                                                                      \
            for (size_t k = 0; k < (size_t)s->kernel[1]; k++)                     \
                grad_row(s, p, data + k, stride, g, sums + k, step, channels, 1); \
        break;

PXI_WIDE_FUSED static void grad_group(const pxi_conv_shape *s, const grad_planes *p,
                                      const float *data, size_t stride, const float *g,
                                      double *sums, size_t step, size_t channels)
{
    switch (channels) {
        GRAD_CASE(1)
        GRAD_CASE(2)
        GRAD_CASE(3)
        GRAD_CASE(4)
        GRAD_CASE(5)
        GRAD_CASE(6)
    default:
        break;
    }
}

PXI_WIDE_FUSED static void grad_bias(const grad_planes *p, const float *g, double *sum)
{
    lanes acc[4] = {{0}};
    size_t i = 0;
    for (; i + 4 * LANES <= p->plane; i += 4 * LANES)
        for (size_t k = 0; k < 4; k++)
            acc[k] += *(const lanes *)(const void *)(g + i + k * LANES);
    for (; i < p->plane; i += LANES)
        acc[0] += *(const lanes *)(const void *)(g + i);
    acc[0] += acc[1] + (acc[2] + acc[3]);
    *sum += grad_total(&acc[0]);
}

void pxi_narrow_weights_run(const pxi_conv_shape *s, const float *source, const float *dy,
                            float *gradient, float *bias, void *scratch)
{
    const grad_planes p = narrow_planes(s);
    const size_t oc = (size_t)s->out_channels, ic = (size_t)s->in_channels;
    const size_t taps = (size_t)(s->kernel[0] * s->kernel[1]), step = ic * taps;
    const size_t stride = pxi_narrow_planes_row(s), plane = p.data / ic;
    double *sums = scratch, *bias_sums = sums + oc * step;
    float *g = (float *)(void *)(sums + p.sums), *data = g + p.all;
    memset(scratch, 0, p.sums * sizeof *sums + p.all * sizeof *g);
    for (int64_t n = 0; n < s->batch; n++) {
        grad_split(s, &p, dy + n * s->out_channels * s->out[0] * s->out[1], g);
        pxi_narrow_split(s, source + n * s->in_channels * s->in[0] * s->in[1], data);
        for (size_t c = 0; c < ic; c++)
            for (size_t ky = 0; ky < (size_t)s->kernel[0]; ky++)
                for (size_t o = 0; o < oc; o += GROUP)
                    grad_group(s, &p, data + c * plane + ky * stride, stride, g + o * p.plane,
                               sums + o * step + c * taps + ky * (size_t)s->kernel[1], step,
                               PX_MIN((size_t)GROUP, oc - o));
        for (size_t o = 0; bias && o < oc; o++)
            grad_bias(&p, g + o * p.plane, &bias_sums[o]);
    }
    for (size_t i = 0; gradient && i < oc * step; i++)
        gradient[i] = (float)sums[i];
    for (size_t o = 0; bias && o < oc; o++)
        bias[o] = (float)bias_sums[o];
}
