/* src/picture/ssim.c - SSIM, structural similarity of two planes
 *
 * Integral images make a window cost the same whatever its size.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#include <internal/ssim.h>

#include "base/memory.h"

#include <assert.h>
#include <math.h>
#include <string.h>

/* The same sums on every machine: campaigns keep what comes out. -std=c17 sees to that with gcc. */
#if defined(__clang__)
#pragma STDC FP_CONTRACT OFF
#endif

enum { WINDOW = 7, SUMS = 5 };

size_t pxi_ssim_scratch(int height, int width)
{
    assert(height >= 0 && width >= 0);
    return (SUMS + 1) * (size_t)(height + 1) * (size_t)(width + 1);
}

/* table[r][c]: the sums of x, y, xx, yy, xy over the r first rows and c first columns. */
static void integrate(const double *x, const double *y, int height, int width, double *table)
{
    const size_t line = SUMS * (size_t)(width + 1);
    memset(table, 0, line * sizeof *table);
    for (int r = 0; r < height; r++) {
        double row[SUMS] = {0};
        const double *above = table + (size_t)r * line;
        double *here = table + (size_t)(r + 1) * line;
        memset(here, 0, SUMS * sizeof *here);
        for (int c = 0; c < width; c++) {
            const double u = *x++, v = *y++;
            const double add[SUMS] = {u, v, u * u, v * v, u * v};
            for (int k = 0; k < SUMS; k++) {
                row[k] += add[k];
                here[SUMS * (c + 1) + k] = above[SUMS * (c + 1) + k] + row[k];
            }
        }
    }
}

/* How many values are seen, summed in the same way. */
static void integrate_seen(const uint8_t *seen, int height, int width, double *table)
{
    const size_t line = (size_t)(width + 1);
    memset(table, 0, line * sizeof *table);
    for (int r = 0; r < height; r++) {
        const double *above = table + (size_t)r * line;
        double *here = table + (size_t)(r + 1) * line;
        double row = 0.0;
        *here = 0.0;
        for (int c = 0; c < width; c++) {
            row += *seen++ != 0;
            here[c + 1] = above[c + 1] + row;
        }
    }
}

double pxi_ssim(const double *x, const double *y, const uint8_t *seen, int height, int width,
                double range, double *scratch)
{
    int window = PX_MIN(WINDOW, PX_MIN(height, width));
    window -= window % 2 == 0;
    if (window < 3)
        return (double)NAN; /* one value has no variance */
    const size_t line = SUMS * (size_t)(width + 1), seen_line = (size_t)(width + 1);
    double *seen_table = scratch + (size_t)(height + 1) * line;
    integrate(x, y, height, width, scratch);
    if (seen)
        integrate_seen(seen, height, width, seen_table);
    const double n = window * window, sample = n / (n - 1.0);
    const double c1 = 0.01 * range * 0.01 * range, c2 = 0.03 * range * 0.03 * range;
    double total = 0.0, places = 0.0;
    for (int r = 0; r + window <= height; r++)
        for (int c = 0; c + window <= width; c++) {
            const double *top = scratch + (size_t)r * line + SUMS * (size_t)c;
            const double *bottom = top + (size_t)window * line;
            const double *seen_top = seen_table + (size_t)r * seen_line + c;
            const double *seen_bottom = seen_top + (size_t)window * seen_line;
            const int across = SUMS * window;
            if (seen && seen_bottom[window] - *seen_bottom - seen_top[window] + *seen_top < n)
                continue;
            double mean[SUMS];
            for (int k = 0; k < SUMS; k++)
                mean[k] = (bottom[across + k] - bottom[k] - top[across + k] + top[k]) / n;
            const double ux = mean[0], uy = mean[1];
            const double vx = sample * (mean[2] - ux * ux), vy = sample * (mean[3] - uy * uy);
            const double vxy = sample * (mean[4] - ux * uy);
            total += (2.0 * ux * uy + c1) * (2.0 * vxy + c2) /
                     ((ux * ux + uy * uy + c1) * (vx + vy + c2));
            places += 1.0;
        }
    return places > 0.0 ? total / places : (double)NAN;
}
