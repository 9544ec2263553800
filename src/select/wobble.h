/* src/select/wobble.h - the arithmetic of `wobble`: a picture moved by whole pixels, and what that
 * does to the answer */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PXI_SELECT_WOBBLE_H
#define PXI_SELECT_WOBBLE_H

#include <plexor/tensor.h>

/* Moves every plane of a picture [C,H,W] by `right` and `down` pixels; what comes in is the nearest
 * pixel of the picture. `in` and `out` do not overlap. */
void pxi_wobble_move(const px_shape *shape, int64_t right, int64_t down, const float *in,
                     float *out);

/* What is not given to class `c`: the sum of the other probabilities, which keeps its digits where
 * 1 - p[c] has lost them. NaN where one of all is. */
double pxi_wobble_doubt(const double *p, int classes, int c);

#endif
