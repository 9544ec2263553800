/* src/engine/pointwise.h - 1x1 convolutions whose result channels are eight more than whole vectors
 *
 * oneDNN's kernels fill up to sixteen result channels, so 24 take the time of 32: 67 of a core's
 * 113 GFLOP/s at 144>24, where 192>32 reaches 107. Half a vector costs half where a core splits
 * wide ones. MobileNetV2's second stage has 24 channels. AVX-512 only; other machines use oneDNN.
 */
#ifndef PXI_ENGINE_POINTWISE_H
#define PXI_ENGINE_POINTWISE_H

#include "engine/prim.h"

typedef struct pxi_pointwise pxi_pointwise;

bool pxi_pointwise_takes(const pxi_conv_shape *shape, const pxi_act *act);

/* Reorders weights (out, in, 1, 1) into the plan's arena. NULL when out of memory. */
pxi_pointwise *pxi_pointwise_new(px_arena *arena, const pxi_conv_shape *shape, const float *weights,
                                 const float *bias, const pxi_act *act);
/* Other weights, and bias if it was made with one. */
void pxi_pointwise_repack(pxi_pointwise *pointwise, const float *weights, const float *bias);

/* One sample, channels-last. `adds`: to what the destination holds, before the activation. */
void pxi_pointwise_run(const pxi_pointwise *pointwise, const float *source, float *destination,
                       bool adds);

#endif
