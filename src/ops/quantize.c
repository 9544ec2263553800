/* src/ops/quantize.c - QuantizeLinear, DequantizeLinear, DynamicQuantizeLinear
 *
 * Quantize: q = saturate(round(x / scale) + zero_point), to even at .5, to 4, 8 or 16 bits.
 * Dequantize: (q - zero_point) scale. scale and zero_point are scalars, vectors along `axis`, or
 * one for each block of `block_size` entries of that axis. A scale of 0 gives IEEE's quotient,
 * which saturates (NaN to the zero point).
 *
 * Gradients are straight-through: rounding counts as the identity, saturation as flat, and a
 * quantised tensor has a float32 gradient or none. The scale of a dequantisation gets its true
 * gradient, that of a quantisation none.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#include "ops/nest.h"

#include "base/memory.h"

#include <tgmath.h>

typedef struct quantize_params {
    int axis;      /* of stored order; -1: one scale for all */
    int64_t block; /* entries of the axis that share a scale; 0: each has its own, for all others */
} quantize_params;

/* Elements at..at+count-1 of x that lie side by side, and their scales from scale on, `step` apart.
 */
typedef struct quantize_run {
    size_t at, count, scale, step;
} quantize_run;

typedef struct quantize_walk { /* x is (outer, channels, inner) */
    size_t outer, channels, inner, block;
    size_t o, c;
} quantize_walk;

static bool quantize_next(quantize_walk *w, quantize_run *run)
{
    if (w->c == w->channels) {
        w->c = 0;
        w->o++;
    }
    if (w->o >= w->outer || w->channels == 0)
        return false;
    const size_t groups = w->block ? (w->channels + w->block - 1) / w->block : 0;
    *run = (quantize_run){.at = (w->o * w->channels + w->c) * w->inner, .count = w->inner};
    run->scale = w->block ? (w->o * groups + w->c / w->block) * w->inner : w->c;
    run->step = w->block ? 1 : 0;
    w->c++;
    return true;
}

static quantize_walk quantize_start(const px_op_ctx *ctx)
{
    const quantize_params *params = ctx->params;
    const px_shape *shape = &ctx->in[0].shape;
    quantize_walk walk = {1, 1, 1, (size_t)params->block, 0, 0};
    for (int i = 0; i < shape->rank; i++) {
        size_t *part = i < params->axis    ? &walk.outer
                       : i == params->axis ? &walk.channels
                                           : &walk.inner;
        *part *= (size_t)shape->dim[i];
    }
    return walk;
}

/* A scale per block: shaped like x, but for the axis, which has as many entries as blocks. */
static px_status quantize_setup_blocks(const px_op_ctx *ctx, quantize_params *params, px_error *err)
{
    const px_shape *x = &ctx->in[0].shape;
    px_shape want = *x;
    char has[PX_SHAPE_TEXT], text[PX_SHAPE_TEXT];
    if (params->block < 0)
        return pxi_op_fail(ctx, err, PX_E_INPUT, "has blocks of %lld", (long long)params->block);
    want.dim[params->axis] = (x->dim[params->axis] + params->block - 1) / params->block;
    if (!px_shape_equal(&want, &ctx->in[1].shape))
        return pxi_op_fail(ctx, err, PX_E_MISMATCH, "its scale has shape %s, expected %s",
                           px_shape_text(&ctx->in[1].shape, has), px_shape_text(&want, text));
    return PX_OK;
}

/* Checks scale and zero point and finds the axis. */
static px_status quantize_setup_scale(px_op_ctx *ctx, px_error *err)
{
    const px_shape *x = &ctx->in[0].shape, *scale = &ctx->in[1].shape;
    PX_TRY(pxi_op_type(ctx, 1, 1u << PX_FLOAT32, err));
    PX_TRY(pxi_op_params(ctx, sizeof(quantize_params), err));
    quantize_params *params = ctx->params;
    params->axis = -1;
    params->block = px_node_int(ctx->node, "block_size", 0);
    if (px_shape_count(scale) != 1 || params->block != 0)
        PX_TRY(pxi_op_axis(ctx, px_node_int(ctx->node, "axis", 1), x->rank, &params->axis, err));
    if (params->block != 0) {
        PX_TRY(quantize_setup_blocks(ctx, params, err));
    } else if (params->axis >= 0 && (scale->rank != 1 || scale->dim[0] != x->dim[params->axis])) {
        char text[PX_SHAPE_TEXT];
        return pxi_op_fail(ctx, err, PX_E_MISMATCH,
                           "its scale has shape %s, expected %lld elements, as axis %d has",
                           px_shape_text(scale, text), (long long)x->dim[params->axis],
                           params->axis);
    }
    if (pxi_op_has_in(ctx, 2) && px_shape_count(&ctx->in[2].shape) != px_shape_count(scale))
        return pxi_op_fail(ctx, err, PX_E_MISMATCH, "its zero point and its scale differ in size");
    return PX_OK;
}

static px_status quantize_permute(px_op_ctx *ctx, const int *perm, int rank, px_error *err)
{
    const quantize_params *old = ctx->params;
    const int logical = old->axis;
    if (old->block)
        return pxi_permute_refuse(ctx, err);
    PX_TRY(pxi_op_params(ctx, sizeof(quantize_params), err));
    quantize_params *params = ctx->params;
    params->axis = -1;
    for (int i = 0; i < rank && logical >= 0; i++)
        if (perm[i] == logical)
            params->axis = i;
    return PX_OK;
}

static int32_t quantize_zero(const px_op_ctx *ctx, size_t at)
{
    if (!pxi_op_has_in(ctx, 2))
        return 0;
    const void *zeros = ctx->in[2].data;
    switch (ctx->in[2].dtype) {
    case PX_INT8:
    case PX_INT4:
        return ((const int8_t *)zeros)[at];
    case PX_UINT8:
    case PX_UINT4:
        return ((const uint8_t *)zeros)[at];
    case PX_INT16:
        return ((const int16_t *)zeros)[at];
    case PX_UINT16:
        return ((const uint16_t *)zeros)[at];
    default:
        return ((const int32_t *)zeros)[at];
    }
}

/* --- QuantizeLinear -------------------------------------------------------------------------- */

/* X(type, stored as, least, greatest) */
#define QUANTIZE_TYPES(X)                      \
    X(PX_UINT8, uint8_t, 0, UINT8_MAX)         \
    X(PX_INT8, int8_t, INT8_MIN, INT8_MAX)     \
    X(PX_UINT16, uint16_t, 0, UINT16_MAX)      \
    X(PX_INT16, int16_t, INT16_MIN, INT16_MAX) \
    X(PX_UINT4, uint8_t, 0, 15)                \
    X(PX_INT4, int8_t, -8, 7)
#define QUANTIZE_BIT(type, T, low, high) | 1u << (type)
static const unsigned quantize_types = 0u QUANTIZE_TYPES(QUANTIZE_BIT);

static px_status quantizelinear_setup(px_op_ctx *ctx, px_error *err)
{
    PX_TRY(pxi_op_arity(ctx, 2, 3, 1, 1, err));
    PX_TRY(pxi_op_type(ctx, 0, 1u << PX_FLOAT32 | 1u << PX_INT32, err));
    PX_TRY(quantize_setup_scale(ctx, err));
    if (pxi_op_has_in(ctx, 2))
        PX_TRY(pxi_op_type(ctx, 2, quantize_types, err));
    const int64_t named = px_node_int(ctx->node, "output_dtype", 0);
    const px_dtype to = pxi_op_has_in(ctx, 2) ? ctx->in[2].dtype
                        : named != 0          ? (px_dtype)named
                                              : PX_UINT8;
    if (named < 0 || named >= 32 || !pxi_type_in(to, quantize_types))
        return pxi_op_fail(ctx, err, PX_E_UNSUPPORTED,
                           "quantises to ONNX type %lld, which is not supported", (long long)named);
    ctx->out[0].dtype = to;
    ctx->out[0].shape = ctx->in[0].shape;
    return PX_OK;
}

static px_real quantize_round(px_real x, px_real scale, int32_t zero)
{
    const px_real level = rint(x / scale);
    return (level == level ? level : 0) + (px_real)zero;
}

/* Some elements; x is float32 or int32. With `step` 0 all have the first scale. */
#define QUANTIZE_LOOP(TX, TQ, LOW, HIGH)                                              \
    for (size_t i = 0; i < run->count; i++) {                                         \
        const size_t s = run->scale + i * run->step;                                  \
        const int32_t zero = run->step ? quantize_zero(ctx, s) : first;               \
        const px_real level =                                                         \
            quantize_round((px_real)((const TX *)x)[run->at + i], scale[s], zero);    \
        ((TQ *)q)[run->at + i] = level < LOW ? LOW : level > HIGH ? HIGH : (TQ)level; \
    }
#define QUANTIZE_CASE(type, TQ, low, high)        \
    case type:                                    \
        if (is_float)                             \
            QUANTIZE_LOOP(px_real, TQ, low, high) \
        else                                      \
            QUANTIZE_LOOP(int32_t, TQ, low, high) \
        break;

static void quantize_some(const px_op_ctx *ctx, const quantize_run *run, const px_real *scale,
                          int32_t first)
{
    const void *x = ctx->in[0].data;
    void *q = ctx->out[0].data;
    const bool is_float = ctx->in[0].dtype == PX_FLOAT32;
    switch (ctx->out[0].dtype) {
        QUANTIZE_TYPES(QUANTIZE_CASE)
    default:
        break;
    }
}

static px_status quantizelinear_forward(const px_op_ctx *ctx, px_error *err)
{
    (void)err;
    quantize_walk walk = quantize_start(ctx);
    for (quantize_run run; quantize_next(&walk, &run);)
        quantize_some(ctx, &run, ctx->in[1].data, quantize_zero(ctx, run.scale));
    return PX_OK;
}

static void quantizelinear_backward(const px_op_ctx *ctx)
{
    if (!pxi_op_wants_grad(ctx, 0) || !ctx->out_grad[0].data ||
        ctx->in_grad[0].dtype != PX_FLOAT32 || ctx->out_grad[0].dtype != PX_FLOAT32)
        return;
    px_real low = 0, high = 0;
#define QUANTIZE_RANGE(type, TQ, least, greatest) \
    if (ctx->out[0].dtype == (type))              \
        low = least, high = greatest;
    QUANTIZE_TYPES(QUANTIZE_RANGE)
    const px_real *x = ctx->in[0].data, *scale = ctx->in[1].data, *dq = ctx->out_grad[0].data;
    px_real *dx = ctx->in_grad[0].data;
    quantize_walk walk = quantize_start(ctx);
    for (quantize_run run; quantize_next(&walk, &run);)
        for (size_t i = 0; i < run.count; i++) {
            const size_t at = run.at + i, s = run.scale + i * run.step;
            const px_real level = quantize_round(x[at], scale[s], quantize_zero(ctx, s));
            dx[at] += level < low || level > high ? 0 : dq[at] / scale[s];
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
    PX_TRY(pxi_op_type(ctx, 0, quantize_types | 1u << PX_INT32, err));
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
    case PX_INT4:
        return ((const int8_t *)q->data)[at] - zero;
    case PX_UINT8:
    case PX_UINT4:
        return ((const uint8_t *)q->data)[at] - zero;
    case PX_INT16:
        return ((const int16_t *)q->data)[at] - zero;
    case PX_UINT16:
        return ((const uint16_t *)q->data)[at] - zero;
    default:
        return (int64_t)((const int32_t *)q->data)[at] - zero;
    }
}

static px_status dequantizelinear_forward(const px_op_ctx *ctx, px_error *err)
{
    (void)err;
    const px_real *scale = ctx->in[1].data;
    px_real *y = ctx->out[0].data;
    quantize_walk walk = quantize_start(ctx);
    for (quantize_run run; quantize_next(&walk, &run);) {
        const int32_t first = quantize_zero(ctx, run.scale);
        for (size_t i = 0; i < run.count; i++) {
            const size_t s = run.scale + i * run.step;
            const int32_t zero = run.step ? quantize_zero(ctx, s) : first;
            y[run.at + i] = (px_real)dequantize_level(&ctx->in[0], run.at + i, zero) * scale[s];
        }
    }
    return PX_OK;
}

static void dequantizelinear_backward(const px_op_ctx *ctx)
{
    if (!ctx->out_grad[0].data)
        return;
    const px_real *scale = ctx->in[1].data, *dy = ctx->out_grad[0].data;
    px_real *dq = ctx->in_grad[0].dtype == PX_FLOAT32 ? ctx->in_grad[0].data : NULL;
    px_real *dscale = ctx->in_grad[1].data;
    quantize_walk walk = quantize_start(ctx);
    for (quantize_run run; quantize_next(&walk, &run);) {
        double sum = 0;
        for (size_t i = 0; i < run.count; i++) {
            const size_t at = run.at + i, s = run.scale + i * run.step;
            if (dq)
                dq[at] += dy[at] * scale[s];
            const double pull =
                (double)dy[at] * (double)dequantize_level(&ctx->in[0], at, quantize_zero(ctx, s));
            if (dscale && run.step)
                dscale[s] += (px_real)pull;
            sum += pull;
        }
        if (dscale && !run.step)
            dscale[run.scale] += (px_real)sum;
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
        quantize_some(ctx, &(quantize_run){.count = count}, &scale, zero);
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
