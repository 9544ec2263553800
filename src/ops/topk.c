/* src/ops/topk.c - TopK, ArgMax, ArgMin: the largest or smallest along an axis
 *
 * Ties go to the lower index (ArgMax: to the higher one with select_last_index). A NaN counts as
 * larger than anything for largest and ArgMax, smaller for smallest and ArgMin, as in PyTorch and
 * numpy: it shows up first.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#include "ops/nest.h"

#include <math.h>

/* Whether element `a` comes before element `b`, by value only: 1 yes, -1 the other way round, 0
 * tie. */
static int order_values(const px_tensor *x, int64_t a, int64_t b, bool largest)
{
    int order;
    if (x->dtype == PX_FLOAT32) {
        const px_real va = PXI_F32(*x)[a], vb = PXI_F32(*x)[b];
        if (isnan(va) || isnan(vb))
            return (isnan(va) ? 1 : 0) - (isnan(vb) ? 1 : 0);
        order = (va > vb) - (va < vb);
    } else if (x->dtype == PX_FLOAT64) {
        const double va = pxi_number(x, a), vb = pxi_number(x, b);
        if (isnan(va) || isnan(vb))
            return (isnan(va) ? 1 : 0) - (isnan(vb) ? 1 : 0);
        order = (va > vb) - (va < vb);
    } else if (x->dtype == PX_UINT64) {
        const uint64_t va = (uint64_t)pxi_integer(x, a), vb = (uint64_t)pxi_integer(x, b);
        order = (va > vb) - (va < vb);
    } else {
        const int64_t va = pxi_integer(x, a), vb = pxi_integer(x, b);
        order = (va > vb) - (va < vb);
    }
    return largest ? order : -order;
}

/* --- TopK ------------------------------------------------------------------------------------ */

typedef struct topk_params {
    int axis;
    bool largest;
} topk_params;

static px_status topk_apply(px_op_ctx *ctx, int64_t k, px_error *err)
{
    const px_shape *in = &ctx->in[0].shape;
    PX_TRY(pxi_op_type(ctx, 0, PXI_TYPES_NUMBER, err));
    PX_TRY(pxi_op_params(ctx, sizeof(topk_params), err));
    topk_params *params = ctx->params;
    PX_TRY(pxi_op_axis(ctx, px_node_int(ctx->node, "axis", -1), in->rank, &params->axis, err));
    params->largest = px_node_int(ctx->node, "largest", 1) != 0;
    if (k < 0 || k > in->dim[params->axis])
        return pxi_op_fail(ctx, err, PX_E_INPUT, "cannot take %lld of %lld entries of axis %d",
                           (long long)k, (long long)in->dim[params->axis], params->axis);
    for (int i = 0; i < ctx->out_count; i++) {
        ctx->out[i].dtype = i == 0 ? ctx->in[0].dtype : PX_INT64;
        ctx->out[i].shape = *in;
        ctx->out[i].shape.dim[params->axis] = k;
    }
    /* the heap in forward(); all indices, which may not be an output, for backward() */
    PX_TRY(pxi_op_scratch(ctx, k, sizeof(int64_t), err));
    ctx->saved_bytes = (size_t)px_shape_count(&ctx->out[0].shape) * sizeof(int64_t);
    return PX_OK;
}

static px_status topk_setup_attr(px_op_ctx *ctx, px_error *err)
{
    PX_TRY(pxi_op_arity(ctx, 1, 1, 1, 2, err));
    return topk_apply(ctx, px_node_int(ctx->node, "k", -1), err);
}

static px_status topk_setup(px_op_ctx *ctx, px_error *err)
{
    const int64_t *k;
    int64_t count;
    PX_TRY(pxi_op_arity(ctx, 2, 2, 1, 2, err));
    PX_TRY(pxi_op_const_ints(ctx, 1, &k, &count, err));
    if (count != 1)
        return pxi_op_fail(ctx, err, PX_E_INPUT, "its K is not one number");
    return topk_apply(ctx, k[0], err);
}

typedef struct topk_row { /* a line of the tensor along the axis */
    const px_tensor *x;
    int64_t base, stride;
    bool largest;
} topk_row;

static bool topk_before(const topk_row *row, int64_t a, int64_t b)
{
    const int order = order_values(row->x, row->base + a * row->stride, row->base + b * row->stride,
                                   row->largest);
    return order > 0 || (order == 0 && a < b);
}

/* Restores the heap below `at`: its root is the entry that comes last. */
static void topk_sink(const topk_row *row, int64_t *heap, int64_t count, int64_t at)
{
    const int64_t moved = heap[at];
    for (;;) {
        int64_t child = 2 * at + 1;
        if (child >= count)
            break;
        if (child + 1 < count && topk_before(row, heap[child], heap[child + 1]))
            child++;
        if (!topk_before(row, moved, heap[child]))
            break;
        heap[at] = heap[child];
        at = child;
    }
    heap[at] = moved;
}

/* heap[0..k-1] becomes the first k of `extent` entries, in order. */
static void topk_select(const topk_row *row, int64_t extent, int64_t k, int64_t *heap)
{
    for (int64_t i = 0; i < k; i++)
        heap[i] = i;
    for (int64_t i = k / 2 - 1; i >= 0; i--)
        topk_sink(row, heap, k, i);
    for (int64_t i = k; k > 0 && i < extent; i++)
        if (topk_before(row, i, heap[0])) {
            heap[0] = i;
            topk_sink(row, heap, k, 0);
        }
    for (int64_t last = k - 1; last > 0; last--) {
        const int64_t end = heap[0];
        heap[0] = heap[last];
        heap[last] = end;
        topk_sink(row, heap, last, 0);
    }
}

static px_status topk_forward(const px_op_ctx *ctx, px_error *err)
{
    (void)err;
    const topk_params *params = ctx->params;
    const pxi_span span = pxi_span_at(&ctx->in[0].shape, params->axis);
    const int64_t k = ctx->out[0].shape.dim[params->axis];
    const size_t element = px_dtype_size(ctx->in[0].dtype);
    int64_t *heap = ctx->scratch, *saved = ctx->saved;
    for (int64_t line = 0; line < span.outer * span.inner; line++) {
        const int64_t o = line / span.inner, i = line % span.inner;
        const topk_row row = {&ctx->in[0], o * span.extent * span.inner + i, span.inner,
                              params->largest};
        topk_select(&row, span.extent, k, heap);
        for (int64_t j = 0; j < k; j++) {
            const int64_t at = (o * k + j) * span.inner + i;
            const pxi_nest one = {.rank = 1, .extent = {1}, .to = {1}, .from = {1}};
            if (ctx->out[0].data)
                pxi_nest_copy(&one, element, (char *)ctx->out[0].data + (size_t)at * element,
                              (const char *)ctx->in[0].data +
                                  (size_t)(row.base + heap[j] * row.stride) * element);
            if (ctx->out_count > 1 && ctx->out[1].data)
                PXI_I64(ctx->out[1])[at] = heap[j];
            saved[at] = heap[j];
        }
    }
    return PX_OK;
}

static void topk_backward(const px_op_ctx *ctx)
{
    if (!pxi_op_wants_grad(ctx, 0) || !ctx->out_grad[0].data)
        return;
    const int axis = ((const topk_params *)ctx->params)->axis;
    const pxi_span in = pxi_span_at(&ctx->in[0].shape, axis);
    const pxi_span out = pxi_span_at(&ctx->out[0].shape, axis);
    const int64_t *saved = ctx->saved;
    for (int64_t at = 0; at < out.outer * out.extent * out.inner; at++) {
        const int64_t o = at / (out.extent * out.inner), i = at % out.inner;
        PXI_F32(ctx->in_grad[0])
        [(o * in.extent + saved[at]) * in.inner + i] += PXI_F32(ctx->out_grad[0])[at];
    }
}

#define TOPK_OP(id, version, rule) \
    const px_op px_op_##id = {     \
        .name = "TopK",            \
        .since = version,          \
        .diff = PX_DIFF_YES,       \
        .setup = rule,             \
        .forward = topk_forward,   \
        .backward = topk_backward, \
    };

TOPK_OP(topk_1, 1, topk_setup_attr)
TOPK_OP(topk_10, 10, topk_setup)

/* --- ArgMax and ArgMin ----------------------------------------------------------------------- */

typedef struct arg_params {
    int axis;
    bool keepdims, last;
} arg_params;

static px_status arg_setup(px_op_ctx *ctx, px_error *err)
{
    PX_TRY(pxi_op_arity(ctx, 1, 1, 1, 1, err));
    PX_TRY(pxi_op_type(ctx, 0, PXI_TYPES_NUMBER, err));
    PX_TRY(pxi_op_params(ctx, sizeof(arg_params), err));
    arg_params *params = ctx->params;
    const px_shape *in = &ctx->in[0].shape;
    PX_TRY(pxi_op_axis(ctx, px_node_int(ctx->node, "axis", 0), in->rank, &params->axis, err));
    params->keepdims = px_node_int(ctx->node, "keepdims", 1) != 0;
    params->last = px_node_int(ctx->node, "select_last_index", 0) != 0;
    px_shape out = {0};
    for (int i = 0; i < in->rank; i++)
        if (i != params->axis || params->keepdims)
            out.dim[out.rank++] = i == params->axis ? 1 : in->dim[i];
    if (in->dim[params->axis] == 0 && px_shape_count(&out) > 0)
        return pxi_op_fail(ctx, err, PX_E_INPUT, "axis %d has no entries", params->axis);
    ctx->out[0].dtype = PX_INT64;
    ctx->out[0].shape = out;
    return PX_OK;
}

static void arg_run(const px_op_ctx *ctx, bool largest)
{
    const arg_params *params = ctx->params;
    const pxi_span span = pxi_span_at(&ctx->in[0].shape, params->axis);
    for (int64_t line = 0; line < span.outer * span.inner; line++) {
        const int64_t base = line / span.inner * span.extent * span.inner + line % span.inner;
        int64_t best = 0;
        for (int64_t k = 1; k < span.extent; k++) {
            const int order =
                order_values(&ctx->in[0], base + k * span.inner, base + best * span.inner, largest);
            if (order > 0 || (order == 0 && params->last))
                best = k;
        }
        PXI_I64(ctx->out[0])[line] = best;
    }
}

static px_status argmax_forward(const px_op_ctx *ctx, px_error *err)
{
    (void)err;
    arg_run(ctx, /* largest= */ true);
    return PX_OK;
}

static px_status argmin_forward(const px_op_ctx *ctx, px_error *err)
{
    (void)err;
    arg_run(ctx, /* largest= */ false);
    return PX_OK;
}

static px_status arg_permute(px_op_ctx *ctx, const int *perm, int rank, px_error *err)
{
    arg_params *params = ctx->params;
    if (!params->keepdims)
        return pxi_permute_refuse(ctx, err);
    params->axis = pxi_permute_axis(params->axis, perm, rank);
    return PX_OK;
}

const px_op px_op_argmax_1 = {
    .name = "ArgMax",
    .since = 1,
    .diff = PX_DIFF_ZERO,
    .setup = arg_setup,
    .forward = argmax_forward,
    .permute = arg_permute,
};

const px_op px_op_argmin_1 = {
    .name = "ArgMin",
    .since = 1,
    .diff = PX_DIFF_ZERO,
    .setup = arg_setup,
    .forward = argmin_forward,
    .permute = arg_permute,
};
