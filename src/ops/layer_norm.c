/* src/ops/layer_norm.c - LayerNormalization (ONNX, since opset 17), RMSNormalization (since 23)
 *
 *     y = (x - mean) / sqrt(var + epsilon) * scale + bias      over the axes from `axis` on
 *
 * Outputs 1 and 2 are the mean and 1 / sqrt(var + epsilon) of every row. RMSNormalization is the
 * same with 0 for the mean: var is then the mean of x^2.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#include "ops/normalize.h"

#include "base/wide.h"
#include <internal/nn_check.h>
#include <internal/norm.h>
#include <string.h>

/* Scale and bias have the normalised shape, but for leading ones. */
static px_status layer_norm_fits(const px_op_ctx *ctx, int input, const char *what, int axis,
                                 px_error *err)
{
    if (!pxi_op_has_in(ctx, input))
        return PX_OK;
    const px_shape *x = &ctx->in[0].shape;
    px_shape has = ctx->in[input].shape;
    int skip = 0;
    while (has.rank - skip > x->rank - axis && has.dim[skip] == 1)
        skip++;
    bool same = has.rank - skip == x->rank - axis;
    for (int i = axis; same && i < x->rank; i++)
        same = has.dim[skip + i - axis] == x->dim[i];
    return same ? PX_OK : pxi_nn_shape(ctx, input, what, x->rank - axis, x->dim + axis, err);
}

static px_status layer_norm_setup(px_op_ctx *ctx, px_error *err)
{
    const bool centred = strcmp(ctx->node->type, "RMSNormalization") != 0;
    PX_TRY(pxi_op_arity(ctx, 2, centred ? 3 : 2, 1, centred ? 3 : 1, err));
    PX_TRY(pxi_nn_float(ctx, 0, 2, err));
    PX_TRY(pxi_op_params(ctx, sizeof(pxi_layer_norm_params), err));
    pxi_layer_norm_params *p = ctx->params;
    p->centred = centred;
    const px_shape *x = &ctx->in[0].shape;
    int axis = 0;
    PX_TRY(pxi_op_axis(ctx, px_node_int(ctx->node, "axis", -1), x->rank, &axis, err));
    PX_TRY(layer_norm_fits(ctx, 1, "the scale", axis, err));
    PX_TRY(layer_norm_fits(ctx, 2, "the bias", axis, err));
    p->epsilon = (double)px_node_float(ctx->node, "epsilon", 1e-5f);
    if (!(p->epsilon >= 0.0))
        return pxi_op_fail(ctx, err, PX_E_INPUT, "its epsilon is %g, expected at least 0",
                           p->epsilon);
    p->rows = p->width = 1;
    px_shape rows = *x;
    for (int i = 0; i < x->rank; i++) {
        *(i < axis ? &p->rows : &p->width) *= x->dim[i];
        rows.dim[i] = i < axis ? x->dim[i] : 1;
    }
    ctx->out[0] = (px_tensor){.dtype = PX_FLOAT32, .shape = *x};
    for (int i = 1; i < ctx->out_count; i++)
        ctx->out[i] = (px_tensor){.dtype = PX_FLOAT32, .shape = rows};
    return pxi_nn_bytes(ctx, p->rows, sizeof(pxi_moments), &ctx->saved_bytes, err);
}

/* Partial sums, of every so many'th element: in one, each addition would wait for the one before.
 */
enum { PARTS = 32 };

static inline double layer_norm_join(double parts[PARTS])
{
    for (int half = PARTS / 2; half > 0; half /= 2)
#pragma omp simd
        for (int l = 0; l < half; l++)
            parts[l] += parts[l + half];
    return parts[0];
}

static inline double layer_norm_sum(const px_real *x, int64_t width)
{
    double parts[PARTS] = {0.0};
    int64_t i = 0;
    for (; i + PARTS <= width; i += PARTS)
#pragma omp simd
        for (int l = 0; l < PARTS; l++)
            parts[l] += (double)x[i + l];
    for (int l = 0; i + l < width; l++)
        parts[l] += (double)x[i + l];
    return layer_norm_join(parts);
}

/* Of (x - mean)^2. */
static inline double layer_norm_squares(const px_real *x, int64_t width, double mean)
{
    double parts[PARTS] = {0.0};
    int64_t i = 0;
    for (; i + PARTS <= width; i += PARTS)
#pragma omp simd
        for (int l = 0; l < PARTS; l++)
            parts[l] += ((double)x[i + l] - mean) * ((double)x[i + l] - mean);
    for (int l = 0; i + l < width; l++)
        parts[l] += ((double)x[i + l] - mean) * ((double)x[i + l] - mean);
    return layer_norm_join(parts);
}

/* y NULL: moments only. x - mean has the mean in two parts, so that no digits of a small difference
 * are lost. */
PXI_WIDE static void layer_norm_rows(const pxi_layer_norm_params *p, const px_real *x,
                                     const px_real *scale, const px_real *bias,
                                     pxi_moments *moments, px_real *y)
{
    for (int64_t row = 0; row < p->rows; row++, x += p->width) {
        const double m = p->centred ? layer_norm_sum(x, p->width) / (double)p->width : 0.0;
        const double variance = layer_norm_squares(x, p->width, m) / (double)p->width;
        moments[row] = (pxi_moments){m, 1.0 / sqrt(variance + p->epsilon)};
        if (!y)
            continue;
        const px_real mean = (px_real)m, rest = (px_real)(m - (double)mean);
        const px_real inverse = (px_real)moments[row].inverse;
        px_real *to = y + row * p->width;
        if (bias) {
#pragma omp simd
            for (int64_t i = 0; i < p->width; i++)
                to[i] = (x[i] - mean - rest) * inverse * scale[i] + bias[i];
        } else {
#pragma omp simd
            for (int64_t i = 0; i < p->width; i++)
                to[i] = (x[i] - mean - rest) * inverse * scale[i];
        }
    }
}

static px_status layer_norm_forward(const px_op_ctx *ctx, px_error *err)
{
    (void)err;
    const pxi_layer_norm_params *p = ctx->params;
    pxi_moments *saved = ctx->saved;
    if (p->width == 0)
        return PX_OK;
    layer_norm_rows(p, PXI_F32(ctx->in[0]), PXI_F32(ctx->in[1]),
                    pxi_op_has_in(ctx, 2) ? PXI_F32(ctx->in[2]) : NULL, saved,
                    ctx->out[0].data ? PXI_F32(ctx->out[0]) : NULL);
    for (int64_t row = 0; row < p->rows; row++) {
        if (ctx->out_count > 1 && ctx->out[1].data)
            PXI_F32(ctx->out[1])[row] = (px_real)saved[row].mean;
        if (ctx->out_count > 2 && ctx->out[2].data)
            PXI_F32(ctx->out[2])[row] = (px_real)saved[row].inverse;
    }
    return PX_OK;
}

static double layer_norm_pull(const px_op_ctx *ctx, int output, int64_t row)
{
    return output < ctx->out_count && ctx->out_grad[output].data
               ? (double)PXI_F32(ctx->out_grad[output])[row]
               : 0.0;
}

/* sums[0] = sum of g, sums[1] = sum of g xhat, with g = dy * scale. */
PXI_WIDE static void layer_norm_sums(const px_real *x, const px_real *dy, const px_real *scale,
                                     int64_t width, pxi_moments m, double sums[2])
{
    double sum = 0.0, product = 0.0;
#pragma omp simd reduction(+ : sum, product)
    for (int64_t i = 0; i < width; i++) {
        const double g = (double)dy[i] * (double)scale[i];
        sum += g;
        product += g * (((double)x[i] - m.mean) * m.inverse);
    }
    sums[0] = sum;
    sums[1] = product;
}

PXI_WIDE static void layer_norm_add_row(const px_real *x, const px_real *dy, const px_real *scale,
                                        int64_t width, pxi_moments m, double shift, double lean,
                                        px_real *dx)
{
    if (!dy) {
        for (int64_t i = 0; i < width; i++)
            dx[i] += (px_real)(shift + ((double)x[i] - m.mean) * m.inverse * lean);
        return;
    }
#pragma omp simd
    for (int64_t i = 0; i < width; i++) {
        const double xhat = ((double)x[i] - m.mean) * m.inverse;
        dx[i] += (px_real)(m.inverse * (double)dy[i] * (double)scale[i] + shift + xhat * lean);
    }
}

/* With g = dy * scale, xhat the normalised x and r = 1 / sqrt(var + epsilon):
 *     dx = r * (g - mean g - xhat * mean (g xhat)) + (dmean - dr * r^2 * xhat) / width */
static void layer_norm_backward(const px_op_ctx *ctx)
{
    const pxi_layer_norm_params *p = ctx->params;
    const px_real *scale = PXI_F32(ctx->in[1]);
    const pxi_moments *saved = ctx->saved;
    for (int64_t row = 0; row < p->rows; row++) {
        const px_real *x = PXI_F32(ctx->in[0]) + row * p->width;
        const px_real *dy =
            ctx->out_grad[0].data ? PXI_F32(ctx->out_grad[0]) + row * p->width : NULL;
        const pxi_moments m = saved[row];
        double sums[2] = {0.0, 0.0};
        if (dy)
            layer_norm_sums(x, dy, scale, p->width, m, sums);
        for (int64_t i = 0; dy && pxi_op_wants_grad(ctx, 1) && i < p->width; i++)
            PXI_F32(ctx->in_grad[1])
        [i] += (px_real)((double)dy[i] * (((double)x[i] - m.mean) * m.inverse));
        for (int64_t i = 0; dy && pxi_op_wants_grad(ctx, 2) && i < p->width; i++)
            PXI_F32(ctx->in_grad[2])[i] += dy[i];
        if (!pxi_op_wants_grad(ctx, 0))
            continue;
        px_real *dx = PXI_F32(ctx->in_grad[0]) + row * p->width;
        const double dmean = layer_norm_pull(ctx, 1, row), dr = layer_norm_pull(ctx, 2, row);
        const double shift = p->centred ? (dmean - m.inverse * sums[0]) / (double)p->width : 0.0;
        const double lean = -m.inverse * (dr * m.inverse + sums[1]) / (double)p->width;
        layer_norm_add_row(x, dy, scale, p->width, m, shift, lean, dx);
    }
}

const px_op px_op_layernormalization_17 = {
    .name = "LayerNormalization",
    .since = 17,
    .diff = PX_DIFF_YES,
    .setup = layer_norm_setup,
    .forward = layer_norm_forward,
    .backward = layer_norm_backward,
};

const px_op px_op_rmsnormalization_23 = {
    .name = "RMSNormalization",
    .since = 23,
    .diff = PX_DIFF_YES,
    .setup = layer_norm_setup,
    .forward = layer_norm_forward,
    .backward = layer_norm_backward,
};
