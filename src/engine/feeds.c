/* src/engine/feeds.c - what a graph's own declarations say about its inputs */
/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/feeds.h"

#include "base/memory.h"

#include <stdlib.h>

int64_t pxi_feeds_fixed_batch(const px_model *model)
{
    const px_graph *graph = px_model_graph(model);
    if (!graph->input_count)
        return 0;
    const px_value *input = &graph->values[graph->inputs[0]];
    return input->has_shape && input->shape.rank && input->shape.dim[0] > 0 ? input->shape.dim[0]
                                                                            : 0;
}

px_status pxi_feeds_default(const px_model *model, int64_t batch, int64_t side, pxi_feed **out,
                            size_t *count, px_error *err)
{
    const px_graph *graph = px_model_graph(model);
    pxi_feed *feeds = NULL;
    PX_TRY(PX_NEW(feeds, graph->input_count, err));
    for (int i = 0; i < graph->input_count; i++) {
        const px_value *input = &graph->values[graph->inputs[i]];
        px_shape shape = input->shape;
        if (input->foreign_type) {
            free(feeds);
            return px_fail(err, PX_E_UNSUPPORTED,
                           "input '%s' is of the type %s; plexor runs tensors of numbers only",
                           input->name, input->foreign_type);
        }
        if (!input->has_shape) {
            free(feeds);
            return px_fail(err, PX_E_UNSUPPORTED, "the file declares no shape for input '%s'",
                           input->name);
        }
        if (shape.rank > 0)
            shape.dim[0] = batch;
        for (int d = 1; d < shape.rank; d++)
            shape.dim[d] = shape.dim[d] < 0 && side > 0 ? side : shape.dim[d];
        for (int d = 1; d < shape.rank; d++)
            if (shape.dim[d] < 0) {
                char text[PX_SHAPE_TEXT];
                free(feeds);
                return px_fail(err, PX_E_UNSUPPORTED,
                               "input '%s' has shape %s; every axis but the first must be fixed",
                               input->name, px_shape_text(&input->shape, text));
            }
        feeds[i] =
            (pxi_feed){.value = graph->inputs[i],
                       .tensor = {.dtype = input->dtype == PX_NONE ? PX_FLOAT32 : input->dtype,
                                  .shape = shape}};
    }
    *out = feeds;
    *count = (size_t)graph->input_count;
    return PX_OK;
}
