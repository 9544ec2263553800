/* src/ops/arithmetic.c - Add, Sub, Mul, Div with broadcasting
 *
 * Integers wrap, x / 0 is 0 and INT_MIN / -1 is INT_MIN; integer division truncates. For floats a
 * division by zero gives IEEE's infinity or NaN, on purpose, and so does its gradient.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#include "ops/broadcast.h"

#define ADD_INT(op, dtype, T, tag) PXI_BINARY_KERNEL(op##_##tag, T, T, T, PXI_INT_ADD(T, a, b))
#define SUB_INT(op, dtype, T, tag) PXI_BINARY_KERNEL(op##_##tag, T, T, T, PXI_INT_SUB(T, a, b))
#define MUL_INT(op, dtype, T, tag) PXI_BINARY_KERNEL(op##_##tag, T, T, T, PXI_INT_MUL(T, a, b))
#define DIV_INT(op, dtype, T, tag) PXI_BINARY_KERNEL(op##_##tag, T, T, T, PXI_INT_DIV(T, a, b))
#define ADD_REAL(op, dtype, T, tag) PXI_BINARY_KERNEL(op##_##tag, T, T, T, a + b)
#define SUB_REAL(op, dtype, T, tag) PXI_BINARY_KERNEL(op##_##tag, T, T, T, a - b)
#define MUL_REAL(op, dtype, T, tag) PXI_BINARY_KERNEL(op##_##tag, T, T, T, (a * b))
#define DIV_REAL(op, dtype, T, tag) PXI_BINARY_KERNEL(op##_##tag, T, T, T, a / b)

/* One operator: INT and REAL make its kernels, DA and DB are its gradients by either operand, where
 * `a` is the operand that is differentiated by and `b` the other one. */
#define ARITHMETIC(op, NAME, INT, REAL, DA, DB)                                                    \
    PXI_INT_TYPES(INT, op)                                                                         \
    PXI_REAL_TYPES(REAL, op)                                                                       \
    static pxi_binary_fn *const op##_kernels[] = {PXI_NUMBER_TYPES(PXI_KERNEL_ENTRY, op)};         \
    PXI_GRADIENT_KERNEL(op##_da_f32, px_real, px_real, DA)                                         \
    PXI_GRADIENT_KERNEL(op##_db_f32, px_real, px_real, DB)                                         \
    PXI_GRADIENT_KERNEL(op##_da_f64, double, double, DA)                                           \
    PXI_GRADIENT_KERNEL(op##_db_f64, double, double, DB)                                           \
                                                                                                   \
    static px_status op##_setup(px_op_ctx *ctx, px_error *err)                                     \
    {                                                                                              \
        return pxi_binary_setup(ctx, PXI_TYPES_NUMBER, /* old= */ false, err);                     \
    }                                                                                              \
    static px_status op##_setup_old(px_op_ctx *ctx, px_error *err)                                 \
    {                                                                                              \
        return pxi_binary_setup(ctx, PXI_TYPES_NUMBER, /* old= */ true, err);                      \
    }                                                                                              \
    static px_status op##_forward(const px_op_ctx *ctx, px_error *err)                             \
    {                                                                                              \
        (void)err;                                                                                 \
        pxi_binary_forward(ctx, op##_kernels[ctx->in[0].dtype], ctx->in[0].data, ctx->in[1].data); \
        return PX_OK;                                                                              \
    }                                                                                              \
    static void op##_backward(const px_op_ctx *ctx)                                                \
    {                                                                                              \
        const bool wide = ctx->in[0].dtype == PX_FLOAT64;                                          \
        pxi_binary_backward(ctx, wide ? op##_da_f64 : op##_da_f32,                                 \
                            wide ? op##_db_f64 : op##_db_f32, ctx->in[0].data, ctx->in[1].data);   \
    }                                                                                              \
    const px_op px_op_##op##_1 = {                                                                 \
        .name = NAME,                                                                              \
        .since = 1,                                                                                \
        .diff = PX_DIFF_YES,                                                                       \
        .setup = op##_setup_old,                                                                   \
        .forward = op##_forward,                                                                   \
        .backward = op##_backward,                                                                 \
        .inplace = true,                                                                           \
    };                                                                                             \
    const px_op px_op_##op##_7 = {                                                                 \
        .name = NAME,                                                                              \
        .since = 7,                                                                                \
        .diff = PX_DIFF_YES,                                                                       \
        .setup = op##_setup,                                                                       \
        .forward = op##_forward,                                                                   \
        .backward = op##_backward,                                                                 \
        .permute = pxi_permute_nothing,                                                            \
        .elementwise = true,                                                                       \
        .inplace = true,                                                                           \
    };

ARITHMETIC(add, "Add", ADD_INT, ADD_REAL, dy, dy)
ARITHMETIC(sub, "Sub", SUB_INT, SUB_REAL, dy, -dy)
ARITHMETIC(mul, "Mul", MUL_INT, MUL_REAL, (dy * b), (dy * b))
ARITHMETIC(div, "Div", DIV_INT, DIV_REAL, dy / b, (-dy * y / a))
