/* src/describe/caption_course.c - teaching one of a captioner's networks */
/* SPDX-License-Identifier: Apache-2.0 */
#include "describe/caption_course.h"

#include "base/memory.h"
#include "describe/caption_decoder.h"
#include "describe/caption_language.h"

#include <assert.h>
#include <internal/optimizer.h>
#include <internal/rng.h>
#include <internal/text.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

/* Captions of a block: few enough that a batch of 64 occupies four workers, enough that the copies
 * of matrices a GEMM makes are small beside its work. */
enum { COURSE_ROWS = 16 };

typedef struct course_seat { /* a worker's own */
    pxi_block block;
    pxi_decoder_room decoder;
    pxi_language_room language;
    double losses[COURSE_ROWS], penalties[COURSE_ROWS];
} course_seat;

typedef struct course_result { /* of a block */
    double losses, penalties;
} course_result;

struct pxi_course {
    pxi_course_plan plan;
    size_t batch, blocks; /* captions of a batch, and blocks that they make */
    course_seat *seats;
    int seat_count;
    float *gradients; /* [blocks][weights] */
    course_result *results;
    size_t result_count;
    double *squares; /* per piece */
    px_optimizer *optimizer;
    const pxi_sample **order;
    int64_t *permutation;
    int64_t done; /* captions */

    /* of what runs */
    const pxi_sample **running;
    size_t running_count;
    bool learns;
    double word_scale, unit_scale;
    int64_t epoch;
};

static px_status course_seat_init(const pxi_course *course, course_seat *seat, px_error *err)
{
    const pxi_course_plan *p = &course->plan;
    PX_TRY(pxi_block_init(&seat->block, COURSE_ROWS, p->steps, &p->net->sizes, !p->language, err));
    if (p->language)
        return pxi_language_room_init(&seat->language, p->net, COURSE_ROWS, p->steps, true, err);
    return pxi_decoder_room_init(&seat->decoder, p->net, COURSE_ROWS, p->steps, true, err);
}

static px_status course_optimizer(pxi_course *course, px_error *err)
{
    const pxi_net *net = course->plan.net;
    px_shape shapes[PXI_NET_TENSORS];
    for (size_t i = 0; i < net->tensor_count; i++)
        shapes[i] = net->tensors[i].shape;
    char decay[PX_REAL_TEXT], spec[64];
    snprintf(spec, sizeof spec, "adamw:decay=%s", px_real_text(course->plan.options->decay, decay));
    PX_TRY(px_optimizer_new(spec, shapes, net->tensor_count, &course->optimizer, err));
    course->squares = pxi_calloc(px_optimizer_piece_count(course->optimizer), sizeof(double));
    return course->squares ? PX_OK : pxi_no_memory(err);
}

static px_status course_fill(pxi_course *course, px_error *err)
{
    const pxi_course_plan *p = &course->plan;
    course->seat_count = pxi_pool_threads(p->pool);
    course->seats = pxi_calloc((size_t)course->seat_count, sizeof *course->seats);
    course->order = pxi_calloc(p->count, sizeof *course->order);
    course->permutation = pxi_calloc(p->count, sizeof *course->permutation);
    course->result_count = course->blocks;
    course->results = pxi_calloc(course->result_count, sizeof *course->results);
    size_t bytes;
    if (__builtin_mul_overflow(course->blocks, p->net->count * sizeof(float), &bytes))
        return px_fail(err, PX_E_NOMEM, "a batch of %zu captions is too large", course->batch);
    course->gradients = pxi_alloc_aligned(bytes);
    if (!course->seats || !course->order || !course->permutation || !course->results ||
        !course->gradients)
        return pxi_no_memory_for(err, "%zu MiB of gradients of a batch", bytes >> 20);
    for (int i = 0; i < course->seat_count; i++)
        PX_TRY(course_seat_init(course, &course->seats[i], err));
    return course_optimizer(course, err);
}

px_status pxi_course_new(const pxi_course_plan *plan, pxi_course **out, px_error *err)
{
    pxi_course *course = NULL;
    PX_TRY(PX_NEW(course, 1, err));
    course->plan = *plan;
    const int batch = plan->language ? plan->options->language_batch : plan->options->batch;
    course->batch = PX_MIN((size_t)batch, plan->count);
    course->blocks = (course->batch + COURSE_ROWS - 1) / COURSE_ROWS;
    const px_status status = course_fill(course, err);
    return PX_GIVE(status, course, out, pxi_course_free);
}

void pxi_course_free(pxi_course *course)
{
    if (!course)
        return;
    for (int i = 0; course->seats && i < course->seat_count; i++) {
        pxi_block_done(&course->seats[i].block);
        pxi_decoder_room_done(&course->seats[i].decoder);
        pxi_language_room_done(&course->seats[i].language);
    }
    free(course->seats);
    free(course->order);
    free(course->permutation);
    free(course->results);
    free(course->gradients);
    free(course->squares);
    px_optimizer_free(course->optimizer);
    free(course);
}

/* --- blocks ---------------------------------------------------------------------------------- */

/* What is dropped depends on the caption and the epoch, not on the block it is in. */
static void course_drop(const pxi_course *course, const pxi_sample *const *samples,
                        pxi_block *block)
{
    const pxi_course_plan *p = &course->plan;
    const double share = p->options->dropout;
    if (!course->learns || share <= 0.0)
        return;
    const size_t hidden = p->net->sizes.hidden;
    const float kept = (float)(1.0 / (1.0 - share));
    for (size_t r = 0; r < block->rows; r++) {
        const uint32_t item = (uint32_t)(samples[r] - p->samples);
        px_random random = px_rng(p->options->seed, PX_RNG_DROPOUT, item,
                                  2 * (uint32_t)course->epoch + (p->language ? 1 : 0));
        for (size_t t = 0; t < samples[r]->length; t++) {
            float *mask = block->mask + (block->offset[t] + r) * hidden;
            for (size_t i = 0; i < hidden; i++)
                mask[i] = px_rng_u01(&random) < share ? 0.0f : kept;
        }
    }
    block->dropped = true;
}

static px_status course_block(void *context, int worker, int64_t index, px_error *err)
{
    pxi_course *course = context;
    const pxi_course_plan *p = &course->plan;
    const pxi_caption_sizes *sizes = &p->net->sizes;
    course_seat *seat = &course->seats[worker];
    const size_t first = (size_t)index * COURSE_ROWS;
    const size_t rows = PX_MIN((size_t)COURSE_ROWS, course->running_count - first);
    const pxi_sample *const *samples = course->running + first;
    pxi_block_fill(&seat->block, samples, rows, p->start);
    course_drop(course, samples, &seat->block);
    float *gradients = course->learns ? course->gradients + (size_t)index * p->net->count : NULL;
    if (p->language) {
        const pxi_language_task task = {.net = p->net,
                                        .weights = p->weights,
                                        .block = &seat->block,
                                        .scale = course->word_scale,
                                        .gradients = gradients,
                                        .losses = seat->losses};
        PX_TRY(pxi_language_run(&task, &seat->language, err));
    } else {
        const size_t numbers = sizes->k * sizes->size;
        for (size_t r = 0; r < rows; r++)
            pxi_standardise(p->standard, sizes, p->features + samples[r]->unit * numbers,
                            seat->block.features + r * numbers);
        const pxi_decoder_task task = {.net = p->net,
                                       .weights = p->weights,
                                       .block = &seat->block,
                                       .word_scale = course->word_scale,
                                       .unit_scale = course->unit_scale,
                                       .gradients = gradients,
                                       .losses = seat->losses,
                                       .penalties = seat->penalties};
        PX_TRY(pxi_decoder_run(&task, &seat->decoder, err));
    }
    course_result result = {0};
    for (size_t r = 0; r < rows; r++) {
        result.losses += seat->losses[r];
        result.penalties += p->language ? 0.0 : seat->penalties[r] / (double)sizes->k;
    }
    course->results[index] = result;
    return PX_OK;
}

static int longest_first(const void *a, const void *b)
{
    const pxi_sample *x = *(const pxi_sample *const *)a, *y = *(const pxi_sample *const *)b;
    if (x->length != y->length)
        return x->length < y->length ? 1 : -1;
    return x < y ? -1 : x > y; /* they lie in one array: by number */
}

/* Runs all blocks of some samples, which it sorts; adds to the sums in the order of blocks. */
static px_status course_run(pxi_course *course, const pxi_sample **samples, size_t count,
                            bool learns, pxi_course_sums *sums, px_error *err)
{
    const pxi_course_plan *p = &course->plan;
    qsort(samples, count, sizeof *samples, longest_first);
    int64_t words = 0;
    for (size_t i = 0; i < count; i++)
        words += (int64_t)samples[i]->length;
    course->running = samples;
    course->running_count = count;
    course->learns = learns;
    course->word_scale = 1.0 / (double)words;
    course->unit_scale = p->options->regularizer / ((double)count * (double)p->net->sizes.k);
    const size_t blocks = (count + COURSE_ROWS - 1) / COURSE_ROWS;
    PX_TRY(pxi_pool_run(p->pool, (int64_t)blocks, course_block, course, NULL, NULL, err));
    for (size_t i = 0; i < blocks; i++) {
        sums->losses += course->results[i].losses;
        sums->penalties += course->results[i].penalties;
    }
    sums->words += words;
    sums->captions += (int64_t)count;
    return PX_OK;
}

/* --- steps ----------------------------------------------------------------------------------- */

/* Adds the gradients of all blocks into those of the first. */
static px_status course_join(void *context, int worker, int64_t index, px_error *err)
{
    (void)worker, (void)err;
    pxi_course *course = context;
    const size_t blocks = (course->running_count + COURSE_ROWS - 1) / COURSE_ROWS;
    const px_piece piece = px_optimizer_piece(course->optimizer, (size_t)index);
    const size_t all = course->plan.net->count;
    float *to = course->gradients + course->plan.net->tensors[piece.tensor].first + piece.first;
    for (size_t b = 1; b < blocks; b++)
        for (size_t i = 0; i < piece.count; i++)
            to[i] += to[b * all + i];
    if (course->plan.options->clip > 0.0) {
        double sum = 0.0;
        for (size_t i = 0; i < piece.count; i++)
            sum += (double)to[i] * (double)to[i];
        course->squares[index] = sum;
    }
    return PX_OK;
}

static px_status course_move(void *context, int worker, int64_t index, px_error *err)
{
    (void)worker, (void)err;
    pxi_course *course = context;
    const px_piece piece = px_optimizer_piece(course->optimizer, (size_t)index);
    const size_t first = course->plan.net->tensors[piece.tensor].first;
    px_optimizer_move(course->optimizer, piece, course->plan.weights + first,
                      course->gradients + first);
    return PX_OK;
}

/* What gradients are multiplied with so that their norm is not above the limit. */
static double course_scale(const pxi_course *course, size_t pieces)
{
    const double limit = course->plan.options->clip;
    if (limit <= 0.0)
        return 1.0;
    double sum = 0.0;
    for (size_t i = 0; i < pieces; i++)
        sum += course->squares[i];
    const double norm = sqrt(sum);
    return norm > limit ? limit / norm : 1.0;
}

px_status pxi_course_step(pxi_course *course, const pxi_sample **batch, size_t count, int64_t epoch,
                          pxi_course_sums *sums, px_error *err)
{
    assert(count > 0 && count <= course->batch);
    const int64_t pieces = (int64_t)px_optimizer_piece_count(course->optimizer);
    course->epoch = epoch;
    PX_TRY(course_run(course, batch, count, /* learns= */ true, sums, err));
    PX_TRY(pxi_pool_run(course->plan.pool, pieces, course_join, course, NULL, NULL, err));
    const px_pace pace = {.lr = course->plan.options->rate, .momentum = NAN};
    px_optimizer_begin(course->optimizer, pace, course_scale(course, (size_t)pieces));
    return pxi_pool_run(course->plan.pool, pieces, course_move, course, NULL, NULL, err);
}

static px_status course_progress(const pxi_course *course, px_error *err)
{
    const px_captioner_options *o = course->plan.options;
    const int64_t done = course->plan.progress_base + course->done;
    if (o->progress && !o->progress(o->progress_context, done, course->plan.progress_total))
        return px_fail(err, PX_E_CANCELLED, "cancelled after %" PRId64 " of %" PRId64 " captions",
                       done, course->plan.progress_total);
    return PX_OK;
}

px_status pxi_course_epoch(pxi_course *course, int64_t epoch, double *loss, px_error *err)
{
    const pxi_course_plan *p = &course->plan;
    px_random random = px_rng(p->options->seed, PX_RNG_EPOCH, p->language ? 1 : 0, (uint32_t)epoch);
    px_rng_permutation(&random, course->permutation, (uint32_t)p->count);
    for (size_t i = 0; i < p->count; i++)
        course->order[i] = &p->samples[course->permutation[i]];
    pxi_course_sums sums = {0};
    for (size_t first = 0; first < p->count; first += course->batch) {
        const size_t count = PX_MIN(course->batch, p->count - first);
        PX_TRY(pxi_course_step(course, course->order + first, count, epoch, &sums, err));
        course->done += (int64_t)count;
        PX_TRY(course_progress(course, err));
    }
    *loss = sums.losses / (double)sums.words +
            p->options->regularizer * sums.penalties / (double)sums.captions;
    return isfinite(*loss) ? PX_OK
                           : px_fail(err, PX_E_INPUT,
                                     "training diverged in epoch %" PRId64
                                     ": the loss is not a number; try a lower rate, or clip",
                                     epoch + 1);
}

px_status pxi_course_judge(pxi_course *course, const pxi_sample *samples, size_t count,
                           double *loss, px_error *err)
{
    const size_t blocks = (count + COURSE_ROWS - 1) / COURSE_ROWS;
    if (blocks > course->result_count) {
        course_result *more = pxi_realloc(course->results, blocks, sizeof *more);
        if (!more)
            return pxi_no_memory(err);
        course->results = more;
        course->result_count = blocks;
    }
    const pxi_sample **list = NULL;
    PX_TRY(PX_NEW(list, count, err));
    for (size_t i = 0; i < count; i++)
        list[i] = &samples[i];
    pxi_course_sums sums = {0};
    const px_status status = course_run(course, list, count, /* learns= */ false, &sums, err);
    free(list);
    if (status == PX_OK)
        *loss = sums.losses / (double)sums.words;
    return status;
}
