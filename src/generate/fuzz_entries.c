/* src/generate/fuzz_entries.c - the entries of the queue: pixels, lineage, chains
 *
 * Pixels are held in memory up to a bound and read from the campaign beyond it. A reference is made
 * when it is first needed: the root's pixels, moved by the lineage's one affine mutation.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#include "generate/fuzz_loop.h"

#include "base/memory.h"

#include <internal/mutate.h>
#include <internal/store.h>
#include <plexor/system.h>
#include <stdlib.h>
#include <string.h>

px_status pxi_loop_push(pxi_loop *loop, const pxi_loop_entry *entry, const uint8_t *pixels,
                        px_error *err)
{
    const size_t size = loop->rule.size;
    PX_TRY(PX_GROW(loop->entries, loop->capacity, loop->count + 1, err));
    pxi_loop_entry *e = &loop->entries[loop->count];
    *e = *entry;
    e->pixels = e->reference = NULL;
    if (e->depth > 0 && loop->kept_bytes + (int64_t)size <= loop->kept_most) {
        e->pixels = pxi_alloc_aligned(size);
        if (!e->pixels)
            return pxi_no_memory(err);
        memcpy(e->pixels, pixels, size);
        loop->kept_bytes += (int64_t)size;
    }
    loop->count++;
    loop->depth = PX_MAX(loop->depth, (int64_t)e->depth);
    return pxi_queue_push(&loop->queue, err);
}

static const uint8_t *entry_seed(const pxi_loop *loop, size_t seed)
{
    return loop->seed_bytes ? loop->seed_bytes + seed * loop->rule.size
                            : (const uint8_t *)loop->fuzz->seeds[seed].pixels;
}

/* Memory for a picture: kept with the entry, or for this wave only. */
static px_status entry_room(pxi_loop *loop, uint8_t **kept, uint8_t **out, px_error *err)
{
    uint8_t *room = pxi_alloc_aligned(loop->rule.size);
    const bool keep = loop->kept_bytes + (int64_t)loop->rule.size <= loop->kept_most;
    if (!room || (!keep && pxi_grow(&loop->loans, &loop->loan_capacity, loop->loan_count + 1,
                                    sizeof *loop->loans) != 0)) {
        free(room);
        return pxi_no_memory(err);
    }
    if (keep) {
        *kept = room;
        loop->kept_bytes += (int64_t)loop->rule.size;
    } else {
        loop->loans[loop->loan_count++] = room;
    }
    *out = room;
    return PX_OK;
}

static px_status entry_pixels(pxi_loop *loop, size_t entry, const uint8_t **out, px_error *err)
{
    pxi_loop_entry *e = &loop->entries[entry];
    uint8_t *room = NULL;
    if (e->depth == 0 || e->pixels) {
        *out = e->depth == 0 ? entry_seed(loop, entry) : e->pixels;
        return PX_OK;
    }
    PX_TRY(entry_room(loop, &e->pixels, &room, err));
    if (loop->rule.samples) { /* stored are features: made again, at most PX_CHAIN_MOST deep */
        const uint8_t *before = NULL;
        PX_TRY(entry_pixels(loop, e->parent, &before, err));
        PX_TRY(
            pxi_mutant_apply(&loop->rule, &e->link, entry_seed(loop, e->root), before, room, err));
    } else if (loop->fuzz->rounds) {
        PX_TRY(pxi_fuzz_read(loop->fuzz, e->id, room, err));
    } else {
        PX_TRY(pxi_fuzz_read(loop->fuzz, e->id, loop->reals, err));
        for (size_t i = 0; i < loop->rule.size; i++) /* they are whole levels */
            room[i] = px_value_level((double)loop->reals[i], loop->fuzz->low, loop->fuzz->high);
    }
    *out = room;
    return PX_OK;
}

/* The root moved by the affine link; the one who has that link holds it for all descendants. */
static px_status entry_reference(pxi_loop *loop, size_t entry, const uint8_t **out, px_error *err)
{
    const pxi_mutant_rule *rule = &loop->rule;
    size_t at = entry;
    while (!px_validity_affine(&rule->validity, loop->entries[at].link.mutation))
        at = loop->entries[at].parent;
    pxi_loop_entry *e = &loop->entries[at];
    const uint8_t *root = entry_seed(loop, e->root);
    uint8_t *room = NULL;
    if (e->reference) {
        *out = e->reference;
        return PX_OK;
    }
    PX_TRY(entry_room(loop, &e->reference, &room, err));
    *out = room;
    return pxi_mutant_apply(rule, &e->link, root, root, room, err);
}

px_status pxi_loop_parent(pxi_loop *loop, size_t entry, pxi_mutant_parent *out, px_error *err)
{
    const pxi_loop_entry *e = &loop->entries[entry];
    out->origin = entry_seed(loop, e->root);
    out->lineage = e->lineage;
    out->reference = out->origin;
    PX_TRY(entry_pixels(loop, entry, &out->pixels, err));
    return e->lineage.affine ? entry_reference(loop, entry, &out->reference, err) : PX_OK;
}

px_status pxi_loop_stored(pxi_loop *loop, const uint8_t *pixels, const void **out, px_error *err)
{
    *out = loop->fuzz->rounds ? (const void *)pixels : loop->reals;
    if (loop->rule.samples)
        return pxi_fuzz_features(loop->fuzz, (const int16_t *)(const void *)pixels, loop->reals,
                                 err);
    for (size_t i = 0; !loop->fuzz->rounds && i < loop->rule.size; i++)
        loop->reals[i] = px_level_value(pixels[i], loop->fuzz->low, loop->fuzz->high);
    return PX_OK;
}

/* --- chains ---------------------------------------------------------------------------------- */

static void chain_add(pxi_loop *loop, size_t entry)
{
    const pxi_loop_entry *e = &loop->entries[entry];
    char text[PX_DRAWN_TEXT];
    if (e->depth == 0)
        return;
    chain_add(loop, e->parent); /* at most PX_CHAIN_MOST deep */
    px_text_format(&loop->chain, "\"%s\",", px_drawn_text(&e->link, text));
}

const char *pxi_loop_chain(pxi_loop *loop, size_t parent, const px_drawn *link)
{
    char text[PX_DRAWN_TEXT];
    px_text_clear(&loop->chain);
    px_text_add(&loop->chain, "[");
    chain_add(loop, parent);
    px_text_format(&loop->chain, "\"%s\"]", px_drawn_text(link, text));
    return px_text_failed(&loop->chain) ? NULL : px_text_get(&loop->chain);
}

px_status pxi_loop_moves(pxi_loop *loop, size_t parent, const px_drawn *link, size_t *count,
                         px_error *err)
{
    size_t used = link->mutation->source != NULL;
    for (size_t at = parent; loop->entries[at].depth > 0; at = loop->entries[at].parent)
        used += loop->entries[at].link.mutation->source != NULL;
    *count = used;
    PX_TRY(PX_GROW(loop->moves, loop->moves_room, used + 1, err));
    if (link->mutation->source)
        loop->moves[--used] = *link;
    for (size_t at = parent; loop->entries[at].depth > 0; at = loop->entries[at].parent)
        if (loop->entries[at].link.mutation->source)
            loop->moves[--used] = loop->entries[at].link;
    return PX_OK;
}

/* --- from the rows of a campaign ------------------------------------------------------------- */

/* Entries are in the order of ids. */
static bool entry_find(const pxi_loop *loop, int64_t id, size_t *out)
{
    size_t low = 0, high = loop->count;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (loop->entries[middle].id < id)
            low = middle + 1;
        else
            high = middle;
    }
    *out = low;
    return low < loop->count && loop->entries[low].id == id;
}

/* What the row is, judged again: a lineage is nowhere stored. */
static px_status entry_from_row(pxi_loop *loop, const px_campaign_input *in, uint8_t *pixels,
                                px_error *err)
{
    px_drawn *links = NULL;
    size_t count = 0, parent = 0;
    bool replayable = false, moves = false;
    pxi_mutant_parent from;
    pxi_loop_entry entry = {.id = in->id};
    PX_TRY(px_chain_parse(in->chain, &links, &count, &replayable, err));
    if (!replayable || count == 0 || !entry_find(loop, in->parent, &parent) ||
        loop->entries[parent].depth + 1 != count) {
        free(links);
        return pxi_fuzz_bad_state(loop->fuzz, err);
    }
    entry.link = links[count - 1];
    entry.depth = (uint32_t)count;
    entry.parent = (uint32_t)parent;
    entry.root = loop->entries[parent].root;
    free(links);
    PX_TRY(pxi_loop_parent(loop, parent, &from, err));
    if (loop->rule.samples) /* the row has features */
        PX_TRY(pxi_mutant_apply(&loop->rule, &entry.link, from.origin, from.pixels, pixels, err));
    if (!pxi_mutant_judge(&loop->rule, &from, entry.link.mutation, pixels, &entry.lineage, &moves))
        return pxi_fuzz_bad_state(loop->fuzz, err);
    return pxi_loop_push(loop, &entry, pixels, err);
}

px_status pxi_loop_rebuild(pxi_loop *loop, px_error *err)
{
    const px_fuzz *fuzz = loop->fuzz;
    const unsigned kinds = PX_INPUT_KEPT | (loop->queues_faults ? (unsigned)PX_INPUT_FAULT : 0u);
    px_campaign_input in = {0};
    for (;;) {
        PX_TRY(px_campaign_next(fuzz->campaign, in.id, kinds, &in,
                                fuzz->rounds ? (void *)loop->bytes : (void *)loop->reals, NULL,
                                err));
        if (!in.id)
            return PX_OK;
        if (in.kind == PX_INPUT_FAULT && in.prediction < 0)
            continue; /* no number came out: never in the queue */
        for (size_t i = 0; !fuzz->rounds && !loop->rule.samples && i < loop->rule.size; i++)
            loop->bytes[i] = px_value_level((double)loop->reals[i], fuzz->low, fuzz->high);
        /* The row's own text goes away with the next read. */
        char *chain = NULL;
        PX_TRY(PX_DUP(chain, in.chain, err));
        in.chain = chain;
        const px_status status = entry_from_row(loop, &in, loop->bytes, err);
        free(chain);
        PX_TRY(status);
        pxi_wave_unlend(loop);
    }
}
