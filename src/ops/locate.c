/* src/ops/locate.c - where index tensors point */
/* SPDX-License-Identifier: Apache-2.0 */
#include "ops/locate.h"

px_status pxi_op_wrap_index(const px_op_ctx *ctx, int64_t index, int64_t extent, int64_t position,
                            int64_t *out, px_error *err)
{
    if (index < -extent || index >= extent)
        return pxi_op_fail(ctx, err, PX_E_INPUT,
                           "its index %lld (at position %lld) is outside an axis of extent %lld",
                           (long long)index, (long long)position, (long long)extent);
    *out = index < 0 ? index + extent : index;
    return PX_OK;
}

px_status pxi_locate_check_elements(const px_op_ctx *ctx, int *axis, px_error *err)
{
    const px_shape *data = &ctx->in[0].shape, *indices = &ctx->in[1].shape;
    PX_TRY(pxi_op_need_index(ctx, 1, err));
    PX_TRY(pxi_op_axis(ctx, px_node_int(ctx->node, "axis", 0), data->rank, axis, err));
    bool fits = data->rank == indices->rank;
    for (int i = 0; fits && i < data->rank; i++)
        fits = i == *axis || indices->dim[i] <= data->dim[i];
    if (!fits) {
        char a[PX_SHAPE_TEXT], b[PX_SHAPE_TEXT];
        return pxi_op_fail(ctx, err, PX_E_MISMATCH, "indices %s do not fit data %s on axis %d",
                           px_shape_text(indices, a), px_shape_text(data, b), *axis);
    }
    return PX_OK;
}

px_status pxi_locate_check_tuples(const px_op_ctx *ctx, int batch, px_error *err)
{
    const px_shape *data = &ctx->in[0].shape, *indices = &ctx->in[1].shape;
    PX_TRY(pxi_op_need_index(ctx, 1, err));
    bool fits = batch >= 0 && indices->rank > batch && data->rank > batch;
    for (int i = 0; fits && i < batch; i++)
        fits = data->dim[i] == indices->dim[i];
    if (fits) {
        const int64_t depth = indices->dim[indices->rank - 1];
        fits = depth >= 1 && depth <= data->rank - batch;
    }
    if (!fits) {
        char a[PX_SHAPE_TEXT], b[PX_SHAPE_TEXT];
        return pxi_op_fail(ctx, err, PX_E_MISMATCH,
                           "indices %s do not fit data %s with %d batch axes",
                           px_shape_text(indices, a), px_shape_text(data, b), batch);
    }
    return PX_OK;
}

static void locate_init(pxi_locator *loc, const px_op_ctx *ctx)
{
    *loc = (pxi_locator){.ctx = ctx, .indices = &ctx->in[1], .data = ctx->in[0].shape, .slice = 1};
    pxi_strides(&loc->data, loc->stride);
}

void pxi_locate_elements(pxi_locator *loc, const px_op_ctx *ctx, int axis)
{
    locate_init(loc, ctx);
    loc->axis = axis;
    loc->count = px_shape_count(&ctx->in[1].shape);
}

void pxi_locate_tuples(pxi_locator *loc, const px_op_ctx *ctx, int batch)
{
    const px_shape *indices = &ctx->in[1].shape;
    locate_init(loc, ctx);
    loc->tuples = true;
    loc->batch = batch;
    loc->depth = (int)indices->dim[indices->rank - 1];
    loc->per_batch = 1;
    loc->count = 1;
    for (int i = 0; i < indices->rank - 1; i++) {
        loc->count *= indices->dim[i];
        loc->per_batch *= i < batch ? 1 : indices->dim[i];
    }
    loc->batch_stride = 1;
    for (int i = batch; i < loc->data.rank; i++) {
        loc->batch_stride *= loc->data.dim[i];
        loc->slice *= i < batch + loc->depth ? 1 : loc->data.dim[i];
    }
}

static px_status locate_element(pxi_locator *loc, int64_t *place, px_error *err)
{
    const px_shape *shape = &loc->indices->shape;
    int64_t index = 0, at = 0;
    PX_TRY(pxi_op_wrap_index(loc->ctx, pxi_index(loc->indices, loc->next), loc->data.dim[loc->axis],
                             loc->next, &index, err));
    for (int i = 0; i < shape->rank; i++)
        at += (i == loc->axis ? index : loc->position[i]) * loc->stride[i];
    for (int i = shape->rank - 1; i >= 0; i--) {
        if (++loc->position[i] < shape->dim[i])
            break;
        loc->position[i] = 0;
    }
    *place = at;
    return PX_OK;
}

static px_status locate_tuple(pxi_locator *loc, int64_t *place, px_error *err)
{
    int64_t at = loc->next / loc->per_batch * loc->batch_stride;
    for (int i = 0; i < loc->depth; i++) {
        const int64_t position = loc->next * loc->depth + i;
        const int axis = loc->batch + i;
        int64_t index = 0;
        PX_TRY(pxi_op_wrap_index(loc->ctx, pxi_index(loc->indices, position), loc->data.dim[axis],
                                 position, &index, err));
        at += index * loc->stride[axis];
    }
    *place = at;
    return PX_OK;
}

px_status pxi_locate(pxi_locator *loc, int64_t *place, px_error *err)
{
    *place = -1;
    if (loc->next >= loc->count)
        return PX_OK;
    PX_TRY(loc->tuples ? locate_tuple(loc, place, err) : locate_element(loc, place, err));
    loc->next++;
    return PX_OK;
}
