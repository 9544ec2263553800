/* src/engine/unit_scale.c - BatchNormalization in inference that nothing was fused with
 *
 * y = x * scale + shift per channel, on channels-last data; gradients of gamma and beta from the
 * same statistics. Cells: in[0] x, in[1] gamma, in[2] beta; out[0] y.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/plan.h"

#include "base/memory.h"
#include "base/wide.h"
#include <internal/norm.h>

#include <math.h>
#include <string.h>

typedef struct scale_impl {
    size_t pixels, channels;
    float *scale, *shift;   /* per channel */
    double *mean, *inverse; /* of the running statistics */
} scale_impl;

bool pxi_scale_takes(const px_plan *plan, const pxi_step *step)
{
    const px_op_ctx *ctx = &step->ctx;
    if (strcmp(ctx->node->type, "BatchNormalization") != 0 || ctx->in[0].dtype != PX_FLOAT32 ||
        !pxi_shape_has_pixels(&ctx->in[0].shape) || px_shape_count(&ctx->in[0].shape) == 0)
        return false;
    const pxi_batch_norm_params *params = ctx->params;
    for (int i = 1; i < 5; i++)
        if (i >= ctx->in_count || !ctx->in[i].data || ctx->in[i].dtype != PX_FLOAT32 ||
            (i >= 3 && plan->cells[ctx->node->inputs[i]].is_wrt))
            return false;
    for (int i = 1; i < ctx->out_count; i++)
        if (ctx->node->outputs[i] >= 0)
            return false;
    return !params->training && pxi_weight_is_own(plan, step, 1) &&
           pxi_weight_is_own(plan, step, 2);
}

static void scale_fill(const px_op_ctx *ctx, const scale_impl *impl)
{
    const pxi_batch_norm_params *params = ctx->params;
    const float *gamma = ctx->in[1].data, *beta = ctx->in[2].data;
    const float *mean = ctx->in[3].data, *variance = ctx->in[4].data;
    for (size_t c = 0; c < impl->channels; c++) {
        impl->mean[c] = (double)mean[c];
        impl->inverse[c] = 1.0 / sqrt((double)variance[c] + params->epsilon);
        impl->scale[c] = (float)((double)gamma[c] * impl->inverse[c]);
        impl->shift[c] =
            (float)((double)beta[c] - impl->mean[c] * (double)gamma[c] * impl->inverse[c]);
    }
}

px_status pxi_emit_scale(px_plan *plan, int step, px_error *err)
{
    const px_op_ctx *ctx = &plan->program->steps[step].ctx;
    const pxi_batch_norm_params *params = ctx->params;
    const int x = pxi_plan_as(plan, ctx->node->inputs[0], PXI_NHWC);
    pxi_unit *unit = pxi_plan_add_unit(plan, &pxi_unit_scale, step, 3, 1);
    scale_impl *impl = pxi_arena_alloc(plan->arena, 1, sizeof *impl);
    if (x < 0 || !unit || !impl)
        return pxi_no_memory(err);
    impl->channels = (size_t)params->channels;
    impl->pixels = (size_t)(params->batch * params->area);
    PX_TRY(PX_ARENA_NEW(impl->scale, plan->arena, impl->channels, err));
    PX_TRY(PX_ARENA_NEW(impl->shift, plan->arena, impl->channels, err));
    PX_TRY(PX_ARENA_NEW(impl->mean, plan->arena, impl->channels, err));
    PX_TRY(PX_ARENA_NEW(impl->inverse, plan->arena, impl->channels, err));
    scale_fill(ctx, impl);
    for (int i = 0; i < 3; i++)
        unit->in[i] = i ? ctx->node->inputs[i] : x;
    unit->out[0] = ctx->node->outputs[0];
    plan->cells[unit->out[0]].layout = PXI_NHWC;
    unit->impl = impl;
    unit->kernel = "scale";
    unit->flops = 2 * (int64_t)(impl->pixels * impl->channels);
    return PX_OK;
}

static px_status scale_build(px_plan *plan, pxi_unit *unit, px_error *err)
{
    (void)err;
    const scale_impl *impl = unit->impl;
    unit->backward_reads_in =
        pxi_cell_wants_grad(plan, unit->in[1]) || pxi_cell_wants_grad(plan, unit->in[2]);
    unit->scratch_bytes = unit->backward ? 2 * impl->channels * sizeof(double) : 0;
    return PX_OK;
}

static px_status scale_refresh(const px_plan *plan, pxi_unit *unit, px_error *err)
{
    (void)err;
    scale_fill(&plan->program->steps[unit->step].ctx, unit->impl);
    return PX_OK;
}

static void scale_bound(px_plan *plan, pxi_unit *unit)
{
    static const pxi_act none = {0};
    const scale_impl *impl = unit->impl;
    const pxi_gain gain =
        pxi_gain_of(impl->scale, (int64_t)impl->channels, 1, /* mixed= */ false, impl->shift);
    pxi_bound_linear(plan, unit, &gain, &none, /* hides= */ false, -1);
}

PXI_WIDE static void scale_rows(const scale_impl *impl, const float *from, float *to,
                                const float *shift, bool adds)
{
    const size_t channels = impl->channels;
    for (size_t p = 0; p < impl->pixels; p++, from += channels, to += channels)
        for (size_t c = 0; c < channels; c++)
            to[c] = (adds ? to[c] : 0.0f) + from[c] * impl->scale[c] + (shift ? shift[c] : 0.0f);
}

static px_status scale_forward(const pxi_unit *unit, px_session *session, void *state,
                               px_error *err)
{
    (void)state, (void)err;
    const scale_impl *impl = unit->impl;
    scale_rows(impl, pxi_cell_data(session, unit->in[0]), pxi_cell_data(session, unit->out[0]),
               impl->shift, false);
    return PX_OK;
}

/* dgamma = sum dy (x - mean) / sd, dbeta = sum dy, in double. */
static void scale_weights(const scale_impl *impl, const float *x, const float *dy, double *sums)
{
    const size_t channels = impl->channels;
    memset(sums, 0, 2 * channels * sizeof *sums);
    for (size_t p = 0; p < impl->pixels; p++, x += channels, dy += channels)
        for (size_t c = 0; c < channels; c++) {
            sums[c] += (double)dy[c] * (((double)x[c] - impl->mean[c]) * impl->inverse[c]);
            sums[channels + c] += (double)dy[c];
        }
}

static px_status scale_backward(const pxi_unit *unit, px_session *session, void *state,
                                px_error *err)
{
    (void)state, (void)err;
    const scale_impl *impl = unit->impl;
    const float *dy = pxi_cell_grad(session, unit->out[0]);
    if (pxi_cell_wants_grad(session->plan, unit->in[1]) ||
        pxi_cell_wants_grad(session->plan, unit->in[2])) {
        double *sums = pxi_session_scratch(session);
        scale_weights(impl, pxi_cell_data(session, unit->in[0]), dy, sums);
        for (int i = 1; i < 3; i++) {
            if (!pxi_cell_wants_grad(session->plan, unit->in[i]))
                continue;
            float *grad = pxi_cell_grad(session, unit->in[i]);
            pxi_grad_adds(session, unit->in[i]);
            for (size_t c = 0; c < impl->channels; c++)
                grad[c] = (float)sums[(size_t)(i - 1) * impl->channels + c];
        }
    }
    if (pxi_cell_wants_grad(session->plan, unit->in[0]))
        scale_rows(impl, dy, pxi_cell_grad(session, unit->in[0]), NULL,
                   pxi_grad_adds(session, unit->in[0]));
    return PX_OK;
}

const pxi_unit_kind pxi_unit_scale = {
    .name = "scale",
    .build = scale_build,
    .refresh = scale_refresh,
    .bound = scale_bound,
    .forward = scale_forward,
    .backward = scale_backward,
};
