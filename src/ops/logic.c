/* src/ops/logic.c - And, Or, Xor, Not, BitShift and the bitwise operators, IsNaN, IsInf
 *
 * A byte of a bool tensor counts as true when it is not 0; results are 0 or 1. Shifting by the
 * type's width or more leaves 0, where C would be undefined. Nothing flows back.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#include "ops/broadcast.h"

#include <math.h>
#include <string.h>

#define LOGIC(op, NAME, VALUE)                                                  \
    PXI_BINARY_KERNEL(op##_kernel, uint8_t, uint8_t, uint8_t, VALUE)            \
    static px_status op##_setup(px_op_ctx *ctx, px_error *err)                  \
    {                                                                           \
        return pxi_binary_setup(ctx, PXI_TYPES_BOOL, /* old= */ false, err);    \
    }                                                                           \
    static px_status op##_setup_old(px_op_ctx *ctx, px_error *err)              \
    {                                                                           \
        return pxi_binary_setup(ctx, PXI_TYPES_BOOL, /* old= */ true, err);     \
    }                                                                           \
    static px_status op##_forward(const px_op_ctx *ctx, px_error *err)          \
    {                                                                           \
        (void)err;                                                              \
        pxi_binary_forward(ctx, op##_kernel, ctx->in[0].data, ctx->in[1].data); \
        return PX_OK;                                                           \
    }                                                                           \
    const px_op px_op_##op##_1 = {                                              \
        .name = NAME,                                                           \
        .since = 1,                                                             \
        .diff = PX_DIFF_ZERO,                                                   \
        .setup = op##_setup_old,                                                \
        .forward = op##_forward,                                                \
        .inplace = true,                                                        \
    };                                                                          \
    const px_op px_op_##op##_7 = {                                              \
        .name = NAME,                                                           \
        .since = 7,                                                             \
        .diff = PX_DIFF_ZERO,                                                   \
        .setup = op##_setup,                                                    \
        .forward = op##_forward,                                                \
        .permute = pxi_permute_nothing,                                         \
        .elementwise = true,                                                    \
        .inplace = true,                                                        \
    };

LOGIC(and, "And", (a != 0) & (b != 0))
LOGIC(or, "Or", (a != 0) | (b != 0))
LOGIC(xor, "Xor", (a != 0) ^ (b != 0))

static px_status not_setup(px_op_ctx *ctx, px_error *err)
{
    PX_TRY(pxi_setup_same(ctx, err));
    return pxi_op_type(ctx, 0, PXI_TYPES_BOOL, err);
}

static px_status not_forward(const px_op_ctx *ctx, px_error *err)
{
    (void)err;
    const uint8_t *x = ctx->in[0].data;
    uint8_t *y = ctx->out[0].data;
    const size_t count = (size_t)px_shape_count(&ctx->out[0].shape);
    for (size_t i = 0; i < count; i++)
        y[i] = x[i] == 0;
    return PX_OK;
}

const px_op px_op_not_1 = {
    .name = "Not",
    .since = 1,
    .diff = PX_DIFF_ZERO,
    .setup = not_setup,
    .forward = not_forward,
    .permute = pxi_permute_nothing,
    .elementwise = true,
    .inplace = true,
};

/* --- BitShift -------------------------------------------------------------------------------- */

#define SHIFT(T, SHIFTED) ((T)(b < 8 * sizeof(T) ? (SHIFTED) : 0))
#define SHIFT_KERNELS(op, dtype, T, tag)                                     \
    PXI_BINARY_KERNEL(shift_left_##tag, T, T, T, SHIFT(T, (uint64_t)a << b)) \
    PXI_BINARY_KERNEL(shift_right_##tag, T, T, T, SHIFT(T, (uint64_t)a >> b))
PXI_UNSIGNED_TYPES(SHIFT_KERNELS, )
static pxi_binary_fn *const shift_left[] = {PXI_UNSIGNED_TYPES(PXI_KERNEL_ENTRY, shift_left)};
static pxi_binary_fn *const shift_right[] = {PXI_UNSIGNED_TYPES(PXI_KERNEL_ENTRY, shift_right)};

static px_status bitshift_setup(px_op_ctx *ctx, px_error *err)
{
    PX_TRY(pxi_binary_setup(ctx, PXI_TYPES_UNSIGNED, /* old= */ false, err));
    const char *direction = px_node_string(ctx->node, "direction", "");
    if (strcmp(direction, "LEFT") != 0 && strcmp(direction, "RIGHT") != 0)
        return pxi_op_fail(ctx, err, PX_E_INPUT, "direction is '%.40s', expected LEFT or RIGHT",
                           direction);
    ((pxi_binary_params *)ctx->params)->mode = strcmp(direction, "LEFT") == 0;
    return PX_OK;
}

static px_status bitshift_forward(const px_op_ctx *ctx, px_error *err)
{
    (void)err;
    const int left = ((const pxi_binary_params *)ctx->params)->mode;
    const px_dtype dtype = ctx->in[0].dtype;
    pxi_binary_forward(ctx, left ? shift_left[dtype] : shift_right[dtype], ctx->in[0].data,
                       ctx->in[1].data);
    return PX_OK;
}

const px_op px_op_bitshift_11 = {
    .name = "BitShift",
    .since = 11,
    .diff = PX_DIFF_ZERO,
    .setup = bitshift_setup,
    .forward = bitshift_forward,
    .permute = pxi_permute_nothing,
    .elementwise = true,
    .inplace = true,
};

/* --- BitwiseAnd, BitwiseOr, BitwiseXor, BitwiseNot ------------------------------------------- */

static const unsigned bitwise_types = PXI_TYPES_SIGNED | PXI_TYPES_UNSIGNED;

#define BITWISE_KERNELS(op, dtype, T, tag)                  \
    PXI_BINARY_KERNEL(bit_and_##tag, T, T, T, ((T)(a & b))) \
    PXI_BINARY_KERNEL(bit_or_##tag, T, T, T, ((T)(a | b)))  \
    PXI_BINARY_KERNEL(bit_xor_##tag, T, T, T, ((T)(a ^ b)))
PXI_UNSIGNED_TYPES(BITWISE_KERNELS, )
static pxi_binary_fn *const bitwise_kernels[][3] = {
    /* and, or, xor; by bytes */
    [1] = {bit_and_u8, bit_or_u8, bit_xor_u8},
    [2] = {bit_and_u16, bit_or_u16, bit_xor_u16},
    [4] = {bit_and_u32, bit_or_u32, bit_xor_u32},
    [8] = {bit_and_u64, bit_or_u64, bit_xor_u64},
};

static px_status bitwise_setup(px_op_ctx *ctx, px_error *err)
{
    return pxi_binary_setup(ctx, bitwise_types, /* old= */ false, err);
}

#define BITWISE(op, NAME, index)                                                         \
    static px_status bitwise##op##_forward(const px_op_ctx *ctx, px_error *err)          \
    {                                                                                    \
        (void)err;                                                                       \
        pxi_binary_forward(ctx, bitwise_kernels[px_dtype_size(ctx->in[0].dtype)][index], \
                           ctx->in[0].data, ctx->in[1].data);                            \
        return PX_OK;                                                                    \
    }                                                                                    \
    const px_op px_op_bitwise##op##_18 = {                                               \
        .name = NAME,                                                                    \
        .since = 18,                                                                     \
        .diff = PX_DIFF_ZERO,                                                            \
        .setup = bitwise_setup,                                                          \
        .forward = bitwise##op##_forward,                                                \
        .permute = pxi_permute_nothing,                                                  \
        .elementwise = true,                                                             \
        .inplace = true,                                                                 \
    };

BITWISE(and, "BitwiseAnd", 0)
BITWISE(or, "BitwiseOr", 1)
BITWISE(xor, "BitwiseXor", 2)

static px_status bitwisenot_setup(px_op_ctx *ctx, px_error *err)
{
    PX_TRY(pxi_setup_same(ctx, err));
    return pxi_op_type(ctx, 0, bitwise_types, err);
}

static px_status bitwisenot_forward(const px_op_ctx *ctx, px_error *err)
{
    const size_t bytes = px_tensor_bytes(&ctx->in[0]);
    const uint8_t *x = ctx->in[0].data;
    uint8_t *y = ctx->out[0].data;
    (void)err;
    for (size_t i = 0; i < bytes; i++)
        y[i] = (uint8_t)~x[i];
    return PX_OK;
}

const px_op px_op_bitwisenot_18 = {
    .name = "BitwiseNot",
    .since = 18,
    .diff = PX_DIFF_ZERO,
    .setup = bitwisenot_setup,
    .forward = bitwisenot_forward,
    .permute = pxi_permute_nothing,
    .elementwise = true,
    .inplace = true,
};

/* --- IsNaN, IsInf: floats to bool ------------------------------------------------------------ */

typedef struct isinf_params {
    bool positive, negative;
} isinf_params;

static px_status isnan_setup(px_op_ctx *ctx, px_error *err)
{
    PX_TRY(pxi_setup_same(ctx, err));
    PX_TRY(pxi_op_type(ctx, 0, PXI_TYPES_REAL, err));
    ctx->out[0].dtype = PX_BOOL;
    return PX_OK;
}

static px_status isinf_setup(px_op_ctx *ctx, px_error *err)
{
    PX_TRY(isnan_setup(ctx, err));
    PX_TRY(pxi_op_params(ctx, sizeof(isinf_params), err));
    *(isinf_params *)ctx->params =
        (isinf_params){.positive = px_node_int(ctx->node, "detect_positive", 1) != 0,
                       .negative = px_node_int(ctx->node, "detect_negative", 1) != 0};
    return PX_OK;
}

#define TEST_LOOPS(op, dtype, T, tag)                                                             \
    static void isnan_##tag(const T *x, uint8_t *y, size_t count)                                 \
    {                                                                                             \
        for (size_t i = 0; i < count; i++)                                                        \
            y[i] = x[i] != x[i];                                                                  \
    }                                                                                             \
    static void isinf_##tag(const T *x, uint8_t *y, size_t count, const isinf_params *p)          \
    {                                                                                             \
        for (size_t i = 0; i < count; i++)                                                        \
            y[i] = (p->positive && x[i] == (T)INFINITY) || (p->negative && x[i] == -(T)INFINITY); \
    }
PXI_REAL_TYPES(TEST_LOOPS, )

static px_status isnan_forward(const px_op_ctx *ctx, px_error *err)
{
    (void)err;
    const size_t count = (size_t)px_shape_count(&ctx->in[0].shape);
    if (ctx->in[0].dtype == PX_FLOAT64)
        isnan_f64(ctx->in[0].data, ctx->out[0].data, count);
    else
        isnan_f32(ctx->in[0].data, ctx->out[0].data, count);
    return PX_OK;
}

static px_status isinf_forward(const px_op_ctx *ctx, px_error *err)
{
    (void)err;
    const size_t count = (size_t)px_shape_count(&ctx->in[0].shape);
    if (ctx->in[0].dtype == PX_FLOAT64)
        isinf_f64(ctx->in[0].data, ctx->out[0].data, count, ctx->params);
    else
        isinf_f32(ctx->in[0].data, ctx->out[0].data, count, ctx->params);
    return PX_OK;
}

const px_op px_op_isnan_9 = {
    .name = "IsNaN",
    .since = 9,
    .diff = PX_DIFF_ZERO,
    .setup = isnan_setup,
    .forward = isnan_forward,
    .permute = pxi_permute_nothing,
    .elementwise = true,
};

const px_op px_op_isinf_10 = {
    .name = "IsInf",
    .since = 10,
    .diff = PX_DIFF_ZERO,
    .setup = isinf_setup,
    .forward = isinf_forward,
    .permute = pxi_permute_nothing,
    .elementwise = true,
};
