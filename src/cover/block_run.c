/* src/cover/block_run.c - a data set through a network in blocks, on all workers */
#include <internal/block_run.h>

#include "base/memory.h"
#include <internal/pass.h>
#include <internal/probe.h>

#include <inttypes.h>
#include <plexor/system.h>
#include <pthread.h>

typedef struct block_lane {
    px_reader *reader;
    void **states; /* per consumer; NULL: uses the consumer's */
    double *seconds;
    int64_t *observed, *rejected;
} block_lane;

typedef struct block_run {
    const pxi_block_job *job;
    pxi_pass *pass;
    int64_t offset;       /* blocks of earlier rounds */
    pthread_mutex_t lock; /* guards what follows, and the job's tally */
    int64_t finished;     /* blocks of this round */
    bool torn;            /* a block of it ended in the middle */
} block_run;

static px_status open_states(const pxi_block_job *job, block_lane *w, px_error *err)
{
    for (size_t c = 0; c < job->consumer_count; c++) {
        const pxi_consumer *consumer = &job->consumers[c];
        if (!consumer->ordered && !w->states[c])
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
    return lane->number > 0 && w->states ? open_states(job, w, err) : PX_OK;
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
            const double start = px_clock_s();
            PX_TRY(consumer->kind->observe(
                consumer->context, w->states[c] ? w->states[c] : consumer->state, &rows, err));
            w->seconds[c] += px_clock_s() - start;
            w->observed[c] += rows.count - rejected;
            w->rejected[c] += rejected;
        }
    return PX_OK;
}

static void block_count(block_run *r, const px_reader *reader, int64_t count)
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
    if (job->tally)
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

/* Joins what the lanes have into the consumers; with `again` they start empty for more. */
static px_status run_merge(const block_run *r, bool again, px_error *err)
{
    const pxi_block_job *job = r->job;
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
        if (again && i > 0)
            PX_TRY(open_states(job, w, err));
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
        r->finished = 0;
        status = pxi_pass_each(r->pass, until - r->offset, &share, block_work, r, err);
        if (status != PX_OK && (status != PX_E_CANCELLED || r->torn))
            return status;
        r->offset += r->finished; /* of a cancelled round, the first ones */
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
    block_run r = {.job = job, .lock = PTHREAD_MUTEX_INITIALIZER};
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
    const int64_t blocks = (task.count + PX_COVER_BLOCK - 1) / PX_COVER_BLOCK;
    task.threads = (int)PX_MIN((int64_t)task.threads, PX_MAX(blocks, 1));
    px_status status = pxi_pass_open(&task, &wants, &visitor, &r.pass, err);
    PX_THEN(status, run_rounds(&r, err));
    pxi_pass_close(r.pass);
    pthread_mutex_destroy(&r.lock);
    if (done)
        *done = r.offset;
    return status;
}
