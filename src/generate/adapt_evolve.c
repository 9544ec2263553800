/* src/generate/adapt_evolve.c - choosing parents, crossing and disturbing them */
/* SPDX-License-Identifier: Apache-2.0 */
#include "generate/adapt_evolve.h"

#include <internal/rng.h>
#include <math.h>
#include <string.h>

pxi_adapt_vector pxi_adapt_random(px_random *random)
{
    pxi_adapt_vector vector;
    for (int i = 0; i < PXI_ADAPT_FEATURES; i++)
        vector.w[i] = (2.0 * px_rng_u01(random) - 1.0) * PXI_ADAPT_BOUND;
    return vector;
}

static int64_t set_adds(const uint64_t *set, const uint64_t *seen, size_t words)
{
    int64_t count = 0;
    for (size_t i = 0; i < words; i++)
        count += __builtin_popcountll(set[i] & ~seen[i]);
    return count;
}

void pxi_adapt_greedy(const uint64_t *sets, size_t count, size_t words, size_t want, uint64_t *seen,
                      bool *taken, size_t *out)
{
    memset(seen, 0, words * sizeof *seen);
    memset(taken, 0, count * sizeof *taken);
    bool adds = true;
    for (size_t n = 0; n < want; n++) {
        size_t best = count;
        int64_t most = -1;
        for (size_t i = 0; i < count; i++) {
            const int64_t more = taken[i] ? -1 : set_adds(sets + i * words, seen, words);
            if (more > most) {
                most = more;
                best = i;
            }
        }
        if (adds && most == 0) { /* from here on sizes count: the union is forgotten for good */
            adds = false;
            memset(seen, 0, words * sizeof *seen);
            n--;
            continue;
        }
        taken[best] = true;
        out[n] = best;
        for (size_t w = 0; adds && w < words; w++)
            seen[w] |= sets[best * words + w];
    }
}

static double within(double w)
{
    return fmax(-PXI_ADAPT_BOUND, fmin(PXI_ADAPT_BOUND, w));
}

void pxi_adapt_children(const pxi_adapt_vector *parents, size_t count, double sigma,
                        px_random *random, int64_t *order, pxi_adapt_vector *out, size_t want)
{
    px_rng_permutation(random, order, (uint32_t)count);
    px_rng_permutation(random, order + count, (uint32_t)count);
    for (size_t pair = 0; 2 * pair < want; pair++) {
        const pxi_adapt_vector *a = &parents[order[pair]], *b = &parents[order[count + pair]];
        pxi_adapt_vector child[2];
        for (int i = 0; i < PXI_ADAPT_FEATURES; i++) {
            const bool swap = px_rng_u32(random) & 1;
            child[0].w[i] = within((swap ? b : a)->w[i] + sigma * px_rng_normal(random));
            child[1].w[i] = within((swap ? a : b)->w[i] + sigma * px_rng_normal(random));
        }
        out[2 * pair] = child[0];
        if (2 * pair + 1 < want)
            out[2 * pair + 1] = child[1];
    }
}
