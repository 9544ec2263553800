/* src/graph/builder.c - a graph being made
 *
 * Everything is put into the arena that the finished model will own, but for the arrays that grow:
 * they move there at the end. The numbers of a copied model are only viewed until then, so that
 * replacing them costs one copy, not two.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#include <internal/build.h>
#include <internal/tensor.h>

#include "base/memory.h"
#include "graph/builder.h"
#include <internal/model.h>

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct px_builder {
    px_arena *arena; /* the model's */
    pxi_names names; /* of values */
    const char *graph_name;
    int opset, ir_version;
    px_value *values;
    px_tensor **constants; /* per value; in the arena, `data` there or elsewhere */
    bool *viewed;          /* per value: the constant's data lies elsewhere */
    size_t value_count, value_cap, constant_cap, viewed_cap;
    px_node *nodes;
    size_t node_count, node_cap;
    int *inputs, *outputs;
    size_t input_count, input_cap, output_count, output_cap;
    px_property *properties;
    size_t property_count, property_cap;
    px_error err; /* the first failure; status PX_OK while there is none */
};

enum { BUILD_MAX_VALUES = 1 << 22 }; /* as many as the reader takes */

void px_builder_fail(px_builder *builder, px_status status, const char *format, ...)
{
    if (builder->err.status != PX_OK)
        return;
    va_list args;
    va_start(args, format);
    builder->err.status = status;
    vsnprintf(builder->err.message, sizeof builder->err.message, format, args);
    va_end(args);
}

static bool builder_failed(const px_builder *builder)
{
    return builder->err.status != PX_OK;
}

static void builder_nomem(px_builder *builder)
{
    px_error why = {0};
    pxi_no_memory(&why);
    px_builder_fail(builder, PX_E_NOMEM, "the graph '%s': %s", builder->graph_name, why.message);
}

/* NULL, remembered as a failure, when out of memory. */
static void *builder_alloc(px_builder *builder, size_t count, size_t size)
{
    void *memory = builder_failed(builder) ? NULL : pxi_arena_alloc(builder->arena, count, size);
    if (!memory)
        builder_nomem(builder);
    return memory;
}

static void *builder_copy(px_builder *builder, const void *from, size_t count, size_t size)
{
    void *memory = builder_alloc(builder, count, size);
    if (memory && count)
        memcpy(memory, from, count * size);
    return memory;
}

static const char *builder_text(px_builder *builder, const char *text)
{
    return builder_copy(builder, text, strlen(text) + 1, 1);
}

px_status px_builder_new(const char *name, px_builder **out, px_error *err)
{
    px_builder *builder = pxi_calloc(1, sizeof *builder);
    if (builder)
        builder->arena = pxi_arena_new();
    if (!builder || !builder->arena ||
        !(builder->graph_name = pxi_arena_strdup(builder->arena, name))) {
        px_builder_free(builder);
        return pxi_no_memory_for(err, "the graph '%s'", name);
    }
    builder->opset = PX_BUILD_OPSET;
    builder->ir_version = PX_BUILD_IR_VERSION;
    *out = builder;
    return PX_OK;
}

void px_builder_free(px_builder *builder)
{
    if (!builder)
        return;
    pxi_names_done(&builder->names);
    pxi_arena_free(builder->arena);
    free(builder->values);
    free(builder->constants);
    free(builder->viewed);
    free(builder->nodes);
    free(builder->inputs);
    free(builder->outputs);
    free(builder->properties);
    free(builder);
}

/* --- values ---------------------------------------------------------------------------------- */

static int builder_value(px_builder *builder, const char *name)
{
    if (builder_failed(builder))
        return -1;
    const size_t want = builder->value_count + 1;
    const char *text = builder_text(builder, name);
    if (!text)
        return -1;
    if (want > BUILD_MAX_VALUES) {
        px_builder_fail(builder, PX_E_USAGE, "the graph '%s' has more than %d values",
                        builder->graph_name, BUILD_MAX_VALUES);
        return -1;
    }
    const int index = (int)builder->value_count;
    if (pxi_grow(&builder->values, &builder->value_cap, want, sizeof *builder->values) != 0 ||
        pxi_grow(&builder->constants, &builder->constant_cap, want, sizeof *builder->constants) ||
        pxi_grow(&builder->viewed, &builder->viewed_cap, want, sizeof *builder->viewed) != 0) {
        builder_nomem(builder);
        return -1;
    }
    const int held = pxi_names_add(&builder->names, text, index);
    if (held < 0) {
        builder_nomem(builder);
        return -1;
    }
    if (held != index) {
        px_builder_fail(builder, PX_E_USAGE, "the graph '%s' has two values named '%s'",
                        builder->graph_name, name);
        return -1;
    }
    builder->values[index] = (px_value){.name = text, .producer = -1};
    builder->constants[index] = NULL;
    builder->viewed[index] = false;
    builder->value_count++;
    return index;
}

/* Our own mistake, or the caller's: an index that no step returned. */
static bool builder_knows(px_builder *builder, int value)
{
    if (builder_failed(builder))
        return false;
    if (value >= 0 && (size_t)value < builder->value_count)
        return true;
    px_builder_fail(builder, PX_E_USAGE, "the graph '%s' has no value %d", builder->graph_name,
                    value);
    return false;
}

static void builder_declare(px_builder *builder, int value, px_dtype dtype, const px_shape *shape)
{
    px_value *to = &builder->values[value];
    to->dtype = dtype;
    if (!shape)
        return;
    if (shape->rank < 0 || shape->rank > PX_MAX_RANK) {
        px_builder_fail(builder, PX_E_USAGE, "the value '%s' has the rank %d; at most %d are taken",
                        to->name, shape->rank, PX_MAX_RANK);
        return;
    }
    to->has_shape = true;
    to->shape = *shape;
    to->dim_names = NULL;
    if (shape->rank == 0 || shape->dim[0] >= 0)
        return;
    const char **names = builder_alloc(builder, (size_t)shape->rank, sizeof *names);
    if (names)
        names[0] = builder_text(builder, "N");
    to->dim_names = names;
}

static bool builder_list(px_builder *builder, int **list, size_t *count, size_t *cap, int value)
{
    if (pxi_grow(list, cap, *count + 1, sizeof **list) != 0) {
        builder_nomem(builder);
        return false;
    }
    (*list)[(*count)++] = value;
    return true;
}

int px_builder_input(px_builder *builder, const char *name, px_dtype dtype, const px_shape *shape)
{
    const int value = builder_value(builder, name);
    if (value < 0)
        return -1;
    builder_declare(builder, value, dtype, shape);
    builder_list(builder, &builder->inputs, &builder->input_count, &builder->input_cap, value);
    return builder_failed(builder) ? -1 : value;
}

void px_builder_output(px_builder *builder, int value, px_dtype dtype, const px_shape *shape)
{
    if (!builder_knows(builder, value))
        return;
    builder_declare(builder, value, dtype, shape);
    builder_list(builder, &builder->outputs, &builder->output_count, &builder->output_cap, value);
}

int px_builder_constant(px_builder *builder, const char *name, px_dtype dtype,
                        const px_shape *shape, const void *data)
{
    const int value = builder_value(builder, name);
    if (value < 0)
        return -1;
    if (px_shape_check(shape, &builder->err) != PX_OK) {
        px_fail_in(&builder->err, builder->err.status, "constant '%s'", name);
        return -1;
    }
    px_tensor *tensor = builder_alloc(builder, 1, sizeof *tensor);
    if (!tensor)
        return -1;
    *tensor = (px_tensor){.dtype = dtype, .shape = *shape};
    tensor->data = builder_alloc(builder, px_tensor_bytes(tensor), 1); /* zeroed */
    if (!tensor->data)
        return -1;
    if (data)
        memcpy(tensor->data, data, px_tensor_bytes(tensor));
    builder_declare(builder, value, dtype, shape);
    builder->constants[value] = tensor;
    return value;
}

void *px_builder_data(px_builder *builder, int value)
{
    if (!builder_knows(builder, value) || !builder->constants[value] || builder->viewed[value])
        return NULL;
    return builder->constants[value]->data;
}

void px_builder_replace(px_builder *builder, int value, const void *data)
{
    if (!builder_knows(builder, value))
        return;
    if (!builder->constants[value]) {
        px_builder_fail(builder, PX_E_USAGE, "'%s' is no initialiser", builder->values[value].name);
        return;
    }
    builder->constants[value]->data = (void *)data; /* only read from */
    builder->viewed[value] = true;
}

void px_builder_rename(px_builder *builder, int value, const char *name)
{
    if (!builder_knows(builder, value) || strcmp(builder->values[value].name, name) == 0)
        return;
    const char *text = builder_text(builder, name);
    if (!text)
        return;
    if (pxi_names_find(&builder->names, text) >= 0) {
        px_builder_fail(builder, PX_E_USAGE, "the graph '%s' has two values named '%s'",
                        builder->graph_name, name);
        return;
    }
    /* A table of names never forgets: it is made anew. Renaming is rare. */
    pxi_names names = {0};
    builder->values[value].name = text;
    bool fine = true;
    for (size_t v = 0; v < builder->value_count && fine; v++)
        fine = pxi_names_add(&names, builder->values[v].name, (int)v) >= 0;
    pxi_names_done(&builder->names);
    builder->names = names;
    if (!fine)
        builder_nomem(builder);
}

/* --- nodes ----------------------------------------------------------------------------------- */

static const px_graph *builder_inner(px_builder *builder, const px_graph *from);

static void builder_attr(px_builder *builder, const px_attr *from, px_attr *to)
{
    *to = *from;
    to->name = builder_text(builder, from->name);
    switch (from->kind) {
    case PX_ATTR_STRING:
        to->s = builder_text(builder, from->s);
        break;
    case PX_ATTR_INTS:
        to->ints = builder_copy(builder, from->ints, from->count, sizeof *from->ints);
        break;
    case PX_ATTR_FLOATS:
        to->floats = builder_copy(builder, from->floats, from->count, sizeof *from->floats);
        break;
    case PX_ATTR_STRINGS: {
        const char **strings = builder_alloc(builder, from->count, sizeof *strings);
        for (size_t i = 0; i < from->count && strings; i++)
            strings[i] = builder_text(builder, from->strings[i]);
        to->strings = strings;
        break;
    }
    case PX_ATTR_TENSOR:
        to->tensor.data =
            builder_copy(builder, from->tensor.data, px_tensor_bytes(&from->tensor), 1);
        break;
    case PX_ATTR_GRAPH:
        to->graph = builder_inner(builder, from->graph);
        break;
    case PX_ATTR_INT:
    case PX_ATTR_FLOAT:
    case PX_ATTR_OTHER:
        break;
    }
}

static px_node builder_copy_node(px_builder *builder, const px_node *from)
{
    px_node node = *from;
    node.name = builder_text(builder, from->name);
    node.type = builder_text(builder, from->type);
    node.domain = builder_text(builder, from->domain);
    node.inputs =
        builder_copy(builder, from->inputs, (size_t)from->input_count, sizeof *from->inputs);
    node.outputs =
        builder_copy(builder, from->outputs, (size_t)from->output_count, sizeof *from->outputs);
    px_attr *attrs = builder_alloc(builder, (size_t)from->attr_count, sizeof *attrs);
    for (int i = 0; i < from->attr_count && attrs; i++)
        builder_attr(builder, &from->attrs[i], &attrs[i]);
    node.attrs = attrs;
    return node;
}

/* The graph inside of a node: all of it, constants too. */
static const px_graph *builder_inner(px_builder *builder, const px_graph *from)
{
    px_graph *graph = builder_alloc(builder, 1, sizeof *graph);
    px_value *values = builder_alloc(builder, (size_t)from->value_count, sizeof *values);
    px_node *nodes = builder_alloc(builder, (size_t)from->node_count, sizeof *nodes);
    for (int v = 0; v < from->value_count && !builder_failed(builder); v++) {
        values[v] = from->values[v];
        values[v].name = builder_text(builder, from->values[v].name);
        values[v].dim_names = NULL;
        if (from->values[v].foreign_type)
            values[v].foreign_type = builder_text(builder, from->values[v].foreign_type);
        const px_tensor *constant = from->values[v].constant;
        if (!constant)
            continue;
        px_tensor *tensor = builder_copy(builder, constant, 1, sizeof *tensor);
        if (tensor)
            tensor->data = builder_copy(builder, constant->data, px_tensor_bytes(constant), 1);
        values[v].constant = tensor;
    }
    for (int n = 0; n < from->node_count && !builder_failed(builder); n++)
        nodes[n] = builder_copy_node(builder, &from->nodes[n]);
    if (builder_failed(builder))
        return NULL;
    *graph = *from;
    graph->name = builder_text(builder, from->name);
    graph->values = values;
    graph->nodes = nodes;
    graph->inputs =
        builder_copy(builder, from->inputs, (size_t)from->input_count, sizeof *from->inputs);
    graph->outputs =
        builder_copy(builder, from->outputs, (size_t)from->output_count, sizeof *from->outputs);
    return graph;
}

/* The next node, a copy of `from` as far as it goes; its outputs are known already. */
static void builder_add_node(px_builder *builder, const px_node *from)
{
    if (builder_failed(builder))
        return;
    px_node node = builder_copy_node(builder, from);
    if (builder_failed(builder))
        return;
    if (pxi_grow(&builder->nodes, &builder->node_cap, builder->node_count + 1,
                 sizeof *builder->nodes) != 0) {
        builder_nomem(builder);
        return;
    }
    for (int i = 0; i < node.output_count; i++)
        if (node.outputs[i] >= 0)
            builder->values[node.outputs[i]].producer = (int)builder->node_count;
    builder->nodes[builder->node_count++] = node;
}

int px_builder_node(px_builder *builder, const char *type, const char *name, const int *inputs,
                    int input_count, const px_attr *attrs, int attr_count)
{
    for (int i = 0; i < input_count; i++)
        if (inputs[i] != -1 && !builder_knows(builder, inputs[i]))
            return -1;
    const int output = builder_value(builder, name);
    if (output < 0)
        return -1;
    if (!builder->opset) /* a copy of a model that had no node of ai.onnx */
        builder->opset = PX_BUILD_OPSET;
    builder_add_node(builder, &(px_node){.name = name,
                                         .type = type,
                                         .domain = "",
                                         .opset = builder->opset,
                                         .input_count = input_count,
                                         .output_count = 1,
                                         .inputs = inputs,
                                         .outputs = &output,
                                         .attr_count = attr_count,
                                         .attrs = attrs});
    return builder_failed(builder) ? -1 : output;
}

/* --- properties ------------------------------------------------------------------------------ */

/* Writes the property at position `at`, which may be the next one. */
static void builder_put_property(px_builder *builder, size_t at, const char *key, const char *value)
{
    const px_property property = {.key = builder_text(builder, key),
                                  .value = builder_text(builder, value)};
    if (builder_failed(builder))
        return;
    if (pxi_grow(&builder->properties, &builder->property_cap, at + 1,
                 sizeof *builder->properties) != 0) {
        builder_nomem(builder);
        return;
    }
    builder->properties[at] = property;
    if (at == builder->property_count)
        builder->property_count++;
}

void px_builder_property(px_builder *builder, const char *key, const char *value)
{
    if (builder_failed(builder))
        return;
    size_t at = 0;
    while (at < builder->property_count && strcmp(builder->properties[at].key, key) != 0)
        at++;
    if (!value) {
        if (at == builder->property_count)
            return;
        builder->property_count--;
        memmove(&builder->properties[at], &builder->properties[at + 1],
                (builder->property_count - at) * sizeof *builder->properties);
        return;
    }
    builder_put_property(builder, at, key, value);
}

/* --- a copy to be changed -------------------------------------------------------------------- */

/* The tensor of a Constant node that may as well be an initialiser; NULL for other nodes. */
static const px_tensor *constant_node_tensor(const px_node *node)
{
    if (strcmp(node->type, "Constant") != 0 || *node->domain || node->output_count != 1 ||
        node->outputs[0] < 0 || node->attr_count != 1)
        return NULL;
    const px_attr *value = px_node_attr(node, "value");
    if (!value || value->kind != PX_ATTR_TENSOR || value->tensor.dtype != PX_FLOAT32 ||
        px_shape_count(&value->tensor.shape) < 2)
        return NULL;
    return &value->tensor;
}

static void builder_view(px_builder *builder, int value, const px_tensor *tensor)
{
    px_tensor *held = builder_copy(builder, tensor, 1, sizeof *tensor);
    builder->constants[value] = held;
    builder->viewed[value] = true;
    if (!held)
        return;
    builder->values[value].dtype = tensor->dtype;
    builder->values[value].has_shape = true;
    builder->values[value].shape = tensor->shape;
    builder->values[value].dim_names = NULL;
}

static void builder_copy_value(px_builder *builder, const px_value *from)
{
    const int value = builder_value(builder, from->name);
    if (value < 0)
        return;
    px_value *to = &builder->values[value];
    to->dtype = from->dtype;
    to->has_shape = from->has_shape;
    to->shape = from->shape;
    if (from->foreign_type)
        to->foreign_type = builder_text(builder, from->foreign_type);
    if (from->dim_names) {
        const char **names = builder_alloc(builder, (size_t)from->shape.rank, sizeof *names);
        for (int i = 0; i < from->shape.rank && names; i++)
            names[i] = from->dim_names[i] ? builder_text(builder, from->dim_names[i]) : NULL;
        to->dim_names = names;
    }
    if (from->constant)
        builder_view(builder, value, from->constant);
}

px_status px_builder_from_model(const px_model *model, px_builder **out, px_error *err)
{
    const px_graph *graph = px_model_graph(model);
    px_builder *builder = NULL;
    PX_TRY(px_builder_new(graph->name, &builder, err));
    builder->opset = model->opset;
    builder->ir_version = model->ir_version;
    for (int v = 0; v < graph->value_count; v++)
        builder_copy_value(builder, &graph->values[v]);
    for (int i = 0; i < graph->input_count && !builder_failed(builder); i++)
        builder_list(builder, &builder->inputs, &builder->input_count, &builder->input_cap,
                     graph->inputs[i]);
    for (int n = 0; n < graph->node_count && !builder_failed(builder); n++) {
        const px_tensor *constant = constant_node_tensor(&graph->nodes[n]);
        if (constant)
            builder_view(builder, graph->nodes[n].outputs[0], constant);
        else
            builder_add_node(builder, &graph->nodes[n]);
    }
    for (int i = 0; i < graph->output_count && !builder_failed(builder); i++)
        builder_list(builder, &builder->outputs, &builder->output_count, &builder->output_cap,
                     graph->outputs[i]);
    /* A stranger's file may have any number of them, and a key twice: no search, order kept. */
    for (size_t i = 0; i < model->property_count; i++)
        builder_put_property(builder, i, model->properties[i].key, model->properties[i].value);
    if (builder_failed(builder)) {
        const px_status status = px_fail(err, builder->err.status, "%s", builder->err.message);
        px_builder_free(builder);
        return status;
    }
    *out = builder;
    return PX_OK;
}

/* --- the model ------------------------------------------------------------------------------- */

/* Brings the numbers that are only viewed home. */
static void builder_settle(px_builder *builder)
{
    for (size_t v = 0; v < builder->value_count && !builder_failed(builder); v++) {
        px_tensor *constant = builder->constants[v];
        if (constant && builder->viewed[v])
            constant->data = builder_copy(builder, constant->data, px_tensor_bytes(constant), 1);
        builder->values[v].constant = constant;
    }
}

px_status px_builder_finish(px_builder *builder, px_model **out, px_error *err)
{
    if (!builder->output_count)
        px_builder_fail(builder, PX_E_USAGE, "the graph '%s' has no outputs", builder->graph_name);
    builder_settle(builder);
    const px_graph graph = {
        .name = builder->graph_name,
        .node_count = (int)builder->node_count,
        .value_count = (int)builder->value_count,
        .input_count = (int)builder->input_count,
        .output_count = (int)builder->output_count,
        .nodes = builder_copy(builder, builder->nodes, builder->node_count, sizeof(px_node)),
        .values = builder_copy(builder, builder->values, builder->value_count, sizeof(px_value)),
        .inputs = builder_copy(builder, builder->inputs, builder->input_count, sizeof(int)),
        .outputs = builder_copy(builder, builder->outputs, builder->output_count, sizeof(int)),
    };
    const px_property *properties =
        builder_copy(builder, builder->properties, builder->property_count, sizeof *properties);
    const char *producer = builder_text(builder, "plexor " PLEXOR_VERSION);
    px_model *model = builder_failed(builder) ? NULL : pxi_calloc(1, sizeof *model);
    if (!model) {
        builder_nomem(builder);
        const px_status status = px_fail(err, builder->err.status, "%s", builder->err.message);
        px_builder_free(builder);
        return status;
    }
    *model = (px_model){.arena = builder->arena,
                        .graph = graph,
                        .path = "",
                        .producer = producer,
                        .opset = builder->opset,
                        .ir_version = builder->ir_version,
                        .property_count = builder->property_count,
                        .properties = properties,
                        .names = builder->names};
    model->hash = pxi_model_content_hash(model);
    builder->arena = NULL;
    builder->names = (pxi_names){0};
    px_builder_free(builder);
    const px_status status = pxi_model_read_classes(model, err);
    return PX_GIVE(status, model, out, px_model_free);
}
