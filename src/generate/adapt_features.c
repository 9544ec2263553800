/* src/generate/adapt_features.c - features of neurons, and what a vector makes of them */
/* SPDX-License-Identifier: Apache-2.0 */
#include "generate/adapt_features.h"

#include "base/memory.h"

#include <stdlib.h>

bool pxi_adapt_fixed(const pxi_unit_facts *facts, bool code, uint32_t *out)
{
    int64_t *order = pxi_calloc((size_t)facts->count, sizeof *order);
    if (!order || !pxi_unit_facts_by_weight(facts, order)) {
        free(order);
        return false;
    }
    for (int64_t i = 0; i < facts->count; i++)
        out[i] = UINT32_C(1) << (4 * facts->layer[i] / facts->layers) |
                 UINT32_C(1) << (10 + facts->kind[i]);
    for (int64_t rank = 0; rank < facts->count; rank++) {
        const int64_t tenth = rank * 10 / facts->count;
        const int feature = tenth < 5 ? 4 + (int)tenth : 9;
        if (!(code && feature == 7))
            out[order[rank]] |= UINT32_C(1) << feature;
    }
    free(order);
    return true;
}

typedef struct fired {
    int64_t times, unit;
} fired;

static int fired_order(const void *a, const void *b)
{
    const fired *x = a, *y = b;
    if (x->times != y->times)
        return x->times > y->times ? -1 : 1;
    return x->unit < y->unit ? -1 : 1;
}

bool pxi_adapt_features(const uint32_t *fixed, const int64_t *times, const bool *faulty,
                        int64_t count, uint32_t *out)
{
    fired *list = pxi_calloc((size_t)count, sizeof *list);
    if (!list)
        return false;
    int64_t ever = 0;
    for (int64_t i = 0; i < count; i++) {
        out[i] = fixed[i] | (uint32_t)faulty[i] << 17 | (uint32_t)(times[i] == 0) << 18;
        if (times[i] > 0)
            list[ever++] = (fired){times[i], i};
    }
    qsort(list, (size_t)ever, sizeof *list, fired_order);
    for (int64_t rank = 0; rank < ever; rank++)
        out[list[rank].unit] |= UINT32_C(1) << (19 + rank * 10 / ever);
    free(list);
    return true;
}

double pxi_adapt_score(uint32_t features, const double *w)
{
    double score = 0.0;
    for (; features; features &= features - 1)
        score += w[__builtin_ctz(features)];
    return score;
}

void pxi_adapt_best(const uint32_t *features, int64_t count, const double *w, int64_t k,
                    int64_t *out)
{
    int64_t got = 0;
    for (int64_t i = 0; i < count; i++) { /* a sorted list of at most k */
        const double score = pxi_adapt_score(features[i], w);
        int64_t at = got;
        while (at > 0 && score > pxi_adapt_score(features[out[at - 1]], w))
            at--;
        if (at >= k)
            continue;
        for (int64_t j = PX_MIN(got, k - 1); j > at; j--)
            out[j] = out[j - 1];
        out[at] = i;
        got = PX_MIN(got + 1, k);
    }
}
