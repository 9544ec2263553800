/* src/ops/cast.c - Cast, CastLike
 *
 * The conversions are those of convert.h. There is no half precision inside a program: a cast to
 * float16 or bfloat16 gives float32 numbers that are rounded to that type: to nearest, but bfloat16
 * towards zero before opset 19, as ONNX's reference and ONNX Runtime did. Gradients go through
 * between floats, unrounded, and end at integers.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#include "ops/convert.h"

#include "base/memory.h"

#include <internal/tensor.h>
#include <string.h>

typedef struct cast_params {
    px_dtype to; /* may be one of the halves */
} cast_params;

/* Opset 1 names the type. */
static int64_t cast_type_number(const char *name)
{
    static const struct {
        const char *name;
        int64_t number;
    } types[] = {
        {"FLOAT", PX_FLOAT32},  {"UINT8", PX_UINT8},   {"INT8", PX_INT8},
        {"UINT16", PX_UINT16},  {"INT16", PX_INT16},   {"INT32", PX_INT32},
        {"INT64", PX_INT64},    {"BOOL", PX_BOOL},     {"FLOAT16", PX_FLOAT16},
        {"DOUBLE", PX_FLOAT64}, {"UINT32", PX_UINT32}, {"UINT64", PX_UINT64},
    };
    for (size_t i = 0; i < PX_LEN(types); i++)
        if (strcmp(types[i].name, name) == 0)
            return types[i].number;
    return 0;
}

static bool cast_is_half(px_dtype dtype)
{
    return dtype == PX_FLOAT16 || dtype == PX_BFLOAT16;
}

static px_status cast_setup_to(px_op_ctx *ctx, int64_t to, px_error *err)
{
    PX_TRY(pxi_op_type(ctx, 0, PXI_TYPES_ANY | PXI_TYPES_NIBBLE, err));
    if (to <= 0 || to >= 32 || px_dtype_size((px_dtype)to) == 0)
        return pxi_op_fail(ctx, err, PX_E_UNSUPPORTED,
                           "casts to ONNX type %lld, which is not supported", (long long)to);
    if (ctx->node->opset >= 25 && pxi_type_in((px_dtype)to, PXI_TYPES_NIBBLE) &&
        pxi_type_in(ctx->in[0].dtype, PXI_TYPES_REAL)) /* before, it saturates */
        return pxi_op_fail(ctx, err, PX_E_UNSUPPORTED,
                           "a cast to %s that wraps, as of opset 25, is not supported",
                           px_dtype_name((px_dtype)to));
    PX_TRY(pxi_op_params(ctx, sizeof(cast_params), err));
    ((cast_params *)ctx->params)->to = (px_dtype)to;
    ctx->out[0].dtype = cast_is_half((px_dtype)to) ? PX_FLOAT32 : (px_dtype)to;
    ctx->out[0].shape = ctx->in[0].shape;
    ctx->copies = ctx->in[0].dtype == (px_dtype)to; /* a half's weights are widened already */
    return PX_OK;
}

static px_status cast_setup(px_op_ctx *ctx, px_error *err)
{
    PX_TRY(pxi_op_arity(ctx, 1, 1, 1, 1, err));
    const char *name = px_node_string(ctx->node, "to", NULL);
    return cast_setup_to(ctx, name ? cast_type_number(name) : px_node_int(ctx->node, "to", 0), err);
}

/* Inside a program input 1 has been widened; only the file still says that it is a half. */
static px_dtype castlike_type(const px_op_ctx *ctx)
{
    if (!ctx->graph || ctx->in[1].dtype != PX_FLOAT32)
        return ctx->in[1].dtype;
    const px_value *like = &ctx->graph->values[ctx->node->inputs[1]];
    const px_dtype declared = like->constant ? like->constant->dtype : like->dtype;
    return cast_is_half(declared) ? declared : PX_FLOAT32;
}

static px_status castlike_setup(px_op_ctx *ctx, px_error *err)
{
    PX_TRY(pxi_op_arity(ctx, 2, 2, 1, 1, err));
    return cast_setup_to(ctx, castlike_type(ctx), err);
}

/* Drops the lower half of a float's bits; a NaN stays one. */
static uint16_t cast_truncate(float value)
{
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    return value == value ? (uint16_t)(bits >> 16) : px_float_to_bfloat(value);
}

static px_status cast_forward(const px_op_ctx *ctx, px_error *err)
{
    (void)err;
    const px_dtype to = ((const cast_params *)ctx->params)->to;
    const int64_t count = px_shape_count(&ctx->in[0].shape);
    pxi_convert(ctx->out[0].dtype, ctx->out[0].data, ctx->in[0].dtype, ctx->in[0].data, count);
    px_real *y = PXI_F32(ctx->out[0]);
    if (to == PX_FLOAT16)
        for (int64_t i = 0; i < count; i++)
            y[i] = px_half_to_float(px_float_to_half((float)y[i]));
    if (to == PX_BFLOAT16) {
        const bool nearest = ctx->node->opset >= 19;
        for (int64_t i = 0; i < count; i++)
            y[i] = px_bfloat_to_float(nearest ? px_float_to_bfloat((float)y[i])
                                              : cast_truncate((float)y[i]));
    }
    return PX_OK;
}

#define CAST_ADD(op, DTYPE, T, tag)                              \
    static void op##_##tag(T *dx, const px_tensor *dy, size_t n) \
    {                                                            \
        if (dy->dtype == PX_FLOAT64)                             \
            for (size_t i = 0; i < n; i++)                       \
                dx[i] += (T)((const double *)dy->data)[i];       \
        else                                                     \
            for (size_t i = 0; i < n; i++)                       \
                dx[i] += (T)((const px_real *)dy->data)[i];      \
    }
PXI_REAL_TYPES(CAST_ADD, cast_add)

static void cast_backward(const px_op_ctx *ctx)
{
    const px_tensor *dy = &ctx->out_grad[0];
    if (!pxi_op_wants_grad(ctx, 0) || !dy->data || !pxi_type_in(dy->dtype, PXI_TYPES_REAL))
        return;
    const size_t count = (size_t)px_shape_count(&dy->shape);
    if (ctx->in_grad[0].dtype == PX_FLOAT64)
        cast_add_f64(ctx->in_grad[0].data, dy, count);
    else if (ctx->in_grad[0].dtype == PX_FLOAT32)
        cast_add_f32(ctx->in_grad[0].data, dy, count);
}

const px_op px_op_cast_1 = {
    .name = "Cast",
    .since = 1,
    .diff = PX_DIFF_YES,
    .setup = cast_setup,
    .forward = cast_forward,
    .backward = cast_backward,
    .permute = pxi_permute_nothing,
    .elementwise = true,
    .inplace = true,
};

const px_op px_op_castlike_15 = {
    .name = "CastLike",
    .since = 15,
    .diff = PX_DIFF_YES,
    .setup = castlike_setup,
    .forward = cast_forward,
    .backward = cast_backward,
    .permute = pxi_permute_nothing,
    .inplace = true,
};
