/* src/repair/hold_out.c - which inputs are trained on, and which are held back
 *
 * Streams: the order in which a class is held out is (seed, SAMPLE, class, 0); a limit's order is
 * (seed, SAMPLE, 0, which).
 */
/* SPDX-License-Identifier: Apache-2.0 */
#include "repair/hold_out.h"

#include "base/memory.h"
#include "base/ascending.h"
#include <internal/rng.h>

#include <math.h>
#include <stdlib.h>

void pxi_items_done(pxi_items *items)
{
    free(items->index);
    *items = (pxi_items){0};
}

static px_status items_no_memory(int64_t count, px_error *err)
{
    return pxi_no_memory_for(err, "%lld inputs", (long long)count);
}

px_status pxi_items_all(const px_feeder_set *from, pxi_items *out, px_error *err)
{
    pxi_items items = {.count = from->items ? from->count : px_dataset_count(from->set)};
    if (items.count > UINT32_MAX)
        return px_fail(err, PX_E_UNSUPPORTED, "too many inputs to draw from");
    items.index = pxi_calloc((size_t)PX_MAX(items.count, 1), sizeof *items.index);
    if (!items.index)
        return items_no_memory(items.count, err);
    for (int64_t i = 0; i < items.count; i++)
        items.index[i] = from->items ? from->items[i] : i;
    qsort(items.index, (size_t)items.count, sizeof *items.index, pxi_order_int64);
    *out = items;
    return PX_OK;
}

/* Marks what is held back of one class, whose items stand at places[0..count-1]. */
static void hold_class(const int64_t *places, int64_t count, double fraction, px_random *random,
                       int64_t *order, bool *held)
{
    const int64_t take = llround(fraction * (double)count);
    px_rng_permutation(random, order, (uint32_t)count);
    for (int64_t i = 0; i < take; i++)
        held[places[order[i]]] = true;
}

px_status pxi_items_hold_out(const px_dataset *set, int classes, double fraction, uint64_t seed,
                             pxi_items *from, pxi_items *held, px_error *err)
{
    if (!(fraction >= 0.0 && fraction <= 1.0))
        return px_fail(err, PX_E_USAGE, "holding out %g: expected a fraction from 0 to 1",
                       fraction);
    const size_t room = (size_t)PX_MAX(from->count, 1);
    int64_t *places = pxi_calloc(room, sizeof *places), *order = pxi_calloc(room, sizeof *order);
    int64_t *start = pxi_calloc((size_t)classes + 1, sizeof *start);
    int64_t *next = pxi_calloc((size_t)classes + 1, sizeof *next);
    bool *out = pxi_calloc(room, sizeof *out);
    pxi_items kept = {.index = pxi_calloc(room, sizeof *kept.index)};
    pxi_items back = {.index = pxi_calloc(room, sizeof *back.index)};
    px_status status = PX_OK;
    if (!places || !order || !start || !next || !out || !kept.index || !back.index) {
        status = items_no_memory(from->count, err);
        goto done;
    }
    for (int64_t i = 0; i < from->count; i++) /* by class, in order */
        start[px_dataset_label(set, from->index[i]) + 1]++;
    for (int c = 0; c < classes; c++)
        next[c + 1] = start[c + 1] += start[c];
    next[0] = 0;
    for (int64_t i = 0; i < from->count; i++)
        places[next[px_dataset_label(set, from->index[i])]++] = i;
    for (int c = 0; c < classes; c++) {
        px_random random = px_rng(seed, PX_RNG_SAMPLE, (uint32_t)c, 0);
        hold_class(places + start[c], start[c + 1] - start[c], fraction, &random, order, out);
    }
    for (int64_t i = 0; i < from->count; i++) {
        pxi_items *to = out[i] ? &back : &kept;
        to->index[to->count++] = from->index[i];
    }
    pxi_items_done(from);
    *from = kept;
    *held = back;
    kept = back = (pxi_items){0};
done:
    pxi_items_done(&kept);
    pxi_items_done(&back);
    free(places);
    free(order);
    free(start);
    free(next);
    free(out);
    return status;
}

px_status pxi_items_limit(pxi_items *items, int64_t limit, uint64_t seed, uint32_t which,
                          px_error *err)
{
    if (limit <= 0 || limit >= items->count)
        return PX_OK;
    int64_t *order = pxi_calloc((size_t)items->count, sizeof *order);
    if (!order)
        return items_no_memory(items->count, err);
    px_random random = px_rng(seed, PX_RNG_SAMPLE, 0, which);
    px_rng_permutation(&random, order, (uint32_t)items->count);
    for (int64_t i = 0; i < limit; i++)
        order[i] = items->index[order[i]];
    qsort(order, (size_t)limit, sizeof *order, pxi_order_int64);
    free(items->index);
    *items = (pxi_items){order, limit};
    return PX_OK;
}
