/* src/base/worker_pool.h - the one worker pool
 *
 *     PX_TRY(pxi_pool_new(threads, &pool, err));
 *     status = pxi_pool_run(pool, batch_count, work, context, NULL, NULL, err);
 *     pxi_pool_free(pool);
 *
 * Indices are handed out in ascending order to whoever is free, so what a job writes must be keyed
 * by index, not by worker. Inside a worker everything is single-threaded: OpenMP is told so. If
 * jobs fail, the failure of the lowest index is reported, whatever the number of workers: every
 * index below it has been run by then.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PXI_BASE_WORKER_POOL_H
#define PXI_BASE_WORKER_POOL_H

#include <plexor/error.h>
#include <stdbool.h>
#include <stdint.h>

typedef struct px_pool px_pool;

/* One job. `worker` is 0..threads-1 and chooses the worker's private state. */
typedef px_status (*pxi_pool_fn)(void *context, int worker, int64_t index, px_error *err);

/* Called now and then on the thread that called pxi_pool_run(), with the number of finished jobs
 * (not necessarily the first ones), and once at the end. Returning false cancels: PX_E_CANCELLED,
 * as does a job that fails with it, and px_cancelled() between two jobs where there is a tick. */
typedef bool (*pxi_pool_tick)(void *context, int64_t done, int64_t total);

/* The tick of a run that nobody watches, but that px_cancelled() may end: goes on. */
bool pxi_pool_unwatched(void *context, int64_t done, int64_t total);

/* `threads` <= 0: one per core this process may use. */
px_status pxi_pool_new(int threads, px_pool **out, px_error *err);
int pxi_pool_threads(const px_pool *pool);

/* Returns when no job is running any more. Not to be called from a job or from two threads at once.
 */
px_status pxi_pool_run(px_pool *pool, int64_t count, pxi_pool_fn work, void *context,
                       pxi_pool_tick tick, void *tick_context, px_error *err);
void pxi_pool_free(px_pool *pool);

#endif
