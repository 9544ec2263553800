/* src/picture/palette.c - colours that people with colour-blindness tell apart too
 *
 * Series: Okabe and Ito, Color Universal Design, 2008, without the yellow, which is lost on white.
 * Classes on a map are many: those, then Tol's muted ones, then darker and paler ones in between.
 * Differences: ColorBrewer's RdBu, a few stops.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#include "picture/palette.h"

#include "base/memory.h"

#include <assert.h>
#include <internal/picture.h>

static const uint32_t series_colours[PXI_PALETTE_COUNT] = {0x0072b2, 0xd55e00, 0x009e73, 0xcc79a7,
                                                           0x56b4e9, 0xe69f00, 0x333333};
static const uint32_t class_colours[] = {0x0072b2, 0xd55e00, 0x009e73, 0xcc79a7, 0xe69f00,
                                         0x56b4e9, 0x332288, 0x882255, 0x999933, 0x555555,
                                         0xddcc77, 0x44aa99, 0xaa4499, 0x117733, 0x661100,
                                         0x6699cc, 0xf0a0a0, 0x88cc66, 0xbbbbbb, 0x000000};
_Static_assert(PX_LEN(class_colours) == PX_PLOT_COLOURS, "as the header says");
static const uint32_t diverging_stops[] = {0x053061, 0x2166ac, 0x4393c3, 0x92c5de,
                                           0xd1e5f0, 0xf7f7f7, 0xfddbc7, 0xf4a582,
                                           0xd6604d, 0xb2182b, 0x67001f};

static uint8_t palette_mix(uint8_t a, uint8_t b, double t)
{
    return (uint8_t)(a + (b - a) * t + 0.5);
}

/* The second time round paler, the third time darker. */
pxi_colour pxi_palette(size_t index)
{
    const pxi_colour c = PXI_RGB(series_colours[index % PXI_PALETTE_COUNT]);
    const size_t turn = index / PXI_PALETTE_COUNT % 3;
    const double share = turn == 0 ? 0 : turn == 1 ? 0.5 : 0.4;
    const uint8_t towards = turn == 1 ? 255 : 0;
    return (pxi_colour){palette_mix(c.r, towards, share), palette_mix(c.g, towards, share),
                        palette_mix(c.b, towards, share), 255};
}

pxi_colour pxi_palette_class(size_t index)
{
    return PXI_RGB(class_colours[index % PX_LEN(class_colours)]);
}

pxi_colour pxi_palette_diverging(double t)
{
    const uint32_t *stops = diverging_stops;
    const size_t last = PX_LEN(diverging_stops) - 1;
    const double at = !(t > 0) ? 0 : t < 1 ? t * (double)last : (double)last;
    const size_t i = PX_MIN((size_t)at, last - 1);
    const pxi_colour a = PXI_RGB(stops[i]), b = PXI_RGB(stops[i + 1]);
    const double rest = at - (double)i;
    return (pxi_colour){palette_mix(a.r, b.r, rest), palette_mix(a.g, b.g, rest),
                        palette_mix(a.b, b.b, rest), 255};
}

pxi_colour pxi_colour_pale(pxi_colour colour, double opacity)
{
    colour.a = (uint8_t)(255 * opacity + 0.5);
    return colour;
}
