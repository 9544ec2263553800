/* src/generate/fuzz_forward.c - the network's side of a run: pixels in, answers and rows out */
/* SPDX-License-Identifier: Apache-2.0 */
#include "generate/fuzz_internal.h"

#include "base/memory.h"
#include <internal/sample_plan.h>

#include <internal/block_run.h>
#include <internal/cover.h>
#include <internal/probe.h>
#include <internal/ranks.h>
#include <internal/row_reader.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { FORWARD_BATCH = 16 }; /* at most: larger ones are no faster, and more is run in vain */
enum { FORWARD_WAVE = 32 };  /* samples per worker and wave, at least a batch */
static const int64_t FORWARD_ROW_BYTES = 256ll << 20; /* that rows may take */

static int64_t forward_width(const px_fuzz *fuzz)
{
    return fuzz->cover ? px_cover_extractor(fuzz->cover, 0)->width : 0;
}

typedef struct forward_lane {
    double *losses;   /* [batch] */
    int64_t *answers; /* [batch] */
} forward_lane;

static px_status lane_open(pxi_lane *lane, px_error *err)
{
    const size_t batch = (size_t)pxi_pass_batch(lane->pass);
    forward_lane *own = lane->state;
    (void)err;
    own->losses = pxi_lane_array(lane, batch, sizeof *own->losses);
    own->answers = pxi_lane_array(lane, batch, sizeof *own->answers);
    return PX_OK;
}

px_status pxi_fuzz_forward_open(px_fuzz *fuzz, px_error *err)
{
    pxi_task task = {.model = fuzz->models[0],
                     .pre = &fuzz->pre,
                     .sample = fuzz->shape,
                     .threads = fuzz->options.threads,
                     .batch = fuzz->options.batch,
                     .max_batch = FORWARD_BATCH};
    const pxi_visitor visitor = {.state_size = sizeof(forward_lane), .open = lane_open};
    px_plan_options wants = pxi_wants_scores(&fuzz->scores);
    px_feed feed;
    PX_TRY(pxi_sample_feed(fuzz->models[0], &fuzz->shape, fuzz->pre.channels_last, &feed, err));
    fuzz->feed_shape = feed.shape;
    if (fuzz->cover) {
        wants.observe = px_cover_observe_values(fuzz->cover, &wants.observe_count);
        wants.keep = px_cover_keep_values(fuzz->cover, &wants.keep_count);
        const pxi_row_set *rows = pxi_cover_rows(fuzz->cover);
        for (size_t e = 0; e < rows->count; e++)
            task.batch = pxi_probe_batch(rows->extractors[e]->probe, task.batch);
    }
    PX_TRY(pxi_pass_open(&task, &wants, &visitor, &fuzz->pass, err));
    fuzz->workers = pxi_pass_lanes(fuzz->pass) * (pxi_ranks_together() ? pxi_rank_count() : 1);
    fuzz->batch = pxi_pass_batch(fuzz->pass);
    const int64_t row = PX_MAX(forward_width(fuzz), 1) * (int64_t)sizeof(float) * fuzz->batch;
    const int64_t each = (FORWARD_WAVE + fuzz->batch - 1) / fuzz->batch; /* slots of a worker */
    fuzz->slots = (size_t)PX_MAX((int64_t)fuzz->workers,
                                 PX_MIN(fuzz->workers * each, FORWARD_ROW_BYTES / row));
    PX_TRY(PX_NEW(fuzz->readers, fuzz->slots, err));
    for (size_t s = 0; fuzz->cover && s < fuzz->slots; s++)
        PX_TRY(px_reader_new(fuzz->cover, pxi_pass_plan(fuzz->pass), &fuzz->readers[s], err));
    return PX_OK;
}

void pxi_fuzz_forward_close(px_fuzz *fuzz)
{
    for (size_t s = 0; fuzz->readers && s < fuzz->slots; s++)
        px_reader_free(fuzz->readers[s]);
    free(fuzz->readers);
    pxi_pass_close(fuzz->pass);
}

/* --- pixels ---------------------------------------------------------------------------------- */

px_status pxi_fuzz_input(const px_fuzz *fuzz, const void *pixels, float *input, px_error *err)
{
    pxi_fuzz_levels(fuzz, pixels, input);
    return px_preprocess_apply(&fuzz->pre, &fuzz->shape, input, err);
}

void pxi_fuzz_levels(const px_fuzz *fuzz, const void *pixels, float *levels)
{
    const uint8_t *bytes = pixels;
    if (!fuzz->rounds)
        memcpy(levels, pixels, fuzz->size * sizeof *levels);
    else
        for (size_t i = 0; i < fuzz->size; i++)
            levels[i] = (float)bytes[i];
}

void pxi_fuzz_round(const px_fuzz *fuzz, const float *levels, const void *original, void *pixels)
{
    uint8_t *bytes = pixels;
    float *reals = pixels;
    const uint8_t *from = original;
    for (size_t i = 0; i < fuzz->size; i++) {
        const double value = fmin(fmax((double)levels[i], fuzz->low), fuzz->high);
        if (!fuzz->rounds) {
            reals[i] = (float)value;
        } else if (!from) {
            bytes[i] = (uint8_t)floor(value + 0.5);
        } else {
            /* A hair more than nothing: sums of whole levels in float may fall short of one. */
            const double move = value - from[i];
            bytes[i] = (uint8_t)(from[i] + (move > 0.0 ? floor(move + 1e-4) : ceil(move - 1e-4)));
        }
    }
}

/* --- running --------------------------------------------------------------------------------- */

px_status pxi_fuzz_forward(px_fuzz *fuzz, pxi_lane *lane, size_t slot, int64_t samples,
                           pxi_fuzz_verdict *out, px_error *err)
{
    const forward_lane *own = lane->state;
    px_session *session = lane->session;
    int64_t *answers = own->answers;
    double *losses = own->losses;
    if (samples == 0)
        return PX_OK;
    PX_TRY(fuzz->cover ? px_reader_forward(fuzz->readers[slot], session, samples, NULL, NULL, err)
                       : px_session_forward(session, err));
    const px_view scores = px_session_view(session, fuzz->scores.value);
    PX_TRY(px_session_judge(session, &fuzz->scores, NULL, samples, answers, NULL, err));
    PX_TRY(px_session_judge(session, &fuzz->scores, answers, samples, answers, losses, err));
    for (int64_t i = 0; i < samples; i++) {
        bool finite = answers[i] >= 0;
        for (int c = 0; c < fuzz->classes; c++) /* -inf may stand for an impossible class */
            finite &= scores.data[i * scores.stride[0] + c * scores.stride[1]] < INFINITY;
        out[i].prediction = finite ? answers[i] : -1;
        out[i].confidence = finite ? exp(-losses[i]) : NAN;
    }
    return PX_OK;
}

typedef struct forward_job {
    px_fuzz *fuzz;
    const uint8_t *pixels;
    const int64_t *rows;
    int64_t count;
    pxi_fuzz_verdict *out;
} forward_job;

static px_status forward_batch(void *context, pxi_lane *lane, int64_t index, px_error *err)
{
    const forward_job *job = context;
    px_fuzz *fuzz = job->fuzz;
    const int64_t first = index * fuzz->batch;
    const int64_t samples = PX_MIN(fuzz->batch, job->count - first);
    for (int64_t i = 0; i < samples; i++) {
        PX_TRY(pxi_fuzz_input(fuzz, job->pixels + (size_t)(first + i) * fuzz->pixel_bytes,
                              pxi_lane_input(lane, i), err));
        PX_TRY(pxi_lane_beside(lane, i, fuzz->options.set, job->rows ? job->rows[first + i] : -1,
                               err));
    }
    return pxi_fuzz_forward(fuzz, lane, (size_t)index % fuzz->slots, samples, job->out + first,
                            err);
}

/* The rows of one batch, for other ranks. */
static px_status forward_pack(void *context, int64_t batch, px_text *to, px_error *err)
{
    const px_fuzz *fuzz = ((const forward_job *)context)->fuzz;
    (void)err;
    if (fuzz->cover)
        pxi_reader_pack(fuzz->readers[(size_t)batch % fuzz->slots], to);
    return PX_OK;
}

static px_status forward_unpack(void *context, int64_t batch, const char *bytes, size_t size,
                                px_error *err)
{
    const px_fuzz *fuzz = ((const forward_job *)context)->fuzz;
    return !fuzz->cover ||
                   pxi_reader_unpack(fuzz->readers[(size_t)batch % fuzz->slots], &bytes, &size)
               ? PX_OK
               : px_fail(err, PX_E_INTERNAL, "another rank's rows cannot be read");
}

px_status pxi_fuzz_judge(px_fuzz *fuzz, const void *pixels, const int64_t *rows, int64_t count,
                         pxi_fuzz_verdict *out, px_error *err)
{
    /* At most as many batches at a time as there are readers: none is used by two. */
    const int64_t most = fuzz->batch * (int64_t)fuzz->slots;
    for (int64_t first = 0; first < count; first += most) {
        forward_job job = {.fuzz = fuzz,
                           .pixels = (const uint8_t *)pixels + (size_t)first * fuzz->pixel_bytes,
                           .rows = rows ? rows + first : NULL,
                           .count = PX_MIN(most, count - first),
                           .out = out + first};
        const pxi_left left = {.each = fuzz->batch,
                               .count = job.count,
                               .in_turn = true,
                               .array = {{job.out, sizeof *job.out}},
                               .context = &job,
                               .pack = forward_pack,
                               .unpack = forward_unpack};
        pxi_pass_leaves(fuzz->pass, &left);
        PX_TRY(pxi_pass_each(fuzz->pass, (job.count + fuzz->batch - 1) / fuzz->batch, NULL,
                             forward_batch, &job, err));
    }
    return PX_OK;
}

/* --- what the guide has seen ----------------------------------------------------------------- */

px_status pxi_fuzz_observe(px_fuzz *fuzz, unsigned kinds, int64_t after, px_error *err)
{
    if (!fuzz->cover)
        return PX_OK;
    const int64_t most = fuzz->batch * (int64_t)fuzz->slots;
    uint8_t *pixels = pxi_calloc((size_t)most, fuzz->pixel_bytes);
    pxi_fuzz_verdict *verdicts = pxi_calloc((size_t)most, sizeof *verdicts);
    int64_t *rows = pxi_calloc((size_t)most, sizeof *rows);
    px_campaign_input in = {.id = after};
    px_status status = pixels && verdicts && rows ? pxi_fuzz_write(fuzz, err) : pxi_no_memory(err);
    for (bool more = true; more && status == PX_OK;) {
        int64_t count = 0;
        for (; count < most && status == PX_OK; count++) {
            status = px_campaign_next(fuzz->campaign, in.id, kinds, &in,
                                      pixels + (size_t)count * fuzz->pixel_bytes, NULL, err);
            more = status == PX_OK && in.id != 0;
            if (!more)
                break;
            /* Seeds are put first, so that their ids count from 1. */
            const int64_t root = in.root ? in.root : in.id;
            rows[count] = root <= (int64_t)fuzz->seed_count ? fuzz->seeds[root - 1].row : -1;
        }
        PX_THEN(status, pxi_fuzz_judge(fuzz, pixels, rows, count, verdicts, err));
        /* One by one, as they came: some criteria depend on the order. */
        for (int64_t i = 0; i < count && status == PX_OK; i++)
            status = px_cover_observe(fuzz->cover, fuzz->readers[i / fuzz->batch], i % fuzz->batch,
                                      1, err);
    }
    free(pixels);
    free(verdicts);
    free(rows);
    if (status == PX_OK)
        fuzz->now.coverage = px_cover_value(fuzz->cover, 0);
    return status;
}
