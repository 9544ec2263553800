/* src/ops/clip.c - Clip: y = min(max(x, low), high)
 *
 * Bounds are attributes before opset 11, then optional scalar inputs. A missing bound bounds
 * nothing, not even infinity. If low > high the result is high. NaN goes through. The gradient
 * passes inside the closed interval and is 0 outside, as in PyTorch; bounds get none.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#include "ops/op_types.h"

#include <math.h>

typedef struct clip_params { /* from attributes; infinite where there is none */
    double low, high;
} clip_params;

static px_status clip_setup_attrs(px_op_ctx *ctx, px_error *err)
{
    PX_TRY(pxi_setup_same(ctx, err));
    PX_TRY(pxi_op_type(ctx, 0, PXI_TYPES_REAL, err));
    PX_TRY(pxi_op_params(ctx, sizeof(clip_params), err));
    clip_params *params = ctx->params;
    params->low = (double)px_node_float(ctx->node, "min", -INFINITY);
    params->high = (double)px_node_float(ctx->node, "max", INFINITY);
    return PX_OK;
}

static px_status clip_setup(px_op_ctx *ctx, px_error *err)
{
    PX_TRY(pxi_op_arity(ctx, 1, 3, 1, 1, err));
    PX_TRY(pxi_op_type(ctx, 0, PXI_TYPES_NUMBER, err));
    for (int i = 1; i < ctx->in_count; i++) {
        if (!pxi_op_has_in(ctx, i))
            continue;
        PX_TRY(pxi_op_type_as_first(ctx, i, err));
        if (px_shape_count(&ctx->in[i].shape) != 1) {
            char text[PX_SHAPE_TEXT];
            return pxi_op_fail(ctx, err, PX_E_MISMATCH,
                               "its bound (input %d) has shape %s, expected a scalar", i,
                               px_shape_text(&ctx->in[i].shape, text));
        }
    }
    ctx->out[0].dtype = ctx->in[0].dtype;
    ctx->out[0].shape = ctx->in[0].shape;
    PX_TRY(pxi_op_params(ctx, sizeof(clip_params), err));
    *(clip_params *)ctx->params = (clip_params){.low = -INFINITY, .high = INFINITY};
    return PX_OK;
}

/* NONE_LOW and NONE_HIGH are the bounds that bound nothing. */
#define CLIP_BOUNDS(T, NONE_LOW, NONE_HIGH)                                           \
    const T low = pxi_op_has_in(ctx, 1) ? *(const T *)ctx->in[1].data : (NONE_LOW);   \
    const T high = pxi_op_has_in(ctx, 2) ? *(const T *)ctx->in[2].data : (NONE_HIGH); \
    const size_t count = (size_t)px_shape_count(&ctx->in[0].shape);                   \
    const T *xs = ctx->in[0].data;

#define CLIP_FORWARD(T, tag, NONE_LOW, NONE_HIGH)              \
    static void clip_##tag(const px_op_ctx *ctx)               \
    {                                                          \
        const clip_params *params = ctx->params;               \
        (void)params;                                          \
        CLIP_BOUNDS(T, NONE_LOW, NONE_HIGH)                    \
        T *ys = ctx->out[0].data;                              \
        _Pragma("omp simd") for (size_t i = 0; i < count; i++) \
        {                                                      \
            const T x = xs[i] < low ? low : xs[i];             \
            ys[i] = x > high ? high : x;                       \
        }                                                      \
    }
#define CLIP_INT(op, dtype, T, tag) CLIP_FORWARD(T, tag, PXI_INT_MIN(T), PXI_INT_MAX(T))
#define CLIP_REAL(op, dtype, T, tag)                           \
    CLIP_FORWARD(T, tag, (T)params->low, (T)params->high)      \
    static void clip_backward_##tag(const px_op_ctx *ctx)      \
    {                                                          \
        const clip_params *params = ctx->params;               \
        CLIP_BOUNDS(T, (T)params->low, (T)params->high)        \
        const T *dys = ctx->out_grad[0].data;                  \
        T *dxs = ctx->in_grad[0].data;                         \
        _Pragma("omp simd") for (size_t i = 0; i < count; i++) \
        {                                                      \
            const T x = xs[i];                                 \
            dxs[i] += x < low || x > high ? 0 : dys[i];        \
        }                                                      \
    }
PXI_INT_TYPES(CLIP_INT, )
PXI_REAL_TYPES(CLIP_REAL, )

static px_status clip_forward(const px_op_ctx *ctx, px_error *err)
{
#define CLIP_ENTRY(op, dtype, T, tag) [dtype] = clip_##tag,
    static void (*const kernels[])(const px_op_ctx *) = {PXI_NUMBER_TYPES(CLIP_ENTRY, )};
    (void)err;
    kernels[ctx->in[0].dtype](ctx);
    return PX_OK;
}

static void clip_backward(const px_op_ctx *ctx)
{
    if (!pxi_op_wants_grad(ctx, 0) || !ctx->out_grad[0].data)
        return;
    if (ctx->in[0].dtype == PX_FLOAT64)
        clip_backward_f64(ctx);
    else if (ctx->in[0].dtype == PX_FLOAT32)
        clip_backward_f32(ctx);
}

#define CLIP_DESCRIPTOR(SINCE, SETUP)   \
    const px_op px_op_clip_##SINCE = {  \
        .name = "Clip",                 \
        .since = SINCE,                 \
        .diff = PX_DIFF_YES,            \
        .setup = SETUP,                 \
        .forward = clip_forward,        \
        .backward = clip_backward,      \
        .permute = pxi_permute_nothing, \
        .elementwise = true,            \
        .inplace = true,                \
    };
CLIP_DESCRIPTOR(1, clip_setup_attrs)
CLIP_DESCRIPTOR(11, clip_setup)
