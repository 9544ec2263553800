/* src/ops/compare.c - Equal, Greater, Less, GreaterOrEqual, LessOrEqual with broadcasting
 *
 * Comparisons with NaN are false, as IEEE 754 has it. Nothing flows back.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#include "ops/broadcast.h"

#define COMPARE_EQUAL(op, dtype, T, tag) PXI_BINARY_KERNEL(op##_##tag, T, T, uint8_t, a == b)
#define COMPARE_GREATER(op, dtype, T, tag) PXI_BINARY_KERNEL(op##_##tag, T, T, uint8_t, a > b)
#define COMPARE_LESS(op, dtype, T, tag) PXI_BINARY_KERNEL(op##_##tag, T, T, uint8_t, a < b)
#define COMPARE_GREATER_EQUAL(op, dtype, T, tag) \
    PXI_BINARY_KERNEL(op##_##tag, T, T, uint8_t, a >= b)
#define COMPARE_LESS_EQUAL(op, dtype, T, tag) PXI_BINARY_KERNEL(op##_##tag, T, T, uint8_t, a <= b)

static px_status compare_setup(px_op_ctx *ctx, unsigned types, bool old, px_error *err)
{
    PX_TRY(pxi_binary_setup(ctx, types, old, err));
    ctx->out[0].dtype = PX_BOOL;
    return PX_OK;
}

/* Kernels, setup() and forward() of one comparison; ENTRIES adds to its kernel table. */
#define COMPARE(op, KERNEL, TYPES, ...)                                                            \
    PXI_NUMBER_TYPES(KERNEL, op)                                                                   \
    static pxi_binary_fn *const op##_kernels[] = {PXI_NUMBER_TYPES(PXI_KERNEL_ENTRY, op)           \
                                                      __VA_ARGS__};                                \
    static px_status op##_setup(px_op_ctx *ctx, px_error *err)                                     \
    {                                                                                              \
        return compare_setup(ctx, TYPES, /* old= */ false, err);                                   \
    }                                                                                              \
    static px_status op##_forward(const px_op_ctx *ctx, px_error *err)                             \
    {                                                                                              \
        (void)err;                                                                                 \
        pxi_binary_forward(ctx, op##_kernels[ctx->in[0].dtype], ctx->in[0].data, ctx->in[1].data); \
        return PX_OK;                                                                              \
    }
#define COMPARE_DESCRIPTOR(op, NAME, SINCE) \
    const px_op px_op_##op##_##SINCE = {    \
        .name = NAME,                       \
        .since = SINCE,                     \
        .diff = PX_DIFF_ZERO,               \
        .setup = op##_setup,                \
        .forward = op##_forward,            \
        .permute = pxi_permute_nothing,     \
        .elementwise = true,                \
        .inplace = true,                    \
    };
#define COMPARE_DESCRIPTOR_OLD(op, NAME, TYPES)                    \
    static px_status op##_setup_old(px_op_ctx *ctx, px_error *err) \
    {                                                              \
        return compare_setup(ctx, TYPES, /* old= */ true, err);    \
    }                                                              \
    const px_op px_op_##op##_1 = {                                 \
        .name = NAME,                                              \
        .since = 1,                                                \
        .diff = PX_DIFF_ZERO,                                      \
        .setup = op##_setup_old,                                   \
        .forward = op##_forward,                                   \
        .inplace = true,                                           \
    };

PXI_BINARY_KERNEL(equal_bool, uint8_t, uint8_t, uint8_t, (a != 0) == (b != 0))
COMPARE(equal, COMPARE_EQUAL, PXI_TYPES_ANY, [PX_BOOL] = equal_bool)
COMPARE(greater, COMPARE_GREATER, PXI_TYPES_NUMBER)
COMPARE(less, COMPARE_LESS, PXI_TYPES_NUMBER)
COMPARE(greaterorequal, COMPARE_GREATER_EQUAL, PXI_TYPES_NUMBER)
COMPARE(lessorequal, COMPARE_LESS_EQUAL, PXI_TYPES_NUMBER)

COMPARE_DESCRIPTOR_OLD(equal, "Equal", PXI_TYPES_ANY)
COMPARE_DESCRIPTOR_OLD(greater, "Greater", PXI_TYPES_NUMBER)
COMPARE_DESCRIPTOR_OLD(less, "Less", PXI_TYPES_NUMBER)
COMPARE_DESCRIPTOR(equal, "Equal", 7)
COMPARE_DESCRIPTOR(greater, "Greater", 7)
COMPARE_DESCRIPTOR(less, "Less", 7)
COMPARE_DESCRIPTOR(greaterorequal, "GreaterOrEqual", 12)
COMPARE_DESCRIPTOR(lessorequal, "LessOrEqual", 12)
