/* src/engine/team.c - one batch for an optimiser: many sessions that meet
 *
 * Every micro-batch has a session of its own, so that all of the batch's activations are there when
 * BatchNormalization wants them. Between two meetings a worker takes a session through all units
 * there are, depth first; without meetings that is the whole step, forward and backward.
 */
#include "engine/plan.h"

#include "base/memory.h"

#include <internal/engine.h>
#include <internal/executor.h>
#include <stdlib.h>

enum { TEAM_CHUNK = 1 << 14 }; /* elements of a gradient that one job adds up */

typedef struct team_gradient {
    int value;
    size_t count;
    float *sum;
} team_gradient;

struct px_team {
    px_plan *plan;
    pxi_workers *workers;
    px_session **sessions; /* one per micro-batch */
    int session_count, used;
    void **states; /* of a meeting unit, one per session */
    team_gradient *gradients;
    size_t gradient_count;
    size_t *chunks; /* per gradient: the number of the first job; one more: of all jobs */
    const px_team_step *step;
    bool judged; /* the scores of this run were */
    px_team_fn each;
    void *each_context;
};

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
        team_gradient *made = &team->gradients[i];
        made->value = v;
        made->count = (size_t)px_shape_count(&cell->tensor.shape);
        made->sum = pxi_alloc_aligned(made->count * sizeof *made->sum);
        team->chunks[i + 1] = team->chunks[i] + (made->count + TEAM_CHUNK - 1) / TEAM_CHUNK;
        if (!made->sum)
            return pxi_no_memory(err);
    }
    return PX_OK;
}

static px_status team_run(px_team *team, int64_t count, pxi_executor_job job, px_error *err)
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
    team->sessions = pxi_calloc((size_t)count, sizeof *team->sessions);
    team->states = pxi_calloc((size_t)count, sizeof *team->states);
    px_status status = team->sessions && team->states
                           ? pxi_workers_open(threads, &team->workers, err)
                           : pxi_no_memory(err);
    if (status == PX_OK) {
        team->session_count = (int)count;
        status = team_run(team, count, team_attach, err);
    }
    PX_THEN(status, team_make_gradients(team, err));
    return PX_GIVE(status, team, out, px_team_free);
}

void px_team_free(px_team *team)
{
    if (!team)
        return;
    for (int i = 0; i < team->session_count; i++)
        px_session_free(team->sessions[i]);
    for (size_t i = 0; i < team->gradient_count; i++)
        free(team->gradients[i].sum);
    pxi_workers_close(team->workers);
    free(team->sessions);
    free(team->states);
    free(team->gradients);
    free(team->chunks);
    free(team);
}

/* Takes one session to its next meeting, or through the loss and back to the first meeting of the
 * way back, or to the end. */
static px_status team_advance(void *context, int worker, int64_t index, px_error *err)
{
    (void)worker;
    px_team *team = context;
    const px_team_step *step = team->step;
    px_session *session = team->sessions[index];
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

static void team_meet(px_team *team, int unit, bool backward)
{
    const pxi_unit *met = &team->plan->units[unit];
    for (int i = 0; i < team->used; i++)
        team->states[i] = team->sessions[i]->states[unit];
    for (int i = 0; team->step->apart && i < team->used; i++)
        met->kind->meet(met, &team->states[i], 1, backward);
    if (!team->step->apart)
        met->kind->meet(met, team->states, team->used, backward);
}

/* Adds one piece of one gradient over all sessions, in their order, in double. */
static px_status team_add(void *context, int worker, int64_t index, px_error *err)
{
    (void)worker, (void)err;
    enum { BLOCK = 512 };
    const px_team *team = context;
    size_t i = 0;
    while (team->chunks[i + 1] <= (size_t)index)
        i++;
    const team_gradient *gradient = &team->gradients[i];
    const size_t first = ((size_t)index - team->chunks[i]) * TEAM_CHUNK;
    const size_t end = PX_MIN(first + TEAM_CHUNK, gradient->count);
    for (size_t at = first; at < end; at += BLOCK) {
        const size_t n = PX_MIN((size_t)BLOCK, end - at);
        double sum[BLOCK] = {0};
        for (int s = 0; s < team->used; s++) {
            const float *part = pxi_cell_grad(team->sessions[s], gradient->value) + at;
            for (size_t k = 0; k < n; k++)
                sum[k] += (double)part[k];
        }
        for (size_t k = 0; k < n; k++)
            gradient->sum[at + k] = (float)sum[k];
    }
    return PX_OK;
}

px_status px_team_run(px_team *team, const px_team_step *step, px_error *err)
{
    const int64_t micro = team->plan->batch;
    if (step->samples < 1 || step->samples > micro * team->session_count)
        return px_fail(err, PX_E_USAGE, "%lld samples for a team of %lld", (long long)step->samples,
                       (long long)(micro * team->session_count));
    team->used = (int)((step->samples + micro - 1) / micro);
    team->step = step;
    team->judged = false;
    for (int i = 0; i < team->used; i++) {
        px_session *session = team->sessions[i];
        session->first = i * micro;
        session->samples = PX_MIN(micro, step->samples - session->first);
        session->seed = step->seed;
        session->iteration = step->iteration;
        session->at = -1;
    }
    int before = -1;
    do {
        PX_TRY(team_run(team, team->used, team_advance, err));
        const int at = team->sessions[0]->at;
        team->judged = team->judged || at < 0 || at <= before; /* meetings go back again */
        if (at >= 0)
            team_meet(team, at, team->judged);
        before = at;
    } while (before >= 0);
    return team_run(team, (int64_t)team->chunks[team->gradient_count], team_add, err);
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
            unit->kind->commit(unit, team->sessions[0]->states[u], share);
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
    PX_TRY(team_run(team, team->plan->unit_count, team_refresh, err));
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
    return team_run(team, count, team_each, err);
}
