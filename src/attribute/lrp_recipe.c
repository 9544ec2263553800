/* src/attribute/lrp_recipe.c - LRP: the way back from the class scores to the wanted values */
/* SPDX-License-Identifier: Apache-2.0 */
#include "attribute/lrp.h"

#include "attribute/lrp_internal.h"
#include "base/memory.h"
#include <internal/program.h>
#include <internal/sample_plan.h>

#include <stdlib.h>
#include <string.h>

typedef struct lrp_rule {
    const char *type;
    pxi_lrp_kind kind;
} lrp_rule;

static const lrp_rule lrp_rules[] = {
    {"Relu", PXI_LRP_PASS},
    {"LeakyRelu", PXI_LRP_PASS},
    {"PRelu", PXI_LRP_PASS},
    {"ThresholdedRelu", PXI_LRP_PASS},
    {"Elu", PXI_LRP_PASS},
    {"Selu", PXI_LRP_PASS},
    {"Celu", PXI_LRP_PASS},
    {"Gelu", PXI_LRP_PASS},
    {"Mish", PXI_LRP_PASS},
    {"Sigmoid", PXI_LRP_PASS},
    {"HardSigmoid", PXI_LRP_PASS},
    {"HardSwish", PXI_LRP_PASS},
    {"Tanh", PXI_LRP_PASS},
    {"Softplus", PXI_LRP_PASS},
    {"Softsign", PXI_LRP_PASS},
    {"Clip", PXI_LRP_PASS},
    {"Max", PXI_LRP_PASS},
    {"Min", PXI_LRP_PASS},
    {"Softmax", PXI_LRP_PASS},
    {"LogSoftmax", PXI_LRP_PASS},
    {"BatchNormalization", PXI_LRP_PASS},
    {"InstanceNormalization", PXI_LRP_PASS},
    {"GroupNormalization", PXI_LRP_PASS},
    {"LayerNormalization", PXI_LRP_PASS},
    {"LRN", PXI_LRP_PASS},
    {"Dropout", PXI_LRP_PASS},
    {"Identity", PXI_LRP_PASS},
    {"Cast", PXI_LRP_PASS},
    {"Sub", PXI_LRP_PASS},
    {"Mul", PXI_LRP_PASS},
    {"Div", PXI_LRP_PASS},
    {"Add", PXI_LRP_JOIN},
    {"Sum", PXI_LRP_JOIN},
    {"Conv", PXI_LRP_LINEAR},
    {"ConvTranspose", PXI_LRP_LINEAR},
    {"Gemm", PXI_LRP_LINEAR},
    {"MatMul", PXI_LRP_LINEAR},
    {"AveragePool", PXI_LRP_MEAN},
    {"GlobalAveragePool", PXI_LRP_MEAN},
    {"ReduceMean", PXI_LRP_MEAN},
    {"MaxPool", PXI_LRP_CHOOSE},
    {"GlobalMaxPool", PXI_LRP_CHOOSE},
    {"Reshape", PXI_LRP_SHAPE},
    {"Flatten", PXI_LRP_SHAPE},
    {"Squeeze", PXI_LRP_SHAPE},
    {"Unsqueeze", PXI_LRP_SHAPE},
    {"Transpose", PXI_LRP_MOVE},
    {"Concat", PXI_LRP_MOVE},
    {"Split", PXI_LRP_MOVE},
    {"Slice", PXI_LRP_MOVE},
    {"Pad", PXI_LRP_MOVE},
    {"Gather", PXI_LRP_MOVE},
    {"DepthToSpace", PXI_LRP_MOVE},
    {"SpaceToDepth", PXI_LRP_MOVE},
};

static pxi_lrp_kind rule_of(const px_node *node)
{
    for (size_t i = 0; !node->domain[0] && i < PX_LEN(lrp_rules); i++)
        if (strcmp(node->type, lrp_rules[i].type) == 0)
            return lrp_rules[i].kind;
    return PXI_LRP_NONE;
}

static bool in_list(const char *type, const char *const *list)
{
    for (; *list; list++)
        if (strcmp(type, *list) == 0)
            return true;
    return false;
}

typedef struct recipe {
    pxi_lrp *lrp;
    const pxi_program *program;
    const px_graph *graph;
    bool *carries; /* per value: a wanted one, or computed from one */
    bool *leads;   /* per value: to the scores */
    bool *natural; /* per value: never negative */
    bool *kept;
} recipe;

static bool is_constant(const recipe *r, int value)
{
    return r->program->slots[value].tensor.data != NULL;
}

/* --- which values matter --------------------------------------------------------------------- */

static bool step_is_natural(const recipe *r, const px_op_ctx *ctx)
{
    static const char *const always[] = {"Relu",     "Sigmoid", "HardSigmoid",
                                         "Softplus", "Softmax", NULL};
    static const char *const keeps[] = {
        "MaxPool", "GlobalMaxPool", "AveragePool", "GlobalAveragePool", "ReduceMean",
        "Reshape", "Flatten",       "Squeeze",     "Unsqueeze",         "Transpose",
        "Concat",  "Split",         "Slice",       "Dropout",           "Identity",
        "Add",     "Sum",           NULL};
    const px_node *node = ctx->node;
    if (node->domain[0])
        return false;
    if (in_list(node->type, always))
        return true;
    if (strcmp(node->type, "Clip") == 0)
        return px_node_float(node, "min", -1.0f) >= 0.0f ||
               (pxi_op_has_in(ctx, 1) && ctx->in[1].data && ctx->in[1].dtype == PX_FLOAT32 &&
                *(const float *)ctx->in[1].data >= 0.0f);
    if (!in_list(node->type, keeps))
        return false;
    for (int i = 0; i < node->input_count; i++) {
        const int v = node->inputs[i];
        if (v >= 0 && ctx->in[i].dtype == PX_FLOAT32 && !r->natural[v])
            return false; /* constants count as possibly negative */
    }
    return true;
}

static void recipe_flow(recipe *r)
{
    const pxi_program *p = r->program;
    for (int s = 0; s < p->step_count; s++) {
        const px_node *node = p->steps[s].ctx.node;
        const bool natural = step_is_natural(r, &p->steps[s].ctx);
        bool carries = false;
        for (int i = 0; i < node->input_count; i++)
            carries |= node->inputs[i] >= 0 && r->carries[node->inputs[i]];
        for (int o = 0; o < node->output_count; o++)
            if (node->outputs[o] >= 0) {
                r->carries[node->outputs[o]] |= carries;
                r->natural[node->outputs[o]] = natural;
            }
    }
    r->leads[r->lrp->scores.value] = true;
    for (int s = p->step_count - 1; s >= 0; s--) {
        const px_node *node = p->steps[s].ctx.node;
        bool leads = false;
        for (int o = 0; o < node->output_count; o++)
            leads |= node->outputs[o] >= 0 && r->leads[node->outputs[o]];
        for (int i = 0; leads && i < node->input_count; i++)
            if (node->inputs[i] >= 0 && !is_constant(r, node->inputs[i]))
                r->leads[node->inputs[i]] = true;
    }
}

/* --- one step -------------------------------------------------------------------------------- */

static px_status recipe_refuse(const px_node *node, const char *why, px_error *err)
{
    char name[PXI_NODE_TEXT];
    return px_fail(err, PX_E_UNSUPPORTED,
                   "%s: relevance cannot be followed through it%s; leave out 'snpc' and 'anpc', or "
                   "choose layers behind it with --layers",
                   pxi_node_text(node, name), why);
}

static px_status recipe_check(const recipe *r, const pxi_lrp_step *step, px_error *err)
{
    const pxi_slot *slots = r->program->slots;
    const px_node *node = step->node;
    if (step->kind == PXI_LRP_NONE)
        return recipe_refuse(node, "", err);
    for (int i = 0; i < step->in_count; i++)
        if (slots[step->in[i]].tensor.dtype != PX_FLOAT32)
            return recipe_refuse(node, ", because its input is not float32", err);
    const bool several = step->kind == PXI_LRP_JOIN || step->kind == PXI_LRP_MOVE;
    if (step->in_count != 1 && !several)
        return recipe_refuse(node, ", because it joins computed values", err);
    if (step->kind == PXI_LRP_PASS || step->kind == PXI_LRP_JOIN)
        for (int i = 0; i < step->in_count; i++)
            if (!px_shape_equal(&slots[step->in[i]].tensor.shape,
                                &slots[step->out[0]].tensor.shape))
                return recipe_refuse(node, ", because it broadcasts", err);
    return PX_OK;
}

static void recipe_keep(recipe *r, const pxi_lrp_step *step)
{
    const bool reads = step->kind == PXI_LRP_LINEAR || step->kind == PXI_LRP_MEAN ||
                       step->kind == PXI_LRP_JOIN || step->kind == PXI_LRP_CHOOSE;
    for (int i = 0; reads && i < step->in_count; i++)
        if (!r->kept[step->in[i]]) {
            r->kept[step->in[i]] = true;
            r->lrp->keep[r->lrp->keep_count++] = step->in[i];
        }
}

static px_status recipe_step(recipe *r, const px_node *node, px_error *err)
{
    pxi_lrp *lrp = r->lrp;
    pxi_lrp_step *step = &lrp->steps[lrp->step_count];
    *step = (pxi_lrp_step){.kind = rule_of(node), .node = node};
    PX_TRY(PX_ARENA_NEW(step->in, lrp->arena, node->input_count, err));
    PX_TRY(PX_ARENA_NEW(step->carries, lrp->arena, node->input_count, err));
    PX_TRY(PX_ARENA_NEW(step->out, lrp->arena, node->output_count, err));
    for (int i = 0; i < node->input_count; i++) {
        const int v = node->inputs[i];
        if (v < 0 || is_constant(r, v))
            continue;
        step->carries[step->in_count] = r->carries[v];
        step->in[step->in_count++] = v;
        step->mixed |= !r->natural[v];
    }
    for (int o = 0; o < node->output_count; o++)
        if (node->outputs[o] >= 0 && r->leads[node->outputs[o]])
            step->out[step->out_count++] = node->outputs[o];
    if (step->kind == PXI_LRP_JOIN && step->in_count == 1)
        step->kind = PXI_LRP_PASS; /* a bias */
    PX_TRY(recipe_check(r, step, err));
    recipe_keep(r, step);
    lrp->step_count++;
    return PX_OK;
}

static px_status recipe_steps(recipe *r, px_error *err)
{
    const pxi_program *p = r->program;
    for (int s = p->step_count - 1; s >= 0; s--) {
        const px_node *node = p->steps[s].ctx.node;
        bool carries = false, leads = false;
        for (int i = 0; i < node->input_count; i++)
            carries |= node->inputs[i] >= 0 && r->carries[node->inputs[i]];
        for (int o = 0; o < node->output_count; o++)
            leads |= node->outputs[o] >= 0 && r->leads[node->outputs[o]];
        if (carries && leads)
            PX_TRY(recipe_step(r, node, err));
    }
    for (int v = 0; v < r->graph->value_count; v++)
        if (r->lrp->wanted[v] && !r->leads[v])
            return px_fail(err, PX_E_UNSUPPORTED,
                           "the class scores do not depend on '%.150s', so it has no relevance; "
                           "choose other layers with --layers",
                           r->graph->values[v].name);
    return PX_OK;
}

/* --- shapes ---------------------------------------------------------------------------------- */

px_status pxi_lrp_program(const pxi_lrp *lrp, int64_t batch, pxi_program **out, px_error *err)
{
    return pxi_program_sized(lrp->model, lrp->feeds, lrp->feed_count, batch, &lrp->scores.value, 1,
                             out, err);
}

static px_status lrp_feeds(pxi_lrp *lrp, const px_feed *given, size_t given_count, px_error *err)
{
    const px_graph *graph = px_model_graph(lrp->model);
    lrp->feed_count = (size_t)graph->input_count;
    PX_TRY(PX_ARENA_NEW(lrp->feeds, lrp->arena, lrp->feed_count, err));
    for (int i = 0; i < graph->input_count; i++) {
        const int v = graph->inputs[i];
        lrp->feeds[i] = (px_feed){.value = v, .shape = graph->values[v].shape};
        bool known = graph->values[v].has_shape;
        for (size_t k = 0; k < given_count; k++)
            if (given[k].value == v) {
                lrp->feeds[i].shape = given[k].shape;
                known = true;
            }
        if (!known)
            return px_fail(err, PX_E_INPUT, "input '%s' has no shape; give one",
                           graph->values[v].name);
    }
    return PX_OK;
}

/* A program for one sample, or for as many as the file insists on. */
static px_status lrp_any_program(const pxi_lrp *lrp, pxi_program **out, px_error *err)
{
    const px_status status = pxi_lrp_program(lrp, 1, out, err);
    const px_value *input =
        lrp->feed_count ? &px_model_graph(lrp->model)->values[lrp->feeds[0].value] : NULL;
    if (status == PX_OK || status == PX_E_NOMEM || !input || !input->has_shape ||
        input->shape.rank < 1 || input->shape.dim[0] < 2)
        return status;
    px_error ignored = {0};
    return pxi_lrp_program(lrp, input->shape.dim[0], out, &ignored) == PX_OK ? PX_OK : status;
}

/* --- all of it ------------------------------------------------------------------------------- */

static px_status lrp_fill(pxi_lrp *lrp, const int *wanted, size_t wanted_count, px_error *err)
{
    const px_graph *graph = px_model_graph(lrp->model);
    const size_t values = (size_t)graph->value_count;
    recipe r = {.lrp = lrp, .graph = graph};
    pxi_program *program = NULL;
    px_arena *scratch = pxi_arena_new();
    px_status status = scratch ? PX_OK : pxi_no_memory(err);
    PX_THEN(status, lrp_any_program(lrp, &program, err));
    if (status == PX_OK && program->graph.value_count > graph->value_count)
        status = px_fail(err, PX_E_UNSUPPORTED,
                         "relevance of networks with If, loops or sequences is not supported");
    if (status != PX_OK)
        goto done;
    r.program = program;
    r.carries = pxi_arena_alloc(scratch, values, sizeof *r.carries);
    r.leads = pxi_arena_alloc(scratch, values, sizeof *r.leads);
    r.natural = pxi_arena_alloc(scratch, values, sizeof *r.natural);
    r.kept = pxi_arena_alloc(scratch, values, sizeof *r.kept);
    lrp->wanted = pxi_arena_alloc(lrp->arena, values, sizeof *lrp->wanted);
    lrp->keep = pxi_arena_alloc(lrp->arena, values, sizeof *lrp->keep);
    lrp->steps = pxi_arena_alloc(lrp->arena, (size_t)program->step_count, sizeof *lrp->steps);
    if (!r.carries || !r.leads || !r.natural || !r.kept || !lrp->wanted || !lrp->keep ||
        !lrp->steps) {
        status = pxi_no_memory(err);
        goto done;
    }
    for (size_t i = 0; i < wanted_count; i++)
        lrp->wanted[wanted[i]] = r.carries[wanted[i]] = true;
    lrp->keep[lrp->keep_count++] = lrp->scores.value;
    r.kept[lrp->scores.value] = true;
    recipe_flow(&r);
    status = recipe_steps(&r, err);
    PX_THEN(status, pxi_lrp_split_weights(lrp, err));
    PX_THEN(status, pxi_lrp_segments(lrp, err));
done:
    pxi_program_free(program);
    pxi_arena_free(scratch);
    return status;
}

px_status pxi_lrp_new(const px_model *model, const px_feed *feeds, size_t feed_count,
                      const int *wanted, size_t wanted_count, double beta, pxi_lrp **out,
                      px_error *err)
{
    pxi_lrp *lrp = pxi_calloc(1, sizeof *lrp);
    px_status status = PX_OK;
    if (!lrp || !(lrp->arena = pxi_arena_new()))
        status = pxi_no_memory(err);
    if (status == PX_OK) {
        lrp->model = model;
        lrp->beta = beta;
        status = px_model_scores(model, &lrp->scores, err);
    }
    PX_THEN(status, lrp_feeds(lrp, feeds, feed_count, err));
    PX_THEN(status, lrp_fill(lrp, wanted, wanted_count, err));
    return PX_GIVE(status, lrp, out, pxi_lrp_free);
}

void pxi_lrp_free(pxi_lrp *lrp)
{
    if (!lrp)
        return;
    pxi_segments_free(lrp->segments);
    px_model_free(lrp->positive);
    px_model_free(lrp->negative);
    pxi_arena_free(lrp->arena);
    free(lrp);
}
