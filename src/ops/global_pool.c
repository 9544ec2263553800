/* src/ops/global_pool.c - GlobalAveragePool, GlobalMaxPool, GlobalLpPool (ONNX, since opset 1)
 *
 * One number per channel. Subgradients: the maximum's first place in scan order; 0 where a norm
 * is 0. NaN wins over every maximum.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#include "ops/pool.h"
#include <internal/nn_check.h>

#include <tgmath.h>

static px_status global_pool_read(px_op_ctx *ctx, pxi_global_pool_params *params, px_error *err)
{
    const px_shape *x = &ctx->in[0].shape;
    PX_TRY(pxi_op_arity(ctx, 1, 1, 1, 1, err));
    PX_TRY(pxi_nn_float(ctx, 0, 0, err));
    PX_TRY(pxi_nn_rank(ctx, 0, 2, PX_MAX_RANK, err));
    params->planes = x->dim[0] * x->dim[1];
    params->area = 1;
    ctx->out[0] = (px_tensor){.dtype = PX_FLOAT32, .shape = *x};
    for (int i = 2; i < x->rank; i++) {
        params->area *= x->dim[i];
        ctx->out[0].shape.dim[i] = 1;
    }
    if (params->area == 0)
        return pxi_op_fail(ctx, err, PX_E_MISMATCH, "its data has no elements to pool");
    return PX_OK;
}

static px_status global_pool_setup(px_op_ctx *ctx, px_error *err)
{
    PX_TRY(pxi_op_params(ctx, sizeof(pxi_global_pool_params), err));
    return global_pool_read(ctx, ctx->params, err);
}

static px_status global_lp_pool_setup(px_op_ctx *ctx, px_error *err)
{
    PX_TRY(pxi_op_params(ctx, sizeof(pxi_global_pool_params), err));
    pxi_global_pool_params *params = ctx->params;
    PX_TRY(pxi_pool_norm(ctx, &params->p, err));
    return global_pool_read(ctx, params, err);
}

static px_status global_average_forward(const px_op_ctx *ctx, px_error *err)
{
    (void)err;
    const pxi_global_pool_params *p = ctx->params;
    const px_real *x = PXI_F32(ctx->in[0]);
    px_real *y = PXI_F32(ctx->out[0]);
    for (int64_t i = 0; i < p->planes; i++, x += p->area) {
        double sum = 0.0;
        for (int64_t j = 0; j < p->area; j++)
            sum += (double)x[j];
        y[i] = (px_real)(sum / (double)p->area);
    }
    return PX_OK;
}

static void global_average_backward(const px_op_ctx *ctx)
{
    const pxi_global_pool_params *p = ctx->params;
    const px_real *dy = PXI_F32(ctx->out_grad[0]);
    px_real *dx = PXI_F32(ctx->in_grad[0]);
    if (!dy || !dx)
        return;
    for (int64_t i = 0; i < p->planes; i++, dx += p->area) {
        const px_real share = dy[i] / (px_real)p->area;
        for (int64_t j = 0; j < p->area; j++)
            dx[j] += share;
    }
}

static int64_t global_max_at(const px_real *x, int64_t count)
{
    int64_t best = 0;
    for (int64_t j = 0; j < count; j++) {
        if (isnan(x[j]))
            return j;
        if (x[j] > x[best])
            best = j;
    }
    return best;
}

static px_status global_max_forward(const px_op_ctx *ctx, px_error *err)
{
    (void)err;
    const pxi_global_pool_params *p = ctx->params;
    const px_real *x = PXI_F32(ctx->in[0]);
    px_real *y = PXI_F32(ctx->out[0]);
    for (int64_t i = 0; i < p->planes; i++, x += p->area)
        y[i] = x[global_max_at(x, p->area)];
    return PX_OK;
}

static void global_max_backward(const px_op_ctx *ctx)
{
    const pxi_global_pool_params *p = ctx->params;
    const px_real *x = PXI_F32(ctx->in[0]), *dy = PXI_F32(ctx->out_grad[0]);
    px_real *dx = PXI_F32(ctx->in_grad[0]);
    if (!dy || !dx)
        return;
    for (int64_t i = 0; i < p->planes; i++, x += p->area, dx += p->area)
        dx[global_max_at(x, p->area)] += dy[i];
}

static px_status global_lp_forward(const px_op_ctx *ctx, px_error *err)
{
    (void)err;
    const pxi_global_pool_params *p = ctx->params;
    const px_real *x = PXI_F32(ctx->in[0]);
    px_real *y = PXI_F32(ctx->out[0]);
    for (int64_t i = 0; i < p->planes; i++, x += p->area) {
        double sum = 0.0;
        for (int64_t j = 0; j < p->area; j++)
            sum += p->p == 2.0 ? (double)x[j] * (double)x[j] : pow(fabs((double)x[j]), p->p);
        y[i] = (px_real)(p->p == 2.0 ? sqrt(sum) : pow(sum, 1.0 / p->p));
    }
    return PX_OK;
}

/* dy/dx = sign(x) (|x| / y)^(p-1) */
static void global_lp_backward(const px_op_ctx *ctx)
{
    const pxi_global_pool_params *p = ctx->params;
    const px_real *x = PXI_F32(ctx->in[0]), *y = PXI_F32(ctx->out[0]);
    const px_real *dy = PXI_F32(ctx->out_grad[0]);
    px_real *dx = PXI_F32(ctx->in_grad[0]);
    if (!dy || !dx)
        return;
    for (int64_t i = 0; i < p->planes; i++, x += p->area, dx += p->area)
        for (int64_t j = 0; y[i] != 0 && j < p->area; j++)
            if (x[j] != 0)
                dx[j] += (px_real)((double)dy[i] *
                                   copysign(pow(fabs((double)x[j]) / (double)y[i], p->p - 1.0),
                                            (double)x[j]));
}

const px_op px_op_globalaveragepool_1 = {
    .name = "GlobalAveragePool",
    .since = 1,
    .diff = PX_DIFF_YES,
    .setup = global_pool_setup,
    .forward = global_average_forward,
    .backward = global_average_backward,
};

const px_op px_op_globalmaxpool_1 = {
    .name = "GlobalMaxPool",
    .since = 1,
    .diff = PX_DIFF_YES,
    .setup = global_pool_setup,
    .forward = global_max_forward,
    .backward = global_max_backward,
};

const px_op px_op_globallppool_1 = {
    .name = "GlobalLpPool",
    .since = 1,
    .diff = PX_DIFF_YES,
    .setup = global_lp_pool_setup,
    .forward = global_lp_forward,
    .backward = global_lp_backward,
};
