/* src/picture/palette.h - colours that people with colour-blindness tell apart too */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PXI_PICTURE_PALETTE_H
#define PXI_PICTURE_PALETTE_H

#include "picture/scene.h"

enum { PXI_PALETTE_COUNT = 7 };
pxi_colour pxi_palette(size_t index);       /* of a series; 21 differ */
pxi_colour pxi_palette_class(size_t index); /* of a map; PX_PLOT_COLOURS differ */
pxi_colour pxi_palette_diverging(double t); /* 0 <= t <= 1; 0.5 is none */
pxi_colour pxi_colour_pale(pxi_colour colour, double opacity);

#endif
