/* src/engine/pass_internal.h - what a pass is made of */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PXI_ENGINE_PASS_INTERNAL_H
#define PXI_ENGINE_PASS_INTERNAL_H

#include "base/arena.h"
#include <internal/pass.h>

#include <pthread.h>
#include <stdatomic.h>

typedef struct pxi_lane_memory {
    px_arena *arena;
    bool short_of; /* an array was not to be had */
} pxi_lane_memory;

struct pxi_pass {
    pxi_task task;
    pxi_visitor visitor;
    px_plan *plan;
    pxi_workers *workers, *own_workers; /* NULL: the task's */
    pxi_lane *lanes;
    pxi_lane_memory *memory;
    int lane_count;
    int64_t batch, views, piece; /* network inputs; per item; items per job of a run */
    size_t floats;

    pxi_job_fn work;
    void *work_context;
    const pxi_share *share;
    int64_t done;
    const pxi_left *left; /* by the run that follows; NULL: not said */
    pxi_left left_items;
    int ranks;     /* that do this run together; else 1 */
    bool asks;     /* for jobs, or items of a stream; else they are dealt out in turn */
    int64_t dealt; /* jobs, behind those that every rank does, or items */
    int64_t *own;  /* [dealt] of this rank, ascending */
    int64_t own_count;

    pthread_mutex_t lock; /* guards what follows */
    pthread_cond_t moved;
    int64_t turn; /* the job that may go on in order */
    int64_t
        broken; /* the first that failed: those behind it will have no turn; of a stream: item */
    px_error failure; /* of that item */

    const pxi_stream *stream;
    int64_t stream_count;
    atomic_int_fast64_t next, finished; /* items, and jobs of this rank */
    atomic_bool stop;
};

/* A pxi_executor_job. */
px_status pxi_pass_job(void *context, int lane, int64_t job, px_error *err);
/* The next of this rank, where there are several; false: none is left. */
bool pxi_pass_deal(pxi_pass *pass, int64_t *job);
/* A job behind those that every rank does, or an item, failed: nothing more is begun. */
void pxi_pass_break(pxi_pass *pass, int64_t job, px_status status, const px_error *why);
/* Of pxi_pass_each(), after what it sets: on all ranks, or by each for itself. */
px_status pxi_pass_divide(pxi_pass *pass, int64_t count, pxi_executor_tick tick, px_error *err);

#endif
