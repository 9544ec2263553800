/* src/ops/where.c - Where: y = condition ? x : y, all three broadcasting
 *
 * Elements are copied by their width, whatever their type. The side that was not chosen gets no
 * gradient, not even NaN from an infinite one.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#include "ops/broadcast.h"

/* The condition is operand 0, the sides are 1 and 2. */
#define WHERE_KERNEL(T)                                                                            \
    static void where_##T(const pxi_broadcast *w, const uint8_t *c, const T *a, const T *b, T *y)  \
    {                                                                                              \
        const size_t cs = w->column_stride[0], as = w->column_stride[1], bs = w->column_stride[2]; \
        for (size_t r = 0; r < w->rows; r++) {                                                     \
            if (cs && as && bs)                                                                    \
                for (size_t i = 0; i < w->columns; i++)                                            \
                    y[i] = c[i] ? a[i] : b[i];                                                     \
            else                                                                                   \
                for (size_t i = 0; i < w->columns; i++)                                            \
                    y[i] = c[i * cs] ? a[i * as] : b[i * bs];                                      \
            c += w->row_stride[0], a += w->row_stride[1], b += w->row_stride[2];                   \
            y += w->columns;                                                                       \
        }                                                                                          \
    }
WHERE_KERNEL(uint8_t)
WHERE_KERNEL(uint16_t)
WHERE_KERNEL(uint32_t)
WHERE_KERNEL(uint64_t)

static px_status where_setup(px_op_ctx *ctx, px_error *err)
{
    PX_TRY(pxi_op_arity(ctx, 3, 3, 1, 1, err));
    PX_TRY(pxi_op_type(ctx, 0, PXI_TYPES_BOOL, err));
    PX_TRY(pxi_op_type(ctx, 1, PXI_TYPES_ANY, err));
    if (ctx->in[2].dtype != ctx->in[1].dtype)
        return pxi_op_fail(ctx, err, PX_E_INPUT,
                           "its inputs 1 and 2 are %s and %s, expected one type",
                           px_dtype_name(ctx->in[1].dtype), px_dtype_name(ctx->in[2].dtype));
    px_shape shape;
    PX_TRY(pxi_op_broadcast(ctx, &ctx->in[1].shape, &ctx->in[2].shape, &shape, err));
    PX_TRY(pxi_op_broadcast(ctx, &ctx->in[0].shape, &shape, &ctx->out[0].shape, err));
    ctx->out[0].dtype = ctx->in[1].dtype;
    return PX_OK;
}

static px_status where_forward(const px_op_ctx *ctx, px_error *err)
{
    (void)err;
    const px_shape *shapes[] = {&ctx->in[0].shape, &ctx->in[1].shape, &ctx->in[2].shape};
    const uint8_t *condition = ctx->in[0].data;
    const void *a = ctx->in[1].data, *b = ctx->in[2].data;
    void *y = ctx->out[0].data;
    pxi_broadcast w;
    for (bool more = pxi_broadcast_start(&w, &ctx->out[0].shape, 3, shapes); more;
         more = pxi_broadcast_next(&w)) {
        const uint8_t *c = condition + w.at[0];
#define WHERE_RUN(T) \
    where_##T(&w, c, (const T *)a + w.at[1], (const T *)b + w.at[2], (T *)y + w.out)
        switch (px_dtype_size(ctx->out[0].dtype)) {
        case 1:
            WHERE_RUN(uint8_t);
            break;
        case 2:
            WHERE_RUN(uint16_t);
            break;
        case 4:
            WHERE_RUN(uint32_t);
            break;
        default:
            WHERE_RUN(uint64_t);
            break;
        }
    }
    return PX_OK;
}

#define WHERE_GRADIENTS(op, dtype, T, tag)                        \
    PXI_GRADIENT_KERNEL(where_then_##tag, T, uint8_t, b ? dy : 0) \
    PXI_GRADIENT_KERNEL(where_else_##tag, T, uint8_t, b ? 0 : dy)
PXI_REAL_TYPES(WHERE_GRADIENTS, )

static void where_backward(const px_op_ctx *ctx)
{
    const px_dtype dtype = ctx->out[0].dtype;
    if (!ctx->out_grad[0].data || !pxi_type_in(dtype, PXI_TYPES_REAL))
        return;
    for (int side = 1; side <= 2; side++) {
        if (!pxi_op_wants_grad(ctx, side))
            continue;
        pxi_gradient_fn *wide = side == 1 ? where_then_f64 : where_else_f64;
        pxi_gradient_fn *real = side == 1 ? where_then_f32 : where_else_f32;
        const px_shape *shapes[] = {&ctx->in[side].shape, &ctx->in[0].shape};
        pxi_broadcast w;
        for (bool more = pxi_broadcast_start(&w, &ctx->out[0].shape, 2, shapes); more;
             more = pxi_broadcast_next(&w))
            (dtype == PX_FLOAT64 ? wide : real)(&w, ctx->in[side].data, ctx->in[0].data,
                                                ctx->out[0].data, ctx->out_grad[0].data,
                                                ctx->in_grad[side].data);
    }
}

const px_op px_op_where_9 = {
    .name = "Where",
    .since = 9,
    .diff = PX_DIFF_YES,
    .setup = where_setup,
    .forward = where_forward,
    .backward = where_backward,
    .permute = pxi_permute_nothing,
    .elementwise = true,
};
