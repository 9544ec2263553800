/* src/ops/scan.c - CumSum, CumProd, Trilu, ReverseSequence: operators that treat positions along an
 * axis apart */
/* SPDX-License-Identifier: Apache-2.0 */
#include "ops/nest.h"

#include <string.h>

/* --- CumSum ---------------------------------------------------------------------------------- */

static px_status cumsum_setup(px_op_ctx *ctx, px_error *err)
{
    PX_TRY(pxi_op_arity(ctx, 2, 2, 1, 1, err));
    PX_TRY(pxi_op_type(ctx, 0, PXI_TYPES_NUMBER, err));
    PX_TRY(pxi_op_need_index(ctx, 1, err));
    if (px_shape_count(&ctx->in[1].shape) != 1)
        return pxi_op_fail(ctx, err, PX_E_INPUT, "its axis is not one number");
    ctx->out[0].dtype = ctx->in[0].dtype;
    ctx->out[0].shape = ctx->in[0].shape;
    return PX_OK;
}

/* y (+)= running sums of x along the middle of [outer][extent][inner], in double. */
static void cumsum_run(pxi_span s, bool exclusive, bool reverse, px_real *y, const px_real *x,
                       bool add)
{
    for (int64_t o = 0; o < s.outer; o++)
        for (int64_t i = 0; i < s.inner; i++) {
            double sum = 0.0;
            for (int64_t k = 0; k < s.extent; k++) {
                const int64_t at = (o * s.extent + (reverse ? s.extent - 1 - k : k)) * s.inner + i;
                const double next = sum + (double)x[at];
                const px_real value = (px_real)(exclusive ? sum : next);
                y[at] = add ? y[at] + value : value;
                sum = next;
            }
        }
}

static void cumsum_other(pxi_span s, bool exclusive, bool reverse, px_tensor *y, const px_tensor *x)
{
    const bool real = pxi_is_real(x->dtype);
    for (int64_t row = 0; row < s.outer * s.inner; row++) {
        const int64_t o = row / s.inner, i = row % s.inner;
        double sum = 0.0;
        uint64_t whole = 0;
        for (int64_t k = 0; k < s.extent; k++) {
            const int64_t at = (o * s.extent + (reverse ? s.extent - 1 - k : k)) * s.inner + i;
            const double next = real ? sum + pxi_number(x, at) : 0.0;
            const uint64_t whole_next = real ? 0 : whole + (uint64_t)pxi_integer(x, at);
            if (real)
                pxi_store_number(y, at, exclusive ? sum : next);
            else
                pxi_store_integer(y, at, (int64_t)(exclusive ? whole : whole_next));
            sum = next;
            whole = whole_next;
        }
    }
}

static px_status cumsum_forward(const px_op_ctx *ctx, px_error *err)
{
    int axis;
    PX_TRY(pxi_op_axis(ctx, pxi_index(&ctx->in[1], 0), ctx->in[0].shape.rank, &axis, err));
    const pxi_span span = pxi_span_at(&ctx->in[0].shape, axis);
    const bool exclusive = px_node_int(ctx->node, "exclusive", 0) != 0;
    const bool reverse = px_node_int(ctx->node, "reverse", 0) != 0;
    if (ctx->in[0].dtype == PX_FLOAT32)
        cumsum_run(span, exclusive, reverse, PXI_F32(ctx->out[0]), PXI_F32(ctx->in[0]),
                   /* add= */ false);
    else
        cumsum_other(span, exclusive, reverse, &ctx->out[0], &ctx->in[0]);
    return PX_OK;
}

static void cumsum_backward(const px_op_ctx *ctx)
{
    int axis;
    if (!pxi_op_wants_grad(ctx, 0) || !ctx->out_grad[0].data ||
        pxi_op_axis(ctx, pxi_index(&ctx->in[1], 0), ctx->in[0].shape.rank, &axis, NULL) != PX_OK)
        return;
    cumsum_run(pxi_span_at(&ctx->in[0].shape, axis), px_node_int(ctx->node, "exclusive", 0) != 0,
               px_node_int(ctx->node, "reverse", 0) == 0, /* the other way round */
               PXI_F32(ctx->in_grad[0]), PXI_F32(ctx->out_grad[0]), /* add= */ true);
}

const px_op px_op_cumsum_11 = {
    .name = "CumSum",
    .since = 11,
    .diff = PX_DIFF_YES,
    .setup = cumsum_setup,
    .forward = cumsum_forward,
    .backward = cumsum_backward,
};

/* --- CumProd --------------------------------------------------------------------------------- */

static px_status cumprod_forward(const px_op_ctx *ctx, px_error *err)
{
    int axis;
    PX_TRY(pxi_op_axis(ctx, pxi_index(&ctx->in[1], 0), ctx->in[0].shape.rank, &axis, err));
    const pxi_span s = pxi_span_at(&ctx->in[0].shape, axis);
    const bool exclusive = px_node_int(ctx->node, "exclusive", 0) != 0;
    const bool reverse = px_node_int(ctx->node, "reverse", 0) != 0;
    const bool real = pxi_is_real(ctx->in[0].dtype);
    for (int64_t row = 0; row < s.outer * s.inner; row++) {
        const int64_t o = row / s.inner, i = row % s.inner;
        double product = 1.0;
        uint64_t whole = 1;
        for (int64_t k = 0; k < s.extent; k++) {
            const int64_t at = (o * s.extent + (reverse ? s.extent - 1 - k : k)) * s.inner + i;
            const double next = real ? product * pxi_number(&ctx->in[0], at) : 1.0;
            const uint64_t whole_next = real ? 1 : whole * (uint64_t)pxi_integer(&ctx->in[0], at);
            if (real)
                pxi_store_number(&ctx->out[0], at, exclusive ? product : next);
            else
                pxi_store_integer(&ctx->out[0], at, (int64_t)(exclusive ? whole : whole_next));
            product = next;
            whole = whole_next;
        }
    }
    return PX_OK;
}

/* dx[i] = sum over the results k that have x[i] in them of dy[k] times all their other factors,
 * which are multiplied anew: dividing by x[i] would fail at 0. */
static void cumprod_backward(const px_op_ctx *ctx)
{
    int axis;
    if (!pxi_op_wants_grad(ctx, 0) || !ctx->out_grad[0].data || ctx->in[0].dtype != PX_FLOAT32 ||
        pxi_op_axis(ctx, pxi_index(&ctx->in[1], 0), ctx->in[0].shape.rank, &axis, NULL) != PX_OK)
        return;
    const pxi_span s = pxi_span_at(&ctx->in[0].shape, axis);
    const int64_t ahead = px_node_int(ctx->node, "exclusive", 0) != 0; /* of results */
    const bool reverse = px_node_int(ctx->node, "reverse", 0) != 0;
    for (int64_t row = 0; row < s.outer * s.inner; row++) {
        const int64_t start = row / s.inner * s.extent * s.inner + row % s.inner;
        const int64_t first = reverse ? start + (s.extent - 1) * s.inner : start;
        const int64_t step = reverse ? -s.inner : s.inner;
        const px_real *x = PXI_F32(ctx->in[0]) + first, *dy = PXI_F32(ctx->out_grad[0]) + first;
        px_real *dx = PXI_F32(ctx->in_grad[0]) + first;
        double before = 1.0; /* the factors ahead of x[i] */
        for (int64_t i = 0; i < s.extent; i++) {
            double others = before, sum = 0.0;
            for (int64_t k = i + ahead; k < s.extent; k++) { /* result k has factors to k - ahead */
                if (k - ahead > i)
                    others *= (double)x[(k - ahead) * step];
                sum += (double)dy[k * step] * others;
            }
            dx[i * step] += (px_real)sum;
            before *= (double)x[i * step];
        }
    }
}

const px_op px_op_cumprod_26 = {
    .name = "CumProd",
    .since = 26,
    .diff = PX_DIFF_YES,
    .setup = cumsum_setup,
    .forward = cumprod_forward,
    .backward = cumprod_backward,
};

/* --- Trilu ----------------------------------------------------------------------------------- */

static px_status trilu_setup(px_op_ctx *ctx, px_error *err)
{
    PX_TRY(pxi_op_arity(ctx, 1, 2, 1, 1, err));
    if (ctx->in[0].shape.rank < 2)
        return pxi_op_fail(ctx, err, PX_E_INPUT, "takes matrices, not a tensor of rank %d",
                           ctx->in[0].shape.rank);
    if (pxi_op_has_in(ctx, 1)) {
        PX_TRY(pxi_op_need_index(ctx, 1, err));
        if (px_shape_count(&ctx->in[1].shape) != 1)
            return pxi_op_fail(ctx, err, PX_E_INPUT, "its k is not one number");
    }
    ctx->out[0].dtype = ctx->in[0].dtype;
    ctx->out[0].shape = ctx->in[0].shape;
    return PX_OK;
}

/* The columns of row r that are kept: *from..*to-1. */
static void trilu_kept(const px_op_ctx *ctx, int64_t r, int64_t cols, int64_t *from, int64_t *to)
{
    const int64_t rows = ctx->in[0].shape.dim[ctx->in[0].shape.rank - 2];
    int64_t k = pxi_op_has_in(ctx, 1) ? pxi_index(&ctx->in[1], 0) : 0;
    k = k < -rows ? -rows : k > cols ? cols : k; /* further makes no difference */
    const bool upper = px_node_int(ctx->node, "upper", 1) != 0;
    const int64_t edge = r + k + (upper ? 0 : 1);
    const int64_t inside = edge < 0 ? 0 : edge > cols ? cols : edge;
    *from = upper ? inside : 0;
    *to = upper ? cols : inside;
}

static px_status trilu_forward(const px_op_ctx *ctx, px_error *err)
{
    (void)err;
    const px_shape *shape = &ctx->in[0].shape;
    const int64_t cols = shape->dim[shape->rank - 1], rows = shape->dim[shape->rank - 2];
    const size_t element = px_dtype_size(ctx->in[0].dtype);
    const int64_t lines = cols ? px_shape_count(shape) / cols : 0;
    for (int64_t line = 0; line < lines; line++) {
        int64_t from, to;
        trilu_kept(ctx, line % rows, cols, &from, &to);
        const size_t start = (size_t)(line * cols) * element;
        const char *x = (const char *)ctx->in[0].data + start;
        char *y = (char *)ctx->out[0].data + start;
        memset(y, 0, (size_t)from * element);
        memcpy(y + (size_t)from * element, x + (size_t)from * element,
               (size_t)(to - from) * element);
        memset(y + (size_t)to * element, 0, (size_t)(cols - to) * element);
    }
    return PX_OK;
}

static void trilu_backward(const px_op_ctx *ctx)
{
    if (!pxi_op_wants_grad(ctx, 0) || !ctx->out_grad[0].data)
        return;
    const px_shape *shape = &ctx->in[0].shape;
    const int64_t cols = shape->dim[shape->rank - 1], rows = shape->dim[shape->rank - 2];
    const int64_t lines = cols ? px_shape_count(shape) / cols : 0;
    px_real *dx = PXI_F32(ctx->in_grad[0]);
    const px_real *dy = PXI_F32(ctx->out_grad[0]);
    for (int64_t line = 0; line < lines; line++) {
        int64_t from, to;
        trilu_kept(ctx, line % rows, cols, &from, &to);
        for (int64_t c = from; c < to; c++)
            dx[line * cols + c] += dy[line * cols + c];
    }
}

const px_op px_op_trilu_14 = {
    .name = "Trilu",
    .since = 14,
    .diff = PX_DIFF_YES,
    .setup = trilu_setup,
    .forward = trilu_forward,
    .backward = trilu_backward,
};

/* --- ReverseSequence ------------------------------------------------------------------------- */

static px_status reversesequence_setup(px_op_ctx *ctx, px_error *err)
{
    PX_TRY(pxi_op_arity(ctx, 2, 2, 1, 1, err));
    PX_TRY(pxi_op_need_index(ctx, 1, err));
    const int64_t time = px_node_int(ctx->node, "time_axis", 0);
    const int64_t batch = px_node_int(ctx->node, "batch_axis", 1);
    const px_shape *in = &ctx->in[0].shape;
    if (in->rank < 2 || time < 0 || time > 1 || batch != 1 - time)
        return pxi_op_fail(ctx, err, PX_E_INPUT, "'time_axis' and 'batch_axis' must be 0 and 1");
    if (ctx->in[1].shape.rank != 1 || ctx->in[1].shape.dim[0] != in->dim[batch])
        return pxi_op_fail(ctx, err, PX_E_MISMATCH, "needs one length for each of %lld sequences",
                           (long long)in->dim[batch]);
    ctx->out[0].dtype = ctx->in[0].dtype;
    ctx->out[0].shape = *in;
    return PX_OK;
}

/* The element offset of entry (t, b), and of the entry that reversal shows there. */
typedef struct reverse_walk {
    int64_t times, batches, time_stride, batch_stride, inner;
} reverse_walk;

static reverse_walk reverse_walk_of(const px_op_ctx *ctx)
{
    const px_shape *in = &ctx->in[0].shape;
    const int time = (int)px_node_int(ctx->node, "time_axis", 0);
    int64_t stride[PX_MAX_RANK];
    pxi_strides(in, stride);
    return (reverse_walk){in->dim[time], in->dim[1 - time], stride[time], stride[1 - time],
                          stride[1]};
}

static px_status reversesequence_forward(const px_op_ctx *ctx, px_error *err)
{
    const reverse_walk w = reverse_walk_of(ctx);
    const size_t element = px_dtype_size(ctx->in[0].dtype);
    for (int64_t b = 0; b < w.batches; b++) {
        const int64_t length = pxi_index(&ctx->in[1], b);
        if (length < 0 || length > w.times)
            return pxi_op_fail(ctx, err, PX_E_INPUT,
                               "its length %lld of sequence %lld is outside 0..%lld",
                               (long long)length, (long long)b, (long long)w.times);
        for (int64_t t = 0; t < w.times; t++) {
            const int64_t from = t < length ? length - 1 - t : t;
            memcpy((char *)ctx->out[0].data +
                       (size_t)(t * w.time_stride + b * w.batch_stride) * element,
                   (const char *)ctx->in[0].data +
                       (size_t)(from * w.time_stride + b * w.batch_stride) * element,
                   (size_t)w.inner * element);
        }
    }
    return PX_OK;
}

static void reversesequence_backward(const px_op_ctx *ctx)
{
    if (!pxi_op_wants_grad(ctx, 0) || !ctx->out_grad[0].data)
        return;
    const reverse_walk w = reverse_walk_of(ctx);
    for (int64_t b = 0; b < w.batches; b++) {
        const int64_t length = pxi_index(&ctx->in[1], b);
        for (int64_t t = 0; t < w.times; t++) {
            const int64_t from = t < length ? length - 1 - t : t;
            px_real *dx = PXI_F32(ctx->in_grad[0]) + from * w.time_stride + b * w.batch_stride;
            const px_real *dy = PXI_F32(ctx->out_grad[0]) + t * w.time_stride + b * w.batch_stride;
            for (int64_t i = 0; i < w.inner; i++)
                dx[i] += dy[i];
        }
    }
}

const px_op px_op_reversesequence_10 = {
    .name = "ReverseSequence",
    .since = 10,
    .diff = PX_DIFF_YES,
    .setup = reversesequence_setup,
    .forward = reversesequence_forward,
    .backward = reversesequence_backward,
};
