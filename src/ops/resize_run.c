/* src/ops/resize_run.c - Resize along one axis after the other
 *
 * Interpolation is separable: each pass resizes one axis, [outer][in][inner] to
 * [outer][out][inner], so that rows of contiguous elements are combined whatever the layout. Passes
 * that shrink go first. Nearest moves elements only and takes any type.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#include "ops/resize.h"

#include "base/memory.h"

#include <string.h>

static bool axis_changes(const pxi_resize_params *p, const px_shape *in, const px_shape *out,
                         int axis)
{
    if (p->crops && (p->roi_start[axis] != 0.0 || p->roi_end[axis] != 1.0))
        return true;
    return in->dim[axis] != out->dim[axis] || p->scale[axis] != 1.0;
}

/* Elements after pass `done` (axes order[0..done] resized); -1 when that does not fit. */
static int64_t count_after(const pxi_resize_params *p, const px_shape *in, const px_shape *out,
                           int done)
{
    int64_t extent[PX_MAX_RANK];
    for (int i = 0; i < in->rank; i++)
        extent[i] = in->dim[i];
    for (int i = 0; i <= done; i++)
        extent[p->order[i]] = out->dim[p->order[i]];
    return pxi_mul_all(extent, in->rank);
}

typedef struct resize_room { /* how scratch is laid out */
    int64_t taps_bytes, even_bytes, odd_bytes;
} resize_room;

/* The taps of the pass at hand, then the results of even and of odd passes; the last pass writes
 * the output itself. False: too large. */
static bool resize_room_of(const px_op_ctx *ctx, resize_room *room)
{
    const pxi_resize_params *p = ctx->params;
    const px_shape *in = &ctx->in[0].shape, *out = &ctx->out[0].shape;
    const int64_t element = (int64_t)px_dtype_size(ctx->in[0].dtype);
    *room = (resize_room){0};
    for (int i = 0; i < p->passes; i++) {
        const int axis = p->order[i];
        const int64_t taps = pxi_taps_bytes(pxi_taps_count(p, axis), out->dim[axis]);
        int64_t bytes = 0;
        if (taps < 0)
            return false;
        room->taps_bytes = PX_MAX(room->taps_bytes, taps);
        if (i == p->passes - 1)
            break;
        const int64_t count = count_after(p, in, out, i);
        if (count < 0 || __builtin_mul_overflow(count, element, &bytes) || bytes > INT64_MAX / 4)
            return false;
        int64_t *place = i % 2 == 0 ? &room->even_bytes : &room->odd_bytes;
        *place = PX_MAX(*place, bytes / 64 * 64 + 64);
    }
    return room->taps_bytes < INT64_MAX / 4;
}

px_status pxi_resize_plan(px_op_ctx *ctx, px_error *err)
{
    pxi_resize_params *p = ctx->params;
    const px_shape *in = &ctx->in[0].shape, *out = &ctx->out[0].shape;
    p->crops = p->coordinate == PXI_RESIZE_TF_CROP;
    p->passes = 0;
    for (int i = 0; i < in->rank; i++) {
        if (!axis_changes(p, in, out, i))
            continue;
        if (in->dim[i] == 0 && out->dim[i] > 0)
            return pxi_op_fail(ctx, err, PX_E_INPUT, "has nothing to resize along axis %d", i);
        p->order[p->passes++] = i;
    }
    for (int i = 1; i < p->passes; i++) /* by growth, stable */
        for (int j = i; j > 0; j--) {
            const int a = p->order[j - 1], b = p->order[j];
            if ((double)out->dim[a] * (double)in->dim[b] <=
                (double)out->dim[b] * (double)in->dim[a])
                break;
            p->order[j - 1] = b;
            p->order[j] = a;
        }
    resize_room room;
    if (!resize_room_of(ctx, &room))
        return pxi_op_fail(ctx, err, PX_E_INPUT, "its result is too large");
    return pxi_op_scratch(ctx, room.taps_bytes + room.even_bytes + room.odd_bytes, 1, err);
}

/* --- one pass -------------------------------------------------------------------------------- */

static void pass_nearest(const pxi_taps *taps, pxi_span in, int64_t out, size_t element, char *y,
                         const char *x)
{
    const size_t bytes = (size_t)in.inner * element;
    for (int64_t o = 0; o < in.outer; o++) {
        const char *from = x + (size_t)(o * in.extent) * bytes;
        char *to = y + (size_t)(o * out) * bytes;
        if (in.inner == 1 && element == 4) {
            for (int64_t i = 0; i < out; i++)
                ((uint32_t *)to)[i] = ((const uint32_t *)from)[taps->index[i]];
        } else {
            for (int64_t i = 0; i < out; i++)
                memcpy(to + (size_t)i * bytes, from + (size_t)taps->index[i] * bytes, bytes);
        }
    }
}

static void pass_blend(const pxi_taps *taps, pxi_span in, int64_t out, px_real *y, const px_real *x)
{
    for (int64_t o = 0; o < in.outer; o++)
        for (int64_t i = 0; i < out; i++) {
            const px_real *from = x + o * in.extent * in.inner;
            px_real *to = y + (o * out + i) * in.inner;
            const int64_t *index = taps->index + i * taps->count;
            const double *weight = taps->weight + i * taps->count;
            if (in.inner == 1) {
                double sum = 0.0;
                for (int64_t k = 0; k < taps->count; k++)
                    sum += weight[k] * (double)from[index[k]];
                to[0] = (px_real)sum;
                continue;
            }
            for (int64_t k = 0; k < taps->count; k++) {
                const px_real w = (px_real)weight[k], *row = from + index[k] * in.inner;
                if (k == 0)
                    for (int64_t j = 0; j < in.inner; j++)
                        to[j] = w * row[j];
                else
                    for (int64_t j = 0; j < in.inner; j++)
                        to[j] += w * row[j];
            }
        }
}

/* The transpose of both: dx += taps^T dy. */
static void pass_back(const pxi_taps *taps, pxi_span in, int64_t out, px_real *dx,
                      const px_real *dy)
{
    for (int64_t o = 0; o < in.outer; o++)
        for (int64_t i = 0; i < out; i++)
            for (int64_t k = 0; k < taps->count; k++) {
                const px_real w = (px_real)taps->weight[i * taps->count + k];
                const px_real *from = dy + (o * out + i) * in.inner;
                px_real *to = dx + (o * in.extent + taps->index[i * taps->count + k]) * in.inner;
                for (int64_t j = 0; j < in.inner; j++)
                    to[j] += w * from[j];
            }
}

/* Entries outside of a crop show the extrapolation value whatever the other axes say. */
static void fill_outside(const pxi_taps *taps, pxi_span span, double value, px_tensor *y)
{
    for (int64_t o = 0; o < span.outer; o++)
        for (int64_t i = 0; i < span.extent; i++)
            for (int64_t j = 0; taps->outside[i] && j < span.inner; j++)
                pxi_store_number(y, (o * span.extent + i) * span.inner + j, value);
}

/* --- all passes ------------------------------------------------------------------------------ */

px_status pxi_resize_forward(const px_op_ctx *ctx, px_error *err)
{
    (void)err;
    const pxi_resize_params *p = ctx->params;
    const size_t element = px_dtype_size(ctx->in[0].dtype);
    px_shape shape = ctx->in[0].shape;
    resize_room room;
    if (px_shape_count(&ctx->out[0].shape) == 0 || !resize_room_of(ctx, &room))
        return PX_OK;
    if (p->passes == 0) {
        memcpy(ctx->out[0].data, ctx->in[0].data, px_tensor_bytes(&ctx->in[0]));
        return PX_OK;
    }
    char *even = (char *)ctx->scratch + room.taps_bytes, *odd = even + room.even_bytes;
    const void *from = ctx->in[0].data;
    pxi_taps taps;
    for (int i = 0; i < p->passes; i++) {
        const int axis = p->order[i];
        const pxi_span in = pxi_span_at(&shape, axis);
        const int64_t out = ctx->out[0].shape.dim[axis];
        void *to = i == p->passes - 1 ? ctx->out[0].data : i % 2 == 0 ? even : odd;
        pxi_taps_fill(&taps, ctx->scratch, p, axis, in.extent, out);
        if (p->mode == PXI_RESIZE_NEAREST)
            pass_nearest(&taps, in, out, element, to, from);
        else
            pass_blend(&taps, in, out, to, from);
        shape.dim[axis] = out;
        from = to;
    }
    for (int i = 0; p->crops && i < p->passes; i++) {
        const int axis = p->order[i];
        pxi_taps_fill(&taps, ctx->scratch, p, axis, ctx->in[0].shape.dim[axis],
                      ctx->out[0].shape.dim[axis]);
        fill_outside(&taps, pxi_span_at(&ctx->out[0].shape, axis), p->extrapolation, &ctx->out[0]);
    }
    return PX_OK;
}

void pxi_resize_backward(const px_op_ctx *ctx)
{
    const pxi_resize_params *p = ctx->params;
    resize_room room;
    if (!pxi_op_wants_grad(ctx, 0) || !ctx->out_grad[0].data ||
        px_shape_count(&ctx->out[0].shape) == 0 || !resize_room_of(ctx, &room))
        return;
    px_shape shape = ctx->out[0].shape;
    char *even = (char *)ctx->scratch + room.taps_bytes, *odd = even + room.even_bytes;
    const px_real *from = PXI_F32(ctx->out_grad[0]);
    px_real *dx = PXI_F32(ctx->in_grad[0]);
    if (p->passes == 0) {
        const int64_t count = px_shape_count(&shape);
        for (int64_t i = 0; i < count; i++)
            dx[i] += from[i];
    }
    for (int i = p->passes - 1; i >= 0; i--) {
        const int axis = p->order[i];
        const int64_t out = shape.dim[axis];
        shape.dim[axis] = ctx->in[0].shape.dim[axis];
        const pxi_span in = pxi_span_at(&shape, axis);
        px_real *to = i == 0 ? dx : (px_real *)((i - 1) % 2 == 0 ? even : odd);
        if (i > 0)
            memset(to, 0, (size_t)px_shape_count(&shape) * sizeof *to);
        pxi_taps taps;
        pxi_taps_fill(&taps, ctx->scratch, p, axis, in.extent, out);
        pass_back(&taps, in, out, to, from);
        from = to;
    }
}

px_status pxi_resize_permute(px_op_ctx *ctx, const int *perm, int rank, px_error *err)
{
    (void)err;
    pxi_resize_params *p = ctx->params;
    double scale[PX_MAX_RANK], start[PX_MAX_RANK], end[PX_MAX_RANK];
    memcpy(scale, p->scale, sizeof scale);
    memcpy(start, p->roi_start, sizeof start);
    memcpy(end, p->roi_end, sizeof end);
    for (int i = 0; i < rank; i++) {
        p->scale[i] = scale[perm[i]];
        p->roi_start[i] = start[perm[i]];
        p->roi_end[i] = end[perm[i]];
    }
    for (int i = 0; i < p->passes; i++)
        p->order[i] = pxi_permute_axis(p->order[i], perm, rank);
    return PX_OK;
}
