/* src/ops/power.c - Pow: y = a ^ b with broadcasting; y has a's type
 *
 * The exponent may have another type: it is converted to the base's, or, for an integer base, to
 * int64 or double. Integer powers wrap; a negative exponent truncates 1 / a^|b| to an integer, with
 * 1 / 0 = 0. Floats are IEEE's. Gradients follow PyTorch: by a 0 where b is 0, by b 0 where a is 0
 * and b is not negative, so that x^2 and 0^x stay finite; the logarithm of a negative base is NaN
 * there too. An exponent of another type than the base is taken as a constant.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#include "ops/broadcast.h"
#include "ops/convert.h"

#include <tgmath.h>

static int64_t power_of_int(int64_t base, int64_t exponent)
{
    if (exponent < 0)
        return base == 1 ? 1 : base == -1 ? (exponent % 2 ? -1 : 1) : 0;
    uint64_t power = 1, square = (uint64_t)base; /* unsigned: it wraps */
    for (; exponent > 0; exponent >>= 1, square *= square)
        if (exponent & 1)
            power *= square;
    return (int64_t)power;
}

PXI_BINARY_KERNEL(pow_f32, px_real, px_real, px_real, pow(a, b))
PXI_BINARY_KERNEL(pow_f64, double, double, double, pow(a, b))
PXI_BINARY_KERNEL(pow_i32_int, int32_t, int64_t, int32_t, (int32_t)power_of_int(a, b))
PXI_BINARY_KERNEL(pow_i64_int, int64_t, int64_t, int64_t, power_of_int(a, b))
PXI_BINARY_KERNEL(pow_i32_real, int32_t, double, int32_t, PXI_INT_FROM(int32_t, pow((double)a, b)))
PXI_BINARY_KERNEL(pow_i64_real, int64_t, double, int64_t, PXI_INT_FROM(int64_t, pow((double)a, b)))

/* Normalisations square and some activations cube: these vectorise. */
PXI_BINARY_KERNEL(square_f32, px_real, px_real, px_real, (a * a))
PXI_BINARY_KERNEL(square_f64, double, double, double, (a * a))
PXI_BINARY_KERNEL(cube_f32, px_real, px_real, px_real, (a * a * a))
PXI_BINARY_KERNEL(cube_f64, double, double, double, (a * a * a))

#define POWER_GRADIENTS(op, dtype, T, tag)                                          \
    PXI_GRADIENT_KERNEL(pow_da_##tag, T, T, b == 0 ? 0 : dy * b * pow(a, b - 1))    \
    PXI_GRADIENT_KERNEL(pow_db_##tag, T, T, b == 0 && a >= 0 ? 0 : dy * y * log(b)) \
    PXI_GRADIENT_KERNEL(square_da_##tag, T, T, dy * 2 * a)                          \
    PXI_GRADIENT_KERNEL(cube_da_##tag, T, T, dy * 3 * a * a)
PXI_REAL_TYPES(POWER_GRADIENTS, )

/* What the exponent is computed in. */
static px_dtype power_exponent_type(const px_op_ctx *ctx)
{
    const px_dtype base = ctx->in[0].dtype;
    if (pxi_type_in(base, PXI_TYPES_REAL))
        return base;
    return pxi_type_in(ctx->in[1].dtype, PXI_TYPES_REAL) ? PX_FLOAT64 : PX_INT64;
}

static px_status pow_setup_types(px_op_ctx *ctx, px_error *err)
{
    const unsigned bases = PXI_TYPES_REAL | 1u << PX_INT32 | 1u << PX_INT64;
    PX_TRY(pxi_op_arity(ctx, 2, 2, 1, 1, err));
    PX_TRY(pxi_op_type(ctx, 0, bases, err));
    PX_TRY(pxi_op_type(ctx, 1, PXI_TYPES_NUMBER, err));
    const px_dtype type = power_exponent_type(ctx);
    if (type != ctx->in[1].dtype)
        ctx->scratch_bytes = (size_t)px_shape_count(&ctx->in[1].shape) * px_dtype_size(type);
    return PX_OK;
}

static px_status pow_setup(px_op_ctx *ctx, px_error *err)
{
    PX_TRY(pow_setup_types(ctx, err));
    return pxi_binary_shape(ctx, /* old= */ false, err);
}

static px_status pow_setup_old(px_op_ctx *ctx, px_error *err)
{
    PX_TRY(pow_setup_types(ctx, err));
    return pxi_binary_shape(ctx, /* old= */ true, err);
}

static const void *power_exponent(const px_op_ctx *ctx)
{
    const px_tensor *b = &ctx->in[1];
    const px_dtype type = power_exponent_type(ctx);
    if (type == b->dtype)
        return b->data;
    pxi_convert(type, ctx->scratch, b->dtype, b->data, px_shape_count(&b->shape));
    return ctx->scratch;
}

/* 2 or 3 if that is the one float exponent of all elements, else 0. */
static int power_is_small(const px_op_ctx *ctx, const void *exponent)
{
    const px_dtype type = power_exponent_type(ctx);
    if (!pxi_type_in(ctx->in[0].dtype, PXI_TYPES_REAL) || px_shape_count(&ctx->in[1].shape) != 1)
        return 0;
    const double b =
        type == PX_FLOAT64 ? *(const double *)exponent : (double)*(const px_real *)exponent;
    return b == 2 ? 2 : b == 3 ? 3 : 0;
}

static px_status pow_forward(const px_op_ctx *ctx, px_error *err)
{
    (void)err;
    const void *b = power_exponent(ctx);
    const int small = power_is_small(ctx, b);
    const bool integer = power_exponent_type(ctx) == PX_INT64;
    pxi_binary_fn *kernel;
    switch (ctx->in[0].dtype) {
    case PX_FLOAT64:
        kernel = small == 2 ? square_f64 : small == 3 ? cube_f64 : pow_f64;
        break;
    case PX_INT32:
        kernel = integer ? pow_i32_int : pow_i32_real;
        break;
    case PX_INT64:
        kernel = integer ? pow_i64_int : pow_i64_real;
        break;
    default:
        kernel = small == 2 ? square_f32 : small == 3 ? cube_f32 : pow_f32;
        break;
    }
    pxi_binary_forward(ctx, kernel, ctx->in[0].data, b);
    return PX_OK;
}

static void pow_backward(const px_op_ctx *ctx)
{
    if (!pxi_type_in(ctx->in[0].dtype, PXI_TYPES_REAL))
        return;
    const void *a = ctx->in[0].data, *b = power_exponent(ctx);
    const int small = power_is_small(ctx, b);
    const bool same = ctx->in[1].dtype == ctx->in[0].dtype;
    if (ctx->in[0].dtype == PX_FLOAT64) {
        pxi_gradient_fn *kernels[] = {pow_da_f64, NULL, square_da_f64, cube_da_f64};
        pxi_binary_backward(ctx, kernels[small], same ? pow_db_f64 : NULL, a, b);
    } else {
        pxi_gradient_fn *kernels[] = {pow_da_f32, NULL, square_da_f32, cube_da_f32};
        pxi_binary_backward(ctx, kernels[small], same ? pow_db_f32 : NULL, a, b);
    }
}

const px_op px_op_pow_1 = {
    .name = "Pow",
    .since = 1,
    .diff = PX_DIFF_YES,
    .setup = pow_setup_old,
    .forward = pow_forward,
    .backward = pow_backward,
    .inplace = true,
};

const px_op px_op_pow_7 = {
    .name = "Pow",
    .since = 7,
    .diff = PX_DIFF_YES,
    .setup = pow_setup,
    .forward = pow_forward,
    .backward = pow_backward,
    .permute = pxi_permute_nothing,
    .elementwise = true,
    .inplace = true,
};
