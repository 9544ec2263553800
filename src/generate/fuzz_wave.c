/* src/generate/fuzz_wave.c - mutants made and judged many at a time, on all workers
 *
 * The walk over mutants is one after the other: each sees the coverage that those before left. What
 * needs time, making mutants and running the network, depends on none of that, as long as it is
 * known which entries come next. So a wave takes the mutants of the present turn and, guessing, of
 * the next ones: a cyclic scan is known in advance, and where the first accepted mutant ends a
 * turn, it is guessed that one of the first few is. A guess that fails costs time and nothing else:
 * the mutants it was made for are never looked at, and are not counted.
 *
 * One job of the wave writes what the last one found.
 */
#include "generate/fuzz_loop.h"

#include "base/memory.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

px_status pxi_wave_open(pxi_loop *loop, px_error *err)
{
    loop->room = loop->fuzz->slots * (size_t)loop->fuzz->batch;
    loop->accepted = 0.5;
    loop->items = pxi_calloc(loop->room, sizeof *loop->items);
    loop->pixels = pxi_calloc(loop->room, loop->rule.size);
    loop->verdicts = pxi_calloc(loop->room, sizeof *loop->verdicts);
    return loop->items && loop->pixels && loop->verdicts
               ? PX_OK
               : px_fail(err, PX_E_NOMEM, "out of memory");
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
    free(loop->pixels);
    free(loop->verdicts);
}

/* --- what comes next -----------------------------------------------------------------------------
 */

typedef struct wave_shape {
    size_t items; /* in the wave */
    int64_t each; /* mutants of a pick; INT64_MAX: all */
} wave_shape;

/* The share of a wave that will be looked at, where a mutant is accepted with probability a and m
 * mutants of each pick are in it: turns go on as long as one of the m is. */
static double wave_worth(double a, int64_t m, size_t items)
{
    const double turns = fmax(1.0, floor((double)items / (double)m));
    const double holds = 1.0 - pow(1.0 - a, (double)m);
    const double reached = holds < 1.0 - 1e-9 ? (1.0 - pow(holds, turns)) / (1.0 - holds) : turns;
    return reached * holds / a / (turns * (double)m);
}

/* Larger waves lose less at their ends, smaller ones less to wrong guesses. */
static wave_shape wave_choose(const pxi_loop *loop)
{
    const size_t least = (size_t)(loop->fuzz->batch * loop->fuzz->workers);
    wave_shape best = {.items = loop->room, .each = INT64_MAX};
    if (!loop->first)
        return best;
    const double a = fmin(fmax(loop->accepted, 0.001), 0.999);
    double most = -1.0;
    for (size_t items = PX_MIN(least, loop->room); items <= loop->room; items *= 2)
        for (int64_t m = 1; m <= PX_MAX((int64_t)items, 1); m *= 2) {
            const double worth =
                wave_worth(a, m, items) * (double)items / ((double)items + 0.1 * (double)least);
            if (worth > most) {
                most = worth;
                best = (wave_shape){.items = items, .each = m};
            }
        }
    return best;
}

static px_status wave_add(pxi_loop *loop, const pxi_loop_turn *turn, int64_t number,
                          const wave_shape *shape, px_error *err)
{
    for (size_t k = 0; k < turn->count; k++) {
        const int64_t first = PX_MAX(number, k ? turn->end[k - 1] : 0);
        int64_t end = turn->end[k];
        if (turn->found[k] && loop->first)
            continue;
        if (shape->each < end - first)
            end = first + shape->each;
        pxi_mutant_parent parent;
        if (first < end && loop->item_count < shape->items)
            PX_TRY(pxi_loop_parent(loop, turn->entry[k], &parent, err));
        for (int64_t n = first; n < end && loop->item_count < shape->items; n++)
            loop->items[loop->item_count++] = (pxi_wave_item){.turn = turn->turn,
                                                              .number = (uint32_t)n,
                                                              .entry = turn->entry[k],
                                                              .parent = parent};
    }
    return PX_OK;
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

static px_status wave_guess(pxi_loop *loop, const pxi_loop_turn *now, const wave_shape *shape,
                            px_error *err)
{
    const size_t known = loop->count;
    pxi_loop_turn turn = *now;
    while (loop->item_count < shape->items) {
        bool ends = turn.turn + 1 >= UINT32_MAX;
        PX_TRY(wave_assume(loop, &turn, err));
        if (!ends)
            PX_TRY(pxi_loop_picks(loop, turn.turn + 1, &turn, err));
        ends |= turn.count == 0 || pxi_queue_guess_ends(&loop->queue);
        for (size_t k = 0; k < turn.count; k++)
            ends |= turn.entry[k] >= known;
        if (ends)
            break;
        PX_TRY(wave_add(loop, &turn, 0, shape, err));
    }
    return PX_OK;
}

static px_status wave_plan(pxi_loop *loop, const pxi_loop_turn *turn, int64_t number, px_error *err)
{
    const wave_shape shape = wave_choose(loop);
    loop->item_count = loop->at = 0;
    pxi_wave_unlend(loop);
    PX_TRY(wave_add(loop, turn, number, &shape, err));
    if (!loop->first && loop->queue.rule.pick != PXI_PICK_PROB)
        return PX_OK; /* nobody knows how many entries there will be */
    pxi_queue_guess(&loop->queue);
    const px_status status = wave_guess(loop, turn, &shape, err);
    pxi_queue_forget(&loop->queue);
    return status;
}

/* --- making and judging --------------------------------------------------------------------------
 */

static px_status wave_input(pxi_loop *loop, const uint8_t *pixels, float *input, px_error *err)
{
    const px_fuzz *fuzz = loop->fuzz;
    if (fuzz->rounds)
        return pxi_fuzz_input(fuzz, pixels, input, err);
    for (size_t i = 0; i < loop->rule.size; i++)
        input[i] = (float)pixels[i] / 255.0f;
    return px_preprocess_apply(&fuzz->pre, &fuzz->shape, input, err);
}

/* Job 0 writes; job 1 + s is the batch of reader s. */
static px_status wave_job(void *context, int worker, int64_t index, px_error *err)
{
    pxi_loop *loop = context;
    px_fuzz *fuzz = loop->fuzz;
    if (index == 0)
        return pxi_fuzz_write(fuzz, err);
    const size_t slot = (size_t)(index - 1), first = slot * (size_t)fuzz->batch;
    const size_t end = PX_MIN(first + (size_t)fuzz->batch, loop->item_count);
    int64_t rows = 0;
    for (size_t i = first; i < end; i++) {
        pxi_wave_item *item = &loop->items[i];
        uint8_t *pixels = loop->pixels + i * loop->rule.size;
        PX_TRY(pxi_mutant_make(&loop->rule, &item->parent, item->turn, item->number, pixels,
                               &item->made, err));
        if (!item->made.valid)
            continue;
        item->slot = slot;
        item->row = rows;
        PX_TRY(wave_input(loop, pixels, pxi_fuzz_place(fuzz, worker, rows), err));
        rows++;
    }
    pxi_fuzz_verdict *verdicts = loop->verdicts + first;
    PX_TRY(pxi_fuzz_forward(fuzz, worker, slot, rows, verdicts, err));
    for (size_t i = first; i < end; i++)
        if (loop->items[i].made.valid)
            loop->items[i].verdict = verdicts[loop->items[i].row];
    return PX_OK;
}

px_status pxi_wave_get(pxi_loop *loop, const pxi_loop_turn *turn, size_t pick, int64_t number,
                       const pxi_wave_item **out, px_error *err)
{
    const size_t entry = turn->entry[pick];
    while (loop->at < loop->item_count &&
           (loop->items[loop->at].turn < turn->turn ||
            (loop->items[loop->at].turn == turn->turn && loop->items[loop->at].number < number)))
        loop->at++;
    const pxi_wave_item *next = loop->at < loop->item_count ? &loop->items[loop->at] : NULL;
    if (!next || next->turn != turn->turn || next->number != number || next->entry != entry) {
        PX_TRY(wave_plan(loop, turn, number, err));
        const int64_t batches =
            ((int64_t)loop->item_count + loop->fuzz->batch - 1) / loop->fuzz->batch;
        PX_TRY(pxi_pool_run(loop->fuzz->pool, 1 + batches, wave_job, loop, NULL, NULL, err));
    }
    *out = &loop->items[loop->at];
    return PX_OK;
}
