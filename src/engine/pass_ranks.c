/* src/engine/pass_ranks.c - the jobs of one run on all ranks, and what they left for all */
#include "base/memory.h"
#include "engine/pass_inside.h"

#include <internal/ranks.h>

#include <stdlib.h>
#include <string.h>

enum { ROUND_BYTES = 16 << 20 }; /* that a rank sends at a time */

typedef struct ranked_run {
    pxi_pass *pass;
    int rank;
    int64_t failed; /* the lowest job; under the pass's lock */
} ranked_run;

static px_status ranked_job(void *context, int lane, int64_t own, px_error *err)
{
    ranked_run *run = context;
    pxi_pass *pass = run->pass;
    const int64_t beside = pass->left->beside;
    const int64_t job =
        pass->stream || own < beside ? own : beside + (own - beside) * pass->ranks + run->rank;
    const px_status status = pxi_pass_job(pass, lane, job, err);
    if (status != PX_OK && status != PX_E_CANCELLED) {
        pthread_mutex_lock(&pass->lock);
        run->failed = PX_MIN(run->failed, job);
        pthread_mutex_unlock(&pass->lock);
    }
    return status;
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

static px_status ranks_unpack(const pxi_left *left, const char *bytes, size_t size, px_error *err)
{
    for (size_t at = 0; at < size;) {
        left_head head;
        memcpy(&head, bytes + at, sizeof head);
        at += sizeof head;
        PX_TRY(job_unpack(left, head.job, bytes + at, (size_t)head.size, err));
        at += (size_t)head.size;
    }
    return PX_OK;
}

/* In rounds, so that what is on its way stays small beside what is there. `status` is how this
 * rank's share went. A rank's bytes begin with whether there is more. */
static px_status swap_left(const pxi_left *left, int rank, int ranks, int64_t jobs, int64_t failed,
                           px_status status, px_error *err)
{
    size_t *sizes = calloc((size_t)ranks, sizeof *sizes);
    int64_t job = rank;
    bool more = false;
    if (!sizes && status == PX_OK)
        status = pxi_no_memory_for(err, "%d ranks", ranks);
    do {
        px_text mine = {0};
        char *all = NULL;
        px_text_add_bytes(&mine, "", 1);
        for (; status == PX_OK && job < jobs && mine.length < ROUND_BYTES; job += ranks)
            status = job_pack(left, job, &mine, err);
        if (status == PX_OK && px_text_failed(&mine))
            status = pxi_no_memory_for(err, "what a part of the work left");
        if (status == PX_OK)
            mine.data[0] = job < jobs;
        status = pxi_ranks_swap("a pass over the inputs", status, failed, px_text_get(&mine),
                                mine.length, &all, sizes, err);
        px_text_done(&mine);
        const char *bytes = all;
        more = false;
        for (int r = 0; status == PX_OK && r < ranks; r++) {
            more |= bytes[0] != 0;
            if (r != rank)
                status = ranks_unpack(left, bytes + 1, sizes[r] - 1, err);
            bytes += sizes[r];
        }
        free(all);
    } while (status == PX_OK && more);
    free(sizes);
    return status;
}

px_status pxi_pass_divide(pxi_pass *pass, int64_t count, pxi_executor_tick tick, px_error *err)
{
    const pxi_executor *executor = pass->workers->executor;
    ranked_run run = {.pass = pass, .rank = pxi_rank(), .failed = INT64_MAX};
    const bool divided = pass->left && !pass->visitor.ordered && pxi_ranks_together();
    pass->ranks = divided ? pxi_rank_count() : 1;
    atomic_store(&pass->next, divided ? run.rank : 0);
    const bool apart = pxi_ranks_apart(true);
    if (!divided) {
        const px_status status =
            executor->run(pass->workers, count, pxi_pass_job, pass, tick, pass, err);
        (void)pxi_ranks_apart(apart);
        return status;
    }
    const int64_t ranks = pass->ranks;
    const int64_t beside = pass->left->beside, dealt = count - beside;
    const int64_t own = pass->stream ? count : beside + dealt / ranks + (run.rank < dealt % ranks);
    px_error failure = {0};
    px_status status = executor->run(pass->workers, own, ranked_job, &run, tick, pass, &failure);
    (void)pxi_ranks_apart(apart);
    if (pass->stream && pass->broken != INT64_MAX) { /* whichever lane met it */
        failure = pass->failure;
        status = failure.status;
        run.failed = pass->broken;
    }
    if (err)
        *err = failure;
    px_error ignored = {0};
    return swap_left(pass->left, run.rank, pass->ranks, pass->stream ? pass->stream_count : dealt,
                     run.failed, status, err ? err : &ignored);
}
