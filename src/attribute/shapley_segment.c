/* src/attribute/shapley_segment.c - Shapley: how far a network is a sum over channels
 *
 * Linear and affine operators are; before the first of them, so is what works on each channel by
 * itself and keeps zero and positive factors: pooling and rectifiers.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#include "attribute/shapley_internal.h"

#include <string.h>

/* The only node that reads `value`; -1: none, several, or it is a graph output. */
static int segment_reader(const px_graph *graph, int value)
{
    int found = -1;
    for (int n = 0; n < graph->node_count; n++)
        for (int i = 0; i < graph->nodes[n].input_count; i++)
            if (graph->nodes[n].inputs[i] == value) {
                if (found >= 0)
                    return -1;
                found = n;
            }
    for (int i = 0; i < graph->output_count; i++)
        if (graph->outputs[i] == value)
            return -1;
    return found;
}

static bool segment_constant(const px_graph *graph, int value)
{
    if (value < 0 || graph->values[value].constant)
        return true;
    const int producer = graph->values[value].producer;
    return producer >= 0 && strcmp(graph->nodes[producer].type, "Constant") == 0;
}

static bool segment_is(const px_node *node, const char *const *types)
{
    for (size_t i = 0; types[i]; i++)
        if (strcmp(node->type, types[i]) == 0)
            return true;
    return false;
}

typedef struct segment_walk {
    bool mixed; /* channels were joined or something was added: what follows must be affine */
    bool moved; /* axes are not where the layer has them */
    bool linear;
} segment_walk;

/* Whether the node continues a sum over channels. */
static bool segment_takes(const px_graph *graph, const px_node *node, int value, int axis,
                          segment_walk *walk)
{
    static const char *const linear[] = {"Conv", "Gemm", "MatMul", NULL};
    static const char *const affine[] = {"BatchNormalization", "Add", "Sub", NULL};
    static const char *const same[] = {"Identity", "Dropout", NULL};
    static const char *const moves[] = {"Flatten",   "Reshape",   "Squeeze",
                                        "Unsqueeze", "Transpose", NULL};
    static const char *const means[] = {"AveragePool", "GlobalAveragePool", NULL};
    static const char *const pools[] = {"MaxPool", "GlobalMaxPool", NULL};
    static const char *const rectifiers[] = {"Relu", "LeakyRelu", NULL};
    if (node->domain[0] != '\0' || node->output_count < 1 || node->outputs[0] < 0)
        return false;
    for (int i = 1; i < node->output_count; i++)
        if (node->outputs[i] >= 0)
            return false;
    const bool first = node->inputs[0] == value;
    for (int i = 0; i < node->input_count; i++)
        if (node->inputs[i] != value && !segment_constant(graph, node->inputs[i]))
            return false;
    if (first && segment_is(node, linear)) {
        if (px_node_int(node, "transA", 0) != 0)
            return false;
        walk->mixed = walk->linear = true;
        return true;
    }
    if (segment_is(node, affine)) {
        walk->mixed = true;
        return strcmp(node->type, "BatchNormalization") != 0 ||
               (first && node->opset >= 7 && px_node_int(node, "training_mode", 0) == 0);
    }
    if (!first)
        return false;
    if (segment_is(node, same) || segment_is(node, means))
        return true;
    if (segment_is(node, moves)) {
        walk->moved = true;
        return true;
    }
    return !walk->mixed &&
           (segment_is(node, rectifiers) || (segment_is(node, pools) && axis == 1 && !walk->moved));
}

int pxi_segment_end(const px_graph *graph, int tap, int axis, int scores)
{
    segment_walk walk = {0};
    int value = tap, end = -1;
    while (value != scores) {
        const int reader = segment_reader(graph, value);
        if (reader < 0 || !segment_takes(graph, &graph->nodes[reader], value, axis, &walk))
            break;
        value = graph->nodes[reader].outputs[0];
        if (walk.linear)
            end = value;
    }
    return end;
}

bool pxi_segment_has(const px_graph *graph, int tap, int end, int value)
{
    for (int at = tap; at != end;) {
        const int reader = segment_reader(graph, at);
        if (reader < 0)
            return false;
        at = graph->nodes[reader].outputs[0];
        if (at == value)
            return true;
    }
    return false;
}
