/* src/engine/run_arrays.c - arrays in, arrays out */
/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/run_arrays.h"

#include "base/memory.h"
#include <internal/sample_plan.h>

#include <internal/engine.h>
#include <stdlib.h>
#include <string.h>

px_run_options px_run_options_default(void)
{
    return (px_run_options){.threads = 0};
}

/* --- how they go through --------------------------------------------------------------------- */

/* Whether every value has one row per sample of the plan's micro-batch. */
static bool arrays_by_rows(const px_plan *plan, const int *values, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        const px_shape shape = px_plan_shape(plan, values[i]);
        if (shape.rank < 1 || shape.dim[0] != px_plan_batch(plan))
            return false;
    }
    return true;
}

static px_status arrays_rows(const px_model *model, const px_run_options *options,
                             const px_plan_options *wants, pxi_array_pass *out, px_error *err)
{
    const bool open = pxi_sample_is_open(model);
    px_feed feed = {.value = px_model_graph(model)->inputs[0], .shape = out->inputs[0].shape};
    pxi_task task = {.model = model,
                     .count = out->count,
                     .threads = options->threads,
                     .batch = options->batch,
                     .progress = options->progress,
                     .progress_context = options->progress_context};
    if (open) {
        if (task.batch <= 0)
            task.batch = PX_MIN(out->count, (int64_t)PXI_OPEN_BATCH);
        feed.shape.dim[0] = task.batch;
        task.feeds = &feed;
        task.feed_count = 1;
    }
    return pxi_pass_open(&task, wants, &(pxi_visitor){0}, &out->pass, err);
}

static px_status arrays_whole(const px_model *model, const px_run_options *options,
                              const px_plan_options *wants, pxi_array_pass *out, px_error *err)
{
    const px_graph *graph = px_model_graph(model);
    px_feed *feeds = NULL;
    PX_TRY(PX_NEW(feeds, graph->input_count + 1, err));
    for (int i = 0; i < graph->input_count; i++)
        feeds[i] = (px_feed){.value = graph->inputs[i], .shape = out->inputs[i].shape};
    const pxi_task task = {.model = model,
                           .feeds = feeds,
                           .feed_count = (size_t)graph->input_count,
                           .count = 1,
                           .threads = 1,
                           .progress = options->progress,
                           .progress_context = options->progress_context};
    const px_status status = pxi_pass_open(&task, wants, &(pxi_visitor){0}, &out->pass, err);
    free(feeds);
    return status;
}

/* Whether there are as many samples of each input, and not those that the file was exported for. */
static bool arrays_are_samples(const px_model *model, const px_tensor *inputs)
{
    const px_graph *graph = px_model_graph(model);
    bool same = graph->input_count > 1 && inputs[0].shape.rank > 0;
    for (int i = 0; same && i < graph->input_count; i++) {
        const px_value *value = &graph->values[graph->inputs[i]];
        same = inputs[i].shape.rank > 0 && inputs[i].shape.dim[0] == inputs[0].shape.dim[0] &&
               value->has_shape && value->shape.rank == inputs[i].shape.rank;
        for (int d = 1; same && d < value->shape.rank; d++)
            same = value->shape.dim[d] == inputs[i].shape.dim[d];
        same = same && value->shape.dim[0] > 0;
    }
    return same;
}

px_status pxi_array_pass_open(const px_model *model, const px_tensor *inputs,
                              const px_run_options *options, const px_plan_options *wants,
                              const int *by_rows, size_t count, pxi_array_pass *out, px_error *err)
{
    pxi_array_pass made = {.inputs = inputs};
    if (px_model_graph(model)->input_count == 1 && inputs[0].shape.rank > 0) {
        made.count = inputs[0].shape.dim[0];
        PX_TRY(arrays_rows(model, options, wants, &made, err));
        if (!arrays_by_rows(pxi_pass_plan(made.pass), by_rows, count)) {
            pxi_pass_close(made.pass);
            made.pass = NULL;
        }
    }
    if (!made.pass) {
        px_error why = {0};
        const px_status status = arrays_whole(model, options, wants, &made, &why);
        made.whole = status == PX_OK;
        made.count = made.whole ? pxi_pass_batch(made.pass) : inputs[0].shape.dim[0];
        if (status != PX_OK && !arrays_are_samples(model, inputs)) {
            if (err)
                *err = why;
            return status;
        }
        if (status != PX_OK)
            PX_TRY(arrays_rows(model, options, wants, &made, err));
    }
    made.batch = pxi_pass_batch(made.pass);
    *out = made;
    return PX_OK;
}

void pxi_array_pass_fill(const pxi_array_pass *arrays, const pxi_lane *lane, int64_t first,
                         int64_t samples)
{
    const px_plan *plan = pxi_pass_plan(lane->pass);
    for (size_t f = 0; f < px_plan_feed_count(plan); f++) {
        const px_tensor *from = &arrays->inputs[f];
        char *to = px_session_input(lane->session, f);
        const px_shape shape = px_plan_feed_shape(plan, f);
        const size_t all = (size_t)px_shape_count(&shape) * px_dtype_size(from->dtype);
        if (arrays->whole) {
            memcpy(to, from->data, all);
            continue;
        }
        const size_t row = all / (size_t)shape.dim[0];
        memcpy(to, (const char *)from->data + (size_t)first * row, (size_t)samples * row);
        memset(to + (size_t)samples * row, 0, all - (size_t)samples * row);
    }
}

px_run_facts pxi_array_pass_facts(const pxi_array_pass *arrays)
{
    return (px_run_facts){.count = arrays->count,
                          .batch = arrays->batch,
                          .batch_baked = px_plan_batch_is_baked(pxi_pass_plan(arrays->pass))};
}

/* --- a run ----------------------------------------------------------------------------------- */

typedef struct arrays_run {
    pxi_array_pass arrays;
    const int *values;
    size_t value_count;
    px_tensor *outputs;
} arrays_run;

static px_status run_batch(void *context, pxi_lane *lane, int64_t job, px_error *err)
{
    const arrays_run *run = context;
    const pxi_array_pass *a = &run->arrays;
    const int64_t first = job * a->batch, samples = PX_MIN(a->batch, a->count - first);
    pxi_array_pass_fill(a, lane, first, samples);
    PX_TRY(px_session_forward(lane->session, err));
    for (size_t i = 0; i < run->value_count; i++) {
        px_tensor *out = &run->outputs[i];
        const size_t row = a->whole ? 0 : px_tensor_bytes(out) / (size_t)out->shape.dim[0];
        PX_TRY(px_session_read(lane->session, run->values[i], a->whole ? -1 : samples,
                               (char *)out->data + (size_t)first * row, err));
    }
    return PX_OK;
}

static px_status run_all(arrays_run *run, px_error *err)
{
    const pxi_array_pass *a = &run->arrays;
    const px_plan *plan = pxi_pass_plan(a->pass);
    for (size_t i = 0; i < run->value_count; i++) {
        px_shape shape = px_plan_shape(plan, run->values[i]);
        if (!a->whole)
            shape.dim[0] = a->count;
        PX_TRY(px_tensor_init(&run->outputs[i], px_plan_dtype(plan, run->values[i]), &shape, err));
    }
    const pxi_share share = {.each = a->batch, .total = a->count};
    return pxi_pass_each(a->pass, (a->count + a->batch - 1) / a->batch, &share, run_batch, run,
                         err);
}

px_status px_run(const px_model *model, const px_tensor *inputs, const px_run_options *options,
                 const int *values, size_t count, px_tensor *outputs, px_run_facts *facts,
                 px_error *err)
{
    const px_run_options standard = px_run_options_default();
    arrays_run run = {.values = values, .value_count = count};
    px_plan_options wants = px_plan_options_default();
    wants.keep = values;
    wants.keep_count = count;
    wants.no_outputs = true;
    PX_TRY(PX_NEW(run.outputs, count, err));
    px_status status = pxi_array_pass_open(model, inputs, options ? options : &standard, &wants,
                                           values, count, &run.arrays, err);
    PX_THEN(status, run_all(&run, err));
    if (status == PX_OK && facts)
        *facts = pxi_array_pass_facts(&run.arrays);
    if (status == PX_OK)
        memcpy(outputs, run.outputs, count * sizeof *outputs);
    for (size_t i = 0; status != PX_OK && i < count; i++)
        px_tensor_done(&run.outputs[i]);
    free(run.outputs);
    pxi_pass_close(run.arrays.pass);
    return status;
}
