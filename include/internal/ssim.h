/* include/internal/ssim.h - structural similarity of two planes
 *
 * Wang et al., Image quality assessment: from error visibility to structural similarity, IEEE
 * Transactions on Image Processing 13(4), 2004, as scikit-image has it by default: windows of 7 x 7
 * values without weights (the largest odd size that fits in smaller planes), sample covariances,
 * K1 = 0.01, K2 = 0.03; the mean over the places where the window fits.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PXI_INTERNAL_SSIM_H
#define PXI_INTERNAL_SSIM_H

#include <stddef.h>
#include <stdint.h>

size_t pxi_ssim_scratch(int height, int width); /* doubles */

/* NaN where no window fits. `range` is L of the constants (K L)^2. `seen` (NULL: everything) has 0
 * where the planes cannot be compared: windows that touch such a value are left out. */
double pxi_ssim(const double *x, const double *y, const uint8_t *seen, int height, int width,
                double range, double *scratch);

#endif
