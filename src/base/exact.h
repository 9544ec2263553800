/* src/base/exact.h - sums that do not depend on the order
 *
 *     pxi_exact sum = {{0}};
 *     bool lost = false;
 *     pxi_exact_add(&sum, x, &lost);             // any number of times, in any order
 *     pxi_exact_join(&sum, &other, &lost);       // of another thread or shard
 *     double total = pxi_exact_value(&sum);      // correctly rounded, to nearest even
 *
 * A two's complement integer of 192 bits that counts units of 2^-96. An addend is rounded to a
 * multiple of the unit once (to nearest even), which concerns only bits that are worth less than
 * 2^-96; after that integers are added, and those do not care about order. So the result's bits are
 * the same for any order and any split. Addends must be below PXI_EXACT_MOST in size; 2^24 of them
 * fit. One that is not (NaN and infinities too) is left out and sets `lost`, which stays set: then
 * there is no sum.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PXI_BASE_EXACT_H
#define PXI_BASE_EXACT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PXI_EXACT_MOST 0x1p71
#define PXI_EXACT_LIMBS 3

typedef struct pxi_exact {          /* {{0}} is zero; an open value, saved as three uint64 */
    uint64_t limb[PXI_EXACT_LIMBS]; /* lowest first */
} pxi_exact;

void pxi_exact_add(pxi_exact *sum, double x, bool *lost);
void pxi_exact_join(pxi_exact *sum, const pxi_exact *other, bool *lost);
double pxi_exact_value(const pxi_exact *sum);
/* What the value lost by rounding, rounded itself: value + rest is good to 106 bits. */
double pxi_exact_rest(const pxi_exact *sum);

/* Element by element over arrays. */
void pxi_exact_add_all(pxi_exact *sums, const double *x, size_t count, bool *lost);
void pxi_exact_join_all(pxi_exact *sums, const pxi_exact *others, size_t count, bool *lost);

#endif
