/* include/internal/executor.h - who does the jobs of passes
 *
 * A pass knows what there is to do, an executor where it is done. It has *lanes*: places where one
 * job at a time is at work, numbered from 0. Passes that share workers have the same lanes, so that
 * a job of one may use what another has there.
 *
 * Worker threads are the one there is (executor_threads.c). On a GPU a lane is a stream with a host
 * thread that feeds it: session() compiles the plan for the device and puts the session's memory
 * there, run() is that of threads. Ranks of a cluster are no executor: each has one of its own, and
 * pass_ranks.c deals out what a pass has to do among them.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PXI_INTERNAL_EXECUTOR_H
#define PXI_INTERNAL_EXECUTOR_H

#include <plexor/engine.h>

typedef struct pxi_workers pxi_workers;

typedef px_status (*pxi_executor_job)(void *context, int lane, int64_t job, px_error *err);
/* Told on the caller's thread, now and then and at the end, how many jobs are done; false cancels.
 */
typedef bool (*pxi_executor_tick)(void *context, int64_t done, int64_t total);

typedef struct pxi_executor {
    const char *name;
    /* At most so many lanes; 0: as many as the machine can use. */
    px_status (*open)(int lanes, pxi_workers **out, px_error *err);
    void (*close)(pxi_workers *workers);
    /* A session that is run on that lane only (below 0: on any); px_session_free() ends it. */
    px_status (*session)(pxi_workers *workers, int lane, const px_plan *plan, px_session **out,
                         px_error *err);
    /* Deals out jobs 0..count-1 in ascending order, and returns when none is at work any more. Of
     * failures, that of the lowest job is returned. `tick` NULL: nothing cancels. */
    px_status (*run)(pxi_workers *workers, int64_t count, pxi_executor_job job, void *context,
                     pxi_executor_tick tick, void *tick_context, px_error *err);
} pxi_executor;

struct pxi_workers { /* what open() made; the executor's own follows */
    const pxi_executor *executor;
    int lanes;
};

extern const pxi_executor pxi_executor_threads;

/* Whose workers are opened from now on, in place of threads; returns what was before. While nothing
 * runs. */
const pxi_executor *pxi_executor_use(const pxi_executor *executor);

/* Of the executor in use. Passes open their own, unless they are to share some. */
px_status pxi_workers_open(int threads, pxi_workers **out, px_error *err);
void pxi_workers_close(pxi_workers *workers); /* NULL is fine */

/* All sessions of passes, teams and segments come from here: one of the executor's. */
px_status pxi_workers_session(pxi_workers *workers, int lane, const px_plan *plan, px_session **out,
                              px_error *err);
/* One more where that one is run; by hand, where it is. */
px_status pxi_session_beside(const px_session *session, const px_plan *plan, px_session **out,
                             px_error *err);

#endif
