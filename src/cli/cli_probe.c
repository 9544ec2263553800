/* src/cli/cli_probe.c - the neuron options, and shapes where there are no inputs to tell them */
/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/cli_net.h"
#include <internal/probe.h>

px_status cli_open_shape(const px_model *model, const char *size, px_shape *out, px_error *err)
{
    const px_graph *graph = px_model_graph(model);
    const px_value *input = graph->input_count == 1 ? &graph->values[graph->inputs[0]] : NULL;
    px_preprocess pre;
    *out = (px_shape){.rank = 0};
    if (!input || !input->has_shape || input->shape.rank != 4)
        return size ? px_fail(err, PX_E_MISMATCH, "--size: '%.200s' does not take pictures",
                              px_model_path(model))
                    : PX_OK;
    const px_status status =
        px_preprocess_init(&pre, px_model_properties(model), px_model_property_count(model),
                           &input->shape, &(px_preprocess_options){.size = size}, err);
    if (status != PX_OK)
        return size ? status : PX_OK; /* whoever reads pictures will say what is wrong there */
    px_shape shape = input->shape;
    int64_t *sides = shape.dim + (pre.channels_last ? 1 : 2);
    const bool open = sides[0] < 0 || sides[1] < 0;
    shape.dim[0] = 1;
    sides[0] = pre.height;
    sides[1] = pre.width;
    if (open && px_shape_count(&shape) > 0)
        *out = shape;
    return PX_OK;
}

px_status cli_plan_open(const px_model *model, const px_shape *open, px_plan_options options,
                        px_plan **out, px_error *err)
{
    px_feed feed;
    if (open && open->rank) {
        feed = (px_feed){.value = px_model_graph(model)->inputs[0], .shape = *open};
        if (options.batch <= 0)
            options.batch = CLI_OPEN_BATCH;
        feed.shape.dim[0] = options.batch;
        options.feeds = &feed;
        options.feed_count = 1;
    }
    return px_plan_new(model, &options, out, err);
}

px_status cli_probe_new(const px_model *model, const cli_neurons *neurons, const px_shape *shape,
                        px_probe **out, px_error *err)
{
    const px_graph *graph = px_model_graph(model);
    px_probe_options options = px_probe_options_default();
    px_feed feed;
    PX_TRY(px_probe_options_parse(&options, neurons->layers, neurons->tap, neurons->view, err));
    if (shape && shape->rank && graph->input_count == 1) {
        feed = (px_feed){.value = graph->inputs[0], .shape = *shape};
        feed.shape.dim[0] = 1;
        options.feeds = &feed;
        options.feed_count = 1;
    }
    return px_probe_new(model, &options, out, err);
}
