/* src/ops/conv_window.h - the sliding windows of convolution and pooling
 *
 * Output element o along a spatial axis reads input elements o * stride + k * dilation - pad_begin,
 * 0 <= k < kernel. Everything here has been checked: kernels, strides and dilations are positive,
 * pads are not negative, and no product below overflows.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PXI_OPS_CONV_WINDOW_H
#define PXI_OPS_CONV_WINDOW_H

#include <internal/op.h>

#define PXI_MAX_SPATIAL 3

typedef struct pxi_window {
    int spatial; /* spatial axes: 1 to 3; entries beyond are not used */
    int64_t in[PXI_MAX_SPATIAL], out[PXI_MAX_SPATIAL];
    int64_t kernel[PXI_MAX_SPATIAL], stride[PXI_MAX_SPATIAL], dilation[PXI_MAX_SPATIAL];
    int64_t pad_begin[PXI_MAX_SPATIAL], pad_end[PXI_MAX_SPATIAL]; /* auto_pad is resolved */
} pxi_window;

typedef enum pxi_auto_pad {
    PXI_PAD_NOTSET,
    PXI_PAD_VALID,
    PXI_PAD_SAME_UPPER,
    PXI_PAD_SAME_LOWER,
} pxi_auto_pad;

/* Reads kernel_shape, strides, dilations, pads and auto_pad of a node whose data (N, C, D1, ...)
 * has shape `x`. `kernel` is the weights' spatial shape, which the attribute has to equal; NULL:
 * the attribute is required. `out` is left alone, pads are zero unless auto_pad is NOTSET. */
px_status pxi_window_read(const px_op_ctx *ctx, const px_shape *x, const int64_t *kernel,
                          pxi_window *window, pxi_auto_pad *auto_pad, px_error *err);

/* Works out `out`, and the pads where auto_pad says so. With `ceil_mode` a last window that hangs
 * over the end counts, unless it would start in the padding (as in PyTorch and the ONNX text since
 * opset 19). */
px_status pxi_window_resolve(const px_op_ctx *ctx, pxi_auto_pad auto_pad, bool ceil_mode,
                             pxi_window *window, px_error *err);

/* (kernel - 1) * dilation + 1 */
static inline int64_t pxi_window_extent(const pxi_window *window, int axis)
{
    return (window->kernel[axis] - 1) * window->dilation[axis] + 1;
}

/* The same window with three axes; those added in front have extent 1 everywhere. */
pxi_window pxi_window_3d(const pxi_window *window);

/* The outputs [*low, *high) of `axis` whose tap k lies inside the input; *high >= *low. */
void pxi_window_span(const pxi_window *window, int axis, int64_t k, int64_t *low, int64_t *high);

/* The taps [*low, *high) of `axis` that lie inside the input for output o; *high >= *low. */
void pxi_window_taps(const pxi_window *window, int axis, int64_t o, int64_t *low, int64_t *high);

/* Products over the spatial axes. */
int64_t pxi_window_in_count(const pxi_window *window);
int64_t pxi_window_out_count(const pxi_window *window);
int64_t pxi_window_kernel_count(const pxi_window *window);

#endif
