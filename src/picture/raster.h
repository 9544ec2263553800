/* src/picture/raster.h - a contact sheet to pixels, with smooth edges
 *
 *     pxi_raster r = {0};
 *     PX_TRY(pxi_raster_init(&r, width, height, err));   // white
 *     pxi_raster_segment(&r, x0, y0, x1, y1, 2.0);       // as many as a letter has
 *     pxi_raster_ink(&r, colour);                        // crossing ink is not doubled
 *     pxi_raster_done(&r);
 *
 * Coordinates are pixels, a pixel's centre at .5. Whatever lies outside is cut off. How much of a
 * pixel a slanted or round edge covers is taken from the centre's distance to it.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PXI_PICTURE_RASTER_H
#define PXI_PICTURE_RASTER_H

#include "picture/scene.h"

typedef struct pxi_raster {
    int width, height;
    uint8_t *rgb;                 /* rows of pixels */
    uint8_t *mask;                /* how far each pixel is covered by what will be inked */
    int left, top, right, bottom; /* the part of the mask in use; right, bottom beyond it */
} pxi_raster;

px_status pxi_raster_init(pxi_raster *raster, int width, int height, px_error *err);
void pxi_raster_done(pxi_raster *raster);

/* This adds to the mask ... */
void pxi_raster_segment(pxi_raster *raster, double x0, double y0, double x1, double y1,
                        double stroke);
/* ... which this paints and empties. */
void pxi_raster_ink(pxi_raster *raster, pxi_colour colour);

/* These paint at once. */
void pxi_raster_rect(pxi_raster *raster, double x, double y, double width, double height,
                     pxi_colour colour);
void pxi_raster_image(pxi_raster *raster, double x, double y, double width, double height,
                      int image_width, int image_height, const uint8_t *rgb);

#endif
