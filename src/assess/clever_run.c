/* src/assess/clever_run.c - CLEVER over all inputs: judge, sample, fit
 *
 * Inputs are judged first. Then a *block* of N_s points around one input is a job: each micro-batch
 * runs forward once, and backward once per other class from seeds (+1 at c, -1 at j). A block
 * leaves its longest gradient per class (or, for a pool, the length of every one), keyed by input
 * and block, so that the number of workers does not matter. Fits are jobs of their own. All that is
 * kept for fits is bounded: inputs are taken in chunks.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#include "assess/clever_internal.h"

#include "base/memory.h"
#include <internal/pass.h>
#include <internal/view_row.h>

#include <internal/data.h>
#include <internal/rng.h>
#include <internal/stats.h>
#include <inttypes.h>
#include <math.h>
#include <plexor/system.h>
#include <stdlib.h>
#include <string.h>

static const size_t CHUNK_BYTES = (size_t)64 << 20;

typedef struct clever_lane {
    float *net; /* one gradient */
} clever_lane;

typedef struct clever_run {
    const px_clever_job *job;
    px_clever *out;
    px_clever_options options; /* complete */
    px_scores scores;
    pxi_pixel_rule rule;
    double radius; /* in levels */
    pxi_pass *pass;
    int input;     /* value */
    float *logits; /* of all inputs */

    int64_t blocks; /* per input */
    int64_t *live;  /* rows that are sampled */
    int64_t live_count;
    int64_t first, chunk, room; /* of `live`: those at work */
    size_t width;               /* lengths per target: blocks, or points of a pool */
    size_t most_targets;        /* of any input */
    float *originals;           /* of the chunk, levels */
    double *lengths;            /* [chunk][target][width] */
    int64_t *odd;               /* [chunk][block] */
} clever_run;

/* --- before the run -------------------------------------------------------------------------- */

static double default_radius(px_ball ball)
{
    return ball == PX_BALL_L2 ? 3.0 : ball == PX_BALL_LINF ? 0.1 : 30.0;
}

static px_status run_complete(clever_run *run, px_error *err)
{
    px_clever_options *o = &run->options;
    const px_clever_job *job = run->job;
    PX_TRY(pxi_pixel_range(job->set, job->pre, false, &o->low, &o->high, err));
    if (isnan(o->radius))
        o->radius = default_radius(o->ball) * (o->high - o->low);
    if (!(o->radius > 0.0) || isinf(o->radius))
        return px_fail(err, PX_E_USAGE, "a radius of %g has no points in it", o->radius);
    if (o->batches < 2 || o->batches > 1000000)
        return px_fail(err, PX_E_USAGE,
                       "%" PRId64 " batches: expected 2 to 1000000; a fit needs some 50",
                       o->batches);
    if (o->samples < 1 || o->samples > 1000000)
        return px_fail(err, PX_E_USAGE, "%" PRId64 " samples: expected 1 to 1000000", o->samples);
    if (o->pool < 0 || o->pool > 10000)
        return px_fail(err, PX_E_USAGE, "a pool of %" PRId64 ": expected 0 to 10000 batches",
                       o->pool);
    if (run->scores.classes < 2)
        return px_fail(err, PX_E_MISMATCH, "the network has %d class: there is no other",
                       run->scores.classes);
    if (o->target < PX_CLEVER_SECOND || o->target >= run->scores.classes)
        return px_fail(err, PX_E_USAGE, "there is no class %" PRId64 "; the network has 0 to %d",
                       o->target, run->scores.classes - 1);
    if (px_dataset_has_labels(job->set))
        PX_TRY(px_dataset_check_labels(job->set, run->scores.classes, err));
    const pxi_pixel_bounds bounds = {.distance = o->radius, .low = o->low, .high = o->high};
    pxi_pixel_rule_init(&run->rule, job->set, job->pre, &bounds);
    run->radius = run->rule.distance;
    run->out->options = *o;
    return PX_OK;
}

static px_status lane_open(pxi_lane *lane, px_error *err)
{
    const clever_run *run = lane->context;
    clever_lane *own = lane->state;
    (void)err;
    own->net = pxi_lane_array(lane, run->rule.count, sizeof *own->net);
    return PX_OK;
}

static px_status run_open(clever_run *run, px_error *err)
{
    const px_clever_job *job = run->job;
    const pxi_task task = {.model = job->model,
                           .set = job->set,
                           .pre = job->pre,
                           .threads = run->options.threads,
                           .batch = run->options.batch,
                           .max_batch = run->options.samples,
                           .progress = run->options.progress,
                           .progress_context = run->options.progress_context};
    const pxi_visitor visitor = {
        .context = run, .state_size = sizeof(clever_lane), .open = lane_open};
    px_plan_options wants;
    PX_TRY(pxi_wants_gradient(job->model, &run->scores, &run->input, &wants, err));
    wants.repeat = run->options.target == PX_CLEVER_ALL && run->scores.classes > 2;
    return pxi_pass_open(&task, &wants, &visitor, &run->pass, err);
}

/* --- judging --------------------------------------------------------------------------------- */

static px_status check_range(const clever_run *run, int64_t input, const float *pixels,
                             px_error *err)
{
    char name[256];
    const size_t at = pxi_pixels_outside(&run->rule, pixels);
    if (at == run->rule.count)
        return PX_OK;
    return px_fail(err, PX_E_INPUT,
                   "input '%s' has the value %g, outside the range %g..%g; --range LOW,HIGH says "
                   "what values may be, --scale what a pixel is multiplied by",
                   px_dataset_name(run->job->set, input, name, sizeof name),
                   pxi_pixel_units(&run->rule, (double)pixels[at]), run->options.low,
                   run->options.high);
}

static px_status judge_batch(void *context, pxi_lane *lane, int64_t index, px_error *err)
{
    const clever_run *run = context;
    const px_clever_job *job = run->job;
    const int64_t batch = pxi_pass_batch(lane->pass), first = index * batch;
    const int64_t samples = PX_MIN(batch, run->out->count - first);
    const px_shape shape = px_dataset_shape(job->set);
    for (int64_t i = 0; i < samples; i++) {
        float *to = pxi_lane_input(lane, i);
        PX_TRY(px_dataset_pixels(job->set, first + i, to, err));
        PX_TRY(check_range(run, first + i, to, err));
        PX_TRY(px_preprocess_apply(job->pre, &shape, to, err));
    }
    PX_TRY(pxi_lane_forward(lane, samples, err));
    const int classes = run->scores.classes;
    for (int64_t i = 0; i < samples; i++) {
        float *scores = run->logits + (first + i) * classes;
        px_clever_row *row = &run->out->rows[first + i];
        PX_TRY(pxi_scores_row(lane->session, &run->scores, i, scores, err));
        *row = (px_clever_row){.input = first + i,
                               .label = px_dataset_label(job->set, first + i),
                               .predicted = px_argmax(scores, classes),
                               .score = (double)NAN,
                               .nearest = -1};
        for (int k = 0; k < classes; k++)
            if (!isfinite(scores[k]))
                row->predicted = -1;
        row->wrong = row->predicted >= 0 && row->label >= 0 && row->predicted != row->label;
        row->skipped = !row->wrong && row->predicted >= 0 && row->predicted == run->options.target;
        if (row->wrong)
            row->score = 0.0;
    }
    return PX_OK;
}

static int runner_up(const float *scores, int classes, int best)
{
    int second = best == 0 ? 1 : 0;
    for (int k = 0; k < classes; k++)
        if (k != best && scores[k] > scores[second])
            second = k;
    return second;
}

/* Which inputs are sampled, and towards which classes. */
static px_status run_targets(clever_run *run, px_error *err)
{
    px_clever *out = run->out;
    const int classes = run->scores.classes;
    const bool all = run->options.target == PX_CLEVER_ALL;
    run->most_targets = all ? (size_t)classes - 1 : 1;
    for (int64_t i = 0; i < out->count; i++) {
        px_clever_row *row = &out->rows[i];
        if (row->wrong || row->skipped || row->predicted < 0)
            continue;
        run->live[run->live_count++] = i;
        row->first = out->target_count;
        row->count = (int64_t)run->most_targets;
        out->target_count += row->count;
    }
    PX_TRY(PX_NEW(out->targets, (size_t)PX_MAX(out->target_count, 1), err));
    for (int64_t l = 0; l < run->live_count; l++) {
        const px_clever_row *row = &out->rows[run->live[l]];
        const float *scores = run->logits + run->live[l] * classes;
        px_clever_target *target = out->targets + row->first;
        for (int k = 0, n = 0; n < row->count; k++) {
            const int64_t aim = run->options.target;
            const int other = all        ? k
                              : aim >= 0 ? (int)aim
                                         : runner_up(scores, classes, (int)row->predicted);
            if (other == row->predicted)
                continue;
            target[n++] = (px_clever_target){
                .target = other, .margin = (double)scores[row->predicted] - (double)scores[other]};
        }
    }
    return PX_OK;
}

static px_status run_judge(clever_run *run, px_error *err)
{
    px_clever *out = run->out;
    const int64_t batch = pxi_pass_batch(run->pass);
    const size_t count = (size_t)PX_MAX(out->count, 1);
    out->rows = pxi_calloc(count, sizeof *out->rows);
    run->live = pxi_calloc(count, sizeof *run->live);
    run->logits = pxi_calloc(count, (size_t)run->scores.classes * sizeof *run->logits);
    if (!out->rows || !run->live || !run->logits)
        return pxi_no_memory_for(err, "%" PRId64 " inputs", out->count);
    const pxi_left left = {
        .each = batch,
        .count = out->count,
        .array = {{out->rows, sizeof *out->rows},
                  {run->logits, (size_t)run->scores.classes * sizeof *run->logits}}};
    pxi_pass_leaves(run->pass, &left);
    PX_TRY(pxi_pass_each(run->pass, (out->count + batch - 1) / batch, NULL, judge_batch, run, err));
    return run_targets(run, err);
}

/* --- sampling -------------------------------------------------------------------------------- */

/* Points [from, from + samples) of an input, forward. */
static px_status block_forward(const clever_run *run, pxi_lane *lane, int64_t item,
                               const float *original, int64_t from, int64_t samples, px_error *err)
{
    const px_clever_options *o = &run->options;
    const px_shape shape = px_dataset_shape(run->job->set);
    for (int64_t i = 0; i < samples; i++) {
        float *to = pxi_lane_input(lane, i);
        px_random r = px_rng(o->seed, PX_RNG_CLEVER, (uint32_t)item, (uint32_t)(from + i));
        pxi_ball_draw(o->ball, run->radius, &run->rule, &r, original, to);
        PX_TRY(px_preprocess_apply(run->job->pre, &shape, to, err));
    }
    return pxi_lane_forward(lane, samples, err);
}

/* The gradient of z_c - z_j for all rows at once. */
static px_status block_backward(const clever_run *run, px_session *session, int64_t samples, int c,
                                int j, px_error *err)
{
    PX_TRY(px_session_seed_clear(session, err));
    const px_place seed = px_session_seed(session, run->scores.value);
    for (int64_t i = 0; i < samples; i++) {
        seed.data[i * seed.stride[0] + c * seed.stride[1]] = 1.0f;
        seed.data[i * seed.stride[0] + j * seed.stride[1]] = -1.0f;
    }
    return px_session_backward(session, err);
}

/* Where the lengths of a block are, towards the first of its input's classes; those of the next are
 * run->width behind. */
static double *block_lengths(const clever_run *run, int64_t index, size_t *first, size_t *count)
{
    const int64_t at = index / run->blocks, block = index % run->blocks;
    const int64_t points = run->options.pool ? run->options.samples : 1;
    *first = (size_t)(block * points);
    *count = (size_t)points;
    return run->lengths + (size_t)at * run->most_targets * run->width;
}

static px_status block_work(void *context, pxi_lane *lane, int64_t index, px_error *err)
{
    const clever_run *run = context;
    const clever_lane *own = lane->state;
    const int64_t at = index / run->blocks, block = index % run->blocks;
    const px_clever_row *row = &run->out->rows[run->live[run->first + at]];
    const px_clever_target *targets = run->out->targets + row->first;
    const int64_t samples = run->options.samples, batch = pxi_pass_batch(lane->pass);
    const int64_t item = px_dataset_index(run->job->set, row->input);
    double *lengths = run->lengths + (size_t)at * run->most_targets * run->width;
    for (int64_t from = 0; from < samples; from += batch) {
        const int64_t n = PX_MIN(batch, samples - from), point = block * samples + from;
        PX_TRY(block_forward(run, lane, item, run->originals + (size_t)at * run->rule.count, point,
                             n, err));
        for (int64_t k = 0; k < row->count; k++) {
            double *to = lengths + (size_t)k * run->width;
            PX_TRY(
                block_backward(run, lane->session, n, (int)row->predicted, targets[k].target, err));
            const px_view view = px_session_grad(lane->session, run->input);
            for (int64_t i = 0; i < n; i++) {
                pxi_view_row(&view, i, own->net, run->rule.count);
                const double length = pxi_ball_dual(run->options.ball, &run->rule, own->net,
                                                    &run->odd[at * run->blocks + block]);
                if (run->options.pool)
                    to[point + i] = length;
                else
                    to[block] = fmax(to[block], length);
            }
        }
    }
    return PX_OK;
}

/* The lengths of one block: of each class the points of the block, or the largest of them. */
static px_status block_pack(void *context, int64_t index, px_text *to, px_error *err)
{
    const clever_run *run = context;
    size_t first, count;
    (void)err;
    double *lengths = block_lengths(run, index, &first, &count);
    for (size_t k = 0; k < run->most_targets; k++)
        px_text_add_bytes(to, (const char *)(lengths + k * run->width + first),
                          count * sizeof *lengths);
    return PX_OK;
}

static px_status block_unpack(void *context, int64_t index, const char *bytes, size_t size,
                              px_error *err)
{
    const clever_run *run = context;
    size_t first, count;
    double *lengths = block_lengths(run, index, &first, &count);
    if (size != run->most_targets * count * sizeof *lengths)
        return px_fail(err, PX_E_INTERNAL, "another rank left other lengths than it should");
    for (size_t k = 0; k < run->most_targets; k++)
        memcpy(lengths + k * run->width + first, bytes + k * count * sizeof *lengths,
               count * sizeof *lengths);
    return PX_OK;
}

/* --- fits ------------------------------------------------------------------------------------ */

/* Maxima of batches that are drawn from the pool with replacement; the same draws for all classes.
 */
static void pool_maxima(const clever_run *run, int64_t item, const double *lengths, double *maxima)
{
    const px_clever_options *o = &run->options;
    for (int64_t b = 0; b < o->batches; b++) {
        px_random r = px_rng(o->seed, PX_RNG_CLEVER_POOL, (uint32_t)item, (uint32_t)b);
        maxima[b] = 0.0;
        for (int64_t i = 0; i < o->samples; i++)
            maxima[b] = fmax(maxima[b], lengths[px_rng_below(&r, (uint32_t)run->width)]);
    }
}

static px_status fit_work(void *context, pxi_lane *lane, int64_t index, px_error *err)
{
    const clever_run *run = context;
    (void)lane;
    const px_clever_options *o = &run->options;
    const int64_t at = index / (int64_t)run->most_targets, k = index % (int64_t)run->most_targets;
    const px_clever_row *row = &run->out->rows[run->live[run->first + at]];
    px_clever_target *target = &run->out->targets[row->first + k];
    const double *lengths = run->lengths + (size_t)index * run->width;
    double *drawn = NULL;
    if (o->pool) {
        PX_TRY(PX_NEW(drawn, o->batches, err));
        pool_maxima(run, px_dataset_index(run->job->set, row->input), lengths, drawn);
    }
    const px_status status = px_reverse_weibull_fit(drawn ? drawn : lengths, (size_t)o->batches,
                                                    o->penalised, &target->fit, err);
    free(drawn);
    if (status == PX_OK) /* no gradient anywhere: g / 0, and the radius is all that is known */
        target->score = fmin(target->margin / target->fit.location, o->radius);
    if (target->margin == 0.0)
        target->score = 0.0;
    return status;
}

static void chunk_scores(clever_run *run)
{
    for (int64_t at = 0; at < run->chunk; at++) {
        px_clever_row *row = &run->out->rows[run->live[run->first + at]];
        const px_clever_target *targets = run->out->targets + row->first;
        for (int64_t k = 0; k < row->count; k++)
            if (row->nearest < 0 || targets[k].score < targets[row->nearest].score)
                row->nearest = k;
        row->score = targets[row->nearest].score;
        for (int64_t b = 0; b < run->blocks; b++)
            row->odd_gradients += run->odd[at * run->blocks + b];
    }
}

/* --- the run --------------------------------------------------------------------------------- */

static px_status run_room(clever_run *run, px_error *err)
{
    const px_clever_options *o = &run->options;
    run->blocks = o->pool ? o->pool : o->batches;
    run->width = (size_t)(o->pool ? o->pool * o->samples : o->batches);
    if (run->width > UINT32_MAX || (size_t)(run->blocks * o->samples) > UINT32_MAX)
        return px_fail(err, PX_E_USAGE, "%" PRId64 " batches of %" PRId64 " points are too many",
                       run->blocks, o->samples);
    const size_t each = run->most_targets * run->width * sizeof *run->lengths +
                        run->rule.count * sizeof *run->originals +
                        (size_t)run->blocks * sizeof *run->odd;
    run->room = PX_MIN((int64_t)PX_MAX(CHUNK_BYTES / each, 1), PX_MAX(run->live_count, 1));
    run->lengths =
        pxi_calloc((size_t)run->room * run->most_targets, run->width * sizeof *run->lengths);
    run->originals = pxi_calloc((size_t)run->room, run->rule.count * sizeof *run->originals);
    run->odd = pxi_calloc((size_t)run->room, (size_t)run->blocks * sizeof *run->odd);
    if (!run->lengths || !run->originals || !run->odd)
        return pxi_no_memory_for(err, "the gradients of %" PRId64 " inputs", run->room);
    return PX_OK;
}

static px_status run_chunks(clever_run *run, px_error *err)
{
    for (run->first = 0; run->first < run->live_count; run->first += run->room) {
        run->chunk = PX_MIN(run->room, run->live_count - run->first);
        const size_t targets = (size_t)run->chunk * run->most_targets;
        memset(run->lengths, 0, targets * run->width * sizeof *run->lengths);
        memset(run->odd, 0, (size_t)(run->chunk * run->blocks) * sizeof *run->odd);
        for (int64_t i = 0; i < run->chunk; i++)
            PX_TRY(px_dataset_pixels(run->job->set, run->live[run->first + i],
                                     run->originals + (size_t)i * run->rule.count, err));
        const int64_t each = run->blocks * run->options.samples; /* points of an input */
        const pxi_share share = {.before = run->first * each,
                                 .each = run->options.samples,
                                 .total = run->live_count * each};
        const pxi_left of_blocks = {.each = 1,
                                    .count = run->chunk * run->blocks,
                                    .array = {{run->odd, sizeof *run->odd}},
                                    .context = run,
                                    .pack = block_pack,
                                    .unpack = block_unpack};
        pxi_pass_leaves(run->pass, &of_blocks);
        PX_TRY(pxi_pass_each(run->pass, run->chunk * run->blocks, &share, block_work, run, err));
        const pxi_share fits = {.before = (run->first + run->chunk) * each, .total = share.total};
        px_clever_target *of_chunk =
            run->out->targets + run->out->rows[run->live[run->first]].first;
        const pxi_left of_fits = {
            .each = 1, .count = (int64_t)targets, .array = {{of_chunk, sizeof *of_chunk}}};
        pxi_pass_leaves(run->pass, &of_fits);
        PX_TRY(pxi_pass_each(run->pass, (int64_t)targets, &fits, fit_work, run, err));
        chunk_scores(run);
        run->out->points += (double)targets * (double)run->blocks * (double)run->options.samples;
    }
    return PX_OK;
}

static px_status run_all(clever_run *run, px_error *err)
{
    PX_TRY(px_model_scores(run->job->model, &run->scores, err));
    PX_TRY(run_complete(run, err));
    run->out->count = px_dataset_count(run->job->set);
    PX_TRY(run_open(run, err));
    PX_TRY(run_judge(run, err));
    PX_TRY(run_room(run, err));
    return run_chunks(run, err);
}

static void run_done(clever_run *run)
{
    pxi_pass_close(run->pass);
    free(run->live);
    free(run->logits);
    free(run->originals);
    free(run->lengths);
    free(run->odd);
}

px_status px_clever_run(const px_clever_job *job, const px_clever_options *options, px_clever **out,
                        px_error *err)
{
    const double start = px_clock_s();
    clever_run run = {.job = job, .options = *options, .out = pxi_calloc(1, sizeof *run.out)};
    if (!run.out)
        return pxi_no_memory(err);
    const px_status status = run_all(&run, err);
    run.out->seconds = px_clock_s() - start;
    if (status == PX_OK)
        *out = run.out;
    else
        px_clever_free(run.out);
    run_done(&run);
    return status;
}
