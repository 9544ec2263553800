/* src/engine/gradient_reach.c - which values a gradient can come to */
/* SPDX-License-Identifier: Apache-2.0 */
#include <internal/gradient_reach.h>

#include "base/memory.h"
#include <internal/op.h>

#include <stdlib.h>
#include <string.h>

static bool node_has_gradient(const px_node *node)
{
    const px_op *op = pxi_op_find(node->domain, node->type, node->opset, NULL);
    return op && op->diff == PX_DIFF_YES;
}

/* Marks what `value` is computed from; through `passes` only, if that is given. */
static void reach_from(const px_graph *graph, int value, const bool *passes, bool *reached,
                       int *stack)
{
    int count = 0;
    reached[value] = true;
    stack[count++] = value;
    while (count > 0) {
        const int producer = graph->values[stack[--count]].producer;
        if (producer < 0 || (passes && !passes[producer]))
            continue;
        const px_node *node = &graph->nodes[producer];
        for (int i = 0; i < node->input_count; i++)
            if (node->inputs[i] >= 0 && !reached[node->inputs[i]]) {
                reached[node->inputs[i]] = true;
                stack[count++] = node->inputs[i];
            }
    }
}

px_status pxi_reach_init(pxi_reach *reach, const px_model *model, int from, px_error *err)
{
    const px_graph *graph = px_model_graph(model);
    const size_t values = (size_t)graph->value_count;
    *reach = (pxi_reach){
        .graph = graph,
        .passes = pxi_calloc(PX_MAX((size_t)graph->node_count, 1), sizeof *reach->passes),
        .reached = pxi_calloc(values, sizeof *reach->reached),
        .behind = pxi_calloc(values, sizeof *reach->behind),
        .stack = pxi_calloc(values, sizeof *reach->stack),
    };
    if (!reach->passes || !reach->reached || !reach->behind || !reach->stack)
        return pxi_no_memory(err);
    for (int n = 0; n < graph->node_count; n++)
        reach->passes[n] = node_has_gradient(&graph->nodes[n]);
    reach_from(graph, from, reach->passes, reach->reached, reach->stack);
    return PX_OK;
}

void pxi_reach_done(pxi_reach *reach)
{
    free(reach->passes);
    free(reach->reached);
    free(reach->behind);
    free(reach->stack);
}

const px_node *pxi_reach_gap(pxi_reach *reach, int value)
{
    const px_graph *graph = reach->graph;
    for (int n = graph->node_count - 1; n >= 0; n--) {
        const px_node *node = &graph->nodes[n];
        bool asked = false;
        for (int i = 0; i < node->output_count; i++)
            asked |= node->outputs[i] >= 0 && reach->reached[node->outputs[i]];
        if (reach->passes[n] || !asked)
            continue;
        memset(reach->behind, 0, (size_t)graph->value_count * sizeof *reach->behind);
        for (int i = 0; i < node->input_count; i++)
            if (node->inputs[i] >= 0)
                reach_from(graph, node->inputs[i], NULL, reach->behind, reach->stack);
        if (reach->behind[value])
            return node;
    }
    return NULL;
}

px_status pxi_reach_require(const px_model *model, int scores, int input, px_error *err)
{
    pxi_reach reach = {0};
    px_status status = pxi_reach_init(&reach, model, scores, err);
    if (status == PX_OK && !reach.reached[input]) {
        const px_node *gap = pxi_reach_gap(&reach, input);
        status =
            gap ? px_fail(err, PX_E_UNSUPPORTED,
                          "operator '%s' (node '%s') has no gradient, and every way from the "
                          "class scores to the input leads through it or others like it; "
                          "'plexor fuzz' needs no gradients",
                          gap->type, gap->name)
                : px_fail(err, PX_E_UNSUPPORTED, "the class scores do not depend on the input");
    }
    pxi_reach_done(&reach);
    return status;
}
