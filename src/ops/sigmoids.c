/* src/ops/sigmoids.c - smooth and piecewise linear S-shapes and what is made of them: Sigmoid,
 * Tanh, HardSigmoid, HardSwish, Softplus, Softsign, Mish, Swish, SwiGLU, Gelu
 *
 * 1 / (1 + exp(-x)) needs no guard: where exp() overflows the quotient is 0, its limit.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#include "ops/unary.h"

#include <string.h>

#define SIGMOID(x) (1 / (1 + pxi_exp(-(x))))
/* log(1 + exp(x)) without overflow; log1p's argument lies in (0, 1]. */
#define SOFTPLUS(x) (((x) > 0 ? (x) : 0) + log1p(exp(-fabs(x))))

PXI_UNARY(sigmoid_1, "Sigmoid", 1, SIGMOID(x), (dy * y * (1 - y)))
PXI_UNARY(tanh_1, "Tanh", 1, pxi_tanh(x), (dy * (1 - y * y)))
PXI_UNARY(softplus_1, "Softplus", 1, SOFTPLUS(x), dy *SIGMOID(x))
PXI_UNARY(softsign_1, "Softsign", 1, x / (1 + fabs(x)), dy / ((1 + fabs(x)) * (1 + fabs(x))))

/* y = max(0, min(1, alpha x + beta)); flat at both kinks, as in PyTorch */
#define HARD_LINE (a * x + b)
PXI_UNARY_WITH(hardsigmoid_1, "HardSigmoid", 1,
               HARD_LINE<0 ? 0 : (HARD_LINE > 1 ? 1 : HARD_LINE), HARD_LINE> 0 && HARD_LINE < 1
                   ? a * dy
                   : 0,
               {"alpha", 0.2f}, {"beta", 0.5f})

/* y = x max(0, min(1, x / 6 + 1/2)); NaN at -infinity, as in PyTorch */
PXI_UNARY(hardswish_14, "HardSwish", 14, x <= -3 ? x * 0 : (x >= 3 ? x : x * (x / 6 + (T)0.5)),
          x < -3 ? 0 : (x <= 3 ? dy * (x / 3 + (T)0.5) : dy))

/* y = x tanh(softplus(x)); y' = tanh(softplus(x)) + x sigmoid(x) / cosh(softplus(x))^2 */
#define MISH_SECH (1 / cosh(SOFTPLUS(x)))
PXI_UNARY(mish_18, "Mish", 18, (x * tanh(SOFTPLUS(x))),
          (dy * (tanh(SOFTPLUS(x)) + x * SIGMOID(x) * MISH_SECH * MISH_SECH)))

/* y = x sigmoid(alpha x) */
PXI_UNARY_WITH(swish_24, "Swish", 24, (x * SIGMOID(a * x)),
               (dy * SIGMOID(a * x) * (1 + a * x * (1 - SIGMOID(a * x)))), {"alpha", 1.0f})

/* SwiGLU: y = a sigmoid(alpha a) b, of one shape */
#define SWIGLU_LOOPS(op, DTYPE, T, tag)                                                  \
    PXI_WIDE static void swiglu_forward_##tag(const px_op_ctx *ctx)                      \
    {                                                                                    \
        const T alpha = (T)((const pxi_unary_params *)ctx->params)->a;                   \
        const T *a = ctx->in[0].data, *b = ctx->in[1].data;                              \
        T *y = ctx->out[0].data;                                                         \
        const size_t count = (size_t)px_shape_count(&ctx->out[0].shape);                 \
        _Pragma("omp simd") for (size_t i = 0; i < count; i++) y[i] =                    \
            a[i] * SIGMOID(alpha * a[i]) * b[i];                                         \
    }                                                                                    \
    static void swiglu_backward_##tag(const px_op_ctx *ctx)                              \
    {                                                                                    \
        const T alpha = (T)((const pxi_unary_params *)ctx->params)->a;                   \
        const T *a = ctx->in[0].data, *b = ctx->in[1].data, *dy = ctx->out_grad[0].data; \
        T *da = ctx->in_grad[0].data, *db = ctx->in_grad[1].data;                        \
        const size_t count = (size_t)px_shape_count(&ctx->out[0].shape);                 \
        for (size_t i = 0; i < count; i++) {                                             \
            const T gate = SIGMOID(alpha * a[i]);                                        \
            if (da)                                                                      \
                da[i] += dy[i] * b[i] * gate * (1 + alpha * a[i] * (1 - gate));          \
            if (db)                                                                      \
                db[i] += dy[i] * a[i] * gate;                                            \
        }                                                                                \
    }
PXI_REAL_TYPES(SWIGLU_LOOPS, )

static px_status swiglu_28_setup(px_op_ctx *ctx, px_error *err)
{
    PX_TRY(pxi_op_arity(ctx, 2, 2, 1, 1, err));
    PX_TRY(pxi_op_type(ctx, 0, PXI_TYPES_REAL, err));
    PX_TRY(pxi_op_type_as_first(ctx, 1, err));
    if (!px_shape_equal(&ctx->in[0].shape, &ctx->in[1].shape)) {
        char a[PX_SHAPE_TEXT], b[PX_SHAPE_TEXT];
        return pxi_op_fail(ctx, err, PX_E_MISMATCH, "a gate of %s for what is %s",
                           px_shape_text(&ctx->in[0].shape, a),
                           px_shape_text(&ctx->in[1].shape, b));
    }
    PX_TRY(pxi_op_params(ctx, sizeof(pxi_unary_params), err));
    ((pxi_unary_params *)ctx->params)->a = (double)px_node_float(ctx->node, "alpha", 1.0f);
    ctx->out[0].dtype = ctx->in[0].dtype;
    ctx->out[0].shape = ctx->in[0].shape;
    return PX_OK;
}

static px_status swiglu_28_forward(const px_op_ctx *ctx, px_error *err)
{
    (void)err;
    if (ctx->in[0].dtype == PX_FLOAT64)
        swiglu_forward_f64(ctx);
    else
        swiglu_forward_f32(ctx);
    return PX_OK;
}

static void swiglu_28_backward(const px_op_ctx *ctx)
{
    if (!ctx->out_grad[0].data)
        return;
    if (ctx->in[0].dtype == PX_FLOAT64)
        swiglu_backward_f64(ctx);
    else
        swiglu_backward_f32(ctx);
}

PXI_UNARY_DESCRIPTOR(swiglu_28, "SwiGLU", 28)

/* Gelu: x Phi(x), exactly or by the tanh formula of Hendrycks and Gimpel (arXiv:1606.08415, 2). */
#define GELU_DENSITY ((T)0.39894228040143267794 * pxi_exp((T)-0.5 * x * x)) /* of N(0, 1) */
#define GELU_PHI ((T)0.5 * (1 + pxi_erf(x * (T)0.70710678118654752440)))
#define GELU_SCALE ((T)0.79788456080286535588) /* sqrt(2 / pi) */
#define GELU_CUBE ((T)0.044715)
#define GELU_TANH (pxi_tanh((x + GELU_CUBE * x * x * x) * GELU_SCALE))
#define GELU_SLOPE (GELU_SCALE * (1 + 3 * GELU_CUBE * x * x))

PXI_UNARY_KERNELS(gelu_exact, (x * GELU_PHI), (dy * (GELU_PHI + x * GELU_DENSITY)))
PXI_UNARY_KERNELS(gelu_tanh, (T)0.5 * x * (1 + GELU_TANH),
                  (T)0.5 * dy * (1 + GELU_TANH + x * (1 - GELU_TANH * GELU_TANH) * GELU_SLOPE))
PXI_UNARY_REAL_FORWARD(gelu_exact)
PXI_UNARY_REAL_FORWARD(gelu_tanh)

static px_status gelu_20_setup(px_op_ctx *ctx, px_error *err)
{
    const pxi_unary_attr none = {0};
    PX_TRY(pxi_unary_setup(ctx, PXI_TYPES_REAL, none, none, err));
    const char *approximate = px_node_string(ctx->node, "approximate", "none");
    if (strcmp(approximate, "none") != 0 && strcmp(approximate, "tanh") != 0)
        return pxi_op_fail(ctx, err, PX_E_INPUT, "approximate is '%.40s', expected none or tanh",
                           approximate);
    ((pxi_unary_params *)ctx->params)->a = strcmp(approximate, "tanh") == 0;
    return PX_OK;
}

static bool gelu_is_tanh(const px_op_ctx *ctx)
{
    return ((const pxi_unary_params *)ctx->params)->a != 0;
}

static px_status gelu_20_forward(const px_op_ctx *ctx, px_error *err)
{
    return gelu_is_tanh(ctx) ? gelu_tanh_forward(ctx, err) : gelu_exact_forward(ctx, err);
}

static void gelu_20_backward(const px_op_ctx *ctx)
{
    if (gelu_is_tanh(ctx))
        gelu_tanh_backward(ctx);
    else
        gelu_exact_backward(ctx);
}

PXI_UNARY_DESCRIPTOR(gelu_20, "Gelu", 20)
