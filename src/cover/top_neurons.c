/* src/cover/top_neurons.c - the k largest of a row, ties to the lower (or the higher) index */
/* SPDX-License-Identifier: Apache-2.0 */
#include "cover/top_neurons.h"

#include "base/memory.h"
#include "base/vector_math.h"

/* A number that sorts as the float does, and that -0 and 0 share. */
static inline int32_t order_key(float x)
{
    const float whole = x + 0.0f; /* -0 becomes 0 */
    int32_t bits;
    memcpy(&bits, &whole, sizeof bits);
    return bits ^ (int32_t)((uint32_t)(bits >> 31) >> 1);
}

PXI_WIDE static int32_t count_from(const float *x, int32_t n, int32_t least)
{
    int32_t count = 0;
    for (int32_t i = 0; i < n; i++)
        count += order_key(x[i]) >= least;
    return count;
}

pxi_top pxi_top_find(const float *x, int64_t n, int64_t k)
{
    if (k >= n)
        return (pxi_top){.count = n, .least = INT32_MIN};
    /* Keys are searched as unsigned numbers, whose bits can be set one by one. */
    const uint32_t flip = UINT32_C(1) << 31;
    uint32_t found = 0;
    int32_t reached = (int32_t)n; /* how many are not below `found` */
    for (uint32_t bit = flip; bit; bit >>= 1) {
        const int32_t count = count_from(x, (int32_t)n, (int32_t)((found | bit) ^ flip));
        if (count < k)
            continue;
        found |= bit;
        reached = count;
        if (count == k)
            return (pxi_top){.count = k, .least = (int32_t)((found - 1) ^ flip)};
    }
    const int32_t least = (int32_t)(found ^ flip);
    const int32_t above = count_from(x, (int32_t)n, least + 1); /* no float's key is INT32_MAX */
    return (pxi_top){.count = k, .least = least, .equal = k - above, .ties = reached - above};
}

void pxi_top_list(const float *x, int64_t n, const pxi_top *top, bool tail, uint32_t *indices)
{
    /* Which of the equals are in: those whose number among them is in [from, to). */
    const int64_t from = tail ? top->ties - top->equal : 0, to = from + top->equal;
    int64_t tie = 0, found = 0;
    for (int64_t i = 0; i < n && found < top->count; i++) {
        const int32_t key = order_key(x[i]);
        bool in = key > top->least;
        if (key == top->least) {
            in = tie >= from && tie < to;
            tie++;
        }
        indices[found] = (uint32_t)i;
        found += in;
    }
}

void pxi_top_rank(const float *x, uint32_t *indices, int64_t count)
{
    for (int64_t i = 1; i < count; i++) { /* stable, and the list is short */
        const uint32_t index = indices[i];
        int64_t at = i;
        for (; at > 0 && x[indices[at - 1]] < x[index]; at--)
            indices[at] = indices[at - 1];
        indices[at] = index;
    }
}

bool pxi_row_is_constant(const float *x, int64_t n)
{
    for (int64_t i = 1; i < n; i++)
        if (x[i] != x[0])
            return false;
    return true;
}
