/* src/ops/unroll.c - If, Loop and Scan, taken apart while a program is made
 *
 * A condition and a number of turns that are known then (constants, or made of shapes) leave the
 * branch that is taken, or every turn, in their place: what stands inside is like any other node,
 * with fast kernels and gradients. Where a condition hangs on values at run time, both branches
 * run and Where takes one of them; a loop with a known most of turns runs them all, and keeps what
 * it had once its condition has failed. A loop that may run for ever on what is not known is
 * refused, as is one that would give as many results as turns.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#include "ops/program_internal.h"

#include "base/memory.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* --- nodes of our own ------------------------------------------------------------------------ */

/* What messages of pxi_op_fail() are about. */
static px_op_ctx expand_ctx(const px_node *node)
{
    return (px_op_ctx){.node = node};
}

static bool expand_is_known(const program_builder *b, int value)
{
    const pxi_slot *slot = &b->program->slots[value];
    return slot->tensor.data && !slot->varies;
}

px_status pxi_program_emit(program_builder *b, const px_node *around, const char *type,
                           const int *inputs, int input_count, const px_attr *attrs, int attr_count,
                           int *out, px_error *err)
{
    px_arena *arena = b->program->arena;
    px_node *node = NULL;
    int *values = NULL;
    px_attr *kept = NULL;
    if (*out < 0)
        PX_TRY(pxi_program_value(b, around->name, out, err));
    PX_TRY(PX_ARENA_NEW(node, arena, 1, err));
    PX_TRY(PX_ARENA_NEW(values, arena, input_count + 1, err));
    PX_TRY(PX_ARENA_NEW(kept, arena, attr_count + 1, err));
    memcpy(values, inputs, (size_t)input_count * sizeof *values);
    values[input_count] = *out;
    if (attr_count > 0)
        memcpy(kept, attrs, (size_t)attr_count * sizeof *kept);
    *node = (px_node){.name = around->name,
                      .type = type,
                      .domain = "",
                      .opset = PXI_EMIT_OPSET,
                      .input_count = input_count,
                      .output_count = 1,
                      .inputs = values,
                      .outputs = values + input_count,
                      .attr_count = attr_count,
                      .attrs = kept};
    return pxi_program_add(b, node, err);
}

px_status pxi_program_alias(program_builder *b, int from, int to, px_error *err)
{
    if (to < 0)
        return PX_OK;
    const pxi_slot *slot = &b->program->slots[from];
    if (slot->tensor.dtype == PX_SEQUENCE)
        return pxi_program_sequence(b, to, slot->items, slot->tensor.shape.dim[0], err);
    const px_node around = {.name = b->program->graph.values[to].name};
    return pxi_program_emit(b, &around, "Identity", &from, 1, NULL, 0, &to, err);
}

static px_status expand_ints(px_arena *arena, int64_t value, const int64_t **out, px_error *err)
{
    int64_t *made = NULL;
    PX_TRY(PX_ARENA_NEW(made, arena, 1, err));
    *made = value;
    *out = made;
    return PX_OK;
}

px_status pxi_program_join(program_builder *b, const px_node *around, const int *parts, int count,
                           int64_t axis, bool new_axis, int out, px_error *err)
{
    px_arena *arena = b->program->arena;
    px_attr axes = {.name = "axes", .kind = PX_ATTR_INTS, .count = 1};
    const px_attr along = {.name = "axis", .kind = PX_ATTR_INT, .i = axis};
    int *wide = NULL;
    PX_TRY(PX_ARENA_NEW(wide, arena, count, err));
    PX_TRY(expand_ints(arena, axis, &axes.ints, err));
    for (int i = 0; i < count; i++) {
        wide[i] = new_axis ? -1 : parts[i];
        if (new_axis)
            PX_TRY(pxi_program_emit(b, around, "Unsqueeze", &parts[i], 1, &axes, 1, &wide[i], err));
    }
    return pxi_program_emit(b, around, "Concat", wide, count, &along, 1, &out, err);
}

px_status pxi_program_number(program_builder *b, px_dtype dtype, int64_t number, int *out,
                             px_error *err)
{
    int64_t *data = NULL;
    PX_TRY(PX_ARENA_NEW(data, b->program->arena, 1, err));
    if (dtype == PX_BOOL)
        *(uint8_t *)data = number != 0;
    else
        *data = number;
    return pxi_program_constant(b, &(px_tensor){.dtype = dtype, .data = data}, out, err);
}

px_status pxi_program_entry(program_builder *b, const px_node *around, int value, int64_t axis,
                            int64_t at, int *out, px_error *err)
{
    const px_attr along = {.name = "axis", .kind = PX_ATTR_INT, .i = axis};
    int inputs[2] = {value};
    PX_TRY(pxi_program_number(b, PX_INT64, at, &inputs[1], err));
    return pxi_program_emit(b, around, "Gather", inputs, 2, &along, 1, out, err);
}

/* --- the graph inside of a node -------------------------------------------------------------- */

static px_status expand_name(program_builder *b, const px_node *around, int64_t turn,
                             const char *name, const char **out, px_error *err)
{
    const size_t size = strlen(around->name) + strlen(name) + 32;
    char *made = pxi_arena_alloc(b->program->arena, size, 1);
    if (!made)
        return pxi_no_memory(err);
    snprintf(made, size, "%s#%" PRId64 "/%s", around->name, turn, name);
    *out = made;
    return PX_OK;
}

static px_status inline_node(program_builder *b, const px_node *around, const px_graph *graph,
                             const px_node *from, int64_t turn, int *map, px_error *err)
{
    px_arena *arena = b->program->arena;
    px_node *node = NULL;
    int *values = NULL;
    PX_TRY(PX_ARENA_NEW(node, arena, 1, err));
    PX_TRY(PX_ARENA_NEW(values, arena, from->input_count + from->output_count + 1, err));
    *node = *from;
    node->inputs = values;
    node->outputs = values + from->input_count;
    PX_TRY(expand_name(b, around, turn, from->name, &node->name, err));
    for (int i = 0; i < from->input_count; i++)
        values[i] = from->inputs[i] < 0 ? -1 : map[from->inputs[i]];
    for (int i = 0; i < from->output_count; i++) {
        int *made = &values[from->input_count + i];
        const char *name = NULL;
        *made = -1;
        if (from->outputs[i] < 0)
            continue;
        PX_TRY(expand_name(b, around, turn, graph->values[from->outputs[i]].name, &name, err));
        PX_TRY(pxi_program_value(b, name, made, err));
        map[from->outputs[i]] = *made;
    }
    return pxi_program_add(b, node, err);
}

static px_status inline_constants(program_builder *b, const px_graph *graph, const int **out,
                                  px_error *err)
{
    inner_constants *known = b->constants;
    while (known && known->graph != graph)
        known = known->next;
    if (!known) {
        PX_TRY(PX_ARENA_NEW(known, b->program->arena, 1, err));
        PX_TRY(PX_ARENA_NEW(known->value, b->program->arena, graph->value_count, err));
        for (int v = 0; v < graph->value_count; v++) {
            known->value[v] = -1;
            if (graph->values[v].constant)
                PX_TRY(pxi_program_constant(b, graph->values[v].constant, &known->value[v], err));
        }
        known->graph = graph;
        known->next = b->constants;
        b->constants = known;
    }
    *out = known->value;
    return PX_OK;
}

px_status pxi_program_inline(program_builder *b, const px_node *around, const px_attr *body,
                             const int *given, int64_t turn, int *results, px_error *err)
{
    const px_graph *graph = body->graph;
    const int own = graph->input_count - (int)body->count;
    const int *constants = NULL;
    int *map = NULL;
    PX_TRY(
        pxi_program_charge(b, around, 1 + graph->value_count, err)); /* a turn without nodes, too */
    PX_TRY(inline_constants(b, graph, &constants, err));
    PX_TRY(PX_ARENA_NEW(map, b->program->arena, graph->value_count, err));
    if (graph->value_count > 0)
        memcpy(map, constants, (size_t)graph->value_count * sizeof *map);
    for (int i = 0; i < graph->input_count; i++)
        map[graph->inputs[i]] = i < own ? given[i] : around->inputs[body->i + i - own];
    for (int n = 0; n < graph->node_count; n++)
        PX_TRY(inline_node(b, around, graph, &graph->nodes[n], turn, map, err));
    for (int i = 0; i < graph->output_count; i++)
        results[i] = map[graph->outputs[i]];
    return PX_OK;
}

/* A node's inner graph with so many inputs of its own, and at least so many outputs. */
static px_status expand_body(const px_node *node, const char *name, int inputs, int outputs,
                             const px_attr **out, px_error *err)
{
    const px_op_ctx ctx = expand_ctx(node);
    const px_attr *body = px_node_attr(node, name);
    if (!body || body->kind != PX_ATTR_GRAPH)
        return pxi_op_fail(&ctx, err, PX_E_UNSUPPORTED,
                           "its %s is no graph that can be had; inside of functions it is not "
                           "supported",
                           name);
    const int own = body->graph->input_count - (int)body->count;
    if ((inputs >= 0 && own != inputs) || body->graph->output_count < outputs)
        return pxi_op_fail(&ctx, err, PX_E_INPUT,
                           "its %s has %d inputs and %d outputs, expected %d and %d", name, own,
                           body->graph->output_count, inputs, outputs);
    *out = body;
    return PX_OK;
}

/* A condition: one bool. */
static px_status expand_condition(const program_builder *b, const px_node *node, int value,
                                  px_error *err)
{
    const px_op_ctx ctx = expand_ctx(node);
    const px_tensor *tensor = &b->program->slots[value].tensor;
    if (tensor->dtype == PX_BOOL && px_shape_count(&tensor->shape) == 1)
        return PX_OK;
    char text[PX_SHAPE_TEXT];
    return pxi_op_fail(&ctx, err, PX_E_UNSUPPORTED,
                       "a condition of type %s and shape %s is not supported, one bool is",
                       px_dtype_name(tensor->dtype), px_shape_text(&tensor->shape, text));
}

/* *out = condition ? a : b, where that is known at run time only; *out -1: a new value. */
static px_status expand_choose(program_builder *b, const px_node *node, int condition, int one,
                               int other, int *out, px_error *err)
{
    const px_op_ctx ctx = expand_ctx(node);
    const px_tensor *x = &b->program->slots[one].tensor, *y = &b->program->slots[other].tensor;
    char a[PX_SHAPE_TEXT], c[PX_SHAPE_TEXT];
    if (x->dtype == PX_SEQUENCE || x->dtype != y->dtype || !px_shape_equal(&x->shape, &y->shape))
        return pxi_op_fail(&ctx, err, PX_E_UNSUPPORTED,
                           "choosing between %s and %s by what is known at run time only is not "
                           "supported",
                           px_shape_text(&x->shape, a), px_shape_text(&y->shape, c));
    int inputs[] = {condition, one, other};
    if (b->program->slots[condition].tensor.shape.rank > 0) { /* its axes must not show */
        static int64_t nothing;
        const px_tensor none = {
            .dtype = PX_INT64, .shape = {.rank = 1, .dim = {0}}, .data = &nothing};
        int reshape[] = {condition, -1};
        inputs[0] = -1;
        PX_TRY(pxi_program_constant(b, &none, &reshape[1], err));
        PX_TRY(pxi_program_emit(b, node, "Reshape", reshape, 2, NULL, 0, &inputs[0], err));
    }
    return pxi_program_emit(b, node, "Where", inputs, 3, NULL, 0, out, err);
}

static px_status expand_results(program_builder *b, int count, int **out, px_error *err)
{
    return PX_ARENA_NEW(*out, b->program->arena, count + 1, err);
}

/* --- If -------------------------------------------------------------------------------------- */

static px_status expand_if(program_builder *b, const px_node *node, px_error *err)
{
    static const char *const names[] = {"else_branch", "then_branch"};
    const px_op_ctx ctx = expand_ctx(node);
    int *results[2];
    if (node->input_count < 1 || node->inputs[0] < 0)
        return pxi_op_fail(&ctx, err, PX_E_INPUT, "lacks its condition");
    const int condition = node->inputs[0];
    PX_TRY(expand_condition(b, node, condition, err));
    const bool known = expand_is_known(b, condition);
    const bool taken = known && *(const uint8_t *)b->program->slots[condition].tensor.data != 0;
    for (int i = 0; i < 2; i++) {
        const px_attr *body = NULL;
        if (known && i != taken)
            continue;
        PX_TRY(expand_body(node, names[i], 0, node->output_count, &body, err));
        PX_TRY(expand_results(b, body->graph->output_count, &results[i], err));
        PX_TRY(pxi_program_inline(b, node, body, NULL, i, results[i], err));
    }
    b->program->chooses = b->program->chooses || !known;
    for (int i = 0; i < node->output_count; i++) {
        int out = node->outputs[i];
        if (out >= 0 && known)
            PX_TRY(pxi_program_alias(b, results[taken][i], out, err));
        else if (out >= 0)
            PX_TRY(expand_choose(b, node, condition, results[1][i], results[0][i], &out, err));
    }
    return PX_OK;
}

/* --- Loop ------------------------------------------------------------------------------------ */

typedef struct loop_run {
    const px_attr *body;
    int carried, scans;
    int64_t most;   /* turns; INT64_MAX: as long as its condition holds */
    int alive;      /* whether it goes on, where that is known at run time only; -1: it does */
    int *given;     /* inputs of the body: turn, condition, carried */
    int *results;   /* condition, carried, scans */
    int *collected; /* [turn][scan] */
    size_t capacity;
    int64_t turns;
} loop_run;

static px_status loop_start(program_builder *b, const px_node *node, loop_run *run, px_error *err)
{
    const px_op_ctx ctx = expand_ctx(node);
    const px_attr *body = px_node_attr(node, "body");
    const int declared = body && body->kind == PX_ATTR_GRAPH ? (int)body->i : node->input_count;
    if (declared < 2)
        return pxi_op_fail(&ctx, err, PX_E_INPUT, "has %d inputs, expected at least 2", declared);
    run->carried = declared - 2;
    PX_TRY(expand_body(node, "body", declared, 1 + run->carried, &run->body, err));
    run->scans = run->body->graph->output_count - 1 - run->carried;
    PX_TRY(expand_results(b, declared, &run->given, err));
    PX_TRY(expand_results(b, 1 + run->carried + run->scans, &run->results, err));
    for (int i = 0; i < declared; i++)
        run->given[i] = node->inputs[i];
    run->most = INT64_MAX;
    run->alive = -1;
    if (run->given[0] >= 0) {
        const px_tensor *most = &b->program->slots[run->given[0]].tensor;
        if (most->dtype != PX_INT64 || px_shape_count(&most->shape) != 1)
            return pxi_op_fail(&ctx, err, PX_E_INPUT, "its number of turns is not one int64");
        if (!expand_is_known(b, run->given[0]))
            return pxi_op_fail(&ctx, err, PX_E_UNSUPPORTED,
                               "a number of turns that is known at run time only is not supported");
        run->most = *(const int64_t *)most->data;
    }
    if (run->given[1] < 0)
        return pxi_program_number(b, PX_BOOL, 1, &run->given[1], err);
    return expand_condition(b, node, run->given[1], err);
}

/* After a turn, or before the first: whether there is another one. */
static px_status loop_goes_on(program_builder *b, const px_node *node, loop_run *run, bool *on,
                              px_error *err)
{
    const px_op_ctx ctx = expand_ctx(node);
    const int condition = run->given[1];
    PX_TRY(expand_condition(b, node, condition, err));
    *on = run->turns < run->most;
    if (expand_is_known(b, condition)) {
        *on = *on && *(const uint8_t *)b->program->slots[condition].tensor.data != 0;
        return PX_OK;
    }
    b->program->chooses = true;
    if (run->scans > 0 || run->most == INT64_MAX)
        return pxi_op_fail(&ctx, err, PX_E_UNSUPPORTED,
                           "a number of turns that is known at run time only is not supported");
    if (run->alive < 0) {
        run->alive = condition;
        return PX_OK;
    }
    const int both[] = {run->alive, condition};
    int alive = -1;
    PX_TRY(pxi_program_emit(b, node, "And", both, 2, NULL, 0, &alive, err));
    run->alive = alive;
    return PX_OK;
}

static px_status loop_turn(program_builder *b, const px_node *node, loop_run *run, px_error *err)
{
    PX_TRY(pxi_program_number(b, PX_INT64, run->turns, &run->given[0], err));
    PX_TRY(pxi_program_inline(b, node, run->body, run->given, run->turns, run->results, err));
    for (int i = 0; i < run->carried; i++) {
        int next = run->results[1 + i];
        if (run->alive >= 0) {
            next = -1;
            PX_TRY(expand_choose(b, node, run->alive, run->results[1 + i], run->given[2 + i], &next,
                                 err));
        }
        run->given[2 + i] = next;
    }
    run->given[1] = run->results[0];
    const size_t have = (size_t)run->turns * (size_t)run->scans;
    if (pxi_grow(&run->collected, &run->capacity, have + (size_t)run->scans + 1,
                 sizeof *run->collected) != 0)
        return pxi_no_memory(err);
    for (int i = 0; i < run->scans; i++)
        run->collected[have + (size_t)i] = run->results[1 + run->carried + i];
    run->turns++;
    return PX_OK;
}

/* What a scan of no turns gives: nothing, of the shape that the file declares. */
static px_status expand_nothing(program_builder *b, const px_node *node, const px_attr *body,
                                int output, int out, px_error *err)
{
    const px_op_ctx ctx = expand_ctx(node);
    const px_value *value = &body->graph->values[body->graph->outputs[output]];
    px_tensor empty = {.dtype = value->dtype, .shape = {.rank = 1 + value->shape.rank}};
    bool known = value->has_shape && value->dtype != PX_NONE && value->shape.rank < PX_MAX_RANK;
    for (int i = 0; known && i < value->shape.rank; i++) {
        empty.shape.dim[1 + i] = value->shape.dim[i];
        known = value->shape.dim[i] >= 0;
    }
    if (!known)
        return pxi_op_fail(&ctx, err, PX_E_UNSUPPORTED,
                           "no turn, and so a result of no known shape, is not supported");
    int made = -1;
    int64_t *data = NULL;
    PX_TRY(PX_ARENA_NEW(data, b->program->arena, 1, err));
    empty.data = data;
    PX_TRY(pxi_program_constant(b, &empty, &made, err));
    return pxi_program_alias(b, made, out, err);
}

static px_status loop_end(program_builder *b, const px_node *node, const loop_run *run,
                          px_error *err)
{
    for (int i = 0; i < run->carried && i < node->output_count; i++)
        PX_TRY(pxi_program_alias(b, run->given[2 + i], node->outputs[i], err));
    int *parts = NULL;
    PX_TRY(expand_results(b, (int)run->turns, &parts, err));
    for (int i = 0; i < run->scans && run->carried + i < node->output_count; i++) {
        const int out = node->outputs[run->carried + i];
        for (int64_t t = 0; t < run->turns; t++)
            parts[t] = run->collected[t * run->scans + i];
        if (out >= 0 && run->turns > 0)
            PX_TRY(pxi_program_join(b, node, parts, (int)run->turns, 0, /* new_axis= */ true, out,
                                    err));
        else if (out >= 0)
            PX_TRY(expand_nothing(b, node, run->body, 1 + run->carried + i, out, err));
    }
    return PX_OK;
}

static px_status expand_loop(program_builder *b, const px_node *node, px_error *err)
{
    loop_run run = {0};
    bool on = true;
    px_status status = loop_start(b, node, &run, err);
    while (status == PX_OK) {
        status = loop_goes_on(b, node, &run, &on, err);
        if (status != PX_OK || !on)
            break;
        status = loop_turn(b, node, &run, err);
    }
    if (status == PX_OK)
        status = loop_end(b, node, &run, err);
    free(run.collected);
    return status;
}

/* --- Scan ------------------------------------------------------------------------------------ */

/* Entry `i` of a list attribute; `fallback` where it is not there. */
static int64_t scan_attr(const px_node *node, const char *name, int i, int64_t fallback)
{
    const px_attr *attr = px_node_attr(node, name);
    return attr && attr->kind == PX_ATTR_INTS && (size_t)i < attr->count ? attr->ints[i] : fallback;
}

/* The axis of a scanned input, and that all are as long. */
static px_status scan_axis(const program_builder *b, const px_node *node, int i, int value,
                           int *axis, int64_t *length, px_error *err)
{
    const px_op_ctx ctx = expand_ctx(node);
    if (value < 0)
        return pxi_op_fail(&ctx, err, PX_E_INPUT, "lacks what it scans");
    const px_shape *shape = &b->program->slots[value].tensor.shape;
    PX_TRY(pxi_op_axis(&ctx, scan_attr(node, "scan_input_axes", i, 0), shape->rank, axis, err));
    if (*length >= 0 && shape->dim[*axis] != *length)
        return pxi_op_fail(&ctx, err, PX_E_MISMATCH, "scans %lld and %lld entries side by side",
                           (long long)*length, (long long)shape->dim[*axis]);
    *length = shape->dim[*axis];
    return PX_OK;
}

static px_status expand_scan(program_builder *b, const px_node *node, px_error *err)
{
    const px_op_ctx ctx = expand_ctx(node);
    const px_attr *body = px_node_attr(node, "body");
    const int declared = body && body->kind == PX_ATTR_GRAPH ? (int)body->i : node->input_count;
    const int64_t scanned = px_node_int(node, "num_scan_inputs", 0);
    if (scanned < 1 || scanned > declared)
        return pxi_op_fail(&ctx, err, PX_E_INPUT, "scans %lld of %d inputs", (long long)scanned,
                           declared);
    const int states = declared - (int)scanned;
    PX_TRY(expand_body(node, "body", declared, states, &body, err));
    const int outputs = body->graph->output_count;
    int *given = NULL, *results = NULL, *axes = NULL, *parts = NULL;
    int64_t length = -1;
    PX_TRY(expand_results(b, declared, &given, err));
    PX_TRY(expand_results(b, declared, &axes, err));
    PX_TRY(expand_results(b, outputs, &results, err));
    for (int i = 0; i < states; i++)
        given[i] = node->inputs[i];
    for (int i = 0; i < scanned; i++)
        PX_TRY(scan_axis(b, node, i, node->inputs[states + i], &axes[i], &length, err));
    if (length > INT32_MAX / PX_MAX(outputs, 1))
        return pxi_op_fail(&ctx, err, PX_E_UNSUPPORTED, "%lld turns are not supported",
                           (long long)length);
    PX_TRY(expand_results(b, (int)length * PX_MAX(outputs, 1), &parts, err)); /* [output][turn] */
    for (int64_t t = 0; t < length; t++) {
        for (int i = 0; i < scanned; i++) {
            const bool back = scan_attr(node, "scan_input_directions", i, 0) != 0;
            given[states + i] = -1;
            PX_TRY(pxi_program_entry(b, node, node->inputs[states + i], axes[i],
                                     back ? length - 1 - t : t, &given[states + i], err));
        }
        PX_TRY(pxi_program_inline(b, node, body, given, t, results, err));
        for (int i = 0; i < states; i++)
            given[i] = results[i];
        for (int i = states; i < outputs; i++) {
            const bool back = scan_attr(node, "scan_output_directions", i - states, 0) != 0;
            parts[i * length + (back ? length - 1 - t : t)] = results[i];
        }
    }
    for (int i = 0; i < node->output_count && i < outputs; i++) {
        const int out = node->outputs[i];
        if (out < 0)
            continue;
        if (i < states)
            PX_TRY(pxi_program_alias(b, given[i], out, err));
        else if (length > 0)
            PX_TRY(pxi_program_join(b, node, parts + i * length, (int)length,
                                    scan_attr(node, "scan_output_axes", i - states, 0),
                                    /* new_axis= */ true, out, err));
        else
            PX_TRY(expand_nothing(b, node, body, i, out, err));
    }
    return PX_OK;
}

/* --- which is which -------------------------------------------------------------------------- */

px_status pxi_program_expand(program_builder *b, const px_node *node, px_error *err)
{
    if (strcmp(node->type, "If") == 0)
        return expand_if(b, node, err);
    if (strcmp(node->type, "Loop") == 0)
        return expand_loop(b, node, err);
    if (strcmp(node->type, "Scan") == 0)
        return expand_scan(b, node, err);
    return pxi_program_expand_sequence(b, node, err);
}
