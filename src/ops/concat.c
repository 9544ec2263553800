/* src/ops/concat.c - Concat and Split: tensors laid side by side along one axis, and taken apart */
/* SPDX-License-Identifier: Apache-2.0 */
#include "ops/nest.h"

typedef struct join_params { /* of both operators: the axis along which parts lie */
    int axis;
} join_params;

/* Copies part (n of `extent` entries at `offset` along the axis) between the whole and the part. */
static pxi_nest join_nest(const px_shape *part, int axis, int64_t whole_extent, bool to_whole)
{
    const pxi_span span = pxi_span_at(part, axis);
    const int64_t run = span.extent * span.inner, whole = whole_extent * span.inner;
    pxi_nest nest = {0};
    pxi_nest_axis(&nest, span.outer, to_whole ? whole : run, to_whole ? run : whole);
    pxi_nest_axis(&nest, run, 1, 1);
    return nest;
}

/* --- Concat ---------------------------------------------------------------------------------- */

static px_status concat_axis(px_op_ctx *ctx, int64_t axis, px_error *err)
{
    PX_TRY(pxi_op_arity(ctx, 1, INT32_MAX, 1, 1, err));
    const px_tensor *first = &ctx->in[0];
    px_shape out = first->shape;
    PX_TRY(pxi_op_params(ctx, sizeof(join_params), err));
    join_params *params = ctx->params;
    PX_TRY(pxi_op_axis(ctx, axis, out.rank, &params->axis, err));
    for (int n = 1; n < ctx->in_count; n++) {
        const px_tensor *in = &ctx->in[n];
        bool fits = in->dtype == first->dtype && in->shape.rank == out.rank;
        for (int i = 0; fits && i < out.rank; i++)
            fits = i == params->axis || in->shape.dim[i] == out.dim[i];
        if (!fits) {
            char a[PX_SHAPE_TEXT], b[PX_SHAPE_TEXT];
            return pxi_op_fail(ctx, err, PX_E_MISMATCH, "cannot join %s %s and %s %s along axis %d",
                               px_dtype_name(first->dtype), px_shape_text(&first->shape, a),
                               px_dtype_name(in->dtype), px_shape_text(&in->shape, b),
                               params->axis);
        }
        if (__builtin_add_overflow(out.dim[params->axis], in->shape.dim[params->axis],
                                   &out.dim[params->axis]))
            return pxi_op_fail(ctx, err, PX_E_INPUT, "its result is too large");
    }
    ctx->out[0].dtype = first->dtype;
    ctx->out[0].shape = out;
    return PX_OK;
}

static px_status concat_setup_default(px_op_ctx *ctx, px_error *err)
{
    return concat_axis(ctx, px_node_int(ctx->node, "axis", 1), err);
}

static px_status concat_setup(px_op_ctx *ctx, px_error *err)
{
    if (!px_node_attr(ctx->node, "axis"))
        return pxi_op_fail(ctx, err, PX_E_INPUT, "lacks its attribute 'axis'");
    return concat_axis(ctx, px_node_int(ctx->node, "axis", 0), err);
}

static px_status concat_forward(const px_op_ctx *ctx, px_error *err)
{
    (void)err;
    const int axis = ((const join_params *)ctx->params)->axis;
    const size_t element = px_dtype_size(ctx->out[0].dtype);
    const pxi_span whole = pxi_span_at(&ctx->out[0].shape, axis);
    char *to = ctx->out[0].data;
    for (int n = 0; n < ctx->in_count; n++) {
        const px_tensor *in = &ctx->in[n];
        const pxi_nest nest = join_nest(&in->shape, axis, whole.extent, /* to_whole= */ true);
        pxi_nest_copy(&nest, element, to, in->data);
        to += (size_t)(in->shape.dim[axis] * whole.inner) * element;
    }
    return PX_OK;
}

static void concat_backward(const px_op_ctx *ctx)
{
    const int axis = ((const join_params *)ctx->params)->axis;
    const pxi_span whole = pxi_span_at(&ctx->out[0].shape, axis);
    const px_real *from = PXI_F32(ctx->out_grad[0]);
    if (!from)
        return;
    for (int n = 0; n < ctx->in_count; n++) {
        const px_shape *part = &ctx->in[n].shape;
        const pxi_nest nest = join_nest(part, axis, whole.extent, /* to_whole= */ false);
        if (pxi_op_wants_grad(ctx, n))
            pxi_nest_add(&nest, PXI_F32(ctx->in_grad[n]), from);
        from += part->dim[axis] * whole.inner;
    }
}

static px_status join_permute(px_op_ctx *ctx, const int *perm, int rank, px_error *err)
{
    (void)err;
    join_params *params = ctx->params;
    params->axis = pxi_permute_axis(params->axis, perm, rank);
    return PX_OK;
}

/* --- Split ----------------------------------------------------------------------------------- */

/* Without given sizes: equal parts, the last one smaller where `uneven` (num_outputs, opset 18). */
static px_status split_parts(px_op_ctx *ctx, const int64_t *sizes, int64_t count, bool uneven,
                             px_error *err)
{
    const px_shape *in = &ctx->in[0].shape;
    PX_TRY(pxi_op_params(ctx, sizeof(join_params), err));
    join_params *params = ctx->params;
    PX_TRY(pxi_op_axis(ctx, px_node_int(ctx->node, "axis", 0), in->rank, &params->axis, err));
    const int64_t extent = in->dim[params->axis], parts = ctx->out_count;
    if (count >= 0 && count != parts)
        return pxi_op_fail(ctx, err, PX_E_INPUT, "has %lld sizes for %lld outputs",
                           (long long)count, (long long)parts);
    if (count < 0 && !uneven && extent % parts != 0)
        return pxi_op_fail(ctx, err, PX_E_INPUT,
                           "cannot split axis %d of extent %lld into %lld equal parts",
                           params->axis, (long long)extent, (long long)parts);
    const int64_t chunk = extent / parts + (extent % parts != 0);
    int64_t left = extent;
    for (int n = 0; n < ctx->out_count; n++) {
        const int64_t size = count >= 0 ? sizes[n] : left < chunk ? left : chunk;
        if (size < 0 || size > left)
            return pxi_op_fail(ctx, err, PX_E_INPUT,
                               "its part %d of %lld does not fit axis %d of extent %lld", n,
                               (long long)size, params->axis, (long long)extent);
        left -= size;
        ctx->out[n].dtype = ctx->in[0].dtype;
        ctx->out[n].shape = *in;
        ctx->out[n].shape.dim[params->axis] = size;
    }
    if (left)
        return pxi_op_fail(ctx, err, PX_E_INPUT,
                           "its parts cover %lld of the %lld entries of axis %d",
                           (long long)(extent - left), (long long)extent, params->axis);
    return PX_OK;
}

/* Opset 1 has an attribute and an optional input; opset 2 the attribute only. */
static px_status split_setup_attr(px_op_ctx *ctx, px_error *err)
{
    const int64_t *sizes;
    int64_t count;
    PX_TRY(pxi_op_arity(ctx, 1, 2, 1, INT32_MAX, err));
    PX_TRY(pxi_op_ints(ctx, pxi_op_has_in(ctx, 1) ? NULL : "split", 1, &sizes, &count, err));
    return split_parts(ctx, sizes, count, /* uneven= */ false, err);
}

static px_status split_setup(px_op_ctx *ctx, px_error *err)
{
    const int64_t *sizes;
    int64_t count;
    PX_TRY(pxi_op_arity(ctx, 1, 2, 1, INT32_MAX, err));
    PX_TRY(pxi_op_ints(ctx, NULL, 1, &sizes, &count, err));
    const int64_t wanted = px_node_int(ctx->node, "num_outputs", ctx->out_count);
    if (wanted != ctx->out_count)
        return pxi_op_fail(ctx, err, PX_E_INPUT, "'num_outputs' is %lld, but it has %d outputs",
                           (long long)wanted, ctx->out_count);
    return split_parts(ctx, sizes, count, px_node_attr(ctx->node, "num_outputs") != NULL, err);
}

static px_status split_forward(const px_op_ctx *ctx, px_error *err)
{
    (void)err;
    const int axis = ((const join_params *)ctx->params)->axis;
    const size_t element = px_dtype_size(ctx->in[0].dtype);
    const pxi_span whole = pxi_span_at(&ctx->in[0].shape, axis);
    const char *from = ctx->in[0].data;
    for (int n = 0; n < ctx->out_count; n++) {
        const px_shape *part = &ctx->out[n].shape;
        const pxi_nest nest = join_nest(part, axis, whole.extent, /* to_whole= */ false);
        if (ctx->out[n].data)
            pxi_nest_copy(&nest, element, ctx->out[n].data, from);
        from += (size_t)(part->dim[axis] * whole.inner) * element;
    }
    return PX_OK;
}

static void split_backward(const px_op_ctx *ctx)
{
    if (!pxi_op_wants_grad(ctx, 0))
        return;
    const int axis = ((const join_params *)ctx->params)->axis;
    const pxi_span whole = pxi_span_at(&ctx->in[0].shape, axis);
    px_real *to = PXI_F32(ctx->in_grad[0]);
    for (int n = 0; n < ctx->out_count; n++) {
        const px_shape *part = &ctx->out[n].shape;
        const pxi_nest nest = join_nest(part, axis, whole.extent, /* to_whole= */ true);
        if (ctx->out_grad[n].data)
            pxi_nest_add(&nest, to, PXI_F32(ctx->out_grad[n]));
        to += part->dim[axis] * whole.inner;
    }
}

#define JOIN_OP(id, op_name, version, kind, rule) \
    const px_op px_op_##id = {                    \
        .name = op_name,                          \
        .since = version,                         \
        .diff = PX_DIFF_YES,                      \
        .setup = rule,                            \
        .forward = kind##_forward,                \
        .backward = kind##_backward,              \
        .permute = join_permute,                  \
    };

JOIN_OP(concat_1, "Concat", 1, concat, concat_setup_default)
JOIN_OP(concat_4, "Concat", 4, concat, concat_setup)
JOIN_OP(split_1, "Split", 1, split, split_setup_attr)
JOIN_OP(split_13, "Split", 13, split, split_setup)
