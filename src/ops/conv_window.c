/* src/ops/conv_window.c - the sliding windows of convolution and pooling */
/* SPDX-License-Identifier: Apache-2.0 */
#include "ops/conv_window.h"

#include "base/memory.h"
#include <internal/nn_check.h>

#include <string.h>

/* Bounds every number below, so that sums and products of two stay far from overflow. */
#define WINDOW_MAX INT32_MAX

static px_status window_auto_pad(const px_op_ctx *ctx, pxi_auto_pad *out, px_error *err)
{
    static const char *const names[] = {
        [PXI_PAD_NOTSET] = "NOTSET",
        [PXI_PAD_VALID] = "VALID",
        [PXI_PAD_SAME_UPPER] = "SAME_UPPER",
        [PXI_PAD_SAME_LOWER] = "SAME_LOWER",
    };
    const char *text = px_node_string(ctx->node, "auto_pad", "NOTSET");
    for (size_t i = 0; i < PX_LEN(names); i++)
        if (strcmp(text, names[i]) == 0) {
            *out = (pxi_auto_pad)i;
            return PX_OK;
        }
    return pxi_op_fail(ctx, err, PX_E_INPUT,
                       "auto_pad '%.40s' is none of NOTSET, VALID, SAME_UPPER, SAME_LOWER", text);
}

px_status pxi_window_read(const px_op_ctx *ctx, const px_shape *x, const int64_t *kernel,
                          pxi_window *window, pxi_auto_pad *auto_pad, px_error *err)
{
    pxi_window w = {.spatial = x->rank - 2};
    char text[PX_SHAPE_TEXT];
    if (w.spatial < 1 || w.spatial > PXI_MAX_SPATIAL)
        return pxi_op_fail(
            ctx, err, PX_E_UNSUPPORTED,
            "data of shape %s has %d spatial axes, which is not supported; 1 to %d are",
            px_shape_text(x, text), w.spatial < 0 ? 0 : w.spatial, PXI_MAX_SPATIAL);
    for (int i = 0; i < w.spatial; i++) {
        w.in[i] = x->dim[2 + i];
        if (w.in[i] > WINDOW_MAX)
            return pxi_op_fail(ctx, err, PX_E_INPUT, "data of shape %s is too large",
                               px_shape_text(x, text));
    }
    if (!kernel && !px_node_attr(ctx->node, "kernel_shape"))
        return pxi_op_fail(ctx, err, PX_E_INPUT, "lacks its attribute 'kernel_shape'");
    PX_TRY(pxi_nn_ints(ctx, "kernel_shape", w.spatial, 1, WINDOW_MAX, 0, w.kernel, err));
    for (int i = 0; kernel && i < w.spatial; i++) {
        if (kernel[i] < 1 || kernel[i] > WINDOW_MAX)
            return pxi_op_fail(ctx, err, PX_E_INPUT, "its weights have a kernel extent of %lld",
                               (long long)kernel[i]);
        if (w.kernel[i] != 0 && w.kernel[i] != kernel[i])
            return pxi_op_fail(ctx, err, PX_E_MISMATCH,
                               "kernel_shape says %lld where the weights have %lld",
                               (long long)w.kernel[i], (long long)kernel[i]);
        w.kernel[i] = kernel[i];
    }
    PX_TRY(pxi_nn_ints(ctx, "strides", w.spatial, 1, WINDOW_MAX, 1, w.stride, err));
    PX_TRY(pxi_nn_ints(ctx, "dilations", w.spatial, 1, WINDOW_MAX, 1, w.dilation, err));
    PX_TRY(window_auto_pad(ctx, auto_pad, err));
    if (*auto_pad == PXI_PAD_NOTSET) {
        int64_t pads[2 * PXI_MAX_SPATIAL];
        PX_TRY(pxi_nn_ints(ctx, "pads", 2 * w.spatial, 0, WINDOW_MAX, 0, pads, err));
        for (int i = 0; i < w.spatial; i++) {
            w.pad_begin[i] = pads[i];
            w.pad_end[i] = pads[w.spatial + i];
        }
    }
    *window = w;
    return PX_OK;
}

px_status pxi_window_resolve(const px_op_ctx *ctx, pxi_auto_pad auto_pad, bool ceil_mode,
                             pxi_window *window, px_error *err)
{
    for (int i = 0; i < window->spatial; i++) {
        const int64_t in = window->in[i], stride = window->stride[i];
        const int64_t extent = pxi_window_extent(window, i);
        if (auto_pad == PXI_PAD_SAME_UPPER || auto_pad == PXI_PAD_SAME_LOWER) {
            window->out[i] = in / stride + (in % stride != 0);
            const int64_t total = PX_MAX((window->out[i] - 1) * stride + extent - in, 0);
            window->pad_begin[i] = auto_pad == PXI_PAD_SAME_UPPER ? total / 2 : total - total / 2;
            window->pad_end[i] = total - window->pad_begin[i];
            continue;
        }
        const int64_t slack = in + window->pad_begin[i] + window->pad_end[i] - extent;
        if (slack < 0)
            return pxi_op_fail(ctx, err, PX_E_MISMATCH,
                               "a kernel that spans %lld does not fit spatial axis %d of extent "
                               "%lld padded by %lld and %lld",
                               (long long)extent, i, (long long)in, (long long)window->pad_begin[i],
                               (long long)window->pad_end[i]);
        window->out[i] = slack / stride + 1;
        if (ceil_mode && slack % stride != 0 && window->out[i] * stride < in + window->pad_begin[i])
            window->out[i]++;
    }
    return PX_OK;
}

pxi_window pxi_window_3d(const pxi_window *window)
{
    pxi_window w = {.spatial = PXI_MAX_SPATIAL,
                    .in = {1, 1, 1},
                    .out = {1, 1, 1},
                    .kernel = {1, 1, 1},
                    .stride = {1, 1, 1},
                    .dilation = {1, 1, 1}};
    const int shift = PXI_MAX_SPATIAL - window->spatial;
    for (int i = 0; i < window->spatial; i++) {
        w.in[shift + i] = window->in[i];
        w.out[shift + i] = window->out[i];
        w.kernel[shift + i] = window->kernel[i];
        w.stride[shift + i] = window->stride[i];
        w.dilation[shift + i] = window->dilation[i];
        w.pad_begin[shift + i] = window->pad_begin[i];
        w.pad_end[shift + i] = window->pad_end[i];
    }
    return w;
}

/* The smallest q >= 0 with q * step >= value. */
static int64_t window_steps(int64_t value, int64_t step)
{
    return value <= 0 ? 0 : (value - 1) / step + 1;
}

void pxi_window_span(const pxi_window *window, int axis, int64_t k, int64_t *low, int64_t *high)
{
    const int64_t shift = k * window->dilation[axis] - window->pad_begin[axis];
    const int64_t first = window_steps(-shift, window->stride[axis]);
    const int64_t last = window_steps(window->in[axis] - shift, window->stride[axis]);
    *high = PX_MIN(last, window->out[axis]);
    *low = PX_MIN(first, *high);
}

void pxi_window_taps(const pxi_window *window, int axis, int64_t o, int64_t *low, int64_t *high)
{
    const int64_t shift = o * window->stride[axis] - window->pad_begin[axis];
    const int64_t first = window_steps(-shift, window->dilation[axis]);
    const int64_t last = window_steps(window->in[axis] - shift, window->dilation[axis]);
    *high = PX_MIN(last, window->kernel[axis]);
    *low = PX_MIN(first, *high);
}

static int64_t window_product(const int64_t *values, int count)
{
    int64_t product = 1;
    for (int i = 0; i < count; i++)
        product *= values[i];
    return product;
}

int64_t pxi_window_in_count(const pxi_window *window)
{
    return window_product(window->in, window->spatial);
}

int64_t pxi_window_out_count(const pxi_window *window)
{
    return window_product(window->out, window->spatial);
}

int64_t pxi_window_kernel_count(const pxi_window *window)
{
    return window_product(window->kernel, window->spatial);
}
