/* src/ops/variadic.c - Min, Max, Sum, Mean of any number of inputs with broadcasting
 *
 * The first two inputs are combined, then each further one with the result so far. NaN wins in Min
 * and Max. Where several inputs share the extreme value, they share its gradient evenly, which for
 * two is PyTorch's rule; a NaN passes no gradient.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#include "ops/broadcast.h"

#include <internal/tensor.h>
#include <string.h>

#define MAX_INT(op, dtype, T, tag) PXI_BINARY_KERNEL(max_##tag, T, T, T, a > b ? a : b)
#define MIN_INT(op, dtype, T, tag) PXI_BINARY_KERNEL(min_##tag, T, T, T, a < b ? a : b)
#define EXTREME_REAL(op, dtype, T, tag)                                      \
    PXI_BINARY_KERNEL(max_##tag, T, T, T, a > b || a != a ? a : b)           \
    PXI_BINARY_KERNEL(min_##tag, T, T, T, a < b || a != a ? a : b)           \
    PXI_BINARY_KERNEL(extreme_ties_##tag, T, T, T, ys[i] + (a == b ? 1 : 0)) \
    PXI_GRADIENT_KERNEL(extreme_grad_##tag, T, T, a == y ? dy / b : 0)
#define SUM_REAL(op, dtype, T, tag)              \
    PXI_BINARY_KERNEL(sum_##tag, T, T, T, a + b) \
    PXI_GRADIENT_KERNEL(mean_grad_##tag, T, T, dy / b)
PXI_INT_TYPES(MAX_INT, )
PXI_INT_TYPES(MIN_INT, )
PXI_REAL_TYPES(EXTREME_REAL, )
PXI_REAL_TYPES(SUM_REAL, )
static pxi_binary_fn *const max_kernels[] = {PXI_NUMBER_TYPES(PXI_KERNEL_ENTRY, max)};
static pxi_binary_fn *const min_kernels[] = {PXI_NUMBER_TYPES(PXI_KERNEL_ENTRY, min)};
static pxi_binary_fn *const sum_kernels[] = {PXI_REAL_TYPES(PXI_KERNEL_ENTRY, sum)};

static const px_shape scalar_shape = {0};

static px_status variadic_setup(px_op_ctx *ctx, unsigned types, px_error *err)
{
    PX_TRY(pxi_op_arity(ctx, 1, INT32_MAX, 1, 1, err));
    PX_TRY(pxi_op_type(ctx, 0, types, err));
    px_shape shape = ctx->in[0].shape;
    for (int i = 1; i < ctx->in_count; i++) {
        if (!pxi_op_has_in(ctx, i))
            return pxi_op_fail(ctx, err, PX_E_INPUT, "lacks its input %d", i);
        PX_TRY(pxi_op_type_as_first(ctx, i, err));
        PX_TRY(pxi_op_broadcast(ctx, &shape, &ctx->in[i].shape, &shape, err));
    }
    ctx->out[0].dtype = ctx->in[0].dtype;
    ctx->out[0].shape = shape;
    return PX_OK;
}

static px_status sum_setup(px_op_ctx *ctx, px_error *err)
{
    return variadic_setup(ctx, PXI_TYPES_REAL, err);
}

static px_status extreme_setup(px_op_ctx *ctx, px_error *err)
{
    PX_TRY(variadic_setup(ctx, PXI_TYPES_NUMBER, err));
    PX_TRY(px_shape_check(&ctx->out[0].shape, err));
    if (pxi_type_in(ctx->in[0].dtype, PXI_TYPES_REAL)) /* how many inputs share the value */
        ctx->scratch_bytes =
            (size_t)px_shape_count(&ctx->out[0].shape) * px_dtype_size(ctx->in[0].dtype);
    return PX_OK;
}

static void variadic_pair(const px_op_ctx *ctx, pxi_binary_fn *kernel, const px_tensor *a,
                          const px_tensor *b)
{
    pxi_broadcast w;
    const px_shape *shapes[] = {&a->shape, &b->shape};
    for (bool more = pxi_broadcast_start(&w, &ctx->out[0].shape, 2, shapes); more;
         more = pxi_broadcast_next(&w))
        kernel(&w, a->data, b->data, ctx->out[0].data);
}

static px_status variadic_forward(const px_op_ctx *ctx, pxi_binary_fn *kernel)
{
    if (ctx->in_count == 1) {
        if (ctx->out[0].data != ctx->in[0].data)
            memcpy(ctx->out[0].data, ctx->in[0].data, px_tensor_bytes(&ctx->out[0]));
        return PX_OK;
    }
    variadic_pair(ctx, kernel, &ctx->in[0], &ctx->in[1]);
    for (int i = 2; i < ctx->in_count; i++)
        variadic_pair(ctx, kernel, &ctx->out[0], &ctx->in[i]);
    return PX_OK;
}

static px_status max_forward(const px_op_ctx *ctx, px_error *err)
{
    (void)err;
    return variadic_forward(ctx, max_kernels[ctx->in[0].dtype]);
}

static px_status min_forward(const px_op_ctx *ctx, px_error *err)
{
    (void)err;
    return variadic_forward(ctx, min_kernels[ctx->in[0].dtype]);
}

static px_status sum_forward(const px_op_ctx *ctx, px_error *err)
{
    (void)err;
    return variadic_forward(ctx, sum_kernels[ctx->in[0].dtype]);
}

static px_status mean_forward(const px_op_ctx *ctx, px_error *err)
{
    PX_TRY(sum_forward(ctx, err));
    const size_t count = (size_t)px_shape_count(&ctx->out[0].shape);
    if (ctx->out[0].dtype == PX_FLOAT64) {
        double *y = ctx->out[0].data;
        for (size_t i = 0; i < count; i++)
            y[i] /= (double)ctx->in_count;
    } else {
        px_real *y = ctx->out[0].data;
        for (size_t i = 0; i < count; i++)
            y[i] /= (px_real)ctx->in_count;
    }
    return PX_OK;
}

/* Every wanted gradient, with a second operand `b` that is shaped like the output or a scalar. */
static void variadic_backward(const px_op_ctx *ctx, pxi_gradient_fn *kernel, const void *b,
                              const px_shape *b_shape)
{
    for (int k = 0; k < ctx->in_count; k++) {
        if (!pxi_op_wants_grad(ctx, k))
            continue;
        pxi_broadcast w;
        const px_shape *shapes[] = {&ctx->in[k].shape, b_shape};
        for (bool more = pxi_broadcast_start(&w, &ctx->out[0].shape, 2, shapes); more;
             more = pxi_broadcast_next(&w))
            kernel(&w, ctx->in[k].data, b, ctx->out[0].data, ctx->out_grad[0].data,
                   ctx->in_grad[k].data);
    }
}

static void shares_backward(const px_op_ctx *ctx, int shares)
{
    const double wide = shares;
    const px_real real = (px_real)shares;
    if (!ctx->out_grad[0].data)
        return;
    if (ctx->in[0].dtype == PX_FLOAT64)
        variadic_backward(ctx, mean_grad_f64, &wide, &scalar_shape);
    else
        variadic_backward(ctx, mean_grad_f32, &real, &scalar_shape);
}

static void sum_backward(const px_op_ctx *ctx)
{
    shares_backward(ctx, 1);
}

static void mean_backward(const px_op_ctx *ctx)
{
    shares_backward(ctx, ctx->in_count);
}

static void extreme_backward(const px_op_ctx *ctx)
{
    if (!ctx->out_grad[0].data || !pxi_type_in(ctx->in[0].dtype, PXI_TYPES_REAL))
        return;
    const bool wide = ctx->in[0].dtype == PX_FLOAT64;
    const px_shape *out = &ctx->out[0].shape;
    memset(ctx->scratch, 0, px_tensor_bytes(&ctx->out[0])); /* all bits 0 is 0.0 */
    for (int k = 0; k < ctx->in_count; k++) {
        pxi_broadcast w;
        const px_shape *shapes[] = {&ctx->in[k].shape, out};
        for (bool more = pxi_broadcast_start(&w, out, 2, shapes); more;
             more = pxi_broadcast_next(&w))
            (wide ? extreme_ties_f64 : extreme_ties_f32)(&w, ctx->in[k].data, ctx->out[0].data,
                                                         ctx->scratch);
    }
    variadic_backward(ctx, wide ? extreme_grad_f64 : extreme_grad_f32, ctx->scratch, out);
}

#define VARIADIC(id, NAME, SETUP, FORWARD, BACKWARD) \
    const px_op px_op_##id = {                       \
        .name = NAME,                                \
        .since = 1,                                  \
        .diff = PX_DIFF_YES,                         \
        .setup = SETUP,                              \
        .forward = FORWARD,                          \
        .backward = BACKWARD,                        \
        .permute = pxi_permute_nothing,              \
        .elementwise = true,                         \
        .inplace = true,                             \
    };
VARIADIC(max_1, "Max", extreme_setup, max_forward, extreme_backward)
VARIADIC(min_1, "Min", extreme_setup, min_forward, extreme_backward)
VARIADIC(sum_1, "Sum", sum_setup, sum_forward, sum_backward)
VARIADIC(mean_1, "Mean", sum_setup, mean_forward, mean_backward)
