/* src/attribute/lrp_run.c - LRP of a micro-batch, from the class scores back
 *
 * Every step that has to be run is a segment of the network, for one batch size; a *run* is one
 * worker's sessions of them and its memory. Relevance lies channels-last as in the engine, so that
 * most loops are flat; a value's memory is used again once the step that made it is done.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#include "attribute/lrp_internal.h"
#include "base/arena.h"
#include "base/memory.h"
#include <internal/program.h>

#include <assert.h>
#include <stdlib.h>

/* --- segments -------------------------------------------------------------------------------- */

/* What of step s is run: twice where its weights have both signs. */
enum { FIRST, SECOND, PER_STEP };

static px_status lrp_shapes(const void *context, int64_t batch, px_shape *shapes, px_error *err)
{
    const pxi_lrp *lrp = context;
    pxi_program *program = NULL;
    PX_TRY(pxi_lrp_program(lrp, batch, &program, err));
    for (int v = 0; v < px_model_graph(lrp->model)->value_count; v++)
        shapes[v] = program->slots[v].tensor.shape;
    pxi_program_free(program);
    return PX_OK;
}

px_status pxi_lrp_segments(pxi_lrp *lrp, px_error *err)
{
    pxi_segment *list = NULL;
    PX_TRY(PX_NEW(list, lrp->step_count * PER_STEP, err));
    for (size_t s = 0; s < lrp->step_count; s++) {
        const pxi_lrp_step *step = &lrp->steps[s];
        const bool linear = step->kind == PXI_LRP_LINEAR;
        const pxi_segment segment = {.model = linear ? lrp->positive : lrp->model,
                                     .in = step->in,
                                     .out = step->out,
                                     .in_count = step->in_count,
                                     .out_count = step->out_count};
        if (linear || step->kind == PXI_LRP_MEAN || step->kind == PXI_LRP_CHOOSE ||
            step->kind == PXI_LRP_MOVE)
            list[s * PER_STEP + FIRST] = segment;
        if (linear && lrp->negative) {
            list[s * PER_STEP + SECOND] = segment;
            list[s * PER_STEP + SECOND].model = lrp->negative;
        }
    }
    const px_status status =
        pxi_segments_new(list, lrp->step_count * PER_STEP, px_model_graph(lrp->model)->value_count,
                         lrp_shapes, lrp, &lrp->segments, err);
    free(list);
    return status;
}

px_session *pxi_lrp_first(const pxi_lrp_run *run, size_t s)
{
    assert(s < run->lrp->step_count);
    return run->segments.sessions[s * PER_STEP + FIRST];
}

px_session *pxi_lrp_second(const pxi_lrp_run *run, size_t s)
{
    assert(s < run->lrp->step_count);
    return run->segments.sessions[s * PER_STEP + SECOND];
}

/* --- memory ---------------------------------------------------------------------------------- */

px_place pxi_lrp_place(float *data, const px_shape *shape)
{
    px_place place = {.data = data, .shape = *shape};
    int order[PX_MAX_RANK], rank = shape->rank, at = 0;
    const bool last = rank == 3 || rank == 4;
    for (int d = 0; d < rank; d++)
        if (!last || d != 1)
            order[at++] = d;
    if (last)
        order[at] = 1;
    int64_t step = 1;
    for (int i = rank - 1; i >= 0; i--) {
        place.stride[order[i]] = step;
        step *= shape->dim[order[i]];
    }
    return place;
}

/* A free block, the smallest that is large enough, or else the largest, which grows. */
static int run_take(pxi_lrp_run *run, size_t count)
{
    int best = -1;
    for (int b = 0; b < run->block_count; b++) {
        const pxi_lrp_block *x = &run->blocks[b];
        if (x->busy)
            continue;
        const pxi_lrp_block *y = best < 0 ? NULL : &run->blocks[best];
        const bool fits = x->count >= count;
        if (!y || (fits ? y->count < count || x->count < y->count
                        : y->count < count && x->count > y->count))
            best = b;
    }
    if (best < 0)
        best = run->block_count++;
    run->blocks[best].count = PX_MAX(run->blocks[best].count, count);
    run->blocks[best].busy = true;
    return best;
}

static size_t run_size(const pxi_lrp_run *run, int value)
{
    return (size_t)px_shape_count(&run->segments.shapes[value]);
}

bool pxi_lrp_hands_on(const pxi_lrp_run *run, int s)
{
    assert(s >= 0 && (size_t)s < run->lrp->step_count);
    const pxi_lrp_step *step = &run->lrp->steps[s];
    return step->kind == PXI_LRP_PASS && run->born[step->in[0]] == s &&
           run->complete[step->in[0]] == s;
}

static void run_assign(pxi_lrp_run *run)
{
    const pxi_lrp *lrp = run->lrp;
    run->block[lrp->scores.value] = run_take(run, run_size(run, lrp->scores.value));
    for (int s = 0; s < (int)lrp->step_count; s++) {
        const pxi_lrp_step *step = &lrp->steps[s];
        for (int i = 0; i < step->in_count; i++) {
            const int v = step->in[i];
            if (!step->carries[i] || run->block[v] >= 0)
                continue;
            run->block[v] = pxi_lrp_hands_on(run, s) ? run->block[step->out[0]]
                                                     : run_take(run, run_size(run, v));
        }
        for (int o = 0; o < step->out_count && !pxi_lrp_hands_on(run, s); o++)
            if (run->block[step->out[o]] >= 0)
                run->blocks[run->block[step->out[o]]].busy = false;
    }
}

static px_status run_memory(pxi_lrp_run *run, px_error *err)
{
    size_t most = 0;
    for (size_t s = 0; s < run->lrp->step_count; s++) {
        const pxi_lrp_step *step = &run->lrp->steps[s];
        const bool divides = step->kind == PXI_LRP_LINEAR || step->kind == PXI_LRP_MEAN;
        if ((divides && step->mixed) || (step->kind == PXI_LRP_JOIN && step->in_count > 1))
            most = PX_MAX(most, run_size(run, step->out[0]));
    }
    for (int i = 0; most && i < PXI_LRP_SPARES; i++)
        PX_TRY(PX_NEW(run->spare[i], most, err));
    for (int b = 0; b < run->block_count; b++)
        PX_TRY(PX_NEW(run->memory[b], run->blocks[b].count, err));
    return PX_OK;
}

px_status pxi_lrp_run_new(const pxi_lrp *lrp, int64_t batch, pxi_lrp_run **out, px_error *err)
{
    const size_t values = (size_t)px_model_graph(lrp->model)->value_count;
    pxi_lrp_run *run = NULL;
    PX_TRY(PX_NEW(run, 1, err));
    run->lrp = lrp;
    px_status status = pxi_segment_run_open(lrp->segments, batch, &run->segments, err);
    run->arrays = pxi_arena_new();
    run->block = pxi_arena_alloc(run->arrays, values, sizeof *run->block);
    run->complete = pxi_arena_alloc(run->arrays, values, sizeof *run->complete);
    run->born = pxi_arena_alloc(run->arrays, values, sizeof *run->born);
    run->begun = pxi_arena_alloc(run->arrays, values, sizeof *run->begun);
    run->blocks = pxi_arena_alloc(run->arrays, values, sizeof *run->blocks);
    run->memory = pxi_arena_alloc(run->arrays, values, sizeof *run->memory);
    PX_THEN_IF(status, !pxi_arena_whole(run->arrays), pxi_no_memory(err));
    if (status == PX_OK) {
        for (size_t v = 0; v < values; v++)
            run->block[v] = run->complete[v] = run->born[v] = -1;
        for (int s = 0; s < (int)lrp->step_count; s++)
            for (int i = 0; i < lrp->steps[s].in_count; i++) {
                const int v = lrp->steps[s].in[i];
                run->complete[v] = s;
                if (run->born[v] < 0)
                    run->born[v] = s;
            }
        run_assign(run);
        status = run_memory(run, err);
    }
    return PX_GIVE(status, run, out, pxi_lrp_run_free);
}

void pxi_lrp_run_free(pxi_lrp_run *run)
{
    if (!run)
        return;
    pxi_segment_run_close(&run->segments);
    for (int b = 0; run->memory && b < run->block_count; b++)
        free(run->memory[b]);
    for (int i = 0; i < PXI_LRP_SPARES; i++)
        free(run->spare[i]);
    pxi_arena_free(run->arrays);
    free(run);
}
