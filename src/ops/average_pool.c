/* src/ops/average_pool.c - AveragePool and LpPool (ONNX, since opset 1)
 *
 * AveragePool divides by the number of elements inside the data, or with count_include_pad inside
 * the padded data; what hangs over beyond the padding (ceil_mode) never counts, as in PyTorch. A
 * window without any element gives 0.
 *
 * LpPool: y = (sum of |x|^p)^(1/p). Where y is 0 the gradient is taken as 0.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#include "ops/pool.h"
#include <internal/nn_check.h>

#include <tgmath.h>

static px_status average_pool_setup(px_op_ctx *ctx, px_error *err)
{
    PX_TRY(pxi_op_arity(ctx, 1, 1, 1, 1, err));
    PX_TRY(pxi_nn_float(ctx, 0, 0, err));
    int64_t include = 0;
    PX_TRY(pxi_nn_int(ctx, "count_include_pad", 0, 1, 0, &include, err));
    PX_TRY(pxi_op_params(ctx, sizeof(pxi_pool_params), err));
    pxi_pool_params *params = ctx->params;
    params->count_include_pad = include != 0;
    ctx->out[0].dtype = PX_FLOAT32;
    return pxi_pool_read(ctx, params, err);
}

static px_status lp_pool_setup(px_op_ctx *ctx, px_error *err)
{
    PX_TRY(pxi_op_arity(ctx, 1, 1, 1, 1, err));
    PX_TRY(pxi_nn_float(ctx, 0, 0, err));
    PX_TRY(pxi_op_params(ctx, sizeof(pxi_pool_params), err));
    pxi_pool_params *params = ctx->params;
    PX_TRY(pxi_pool_norm(ctx, &params->p, err));
    ctx->out[0].dtype = PX_FLOAT32;
    return pxi_pool_read(ctx, params, err);
}

/* Padded positions [0, limit) of an axis count with count_include_pad. */
static int64_t padded_taps(const pxi_window *w, int axis, int64_t o)
{
    const int64_t end = w->in[axis] + w->pad_begin[axis] + w->pad_end[axis];
    const int64_t left = end - o * w->stride[axis];
    const int64_t taps = left <= 0 ? 0 : (left - 1) / w->dilation[axis] + 1;
    return taps < w->kernel[axis] ? taps : w->kernel[axis];
}

typedef struct pool_visit {
    const pxi_window *window;
    int64_t low[3], high[3], start[3];
    int64_t inside; /* elements of the data */
    double padded;  /* elements of data and padding */
} pool_visit;

static pool_visit visit_window(const pxi_window *w, int64_t d, int64_t h, int64_t x)
{
    const int64_t o[3] = {d, h, x};
    pool_visit v = {.window = w, .inside = 1, .padded = 1.0};
    for (int i = 0; i < 3; i++) {
        pxi_window_taps(w, i, o[i], &v.low[i], &v.high[i]);
        v.start[i] = o[i] * w->stride[i] - w->pad_begin[i];
        v.inside *= v.high[i] - v.low[i];
        v.padded *= (double)padded_taps(w, i, o[i]);
    }
    return v;
}

/* Where the row (kd, kh) of a window starts in its plane: the place of tap 0. */
static int64_t visit_row(const pool_visit *v, int64_t kd, int64_t kh)
{
    const pxi_window *w = v->window;
    const int64_t d = v->start[0] + kd * w->dilation[0], h = v->start[1] + kh * w->dilation[1];
    return (d * w->in[1] + h) * w->in[2] + v->start[2];
}

/* The sum of x, or of |x|^p where p is not 0, over one window. */
static double visit_sum(const pool_visit *v, const px_real *plane, double p)
{
    double sum = 0.0;
    for (int64_t kd = v->low[0]; kd < v->high[0]; kd++)
        for (int64_t kh = v->low[1]; kh < v->high[1]; kh++) {
            const int64_t row = visit_row(v, kd, kh), step = v->window->dilation[2];
            for (int64_t kw = v->low[2]; kw < v->high[2]; kw++) {
                const double value = (double)plane[row + kw * step];
                sum += p == 0.0 ? value : p == 2.0 ? value * value : pow(fabs(value), p);
            }
        }
    return sum;
}

/* d|x|^p / dx / p * scale, that is scale * sign(x) |x|^(p-1); `scale` alone where p is 0. */
static void visit_add(const pool_visit *v, const px_real *plane, double p, double scale,
                      px_real *gradient)
{
    for (int64_t kd = v->low[0]; kd < v->high[0]; kd++)
        for (int64_t kh = v->low[1]; kh < v->high[1]; kh++) {
            const int64_t row = visit_row(v, kd, kh), step = v->window->dilation[2];
            for (int64_t kw = v->low[2]; kw < v->high[2]; kw++) {
                const int64_t at = row + kw * step;
                const double x = (double)plane[at];
                double slope = 1.0;
                if (p == 2.0)
                    slope = x;
                else if (p != 0.0)
                    slope = x == 0.0 ? 0.0 : copysign(pow(fabs(x), p - 1.0), x);
                gradient[at] += (px_real)(scale * slope);
            }
        }
}

static double average_divisor(const pxi_pool_params *p, const pool_visit *v)
{
    const double count = p->count_include_pad ? v->padded : (double)v->inside;
    return count > 0.0 ? count : 1.0;
}

static px_status mean_pool_forward(const px_op_ctx *ctx, px_error *err)
{
    (void)err;
    const pxi_pool_params *p = ctx->params;
    const pxi_window w = pxi_window_3d(&p->window);
    const px_real *plane = PXI_F32(ctx->in[0]);
    px_real *y = PXI_F32(ctx->out[0]);
    for (int64_t i = 0; i < p->planes; i++, plane += pxi_window_in_count(&w))
        for (int64_t d = 0; d < w.out[0]; d++)
            for (int64_t h = 0; h < w.out[1]; h++)
                for (int64_t x = 0; x < w.out[2]; x++) {
                    const pool_visit v = visit_window(&w, d, h, x);
                    const double sum = visit_sum(&v, plane, p->p);
                    *y++ = (px_real)(p->p == 0.0   ? sum / average_divisor(p, &v)
                                     : p->p == 2.0 ? sqrt(sum)
                                                   : pow(sum, 1.0 / p->p));
                }
    return PX_OK;
}

static void mean_pool_backward(const px_op_ctx *ctx)
{
    const pxi_pool_params *p = ctx->params;
    const pxi_window w = pxi_window_3d(&p->window);
    const int64_t area = pxi_window_in_count(&w);
    const px_real *dy = PXI_F32(ctx->out_grad[0]), *y = PXI_F32(ctx->out[0]);
    if (!dy || !pxi_op_wants_grad(ctx, 0))
        return;
    int64_t from = 0;
    for (int64_t i = 0; i < p->planes; i++)
        for (int64_t d = 0; d < w.out[0]; d++)
            for (int64_t h = 0; h < w.out[1]; h++)
                for (int64_t x = 0; x < w.out[2]; x++, from++) {
                    const pool_visit v = visit_window(&w, d, h, x);
                    double scale = (double)dy[from];
                    if (p->p == 0.0)
                        scale /= average_divisor(p, &v);
                    else if (y[from] == 0)
                        continue;
                    else
                        scale *= pow((double)y[from], 1.0 - p->p);
                    visit_add(&v, PXI_F32(ctx->in[0]) + i * area, p->p, scale,
                              PXI_F32(ctx->in_grad[0]) + i * area);
                }
}

const px_op px_op_averagepool_1 = {
    .name = "AveragePool",
    .since = 1,
    .diff = PX_DIFF_YES,
    .setup = average_pool_setup,
    .forward = mean_pool_forward,
    .backward = mean_pool_backward,
};

const px_op px_op_lppool_1 = {
    .name = "LpPool",
    .since = 1,
    .diff = PX_DIFF_YES,
    .setup = lp_pool_setup,
    .forward = mean_pool_forward,
    .backward = mean_pool_backward,
};
