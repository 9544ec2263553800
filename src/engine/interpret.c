/* src/engine/interpret.c - run a graph once, with plain C kernels, by folding it */
/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/plan.h"

#include "base/memory.h"

#include <stdlib.h>
#include <string.h>

static px_status interpret_tensor(const pxi_program *program, int value, px_tensor *out,
                                  px_error *err)
{
    const px_tensor *from = &program->slots[value].tensor;
    if (!from->data)
        return px_fail(err, PX_E_UNSUPPORTED, "output '%s' depends on random numbers",
                       program->graph.values[value].name);
    PX_TRY(px_tensor_init(out, from->dtype, &from->shape, err));
    memcpy(out->data, from->data, px_tensor_bytes(from));
    return PX_OK;
}

static px_status interpret_sequence(const pxi_program *program, int value, px_tensor *out,
                                    px_error *err)
{
    const pxi_slot *slot = &program->slots[value];
    const int64_t count = slot->tensor.shape.dim[0];
    px_tensor *items = NULL;
    PX_TRY(PX_NEW(items, count + 1, err));
    px_tensor made = {.dtype = PX_SEQUENCE, .shape = slot->tensor.shape, .data = items};
    for (int64_t i = 0; i < count; i++) {
        const px_status status = interpret_tensor(program, slot->items[i], &items[i], err);
        if (status != PX_OK) {
            px_tensor_done(&made);
            return status;
        }
    }
    *out = made;
    return PX_OK;
}

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
        outputs[made] = (px_tensor){0};
        status = value->dtype == PX_SEQUENCE
                     ? interpret_sequence(program, graph->outputs[made], &outputs[made], err)
                     : interpret_tensor(program, graph->outputs[made], &outputs[made], err);
        if (status != PX_OK)
            break;
    }
    while (status != PX_OK && made > 0)
        px_tensor_done(&outputs[--made]);
    pxi_program_free(program);
    free(feeds);
    return status;
}
