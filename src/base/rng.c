/* src/base/rng.c - Philox4x32-10 and what is drawn from it */
/* SPDX-License-Identifier: Apache-2.0 */
#include <internal/rng.h>

#include "base/wide.h"

#include <assert.h>
#include <math.h>

static inline void philox_round(uint32_t *c0, uint32_t *c1, uint32_t *c2, uint32_t *c3, int round,
                                const uint32_t key[2])
{
    const uint32_t k0 = key[0] + (uint32_t)round * 0x9E3779B9u;
    const uint32_t k1 = key[1] + (uint32_t)round * 0xBB67AE85u;
    const uint64_t p0 = (uint64_t)0xD2511F53u * *c0;
    const uint64_t p1 = (uint64_t)0xCD9E8D57u * *c2;
    *c0 = (uint32_t)(p1 >> 32) ^ *c1 ^ k0;
    *c1 = (uint32_t)p1;
    *c2 = (uint32_t)(p0 >> 32) ^ *c3 ^ k1;
    *c3 = (uint32_t)p0;
}

void px_rng_philox(const uint32_t counter[4], const uint32_t key[2], uint32_t out[4])
{
    uint32_t c0 = counter[0], c1 = counter[1], c2 = counter[2], c3 = counter[3];
    for (int round = 0; round < 10; round++)
        philox_round(&c0, &c1, &c2, &c3, round, key);
    out[0] = c0;
    out[1] = c1;
    out[2] = c2;
    out[3] = c3;
}

px_random px_rng(uint64_t seed, uint32_t component, uint32_t item, uint32_t iteration)
{
    return (px_random){
        .key = {(uint32_t)seed, (uint32_t)(seed >> 32)},
        .counter = {0, item, iteration, component},
        .used = 4,
    };
}

uint32_t px_rng_u32(px_random *r)
{
    if (r->used >= 4) {
        px_rng_philox(r->counter, r->key, r->word);
        r->counter[0]++;
        r->used = 0;
    }
    return r->word[r->used++];
}

/* Neighbouring blocks side by side, which a compiler puts into vector registers. */
enum { fill_lanes = 16 };

PXI_WIDE static void fill_blocks(const uint32_t counter[4], const uint32_t key[2],
                                 uint32_t out[4 * fill_lanes])
{
    uint32_t c0[fill_lanes], c1[fill_lanes], c2[fill_lanes], c3[fill_lanes];
    for (uint32_t i = 0; i < fill_lanes; i++) {
        c0[i] = counter[0] + i;
        c1[i] = counter[1];
        c2[i] = counter[2];
        c3[i] = counter[3];
    }
    for (int round = 0; round < 10; round++)
        for (int i = 0; i < fill_lanes; i++)
            philox_round(&c0[i], &c1[i], &c2[i], &c3[i], round, key);
    for (int i = 0; i < fill_lanes; i++) {
        out[4 * i] = c0[i];
        out[4 * i + 1] = c1[i];
        out[4 * i + 2] = c2[i];
        out[4 * i + 3] = c3[i];
    }
}

void px_rng_fill(px_random *r, uint32_t *words, size_t count)
{
    size_t done = 0;
    while (done < count && r->used < 4)
        words[done++] = r->word[r->used++];
    for (; count - done >= 4 * fill_lanes; done += 4 * fill_lanes) {
        fill_blocks(r->counter, r->key, words + done);
        r->counter[0] += fill_lanes;
    }
    while (done < count)
        words[done++] = px_rng_u32(r);
}

double px_rng_u01(px_random *r)
{
    return (double)(px_rng_u32(r) >> 8) * 0x1p-24;
}

double px_rng_normal(px_random *r)
{
    const double pi = 3.14159265358979323846;
    const double radius = sqrt(-2.0 * log(1.0 - px_rng_u01(r))); /* 1 - u is in (0, 1] */
    return radius * cos(2.0 * pi * px_rng_u01(r));
}

uint32_t px_rng_below(px_random *r, uint32_t bound)
{
    const uint32_t reject_below = (uint32_t)(-bound) % bound; /* (2^32 - bound) mod bound */
    uint64_t product;
    do {
        product = (uint64_t)px_rng_u32(r) * bound;
    } while ((uint32_t)product < reject_below);
    return (uint32_t)(product >> 32);
}

void px_rng_permutation(px_random *r, int64_t *out, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        out[i] = i;
    for (uint32_t i = count; i > 1; i--) {
        const uint32_t j = px_rng_below(r, i);
        const int64_t swap = out[i - 1];
        out[i - 1] = out[j];
        out[j] = swap;
    }
}

uint32_t px_rng_choose(px_random *r, const double *weights, uint32_t count)
{
    assert(count > 0);
    double total = 0.0;
    for (uint32_t i = 0; i < count; i++)
        total += weights[i];
    if (!(total > 0.0))
        return px_rng_below(r, count);
    const double target = px_rng_u01(r) * total;
    double prefix = 0.0;
    uint32_t last = 0; /* rounding cannot lead to an index of weight zero */
    for (uint32_t i = 0; i < count; i++) {
        if (!(weights[i] > 0.0))
            continue;
        prefix += weights[i];
        last = i;
        if (prefix > target)
            break;
    }
    return last;
}
