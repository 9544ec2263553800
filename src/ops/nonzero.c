/* src/ops/nonzero.c - NonZero, Compress, OneHot: between values and positions */
/* SPDX-License-Identifier: Apache-2.0 */
#include "ops/nest.h"

#include <string.h>

/* --- NonZero --------------------------------------------------------------------------------- */

static bool is_nonzero(const px_tensor *x, int64_t i)
{
    return pxi_is_real(x->dtype) ? pxi_number(x, i) != 0.0 : pxi_integer(x, i) != 0;
}

static px_status nonzero_setup(px_op_ctx *ctx, px_error *err)
{
    PX_TRY(pxi_op_arity(ctx, 1, 1, 1, 1, err));
    PX_TRY(pxi_op_need_const(ctx, 0, err));
    const int64_t count = px_shape_count(&ctx->in[0].shape);
    int64_t found = 0;
    for (int64_t i = 0; i < count; i++)
        found += is_nonzero(&ctx->in[0], i);
    ctx->out[0].dtype = PX_INT64;
    ctx->out[0].shape = (px_shape){.rank = 2, .dim = {ctx->in[0].shape.rank, found}};
    return PX_OK;
}

static px_status nonzero_forward(const px_op_ctx *ctx, px_error *err)
{
    (void)err;
    const px_shape *in = &ctx->in[0].shape;
    const int64_t count = px_shape_count(in), room = ctx->out[0].shape.dim[1];
    int64_t stride[PX_MAX_RANK];
    pxi_strides(in, stride);
    for (int64_t i = 0, found = 0; i < count && found < room; i++) {
        if (!is_nonzero(&ctx->in[0], i))
            continue;
        for (int a = 0; a < in->rank; a++)
            PXI_I64(ctx->out[0])[a * room + found] = i / stride[a] % in->dim[a];
        found++;
    }
    return PX_OK;
}

const px_op px_op_nonzero_9 = {
    .name = "NonZero",
    .since = 9,
    .diff = PX_DIFF_ZERO,
    .setup = nonzero_setup,
    .forward = nonzero_forward,
};

/* --- Compress -------------------------------------------------------------------------------- */

typedef struct compress_params {
    int64_t count;
    const int64_t *kept; /* positions along the axis, or in the flattened tensor */
    int axis;            /* -1: flattened */
} compress_params;

static px_status compress_setup(px_op_ctx *ctx, px_error *err)
{
    PX_TRY(pxi_op_arity(ctx, 2, 2, 1, 1, err));
    PX_TRY(pxi_op_need_const(ctx, 1, err));
    PX_TRY(pxi_op_type(ctx, 1, PXI_TYPES_BOOL, err));
    PX_TRY(pxi_op_params(ctx, sizeof(compress_params), err));
    compress_params *params = ctx->params;
    const px_shape *in = &ctx->in[0].shape;
    params->axis = -1;
    if (px_node_attr(ctx->node, "axis"))
        PX_TRY(pxi_op_axis(ctx, px_node_int(ctx->node, "axis", 0), in->rank, &params->axis, err));
    const int64_t extent = params->axis < 0 ? px_shape_count(in) : in->dim[params->axis];
    const int64_t conditions = px_shape_count(&ctx->in[1].shape);
    if (conditions > extent)
        return pxi_op_fail(ctx, err, PX_E_MISMATCH, "has %lld conditions for %lld entries",
                           (long long)conditions, (long long)extent);
    int64_t *kept = NULL;
    PX_TRY(PX_ARENA_NEW(kept, ctx->arena, conditions, err));
    for (int64_t i = 0; i < conditions; i++)
        if (((const uint8_t *)ctx->in[1].data)[i])
            kept[params->count++] = i;
    params->kept = kept;
    ctx->out[0].dtype = ctx->in[0].dtype;
    ctx->out[0].shape = params->axis < 0 ? (px_shape){.rank = 1} : *in;
    ctx->out[0].shape.dim[params->axis < 0 ? 0 : params->axis] = params->count;
    return PX_OK;
}

static pxi_span compress_span(const px_op_ctx *ctx)
{
    const compress_params *params = ctx->params;
    if (params->axis >= 0)
        return pxi_span_at(&ctx->in[0].shape, params->axis);
    return (pxi_span){1, px_shape_count(&ctx->in[0].shape), 1};
}

static px_status compress_forward(const px_op_ctx *ctx, px_error *err)
{
    (void)err;
    const compress_params *params = ctx->params;
    const pxi_span span = compress_span(ctx);
    const size_t element = px_dtype_size(ctx->in[0].dtype);
    const size_t bytes = (size_t)span.inner * element;
    char *to = ctx->out[0].data;
    for (int64_t o = 0; o < span.outer; o++)
        for (int64_t i = 0; i < params->count; i++, to += bytes)
            memcpy(to,
                   (const char *)ctx->in[0].data +
                       (size_t)(o * span.extent + params->kept[i]) * bytes,
                   bytes);
    return PX_OK;
}

static void compress_backward(const px_op_ctx *ctx)
{
    if (!pxi_op_wants_grad(ctx, 0) || !ctx->out_grad[0].data)
        return;
    const compress_params *params = ctx->params;
    const pxi_span span = compress_span(ctx);
    const px_real *dy = PXI_F32(ctx->out_grad[0]);
    for (int64_t o = 0; o < span.outer; o++)
        for (int64_t i = 0; i < params->count; i++, dy += span.inner) {
            px_real *dx =
                PXI_F32(ctx->in_grad[0]) + (o * span.extent + params->kept[i]) * span.inner;
            for (int64_t j = 0; j < span.inner; j++)
                dx[j] += dy[j];
        }
}

const px_op px_op_compress_9 = {
    .name = "Compress",
    .since = 9,
    .diff = PX_DIFF_YES,
    .setup = compress_setup,
    .forward = compress_forward,
    .backward = compress_backward,
};

/* --- OneHot ---------------------------------------------------------------------------------- */

typedef struct onehot_params {
    int axis; /* of the output */
} onehot_params;

static px_status onehot_setup(px_op_ctx *ctx, px_error *err)
{
    PX_TRY(pxi_op_arity(ctx, 3, 3, 1, 1, err));
    PX_TRY(pxi_op_type(ctx, 0, PXI_TYPES_NUMBER, err));
    PX_TRY(pxi_op_type(ctx, 1, PXI_TYPES_NUMBER, err));
    PX_TRY(pxi_op_need_const(ctx, 1, err));
    const px_shape *in = &ctx->in[0].shape;
    if (px_shape_count(&ctx->in[1].shape) != 1)
        return pxi_op_fail(ctx, err, PX_E_INPUT, "its depth is not one number");
    if (px_shape_count(&ctx->in[2].shape) != 2)
        return pxi_op_fail(ctx, err, PX_E_INPUT, "its values are not two");
    PX_TRY(pxi_op_need_rank(ctx, in->rank + 1, err));
    const int64_t depth = pxi_integer(&ctx->in[1], 0);
    if (depth < 1)
        return pxi_op_fail(ctx, err, PX_E_INPUT, "its depth is %lld", (long long)depth);
    PX_TRY(pxi_op_params(ctx, sizeof(onehot_params), err));
    onehot_params *params = ctx->params;
    PX_TRY(pxi_op_axis(ctx, px_node_int(ctx->node, "axis", -1), in->rank + 1, &params->axis, err));
    px_shape out = {.rank = in->rank + 1};
    for (int i = 0, from = 0; i < out.rank; i++)
        out.dim[i] = i == params->axis ? depth : in->dim[from++];
    ctx->out[0].dtype = ctx->in[2].dtype;
    ctx->out[0].shape = out;
    return PX_OK;
}

/* The position that index `i` makes hot; -1: none, all entries are cold. */
static int64_t onehot_place(const px_op_ctx *ctx, const pxi_span *span, int64_t i)
{
    int64_t hot = pxi_integer(&ctx->in[0], i);
    if (hot < -span->extent || hot >= span->extent)
        return -1;
    hot += hot < 0 ? span->extent : 0;
    return (i / span->inner * span->extent + hot) * span->inner + i % span->inner;
}

static px_status onehot_forward(const px_op_ctx *ctx, px_error *err)
{
    (void)err;
    const pxi_span span =
        pxi_span_at(&ctx->out[0].shape, ((const onehot_params *)ctx->params)->axis);
    const int64_t count = px_shape_count(&ctx->in[0].shape);
    const size_t element = px_dtype_size(ctx->out[0].dtype);
    const char *values = ctx->in[2].data;
    const pxi_nest fill = {.rank = 1, .extent = {count * span.extent}, .to = {1}};
    pxi_nest_copy(&fill, element, ctx->out[0].data, values);
    for (int64_t i = 0; i < count; i++) {
        const int64_t place = onehot_place(ctx, &span, i);
        if (place >= 0)
            memcpy((char *)ctx->out[0].data + (size_t)place * element, values + element, element);
    }
    return PX_OK;
}

/* Only the two values are differentiable. */
static void onehot_backward(const px_op_ctx *ctx)
{
    if (!pxi_op_wants_grad(ctx, 2) || !ctx->out_grad[0].data)
        return;
    const pxi_span span =
        pxi_span_at(&ctx->out[0].shape, ((const onehot_params *)ctx->params)->axis);
    const px_real *dy = PXI_F32(ctx->out_grad[0]);
    const int64_t count = px_shape_count(&ctx->in[0].shape);
    double all = 0.0, hot = 0.0;
    for (int64_t i = 0; i < count * span.extent; i++)
        all += (double)dy[i];
    for (int64_t i = 0; i < count; i++) {
        const int64_t place = onehot_place(ctx, &span, i);
        hot += place < 0 ? 0.0 : (double)dy[place];
    }
    PXI_F32(ctx->in_grad[2])[0] += (px_real)(all - hot);
    PXI_F32(ctx->in_grad[2])[1] += (px_real)hot;
}

const px_op px_op_onehot_9 = {
    .name = "OneHot",
    .since = 9,
    .diff = PX_DIFF_YES,
    .setup = onehot_setup,
    .forward = onehot_forward,
    .backward = onehot_backward,
};
