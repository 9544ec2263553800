/* src/mutate/median_blur.c - medians of 3 x 3 and 5 x 5 values
 *
 * Forgetful selection, a block of pixels at a time: of n/2 + 2 values neither the smallest nor the
 * largest can be the median of n, so both are dropped and the next value takes a place. No
 * branches: every step is a minimum and a maximum of whole blocks.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#include "mutate/filters.h"

#include "base/memory.h"
#include <internal/mutation.h>

#include <assert.h>
#include <stdlib.h>
#include <string.h>

enum { MEDIAN_BLOCK = 32, MEDIAN_KEPT = 14 }; /* pixels; 25 / 2 + 2 values */

static inline void median_sort(uint8_t *restrict a, uint8_t *restrict b)
{
    for (int i = 0; i < MEDIAN_BLOCK; i++) {
        const uint8_t low = a[i] < b[i] ? a[i] : b[i], high = a[i] < b[i] ? b[i] : a[i];
        a[i] = low;
        b[i] = high;
    }
}

/* `rows` are the size rows around the block, beginning at its first neighbour. */
PXI_WIDE static void median_block(const uint8_t *const *rows, int size, uint8_t *restrict out)
{
    uint8_t kept[MEDIAN_KEPT][MEDIAN_BLOCK];
    const int total = size * size;
    int next = total / 2 + 2;
    for (int i = 0; i < next; i++)
        memcpy(kept[i], rows[i / size] + i % size, MEDIAN_BLOCK);
    for (int count = next; count > 2; count--) {
        for (int i = 1; i < count; i++)
            median_sort(kept[0], kept[i]); /* the smallest comes first */
        for (int i = 1; i < count - 1; i++)
            median_sort(kept[i], kept[count - 1]); /* the largest last */
        if (next < total) {
            memcpy(kept[0], rows[next / size] + next % size, MEDIAN_BLOCK);
            next++;
        } else { /* three are left */
            memcpy(out, kept[1], MEDIAN_BLOCK);
        }
    }
}

px_status pxi_median_blur(int size, const uint8_t *in, uint8_t *out, int height, int width,
                          px_error *err)
{
    assert(size % 2 == 1);
    const int reach = size / 2;
    const size_t w = (size_t)width;
    /* Rows with the edge repeated, whole blocks long. */
    const size_t blocks = (w + MEDIAN_BLOCK - 1) / MEDIAN_BLOCK;
    const size_t stride = blocks * MEDIAN_BLOCK + 2 * (size_t)reach;
    uint8_t *padded = pxi_calloc((size_t)height, stride);
    if (!padded)
        return pxi_no_memory_for(err, "a picture of %d x %d", width, height);
    for (int y = 0; y < height; y++) {
        const uint8_t *from = in + (size_t)y * w;
        uint8_t *to = padded + (size_t)y * stride;
        memset(to, from[0], (size_t)reach);
        memcpy(to + reach, from, w);
        memset(to + (size_t)reach + w, from[w - 1], stride - w - (size_t)reach);
    }
    for (int y = 0; y < height; y++)
        for (size_t b = 0; b < blocks; b++) {
            const uint8_t *rows[5];
            uint8_t block[MEDIAN_BLOCK];
            const size_t x = b * MEDIAN_BLOCK;
            for (int k = 0; k < size; k++) {
                const int from = y - reach + k;
                rows[k] = padded + x +
                          (size_t)(from < 0         ? 0
                                   : from >= height ? height - 1
                                                    : from) *
                              stride;
            }
            median_block(rows, size, block);
            memcpy(out + (size_t)y * w + x, block, PX_MIN(w - x, (size_t)MEDIAN_BLOCK));
        }
    free(padded);
    return PX_OK;
}
