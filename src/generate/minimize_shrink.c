/* src/generate/minimize_shrink.c - one fault on its way back to its seed */
/* SPDX-License-Identifier: Apache-2.0 */
#include "generate/minimize_shrink.h"

#include "base/memory.h"

#include <internal/mutate.h>
#include <stdlib.h>
#include <string.h>

enum {
    SWEEPS_MOST = 4, /* over units of one size, as long as they find something */
    SCALE = 256,     /* of the whole difference */
    SCALE_STEP = 16,
};

static size_t shrink_size(const pxi_shrink *s)
{
    return (size_t)s->channels * (size_t)s->height * (size_t)s->width;
}

static int level_difference(const pxi_shrink *s, const uint8_t *pixels, size_t i)
{
    return (int)pixels[i] - (int)s->root[i];
}

static int64_t squared_distance(const pxi_shrink *s, const uint8_t *pixels)
{
    int64_t sum = 0;
    for (size_t i = 0, n = shrink_size(s); i < n; i++) {
        const int d = level_difference(s, pixels, i);
        sum += d * d;
    }
    return sum;
}

/* Judges s->trial and, where the network errs, makes it s->now. */
static px_status shrink_try(pxi_shrink *s, bool *accepted, px_error *err)
{
    *accepted = false;
    if (s->executions >= s->most)
        return PX_OK;
    s->executions++;
    PX_TRY(s->errs(s->context, s->trial, accepted, err));
    if (*accepted)
        memcpy(s->now, s->trial, shrink_size(s));
    return PX_OK;
}

/* --- all of the units, else each half -------------------------------------------------------- */

typedef struct sweep {
    pxi_shrink *shrink;
    const void *context;
    /* Tries a move of units[count]; *accepted: they moved. */
    px_status (*move)(const struct sweep *sweep, const int64_t *units, int64_t count,
                      bool *accepted, px_error *err);
    bool changed;
} sweep;

static px_status sweep_units(sweep *w, const int64_t *units, int64_t count, px_error *err)
{
    bool accepted = false;
    if (count == 0 || w->shrink->executions >= w->shrink->most)
        return PX_OK;
    PX_TRY(w->move(w, units, count, &accepted, err));
    w->changed |= accepted;
    if (accepted || count == 1)
        return PX_OK;
    PX_TRY(sweep_units(w, units, count / 2, err));
    return sweep_units(w, units + count / 2, count - count / 2, err);
}

/* --- links of the chain ---------------------------------------------------------------------- */

typedef struct link_sweep {
    const px_drawn *links;
    size_t count;
    bool *kept, *trial;
} link_sweep;

/* The links for which `kept` holds, from the root; what comes out is in s->trial. */
static px_status links_apply(const pxi_shrink *s, const link_sweep *chain, const bool *kept,
                             px_error *err)
{
    const size_t size = shrink_size(s);
    memcpy(s->trial, s->root, size);
    for (size_t i = 0; i < chain->count; i++) {
        if (!kept[i])
            continue;
        PX_TRY(px_mutation_apply_near(&chain->links[i], s->root, s->trial, s->spare, s->height,
                                      s->width, s->channels, err));
        memcpy(s->trial, s->spare, size);
    }
    return PX_OK;
}

static px_status links_move(const sweep *w, const int64_t *units, int64_t count, bool *accepted,
                            px_error *err)
{
    const link_sweep *chain = w->context;
    pxi_shrink *s = w->shrink;
    memcpy(chain->trial, chain->kept, chain->count * sizeof *chain->kept);
    for (int64_t i = 0; i < count; i++)
        chain->trial[units[i]] = false;
    *accepted = false;
    PX_TRY(links_apply(s, chain, chain->trial, err));
    if (squared_distance(s, s->trial) > squared_distance(s, s->now))
        return PX_OK;
    PX_TRY(shrink_try(s, accepted, err));
    if (*accepted)
        memcpy(chain->kept, chain->trial, chain->count * sizeof *chain->kept);
    return PX_OK;
}

static px_status shrink_links(pxi_shrink *s, const px_drawn *links, size_t count, bool *kept,
                              px_error *err)
{
    link_sweep chain = {
        .links = links, .count = count, .kept = kept, .trial = pxi_calloc(count + 1, sizeof *kept)};
    int64_t *units = pxi_calloc(count + 1, sizeof *units);
    px_status status = chain.trial && units ? PX_OK : pxi_no_memory(err);
    PX_THEN(status, links_apply(s, &chain, kept, err));
    sweep w = {.shrink = s, .context = &chain, .move = links_move};
    w.changed = status == PX_OK && memcmp(s->trial, s->now, shrink_size(s)) == 0;
    for (int i = 0; i < SWEEPS_MOST && w.changed && status == PX_OK; i++) {
        int64_t left = 0;
        for (size_t k = 0; k < count; k++)
            if (kept[k])
                units[left++] = (int64_t)k;
        w.changed = false;
        status = sweep_units(&w, units, left, err);
    }
    free(chain.trial);
    free(units);
    return status;
}

/* --- the whole difference -------------------------------------------------------------------- */

/* `part` of SCALE of the difference that `from` has, towards the root. */
static px_status scale_try(pxi_shrink *s, const uint8_t *from, int part, bool *accepted,
                           px_error *err)
{
    for (size_t i = 0, n = shrink_size(s); i < n; i++)
        s->trial[i] = (uint8_t)(s->root[i] + level_difference(s, from, i) * part / SCALE);
    return shrink_try(s, accepted, err);
}

/* Coarse steps from the root outwards until one errs, then bisection between the last two. */
static px_status shrink_scale(pxi_shrink *s, px_error *err)
{
    bool accepted = false;
    int low = 0, high = SCALE;
    memcpy(s->spare, s->now, shrink_size(s));
    for (int part = SCALE_STEP; part < SCALE && !accepted; part += SCALE_STEP) {
        PX_TRY(scale_try(s, s->spare, part, &accepted, err));
        low = accepted ? part - SCALE_STEP : part;
        high = accepted ? part : high;
    }
    while (high - low > 1) {
        const int middle = (low + high) / 2;
        PX_TRY(scale_try(s, s->spare, middle, &accepted, err));
        if (accepted)
            high = middle;
        else
            low = middle;
    }
    return PX_OK;
}

/* --- blocks, pixels, values ------------------------------------------------------------------ */

typedef struct block_sweep {
    int side; /* of blocks, in pixels, all channels together; 0: single values */
    int (*closer)(int difference);
} block_sweep;

static int closer_none(int difference)
{
    return 0 * difference;
}

static int closer_half(int difference)
{
    return difference / 2;
}

static int closer_step(int difference)
{
    return difference > 0 ? difference - 1 : difference < 0 ? difference + 1 : 0;
}

static int64_t blocks_across(const pxi_shrink *s, int side)
{
    return (s->width + side - 1) / side;
}

/* The values of a unit: rows [y0, y1) and columns [x0, x1) of planes [c0, c1). */
typedef struct unit_box {
    int c0, c1, y0, y1, x0, x1;
} unit_box;

static unit_box unit_place(const pxi_shrink *s, int side, int64_t unit)
{
    const int64_t plane = (int64_t)s->height * s->width;
    if (side == 0) {
        const int c = (int)(unit / plane), y = (int)(unit % plane / s->width);
        const int x = (int)(unit % s->width);
        return (unit_box){c, c + 1, y, y + 1, x, x + 1};
    }
    const int across = (int)blocks_across(s, side);
    const int y = (int)(unit / across) * side, x = (int)(unit % across) * side;
    return (unit_box){
        0, s->channels, y, PX_MIN(y + side, s->height), x, PX_MIN(x + side, s->width)};
}

static px_status blocks_move(const sweep *w, const int64_t *units, int64_t count, bool *accepted,
                             px_error *err)
{
    const block_sweep *blocks = w->context;
    pxi_shrink *s = w->shrink;
    bool differs = false;
    memcpy(s->trial, s->now, shrink_size(s));
    for (int64_t u = 0; u < count; u++) {
        const unit_box box = unit_place(s, blocks->side, units[u]);
        for (int c = box.c0; c < box.c1; c++)
            for (int y = box.y0; y < box.y1; y++)
                for (int x = box.x0; x < box.x1; x++) {
                    const size_t i =
                        ((size_t)c * (size_t)s->height + (size_t)y) * (size_t)s->width + (size_t)x;
                    const int d = level_difference(s, s->now, i), less = blocks->closer(d);
                    differs |= less != d;
                    s->trial[i] = (uint8_t)(s->root[i] + less);
                }
    }
    *accepted = false;
    return differs ? shrink_try(s, accepted, err) : PX_OK;
}

typedef struct weighed {
    int64_t unit, weight;
} weighed;

static int weighed_compare(const void *left, const void *right)
{
    const weighed *a = left, *b = right;
    if (a->weight != b->weight)
        return a->weight > b->weight ? -1 : 1;
    return a->unit < b->unit ? -1 : a->unit > b->unit;
}

/* The units that differ from the root, those that differ most first. */
static int64_t units_find(const pxi_shrink *s, int side, weighed *list, int64_t *units)
{
    const int64_t plane = (int64_t)s->height * s->width;
    const int64_t count =
        side ? blocks_across(s, side) * ((s->height + side - 1) / side) : (int64_t)shrink_size(s);
    for (int64_t u = 0; u < count; u++)
        list[u] = (weighed){.unit = u};
    for (size_t i = 0, n = shrink_size(s); i < n; i++) {
        const int64_t at = (int64_t)i % plane, y = at / s->width, x = at % s->width;
        const int64_t unit = side ? y / side * blocks_across(s, side) + x / side : (int64_t)i;
        const int d = level_difference(s, s->now, i);
        list[unit].weight += d * d;
    }
    qsort(list, (size_t)count, sizeof *list, weighed_compare);
    int64_t found = 0;
    while (found < count && list[found].weight > 0) {
        units[found] = list[found].unit;
        found++;
    }
    return found;
}

static px_status shrink_blocks(pxi_shrink *s, int side, int (*closer)(int), int sweeps,
                               px_error *err)
{
    const size_t size = shrink_size(s);
    weighed *list = pxi_calloc(size, sizeof *list);
    int64_t *units = pxi_calloc(size, sizeof *units);
    px_status status = list && units ? PX_OK : pxi_no_memory(err);
    const block_sweep blocks = {.side = side, .closer = closer};
    sweep w = {.shrink = s, .context = &blocks, .move = blocks_move, .changed = true};
    for (int i = 0; i < sweeps && w.changed && status == PX_OK; i++) {
        w.changed = false;
        status = sweep_units(&w, units, units_find(s, side, list, units), err);
    }
    free(list);
    free(units);
    return status;
}

static px_status shrink_pixels(pxi_shrink *s, px_error *err)
{
    int side = 1;
    while (2 * side < PX_MAX(s->height, s->width))
        side *= 2;
    PX_TRY(shrink_scale(s, err));
    for (; side > 0; side /= 2)
        PX_TRY(shrink_blocks(s, side, closer_none, SWEEPS_MOST, err));
    if (s->channels > 1)
        PX_TRY(shrink_blocks(s, 0, closer_none, SWEEPS_MOST, err));
    PX_TRY(shrink_blocks(s, 1, closer_half, /* eight bits: */ 8, err));
    PX_TRY(shrink_blocks(s, 0, closer_half, 8, err));
    return shrink_blocks(s, 0, closer_step, 256, err);
}

px_status pxi_shrink_run(pxi_shrink *s, const px_drawn *links, size_t link_count, bool *kept,
                         px_error *err)
{
    s->trial = pxi_alloc_aligned(shrink_size(s));
    s->spare = pxi_alloc_aligned(shrink_size(s));
    px_status status = s->trial && s->spare ? PX_OK : pxi_no_memory(err);
    PX_THEN_IF(status, link_count, shrink_links(s, links, link_count, kept, err));
    PX_THEN(status, shrink_pixels(s, err));
    free(s->trial);
    free(s->spare);
    s->trial = s->spare = NULL;
    return status;
}
