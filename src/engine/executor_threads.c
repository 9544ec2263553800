/* src/engine/executor_threads.c - lanes are worker threads with sessions on the CPU */
/* SPDX-License-Identifier: Apache-2.0 */
#include "base/memory.h"
#include "base/one_thread.h"
#include "base/worker_pool.h"
#include <internal/executor.h>

#include <stdlib.h>

typedef struct thread_workers {
    pxi_workers head;
    px_pool *pool;
} thread_workers;

static px_status threads_open(int lanes, pxi_workers **out, px_error *err)
{
    thread_workers *made = NULL;
    PX_TRY(PX_NEW(made, 1, err));
    const px_status status = pxi_pool_new(lanes, &made->pool, err);
    if (status != PX_OK) {
        free(made);
        return status;
    }
    made->head =
        (pxi_workers){.executor = &pxi_executor_threads, .lanes = pxi_pool_threads(made->pool)};
    *out = &made->head;
    return PX_OK;
}

static void threads_close(pxi_workers *workers)
{
    thread_workers *own = (thread_workers *)workers;
    pxi_pool_free(own->pool);
    free(own);
}

static px_status threads_session(pxi_workers *workers, int lane, const px_plan *plan,
                                 px_session **out, px_error *err)
{
    (void)workers, (void)lane; /* any thread may run it */
    return px_session_new(plan, out, err);
}

/* Where there is one lane and nobody watches, the caller would only wait, and each of many short
 * runs would move its data to another core and back. */
static px_status threads_run_here(int64_t count, pxi_executor_job job, void *context, px_error *err)
{
    const int threads = pxi_one_thread_begin();
    px_status status = PX_OK;
    for (int64_t i = 0; i < count && status == PX_OK; i++)
        status = job(context, 0, i, err);
    pxi_one_thread_end(threads);
    return status;
}

static px_status threads_run(pxi_workers *workers, int64_t count, pxi_executor_job job,
                             void *context, pxi_executor_tick tick, void *tick_context,
                             px_error *err)
{
    thread_workers *own = (thread_workers *)workers;
    if (workers->lanes == 1 && !tick)
        return threads_run_here(count, job, context, err);
    return pxi_pool_run(own->pool, count, job, context, tick, tick_context, err);
}

const pxi_executor pxi_executor_threads = {
    .name = "threads",
    .open = threads_open,
    .close = threads_close,
    .session = threads_session,
    .run = threads_run,
};
