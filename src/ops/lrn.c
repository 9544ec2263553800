/* src/ops/lrn.c - LRN, local response normalisation across channels (ONNX, since opset 1)
 *
 *     D(c) = bias + alpha / size * sum of x(i)^2 over the channels i around c
 *     y(c) = x(c) * D(c)^-beta
 *
 * D is taken as it comes: a bias that makes it negative or zero gives NaN or infinity.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#include "base/memory.h"
#include <internal/nn_check.h>
#include <internal/norm.h>

#include <tgmath.h>

static px_status lrn_setup(px_op_ctx *ctx, px_error *err)
{
    PX_TRY(pxi_op_arity(ctx, 1, 1, 1, 1, err));
    PX_TRY(pxi_nn_float(ctx, 0, 0, err));
    PX_TRY(pxi_nn_rank(ctx, 0, 2, PX_MAX_RANK, err));
    PX_TRY(pxi_op_params(ctx, sizeof(pxi_lrn_params), err));
    pxi_lrn_params *p = ctx->params;
    const px_shape *x = &ctx->in[0].shape;
    PX_TRY(pxi_nn_int(ctx, "size", 1, INT32_MAX, 0, &p->size, err));
    p->alpha = (double)px_node_float(ctx->node, "alpha", 1e-4f);
    p->beta = (double)px_node_float(ctx->node, "beta", 0.75f);
    p->bias = (double)px_node_float(ctx->node, "bias", 1.0f);
    p->batch = x->dim[0];
    p->channels = x->dim[1];
    p->area = 1;
    for (int i = 2; i < x->rank; i++)
        p->area *= x->dim[i];
    ctx->out[0] = (px_tensor){.dtype = PX_FLOAT32, .shape = *x};
    return pxi_nn_bytes(ctx, 2 * p->channels, sizeof(double), &ctx->scratch_bytes, err);
}

/* D of every channel at one place; x's channels lie `area` apart. */
static void lrn_divisors(const pxi_lrn_params *p, const px_real *x, double *divisors)
{
    const int64_t before = (p->size - 1) / 2, after = p->size - 1 - before;
    for (int64_t c = 0; c < p->channels; c++) {
        const int64_t first = PX_MAX(c - before, 0), last = PX_MIN(c + after, p->channels - 1);
        double squares = 0.0;
        for (int64_t i = first; i <= last; i++)
            squares += (double)x[i * p->area] * (double)x[i * p->area];
        divisors[c] = p->bias + p->alpha / (double)p->size * squares;
    }
}

static px_status lrn_forward(const px_op_ctx *ctx, px_error *err)
{
    (void)err;
    const pxi_lrn_params *p = ctx->params;
    double *divisors = ctx->scratch;
    for (int64_t n = 0; n < p->batch; n++)
        for (int64_t i = 0; i < p->area; i++) {
            const int64_t at = n * p->channels * p->area + i;
            const px_real *x = PXI_F32(ctx->in[0]) + at;
            px_real *y = PXI_F32(ctx->out[0]) + at;
            lrn_divisors(p, x, divisors);
            for (int64_t c = 0; c < p->channels; c++)
                y[c * p->area] = (px_real)((double)x[c * p->area] * pow(divisors[c], -p->beta));
        }
    return PX_OK;
}

/* dx(i) = dy(i) D(i)^-beta - 2 alpha beta / size * x(i) * sum of dy(c) x(c) D(c)^(-beta-1) over the
 * channels c that have i around them */
static void lrn_backward(const px_op_ctx *ctx)
{
    const pxi_lrn_params *p = ctx->params;
    double *divisors = ctx->scratch, *pulls = divisors + p->channels;
    const int64_t before = (p->size - 1) / 2, after = p->size - 1 - before;
    const double factor = 2.0 * p->alpha * p->beta / (double)p->size;
    if (!ctx->out_grad[0].data || !pxi_op_wants_grad(ctx, 0))
        return;
    for (int64_t n = 0; n < p->batch; n++)
        for (int64_t j = 0; j < p->area; j++) {
            const int64_t at = n * p->channels * p->area + j;
            const px_real *x = PXI_F32(ctx->in[0]) + at, *dy = PXI_F32(ctx->out_grad[0]) + at;
            px_real *dx = PXI_F32(ctx->in_grad[0]) + at;
            lrn_divisors(p, x, divisors);
            for (int64_t c = 0; c < p->channels; c++)
                pulls[c] = (double)dy[c * p->area] * (double)x[c * p->area] *
                           pow(divisors[c], -p->beta - 1.0);
            for (int64_t i = 0; i < p->channels; i++) {
                const int64_t first = PX_MAX(i - after, 0);
                const int64_t last = PX_MIN(i + before, p->channels - 1);
                double sum = 0.0;
                for (int64_t c = first; c <= last; c++)
                    sum += pulls[c];
                dx[i * p->area] += (px_real)((double)dy[i * p->area] * pow(divisors[i], -p->beta) -
                                             factor * (double)x[i * p->area] * sum);
            }
        }
}

const px_op px_op_lrn_1 = {
    .name = "LRN",
    .since = 1,
    .diff = PX_DIFF_YES,
    .setup = lrn_setup,
    .forward = lrn_forward,
    .backward = lrn_backward,
};
