/* src/cover/top_neurons.h - the k largest of a row, ties to the lower (or the higher) index
 *
 *     const pxi_top top = pxi_top_find(x, n, k);
 *     const int64_t found = pxi_top_list(x, n, &top, false, indices);     // ascending
 *
 * A partial selection without memory of its own: the k-th largest value is found bit by bit, from
 * the highest, by counting how many values are not below a candidate. Each step is one pass without
 * branches, which compilers turn into vectors, and most selections end after a dozen. -0 equals 0.
 * NaN has no place here.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PXI_COVER_TOP_NEURONS_H
#define PXI_COVER_TOP_NEURONS_H

#include <stdbool.h>
#include <stdint.h>

typedef struct pxi_top {
    int64_t count;       /* min(k, n): how many are in */
    int32_t least;       /* order keys above this one are in ... */
    int64_t equal, ties; /* ... and `equal` of the `ties` that are equal to it */
} pxi_top;

/* 1 <= k, 1 <= n <= INT32_MAX. */
pxi_top pxi_top_find(const float *x, int64_t n, int64_t k);

/* Writes top->count indices in ascending order. `tail`: among equals the higher index wins. */
void pxi_top_list(const float *x, int64_t n, const pxi_top *top, bool tail, uint32_t *indices);

/* Sorts listed indices by value, largest first, equals by index; count is small. */
void pxi_top_rank(const float *x, uint32_t *indices, int64_t count);

bool pxi_row_is_constant(const float *x, int64_t n);

#endif
