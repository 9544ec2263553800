/* src/graph/cut_embedding.c - a network of token numbers cut open behind its embedding
 *
 * Token numbers cannot be changed a little; the vectors that stand for them can. The table's lookup
 * is taken out, and what it gave becomes the network's first input, [N, tokens, width]; the joined
 * input stays beside it, for the mask and whatever else reads the numbers.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#include <internal/graft.h>
#include <internal/graph.h>

#include <string.h>

bool px_model_takes_tokens(const px_model *model)
{
    const px_inputs *in = model->inputs;
    bool whole = false;
    for (int i = 0; in && in->rows && !in->table && i < in->count; i++)
        whole |= in->part[i].dtype == PX_INT64 || in->part[i].dtype == PX_INT32;
    return whole;
}

/* The input that `value` is, but for casts; -1: none of them. */
static int embed_part(const px_model *model, int value)
{
    const px_graph *graph = &model->graph;
    for (int depth = 0; depth < 8 && value >= 0; depth++) {
        for (int i = 0; i < model->inputs->count; i++)
            if (strcmp(graph->values[value].name, model->inputs->part[i].name) == 0)
                return i;
        const int producer = graph->values[value].producer;
        if (producer < 0 || (strcmp(graph->nodes[producer].type, "Cast") != 0 &&
                             strcmp(graph->nodes[producer].type, "Identity") != 0))
            return -1;
        value = graph->nodes[producer].inputs[0];
    }
    return -1;
}

/* The lookup in the largest table: others are of token types. */
static int embed_find(const px_model *model, const px_tensor **table, int *ids)
{
    const px_graph *graph = &model->graph;
    int found = -1;
    *table = NULL;
    for (int n = 0; n < graph->node_count; n++) {
        const px_node *node = &graph->nodes[n];
        if (strcmp(node->type, "Gather") != 0 || *node->domain || node->input_count != 2 ||
            px_node_int(node, "axis", 0) != 0)
            continue;
        const px_tensor *held =
            node->inputs[0] >= 0 ? graph->values[node->inputs[0]].constant : NULL;
        const int part = held ? embed_part(model, node->inputs[1]) : -1;
        if (part < 0 || held->dtype != PX_FLOAT32 || held->shape.rank != 2 ||
            (*table && held->shape.dim[0] <= (*table)->shape.dim[0]))
            continue;
        found = n;
        *table = held;
        *ids = part;
    }
    return found;
}

px_status px_model_embed(px_model *model, px_error *err)
{
    const px_tensor *table = NULL;
    px_inputs *in = NULL;
    int ids = 0;
    if (!model->inputs || !model->inputs->rows || model->regression)
        return px_fail(err, PX_E_UNSUPPORTED,
                       "'%.200s' is no classifier of token numbers, so it has no embedding to work "
                       "in",
                       model->path);
    const int node = embed_find(model, &table, &ids);
    if (node < 0)
        return px_fail(err, PX_E_UNSUPPORTED,
                       "'%.200s': no table of float32 is looked up by token numbers (Gather), so "
                       "it has no embedding to work in",
                       model->path);
    const int joined = model->graph.inputs[0], out = model->graph.nodes[node].outputs[0];
    const px_shape *fed = &model->graph.values[joined].shape;
    PX_TRY(PX_ARENA_NEW(in, model->arena, 1, err));
    *in = *model->inputs;
    in->table = table;
    in->ids = ids;
    pxi_graft graft;
    PX_TRY(pxi_graft_begin(model, 1, &graft, err));
    const int unused = pxi_graft_value(&graft, "plexor.lookup", PX_NONE, NULL);
    pxi_graft_redirect(&graft, node, unused);
    px_value *embedded = &graft.values[out];
    embedded->dtype = PX_FLOAT32;
    embedded->has_shape = true;
    embedded->dim_names = NULL;
    embedded->producer = -1;
    embedded->shape =
        (px_shape){.rank = 3, .dim = {fed->dim[0], fed->dim[fed->rank - 1], table->shape.dim[1]}};
    PX_TRY(pxi_graft_finish(&graft, (const int[]){out, joined}, 2, NULL, 0, err));
    model->inputs = in;
    return PX_OK;
}
