/* src/mutate/style.h - colour and texture statistics: what measuring and applying share
 *
 * The colour basis is the fixed orthonormal one in which the colours of photographs are nearly
 * uncorrelated (Ohta et al., 1980; Ruderman et al., 1998):
 *
 *     l = (R + G + B) / sqrt 3    a = (R - B) / sqrt 2    b = (R - 2 G + B) / sqrt 6
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PXI_MUTATE_STYLE_H
#define PXI_MUTATE_STYLE_H

#include <plexor/mutate.h>

enum { PXI_STYLE_STRENGTH, PXI_STYLE_IMAGE, PXI_STYLE_OF }; /* parameters of the mutation */

#define PXI_SQRT_2 1.4142135623730951
#define PXI_SQRT_3 1.7320508075688772
#define PXI_SQRT_6 2.449489742783178

/* A Laplacian pyramid of one plane of any size: `band[k]` is what level k has beyond the next one
 * enlarged, `rest` the coarsest level. */
typedef struct pxi_pyramid {
    int height[PX_STYLE_BANDS + 1], width[PX_STYLE_BANDS + 1];
    double *band[PX_STYLE_BANDS], *rest;
    double *scratch; /* of one plane */
} pxi_pyramid;

/* Values that its memory has; `memory` is the caller's. */
size_t pxi_pyramid_room(int height, int width);
void pxi_pyramid_init(pxi_pyramid *pyramid, int height, int width, double *memory);
void pxi_pyramid_split(pxi_pyramid *pyramid, const double *plane);
double pxi_pyramid_deviation(const pxi_pyramid *pyramid, int band);
/* The plane from its bands, each times its gain. Changes the pyramid. */
void pxi_pyramid_join(pxi_pyramid *pyramid, const double gain[PX_STYLE_BANDS], double *plane);

/* RGB planes of bytes to l, a, b. */
void pxi_style_basis(const uint8_t *rgb, size_t count, double *lab);
/* Means and covariances (as px_style has them) of RGB planes, in the basis; from whole numbers. */
void pxi_style_colours(const uint8_t *rgb, size_t count, double mean[3], double covariance[6]);
void pxi_style_grey(const uint8_t *plane, size_t count, double *mean, double *variance);

extern const px_style pxi_style_table[PX_STYLE_GENERATED];

#endif
