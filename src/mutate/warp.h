/* src/mutate/warp.h - pictures resampled through a linear map */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PXI_MUTATE_WARP_H
#define PXI_MUTATE_WARP_H

#include <plexor/error.h>
#include <stdint.h>

/* For each output pixel o the source point is s = A (o - c) + c + t, (row, column), c the centre of
 * the picture. */
typedef struct pxi_warp {
    double a[2][2], t[2];
} pxi_warp;

enum { PXI_FILL_EDGE = -1 }; /* nearest pixel of the picture; 0..255: that value */

/* Bilinear, rounded to whole levels. */
px_status pxi_warp_apply(const pxi_warp *warp, int fill, const uint8_t *in, uint8_t *out,
                         int height, int width, int channels, px_error *err);
/* One plane before rounding; for tests. */
px_status pxi_warp_values(const pxi_warp *warp, int fill, const uint8_t *in, double *out,
                          int height, int width, px_error *err);

/* The same map of (x, y), as px_mutation.source has it. */
void pxi_warp_map(const pxi_warp *warp, int height, int width, double map[6]);
/* The inverse of a map of (x, y); all 0 where there is none. */
void pxi_map_invert(const double m[6], double inverse[6]);

/* OpenCV's warpAffine() of 8-bit pictures with linear interpolation and zeros around: `m` is the
 * forward map of (x, y), coordinates go to 1/32 pixel. */
px_status pxi_cv_warp_apply(const double m[6], const uint8_t *in, uint8_t *out, int height,
                            int width, int channels, px_error *err);

/* OpenCV's resize() of 8-bit pictures with cubic interpolation, by a factor; one plane.
 * pxi_cv_resized() is the length that a side gets. */
int pxi_cv_resized(double factor, int length);
px_status pxi_cv_resize(double factor, const uint8_t *in, int height, int width, uint8_t *out,
                        px_error *err);

/* --- the four neighbours of every point, in one word ---------------------------------------- */

/* Word (i, j) has the pixels (i-2, j-2), (i-2, j-1), (i-1, j-2), (i-1, j-1) from its lowest byte
 * up: the neighbours of a point in row i-2, column j-2. Two words beyond each side are all fill. */
static inline int pxi_quad_width(int width)
{
    return width + 3;
}
/* `quads` has (height + 3) * pxi_quad_width(width) words; `row` 2 * (width + 4) bytes of scratch.
 */
void pxi_quads_make(const uint8_t *plane, int height, int width, int fill, uint8_t *row,
                    uint32_t *quads);

#endif
