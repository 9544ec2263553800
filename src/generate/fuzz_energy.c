/* src/generate/fuzz_energy.c - the queue and its energy: which entry next (LGR D.3), its worth */
/* SPDX-License-Identifier: Apache-2.0 */
#include "generate/fuzz_energy.h"

#include "base/memory.h"

#include <internal/rng.h>
#include <math.h>
#include <stdlib.h>

/* --- probabilities --------------------------------------------------------------------------- */

double pxi_queue_chance(const pxi_queue_rule *rule, uint32_t c)
{
    if (rule->code) {
        double p = 0.8;
        for (uint32_t f = 1; f <= c && p > 0.3 && f < 5.0 * (1.0 - 0.3); f++)
            p = 0.8 - (double)f / 5.0;
        return p;
    }
    return (double)c < (1.0 - rule->least) * rule->gamma ? 1.0 - (double)c / rule->gamma
                                                         : rule->least;
}

/* Whole numbers, so that sums are exact in any order. */
static int64_t queue_weight(const pxi_queue *queue, size_t i)
{
    const pxi_queue_entry *e = &queue->entries[i];
    return llround(0x1p32 *
                   pxi_queue_chance(&queue->rule, queue->rule.by_finds ? e->finds : e->picks));
}

static void tree_add(pxi_queue *queue, size_t i, int64_t by)
{
    for (size_t at = i + 1; at <= queue->room; at += at & (~at + 1))
        queue->tree[at] += by;
}

/* The first entry whose prefix sum exceeds `target`. */
static size_t tree_find(const pxi_queue *queue, int64_t target)
{
    size_t at = 0;
    for (size_t step = queue->room; step > 0; step /= 2)
        if (at + step <= queue->room && queue->tree[at + step] <= target) {
            at += step;
            target -= queue->tree[at];
        }
    return PX_MIN(at, queue->count - 1);
}

static int64_t tree_total(const pxi_queue *queue)
{
    return queue->room ? queue->tree[queue->room] : 0;
}

/* --- entries --------------------------------------------------------------------------------- */

void pxi_queue_init(pxi_queue *queue, const pxi_queue_rule *rule, uint64_t seed)
{
    *queue = (pxi_queue){.rule = *rule, .seed = seed};
}

void pxi_queue_done(pxi_queue *queue)
{
    free(queue->entries);
    free(queue->tree);
    free(queue->changes);
    *queue = (pxi_queue){0};
}

static px_status queue_room(pxi_queue *queue, px_error *err)
{
    const bool weighted = queue->rule.pick == PXI_PICK_NLC;
    PX_TRY(PX_GROW(queue->entries, queue->capacity, queue->count + 1, err));
    if (!weighted || queue->count < queue->room)
        return PX_OK;
    const size_t room = queue->room ? queue->room * 2 : 64;
    int64_t *tree = NULL;
    PX_TRY(PX_NEW(tree, room + 1, err));
    free(queue->tree);
    queue->tree = tree;
    queue->room = room;
    for (size_t i = 0; i < queue->count; i++)
        tree_add(queue, i, queue_weight(queue, i));
    return PX_OK;
}

px_status pxi_queue_push(pxi_queue *queue, px_error *err)
{
    if (queue->count >= UINT32_MAX)
        return px_fail(err, PX_E_UNSUPPORTED, "the queue is full");
    PX_TRY(queue_room(queue, err));
    queue->entries[queue->count++] = (pxi_queue_entry){0};
    queue->unpicked++;
    queue->top = queue->count;
    if (queue->rule.pick == PXI_PICK_NLC)
        tree_add(queue, queue->count - 1, queue_weight(queue, queue->count - 1));
    return PX_OK;
}

/* Entries that a guess added need no note: they go as a whole. */
static px_status queue_note(pxi_queue *queue, size_t i, px_error *err)
{
    if (!queue->guessing || i >= queue->before.count)
        return PX_OK;
    PX_TRY(PX_GROW(queue->changes, queue->change_capacity, queue->change_count + 1, err));
    queue->changes[queue->change_count++] =
        (struct pxi_queue_change){.index = i, .entry = queue->entries[i]};
    return PX_OK;
}

static void queue_set(pxi_queue *queue, size_t i, pxi_queue_entry entry)
{
    const bool weighted = queue->rule.pick == PXI_PICK_NLC;
    const int64_t before = weighted ? queue_weight(queue, i) : 0;
    queue->entries[i] = entry;
    if (weighted)
        tree_add(queue, i, queue_weight(queue, i) - before);
}

px_status pxi_queue_finish(pxi_queue *queue, size_t entry, bool found, px_error *err)
{
    PX_TRY(queue_note(queue, entry, err));
    pxi_queue_entry e = queue->entries[entry];
    queue->unpicked -= e.picks == 0;
    e.picks += e.picks < UINT32_MAX;
    e.finds += found && e.finds < UINT32_MAX;
    e.gone |= queue->rule.pick == PXI_PICK_STACK && !found;
    queue_set(queue, entry, e);
    while (queue->top > 0 && queue->entries[queue->top - 1].gone)
        queue->top--;
    if (queue->cycle_done == 0)
        queue->cycle_size = (int64_t)queue->count;
    if (++queue->cycle_done >= queue->cycle_size) {
        queue->cycles++;
        queue->cycle_done = 0;
    }
    return PX_OK;
}

/* --- picking --------------------------------------------------------------------------------- */

static bool prob_accepts(const pxi_queue *queue, px_random *random, size_t i)
{
    const pxi_queue_entry *e = &queue->entries[i];
    const double p = pxi_queue_chance(&queue->rule, queue->rule.by_finds ? e->finds : e->picks);
    return queue->rule.code ? (double)px_rng_below(random, 101) < 100.0 * p
                            : px_rng_u01(random) < p;
}

static size_t pick_prob(pxi_queue *queue, px_random *random)
{
    for (;;) {
        if (queue->cursor >= queue->count) {
            queue->cursor = 0;
            queue->wrapped = true;
        }
        const size_t i = queue->cursor++;
        if (prob_accepts(queue, random, i))
            return i;
    }
}

static size_t pick_nlc(const pxi_queue *queue, px_random *random)
{
    const int64_t total = tree_total(queue);
    if (total <= 0) /* no weight anywhere: each is as good */
        return px_rng_below(random, (uint32_t)queue->count);
    const uint64_t high = px_rng_u32(random), low = px_rng_u32(random);
    const unsigned __int128 u = (unsigned __int128)(high << 32 | low) * (uint64_t)total;
    return tree_find(queue, (int64_t)(u >> 64));
}

static size_t pick_recent(const pxi_queue *queue, px_random *random)
{
    const uint32_t last = (uint32_t)PX_MIN(queue->count, 5);
    const uint32_t which = px_rng_below(random, last + 1);
    return which < last ? queue->count - 1 - which : px_rng_below(random, (uint32_t)queue->count);
}

bool pxi_queue_pick(pxi_queue *queue, int64_t turn, uint32_t which, size_t *entry)
{
    px_random random = px_rng(queue->seed, PX_RNG_FUZZ, (uint32_t)turn, 1 + which);
    if (queue->count == 0 || (queue->rule.pick == PXI_PICK_STACK && queue->top == 0))
        return false;
    switch (queue->rule.pick) {
    case PXI_PICK_PROB:
        *entry = pick_prob(queue, &random);
        break;
    case PXI_PICK_NLC:
        *entry = pick_nlc(queue, &random);
        break;
    case PXI_PICK_UNIFORM:
        *entry = px_rng_below(&random, (uint32_t)queue->count);
        break;
    case PXI_PICK_RECENT:
        *entry = pick_recent(queue, &random);
        break;
    case PXI_PICK_STACK:
        *entry = queue->top - 1;
        break;
    }
    return true;
}

/* --- guesses --------------------------------------------------------------------------------- */

void pxi_queue_guess(pxi_queue *queue)
{
    queue->guessing = true;
    queue->wrapped = false;
    queue->change_count = 0;
    queue->before.count = queue->count;
    queue->before.cursor = queue->cursor;
    queue->before.top = queue->top;
    queue->before.cycles = queue->cycles;
    queue->before.cycle_done = queue->cycle_done;
    queue->before.cycle_size = queue->cycle_size;
    queue->before.unpicked = queue->unpicked;
}

bool pxi_queue_guess_ends(const pxi_queue *queue)
{
    return queue->wrapped;
}

void pxi_queue_forget(pxi_queue *queue)
{
    while (queue->count > queue->before.count) {
        const size_t i = --queue->count;
        if (queue->rule.pick == PXI_PICK_NLC)
            tree_add(queue, i, -queue_weight(queue, i));
    }
    while (queue->change_count > 0) {
        const struct pxi_queue_change *change = &queue->changes[--queue->change_count];
        queue_set(queue, change->index, change->entry);
    }
    queue->cursor = queue->before.cursor;
    queue->top = queue->before.top;
    queue->cycles = queue->before.cycles;
    queue->cycle_done = queue->before.cycle_done;
    queue->cycle_size = queue->before.cycle_size;
    queue->unpicked = queue->before.unpicked;
    queue->guessing = false;
}

/* --- as bytes -------------------------------------------------------------------------------- */

void pxi_queue_save(const pxi_queue *queue, px_text *bytes)
{
    pxi_fuzz_save_int(bytes, (int64_t)queue->count);
    pxi_fuzz_save_int(bytes, (int64_t)queue->cursor);
    pxi_fuzz_save_int(bytes, queue->cycles);
    pxi_fuzz_save_int(bytes, queue->cycle_done);
    pxi_fuzz_save_int(bytes, queue->cycle_size);
    for (size_t i = 0; i < queue->count; i++) {
        pxi_fuzz_save_int(bytes, queue->entries[i].picks);
        pxi_fuzz_save_int(bytes, queue->entries[i].finds);
    }
}

bool pxi_queue_load(pxi_queue *queue, pxi_fuzz_bytes *from)
{
    int64_t count, cursor, picks, finds;
    if (!pxi_fuzz_load_int(from, (int64_t)queue->count, (int64_t)queue->count, &count) ||
        !pxi_fuzz_load_int(from, 0, count, &cursor) ||
        !pxi_fuzz_load_int(from, 0, INT64_MAX, &queue->cycles) ||
        !pxi_fuzz_load_int(from, 0, INT64_MAX, &queue->cycle_done) ||
        !pxi_fuzz_load_int(from, 0, INT64_MAX, &queue->cycle_size))
        return false;
    queue->cursor = (size_t)cursor;
    for (size_t i = 0; i < queue->count; i++) {
        if (!pxi_fuzz_load_int(from, 0, UINT32_MAX, &picks) ||
            !pxi_fuzz_load_int(from, 0, picks, &finds))
            return false;
        queue->unpicked -= picks > 0;
        queue_set(queue, i,
                  (pxi_queue_entry){
                      .picks = (uint32_t)picks,
                      .finds = (uint32_t)finds,
                      .gone = queue->rule.pick == PXI_PICK_STACK && picks > finds,
                  });
    }
    while (queue->top > 0 && queue->entries[queue->top - 1].gone)
        queue->top--;
    return true;
}

/* --- energy ---------------------------------------------------------------------------------- */

double pxi_power_potential(const uint8_t *pixels, const uint8_t *reference, size_t size,
                           double beta)
{
    uint64_t positive = 0, moved = 0;
    for (size_t i = 0; i < size; i++) {
        positive += pixels[i] > 0;
        moved += (uint64_t)abs(pixels[i] - reference[i]);
    }
    return fmax(0.0, beta * 255.0 * (double)positive - (double)moved);
}

void pxi_power_share(const double *potentials, size_t count, int64_t energy, int64_t *shares)
{
    double sum = 0.0;
    for (size_t i = 0; i < count; i++)
        sum += potentials[i];
    for (size_t i = 0; i < count; i++)
        shares[i] = sum > 0.0 ? (int64_t)ceil((double)energy * potentials[i] / sum) : 0;
}
