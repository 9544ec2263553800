/* src/generate/synthesis_batch.c - one micro-batch: gradients, steps, and what the network makes of
 * the results (Algorithm 2; LGR A.6)
 *
 * The cotangent of every raised neuron of row r is 1/k_r, so one backward pass gives each row the
 * mean gradient of its own neurons.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#include "generate/synthesis_internal.h"

#include "base/memory.h"
#include "base/vector_math.h"
#include <internal/lane_watch.h>
#include <internal/probe.h>
#include <internal/view_row.h>

#include <math.h>
#include <plexor/system.h>
#include <string.h>

typedef struct batch {    /* a lane's */
    px_probe_watch watch; /* first */
    pxi_synthesis_run *run;
    pxi_lane *lane;
    px_session *session;
    px_synthesis_row *rows; /* of this micro-batch */
    int64_t samples;
    float *original, *exact; /* [samples][count] */
    uint8_t *bytes;
    double *spent;
    float *trace[2]; /* neurons of the originals, and of what is judged; [samples][wide] */
    float *gradient; /* of one row, in the network's own order */
    float *rounded;  /* [samples][count] */
    int64_t *labels, *predicted;
    double *losses;
} batch;

static px_status batch_name(const batch *b, int64_t row, const char *what, const char *layer,
                            px_error *err)
{
    char name[128];
    return px_fail(err, PX_E_INPUT, "input '%s': %s%s%s%s not finite",
                   px_dataset_name(b->run->job->set, b->rows[row].input, name, sizeof name), what,
                   layer ? " '" : "", layer ? layer : "", layer ? "' are" : " are");
}

/* Runs `pixels`, and leaves the neurons' values in trace[which]. */
static px_status batch_forward(batch *b, const float *pixels, int which, px_error *err)
{
    const pxi_synthesis_run *run = b->run;
    const px_shape shape = px_dataset_shape(run->job->set);
    const size_t count = run->rule.count;
    for (int64_t i = 0; i < b->samples; i++) {
        float *to = pxi_lane_input(b->lane, i);
        memcpy(to, pixels + (size_t)i * count, count * sizeof *to);
        PX_TRY(px_preprocess_apply(run->job->pre, &shape, to, err));
        PX_TRY(pxi_lane_beside(b->lane, i, run->job->set, b->rows[i].input, err));
    }
    b->watch =
        (px_probe_watch){.probe = run->job->probe, .samples = b->samples, .trace = b->trace[which]};
    PX_TRY(pxi_lane_forward(b->lane, b->samples, err));
    for (size_t l = 0; l < px_probe_layer_count(run->job->probe); l++) {
        const px_layer *layer = px_probe_layer(run->job->probe, l);
        for (int64_t i = 0; run->used[l] && i < b->samples; i++)
            if (!pxi_all_finite(b->trace[which] + i * run->wide + layer->neuron_offset,
                                layer->neuron_count))
                return batch_name(b, i, "activations of layer", layer->name, err);
    }
    return PX_OK;
}

/* Keras cuts probabilities to [1e-7, 1 - 1e-7] before the logarithm. */
static double batch_cut_loss(double loss)
{
    static const double cut = 1e-7;
    return fmin(fmax(loss, -log1p(-cut)), -log(cut));
}

static px_status batch_judge(batch *b, px_error *err)
{
    PX_TRY(px_session_judge(b->session, &b->run->scores, b->labels, b->samples, b->predicted,
                            b->losses, err));
    for (int64_t i = 0; i < b->samples; i++) {
        if (b->predicted[i] < 0 || isnan(b->losses[i]))
            return batch_name(b, i, "class scores", NULL, err);
        b->losses[i] = batch_cut_loss(b->losses[i]);
    }
    return PX_OK;
}

static px_status batch_seed(batch *b, px_error *err)
{
    PX_TRY(px_session_seed_clear(b->session, err));
    for (int64_t i = 0; i < b->samples; i++) {
        const px_synthesis_list *list = &b->run->job->lists[b->rows[i].list];
        const float share = (float)(1.0 / (double)b->rows[i].neurons);
        for (int64_t n = 0; n < b->rows[i].neurons; n++)
            PX_TRY(px_probe_seed(b->run->job->probe, b->session, list->neurons[n].layer,
                                 list->neurons[n].unit, i, share, err));
    }
    return PX_OK;
}

/* From `exact` as it is to where one step leads. */
static px_status batch_step(batch *b, int which, px_error *err)
{
    const pxi_synthesis_run *run = b->run;
    const size_t count = run->rule.count;
    const double start = px_clock_s();
    PX_TRY(batch_forward(b, b->exact, which, err));
    const double middle = px_clock_s();
    PX_TRY(batch_seed(b, err));
    PX_TRY(px_session_backward(b->session, err));
    const double end = px_clock_s();
    b->spent[SYNTHESIS_FORWARD] += middle - start;
    b->spent[SYNTHESIS_BACKWARD] += end - middle;
    const px_view view = px_session_grad(b->session, run->input);
    for (int64_t i = 0; i < b->samples; i++) {
        pxi_view_row(&view, i, b->gradient, count);
        if (!pxi_all_finite(b->gradient, (int64_t)count))
            return batch_name(b, i, "gradients of its neurons", NULL, err);
        pxi_pixels_step(&run->rule, b->original + (size_t)i * count, b->gradient,
                        b->exact + (size_t)i * count);
    }
    return PX_OK;
}

/* The numbers of one form, whose pixels are in `pixels`; `bit` marks neurons that rose. */
static px_status batch_measure(batch *b, const float *pixels, int bit, px_error *err)
{
    const pxi_synthesis_run *run = b->run;
    const double start = px_clock_s();
    PX_TRY(batch_forward(b, pixels, 1, err));
    PX_TRY(batch_judge(b, err));
    b->spent[SYNTHESIS_JUDGE] += px_clock_s() - start;
    for (int64_t i = 0; i < b->samples; i++) {
        px_synthesis_row *row = &b->rows[i];
        px_synthesis_form *form = bit == PX_ROSE_EXACT ? &row->exact : &row->stored;
        *form = (px_synthesis_form){.predicted = b->predicted[i], .loss = b->losses[i]};
        const pxi_pixel_distance moved =
            pxi_pixels_distance(&run->rule, b->original + (size_t)i * run->rule.count,
                                pixels + (size_t)i * run->rule.count);
        form->l1 = moved.l1;
        form->l2 = moved.l2;
        form->linf = moved.linf;
        *(bit == PX_ROSE_EXACT ? &row->unchanged : &row->unchanged_stored) = moved.l0 == 0;
        const px_synthesis_list *list = &run->job->lists[row->list];
        uint8_t *rose = run->out->rose + run->out->rose_at[row - run->out->rows];
        for (size_t n = 0; n < list->count; n++) {
            const px_layer *layer = px_probe_layer(run->job->probe, list->neurons[n].layer);
            const int64_t at = i * run->wide + layer->neuron_offset + list->neurons[n].unit;
            if (!(b->trace[1][at] > b->trace[0][at]))
                continue;
            rose[n] |= (uint8_t)bit;
            form->rose += (int64_t)n < row->neurons;
        }
    }
    return PX_OK;
}

static px_status batch_load(batch *b, px_error *err)
{
    const pxi_synthesis_run *run = b->run;
    const size_t count = run->rule.count;
    for (int64_t i = 0; i < b->samples; i++) {
        float *pixels = b->original + (size_t)i * count;
        PX_TRY(px_dataset_pixels(run->job->set, b->rows[i].input, pixels, err));
        const size_t bad = pxi_pixels_outside(&run->rule, pixels);
        if (bad < count) {
            char name[128];
            return px_fail(
                err, PX_E_INPUT,
                "input '%s' has the value %g, outside the range %g..%g; --range LOW,HIGH says "
                "what values may be, --scale what a pixel is multiplied by",
                px_dataset_name(run->job->set, b->rows[i].input, name, sizeof name),
                pxi_pixel_units(&run->rule, (double)pixels[bad]), run->out->options.low,
                run->out->options.high);
        }
        b->labels[i] = b->rows[i].label;
    }
    memcpy(b->exact, b->original, (size_t)b->samples * count * sizeof *b->exact);
    return PX_OK;
}

static px_status batch_work(batch *b, px_error *err)
{
    const pxi_synthesis_run *run = b->run;
    const size_t count = (size_t)b->samples * run->rule.count;
    PX_TRY(batch_load(b, err));
    for (int64_t step = 0; step < run->out->options.iterations; step++) {
        PX_TRY(batch_step(b, step > 0, err));
        if (step > 0)
            continue;
        PX_TRY(batch_judge(b, err)); /* the scores of the forward run are still there */
        for (int64_t i = 0; i < b->samples; i++) {
            b->rows[i].before = b->predicted[i];
            b->rows[i].loss_before = b->losses[i];
        }
    }
    PX_TRY(batch_measure(b, b->exact, PX_ROSE_EXACT, err));
    if (!b->bytes) {
        for (int64_t i = 0; i < b->samples; i++) {
            px_synthesis_row *row = &b->rows[i];
            row->stored = row->exact;
            row->unchanged_stored = row->unchanged;
            const size_t at = (size_t)(row - run->out->rows);
            for (size_t n = run->out->rose_at[at]; n < run->out->rose_at[at + 1]; n++)
                run->out->rose[n] |= run->out->rose[n] & PX_ROSE_EXACT ? PX_ROSE_STORED : 0;
        }
        return PX_OK;
    }
    pxi_pixels_round(b->original, b->exact, count, b->bytes);
    for (size_t i = 0; i < count; i++)
        b->rounded[i] = (float)b->bytes[i];
    return batch_measure(b, b->rounded, PX_ROSE_STORED, err);
}

/* --- the pass -------------------------------------------------------------------------------- */

static px_status lane_open(pxi_lane *lane, px_error *err)
{
    pxi_synthesis_run *run = lane->context;
    const size_t rows = (size_t)pxi_pass_batch(lane->pass), count = run->rule.count;
    batch *b = lane->state;
    (void)err;
    b->run = run;
    b->lane = lane;
    b->session = lane->session;
    for (int i = 0; i < 2; i++)
        b->trace[i] = pxi_lane_array(lane, rows, (size_t)run->wide * sizeof(float));
    b->gradient = pxi_lane_array(lane, count, sizeof *b->gradient);
    b->rounded = run->out->rounds ? pxi_lane_array(lane, rows, count * sizeof *b->rounded) : NULL;
    b->labels = pxi_lane_array(lane, rows, sizeof *b->labels);
    b->predicted = pxi_lane_array(lane, rows, sizeof *b->predicted);
    b->losses = pxi_lane_array(lane, rows, sizeof *b->losses);
    return PX_OK;
}

px_status pxi_synthesis_open(pxi_synthesis_run *run, px_error *err)
{
    const px_synthesis_job *job = run->job;
    const px_synthesis_options *o = &run->out->options;
    const pxi_task task = {.model = job->model,
                           .set = job->set,
                           .pre = job->pre,
                           .count = job->count,
                           .threads = o->threads,
                           .batch = pxi_probe_batch(job->probe, o->batch),
                           .progress = o->progress,
                           .progress_context = o->progress_context};
    const pxi_visitor visitor = {.context = run,
                                 .state_size = sizeof(batch),
                                 .open = lane_open,
                                 .observe = pxi_lane_observe};
    px_plan_options wants = px_plan_options_default();
    run->input = px_model_graph(job->model)->inputs[0];
    wants.observe = wants.seeds = run->values;
    wants.observe_count = wants.seed_count = run->value_count;
    wants.keep = run->values;
    wants.keep_count = run->value_count + 1;
    wants.wrt = &run->input;
    wants.wrt_count = 1;
    wants.no_outputs = true;
    return pxi_pass_open(&task, &wants, &visitor, &run->pass, err);
}

/* `index`: of the chunk's micro-batches; context: how many samples the chunk has. */
static px_status lane_work(void *context, pxi_lane *lane, int64_t index, px_error *err)
{
    batch *b = lane->state;
    pxi_synthesis_run *run = b->run;
    const int64_t size = pxi_pass_batch(lane->pass), first = index * size;
    const double start = px_clock_s();
    const size_t at = (size_t)first * run->rule.count;
    b->rows = run->out->rows + run->first + first;
    b->samples = PX_MIN(size, *(const int64_t *)context - first);
    b->original = run->original + at;
    b->exact = run->exact + at;
    b->bytes = run->bytes ? run->bytes + at : NULL;
    b->spent = run->spent[index];
    const px_status status = batch_work(b, err);
    b->spent[SYNTHESIS_ALL] += px_clock_s() - start;
    return status;
}

typedef struct work_left {
    pxi_synthesis_run *run;
    int64_t samples;
} work_left;

/* Which neurons rose: of the inputs of a micro-batch, behind each other. */
static uint8_t *rose_of(const work_left *by, int64_t index, size_t *size)
{
    const px_synthesis *s = by->run->out;
    const int64_t each = pxi_pass_batch(by->run->pass), first = index * each;
    const int64_t end = PX_MIN(first + each, by->samples);
    const size_t from = s->rose_at[by->run->first + first];
    *size = s->rose_at[by->run->first + end] - from;
    return s->rose + from;
}

static px_status rose_pack(void *context, int64_t index, px_text *to, px_error *err)
{
    size_t size;
    const uint8_t *rose = rose_of(context, index, &size);
    (void)err;
    px_text_add_bytes(to, (const char *)rose, size);
    return PX_OK;
}

static px_status rose_unpack(void *context, int64_t index, const char *bytes, size_t size,
                             px_error *err)
{
    size_t own;
    uint8_t *rose = rose_of(context, index, &own);
    if (size != own)
        return px_fail(err, PX_E_INTERNAL, "another rank left other neurons than it should");
    memcpy(rose, bytes, size);
    return PX_OK;
}

px_status pxi_synthesis_work(pxi_synthesis_run *run, int64_t samples, px_error *err)
{
    const int64_t size = pxi_pass_batch(run->pass);
    const pxi_share share = {.before = run->first, .each = size, .total = run->out->count};
    const size_t count = run->rule.count;
    work_left by = {run, samples};
    const pxi_left left = {.each = size,
                           .count = samples,
                           .array = {{run->out->rows + run->first, sizeof *run->out->rows},
                                     {run->original, count * sizeof *run->original},
                                     {run->exact, count * sizeof *run->exact},
                                     {run->bytes, count}},
                           .context = &by,
                           .pack = rose_pack,
                           .unpack = rose_unpack};
    pxi_pass_leaves(run->pass, &left);
    return pxi_pass_each(run->pass, (samples + size - 1) / size, &share, lane_work, &samples, err);
}
