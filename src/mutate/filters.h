/* src/mutate/filters.h - blurs of one plane (the bilateral one: of all planes at once)
 *
 * Borders mirror (reflect-101, pxi_reflect()); the median's repeats the edge.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PXI_MUTATE_FILTERS_H
#define PXI_MUTATE_FILTERS_H

#include <plexor/error.h>
#include <stdbool.h>
#include <stdint.h>

#define PXI_BOX_MOST 9

/* The mean of size x size values, anchored at size / 2; `cv` (sizes 2 to 7): with OpenCV's
 * rounding, which is upwards for even sizes. */
px_status pxi_box_blur(int size, bool cv, const uint8_t *in, uint8_t *out, int height, int width,
                       px_error *err);
/* Size 3, 5 or 7, with OpenCV's kernels for a sigma that follows from the size. */
px_status pxi_gaussian_blur(int size, const uint8_t *in, uint8_t *out, int height, int width,
                            px_error *err);
/* Size 3 or 5. */
px_status pxi_median_blur(int size, const uint8_t *in, uint8_t *out, int height, int width,
                          px_error *err);
/* A disc of radius diameter / 2, weights falling with distance and with the sum of the channels'
 * differences. */
px_status pxi_bilateral_blur(int diameter, double sigma_colour, double sigma_space,
                             const uint8_t *in, uint8_t *out, int height, int width, int channels,
                             px_error *err);

#endif
