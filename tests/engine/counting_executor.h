/* tests/engine/counting_executor.h - the executor of threads, counting what is asked of it */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef COUNTING_EXECUTOR_H
#define COUNTING_EXECUTOR_H

#include "base/memory.h"

#include <internal/executor.h>
#include <stdlib.h>

static struct { /* what was asked of it */
    int opened, closed, sessions, on_any, runs;
    pxi_workers *threads;
} counts;

static void counting_close(pxi_workers *workers)
{
    counts.closed++;
    pxi_workers_close(counts.threads);
    free(workers);
}

static px_status counting_session(pxi_workers *workers, int lane, const px_plan *plan,
                                  px_session **out, px_error *err)
{
    (void)workers;
    counts.sessions++;
    counts.on_any += lane < 0;
    return px_session_new(plan, out, err);
}

static px_status counting_run(pxi_workers *workers, int64_t count, pxi_executor_job job,
                              void *context, pxi_executor_tick tick, void *tick_context,
                              px_error *err)
{
    (void)workers;
    counts.runs++;
    return pxi_executor_threads.run(counts.threads, count, job, context, tick, tick_context, err);
}

static px_status counting_open(int lanes, pxi_workers **out, px_error *err);
static const pxi_executor counting = {.name = "counting",
                                      .open = counting_open,
                                      .close = counting_close,
                                      .session = counting_session,
                                      .run = counting_run};

static px_status counting_open(int lanes, pxi_workers **out, px_error *err)
{
    pxi_workers *made = pxi_calloc(1, sizeof *made);
    counts.opened++;
    PX_TRY(pxi_executor_threads.open(lanes, &counts.threads, err));
    *made = (pxi_workers){.executor = &counting, .lanes = counts.threads->lanes};
    *out = made;
    return PX_OK;
}

#endif
