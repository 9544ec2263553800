/* src/mutate/warp.c - the canonical warp: exact coordinates, bilinear, in double
 *
 * Coordinates are shared by all channels of a row. A picture's border goes on for two pixels in the
 * packed neighbours, so a coordinate is clipped to one pixel outside and needs no further test.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#include "mutate/warp.h"

#include "base/memory.h"
#include <internal/mutation.h>

#include <stdlib.h>

typedef struct warp_work { /* one block of memory, cut up */
    double *values, *down, *right;
    int32_t *at;
    uint32_t *quads; /* of all planes */
    uint8_t *rows;
    size_t quad_count; /* of one plane */
} warp_work;

static px_status warp_work_init(warp_work *work, int height, int width, int channels, px_error *err)
{
    const size_t w = (size_t)width;
    work->quad_count = (size_t)(height + 3) * (size_t)pxi_quad_width(width);
    const size_t reals = 3 * w * sizeof(double), words = w * sizeof(int32_t);
    const size_t quads = work->quad_count * (size_t)channels * sizeof(uint32_t);
    char *memory = pxi_alloc_aligned(reals + words + quads + 2 * (w + 4));
    if (!memory)
        return pxi_no_memory_for(err, "a picture of %d x %d", width, height);
    work->values = (double *)(void *)memory;
    work->down = work->values + w;
    work->right = work->down + w;
    work->at = (int32_t *)(void *)(memory + reals);
    work->quads = (uint32_t *)(void *)(memory + reals + words);
    work->rows = (uint8_t *)(memory + reals + words + quads);
    return PX_OK;
}

static void warp_work_done(warp_work *work)
{
    free(work->values);
}

/* Where row y of the output comes from: the word of each pixel, and how far beyond its first
 * neighbour the point lies. */
PXI_WIDE static void warp_points(const pxi_warp *warp, int y, int height, int width,
                                 int32_t *restrict at, double *restrict down,
                                 double *restrict right)
{
    const double centre_y = 0.5 * (height - 1), centre_x = 0.5 * (width - 1);
    const double y0 = warp->a[0][0] * (y - centre_y), x0 = warp->a[1][0] * (y - centre_y);
    const double ay = warp->a[0][1], ax = warp->a[1][1], ty = warp->t[0], tx = warp->t[1];
    const double most_y = height, most_x = width;
    const int stride = pxi_quad_width(width);
    for (int x = 0; x < width; x++) {
        double sy = ((y0 + ay * (x - centre_x)) + centre_y) + ty;
        double sx = ((x0 + ax * (x - centre_x)) + centre_x) + tx;
        sy = sy < -1.0 ? -1.0 : sy;
        sy = sy > most_y ? most_y : sy;
        sx = sx < -1.0 ? -1.0 : sx;
        sx = sx > most_x ? most_x : sx;
        const int iy = (int)(sy + 1.0), ix = (int)(sx + 1.0); /* one more than the floor */
        down[x] = sy - (iy - 1);
        right[x] = sx - (ix - 1);
        at[x] = (iy + 1) * stride + ix + 1;
    }
}

PXI_WIDE static void warp_blend(const uint32_t *restrict quads, const int32_t *restrict at,
                                const double *restrict down, const double *restrict right,
                                int width, double *restrict values)
{
    for (int x = 0; x < width; x++) {
        const uint32_t quad = quads[at[x]];
        const int a = (int)(quad & 255), b = (int)(quad >> 8 & 255), c = (int)(quad >> 16 & 255),
                  d = (int)(quad >> 24);
        const double top = a + right[x] * (b - a), bottom = c + right[x] * (d - c);
        values[x] = top + down[x] * (bottom - top);
    }
}

/* Blends lie between 0 and 255, give or take the last digit. */
PXI_WIDE static void warp_round(const double *restrict values, int width, uint8_t *restrict out)
{
    for (int x = 0; x < width; x++)
        out[x] = (uint8_t)(int)(values[x] + PXI_HALF_UP);
}

static void warp_quads(const warp_work *work, int fill, const uint8_t *in, int height, int width,
                       int channels)
{
    for (int c = 0; c < channels; c++)
        pxi_quads_make(in + (size_t)c * (size_t)height * (size_t)width, height, width, fill,
                       work->rows, work->quads + (size_t)c * work->quad_count);
}

px_status pxi_warp_apply(const pxi_warp *warp, int fill, const uint8_t *in, uint8_t *out,
                         int height, int width, int channels, px_error *err)
{
    warp_work work = {0};
    PX_TRY(warp_work_init(&work, height, width, channels, err));
    warp_quads(&work, fill, in, height, width, channels);
    for (int y = 0; y < height; y++) {
        warp_points(warp, y, height, width, work.at, work.down, work.right);
        for (int c = 0; c < channels; c++) {
            warp_blend(work.quads + (size_t)c * work.quad_count, work.at, work.down, work.right,
                       width, work.values);
            warp_round(work.values, width,
                       out + ((size_t)c * (size_t)height + (size_t)y) * (size_t)width);
        }
    }
    warp_work_done(&work);
    return PX_OK;
}

void pxi_warp_map(const pxi_warp *warp, int height, int width, double map[6])
{
    const double y = 0.5 * (height - 1), x = 0.5 * (width - 1);
    const double ayy = warp->a[0][0], ayx = warp->a[0][1], axy = warp->a[1][0], axx = warp->a[1][1];
    map[0] = axx;
    map[1] = axy;
    map[2] = x + warp->t[1] - axx * x - axy * y;
    map[3] = ayx;
    map[4] = ayy;
    map[5] = y + warp->t[0] - ayx * x - ayy * y;
}

void pxi_map_invert(const double m[6], double inverse[6])
{
    const double det = m[0] * m[4] - m[1] * m[3], d = det != 0.0 ? 1.0 / det : 0.0;
    inverse[0] = m[4] * d;
    inverse[1] = m[1] * -d;
    inverse[3] = m[3] * -d;
    inverse[4] = m[0] * d;
    inverse[2] = -inverse[0] * m[2] - inverse[1] * m[5];
    inverse[5] = -inverse[3] * m[2] - inverse[4] * m[5];
}

px_status pxi_warp_values(const pxi_warp *warp, int fill, const uint8_t *in, double *out,
                          int height, int width, px_error *err)
{
    warp_work work = {0};
    PX_TRY(warp_work_init(&work, height, width, 1, err));
    warp_quads(&work, fill, in, height, width, 1);
    for (int y = 0; y < height; y++) {
        warp_points(warp, y, height, width, work.at, work.down, work.right);
        warp_blend(work.quads, work.at, work.down, work.right, width,
                   out + (size_t)y * (size_t)width);
    }
    warp_work_done(&work);
    return PX_OK;
}
