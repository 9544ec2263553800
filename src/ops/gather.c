/* src/ops/gather.c - Gather, GatherElements, GatherND: parts of a tensor, named by indices
 *
 * Negative indices count from the end. Backward adds up where an entry was taken several times.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#include "ops/locate.h"

#include <string.h>

typedef struct gather_params {
    int axis; /* Gather, GatherElements; for GatherND the number of batch axes */
} gather_params;

/* --- Gather ---------------------------------------------------------------------------------- */

static px_status gather_setup(px_op_ctx *ctx, px_error *err)
{
    PX_TRY(pxi_op_arity(ctx, 2, 2, 1, 1, err));
    PX_TRY(pxi_op_need_index(ctx, 1, err));
    PX_TRY(pxi_op_params(ctx, sizeof(gather_params), err));
    gather_params *params = ctx->params;
    const px_shape *data = &ctx->in[0].shape, *indices = &ctx->in[1].shape;
    PX_TRY(pxi_op_axis(ctx, px_node_int(ctx->node, "axis", 0), data->rank, &params->axis, err));
    const int rank = data->rank - 1 + indices->rank;
    PX_TRY(pxi_op_need_rank(ctx, rank, err));
    px_shape out = {0};
    for (int i = 0; i < params->axis; i++)
        out.dim[out.rank++] = data->dim[i];
    for (int i = 0; i < indices->rank; i++)
        out.dim[out.rank++] = indices->dim[i];
    for (int i = params->axis + 1; i < data->rank; i++)
        out.dim[out.rank++] = data->dim[i];
    ctx->out[0].dtype = ctx->in[0].dtype;
    ctx->out[0].shape = out;
    return PX_OK;
}

static px_status gather_forward(const px_op_ctx *ctx, px_error *err)
{
    const pxi_span data = pxi_span_at(&ctx->in[0].shape, ((gather_params *)ctx->params)->axis);
    const int64_t count = px_shape_count(&ctx->in[1].shape);
    const size_t element = px_dtype_size(ctx->in[0].dtype);
    const char *from = ctx->in[0].data;
    char *to = ctx->out[0].data;
    for (int64_t i = 0; i < count; i++) {
        int64_t index = 0;
        PX_TRY(pxi_op_wrap_index(ctx, pxi_index(&ctx->in[1], i), data.extent, i, &index, err));
        if (data.outer == 1) { /* an embedding: rows by number */
            memcpy(to + (size_t)(i * data.inner) * element,
                   from + (size_t)(index * data.inner) * element, (size_t)data.inner * element);
            continue;
        }
        pxi_nest nest = {0};
        pxi_nest_axis(&nest, data.outer, count * data.inner, data.extent * data.inner);
        pxi_nest_axis(&nest, data.inner, 1, 1);
        pxi_nest_copy(&nest, element, to + (size_t)(i * data.inner) * element,
                      from + (size_t)(index * data.inner) * element);
    }
    return PX_OK;
}

static void gather_backward(const px_op_ctx *ctx)
{
    if (!pxi_op_wants_grad(ctx, 0) || !ctx->out_grad[0].data)
        return;
    const pxi_span data = pxi_span_at(&ctx->in[0].shape, ((gather_params *)ctx->params)->axis);
    const int64_t count = px_shape_count(&ctx->in[1].shape);
    for (int64_t i = 0; i < count; i++) {
        int64_t index = pxi_index(&ctx->in[1], i);
        index += index < 0 ? data.extent : 0;
        pxi_nest nest = {0};
        pxi_nest_axis(&nest, data.outer, data.extent * data.inner, count * data.inner);
        pxi_nest_axis(&nest, data.inner, 1, 1);
        pxi_nest_add(&nest, PXI_F32(ctx->in_grad[0]) + index * data.inner,
                     PXI_F32(ctx->out_grad[0]) + i * data.inner);
    }
}

const px_op px_op_gather_1 = {
    .name = "Gather",
    .since = 1,
    .diff = PX_DIFF_YES,
    .setup = gather_setup,
    .forward = gather_forward,
    .backward = gather_backward,
};

/* --- GatherElements and GatherND ------------------------------------------------------------- */

static px_status gatherelements_setup(px_op_ctx *ctx, px_error *err)
{
    PX_TRY(pxi_op_arity(ctx, 2, 2, 1, 1, err));
    PX_TRY(pxi_op_params(ctx, sizeof(gather_params), err));
    PX_TRY(pxi_locate_check_elements(ctx, &((gather_params *)ctx->params)->axis, err));
    ctx->out[0].dtype = ctx->in[0].dtype;
    ctx->out[0].shape = ctx->in[1].shape;
    return PX_OK;
}

static px_status gathernd_setup(px_op_ctx *ctx, px_error *err)
{
    PX_TRY(pxi_op_arity(ctx, 2, 2, 1, 1, err));
    PX_TRY(pxi_op_params(ctx, sizeof(gather_params), err));
    const int64_t batch = px_node_int(ctx->node, "batch_dims", 0);
    if (batch < 0 || batch > PX_MAX_RANK)
        return pxi_op_fail(ctx, err, PX_E_INPUT, "'batch_dims' is %lld", (long long)batch);
    gather_params *params = ctx->params;
    params->axis = (int)batch;
    PX_TRY(pxi_locate_check_tuples(ctx, params->axis, err));
    const px_shape *data = &ctx->in[0].shape, *indices = &ctx->in[1].shape;
    const int depth = (int)indices->dim[indices->rank - 1];
    const int rank = indices->rank - 1 + data->rank - params->axis - depth;
    PX_TRY(pxi_op_need_rank(ctx, rank, err));
    px_shape out = {0};
    for (int i = 0; i < indices->rank - 1; i++)
        out.dim[out.rank++] = indices->dim[i];
    for (int i = params->axis + depth; i < data->rank; i++)
        out.dim[out.rank++] = data->dim[i];
    ctx->out[0].dtype = ctx->in[0].dtype;
    ctx->out[0].shape = out;
    return PX_OK;
}

static px_status located_copy(const px_op_ctx *ctx, pxi_locator *loc, px_error *err)
{
    const size_t bytes = (size_t)loc->slice * px_dtype_size(ctx->in[0].dtype);
    const size_t element = px_dtype_size(ctx->in[0].dtype);
    char *to = ctx->out[0].data;
    for (;;) {
        int64_t place;
        PX_TRY(pxi_locate(loc, &place, err));
        if (place < 0)
            return PX_OK;
        memcpy(to, (const char *)ctx->in[0].data + (size_t)place * element, bytes);
        to += bytes;
    }
}

static void located_add(const px_op_ctx *ctx, pxi_locator *loc)
{
    const px_real *dy = PXI_F32(ctx->out_grad[0]);
    int64_t place;
    while (pxi_locate(loc, &place, NULL) == PX_OK && place >= 0) {
        px_real *dx = PXI_F32(ctx->in_grad[0]) + place;
        for (int64_t i = 0; i < loc->slice; i++)
            dx[i] += dy[i];
        dy += loc->slice;
    }
}

static px_status gatherelements_forward(const px_op_ctx *ctx, px_error *err)
{
    pxi_locator loc;
    pxi_locate_elements(&loc, ctx, ((gather_params *)ctx->params)->axis);
    return located_copy(ctx, &loc, err);
}

static px_status gathernd_forward(const px_op_ctx *ctx, px_error *err)
{
    pxi_locator loc;
    pxi_locate_tuples(&loc, ctx, ((gather_params *)ctx->params)->axis);
    return located_copy(ctx, &loc, err);
}

static void gatherelements_backward(const px_op_ctx *ctx)
{
    pxi_locator loc;
    pxi_locate_elements(&loc, ctx, ((gather_params *)ctx->params)->axis);
    if (pxi_op_wants_grad(ctx, 0) && ctx->out_grad[0].data)
        located_add(ctx, &loc);
}

static void gathernd_backward(const px_op_ctx *ctx)
{
    pxi_locator loc;
    pxi_locate_tuples(&loc, ctx, ((gather_params *)ctx->params)->axis);
    if (pxi_op_wants_grad(ctx, 0) && ctx->out_grad[0].data)
        located_add(ctx, &loc);
}

const px_op px_op_gatherelements_11 = {
    .name = "GatherElements",
    .since = 11,
    .diff = PX_DIFF_YES,
    .setup = gatherelements_setup,
    .forward = gatherelements_forward,
    .backward = gatherelements_backward,
};

const px_op px_op_gathernd_11 = {
    .name = "GatherND",
    .since = 11,
    .diff = PX_DIFF_YES,
    .setup = gathernd_setup,
    .forward = gathernd_forward,
    .backward = gathernd_backward,
};
