/* src/engine/runner.c - many micro-batches on all workers */
#include "engine/plan.h"

#include "base/memory.h"
#include "base/worker_pool.h"

#include <stdlib.h>

typedef struct runner {
    px_session **sessions; /* one per worker */
    int64_t count, batch;
    px_batch_fn work;
    void *context;
    px_progress_fn progress;
    void *progress_context;
    int64_t done; /* samples, when last told */
} runner;

static px_status runner_batch(void *context, int worker, int64_t index, px_error *err)
{
    const runner *r = context;
    const int64_t first = index * r->batch;
    return r->work(r->context, r->sessions[worker], first, PX_MIN(r->batch, r->count - first), err);
}

static bool runner_tick(void *context, int64_t done, int64_t total)
{
    runner *r = context;
    (void)total;
    r->done = PX_MIN(done * r->batch, r->count);
    return !r->progress || r->progress(r->progress_context, r->done, r->count);
}

px_status px_plan_run(const px_plan *plan, int threads, int64_t count, px_batch_fn work,
                      void *context, px_progress_fn progress, void *progress_context, px_error *err)
{
    if (count < 0)
        return px_fail(err, PX_E_USAGE, "a run over %lld samples is not possible",
                       (long long)count);
    px_pool *pool = NULL;
    runner r = {.count = count,
                .batch = plan->batch,
                .work = work,
                .context = context,
                .progress = progress,
                .progress_context = progress_context};
    PX_TRY(pxi_pool_new(threads, &pool, err));
    const int workers = pxi_pool_threads(pool);
    px_status status = PX_OK;
    r.sessions = pxi_calloc((size_t)workers, sizeof *r.sessions);
    if (!r.sessions)
        status = px_fail(err, PX_E_NOMEM, "out of memory");
    for (int i = 0; i < workers && status == PX_OK; i++)
        status = px_session_new(plan, &r.sessions[i], err);
    if (status == PX_OK)
        status = pxi_pool_run(pool, count / plan->batch + (count % plan->batch != 0), runner_batch,
                              &r, runner_tick, &r, err);
    if (status == PX_E_CANCELLED)
        px_fail(err, status, "cancelled after %lld of %lld inputs", (long long)r.done,
                (long long)count);
    for (int i = 0; r.sessions && i < workers; i++)
        px_session_free(r.sessions[i]);
    free(r.sessions);
    pxi_pool_free(pool);
    return status;
}
