/* src/engine/act_bits.h - where an activation lets the gradient through, one bit per element
 *
 * The derivative of Relu, LeakyRelu and Clip has two values. A plan that wants gradients keeps one
 * bit per element for its backward pass instead of the element: an activation's memory is then free
 * as soon as it was read, as without gradients, and what is read again is a thirty-second part.
 * Measured on MobileNetV2, one sample: the forward pass of a gradient plan took 0.37 ms longer than
 * the same pass without gradients, for nothing but the memory it kept.
 *
 * Bit i % 16 of word i / 16 belongs to element i of a sample as it lies in memory; bits behind the
 * last element are zero. AVX-512 only.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PXI_ENGINE_ACT_BITS_H
#define PXI_ENGINE_ACT_BITS_H

#include "engine/plan.h"

bool pxi_act_bits_take(const pxi_act *act);
size_t pxi_act_bits_words(size_t count);

/* From results y. */
void pxi_act_bits_pack(const pxi_act *act, const float *y, uint16_t *bits, size_t count);

/* As pxi_act_backward(), from bits. */
void pxi_act_bits_backward(const pxi_act *act, const uint16_t *bits, const float *dy, float *g,
                           float *residual, bool residual_adds, size_t count);

#endif
