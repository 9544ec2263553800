/* src/engine/unit_chain.c - operators on elements, one behind another, a block at a time
 *
 * SiLU is two operators in an ONNX file, GELU five, a scale and a residual one each; run singly,
 * each is a way through memory there and back, and in training each keeps what it made. A chain
 * runs all of them on a block that stays in the first two levels of cache, by the operators' own
 * functions, so that every bit is as before. Backward, what lies between is made again, block by
 * block, so that only the chain's inputs are kept.
 *
 * Cells: in[] what comes from outside the chain; out[0] the result of its last operator.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/plan.h"

#include "base/memory.h"

#include <stdlib.h>
#include <string.h>

enum {
    CHAIN_MOST = 12,    /* operators, and inputs from outside */
    CHAIN_INPUTS = 3,   /* of one operator */
    CHAIN_BLOCK = 4096, /* elements */
    CHAIN_REACH = 64    /* steps between the last operator and one that belongs to it */
};

typedef struct chain_link {
    const px_op *op;
    px_op_ctx ctx;          /* parameters; no tensors */
    int from[CHAIN_INPUTS]; /* an outer input; -1 - i: the result of link i */
} chain_link;

typedef struct chain_outer { /* an operand over the axes of the result, neighbours that it treats
                                alike taken together */
    bool runs[PX_MAX_RANK];
    int64_t stride[PX_MAX_RANK]; /* 0: it has one element there */
} chain_outer;

typedef struct chain_impl {
    chain_link links[CHAIN_MOST];
    int link_count;
    chain_outer outer[CHAIN_MOST];
    int rank, axis; /* blocks are cut along `axis`; axes behind it are whole */
    int64_t dim[PX_MAX_RANK];
    int64_t inner, step; /* elements behind `axis`, and places of it in a block */
} chain_impl;

/* --- which operators ------------------------------------------------------------------------- */

static bool chain_op_fits(const px_plan *plan, const pxi_step *step)
{
    const px_op_ctx *ctx = &step->ctx;
    if (!step->op->elementwise || !step->op->inplace || step->op->random ||
        step->op->permute != pxi_permute_nothing || step->op->diff != PX_DIFF_YES ||
        ctx->saved_bytes || ctx->scratch_bytes || ctx->out_count != 1 ||
        ctx->in_count > CHAIN_INPUTS || ctx->out[0].dtype != PX_FLOAT32 ||
        px_node_attr(ctx->node, "broadcast") || px_shape_count(&ctx->out[0].shape) == 0 ||
        plan->program->slots[ctx->node->outputs[0]].is_feed)
        return false;
    for (int i = 0; i < ctx->in_count; i++)
        if (ctx->node->inputs[i] < 0 || ctx->in[i].dtype != PX_FLOAT32 ||
            plan->cells[ctx->node->inputs[i]].is_weight || plan->cells[ctx->node->inputs[i]].is_wrt)
            return false;
    return true;
}

/* Takes in what makes the inputs of the chain's operators, as long as nobody else reads it; `uses`:
 * how often a value is read at all. */
static int chain_grow(const px_plan *plan, const int *group_of, const int *uses, int *chain_of,
                      int sink)
{
    const pxi_program *program = plan->program;
    const px_shape *shape = &program->steps[sink].ctx.out[0].shape;
    int count = 1, inputs = program->steps[sink].ctx.in_count;
    chain_of[sink] = sink;
    for (int s = sink - 1; s >= 0 && s >= sink - CHAIN_REACH && count < CHAIN_MOST; s--) {
        const px_op_ctx *ctx = &program->steps[s].ctx;
        if (group_of[s] >= 0 || chain_of[s] >= 0 || !chain_op_fits(plan, &program->steps[s]) ||
            program->slots[ctx->node->outputs[0]].is_wanted ||
            !px_shape_equal(&ctx->out[0].shape, shape) || inputs + ctx->in_count > CHAIN_MOST)
            continue;
        int reads = 0; /* by the chain */
        for (int t = s + 1; t <= sink; t++)
            for (int i = 0; chain_of[t] == sink && i < program->steps[t].ctx.in_count; i++)
                reads += program->steps[t].ctx.node->inputs[i] == ctx->node->outputs[0];
        if (reads == 0 || reads < uses[ctx->node->outputs[0]])
            continue;
        chain_of[s] = sink;
        inputs += ctx->in_count;
        count++;
    }
    return count;
}

px_status pxi_find_chains(const px_plan *plan, const int *group_of, int *chain_of, px_error *err)
{
    const pxi_program *program = plan->program;
    for (int s = 0; s < program->step_count; s++)
        chain_of[s] = -1;
    if (plan->reference || plan->weights || plan->weight_grads)
        return PX_OK;
    int *uses = NULL;
    PX_TRY(PX_NEW(uses, program->graph.value_count, err));
    for (int s = 0; s < program->step_count; s++)
        for (int i = 0; i < program->steps[s].ctx.node->input_count; i++)
            if (program->steps[s].ctx.node->inputs[i] >= 0)
                uses[program->steps[s].ctx.node->inputs[i]]++;
    for (int s = program->step_count - 1; s >= 0; s--)
        if (group_of[s] < 0 && chain_of[s] < 0 && chain_op_fits(plan, &program->steps[s]) &&
            chain_grow(plan, group_of, uses, chain_of, s) == 1)
            chain_of[s] = -1;
    free(uses);
    return PX_OK;
}

/* --- lowering -------------------------------------------------------------------------------- */

/* Channels-last if some of its data is, and all of it can be. */
static pxi_layout chain_layout(const px_plan *plan, const int *chain_of, int sink)
{
    bool any = false;
    for (int s = PX_MAX(sink - CHAIN_REACH, 0); s <= sink; s++) {
        if (chain_of[s] != sink)
            continue;
        const pxi_layout wanted = pxi_plain_layout(plan, &plan->program->steps[s]);
        const px_node *node = plan->program->steps[s].ctx.node;
        const int rank = plan->program->steps[s].ctx.out[0].shape.rank;
        for (int i = 0; i < node->input_count; i++) {
            const pxi_cell *cell = &plan->cells[node->inputs[i]];
            if (cell->tensor.data ? cell->tensor.shape.rank > rank
                                  : cell->tensor.shape.rank != rank)
                return PXI_PLAIN;
        }
        any = any || wanted == PXI_NHWC;
    }
    return any ? PXI_NHWC : PXI_PLAIN;
}

/* The outer input that is `cell`; a new one if there is none. */
static int chain_input(int *cells, int *count, int cell)
{
    for (int i = 0; i < *count; i++)
        if (cells[i] == cell)
            return i;
    cells[*count] = cell;
    return (*count)++;
}

static px_shape chain_stored(const px_plan *plan, int cell)
{
    px_shape shape = plan->cells[cell].tensor.shape;
    if (plan->cells[cell].layout == PXI_NHWC)
        pxi_stored_shape(&shape);
    return shape;
}

/* Axes, taken together where all operands treat them alike, and where to cut. */
static void chain_cut(const px_plan *plan, const int *cells, int count, const px_shape *out,
                      chain_impl *impl)
{
    for (int i = 0; i < out->rank; i++) {
        bool runs[CHAIN_MOST], alike = impl->rank > 0;
        if (out->dim[i] == 1)
            continue;
        for (int k = 0; k < count; k++) {
            const px_shape shape = chain_stored(plan, cells[k]);
            const int axis = i - (out->rank - shape.rank);
            runs[k] = axis >= 0 && shape.dim[axis] != 1;
            alike = alike && runs[k] == impl->outer[k].runs[impl->rank - 1];
        }
        if (alike) {
            impl->dim[impl->rank - 1] *= out->dim[i];
            continue;
        }
        for (int k = 0; k < count; k++)
            impl->outer[k].runs[impl->rank] = runs[k];
        impl->dim[impl->rank++] = out->dim[i];
    }
    if (impl->rank == 0)
        impl->dim[impl->rank++] = 1;
    for (int k = 0; k < count; k++) {
        int64_t step = 1;
        for (int i = impl->rank - 1; i >= 0; i--) {
            impl->outer[k].stride[i] = impl->outer[k].runs[i] ? step : 0;
            step *= impl->outer[k].runs[i] ? impl->dim[i] : 1;
        }
    }
    impl->axis = impl->rank - 1;
    impl->inner = 1;
    while (impl->axis > 0 && impl->inner * impl->dim[impl->axis] <= CHAIN_BLOCK)
        impl->inner *= impl->dim[impl->axis--];
    impl->step = PX_MIN(PX_MAX(CHAIN_BLOCK / impl->inner, (int64_t)1), impl->dim[impl->axis]);
}

px_status pxi_emit_chain(px_plan *plan, const int *chain_of, int sink, px_error *err)
{
    const pxi_program *program = plan->program;
    const pxi_layout layout = chain_layout(plan, chain_of, sink);
    const int out = program->steps[sink].ctx.node->outputs[0];
    const int rank = plan->cells[out].tensor.shape.rank;
    chain_impl *impl = pxi_arena_alloc(plan->arena, 1, sizeof *impl);
    int cells[CHAIN_MOST + CHAIN_INPUTS], made[CHAIN_MOST], count = 0;
    if (!impl)
        return pxi_no_memory(err);
    int64_t flops = 0;
    for (int s = PX_MAX(sink - CHAIN_REACH, 0); s <= sink; s++) {
        if (chain_of[s] != sink)
            continue;
        const pxi_step *step = &program->steps[s];
        chain_link *link = &impl->links[impl->link_count];
        link->op = step->op;
        link->ctx = step->ctx;
        flops +=
            step->op->flops ? step->op->flops(&step->ctx) : px_shape_count(&step->ctx.out[0].shape);
        for (int i = 0; i < step->ctx.in_count; i++) {
            const int value = step->ctx.node->inputs[i], producer = program->slots[value].producer;
            if (producer >= 0 && chain_of[producer] == sink) {
                for (int l = 0; l < impl->link_count; l++)
                    if (made[l] == value)
                        link->from[i] = -1 - l;
                continue;
            }
            const int cell = layout == PXI_NHWC && plan->cells[value].tensor.data
                                 ? pxi_plain_constant_nhwc(plan, value, rank)
                                 : pxi_plan_as(plan, value, layout);
            if (cell < 0)
                return pxi_no_memory(err);
            link->from[i] = chain_input(cells, &count, cell);
        }
        made[impl->link_count++] = step->ctx.node->outputs[0];
    }
    pxi_unit *unit = pxi_plan_add_unit(plan, &pxi_unit_chain, sink, count, 1);
    if (!unit)
        return pxi_no_memory(err);
    memcpy(unit->in, cells, (size_t)count * sizeof *cells);
    unit->out[0] = out;
    if (layout == PXI_NHWC)
        plan->cells[out].layout = PXI_NHWC;
    const px_shape stored = chain_stored(plan, out);
    chain_cut(plan, cells, count, &stored, impl);
    /* the result may take over an input of its shape, if only the last operator still needs it */
    const chain_link *last = &impl->links[impl->link_count - 1];
    for (int k = 0; k < count && unit->donor < 0; k++) {
        bool fits =
            !plan->cells[cells[k]].tensor.data &&
            px_shape_equal(&plan->cells[cells[k]].tensor.shape, &plan->cells[out].tensor.shape);
        for (int i = 1; i < last->ctx.in_count; i++)
            fits = fits && last->from[i] != k;
        for (int o = 0; o < count; o++)
            fits = fits && (o == k || plan->cells[cells[o]].root != plan->cells[cells[k]].root);
        if (fits)
            unit->donor = cells[k];
    }
    unit->impl = impl;
    unit->kernel = "chain";
    unit->flops = flops;
    return PX_OK;
}

static int64_t chain_block(const chain_impl *impl)
{
    return impl->step * impl->inner;
}

static px_status chain_build(px_plan *plan, pxi_unit *unit, px_error *err)
{
    (void)plan, (void)err;
    const chain_impl *impl = unit->impl;
    const int64_t buffers = unit->backward ? 2 * impl->link_count : impl->link_count;
    unit->scratch_bytes = (size_t)(buffers * (chain_block(impl) + 16)) * sizeof(float);
    unit->backward_reads_in = true;
    return PX_OK;
}

static void chain_bound(px_plan *plan, pxi_unit *unit)
{
    const chain_impl *impl = unit->impl;
    double made[CHAIN_MOST] = {0};
    for (int l = 0; l < impl->link_count; l++) {
        const chain_link *link = &impl->links[l];
        double bounds[CHAIN_INPUTS];
        for (int i = 0; i < link->ctx.in_count; i++)
            bounds[i] = link->from[i] < 0 ? made[-1 - link->from[i]]
                                          : (double)pxi_cell_bound(plan, unit->in[link->from[i]]);
        made[l] = pxi_plain_bound(link->ctx.node, bounds, link->ctx.in_count);
    }
    pxi_cell_set_bound(plan, unit->out[0], made[impl->link_count - 1]);
}

/* --- running --------------------------------------------------------------------------------- */

typedef struct chain_run {
    const pxi_unit *unit;
    px_session *session;
    const float *in[CHAIN_MOST];
    float *in_grad[CHAIN_MOST]; /* NULL: not wanted */
    const float *out_grad;
    float *out;      /* NULL: the last result is not wanted */
    float *made;     /* a block per link */
    float *gradient; /* likewise; NULL: forward only */
    px_op_ctx ctx[CHAIN_MOST];
    px_tensor tensors[CHAIN_MOST][4 * CHAIN_INPUTS];
    int64_t at[CHAIN_MOST]; /* of each input, for the block */
    int64_t out_at, places; /* along the axis */
} chain_run;

static px_shape chain_block_shape(const chain_impl *impl, const bool *runs, int64_t places)
{
    px_shape shape = {.rank = impl->rank - impl->axis};
    for (int i = impl->axis; i < impl->rank; i++)
        shape.dim[i - impl->axis] = runs && !runs[i] ? 1 : i == impl->axis ? places : impl->dim[i];
    return shape;
}

static float *chain_place(const chain_impl *impl, float *buffers, int link)
{
    return buffers + link * (chain_block(impl) + 16);
}

/* Points every link's context at the block. */
static void chain_aim(chain_run *run)
{
    const chain_impl *impl = run->unit->impl;
    const px_shape whole = chain_block_shape(impl, NULL, run->places);
    union {
        const float *from;
        float *to;
    } alias;
    for (int l = 0; l < impl->link_count; l++) {
        const chain_link *link = &impl->links[l];
        px_op_ctx *ctx = &run->ctx[l];
        *ctx = link->ctx;
        ctx->arena = NULL;
        ctx->in = run->tensors[l];
        ctx->in_grad = ctx->in + CHAIN_INPUTS;
        ctx->out = ctx->in_grad + CHAIN_INPUTS;
        ctx->out_grad = ctx->out + CHAIN_INPUTS;
        for (int i = 0; i < link->ctx.in_count; i++) {
            const int from = link->from[i];
            px_tensor *in = &ctx->in[i];
            *in = (px_tensor){.dtype = PX_FLOAT32, .shape = whole};
            if (from < 0) {
                in->data = chain_place(impl, run->made, -1 - from);
                ctx->in_grad[i] = *in;
                ctx->in_grad[i].data =
                    run->gradient ? chain_place(impl, run->gradient, -1 - from) : NULL;
                continue;
            }
            in->shape = chain_block_shape(impl, impl->outer[from].runs, run->places);
            alias.from = run->in[from] + run->at[from];
            in->data = alias.to;
            ctx->in_grad[i] = *in;
            ctx->in_grad[i].data = run->in_grad[from] ? run->in_grad[from] + run->at[from] : NULL;
        }
        const bool last = l == impl->link_count - 1;
        ctx->out[0] = (px_tensor){.dtype = PX_FLOAT32, .shape = whole};
        ctx->out[0].data =
            last && run->out ? run->out + run->out_at : chain_place(impl, run->made, l);
        ctx->out_grad[0] = ctx->out[0];
        alias.from = last && run->out_grad ? run->out_grad + run->out_at : NULL;
        ctx->out_grad[0].data = last            ? (void *)alias.to
                                : run->gradient ? chain_place(impl, run->gradient, l)
                                                : NULL;
    }
}

static px_status chain_one_block(chain_run *run, px_error *err)
{
    const chain_impl *impl = run->unit->impl;
    chain_aim(run);
    for (int l = 0; l < impl->link_count; l++)
        PX_TRY(impl->links[l].op->forward(&run->ctx[l], err));
    if (!run->gradient)
        return PX_OK;
    const size_t bytes = (size_t)(run->places * impl->inner) * sizeof(float);
    for (int l = 0; l + 1 < impl->link_count; l++)
        memset(chain_place(impl, run->gradient, l), 0, bytes);
    for (int l = impl->link_count - 1; l >= 0; l--)
        impl->links[l].op->backward(&run->ctx[l]);
    return PX_OK;
}

/* All blocks, in the order in which they lie. */
static px_status chain_blocks(chain_run *run, px_error *err)
{
    const chain_impl *impl = run->unit->impl;
    int64_t outer = 1;
    for (int i = 0; i < impl->axis; i++)
        outer *= impl->dim[i];
    for (int64_t o = 0; o < outer; o++) {
        int64_t first[CHAIN_MOST] = {0}, rest = o;
        for (int i = impl->axis - 1; i >= 0; i--) {
            for (int k = 0; k < run->unit->in_count; k++)
                first[k] += rest % impl->dim[i] * impl->outer[k].stride[i];
            rest /= impl->dim[i];
        }
        for (int64_t p = 0; p < impl->dim[impl->axis]; p += impl->step) {
            run->places = PX_MIN(impl->step, impl->dim[impl->axis] - p);
            run->out_at = (o * impl->dim[impl->axis] + p) * impl->inner;
            for (int k = 0; k < run->unit->in_count; k++)
                run->at[k] = first[k] + p * impl->outer[k].stride[impl->axis];
            PX_TRY(chain_one_block(run, err));
        }
    }
    return PX_OK;
}

static chain_run chain_run_of(const pxi_unit *unit, px_session *session)
{
    chain_run run = {.unit = unit, .session = session, .made = pxi_session_scratch(session)};
    for (int k = 0; k < unit->in_count; k++)
        run.in[k] = pxi_cell_data(session, unit->in[k]);
    return run;
}

static px_status chain_forward(const pxi_unit *unit, px_session *session, void *state,
                               px_error *err)
{
    (void)state;
    chain_run run = chain_run_of(unit, session);
    run.out = pxi_cell_data(session, unit->out[0]);
    return chain_blocks(&run, err);
}

static px_status chain_backward(const pxi_unit *unit, px_session *session, void *state,
                                px_error *err)
{
    (void)state;
    const chain_impl *impl = unit->impl;
    chain_run run = chain_run_of(unit, session);
    run.gradient = chain_place(impl, run.made, impl->link_count);
    run.out_grad = pxi_cell_grad(session, unit->out[0]);
    for (int k = 0; k < unit->in_count; k++) {
        if (!pxi_cell_wants_grad(session->plan, unit->in[k]))
            continue;
        run.in_grad[k] = pxi_cell_grad(session, unit->in[k]);
        if (!pxi_grad_adds(session, unit->in[k]))
            memset(run.in_grad[k], 0, px_tensor_bytes(&session->plan->cells[unit->in[k]].tensor));
    }
    return chain_blocks(&run, err);
}

const pxi_unit_kind pxi_unit_chain = {
    .name = "chain",
    .build = chain_build,
    .bound = chain_bound,
    .forward = chain_forward,
    .backward = chain_backward,
};
