/* src/cover/bitset.h - a set of small numbers, one bit each
 *
 * Bits beyond `count` in the last word are 0, so that words can be compared, saved and counted as
 * they are.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PXI_COVER_BITSET_H
#define PXI_COVER_BITSET_H

#include <stdbool.h>
#include <stdint.h>

#define PXI_BITSET_MOST ((int64_t)1 << 40) /* bits: 128 GiB; larger sets are refused */

typedef struct pxi_bitset {
    uint64_t *words;
    int64_t count; /* of bits */
} pxi_bitset;

bool pxi_bitset_init(pxi_bitset *set, int64_t count); /* empty; false: out of memory */
void pxi_bitset_done(pxi_bitset *set);

static inline int64_t pxi_bitset_words(const pxi_bitset *set)
{
    return (set->count + 63) / 64;
}

static inline void pxi_bitset_add(pxi_bitset *set, int64_t i)
{
    set->words[i >> 6] |= UINT64_C(1) << (i & 63);
}

static inline bool pxi_bitset_has(const pxi_bitset *set, int64_t i)
{
    return set->words[i >> 6] >> (i & 63) & 1;
}

/* How many of [first, end) are in it. */
int64_t pxi_bitset_count(const pxi_bitset *set, int64_t first, int64_t end);
/* Whether any of [first, end) is. */
bool pxi_bitset_any(const pxi_bitset *set, int64_t first, int64_t end);
void pxi_bitset_join(pxi_bitset *set, const pxi_bitset *other); /* of the same count */
/* Whether the bits beyond `count` are 0, for words from a file. */
bool pxi_bitset_is_clean(const uint64_t *words, int64_t count);

#endif
