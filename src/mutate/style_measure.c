/* src/mutate/style_measure.c - the colour and texture statistics of a picture */
/* SPDX-License-Identifier: Apache-2.0 */
#include "mutate/style.h"

#include "base/memory.h"
#include <internal/mutation.h>

#include <assert.h>
#include <internal/mutate.h>
#include <stdlib.h>

static const double basis[3][3] = {
    {1.0 / PXI_SQRT_3, 1.0 / PXI_SQRT_3, 1.0 / PXI_SQRT_3},
    {1.0 / PXI_SQRT_2, 0.0, -1.0 / PXI_SQRT_2},
    {1.0 / PXI_SQRT_6, -2.0 / PXI_SQRT_6, 1.0 / PXI_SQRT_6},
};

PXI_WIDE void pxi_style_basis(const uint8_t *restrict rgb, size_t count, double *restrict lab)
{
    for (size_t i = 0; i < count; i++) {
        const double r = rgb[i], g = rgb[count + i], b = rgb[2 * count + i];
        lab[i] = (r + g + b) / PXI_SQRT_3;
        lab[count + i] = (r - b) / PXI_SQRT_2;
        lab[2 * count + i] = (r - 2.0 * g + b) / PXI_SQRT_6;
    }
}

/* Sums stay below 2^64: pictures have at most 2^28 values in a plane. */
PXI_WIDE static uint64_t style_products(const uint8_t *a, const uint8_t *b, size_t count)
{
    uint64_t sum = 0;
    for (size_t i = 0; i < count; i++)
        sum += (uint64_t)((uint32_t)a[i] * (uint32_t)b[i]);
    return sum;
}

PXI_WIDE static uint64_t style_sum(const uint8_t *a, size_t count)
{
    uint64_t sum = 0;
    for (size_t i = 0; i < count; i++)
        sum += a[i];
    return sum;
}

void pxi_style_grey(const uint8_t *plane, size_t count, double *mean, double *variance)
{
    assert(count > 0);
    const double n = (double)count;
    *mean = (double)style_sum(plane, count) / n;
    *variance = (double)style_products(plane, plane, count) / n - *mean * *mean;
}

void pxi_style_colours(const uint8_t *rgb, size_t count, double mean[3], double covariance[6])
{
    assert(count > 0);
    const double n = (double)count;
    double at[3], between[3][3];
    for (size_t c = 0; c < 3; c++)
        at[c] = (double)style_sum(rgb + c * count, count) / n;
    for (size_t c = 0; c < 3; c++)
        for (size_t d = 0; d <= c; d++)
            between[c][d] = between[d][c] =
                (double)style_products(rgb + c * count, rgb + d * count, count) / n - at[c] * at[d];
    for (size_t i = 0, k = 0; i < 3; i++) {
        mean[i] = basis[i][0] * at[0] + basis[i][1] * at[1] + basis[i][2] * at[2];
        for (size_t j = 0; j <= i; j++, k++) {
            covariance[k] = 0.0;
            for (size_t c = 0; c < 3; c++)
                for (size_t d = 0; d < 3; d++)
                    covariance[k] += basis[i][c] * between[c][d] * basis[j][d];
        }
    }
}

/* A grey picture is one with R = G = B. */
static void style_of_grey(double mean, double variance, px_style *out)
{
    *out = (px_style){.mean = {PXI_SQRT_3 * mean}, .covariance = {3.0 * variance}};
}

px_status px_style_measure(const uint8_t *planes, int height, int width, int channels,
                           px_style *out, px_error *err)
{
    if (height < 1 || width < 1 || height > PX_MUTATION_SIDE_MOST ||
        width > PX_MUTATION_SIDE_MOST || (channels != 1 && channels != 3))
        return px_fail(err, PX_E_UNSUPPORTED,
                       "styles are of grey and RGB pictures of 1 to %d pixels each way, not of %d "
                       "channels of %d x %d",
                       PX_MUTATION_SIDE_MOST, channels, width, height);
    const size_t count = (size_t)height * (size_t)width;
    double *memory = NULL;
    PX_TRY(PX_NEW(memory, (size_t)channels * count + pxi_pyramid_room(height, width), err));
    px_style style;
    pxi_pyramid pyramid;
    double mean, variance, scale = 1.0;
    if (channels == 3) {
        pxi_style_colours(planes, count, style.mean, style.covariance);
        pxi_style_basis(planes, count, memory);
    }
    if (channels == 1) {
        pxi_style_grey(planes, count, &mean, &variance);
        style_of_grey(mean, variance, &style);
        for (size_t i = 0; i < count; i++)
            memory[i] = planes[i];
        scale = PXI_SQRT_3;
    }
    pxi_pyramid_init(&pyramid, height, width, memory + (size_t)channels * count);
    for (int c = 0; c < 3; c++) {
        if (c < channels)
            pxi_pyramid_split(&pyramid, memory + (size_t)c * count);
        for (int k = 0; k < PX_STYLE_BANDS; k++)
            style.band[k][c] = c < channels ? scale * pxi_pyramid_deviation(&pyramid, k) : 0.0;
    }
    free(memory);
    *out = style;
    return PX_OK;
}
