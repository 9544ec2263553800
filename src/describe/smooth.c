/* src/describe/smooth.c - Gaussian blur of one plane of floats */
/* SPDX-License-Identifier: Apache-2.0 */
#include "describe/smooth.h"

#include <assert.h>
#include <math.h>
#include <string.h>

/* Place i of a mirrored axis of n pixels. */
static int mirrored(int i, int n)
{
    const int period = 2 * n;
    i %= period;
    i += i < 0 ? period : 0;
    return i < n ? i : period - 1 - i;
}

static int smooth_radius(double sd)
{
    return (int)(4.0 * sd + 0.5);
}

static void smooth_weights(double sd, int radius, float *weights)
{
    double exact[2 * PXI_SMOOTH_RADIUS_MOST + 1], sum = 0.0;
    for (int i = -radius; i <= radius; i++)
        sum += exact[i + radius] = exp(-0.5 * i * i / (sd * sd));
    for (int i = 0; i <= 2 * radius; i++)
        weights[i] = (float)(exact[i] / sum);
}

size_t pxi_smooth_scratch(int h, int w)
{
    return (size_t)h * (size_t)w + (size_t)w + 2 * PXI_SMOOTH_RADIUS_MOST;
}

void pxi_smooth(const float *in, int h, int w, double sd, float *scratch, float *out)
{
    float weights[2 * PXI_SMOOTH_RADIUS_MOST + 1];
    assert(sd > 0.0 && sd <= PXI_SMOOTH_SD_MOST);
    const int radius = smooth_radius(sd), taps = 2 * radius + 1;
    const size_t width = (size_t)w;
    float *plane = scratch, *padded = scratch + (size_t)h * width;
    smooth_weights(sd, radius, weights);
    for (int y = 0; y < h; y++) { /* along rows, into `plane` */
        const float *row = in + (size_t)y * width;
        float *to = plane + (size_t)y * width;
        memcpy(padded + radius, row, width * sizeof *row);
        for (int x = 1; x <= radius; x++) {
            padded[radius - x] = row[mirrored(-x, w)];
            padded[radius + w - 1 + x] = row[mirrored(w - 1 + x, w)];
        }
        memset(to, 0, width * sizeof *to);
        for (int i = 0; i < taps; i++) {
            const float weight = weights[i];
            const float *from = padded + i;
#pragma omp simd
            for (size_t x = 0; x < width; x++)
                to[x] += weight * from[x];
        }
    }
    for (int y = 0; y < h; y++) { /* along columns, from `plane` */
        float *to = out + (size_t)y * width;
        memset(to, 0, width * sizeof *to);
        for (int i = 0; i < taps; i++) {
            const float weight = weights[i];
            const float *from = plane + (size_t)mirrored(y + i - radius, h) * width;
#pragma omp simd
            for (size_t x = 0; x < width; x++)
                to[x] += weight * from[x];
        }
    }
}
