/* src/engine/conv_wgrad.h - the kernel that suits a convolution's weight gradient best
 *
 * Over a whole micro-batch, unlike the kernels of conv_kernel.h: what is wanted is a sum over
 * samples.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PXI_ENGINE_CONV_WGRAD_H
#define PXI_ENGINE_CONV_WGRAD_H

#include "engine/prim.h"

typedef struct pxi_conv_wgrad {
    pxi_conv_shape shape;
    bool weights, bias; /* which gradients are wanted; neither: there is no kernel */
    bool narrow, winograd;
    pxi_prim *prim; /* NULL: one of those two */
} pxi_conv_wgrad;

typedef struct pxi_conv_wgrad_bound { /* a kernel with one session's memory */
    const float *source, *result_gradient;
    float *weights, *bias; /* gradients; NULL: not wanted */
    void *scratch;
    pxi_bound *prim;
} pxi_conv_wgrad_bound;

px_status pxi_conv_wgrad_init(pxi_conv_wgrad *kernel, const pxi_conv_shape *shape, bool weights,
                              bool bias, px_error *err);
void pxi_conv_wgrad_done(pxi_conv_wgrad *kernel);
size_t pxi_conv_wgrad_scratch(const pxi_conv_wgrad *kernel);

/* The addresses are in *bound already. */
px_status pxi_conv_wgrad_bind(const pxi_conv_wgrad *kernel, void *stream,
                              pxi_conv_wgrad_bound *bound, px_error *err);
px_status pxi_conv_wgrad_run(const pxi_conv_wgrad *kernel, const pxi_conv_wgrad_bound *bound,
                             px_error *err);

#endif
