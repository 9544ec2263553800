/* src/ops/unary.h - operators y[i] = f(x[i])
 *
 *     PXI_UNARY(sqrt_1, "Sqrt", 1, sqrt(x), dy / (2 * y))
 *
 * makes the descriptor px_op_sqrt_1 for float32 and float64. The first expression is y, in terms of
 * x; the second what is added to dx, in terms of x, y and dy. In both, `T` is the element type, and
 * PXI_UNARY_WITH has two attributes `a` and `b` on top. Functions come from "base/vector_math.h",
 * others from <tgmath.h>; constants that are not whole numbers are written (T)0.5, so that nothing
 * is computed in the wider type.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PXI_OPS_UNARY_H
#define PXI_OPS_UNARY_H

#include "base/vector_math.h"
#include "ops/op_types.h"

#include <tgmath.h>

typedef struct pxi_unary_params {
    double a, b;
} pxi_unary_params;

/* An attribute and its default; name NULL: there is none. */
typedef struct pxi_unary_attr {
    const char *name;
    float fallback;
} pxi_unary_attr;

/* One input and one output of one type and shape; reads the attributes into pxi_unary_params. */
px_status pxi_unary_setup(px_op_ctx *ctx, unsigned types, pxi_unary_attr a, pxi_unary_attr b,
                          px_error *err);

/* id_forward_tag() and id_backward_tag(), for one type. y may be x. */
#define PXI_UNARY_LOOPS(id, TYPE, tag, VALUE, GRADIENT)                                      \
    PXI_WIDE static void id##_forward_##tag(const px_op_ctx *ctx)                            \
    {                                                                                        \
        typedef TYPE T;                                                                      \
        const pxi_unary_params *params = ctx->params;                                        \
        const T a = (T)params->a, b = (T)params->b;                                          \
        const T *xs = ctx->in[0].data;                                                       \
        T *ys = ctx->out[0].data;                                                            \
        const size_t count = (size_t)px_shape_count(&ctx->out[0].shape);                     \
        (void)a, (void)b;                                                                    \
        _Pragma("omp simd") for (size_t i = 0; i < count; i++)                               \
        {                                                                                    \
            const T x = xs[i];                                                               \
            ys[i] = (VALUE);                                                                 \
        }                                                                                    \
    }                                                                                        \
    PXI_WIDE static void id##_backward_##tag(const px_op_ctx *ctx)                           \
    {                                                                                        \
        typedef TYPE T;                                                                      \
        const pxi_unary_params *params = ctx->params;                                        \
        const T a = (T)params->a, b = (T)params->b;                                          \
        const T *xs = ctx->in[0].data, *ys = ctx->out[0].data, *dys = ctx->out_grad[0].data; \
        T *dxs = ctx->in_grad[0].data;                                                       \
        const size_t count = (size_t)px_shape_count(&ctx->out[0].shape);                     \
        (void)a, (void)b;                                                                    \
        _Pragma("omp simd") for (size_t i = 0; i < count; i++)                               \
        {                                                                                    \
            const T x = xs[i], y = ys[i], dy = dys[i];                                       \
            (void)x, (void)y;                                                                \
            dxs[i] += (GRADIENT);                                                            \
        }                                                                                    \
    }

#define PXI_UNARY_KERNELS(id, VALUE, GRADIENT)                    \
    PXI_UNARY_LOOPS(id, px_real, f32, VALUE, GRADIENT)            \
    PXI_UNARY_LOOPS(id, double, f64, VALUE, GRADIENT)             \
    static void id##_backward(const px_op_ctx *ctx)               \
    {                                                             \
        if (!pxi_op_wants_grad(ctx, 0) || !ctx->out_grad[0].data) \
            return;                                               \
        if (ctx->in[0].dtype == PX_FLOAT64)                       \
            id##_backward_f64(ctx);                               \
        else                                                      \
            id##_backward_f32(ctx);                               \
    }

#define PXI_UNARY_DESCRIPTOR(id, NAME, SINCE) \
    const px_op px_op_##id = {                \
        .name = NAME,                         \
        .since = SINCE,                       \
        .diff = PX_DIFF_YES,                  \
        .setup = id##_setup,                  \
        .forward = id##_forward,              \
        .backward = id##_backward,            \
        .permute = pxi_permute_nothing,       \
        .elementwise = true,                  \
        .inplace = true,                      \
    };

#define PXI_UNARY_REAL_FORWARD(id)                                     \
    static px_status id##_forward(const px_op_ctx *ctx, px_error *err) \
    {                                                                  \
        (void)err;                                                     \
        if (ctx->in[0].dtype == PX_FLOAT64)                            \
            id##_forward_f64(ctx);                                     \
        else                                                           \
            id##_forward_f32(ctx);                                     \
        return PX_OK;                                                  \
    }

#define PXI_UNARY_SETUP(id, TYPES, ...)                              \
    static px_status id##_setup(px_op_ctx *ctx, px_error *err)       \
    {                                                                \
        const pxi_unary_attr attrs[2] = {__VA_ARGS__};               \
        return pxi_unary_setup(ctx, TYPES, attrs[0], attrs[1], err); \
    }

/* The further arguments are up to two attributes: {"alpha", 0.01f}. */
#define PXI_UNARY_WITH(id, NAME, SINCE, VALUE, GRADIENT, ...) \
    PXI_UNARY_SETUP(id, PXI_TYPES_REAL, __VA_ARGS__)          \
    PXI_UNARY_KERNELS(id, VALUE, GRADIENT)                    \
    PXI_UNARY_REAL_FORWARD(id)                                \
    PXI_UNARY_DESCRIPTOR(id, NAME, SINCE)

#define PXI_UNARY(id, NAME, SINCE, VALUE, GRADIENT) \
    PXI_UNARY_WITH(id, NAME, SINCE, VALUE, GRADIENT, {NULL, 0})

/* Integers as well: LIST is one of the type lists, INT_VALUE y in terms of x, a and b (as T). */
#define PXI_UNARY_INT_LOOP(id, dtype, TYPE, tag) \
    case dtype: {                                \
        typedef TYPE T;                          \
        const T *xs = ctx->in[0].data;           \
        T *ys = ctx->out[0].data;                \
        for (size_t i = 0; i < count; i++) {     \
            const T x = xs[i];                   \
            ys[i] = id##_INT_VALUE;              \
        }                                        \
        break;                                   \
    }
#define PXI_UNARY_INT_FORWARD(id, LIST)                                  \
    static px_status id##_forward(const px_op_ctx *ctx, px_error *err)   \
    {                                                                    \
        (void)err;                                                       \
        const pxi_unary_params *params = ctx->params;                    \
        const double a = params->a, b = params->b;                       \
        const size_t count = (size_t)px_shape_count(&ctx->out[0].shape); \
        (void)a, (void)b;                                                \
        switch (ctx->in[0].dtype) {                                      \
        case PX_FLOAT32:                                                 \
            id##_forward_f32(ctx);                                       \
            break;                                                       \
        case PX_FLOAT64:                                                 \
            id##_forward_f64(ctx);                                       \
            break;                                                       \
            LIST(PXI_UNARY_INT_LOOP, id)                                 \
        default: /* setup() let nothing else pass */                     \
            break;                                                       \
        }                                                                \
        return PX_OK;                                                    \
    }

#endif
