/* src/engine/plain_loops.h - fused units on plain loops, for values that fast kernels would hide
 *
 * NaN and infinity come out where, and as what, the operators of the file would put them.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PXI_ENGINE_PLAIN_LOOPS_H
#define PXI_ENGINE_PLAIN_LOOPS_H

#include "engine/prim.h"

/* One sample, channels-last: y = act(conv(x) + bias), with `adds` act(y + conv(x) + bias). Weights
 * in their plain order, bias NULL: none. */
px_status pxi_plain_conv(const pxi_conv_shape *shape, const float *weights, const float *bias,
                         const pxi_act *act, bool adds, const float *x, float *y, px_error *err);

/* One row: y (n) = act(x (k) b + bias); b is (k, n), or (n, k) with `transposed`. */
void pxi_plain_product(int64_t k, int64_t n, const float *b, bool transposed, const float *bias,
                       const pxi_act *act, const float *x, float *y);

#endif
