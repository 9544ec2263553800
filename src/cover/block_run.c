/* src/cover/block_run.c - a data set through a network in blocks, on all workers */
#include "cover/block_run.h"

#include "base/memory.h"
#include "base/worker_pool.h"
#include "engine/sample_plan.h"

#include <inttypes.h>
#include <plexor/system.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

typedef struct worker {
    px_session *session;
    px_reader *reader;
    void **states; /* per consumer; NULL: uses the consumer's */
    double *seconds;
    int64_t *observed, *rejected;
} worker;

typedef struct block_runner {
    const pxi_block_job *job;
    px_plan *plan;
    size_t floats; /* per input */
    worker *workers;
    int worker_count;
    int64_t offset; /* blocks of earlier rounds */

    pthread_mutex_t lock; /* guards what follows, and the job's tally */
    pthread_cond_t moved;
    int64_t turn;     /* the block whose ordered consumers may look */
    int64_t broken;   /* the first block that failed: those behind it will have no turn */
    int64_t finished; /* blocks of this round */
} block_runner;

static px_status runner_open_states(const pxi_block_job *job, worker *w, px_error *err)
{
    for (size_t c = 0; c < job->consumer_count; c++) {
        const pxi_consumer *consumer = &job->consumers[c];
        if (!consumer->ordered && !w->states[c])
            PX_TRY(consumer->kind->open(consumer->context, &w->states[c], err));
    }
    return PX_OK;
}

static px_status worker_init(block_runner *r, int number, px_error *err)
{
    const pxi_block_job *job = r->job;
    worker *w = &r->workers[number];
    const size_t count = PX_MAX(job->consumer_count, 1);
    w->states = pxi_calloc(count, sizeof *w->states);
    w->seconds = pxi_calloc(count, sizeof *w->seconds);
    w->observed = pxi_calloc(count, sizeof *w->observed);
    w->rejected = pxi_calloc(count, sizeof *w->rejected);
    if (!w->states || !w->seconds || !w->observed || !w->rejected)
        return px_fail(err, PX_E_NOMEM, "out of memory");
    PX_TRY(px_session_new(r->plan, &w->session, err));
    PX_TRY(pxi_reader_new(job->rows, px_plan_batch(r->plan), true, &w->reader, err));
    return number > 0 ? runner_open_states(job, w, err) : PX_OK;
}

static void worker_done(const pxi_block_job *job, worker *w)
{
    for (size_t c = 0; w->states && c < job->consumer_count; c++)
        if (w->states[c])
            job->consumers[c].kind->close(job->consumers[c].context, w->states[c]);
    free(w->states);
    free(w->seconds);
    free(w->observed);
    free(w->rejected);
    px_reader_free(w->reader);
    px_session_free(w->session);
}

/* --- one block
 * ----------------------------------------------------------------------------------- */

static px_status block_wait(block_runner *r, int64_t block, px_error *err)
{
    pthread_mutex_lock(&r->lock);
    while (r->turn != block && r->broken > block)
        pthread_cond_wait(&r->moved, &r->lock);
    const bool go = r->turn == block;
    pthread_mutex_unlock(&r->lock);
    return go ? PX_OK : px_fail(err, PX_E_CANCELLED, "an earlier block of inputs failed");
}

/* Lets all consumers of extractor e look at its rows first..end-1 of the block. */
static px_status block_observe(block_runner *r, worker *w, size_t e, int64_t first, int64_t end,
                               int64_t block, bool *has_turn, px_error *err)
{
    const px_rows rows = pxi_reader_rows(w->reader, e, first, end - first);
    int64_t rejected = 0;
    for (int64_t i = 0; i < rows.count; i++)
        rejected += rows.rejected[i];
    for (int pass = 0; pass < 2; pass++) /* the ordered ones last: they may have to wait */
        for (size_t c = 0; c < r->job->consumer_count; c++) {
            pxi_consumer *consumer = &r->job->consumers[c];
            if (consumer->extractor != e || consumer->ordered != (pass == 1))
                continue;
            if (consumer->ordered && !*has_turn) {
                PX_TRY(block_wait(r, block, err));
                *has_turn = true;
            }
            const double start = px_clock_s();
            PX_TRY(consumer->kind->observe(
                consumer->context, w->states[c] ? w->states[c] : consumer->state, &rows, err));
            w->seconds[c] += px_clock_s() - start;
            w->observed[c] += rows.count - rejected;
            w->rejected[c] += rejected;
        }
    return PX_OK;
}

static px_status block_fill(const block_runner *r, worker *w, const int64_t *index, int64_t samples,
                            px_error *err)
{
    float *to = px_session_input(w->session, 0);
    for (int64_t i = 0; i < samples; i++)
        PX_TRY(
            px_dataset_input(r->job->set, r->job->pre, index[i], to + (size_t)i * r->floats, err));
    memset(to + (size_t)samples * r->floats, 0,
           (size_t)(px_plan_batch(r->plan) - samples) * r->floats * sizeof *to);
    return PX_OK;
}

static void block_count(block_runner *r, const px_reader *reader, int64_t count)
{
    pxi_tally *tally = r->job->tally;
    const int classes = r->job->rows->has_scores ? r->job->rows->scores.classes : 0;
    pthread_mutex_lock(&r->lock);
    tally->sum.inputs += count;
    for (int64_t i = 0; i < count; i++) {
        const px_input_facts *f = &reader->facts[i];
        tally->sum.labelled += f->label >= 0;
        tally->sum.wrong += f->label >= 0 && classes > 0 && f->label != f->predicted;
        tally->sum.unscored += classes > 0 && f->predicted < 0;
        if (tally->by_label && f->label >= 0 && f->label < classes)
            tally->by_label[f->label]++;
        if (tally->by_prediction && f->predicted >= 0)
            tally->by_prediction[f->predicted]++;
    }
    pthread_mutex_unlock(&r->lock);
}

static px_status block_rows(block_runner *r, worker *w, int64_t block, bool *has_turn,
                            px_error *err)
{
    const pxi_block_job *job = r->job;
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
        next = PX_MIN(at + px_plan_batch(r->plan), at - at % least + least); /* within a piece */
        next = PX_MIN(next, count);
        PX_TRY(block_fill(r, w, index + at, next - at, err));
        PX_TRY(pxi_reader_read(w->reader, w->session, at, next - at, err));
        for (size_t e = 0; e < job->rows->count; e++) {
            const int64_t piece = w->reader->capacity[e];
            if (next % piece == 0 || next == count)
                PX_TRY(
                    block_observe(r, w, e, (next - 1) / piece * piece, next, block, has_turn, err));
        }
    }
    if (job->tally)
        block_count(r, w->reader, count);
    return PX_OK;
}

static px_status runner_block(void *context, int number, int64_t index, px_error *err)
{
    block_runner *r = context;
    const int64_t block = r->offset + index;
    bool has_turn = false, ordered = false;
    for (size_t c = 0; c < r->job->consumer_count; c++)
        ordered |= r->job->consumers[c].ordered;
    px_status status = block_rows(r, &r->workers[number], block, &has_turn, err);
    if (ordered && status == PX_OK && !has_turn) /* a block without rows has its turn too */
        status = block_wait(r, block, err);
    pthread_mutex_lock(&r->lock);
    if (status == PX_OK) {
        r->turn = block + 1; /* looked at by ordered consumers only, and then this is its turn */
        r->finished++;
    } else {
        r->broken = PX_MIN(r->broken, block);
    }
    pthread_cond_broadcast(&r->moved);
    pthread_mutex_unlock(&r->lock);
    return status;
}

/* --- the whole
 * ----------------------------------------------------------------------------------- */

/* Joins what the workers have into the consumers; with `again` they start empty for more. */
static px_status runner_merge(block_runner *r, bool again, px_error *err)
{
    const pxi_block_job *job = r->job;
    for (int i = 0; i < r->worker_count; i++) {
        worker *w = &r->workers[i];
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
        if (again && i > 0)
            PX_TRY(runner_open_states(job, w, err));
    }
    return PX_OK;
}

typedef struct runner_ticker {
    const block_runner *runner;
    int64_t total;
} runner_ticker;

static bool runner_tick(void *context, int64_t done, int64_t total)
{
    const runner_ticker *t = context;
    const pxi_block_job *job = t->runner->job;
    (void)total;
    const int64_t inputs = (t->runner->offset + done) * PX_COVER_BLOCK;
    return !job->progress ||
           job->progress(job->progress_context, PX_MIN(inputs, t->total), t->total);
}

static px_status runner_rounds(block_runner *r, px_pool *pool, int64_t *done, px_error *err)
{
    const pxi_block_job *job = r->job;
    const int64_t inputs = job->end - job->first;
    const int64_t blocks = (inputs + PX_COVER_BLOCK - 1) / PX_COVER_BLOCK;
    runner_ticker ticker = {.runner = r, .total = inputs};
    px_status status = PX_OK;
    for (size_t s = 0; r->offset < blocks && status == PX_OK; s++) {
        const int64_t until = s < job->stop_count ? job->stops[s] : blocks;
        r->finished = 0;
        status = pxi_pool_run(pool, until - r->offset, runner_block, r, runner_tick, &ticker, err);
        if (status == PX_E_CANCELLED && r->broken < INT64_MAX) /* in the middle of a block */
            return px_fail(err, status, "cancelled after %" PRId64 " of %" PRId64 " inputs",
                           PX_MIN((r->offset + r->finished) * PX_COVER_BLOCK, inputs), inputs);
        if (status != PX_OK && status != PX_E_CANCELLED)
            return status;
        r->offset += r->finished; /* of a cancelled round, the first ones */
        px_error merging = {0};
        const px_status merged = runner_merge(r, r->offset < blocks, &merging);
        if (merged != PX_OK) {
            if (err)
                *err = merging;
            return merged;
        }
        if (status == PX_OK && s < job->stop_count)
            status = job->stop(job->stop_context, s, err);
    }
    *done = r->offset;
    if (status == PX_E_CANCELLED)
        px_fail(err, status, "cancelled after %" PRId64 " of %" PRId64 " inputs",
                PX_MIN(r->offset * PX_COVER_BLOCK, inputs), inputs);
    return status;
}

static px_status runner_plan(block_runner *r, px_error *err)
{
    const pxi_block_job *job = r->job;
    const px_shape sample = px_dataset_shape(job->set);
    px_plan_options options = px_plan_options_default();
    px_feed feed = {0};
    r->floats = (size_t)px_shape_count(&sample);
    PX_TRY(pxi_sample_feed(job->rows->model, &sample, job->pre->channels_last, &feed, err));
    options.batch = job->batch;
    options.observe = job->rows->observe;
    options.observe_count = job->rows->observe_count;
    options.keep = job->rows->keep;
    options.keep_count = job->rows->keep_count;
    options.no_outputs = options.keep_count + options.observe_count > 0;
    int64_t most = PX_COVER_BLOCK; /* a batch larger than the smallest piece would run in vain */
    for (size_t e = 0; e < job->rows->count; e++)
        most = PX_MIN(most, pxi_row_piece(job->rows->extractors[e]->width));
    return pxi_sample_plan(job->rows->model, &feed, options, most, &r->plan, err);
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
    block_runner r = {.job = job, .broken = INT64_MAX};
    px_pool *pool = NULL;
    int64_t finished = 0;
    pthread_mutex_init(&r.lock, NULL);
    pthread_cond_init(&r.moved, NULL);
    px_status status = runner_plan(&r, err);
    const int64_t blocks = (job->end - job->first + PX_COVER_BLOCK - 1) / PX_COVER_BLOCK;
    int threads = job->threads > 0 ? job->threads : px_cpu_count();
    threads = (int)PX_MIN((int64_t)threads, PX_MAX(blocks, 1)); /* more would be idle */
    if (status == PX_OK)
        status = pxi_pool_new(threads, &pool, err);
    if (status == PX_OK) {
        r.worker_count = pxi_pool_threads(pool);
        r.workers = pxi_calloc((size_t)r.worker_count, sizeof *r.workers);
        if (!r.workers)
            status = px_fail(err, PX_E_NOMEM, "out of memory");
    }
    for (int i = 0; i < r.worker_count && status == PX_OK; i++)
        status = worker_init(&r, i, err);
    if (status == PX_OK)
        status = runner_rounds(&r, pool, &finished, err);
    for (int i = 0; r.workers && i < r.worker_count; i++) {
        if (job->tally && r.workers[i].reader) {
            job->tally->sum.forward_seconds += r.workers[i].reader->forward_seconds;
            for (size_t e = 0; e < job->rows->count; e++)
                job->tally->extract_seconds[e] += r.workers[i].reader->seconds[e];
        }
        worker_done(job, &r.workers[i]);
    }
    free(r.workers);
    pxi_pool_free(pool);
    px_plan_free(r.plan);
    pthread_cond_destroy(&r.moved);
    pthread_mutex_destroy(&r.lock);
    if (done)
        *done = finished;
    return status;
}
