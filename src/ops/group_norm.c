/* src/ops/group_norm.c - InstanceNormalization (since opset 1) and GroupNormalization (18, 21)
 *
 *     y = (x - mean) / sqrt(var + epsilon) * scale + bias
 *
 * with mean and population variance over the channels of one group of one sample; an instance norm
 * has groups of one channel. Opset 18 gave GroupNormalization one scale and bias per group, opset
 * 21 one per channel.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#include "ops/normalize.h"
#include <internal/nn_check.h>
#include <internal/norm.h>

static px_status group_norm_read(px_op_ctx *ctx, pxi_group_norm_params *p, px_error *err)
{
    const px_shape *x = &ctx->in[0].shape;
    PX_TRY(pxi_op_arity(ctx, 3, 3, 1, 1, err));
    PX_TRY(pxi_nn_float(ctx, 0, 2, err));
    PX_TRY(pxi_nn_rank(ctx, 0, 2, PX_MAX_RANK, err));
    p->batch = x->dim[0];
    p->channels = x->dim[1];
    p->area = 1;
    for (int i = 2; i < x->rank; i++)
        p->area *= x->dim[i];
    p->epsilon = (double)px_node_float(ctx->node, "epsilon", 1e-5f);
    if (!(p->epsilon >= 0.0))
        return pxi_op_fail(ctx, err, PX_E_INPUT, "its epsilon is %g, expected at least 0",
                           p->epsilon);
    if (p->group_count < 1 || p->channels % p->group_count != 0)
        return pxi_op_fail(ctx, err, PX_E_INPUT, "%lld groups do not divide %lld channels",
                           (long long)p->group_count, (long long)p->channels);
    p->group = p->channels / p->group_count;
    const int64_t entries = p->per_group ? p->group_count : p->channels;
    PX_TRY(pxi_nn_shape(ctx, 1, "the scale", 1, &entries, err));
    PX_TRY(pxi_nn_shape(ctx, 2, "the bias", 1, &entries, err));
    ctx->out[0] = (px_tensor){.dtype = PX_FLOAT32, .shape = *x};
    return PX_OK;
}

static px_status instance_norm_setup(px_op_ctx *ctx, px_error *err)
{
    PX_TRY(pxi_op_params(ctx, sizeof(pxi_group_norm_params), err));
    PX_TRY(pxi_op_arity(ctx, 3, 3, 1, 1, err));
    PX_TRY(pxi_nn_rank(ctx, 0, 3, PX_MAX_RANK, err));
    pxi_group_norm_params *p = ctx->params;
    p->group_count = ctx->in[0].shape.dim[1];
    if (p->group_count == 0)
        return pxi_op_fail(ctx, err, PX_E_MISMATCH, "its data has no channels");
    return group_norm_read(ctx, p, err);
}

static px_status group_norm_setup(px_op_ctx *ctx, px_error *err)
{
    PX_TRY(pxi_op_params(ctx, sizeof(pxi_group_norm_params), err));
    pxi_group_norm_params *p = ctx->params;
    PX_TRY(pxi_nn_int(ctx, "num_groups", 1, INT32_MAX, 0, &p->group_count, err));
    p->per_group = ctx->node->opset < 21;
    return group_norm_read(ctx, p, err);
}

static px_status group_norm_forward(const px_op_ctx *ctx, px_error *err)
{
    (void)err;
    const pxi_group_norm_params *p = ctx->params;
    const px_real *scale = PXI_F32(ctx->in[1]), *bias = PXI_F32(ctx->in[2]);
    const int64_t run = p->group * p->area;
    for (int64_t g = 0; run > 0 && g < p->batch * p->group_count; g++) {
        const px_real *x = PXI_F32(ctx->in[0]) + g * run;
        px_real *y = PXI_F32(ctx->out[0]) + g * run;
        const pxi_moments m = pxi_moments_of(x, run, p->epsilon);
        for (int64_t c = 0; c < p->group; c++) {
            const int64_t group = g % p->group_count;
            const int64_t entry = p->per_group ? group : group * p->group + c;
            for (int64_t i = c * p->area; i < (c + 1) * p->area; i++)
                y[i] = (px_real)(((double)x[i] - m.mean) * m.inverse * (double)scale[entry] +
                                 (double)bias[entry]);
        }
    }
    return PX_OK;
}

/* With g = dy * scale and xhat the normalised x: dx = (g - mean g - xhat * mean (g xhat)) / s */
static void group_norm_backward(const px_op_ctx *ctx)
{
    const pxi_group_norm_params *p = ctx->params;
    const px_real *scale = PXI_F32(ctx->in[1]);
    const int64_t run = p->group * p->area;
    if (!ctx->out_grad[0].data)
        return;
    for (int64_t g = 0; run > 0 && g < p->batch * p->group_count; g++) {
        const px_real *x = PXI_F32(ctx->in[0]) + g * run;
        const px_real *dy = PXI_F32(ctx->out_grad[0]) + g * run;
        const pxi_moments m = pxi_moments_of(x, run, p->epsilon);
        const int64_t group = g % p->group_count;
        double sum = 0.0, product = 0.0;
        for (int64_t c = 0; c < p->group; c++) {
            const int64_t entry = p->per_group ? group : group * p->group + c;
            double dbias = 0.0, dscale = 0.0;
            for (int64_t i = c * p->area; i < (c + 1) * p->area; i++) {
                dbias += (double)dy[i];
                dscale += (double)dy[i] * ((double)x[i] - m.mean) * m.inverse;
            }
            sum += dbias * (double)scale[entry];
            product += dscale * (double)scale[entry];
            if (pxi_op_wants_grad(ctx, 1))
                PXI_F32(ctx->in_grad[1])[entry] += (px_real)dscale;
            if (pxi_op_wants_grad(ctx, 2))
                PXI_F32(ctx->in_grad[2])[entry] += (px_real)dbias;
        }
        if (!pxi_op_wants_grad(ctx, 0))
            continue;
        px_real *dx = PXI_F32(ctx->in_grad[0]) + g * run;
        for (int64_t i = 0; i < run; i++) {
            const int64_t entry = p->per_group ? group : group * p->group + i / p->area;
            const double xhat = ((double)x[i] - m.mean) * m.inverse;
            dx[i] += (px_real)(m.inverse * ((double)dy[i] * (double)scale[entry] -
                                            (sum + xhat * product) / (double)run));
        }
    }
}

const px_op px_op_instancenormalization_1 = {
    .name = "InstanceNormalization",
    .since = 1,
    .diff = PX_DIFF_YES,
    .setup = instance_norm_setup,
    .forward = group_norm_forward,
    .backward = group_norm_backward,
};

const px_op px_op_groupnormalization_18 = {
    .name = "GroupNormalization",
    .since = 18,
    .diff = PX_DIFF_YES,
    .setup = group_norm_setup,
    .forward = group_norm_forward,
    .backward = group_norm_backward,
};
