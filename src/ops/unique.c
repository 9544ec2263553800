/* src/ops/unique.c - Unique: the distinct elements, or slices along an axis
 *
 * How many there are decides the output's shape, so the data must be constant and setup() does the
 * work. Slices are compared element by element; of equal ones the first stands for all.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#include "base/memory.h"
#include "ops/nest.h"

#include <stdlib.h>

typedef struct unique_params {
    int64_t count;    /* of distinct slices */
    int64_t *first;   /* per distinct slice, in output order: where it occurs first */
    int64_t *inverse; /* per slice: its number in the output */
    int64_t *repeats; /* per distinct slice */
    pxi_span span;
} unique_params;

typedef struct unique_sorter {
    const px_tensor *x;
    pxi_span span;
} unique_sorter;

static int compare_values(const px_tensor *x, int64_t a, int64_t b)
{
    if (pxi_is_real(x->dtype)) {
        const double va = pxi_number(x, a), vb = pxi_number(x, b);
        if (va != va || vb != vb) /* NaN last */
            return (va != va) - (vb != vb);
        return (va > vb) - (va < vb);
    }
    const int64_t va = pxi_integer(x, a), vb = pxi_integer(x, b);
    if (x->dtype == PX_UINT64)
        return ((uint64_t)va > (uint64_t)vb) - ((uint64_t)va < (uint64_t)vb);
    return (va > vb) - (va < vb);
}

static int compare_slices(const unique_sorter *s, int64_t a, int64_t b)
{
    for (int64_t o = 0; o < s->span.outer; o++)
        for (int64_t i = 0; i < s->span.inner; i++) {
            const int64_t base = o * s->span.extent * s->span.inner + i;
            const int order =
                compare_values(s->x, base + a * s->span.inner, base + b * s->span.inner);
            if (order != 0)
                return order;
        }
    return 0;
}

static int compare_entries(const void *pa, const void *pb, void *sorter)
{
    const int64_t a = *(const int64_t *)pa, b = *(const int64_t *)pb;
    const int order = compare_slices(sorter, a, b);
    return order != 0 ? order : (a > b) - (a < b);
}

static int compare_positions(const void *pa, const void *pb)
{
    const int64_t a = *(const int64_t *)pa, b = *(const int64_t *)pb;
    return (a > b) - (a < b);
}

/* Numbers the distinct slices in sorted order, or in order of first occurrence. */
static px_status unique_find(px_op_ctx *ctx, unique_params *params, bool sorted, px_error *err)
{
    const int64_t n = params->span.extent;
    const size_t size = (size_t)n;
    int64_t *order = pxi_arena_alloc(ctx->arena, size, sizeof *order);
    int64_t *stands = pxi_arena_alloc(ctx->arena, size, sizeof *stands); /* first equal slice */
    params->first = pxi_arena_alloc(ctx->arena, size, sizeof *params->first);
    params->inverse = pxi_arena_alloc(ctx->arena, size, sizeof *params->inverse);
    params->repeats = pxi_arena_alloc(ctx->arena, size, sizeof *params->repeats);
    if (!order || !stands || !params->first || !params->inverse || !params->repeats)
        return pxi_no_memory(err);
    unique_sorter sorter = {&ctx->in[0], params->span};
    for (int64_t i = 0; i < n; i++)
        order[i] = i;
    if (n > 1)
        qsort_r(order, size, sizeof *order, compare_entries, &sorter);
    for (int64_t i = 0; i < n; i++) {
        const bool fresh = i == 0 || compare_slices(&sorter, order[i - 1], order[i]) != 0;
        if (fresh)
            params->first[params->count++] = order[i];
        stands[order[i]] = fresh ? order[i] : stands[order[i - 1]];
    }
    if (!sorted && params->count > 1)
        qsort(params->first, (size_t)params->count, sizeof *params->first, compare_positions);
    for (int64_t u = 0; u < params->count; u++)
        params->inverse[params->first[u]] = u;
    for (int64_t i = 0; i < n; i++) {
        params->inverse[i] = params->inverse[stands[i]];
        params->repeats[params->inverse[i]]++;
    }
    return PX_OK;
}

static px_status unique_setup(px_op_ctx *ctx, px_error *err)
{
    PX_TRY(pxi_op_arity(ctx, 1, 1, 1, 4, err));
    PX_TRY(pxi_op_need_const(ctx, 0, err));
    PX_TRY(pxi_op_params(ctx, sizeof(unique_params), err));
    unique_params *params = ctx->params;
    const px_shape *in = &ctx->in[0].shape;
    px_shape out = {.rank = 1};
    int axis = 0;
    params->span = (pxi_span){1, px_shape_count(in), 1};
    if (px_node_attr(ctx->node, "axis")) {
        PX_TRY(pxi_op_axis(ctx, px_node_int(ctx->node, "axis", 0), in->rank, &axis, err));
        params->span = pxi_span_at(in, axis);
        out = *in;
    }
    if (params->span.outer == 0 || params->span.inner == 0)
        return pxi_op_fail(ctx, err, PX_E_UNSUPPORTED, "slices without elements are not supported");
    PX_TRY(unique_find(ctx, params, px_node_int(ctx->node, "sorted", 1) != 0, err));
    out.dim[axis] = params->count;
    ctx->out[0].dtype = ctx->in[0].dtype;
    ctx->out[0].shape = out;
    for (int i = 1; i < ctx->out_count; i++) {
        ctx->out[i].dtype = PX_INT64;
        ctx->out[i].shape =
            (px_shape){.rank = 1, .dim = {i == 2 ? params->span.extent : params->count}};
    }
    return PX_OK;
}

static px_status unique_forward(const px_op_ctx *ctx, px_error *err)
{
    (void)err;
    const unique_params *params = ctx->params;
    const pxi_span *span = &params->span;
    const size_t element = px_dtype_size(ctx->in[0].dtype);
    for (int64_t u = 0; ctx->out[0].data && u < params->count; u++) {
        pxi_nest nest = {0};
        pxi_nest_axis(&nest, span->outer, params->count * span->inner, span->extent * span->inner);
        pxi_nest_axis(&nest, span->inner, 1, 1);
        pxi_nest_copy(
            &nest, element, (char *)ctx->out[0].data + (size_t)(u * span->inner) * element,
            (const char *)ctx->in[0].data + (size_t)(params->first[u] * span->inner) * element);
    }
    const int64_t *const lists[] = {NULL, params->first, params->inverse, params->repeats};
    for (int i = 1; i < ctx->out_count; i++)
        for (int64_t j = 0; ctx->out[i].data && j < ctx->out[i].shape.dim[0]; j++)
            PXI_I64(ctx->out[i])[j] = lists[i][j];
    return PX_OK;
}

const px_op px_op_unique_11 = {
    .name = "Unique",
    .since = 11,
    .diff = PX_DIFF_ZERO,
    .setup = unique_setup,
    .forward = unique_forward,
};
