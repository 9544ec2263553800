/* src/ops/quantize.c - QuantizeLinear, DequantizeLinear, DynamicQuantizeLinear
 *
 * Quantize: q = saturate(round(x / scale) + zero_point), to even at .5. Dequantize: (q -
 * zero_point) scale. scale and zero_point are scalars, or vectors along `axis`. A scale of 0 gives
 * IEEE's quotient, which saturates (NaN to the zero point).
 *
 * Gradients are straight-through: rounding counts as the identity, saturation as flat, and a
 * quantised tensor has a float32 gradient or none. The scale of a dequantisation gets its true
 * gradient, that of a quantisation none.
 */
#include "ops/op_types.h"

#include <tgmath.h>

typedef struct quantize_params {
    int axis; /* of stored order; -1: one scale for all */
} quantize_params;

typedef struct quantize_block { /* x is (outer, channels, inner), one scale per channel */
    size_t outer, channels, inner;
} quantize_block;

static quantize_block quantize_blocks(const px_op_ctx *ctx)
{
    const int axis = ((const quantize_params *)ctx->params)->axis;
    const px_shape *shape = &ctx->in[0].shape;
    quantize_block block = {1, 1, 1};
    for (int i = 0; i < shape->rank; i++) {
        size_t *part = i < axis ? &block.outer : i == axis ? &block.channels : &block.inner;
        *part *= (size_t)shape->dim[i];
    }
    return block;
}

/* Checks scale and zero point and finds the axis. */
static px_status quantize_setup_scale(px_op_ctx *ctx, px_error *err)
{
    const px_shape *x = &ctx->in[0].shape, *scale = &ctx->in[1].shape;
    PX_TRY(pxi_op_type(ctx, 1, 1u << PX_FLOAT32, err));
    PX_TRY(pxi_op_params(ctx, sizeof(quantize_params), err));
    quantize_params *params = ctx->params;
    params->axis = -1;
    if (px_node_int(ctx->node, "block_size", 0) != 0)
        return pxi_op_fail(ctx, err, PX_E_UNSUPPORTED, "a scale per block is not supported");
    if (px_shape_count(scale) != 1) {
        PX_TRY(pxi_op_axis(ctx, px_node_int(ctx->node, "axis", 1), x->rank, &params->axis, err));
        if (scale->rank != 1 || scale->dim[0] != x->dim[params->axis]) {
            char text[PX_SHAPE_TEXT];
            return pxi_op_fail(ctx, err, PX_E_MISMATCH,
                               "its scale has shape %s, expected %lld elements, as axis %d has",
                               px_shape_text(scale, text), (long long)x->dim[params->axis],
                               params->axis);
        }
    }
    if (pxi_op_has_in(ctx, 2) && px_shape_count(&ctx->in[2].shape) != px_shape_count(scale))
        return pxi_op_fail(ctx, err, PX_E_MISMATCH, "its zero point and its scale differ in size");
    return PX_OK;
}

static px_status quantize_permute(px_op_ctx *ctx, const int *perm, int rank, px_error *err)
{
    const quantize_params *old = ctx->params;
    const int logical = old->axis;
    PX_TRY(pxi_op_params(ctx, sizeof(quantize_params), err));
    quantize_params *params = ctx->params;
    params->axis = -1;
    for (int i = 0; i < rank && logical >= 0; i++)
        if (perm[i] == logical)
            params->axis = i;
    return PX_OK;
}

static int32_t quantize_zero(const px_op_ctx *ctx, size_t channel)
{
    if (!pxi_op_has_in(ctx, 2))
        return 0;
    switch (ctx->in[2].dtype) {
    case PX_INT8:
        return ((const int8_t *)ctx->in[2].data)[channel];
    case PX_UINT8:
        return ((const uint8_t *)ctx->in[2].data)[channel];
    default:
        return ((const int32_t *)ctx->in[2].data)[channel];
    }
}

/* --- QuantizeLinear -------------------------------------------------------------------------- */

static px_status quantizelinear_setup(px_op_ctx *ctx, px_error *err)
{
    PX_TRY(pxi_op_arity(ctx, 2, 3, 1, 1, err));
    PX_TRY(pxi_op_type(ctx, 0, 1u << PX_FLOAT32 | 1u << PX_INT32, err));
    PX_TRY(quantize_setup_scale(ctx, err));
    if (pxi_op_has_in(ctx, 2))
        PX_TRY(pxi_op_type(ctx, 2, 1u << PX_UINT8 | 1u << PX_INT8, err));
    ctx->out[0].dtype = pxi_op_has_in(ctx, 2) ? ctx->in[2].dtype : PX_UINT8;
    ctx->out[0].shape = ctx->in[0].shape;
    return PX_OK;
}

static px_real quantize_round(px_real x, px_real scale, int32_t zero)
{
    const px_real level = rint(x / scale);
    return (level == level ? level : 0) + (px_real)zero;
}

/* One run of elements under one scale; x is float32 or int32, q int8 or uint8. */
#define QUANTIZE_RUN(TX, TQ, LOW, HIGH)                                                      \
    for (size_t i = 0; i < n; i++) {                                                         \
        const px_real level = quantize_round((px_real)((const TX *)x)[at + i], scale, zero); \
        ((TQ *)q)[at + i] = level < LOW ? LOW : level > HIGH ? HIGH : (TQ)level;             \
    }

static void quantize_run(const px_tensor *in, const px_tensor *out, size_t at, size_t n,
                         px_real scale, int32_t zero)
{
    const void *x = in->data;
    void *q = out->data;
    if (in->dtype == PX_FLOAT32 && out->dtype == PX_UINT8)
        QUANTIZE_RUN(px_real, uint8_t, 0, UINT8_MAX)
    else if (in->dtype == PX_FLOAT32)
        QUANTIZE_RUN(px_real, int8_t, INT8_MIN, INT8_MAX)
    else if (out->dtype == PX_UINT8)
        QUANTIZE_RUN(int32_t, uint8_t, 0, UINT8_MAX)
    else
        QUANTIZE_RUN(int32_t, int8_t, INT8_MIN, INT8_MAX)
}

static px_status quantizelinear_forward(const px_op_ctx *ctx, px_error *err)
{
    (void)err;
    const quantize_block block = quantize_blocks(ctx);
    const px_real *scale = ctx->in[1].data;
    size_t at = 0;
    for (size_t o = 0; o < block.outer; o++)
        for (size_t c = 0; c < block.channels; c++, at += block.inner)
            quantize_run(&ctx->in[0], &ctx->out[0], at, block.inner, scale[c],
                         quantize_zero(ctx, c));
    return PX_OK;
}

static void quantizelinear_backward(const px_op_ctx *ctx)
{
    if (!pxi_op_wants_grad(ctx, 0) || !ctx->out_grad[0].data ||
        ctx->in_grad[0].dtype != PX_FLOAT32 || ctx->out_grad[0].dtype != PX_FLOAT32)
        return;
    const quantize_block block = quantize_blocks(ctx);
    const bool is_signed = ctx->out[0].dtype == PX_INT8;
    const px_real low = is_signed ? INT8_MIN : 0, high = is_signed ? INT8_MAX : UINT8_MAX;
    const px_real *x = ctx->in[0].data, *scale = ctx->in[1].data, *dq = ctx->out_grad[0].data;
    px_real *dx = ctx->in_grad[0].data;
    size_t at = 0;
    for (size_t o = 0; o < block.outer; o++)
        for (size_t c = 0; c < block.channels; c++) {
            const int32_t zero = quantize_zero(ctx, c);
            for (size_t i = 0; i < block.inner; i++, at++) {
                const px_real level = quantize_round(x[at], scale[c], zero);
                dx[at] += level < low || level > high ? 0 : dq[at] / scale[c];
            }
        }
}

const px_op px_op_quantizelinear_10 = {
    .name = "QuantizeLinear",
    .since = 10,
    .diff = PX_DIFF_YES,
    .setup = quantizelinear_setup,
    .forward = quantizelinear_forward,
    .backward = quantizelinear_backward,
    .permute = quantize_permute,
};

/* --- DequantizeLinear ------------------------------------------------------------------------ */

static px_status dequantizelinear_setup(px_op_ctx *ctx, px_error *err)
{
    PX_TRY(pxi_op_arity(ctx, 2, 3, 1, 1, err));
    PX_TRY(pxi_op_type(ctx, 0, 1u << PX_INT8 | 1u << PX_UINT8 | 1u << PX_INT32, err));
    PX_TRY(quantize_setup_scale(ctx, err));
    if (pxi_op_has_in(ctx, 2))
        PX_TRY(pxi_op_type_as_first(ctx, 2, err));
    ctx->out[0].dtype = PX_FLOAT32;
    ctx->out[0].shape = ctx->in[0].shape;
    return PX_OK;
}

static int64_t dequantize_level(const px_tensor *q, size_t at, int32_t zero)
{
    switch (q->dtype) {
    case PX_INT8:
        return ((const int8_t *)q->data)[at] - zero;
    case PX_UINT8:
        return ((const uint8_t *)q->data)[at] - zero;
    default:
        return (int64_t)((const int32_t *)q->data)[at] - zero;
    }
}

static px_status dequantizelinear_forward(const px_op_ctx *ctx, px_error *err)
{
    (void)err;
    const quantize_block block = quantize_blocks(ctx);
    const px_real *scale = ctx->in[1].data;
    px_real *y = ctx->out[0].data;
    size_t at = 0;
    for (size_t o = 0; o < block.outer; o++)
        for (size_t c = 0; c < block.channels; c++) {
            const int32_t zero = quantize_zero(ctx, c);
            for (size_t i = 0; i < block.inner; i++, at++)
                y[at] = (px_real)dequantize_level(&ctx->in[0], at, zero) * scale[c];
        }
    return PX_OK;
}

static void dequantizelinear_backward(const px_op_ctx *ctx)
{
    if (!ctx->out_grad[0].data)
        return;
    const quantize_block block = quantize_blocks(ctx);
    const px_real *scale = ctx->in[1].data, *dy = ctx->out_grad[0].data;
    px_real *dq = ctx->in_grad[0].dtype == PX_FLOAT32 ? ctx->in_grad[0].data : NULL;
    px_real *dscale = ctx->in_grad[1].data;
    size_t at = 0;
    for (size_t o = 0; o < block.outer; o++)
        for (size_t c = 0; c < block.channels; c++) {
            const int32_t zero = quantize_zero(ctx, c);
            double sum = 0;
            for (size_t i = 0; i < block.inner; i++, at++) {
                if (dq)
                    dq[at] += dy[at] * scale[c];
                sum += (double)dy[at] * (double)dequantize_level(&ctx->in[0], at, zero);
            }
            if (dscale)
                dscale[c] += (px_real)sum;
        }
}

const px_op px_op_dequantizelinear_10 = {
    .name = "DequantizeLinear",
    .since = 10,
    .diff = PX_DIFF_YES,
    .setup = dequantizelinear_setup,
    .forward = dequantizelinear_forward,
    .backward = dequantizelinear_backward,
    .permute = quantize_permute,
};

/* --- DynamicQuantizeLinear: the range of the whole tensor, always with 0 in it, to 0..255 ---- */

static px_status dynamicquantizelinear_setup(px_op_ctx *ctx, px_error *err)
{
    PX_TRY(pxi_op_arity(ctx, 1, 1, 1, 3, err));
    PX_TRY(pxi_op_type(ctx, 0, 1u << PX_FLOAT32, err));
    const px_dtype types[] = {PX_UINT8, PX_FLOAT32, PX_UINT8};
    for (int i = 0; i < ctx->out_count; i++) {
        ctx->out[i].dtype = types[i];
        ctx->out[i].shape = i == 0 ? ctx->in[0].shape : (px_shape){0};
    }
    return PX_OK;
}

static void dynamicquantize_range(const px_op_ctx *ctx, px_real *scale, uint8_t *zero)
{
    const px_real *x = ctx->in[0].data;
    const size_t count = (size_t)px_shape_count(&ctx->in[0].shape);
    px_real low = 0, high = 0;
    for (size_t i = 0; i < count; i++) {
        low = x[i] < low ? x[i] : low;
        high = x[i] > high ? x[i] : high;
    }
    *scale = (high - low) / UINT8_MAX;
    *zero = PXI_INT_FROM(uint8_t, (double)rint(-low / *scale)); /* 0 / 0 where all is 0: NaN to 0 */
}

static px_status dynamicquantizelinear_forward(const px_op_ctx *ctx, px_error *err)
{
    (void)err;
    px_real scale;
    uint8_t zero;
    dynamicquantize_range(ctx, &scale, &zero);
    const size_t count = (size_t)px_shape_count(&ctx->in[0].shape);
    if (ctx->out[0].data)
        quantize_run(&ctx->in[0], &ctx->out[0], 0, count, scale, zero);
    if (ctx->out_count > 1 && ctx->out[1].data)
        *(px_real *)ctx->out[1].data = scale;
    if (ctx->out_count > 2 && ctx->out[2].data)
        *(uint8_t *)ctx->out[2].data = zero;
    return PX_OK;
}

/* Nothing saturates here; the range itself counts as constant. */
static void dynamicquantizelinear_backward(const px_op_ctx *ctx)
{
    if (!pxi_op_wants_grad(ctx, 0) || !ctx->out_grad[0].data ||
        ctx->out_grad[0].dtype != PX_FLOAT32)
        return;
    px_real scale;
    uint8_t zero;
    dynamicquantize_range(ctx, &scale, &zero);
    const size_t count = (size_t)px_shape_count(&ctx->in[0].shape);
    const px_real *dq = ctx->out_grad[0].data;
    px_real *dx = ctx->in_grad[0].data;
    for (size_t i = 0; i < count; i++)
        dx[i] += scale > 0 ? dq[i] / scale : 0;
}

const px_op px_op_dynamicquantizelinear_11 = {
    .name = "DynamicQuantizeLinear",
    .since = 11,
    .diff = PX_DIFF_YES,
    .setup = dynamicquantizelinear_setup,
    .forward = dynamicquantizelinear_forward,
    .backward = dynamicquantizelinear_backward,
    .permute = pxi_permute_nothing,
};
