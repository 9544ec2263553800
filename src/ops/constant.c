/* src/ops/constant.c - Constant, ConstantOfShape, Range, EyeLike, Shape, Size: tensors from nothing
 *
 * Half-precision values are widened, as everywhere in a program. Numbers inside attributes are
 * plain floats even in the test build that computes in double.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#include "ops/nest.h"

#include <internal/tensor.h>
#include <math.h>
#include <string.h>

static px_dtype widened(px_dtype dtype)
{
    return dtype == PX_FLOAT16 || dtype == PX_BFLOAT16 ? PX_FLOAT32 : dtype;
}

/* Copies an attribute's tensor into one of type widened(). */
static void attr_copy(const px_tensor *from, px_tensor *to)
{
    if (to->dtype != PX_FLOAT32) {
        memcpy(to->data, from->data, px_tensor_bytes(from));
        return;
    }
    const int64_t count = px_shape_count(&from->shape);
    const float *single = from->data;
    const uint16_t *half = from->data;
    for (int64_t i = 0; i < count; i++)
        PXI_F32(*to)
    [i] = from->dtype == PX_FLOAT32   ? single[i]
          : from->dtype == PX_FLOAT16 ? px_half_to_float(half[i])
                                      : px_bfloat_to_float(half[i]);
}

/* --- Constant -------------------------------------------------------------------------------- */

static px_status constant_setup(px_op_ctx *ctx, px_error *err)
{
    PX_TRY(pxi_op_arity(ctx, 0, 0, 1, 1, err));
    px_tensor *out = &ctx->out[0];
    for (int i = 0; i < ctx->node->attr_count; i++) {
        const px_attr *attr = &ctx->node->attrs[i];
        if (strncmp(attr->name, "value", 5) != 0)
            continue;
        out->shape = (px_shape){0};
        switch (attr->kind) {
        case PX_ATTR_TENSOR:
            if (!attr->tensor.data && px_shape_count(&attr->tensor.shape) > 0)
                break;
            out->dtype = widened(attr->tensor.dtype);
            out->shape = attr->tensor.shape;
            ctx->params = (void *)attr;
            return PX_OK;
        case PX_ATTR_INT:
        case PX_ATTR_FLOAT:
            out->dtype = attr->kind == PX_ATTR_INT ? PX_INT64 : PX_FLOAT32;
            ctx->params = (void *)attr;
            return PX_OK;
        case PX_ATTR_INTS:
        case PX_ATTR_FLOATS:
            out->dtype = attr->kind == PX_ATTR_INTS ? PX_INT64 : PX_FLOAT32;
            out->shape = (px_shape){.rank = 1, .dim = {(int64_t)attr->count}};
            ctx->params = (void *)attr;
            return PX_OK;
        default:
            break;
        }
        return pxi_op_fail(ctx, err, PX_E_UNSUPPORTED,
                           "its '%.40s' is no tensor of numbers, which is not supported",
                           attr->name);
    }
    return pxi_op_fail(ctx, err, PX_E_UNSUPPORTED,
                       "a value that is no tensor of numbers is not supported");
}

static px_status constant_forward(const px_op_ctx *ctx, px_error *err)
{
    (void)err;
    const px_attr *attr = ctx->params;
    px_tensor *out = &ctx->out[0];
    switch (attr->kind) {
    case PX_ATTR_TENSOR:
        attr_copy(&attr->tensor, out);
        break;
    case PX_ATTR_INT:
        PXI_I64(*out)[0] = attr->i;
        break;
    case PX_ATTR_FLOAT:
        PXI_F32(*out)[0] = attr->f;
        break;
    case PX_ATTR_INTS:
        memcpy(out->data, attr->ints, attr->count * sizeof *attr->ints);
        break;
    default:
        for (size_t i = 0; i < attr->count; i++)
            PXI_F32(*out)[i] = attr->floats[i];
        break;
    }
    return PX_OK;
}

const px_op px_op_constant_1 = {
    .name = "Constant",
    .since = 1,
    .diff = PX_DIFF_ZERO,
    .setup = constant_setup,
    .forward = constant_forward,
};

/* --- ConstantOfShape ------------------------------------------------------------------------- */

static px_status constantofshape_setup(px_op_ctx *ctx, px_error *err)
{
    const int64_t *wish;
    int64_t count;
    PX_TRY(pxi_op_arity(ctx, 1, 1, 1, 1, err));
    PX_TRY(pxi_op_const_ints(ctx, 0, &wish, &count, err));
    PX_TRY(pxi_op_need_rank(ctx, count, err));
    const px_attr *value = px_node_attr(ctx->node, "value");
    if (value && (value->kind != PX_ATTR_TENSOR || !value->tensor.data ||
                  px_shape_count(&value->tensor.shape) != 1))
        return pxi_op_fail(ctx, err, PX_E_INPUT, "its 'value' is not a tensor of one element");
    ctx->out[0].dtype = value ? widened(value->tensor.dtype) : PX_FLOAT32;
    ctx->out[0].shape.rank = (int)count;
    for (int i = 0; i < (int)count; i++)
        ctx->out[0].shape.dim[i] = wish[i]; /* negative extents: px_shape_check() */
    return PX_OK;
}

static px_status constantofshape_forward(const px_op_ctx *ctx, px_error *err)
{
    (void)err;
    const px_attr *value = px_node_attr(ctx->node, "value");
    uint64_t room = 0;
    px_tensor one = {.dtype = ctx->out[0].dtype, .data = &room};
    if (value)
        attr_copy(&(px_tensor){.dtype = value->tensor.dtype, .data = value->tensor.data}, &one);
    const pxi_nest nest = {.rank = 1, .extent = {px_shape_count(&ctx->out[0].shape)}, .to = {1}};
    pxi_nest_copy(&nest, px_dtype_size(one.dtype), ctx->out[0].data, one.data);
    return PX_OK;
}

const px_op px_op_constantofshape_9 = {
    .name = "ConstantOfShape",
    .since = 9,
    .diff = PX_DIFF_ZERO,
    .setup = constantofshape_setup,
    .forward = constantofshape_forward,
};

/* --- Range ----------------------------------------------------------------------------------- */

static px_status range_setup(px_op_ctx *ctx, px_error *err)
{
    PX_TRY(pxi_op_arity(ctx, 3, 3, 1, 1, err));
    PX_TRY(pxi_op_type(ctx, 0, PXI_TYPES_NUMBER & ~PXI_ONLY(PX_UINT64), err));
    for (int i = 0; i < 3; i++) {
        PX_TRY(pxi_op_need_const(ctx, i, err));
        if (ctx->in[i].dtype != ctx->in[0].dtype || px_shape_count(&ctx->in[i].shape) != 1)
            return pxi_op_fail(ctx, err, PX_E_INPUT, "its input %d is not one %s", i,
                               px_dtype_name(ctx->in[0].dtype));
    }
    ctx->out[0].dtype = ctx->in[0].dtype;
    ctx->out[0].shape = (px_shape){.rank = 1};
    if (pxi_is_real(ctx->in[0].dtype)) {
        const double steps = ceil((pxi_number(&ctx->in[1], 0) - pxi_number(&ctx->in[0], 0)) /
                                  pxi_number(&ctx->in[2], 0));
        if (!(steps < 0x1p60)) /* a step of 0, NaN and infinity too */
            return pxi_op_fail(ctx, err, PX_E_INPUT, "has no end, or is too long");
        ctx->out[0].shape.dim[0] = steps > 0.0 ? (int64_t)steps : 0;
        return PX_OK;
    }
    const int64_t start = pxi_integer(&ctx->in[0], 0), limit = pxi_integer(&ctx->in[1], 0);
    const int64_t delta = pxi_integer(&ctx->in[2], 0);
    if (delta == 0)
        return pxi_op_fail(ctx, err, PX_E_INPUT, "has no end: its step is 0");
    /* modulo 2^64: exact, as the way and the step have the same sign */
    const uint64_t way =
        delta > 0 ? (uint64_t)limit - (uint64_t)start : (uint64_t)start - (uint64_t)limit;
    const uint64_t step = delta > 0 ? (uint64_t)delta : 0 - (uint64_t)delta;
    const bool any = delta > 0 ? limit > start : limit < start;
    const uint64_t count = any ? (way - 1) / step + 1 : 0;
    if (count > (uint64_t)1 << 60)
        return pxi_op_fail(ctx, err, PX_E_INPUT, "is too long");
    ctx->out[0].shape.dim[0] = (int64_t)count;
    return PX_OK;
}

static px_status range_forward(const px_op_ctx *ctx, px_error *err)
{
    (void)err;
    const int64_t count = ctx->out[0].shape.dim[0];
    const double first = pxi_number(&ctx->in[0], 0), step = pxi_number(&ctx->in[2], 0);
    const uint64_t start = (uint64_t)pxi_integer(&ctx->in[0], 0);
    const uint64_t delta = (uint64_t)pxi_integer(&ctx->in[2], 0);
    for (int64_t i = 0; i < count; i++)
        if (pxi_is_real(ctx->out[0].dtype))
            pxi_store_number(&ctx->out[0], i, first + (double)i * step);
        else
            pxi_store_integer(&ctx->out[0], i, (int64_t)(start + (uint64_t)i * delta));
    return PX_OK;
}

const px_op px_op_range_11 = {
    .name = "Range",
    .since = 11,
    .diff = PX_DIFF_ZERO,
    .setup = range_setup,
    .forward = range_forward,
};

/* --- EyeLike --------------------------------------------------------------------------------- */

static px_status eyelike_setup(px_op_ctx *ctx, px_error *err)
{
    PX_TRY(pxi_op_arity(ctx, 1, 1, 1, 1, err));
    const int64_t dtype = px_node_int(ctx->node, "dtype", ctx->in[0].dtype);
    if (ctx->in[0].shape.rank != 2)
        return pxi_op_fail(ctx, err, PX_E_INPUT, "takes a matrix, not a tensor of rank %d",
                           ctx->in[0].shape.rank);
    if (dtype <= 0 || dtype > PX_BFLOAT16 || px_dtype_size((px_dtype)dtype) == 0)
        return pxi_op_fail(ctx, err, PX_E_UNSUPPORTED, "its 'dtype' %lld is not supported",
                           (long long)dtype);
    ctx->out[0].dtype = widened((px_dtype)dtype);
    ctx->out[0].shape = ctx->in[0].shape;
    return PX_OK;
}

static px_status eyelike_forward(const px_op_ctx *ctx, px_error *err)
{
    (void)err;
    const int64_t rows = ctx->out[0].shape.dim[0], cols = ctx->out[0].shape.dim[1];
    const int64_t k = px_node_int(ctx->node, "k", 0);
    memset(ctx->out[0].data, 0, px_tensor_bytes(&ctx->out[0]));
    if (k <= -rows || k >= cols)
        return PX_OK;
    for (int64_t r = k < 0 ? -k : 0; r < rows && r + k < cols; r++)
        pxi_store_integer(&ctx->out[0], r * cols + r + k, 1);
    return PX_OK;
}

const px_op px_op_eyelike_9 = {
    .name = "EyeLike",
    .since = 9,
    .diff = PX_DIFF_ZERO,
    .setup = eyelike_setup,
    .forward = eyelike_forward,
    .shape_only = true,
};

/* --- Shape and Size -------------------------------------------------------------------------- */

static void shape_bounds(const px_op_ctx *ctx, int *start, int *end)
{
    const int64_t rank = ctx->in[0].shape.rank;
    int64_t from = px_node_int(ctx->node, "start", 0), to = px_node_int(ctx->node, "end", rank);
    from = from < -rank ? 0 : from < 0 ? from + rank : from > rank ? rank : from;
    to = to < -rank ? 0 : to < 0 ? to + rank : to > rank ? rank : to;
    *start = (int)from;
    *end = (int)(to < from ? from : to);
}

static px_status shape_setup(px_op_ctx *ctx, px_error *err)
{
    int start, end;
    PX_TRY(pxi_op_arity(ctx, 1, 1, 1, 1, err));
    shape_bounds(ctx, &start, &end);
    ctx->out[0].dtype = PX_INT64;
    ctx->out[0].shape = (px_shape){.rank = 1, .dim = {end - start}};
    return PX_OK;
}

static px_status shape_forward(const px_op_ctx *ctx, px_error *err)
{
    int start, end;
    (void)err;
    shape_bounds(ctx, &start, &end);
    for (int i = start; i < end; i++)
        PXI_I64(ctx->out[0])[i - start] = ctx->in[0].shape.dim[i];
    return PX_OK;
}

static px_status size_setup(px_op_ctx *ctx, px_error *err)
{
    PX_TRY(pxi_op_arity(ctx, 1, 1, 1, 1, err));
    ctx->out[0].dtype = PX_INT64;
    ctx->out[0].shape = (px_shape){0};
    return PX_OK;
}

static px_status size_forward(const px_op_ctx *ctx, px_error *err)
{
    (void)err;
    PXI_I64(ctx->out[0])[0] = px_shape_count(&ctx->in[0].shape);
    return PX_OK;
}

const px_op px_op_shape_1 = {
    .name = "Shape",
    .since = 1,
    .diff = PX_DIFF_ZERO,
    .setup = shape_setup,
    .forward = shape_forward,
    .shape_only = true,
};

const px_op px_op_size_1 = {
    .name = "Size",
    .since = 1,
    .diff = PX_DIFF_ZERO,
    .setup = size_setup,
    .forward = size_forward,
    .shape_only = true,
};
