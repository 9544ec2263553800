/* src/engine/lower.c - from a program's steps to a plan's units, choosing layouts on the way */
/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/plan.h"

#include "base/memory.h"

#include <stdlib.h>
#include <string.h>

pxi_unit *pxi_plan_add_unit(px_plan *plan, const pxi_unit_kind *kind, int step, int in_count,
                            int out_count)
{
    if (pxi_grow(&plan->units, &plan->unit_cap, (size_t)plan->unit_count + 1, sizeof *plan->units))
        return NULL;
    int *cells = pxi_arena_alloc(plan->arena, (size_t)in_count + (size_t)out_count, sizeof *cells);
    if (!cells)
        return NULL;
    pxi_unit *unit = &plan->units[plan->unit_count++];
    *unit = (pxi_unit){.kind = kind,
                       .step = step,
                       .in_count = in_count,
                       .out_count = out_count,
                       .in = cells,
                       .out = cells + in_count,
                       .donor = -1,
                       .kernel = ""};
    return unit;
}

bool pxi_weight_is_own(const px_plan *plan, const pxi_step *step, int input)
{
    if (!plan->weight_grads || !pxi_op_has_in(&step->ctx, input))
        return true;
    const int value = step->ctx.node->inputs[input];
    if (plan->cells[value].is_seed)
        return false;
    int uses = 0;
    for (int s = 0; s < plan->program->step_count; s++) {
        const px_node *node = plan->program->steps[s].ctx.node;
        for (int i = 0; i < node->input_count; i++)
            uses += node->inputs[i] == value;
    }
    return uses == 1;
}

int pxi_plan_add_cell(px_plan *plan, pxi_cell cell)
{
    if (pxi_grow(&plan->cells, &plan->cell_cap, (size_t)plan->cell_count + 1, sizeof *plan->cells))
        return -1;
    plan->cells[plan->cell_count] = cell;
    return plan->cell_count++;
}

/* A constant in the other order, copied once at plan time. */
static int plan_constant_as(px_plan *plan, int cell, pxi_layout layout)
{
    const px_tensor *t = &plan->cells[cell].tensor;
    char *copy = pxi_arena_alloc(plan->arena, PX_MAX(px_tensor_bytes(t), (size_t)1), 1);
    if (!copy)
        return -1;
    pxi_copy_layout(t, t->data, copy, layout == PXI_NHWC);
    pxi_cell made = {.tensor = *t, .layout = layout, .value = -1, .twin = cell};
    made.tensor.data = copy;
    made.root = plan->cell_count;
    return pxi_plan_add_cell(plan, made);
}

int pxi_plan_as(px_plan *plan, int cell, pxi_layout layout)
{
    const pxi_cell *from = &plan->cells[cell];
    if (from->layout == layout || !pxi_shape_has_pixels(&from->tensor.shape))
        return cell;
    if (from->twin >= 0)
        return from->twin;
    const px_shape *s = &from->tensor.shape;
    const bool same_bytes = s->dim[1] == 1 || pxi_shape_pixels(s) == 1;
    int made;
    if (from->tensor.data && !same_bytes && !from->is_wrt && !from->is_weight) {
        made = plan_constant_as(plan, cell, layout);
    } else if (same_bytes) {
        made = pxi_plan_add_cell(plan, (pxi_cell){.tensor = from->tensor,
                                                  .layout = layout,
                                                  .value = -1,
                                                  .root = from->root,
                                                  .twin = cell});
    } else {
        pxi_cell copy = {.tensor = from->tensor, .layout = layout, .value = -1, .twin = cell};
        copy.tensor.data = NULL;
        copy.root = plan->cell_count;
        made = pxi_plan_add_cell(plan, copy);
        pxi_unit *unit = made < 0 ? NULL : pxi_plan_add_unit(plan, &pxi_unit_copy, -1, 1, 1);
        if (!unit)
            return -1;
        unit->in[0] = cell;
        unit->out[0] = made;
    }
    if (made >= 0)
        plan->cells[cell].twin = made;
    return made;
}

/* Whether a step's output may be its input under another name. Not where its own gradient is asked
 * for: the source's also has what flows back to the source on other ways. Nor of a constant:
 * kernels read session memory a little past its end. */
static bool lower_may_alias(const px_plan *plan, const pxi_step *step)
{
    return !plan->cells[step->ctx.node->outputs[0]].is_wrt &&
           !pxi_cell_root(plan, step->ctx.node->inputs[0])->tensor.data;
}

/* Makes a step's output an alias of `cell`'s memory. */
static px_status lower_alias(px_plan *plan, int step, int cell, pxi_layout layout, px_error *err)
{
    const int out = plan->program->steps[step].ctx.node->outputs[0];
    plan->cells[out].root = plan->cells[cell].root;
    plan->cells[out].layout = layout;
    if (plan->cells[out].pinned || plan->cells[out].observed) {
        pxi_unit *unit = pxi_plan_add_unit(plan, &pxi_unit_view, step, 1, 1);
        if (!unit)
            return pxi_no_memory(err);
        unit->in[0] = cell;
        unit->out[0] = out;
    }
    return PX_OK;
}

/* Whether a view touches neither samples nor channels, so that either layout keeps its bytes. */
static bool lower_keeps_channels(const px_shape *a, const px_shape *b)
{
    return px_shape_equal(a, b) || (pxi_shape_has_pixels(a) && pxi_shape_has_pixels(b) &&
                                    a->dim[0] == b->dim[0] && a->dim[1] == b->dim[1]);
}

/* Reshape, Flatten, Identity ...: the same bytes under another shape. */
static px_status lower_view(px_plan *plan, int step, px_error *err)
{
    const pxi_step *s = &plan->program->steps[step];
    int cell = s->ctx.node->inputs[0];
    if (!lower_keeps_channels(&s->ctx.in[0].shape, &s->ctx.out[0].shape)) {
        cell = pxi_plan_as(plan, cell, PXI_PLAIN);
        if (cell < 0)
            return pxi_no_memory(err);
    }
    return lower_alias(plan, step, cell, plan->cells[cell].layout, err);
}

/* A Transpose between NCHW and NHWC that only undoes (or does) what the layout did already. */
static bool lower_transpose_is_view(const px_plan *plan, const pxi_step *step, pxi_layout *layout)
{
    static const int64_t to_last[] = {0, 2, 3, 1}, to_first[] = {0, 3, 1, 2}, swap[] = {0, 2, 1};
    const px_attr *perm = px_node_attr(step->ctx.node, "perm");
    if (strcmp(step->ctx.node->type, "Transpose") != 0 || !perm ||
        (perm->count != 3 && perm->count != 4) || step->ctx.in[0].dtype != PX_FLOAT32)
        return false;
    const pxi_layout from = plan->cells[step->ctx.node->inputs[0]].layout;
    *layout = from == PXI_NHWC ? PXI_PLAIN : PXI_NHWC;
    const int64_t *view = perm->count == 3 ? swap : from == PXI_NHWC ? to_last : to_first;
    return memcmp(perm->ints, view, perm->count * sizeof *view) == 0;
}

pxi_layout pxi_plain_layout(const px_plan *plan, const pxi_step *step)
{
    const px_node *node = step->ctx.node;
    const px_shape *out = &step->ctx.out[0].shape;
    if (!step->op->permute || plan->reference || !pxi_shape_has_pixels(out) ||
        px_node_attr(node, "broadcast"))
        return PXI_PLAIN;
    bool any = false;
    for (int i = 0; i < node->input_count; i++) {
        if (node->inputs[i] < 0)
            continue;
        const pxi_cell *cell = &plan->cells[node->inputs[i]];
        if (cell->tensor.data) {
            if (step->op->elementwise && cell->tensor.shape.rank > out->rank)
                return PXI_PLAIN;
            if (cell->is_wrt || cell->is_weight)
                return PXI_PLAIN;
            continue;
        }
        if (cell->tensor.shape.rank != out->rank)
            return PXI_PLAIN;
        any = any || (cell->layout == PXI_NHWC && cell->tensor.shape.dim[1] > 1 &&
                      pxi_shape_pixels(&cell->tensor.shape) > 1);
    }
    for (int i = 1; i < node->output_count; i++)
        if (node->outputs[i] >= 0 && step->ctx.out[i].shape.rank != out->rank)
            return PXI_PLAIN;
    return any ? PXI_NHWC : PXI_PLAIN;
}

static px_status lower_step(px_plan *plan, int s, px_error *err)
{
    const pxi_step *step = &plan->program->steps[s];
    pxi_layout layout;
    if (pxi_drop_takes(plan, step))
        return pxi_emit_drop(plan, s, err);
    if (plan->batch_norms && strcmp(step->ctx.node->type, "BatchNormalization") == 0)
        return pxi_op_fail(&step->ctx, err, PX_E_UNSUPPORTED,
                           "cannot be trained: its scale, bias and statistics have to be float32 "
                           "initialisers of its own, its data of rank 2 to 4");
    const bool view_outputs = step->ctx.node->output_count == 1 ||
                              (step->ctx.node->output_count == 2 && step->ctx.node->outputs[1] < 0);
    if ((step->op->view || step->ctx.copies) && view_outputs && step->ctx.in[0].dtype == step->ctx.out[0].dtype &&
        lower_may_alias(plan, step))
        return lower_view(plan, s, err);
    if (!plan->reference) {
        if (lower_transpose_is_view(plan, step, &layout) && lower_may_alias(plan, step))
            return lower_alias(plan, s, step->ctx.node->inputs[0], layout, err);
        if (pxi_pool_takes(plan, step))
            return pxi_emit_pool(plan, s, err);
        if (pxi_scale_takes(plan, step))
            return pxi_emit_scale(plan, s, err);
        if (pxi_matmul_takes(plan, step))
            return pxi_emit_matmul(plan, s, err);
    }
    return pxi_emit_plain(plan, s, pxi_plain_layout(plan, step), err);
}

static px_status lower_group(px_plan *plan, const pxi_group *group, px_error *err)
{
    const pxi_step *head = &plan->program->steps[group->head];
    return pxi_conv_takes(plan, head)   ? pxi_emit_conv(plan, group, err)
           : pxi_norm_takes(plan, head) ? pxi_emit_norm(plan, group, err)
                                        : pxi_emit_dense(plan, group, err);
}

px_status pxi_lower(px_plan *plan, px_error *err)
{
    const size_t steps = (size_t)plan->program->step_count;
    pxi_group *groups = pxi_calloc(steps, sizeof *groups);
    int *group_of = pxi_calloc(steps, sizeof *group_of);
    int *chain_of = pxi_calloc(steps, sizeof *chain_of);
    px_status status =
        groups && group_of && chain_of ? pxi_fuse(plan, groups, group_of, err) : pxi_no_memory(err);
    if (status == PX_OK)
        status = pxi_find_chains(plan, group_of, chain_of, err);
    for (int s = 0; s < plan->program->step_count && status == PX_OK; s++) {
        const pxi_group *group = group_of[s] < 0 ? NULL : &groups[group_of[s]];
        if (chain_of[s] == s)
            status = pxi_emit_chain(plan, chain_of, s, err);
        else if (!group && chain_of[s] < 0)
            status = lower_step(plan, s, err);
        else if (group && group->last == s)
            status = lower_group(plan, group, err);
        const px_node *node = plan->program->steps[s].ctx.node;
        for (int i = 0; i < node->output_count && status == PX_OK; i++)
            if (node->outputs[i] >= 0 && plan->cells[node->outputs[i]].gate)
                status = pxi_emit_gate(plan, s, node->outputs[i], err);
    }
    free(groups);
    free(group_of);
    free(chain_of);
    return status;
}
