/* src/mutate/quads.c - the four neighbours of every point of a plane, in one word
 *
 * Bilinear interpolation at scattered points reads four bytes each; packed, that is one gather
 * instead of four.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#include "mutate/warp.h"

#include <internal/mutation.h>

#include <string.h>

/* Row y with two values before and after: those of the edge, or the fill. */
static void quads_row(const uint8_t *plane, int height, int width, int y, int fill, uint8_t *row)
{
    const size_t w = (size_t)width;
    if (fill != PXI_FILL_EDGE && (y < 0 || y >= height)) {
        memset(row, fill, w + 4);
        return;
    }
    const uint8_t *from = plane + (size_t)(y < 0 ? 0 : y >= height ? height - 1 : y) * w;
    memset(row, fill == PXI_FILL_EDGE ? from[0] : fill, 2);
    memcpy(row + 2, from, w);
    memset(row + 2 + w, fill == PXI_FILL_EDGE ? from[w - 1] : fill, 2);
}

PXI_WIDE static void quads_pack(const uint8_t *restrict top, const uint8_t *restrict bottom,
                                int count, uint32_t *restrict quads)
{
    for (int j = 0; j < count; j++)
        quads[j] = (uint32_t)top[j] | (uint32_t)top[j + 1] << 8 | (uint32_t)bottom[j] << 16 |
                   (uint32_t)bottom[j + 1] << 24;
}

void pxi_quads_make(const uint8_t *plane, int height, int width, int fill, uint8_t *row,
                    uint32_t *quads)
{
    const int count = pxi_quad_width(width);
    uint8_t *top = row, *bottom = row + width + 4;
    quads_row(plane, height, width, -2, fill, top);
    for (int i = 0; i < height + 3; i++) {
        quads_row(plane, height, width, i - 1, fill, bottom);
        quads_pack(top, bottom, count, quads + (size_t)i * (size_t)count);
        uint8_t *swap = top;
        top = bottom;
        bottom = swap;
    }
}
