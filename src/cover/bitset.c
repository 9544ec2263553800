/* src/cover/bitset.c - a set of small numbers, one bit each */
/* SPDX-License-Identifier: Apache-2.0 */
#include "cover/bitset.h"

#include "base/memory.h"

#include <assert.h>
#include <stdlib.h>

bool pxi_bitset_init(pxi_bitset *set, int64_t count)
{
    *set = (pxi_bitset){.count = count};
    const size_t words = (size_t)pxi_bitset_words(set);
    set->words = pxi_calloc(words ? words : 1, sizeof *set->words);
    return set->words != NULL;
}

void pxi_bitset_done(pxi_bitset *set)
{
    free(set->words);
    *set = (pxi_bitset){0};
}

/* The bits of word w that lie in [first, end), which reaches into it. */
static uint64_t word_mask(int64_t w, int64_t first, int64_t end)
{
    uint64_t mask = ~UINT64_C(0);
    if (first > w * 64)
        mask &= ~UINT64_C(0) << (first - w * 64);
    if (end < (w + 1) * 64)
        mask &= ~UINT64_C(0) >> ((w + 1) * 64 - end);
    return mask;
}

int64_t pxi_bitset_count(const pxi_bitset *set, int64_t first, int64_t end)
{
    assert(first >= 0 && end <= set->count);
    int64_t count = 0;
    for (int64_t w = first / 64; w * 64 < end; w++)
        count += __builtin_popcountll(set->words[w] & word_mask(w, first, end));
    return count;
}

bool pxi_bitset_any(const pxi_bitset *set, int64_t first, int64_t end)
{
    assert(first >= 0 && end <= set->count);
    for (int64_t w = first / 64; w * 64 < end; w++)
        if (set->words[w] & word_mask(w, first, end))
            return true;
    return false;
}

void pxi_bitset_join(pxi_bitset *set, const pxi_bitset *other)
{
    assert(set->count == other->count);
    const int64_t words = pxi_bitset_words(set);
    for (int64_t w = 0; w < words; w++)
        set->words[w] |= other->words[w];
}

bool pxi_bitset_is_clean(const uint64_t *words, int64_t count)
{
    return count % 64 == 0 || words[count / 64] >> (count % 64) == 0;
}
