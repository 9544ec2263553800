/* src/generate/fuzz_wave.c - mutants made and judged many at a time, on all workers
 *
 * The walk over mutants is one after the other: each sees the coverage that those before left. What
 * needs time, making mutants and running the network, depends on none of that, as long as it is
 * known which entries come next. So a wave takes mutants of the present turn and, guessing, of the
 * next ones: a cyclic scan is known in advance, and where the first accepted mutant ends a pick, it
 * is guessed that every pick gives an entry, whichever mutant that will be. Of those picks the
 * first valid mutant is made beforehand. Where it is not accepted after all, the next one comes
 * with the next wave, and what lies ahead stays good. A guess that fails costs time and nothing
 * else: the mutants it was made for are never looked at, and are not counted.
 *
 * One job of the wave writes what the last one found. On several ranks (internal/ranks.h) all have
 * the same queue and walk over the same mutants; the batches of a wave are dealt out.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#include "generate/fuzz_paths.h"

#include "base/memory.h"

#include <internal/mutate.h>
#include <internal/ranks.h>
#include <internal/row_reader.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

px_status pxi_wave_open(pxi_loop *loop, px_error *err)
{
    const size_t slots = loop->fuzz->slots;
    loop->room = slots * (size_t)loop->fuzz->batch;
    loop->accepted = 0.9;
    loop->found = 1.0;
    loop->items = pxi_calloc(loop->room, sizeof *loop->items);
    loop->wishes = pxi_calloc(loop->room, sizeof *loop->wishes);
    loop->order = pxi_calloc(loop->room, sizeof *loop->order);
    loop->fresh = pxi_calloc(loop->room, sizeof *loop->fresh);
    loop->pixels = pxi_calloc(loop->room, loop->rule.size);
    loop->verdicts = pxi_calloc(loop->room, sizeof *loop->verdicts);
    loop->slots = pxi_calloc(slots, sizeof *loop->slots);
    loop->live = pxi_calloc(slots, sizeof *loop->live);
    return loop->items && loop->wishes && loop->order && loop->fresh && loop->pixels &&
                   loop->verdicts && loop->slots && loop->live
               ? PX_OK
               : pxi_no_memory(err);
}

void pxi_wave_unlend(pxi_loop *loop)
{
    while (loop->loan_count > 0)
        free(loop->loans[--loop->loan_count]);
}

void pxi_wave_close(pxi_loop *loop)
{
    pxi_wave_unlend(loop);
    free(loop->loans);
    free(loop->items);
    free(loop->wishes);
    free(loop->order);
    free(loop->fresh);
    free(loop->pixels);
    free(loop->verdicts);
    free(loop->slots);
    free(loop->live);
}

/* --- what comes next ------------------------------------------------------------------------- */

static void wave_wish(pxi_loop *loop, int64_t turn, size_t entry, int64_t from, int64_t end)
{
    if (loop->wish_count < loop->room)
        loop->wishes[loop->wish_count++] =
            (pxi_wave_wish){.turn = turn, .from = from, .end = end, .entry = entry};
}

/* So many mutants that one of them is accepted, more likely than not by far. */
static int64_t wave_needed(const pxi_loop *loop)
{
    const double a = fmin(fmax(loop->accepted, 0.001), 0.7);
    return (int64_t)ceil(log(0.3) / log(1.0 - a));
}

/* The mutants of a turn from `number` on. Where one accepted is enough, the first valid one; in the
 * present turn as many as it may take. */
static void wave_wish_turn(pxi_loop *loop, const pxi_loop_turn *turn, int64_t number, bool present)
{
    for (size_t k = 0; k < turn->count; k++) {
        const int64_t first = PX_MAX(number, k ? turn->end[k - 1] : 0), end = turn->end[k];
        const int64_t needed = loop->first && present ? wave_needed(loop) : 1;
        if (first >= end || (loop->first && turn->found[k]))
            continue;
        if (loop->first && needed == 1)
            wave_wish(loop, turn->turn, turn->entry[k], first, end);
        else
            for (int64_t n = first; n < end && (!loop->first || n < first + needed); n++)
                wave_wish(loop, turn->turn, turn->entry[k], n, n + 1);
    }
}

/* The turn ends as guessed: each pick gives an entry where one is enough. */
static px_status wave_assume(pxi_loop *loop, const pxi_loop_turn *turn, px_error *err)
{
    for (size_t k = 0; k < turn->count; k++)
        if (loop->first && !turn->found[k])
            PX_TRY(pxi_queue_push(&loop->queue, err));
    for (size_t k = 0; k < turn->count; k++)
        PX_TRY(pxi_queue_finish(&loop->queue, turn->entry[k], true, err));
    return PX_OK;
}

/* As far ahead as it is likely to come true. */
static px_status wave_guess(pxi_loop *loop, const pxi_loop_turn *now, px_error *err)
{
    const size_t known = loop->count;
    pxi_loop_turn turn = *now;
    double likely = 1.0;
    while (loop->wish_count < loop->room && (!loop->first || (likely *= loop->found) > 0.5)) {
        bool ends = turn.turn + 1 >= UINT32_MAX;
        PX_TRY(wave_assume(loop, &turn, err));
        if (!ends)
            PX_TRY(pxi_loop_picks(loop, turn.turn + 1, &turn, err));
        ends |= turn.count == 0 || pxi_queue_guess_ends(&loop->queue);
        for (size_t k = 0; k < turn.count; k++)
            ends |= turn.entry[k] >= known;
        if (ends)
            break;
        wave_wish_turn(loop, &turn, 0, false);
    }
    return PX_OK;
}

/* --- what of it is there, and where the rest goes -------------------------------------------- */

static bool wave_is(const pxi_wave_item *item, const pxi_wave_wish *wish)
{
    return item->wish.turn == wish->turn && item->wish.from == wish->from &&
           item->wish.end == wish->end && item->wish.entry == wish->entry;
}

/* Both lists ascend by turn and number: wishes that the last wave fulfilled get their item. */
static void wave_match(pxi_loop *loop)
{
    size_t at = 0;
    for (size_t i = 0; i < loop->wish_count; i++) {
        pxi_wave_wish *wish = &loop->wishes[i];
        while (at < loop->item_count && (loop->items[loop->order[at]].wish.turn < wish->turn ||
                                         (loop->items[loop->order[at]].wish.turn == wish->turn &&
                                          loop->items[loop->order[at]].wish.from < wish->from)))
            at++;
        const bool there = at < loop->item_count && wave_is(&loop->items[loop->order[at]], wish);
        wish->item = there ? loop->order[at] : SIZE_MAX;
    }
}

/* How many wishes are new, and how many slots nobody's rows are in. */
static void wave_count(pxi_loop *loop, size_t *fresh, size_t *open)
{
    const size_t slots = loop->fuzz->slots;
    *fresh = 0;
    *open = slots;
    memset(loop->live, 0, slots * sizeof *loop->live);
    for (size_t i = 0; i < loop->wish_count; i++) {
        const size_t item = loop->wishes[i].item;
        if (item == SIZE_MAX)
            ++*fresh;
        else if (loop->items[item].made.valid && !loop->live[loop->items[item].slot]) {
            loop->live[loop->items[item].slot] = true;
            --*open;
        }
    }
}

/* Batches are whole, one for each worker, where there is enough; and there are slots for them. */
static void wave_trim(pxi_loop *loop)
{
    const size_t batch = (size_t)loop->fuzz->batch, all = batch * (size_t)loop->fuzz->workers;
    size_t fresh, open;
    for (wave_count(loop, &fresh, &open); open * batch < fresh || open == 0;
         wave_count(loop, &fresh, &open))
        loop->wish_count--; /* the first is new: that alone needs one slot */
    for (size_t over = fresh > all ? fresh % all : 0;
         over > 0 && loop->wishes[loop->wish_count - 1].item == SIZE_MAX; over--)
        loop->wish_count--;
}

/* Items that nobody wishes any more make place for those that are new. */
static px_status wave_place(pxi_loop *loop, px_error *err)
{
    for (size_t i = 0; i < loop->room; i++)
        loop->items[i].used = false;
    for (size_t i = 0; i < loop->wish_count; i++)
        if (loop->wishes[i].item != SIZE_MAX)
            loop->items[loop->wishes[i].item].used = true;
    loop->fresh_count = 0;
    for (size_t i = 0, free_one = 0; i < loop->wish_count; i++) {
        if (loop->wishes[i].item == SIZE_MAX) {
            while (loop->items[free_one].used)
                free_one++;
            loop->wishes[i].item = free_one;
            loop->items[free_one] = (pxi_wave_item){.used = true, .wish = loop->wishes[i]};
            PX_TRY(
                pxi_loop_parent(loop, loop->wishes[i].entry, &loop->items[free_one].parent, err));
            loop->fresh[loop->fresh_count++] = free_one;
        }
        loop->order[i] = loop->wishes[i].item;
    }
    loop->item_count = loop->wish_count;
    loop->at = 0;
    size_t slots = 0;
    for (size_t s = 0; s < loop->fuzz->slots; s++)
        if (!loop->live[s])
            loop->slots[slots++] = s;
    return PX_OK;
}

static px_status wave_plan(pxi_loop *loop, const pxi_loop_turn *turn, int64_t number, px_error *err)
{
    loop->wish_count = 0;
    pxi_wave_unlend(loop);
    wave_wish_turn(loop, turn, number, true);
    /* Beyond this turn: where the queue is known, and a mutant costs little more than a look. */
    if (!pxi_loop_paths_dear(loop) && (loop->first || loop->queue.rule.pick == PXI_PICK_PROB)) {
        pxi_queue_guess(&loop->queue);
        const px_status status = wave_guess(loop, turn, err);
        pxi_queue_forget(&loop->queue);
        PX_TRY(status);
    }
    wave_match(loop);
    wave_trim(loop);
    return wave_place(loop, err);
}

/* --- making and judging ---------------------------------------------------------------------- */

px_status pxi_wave_input(const pxi_loop *loop, const uint8_t *pixels, float *input, px_error *err)
{
    const px_fuzz *fuzz = loop->fuzz;
    if (fuzz->rounds)
        return pxi_fuzz_input(fuzz, pixels, input, err);
    if (loop->rule.samples)
        PX_TRY(pxi_fuzz_features(fuzz, (const int16_t *)(const void *)pixels, input, err));
    else
        for (size_t i = 0; i < loop->rule.size; i++)
            input[i] = px_level_value(pixels[i], fuzz->low, fuzz->high);
    return px_preprocess_apply(&fuzz->pre, &fuzz->shape, input, err);
}

/* The first valid mutant of those wished, if there is one. */
static px_status wave_make(const pxi_loop *loop, pxi_wave_item *item, uint8_t *pixels,
                           px_error *err)
{
    for (int64_t n = item->wish.from; n < item->wish.end && !item->made.valid; n++) {
        item->number = n;
        PX_TRY(pxi_mutant_make(&loop->rule, &item->parent, item->wish.turn, (uint32_t)n, pixels,
                               &item->made, err));
        for (size_t i = 0; i < PXI_MUTANT_ENTRIES; i++)
            item->tried[i] += item->made.tried[i];
    }
    return PX_OK;
}

/* Job 0 writes; job 1 + j is batch j of what is new. */
static px_status wave_job(void *context, pxi_lane *lane, int64_t index, px_error *err)
{
    pxi_loop *loop = context;
    px_fuzz *fuzz = loop->fuzz;
    if (index == 0)
        return pxi_fuzz_write(fuzz, err);
    const size_t batch = (size_t)fuzz->batch, first = (size_t)(index - 1) * batch;
    const size_t end = PX_MIN(first + batch, loop->fresh_count), slot = loop->slots[index - 1];
    pxi_fuzz_verdict *verdicts = loop->verdicts + slot * batch;
    int64_t rows = 0;
    for (size_t i = first; i < end; i++) {
        pxi_wave_item *item = &loop->items[loop->fresh[i]];
        uint8_t *pixels = loop->pixels + loop->fresh[i] * loop->rule.size;
        PX_TRY(wave_make(loop, item, pixels, err));
        if (!item->made.valid)
            continue;
        item->slot = slot;
        item->row = rows;
        PX_TRY(pxi_wave_input(loop, pixels, pxi_lane_input(lane, rows), err));
        PX_TRY(pxi_lane_beside(lane, rows, fuzz->options.set,
                               fuzz->seeds[loop->entries[item->wish.entry].root].row, err));
        rows++;
    }
    PX_TRY(pxi_fuzz_forward(fuzz, lane, slot, rows, verdicts, err));
    for (size_t i = first; i < end; i++) {
        pxi_wave_item *item = &loop->items[loop->fresh[i]];
        if (item->made.valid)
            item->verdict = verdicts[item->row];
    }
    return PX_OK;
}

/* --- on several ranks ------------------------------------------------------------------------ */

typedef struct wave_left { /* of an item; behind it pixels, if it is valid */
    int64_t number, row;
    size_t slot;
    uint32_t tried[PXI_MUTANT_ENTRIES];
    pxi_mutant made;
    pxi_fuzz_verdict verdict;
} wave_left;

/* What batch `job` of a wave left: its items, and the rows that the guide reads. */
static px_status wave_pack(void *context, int64_t job, px_text *to, px_error *err)
{
    const pxi_loop *loop = context;
    const px_fuzz *fuzz = loop->fuzz;
    const size_t batch = (size_t)fuzz->batch, first = (size_t)job * batch;
    bool rows = false;
    (void)err;
    for (size_t i = first; i < PX_MIN(first + batch, loop->fresh_count); i++) {
        const pxi_wave_item *item = &loop->items[loop->fresh[i]];
        wave_left left = {.number = item->number,
                          .row = item->row,
                          .slot = item->slot,
                          .made = item->made,
                          .verdict = item->verdict};
        memcpy(left.tried, item->tried, sizeof left.tried);
        px_text_add_bytes(to, (const char *)&left, sizeof left);
        if (item->made.valid)
            px_text_add_bytes(to, (const char *)loop->pixels + loop->fresh[i] * loop->rule.size,
                              loop->rule.size);
        rows |= item->made.valid;
    }
    if (rows && fuzz->cover)
        pxi_reader_pack(fuzz->readers[loop->slots[job]], to);
    return PX_OK;
}

static px_status wave_unpack(void *context, int64_t job, const char *bytes, size_t size,
                             px_error *err)
{
    pxi_loop *loop = context;
    const px_fuzz *fuzz = loop->fuzz;
    const size_t batch = (size_t)fuzz->batch, first = (size_t)job * batch;
    bool rows = false, good = true;
    for (size_t i = first; good && i < PX_MIN(first + batch, loop->fresh_count); i++) {
        pxi_wave_item *item = &loop->items[loop->fresh[i]];
        wave_left left;
        good = pxi_ranks_take(&left, sizeof left, &bytes, &size) &&
               left.made.entry < loop->rule.all.set->entry_count;
        if (!good)
            break;
        item->number = left.number;
        item->row = left.row;
        item->slot = left.slot;
        item->made = left.made;
        item->made.drawn.mutation = loop->rule.all.set->entries[left.made.entry].mutation;
        item->made.drawn.styles = loop->rule.all.styles;
        item->verdict = left.verdict;
        memcpy(item->tried, left.tried, sizeof item->tried);
        good = !item->made.valid || pxi_ranks_take(loop->pixels + loop->fresh[i] * loop->rule.size,
                                                   loop->rule.size, &bytes, &size);
        rows |= item->made.valid;
    }
    if (good && rows && fuzz->cover)
        good = pxi_reader_unpack(fuzz->readers[loop->slots[job]], &bytes, &size);
    return good ? PX_OK
                : px_fail(err, PX_E_INTERNAL, "another rank's part of a wave cannot be read");
}

/* --- a wave ---------------------------------------------------------------------------------- */

/* The item that begins with this mutant, if the wave has it. */
static const pxi_wave_item *wave_find(pxi_loop *loop, int64_t turn, size_t entry, int64_t number)
{
    for (; loop->at < loop->item_count; loop->at++) {
        const pxi_wave_item *item = &loop->items[loop->order[loop->at]];
        if (item->wish.turn > turn || (item->wish.turn == turn && item->wish.from >= number))
            return item->wish.turn == turn && item->wish.from == number && item->wish.entry == entry
                       ? item
                       : NULL;
    }
    return NULL;
}

px_status pxi_wave_get(pxi_loop *loop, const pxi_loop_turn *turn, size_t pick, int64_t number,
                       const pxi_wave_item **out, px_error *err)
{
    *out = wave_find(loop, turn->turn, turn->entry[pick], number);
    if (*out)
        return PX_OK;
    PX_TRY(wave_plan(loop, turn, number, err));
    const int64_t batches =
        ((int64_t)loop->fresh_count + loop->fuzz->batch - 1) / loop->fuzz->batch;
    const pxi_left left = {
        .beside = 1, .in_turn = true, .context = loop, .pack = wave_pack, .unpack = wave_unpack};
    pxi_pass_leaves(loop->fuzz->pass, &left);
    PX_TRY(pxi_pass_each(loop->fuzz->pass, 1 + batches, NULL, wave_job, loop, err));
    loop->fuzz->waves++;
    if (loop->paths)
        PX_TRY(pxi_loop_paths_wave(loop, err));
    *out = wave_find(loop, turn->turn, turn->entry[pick], number);
    return PX_OK;
}
