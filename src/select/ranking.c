/* src/select/ranking.c - candidates in order, all of them or the best so far */
/* SPDX-License-Identifier: Apache-2.0 */
#include "select/ranking.h"

#include "base/memory.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

bool pxi_ranked_before(const px_ranked *a, const px_ranked *b)
{
    const bool a_nan = isnan(a->score), b_nan = isnan(b->score);
    if (a_nan != b_nan)
        return b_nan;
    if (!a_nan && a->score != b->score)
        return a->score > b->score;
    return a->index < b->index;
}

static int ranked_compare(const void *a, const void *b)
{
    return pxi_ranked_before(a, b) ? -1 : pxi_ranked_before(b, a);
}

void pxi_ranked_sort(px_ranked *entries, int64_t count)
{
    if (count > 1)
        qsort(entries, (size_t)count, sizeof *entries, ranked_compare);
}

px_status pxi_ranking_init(pxi_ranking *r, int64_t keep, int classes, px_error *err)
{
    *r = (pxi_ranking){.keep = keep,
                       .strata = classes > 0 ? classes + 1 : 1,
                       .least = INFINITY,
                       .most = -INFINITY};
    return PX_NEW(r->heap, r->strata, err);
}

void pxi_ranking_done(pxi_ranking *r)
{
    for (int s = 0; r->heap && s < r->strata; s++)
        free(r->heap[s].entry);
    free(r->heap);
    *r = (pxi_ranking){0};
}

/* --- a heap ---------------------------------------------------------------------------------- */

static void heap_up(px_ranked *entry, size_t i)
{
    const px_ranked moving = entry[i];
    for (; i > 0; i = (i - 1) / 2) {
        const px_ranked *parent = &entry[(i - 1) / 2];
        if (!pxi_ranked_before(parent, &moving)) /* the worse one stays above */
            break;
        entry[i] = *parent;
    }
    entry[i] = moving;
}

static void heap_down(px_ranked *entry, size_t count, size_t i)
{
    const px_ranked moving = entry[i];
    for (size_t child; (child = 2 * i + 1) < count; i = child) {
        if (child + 1 < count && pxi_ranked_before(&entry[child], &entry[child + 1]))
            child++;
        if (!pxi_ranked_before(&moving, &entry[child]))
            break;
        entry[i] = entry[child];
    }
    entry[i] = moving;
}

static px_status heap_add(pxi_ranking_heap *heap, int64_t keep, const px_ranked *candidate,
                          px_error *err)
{
    if ((int64_t)heap->count < keep) {
        PX_TRY(PX_GROW(heap->entry, heap->capacity, heap->count + 1, err));
        heap->entry[heap->count++] = *candidate;
        heap_up(heap->entry, heap->count - 1);
    } else if (heap->count > 0 && pxi_ranked_before(candidate, &heap->entry[0])) {
        heap->entry[0] = *candidate;
        heap_down(heap->entry, heap->count, 0);
    }
    return PX_OK;
}

/* --- rankings -------------------------------------------------------------------------------- */

px_status pxi_ranking_add(pxi_ranking *r, const px_ranked *candidate, px_error *err)
{
    const bool has_class = candidate->predicted >= 0 && candidate->predicted < r->strata - 1;
    r->added++;
    if (isnan(candidate->score)) {
        r->unscored++;
    } else {
        r->least = fmin(r->least, candidate->score);
        r->most = fmax(r->most, candidate->score);
    }
    return heap_add(&r->heap[has_class ? candidate->predicted : r->strata - 1], r->keep, candidate,
                    err);
}

px_status pxi_ranking_merge(pxi_ranking *r, const pxi_ranking *other, px_error *err)
{
    assert(r->strata == other->strata && r->keep == other->keep);
    r->added += other->added;
    r->unscored += other->unscored;
    r->least = fmin(r->least, other->least);
    r->most = fmax(r->most, other->most);
    for (int s = 0; s < r->strata; s++)
        for (size_t i = 0; i < other->heap[s].count; i++)
            PX_TRY(heap_add(&r->heap[s], r->keep, &other->heap[s].entry[i], err));
    return PX_OK;
}

px_status pxi_ranking_take(const pxi_ranking *r, px_ranked **out, int64_t *count, px_error *err)
{
    size_t total = 0, at = 0;
    for (int s = 0; s < r->strata; s++)
        total += r->heap[s].count;
    px_ranked *entries = NULL;
    PX_TRY(PX_NEW(entries, PX_MAX(total, 1), err));
    for (int s = 0; s < r->strata; s++) {
        if (r->heap[s].count > 0)
            memcpy(entries + at, r->heap[s].entry, r->heap[s].count * sizeof *entries);
        at += r->heap[s].count;
    }
    pxi_ranked_sort(entries, (int64_t)total);
    *out = entries;
    *count = (int64_t)total;
    return PX_OK;
}

px_status pxi_ranked_stratify(px_ranked *entries, int64_t count, int classes, px_error *err)
{
    const size_t n = (size_t)count;
    int64_t *seen = pxi_calloc((size_t)classes + 1, sizeof *seen);
    int64_t *turn = pxi_calloc(n + 1, sizeof *turn);   /* of each entry */
    int64_t *start = pxi_calloc(n + 1, sizeof *start); /* of each turn */
    px_ranked *sorted = pxi_calloc(n + 1, sizeof *sorted);
    px_status status = PX_OK;
    if (!seen || !turn || !start || !sorted) {
        status = pxi_no_memory(err);
    } else {
        for (size_t i = 0; i < n; i++) {
            const int c = entries[i].predicted;
            turn[i] = seen[c >= 0 && c < classes ? c : classes]++;
            start[turn[i] + 1]++;
        }
        for (size_t t = 0; t < n; t++)
            start[t + 1] += start[t];
        for (size_t i = 0; i < n; i++)
            sorted[start[turn[i]]++] = entries[i];
        memcpy(entries, sorted, n * sizeof *entries);
    }
    free(seen);
    free(turn);
    free(start);
    free(sorted);
    return status;
}
