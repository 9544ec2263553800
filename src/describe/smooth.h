/* src/describe/smooth.h - Gaussian blur of one plane of floats
 *
 * Separable, cut off at four standard deviations, the plane mirrored at its borders with the border
 * pixel repeated (d c b a | a b c d | d c b a), as scipy.ndimage.gaussian_filter does by default.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PXI_DESCRIBE_SMOOTH_H
#define PXI_DESCRIBE_SMOOTH_H

#include <stddef.h>

#define PXI_SMOOTH_SD_MOST 8.0
enum { PXI_SMOOTH_RADIUS_MOST = 32 };

/* Floats of scratch memory for planes of that size. */
size_t pxi_smooth_scratch(int h, int w);

/* `out` may be `in`. sd is positive and at most PXI_SMOOTH_SD_MOST. */
void pxi_smooth(const float *in, int h, int w, double sd, float *scratch, float *out);

#endif
