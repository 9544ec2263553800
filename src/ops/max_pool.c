/* src/ops/max_pool.c - MaxPool (ONNX, since opset 1)
 *
 * Ties go to the first element in scan order; a NaN wins over everything, so that the run reports
 * it. A window without any element gives the type's lowest value, and nothing flows back from it.
 * Opset 8 added the indices, 10 ceil_mode and dilations, 12 8-bit types.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#include "ops/pool.h"
#include <internal/nn_check.h>

#include <math.h>

static px_status max_pool_setup(px_op_ctx *ctx, px_error *err)
{
    PX_TRY(pxi_op_arity(ctx, 1, 1, 1, 2, err));
    const px_dtype dtype = ctx->in[0].dtype;
    if (dtype != PX_FLOAT32 && dtype != PX_FLOAT64 && dtype != PX_UINT8 && dtype != PX_INT8)
        return pxi_op_fail(ctx, err, PX_E_UNSUPPORTED, "the maximum of %s data is not supported",
                           px_dtype_name(dtype));
    int64_t storage_order = 0;
    PX_TRY(pxi_nn_int(ctx, "storage_order", 0, 1, 0, &storage_order, err));
    PX_TRY(pxi_op_params(ctx, sizeof(pxi_pool_params), err));
    pxi_pool_params *params = ctx->params;
    params->column_major = storage_order != 0;
    PX_TRY(pxi_pool_read(ctx, params, err));
    ctx->out[0].dtype = dtype;
    if (ctx->out_count > 1)
        ctx->out[1] = (px_tensor){.dtype = PX_INT64, .shape = ctx->out[0].shape};
    return PX_OK;
}

typedef struct max_pool_taps {
    int64_t low[3], high[3], start[3]; /* taps inside the data; where tap 0 lies */
} max_pool_taps;

static void max_pool_window(const pxi_window *w, int64_t d, int64_t h, int64_t x,
                            max_pool_taps *taps)
{
    const int64_t o[3] = {d, h, x};
    for (int i = 0; i < 3; i++) {
        pxi_window_taps(w, i, o[i], &taps->low[i], &taps->high[i]);
        taps->start[i] = o[i] * w->stride[i] - w->pad_begin[i];
    }
}

/* Defines best_TYPE(): the place of the largest element of one window in its plane; -1 if the
 * window is empty. `value != value` is true for NaN alone, and never for integers. */
#define MAX_POOL_BEST(suffix, type)                                                              \
    static int64_t best_##suffix(const pxi_window *w, const max_pool_taps *t, const type *plane) \
    {                                                                                            \
        int64_t best = -1;                                                                       \
        for (int64_t kd = t->low[0]; kd < t->high[0]; kd++)                                      \
            for (int64_t kh = t->low[1]; kh < t->high[1]; kh++) {                                \
                const int64_t d = t->start[0] + kd * w->dilation[0];                             \
                const int64_t h = t->start[1] + kh * w->dilation[1];                             \
                const int64_t row = (d * w->in[1] + h) * w->in[2] + t->start[2];                 \
                for (int64_t kw = t->low[2]; kw < t->high[2]; kw++) {                            \
                    const int64_t at = row + kw * w->dilation[2];                                \
                    const type value = plane[at];                                                \
                    if (value != value)                                                          \
                        return at;                                                               \
                    if (best < 0 || value > plane[best])                                         \
                        best = at;                                                               \
                }                                                                                \
            }                                                                                    \
        return best;                                                                             \
    }

MAX_POOL_BEST(real, px_real)
MAX_POOL_BEST(double, double)
MAX_POOL_BEST(uint8, uint8_t)
MAX_POOL_BEST(int8, int8_t)

/* The place of the maximum of output (d, h, x) of plane `plane`, whatever the type; -1 if empty. */
static int64_t max_pool_best(const px_tensor *in, const pxi_window *w, int64_t plane, int64_t d,
                             int64_t h, int64_t x)
{
    const int64_t base = plane * pxi_window_in_count(w);
    max_pool_taps taps;
    max_pool_window(w, d, h, x, &taps);
    switch (in->dtype) {
    case PX_FLOAT64:
        return best_double(w, &taps, (const double *)in->data + base);
    case PX_UINT8:
        return best_uint8(w, &taps, (const uint8_t *)in->data + base);
    case PX_INT8:
        return best_int8(w, &taps, (const int8_t *)in->data + base);
    default:
        return best_real(w, &taps, PXI_F32(*in) + base);
    }
}

static void max_pool_store(const px_tensor *in, int64_t from, px_tensor *out, int64_t to)
{
    switch (in->dtype) {
    case PX_FLOAT64:
        ((double *)out->data)[to] = from < 0 ? -(double)INFINITY : ((double *)in->data)[from];
        break;
    case PX_UINT8:
        ((uint8_t *)out->data)[to] = from < 0 ? 0 : ((uint8_t *)in->data)[from];
        break;
    case PX_INT8:
        ((int8_t *)out->data)[to] = from < 0 ? INT8_MIN : ((int8_t *)in->data)[from];
        break;
    default:
        PXI_F32(*out)[to] = from < 0 ? -(px_real)INFINITY : PXI_F32(*in)[from];
    }
}

/* What the second output says of a maximum at `best` of plane `plane`; planes count along. */
static int64_t max_pool_index(const pxi_pool_params *p, const pxi_window *w, int64_t plane,
                              int64_t best)
{
    const int64_t base = plane * pxi_window_in_count(w);
    if (!p->column_major || best < 0)
        return best < 0 ? 0 : base + best;
    const int64_t x = best % w->in[2], h = best / w->in[2] % w->in[1];
    const int64_t d = best / w->in[2] / w->in[1];
    return base + d + w->in[0] * (h + w->in[1] * x);
}

static px_status max_pool_forward(const px_op_ctx *ctx, px_error *err)
{
    (void)err;
    const pxi_pool_params *p = ctx->params;
    const pxi_window w = pxi_window_3d(&p->window);
    const int64_t area = pxi_window_in_count(&w);
    int64_t *indices = ctx->out_count > 1 ? PXI_I64(ctx->out[1]) : NULL;
    int64_t to = 0;
    for (int64_t plane = 0; plane < p->planes; plane++)
        for (int64_t d = 0; d < w.out[0]; d++)
            for (int64_t h = 0; h < w.out[1]; h++)
                for (int64_t x = 0; x < w.out[2]; x++, to++) {
                    const int64_t best = max_pool_best(&ctx->in[0], &w, plane, d, h, x);
                    if (ctx->out[0].data)
                        max_pool_store(&ctx->in[0], best < 0 ? -1 : plane * area + best,
                                       &ctx->out[0], to);
                    if (indices)
                        indices[to] = max_pool_index(p, &w, plane, best);
                }
    return PX_OK;
}

static void max_pool_backward(const px_op_ctx *ctx)
{
    const pxi_pool_params *p = ctx->params;
    const pxi_window w = pxi_window_3d(&p->window);
    const int64_t area = pxi_window_in_count(&w);
    const px_real *dy = PXI_F32(ctx->out_grad[0]);
    if (!dy || !pxi_op_wants_grad(ctx, 0) || ctx->in[0].dtype != PX_FLOAT32)
        return;
    px_real *dx = PXI_F32(ctx->in_grad[0]);
    int64_t from = 0;
    for (int64_t plane = 0; plane < p->planes; plane++)
        for (int64_t d = 0; d < w.out[0]; d++)
            for (int64_t h = 0; h < w.out[1]; h++)
                for (int64_t x = 0; x < w.out[2]; x++, from++) {
                    const int64_t best = max_pool_best(&ctx->in[0], &w, plane, d, h, x);
                    if (best >= 0)
                        dx[plane * area + best] += dy[from];
                }
}

const px_op px_op_maxpool_1 = {
    .name = "MaxPool",
    .since = 1,
    .diff = PX_DIFF_YES,
    .setup = max_pool_setup,
    .forward = max_pool_forward,
    .backward = max_pool_backward,
};
