/* src/generate/adapt_evolve.h - how ADAPT's vectors of weights learn (LGR D.11) */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PXI_GENERATE_ADAPT_EVOLVE_H
#define PXI_GENERATE_ADAPT_EVOLVE_H

#include "generate/adapt_features.h"

#include <plexor/rng.h>

typedef struct pxi_adapt_vector {
    double w[PXI_ADAPT_FEATURES];
} pxi_adapt_vector;

#define PXI_ADAPT_BOUND 5.0 /* of a weight, either way */

/* Each weight uniform within the bound. */
pxi_adapt_vector pxi_adapt_random(px_random *random);

/* `sets` has `count` bit sets of `words` words each. Chooses `want` (at most count) of them: the
 * one that adds most to the union, again and again, the first of equals; once none adds anything,
 * the largest of those that are left. `seen` is scratch of `words` words, `taken` of count. */
void pxi_adapt_greedy(const uint64_t *sets, size_t count, size_t words, size_t want, uint64_t *seen,
                      bool *taken, size_t *out);

/* Two shuffles of the parents make pairs, and each pair two children: a coin per weight says which
 * child gets whose, and N(0, sigma) is added within the bound. out[want], want <= 2 count; `order`
 * is scratch of 2 count. */
void pxi_adapt_children(const pxi_adapt_vector *parents, size_t count, double sigma,
                        px_random *random, int64_t *order, pxi_adapt_vector *out, size_t want);

#endif
