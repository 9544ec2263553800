/* src/ops/pad.c - Pad: constant, edge, reflect or wrap around the tensor; negative pads cut away;
 * CenterCropPad: zeros on both sides, or cut away there
 *
 * Backward adds what edge, reflect and wrap repeated, and gives a constant's gradient to the input
 * that it came from.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#include "ops/nest.h"

#include "base/memory.h"

#include <string.h>

typedef enum pad_mode { PAD_CONSTANT, PAD_EDGE, PAD_REFLECT, PAD_WRAP } pad_mode;

static const int64_t pad_limit = (int64_t)1 << 60; /* keeps index arithmetic from overflowing */

typedef struct pad_params {
    pad_mode mode;
    int64_t begin[PX_MAX_RANK]; /* per axis; what lies behind follows from the output's shape */
    px_real value;              /* where it is an attribute */
    double value64;             /* the same for float64 data */
} pad_params;

static px_status pad_read_mode(const px_op_ctx *ctx, pad_mode *out, px_error *err)
{
    static const char *const names[] = {"constant", "edge", "reflect", "wrap"};
    const char *mode = px_node_string(ctx->node, "mode", "constant");
    for (size_t i = 0; i < PX_LEN(names); i++)
        if (strcmp(mode, names[i]) == 0) {
            *out = (pad_mode)i;
            return PX_OK;
        }
    return pxi_op_fail(ctx, err, PX_E_UNSUPPORTED, "its mode '%.40s' is not supported", mode);
}

/* `pads`: the begins of all axes (those in `axes`, if given), then their ends. */
static px_status pad_apply(px_op_ctx *ctx, const int64_t *pads, int64_t count, const int64_t *axes,
                           int64_t axis_count, px_error *err)
{
    const px_shape *in = &ctx->in[0].shape;
    const int64_t padded = axis_count >= 0 ? axis_count : in->rank;
    if (count != 2 * padded)
        return pxi_op_fail(ctx, err, PX_E_INPUT, "has %lld pads for %lld axes", (long long)count,
                           (long long)padded);
    bool marked[PX_MAX_RANK] = {false};
    PX_TRY(pxi_op_mark_axes(ctx, axes, axis_count, in->rank, marked, err));
    PX_TRY(pxi_op_params(ctx, sizeof(pad_params), err));
    pad_params *params = ctx->params;
    PX_TRY(pad_read_mode(ctx, &params->mode, err));
    params->value = px_node_float(ctx->node, "value", 0.0f);
    params->value64 = (double)params->value;
    ctx->out[0].dtype = ctx->in[0].dtype;
    ctx->out[0].shape = *in;
    for (int64_t i = 0; i < padded; i++) {
        int axis = (int)i;
        if (axis_count >= 0)
            PX_TRY(pxi_op_axis(ctx, axes[i], in->rank, &axis, err));
        const int64_t begin = pads[i], end = pads[i + padded];
        int64_t *extent = &ctx->out[0].shape.dim[axis];
        if (begin < -pad_limit || begin > pad_limit ||
            __builtin_add_overflow(*extent, begin, extent) ||
            __builtin_add_overflow(*extent, end, extent) || *extent < 0)
            return pxi_op_fail(ctx, err, PX_E_INPUT,
                               "its pads %lld and %lld do not fit axis %d of extent %lld",
                               (long long)begin, (long long)end, axis, (long long)in->dim[axis]);
        if (params->mode != PAD_CONSTANT && in->dim[axis] == 0 && *extent > 0)
            return pxi_op_fail(ctx, err, PX_E_INPUT, "has nothing to repeat along axis %d", axis);
        params->begin[axis] = begin;
    }
    return PX_OK;
}

static px_status pad_attr(px_op_ctx *ctx, const char *name, px_error *err)
{
    const int64_t *pads;
    int64_t count;
    PX_TRY(pxi_op_arity(ctx, 1, 1, 1, 1, err));
    PX_TRY(pxi_op_type(ctx, 0, PXI_TYPES_REAL, err));
    PX_TRY(pxi_attr_ints(ctx, name, &pads, &count, err));
    return pad_apply(ctx, pads, count, NULL, -1, err);
}

static px_status pad_setup_paddings(px_op_ctx *ctx, px_error *err)
{
    return pad_attr(ctx, "paddings", err);
}

static px_status pad_setup_pads(px_op_ctx *ctx, px_error *err)
{
    return pad_attr(ctx, "pads", err);
}

static px_status pad_setup(px_op_ctx *ctx, px_error *err)
{
    const int64_t *pads, *axes;
    int64_t count, axis_count;
    PX_TRY(pxi_op_arity(ctx, 2, 4, 1, 1, err));
    PX_TRY(pxi_op_const_ints(ctx, 1, &pads, &count, err));
    PX_TRY(pxi_op_ints(ctx, NULL, 3, &axes, &axis_count, err));
    if (pxi_op_has_in(ctx, 2) &&
        (ctx->in[2].dtype != ctx->in[0].dtype || px_shape_count(&ctx->in[2].shape) != 1))
        return pxi_op_fail(ctx, err, PX_E_INPUT,
                           "its constant is not one element of the data's type %s",
                           px_dtype_name(ctx->in[0].dtype));
    return pad_apply(ctx, pads, count, axes, axis_count, err);
}

/* What is odd is at the end. */
static px_status pad_setup_center(px_op_ctx *ctx, px_error *err)
{
    const int64_t *shape, *axes;
    int64_t count, axis_count, *pads = NULL;
    PX_TRY(pxi_op_arity(ctx, 2, 2, 1, 1, err));
    PX_TRY(pxi_op_const_ints(ctx, 1, &shape, &count, err));
    PX_TRY(pxi_attr_ints(ctx, "axes", &axes, &axis_count, err));
    const px_shape *in = &ctx->in[0].shape;
    if (count != (axis_count >= 0 ? axis_count : in->rank))
        return pxi_op_fail(ctx, err, PX_E_INPUT, "has %lld extents for %lld axes", (long long)count,
                           (long long)(axis_count >= 0 ? axis_count : in->rank));
    PX_TRY(PX_ARENA_NEW(pads, ctx->arena, 2 * count, err));
    for (int64_t i = 0; i < count; i++) {
        int axis = (int)i;
        if (axis_count >= 0)
            PX_TRY(pxi_op_axis(ctx, axes[i], in->rank, &axis, err));
        if (shape[i] < 0 || shape[i] > pad_limit)
            return pxi_op_fail(ctx, err, PX_E_INPUT, "wants an extent of %lld",
                               (long long)shape[i]);
        const int64_t more = shape[i] - in->dim[axis];
        pads[i] = more / 2; /* towards 0 */
        pads[i + count] = more - more / 2;
    }
    return pad_apply(ctx, pads, count * 2, axes, axis_count, err);
}

/* --- running --------------------------------------------------------------------------------- */

typedef struct pad_axis {
    int64_t in, out, begin;
} pad_axis;

typedef struct pad_walk {
    pad_mode mode;
    int rank;
    pad_axis axis[PX_MAX_RANK];
    int64_t in_size[PX_MAX_RANK], out_size[PX_MAX_RANK]; /* elements of one entry of the axis */
    size_t element;
    const void *value; /* one element; NULL: zero bytes */
    double value_grad; /* backward: the sum over what is constant */
} pad_walk;

/* Trailing axes without pads belong to the entry, neighbours without pads are one axis. */
static void pad_walk_init(pad_walk *walk, const px_op_ctx *ctx)
{
    const pad_params *params = ctx->params;
    const px_shape *in = &ctx->in[0].shape, *out = &ctx->out[0].shape;
    *walk = (pad_walk){.mode = params->mode, .element = px_dtype_size(ctx->in[0].dtype)};
    int rank = in->rank;
    int64_t entry = 1;
    while (rank > 0 && params->begin[rank - 1] == 0 && in->dim[rank - 1] == out->dim[rank - 1])
        entry *= in->dim[--rank];
    bool last_plain = false;
    for (int i = 0; i < rank; i++) {
        const bool plain = params->begin[i] == 0 && in->dim[i] == out->dim[i];
        if (plain && last_plain) {
            walk->axis[walk->rank - 1].in *= in->dim[i];
            walk->axis[walk->rank - 1].out *= in->dim[i];
        } else {
            walk->axis[walk->rank++] = (pad_axis){in->dim[i], out->dim[i], params->begin[i]};
        }
        last_plain = plain;
    }
    if (walk->rank == 0)
        walk->axis[walk->rank++] = (pad_axis){1, 1, 0};
    int64_t in_size = entry, out_size = entry;
    for (int i = walk->rank - 1; i >= 0; i--) {
        walk->in_size[i] = in_size;
        walk->out_size[i] = out_size;
        in_size *= walk->axis[i].in;
        out_size *= walk->axis[i].out;
    }
    if (params->mode == PAD_CONSTANT && ctx->in_count > 2 && ctx->in[2].data)
        walk->value = ctx->in[2].data;
    else if (ctx->in[0].dtype == PX_FLOAT32)
        walk->value = &params->value;
    else if (ctx->in[0].dtype == PX_FLOAT64)
        walk->value = &params->value64;
}

/* The input entry shown at output entry `i`; -1: the constant. */
static int64_t pad_source(pad_mode mode, const pad_axis *axis, int64_t i)
{
    const int64_t at = i - axis->begin, n = axis->in;
    if (at >= 0 && at < n)
        return at;
    switch (mode) {
    case PAD_EDGE:
        return at < 0 ? 0 : n - 1;
    case PAD_REFLECT: {
        const int64_t period = n > 1 ? 2 * (n - 1) : 1;
        const int64_t turn = (at % period + period) % period;
        return turn < n ? turn : period - turn;
    }
    case PAD_WRAP:
        return (at % n + n) % n;
    default:
        return -1;
    }
}

static void pad_fill(const pad_walk *walk, char *to, int64_t count)
{
    if (!walk->value) {
        memset(to, 0, (size_t)count * walk->element);
        return;
    }
    const pxi_nest nest = {.rank = 1, .extent = {count}, .to = {1}};
    pxi_nest_copy(&nest, walk->element, to, walk->value);
}

static void pad_copy(const pad_walk *walk, int level, char *to, const char *from)
{
    const pad_axis *axis = &walk->axis[level];
    const size_t out_bytes = (size_t)walk->out_size[level] * walk->element;
    const size_t in_bytes = (size_t)walk->in_size[level] * walk->element;
    const bool last = level == walk->rank - 1;
    /* where the input itself is shown */
    const int64_t first = PX_MIN(PX_MAX(axis->begin, 0), axis->out);
    const int64_t stop = PX_MAX(PX_MIN(axis->begin + axis->in, axis->out), first);
    for (int64_t i = 0; i < axis->out; i++) {
        if (last && i == first && stop > first) {
            memcpy(to + (size_t)i * out_bytes, from + (size_t)(i - axis->begin) * in_bytes,
                   (size_t)(stop - first) * out_bytes);
            i = stop - 1;
            continue;
        }
        if (walk->mode == PAD_CONSTANT && (i < first || i >= stop)) {
            const int64_t end = i < first ? first : axis->out;
            pad_fill(walk, to + (size_t)i * out_bytes, (end - i) * walk->out_size[level]);
            i = end - 1;
            continue;
        }
        const char *source = from + (size_t)pad_source(walk->mode, axis, i) * in_bytes;
        if (last)
            memcpy(to + (size_t)i * out_bytes, source, out_bytes);
        else
            pad_copy(walk, level + 1, to + (size_t)i * out_bytes, source);
    }
}

/* dx may be NULL: only the constant's gradient is wanted. */
static void pad_add(pad_walk *walk, int level, px_real *dx, const px_real *dy)
{
    const pad_axis *axis = &walk->axis[level];
    for (int64_t i = 0; i < axis->out; i++) {
        const int64_t from = pad_source(walk->mode, axis, i);
        const px_real *source = dy + i * walk->out_size[level];
        px_real *to = dx && from > 0 ? dx + from * walk->in_size[level] : dx;
        if (from < 0) {
            for (int64_t j = 0; j < walk->out_size[level]; j++)
                walk->value_grad += (double)source[j];
        } else if (level < walk->rank - 1) {
            pad_add(walk, level + 1, to, source);
        } else if (dx) {
#pragma omp simd
            for (int64_t j = 0; j < walk->out_size[level]; j++)
                to[j] += source[j];
        }
    }
}

static px_status pad_forward(const px_op_ctx *ctx, px_error *err)
{
    (void)err;
    pad_walk walk;
    pad_walk_init(&walk, ctx);
    if (px_shape_count(&ctx->out[0].shape) > 0)
        pad_copy(&walk, 0, ctx->out[0].data, ctx->in[0].data);
    return PX_OK;
}

static void pad_backward(const px_op_ctx *ctx)
{
    const bool data = pxi_op_wants_grad(ctx, 0), value = pxi_op_wants_grad(ctx, 2);
    if ((!data && !value) || !ctx->out_grad[0].data || px_shape_count(&ctx->out[0].shape) == 0)
        return;
    pad_walk walk;
    pad_walk_init(&walk, ctx);
    pad_add(&walk, 0, data ? PXI_F32(ctx->in_grad[0]) : NULL, PXI_F32(ctx->out_grad[0]));
    if (value)
        PXI_F32(ctx->in_grad[2])[0] += (px_real)walk.value_grad;
}

static px_status pad_permute(px_op_ctx *ctx, const int *perm, int rank, px_error *err)
{
    (void)err;
    pxi_permute_int64(((pad_params *)ctx->params)->begin, perm, rank);
    return PX_OK;
}

#define PAD_OP(id, NAME, version, rule) \
    const px_op px_op_##id = {          \
        .name = NAME,                   \
        .since = version,               \
        .diff = PX_DIFF_YES,            \
        .setup = rule,                  \
        .forward = pad_forward,         \
        .backward = pad_backward,       \
        .permute = pad_permute,         \
    };

PAD_OP(pad_1, "Pad", 1, pad_setup_paddings)
PAD_OP(pad_2, "Pad", 2, pad_setup_pads)
PAD_OP(pad_11, "Pad", 11, pad_setup)
PAD_OP(centercroppad_18, "CenterCropPad", 18, pad_setup_center)
