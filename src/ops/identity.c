/* src/ops/identity.c - Identity, and Dropout, which is one when a network is not being trained
 *
 * Dropout's old `is_test` = 0 is not obeyed: files of that age have it by default and mean
 * inference. A training_mode input that is true is refused unless the ratio is 0. The optional mask
 * is all true; before opset 10 it has the data's type. A plan that uses only output 0 makes it an
 * alias.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#include "ops/op_types.h"

#include <string.h>

static void identity_copy(const px_op_ctx *ctx)
{
    if (ctx->out[0].data != ctx->in[0].data)
        memcpy(ctx->out[0].data, ctx->in[0].data, px_tensor_bytes(&ctx->out[0]));
}

static px_status identity_setup(px_op_ctx *ctx, px_error *err)
{
    PX_TRY(pxi_setup_same(ctx, err));
    return pxi_op_type(ctx, 0, PXI_TYPES_ANY, err);
}

static px_status identity_forward(const px_op_ctx *ctx, px_error *err)
{
    (void)err;
    identity_copy(ctx);
    return PX_OK;
}

#define IDENTITY_ADD(op, dtype, T, tag)                                    \
    static void identity_add_##tag(T *dx, const T *dy, size_t n)           \
    {                                                                      \
        _Pragma("omp simd") for (size_t i = 0; i < n; i++) dx[i] += dy[i]; \
    }
PXI_REAL_TYPES(IDENTITY_ADD, )

static void identity_backward(const px_op_ctx *ctx)
{
    if (!pxi_op_wants_grad(ctx, 0) || !ctx->out_grad[0].data)
        return;
    const size_t count = (size_t)px_shape_count(&ctx->out[0].shape);
    if (ctx->in[0].dtype == PX_FLOAT64)
        identity_add_f64(ctx->in_grad[0].data, ctx->out_grad[0].data, count);
    else if (ctx->in[0].dtype == PX_FLOAT32)
        identity_add_f32(ctx->in_grad[0].data, ctx->out_grad[0].data, count);
}

const px_op px_op_identity_1 = {
    .name = "Identity",
    .since = 1,
    .diff = PX_DIFF_YES,
    .setup = identity_setup,
    .forward = identity_forward,
    .backward = identity_backward,
    .permute = pxi_permute_nothing,
    .view = true,
    .elementwise = true,
    .inplace = true,
};

/* --- Dropout --------------------------------------------------------------------------------- */

static px_status dropout_setup_common(px_op_ctx *ctx, int max_in, px_error *err)
{
    PX_TRY(pxi_op_arity(ctx, 1, max_in, 1, 2, err));
    PX_TRY(pxi_op_type(ctx, 0, PXI_TYPES_REAL, err));
    ctx->out[0].dtype = ctx->in[0].dtype;
    ctx->out[0].shape = ctx->in[0].shape;
    if (ctx->out_count > 1) {
        ctx->out[1].dtype = ctx->node->opset < 10 ? ctx->in[0].dtype : PX_BOOL;
        ctx->out[1].shape = ctx->in[0].shape;
    }
    return PX_OK;
}

static px_status dropout_setup_attrs(px_op_ctx *ctx, px_error *err)
{
    return dropout_setup_common(ctx, 1, err);
}

static bool dropout_ratio_is_zero(const px_op_ctx *ctx)
{
    const px_tensor *ratio = pxi_op_has_in(ctx, 1) ? &ctx->in[1] : NULL;
    if (!ratio || !ratio->data || px_shape_count(&ratio->shape) != 1)
        return false;
    return ratio->dtype == PX_FLOAT64   ? *(const double *)ratio->data == 0
           : ratio->dtype == PX_FLOAT32 ? *(const px_real *)ratio->data == 0
                                        : false;
}

static px_status dropout_setup(px_op_ctx *ctx, px_error *err)
{
    PX_TRY(dropout_setup_common(ctx, 3, err));
    if (!pxi_op_has_in(ctx, 2))
        return PX_OK;
    const px_tensor *training = &ctx->in[2];
    if (training->dtype != PX_BOOL || px_shape_count(&training->shape) != 1)
        return pxi_op_fail(ctx, err, PX_E_INPUT, "its training_mode is not one bool");
    if (!training->data)
        return pxi_op_fail(ctx, err, PX_E_UNSUPPORTED,
                           "a training_mode that is not constant is not supported; export the "
                           "network for inference");
    if (*(const uint8_t *)training->data != 0 && !dropout_ratio_is_zero(ctx))
        return pxi_op_fail(ctx, err, PX_E_UNSUPPORTED,
                           "training mode is not supported; export the network for inference");
    return PX_OK;
}

static px_status dropout_forward(const px_op_ctx *ctx, px_error *err)
{
    (void)err;
    identity_copy(ctx);
    if (ctx->out_count < 2 || !ctx->out[1].data)
        return PX_OK;
    const size_t count = (size_t)px_shape_count(&ctx->out[1].shape);
    switch (ctx->out[1].dtype) {
    case PX_FLOAT32:
        for (size_t i = 0; i < count; i++)
            ((px_real *)ctx->out[1].data)[i] = 1;
        break;
    case PX_FLOAT64:
        for (size_t i = 0; i < count; i++)
            ((double *)ctx->out[1].data)[i] = 1;
        break;
    default:
        memset(ctx->out[1].data, 1, count);
        break;
    }
    return PX_OK;
}

#define DROPOUT(SINCE, SETUP)             \
    const px_op px_op_dropout_##SINCE = { \
        .name = "Dropout",                \
        .since = SINCE,                   \
        .diff = PX_DIFF_YES,              \
        .setup = SETUP,                   \
        .forward = dropout_forward,       \
        .backward = identity_backward,    \
        .permute = pxi_permute_nothing,   \
        .view = true,                     \
        .elementwise = true,              \
        .inplace = true,                  \
    };
DROPOUT(1, dropout_setup_attrs)
DROPOUT(12, dropout_setup)
