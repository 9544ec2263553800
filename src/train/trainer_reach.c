/* src/train/trainer_reach.c - which weights a gradient can reach
 *
 * Flat and integer operators give no gradient: the engine runs them all the same, and what lies
 * behind them would stay as it is without a word. So it is said before the run.
 */
#include "train/trainer.h"

#include "base/memory.h"
#include "ops/op.h"

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

/* Names what is in the way of a weight that gradients do not reach; PX_OK: nothing is, the scores
 * do not depend on it. */
static px_status reach_blame(const px_graph *graph, const px_weight *weight, const bool *passes,
                             const bool *reached, bool *behind, int *stack, px_error *err)
{
    for (int n = graph->node_count - 1; n >= 0; n--) { /* the one nearest to the scores */
        const px_node *node = &graph->nodes[n];
        bool asked = false;
        for (int i = 0; i < node->output_count; i++)
            asked |= node->outputs[i] >= 0 && reached[node->outputs[i]];
        if (passes[n] || !asked)
            continue;
        memset(behind, 0, (size_t)graph->value_count * sizeof *behind);
        for (int i = 0; i < node->input_count; i++)
            if (node->inputs[i] >= 0)
                reach_from(graph, node->inputs[i], NULL, behind, stack);
        if (behind[weight->value])
            return px_fail(err, PX_E_UNSUPPORTED,
                           "operator '%s' (node '%s') has no gradient, so weight '%s' before it "
                           "cannot be trained; freeze the layers up to there",
                           node->type, node->name, weight->name);
    }
    return PX_OK;
}

px_status pxi_train_reach(const px_model *model, int scores, px_weight *const *weights,
                          size_t count, bool *reaches, px_error *err)
{
    const px_graph *graph = px_model_graph(model);
    const size_t values = (size_t)graph->value_count;
    bool *passes = pxi_calloc(PX_MAX((size_t)graph->node_count, 1), sizeof *passes);
    bool *reached = pxi_calloc(values, sizeof *reached);
    bool *behind = pxi_calloc(values, sizeof *behind);
    int *stack = pxi_calloc(values, sizeof *stack);
    px_status status = PX_OK;
    if (!passes || !reached || !behind || !stack) {
        status = px_fail(err, PX_E_NOMEM, "out of memory");
        goto done;
    }
    for (int n = 0; n < graph->node_count; n++)
        passes[n] = node_has_gradient(&graph->nodes[n]);
    reach_from(graph, scores, passes, reached, stack);
    for (size_t i = 0; i < count && status == PX_OK; i++) {
        reaches[i] = reached[weights[i]->value];
        if (!reaches[i])
            status = reach_blame(graph, weights[i], passes, reached, behind, stack, err);
    }
done:
    free(passes);
    free(reached);
    free(behind);
    free(stack);
    return status;
}
