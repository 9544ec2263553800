/* src/cli/cli_probe.c - the neuron options */
#include "cli/cli_net.h"

px_status cli_probe_new(const px_model *model, const cli_neurons *neurons, const px_shape *shape,
                        px_probe **out, px_error *err)
{
    const px_graph *graph = px_model_graph(model);
    px_probe_options options = px_probe_options_default();
    px_feed feed;
    PX_TRY(px_probe_options_parse(&options, neurons->layers, neurons->tap, neurons->view, err));
    if (shape && graph->input_count == 1) {
        feed = (px_feed){.value = graph->inputs[0], .shape = *shape};
        feed.shape.dim[0] = 1;
        options.feeds = &feed;
        options.feed_count = 1;
    }
    return px_probe_new(model, &options, out, err);
}
