/* src/engine/unit_drop.c - Dropout while a network is trained
 *
 *     y = x * mask / (1 - ratio),  mask = 1 with probability 1 - ratio
 *
 * (Srivastava et al. 2014, in the inverted form, so that inference does nothing). The mask is not
 * kept: Philox gives it again in the backward pass, addressed by the step, by the sample's place in
 * the batch and by the element's place in the sample as the plan stores it; neither threads nor
 * micro-batches matter. Cells: in[0] x; out[0] y.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/drop.h"
#include "engine/plan.h"

#include "base/memory.h"

#include <internal/rng.h>
#include <math.h>
#include <string.h>

typedef struct drop_impl {
    pxi_drop drop; /* the seed is the session's */
    size_t each;   /* elements of a sample */
} drop_impl;

pxi_drop pxi_drop_of(double ratio)
{
    return (pxi_drop){.threshold = (uint32_t)ceil(ratio * (double)(1 << 24)),
                      .scale = ratio < 1.0 ? (float)(1.0 / (1.0 - ratio)) : 0.0f};
}

void pxi_drop_row(const pxi_drop *drop, uint32_t sample, uint32_t iteration, const float *from,
                  float *to, size_t count, bool adds)
{
    const uint32_t key[2] = {(uint32_t)drop->seed, (uint32_t)(drop->seed >> 32)};
    for (size_t i = 0; i < count; i += 4) {
        const uint32_t counter[4] = {drop->block + (uint32_t)(i / 4), sample, iteration,
                                     PX_RNG_DROPOUT};
        uint32_t words[4];
        px_rng_philox(counter, key, words);
        for (size_t k = 0; k < 4 && i + k < count; k++) {
            const float kept = words[k] >> 8 >= drop->threshold ? from[i + k] * drop->scale : 0.0f;
            to[i + k] = (adds ? to[i + k] : 0.0f) + kept;
        }
    }
}

static bool drop_ratio(const px_op_ctx *ctx, double *out)
{
    if (ctx->node->opset < 12) {
        *out = (double)px_node_float(ctx->node, "ratio", 0.5f);
        return true;
    }
    *out = 0.5;
    if (!pxi_op_has_in(ctx, 1))
        return true;
    const px_tensor *ratio = &ctx->in[1];
    if (!ratio->data || px_shape_count(&ratio->shape) != 1)
        return false;
    if (ratio->dtype == PX_FLOAT64)
        *out = *(const double *)ratio->data;
    else if (ratio->dtype == PX_FLOAT32)
        *out = (double)*(const float *)ratio->data;
    else
        return false;
    return true;
}

bool pxi_drop_takes(const px_plan *plan, const pxi_step *step)
{
    return plan->training && strcmp(step->ctx.node->type, "Dropout") == 0 &&
           step->ctx.node->domain[0] == '\0';
}

px_status pxi_emit_drop(px_plan *plan, int step, px_error *err)
{
    const px_op_ctx *ctx = &plan->program->steps[step].ctx;
    const px_node *node = ctx->node;
    double ratio;
    if (!drop_ratio(ctx, &ratio) || !(ratio >= 0.0 && ratio <= 1.0))
        return pxi_op_fail(ctx, err, PX_E_UNSUPPORTED,
                           "cannot be trained: its ratio is not a constant between 0 and 1");
    if (ctx->in[0].dtype != PX_FLOAT32 || ctx->in[0].shape.rank < 1 ||
        ctx->in[0].shape.dim[0] != plan->batch || (node->output_count > 1 && node->outputs[1] >= 0))
        return pxi_op_fail(ctx, err, PX_E_UNSUPPORTED,
                           "cannot be trained: its data have to be float32 with the batch as their "
                           "first axis, and its mask unused");
    pxi_unit *unit = pxi_plan_add_unit(plan, &pxi_unit_drop, step, 1, 1);
    drop_impl *impl = pxi_arena_alloc(plan->arena, 1, sizeof *impl);
    if (!unit || !impl)
        return pxi_no_memory(err);
    impl->each = (size_t)(px_shape_count(&ctx->in[0].shape) / PX_MAX(plan->batch, (int64_t)1));
    impl->drop = pxi_drop_of(ratio);
    impl->drop.block = plan->drop_blocks;
    plan->drop_blocks += (uint32_t)((impl->each + 3) / 4);
    unit->in[0] = node->inputs[0];
    unit->out[0] = node->outputs[0];
    plan->cells[unit->out[0]].layout = plan->cells[unit->in[0]].layout;
    unit->impl = impl;
    unit->kernel = "dropout";
    unit->flops = px_shape_count(&ctx->in[0].shape);
    return PX_OK;
}

static px_status drop_build(px_plan *plan, pxi_unit *unit, px_error *err)
{
    (void)plan, (void)unit, (void)err;
    return PX_OK;
}

/* to (+)= from * mask, for every sample of the micro-batch. */
static void drop_apply(const drop_impl *impl, const px_session *session, const float *from,
                       float *to, bool adds)
{
    pxi_drop drop = impl->drop;
    drop.seed = session->seed;
    for (int64_t n = 0; n < session->plan->batch; n++, from += impl->each, to += impl->each)
        pxi_drop_row(&drop, (uint32_t)(session->first + n), (uint32_t)session->iteration, from, to,
                     impl->each, adds);
}

static px_status drop_forward(const pxi_unit *unit, px_session *session, void *state, px_error *err)
{
    (void)state, (void)err;
    drop_apply(unit->impl, session, pxi_cell_data(session, unit->in[0]),
               pxi_cell_data(session, unit->out[0]), /* adds= */ false);
    return PX_OK;
}

static px_status drop_backward(const pxi_unit *unit, px_session *session, void *state,
                               px_error *err)
{
    (void)state, (void)err;
    if (pxi_cell_wants_grad(session->plan, unit->in[0]))
        drop_apply(unit->impl, session, pxi_cell_grad(session, unit->out[0]),
                   pxi_cell_grad(session, unit->in[0]), pxi_grad_adds(session, unit->in[0]));
    return PX_OK;
}

const pxi_unit_kind pxi_unit_drop = {
    .name = "drop",
    .build = drop_build,
    .forward = drop_forward,
    .backward = drop_backward,
};
