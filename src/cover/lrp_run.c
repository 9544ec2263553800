/* src/cover/lrp_run.c - relevance of a micro-batch, from the class scores back
 *
 * A *shelf* holds the plans of all steps for one batch size, shared by the workers; a *run* is one
 * worker's sessions of them and its memory. Relevance lies channels-last as in the engine, so that
 * most loops are flat; a value's memory is used again once the step that made it is done.
 */
#include "base/memory.h"
#include "cover/lrp_inside.h"
#include "ops/program.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

typedef struct lrp_shelves {
    pthread_mutex_t lock;
    pxi_lrp_shelf *first; /* under the lock; a shelf does not change once it is here */
} lrp_shelves;

static px_status no_memory(px_error *err)
{
    return px_fail(err, PX_E_NOMEM, "out of memory");
}

/* --- plans ---------------------------------------------------------------------------------------
 */

static void shelf_free(pxi_lrp_shelf *shelf)
{
    if (!shelf)
        return;
    for (size_t s = 0; shelf->plans && s < shelf->step_count; s++) {
        px_plan_free(shelf->plans[s].first);
        px_plan_free(shelf->plans[s].second);
    }
    free(shelf->plans);
    free(shelf->shapes);
    free(shelf);
}

px_status pxi_lrp_shelves_new(pxi_lrp *lrp, px_error *err)
{
    lrp_shelves *shelves = pxi_calloc(1, sizeof *shelves);
    if (!shelves)
        return no_memory(err);
    pthread_mutex_init(&shelves->lock, NULL);
    lrp->shelves = shelves;
    return PX_OK;
}

void pxi_lrp_shelves_free(void *data)
{
    lrp_shelves *shelves = data;
    if (!shelves)
        return;
    while (shelves->first) {
        pxi_lrp_shelf *next = shelves->first->next;
        shelf_free(shelves->first);
        shelves->first = next;
    }
    pthread_mutex_destroy(&shelves->lock);
    free(shelves);
}

static px_status shelf_plan(const px_model *model, const pxi_lrp_step *step, pxi_lrp_shelf *shelf,
                            px_plan **out, px_error *err)
{
    px_feed *feeds = pxi_calloc((size_t)step->in_count, sizeof *feeds);
    if (!feeds)
        return no_memory(err);
    for (int i = 0; i < step->in_count; i++)
        feeds[i] = (px_feed){.value = step->in[i], .shape = shelf->shapes[step->in[i]]};
    px_plan_options options = px_plan_options_default();
    options.batch = shelf->batch;
    options.feeds = feeds;
    options.feed_count = (size_t)step->in_count;
    options.keep = options.seeds = step->out;
    options.keep_count = options.seed_count = (size_t)step->out_count;
    options.wrt = step->in;
    options.wrt_count = (size_t)step->in_count;
    options.no_outputs = true;
    options.direct = true; /* P and N keep their signs, and are zero where nothing is added */
    const px_status status = px_plan_new(model, &options, out, err);
    free(feeds);
    return status;
}

static px_status shelf_make(const pxi_lrp *lrp, int64_t batch, pxi_lrp_shelf **out, px_error *err)
{
    const size_t values = (size_t)px_model_graph(lrp->model)->value_count;
    pxi_program *program = NULL;
    pxi_lrp_shelf *shelf = pxi_calloc(1, sizeof *shelf);
    px_status status = shelf ? PX_OK : no_memory(err);
    if (status != PX_OK)
        return status;
    shelf->batch = batch;
    shelf->step_count = lrp->step_count;
    shelf->plans = pxi_calloc(lrp->step_count, sizeof *shelf->plans);
    shelf->shapes = pxi_calloc(values, sizeof *shelf->shapes);
    status =
        shelf->plans && shelf->shapes ? pxi_lrp_program(lrp, batch, &program, err) : no_memory(err);
    for (size_t v = 0; status == PX_OK && v < values; v++)
        shelf->shapes[v] = program->slots[v].tensor.shape;
    pxi_program_free(program);
    for (size_t s = 0; status == PX_OK && s < lrp->step_count; s++) {
        const pxi_lrp_step *step = &lrp->steps[s];
        const bool linear = step->kind == PXI_LRP_LINEAR;
        if (linear || step->kind == PXI_LRP_MEAN || step->kind == PXI_LRP_CHOOSE ||
            step->kind == PXI_LRP_MOVE)
            status = shelf_plan(linear ? lrp->positive : lrp->model, step, shelf,
                                &shelf->plans[s].first, err);
        if (status == PX_OK && linear)
            status = shelf_plan(lrp->negative, step, shelf, &shelf->plans[s].second, err);
    }
    if (status == PX_OK)
        *out = shelf;
    else
        shelf_free(shelf);
    return status;
}

/* Workers wait for the one that makes the plans. */
static px_status shelf_get(const pxi_lrp *lrp, int64_t batch, const pxi_lrp_shelf **out,
                           px_error *err)
{
    lrp_shelves *shelves = lrp->shelves;
    px_status status = PX_OK;
    pthread_mutex_lock(&shelves->lock);
    pxi_lrp_shelf *shelf = shelves->first;
    while (shelf && shelf->batch != batch)
        shelf = shelf->next;
    if (!shelf && (status = shelf_make(lrp, batch, &shelf, err)) == PX_OK) {
        shelf->next = shelves->first;
        shelves->first = shelf;
    }
    pthread_mutex_unlock(&shelves->lock);
    if (status == PX_OK)
        *out = shelf;
    return status;
}

/* --- memory --------------------------------------------------------------------------------------
 */

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
    return (size_t)px_shape_count(&run->shelf->shapes[value]);
}

bool pxi_lrp_hands_on(const pxi_lrp_run *run, int s)
{
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

static px_status run_sessions(pxi_lrp_run *run, px_error *err)
{
    size_t most = 0;
    for (size_t s = 0; s < run->lrp->step_count; s++) {
        const pxi_lrp_step *step = &run->lrp->steps[s];
        if (run->shelf->plans[s].first)
            PX_TRY(px_session_new(run->shelf->plans[s].first, &run->first[s], err));
        if (run->shelf->plans[s].second)
            PX_TRY(px_session_new(run->shelf->plans[s].second, &run->second[s], err));
        const bool divides = step->kind == PXI_LRP_LINEAR || step->kind == PXI_LRP_MEAN;
        if ((divides && step->mixed) || (step->kind == PXI_LRP_JOIN && step->in_count > 1))
            most = PX_MAX(most, run_size(run, step->out[0]));
    }
    for (int i = 0; most && i < PXI_LRP_SPARES; i++)
        if (!(run->spare[i] = pxi_calloc(most, sizeof *run->spare[i])))
            return no_memory(err);
    for (int b = 0; b < run->block_count; b++)
        if (!(run->memory[b] = pxi_calloc(run->blocks[b].count, sizeof *run->memory[b])))
            return no_memory(err);
    return PX_OK;
}

px_status pxi_lrp_run_new(const pxi_lrp *lrp, int64_t batch, pxi_lrp_run **out, px_error *err)
{
    const size_t values = (size_t)px_model_graph(lrp->model)->value_count;
    pxi_lrp_run *run = pxi_calloc(1, sizeof *run);
    px_status status = run ? PX_OK : no_memory(err);
    if (status != PX_OK)
        return status;
    run->lrp = lrp;
    status = shelf_get(lrp, batch, &run->shelf, err);
    run->first = pxi_calloc(lrp->step_count, sizeof(px_session *));
    run->second = pxi_calloc(lrp->step_count, sizeof(px_session *));
    run->block = pxi_calloc(values, sizeof *run->block);
    run->complete = pxi_calloc(values, sizeof *run->complete);
    run->born = pxi_calloc(values, sizeof *run->born);
    run->begun = pxi_calloc(values, sizeof *run->begun);
    run->blocks = pxi_calloc(values, sizeof *run->blocks);
    run->memory = pxi_calloc(values, sizeof *run->memory);
    if (status == PX_OK && (!run->first || !run->second || !run->block || !run->complete ||
                            !run->born || !run->begun || !run->blocks || !run->memory))
        status = no_memory(err);
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
        status = run_sessions(run, err);
    }
    if (status == PX_OK)
        *out = run;
    else
        pxi_lrp_run_free(run);
    return status;
}

void pxi_lrp_run_free(pxi_lrp_run *run)
{
    if (!run)
        return;
    for (size_t s = 0; s < run->lrp->step_count; s++) {
        if (run->first)
            px_session_free(run->first[s]);
        if (run->second)
            px_session_free(run->second[s]);
    }
    for (int b = 0; run->memory && b < run->block_count; b++)
        free(run->memory[b]);
    for (int i = 0; i < PXI_LRP_SPARES; i++)
        free(run->spare[i]);
    free(run->first);
    free(run->second);
    free(run->block);
    free(run->complete);
    free(run->born);
    free(run->begun);
    free(run->blocks);
    free(run->memory);
    free(run);
}
