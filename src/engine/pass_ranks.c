/* src/engine/pass_ranks.c - the jobs of one run on all ranks, and what they left for all */
/* SPDX-License-Identifier: Apache-2.0 */
#include "base/memory.h"
#include "engine/pass_internal.h"

#include <internal/ranks.h>

#include <stdlib.h>
#include <string.h>

enum { ROUND_BYTES = 16 << 20 }; /* that a rank sends at a time */

/* --- who does what --------------------------------------------------------------------------- */

bool pxi_pass_deal(pxi_pass *pass, int64_t *job)
{
    pthread_mutex_lock(&pass->lock);
    bool some = !atomic_load(&pass->stop);
    if (some && pass->asks) {
        some = pxi_ranks_deal_next(job);
    } else if (some) {
        *job = pass->own_count * pass->ranks + pxi_rank();
        some = *job < pass->dealt;
    }
    if (some)
        pass->own[pass->own_count++] = *job;
    pthread_mutex_unlock(&pass->lock);
    return some;
}

/* The first jobs are every rank's; behind them a lane does what it is dealt until none is left. */
static px_status ranked_jobs(void *context, int lane, int64_t index, px_error *err)
{
    pxi_pass *pass = context;
    const int64_t beside = pass->left->beside;
    int64_t job;
    if (pass->stream || index < beside)
        return pxi_pass_job(pass, lane, index, err);
    while (pxi_pass_deal(pass, &job)) {
        px_error own = {0};
        const px_status status = pxi_pass_job(pass, lane, beside + job, &own);
        if (status != PX_OK) {
            pxi_pass_break(pass, job, status, &own);
            if (err)
                *err = own;
            return status;
        }
        atomic_fetch_add(&pass->finished, 1);
    }
    return PX_OK;
}

/* --- what is left ---------------------------------------------------------------------------- */

typedef struct left_head { /* before what one job left */
    int64_t job;
    uint64_t size;
} left_head;

/* The part of an array that is of one job. */
static char *job_part(const pxi_left *left, size_t i, int64_t job, size_t *size)
{
    const int64_t first = job * left->each, end = PX_MIN(first + left->each, left->count);
    *size = (size_t)(end - first) * left->array[i].size;
    return (char *)left->array[i].base + (size_t)first * left->array[i].size;
}

/* Jobs are those behind the ones that every rank does. */
static px_status job_pack(const pxi_left *left, int64_t job, px_text *to, px_error *err)
{
    left_head head = {.job = job};
    const size_t start = to->length;
    px_text_add_bytes(to, (const char *)&head, sizeof head);
    for (size_t i = 0; i < PXI_LEFT_ARRAYS; i++) {
        size_t size;
        const char *part = job_part(left, i, job, &size);
        if (left->array[i].base)
            px_text_add_bytes(to, part, size);
    }
    if (left->pack)
        PX_TRY(left->pack(left->context, job, to, err));
    if (px_text_failed(to))
        return pxi_no_memory_for(err, "what a part of the work left");
    head.size = to->length - start - sizeof head;
    memcpy(to->data + start, &head, sizeof head);
    return PX_OK;
}

static px_status job_unpack(const pxi_left *left, int64_t job, const char *bytes, size_t size,
                            px_error *err)
{
    for (size_t i = 0; i < PXI_LEFT_ARRAYS; i++) {
        size_t part_size;
        char *part = job_part(left, i, job, &part_size);
        if (!left->array[i].base)
            continue;
        if (part_size > size)
            return px_fail(err, PX_E_INTERNAL, "another rank left less than it should");
        memcpy(part, bytes, part_size);
        bytes += part_size;
        size -= part_size;
    }
    return left->unpack ? left->unpack(left->context, job, bytes, size, err) : PX_OK;
}

typedef struct left_round { /* before what a rank sends */
    int64_t next;           /* its first job that it did not; INT64_MAX: none */
} left_round;

/* This rank's jobs from `at` on, until there is enough of them for a round. */
static px_status round_pack(const pxi_pass *pass, int64_t at, px_text *mine, px_error *err)
{
    left_round head = {.next = INT64_MAX};
    px_text_add_bytes(mine, (const char *)&head, sizeof head);
    for (; at < pass->own_count && mine->length < ROUND_BYTES; at++)
        PX_TRY(job_pack(pass->left, pass->own[at], mine, err));
    if (px_text_failed(mine))
        return pxi_no_memory_for(err, "what a part of the work left");
    if (at < pass->own_count)
        head.next = pass->own[at];
    memcpy(mine->data, &head, sizeof head);
    return PX_OK;
}

typedef struct left_part { /* of one rank's bytes, what is not taken yet */
    const char *bytes;
    size_t size;
} left_part;

static bool part_head(const left_part *part, left_head *head)
{
    if (part->size == 0)
        return false;
    memcpy(head, part->bytes, sizeof *head);
    return true;
}

/* All ranks' jobs below `end`, in ascending order. */
static px_status round_unpack(const pxi_pass *pass, left_part *parts, int64_t end, px_error *err)
{
    for (;;) {
        left_part *next = NULL;
        left_head head, least = {.job = end};
        for (int r = 0; r < pass->ranks; r++)
            if (part_head(&parts[r], &head) && head.job < least.job) {
                least = head;
                next = &parts[r];
            }
        if (!next)
            return PX_OK;
        const char *bytes = next->bytes + sizeof least;
        next->bytes = bytes + least.size;
        next->size -= sizeof least + (size_t)least.size;
        if (next != &parts[pxi_rank()])
            PX_TRY(job_unpack(pass->left, least.job, bytes, (size_t)least.size, err));
    }
}

/* In rounds, so that what is on its way stays small beside what is there; a round ends where the
 * first rank had no more room, and what others sent beyond that comes again. `status` is how this
 * rank's share went. */
static px_status swap_left(const pxi_pass *pass, px_status status, px_error *err)
{
    size_t *sizes = calloc((size_t)pass->ranks, sizeof *sizes);
    left_part *parts = calloc((size_t)pass->ranks, sizeof *parts);
    int64_t at = 0, end = 0;
    if ((!sizes || !parts) && status == PX_OK)
        status = pxi_no_memory_for(err, "%d ranks", pass->ranks);
    do {
        px_text mine = {0};
        char *all = NULL;
        if (status == PX_OK)
            status = round_pack(pass, at, &mine, err);
        status = pxi_ranks_swap("a pass over the inputs", status, pass->broken, px_text_get(&mine),
                                mine.length, &all, sizes, err);
        px_text_done(&mine);
        const char *bytes = all;
        end = INT64_MAX;
        for (int r = 0; status == PX_OK && r < pass->ranks; r++) {
            left_round head;
            memcpy(&head, bytes, sizeof head);
            parts[r] = (left_part){bytes + sizeof head, sizes[r] - sizeof head};
            end = PX_MIN(end, head.next);
            bytes += sizes[r];
        }
        PX_THEN(status, round_unpack(pass, parts, end, err));
        while (at < pass->own_count && pass->own[at] < end)
            at++;
        free(all);
    } while (status == PX_OK && end != INT64_MAX);
    free(sizes);
    free(parts);
    return status;
}

/* --- a run ----------------------------------------------------------------------------------- */

static px_status run_undivided(pxi_pass *pass, int64_t count, pxi_executor_tick tick, px_error *err)
{
    const bool apart = pxi_ranks_apart(true);
    pass->ranks = 1;
    const px_status status =
        pass->workers->executor->run(pass->workers, count, pxi_pass_job, pass, tick, pass, err);
    (void)pxi_ranks_apart(apart);
    return status;
}

px_status pxi_pass_divide(pxi_pass *pass, int64_t count, pxi_executor_tick tick, px_error *err)
{
    atomic_store(&pass->next, 0);
    if (!pass->left || pass->visitor.ordered || !pxi_ranks_together())
        return run_undivided(pass, count, tick, err);
    const int64_t beside = pass->left->beside;
    px_error failure = {0};
    pass->ranks = pxi_rank_count();
    pass->dealt = pass->stream ? pass->stream_count : count - beside;
    pass->asks = !pass->left->in_turn;
    pass->own_count = 0;
    atomic_store(&pass->finished, 0);
    atomic_store(&pass->stop, false);
    px_status status = PX_NEW(pass->own, (size_t)pass->dealt + 1, &failure);
    if (pass->asks)
        pxi_ranks_deal_begin(pass->dealt);
    const bool apart = pxi_ranks_apart(true);
    if (status == PX_OK)
        status = pass->workers->executor->run(pass->workers,
                                              pass->stream ? count : beside + pass->lane_count,
                                              ranked_jobs, pass, tick, pass, &failure);
    (void)pxi_ranks_apart(apart);
    if (pass->asks)
        pxi_ranks_deal_end();
    if (pass->broken != INT64_MAX) { /* whichever lane met it */
        failure = pass->failure;
        status = failure.status;
    }
    if (err)
        *err = failure;
    px_error ignored = {0};
    status = swap_left(pass, status, err ? err : &ignored);
    free(pass->own);
    pass->own = NULL;
    return status;
}
