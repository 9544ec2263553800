/* src/describe/exemplar_level.h - quantiles of more values than memory holds
 *
 *     for (pass = 0; pass < PXI_LEVEL_PASSES; pass++) {
 *         pxi_level_zero(counts);                       // per worker
 *         pxi_level_observe(pick, pass, counts, values, n);
 *         pxi_level_join(total, counts);                // sums: no order
 *         pxi_level_narrow(pick, pass, total);
 *     }
 *     level = pick->level;
 *
 * Exact: a float's bits, turned into unsigned integers of the same order, are found from the top by
 * counting: 11, 11 and 10 bits. Three passes over the data find the lower of the two order
 * statistics of the type-7 quantile. The upper one is its successor: an equal value, the next
 * counter of the last pass, or the least value beyond those, which that pass keeps as well.
 *
 * Approximate: one pass, 65,536 bins of width 2^e around zero. A value outside doubles e until it
 * fits, and pairs of bins become one; where a value ends up does not depend on when that was. So
 * the histogram is the same for any order and split.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PXI_DESCRIBE_EXEMPLAR_LEVEL_H
#define PXI_DESCRIBE_EXEMPLAR_LEVEL_H

#include <stddef.h>
#include <stdint.h>

enum { PXI_LEVEL_PASSES = 3, PXI_LEVEL_BINS = 2048 };

typedef struct pxi_level_pick { /* one unit's search, the same for all workers during a pass */
    uint32_t prefix;            /* the bits that are known */
    uint64_t rank;              /* of the lower order statistic among values with that prefix */
    double share;               /* of the way to the upper one */
    uint64_t count;             /* values */
    double level;               /* after the last pass; NaN: there are no values */
} pxi_level_pick;

typedef struct pxi_level_counts { /* one unit's, of one worker; 32 bits: see PXI_LEVEL_FULL */
    uint32_t bin[PXI_LEVEL_BINS];
    uint32_t beyond; /* last pass: the least key above all that have the prefix; all ones: none */
} pxi_level_counts;

typedef struct pxi_level_total { /* of all workers */
    uint64_t bin[PXI_LEVEL_BINS];
    uint32_t beyond;
} pxi_level_total;

#define PXI_LEVEL_FULL UINT32_MAX /* counts are joined to the total before they hold more */

void pxi_level_zero(pxi_level_counts *counts);
void pxi_level_zero_total(pxi_level_total *total);

/* Counts finite values; others are passed over. Before the first pass *pick is all zeros. */
void pxi_level_observe(const pxi_level_pick *pick, int pass, pxi_level_counts *counts,
                       const float *values, size_t count);
void pxi_level_join(pxi_level_total *total, const pxi_level_counts *counts);
void pxi_level_narrow(pxi_level_pick *pick, int pass, double quantile,
                      const pxi_level_total *total);

enum { PXI_GRID_BINS = 65536 };

typedef struct pxi_level_grid { /* one unit's */
    int exponent;
    uint64_t count;
    uint64_t bin[PXI_GRID_BINS]; /* bin i holds [i - 32768, i - 32767) * 2^exponent */
} pxi_level_grid;

void pxi_grid_zero(pxi_level_grid *grid);
void pxi_grid_observe(pxi_level_grid *grid, const float *values, size_t count);
void pxi_grid_join(pxi_level_grid *grid, pxi_level_grid *other);    /* `other` is used up */
double pxi_grid_level(const pxi_level_grid *grid, double quantile); /* NaN: no values */

#endif
