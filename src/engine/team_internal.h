/* src/engine/team_internal.h - what a team is made of
 *
 * Of several ranks each has the micro-batches rank, rank + ranks, ... of a batch. What a meeting
 * reads of the others' is in states of theirs that every rank has, and all do the meeting.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PXI_ENGINE_TEAM_INTERNAL_H
#define PXI_ENGINE_TEAM_INTERNAL_H

#include "engine/plan.h"

#include <internal/engine.h>
#include <internal/executor.h>
#include <stdatomic.h>

enum { PXI_TEAM_CHUNK = 1 << 14 }; /* elements of a gradient that one job adds up */

typedef struct pxi_team_gradient {
    int value;
    size_t count;
    float *sum;
} pxi_team_gradient;

/* What goes between ranks; NULL where there is one. */
typedef struct pxi_team_ranks {
    void ***guests; /* per unit: NULL, or per micro-batch NULL or its state, of another rank */
    size_t *to, *from;
    char *mine, *all; /* `room` bytes each, and more where a step needs it */
    size_t room;
    size_t round; /* chunks of gradients that one rank adds up at a time */
} pxi_team_ranks;

struct px_team {
    px_plan *plan;
    pxi_workers *workers;
    px_session **sessions; /* one per micro-batch of this rank; at least one */
    int session_count, used;
    int most, micro_count; /* micro-batches of all ranks: at most, and of this step */
    int rank, ranks;
    pxi_team_ranks *group;
    void **states;       /* of a meeting unit, one per micro-batch */
    const float **parts; /* of a gradient; per lane one per micro-batch */
    atomic_int failed;   /* the lowest micro-batch */
    pxi_team_gradient *gradients;
    size_t gradient_count;
    size_t *chunks; /* per gradient: the number of the first job; one more: of all jobs */
    size_t first;   /* chunk of the round that is added up */
    const px_team_step *step;
    bool judged; /* the scores of this run were */
    px_team_fn each;
    void *each_context;
};

/* The elements of chunk `index`: of which gradient, from where on, how many. */
const pxi_team_gradient *pxi_team_chunk(const px_team *team, size_t index, size_t *first,
                                        size_t *count);
/* Adds `n` elements of micro-batches, in their order, in double. */
void pxi_team_add_up(const float *const *parts, int count, size_t n, float *to);
px_status pxi_team_jobs(px_team *team, int64_t count, pxi_executor_job job, px_error *err);
/* Of micro-batch `micro`, wherever it is run. */
void *pxi_team_state(const px_team *team, int micro, int unit);

/* team_ranks.c. But for the last one, they do nothing for a team of one rank. */
px_status pxi_team_ranks_open(px_team *team, px_error *err);
void pxi_team_ranks_close(px_team *team);
/* After each part of a step, which went as `status` says: *at is where the batch meets. */
px_status pxi_team_ranks_at(px_team *team, px_status status, int *at, px_error *err);
/* What the others' states say at that meeting. */
void pxi_team_ranks_say(px_team *team, int unit, bool backward);
/* At the end: the gradients of the batch, and what the step left of its samples. */
px_status pxi_team_ranks_add(px_team *team, px_error *err);

#endif
