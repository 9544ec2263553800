/* src/cover/block_run.c - a data set through a network in blocks, on all workers */
/* SPDX-License-Identifier: Apache-2.0 */
#include <internal/block_run.h>

#include "base/memory.h"
#include <internal/cover.h>
#include <internal/data.h>
#include <internal/pass.h>
#include <internal/probe.h>
#include <internal/ranks.h>

#include <inttypes.h>
#include <plexor/system.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct block_lane {
    px_reader *reader;
    void **states; /* per consumer; NULL: uses the consumer's */
    double *seconds;
    int64_t *observed, *rejected;
} block_lane;

typedef struct block_run {
    const pxi_block_job *job;
    pxi_pass *pass;
    bool divided;         /* among ranks: each has what its own blocks left until they are merged */
    int64_t offset;       /* blocks of earlier rounds */
    pthread_mutex_t turn; /* of shared consumers */
    pthread_mutex_t lock; /* guards what follows */
    int64_t finished;     /* blocks of this round */
    bool torn;            /* a block of it ended in the middle */
    /* Of this round, for the job's tally; and when ranks exchange them, consumers' observed and
     * rejected. */
    int64_t *counts;
    size_t count, count_tally;
} block_run;

/* Of the tally, then by label, then by prediction. */
enum { COUNT_INPUTS, COUNT_LABELLED, COUNT_WRONG, COUNT_UNSCORED, COUNT_CLASSES };

static int run_classes(const block_run *r)
{
    return r->job->rows->has_scores ? r->job->rows->scores.classes : 0;
}

/* One state for all workers; each rank has its own to send. */
static bool is_shared(const block_run *r, const pxi_consumer *consumer)
{
    return consumer->shared && !r->divided;
}

static px_status open_states(const block_run *r, block_lane *w, px_error *err)
{
    const pxi_block_job *job = r->job;
    for (size_t c = 0; c < job->consumer_count; c++) {
        const pxi_consumer *consumer = &job->consumers[c];
        if (!consumer->ordered && !is_shared(r, consumer) && !w->states[c])
            PX_TRY(consumer->kind->open(consumer->context, &w->states[c], err));
    }
    return PX_OK;
}

static px_status lane_open(pxi_lane *lane, px_error *err)
{
    const block_run *r = lane->context;
    const pxi_block_job *job = r->job;
    block_lane *w = lane->state;
    w->states = pxi_lane_array(lane, job->consumer_count, sizeof *w->states);
    w->seconds = pxi_lane_array(lane, job->consumer_count, sizeof *w->seconds);
    w->observed = pxi_lane_array(lane, job->consumer_count, sizeof *w->observed);
    w->rejected = pxi_lane_array(lane, job->consumer_count, sizeof *w->rejected);
    PX_TRY(pxi_reader_new(job->rows, pxi_pass_batch(lane->pass), true, &w->reader, err));
    return (lane->number > 0 || r->divided) && w->states ? open_states(r, w, err) : PX_OK;
}

static void lane_close(pxi_lane *lane)
{
    const block_run *r = lane->context;
    const pxi_block_job *job = r->job;
    block_lane *w = lane->state;
    for (size_t c = 0; w->states && c < job->consumer_count; c++)
        if (w->states[c])
            job->consumers[c].kind->close(job->consumers[c].context, w->states[c]);
    if (job->tally && w->reader) {
        job->tally->sum.forward_seconds += w->reader->forward_seconds;
        for (size_t e = 0; e < job->rows->count; e++)
            job->tally->extract_seconds[e] += w->reader->seconds[e];
    }
    px_reader_free(w->reader);
}

/* --- one block ------------------------------------------------------------------------------- */

/* Lets all consumers of extractor e look at its rows first..end-1 of the block. */
static px_status block_observe(block_run *r, pxi_lane *lane, size_t e, int64_t first, int64_t end,
                               px_error *err)
{
    block_lane *w = lane->state;
    const px_rows rows = pxi_reader_rows(w->reader, e, first, end - first);
    int64_t rejected = 0;
    for (int64_t i = 0; i < rows.count; i++)
        rejected += rows.rejected[i];
    for (int pass = 0; pass < 2; pass++) /* the ordered ones last: they may have to wait */
        for (size_t c = 0; c < r->job->consumer_count; c++) {
            pxi_consumer *consumer = &r->job->consumers[c];
            if (consumer->extractor != e || consumer->ordered != (pass == 1))
                continue;
            if (consumer->ordered)
                PX_TRY(pxi_pass_turn(lane, err));
            if (is_shared(r, consumer))
                pthread_mutex_lock(&r->turn);
            const double start = px_clock_s();
            const px_status status = consumer->kind->observe(
                consumer->context, w->states[c] ? w->states[c] : consumer->state, &rows, err);
            w->seconds[c] += px_clock_s() - start;
            if (is_shared(r, consumer))
                pthread_mutex_unlock(&r->turn);
            PX_TRY(status);
            w->observed[c] += rows.count - rejected;
            w->rejected[c] += rejected;
        }
    return PX_OK;
}

static void block_count(block_run *r, const px_reader *reader, int64_t count)
{
    const int classes = run_classes(r);
    int64_t *n = r->counts;
    pthread_mutex_lock(&r->lock);
    n[COUNT_INPUTS] += count;
    for (int64_t i = 0; i < count; i++) {
        const px_input_facts *f = &reader->facts[i];
        n[COUNT_LABELLED] += f->label >= 0;
        n[COUNT_WRONG] += f->label >= 0 && classes > 0 && f->label != f->predicted;
        n[COUNT_UNSCORED] += classes > 0 && f->predicted < 0;
        if (f->label >= 0 && f->label < classes)
            n[COUNT_CLASSES + f->label]++;
        if (classes > 0 && f->predicted >= 0)
            n[COUNT_CLASSES + classes + f->predicted]++;
    }
    pthread_mutex_unlock(&r->lock);
}

/* Into the job's tally, and from the start for the next round. */
static void run_tally(const block_run *r)
{
    pxi_tally *tally = r->job->tally;
    const int classes = run_classes(r);
    int64_t *n = r->counts;
    if (tally) {
        tally->sum.inputs += n[COUNT_INPUTS];
        tally->sum.labelled += n[COUNT_LABELLED];
        tally->sum.wrong += n[COUNT_WRONG];
        tally->sum.unscored += n[COUNT_UNSCORED];
        for (int c = 0; c < classes && tally->by_label; c++)
            tally->by_label[c] += n[COUNT_CLASSES + c];
        for (int c = 0; c < classes && tally->by_prediction; c++)
            tally->by_prediction[c] += n[COUNT_CLASSES + classes + c];
    }
    memset(n, 0, r->count * sizeof *n);
}

static px_status block_rows(block_run *r, pxi_lane *lane, int64_t block, px_error *err)
{
    const pxi_block_job *job = r->job;
    block_lane *w = lane->state;
    const int64_t first = job->first + block * PX_COVER_BLOCK;
    const int64_t end = PX_MIN(first + PX_COVER_BLOCK, job->end);
    int64_t index[PX_COVER_BLOCK], count = 0, least = PX_COVER_BLOCK;
    for (int64_t i = first; i < end; i++)
        if (!job->only || job->only[i])
            index[count++] = i;
    for (size_t e = 0; e < job->rows->count; e++)
        least = PX_MIN(least, w->reader->capacity[e]);
    for (int64_t i = 0; i < count; i++)
        w->reader->facts[i] = (px_input_facts){
            .index = index[i], .label = px_dataset_label(job->set, index[i]), .predicted = -1};
    for (int64_t at = 0, next; at < count; at = next) {
        next = PX_MIN(at + pxi_pass_batch(r->pass), at - at % least + least); /* within a piece */
        next = PX_MIN(next, count);
        for (int64_t i = at; i < next; i++)
            PX_TRY(pxi_lane_read(lane, index[i], pxi_lane_input(lane, i - at), err));
        pxi_lane_pad(lane, next - at);
        PX_TRY(pxi_reader_read(w->reader, lane->session, at, next - at, err));
        for (size_t e = 0; e < job->rows->count; e++) {
            const int64_t piece = w->reader->capacity[e];
            if (next % piece == 0 || next == count)
                PX_TRY(block_observe(r, lane, e, (next - 1) / piece * piece, next, err));
        }
    }
    block_count(r, w->reader, count);
    return PX_OK;
}

static px_status block_work(void *context, pxi_lane *lane, int64_t index, px_error *err)
{
    block_run *r = context;
    const px_status status = block_rows(r, lane, r->offset + index, err);
    pthread_mutex_lock(&r->lock);
    r->finished += status == PX_OK;
    r->torn |= status != PX_OK;
    pthread_mutex_unlock(&r->lock);
    return status;
}

/* --- the whole ------------------------------------------------------------------------------- */

/* The lane that has what this rank's blocks left: the others are merged into it. */
static px_status run_gather(const block_run *r, px_error *err)
{
    const pxi_block_job *job = r->job;
    const block_lane *first = pxi_pass_lane(r->pass, 0)->state;
    for (int i = 1; i < pxi_pass_lanes(r->pass); i++) {
        const block_lane *w = pxi_pass_lane(r->pass, i)->state;
        for (size_t c = 0; c < job->consumer_count; c++) {
            const pxi_consumer *consumer = &job->consumers[c];
            PX_TRY(consumer->kind->merge(consumer->context, first->states[c], w->states[c], err));
            consumer->kind->close(consumer->context, w->states[c]);
            w->states[c] = NULL;
            first->observed[c] += w->observed[c];
            first->rejected[c] += w->rejected[c];
            first->seconds[c] += w->seconds[c];
            w->observed[c] = w->rejected[c] = 0;
            w->seconds[c] = 0.0;
        }
    }
    return PX_OK;
}

/* --- ranks ----------------------------------------------------------------------------------- */

static bool run_may_divide(const pxi_block_job *job)
{
    for (size_t c = 0; c < job->consumer_count; c++) {
        const pxi_consumer *consumer = &job->consumers[c];
        if (!consumer->kind->save ||
            (consumer->kind->may_save && !consumer->kind->may_save(consumer->context)))
            return false;
    }
    return !job->undivided && pxi_ranks_together();
}

/* Inputs of the round's blocks are its units. */
static void run_leaves(block_run *r, int64_t until, pxi_left *left)
{
    const pxi_block_job *job = r->job;
    const int64_t first = job->first + r->offset * PX_COVER_BLOCK;
    left->each = PX_COVER_BLOCK;
    left->count = PX_MIN(job->first + until * PX_COVER_BLOCK, job->end) - first;
    for (size_t i = 0; i < PXI_LEFT_ARRAYS; i++)
        if (left->array[i].base)
            left->array[i].base = (char *)left->array[i].base + (size_t)first * left->array[i].size;
    pxi_pass_leaves(r->pass, left);
}

/* What this rank's blocks left: states, and counts as one array. */
static px_status exchange_save(const block_run *r, px_npz_writer *to, px_error *err)
{
    const pxi_block_job *job = r->job;
    const block_lane *own = pxi_pass_lane(r->pass, 0)->state;
    const px_shape shape = {.rank = 1, .dim = {(int64_t)r->count}};
    PX_TRY(px_npz_put(to, "block", "counts", PX_INT64, &shape, r->counts, err));
    for (size_t c = 0; c < job->consumer_count; c++) {
        char prefix[32];
        snprintf(prefix, sizeof prefix, "consumer%zu", c);
        PX_TRY(job->consumers[c].kind->save(job->consumers[c].context, own->states[c], to, prefix,
                                            err));
    }
    return PX_OK;
}

/* Adds another rank's to what this one has. */
static px_status exchange_load(const block_run *r, const char *bytes, size_t size, px_error *err)
{
    const pxi_block_job *job = r->job;
    const block_lane *own = pxi_pass_lane(r->pass, 0)->state;
    const px_shape shape = {.rank = 1, .dim = {(int64_t)r->count}};
    const void *other = NULL;
    px_npz *npz = NULL;
    PX_TRY(px_npz_open_bytes("what another rank sent", bytes, size, &npz, err));
    px_status status = px_npz_take(npz, "block", "counts", PX_INT64, &shape, &other, NULL, err);
    for (size_t i = 0; status == PX_OK && i < r->count; i++)
        r->counts[i] += ((const int64_t *)other)[i];
    for (size_t c = 0; status == PX_OK && c < job->consumer_count; c++) {
        const pxi_consumer *consumer = &job->consumers[c];
        void *state = NULL;
        char prefix[32];
        snprintf(prefix, sizeof prefix, "consumer%zu", c);
        status = consumer->kind->open(consumer->context, &state, err);
        if (status == PX_OK)
            status = consumer->kind->load(consumer->context, state, npz, prefix, err);
        if (status == PX_OK)
            status = consumer->kind->merge(consumer->context, own->states[c], state, err);
        if (state)
            consumer->kind->close(consumer->context, state);
    }
    px_npz_close(npz);
    return status;
}

/* What the blocks of all ranks left, in this rank's first lane and counts. */
static px_status run_exchange(const block_run *r, px_error *err)
{
    const pxi_block_job *job = r->job;
    const block_lane *own = pxi_pass_lane(r->pass, 0)->state;
    const size_t consumers = job->consumer_count;
    int64_t *observed = r->counts + r->count_tally, *rejected = observed + consumers;
    size_t *sizes = NULL, size = 0;
    char *mine = NULL, *all = NULL;
    px_npz_writer *to = NULL;
    memcpy(observed, own->observed, consumers * sizeof *observed);
    memcpy(rejected, own->rejected, consumers * sizeof *rejected);
    px_status status = PX_NEW(sizes, pxi_rank_count(), err);
    if (status == PX_OK)
        status = px_npz_create_bytes(&to, err);
    if (status == PX_OK)
        status = exchange_save(r, to, err);
    if (status == PX_OK)
        status = px_npz_take_bytes(to, &mine, &size, err);
    else
        px_npz_abandon(to);
    status = pxi_ranks_swap("the states of blocks", status, 0, mine, size, &all, sizes, err);
    const char *bytes = all;
    for (int i = 0; status == PX_OK && i < pxi_rank_count(); i++) {
        if (i != pxi_rank())
            status = exchange_load(r, bytes, sizes[i], err);
        bytes += sizes[i];
    }
    memcpy(own->observed, observed, consumers * sizeof *observed);
    memcpy(own->rejected, rejected, consumers * sizeof *rejected);
    free(sizes);
    free(mine);
    free(all);
    return status;
}

/* Joins what the lanes have into the consumers; with `again` they start empty for more. */
static px_status run_merge(const block_run *r, bool again, px_error *err)
{
    const pxi_block_job *job = r->job;
    if (r->divided) {
        PX_TRY(run_gather(r, err));
        PX_TRY(run_exchange(r, err));
    }
    run_tally(r);
    for (int i = 0; i < pxi_pass_lanes(r->pass); i++) {
        block_lane *w = pxi_pass_lane(r->pass, i)->state;
        for (size_t c = 0; c < job->consumer_count; c++) {
            pxi_consumer *consumer = &job->consumers[c];
            consumer->observed += w->observed[c];
            consumer->rejected += w->rejected[c];
            consumer->seconds += w->seconds[c];
            w->observed[c] = w->rejected[c] = 0;
            w->seconds[c] = 0.0;
            if (!w->states[c])
                continue;
            PX_TRY(consumer->kind->merge(consumer->context, consumer->state, w->states[c], err));
            consumer->kind->close(consumer->context, w->states[c]);
            w->states[c] = NULL;
        }
        if (again && (i > 0 || r->divided))
            PX_TRY(open_states(r, w, err));
    }
    return PX_OK;
}

static px_status run_rounds(block_run *r, px_error *err)
{
    const pxi_block_job *job = r->job;
    const int64_t inputs = job->end - job->first;
    const int64_t blocks = (inputs + PX_COVER_BLOCK - 1) / PX_COVER_BLOCK;
    px_status status = PX_OK;
    for (size_t s = 0; r->offset < blocks && status == PX_OK; s++) {
        const int64_t until = s < job->stop_count ? job->stops[s] : blocks;
        const pxi_share share = {
            .before = r->offset * PX_COVER_BLOCK, .each = PX_COVER_BLOCK, .total = inputs};
        pxi_left left = job->left;
        r->finished = 0;
        if (r->divided)
            run_leaves(r, until, &left);
        status = pxi_pass_each(r->pass, until - r->offset, &share, block_work, r, err);
        if (status != PX_OK && (status != PX_E_CANCELLED || r->torn || r->divided))
            return status;
        r->offset = r->divided ? until : r->offset + r->finished; /* if cancelled, the first ones */
        px_error merging = {0};
        const px_status merged = run_merge(r, r->offset < blocks, &merging);
        if (merged != PX_OK) {
            if (err)
                *err = merging;
            return merged;
        }
        PX_THEN_IF(status, s < job->stop_count, job->stop(job->stop_context, s, err));
    }
    return status;
}

px_status pxi_block_shard(int64_t count, int64_t shard, int64_t shards, pxi_block_job *job,
                          px_error *err)
{
    const int64_t blocks = (count + PX_COVER_BLOCK - 1) / PX_COVER_BLOCK;
    shards = PX_MAX(shards, 1);
    if (shard < 0 || shard >= shards || shards > INT32_MAX)
        return px_fail(err, PX_E_USAGE, "there is no shard %" PRId64 " of %" PRId64, shard, shards);
    job->first = PX_MIN(shard * blocks / shards * PX_COVER_BLOCK, count);
    job->end = PX_MIN((shard + 1) * blocks / shards * PX_COVER_BLOCK, count);
    return PX_OK;
}

px_status pxi_block_run(const pxi_block_job *job, int64_t *done, px_error *err)
{
    block_run r = {
        .job = job, .turn = PTHREAD_MUTEX_INITIALIZER, .lock = PTHREAD_MUTEX_INITIALIZER};
    pxi_task task = {.model = job->rows->model,
                     .set = job->set,
                     .pre = job->pre,
                     .count = job->end - job->first,
                     .threads = job->threads > 0 ? job->threads : px_cpu_count(),
                     .batch = job->batch,
                     .max_batch = PX_COVER_BLOCK,
                     .progress = job->progress,
                     .progress_context = job->progress_context};
    pxi_visitor visitor = {
        .context = &r, .state_size = sizeof(block_lane), .open = lane_open, .close = lane_close};
    px_plan_options wants = px_plan_options_default();
    wants.observe = job->rows->observe;
    wants.observe_count = job->rows->observe_count;
    wants.keep = job->rows->keep;
    wants.keep_count = job->rows->keep_count;
    wants.no_outputs = wants.keep_count + wants.observe_count > 0;
    for (size_t c = 0; c < job->consumer_count; c++)
        visitor.ordered |= job->consumers[c].ordered;
    /* A batch larger than the smallest piece would run in vain; more workers than blocks, too. */
    for (size_t e = 0; e < job->rows->count; e++) {
        task.max_batch = PX_MIN(task.max_batch, pxi_row_piece(job->rows->extractors[e]->width));
        task.batch = pxi_probe_batch(job->rows->extractors[e]->probe, task.batch);
    }
    r.divided = !visitor.ordered && run_may_divide(job);
    const int64_t blocks = (task.count + PX_COVER_BLOCK - 1) / PX_COVER_BLOCK;
    task.threads = (int)PX_MIN((int64_t)task.threads, PX_MAX(blocks, 1));
    r.count_tally = COUNT_CLASSES + 2 * (size_t)run_classes(&r);
    r.count = r.count_tally + 2 * job->consumer_count;
    px_status status = PX_NEW(r.counts, r.count, err);
    if (status == PX_OK)
        status = pxi_pass_open(&task, &wants, &visitor, &r.pass, err);
    if (status == PX_OK)
        status = run_rounds(&r, err);
    pxi_pass_close(r.pass);
    pthread_mutex_destroy(&r.turn);
    pthread_mutex_destroy(&r.lock);
    free(r.counts);
    if (done)
        *done = r.offset;
    return status;
}
