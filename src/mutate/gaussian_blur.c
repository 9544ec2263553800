/* src/mutate/gaussian_blur.c - OpenCV's Gaussian kernels for sizes 3, 5 and 7, in whole numbers */
/* SPDX-License-Identifier: Apache-2.0 */
#include "mutate/filters.h"

#include "base/memory.h"
#include <internal/mutation.h>

#include <assert.h>
#include <stdlib.h>
#include <string.h>

typedef struct gaussian_kernel {
    int size, shift; /* weights add up to 2^(shift / 2) */
    uint16_t weight[7];
} gaussian_kernel;

static const gaussian_kernel kernels[] = {
    {3, 4, {1, 2, 1}},
    {5, 8, {1, 4, 6, 4, 1}},
    {7, 12, {2, 7, 14, 18, 14, 7, 2}},
};

PXI_WIDE static void gaussian_add(const uint8_t *restrict row, int width, uint16_t weight,
                                  uint16_t *restrict sums)
{
    for (int x = 0; x < width; x++)
        sums[x] = (uint16_t)(sums[x] + row[x] * weight);
}

PXI_WIDE static void gaussian_across(const uint16_t *restrict sums, int width,
                                     const gaussian_kernel *kernel, uint32_t *restrict totals,
                                     uint8_t *restrict out)
{
    const uint32_t half = 1u << (kernel->shift - 1);
    for (int x = 0; x < width; x++)
        totals[x] = half;
    for (int k = 0; k < kernel->size; k++) {
        const uint32_t weight = kernel->weight[k];
        for (int x = 0; x < width; x++)
            totals[x] += sums[x + k] * weight;
    }
    const int shift = kernel->shift;
    for (int x = 0; x < width; x++)
        out[x] = (uint8_t)(totals[x] >> shift);
}

px_status pxi_gaussian_blur(int size, const uint8_t *in, uint8_t *out, int height, int width,
                            px_error *err)
{
    assert(size % 2 == 1);
    const gaussian_kernel *kernel = &kernels[(size - 3) / 2];
    const int reach = size / 2;
    const size_t w = (size_t)width;
    uint32_t *totals = NULL;
    PX_TRY(PX_NEW(totals, 2 * w + 6, err));
    uint16_t *sums = (uint16_t *)(void *)(totals + w), *middle = sums + reach;
    for (int y = 0; y < height; y++) {
        memset(middle, 0, w * sizeof *middle);
        for (int k = 0; k < size; k++)
            gaussian_add(in + (size_t)pxi_reflect(y - reach + k, height) * w, width,
                         kernel->weight[k], middle);
        for (int k = 1; k <= reach; k++) {
            middle[-k] = middle[pxi_reflect(-k, width)];
            middle[width - 1 + k] = middle[pxi_reflect(width - 1 + k, width)];
        }
        gaussian_across(sums, width, kernel, totals, out + (size_t)y * w);
    }
    free(totals);
    return PX_OK;
}
