/* src/select/lazy_greedy.c - lazy greedy set cover, for items whose gains only shrink */
/* SPDX-License-Identifier: Apache-2.0 */
#include "select/lazy_greedy.h"

#include "base/memory.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>

typedef struct entry {
    int64_t gain;
    uint32_t at;    /* place among the items, which are ascending */
    uint32_t stamp; /* how many had been taken when the gain was worked out */
} entry;

static bool comes_first(const entry *a, const entry *b)
{
    return a->gain > b->gain || (a->gain == b->gain && a->at < b->at);
}

/* Puts `moved` into the hole at the root, children going up before it. */
static void heap_sink(entry *heap, int64_t count, int64_t at, entry moved)
{
    for (int64_t child; (child = 2 * at + 1) < count; at = child) {
        if (child + 1 < count && comes_first(&heap[child + 1], &heap[child]))
            child++;
        if (!comes_first(&heap[child], &moved))
            break;
        heap[at] = heap[child];
    }
    heap[at] = moved;
}

px_status pxi_lazy_run(const pxi_lazy *lazy, const int64_t *items, int64_t count, int64_t *order,
                       int64_t *gains, int64_t *taken, px_error *err)
{
    if (count > (int64_t)PXI_LAZY_MOST)
        return px_fail(err, PX_E_UNSUPPORTED, "%lld inputs are too many to be put into order",
                       (long long)count);
    entry *heap = NULL;
    PX_TRY(PX_NEW(heap, (size_t)PX_MAX(count, (int64_t)1), err));
    px_status status = PX_OK;
    int64_t left = count, done = 0;
    for (int64_t i = 0; i < count; i++)
        heap[i] =
            (entry){.gain = lazy->gain(lazy->context, items ? items[i] : i), .at = (uint32_t)i};
    for (int64_t at = count / 2 - 1; at >= 0; at--)
        heap_sink(heap, count, at, heap[at]);
    while (status == PX_OK && left > 0 && heap[0].gain > lazy->above) {
        const uint32_t at = heap[0].at;
        const int64_t item = items ? items[at] : at;
        if (heap[0].stamp != (uint32_t)done) {
            heap_sink(heap, left, 0,
                      (entry){.gain = lazy->gain(lazy->context, item),
                              .at = at,
                              .stamp = (uint32_t)done});
            continue;
        }
        if (gains)
            gains[done] = heap[0].gain;
        order[done++] = item;
        left--;
        heap_sink(heap, left, 0, heap[left]);
        status = lazy->take(lazy->context, item, err);
    }
    free(heap);
    if (status == PX_OK)
        *taken = done;
    return status;
}

static int keyed_compare(const void *left, const void *right)
{
    const pxi_keyed *a = left, *b = right;
    if (a->key != b->key)
        return a->key > b->key ? -1 : 1;
    if (a->tie != b->tie)
        return a->tie > b->tie ? -1 : 1;
    return a->item < b->item ? -1 : a->item > b->item;
}

void pxi_keyed_sort(pxi_keyed *keyed, int64_t count)
{
    if (count > 1)
        qsort(keyed, (size_t)count, sizeof *keyed, keyed_compare);
}

int64_t pxi_scored_items(const double *scores, int64_t count, int64_t *items)
{
    int64_t scored = 0;
    for (int64_t i = 0; i < count; i++)
        if (!isnan(scores[i]))
            items[scored++] = i;
    return scored;
}

void pxi_append_unscored(const double *scores, int64_t count, int64_t *order, int64_t at)
{
    for (int64_t i = 0; i < count; i++)
        if (isnan(scores[i]))
            order[at++] = i;
}
