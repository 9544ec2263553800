/* src/ops/resize.c - Resize and Upsample: what their attributes and inputs say
 *
 * Output extents from scales are floor(extent * scale) in single precision, as ONNX Runtime
 * computes them; scales computed from sizes are exact.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#include "ops/resize.h"

#include "base/memory.h"

#include <math.h>
#include <string.h>

static const char *const mode_names[] = {"nearest", "linear", "cubic", "bilinear", NULL};
#define NAME(enumerator, name) name,
static const char *const coordinate_names[] = {PXI_RESIZE_COORDINATES(NAME) NULL};
static const char *const rounding_names[] = {PXI_RESIZE_ROUNDINGS(NAME) NULL};
#undef NAME

static px_status read_name(const px_op_ctx *ctx, const char *attr, const char *fallback,
                           const char *const *names, int *out, px_error *err)
{
    const char *text = px_node_string(ctx->node, attr, fallback);
    *out = 0;
    for (int i = 0; names[i]; i++)
        if (names[i][0] && strcmp(text, names[i]) == 0) {
            *out = i;
            return PX_OK;
        }
    return pxi_op_fail(ctx, err, PX_E_UNSUPPORTED, "its %s '%.40s' is not supported", attr, text);
}

static px_status resize_init(px_op_ctx *ctx, px_error *err)
{
    PX_TRY(pxi_op_params(ctx, sizeof(pxi_resize_params), err));
    pxi_resize_params *p = ctx->params;
    int mode;
    PX_TRY(read_name(ctx, "mode", "nearest", mode_names, &mode, err));
    p->mode = mode == 3 ? PXI_RESIZE_LINEAR : (pxi_resize_mode)mode;
    if (p->mode != PXI_RESIZE_NEAREST)
        PX_TRY(pxi_op_type(ctx, 0, PXI_ONLY(PX_FLOAT32), err));
    p->coordinate = PXI_RESIZE_ASYMMETRIC;
    p->rounding = PXI_RESIZE_SIMPLE;
    for (int i = 0; i < PX_MAX_RANK; i++)
        p->scale[i] = p->roi_end[i] = 1.0;
    ctx->out[0].dtype = ctx->in[0].dtype;
    ctx->out[0].shape = ctx->in[0].shape;
    return PX_OK;
}

/* extent * scale on one axis; `part` is the share of the axis that is cropped out of it. */
static px_status resize_scale(px_op_ctx *ctx, int axis, double scale, double part, px_error *err)
{
    pxi_resize_params *p = ctx->params;
    const int64_t extent = ctx->in[0].shape.dim[axis];
    if (!(scale > 0.0) || !(part >= 0.0))
        return pxi_op_fail(ctx, err, PX_E_INPUT, "its scale on axis %d is %g", axis, scale);
    const float out = floorf((float)extent * (float)part * (float)scale);
    if (!(out < 0x1p60f))
        return pxi_op_fail(ctx, err, PX_E_INPUT, "its scale on axis %d is %g; that is too large",
                           axis, scale);
    p->scale[axis] = scale;
    ctx->out[0].shape.dim[axis] = (int64_t)out;
    return PX_OK;
}

/* Scales for all axes from an input of floats. */
static px_status resize_scales(px_op_ctx *ctx, int input, const int *axes, int count, px_error *err)
{
    pxi_resize_params *p = ctx->params;
    const px_tensor *scales = &ctx->in[input];
    PX_TRY(pxi_op_need_const(ctx, input, err));
    PX_TRY(pxi_op_type(ctx, input, PXI_TYPES_REAL, err));
    if (px_shape_count(&scales->shape) != count)
        return pxi_op_fail(ctx, err, PX_E_INPUT, "has %lld scales for %d axes",
                           (long long)px_shape_count(&scales->shape), count);
    for (int i = 0; i < count; i++) {
        const int axis = axes ? axes[i] : i;
        const double part =
            p->coordinate == PXI_RESIZE_TF_CROP ? p->roi_end[axis] - p->roi_start[axis] : 1.0;
        PX_TRY(resize_scale(ctx, axis, pxi_number(scales, i), part, err));
    }
    return PX_OK;
}

/* --- Upsample, and Resize before opset 11 ---------------------------------------------------- */

static px_status upsample_setup_pair(px_op_ctx *ctx, px_error *err)
{
    PX_TRY(pxi_op_arity(ctx, 1, 1, 1, 1, err));
    PX_TRY(resize_init(ctx, err));
    if (ctx->in[0].shape.rank != 4)
        return pxi_op_fail(ctx, err, PX_E_INPUT, "takes [N,C,H,W], not a tensor of rank %d",
                           ctx->in[0].shape.rank);
    PX_TRY(resize_scale(ctx, 2, (double)px_node_float(ctx->node, "height_scale", 0.0f), 1.0, err));
    PX_TRY(resize_scale(ctx, 3, (double)px_node_float(ctx->node, "width_scale", 0.0f), 1.0, err));
    return pxi_resize_plan(ctx, err);
}

static px_status upsample_setup_attr(px_op_ctx *ctx, px_error *err)
{
    PX_TRY(pxi_op_arity(ctx, 1, 1, 1, 1, err));
    PX_TRY(resize_init(ctx, err));
    const px_attr *scales = px_node_attr(ctx->node, "scales");
    const int rank = ctx->in[0].shape.rank;
    if (!scales || scales->kind != PX_ATTR_FLOATS || scales->count != (size_t)rank)
        return pxi_op_fail(ctx, err, PX_E_INPUT, "lacks %d numbers in its attribute 'scales'",
                           rank);
    for (int i = 0; i < rank; i++)
        PX_TRY(resize_scale(ctx, i, (double)scales->floats[i], 1.0, err));
    return pxi_resize_plan(ctx, err);
}

static px_status upsample_setup(px_op_ctx *ctx, px_error *err)
{
    PX_TRY(pxi_op_arity(ctx, 2, 2, 1, 1, err));
    PX_TRY(resize_init(ctx, err));
    PX_TRY(resize_scales(ctx, 1, NULL, ctx->in[0].shape.rank, err));
    return pxi_resize_plan(ctx, err);
}

/* --- Resize ---------------------------------------------------------------------------------- */

/* The axes that roi, scales and sizes speak of, in their order; all of them by default. */
static px_status resize_axes(px_op_ctx *ctx, int axes[PX_MAX_RANK], int *count, px_error *err)
{
    const int64_t *wish;
    int64_t wishes;
    const int rank = ctx->in[0].shape.rank;
    bool marked[PX_MAX_RANK] = {false};
    PX_TRY(pxi_attr_ints(ctx, "axes", &wish, &wishes, err));
    PX_TRY(pxi_op_mark_axes(ctx, wish, wishes, rank, marked, err));
    *count = wishes < 0 ? rank : (int)wishes;
    for (int i = 0; i < *count; i++) {
        axes[i] = i;
        if (wishes >= 0)
            PX_TRY(pxi_op_axis(ctx, wish[i], rank, &axes[i], err));
    }
    return PX_OK;
}

static px_status resize_roi(px_op_ctx *ctx, const int *axes, int count, px_error *err)
{
    pxi_resize_params *p = ctx->params;
    if (p->coordinate != PXI_RESIZE_TF_CROP)
        return PX_OK;
    if (!pxi_op_has_in(ctx, 1) || px_shape_count(&ctx->in[1].shape) != 2 * count)
        return pxi_op_fail(ctx, err, PX_E_INPUT, "needs %d numbers as its roi", 2 * count);
    PX_TRY(pxi_op_need_const(ctx, 1, err));
    PX_TRY(pxi_op_type(ctx, 1, PXI_TYPES_REAL, err));
    for (int i = 0; i < count; i++) {
        p->roi_start[axes[i]] = pxi_number(&ctx->in[1], i);
        p->roi_end[axes[i]] = pxi_number(&ctx->in[1], i + count);
    }
    return PX_OK;
}

static px_status resize_sizes(px_op_ctx *ctx, const int *axes, int count, px_error *err)
{
    static const char *const policies[] = {"stretch", "not_larger", "not_smaller", NULL};
    pxi_resize_params *p = ctx->params;
    const px_shape *in = &ctx->in[0].shape;
    const int64_t *sizes;
    int64_t given;
    int policy;
    PX_TRY(pxi_op_const_ints(ctx, 3, &sizes, &given, err));
    PX_TRY(read_name(ctx, "keep_aspect_ratio_policy", "stretch", policies, &policy, err));
    if (given != count)
        return pxi_op_fail(ctx, err, PX_E_INPUT, "has %lld sizes for %d axes", (long long)given,
                           count);
    double common = policy == 1 ? INFINITY : 0.0;
    for (int i = 0; i < count; i++) {
        const int64_t extent = in->dim[axes[i]];
        if (sizes[i] < 0 || sizes[i] > (int64_t)1 << 60)
            return pxi_op_fail(ctx, err, PX_E_INPUT, "its size on axis %d is %lld", axes[i],
                               (long long)sizes[i]);
        const double scale = extent ? (double)sizes[i] / (double)extent : 1.0;
        common = policy == 1 ? PX_MIN(common, scale) : PX_MAX(common, scale);
        ctx->out[0].shape.dim[axes[i]] = sizes[i];
        p->scale[axes[i]] = scale > 0.0 ? scale : 1.0;
    }
    for (int i = 0; policy > 0 && i < count; i++) {
        const double out = floor(common * (double)in->dim[axes[i]] + 0.5);
        if (!(common > 0.0) || !(out < 0x1p60))
            return pxi_op_fail(ctx, err, PX_E_INPUT, "its sizes cannot keep the aspect ratio");
        ctx->out[0].shape.dim[axes[i]] = (int64_t)out;
        p->scale[axes[i]] = common;
    }
    return PX_OK;
}

static px_status resize_setup(px_op_ctx *ctx, px_error *err)
{
    int axes[PX_MAX_RANK], count, coordinate, rounding;
    PX_TRY(pxi_op_arity(ctx, 1, 4, 1, 1, err));
    PX_TRY(resize_init(ctx, err));
    pxi_resize_params *p = ctx->params;
    PX_TRY(read_name(ctx, "coordinate_transformation_mode", "half_pixel", coordinate_names,
                     &coordinate, err));
    PX_TRY(read_name(ctx, "nearest_mode", "round_prefer_floor", rounding_names, &rounding, err));
    p->coordinate = (pxi_resize_coordinate)coordinate;
    p->rounding = (pxi_resize_rounding)rounding;
    p->cubic_a = (double)px_node_float(ctx->node, "cubic_coeff_a", -0.75f);
    p->extrapolation = (double)px_node_float(ctx->node, "extrapolation_value", 0.0f);
    p->exclude_outside = px_node_int(ctx->node, "exclude_outside", 0) != 0;
    p->antialias = px_node_int(ctx->node, "antialias", 0) != 0;
    PX_TRY(resize_axes(ctx, axes, &count, err));
    PX_TRY(resize_roi(ctx, axes, count, err));
    /* an input of no elements stands for one that is left out */
    const bool sizes = pxi_op_has_in(ctx, 3) && px_shape_count(&ctx->in[3].shape) > 0;
    const bool scales = pxi_op_has_in(ctx, 2) && px_shape_count(&ctx->in[2].shape) > 0;
    if (sizes == scales && count > 0)
        return pxi_op_fail(ctx, err, PX_E_INPUT, "needs either scales or sizes");
    if (sizes)
        PX_TRY(resize_sizes(ctx, axes, count, err));
    else if (scales)
        PX_TRY(resize_scales(ctx, 2, axes, count, err));
    return pxi_resize_plan(ctx, err);
}

#define RESIZE_OP(id, op_name, version, rule) \
    const px_op px_op_##id = {                \
        .name = op_name,                      \
        .since = version,                     \
        .diff = PX_DIFF_YES,                  \
        .setup = rule,                        \
        .forward = pxi_resize_forward,        \
        .backward = pxi_resize_backward,      \
        .permute = pxi_resize_permute,        \
    };

RESIZE_OP(upsample_1, "Upsample", 1, upsample_setup_pair)
RESIZE_OP(upsample_7, "Upsample", 7, upsample_setup_attr)
RESIZE_OP(upsample_9, "Upsample", 9, upsample_setup)
RESIZE_OP(resize_10, "Resize", 10, upsample_setup)
RESIZE_OP(resize_11, "Resize", 11, resize_setup)
