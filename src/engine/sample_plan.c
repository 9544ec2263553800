/* src/engine/sample_plan.c - compiling a network for the samples at hand */
/* SPDX-License-Identifier: Apache-2.0 */
#include <internal/engine.h>
#include <internal/graph.h>
#include <internal/sample_plan.h>

#include "base/memory.h"

#include <stdlib.h>

int pxi_sample_inputs(const px_model *model)
{
    px_shape shape = {.rank = 1, .dim = {1}};
    return px_model_graph(model)->input_count - pxi_sample_beside(model, &shape);
}

bool pxi_sample_beside(const px_model *model, px_shape *shape)
{
    const px_regression *regression = px_model_regression(model);
    const px_inputs *in = px_model_inputs(model);
    const int64_t batch = shape->dim[0], length = shape->rank > 1 ? shape->dim[1] : 0;
    if (regression)
        *shape = (px_shape){.rank = 2, .dim = {batch, regression->count}};
    else if (in && in->table)
        *shape = in->count > 1 ? (px_shape){.rank = 3, .dim = {batch, in->count, length}}
                               : (px_shape){.rank = 2, .dim = {batch, length}};
    else
        return false;
    return true;
}

px_status pxi_sample_one_input(const px_model *model, px_error *err)
{
    const px_graph *graph = px_model_graph(model);
    if (pxi_sample_inputs(model) != 1)
        return px_fail(err, PX_E_UNSUPPORTED,
                       "the network has %d inputs; data sets can be fed to networks with one",
                       graph->input_count);
    const px_value *value = &graph->values[graph->inputs[0]];
    if (value->dtype != PX_FLOAT32 && value->dtype != PX_NONE)
        return px_fail(err, PX_E_UNSUPPORTED,
                       "input '%s' is %s; data sets can be fed to float32 inputs", value->name,
                       px_dtype_name(value->dtype));
    return PX_OK;
}

px_status pxi_sample_feed(const px_model *model, const px_shape *sample, bool channels_last,
                          px_feed *out, px_error *err)
{
    PX_TRY(pxi_sample_one_input(model, err));
    const px_graph *graph = px_model_graph(model);
    const px_value *value = &graph->values[graph->inputs[0]];
    px_shape shape = {.rank = sample->rank + 1, .dim = {1}};
    for (int d = 0; d < sample->rank; d++) {
        const int to = !channels_last ? d + 1 : d == 0 ? sample->rank : d;
        shape.dim[to] = sample->dim[d];
    }
    if (value->has_shape) { /* what is declared stays: a flat input takes pictures too */
        bool open = false;
        for (int d = 1; d < value->shape.rank; d++)
            open |= value->shape.dim[d] < 0;
        if (!open) {
            shape = value->shape;
            shape.dim[0] = 1;
        }
    }
    *out = (px_feed){.value = graph->inputs[0], .shape = shape};
    return PX_OK;
}

bool pxi_sample_is_open(const px_model *model)
{
    const px_graph *graph = px_model_graph(model);
    const px_value *value = &graph->values[graph->inputs[0]];
    bool open = !value->has_shape;
    for (int d = 1; d < value->shape.rank; d++)
        open |= value->shape.dim[d] < 0;
    return open;
}

px_status pxi_sample_plan(const px_model *model, const px_feed *feed, px_plan_options options,
                          int64_t most, px_plan **out, px_error *err)
{
    px_feed fed = *feed;
    const int64_t wanted = options.batch;
    if (pxi_sample_is_open(model)) {
        const int64_t batch = wanted > 0 ? wanted : most < PXI_OPEN_BATCH ? most : PXI_OPEN_BATCH;
        fed.shape.dim[0] = batch;
        options.batch = batch;
        options.feeds = &fed;
        options.feed_count = 1;
    }
    px_plan *plan = NULL;
    PX_TRY(px_plan_new(model, &options, &plan, err));
    if (wanted <= 0 && px_plan_batch(plan) > most && !px_plan_batch_is_baked(plan)) {
        px_plan_free(plan);
        options.batch = most;
        PX_TRY(px_plan_new(model, &options, &plan, err));
    }
    *out = plan;
    return PX_OK;
}

px_status pxi_program_sized(const px_model *model, const px_feed *given, size_t given_count,
                            int64_t batch, const int *wanted, size_t wanted_count,
                            pxi_program **out, px_error *err)
{
    const px_graph *graph = px_model_graph(model);
    pxi_feed *feeds = NULL;
    PX_TRY(PX_NEW(feeds, graph->input_count, err));
    for (int i = 0; i < graph->input_count; i++) {
        const px_value *input = &graph->values[graph->inputs[i]];
        px_tensor *to = &feeds[i].tensor;
        feeds[i].value = graph->inputs[i];
        to->dtype = input->dtype == PX_NONE ? PX_FLOAT32 : input->dtype;
        to->shape = input->shape;
        for (size_t k = 0; k < given_count; k++)
            if (given[k].value == graph->inputs[i])
                to->shape = given[k].shape;
        if (to->shape.rank > 0)
            to->shape.dim[0] = batch;
    }
    const px_status status =
        pxi_program_new(model, feeds, (size_t)graph->input_count, wanted, wanted_count, out, err);
    free(feeds);
    return status;
}
