/* src/train/trainer_frozen.c - the weights of chosen layers
 *
 * A layer's weights are found from its output backwards: those of every node on the way to its
 * linear operator (normalisation, PRelu, a bias that is added), and that operator's own. The walk
 * ends at linear operators and at the outputs of other layers, so that what a residual connection
 * brings in from before stays out, and a projection that only this layer reads is part of it.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#include "train/trainer.h"

#include "base/memory.h"

#include <internal/weights.h>
#include <plexor/probe.h>
#include <stdlib.h>
#include <string.h>

typedef struct frozen_walk {
    const px_graph *graph;
    px_weights *weights;
    bool *ends; /* per value: another layer's output */
    bool *seen; /* per value */
    int *stack;
    bool *frozen;
} frozen_walk;

static bool node_is_linear(const px_node *node)
{
    static const char *const types[] = {"Conv", "ConvTranspose", "Gemm", "MatMul",
                                        "RNN",  "GRU",           "LSTM"};
    for (size_t i = 0; i < PX_LEN(types); i++)
        if (strcmp(node->type, types[i]) == 0)
            return true;
    return false;
}

static void walk_mark(const frozen_walk *w, int value)
{
    for (size_t i = 0; i < px_weights_count(w->weights); i++)
        if (px_weights_get(w->weights, i)->value == value)
            w->frozen[i] = true;
}

/* Whether a value follows from constants alone, as a transposed weight does. */
static bool value_is_constant(const px_graph *graph, int value)
{
    while (graph->values[value].producer >= 0) {
        const px_node *node = &graph->nodes[graph->values[value].producer];
        int only = -1;
        for (int i = 0; i < node->input_count; i++)
            if (node->inputs[i] >= 0 && !graph->values[node->inputs[i]].constant) {
                if (only >= 0)
                    return false;
                only = node->inputs[i];
            }
        if (only < 0)
            return true;
        value = only;
    }
    return graph->values[value].constant != NULL;
}

/* One node's inputs: weights are marked; data is followed unless the walk ends here. */
static int walk_inputs(const frozen_walk *w, const px_node *node, int count)
{
    const bool last = node_is_linear(node);
    for (int i = 0; i < node->input_count; i++) {
        const int value = node->inputs[i];
        if (value < 0 || w->seen[value])
            continue;
        if (w->graph->values[value].constant) {
            w->seen[value] = true;
            walk_mark(w, value);
        } else if (!w->ends[value] && (!last || value_is_constant(w->graph, value))) {
            w->seen[value] = true;
            w->stack[count++] = value;
        }
    }
    return count;
}

static void walk_layer(const frozen_walk *w, int post)
{
    int count = 0;
    memset(w->seen, 0, (size_t)w->graph->value_count * sizeof *w->seen);
    w->seen[post] = true;
    w->stack[count++] = post;
    while (count > 0) {
        const int producer = w->graph->values[w->stack[--count]].producer;
        if (producer >= 0)
            count = walk_inputs(w, &w->graph->nodes[producer], count);
    }
}

static px_status frozen_probe(const px_model *model, const char *layers, const px_feed *feed,
                              px_probe **out, px_error *err)
{
    px_probe_options options = px_probe_options_default();
    options.layers = layers;
    options.feeds = feed;
    options.feed_count = 1;
    return px_probe_new(model, &options, out, err);
}

px_status pxi_train_frozen(const px_model *model, px_weights *weights, const char *layers,
                           const px_feed *feed, bool *frozen, px_error *err)
{
    frozen_walk w = {.graph = px_model_graph(model), .weights = weights, .frozen = frozen};
    const size_t values = (size_t)w.graph->value_count;
    px_probe *all = NULL, *chosen = NULL;
    px_status status = frozen_probe(model, "all", feed, &all, err);
    PX_THEN(status, frozen_probe(model, layers, feed, &chosen, err));
    if (status != PX_OK)
        goto done;
    w.ends = pxi_calloc(values, sizeof *w.ends);
    w.seen = pxi_calloc(values, sizeof *w.seen);
    w.stack = pxi_calloc(values, sizeof *w.stack);
    if (!w.ends || !w.seen || !w.stack) {
        status = pxi_no_memory(err);
        goto done;
    }
    for (size_t i = 0; i < px_probe_layer_count(all); i++)
        w.ends[px_probe_layer(all, i)->post] = true;
    for (size_t i = 0; i < px_probe_layer_count(chosen); i++)
        walk_layer(&w, px_probe_layer(chosen, i)->post);
done:
    free(w.ends);
    free(w.seen);
    free(w.stack);
    px_probe_free(chosen);
    px_probe_free(all);
    return status;
}
