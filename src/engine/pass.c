/* src/engine/pass.c - the one way through a network */
/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/pass_internal.h"

#include "base/memory.h"
#include <internal/gradient_reach.h>
#include <internal/sample_plan.h>

#include <internal/data.h>
#include <internal/engine.h>
#include <internal/graph.h>
#include <inttypes.h>
#include <math.h>
#include <plexor/system.h>
#include <stdlib.h>
#include <string.h>

/* --- opening --------------------------------------------------------------------------------- */

static px_status task_plan(const pxi_task *task, px_plan_options wants, int64_t most, px_plan **out,
                           px_error *err)
{
    px_feed feed;
    wants.batch = task->batch;
    if (task->feeds || task->sample.rank == 0) {
        wants.feeds = task->feeds;
        wants.feed_count = task->feed_count;
        return px_plan_new(task->model, &wants, out, err);
    }
    PX_TRY(pxi_sample_feed(task->model, &task->sample, task->pre && task->pre->channels_last, &feed,
                           err));
    PX_TRY(pxi_sample_plan(task->model, &feed, wants, most, out, err));
    const int64_t chosen = px_plan_batch(*out);
    if (!task->even || task->batch > 0 || px_plan_batch_is_baked(*out))
        return PX_OK;
    const int64_t batches = (most + chosen - 1) / chosen;
    wants.batch = (most + batches - 1) / batches;
    if (wants.batch == chosen)
        return PX_OK;
    px_plan_free(*out);
    *out = NULL;
    return pxi_sample_plan(task->model, &feed, wants, most, out, err);
}

static px_status pass_plan(pxi_pass *pass, const px_plan_options *wants, px_error *err)
{
    const pxi_task *task = &pass->task;
    const int64_t inputs = PX_MIN(PX_MAX(task->count, 1), INT64_MAX / pass->views) * pass->views;
    PX_TRY(
        task_plan(task, *wants, task->max_batch > 0 ? task->max_batch : inputs, &pass->plan, err));
    const px_shape fed = px_plan_feed_shape(pass->plan, 0);
    pass->batch = px_plan_batch(pass->plan);
    pass->floats = task->feeds || task->sample.rank == 0
                       ? (size_t)(px_shape_count(&fed) / pass->batch)
                       : (size_t)px_shape_count(&task->sample);
    /* Views of an item stay together, and fill whole batches. */
    pass->piece = pass->batch % pass->views == 0 ? pass->batch / pass->views : pass->batch;
    return PX_OK;
}

static int64_t run_pieces(const pxi_pass *pass)
{
    return pass->task.count / pass->piece + (pass->task.count % pass->piece != 0);
}

static px_status lane_open(pxi_pass *pass, int number, px_error *err)
{
    pxi_lane *lane = &pass->lanes[number];
    pxi_lane_memory *memory = &pass->memory[number];
    *lane = (pxi_lane){.pass = pass, .number = number, .context = pass->visitor.context};
    memory->arena = pxi_arena_new();
    if (!memory->arena)
        return pxi_no_memory(err);
    if (pass->visitor.state_size > 0)
        lane->state = pxi_lane_array(lane, 1, pass->visitor.state_size);
    PX_TRY(pxi_workers_session(pass->workers, number, pass->plan, &lane->session, err));
    const px_regression *regression = px_model_regression(pass->task.model);
    for (int64_t i = 0; regression && i < pass->batch * regression->count; i++)
        ((float *)px_session_input(lane->session, 1))[i] = NAN; /* until a target is known */
    if (pass->visitor.open && !memory->short_of)
        PX_TRY(pass->visitor.open(lane, err));
    if (memory->short_of)
        return pxi_no_memory_for(err, "%" PRId64 " inputs at a time", pass->batch);
    return PX_OK;
}

/* `jobs` 0: not known. */
static px_status pass_workers(pxi_pass *pass, int64_t jobs, px_error *err)
{
    const pxi_task *task = &pass->task;
    pass->workers = task->workers;
    if (pass->workers)
        return PX_OK;
    const int threads = task->threads > 0 ? task->threads : px_cpu_count();
    PX_TRY(pxi_workers_open(jobs > 0 ? (int)PX_MIN((int64_t)threads, jobs) : threads,
                            &pass->own_workers, err));
    pass->workers = pass->own_workers;
    return PX_OK;
}

static px_status pass_lanes(pxi_pass *pass, px_error *err)
{
    const int count = pass->workers->lanes;
    PX_TRY(PX_NEW(pass->lanes, count, err));
    PX_TRY(PX_NEW(pass->memory, count, err));
    for (; pass->lane_count < count; pass->lane_count++) {
        const px_status status = lane_open(pass, pass->lane_count, err);
        if (status != PX_OK) {
            pass->lane_count++; /* what there is of it is closed too */
            return status;
        }
    }
    return PX_OK;
}

px_plan_options pxi_wants_scores(const px_scores *scores)
{
    px_plan_options wants = px_plan_options_default();
    wants.keep = &scores->value;
    wants.keep_count = 1;
    wants.no_outputs = true;
    return wants;
}

px_status pxi_wants_gradient(const px_model *model, const px_scores *scores, int *input,
                             px_plan_options *wants, px_error *err)
{
    const px_graph *graph = px_model_graph(model);
    PX_TRY(pxi_sample_one_input(model, err));
    if (px_model_takes_tokens(model))
        return px_fail(err, PX_E_UNSUPPORTED,
                       "the network takes token numbers, which cannot be changed a little");
    *input = graph->inputs[0];
    PX_TRY(pxi_reach_require(model, scores->value, *input, err));
    *wants = pxi_wants_scores(scores);
    wants->seeds = &scores->value;
    wants->seed_count = 1;
    wants->wrt = input;
    wants->wrt_count = 1;
    return PX_OK;
}

static px_status pass_open(const pxi_task *task, const px_plan_options *wants,
                           const pxi_visitor *visitor, bool once, pxi_pass **out, px_error *err)
{
    if (task->count < 0)
        return px_fail(err, PX_E_USAGE, "a run over %" PRId64 " samples is not possible",
                       task->count);
    pxi_pass *pass = NULL;
    PX_TRY(PX_NEW(pass, 1, err));
    pass->task = *task;
    pass->visitor = *visitor;
    pass->views = PX_MAX(visitor->views, 1);
    pthread_mutex_init(&pass->lock, NULL);
    pthread_cond_init(&pass->moved, NULL);
    if (task->set)
        pass->task.sample = px_dataset_shape(task->set);
    px_status status = pass_plan(pass, wants, err);
    PX_THEN(status, pass_workers(pass, once ? run_pieces(pass) : task->count, err));
    PX_THEN(status, pass_lanes(pass, err));
    return PX_GIVE(status, pass, out, pxi_pass_close);
}

px_status pxi_pass_open(const pxi_task *task, const px_plan_options *wants,
                        const pxi_visitor *visitor, pxi_pass **out, px_error *err)
{
    return pass_open(task, wants, visitor, /* once= */ false, out, err);
}

void pxi_pass_close(pxi_pass *pass)
{
    if (!pass)
        return;
    for (int i = 0; i < pass->lane_count; i++) {
        if (pass->visitor.close && pass->lanes[i].state)
            pass->visitor.close(&pass->lanes[i]);
        px_session_free(pass->lanes[i].session);
        pxi_arena_free(pass->memory[i].arena);
    }
    free(pass->lanes);
    free(pass->memory);
    pxi_workers_close(pass->own_workers);
    px_plan_free(pass->plan);
    pthread_cond_destroy(&pass->moved);
    pthread_mutex_destroy(&pass->lock);
    free(pass);
}

pxi_workers *pxi_pass_workers(const pxi_pass *pass)
{
    return pass->workers;
}

int pxi_pass_lanes(const pxi_pass *pass)
{
    return pass->lane_count;
}

pxi_lane *pxi_pass_lane(const pxi_pass *pass, int number)
{
    return &pass->lanes[number];
}

px_plan *pxi_pass_plan(const pxi_pass *pass)
{
    return pass->plan;
}

int64_t pxi_pass_batch(const pxi_pass *pass)
{
    return pass->batch;
}

int64_t pxi_pass_rows(const pxi_pass *pass)
{
    return pass->piece * pass->views;
}

size_t pxi_pass_floats(const pxi_pass *pass)
{
    return pass->floats;
}

/* --- one lane -------------------------------------------------------------------------------- */

void *pxi_lane_array(pxi_lane *lane, size_t count, size_t size)
{
    pxi_lane_memory *memory = &lane->pass->memory[lane->number];
    void *made = pxi_arena_alloc(memory->arena, count, size);
    memory->short_of |= !made;
    return made;
}

float *pxi_lane_input(const pxi_lane *lane, int64_t row)
{
    return (float *)px_session_input(lane->session, 0) + (size_t)row * lane->pass->floats;
}

px_status pxi_lane_read(const pxi_lane *lane, int64_t item, float *input, px_error *err)
{
    const pxi_pass *pass = lane->pass;
    const pxi_task *task = &pass->task;
    const int64_t index = task->indices ? task->indices[item] : item;
    if (px_model_graph(task->model)->input_count > 1) {
        const ptrdiff_t at = input - pxi_lane_input(lane, 0);
        if (at >= 0 && at < pass->batch * (int64_t)pass->floats)
            PX_TRY(pxi_lane_beside(lane, at / (int64_t)pass->floats, task->set, index, err));
    }
    return px_dataset_input(task->set, task->pre, index, input, err);
}

px_status pxi_lane_beside(const pxi_lane *lane, int64_t row, const px_dataset *set, int64_t index,
                          px_error *err)
{
    const px_model *model = lane->pass->task.model;
    const px_regression *regression = px_model_regression(model);
    px_shape shape = px_plan_feed_shape(lane->pass->plan, 0);
    if (!pxi_sample_beside(model, &shape))
        return PX_OK;
    const int64_t count = px_shape_count(&shape) / shape.dim[0];
    float *beside = (float *)px_session_input(lane->session, 1) + row * count;
    if (!regression)
        return px_dataset_beside(set, index, beside, err);
    if (index >= 0 && px_dataset_target_count(set) == regression->count)
        return px_dataset_target(set, index, beside, err);
    for (int64_t k = 0; k < count; k++)
        beside[k] = NAN; /* the row is neither right nor wrong */
    return PX_OK;
}

void pxi_lane_pad(const pxi_lane *lane, int64_t rows)
{
    const pxi_pass *pass = lane->pass;
    memset(pxi_lane_input(lane, rows), 0,
           (size_t)(pass->batch - rows) * pass->floats * sizeof(float));
}

px_status pxi_lane_forward(pxi_lane *lane, int64_t rows, px_error *err)
{
    const pxi_pass *pass = lane->pass;
    pxi_lane_pad(lane, rows);
    if (!pass->visitor.observe)
        return px_session_forward(lane->session, err);
    px_session_observe(lane->session, pass->visitor.observe, lane);
    const px_status status = px_session_forward(lane->session, err);
    px_session_observe(lane->session, NULL, NULL);
    return status;
}

px_status pxi_scores_row(const px_session *session, const px_scores *scores, int64_t row,
                         float *out, px_error *err)
{
    const px_view view = px_session_view(session, scores->value);
    if (!view.data || view.shape.rank < 2 || view.shape.dim[1] != scores->classes)
        return px_fail(err, PX_E_INTERNAL, "the plan does not keep the class scores");
    for (int c = 0; c < scores->classes; c++)
        out[c] = view.data[row * view.stride[0] + c * view.stride[1]];
    return PX_OK;
}

/* --- jobs ------------------------------------------------------------------------------------ */

px_status pxi_pass_turn(pxi_lane *lane, px_error *err)
{
    pxi_pass *pass = (pxi_pass *)lane->pass;
    if (lane->has_turn)
        return PX_OK;
    pthread_mutex_lock(&pass->lock);
    while (pass->turn != lane->job && pass->broken > lane->job)
        pthread_cond_wait(&pass->moved, &pass->lock);
    lane->has_turn = pass->turn == lane->job;
    pthread_mutex_unlock(&pass->lock);
    return lane->has_turn ? PX_OK
                          : px_fail(err, PX_E_CANCELLED, "an earlier block of inputs failed");
}

px_status pxi_pass_job(void *context, int worker, int64_t job, px_error *err)
{
    pxi_pass *pass = context;
    pxi_lane *lane = &pass->lanes[worker];
    lane->job = job;
    lane->has_turn = false;
    px_status status = pass->work(pass->work_context, lane, job, err);
    if (!pass->visitor.ordered)
        return status;
    if (status == PX_OK) /* a job that did nothing in order has its turn too */
        status = pxi_pass_turn(lane, err);
    pthread_mutex_lock(&pass->lock);
    if (status == PX_OK)
        pass->turn = job + 1;
    else
        pass->broken = PX_MIN(pass->broken, job);
    pthread_cond_broadcast(&pass->moved);
    pthread_mutex_unlock(&pass->lock);
    return status;
}

static bool pass_tick(void *context, int64_t jobs, int64_t total)
{
    pxi_pass *pass = context;
    const pxi_task *task = &pass->task;
    const pxi_share *share = pass->share;
    (void)total;
    if (pass->stream || pass->ranks > 1)
        jobs = (int64_t)atomic_load(&pass->finished);
    jobs *= pass->ranks; /* the others' shares are as far, more or less */
    pass->done = PX_MIN(share->before + jobs * share->each, share->total);
    const bool go_on =
        !task->progress || task->progress(task->progress_context, pass->done, share->total);
    if (!go_on)
        atomic_store(&pass->stop, true);
    return go_on;
}

px_status pxi_pass_each(pxi_pass *pass, int64_t count, const pxi_share *share, pxi_job_fn work,
                        void *context, px_error *err)
{
    pass->work = work;
    pass->work_context = context;
    pass->share = share;
    pass->turn = 0;
    pass->broken = INT64_MAX;
    const px_status status = pxi_pass_divide(pass, count, share ? pass_tick : NULL, err);
    pass->left = NULL;
    if (status == PX_OK && pass->ranks > 1 && share && pass->task.progress)
        (void)pass->task.progress(pass->task.progress_context, /* the others' shares are done too */
                                  PX_MIN(share->before + pass->dealt * share->each, share->total),
                                  share->total);
    if (status == PX_E_CANCELLED && share)
        px_fail(err, status, "cancelled after %" PRId64 " of %" PRId64 " inputs", pass->done,
                share->total);
    return status;
}

void pxi_pass_over(pxi_pass *pass, const int64_t *indices, int64_t count)
{
    pass->task.indices = indices;
    pass->task.count = count;
}

void pxi_pass_watch(pxi_pass *pass, px_progress_fn progress, void *context)
{
    pass->task.progress = progress;
    pass->task.progress_context = context;
}

void pxi_pass_leaves(pxi_pass *pass, const pxi_left *left)
{
    pass->left = left;
}

/* --- all items ------------------------------------------------------------------------------- */

static px_status run_piece(void *context, pxi_lane *lane, int64_t job, px_error *err)
{
    (void)context;
    const pxi_pass *pass = lane->pass;
    const pxi_visitor *visitor = &pass->visitor;
    const int64_t first = job * pass->piece, views = pass->views;
    const int64_t rows = PX_MIN(pass->piece, pass->task.count - first) * views;
    for (int64_t row = 0; row < rows; row += pass->batch) {
        const int64_t count = PX_MIN(pass->batch, rows - row);
        const pxi_batch batch = {
            .first = first, .row = row, .count = count, .last = row + count == rows};
        for (int64_t r = 0; r < batch.count; r++) {
            const int64_t item = first + (row + r) / views;
            float *input = pxi_lane_input(lane, r);
            PX_TRY(visitor->fill ? visitor->fill(lane, item, (int)((row + r) % views), input, err)
                                 : pxi_lane_read(lane, item, input, err));
        }
        if (visitor->begin)
            PX_TRY(visitor->begin(lane, &batch, err));
        PX_TRY(pxi_lane_forward(lane, batch.count, err));
        if (visitor->visit)
            PX_TRY(visitor->visit(lane, &batch, err));
    }
    return PX_OK;
}

static void leave_items(pxi_pass *pass)
{
    if (!pass->visitor.left)
        return;
    pass->left_items = *pass->visitor.left;
    pass->left_items.each = pass->piece;
    pass->left_items.count = pass->task.count;
    pass->left = &pass->left_items;
}

px_status pxi_pass_run(pxi_pass *pass, px_error *err)
{
    leave_items(pass);
    const pxi_share share = {.each = pass->piece, .total = pass->task.count};
    return pxi_pass_each(pass, run_pieces(pass), &share, run_piece, NULL, err);
}

px_status pxi_pass_all(pxi_pass *pass, px_error *err)
{
    leave_items(pass);
    return pxi_pass_each(pass, run_pieces(pass), NULL, run_piece, NULL, err);
}

px_status pxi_pass_once(const pxi_task *task, const px_plan_options *wants,
                        const pxi_visitor *visitor, px_error *err)
{
    pxi_pass *pass = NULL;
    PX_TRY(pass_open(task, wants, visitor, /* once= */ true, &pass, err));
    const px_status status = pxi_pass_run(pass, err);
    pxi_pass_close(pass);
    return status;
}
