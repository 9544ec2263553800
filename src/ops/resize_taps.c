/* src/ops/resize_taps.c - which input elements an output of Resize reads, and with what weights
 *
 * Coordinates and kernels as in ONNX's operator text and its reference implementation; all in
 * double. Elements beyond the edge repeat it, unless exclude_outside drops them and lets the others
 * share their weight.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#include "ops/resize.h"

#include "base/memory.h"

#include <math.h>

static double coordinate(const pxi_resize_params *p, int axis, double in, double out, double x)
{
    const double scale = p->scale[axis];
    switch (p->coordinate) {
    case PXI_RESIZE_PYTORCH_HALF_PIXEL:
        return out > 1.0 ? (x + 0.5) / scale - 0.5 : 0.0;
    case PXI_RESIZE_ALIGN_CORNERS: /* ONNX's reference does not round in * scale here */
        return out > 1.0 && in * scale > 1.0 ? x * (in - 1.0) / (in * scale - 1.0) : 0.0;
    case PXI_RESIZE_ASYMMETRIC:
        return x / scale;
    case PXI_RESIZE_TF_HALF_PIXEL_FOR_NN:
        return (x + 0.5) / scale;
    case PXI_RESIZE_TF_CROP: {
        const double start = p->roi_start[axis], end = p->roi_end[axis];
        return out > 1.0 ? start * (in - 1.0) + x * (end - start) * (in - 1.0) / (out - 1.0)
                         : 0.5 * (start + end) * (in - 1.0);
    }
    case PXI_RESIZE_HALF_PIXEL_SYMMETRIC:
        return 0.5 * in * (1.0 - out / (scale * in)) + (x + 0.5) / scale - 0.5;
    default:
        return (x + 0.5) / scale - 0.5;
    }
}

static double rounded(const pxi_resize_params *p, int axis, double x)
{
    switch (p->rounding) {
    case PXI_RESIZE_PREFER_CEIL:
        return floor(x + 0.5);
    case PXI_RESIZE_FLOOR:
        return floor(x);
    case PXI_RESIZE_CEIL:
        return ceil(x);
    case PXI_RESIZE_SIMPLE:
        return p->scale[axis] < 1.0 ? ceil(x) : floor(x);
    default:
        return ceil(x - 0.5);
    }
}

static double cubic(double a, double x)
{
    x = fabs(x);
    if (x <= 1.0)
        return ((a + 2.0) * x - (a + 3.0)) * x * x + 1.0;
    return x < 2.0 ? ((a * x - 5.0 * a) * x + 8.0 * a) * x - 4.0 * a : 0.0;
}

/* How much the kernel is stretched: it covers `1 / stretch` times its reach when antialiasing. */
static double stretch(const pxi_resize_params *p, int axis)
{
    return p->antialias && p->scale[axis] < 1.0 ? p->scale[axis] : 1.0;
}

static double reach(const pxi_resize_params *p, int axis)
{
    return (p->mode == PXI_RESIZE_CUBIC ? 2.0 : 1.0) / stretch(p, axis);
}

int64_t pxi_taps_count(const pxi_resize_params *p, int axis)
{
    if (p->mode == PXI_RESIZE_NEAREST)
        return 1;
    const double start = floor(-reach(p, axis)) + 1.0, count = 2.0 - 2.0 * start;
    return count < 0x1p40 ? (int64_t)count : -1;
}

int64_t pxi_taps_bytes(int64_t count, int64_t out)
{
    int64_t entries, bytes;
    if (count < 0 || __builtin_mul_overflow(count, out, &entries) ||
        __builtin_mul_overflow(entries, (int64_t)(sizeof(int64_t) + sizeof(double)), &bytes) ||
        __builtin_add_overflow(bytes, out + 64, &bytes))
        return -1;
    return bytes / 64 * 64 + 64;
}

static void fill_entry(const pxi_resize_params *p, int axis, int64_t in, double x, int64_t count,
                       int64_t *index, double *weight)
{
    const double low = floor(x), ratio = x - low, squeeze = stretch(p, axis);
    const double start = floor(-reach(p, axis)) + 1.0;
    double sum = 0.0;
    for (int64_t k = 0; k < count; k++) {
        const double offset = start + (double)k, at = low + offset;
        const double arg = (offset - ratio) * squeeze;
        double w =
            p->mode == PXI_RESIZE_CUBIC ? cubic(p->cubic_a, arg) : PX_MAX(1.0 - fabs(arg), 0.0);
        if (p->exclude_outside && (at < 0.0 || at > (double)(in - 1)))
            w = 0.0;
        index[k] = (int64_t)PX_MIN(PX_MAX(at, 0.0), (double)(in - 1));
        weight[k] = w;
        sum += w;
    }
    const bool share = p->exclude_outside || p->antialias;
    for (int64_t k = 0; share && sum != 0.0 && k < count; k++)
        weight[k] /= sum;
}

void pxi_taps_fill(pxi_taps *taps, void *memory, const pxi_resize_params *p, int axis, int64_t in,
                   int64_t out)
{
    taps->count = pxi_taps_count(p, axis);
    taps->index = memory;
    taps->weight = (double *)(taps->index + taps->count * out);
    taps->outside = (uint8_t *)(taps->weight + taps->count * out);
    for (int64_t o = 0; o < out; o++) {
        double x = coordinate(p, axis, (double)in, (double)out, (double)o);
        int64_t *index = taps->index + o * taps->count;
        double *weight = taps->weight + o * taps->count;
        taps->outside[o] = p->crops && !(x >= 0.0 && x <= (double)(in - 1));
        if (!(x > -0x1p50 && x < 0x1p50)) /* keeps conversions to integers defined, NaN included */
            x = 0.0;
        if (p->mode == PXI_RESIZE_NEAREST) {
            const double at = rounded(p, axis, x);
            index[0] = (int64_t)PX_MIN(PX_MAX(at, 0.0), (double)(in - 1));
            weight[0] = 1.0;
        } else {
            fill_entry(p, axis, in, x, taps->count, index, weight);
        }
        for (int64_t k = 0; taps->outside[o] && k < taps->count; k++)
            weight[k] = 0.0;
    }
}
