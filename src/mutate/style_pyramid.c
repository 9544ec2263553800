/* src/mutate/style_pyramid.c - a Laplacian pyramid of a plane of any size
 *
 * Burt and Adelson, The Laplacian Pyramid as a Compact Image Code, 1983, with the kernel 1-4-6-4-1
 * over 16. Halving keeps values 0, 2, 4 ... of the blurred plane (its border mirrored without
 * repeating the edge); doubling puts (x[-1] + 6 x[0] + x[1]) / 8 and (x[0] + x[1]) / 2 in turn, the
 * edge going on beyond the border. A side of one pixel stays one.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#include "mutate/style.h"

#include <internal/mutation.h>

#include <assert.h>
#include <math.h>
#include <string.h>

static int pyramid_half(int side)
{
    return (side + 1) / 2;
}

size_t pxi_pyramid_room(int height, int width)
{
    size_t room = (size_t)height * (size_t)width; /* scratch */
    for (int k = 0; k <= PX_STYLE_BANDS; k++) {
        room += (size_t)height * (size_t)width;
        height = pyramid_half(height);
        width = pyramid_half(width);
    }
    return room;
}

void pxi_pyramid_init(pxi_pyramid *p, int height, int width, double *memory)
{
    p->scratch = memory;
    memory += (size_t)height * (size_t)width;
    for (int k = 0; k <= PX_STYLE_BANDS; k++) {
        p->height[k] = height;
        p->width[k] = width;
        if (k < PX_STYLE_BANDS)
            p->band[k] = memory;
        else
            p->rest = memory;
        memory += (size_t)height * (size_t)width;
        height = pyramid_half(height);
        width = pyramid_half(width);
    }
}

/* Rows of `count` values: out = (a + 4 b + 6 c + 4 d + e) / 16. */
PXI_WIDE static void pyramid_weigh(const double *a, const double *b, const double *c,
                                   const double *d, const double *e, double *restrict out,
                                   int count)
{
    for (int i = 0; i < count; i++)
        out[i] = ((a[i] + e[i]) + 4.0 * (b[i] + d[i]) + 6.0 * c[i]) * 0.0625;
}

static void pyramid_halve(const double *from, int height, int width, double *scratch, double *to)
{
    const int rows = pyramid_half(height), columns = pyramid_half(width);
    for (int y = 0; y < rows; y++) {
        const double *row[5];
        for (int k = 0; k < 5; k++)
            row[k] = from + (size_t)pxi_reflect(2 * y + k - 2, height) * (size_t)width;
        pyramid_weigh(row[0], row[1], row[2], row[3], row[4], scratch, width);
        double *out = to + (size_t)y * (size_t)columns;
        for (int x = 0; x < columns; x++) {
            double v[5];
            for (int k = 0; k < 5; k++)
                v[k] = scratch[pxi_reflect(2 * x + k - 2, width)];
            out[x] = ((v[0] + v[4]) + 4.0 * (v[1] + v[3]) + 6.0 * v[2]) * 0.0625;
        }
    }
}

static int pyramid_edge(int i, int n)
{
    return i < 0 ? 0 : i >= n ? n - 1 : i;
}

/* Adds `sign` times the enlarged plane to `to`, which is height x width. */
PXI_WIDE static void pyramid_add_double(const double *from, int height, int width, double sign,
                                        double *restrict scratch, double *restrict to)
{
    const int rows = pyramid_half(height), columns = pyramid_half(width);
    for (int y = 0; y < height; y++) {
        const double *here = from + (size_t)(y / 2) * (size_t)columns;
        const double *next = from + (size_t)pyramid_edge(y / 2 + 1, rows) * (size_t)columns;
        const double *last = from + (size_t)pyramid_edge(y / 2 - 1, rows) * (size_t)columns;
        double *out = to + (size_t)y * (size_t)width;
        if (y % 2)
            for (int x = 0; x < columns; x++)
                scratch[x] = (here[x] + next[x]) * 0.5;
        else
            for (int x = 0; x < columns; x++)
                scratch[x] = ((last[x] + next[x]) + 6.0 * here[x]) * 0.125;
        for (int x = 0; x < width; x++) {
            const double now = scratch[x / 2], after = scratch[pyramid_edge(x / 2 + 1, columns)];
            const double before = scratch[pyramid_edge(x / 2 - 1, columns)];
            out[x] += sign * (x % 2 ? (now + after) * 0.5 : ((before + after) + 6.0 * now) * 0.125);
        }
    }
}

static double *pyramid_level(const pxi_pyramid *p, int k)
{
    return k < PX_STYLE_BANDS ? p->band[k] : p->rest;
}

void pxi_pyramid_split(pxi_pyramid *p, const double *plane)
{
    memcpy(p->band[0], plane, (size_t)p->height[0] * (size_t)p->width[0] * sizeof *plane);
    for (int k = 0; k < PX_STYLE_BANDS; k++) {
        double *next = pyramid_level(p, k + 1);
        pyramid_halve(p->band[k], p->height[k], p->width[k], p->scratch, next);
        pyramid_add_double(next, p->height[k], p->width[k], -1.0, p->scratch, p->band[k]);
    }
}

double pxi_pyramid_deviation(const pxi_pyramid *p, int k)
{
    assert(k >= 0 && k < PX_STYLE_BANDS);
    const size_t count = (size_t)p->height[k] * (size_t)p->width[k];
    double sum = 0.0, squares = 0.0;
    for (size_t i = 0; i < count; i++)
        sum += p->band[k][i];
    const double mean = sum / (double)count;
    for (size_t i = 0; i < count; i++) {
        const double d = p->band[k][i] - mean;
        squares += d * d;
    }
    return sqrt(squares / (double)count);
}

void pxi_pyramid_join(pxi_pyramid *p, const double gain[PX_STYLE_BANDS], double *plane)
{
    for (int k = PX_STYLE_BANDS - 1; k >= 0; k--) {
        const size_t count = (size_t)p->height[k] * (size_t)p->width[k];
        for (size_t i = 0; i < count; i++)
            p->band[k][i] *= gain[k];
        pyramid_add_double(pyramid_level(p, k + 1), p->height[k], p->width[k], 1.0, p->scratch,
                           p->band[k]);
    }
    memcpy(plane, p->band[0], (size_t)p->height[0] * (size_t)p->width[0] * sizeof *plane);
}
