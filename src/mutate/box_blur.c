/* src/mutate/box_blur.c - means over squares */
/* SPDX-License-Identifier: Apache-2.0 */
#include "mutate/filters.h"

#include "base/memory.h"
#include <internal/mutation.h>

#include <assert.h>
#include <stdlib.h>
#include <string.h>

/* How a sum of size^2 values becomes their mean: (sum * before + add) * times >> shift. */
typedef struct box_mean {
    uint32_t before, add, times, shift;
} box_mean;

static box_mean box_mean_of(int size, bool cv)
{
    static const box_mean opencv[] = {
        [2] = {1, 3, 2097152, 23}, [3] = {1, 4, 932068, 23},  [4] = {1, 9, 524288, 23},
        [5] = {1, 13, 335544, 23}, [6] = {1, 18, 233017, 23}, [7] = {1, 25, 171196, 23},
    };
    if (cv) {
        assert(size >= 2 && size <= 7);
        return opencv[size];
    }
    /* floor((2 sum + d) / 2d) by a reciprocal that is too large by less than 1/2^23: exact as long
     * as (2 sum + d) * 2d < 2^23, and within 32 bits; PXI_BOX_MOST keeps both. */
    const uint32_t d = (uint32_t)(size * size);
    return (box_mean){2, d, (1u << 23) / (2 * d) + 1, 23};
}

PXI_WIDE static void box_add(const uint8_t *restrict row, int width, uint16_t *restrict sums)
{
    for (int x = 0; x < width; x++)
        sums[x] = (uint16_t)(sums[x] + row[x]);
}

/* `sums` is column sums with the border around them. */
PXI_WIDE static void box_across(const uint16_t *restrict sums, int width, int size, box_mean mean,
                                uint16_t *restrict totals, uint8_t *restrict out)
{
    memset(totals, 0, (size_t)width * sizeof *totals);
    for (int k = 0; k < size; k++)
        for (int x = 0; x < width; x++)
            totals[x] = (uint16_t)(totals[x] + sums[x + k]);
    for (int x = 0; x < width; x++)
        out[x] = (uint8_t)((totals[x] * mean.before + mean.add) * mean.times >> mean.shift);
}

px_status pxi_box_blur(int size, bool cv, const uint8_t *in, uint8_t *out, int height, int width,
                       px_error *err)
{
    const int anchor = size / 2;
    const box_mean mean = box_mean_of(size, cv);
    const size_t w = (size_t)width;
    uint16_t *sums = NULL;
    PX_TRY(PX_NEW(sums, 2 * w + PXI_BOX_MOST, err));
    uint16_t *middle = sums + anchor, *totals = sums + w + PXI_BOX_MOST;
    for (int y = 0; y < height; y++) {
        memset(middle, 0, w * sizeof *middle);
        for (int k = 0; k < size; k++)
            box_add(in + (size_t)pxi_reflect(y - anchor + k, height) * w, width, middle);
        for (int k = 1; k <= anchor; k++)
            middle[-k] = middle[pxi_reflect(-k, width)];
        for (int k = 0; k < size - 1 - anchor; k++)
            middle[width + k] = middle[pxi_reflect(width + k, width)];
        box_across(sums, width, size, mean, totals, out + (size_t)y * w);
    }
    free(sums);
    return PX_OK;
}
