/* src/ops/slice.c - Slice: every step-th entry from start to end, per axis
 *
 * Starts and ends outside of an axis are clamped to it; a negative step walks backwards.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#include "ops/nest.h"

typedef struct slice_params { /* per axis of the input */
    int64_t start[PX_MAX_RANK], step[PX_MAX_RANK];
} slice_params;

typedef struct slice_wish { /* as the node says it; count < 0 where it is left out */
    const int64_t *starts, *ends, *axes, *steps;
    int64_t start_count, end_count, axis_count, step_count;
} slice_wish;

static int64_t clamped(int64_t value, int64_t extent, int64_t low, int64_t high)
{
    if (value < 0)
        value = value < -extent ? -1 : value + extent; /* no overflow for INT64_MIN */
    return value < low ? low : value > high ? high : value;
}

static px_status slice_apply(px_op_ctx *ctx, const slice_wish *wish, px_error *err)
{
    const px_shape *in = &ctx->in[0].shape;
    const int64_t count = wish->start_count;
    if (count < 0 || wish->end_count != count ||
        (wish->axis_count >= 0 && wish->axis_count != count) ||
        (wish->step_count >= 0 && wish->step_count != count) || count > in->rank)
        return pxi_op_fail(ctx, err, PX_E_INPUT,
                           "its starts, ends, axes and steps do not fit each other or rank %d",
                           in->rank);
    PX_TRY(pxi_op_params(ctx, sizeof(slice_params), err));
    slice_params *params = ctx->params;
    ctx->out[0].dtype = ctx->in[0].dtype;
    ctx->out[0].shape = *in;
    for (int i = 0; i < in->rank; i++)
        params->step[i] = 1;

    bool marked[PX_MAX_RANK] = {false};
    PX_TRY(pxi_op_mark_axes(ctx, wish->axes, wish->axis_count, in->rank, marked, err));
    for (int64_t i = 0; i < count; i++) {
        int axis = (int)i;
        if (wish->axis_count >= 0)
            PX_TRY(pxi_op_axis(ctx, wish->axes[i], in->rank, &axis, err));
        const int64_t extent = in->dim[axis];
        int64_t step = wish->step_count >= 0 ? wish->steps[i] : 1;
        if (step == 0)
            return pxi_op_fail(ctx, err, PX_E_INPUT, "its step on axis %d is 0", axis);
        if (step < -extent || step > extent) /* takes one entry at most, however far it goes */
            step = step < 0 ? -extent - 1 : extent + 1;
        const bool back = step < 0;
        const int64_t start =
            clamped(wish->starts[i], extent, back ? -1 : 0, back ? extent - 1 : extent);
        const int64_t end =
            clamped(wish->ends[i], extent, back ? -1 : 0, back ? extent - 1 : extent);
        const int64_t way = back ? start - end : end - start;
        const int64_t stride = back ? -step : step;
        params->start[axis] = start;
        params->step[axis] = step;
        ctx->out[0].shape.dim[axis] = way > 0 ? (way - 1) / stride + 1 : 0;
    }
    return PX_OK;
}

static px_status slice_setup_attr(px_op_ctx *ctx, px_error *err)
{
    slice_wish wish = {.step_count = -1};
    PX_TRY(pxi_op_arity(ctx, 1, 1, 1, 1, err));
    PX_TRY(pxi_attr_ints(ctx, "starts", &wish.starts, &wish.start_count, err));
    PX_TRY(pxi_attr_ints(ctx, "ends", &wish.ends, &wish.end_count, err));
    PX_TRY(pxi_attr_ints(ctx, "axes", &wish.axes, &wish.axis_count, err));
    return slice_apply(ctx, &wish, err);
}

static px_status slice_setup(px_op_ctx *ctx, px_error *err)
{
    slice_wish wish = {0};
    PX_TRY(pxi_op_arity(ctx, 3, 5, 1, 1, err));
    PX_TRY(pxi_op_ints(ctx, NULL, 1, &wish.starts, &wish.start_count, err));
    PX_TRY(pxi_op_ints(ctx, NULL, 2, &wish.ends, &wish.end_count, err));
    PX_TRY(pxi_op_ints(ctx, NULL, 3, &wish.axes, &wish.axis_count, err));
    PX_TRY(pxi_op_ints(ctx, NULL, 4, &wish.steps, &wish.step_count, err));
    return slice_apply(ctx, &wish, err);
}

/* `whole` and `part`: strides of the input and of the output. Returns where the first entry lies.
 */
static int64_t slice_walk(const px_op_ctx *ctx, int64_t whole[PX_MAX_RANK],
                          int64_t part[PX_MAX_RANK])
{
    const slice_params *params = ctx->params;
    int64_t first = 0;
    pxi_strides(&ctx->in[0].shape, whole);
    pxi_strides(&ctx->out[0].shape, part);
    for (int i = 0; i < ctx->in[0].shape.rank; i++) {
        first += params->start[i] * whole[i];
        whole[i] *= params->step[i];
    }
    return first;
}

static px_status slice_forward(const px_op_ctx *ctx, px_error *err)
{
    (void)err;
    int64_t whole[PX_MAX_RANK], part[PX_MAX_RANK];
    if (px_shape_count(&ctx->out[0].shape) == 0)
        return PX_OK;
    const int64_t first = slice_walk(ctx, whole, part);
    const size_t element = px_dtype_size(ctx->in[0].dtype);
    pxi_nest nest = {0};
    for (int i = 0; i < ctx->out[0].shape.rank; i++)
        pxi_nest_axis(&nest, ctx->out[0].shape.dim[i], part[i], whole[i]);
    pxi_nest_copy(&nest, element, ctx->out[0].data,
                  (const char *)ctx->in[0].data + (size_t)first * element);
    return PX_OK;
}

static void slice_backward(const px_op_ctx *ctx)
{
    int64_t whole[PX_MAX_RANK], part[PX_MAX_RANK];
    if (!pxi_op_wants_grad(ctx, 0) || !ctx->out_grad[0].data ||
        px_shape_count(&ctx->out[0].shape) == 0)
        return;
    const int64_t first = slice_walk(ctx, whole, part);
    pxi_nest nest = {0};
    for (int i = 0; i < ctx->out[0].shape.rank; i++)
        pxi_nest_axis(&nest, ctx->out[0].shape.dim[i], whole[i], part[i]);
    pxi_nest_add(&nest, PXI_F32(ctx->in_grad[0]) + first, PXI_F32(ctx->out_grad[0]));
}

static px_status slice_permute(px_op_ctx *ctx, const int *perm, int rank, px_error *err)
{
    (void)err;
    slice_params *params = ctx->params;
    pxi_permute_int64(params->start, perm, rank);
    pxi_permute_int64(params->step, perm, rank);
    return PX_OK;
}

const px_op px_op_slice_1 = {
    .name = "Slice",
    .since = 1,
    .diff = PX_DIFF_YES,
    .setup = slice_setup_attr,
    .forward = slice_forward,
    .backward = slice_backward,
    .permute = slice_permute,
};

const px_op px_op_slice_10 = {
    .name = "Slice",
    .since = 10,
    .diff = PX_DIFF_YES,
    .setup = slice_setup,
    .forward = slice_forward,
    .backward = slice_backward,
    .permute = slice_permute,
};
