/* src/generate/fuzz_loop.c - engine `loop`: coverage-guided mutation (LGR D.2)
 *
 * Xie et al., DeepHunter, ISSTA 2019; Yuan et al., NLC, ICSE 2023; NSGen, Algorithm 1;
 * Odena et al., TensorFuzz, ICML 2019. One loop; the policies differ in their settings. A turn is
 * one pick (`share` of them under NLC's power schedule). Mutants are looked at in the order of
 * their numbers, so that each sees the coverage which those before it left.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#include "generate/fuzz_paths.h"

#include "base/memory.h"

#include <internal/closeness.h>
#include <internal/mutate.h>
#include <internal/system.h>
#include <inttypes.h>
#include <stdlib.h>

static const char *const picks[] = {"prob", "nlc", "uniform", "recent", "stack", NULL};
static const char *const counts[] = {"picks", "finds", NULL};
static const char *const chances[] = {"paper", "code", NULL};
static const char *const rules[] = {"deephunter", "deephunter-code", "nsgen", "nsgen-strict", NULL};
static const char *const fates[] = {"apart", "queued", NULL};

typedef struct loop_config {
    int pick;
    int count;
    int chance;
    double gamma;
    double pmin;
    int64_t energy;
    int64_t share;
    int64_t tries;
    int valid;
    double alpha;
    double beta;
    bool first;
    int faults;
} loop_config;

static const px_param loop_params[] = {
    PX_PARAM_CHOICE(loop_config, pick, 0, picks,
                    "which entry is next: a cyclic scan with probability p(c), a draw "
                    "weighted by p(c), any, one of the last, or the last"),
    PX_PARAM_CHOICE(loop_config, count, 0, counts,
                    "what c counts: picks of the entry, or those that gave a new one"),
    PX_PARAM_CHOICE(loop_config, chance, 0, chances, "p(c) of DeepHunter's paper or of its code"),
    PX_PARAM_REAL(loop_config, gamma, 5, 1e-3, 1e6, "of p(c)"),
    PX_PARAM_REAL(loop_config, pmin, 0.01, 1e-6, 1, "of p(c)"),
    PX_PARAM_INT(loop_config, energy, 20, 1, 1e6, "mutants of a turn"),
    PX_PARAM_INT(loop_config, share, 1, 1, PXI_LOOP_SHARE,
                 "entries picked in a turn; more than one share its energy by how far "
                 "each may still move (NLC's power schedule)"),
    PX_PARAM_INT(loop_config, tries, 50, 1, 200, "mutations tried until a mutant is valid"),
    PX_PARAM_CHOICE(loop_config, valid, 0, rules, "what counts as a valid mutant"),
    PX_PARAM_REAL(loop_config, alpha, 0.02, 0, 1, "share of values that may change by anything"),
    PX_PARAM_REAL(loop_config, beta, 0.2, 0, 2,
                  "share of the range that any number of values may change by"),
    PX_PARAM_FLAG(loop_config, first, "whether the first accepted mutant ends a pick"),
    PX_PARAM_CHOICE(loop_config, faults, 0, fates,
                    "apart: every failing mutant is an output and none is mutated again; "
                    "queued: the guide accepts failing mutants as it does others"),
    PX_PARAM_END,
};

/* --- opening --------------------------------------------------------------------------------- */

static void loop_close(void *state)
{
    pxi_loop *loop = state;
    if (!loop)
        return;
    pxi_loop_paths_close(loop);
    for (size_t i = 0; i < loop->count; i++) {
        free(loop->entries[i].pixels);
        free(loop->entries[i].reference);
    }
    free(loop->entries);
    free(loop->seed_bytes);
    free(loop->reals);
    free(loop->bytes);
    px_text_done(&loop->chain);
    free(loop->moves);
    pxi_wave_close(loop);
    pxi_queue_done(&loop->queue);
    free(loop);
}

static px_status loop_check(const px_fuzz *fuzz, px_error *err)
{
    const loop_config *config = fuzz->config;
    const px_shape *shape = &fuzz->shape;
    char text[PX_SHAPE_TEXT];
    bool fits = shape->rank == 3;
    for (int d = 0; fits && d < 3; d++)
        fits = shape->dim[d] >= 1 && shape->dim[d] <= PX_MUTATION_SIDE_MOST;
    if (!fits)
        return px_fail(
            err, PX_E_MISMATCH,
            "engine 'loop' mutates recordings and pictures, [channels,height,width]; the "
            "inputs are %s",
            px_shape_text(shape, text));
    if (config->energy * config->tries * 2 > INT64_C(4000000000))
        return px_fail(err, PX_E_USAGE, "an energy of %.0f with %.0f tries each is too much",
                       (double)config->energy, (double)config->tries);
    return PX_OK;
}

static px_status loop_open(px_fuzz *fuzz, void **state, px_error *err)
{
    const loop_config *config = fuzz->config;
    PX_TRY(loop_check(fuzz, err));
    pxi_loop *loop = NULL;
    PX_TRY(PX_NEW(loop, 1, err));
    const pxi_queue_rule rule = {.pick = (pxi_pick)config->pick,
                                 .by_finds = config->count != 0,
                                 .code = config->chance != 0,
                                 .gamma = config->gamma,
                                 .least = config->pmin};
    const px_validity validity = {
        .rule = (px_validity_rule)config->valid, .alpha = config->alpha, .beta = config->beta};
    loop->fuzz = fuzz;
    loop->energy = config->energy;
    loop->share = (size_t)config->share;
    loop->first = config->first;
    loop->queues_faults = config->faults != 0;
    loop->kept_most = PX_MIN((int64_t)1 << 30, px_memory_bytes() / 4);
    pxi_queue_init(&loop->queue, &rule, fuzz->seed);
    pxi_mutant_rule_init(&loop->rule, &fuzz->mutations, validity, (uint32_t)config->tries,
                         fuzz->seed, &fuzz->shape, fuzz->samples);
    for (size_t i = 0; i < fuzz->mutations.set->entry_count; i++)
        loop->yields[i].name = fuzz->mutations.set->entries[i].mutation->entry.id;
    loop->reals = pxi_calloc(PX_MAX(loop->rule.size, fuzz->size), sizeof *loop->reals);
    loop->bytes = pxi_calloc(loop->rule.size, 1);
    px_status status = loop->reals && loop->bytes ? PX_OK : pxi_no_memory(err);
    PX_THEN(status, pxi_wave_open(loop, err));
    PX_THEN(status, pxi_loop_paths_open(loop, err));
    if (status == PX_OK)
        *state = loop;
    else
        loop_close(loop);
    return status;
}

/* Float pictures are mutated as levels, which is what their chains are replayed as. */
static px_status loop_seed_bytes(pxi_loop *loop, px_error *err)
{
    const px_fuzz *fuzz = loop->fuzz;
    if (fuzz->rounds)
        return PX_OK;
    const size_t count = fuzz->seed_count * loop->rule.size;
    if (loop->rule.samples) {
        int16_t *samples = NULL;
        PX_TRY(PX_NEW(samples, count / sizeof *samples, err));
        loop->seed_bytes = (uint8_t *)samples;
        return pxi_fuzz_seed_samples(fuzz, samples, err);
    }
    const float *values = (const float *)(const void *)fuzz->seed_pixels;
    loop->seed_bytes = pxi_calloc(count, 1);
    if (!loop->seed_bytes)
        return pxi_no_memory(err);
    for (size_t i = 0; i < count; i++) {
        const double value = (double)values[i];
        if (!(value >= fuzz->low && value <= fuzz->high))
            return px_fail(err, PX_E_MISMATCH,
                           "engine 'loop' mutates pictures with values from %g to %g; seed %zu of "
                           "the data has %g; --range LOW,HIGH says what values may be",
                           fuzz->low, fuzz->high, i / loop->rule.size, value);
        loop->seed_bytes[i] = px_value_level(value, fuzz->low, fuzz->high);
    }
    return PX_OK;
}

/* --- what rows do not tell ------------------------------------------------------------------- */

static px_status loop_save(const void *state, px_text *bytes, px_error *err)
{
    const pxi_loop *loop = state;
    (void)err;
    pxi_queue_save(&loop->queue, bytes);
    pxi_fuzz_save_int(bytes, loop->cycle_found);
    pxi_fuzz_save_int(bytes, (int64_t)loop->current);
    for (size_t i = 0; i < loop->rule.all.set->entry_count; i++) {
        pxi_fuzz_save_int(bytes, loop->yields[i].tried);
        pxi_fuzz_save_int(bytes, loop->yields[i].valid);
        pxi_fuzz_save_int(bytes, loop->yields[i].kept);
        pxi_fuzz_save_int(bytes, loop->yields[i].faults);
    }
    if (loop->paths)
        pxi_loop_paths_save(loop, bytes);
    return PX_OK;
}

static bool loop_load(pxi_loop *loop, const void *saved, size_t size)
{
    pxi_fuzz_bytes from = {.at = saved, .end = (const uint8_t *)saved + size};
    int64_t current;
    if (!pxi_queue_load(&loop->queue, &from) ||
        !pxi_fuzz_load_int(&from, 0, INT64_MAX, &loop->cycle_found) ||
        !pxi_fuzz_load_int(&from, 0, (int64_t)loop->count, &current))
        return false;
    loop->current = (size_t)current;
    for (size_t i = 0; i < loop->rule.all.set->entry_count; i++) {
        px_fuzz_yield *y = &loop->yields[i];
        if (!pxi_fuzz_load_int(&from, 0, INT64_MAX, &y->tried) ||
            !pxi_fuzz_load_int(&from, 0, INT64_MAX, &y->valid) ||
            !pxi_fuzz_load_int(&from, 0, INT64_MAX, &y->kept) ||
            !pxi_fuzz_load_int(&from, 0, INT64_MAX, &y->faults))
            return false;
    }
    if (loop->paths && !pxi_loop_paths_load(loop, &from))
        return false;
    return from.at == from.end;
}

static px_status loop_begin(void *state, const void *saved, size_t size, px_error *err)
{
    pxi_loop *loop = state;
    px_fuzz *fuzz = loop->fuzz;
    PX_TRY(loop_seed_bytes(loop, err));
    for (size_t i = 0; i < fuzz->seed_count; i++) {
        const pxi_loop_entry entry = {
            .id = fuzz->seeds[i].id, .parent = (uint32_t)i, .root = (uint32_t)i};
        PX_TRY(pxi_loop_push(loop, &entry, NULL, err));
    }
    if (!saved)
        return PX_OK;
    PX_TRY(pxi_loop_rebuild(loop, err));
    if (!loop_load(loop, saved, size))
        return pxi_fuzz_bad_state(fuzz, err);
    const unsigned kinds =
        PX_INPUT_SEED | PX_INPUT_KEPT | (loop->queues_faults ? (unsigned)PX_INPUT_FAULT : 0u);
    return pxi_fuzz_observe(fuzz, kinds, fuzz->reset_after, err);
}

/* --- a turn ---------------------------------------------------------------------------------- */

static px_status loop_shares(pxi_loop *loop, pxi_loop_turn *turn, px_error *err)
{
    double potentials[PXI_LOOP_SHARE];
    int64_t shares[PXI_LOOP_SHARE] = {loop->energy};
    for (size_t k = 0; loop->share > 1 && k < turn->count; k++) {
        pxi_mutant_parent parent;
        PX_TRY(pxi_loop_parent(loop, turn->entry[k], &parent, err));
        potentials[k] = loop->rule.samples
                            ? 1.0 /* room to move is defined for levels */
                            : pxi_power_potential(parent.pixels, parent.reference, loop->rule.size,
                                                  loop->rule.validity.beta);
    }
    if (loop->share > 1)
        pxi_power_share(potentials, turn->count, loop->energy, shares);
    int64_t end = 0;
    for (size_t k = 0; k < turn->count; k++) {
        if (loop->entries[turn->entry[k]].depth >= PX_CHAIN_MOST)
            shares[k] = 0;
        turn->end[k] = end += shares[k];
    }
    return PX_OK;
}

px_status pxi_loop_picks(pxi_loop *loop, int64_t number, pxi_loop_turn *out, px_error *err)
{
    *out = (pxi_loop_turn){.turn = number};
    for (uint32_t k = 0; k < loop->share; k++) {
        if (!pxi_queue_pick(&loop->queue, number, k, &out->entry[k]))
            break;
        out->count++;
        if (out->entry[k] >= loop->count) /* only guessed so far */
            return PX_OK;
    }
    return loop_shares(loop, out, err);
}

static const uint8_t *loop_pixels(const pxi_loop *loop, const pxi_wave_item *item)
{
    return loop->pixels + (size_t)(item - loop->items) * loop->rule.size;
}

/* `near` is that of a fault; NULL: it is none. */
static px_status loop_put(pxi_loop *loop, const pxi_wave_item *item, const px_closeness *near,
                          bool queued, px_error *err)
{
    px_fuzz *fuzz = loop->fuzz;
    const pxi_loop_entry *parent = &loop->entries[item->wish.entry];
    const uint8_t *pixels = loop_pixels(loop, item);
    const void *stored = NULL;
    PX_TRY(pxi_loop_stored(loop, pixels, &stored, err));
    const pxi_fuzz_find find = {.kind = near ? PX_INPUT_FAULT : PX_INPUT_KEPT,
                                .parent = parent->id,
                                .seed = parent->root,
                                .prediction = item->verdict.prediction,
                                .confidence = item->verdict.confidence,
                                .chain = pxi_loop_chain(loop, item->wish.entry, &item->made.drawn),
                                .pixels = stored,
                                .near = near,
                                .needed = queued};
    if (!find.chain)
        return pxi_no_memory(err);
    pxi_loop_entry child = {.parent = (uint32_t)item->wish.entry,
                            .root = parent->root,
                            .depth = parent->depth + 1,
                            .link = item->made.drawn,
                            .lineage = item->made.lineage};
    PX_TRY(pxi_fuzz_put(fuzz, &find, &child.id, err));
    loop->cycle_found = loop->queue.cycles;
    if (!queued)
        return PX_OK;
    PX_TRY(pxi_loop_push(loop, &child, pixels, err));
    return loop->paths ? pxi_loop_paths_push(loop, item, err) : PX_OK;
}

/* Whether the guide wants it; without one everything is wanted. */
static bool loop_gains(pxi_loop *loop, const pxi_wave_item *item)
{
    const px_fuzz *fuzz = loop->fuzz;
    if (loop->paths)
        return pxi_loop_paths_keeps(loop, item);
    return !fuzz->cover ||
           px_cover_gain(fuzz->cover, 0, fuzz->readers[item->slot], item->row) > 0.0;
}

/* How near a failing mutant is to its seed. */
static px_status loop_near(pxi_loop *loop, const pxi_wave_item *item, px_closeness *out,
                           px_error *err)
{
    const void *stored = NULL;
    size_t moves = 0;
    PX_TRY(pxi_loop_stored(loop, loop_pixels(loop, item), &stored, err));
    PX_TRY(pxi_loop_moves(loop, item->wish.entry, &item->made.drawn, &moves, err));
    return pxi_fuzz_measure(loop->fuzz, loop->entries[item->wish.entry].root, stored, loop->moves,
                            moves, out, err);
}

/* Looks at one mutant; *found: it became an entry. */
static px_status loop_look(pxi_loop *loop, const pxi_wave_item *item, bool *found, px_error *err)
{
    px_fuzz *fuzz = loop->fuzz;
    px_fuzz_yield *yield = &loop->yields[item->made.entry];
    for (size_t i = 0; i < loop->rule.all.set->entry_count; i++)
        loop->yields[i].tried += item->tried[i];
    if (!item->made.valid)
        return PX_OK;
    const int64_t label = fuzz->seeds[loop->entries[item->wish.entry].root].label;
    const bool fails = item->verdict.prediction != label;
    px_closeness near = {0};
    pxi_fuzz_count(fuzz, 1);
    yield->valid++;
    if (fails)
        PX_TRY(loop_near(loop, item, &near, err));
    /* Scores that are no numbers are wrong however far the input is. */
    const bool numbers = item->verdict.prediction >= 0;
    const bool rejected = fails && numbers && !pxi_fuzz_accepts(fuzz, &near);
    pxi_fuzz_modes_count(fuzz, item->made.entry, &item->made.drawn, label, fails && !rejected,
                         px_is_close(&near));
    if (rejected)
        return PX_OK;
    if (!numbers) {
        pxi_fuzz_count_not_finite(fuzz);
        yield->faults++;
        return loop_put(loop, item, &near, false, err);
    }
    if (fails && !loop->queues_faults) {
        yield->faults++;
        return loop_put(loop, item, &near, false, err);
    }
    const bool gains = loop_gains(loop, item);
    loop->accepted += 0.02 * ((gains ? 1.0 : 0.0) - loop->accepted);
    if (!gains)
        return PX_OK;
    if (fuzz->cover)
        PX_TRY(px_cover_observe(fuzz->cover, fuzz->readers[item->slot], item->row, 1, err));
    yield->kept += !fails;
    yield->faults += fails;
    *found = true;
    return loop_put(loop, item, fails ? &near : NULL, true, err);
}

static px_status loop_turn(void *state, px_error *err)
{
    pxi_loop *loop = state;
    px_fuzz *fuzz = loop->fuzz;
    pxi_loop_turn turn;
    PX_TRY(pxi_loop_picks(loop, fuzz->turn, &turn, err));
    if (turn.count == 0) {
        fuzz->exhausted = true;
        return PX_OK;
    }
    loop->current = turn.entry[0];
    for (size_t k = 0; k < turn.count; k++)
        for (int64_t n = k ? turn.end[k - 1] : 0; n < turn.end[k];) {
            const pxi_wave_item *item = NULL;
            if (loop->first && turn.found[k])
                break;
            PX_TRY(pxi_wave_get(loop, &turn, k, n, &item, err));
            n = item->number + 1;
            PX_TRY(loop_look(loop, item, &turn.found[k], err));
        }
    for (size_t k = 0; k < turn.count; k++) {
        loop->found += 0.05 * ((turn.found[k] ? 1.0 : 0.0) - loop->found);
        PX_TRY(pxi_queue_finish(&loop->queue, turn.entry[k], turn.found[k], err));
    }
    return PX_OK;
}

static void loop_report(const void *state, px_fuzz_report *report)
{
    const pxi_loop *loop = state;
    report->queue = (int64_t)loop->count;
    report->pending = loop->queue.unpicked;
    report->current = (int64_t)loop->current;
    report->depth = loop->depth;
    report->cycles = loop->queue.cycles;
    report->cycles_without_finds = loop->queue.cycles - loop->cycle_found;
    report->stage = "picks of this cycle";
    report->stage_done = loop->queue.cycle_done;
    report->stage_total = loop->queue.cycle_size;
    report->yields = loop->yields;
    report->yield_count = loop->rule.all.set->entry_count;
    if (loop->paths)
        pxi_loop_paths_report(loop, report);
}

static px_coverage loop_coverage(const void *state)
{
    return pxi_loop_paths_coverage(state);
}

const pxi_fuzz_engine pxi_fuzz_engine_loop = {
    .shown =
        {
            .entry = {.id = "loop",
                      .title = "coverage-guided mutation",
                      .source =
                          "DeepHunter (ISSTA 2019), NLC (ICSE 2023), NSGen, TensorFuzz (ICML 2019)",
                      .params = loop_params,
                      .config_size = sizeof(loop_config)},
            .least_models = 1,
            .most_models = 1,
            .guided = true,
        },
    .policy = "deephunter",
    .open = loop_open,
    .begin = loop_begin,
    .turn = loop_turn,
    .save = loop_save,
    .report = loop_report,
    .close = loop_close,
    .waves = true,
    .coverage = loop_coverage,
};
