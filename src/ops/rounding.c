/* src/ops/rounding.c - Abs, Neg, Sign, Floor, Ceil, Round
 *
 * Round goes to the nearest even number at .5, in the default rounding mode. Sign and the three
 * roundings are flat almost everywhere: nothing flows back. |x|' is 0 at 0. Integers wrap:
 * |INT_MIN| is INT_MIN.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#include "ops/unary.h"

PXI_UNARY_KERNELS(abs_1, fabs(x), x > 0 ? dy : x < 0 ? -dy : 0)
PXI_UNARY_SETUP(abs_1, PXI_TYPES_NUMBER, {NULL, 0})
#define abs_1_INT_VALUE (x < (T)1 ? PXI_INT_SUB(T, 0, x) : x)
PXI_UNARY_INT_FORWARD(abs_1, PXI_INT_TYPES)
PXI_UNARY_DESCRIPTOR(abs_1, "Abs", 1)

PXI_UNARY_KERNELS(neg_1, -x, -dy)
PXI_UNARY_SETUP(neg_1, PXI_TYPES_REAL | PXI_TYPES_SIGNED, {NULL, 0})
#define neg_1_INT_VALUE PXI_INT_SUB(T, 0, x)
PXI_UNARY_INT_FORWARD(neg_1, PXI_SIGNED_TYPES)
PXI_UNARY_DESCRIPTOR(neg_1, "Neg", 1)

/* The rest has no gradient, so only the value loops are made. */
#define FLAT_LOOP(id, TYPE, tag, VALUE)                                  \
    static void id##_forward_##tag(const px_op_ctx *ctx)                 \
    {                                                                    \
        const TYPE *xs = ctx->in[0].data;                                \
        TYPE *ys = ctx->out[0].data;                                     \
        const size_t count = (size_t)px_shape_count(&ctx->out[0].shape); \
        _Pragma("omp simd") for (size_t i = 0; i < count; i++)           \
        {                                                                \
            const TYPE x = xs[i];                                        \
            ys[i] = (VALUE);                                             \
        }                                                                \
    }
#define FLAT_LOOPS(id, VALUE)          \
    FLAT_LOOP(id, px_real, f32, VALUE) \
    FLAT_LOOP(id, double, f64, VALUE)
#define FLAT_DESCRIPTOR(id, NAME, SINCE) \
    const px_op px_op_##id = {           \
        .name = NAME,                    \
        .since = SINCE,                  \
        .diff = PX_DIFF_ZERO,            \
        .setup = id##_setup,             \
        .forward = id##_forward,         \
        .permute = pxi_permute_nothing,  \
        .elementwise = true,             \
        .inplace = true,                 \
    };
#define FLAT(id, NAME, SINCE, VALUE)               \
    FLAT_LOOPS(id, VALUE)                          \
    PXI_UNARY_SETUP(id, PXI_TYPES_REAL, {NULL, 0}) \
    PXI_UNARY_REAL_FORWARD(id)                     \
    FLAT_DESCRIPTOR(id, NAME, SINCE)

FLAT(floor_1, "Floor", 1, floor(x))
FLAT(ceil_1, "Ceil", 1, ceil(x))
FLAT(round_11, "Round", 11, rint(x))

FLAT_LOOPS(sign_9, x > 0 ? 1 : x < 0 ? -1 : x) /* x: a NaN or zero stays what it is */
PXI_UNARY_SETUP(sign_9, PXI_TYPES_NUMBER, {NULL, 0})
#define sign_9_INT_VALUE ((T)((x > 0) - (x < (T)1 && x != 0)))
PXI_UNARY_INT_FORWARD(sign_9, PXI_INT_TYPES)
FLAT_DESCRIPTOR(sign_9, "Sign", 9)
