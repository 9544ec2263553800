/* src/engine/winograd.h - 3x3 convolutions at stride 1 by F(4x4, 3x3)
 *
 * Lavin & Gray, Fast Algorithms for Convolutional Neural Networks, CVPR 2016, section 4.3: a 4x4
 * block of results costs 36 products instead of 144. oneDNN's direct kernels already run near the
 * multiply-add peak, so this is what is left to gain. AVX-512 only; other machines use oneDNN.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PXI_ENGINE_WINOGRAD_H
#define PXI_ENGINE_WINOGRAD_H

#include "engine/prim.h"

typedef struct pxi_winograd pxi_winograd;

bool pxi_winograd_takes(const pxi_conv_shape *shape, const pxi_act *act);

/* Transforms weights (out, in, 3, 3) into the plan's arena. NULL when out of memory. */
pxi_winograd *pxi_winograd_new(px_arena *arena, const pxi_conv_shape *shape, const float *weights,
                               const float *bias, const pxi_act *act);
/* Other weights, and bias if it was made with one. */
void pxi_winograd_repack(pxi_winograd *winograd, const float *weights, const float *bias);
size_t pxi_winograd_scratch(const pxi_winograd *winograd);

/* How many samples a run should have at least, so that no place in a block is empty. */
int64_t pxi_winograd_group(const pxi_winograd *winograd);
/* Channels-last in and out. `adds`: to what the destination holds, before the activation. A
 * sample's results do not depend on those beside it. */
void pxi_winograd_run(const pxi_winograd *winograd, int64_t samples, const float *source,
                      float *destination, bool adds, float *scratch);

/* The gradient of the weights, (out, in, 3, 3), for a whole micro-batch (winograd_weights.c):
 * source and the result's gradient are channels-last. */
bool pxi_winograd_weights_takes(const pxi_conv_shape *shape);
size_t pxi_winograd_weights_scratch(const pxi_conv_shape *shape);
void pxi_winograd_weights_run(const pxi_conv_shape *shape, const float *source, const float *dy,
                              float *gradient, float *scratch);

#endif
