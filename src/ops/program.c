/* src/ops/program.c - specialise a graph to concrete input shapes, folding constants */
#include <internal/program.h>

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

typedef struct program_builder {
    pxi_program *program;
    const px_graph *graph;
    const pxi_program_request *request;
    bool *live;            /* per node */
    size_t constant_bytes; /* of the file, or what counts of them */
    size_t folded_bytes;
    int64_t folded_flops;
} program_builder;

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

static px_status program_add_node(program_builder *b, int n, px_error *err)
{
    pxi_program *program = b->program;
    const px_node *node = &b->graph->nodes[n];
    const px_op *op = pxi_op_find(node->domain, node->type, node->opset, NULL);
    px_op_ctx ctx = {.node = node,
                     .in_count = node->input_count,
                     .out_count = node->output_count,
                     .arena = program->arena,
                     .graph = b->graph};
    PX_TRY(PX_ARENA_NEW(ctx.in, program->arena, node->input_count, err));
    PX_TRY(PX_ARENA_NEW(ctx.out, program->arena, node->output_count, err));

    bool constant = !op->random;
    for (int i = 0; i < node->input_count; i++) {
        if (node->inputs[i] < 0)
            continue;
        ctx.in[i] = program->slots[node->inputs[i]].tensor;
        if (ctx.in[i].dtype == PX_NONE)
            return pxi_op_fail(&ctx, err, PX_E_INPUT, "its input '%s' has no value",
                               b->graph->values[node->inputs[i]].name);
        constant = constant && ctx.in[i].data && !program->slots[node->inputs[i]].varies;
    }
    PX_TRY(op->setup(&ctx, err));
    for (int i = 0; i < node->output_count; i++)
        if (node->outputs[i] >= 0) {
            if (ctx.out[i].dtype == PX_NONE)
                return pxi_op_fail(&ctx, err, PX_E_UNSUPPORTED, "has no output %d", i);
            if (px_shape_check(&ctx.out[i].shape, err) != PX_OK)
                return px_fail_in(err, err ? err->status : PX_E_INPUT, "node '%.100s' (%.60s)",
                                  node->name, node->type);
            const int64_t size = (int64_t)px_dtype_size(ctx.out[i].dtype);
            if (size > 0 && px_shape_count(&ctx.out[i].shape) > program_tensor_bytes / size) {
                char text[PX_SHAPE_TEXT];
                return pxi_op_fail(
                    &ctx, err, PX_E_UNSUPPORTED,
                    "its output is %s, more than the %lld MiB that a tensor may have",
                    px_shape_text(&ctx.out[i].shape, text),
                    (long long)(program_tensor_bytes >> 20));
            }
        }

    if (constant || op->shape_only) {
        constant = program_can_fold(b, op, &ctx);
        if (!constant && b->request->interpret)
            return pxi_op_fail(&ctx, err, PX_E_UNSUPPORTED, "needs too much memory");
    }
    if (constant)
        PX_TRY(program_fold(b, op, &ctx, err));
    else
        program->steps[program->step_count] = (pxi_step){.node = n, .op = op, .ctx = ctx};
    for (int i = 0; i < node->output_count; i++) {
        if (node->outputs[i] < 0)
            continue;
        pxi_slot *slot = &program->slots[node->outputs[i]];
        if (slot->is_feed) /* a restart: the feed wins over what this node computes */
            continue;
        slot->tensor = ctx.out[i];
        slot->producer = constant ? -1 : program->step_count;
    }
    program->step_count += constant ? 0 : 1;
    return PX_OK;
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
    b->live = pxi_calloc((size_t)graph->node_count + (size_t)graph->value_count, sizeof *b->live);
    if (!program->slots || !program->steps || !b->live)
        return pxi_no_memory(err);

    PX_TRY(program_fill_slots(b, err));
    program_mark_live(b);
    PX_TRY(program_check_ops(b, err));
    for (int n = 0; n < graph->node_count; n++)
        if (b->live[n])
            PX_TRY(program_add_node(b, n, err));
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
    if (status != PX_OK)
        pxi_program_free(program);
    else
        *out = program;
    return status;
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
