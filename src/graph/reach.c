/* src/graph/reach.c - questions about which values depend on which */
/* SPDX-License-Identifier: Apache-2.0 */
#include <internal/reach.h>

#include "base/memory.h"

#include <stdlib.h>
#include <string.h>

/* Marks, in topological order, every output of a node that reads a marked value; the value `wall`
 * (-1: none) stays as it is. */
static void reach_sweep(const px_graph *graph, bool *marked, int wall)
{
    for (int n = 0; n < graph->node_count; n++) {
        const px_node *node = &graph->nodes[n];
        bool reads = false;
        for (int i = 0; i < node->input_count && !reads; i++)
            reads = node->inputs[i] >= 0 && marked[node->inputs[i]];
        for (int i = 0; i < node->output_count && reads; i++)
            if (node->outputs[i] >= 0 && node->outputs[i] != wall)
                marked[node->outputs[i]] = true;
    }
}

px_status pxi_graph_cuts(const px_graph *graph, int value, int to, bool *out, px_error *err)
{
    bool *reached = NULL;
    PX_TRY(PX_NEW(reached, graph->value_count, err));
    for (int i = 0; i < graph->input_count; i++)
        reached[graph->inputs[i]] = graph->inputs[i] != value;
    reach_sweep(graph, reached, value);
    *out = !reached[to];
    free(reached);
    return PX_OK;
}

int px_graph_restart(const px_graph *graph, int value, int **out)
{
    const size_t count = (size_t)graph->value_count;
    bool *varies = pxi_calloc(count, sizeof *varies); /* depends on an input: not foldable */
    bool *after = pxi_calloc(count, sizeof *after);   /* depends on `value` */
    bool *feed = pxi_calloc(count, sizeof *feed);
    int *feeds = pxi_calloc(count, sizeof *feeds);
    int feed_count = -1;
    if (!varies || !after || !feed || !feeds)
        goto done;
    for (int i = 0; i < graph->input_count; i++)
        varies[graph->inputs[i]] = true;
    reach_sweep(graph, varies, -1);
    after[value] = true;
    reach_sweep(graph, after, -1);

    for (int n = 0; n < graph->node_count; n++) {
        const px_node *node = &graph->nodes[n];
        bool recomputed = false;
        for (int i = 0; i < node->input_count && !recomputed; i++)
            recomputed = node->inputs[i] >= 0 && after[node->inputs[i]];
        for (int i = 0; i < node->input_count && recomputed; i++)
            if (node->inputs[i] >= 0)
                feed[node->inputs[i]] = true;
    }
    for (int i = 0; i < graph->output_count; i++)
        feed[graph->outputs[i]] = true;

    feed_count = 0;
    feeds[feed_count++] = value;
    for (int v = 0; v < graph->value_count; v++)
        if (feed[v] && varies[v] && !after[v])
            feeds[feed_count++] = v;
    *out = feeds;
    feeds = NULL;
done:
    free(varies);
    free(after);
    free(feed);
    free(feeds);
    return feed_count;
}

static bool is_float(px_dtype dtype)
{
    return dtype == PX_FLOAT32 || dtype == PX_FLOAT64 || dtype == PX_FLOAT16 ||
           dtype == PX_BFLOAT16;
}

int64_t px_model_parameters(const px_model *model, int64_t *statistics)
{
    const px_graph *graph = px_model_graph(model);
    int64_t parameters = 0, running = 0;
    bool *is_running = pxi_calloc((size_t)graph->value_count, sizeof *is_running);
    for (int n = 0; n < graph->node_count && is_running; n++) {
        const px_node *node = &graph->nodes[n];
        if (strcmp(node->type, "BatchNormalization") != 0 || *node->domain)
            continue;
        for (int i = 3; i <= 4 && i < node->input_count; i++)
            if (node->inputs[i] >= 0)
                is_running[node->inputs[i]] = true;
    }
    for (int v = 0; v < graph->value_count; v++) {
        const px_tensor *constant = graph->values[v].constant;
        if (!constant || !is_float(constant->dtype))
            continue;
        if (is_running && is_running[v])
            running += px_shape_count(&constant->shape);
        else
            parameters += px_shape_count(&constant->shape);
    }
    free(is_running);
    if (statistics)
        *statistics = running;
    return parameters;
}
