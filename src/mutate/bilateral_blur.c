/* src/mutate/bilateral_blur.c - OpenCV's bilateral filter of 8-bit pictures
 *
 * Tomasi and Manduchi, Bilateral Filtering for Gray and Color Images, ICCV 1998. Weights are single
 * precision and every pixel adds its neighbours in the order of their rows, as OpenCV does; the
 * quotient is rounded, halves to even.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#include "mutate/filters.h"

#include "base/memory.h"
#include "mutate/plain_math.h"
#include <internal/mutation.h>

#include <assert.h>
#include <stdlib.h>
#include <string.h>

enum { BILATERAL_RADIUS_MOST = 4 };

typedef struct bilateral_neighbour {
    int down, right;
    float weight;
} bilateral_neighbour;

typedef struct bilateral_work { /* one block of memory */
    float *colour;              /* weight of a difference, 255 * channels + 1 */
    float *weights, *sums;      /* of a row; of a row of each channel */
    int32_t *differences;
    int32_t *padded; /* planes with a border of `radius` */
    size_t stride, plane;
} bilateral_work;

PXI_WIDE static void bilateral_differ(const int32_t *restrict a, const int32_t *restrict b,
                                      int width, int32_t *restrict differences)
{
    for (int x = 0; x < width; x++)
        differences[x] += abs(a[x] - b[x]);
}

/* Differences become weights, in place of the sums of weights go the new sums. */
PXI_WIDE static void bilateral_weigh(const int32_t *restrict differences,
                                     const float *restrict colour, float space, int width,
                                     float *restrict weight, float *restrict weights)
{
    for (int x = 0; x < width; x++) {
        weight[x] = space * colour[differences[x]];
        weights[x] = weights[x] + weight[x];
    }
}

PXI_WIDE static void bilateral_add(const int32_t *restrict values, const float *restrict weight,
                                   int width, float *restrict sums)
{
    for (int x = 0; x < width; x++)
        sums[x] = sums[x] + (float)values[x] * weight[x];
}

/* The disc, row by row. */
static int bilateral_disc(int radius, double sigma, bilateral_neighbour *disc)
{
    int count = 0;
    for (int y = -radius; y <= radius; y++)
        for (int x = -radius; x <= radius; x++)
            if (y * y + x * x <= radius * radius)
                disc[count++] = (bilateral_neighbour){
                    y, x, (float)pxi_exp(-0.5 / (sigma * sigma) * (y * y + x * x))};
    return count;
}

static void bilateral_pad(const bilateral_work *work, const uint8_t *in, int height, int width,
                          int channels, int radius)
{
    for (int c = 0; c < channels; c++)
        for (int y = -radius; y < height + radius; y++) {
            const uint8_t *from =
                in + ((size_t)c * (size_t)height + (size_t)pxi_reflect(y, height)) * (size_t)width;
            int32_t *to = work->padded + (size_t)c * work->plane +
                          (size_t)(y + radius) * work->stride + radius;
            for (int x = 0; x < width; x++)
                to[x] = from[x];
            for (int k = 1; k <= radius; k++) {
                to[-k] = from[pxi_reflect(-k, width)];
                to[width - 1 + k] = from[pxi_reflect(width - 1 + k, width)];
            }
        }
}

static px_status bilateral_init(bilateral_work *work, int height, int width, int channels,
                                int radius, px_error *err)
{
    const size_t w = (size_t)width, c = (size_t)channels;
    work->stride = w + 2 * (size_t)radius;
    work->plane = work->stride * ((size_t)height + 2 * (size_t)radius);
    const size_t reals = 255 * c + 1 + (2 + c) * w;
    float *memory = NULL;
    PX_TRY(PX_NEW(memory, reals + w + c * work->plane, err));
    _Static_assert(sizeof(float) == sizeof(int32_t), "one block holds both");
    work->colour = memory;
    work->weights = work->colour + 255 * c + 1; /* the sums, then the weights of one neighbour */
    work->sums = work->weights + 2 * w;
    work->differences = (int32_t *)(void *)(memory + reals);
    work->padded = work->differences + w;
    return PX_OK;
}

px_status pxi_bilateral_blur(int diameter, double sigma_colour, double sigma_space,
                             const uint8_t *in, uint8_t *out, int height, int width, int channels,
                             px_error *err)
{
    const int radius = diameter / 2;
    const size_t w = (size_t)width, plane = (size_t)height * w;
    bilateral_neighbour disc[(2 * BILATERAL_RADIUS_MOST + 1) * (2 * BILATERAL_RADIUS_MOST + 1)];
    bilateral_work work = {0};
    assert(radius <= BILATERAL_RADIUS_MOST);
    const int count = bilateral_disc(radius, sigma_space, disc);
    PX_TRY(bilateral_init(&work, height, width, channels, radius, err));
    bilateral_pad(&work, in, height, width, channels, radius);
    for (int i = 0; i <= 255 * channels; i++)
        work.colour[i] = (float)pxi_exp(-0.5 / (sigma_colour * sigma_colour) * i * i);
    float *weight = work.weights + w;
    for (int y = 0; y < height; y++) {
        memset(work.weights, 0, w * sizeof *work.weights);
        memset(work.sums, 0, w * (size_t)channels * sizeof *work.sums);
        const int32_t *centre = work.padded + (size_t)(y + radius) * work.stride + radius;
        for (int k = 0; k < count; k++) {
            const int32_t *other = centre + disc[k].down * (ptrdiff_t)work.stride + disc[k].right;
            memset(work.differences, 0, w * sizeof *work.differences);
            for (int c = 0; c < channels; c++)
                bilateral_differ(centre + (size_t)c * work.plane, other + (size_t)c * work.plane,
                                 width, work.differences);
            bilateral_weigh(work.differences, work.colour, disc[k].weight, width, weight,
                            work.weights);
            for (int c = 0; c < channels; c++)
                bilateral_add(other + (size_t)c * work.plane, weight, width,
                              work.sums + (size_t)c * w);
        }
        for (int c = 0; c < channels; c++) /* a pixel is its own neighbour: no weight is 0 */
            for (size_t x = 0; x < w; x++)
                out[(size_t)c * plane + (size_t)y * w + x] = (uint8_t)pxi_round_even(
                    (double)(work.sums[(size_t)c * w + x] / work.weights[x]));
    }
    free(work.colour);
    return PX_OK;
}
