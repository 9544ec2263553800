/* include/internal/rng.h - <plexor/rng.h>, and what only plexor itself uses of it
 *
 *     px_random r = px_rng(seed, PX_RNG_SHUFFLE, item, iteration);
 *     double u = px_rng_u01(&r);
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PXI_INTERNAL_RNG_H
#define PXI_INTERNAL_RNG_H

#include <plexor/rng.h>

PX_BEGIN_DECLS

px_random px_rng(uint64_t seed, uint32_t component, uint32_t item, uint32_t iteration);

/* One block; for those who address blocks themselves. */
void px_rng_philox(const uint32_t counter[4], const uint32_t key[2], uint32_t out[4]);

uint32_t px_rng_u32(px_random *r);

void px_rng_fill(px_random *r, uint32_t *words, size_t count); /* so many of these at once */

double px_rng_u01(px_random *r); /* k * 2^-24 in [0, 1) */

double px_rng_normal(px_random *r); /* Box-Muller, cosine half; two words per draw */

/* Uniform below `bound`, which is at least 1. */
uint32_t px_rng_below(px_random *r, uint32_t bound);

/* A permutation of 0..count-1 (count < 2^32), Fisher-Yates from the end. The first k entries are a
 * sample without replacement. */
void px_rng_permutation(px_random *r, int64_t *out, uint32_t count);

/* The first index whose prefix sum exceeds u * total; uniform where the total is zero. Weights are
 * not negative; count is at least 1. */
uint32_t px_rng_choose(px_random *r, const double *weights, uint32_t count);

PX_END_DECLS
#endif
