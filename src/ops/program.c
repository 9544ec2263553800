/* src/ops/program.c - specialise a graph to concrete input shapes, folding constants */
/* SPDX-License-Identifier: Apache-2.0 */
#include "ops/program_internal.h"

#include "base/memory.h"

#include <internal/tensor.h>
#include <internal/weights.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What folding may allocate and compute in all: so much, and so many times the bytes of the file's
 * constants. Real networks fold masks, grids and their weights in another order; a hostile file
 * asks for 2^40 elements with a ConstantOfShape, or for products of matrices of ones. Beyond these
 * limits a node is left for the plan to run (which has limits of its own). */
static const size_t program_fold_bytes = (size_t)64 << 20;
static const int64_t program_fold_flops = (int64_t)1 << 28;
enum { PROGRAM_FOLD_FACTOR = 4 };

/* What one tensor of a micro-batch may take, checked before there is memory for any. */
static const int64_t program_tensor_bytes = (int64_t)2 << 30;

/* An interpreter cannot leave anything, and runs what it was given to run. */
static const size_t program_interpret_bytes = (size_t)1 << 30;

/* More steps than a plan may have, and far more nodes than an honest loop unrolls to. */
enum { PROGRAM_NODES_MOST = 1 << 18 };

static px_dtype widened(px_dtype dtype)
{
    return dtype == PX_FLOAT16 || dtype == PX_BFLOAT16 ? PX_FLOAT32 : dtype;
}

/* Half precision is storage only: constants and feeds become float32 on the way in. */
static px_status program_widen(px_arena *arena, const px_tensor *from, px_tensor *to, px_error *err)
{
    *to = *from;
    to->dtype = widened(from->dtype);
    if (to->dtype == from->dtype || !from->data)
        return PX_OK;
    const int64_t count = px_shape_count(&from->shape);
    px_real *wide = NULL;
    PX_TRY(PX_ARENA_NEW(wide, arena, count, err));
    const uint16_t *half = from->data;
    for (int64_t i = 0; i < count; i++)
        wide[i] =
            from->dtype == PX_FLOAT16 ? px_half_to_float(half[i]) : px_bfloat_to_float(half[i]);
    to->data = wide;
    return PX_OK;
}

#ifdef PXI_REAL_DOUBLE
/* The test build keeps doubles in float32 tensors; constants from files are converted once. */
static px_status program_real(px_arena *arena, px_tensor *tensor, px_error *err)
{
    if (tensor->dtype != PX_FLOAT32 || !tensor->data)
        return PX_OK;
    const int64_t count = px_shape_count(&tensor->shape);
    px_real *wide = NULL;
    PX_TRY(PX_ARENA_NEW(wide, arena, count, err));
    for (int64_t i = 0; i < count; i++)
        wide[i] = ((const float *)tensor->data)[i];
    tensor->data = wide;
    return PX_OK;
}
#endif

/* --- values and nodes of the program's own --------------------------------------------------- */

px_status pxi_program_value(program_builder *b, const char *name, int *out, px_error *err)
{
    pxi_program *program = b->program;
    px_arena *arena = program->arena;
    const int count = program->graph.value_count;
    if (count >= b->value_capacity) {
        const int capacity = count + PX_MAX(count / 2, 64);
        px_value *values = NULL;
        pxi_slot *slots = NULL;
        PX_TRY(PX_ARENA_NEW(values, arena, capacity, err));
        PX_TRY(PX_ARENA_NEW(slots, arena, capacity, err));
        if (count > 0) {
            memcpy(values, program->graph.values, (size_t)count * sizeof *values);
            memcpy(slots, program->slots, (size_t)count * sizeof *slots);
        }
        program->graph.values = b->values = values;
        program->slots = slots;
        b->value_capacity = capacity;
    }
    b->values[count] = (px_value){.name = name, .producer = -1};
    program->slots[count] = (pxi_slot){.producer = -1};
    program->graph.value_count++;
    *out = count;
    return PX_OK;
}

px_status pxi_program_constant(program_builder *b, const px_tensor *tensor, int *out, px_error *err)
{
    PX_TRY(pxi_program_value(b, "", out, err));
    pxi_slot *slot = &b->program->slots[*out];
    PX_TRY(program_widen(b->program->arena, tensor, &slot->tensor, err));
#ifdef PXI_REAL_DOUBLE
    if (tensor->dtype == PX_FLOAT32)
        PX_TRY(program_real(b->program->arena, &slot->tensor, err));
#endif
    return PX_OK;
}

/* Marks the nodes that `wanted` needs, walking back from the last node to the first. */
static void program_mark_live(program_builder *b)
{
    const px_graph *graph = b->graph;
    pxi_slot *slots = b->program->slots;
    bool *needed = b->live + graph->node_count; /* second half of the same block: per value */
    for (int v = 0; v < graph->value_count; v++)
        needed[v] = slots[v].is_wanted;
    for (int n = graph->node_count - 1; n >= 0; n--) {
        const px_node *node = &graph->nodes[n];
        for (int i = 0; i < node->output_count; i++)
            if (node->outputs[i] >= 0 && needed[node->outputs[i]] &&
                !slots[node->outputs[i]].is_feed)
                b->live[n] = true;
        for (int i = 0; b->live[n] && i < node->input_count; i++)
            if (node->inputs[i] >= 0)
                needed[node->inputs[i]] = true;
    }
}

/* Finds every live node's operator; names all that are missing in one message. */
static px_status program_check_ops(const program_builder *b, px_error *err)
{
    char text[400];
    size_t used = 0;
    int missing = 0;
    for (int n = 0; n < b->graph->node_count; n++) {
        const px_node *node = &b->graph->nodes[n];
        bool known;
        if (!b->live[n] || pxi_op_find(node->domain, node->type, node->opset, &known))
            continue;
        char where[PXI_NODE_TEXT];
        char version[48] = "";
        if (known)
            snprintf(version, sizeof version, " of opset %d", node->opset);
        missing++;
        if (used + 120 < sizeof text)
            used += (size_t)snprintf(text + used, sizeof text - used, "%s'%.40s'%s in %.60s",
                                     used ? ", " : "", node->type, version,
                                     node->name[0] ? node->name : pxi_node_text(node, where));
    }
    if (!missing)
        return PX_OK;
    return px_fail(err, PX_E_UNSUPPORTED,
                   "%d operator%s not supported: %s; 'plexor list ops' shows what is", missing,
                   missing == 1 ? " is" : "s are", text);
}

/* Counts what folding the node would take; false: more than is left. */
static bool program_can_fold(program_builder *b, const px_op *op, const px_op_ctx *ctx)
{
    const bool interpret = b->request->interpret;
    const size_t more = PROGRAM_FOLD_FACTOR * b->constant_bytes;
    const size_t limit = interpret ? program_interpret_bytes : program_fold_bytes + more;
    const int64_t flops_limit = program_fold_flops + (int64_t)more;
    size_t bytes = b->folded_bytes;
    int64_t flops = b->folded_flops;
    if (ctx->saved_bytes > limit || ctx->scratch_bytes > limit)
        return false;
    for (int i = 0; i < ctx->out_count; i++)
        if (ctx->node->outputs[i] >= 0) {
            if (px_tensor_bytes(&ctx->out[i]) > limit - bytes)
                return false;
            bytes += px_tensor_bytes(&ctx->out[i]);
            flops += px_shape_count(&ctx->out[i].shape); /* at most `limit` */
        }
    const int64_t own = op->flops ? op->flops(ctx) : 0;
    if (!interpret && !op->shape_only && (flops > flops_limit || own > flops_limit - flops))
        return false;
    b->folded_bytes = bytes;
    b->folded_flops = interpret ? 0 : flops + own;
    return true;
}

static px_status program_fold(program_builder *b, const px_op *op, px_op_ctx *ctx, px_error *err)
{
    px_arena *arena = b->program->arena;
    if ((op->view || ctx->copies) && ctx->out_count == 1 && ctx->in[0].data) {
        ctx->out[0].data = ctx->in[0].data; /* large weights are not there twice */
        return PX_OK;
    }
    for (int i = 0; i < ctx->out_count; i++) {
        px_tensor *out = &ctx->out[i];
        out->data = NULL;
        if (ctx->node->outputs[i] < 0)
            continue;
        out->data = pxi_arena_alloc(arena, PX_MAX(px_tensor_bytes(out), (size_t)1), 1);
        if (!out->data)
            return pxi_no_memory(err);
    }
    ctx->saved = pxi_alloc_aligned(ctx->saved_bytes);
    ctx->scratch = pxi_alloc_aligned(ctx->scratch_bytes);
    px_status status = ctx->saved && ctx->scratch ? op->forward(ctx, err) : pxi_no_memory(err);
    free(ctx->saved);
    free(ctx->scratch);
    ctx->saved = ctx->scratch = NULL;
    return status;
}

/* Where a node's outputs go that was set up: into a step, or into constants. */
static px_status program_place(program_builder *b, const px_op *op, const px_op_ctx *ctx,
                               bool constant, px_error *err)
{
    pxi_program *program = b->program;
    const px_node *node = ctx->node;
    if (!constant) {
        if (program->step_count == b->step_capacity) {
            const int capacity = 2 * PX_MAX(b->step_capacity, 32);
            pxi_step *steps = NULL;
            PX_TRY(PX_ARENA_NEW(steps, program->arena, capacity, err));
            if (program->step_count > 0)
                memcpy(steps, program->steps, (size_t)program->step_count * sizeof *steps);
            program->steps = steps;
            b->step_capacity = capacity;
        }
        program->steps[program->step_count] = (pxi_step){.op = op, .ctx = *ctx};
    }
    for (int i = 0; i < node->output_count; i++) {
        if (node->outputs[i] < 0)
            continue;
        pxi_slot *slot = &program->slots[node->outputs[i]];
        if (slot->is_feed) /* a restart: the feed wins over what this node computes */
            continue;
        slot->tensor = ctx->out[i];
        slot->producer = constant ? -1 : program->step_count;
    }
    program->step_count += constant ? 0 : 1;
    return PX_OK;
}

px_status pxi_program_charge(program_builder *b, const px_node *node, int count, px_error *err)
{
    const px_op_ctx ctx = {.node = node};
    if (count > PROGRAM_NODES_MOST - b->node_count)
        return pxi_op_fail(&ctx, err, PX_E_UNSUPPORTED,
                           "more than %d nodes, with all turns of loops, are not supported",
                           PROGRAM_NODES_MOST);
    b->node_count += count;
    return PX_OK;
}

px_status pxi_program_add(program_builder *b, const px_node *node, px_error *err)
{
    pxi_program *program = b->program;
    const px_op *op = pxi_op_find(node->domain, node->type, node->opset, NULL);
    px_op_ctx ctx = {.node = node,
                     .in_count = node->input_count,
                     .out_count = node->output_count,
                     .arena = program->arena,
                     .graph = &program->graph};
    if (!op)
        return pxi_op_fail(&ctx, err, PX_E_UNSUPPORTED,
                           "this operator is not supported; 'plexor list ops' shows what is");
    PX_TRY(pxi_program_charge(b, node, 1, err));
    if (op->expands)
        return pxi_program_expand(b, node, err);
    PX_TRY(PX_ARENA_NEW(ctx.in, program->arena, node->input_count, err));
    PX_TRY(PX_ARENA_NEW(ctx.out, program->arena, node->output_count, err));

    bool constant = !op->random;
    for (int i = 0; i < node->input_count; i++) {
        if (node->inputs[i] < 0)
            continue;
        ctx.in[i] = program->slots[node->inputs[i]].tensor;
        if (ctx.in[i].dtype == PX_NONE)
            return pxi_op_fail(&ctx, err, PX_E_INPUT, "its input '%s' has no value",
                               program->graph.values[node->inputs[i]].name);
        if (ctx.in[i].dtype == PX_SEQUENCE && strcmp(node->type, "Identity") == 0)
            return pxi_program_alias(b, node->inputs[i], node->outputs[0], err);
        if (ctx.in[i].dtype == PX_SEQUENCE)
            return pxi_op_fail(&ctx, err, PX_E_UNSUPPORTED,
                               "its input %d is a sequence, which is not supported here", i);
        constant = constant && ctx.in[i].data && !program->slots[node->inputs[i]].varies;
    }
    PX_TRY(op->setup(&ctx, err));
    for (int i = 0; i < node->output_count; i++)
        if (node->outputs[i] >= 0) {
            if (ctx.out[i].dtype == PX_NONE)
                return pxi_op_fail(&ctx, err, PX_E_UNSUPPORTED, "its output %d is not supported",
                                   i);
            if (px_shape_check(&ctx.out[i].shape, err) != PX_OK)
                return px_fail_in(err, err ? err->status : PX_E_INPUT, "node '%.100s' (%.60s)",
                                  node->name, node->type);
            const int64_t size = (int64_t)px_dtype_size(ctx.out[i].dtype);
            if (size > 0 && px_shape_count(&ctx.out[i].shape) > program_tensor_bytes / size) {
                char text[PX_SHAPE_TEXT];
                return pxi_op_fail(&ctx, err, PX_E_UNSUPPORTED,
                                   "its output is %s, more than the %lld MiB that a tensor may "
                                   "have: not supported",
                                   px_shape_text(&ctx.out[i].shape, text),
                                   (long long)(program_tensor_bytes >> 20));
            }
        }

    if (constant || op->shape_only) {
        constant = program_can_fold(b, op, &ctx);
        if (!constant && b->request->interpret)
            return pxi_op_fail(&ctx, err, PX_E_UNSUPPORTED,
                               "a result of this size is not supported here");
    }
    if (constant)
        PX_TRY(program_fold(b, op, &ctx, err));
    return program_place(b, op, &ctx, constant, err);
}

static px_status program_fill_slots(program_builder *b, px_error *err)
{
    pxi_program *program = b->program;
    const pxi_program_request *request = b->request;
    for (int v = 0; v < b->graph->value_count; v++) {
        pxi_slot *slot = &program->slots[v];
        slot->producer = -1;
        const px_tensor *constant = b->graph->values[v].constant;
        if (!constant)
            continue;
        const size_t bytes = px_tensor_bytes(constant), most = (size_t)1 << 40;
        b->constant_bytes = PX_MIN(b->constant_bytes + PX_MIN(bytes, most), most);
        PX_TRY(program_widen(program->arena, constant, &slot->tensor, err));
#ifdef PXI_REAL_DOUBLE
        if (constant->dtype == PX_FLOAT32)
            PX_TRY(program_real(program->arena, &slot->tensor, err));
#endif
    }
    for (size_t i = 0; request->weights && i < px_weights_count(request->weights); i++) {
        const px_weight *weight = px_weights_get(request->weights, i);
        program->slots[weight->value].tensor = weight->tensor;
        program->slots[weight->value].varies = true;
    }
    for (size_t i = 0; i < request->feed_count; i++) {
        const pxi_feed *feed = &request->feeds[i];
        PX_TRY(px_shape_check(&feed->tensor.shape, err));
        if (feed->tensor.dtype == PX_SEQUENCE) {
            PX_TRY(pxi_program_feed_sequence(b, feed, err));
            continue;
        }
        pxi_slot *slot = &program->slots[feed->value];
        PX_TRY(program_widen(program->arena, &feed->tensor, &slot->tensor, err));
        slot->is_feed = true;
    }
    for (size_t i = 0; i < request->wanted_count; i++)
        program->slots[request->wanted[i]].is_wanted = true;
    for (size_t i = 0; i < request->varying_count; i++)
        program->slots[request->varying[i]].varies = true;
    return PX_OK;
}

/* Leaves out the steps that nobody reads after all: a node that is taken apart seemed to need what
 * stands in the branch that is not taken. */
static px_status program_drop_dead(program_builder *b, px_error *err)
{
    pxi_program *program = b->program;
    bool *needed = NULL;
    PX_TRY(PX_NEW(needed, program->graph.value_count, err));
    for (int v = 0; v < program->graph.value_count; v++) {
        needed[v] = needed[v] || program->slots[v].is_wanted;
        const pxi_slot *slot = &program->slots[v];
        for (int i = 0; slot->is_wanted && slot->items && i < slot->tensor.shape.dim[0]; i++)
            needed[slot->items[i]] = true;
    }
    int kept = program->step_count;
    for (int s = program->step_count - 1; s >= 0; s--) {
        const px_node *node = program->steps[s].ctx.node;
        bool live = false;
        for (int i = 0; i < node->output_count; i++)
            live = live || (node->outputs[i] >= 0 && needed[node->outputs[i]] &&
                            program->slots[node->outputs[i]].producer == s);
        for (int i = 0; live && i < node->input_count; i++)
            if (node->inputs[i] >= 0)
                needed[node->inputs[i]] = true;
        if (live)
            program->steps[--kept] = program->steps[s];
    }
    free(needed);
    const int dead = kept;
    memmove(program->steps, program->steps + dead,
            (size_t)(program->step_count - dead) * sizeof *program->steps);
    program->step_count -= dead;
    for (int v = 0; v < program->graph.value_count; v++)
        program->slots[v].producer = -1;
    for (int s = 0; s < program->step_count; s++) {
        const px_node *node = program->steps[s].ctx.node;
        for (int i = 0; i < node->output_count; i++)
            if (node->outputs[i] >= 0 && !program->slots[node->outputs[i]].is_feed)
                program->slots[node->outputs[i]].producer = s;
    }
    return PX_OK;
}

static px_status program_build(program_builder *b, px_error *err)
{
    pxi_program *program = b->program;
    const px_graph *graph = b->graph;
    program->arena = pxi_arena_new();
    if (!program->arena)
        return pxi_no_memory(err);
    program->slots =
        pxi_arena_alloc(program->arena, (size_t)graph->value_count, sizeof *program->slots);
    program->steps =
        pxi_arena_alloc(program->arena, (size_t)graph->node_count, sizeof *program->steps);
    program->graph = *graph;
    b->value_capacity = graph->value_count;
    b->step_capacity = graph->node_count;
    b->live = pxi_calloc((size_t)graph->node_count + (size_t)graph->value_count, sizeof *b->live);
    if (!program->slots || !program->steps || !b->live)
        return pxi_no_memory(err);

    PX_TRY(program_fill_slots(b, err));
    program_mark_live(b);
    PX_TRY(program_check_ops(b, err));
    for (int n = 0; n < graph->node_count; n++)
        if (b->live[n])
            PX_TRY(pxi_program_add(b, &graph->nodes[n], err));
    if (program->graph.value_count > graph->value_count)
        PX_TRY(program_drop_dead(b, err));
    for (size_t i = 0; i < b->request->wanted_count; i++)
        if (program->slots[b->request->wanted[i]].tensor.dtype == PX_NONE)
            return px_fail(err, PX_E_INPUT, "the value '%s' cannot be computed from what is given",
                           graph->values[b->request->wanted[i]].name);
    return PX_OK;
}

px_status pxi_program_make(const px_model *model, const pxi_program_request *given,
                           pxi_program **out, px_error *err)
{
    pxi_program_request request = *given;
    pxi_program *program = NULL;
    PX_TRY(PX_NEW(program, 1, err));
    program->model = model;
    program_builder b = {.program = program, .graph = px_model_graph(model), .request = &request};
    if (!request.wanted) {
        request.wanted = b.graph->outputs;
        request.wanted_count = (size_t)b.graph->output_count;
    }
    const px_status status = program_build(&b, err);
    free(b.live);
    return PX_GIVE(status, program, out, pxi_program_free);
}

px_status pxi_program_new(const px_model *model, const pxi_feed *feeds, size_t feed_count,
                          const int *wanted, size_t wanted_count, pxi_program **out, px_error *err)
{
    const pxi_program_request request = {
        .feeds = feeds, .feed_count = feed_count, .wanted = wanted, .wanted_count = wanted_count};
    return pxi_program_make(model, &request, out, err);
}

void pxi_program_free(pxi_program *program)
{
    if (!program)
        return;
    pxi_arena_free(program->arena);
    free(program);
}
