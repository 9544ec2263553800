/* src/picture/raster.c - a contact sheet to pixels, with smooth edges */
/* SPDX-License-Identifier: Apache-2.0 */
#include "picture/raster.h"

#include "base/memory.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

px_status pxi_raster_init(pxi_raster *raster, int width, int height, px_error *err)
{
    assert(width > 0 && height > 0);
    const size_t pixels = (size_t)width * (size_t)height;
    *raster = (pxi_raster){.width = width, .height = height, .left = width, .top = height};
    raster->rgb = pxi_calloc(pixels, 3);
    raster->mask = pxi_calloc(pixels, 1);
    if (!raster->rgb || !raster->mask) {
        pxi_raster_done(raster);
        return pxi_no_memory_for(err, "a picture of %d x %d pixels", width, height);
    }
    memset(raster->rgb, 255, 3 * pixels);
    return PX_OK;
}

void pxi_raster_done(pxi_raster *raster)
{
    free(raster->rgb);
    free(raster->mask);
    *raster = (pxi_raster){0};
}

/* The first pixel of 0..limit whose far edge is beyond `v`; NaN is 0. */
static int raster_pixel(double v, int limit)
{
    return !(v > 0) ? 0 : v >= (double)limit ? limit : (int)v;
}

static double raster_clamp(double v)
{
    return v < 0 ? 0 : v > 1 ? 1 : v;
}

static void raster_cover(pxi_raster *raster, int x, int y, double cover)
{
    uint8_t *at = &raster->mask[(size_t)y * (size_t)raster->width + (size_t)x];
    const uint8_t level = (uint8_t)(255.0 * raster_clamp(cover) + 0.5);
    *at = PX_MAX(*at, level); /* overlapping pieces of one line are not darker */
}

/* Notes that the mask is in use there. */
static void raster_touch(pxi_raster *raster, int left, int top, int right, int bottom)
{
    raster->left = PX_MIN(raster->left, left);
    raster->top = PX_MIN(raster->top, top);
    raster->right = PX_MAX(raster->right, right);
    raster->bottom = PX_MAX(raster->bottom, bottom);
}

void pxi_raster_segment(pxi_raster *raster, double x0, double y0, double x1, double y1,
                        double stroke)
{
    const double reach = stroke / 2 + 1, dx = x1 - x0, dy = y1 - y0, length2 = dx * dx + dy * dy;
    const int top = raster_pixel(fmin(y0, y1) - reach, raster->height);
    const int bottom = raster_pixel(fmax(y0, y1) + reach + 1, raster->height);
    /* a line thinner than a pixel is paler, not narrower */
    const double radius = fmax(stroke, 1) / 2, strength = fmin(stroke, 1);
    for (int y = top; y < bottom; y++) {
        const double cy = y + 0.5;
        double t0 = 0, t1 = 1; /* the part of the line that this row of pixels may touch */
        if (fabs(dy) > 1e-9) {
            const double a = (cy - reach - y0) / dy, b = (cy + reach - y0) / dy;
            t0 = raster_clamp(fmin(a, b));
            t1 = raster_clamp(fmax(a, b));
        }
        const double xa = x0 + t0 * dx, xb = x0 + t1 * dx;
        const int left = raster_pixel(fmin(xa, xb) - reach, raster->width);
        const int right = raster_pixel(fmax(xa, xb) + reach + 1, raster->width);
        raster_touch(raster, left, y, right, y + 1);
        for (int x = left; x < right; x++) {
            const double cx = x + 0.5;
            const double t =
                length2 > 0 ? raster_clamp(((cx - x0) * dx + (cy - y0) * dy) / length2) : 0;
            const double ex = cx - x0 - t * dx, ey = cy - y0 - t * dy;
            raster_cover(raster, x, y,
                         strength * raster_clamp(radius + 0.5 - sqrt(ex * ex + ey * ey)));
        }
    }
}

/* Rounds to nearest; opaque ink on a covered pixel gives exactly its colour. */
static void raster_blend(uint8_t *rgb, pxi_colour colour, unsigned cover)
{
    const uint8_t ink[3] = {colour.r, colour.g, colour.b};
    const unsigned alpha = cover * colour.a; /* of 255 * 255 */
    for (int c = 0; c < 3; c++)
        rgb[c] = (uint8_t)((rgb[c] * (65025u - alpha) + ink[c] * alpha + 32512u) / 65025u);
}

void pxi_raster_ink(pxi_raster *raster, pxi_colour colour)
{
    for (int y = raster->top; y < raster->bottom; y++)
        for (int x = raster->left; x < raster->right; x++) {
            const size_t at = (size_t)y * (size_t)raster->width + (size_t)x;
            if (raster->mask[at])
                raster_blend(raster->rgb + 3 * at, colour, raster->mask[at]);
            raster->mask[at] = 0;
        }
    raster->left = raster->width;
    raster->top = raster->height;
    raster->right = raster->bottom = 0;
}

/* How much of pixel `i` lies between two edges. */
static double raster_share(int i, double from, double to)
{
    return raster_clamp(fmin(to, i + 1) - fmax(from, i));
}

void pxi_raster_rect(pxi_raster *raster, double x, double y, double width, double height,
                     pxi_colour colour)
{
    const int left = raster_pixel(x, raster->width);
    const int right = raster_pixel(x + width + 1, raster->width);
    const int top = raster_pixel(y, raster->height);
    const int bottom = raster_pixel(y + height + 1, raster->height);
    for (int j = top; j < bottom; j++) {
        const double row = raster_share(j, y, y + height);
        for (int i = left; i < right; i++) {
            const double cover = row * raster_share(i, x, x + width);
            if (cover > 0)
                raster_blend(raster->rgb + 3 * ((size_t)j * (size_t)raster->width + (size_t)i),
                             colour, (unsigned)(255 * cover + 0.5));
        }
    }
}

void pxi_raster_image(pxi_raster *raster, double x, double y, double width, double height,
                      int image_width, int image_height, const uint8_t *rgb)
{
    const int left = raster_pixel(x + 0.5, raster->width);
    const int right = raster_pixel(x + width + 0.5, raster->width);
    const int top = raster_pixel(y + 0.5, raster->height);
    const int bottom = raster_pixel(y + height + 0.5, raster->height);
    for (int j = top; j < bottom; j++) {
        const int row = PX_MIN(raster_pixel((j + 0.5 - y) * image_height / height, image_height),
                               image_height - 1);
        for (int i = left; i < right; i++) {
            const int column = PX_MIN(
                raster_pixel((i + 0.5 - x) * image_width / width, image_width), image_width - 1);
            memcpy(raster->rgb + 3 * ((size_t)j * (size_t)raster->width + (size_t)i),
                   rgb + 3 * ((size_t)row * (size_t)image_width + (size_t)column), 3);
        }
    }
}
