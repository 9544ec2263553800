/* src/engine/pointwise.h - 1x1 convolutions as products of matrices, see panel.h */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PXI_ENGINE_POINTWISE_H
#define PXI_ENGINE_POINTWISE_H

#include "engine/prim.h"

typedef struct pxi_pointwise pxi_pointwise;

bool pxi_pointwise_takes(const pxi_conv_shape *shape);
/* As pxi_prim_conv(), in the arena; NULL when out of memory. */
pxi_pointwise *pxi_pointwise_new(px_arena *arena, const pxi_conv_shape *shape, const float *weights,
                                 const float *bias, const pxi_act *act);
void pxi_pointwise_repack(pxi_pointwise *pointwise, const float *weights, const float *bias);
/* How many samples have rows enough to make use of a weight that was loaded. */
int64_t pxi_pointwise_group(const pxi_pointwise *pointwise);
/* destination (+)= of so many samples, which lie one after another. */
void pxi_pointwise_run(const pxi_pointwise *pointwise, int64_t samples, const float *source,
                       float *destination, bool adds);

#endif
