/* src/ops/maxunpool.c - MaxUnpool: maxima back to where MaxPool's indices say they came from
 *
 * Indices count elements of the tensor that kernel, strides and pads imply. An output_shape that
 * is larger adds zeros behind.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#include "ops/nest.h"

#include <internal/tensor.h>
#include <string.h>

typedef struct unpool_params {
    px_shape implied; /* what the indices refer to; this operator has no other layout */
} unpool_params;

static px_status unpool_list(const px_op_ctx *ctx, const char *name, int64_t wanted,
                             const int64_t **values, px_error *err)
{
    int64_t count;
    PX_TRY(pxi_attr_ints(ctx, name, values, &count, err));
    if (count >= 0 && count != wanted)
        return pxi_op_fail(ctx, err, PX_E_INPUT, "'%s' has %lld entries, expected %lld", name,
                           (long long)count, (long long)wanted);
    return PX_OK;
}

static px_status maxunpool_setup(px_op_ctx *ctx, px_error *err)
{
    PX_TRY(pxi_op_arity(ctx, 2, 3, 1, 1, err));
    PX_TRY(pxi_op_type(ctx, 1, PXI_ONLY(PX_INT64), err));
    PX_TRY(pxi_op_params(ctx, sizeof(unpool_params), err));
    unpool_params *params = ctx->params;
    const px_shape *in = &ctx->in[0].shape;
    const int64_t spatial = in->rank - 2, limit = (int64_t)1 << 40;
    if (spatial < 1 || !px_shape_equal(in, &ctx->in[1].shape))
        return pxi_op_fail(ctx, err, PX_E_MISMATCH, "needs pooled values and indices of one shape");
    const int64_t *kernel, *strides, *pads;
    PX_TRY(unpool_list(ctx, "kernel_shape", spatial, &kernel, err));
    PX_TRY(unpool_list(ctx, "strides", spatial, &strides, err));
    PX_TRY(unpool_list(ctx, "pads", 2 * spatial, &pads, err));
    if (!kernel)
        return pxi_op_fail(ctx, err, PX_E_INPUT, "lacks its attribute 'kernel_shape'");
    params->implied = *in;
    for (int64_t i = 0; i < spatial; i++) {
        const int64_t stride = strides ? strides[i] : 1;
        const int64_t before = pads ? pads[i] : 0, after = pads ? pads[i + spatial] : 0;
        int64_t *extent = &params->implied.dim[i + 2];
        if (stride < 1 || stride > limit || kernel[i] < 1 || kernel[i] > limit || before < 0 ||
            before > limit || after < 0 || after > limit ||
            __builtin_mul_overflow(*extent - 1, stride, extent) ||
            __builtin_add_overflow(*extent, kernel[i] - before - after, extent) || *extent < 0)
            return pxi_op_fail(ctx, err, PX_E_INPUT,
                               "its kernel, stride and pads on axis %lld do not fit",
                               (long long)(i + 2));
    }
    PX_TRY(px_shape_check(&params->implied, err));
    px_shape out = params->implied;
    if (pxi_op_has_in(ctx, 2)) {
        const int64_t *wish;
        int64_t count;
        PX_TRY(pxi_op_const_ints(ctx, 2, &wish, &count, err));
        if (count != in->rank)
            return pxi_op_fail(ctx, err, PX_E_INPUT,
                               "its output_shape has %lld entries for rank %d", (long long)count,
                               in->rank);
        for (int i = 0; i < in->rank; i++) {
            if (wish[i] < params->implied.dim[i])
                return pxi_op_fail(ctx, err, PX_E_INPUT,
                                   "its output_shape is smaller than %lld on axis %d",
                                   (long long)params->implied.dim[i], i);
            out.dim[i] = wish[i];
        }
    }
    ctx->out[0].dtype = ctx->in[0].dtype;
    ctx->out[0].shape = out;
    return PX_OK;
}

/* Where implied element `index` lies in the output. */
static int64_t unpool_place(const px_op_ctx *ctx, int64_t index)
{
    const px_shape *implied = &((const unpool_params *)ctx->params)->implied;
    int64_t stride[PX_MAX_RANK], place = 0;
    pxi_strides(&ctx->out[0].shape, stride);
    for (int i = implied->rank - 1; i >= 0; i--) {
        place += index % implied->dim[i] * stride[i];
        index /= implied->dim[i];
    }
    return place;
}

static px_status maxunpool_forward(const px_op_ctx *ctx, px_error *err)
{
    const int64_t room = px_shape_count(&((const unpool_params *)ctx->params)->implied);
    const int64_t count = px_shape_count(&ctx->in[0].shape);
    const size_t element = px_dtype_size(ctx->in[0].dtype);
    memset(ctx->out[0].data, 0, px_tensor_bytes(&ctx->out[0]));
    for (int64_t i = 0; i < count; i++) {
        const int64_t index = PXI_I64(ctx->in[1])[i];
        if (index < 0 || index >= room)
            return pxi_op_fail(ctx, err, PX_E_INPUT,
                               "its index %lld (at position %lld) is outside 0..%lld",
                               (long long)index, (long long)i, (long long)room - 1);
        memcpy((char *)ctx->out[0].data + (size_t)unpool_place(ctx, index) * element,
               (const char *)ctx->in[0].data + (size_t)i * element, element);
    }
    return PX_OK;
}

static void maxunpool_backward(const px_op_ctx *ctx)
{
    if (!pxi_op_wants_grad(ctx, 0) || !ctx->out_grad[0].data)
        return;
    const int64_t count = px_shape_count(&ctx->in[0].shape);
    for (int64_t i = 0; i < count; i++)
        PXI_F32(ctx->in_grad[0])
    [i] += PXI_F32(ctx->out_grad[0])[unpool_place(ctx, PXI_I64(ctx->in[1])[i])];
}

const px_op px_op_maxunpool_9 = {
    .name = "MaxUnpool",
    .since = 9,
    .diff = PX_DIFF_YES,
    .setup = maxunpool_setup,
    .forward = maxunpool_forward,
    .backward = maxunpool_backward,
};
