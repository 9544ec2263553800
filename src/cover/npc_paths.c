/* src/cover/npc_paths.c - decision paths: choosing, comparing and abstracting them */
/* SPDX-License-Identifier: Apache-2.0 */
#include "cover/npc.h"

#include "base/memory.h"

#include <assert.h>
#include <math.h>

static const double npc_slack = 1e-9;

static bool comes_first(const float *relevance, int32_t a, int32_t b)
{
    return relevance[a] > relevance[b] || (relevance[a] == relevance[b] && a < b);
}

static void heap_sink(const float *relevance, int32_t *heap, int64_t count, int64_t at)
{
    for (;;) {
        int64_t best = at;
        for (int64_t child = 2 * at + 1; child <= 2 * at + 2 && child < count; child++)
            if (comes_first(relevance, heap[child], heap[best]))
                best = child;
        if (best == at)
            return;
        const int32_t swap = heap[at];
        heap[at] = heap[best];
        heap[best] = swap;
        at = best;
    }
}

static void layer_path(const float *relevance, int64_t neurons, double alpha, uint8_t *path,
                       int32_t *heap)
{
    int64_t count = 0;
    double all = 0.0, taken = 0.0;
    for (int64_t n = 0; n < neurons; n++) {
        path[n] = 0;
        if (relevance[n] > 0.0f) {
            heap[count++] = (int32_t)n;
            all += (double)relevance[n];
        }
    }
    for (int64_t i = count / 2 - 1; i >= 0; i--)
        heap_sink(relevance, heap, count, i);
    while (count > 0 && taken < alpha * all * (1.0 - npc_slack)) {
        taken += (double)relevance[heap[0]];
        path[heap[0]] = 1;
        heap[0] = heap[--count];
        heap_sink(relevance, heap, count, 0);
    }
}

void pxi_npc_path(const px_row_layer *layers, size_t layer_count, const float *relevance,
                  double alpha, uint8_t *path, int32_t *heap)
{
    for (size_t l = 0; l < layer_count; l++)
        layer_path(relevance + layers[l].offset, layers[l].count, alpha, path + layers[l].offset,
                   heap);
}

double pxi_npc_jaccard(const uint8_t *a, const uint8_t *b, int64_t count)
{
    int64_t both = 0, any = 0;
    for (int64_t n = 0; n < count; n++) {
        both += a[n] & b[n];
        any += a[n] | b[n];
    }
    return any > 0 ? (double)both / (double)any : 1.0;
}

int64_t pxi_npc_bucket(double j, int64_t m, bool compat)
{
    assert(m > 0);
    const double at = j * (double)m;
    if (compat)
        return PX_MIN(m, (int64_t)ceil(at - npc_slack));
    return PX_MIN(m - 1, (int64_t)floor(at + npc_slack));
}

void pxi_npc_abstract(const int64_t *counts, int64_t members, int64_t count, double beta,
                      bool compat, uint8_t *abstract)
{
    int64_t extra = -1;
    for (int64_t n = 0; n < count; n++) {
        const double seen = (double)(counts[n] + (compat ? 1 : 0));
        abstract[n] = members > 0 && seen / (double)members >= beta - npc_slack;
        if (!abstract[n] && (extra < 0 || counts[n] > counts[extra]))
            extra = n;
    }
    if (compat && members > 0 && extra >= 0)
        abstract[extra] = 1;
}
