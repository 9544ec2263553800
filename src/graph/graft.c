/* src/graph/graft.c - nodes put before and behind those of a network that was read */
/* SPDX-License-Identifier: Apache-2.0 */
#include <internal/graft.h>

#include <assert.h>
#include <string.h>

px_status pxi_graft_begin(px_model *model, int values, pxi_graft *out, px_error *err)
{
    pxi_graft graft = {.model = model, .value_count = model->graph.value_count, .redirected = -1};
    PX_TRY(PX_ARENA_NEW(graft.values, model->arena, graft.value_count + values, err));
    PX_TRY(PX_ARENA_NEW(graft.front, model->arena, PXI_GRAFT_NODES, err));
    PX_TRY(PX_ARENA_NEW(graft.back, model->arena, PXI_GRAFT_NODES, err));
    memcpy(graft.values, model->graph.values, (size_t)graft.value_count * sizeof *graft.values);
    *out = graft;
    return PX_OK;
}

static const void *graft_copy(pxi_graft *graft, const void *from, int count, size_t size)
{
    void *to = pxi_arena_alloc(graft->model->arena, (size_t)count, size);
    graft->failed |= !to;
    if (to && count > 0)
        memcpy(to, from, (size_t)count * size);
    return to;
}

int pxi_graft_value(pxi_graft *graft, const char *name, px_dtype dtype, const px_shape *shape)
{
    px_value value = {.name = pxi_arena_strdup(graft->model->arena, name),
                      .dtype = dtype,
                      .has_shape = shape != NULL,
                      .producer = -1};
    if (shape)
        value.shape = *shape;
    graft->failed |= !value.name;
    graft->values[graft->value_count] = value;
    return graft->value_count++;
}

int pxi_graft_constant(pxi_graft *graft, const char *name, px_dtype dtype, const px_shape *shape,
                       const void *numbers)
{
    const px_tensor tensor = {.dtype = dtype,
                              .shape = *shape,
                              .data = (void *)(uintptr_t)graft_copy(graft, numbers,
                                                                    (int)px_shape_count(shape),
                                                                    px_dtype_size(dtype))};
    const int value = pxi_graft_value(graft, name, dtype, shape);
    graft->values[value].constant = graft_copy(graft, &tensor, 1, sizeof tensor);
    return value;
}

void pxi_graft_node(pxi_graft *graft, bool front, const char *type, int opset, const int *inputs,
                    int input_count, int output, const px_attr *attrs, int attr_count)
{
    int *count = front ? &graft->front_count : &graft->back_count;
    px_attr *own = pxi_arena_alloc(graft->model->arena, (size_t)attr_count, sizeof *own);
    assert(*count < PXI_GRAFT_NODES);
    graft->failed |= !own;
    for (int i = 0; own && i < attr_count; i++) {
        own[i] = attrs[i];
        if (attrs[i].kind == PX_ATTR_INTS)
            own[i].ints = graft_copy(graft, attrs[i].ints, (int)attrs[i].count, sizeof(int64_t));
    }
    (front ? graft->front : graft->back)[(*count)++] =
        (px_node){.name = graft->values[output].name,
                  .type = type,
                  .domain = "",
                  .opset = opset,
                  .input_count = input_count,
                  .output_count = 1,
                  .inputs = graft_copy(graft, inputs, input_count, sizeof *inputs),
                  .outputs = graft_copy(graft, &output, 1, sizeof output),
                  .attr_count = attr_count,
                  .attrs = own};
}

void pxi_graft_redirect(pxi_graft *graft, int node, int output)
{
    graft->redirected = node;
    graft->redirected_to = graft_copy(graft, &output, 1, sizeof output);
}

px_status pxi_graft_finish(pxi_graft *graft, const int *inputs, int input_count, const int *outputs,
                           int output_count, px_error *err)
{
    px_model *model = graft->model;
    px_graph graph = model->graph;
    const int before = graft->front_count, old = graph.node_count;
    px_node *nodes = NULL;
    PX_TRY(PX_ARENA_NEW(nodes, model->arena, before + old + graft->back_count, err));
    if (inputs) {
        graph.inputs = graft_copy(graft, inputs, input_count, sizeof *inputs);
        graph.input_count = input_count;
    }
    if (outputs) {
        graph.outputs = graft_copy(graft, outputs, output_count, sizeof *outputs);
        graph.output_count = output_count;
    }
    for (int v = graph.value_count; v < graft->value_count && !graft->failed; v++) {
        const int held = pxi_names_add(&model->names, graft->values[v].name, v);
        if (held >= 0 && held != v)
            return px_fail(err, PX_E_UNSUPPORTED, "'%.200s' has a value named '%s' already",
                           model->path, graft->values[v].name);
        graft->failed |= held < 0;
    }
    if (graft->failed)
        return pxi_no_memory(err);
    memcpy(nodes, graft->front, (size_t)before * sizeof *nodes);
    memcpy(nodes + before, graph.nodes, (size_t)old * sizeof *nodes);
    memcpy(nodes + before + old, graft->back, (size_t)graft->back_count * sizeof *nodes);
    if (graft->redirected >= 0)
        nodes[before + graft->redirected].outputs = graft->redirected_to;
    graph.nodes = nodes;
    graph.node_count = before + old + graft->back_count;
    graph.values = graft->values;
    graph.value_count = graft->value_count;
    for (int n = 0; n < graph.node_count; n++)
        for (int i = 0; i < nodes[n].output_count; i++)
            if (nodes[n].outputs[i] >= 0)
                graft->values[nodes[n].outputs[i]].producer = n;
    model->graph = graph;
    return PX_OK;
}
