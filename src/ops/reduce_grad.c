/* src/ops/reduce_grad.c - the backward passes of the Reduce operators
 *
 * Where several elements tie for the maximum or minimum, the gradient is shared evenly among them,
 * as torch.amax does. L2 has gradient 0 at the origin. A product's gradient is that of the product
 * of the other elements, zeros included.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#include "ops/fold.h"

#include <math.h>

typedef struct reduce_grad {
    pxi_reduce_kind kind;
    const px_real *x, *y, *dy;
    px_real *dx;
    double *note; /* two per result: ties, or the product of non-zeros and the number of zeros */
    double scale;
} reduce_grad;

static void note_row(void *context, int64_t x, int64_t y, int64_t count, bool scalar)
{
    const reduce_grad *g = context;
    for (int64_t i = 0; i < count; i++) {
        const int64_t at = scalar ? y : y + i;
        const px_real v = g->x[x + i];
        double *note = g->note + 2 * at;
        if (g->kind != PXI_REDUCE_PROD)
            note[0] += v == g->y[at] || (isnan(v) && isnan(g->y[at]));
        else if (v == 0)
            note[1] += 1.0;
        else
            note[0] *= (double)v;
    }
}

static double slope(const reduce_grad *g, int64_t x, int64_t y)
{
    const double v = (double)g->x[x], result = (double)g->y[y];
    switch (g->kind) {
    case PXI_REDUCE_MAX:
    case PXI_REDUCE_MIN:
        return v == result || (isnan(v) && isnan(result)) ? 1.0 / g->note[2 * y] : 0.0;
    case PXI_REDUCE_PROD:
        if (g->note[2 * y + 1] == 0.0)
            return g->note[2 * y] / v;
        return v == 0.0 && g->note[2 * y + 1] == 1.0 ? g->note[2 * y] : 0.0;
    case PXI_REDUCE_L1:
        return (v > 0.0) - (v < 0.0);
    case PXI_REDUCE_L2:
        return result == 0.0 ? 0.0 : v / result;
    case PXI_REDUCE_LOG_SUM:
        return exp(-result); /* 1 / sum */
    case PXI_REDUCE_LOG_SUM_EXP:
        return v == result ? 1.0 : exp(v - result); /* equal infinities: not NaN */
    case PXI_REDUCE_SUM_SQUARE:
        return 2.0 * v;
    default:
        return g->scale;
    }
}

static void grad_row(void *context, int64_t x, int64_t y, int64_t count, bool scalar)
{
    const reduce_grad *g = context;
    if (g->kind == PXI_REDUCE_SUM || g->kind == PXI_REDUCE_MEAN) {
        const px_real scale = (px_real)g->scale;
        px_real *dx = g->dx + x;
        const px_real *dy = g->dy + y;
        if (scalar) {
            const px_real step = dy[0] * scale;
            for (int64_t i = 0; i < count; i++)
                dx[i] += step;
        } else {
#pragma omp simd
            for (int64_t i = 0; i < count; i++)
                dx[i] += dy[i] * scale;
        }
        return;
    }
    for (int64_t i = 0; i < count; i++) {
        const int64_t at = scalar ? y : y + i;
        g->dx[x + i] += (px_real)((double)g->dy[at] * slope(g, x + i, at));
    }
}

void pxi_reduce_backward(const px_op_ctx *ctx)
{
    if (!pxi_op_wants_grad(ctx, 0) || !ctx->out_grad[0].data)
        return;
    const pxi_reduce_params *params = ctx->params;
    pxi_fold fold;
    pxi_fold_init(&fold, ctx->in[0].shape.rank, ctx->in[0].shape.dim, params->reduced);
    reduce_grad g = {.kind = params->kind,
                     .x = PXI_F32(ctx->in[0]),
                     .y = PXI_F32(ctx->out[0]),
                     .dy = PXI_F32(ctx->out_grad[0]),
                     .dx = PXI_F32(ctx->in_grad[0]),
                     .note = ctx->scratch,
                     .scale = 1.0};
    if (params->kind == PXI_REDUCE_MEAN)
        g.scale = 1.0 / (double)fold.per_result; /* not used when there are none */
    if (params->kind == PXI_REDUCE_MAX || params->kind == PXI_REDUCE_MIN ||
        params->kind == PXI_REDUCE_PROD) {
        for (int64_t i = 0; i < fold.out_count; i++) {
            g.note[2 * i] = params->kind == PXI_REDUCE_PROD ? 1.0 : 0.0;
            g.note[2 * i + 1] = 0.0;
        }
        pxi_fold_rows(&fold, note_row, &g);
    }
    pxi_fold_rows(&fold, grad_row, &g);
}
