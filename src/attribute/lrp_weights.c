/* src/attribute/lrp_weights.c - LRP: two copies of a network, its positive and its negative weights
 *
 * Only the weights of steps on the way differ, and biases, which are zero. Values keep their
 * numbers, so a plan is asked for in the same words of either copy.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#include "attribute/lrp_internal.h"

#include "base/memory.h"
#include <internal/op.h>

#include <internal/build.h>
#include <stdlib.h>
#include <string.h>

typedef enum weight_role {
    ROLE_NONE = 0,
    ROLE_WEIGHT,
    ROLE_FLIPPED, /* its node multiplies by a negative number */
    ROLE_BIAS,
} weight_role;

/* The initialiser or Constant behind `value`, through nodes that only move numbers. */
static int weight_origin(const px_graph *graph, int value)
{
    static const char *const moves[] = {"Identity", "Transpose", "Reshape",
                                        "Flatten",  "Squeeze",   "Unsqueeze"};
    while (!graph->values[value].constant && graph->values[value].producer >= 0) {
        const px_node *node = &graph->nodes[graph->values[value].producer];
        bool moved = false;
        for (size_t i = 0; i < PX_LEN(moves) && !moved; i++)
            moved = strcmp(node->type, moves[i]) == 0;
        if (!moved || node->input_count < 1 || node->inputs[0] < 0)
            break;
        value = node->inputs[0];
    }
    return value;
}

static const px_tensor *weight_tensor(const px_graph *graph, int value)
{
    const px_value *v = &graph->values[value];
    if (v->constant)
        return v->constant;
    if (v->producer < 0 || strcmp(graph->nodes[v->producer].type, "Constant") != 0)
        return NULL;
    const px_attr *attr = px_node_attr(&graph->nodes[v->producer], "value");
    return attr && attr->kind == PX_ATTR_TENSOR ? &attr->tensor : NULL;
}

static px_status weight_mark(const px_graph *graph, const px_node *node, int input,
                             weight_role role, unsigned char *roles, px_error *err)
{
    const int value = weight_origin(graph, node->inputs[input]);
    const px_tensor *tensor = weight_tensor(graph, value);
    char name[PXI_NODE_TEXT];
    if (!tensor || tensor->dtype != PX_FLOAT32 || !tensor->data)
        return px_fail(err, PX_E_UNSUPPORTED,
                       "%s: relevance needs its weights '%.100s' as float32 numbers, not computed "
                       "ones",
                       pxi_node_text(node, name), graph->values[node->inputs[input]].name);
    if (roles[value] != ROLE_NONE && roles[value] != role)
        return px_fail(err, PX_E_UNSUPPORTED,
                       "%s: relevance cannot be followed, because '%.100s' is weights here and "
                       "something else elsewhere",
                       pxi_node_text(node, name), graph->values[value].name);
    roles[value] = (unsigned char)role;
    return PX_OK;
}

static px_status weights_find(const pxi_lrp *lrp, unsigned char *roles, bool *any, px_error *err)
{
    const px_graph *graph = px_model_graph(lrp->model);
    for (size_t s = 0; s < lrp->step_count; s++) {
        const pxi_lrp_step *step = &lrp->steps[s];
        if (step->kind != PXI_LRP_LINEAR)
            continue;
        const px_node *node = step->node;
        const bool gemm = strcmp(node->type, "Gemm") == 0;
        const bool flipped = gemm && px_node_float(node, "alpha", 1.0f) < 0.0f;
        const int weight = node->inputs[0] == step->in[0] ? 1 : 0;
        PX_TRY(weight_mark(graph, node, weight, flipped ? ROLE_FLIPPED : ROLE_WEIGHT, roles, err));
        if (node->input_count > 2 && node->inputs[2] >= 0)
            PX_TRY(weight_mark(graph, node, 2, ROLE_BIAS, roles, err));
        *any = true;
    }
    return PX_OK;
}

static px_status weights_copy(const pxi_lrp *lrp, const unsigned char *roles, bool positive,
                              px_model **out, px_error *err)
{
    const px_graph *graph = px_model_graph(lrp->model);
    px_builder *builder = NULL;
    px_arena *arena = pxi_arena_new();
    px_status status = arena ? PX_OK : pxi_no_memory(err);
    PX_THEN(status, px_builder_from_model(lrp->model, &builder, err));
    for (int v = 0; status == PX_OK && v < graph->value_count; v++) {
        if (roles[v] == ROLE_NONE)
            continue;
        const px_tensor *tensor = weight_tensor(graph, v);
        const float *from = tensor->data;
        const size_t count = (size_t)px_shape_count(&tensor->shape);
        float *part = pxi_arena_alloc(arena, count, sizeof *part); /* zeros */
        if (!part) {
            status = pxi_no_memory(err);
            break;
        }
        const bool keep_positive = positive == (roles[v] == ROLE_WEIGHT);
        for (size_t i = 0; roles[v] != ROLE_BIAS && i < count; i++)
            if (keep_positive ? from[i] > 0.0f : from[i] < 0.0f)
                part[i] = from[i];
        px_builder_replace(builder, v, part);
    }
    if (status == PX_OK) {
        status = px_builder_finish(builder, out, err);
        builder = NULL;
    }
    px_builder_free(builder);
    pxi_arena_free(arena);
    return status;
}

px_status pxi_lrp_split_weights(pxi_lrp *lrp, px_error *err)
{
    bool any = false;
    unsigned char *roles =
        pxi_calloc((size_t)px_model_graph(lrp->model)->value_count, sizeof *roles);
    px_status status = roles ? weights_find(lrp, roles, &any, err) : pxi_no_memory(err);
    PX_THEN_IF(status, any, weights_copy(lrp, roles, /* positive= */ true, &lrp->positive, err));
    PX_THEN_IF(status, any, weights_copy(lrp, roles, /* positive= */ false, &lrp->negative, err));
    free(roles);
    return status;
}
