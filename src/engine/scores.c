/* src/engine/scores.c - where a classifier's scores are, and what the engine cannot run */
/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/feeds.h"
#include "engine/plan.h"

#include "base/memory.h"

#include <plexor/text.h>
#include <stdlib.h>
#include <string.h>

static bool scores_is(const px_graph *graph, int value, const char *type)
{
    const int producer = graph->values[value].producer;
    return producer >= 0 && strcmp(graph->nodes[producer].type, type) == 0 &&
           graph->nodes[producer].domain[0] == '\0';
}

static px_status scores_try(const px_model *model, int64_t side, const int *values, int value_count,
                            pxi_program **out, px_error *err)
{
    pxi_feed *feeds = NULL;
    size_t count = 0;
    const int64_t own = pxi_feeds_fixed_batch(model);
    px_status status = pxi_feeds_default(model, own ? own : 1, side, &feeds, &count, err);
    PX_THEN(status, pxi_program_new(model, feeds, count, values, (size_t)value_count, out, err));
    free(feeds);
    return status;
}

/* [N, classes], also with axes of one behind; 0: another shape. */
static int64_t scores_classes(const px_shape *shape)
{
    int64_t classes = shape->rank > 1 ? shape->dim[1] : 0;
    for (int i = 2; i < shape->rank; i++)
        classes = shape->dim[i] == 1 ? classes : 0;
    return classes;
}

static bool scores_input_is_open(const px_model *model)
{
    const px_graph *graph = px_model_graph(model);
    bool open = false;
    for (int i = 0; i < graph->input_count; i++)
        for (int d = 1; d < graph->values[graph->inputs[i]].shape.rank; d++)
            open |= graph->values[graph->inputs[i]].shape.dim[d] < 0;
    return open;
}

/* The given values' types and shapes with a batch of one (or what the file fixes). Where the file
 * leaves height and width to the pictures, the number of classes is the same for all that the
 * network takes: usual ones are tried until a value has the shape of class scores. */
static px_status scores_program(const px_model *model, const int *values, int value_count,
                                pxi_program **out, px_error *err)
{
    static const int64_t sides[] = {224, 32, 28, 64, 96, 128, 299, 16, 512};
    for (size_t i = 0; i < PX_LEN(sides) && scores_input_is_open(model); i++) {
        const px_status status = scores_try(model, sides[i], values, value_count, out, err);
        if (status == PX_E_NOMEM)
            return status;
        for (int v = 0; v < value_count && status == PX_OK; v++)
            if (scores_classes(&(*out)->slots[values[v]].tensor.shape) > 0)
                return PX_OK;
        if (status == PX_OK)
            pxi_program_free(*out);
        *out = NULL;
    }
    return scores_try(model, 0, values, value_count, out, err);
}

static px_status scores_take(const px_model *model, int value, const char *why, px_scores *out,
                             px_error *err)
{
    pxi_program *program = NULL;
    char text[PX_SHAPE_TEXT];
    PX_TRY(scores_program(model, &value, 1, &program, err));
    const px_shape shape = program->slots[value].tensor.shape;
    pxi_program_free(program);
    const int64_t classes = scores_classes(&shape);
    if (classes < 1 || classes > INT32_MAX)
        return px_fail(err, PX_E_UNSUPPORTED,
                       "the class scores '%s' have shape %s, expected [N, classes]",
                       px_model_graph(model)->values[value].name, px_shape_text(&shape, text));
    const char *kind = px_model_property(model, "plexor.output");
    *out = (px_scores){.value = value,
                       .classes = (int)classes,
                       .probabilities = kind && strcmp(kind, "probs") == 0 &&
                                        !scores_is(px_model_graph(model), value, "Softmax"),
                       .why = why};
    return PX_OK;
}

px_status px_model_scores(const px_model *model, px_scores *out, px_error *err)
{
    const px_graph *graph = px_model_graph(model);
    if (!graph->output_count)
        return px_fail(err, PX_E_INPUT, "the network has no output");
    for (int i = 0; i < graph->output_count; i++) {
        const int value = graph->outputs[i];
        if (!scores_is(graph, value, "Softmax") && !scores_is(graph, value, "LogSoftmax"))
            continue;
        const px_node *softmax = &graph->nodes[graph->values[value].producer];
        const int logits = softmax->input_count > 0 ? softmax->inputs[0] : -1;
        if (logits < 0)
            continue; /* a broken node, which the search below reports */
        PX_TRY(scores_take(model, logits,
                           scores_is(graph, value, "Softmax") ? "input of the final Softmax"
                                                              : "input of the final LogSoftmax",
                           out, err));
        out->probabilities = false;
        return PX_OK;
    }
    for (int i = 0; i < graph->output_count; i++)
        if (strcmp(graph->values[graph->outputs[i]].name, "logits") == 0)
            return scores_take(model, graph->outputs[i], "output named 'logits'", out, err);
    pxi_program *program = NULL;
    PX_TRY(scores_program(model, graph->outputs, graph->output_count, &program, err));
    int found = -1, other = -1;
    for (int i = 0; i < graph->output_count; i++) {
        const int value = graph->outputs[i];
        if (program->slots[value].tensor.shape.rank < 2)
            continue;
        if (found < 0)
            found = value;
        else if (found != value && other < 0)
            other = value;
    }
    pxi_program_free(program);
    if (other >= 0)
        return px_fail(err, PX_E_UNSUPPORTED,
                       "outputs '%s' and '%s' could both be class scores; name one 'logits'",
                       graph->values[found].name, graph->values[other].name);
    if (found < 0)
        return px_fail(err, PX_E_UNSUPPORTED, "no output has the shape [N, classes]");
    return scores_take(model, found, "the only output of shape [N, classes]", out, err);
}

enum { UNSUPPORTED_MOST = 100 }; /* kinds that are listed by name */

typedef struct unsupported {
    const px_node *first[UNSUPPORTED_MOST];
    int counts[UNSUPPORTED_MOST], kinds, more;
} unsupported;

/* Of a graph, and of those inside its nodes. */
static void unsupported_count(const px_graph *graph, unsupported *u)
{
    for (int n = 0; n < graph->node_count; n++) {
        const px_node *node = &graph->nodes[n];
        for (int i = 0; i < node->attr_count; i++)
            if (node->attrs[i].kind == PX_ATTR_GRAPH)
                unsupported_count(node->attrs[i].graph, u);
        if (pxi_op_find(node->domain, node->type, node->opset, NULL))
            continue;
        int k = 0;
        while (k < u->kinds &&
               (strcmp(u->first[k]->type, node->type) != 0 || u->first[k]->opset != node->opset ||
                strcmp(u->first[k]->domain, node->domain) != 0))
            k++;
        if (k == UNSUPPORTED_MOST) {
            u->more++;
            continue;
        }
        if (k == u->kinds) {
            u->first[u->kinds] = node;
            u->counts[u->kinds++] = 0;
        }
        u->counts[k]++;
    }
}

char *px_model_unsupported(const px_model *model)
{
    unsupported u = {.kinds = 0};
    unsupported_count(px_model_graph(model), &u);
    if (!u.kinds)
        return NULL;
    px_text text = {0};
    for (int k = 0; k < u.kinds; k++)
        px_text_format(&text, "%s%s%s (node '%s') x%d\n", u.first[k]->domain,
                       u.first[k]->domain[0] ? "." : "", u.first[k]->type, u.first[k]->name,
                       u.counts[k]);
    if (u.more)
        px_text_format(&text, "and %d more nodes of other kinds\n", u.more);
    return px_text_take(&text);
}
