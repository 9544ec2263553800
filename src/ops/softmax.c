/* src/ops/softmax.c - Softmax, LogSoftmax, Hardmax (ONNX, since opset 1)
 *
 * Since opset 13 along one axis (the last by default); before, along all axes from `axis` on (1 by
 * default) taken together, as if the tensor were a matrix. Both are a run of axes here. The largest
 * element is subtracted first; sums are in double. Hardmax puts its 1 at the first largest element,
 * or at a NaN.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#include <internal/norm.h>

#include "base/vector_math.h"
#include <internal/nn_check.h>

#include <string.h>
#include <tgmath.h>

static px_status softmax_check(px_op_ctx *ctx, px_error *err)
{
    PX_TRY(pxi_op_arity(ctx, 1, 1, 1, 1, err));
    PX_TRY(pxi_nn_float(ctx, 0, 0, err));
    PX_TRY(pxi_op_params(ctx, sizeof(pxi_softmax_params), err));
    ctx->out[0] = (px_tensor){.dtype = PX_FLOAT32, .shape = ctx->in[0].shape};
    return PX_OK;
}

static px_status softmax_setup_1(px_op_ctx *ctx, px_error *err)
{
    PX_TRY(softmax_check(ctx, err));
    pxi_softmax_params *p = ctx->params;
    const int64_t axis = px_node_int(ctx->node, "axis", 1);
    p->axis_end = ctx->in[0].shape.rank;
    p->axis_begin = p->axis_end;
    if (axis == p->axis_end) /* legal, and makes a matrix of one column */
        return PX_OK;
    return pxi_op_axis(ctx, axis, p->axis_end, &p->axis_begin, err);
}

static px_status softmax_setup_13(px_op_ctx *ctx, px_error *err)
{
    PX_TRY(softmax_check(ctx, err));
    pxi_softmax_params *p = ctx->params;
    PX_TRY(pxi_op_axis(ctx, px_node_int(ctx->node, "axis", -1), ctx->in[0].shape.rank,
                       &p->axis_begin, err));
    p->axis_end = p->axis_begin + 1;
    return PX_OK;
}

/* The axes taken together have to lie together in storage too; for Hardmax, whose ties go to the
 * first, in the same order. */
static px_status softmax_permute(px_op_ctx *ctx, const int *perm, int rank, px_error *err)
{
    pxi_softmax_params *p = ctx->params;
    const bool ordered = strcmp(ctx->node->type, "Hardmax") == 0;
    const int count = p->axis_end - p->axis_begin;
    int begin = 0;
    while (begin < rank && (perm[begin] < p->axis_begin || perm[begin] >= p->axis_end))
        begin++;
    for (int i = 0; i < count; i++) {
        const int axis = perm[begin + i < rank ? begin + i : begin];
        if (begin + i >= rank || axis < p->axis_begin || axis >= p->axis_end ||
            (ordered && axis != p->axis_begin + i))
            return pxi_op_fail(
                ctx, err, PX_E_UNSUPPORTED,
                "axes that do not lie together in this memory layout are not supported");
    }
    p->axis_begin = begin;
    p->axis_end = begin + count;
    return PX_OK;
}

typedef struct softmax_view {
    int64_t outer, count, inner; /* the tensor as (outer, count, inner) */
} softmax_view;

static softmax_view softmax_view_of(const px_op_ctx *ctx)
{
    const pxi_softmax_params *p = ctx->params;
    const px_shape *shape = &ctx->in[0].shape;
    softmax_view v = {1, 1, 1};
    for (int i = 0; i < shape->rank; i++) {
        int64_t *part = i < p->axis_begin ? &v.outer : i < p->axis_end ? &v.count : &v.inner;
        *part *= shape->dim[i];
    }
    return v;
}

/* The place of the largest element, of the first NaN if there is one. */
static int64_t softmax_largest(const px_real *x, int64_t count, int64_t step)
{
    int64_t best = 0;
    for (int64_t i = 0; i < count; i++) {
        if (isnan(x[i * step]))
            return i;
        if (x[i * step] > x[best * step])
            best = i;
    }
    return best;
}

/* Elements side by side: the common case, in vectors. A NaN spoils the sum, and so every element.
 */
PXI_WIDE static void softmax_row(const px_real *x, int64_t count, px_real *y)
{
    px_real top = x[0];
#pragma omp simd reduction(max : top)
    for (int64_t i = 0; i < count; i++)
        top = x[i] > top ? x[i] : top;
    double sum = 0.0;
#pragma omp simd reduction(+ : sum)
    for (int64_t i = 0; i < count; i++) {
        y[i] = pxi_exp(x[i] - top);
        sum += (double)y[i];
    }
    const double scale = 1.0 / sum; /* sum >= 1, or NaN */
#pragma omp simd
    for (int64_t i = 0; i < count; i++)
        y[i] = (px_real)((double)y[i] * scale);
}

static void softmax_line(const px_real *x, int64_t count, int64_t step, px_real *y)
{
    if (step == 1) {
        softmax_row(x, count, y);
        return;
    }
    const px_real top = x[softmax_largest(x, count, step) * step];
    double sum = 0.0;
    for (int64_t i = 0; i < count; i++) {
        y[i * step] = pxi_exp(x[i * step] - top);
        sum += (double)y[i * step];
    }
    const double scale = 1.0 / sum; /* sum >= 1, or NaN */
    for (int64_t i = 0; i < count; i++)
        y[i * step] = (px_real)((double)y[i * step] * scale);
}

static void log_softmax_line(const px_real *x, int64_t count, int64_t step, px_real *y)
{
    const px_real top = x[softmax_largest(x, count, step) * step];
    double sum = 0.0;
    for (int64_t i = 0; i < count; i++)
        sum += (double)exp(x[i * step] - top);
    const double shift = (double)top + log(sum); /* sum >= 1, or NaN */
    for (int64_t i = 0; i < count; i++)
        y[i * step] = (px_real)((double)x[i * step] - shift);
}

static void hardmax_line(const px_real *x, int64_t count, int64_t step, px_real *y)
{
    const int64_t best = softmax_largest(x, count, step);
    for (int64_t i = 0; i < count; i++)
        y[i * step] = i == best ? 1 : 0;
}

typedef void softmax_line_function(const px_real *x, int64_t count, int64_t step, px_real *y);

static px_status softmax_run(const px_op_ctx *ctx, softmax_line_function *line)
{
    const softmax_view v = softmax_view_of(ctx);
    const px_real *x = PXI_F32(ctx->in[0]);
    px_real *y = PXI_F32(ctx->out[0]);
    for (int64_t o = 0; v.count > 0 && o < v.outer; o++)
        for (int64_t i = 0; i < v.inner; i++) {
            const int64_t at = o * v.count * v.inner + i;
            line(x + at, v.count, v.inner, y + at);
        }
    return PX_OK;
}

static px_status softmax_forward(const px_op_ctx *ctx, px_error *err)
{
    (void)err;
    return softmax_run(ctx, softmax_line);
}

static px_status log_softmax_forward(const px_op_ctx *ctx, px_error *err)
{
    (void)err;
    return softmax_run(ctx, log_softmax_line);
}

static px_status hardmax_forward(const px_op_ctx *ctx, px_error *err)
{
    (void)err;
    return softmax_run(ctx, hardmax_line);
}

PXI_WIDE static void softmax_row_pull(const px_real *y, const px_real *dy, int64_t count,
                                      px_real *dx)
{
    double sum = 0.0;
#pragma omp simd reduction(+ : sum)
    for (int64_t j = 0; j < count; j++)
        sum += (double)dy[j] * (double)y[j];
#pragma omp simd
    for (int64_t j = 0; j < count; j++)
        dx[j] += (px_real)((double)y[j] * ((double)dy[j] - sum));
}

/* Softmax: dx = y (dy - sum of dy y). LogSoftmax: dx = dy - exp(y) sum of dy. */
static void softmax_pull(const px_op_ctx *ctx, bool is_log)
{
    const softmax_view v = softmax_view_of(ctx);
    if (!ctx->out_grad[0].data || !pxi_op_wants_grad(ctx, 0))
        return;
    for (int64_t o = 0; o < v.outer; o++)
        for (int64_t i = 0; i < v.inner; i++) {
            const int64_t at = o * v.count * v.inner + i;
            const px_real *y = PXI_F32(ctx->out[0]) + at, *dy = PXI_F32(ctx->out_grad[0]) + at;
            px_real *dx = PXI_F32(ctx->in_grad[0]) + at;
            if (!is_log && v.inner == 1) {
                softmax_row_pull(y, dy, v.count, dx);
                continue;
            }
            double sum = 0.0;
            for (int64_t j = 0; j < v.count * v.inner; j += v.inner)
                sum += is_log ? (double)dy[j] : (double)dy[j] * (double)y[j];
            for (int64_t j = 0; j < v.count * v.inner; j += v.inner)
                dx[j] += (px_real)(is_log ? (double)dy[j] - exp((double)y[j]) * sum
                                          : (double)y[j] * ((double)dy[j] - sum));
        }
}

static void softmax_backward(const px_op_ctx *ctx)
{
    softmax_pull(ctx, /* is_log= */ false);
}

static void log_softmax_backward(const px_op_ctx *ctx)
{
    softmax_pull(ctx, /* is_log= */ true);
}

#define SOFTMAX_OP(id, text, version, kind, forwards, backwards) \
    const px_op px_op_##id##_##version = {                       \
        .name = text,                                            \
        .since = version,                                        \
        .diff = kind,                                            \
        .setup = softmax_setup_##version,                        \
        .forward = forwards,                                     \
        .backward = backwards,                                   \
        .permute = softmax_permute,                              \
    };

SOFTMAX_OP(softmax, "Softmax", 1, PX_DIFF_YES, softmax_forward, softmax_backward)
SOFTMAX_OP(softmax, "Softmax", 13, PX_DIFF_YES, softmax_forward, softmax_backward)
SOFTMAX_OP(logsoftmax, "LogSoftmax", 1, PX_DIFF_YES, log_softmax_forward, log_softmax_backward)
SOFTMAX_OP(logsoftmax, "LogSoftmax", 13, PX_DIFF_YES, log_softmax_forward, log_softmax_backward)
SOFTMAX_OP(hardmax, "Hardmax", 1, PX_DIFF_ZERO, hardmax_forward, NULL)
SOFTMAX_OP(hardmax, "Hardmax", 13, PX_DIFF_ZERO, hardmax_forward, NULL)
