/* src/graph/content_hash.c - XXH3 of everything that a model says
 *
 * Numbers are hashed as little-endian bytes of fixed width, texts with their length before them,
 * lists with their count: two different models never give the same stream.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#include "graph/builder.h"

#include <internal/model.h>

#define XXH_INLINE_ALL
#include <string.h>
#include <xxhash.h>

static void hash_int(XXH3_state_t *to, int64_t value)
{
    unsigned char bytes[8];
    for (int i = 0; i < 8; i++)
        bytes[i] = (unsigned char)((uint64_t)value >> (8 * i));
    XXH3_64bits_update(to, bytes, sizeof bytes);
}

static void hash_text(XXH3_state_t *to, const char *text)
{
    const size_t length = text ? strlen(text) : 0;
    hash_int(to, text ? (int64_t)length : -1);
    if (length)
        XXH3_64bits_update(to, text, length);
}

static void hash_float(XXH3_state_t *to, float value)
{
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    hash_int(to, bits);
}

static void hash_shape(XXH3_state_t *to, const px_shape *shape)
{
    hash_int(to, shape->rank);
    for (int i = 0; i < shape->rank; i++)
        hash_int(to, shape->dim[i]);
}

static void hash_tensor(XXH3_state_t *to, const px_tensor *tensor)
{
    hash_int(to, tensor->dtype);
    hash_shape(to, &tensor->shape);
    if (px_tensor_bytes(tensor))
        XXH3_64bits_update(to, tensor->data, px_tensor_bytes(tensor));
}

static void hash_indices(XXH3_state_t *to, const int *list, int count)
{
    hash_int(to, count);
    for (int i = 0; i < count; i++)
        hash_int(to, list[i]);
}

static void hash_inner(XXH3_state_t *to, const px_graph *graph);

static void hash_attr(XXH3_state_t *to, const px_attr *attr)
{
    hash_text(to, attr->name);
    hash_int(to, attr->kind);
    switch (attr->kind) {
    case PX_ATTR_INT:
        hash_int(to, attr->i);
        break;
    case PX_ATTR_FLOAT:
        hash_float(to, attr->f);
        break;
    case PX_ATTR_STRING:
        hash_text(to, attr->s);
        break;
    case PX_ATTR_TENSOR:
        hash_tensor(to, &attr->tensor);
        break;
    case PX_ATTR_INTS:
    case PX_ATTR_FLOATS:
    case PX_ATTR_STRINGS:
        hash_int(to, (int64_t)attr->count);
        for (size_t i = 0; i < attr->count; i++)
            if (attr->kind == PX_ATTR_INTS)
                hash_int(to, attr->ints[i]);
            else if (attr->kind == PX_ATTR_FLOATS)
                hash_float(to, attr->floats[i]);
            else
                hash_text(to, attr->strings[i]);
        break;
    case PX_ATTR_GRAPH:
        hash_inner(to, attr->graph);
        break;
    case PX_ATTR_OTHER:
        break;
    }
}

static void hash_node(XXH3_state_t *to, const px_node *node)
{
    hash_text(to, node->name);
    hash_text(to, node->type);
    hash_text(to, node->domain);
    hash_int(to, node->opset);
    hash_indices(to, node->inputs, node->input_count);
    hash_indices(to, node->outputs, node->output_count);
    hash_int(to, node->attr_count);
    for (int i = 0; i < node->attr_count; i++)
        hash_attr(to, &node->attrs[i]);
}

static void hash_value(XXH3_state_t *to, const px_value *value)
{
    hash_text(to, value->name);
    hash_text(to, value->foreign_type);
    hash_int(to, value->dtype);
    hash_int(to, value->has_shape);
    if (value->has_shape)
        hash_shape(to, &value->shape);
    hash_int(to, value->dim_names != NULL);
    for (int i = 0; i < value->shape.rank && value->dim_names; i++)
        hash_text(to, value->dim_names[i]);
    hash_int(to, value->constant != NULL);
    if (value->constant)
        hash_tensor(to, value->constant);
}

/* The graph of an attribute. */
static void hash_inner(XXH3_state_t *to, const px_graph *graph)
{
    hash_int(to, graph->value_count);
    for (int i = 0; i < graph->value_count; i++)
        hash_value(to, &graph->values[i]);
    hash_int(to, graph->node_count);
    for (int i = 0; i < graph->node_count; i++)
        hash_node(to, &graph->nodes[i]);
    hash_indices(to, graph->inputs, graph->input_count);
    hash_indices(to, graph->outputs, graph->output_count);
}

uint64_t pxi_model_content_hash(const px_model *model)
{
    const px_graph *graph = &model->graph;
    XXH3_state_t state;
    XXH3_INITSTATE(&state);
    XXH3_64bits_reset(&state);
    hash_text(&state, graph->name);
    hash_int(&state, model->opset);
    hash_int(&state, model->ir_version);
    hash_int(&state, graph->value_count);
    for (int i = 0; i < graph->value_count; i++)
        hash_value(&state, &graph->values[i]);
    hash_int(&state, graph->node_count);
    for (int i = 0; i < graph->node_count; i++)
        hash_node(&state, &graph->nodes[i]);
    hash_indices(&state, graph->inputs, graph->input_count);
    hash_indices(&state, graph->outputs, graph->output_count);
    hash_int(&state, (int64_t)model->property_count);
    for (size_t i = 0; i < model->property_count; i++) {
        hash_text(&state, model->properties[i].key);
        hash_text(&state, model->properties[i].value);
    }
    return XXH3_64bits_digest(&state);
}
