/* src/engine/interpret.c - run a graph once, with plain C kernels, by folding it */
#include "engine/plan.h"

#include "base/memory.h"

#include <stdlib.h>
#include <string.h>

px_status px_model_interpret(const px_model *model, const px_tensor *inputs, px_tensor *outputs,
                             px_error *err)
{
    const px_graph *graph = px_model_graph(model);
    pxi_feed *feeds = pxi_calloc((size_t)graph->input_count, sizeof *feeds);
    pxi_program *program = NULL;
    if (!feeds)
        return pxi_no_memory(err);
    for (int i = 0; i < graph->input_count; i++)
        feeds[i] = (pxi_feed){.value = graph->inputs[i], .tensor = inputs[i]};
    const pxi_program_request request = {
        .feeds = feeds, .feed_count = (size_t)graph->input_count, .interpret = true};
    px_status status = pxi_program_make(model, &request, &program, err);
    int made = 0;
    for (; status == PX_OK && made < graph->output_count; made++) {
        const px_tensor *value = &program->slots[graph->outputs[made]].tensor;
        px_tensor copy = {0};
        if (!value->data) {
            status = px_fail(err, PX_E_UNSUPPORTED, "output '%s' depends on random numbers",
                             graph->values[graph->outputs[made]].name);
            break;
        }
        status = px_tensor_init(&copy, value->dtype, &value->shape, err);
        if (status != PX_OK)
            break;
        memcpy(copy.data, value->data, px_tensor_bytes(value));
        outputs[made] = copy;
    }
    while (status != PX_OK && made > 0)
        px_tensor_done(&outputs[--made]);
    pxi_program_free(program);
    free(feeds);
    return status;
}
