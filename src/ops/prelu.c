/* src/ops/prelu.c - PRelu: y = x < 0 ? slope x : x, where slope broadcasts to x
 *
 * Before opset 7 a slope of C elements lies along axis 1. At x = 0 the gradient is slope's, as in
 * PyTorch; NaN goes through.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#include "ops/broadcast.h"

#define PRELU_SIGNED(op, dtype, T, tag) \
    PXI_BINARY_KERNEL(prelu_##tag, T, T, T, a < 0 ? PXI_INT_MUL(T, a, b) : a)
#define PRELU_UNSIGNED(op, dtype, T, tag) PXI_BINARY_KERNEL(prelu_##tag, T, T, T, a)
#define PRELU_REAL(op, dtype, T, tag)                              \
    PXI_BINARY_KERNEL(prelu_##tag, T, T, T, a < 0 ? a * b : a)     \
    PXI_GRADIENT_KERNEL(prelu_dx_##tag, T, T, a > 0 ? dy : dy * b) \
    PXI_GRADIENT_KERNEL(prelu_dslope_##tag, T, T, b > 0 ? 0 : dy * b)
PXI_SIGNED_TYPES(PRELU_SIGNED, )
PXI_UNSIGNED_TYPES(PRELU_UNSIGNED, )
PXI_REAL_TYPES(PRELU_REAL, )
static pxi_binary_fn *const prelu_kernels[] = {PXI_NUMBER_TYPES(PXI_KERNEL_ENTRY, prelu)};

static px_status prelu_setup(px_op_ctx *ctx, px_error *err)
{
    PX_TRY(pxi_binary_setup(ctx, PXI_TYPES_NUMBER, /* old= */ false, err));
    if (!px_shape_equal(&ctx->out[0].shape, &ctx->in[0].shape)) {
        char x[PX_SHAPE_TEXT], slope[PX_SHAPE_TEXT];
        return pxi_op_fail(ctx, err, PX_E_MISMATCH, "a slope of shape %s does not broadcast to %s",
                           px_shape_text(&ctx->in[1].shape, slope),
                           px_shape_text(&ctx->in[0].shape, x));
    }
    return PX_OK;
}

static px_status prelu_setup_old(px_op_ctx *ctx, px_error *err)
{
    if (ctx->in_count < 2 || px_shape_count(&ctx->in[1].shape) == 1 || ctx->in[1].shape.rank != 1 ||
        ctx->in[0].shape.rank < 2)
        return prelu_setup(ctx, err);
    PX_TRY(pxi_op_arity(ctx, 2, 2, 1, 1, err));
    PX_TRY(pxi_op_type(ctx, 0, PXI_TYPES_NUMBER, err));
    PX_TRY(pxi_op_type_as_first(ctx, 1, err));
    ctx->out[0].dtype = ctx->in[0].dtype;
    PX_TRY(pxi_op_params(ctx, sizeof(pxi_binary_params), err));
    return pxi_binary_align(ctx, 1, err);
}

static px_status prelu_forward(const px_op_ctx *ctx, px_error *err)
{
    (void)err;
    pxi_binary_forward(ctx, prelu_kernels[ctx->in[0].dtype], ctx->in[0].data, ctx->in[1].data);
    return PX_OK;
}

static void prelu_backward(const px_op_ctx *ctx)
{
    const void *x = ctx->in[0].data, *slope = ctx->in[1].data;
    if (ctx->in[0].dtype == PX_FLOAT64)
        pxi_binary_backward(ctx, prelu_dx_f64, prelu_dslope_f64, x, slope);
    else if (ctx->in[0].dtype == PX_FLOAT32)
        pxi_binary_backward(ctx, prelu_dx_f32, prelu_dslope_f32, x, slope);
}

const px_op px_op_prelu_1 = {
    .name = "PRelu",
    .since = 1,
    .diff = PX_DIFF_YES,
    .setup = prelu_setup_old,
    .forward = prelu_forward,
    .backward = prelu_backward,
    .inplace = true,
};

const px_op px_op_prelu_7 = {
    .name = "PRelu",
    .since = 7,
    .diff = PX_DIFF_YES,
    .setup = prelu_setup,
    .forward = prelu_forward,
    .backward = prelu_backward,
    .permute = pxi_permute_nothing,
    .elementwise = true,
    .inplace = true,
};
