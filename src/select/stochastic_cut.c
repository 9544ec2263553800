/* src/select/stochastic_cut.c - where a network stops being the same in every pass */
/* SPDX-License-Identifier: Apache-2.0 */
#include "select/stochastic_cut.h"

#include "base/memory.h"

#include <stdlib.h>
#include <string.h>

typedef struct marks { /* per value */
    bool *varies;      /* depends on the network's input */
    bool *needed;      /* `to` depends on it */
    bool *after;       /* depends on something dropped */
} marks;

static bool node_is(const px_node *node, const char *type)
{
    return node->domain[0] == '\0' && strcmp(node->type, type) == 0;
}

static bool reads_marked(const px_node *node, const bool *marked)
{
    for (int i = 0; i < node->input_count; i++)
        if (node->inputs[i] >= 0 && marked[node->inputs[i]])
            return true;
    return false;
}

static bool makes_marked(const px_node *node, const bool *marked)
{
    for (int i = 0; i < node->output_count; i++)
        if (node->outputs[i] >= 0 && marked[node->outputs[i]])
            return true;
    return false;
}

static void mark_outputs(const px_node *node, bool *marked)
{
    for (int i = 0; i < node->output_count; i++)
        if (node->outputs[i] >= 0)
            marked[node->outputs[i]] = true;
}

static void mark_needed(const px_graph *graph, int to, marks *m)
{
    for (int i = 0; i < graph->input_count; i++)
        m->varies[graph->inputs[i]] = true;
    for (int n = 0; n < graph->node_count; n++)
        if (reads_marked(&graph->nodes[n], m->varies))
            mark_outputs(&graph->nodes[n], m->varies);
    m->needed[to] = true;
    for (int n = graph->node_count - 1; n >= 0; n--) {
        const px_node *node = &graph->nodes[n];
        for (int i = 0; makes_marked(node, m->needed) && i < node->input_count; i++)
            if (node->inputs[i] >= 0)
                m->needed[node->inputs[i]] = true;
    }
}

/* What the last dense layer before `to` reads; -1: there is none. */
static int find_dense_input(const px_graph *graph, int to, const bool *varies, int *dense)
{
    for (int value = to; value >= 0 && graph->values[value].producer >= 0;) {
        const px_node *node = &graph->nodes[graph->values[value].producer];
        int next = -1;
        for (int i = 0; i < node->input_count && next < 0; i++)
            if (node->inputs[i] >= 0 && varies[node->inputs[i]])
                next = node->inputs[i];
        *dense = graph->values[value].producer;
        if (node_is(node, "Gemm") || node_is(node, "MatMul") || node_is(node, "Conv"))
            return next;
        value = next;
    }
    return -1;
}

/* Values that do not depend on anything dropped and are read where that is the case. */
static void find_feeds(const px_graph *graph, const marks *m, pxi_stochastic_cut *cut)
{
    bool *fed = m->varies; /* nobody needs it any more for values that are fed */
    for (int n = 0; n < graph->node_count; n++) {
        const px_node *node = &graph->nodes[n];
        if (!makes_marked(node, m->needed) ||
            !(reads_marked(node, m->after) || node_is(node, "Dropout")))
            continue;
        for (int i = 0; i < node->input_count; i++) {
            const int value = node->inputs[i];
            if (value >= 0 && fed[value] && !m->after[value]) {
                fed[value] = false;
                cut->feeds[cut->feed_count++] = value;
            }
        }
    }
}

px_status pxi_stochastic_cut_find(const px_graph *graph, int to, pxi_stochastic_cut *out,
                                  px_error *err)
{
    const size_t values = (size_t)graph->value_count;
    pxi_stochastic_cut cut = {.dense = -1, .feeds = pxi_calloc(values + 1, sizeof *cut.feeds)};
    marks m = {.varies = pxi_calloc(values, sizeof *m.varies),
               .needed = pxi_calloc(values, sizeof *m.needed),
               .after = pxi_calloc(values, sizeof *m.after)};
    px_status status = cut.feeds && m.varies && m.needed && m.after ? PX_OK : pxi_no_memory(err);
    if (status != PX_OK)
        goto done;
    mark_needed(graph, to, &m);
    for (int n = 0; n < graph->node_count; n++) {
        const px_node *node = &graph->nodes[n];
        const bool drops = node_is(node, "Dropout") && reads_marked(node, m.varies) &&
                           makes_marked(node, m.needed);
        cut.dropouts += drops;
        if (drops || reads_marked(node, m.after))
            mark_outputs(node, m.after);
    }
    if (cut.dropouts == 0) {
        const int value = find_dense_input(graph, to, m.varies, &cut.dense);
        if (value < 0) {
            status = px_fail(err, PX_E_UNSUPPORTED,
                             "drops values before the last dense layer, and the network has none");
            goto done;
        }
        cut.feeds[cut.feed_count++] = value;
        m.after[value] = true;
        for (int n = 0; n < graph->node_count; n++)
            if (reads_marked(&graph->nodes[n], m.after))
                mark_outputs(&graph->nodes[n], m.after);
    }
    find_feeds(graph, &m, &cut);
    *out = cut;
    cut.feeds = NULL;
done:
    free(m.varies);
    free(m.needed);
    free(m.after);
    free(cut.feeds);
    return status;
}

void pxi_stochastic_cut_done(pxi_stochastic_cut *cut)
{
    free(cut->feeds);
    *cut = (pxi_stochastic_cut){0};
}
