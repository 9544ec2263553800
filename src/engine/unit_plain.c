/* src/engine/unit_plain.c - one operator with its plain C kernel, and layout copies and views
 *
 * Operators that treat all axes alike also run on channels-last cells: their shapes are permuted
 * and their parameters rewritten once, at build time.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/plan.h"

#include "base/memory.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* By rank: stored axis i of a channels-last cell is this logical axis. */
static const int nhwc_axes[5][4] = {[3] = {0, 2, 1}, [4] = {0, 2, 3, 1}};

typedef struct plain_impl {
    const px_op *op;
    px_op_ctx ctx; /* shapes in stored order */
} plain_impl;

typedef struct plain_state {
    px_op_ctx ctx;
    px_tensor tensors[]; /* in, out, in_grad, out_grad */
} plain_state;

void pxi_stored_shape(px_shape *shape)
{
    const px_shape logical = *shape;
    for (int i = 0; i < logical.rank; i++)
        shape->dim[i] = logical.dim[nhwc_axes[logical.rank][i]];
}

/* One of lower rank is brought to `rank` with leading ones. */
int pxi_plain_constant_nhwc(px_plan *plan, int cell, int rank)
{
    const px_shape narrow = plan->cells[cell].tensor.shape;
    if (narrow.rank == rank)
        return pxi_plan_as(plan, cell, PXI_NHWC);
    px_tensor wide = plan->cells[cell].tensor;
    wide.shape = (px_shape){.rank = rank, .dim = {1, 1, 1, 1}};
    for (int i = 0; i < narrow.rank; i++)
        wide.shape.dim[rank - narrow.rank + i] = narrow.dim[i];
    const int made = pxi_plan_add_cell(
        plan, (pxi_cell){.tensor = wide, .value = -1, .root = plan->cell_count, .twin = -1});
    return made < 0 ? -1 : pxi_plan_as(plan, made, PXI_NHWC);
}

/* An operator that works in place may take over its first input's memory, if no other input is
 * another view of it. Whether the input dies there is found out later (layout.c). */
static void plain_offer_donor(const px_plan *plan, const px_op *op, pxi_unit *unit)
{
    if (!op->inplace || unit->in[0] < 0)
        return;
    const pxi_cell *first = &plan->cells[unit->in[0]], *out = &plan->cells[unit->out[0]];
    if (first->tensor.dtype != out->tensor.dtype ||
        !px_shape_equal(&first->tensor.shape, &out->tensor.shape))
        return;
    for (int i = 1; i < unit->in_count; i++)
        if (unit->in[i] >= 0 && unit->in[i] != unit->in[0] &&
            plan->cells[unit->in[i]].root == first->root)
            return;
    unit->donor = unit->in[0];
}

px_status pxi_emit_plain(px_plan *plan, int step_index, pxi_layout layout, px_error *err)
{
    pxi_step *step = &plan->program->steps[step_index];
    const px_node *node = step->ctx.node;
    const int rank = step->ctx.out[0].shape.rank; /* of channels-last inputs and outputs */
    px_op_ctx ctx = step->ctx;
    ctx.arena = plan->arena;
    if (layout == PXI_NHWC) {
        const px_status status = step->op->permute(&ctx, nhwc_axes[rank], rank, err);
        if (status == PX_E_UNSUPPORTED) /* these parameters need logical order */
            layout = PXI_PLAIN;
        else if (status != PX_OK)
            return status;
    }
    int *in = NULL;
    PX_TRY(PX_ARENA_NEW(in, plan->arena, node->input_count, err));
    for (int i = 0; i < node->input_count; i++) { /* copies first: they are units of their own */
        in[i] = node->inputs[i];
        if (in[i] < 0)
            continue;
        const px_tensor *t = &plan->cells[in[i]].tensor;
        if (layout == PXI_NHWC && t->data && step->op->elementwise)
            in[i] = pxi_plain_constant_nhwc(plan, in[i], rank);
        else if (layout == PXI_PLAIN || t->shape.rank == rank)
            in[i] = pxi_plan_as(plan, in[i], layout);
        if (in[i] < 0)
            return pxi_no_memory(err);
    }
    pxi_unit *unit =
        pxi_plan_add_unit(plan, &pxi_unit_plain, step_index, node->input_count, node->output_count);
    plain_impl *impl = pxi_arena_alloc(plan->arena, 1, sizeof *impl);
    px_tensor *tensors = pxi_arena_alloc(
        plan->arena, (size_t)node->input_count + (size_t)node->output_count, sizeof *tensors);
    if (!unit || !impl || !tensors)
        return pxi_no_memory(err);
    impl->op = step->op;
    impl->ctx = ctx;
    impl->ctx.in = tensors;
    impl->ctx.out = tensors + node->input_count;
    memcpy(impl->ctx.in, step->ctx.in, (size_t)node->input_count * sizeof *tensors);
    memcpy(impl->ctx.out, step->ctx.out, (size_t)node->output_count * sizeof *tensors);
    for (int i = 0; i < node->input_count; i++) {
        unit->in[i] = in[i];
        if (in[i] < 0)
            continue;
        impl->ctx.in[i] = plan->cells[in[i]].tensor;
        if (plan->cells[in[i]].layout == PXI_NHWC)
            pxi_stored_shape(&impl->ctx.in[i].shape);
    }
    for (int i = 0; i < node->output_count; i++) {
        unit->out[i] = node->outputs[i];
        if (unit->out[i] < 0)
            continue;
        if (plan->program->slots[unit->out[i]].is_feed) { /* a restart: what was fed stays */
            unit->out[i] = pxi_plan_add_cell(plan, (pxi_cell){.tensor = step->ctx.out[i],
                                                              .value = -1,
                                                              .root = plan->cell_count,
                                                              .twin = -1});
            if (unit->out[i] < 0)
                return pxi_no_memory(err);
        }
        pxi_cell *cell = &plan->cells[unit->out[i]];
        if (layout == PXI_NHWC && cell->tensor.shape.rank == rank) {
            cell->layout = PXI_NHWC;
            pxi_stored_shape(&impl->ctx.out[i].shape);
        }
    }
    plain_offer_donor(plan, step->op, unit);
    unit->impl = impl;
    unit->kernel = "plain";
    unit->flops =
        step->op->flops ? step->op->flops(&step->ctx) : px_shape_count(&step->ctx.out[0].shape);
    return PX_OK;
}

static px_status plain_build(px_plan *plan, pxi_unit *unit, px_error *err)
{
    (void)plan, (void)err;
    const plain_impl *impl = unit->impl;
    unit->scratch_bytes = impl->ctx.scratch_bytes;
    unit->saved.bytes = impl->ctx.saved_bytes;
    unit->backward_reads_in = unit->backward_reads_out = true;
    return PX_OK;
}

typedef enum plain_growth { PLAIN_MAX, PLAIN_SUM, PLAIN_PRODUCT, PLAIN_ONE } plain_growth;

/* How operators that often lie between products, and make finite values of bounded ones, bound
 * their result by their inputs. */
static const struct {
    const char *type;
    plain_growth growth;
} plain_known[] = {
    {"Add", PLAIN_SUM},           {"AveragePool", PLAIN_MAX},
    {"Concat", PLAIN_MAX},        {"DepthToSpace", PLAIN_MAX},
    {"Dropout", PLAIN_MAX},       {"Erf", PLAIN_ONE},
    {"Flatten", PLAIN_MAX},       {"Gather", PLAIN_MAX},
    {"Gelu", PLAIN_MAX},          {"GlobalAveragePool", PLAIN_MAX},
    {"GlobalMaxPool", PLAIN_MAX}, {"HardSigmoid", PLAIN_ONE},
    {"HardSwish", PLAIN_MAX},     {"Identity", PLAIN_MAX},
    {"Max", PLAIN_MAX},           {"MaxPool", PLAIN_MAX},
    {"Min", PLAIN_MAX},           {"Mul", PLAIN_PRODUCT},
    {"ReduceMax", PLAIN_MAX},     {"ReduceMean", PLAIN_MAX},
    {"Relu", PLAIN_MAX},          {"Reshape", PLAIN_MAX},
    {"Sigmoid", PLAIN_ONE},       {"Slice", PLAIN_MAX},
    {"Softmax", PLAIN_ONE},       {"Split", PLAIN_MAX},
    {"Squeeze", PLAIN_MAX},       {"Sub", PLAIN_SUM},
    {"Sum", PLAIN_SUM},           {"Tanh", PLAIN_ONE},
    {"Transpose", PLAIN_MAX},     {"Unsqueeze", PLAIN_MAX},
};

double pxi_plain_bound(const px_node *node, const double *bounds, int count)
{
    size_t at = 0;
    while (at < PX_LEN(plain_known) && strcmp(plain_known[at].type, node->type) != 0)
        at++;
    if (at == PX_LEN(plain_known) || node->domain[0])
        return INFINITY;
    double max = 0.0, sum = 0.0, product = 1.0;
    for (int i = 0; i < count; i++) {
        if (bounds[i] < 0.0)
            continue;
        max = PX_MAX(max, bounds[i]);
        sum += bounds[i];
        product *= bounds[i];
    }
    const plain_growth growth = plain_known[at].growth;
    return growth == PLAIN_MAX   ? max
           : growth == PLAIN_SUM ? sum
           : growth == PLAIN_ONE ? (max < INFINITY ? 1.0 : INFINITY)
                                 : product;
}

static void plain_bound(px_plan *plan, pxi_unit *unit)
{
    enum { MOST = 64 };
    double bounds[MOST], bound = INFINITY;
    for (int i = 0; i < PX_MIN(unit->in_count, MOST); i++) /* left out; indices and axes */
        bounds[i] = unit->in[i] < 0 || plan->cells[unit->in[i]].tensor.dtype != PX_FLOAT32
                        ? -1.0
                        : (double)pxi_cell_bound(plan, unit->in[i]);
    if (unit->in_count <= MOST)
        bound = pxi_plain_bound(plan->program->steps[unit->step].ctx.node, bounds, unit->in_count);
    for (int i = 0; i < unit->out_count && bound < INFINITY; i++)
        if (unit->out[i] >= 0)
            pxi_cell_set_bound(plan, unit->out[i], bound);
}

static px_status plain_attach(const pxi_unit *unit, px_session *session, void **out, px_error *err)
{
    const plain_impl *impl = unit->impl;
    const size_t ins = (size_t)unit->in_count, outs = (size_t)unit->out_count;
    plain_state *state = pxi_calloc(1, sizeof *state + 2 * (ins + outs) * sizeof(px_tensor));
    if (!state)
        return pxi_no_memory(err);
    *out = state;
    px_op_ctx *ctx = &state->ctx;
    *ctx = impl->ctx;
    ctx->arena = NULL;
    ctx->in = state->tensors;
    ctx->out = ctx->in + ins;
    ctx->in_grad = ctx->out + outs;
    ctx->out_grad = ctx->in_grad + ins;
    memcpy(ctx->in, impl->ctx.in, ins * sizeof *ctx->in);
    memcpy(ctx->out, impl->ctx.out, outs * sizeof *ctx->out);
    for (size_t i = 0; i < ins; i++) {
        if (unit->in[i] >= 0)
            ctx->in[i].data = pxi_cell_data(session, unit->in[i]);
        ctx->in_grad[i] = ctx->in[i];
        ctx->in_grad[i].data = NULL;
    }
    for (size_t i = 0; i < outs; i++) {
        ctx->out[i].data = unit->out[i] >= 0 ? pxi_cell_data(session, unit->out[i]) : NULL;
        ctx->out_grad[i] = ctx->out[i];
        ctx->out_grad[i].data = NULL;
    }
    ctx->saved = session->memory + unit->saved.offset;
    ctx->scratch = pxi_session_scratch(session);
    return PX_OK;
}

static px_status plain_forward(const pxi_unit *unit, px_session *session, void *state,
                               px_error *err)
{
    (void)session;
    const plain_impl *impl = unit->impl;
    return impl->op->forward(&((plain_state *)state)->ctx, err);
}

static px_status plain_backward(const pxi_unit *unit, px_session *session, void *state,
                                px_error *err)
{
    (void)err;
    const plain_impl *impl = unit->impl;
    px_op_ctx *ctx = &((plain_state *)state)->ctx;
    for (int i = 0; i < unit->out_count; i++)
        ctx->out_grad[i].data =
            unit->out[i] >= 0 && session->grad_set[session->plan->cells[unit->out[i]].root]
                ? pxi_cell_grad(session, unit->out[i])
                : NULL;
    for (int i = 0; i < unit->in_count; i++) {
        if (!pxi_cell_wants_grad(session->plan, unit->in[i]))
            continue;
        ctx->in_grad[i].data = pxi_cell_grad(session, unit->in[i]);
        if (!pxi_grad_adds(session, unit->in[i]))
            memset(ctx->in_grad[i].data, 0, px_tensor_bytes(&ctx->in_grad[i]));
    }
    impl->op->backward(ctx);
    return PX_OK;
}

const pxi_unit_kind pxi_unit_plain = {
    .name = "plain",
    .build = plain_build,
    .bound = plain_bound,
    .attach = plain_attach,
    .forward = plain_forward,
    .backward = plain_backward,
    .detach = free,
};
