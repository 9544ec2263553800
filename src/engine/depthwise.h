/* src/engine/depthwise.h - the data gradient of depthwise convolutions, with masks
 *
 *     dx (+)= pass_x . conv'(pass_y . dy)
 *
 * where conv' is the transpose of a depthwise 3x3 or 5x5 convolution at stride 1 or 2, and the
 * masks are the derivatives of the activations behind the convolution and before it (act_bits.h).
 * In inverted residual blocks (MobileNetV2, section 3) these are the largest tensors of the
 * network: applying both masks on the way saves two passes over them. Channels come in sixteens;
 * AVX-512 only.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PXI_ENGINE_DEPTHWISE_H
#define PXI_ENGINE_DEPTHWISE_H

#include "engine/prim.h"

typedef struct pxi_depthwise pxi_depthwise;

bool pxi_depthwise_takes(const pxi_conv_shape *shape);

/* Reorders weights (channels, 1, kh, kw) into the plan's arena. NULL when out of memory. */
pxi_depthwise *pxi_depthwise_new(px_arena *arena, const pxi_conv_shape *shape,
                                 const float *weights);
void pxi_depthwise_repack(pxi_depthwise *depthwise, const float *weights);

/* One sample. `pass_y`, `pass_x`: bits per element; NULL: all passes. `adds`: to what dx holds,
 * after the mask. */
void pxi_depthwise_run(const pxi_depthwise *depthwise, const float *dy, const uint16_t *pass_y,
                       const uint16_t *pass_x, float *dx, bool adds);

#endif
