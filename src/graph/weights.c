/* src/graph/weights.c - a network's numbers while they change
 *
 * Which constants are weights is found by one walk from the outputs back: a node says which of its
 * inputs are weights, and nodes that only rearrange numbers pass it on.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#include <internal/weights.h>

#include <internal/build.h>

#include "base/memory.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

struct px_weights {
    const px_model *model;
    px_weight *list;
    size_t count;
    int *of_value; /* per value of the graph: index into `list`, -1: not a weight */
};

enum { USE_LIVE = 1, USE_PARAMETER = 2, USE_STATISTIC = 4, USE_IF_MANY = 8 }; /* bits, per value */

/* Bit i: input i holds parameters. */
#define INPUT(i) (1u << (i))

static const struct {
    const char *type;
    unsigned parameters, statistics;
    bool if_many; /* only where there is more than one element */
} weight_readers[] = {
    {"Conv", INPUT(1) | INPUT(2), 0, false},
    {"ConvTranspose", INPUT(1) | INPUT(2), 0, false},
    {"Gemm", INPUT(0) | INPUT(1) | INPUT(2), 0, false},
    {"MatMul", INPUT(0) | INPUT(1), 0, false},
    {"RNN", INPUT(1) | INPUT(2) | INPUT(3), 0, false},
    {"GRU", INPUT(1) | INPUT(2) | INPUT(3), 0, false},
    {"LSTM", INPUT(1) | INPUT(2) | INPUT(3) | INPUT(7), 0, false},
    {"BatchNormalization", INPUT(1) | INPUT(2), INPUT(3) | INPUT(4), false},
    {"InstanceNormalization", INPUT(1) | INPUT(2), 0, false},
    {"LayerNormalization", INPUT(1) | INPUT(2), 0, false},
    {"GroupNormalization", INPUT(1) | INPUT(2), 0, false},
    {"PRelu", INPUT(1), 0, false},
    {"Add", INPUT(0) | INPUT(1), 0, true},
    {"Mul", INPUT(0) | INPUT(1), 0, true},
};

static const char *const rearrangers[] = {"Identity", "Transpose", "Reshape",
                                          "Flatten",  "Squeeze",   "Unsqueeze"};

static bool is_rearranger(const px_node *node)
{
    for (size_t i = 0; i < PX_LEN(rearrangers); i++)
        if (strcmp(node->type, rearrangers[i]) == 0)
            return true;
    return false;
}

/* The numbers behind a value that does not depend on an input of the graph: an initialiser's or
 * those of a Constant node. */
static const px_tensor *value_numbers(const px_graph *graph, int value)
{
    if (graph->values[value].constant || graph->values[value].producer < 0)
        return graph->values[value].constant;
    const px_node *node = &graph->nodes[graph->values[value].producer];
    const px_attr *attr =
        strcmp(node->type, "Constant") == 0 && !*node->domain ? px_node_attr(node, "value") : NULL;
    return attr && attr->kind == PX_ATTR_TENSOR ? &attr->tensor : NULL;
}

/* What node says about its inputs, given what is known about its outputs. */
static void mark_node(const px_node *node, unsigned char *use)
{
    unsigned of_outputs = 0;
    for (int i = 0; i < node->output_count; i++)
        if (node->outputs[i] >= 0)
            of_outputs |= use[node->outputs[i]];
    if (!(of_outputs & USE_LIVE))
        return;
    for (int i = 0; i < node->input_count; i++)
        if (node->inputs[i] >= 0)
            use[node->inputs[i]] |= USE_LIVE;
    if (*node->domain)
        return;
    if (is_rearranger(node) && node->input_count > 0 && node->inputs[0] >= 0)
        use[node->inputs[0]] |= (unsigned char)of_outputs;
    for (size_t r = 0; r < PX_LEN(weight_readers); r++) {
        if (strcmp(node->type, weight_readers[r].type) != 0)
            continue;
        for (int i = 0; i < node->input_count && i < 8; i++) {
            if (node->inputs[i] < 0)
                continue;
            if (weight_readers[r].parameters & INPUT(i))
                use[node->inputs[i]] |= weight_readers[r].if_many ? USE_IF_MANY : USE_PARAMETER;
            if (weight_readers[r].statistics & INPUT(i))
                use[node->inputs[i]] |= USE_STATISTIC;
        }
    }
}

static bool is_other_float(px_dtype dtype)
{
    return dtype == PX_FLOAT64 || dtype == PX_FLOAT16 || dtype == PX_BFLOAT16;
}

/* Whether value v is a weight; what looks like one but cannot be held is refused. */
static px_status judge_value(const px_graph *graph, int v, unsigned use, bool *is_weight,
                             px_error *err)
{
    const px_value *value = &graph->values[v];
    const px_tensor *numbers = value_numbers(graph, v);
    *is_weight = false;
    if (!numbers || px_shape_count(&numbers->shape) == 0)
        return PX_OK;
    if ((use & USE_IF_MANY) && px_shape_count(&numbers->shape) > 1)
        use |= USE_PARAMETER;
    if (!(use & (USE_PARAMETER | USE_STATISTIC)))
        return PX_OK;
    if (is_other_float(numbers->dtype))
        return px_fail(err, PX_E_UNSUPPORTED,
                       "the weight '%s' is %s; only float32 weights can be changed", value->name,
                       px_dtype_name(numbers->dtype));
    if (numbers->dtype != PX_FLOAT32)
        return PX_OK; /* shapes and indices that are added up, quantised weights */
    if (!value->constant) {
        if (px_shape_count(&numbers->shape) < 2)
            return PX_OK; /* what px_builder_from_model() leaves alone */
        return px_fail(err, PX_E_UNSUPPORTED,
                       "the weight '%s' is held by a Constant node; make it an initialiser first",
                       value->name);
    }
    if ((use & USE_PARAMETER) && (use & USE_STATISTIC))
        return px_fail(err, PX_E_UNSUPPORTED,
                       "the weight '%s' is read both as a parameter and as a running statistic",
                       value->name);
    *is_weight = true;
    return PX_OK;
}

static px_status weights_add(px_weights *weights, int v, unsigned use, px_error *err)
{
    const px_value *value = &px_model_graph(weights->model)->values[v];
    px_weight *weight = &weights->list[weights->count];
    PX_TRY(px_tensor_init(&weight->tensor, PX_FLOAT32, &value->constant->shape, err));
    memcpy(weight->tensor.data, value->constant->data, px_tensor_bytes(&weight->tensor));
    weight->value = v;
    weight->name = value->name;
    weight->role = use & USE_STATISTIC ? PX_WEIGHT_STATISTIC : PX_WEIGHT_PARAMETER;
    weights->of_value[v] = (int)weights->count++;
    return PX_OK;
}

px_status px_weights_new(const px_model *model, px_weights **out, px_error *err)
{
    const px_graph *graph = px_model_graph(model);
    const size_t count = (size_t)graph->value_count;
    px_status status = PX_OK;
    unsigned char *use = pxi_calloc(count, sizeof *use);
    px_weights *weights = pxi_calloc(1, sizeof *weights);
    if (weights) {
        weights->model = model;
        weights->list = pxi_calloc(count, sizeof *weights->list);
        weights->of_value = pxi_calloc(count, sizeof *weights->of_value);
    }
    if (!use || !weights || !weights->list || !weights->of_value) {
        status = pxi_no_memory(err);
        goto done;
    }
    for (int i = 0; i < graph->output_count; i++)
        use[graph->outputs[i]] |= USE_LIVE;
    for (int n = graph->node_count - 1; n >= 0; n--)
        mark_node(&graph->nodes[n], use);
    for (int v = 0; v < graph->value_count && status == PX_OK; v++) {
        bool is_weight;
        weights->of_value[v] = -1;
        status = judge_value(graph, v, use[v], &is_weight, err);
        PX_THEN_IF(status, is_weight, weights_add(weights, v, use[v], err));
    }
    if (status != PX_OK)
        goto done;
    *out = weights;
    weights = NULL;
done:
    free(use);
    px_weights_free(weights);
    return status;
}

void px_weights_free(px_weights *weights)
{
    if (!weights)
        return;
    for (size_t i = 0; i < weights->count; i++)
        px_tensor_done(&weights->list[i].tensor);
    free(weights->list);
    free(weights->of_value);
    free(weights);
}

const px_model *px_weights_model(const px_weights *weights)
{
    return weights->model;
}

size_t px_weights_count(const px_weights *weights)
{
    return weights->count;
}

px_weight *px_weights_get(px_weights *weights, size_t i)
{
    assert(i < weights->count);
    return &weights->list[i];
}

px_weight *px_weights_find(px_weights *weights, int value)
{
    if (value < 0 || value >= px_model_graph(weights->model)->value_count ||
        weights->of_value[value] < 0)
        return NULL;
    return &weights->list[weights->of_value[value]];
}

px_status px_weights_copy(px_weights *to, const px_weights *from, px_error *err)
{
    if (to->model != from->model)
        return px_fail(err, PX_E_MISMATCH, "weights of two different models cannot be copied");
    for (size_t i = 0; i < to->count; i++)
        if (to != from)
            memcpy(to->list[i].tensor.data, from->list[i].tensor.data,
                   px_tensor_bytes(&to->list[i].tensor));
    return PX_OK;
}

px_status px_weights_freeze(const px_weights *weights, const px_property *set, size_t set_count,
                            px_model **out, px_error *err)
{
    px_builder *builder = NULL;
    PX_TRY(px_builder_from_model(weights->model, &builder, err));
    for (size_t i = 0; i < weights->count; i++)
        px_builder_replace(builder, weights->list[i].value, weights->list[i].tensor.data);
    for (size_t i = 0; i < set_count; i++)
        px_builder_property(builder, set[i].key, set[i].value);
    return px_builder_finish(builder, out, err);
}
