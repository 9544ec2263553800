/* src/onnx/build.c - values, nodes in topological order, inputs and outputs */
/* SPDX-License-Identifier: Apache-2.0 */
#include "onnx/reader.h"

#include "base/memory.h"
#include <internal/model.h>

#include <stdlib.h>
#include <string.h>

typedef struct builder {
    px_graph *graph; /* to be filled in */
    px_arena *arena; /* the model's */
    const Onnx__ModelProto *model;
    const Onnx__GraphProto *proto;
    struct builder *around;  /* of the graph that this one is inside of; NULL: the main one */
    int *captures;           /* values of `around` that are read in here, in the order in which */
    size_t capture_capacity; /* inputs were made for them */
    int capture_count;
    pxi_external *external;
    pxi_names names;
    pxi_flat_node *flat;
    px_value *values; /* moved into the arena at the end */
    size_t value_capacity;
    int value_count, node_count;
    int *producer; /* per value: index into flat, -1: none */
    size_t producer_capacity;
    int **inputs, **outputs; /* per flat node, in the arena */
    bool *read;              /* per value: some node reads it, or it is an output */
    size_t read_capacity;
    px_error *err;
} builder;

/* Adds a value; *index is -1 if the name is taken already. */
static px_status build_value(builder *build, const char *name, int producer, int *index)
{
    const size_t want = (size_t)build->value_count + 1;
    if (want > PXI_ONNX_MAX_VALUES)
        return px_fail(build->err, PX_E_INPUT, "the graph has more than %d values",
                       PXI_ONNX_MAX_VALUES);
    const int held = pxi_names_add(&build->names, name, build->value_count);
    if (held < 0 ||
        pxi_grow(&build->values, &build->value_capacity, want, sizeof *build->values) != 0 ||
        pxi_grow(&build->producer, &build->producer_capacity, want, sizeof *build->producer) != 0 ||
        pxi_grow(&build->read, &build->read_capacity, want, sizeof *build->read) != 0)
        return pxi_no_memory(build->err);
    *index = -1;
    if (held != build->value_count)
        return PX_OK;
    *index = build->value_count++;
    build->values[*index] = (px_value){.name = name, .producer = -1};
    build->producer[*index] = producer;
    build->read[*index] = false;
    return PX_OK;
}

static px_status build_initialisers(builder *build)
{
    if (build->proto->n_sparse_initializer)
        return px_fail(build->err, PX_E_UNSUPPORTED,
                       "sparse initialisers are not supported; save the model with dense ones");
    for (size_t i = 0; i < build->proto->n_initializer; i++) {
        const char *name = pxi_text(build->proto->initializer[i]->name);
        int index;
        if (!*name)
            return px_fail(build->err, PX_E_INPUT, "initialiser %zu has no name", i);
        PX_TRY(build_value(build, name, -1, &index));
        if (index < 0)
            return px_fail(build->err, PX_E_INPUT, "there are two initialisers '%s'", name);
    }
    return PX_OK;
}

/* Inputs that repeat an initialiser (all of them, up to IR version 3) only declare its type. */
static px_status build_inputs(builder *build)
{
    const int initialisers = build->value_count;
    int *inputs = NULL;
    PX_TRY(PX_ARENA_NEW(inputs, build->arena, build->proto->n_input, build->err));
    int count = 0;
    for (size_t i = 0; i < build->proto->n_input; i++) {
        const char *name = pxi_text(build->proto->input[i]->name);
        int index;
        if (!*name)
            return px_fail(build->err, PX_E_INPUT, "input %zu has no name", i);
        PX_TRY(build_value(build, name, -1, &index));
        if (index >= 0)
            inputs[count++] = index;
        else if (pxi_names_find(&build->names, name) >= initialisers)
            return px_fail(build->err, PX_E_INPUT, "there are two inputs '%s'", name);
    }
    build->graph->inputs = inputs;
    build->graph->input_count = count;
    return PX_OK;
}

static px_status build_node_outputs(builder *build)
{
    for (int n = 0; n < build->node_count; n++) {
        const pxi_flat_node *node = &build->flat[n];
        int *outputs = NULL;
        PX_TRY(PX_ARENA_NEW(outputs, build->arena, node->output_count, build->err));
        for (size_t i = 0; i < node->output_count; i++) {
            outputs[i] = -1;
            if (!*node->outputs[i])
                continue;
            PX_TRY(build_value(build, node->outputs[i], n, &outputs[i]));
            if (outputs[i] < 0)
                return px_fail(build->err, PX_E_INPUT,
                               "node '%s' (%s) makes '%s', which something else makes too",
                               node->name, node->type, node->outputs[i]);
        }
        build->outputs[n] = outputs;
    }
    return PX_OK;
}

/* A value by its name, in this graph or in those around it, which give it as an input; -1: nobody
 * makes it. */
static px_status build_lookup(builder *build, const char *name, int *index)
{
    *index = pxi_names_find(&build->names, name);
    int outer = -1;
    if (*index < 0 && build->around)
        PX_TRY(build_lookup(build->around, name, &outer));
    if (outer >= 0) {
        const size_t want = (size_t)build->capture_count + 1;
        const char *kept = build->around->values[outer].name;
        PX_TRY(build_value(build, kept, -1, index));
        if (pxi_grow(&build->captures, &build->capture_capacity, want, sizeof *build->captures) !=
            0)
            return pxi_no_memory(build->err);
        build->captures[build->capture_count++] = outer;
    }
    if (*index >= 0)
        build->read[*index] = true;
    return PX_OK;
}

static px_status build_graph(builder *build);

/* The graph of an attribute, and what it reads of this one. */
static px_status build_inner(builder *build, const Onnx__GraphProto *proto, px_attr *out,
                             int **reads, size_t *read_count)
{
    px_graph *graph = pxi_arena_alloc(build->arena, 1, sizeof *graph);
    builder inner = {.graph = graph,
                     .arena = build->arena,
                     .model = build->model,
                     .proto = proto,
                     .around = build,
                     .external = build->external,
                     .err = build->err};
    px_status status = graph ? build_graph(&inner) : pxi_no_memory(build->err);
    if (status == PX_OK) {
        const size_t count = (size_t)inner.capture_count;
        int *all = pxi_arena_alloc(build->arena, *read_count + count + 1, sizeof *all);
        if (!all)
            status = pxi_no_memory(build->err);
        for (size_t i = 0; i < *read_count && all; i++)
            all[i] = (*reads)[i];
        for (size_t i = 0; i < count && all; i++)
            all[*read_count + i] = inner.captures[i];
        out->kind = PX_ATTR_GRAPH;
        out->graph = graph;
        out->count = count;
        out->i = (int64_t)*read_count;
        *reads = all;
        *read_count += count;
    }
    pxi_names_done(&inner.names);
    free(inner.captures);
    return status;
}

/* Inner graphs of a node; what they read becomes inputs of it, behind its own. */
static px_status build_inner_graphs(builder *build, int n)
{
    pxi_flat_node *node = &build->flat[n];
    bool any = false;
    for (size_t i = 0; i < node->attr_count && !node->in_function; i++)
        any = any || node->attrs[i]->g;
    if (!any)
        return PX_OK;
    px_attr *graphs = pxi_arena_alloc(build->arena, node->attr_count, sizeof *graphs);
    int *reads = build->inputs[n];
    size_t count = node->input_count;
    if (!graphs)
        return pxi_no_memory(build->err);
    for (size_t i = 0; i < node->attr_count; i++) {
        const px_status status =
            node->attrs[i]->g ? build_inner(build, node->attrs[i]->g, &graphs[i], &reads, &count)
                              : PX_OK;
        if (status != PX_OK)
            return px_fail_in(build->err, status, "node '%s' (%s)", node->name, node->type);
    }
    node->graphs = graphs;
    node->input_count = count;
    build->inputs[n] = reads;
    return PX_OK;
}

static px_status build_node_inputs(builder *build)
{
    for (int n = 0; n < build->node_count; n++) {
        const pxi_flat_node *node = &build->flat[n];
        int *inputs = NULL;
        PX_TRY(PX_ARENA_NEW(inputs, build->arena, node->input_count, build->err));
        for (size_t i = 0; i < node->input_count; i++) {
            inputs[i] = -1;
            if (!*node->inputs[i])
                continue;
            PX_TRY(build_lookup(build, node->inputs[i], &inputs[i]));
            if (inputs[i] < 0)
                return px_fail(build->err, PX_E_INPUT,
                               "node '%s' (%s) reads '%s', which nothing makes", node->name,
                               node->type, node->inputs[i]);
        }
        build->inputs[n] = inputs;
        PX_TRY(build_inner_graphs(build, n));
    }
    return PX_OK;
}

static px_status build_attrs(builder *build, const pxi_flat_node *flat, px_node *node)
{
    px_attr *attrs = NULL;
    PX_TRY(PX_ARENA_NEW(attrs, build->arena, flat->attr_count, build->err));
    for (size_t i = 0; i < flat->attr_count; i++) {
        const px_status status =
            pxi_onnx_attr(flat->attrs[i], build->arena, build->external, &attrs[i], build->err);
        if (status != PX_OK)
            return px_fail_in(build->err, status, "node '%s' (%s)", flat->name, flat->type);
        if (flat->graphs && flat->graphs[i].graph) {
            const char *name = attrs[i].name;
            attrs[i] = flat->graphs[i];
            attrs[i].name = name;
        }
        for (size_t j = 0; j < i; j++)
            if (strcmp(attrs[j].name, attrs[i].name) == 0)
                return px_fail(build->err, PX_E_INPUT,
                               "node '%s' (%s) has two attributes named '%s'", flat->name,
                               flat->type, attrs[i].name);
    }
    node->attrs = attrs;
    node->attr_count = (int)flat->attr_count;
    return PX_OK;
}

static px_status build_nodes(builder *build)
{
    px_status status = PX_OK;
    const size_t count = (size_t)build->node_count;
    int *order = pxi_calloc(count, sizeof *order);
    px_node *nodes = pxi_arena_alloc(build->arena, count, sizeof *nodes);
    if (!order || !nodes) {
        status = pxi_no_memory(build->err);
        goto done;
    }
    status = pxi_onnx_order(build->node_count, build->inputs, build->flat, build->producer, order,
                            build->err);
    for (int n = 0; n < build->node_count && status == PX_OK; n++) {
        const pxi_flat_node *flat = &build->flat[order[n]];
        nodes[n] = (px_node){.name = flat->name,
                             .type = flat->type,
                             .domain = flat->domain,
                             .opset = flat->opset,
                             .input_count = (int)flat->input_count,
                             .output_count = (int)flat->output_count,
                             .inputs = build->inputs[order[n]],
                             .outputs = build->outputs[order[n]]};
        for (int i = 0; i < nodes[n].output_count; i++)
            if (nodes[n].outputs[i] >= 0)
                build->values[nodes[n].outputs[i]].producer = n;
        if (!flat->opset && !*flat->domain) /* of others nothing is known anyway */
            status = px_fail(build->err, PX_E_INPUT,
                             "the file imports no operator set, but node '%s' (%s) needs one",
                             flat->name, flat->type);
        else
            status = build_attrs(build, flat, &nodes[n]);
    }
    build->graph->nodes = nodes;
    build->graph->node_count = build->node_count;
done:
    free(order);
    return status;
}

static px_status build_constants(builder *build)
{
    px_tensor *tensors = NULL;
    PX_TRY(PX_ARENA_NEW(tensors, build->arena, build->proto->n_initializer, build->err));
    for (size_t i = 0; i < build->proto->n_initializer; i++) { /* they are the first values */
        px_value *value = &build->values[i];
        const Onnx__TensorProto *proto = build->proto->initializer[i];
        if (!pxi_onnx_dtype(proto->data_type, &value->dtype, &value->foreign_type) &&
            !build->read[i])
            continue; /* nobody minds */
        const px_status status =
            pxi_onnx_tensor(proto, build->arena, build->external, &tensors[i], build->err);
        if (status != PX_OK)
            return px_fail_in(build->err, status, "initialiser '%s'", value->name);
        value->constant = &tensors[i];
        value->has_shape = true;
        value->shape = tensors[i].shape;
    }
    return PX_OK;
}

static px_status build_shape(builder *build, const Onnx__TensorShapeProto *proto, px_value *value)
{
    if (!proto || proto->n_dim > PX_MAX_RANK)
        return PX_OK;
    value->has_shape = true;
    value->shape.rank = (int)proto->n_dim;
    const char **names = NULL;
    for (size_t i = 0; i < proto->n_dim; i++) {
        const Onnx__TensorShapeProto__Dimension *dim = proto->dim[i];
        value->shape.dim[i] = -1;
        if (dim->value_case == ONNX__TENSOR_SHAPE_PROTO__DIMENSION__VALUE_DIM_VALUE) {
            value->shape.dim[i] = PX_MAX(dim->dim_value, (int64_t)-1);
        } else if (dim->value_case == ONNX__TENSOR_SHAPE_PROTO__DIMENSION__VALUE_DIM_PARAM &&
                   *pxi_text(dim->dim_param)) {
            if (!names)
                names = pxi_arena_alloc(build->arena, proto->n_dim, sizeof *names);
            if (!names)
                return pxi_no_memory(build->err);
            names[i] = dim->dim_param;
        }
    }
    value->dim_names = names;
    return PX_OK;
}

/* What the file says about a value; the first declaration with a type counts, and a constant
 * speaks for itself. */
static px_status build_declare(builder *build, const Onnx__ValueInfoProto *info)
{
    const int index = pxi_names_find(&build->names, pxi_text(info->name));
    if (index < 0 || !info->type)
        return PX_OK; /* about nothing: exporters leave such things behind */
    px_value *value = &build->values[index];
    if (value->constant || value->dtype != PX_NONE || value->foreign_type)
        return PX_OK;
    switch (info->type->value_case) {
    case ONNX__TYPE_PROTO__VALUE_TENSOR_TYPE: {
        const Onnx__TypeProto__Tensor *tensor = info->type->tensor_type;
        if (!tensor->has_elem_type || tensor->elem_type == 0)
            return build_shape(build, tensor->shape, value);
        if (!pxi_onnx_dtype(tensor->elem_type, &value->dtype, &value->foreign_type))
            return PX_OK;
        return build_shape(build, tensor->shape, value);
    }
    case ONNX__TYPE_PROTO__VALUE_SEQUENCE_TYPE:
        value->foreign_type = "sequence";
        break;
    case ONNX__TYPE_PROTO__VALUE_MAP_TYPE:
        value->foreign_type = "map";
        break;
    case ONNX__TYPE_PROTO__VALUE_OPTIONAL_TYPE:
        value->foreign_type = "optional";
        break;
    case ONNX__TYPE_PROTO__VALUE_SPARSE_TENSOR_TYPE:
        value->foreign_type = "sparse tensor";
        break;
    default:
        break;
    }
    return PX_OK;
}

static px_status build_declarations(builder *build)
{
    for (size_t i = 0; i < build->proto->n_input; i++)
        PX_TRY(build_declare(build, build->proto->input[i]));
    for (size_t i = 0; i < build->proto->n_output; i++)
        PX_TRY(build_declare(build, build->proto->output[i]));
    for (size_t i = 0; i < build->proto->n_value_info; i++)
        PX_TRY(build_declare(build, build->proto->value_info[i]));
    return PX_OK;
}

static px_status build_outputs(builder *build)
{
    const size_t count = build->proto->n_output;
    int *outputs = NULL;
    PX_TRY(PX_ARENA_NEW(outputs, build->arena, count, build->err));
    if (count == 0 || count > PXI_ONNX_MAX_VALUES)
        return px_fail(build->err, PX_E_INPUT, "the graph has %s outputs",
                       count ? "too many" : "no");
    for (size_t i = 0; i < count; i++) {
        const char *name = pxi_text(build->proto->output[i]->name);
        PX_TRY(build_lookup(build, name, &outputs[i]));
        if (outputs[i] < 0)
            return px_fail(build->err, PX_E_INPUT, "the output '%s' is made by no node", name);
    }
    build->graph->outputs = outputs;
    build->graph->output_count = (int)count;
    return PX_OK;
}

/* Inputs behind the graph's own: what it reads of the graph around it. */
static px_status build_captures(builder *build)
{
    const int own = build->graph->input_count, count = build->capture_count;
    if (count == 0)
        return PX_OK;
    int *inputs = pxi_arena_alloc(build->arena, (size_t)(own + count), sizeof *inputs);
    if (!inputs)
        return pxi_no_memory(build->err);
    for (int i = 0; i < own; i++)
        inputs[i] = build->graph->inputs[i];
    for (int i = 0; i < count; i++)
        inputs[own + i] =
            pxi_names_find(&build->names, build->around->values[build->captures[i]].name);
    build->graph->inputs = inputs;
    build->graph->input_count = own + count;
    return PX_OK;
}

static px_status build_all(builder *build)
{
    PX_TRY(build_initialisers(build));
    PX_TRY(build_inputs(build));
    PX_TRY(PX_NEW(build->inputs, build->node_count, build->err));
    PX_TRY(PX_NEW(build->outputs, build->node_count, build->err));
    PX_TRY(build_node_outputs(build));
    PX_TRY(build_node_inputs(build));
    PX_TRY(build_outputs(build));
    PX_TRY(build_captures(build));
    PX_TRY(build_nodes(build));
    PX_TRY(build_constants(build));
    PX_TRY(build_declarations(build));

    const size_t count = (size_t)build->value_count;
    px_value *values = NULL;
    PX_TRY(PX_ARENA_NEW(values, build->arena, count, build->err));
    if (count)
        memcpy(values, build->values, count * sizeof *values);
    build->graph->values = values;
    build->graph->value_count = build->value_count;
    build->graph->name = pxi_text(build->proto->name);
    return PX_OK;
}

static px_status build_graph(builder *build)
{
    px_status status = pxi_onnx_flatten(build->model, build->proto, build->arena, &build->flat,
                                        &build->node_count, build->err);
    if (status == PX_OK)
        status = build_all(build);
    free(build->flat);
    free(build->values);
    free(build->producer);
    free(build->inputs);
    free(build->outputs);
    free(build->read);
    return status;
}

px_status pxi_onnx_build(px_model *model, const Onnx__ModelProto *proto, pxi_external *external,
                         px_error *err)
{
    builder build = {.graph = &model->graph,
                     .arena = model->arena,
                     .model = proto,
                     .proto = proto->graph,
                     .external = external,
                     .err = err};
    const px_status status = build_graph(&build);
    if (status == PX_OK) /* the table of names is what the model needs too */
        model->names = build.names;
    else
        pxi_names_done(&build.names);
    return status;
}
