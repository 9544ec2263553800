/* src/engine/team.c - one batch for an optimiser: many sessions that meet
 *
 * Every micro-batch has a session of its own, so that all of the batch's activations are there when
 * BatchNormalization wants them. Between two meetings a worker takes a session through all units
 * there are, depth first; without meetings that is the whole step, forward and backward.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/team_internal.h"

#include "base/memory.h"

#include <internal/ranks.h>
#include <limits.h>
#include <stdlib.h>

static px_status team_make_gradients(px_team *team, px_error *err)
{
    const px_plan *plan = team->plan;
    const int values = px_model_graph(plan->model)->value_count;
    PX_TRY(PX_NEW(team->gradients, values, err));
    PX_TRY(PX_NEW(team->chunks, (size_t)values + 1, err));
    for (int v = 0; v < values; v++) {
        const pxi_cell *cell = &plan->cells[v];
        if (!cell->is_wrt || !cell->tensor.data)
            continue;
        const size_t i = team->gradient_count++;
        pxi_team_gradient *made = &team->gradients[i];
        made->value = v;
        made->count = (size_t)px_shape_count(&cell->tensor.shape);
        made->sum = pxi_alloc_aligned(made->count * sizeof *made->sum);
        team->chunks[i + 1] = team->chunks[i] + (made->count + PXI_TEAM_CHUNK - 1) / PXI_TEAM_CHUNK;
        if (!made->sum)
            return pxi_no_memory(err);
    }
    return PX_OK;
}

px_status pxi_team_jobs(px_team *team, int64_t count, pxi_executor_job job, px_error *err)
{
    return team->workers->executor->run(team->workers, count, job, team, NULL, NULL, err);
}

static px_status team_attach(void *context, int worker, int64_t index, px_error *err)
{
    (void)worker;
    px_team *team = context;
    return pxi_workers_session(team->workers, /* lane= */ -1, team->plan, &team->sessions[index],
                               err);
}

px_status px_team_new(px_plan *plan, int threads, int64_t most_samples, px_team **out,
                      px_error *err)
{
    const int64_t count = (most_samples + plan->batch - 1) / plan->batch;
    if (most_samples < 1 || count > INT32_MAX)
        return px_fail(err, PX_E_USAGE, "a batch of %lld samples is not possible",
                       (long long)most_samples);
    px_team *team = NULL;
    PX_TRY(PX_NEW(team, 1, err));
    team->plan = plan;
    team->most = (int)count;
    team->rank = pxi_ranks_together() ? pxi_rank() : 0;
    team->ranks = pxi_ranks_together() ? pxi_rank_count() : 1;
    const int64_t own = PX_MAX((count - team->rank + team->ranks - 1) / team->ranks, 1);
    team->sessions = pxi_calloc((size_t)own, sizeof *team->sessions);
    team->states = pxi_calloc((size_t)count, sizeof *team->states);
    px_status status = team->sessions && team->states
                           ? pxi_workers_open(threads, &team->workers, err)
                           : pxi_no_memory(err);
    if (status == PX_OK) {
        team->session_count = (int)own;
        status = pxi_team_jobs(team, own, team_attach, err);
    }
    PX_THEN(status, PX_NEW(team->parts, (size_t)count * (size_t)team->workers->lanes, err));
    PX_THEN(status, team_make_gradients(team, err));
    PX_THEN(status, pxi_team_ranks_open(team, err));
    return PX_GIVE(status, team, out, px_team_free);
}

void px_team_free(px_team *team)
{
    if (!team)
        return;
    pxi_team_ranks_close(team);
    for (int i = 0; i < team->session_count; i++)
        px_session_free(team->sessions[i]);
    for (size_t i = 0; i < team->gradient_count; i++)
        free(team->gradients[i].sum);
    pxi_workers_close(team->workers);
    free(team->sessions);
    free(team->states);
    free((void *)team->parts);
    free(team->gradients);
    free(team->chunks);
    free(team);
}

/* Takes one session to its next meeting, or through the loss and back to the first meeting of the
 * way back, or to the end. */
static px_status team_take(const px_team *team, px_session *session, px_error *err)
{
    const px_team_step *step = team->step;
    if (team->judged)
        return pxi_session_backward_on(session, err);
    if (session->at < 0)
        PX_TRY(step->load(step->context, session, session->first, session->samples, err));
    PX_TRY(pxi_session_forward_on(session, err));
    if (session->at >= 0)
        return PX_OK;
    PX_TRY(px_session_seed_clear(session, err));
    PX_TRY(step->judge(step->context, session, session->first, session->samples, err));
    return pxi_session_backward_on(session, err);
}

static px_status team_advance(void *context, int worker, int64_t index, px_error *err)
{
    px_team *team = context;
    const int micro = team->rank + (int)index * team->ranks;
    const px_status status = team_take(team, team->sessions[index], err);
    int failed = atomic_load(&team->failed);
    (void)worker;
    while (status != PX_OK && micro < failed)
        if (atomic_compare_exchange_weak(&team->failed, &failed, micro))
            break;
    return status;
}

void *pxi_team_state(const px_team *team, int micro, int unit)
{
    return micro % team->ranks == team->rank ? team->sessions[micro / team->ranks]->states[unit]
                                             : team->group->guests[unit][micro];
}

static void team_meet(px_team *team, int unit, bool backward)
{
    const pxi_unit *met = &team->plan->units[unit];
    pxi_team_ranks_say(team, unit, backward);
    for (int i = 0; i < team->micro_count; i++)
        team->states[i] = pxi_team_state(team, i, unit);
    for (int i = 0; team->step->apart && i < team->micro_count; i++)
        met->kind->meet(met, &team->states[i], 1, backward);
    if (!team->step->apart)
        met->kind->meet(met, team->states, team->micro_count, backward);
}

const pxi_team_gradient *pxi_team_chunk(const px_team *team, size_t index, size_t *first,
                                        size_t *count)
{
    size_t i = 0;
    while (team->chunks[i + 1] <= index)
        i++;
    const pxi_team_gradient *gradient = &team->gradients[i];
    *first = (index - team->chunks[i]) * PXI_TEAM_CHUNK;
    *count = PX_MIN((size_t)PXI_TEAM_CHUNK, gradient->count - *first);
    return gradient;
}

void pxi_team_add_up(const float *const *parts, int count, size_t n, float *to)
{
    enum { BLOCK = 512 };
    for (size_t at = 0; at < n; at += BLOCK) {
        const size_t some = PX_MIN((size_t)BLOCK, n - at);
        double sum[BLOCK] = {0};
        for (int s = 0; s < count; s++) {
            const float *part = parts[s] + at;
            for (size_t k = 0; k < some; k++)
                sum[k] += (double)part[k];
        }
        for (size_t k = 0; k < some; k++)
            to[at + k] = (float)sum[k];
    }
}

/* Adds one piece of one gradient over all sessions. */
static px_status team_add(void *context, int worker, int64_t index, px_error *err)
{
    px_team *team = context;
    size_t first, count;
    const pxi_team_gradient *gradient = pxi_team_chunk(team, (size_t)index, &first, &count);
    const float **parts = team->parts + worker * team->most;
    (void)err;
    for (int s = 0; s < team->used; s++)
        parts[s] = pxi_cell_grad(team->sessions[s], gradient->value) + first;
    pxi_team_add_up(parts, team->used, count, gradient->sum + first);
    return PX_OK;
}

px_status px_team_run(px_team *team, const px_team_step *step, px_error *err)
{
    const int64_t micro = team->plan->batch;
    if (step->samples < 1 || step->samples > micro * team->most)
        return px_fail(err, PX_E_USAGE, "%lld samples for a team of %lld", (long long)step->samples,
                       (long long)(micro * team->most));
    team->micro_count = (int)((step->samples + micro - 1) / micro);
    team->used = PX_MAX(team->micro_count - team->rank + team->ranks - 1, 0) / team->ranks;
    team->step = step;
    team->judged = false;
    atomic_store(&team->failed, INT_MAX);
    for (int i = 0; i < team->used; i++) {
        px_session *session = team->sessions[i];
        session->first = (team->rank + i * team->ranks) * micro;
        session->samples = PX_MIN(micro, step->samples - session->first);
        session->seed = step->seed;
        session->iteration = step->iteration;
        session->at = -1;
    }
    int before = -1;
    do {
        const px_status status = pxi_team_jobs(team, team->used, team_advance, err);
        int at = team->used ? team->sessions[0]->at : -1;
        PX_TRY(pxi_team_ranks_at(team, status, &at, err));
        team->judged = team->judged || at < 0 || at <= before; /* meetings go back again */
        if (at >= 0)
            team_meet(team, at, team->judged);
        before = at;
    } while (before >= 0);
    return team->ranks > 1
               ? pxi_team_ranks_add(team, err)
               : pxi_team_jobs(team, (int64_t)team->chunks[team->gradient_count], team_add, err);
}

const float *px_team_gradient(const px_team *team, int value)
{
    for (size_t i = 0; i < team->gradient_count; i++)
        if (team->gradients[i].value == value)
            return team->gradients[i].sum;
    return NULL;
}

void px_team_commit(px_team *team, double share)
{
    for (int u = 0; u < team->plan->unit_count; u++) {
        const pxi_unit *unit = &team->plan->units[u];
        if (unit->kind->commit)
            unit->kind->commit(unit, pxi_team_state(team, 0, u), share);
    }
}

static px_status team_refresh(void *context, int worker, int64_t index, px_error *err)
{
    (void)worker;
    px_plan *plan = ((px_team *)context)->plan;
    pxi_unit *unit = &plan->units[index];
    return unit->kind->refresh ? unit->kind->refresh(plan, unit, err) : PX_OK;
}

px_status px_team_refresh(px_team *team, px_error *err)
{
    PX_TRY(pxi_team_jobs(team, team->plan->unit_count, team_refresh, err));
    pxi_plan_bounds(team->plan);
    return PX_OK;
}

static px_status team_each(void *context, int worker, int64_t index, px_error *err)
{
    (void)worker;
    const px_team *team = context;
    return team->each(team->each_context, index, err);
}

px_status px_team_each(px_team *team, int64_t count, px_team_fn work, void *context, px_error *err)
{
    team->each = work;
    team->each_context = context;
    return pxi_team_jobs(team, count, team_each, err);
}
