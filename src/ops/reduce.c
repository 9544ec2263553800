/* src/ops/reduce.c - ReduceSum, Mean, Max, Min, Prod, L1, L2, LogSum, LogSumExp, SumSquare
 *
 * Sums and products are formed in double; NaN goes through, maxima and minima included. The mean of
 * nothing is NaN, its sum 0, its product 1, its maximum -infinity. Integers are computed modulo
 * 2^64 and then cut to their type, as numpy does.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#include "ops/fold.h"

#include "base/memory.h"

#include <math.h>

static px_status reduce_axes(px_op_ctx *ctx, pxi_reduce_kind kind, const int64_t *axes,
                             int64_t count, px_error *err)
{
    const px_shape *in = &ctx->in[0].shape;
    PX_TRY(pxi_op_type(ctx, 0, PXI_TYPES_NUMBER | PXI_TYPES_BOOL, err));
    PX_TRY(pxi_op_params(ctx, sizeof(pxi_reduce_params), err));
    pxi_reduce_params *params = ctx->params;
    params->kind = kind;
    params->keepdims = px_node_int(ctx->node, "keepdims", 1) != 0;
    PX_TRY(pxi_op_mark_axes(ctx, axes, count, in->rank, params->reduced, err));
    const bool all = count <= 0 && !px_node_int(ctx->node, "noop_with_empty_axes", 0);
    px_shape out = {0};
    for (int i = 0; i < in->rank; i++) {
        params->reduced[i] = params->reduced[i] || all;
        if (!params->reduced[i] || params->keepdims)
            out.dim[out.rank++] = params->reduced[i] ? 1 : in->dim[i];
    }
    ctx->out[0].dtype = ctx->in[0].dtype;
    ctx->out[0].shape = out;
    /* ties of Max and Min, zeros and products of Prod; see reduce_grad.c */
    if (kind == PXI_REDUCE_MAX || kind == PXI_REDUCE_MIN || kind == PXI_REDUCE_PROD)
        return pxi_op_scratch(ctx, pxi_mul_all(out.dim, out.rank), 2 * sizeof(double), err);
    return PX_OK;
}

static px_status reduce_setup_attr(px_op_ctx *ctx, pxi_reduce_kind kind, px_error *err)
{
    const int64_t *axes;
    int64_t count;
    PX_TRY(pxi_op_arity(ctx, 1, 1, 1, 1, err));
    PX_TRY(pxi_attr_ints(ctx, "axes", &axes, &count, err));
    return reduce_axes(ctx, kind, axes, count, err);
}

static px_status reduce_setup_input(px_op_ctx *ctx, pxi_reduce_kind kind, px_error *err)
{
    const int64_t *axes;
    int64_t count;
    PX_TRY(pxi_op_arity(ctx, 1, 2, 1, 1, err));
    PX_TRY(pxi_op_ints(ctx, NULL, 1, &axes, &count, err));
    return reduce_axes(ctx, kind, axes, count, err);
}

/* --- float32 --------------------------------------------------------------------------------- */

enum { REDUCE_CHUNK = 64 }; /* results computed side by side; their sums stay in cache */

static double first_value(pxi_reduce_kind kind)
{
    switch (kind) {
    case PXI_REDUCE_MAX:
        return -INFINITY;
    case PXI_REDUCE_MIN:
        return INFINITY;
    case PXI_REDUCE_PROD:
        return 1.0;
    default:
        return 0.0;
    }
}

static double larger(double a, double b) /* NaN if either is */
{
    return b > a || isnan(b) ? b : a;
}

static double smaller(double a, double b)
{
    return b < a || isnan(b) ? b : a;
}

static double finished(pxi_reduce_kind kind, double sum, double shift, int64_t per_result)
{
    switch (kind) {
    case PXI_REDUCE_MEAN:
        return sum / (double)per_result; /* 0 / 0, NaN, for none */
    case PXI_REDUCE_L2:
        return sqrt(sum);
    case PXI_REDUCE_LOG_SUM:
        return log(sum);
    case PXI_REDUCE_LOG_SUM_EXP:
        return log(sum) + shift;
    default:
        return sum;
    }
}

/* value[j] joined with x[j], or value[0] with all of x. */
#define EACH(expression)                       \
    do {                                       \
        if (scalar) {                          \
            double all = value[0];             \
            for (int64_t j = 0; j < n; j++) {  \
                const double a = all;          \
                const double b = (double)x[j]; \
                const double s = shift[0];     \
                (void)s;                       \
                all = (expression);            \
            }                                  \
            value[0] = all;                    \
        } else {                               \
            for (int64_t j = 0; j < n; j++) {  \
                const double a = value[j];     \
                const double b = (double)x[j]; \
                const double s = shift[j];     \
                (void)s;                       \
                value[j] = (expression);       \
            }                                  \
        }                                      \
    } while (0)

static void reduce_row(pxi_reduce_kind kind, double *value, const double *shift, const px_real *x,
                       int64_t n, bool scalar)
{
    switch (kind) {
    case PXI_REDUCE_SUM:
    case PXI_REDUCE_MEAN:
    case PXI_REDUCE_LOG_SUM:
        if (scalar)
            value[0] += pxi_sum_row(x, n);
        else
            EACH(a + b);
        break;
    case PXI_REDUCE_MAX:
        EACH(larger(a, b));
        break;
    case PXI_REDUCE_MIN:
        EACH(smaller(a, b));
        break;
    case PXI_REDUCE_PROD:
        EACH(a * b);
        break;
    case PXI_REDUCE_L1:
        EACH(a + fabs(b));
        break;
    case PXI_REDUCE_L2:
    case PXI_REDUCE_SUM_SQUARE:
        EACH(a + b * b);
        break;
    case PXI_REDUCE_LOG_SUM_EXP:
        EACH(a + exp(b - s));
        break;
    }
}

/* All elements of `width` neighbouring results (1 for a scalar row) into value[]. */
static void reduce_results(const pxi_fold *fold, pxi_reduce_kind kind, double *value,
                           const double *shift, const px_real *x, int64_t width)
{
    for (int64_t j = 0; j < width; j++)
        value[j] = first_value(kind);
    if (fold->per_result == 0)
        return;
    int64_t index[PXI_NEST_RANK] = {0}, offset = 0;
    do
        reduce_row(kind, value, shift, x + offset, fold->scalar ? fold->row : width, fold->scalar);
    while (pxi_fold_next(fold->reduced_rank, fold->reduced, fold->reduced_stride, index, &offset));
}

static void reduce_real(const pxi_fold *fold, pxi_reduce_kind kind, px_real *y, const px_real *x)
{
    const int64_t width = fold->scalar ? 1 : fold->row;
    int64_t kept[PXI_NEST_RANK] = {0}, base = 0;
    if (fold->out_count == 0)
        return;
    do {
        for (int64_t c = 0; c < width; c += REDUCE_CHUNK) {
            const int64_t n = PX_MIN(width - c, REDUCE_CHUNK);
            double value[REDUCE_CHUNK], shift[REDUCE_CHUNK] = {0.0};
            if (kind == PXI_REDUCE_LOG_SUM_EXP) { /* exp(x - max) cannot overflow */
                reduce_results(fold, PXI_REDUCE_MAX, shift, shift, x + base + c, n);
                for (int64_t j = 0; j < n; j++)
                    if (!isfinite(shift[j]))
                        shift[j] = 0.0;
            }
            reduce_results(fold, kind, value, shift, x + base + c, n);
            for (int64_t j = 0; j < n; j++)
                y[c + j] = (px_real)finished(kind, value[j], shift[j], fold->per_result);
        }
        y += width;
    } while (pxi_fold_next(fold->kept_rank, fold->kept, fold->kept_stride, kept, &base));
}

/* --- other types: shape arithmetic, rarely more ---------------------------------------------- */

typedef struct reduce_other {
    pxi_reduce_kind kind;
    const px_tensor *x;
    px_tensor *y;
} reduce_other;

static bool reduce_is_real(const reduce_other *r)
{
    return pxi_is_real(r->x->dtype) || r->kind == PXI_REDUCE_L2 || r->kind == PXI_REDUCE_LOG_SUM ||
           r->kind == PXI_REDUCE_LOG_SUM_EXP;
}

static double other_real(const reduce_other *r, const pxi_fold *fold, int64_t base)
{
    double shift = 0.0, value = 0.0;
    for (int pass = r->kind == PXI_REDUCE_LOG_SUM_EXP ? 0 : 1; pass < 2; pass++) {
        const pxi_reduce_kind kind = pass == 0 ? PXI_REDUCE_MAX : r->kind;
        value = first_value(kind);
        int64_t index[PXI_NEST_RANK] = {0}, offset = base;
        do {
            const double b = pxi_number(r->x, offset);
            value = kind == PXI_REDUCE_MAX           ? larger(value, b)
                    : kind == PXI_REDUCE_MIN         ? smaller(value, b)
                    : kind == PXI_REDUCE_PROD        ? value * b
                    : kind == PXI_REDUCE_L1          ? value + fabs(b)
                    : kind == PXI_REDUCE_L2          ? value + b * b
                    : kind == PXI_REDUCE_SUM_SQUARE  ? value + b * b
                    : kind == PXI_REDUCE_LOG_SUM_EXP ? value + exp(b - shift)
                                                     : value + b;
        } while (
            pxi_fold_next(fold->reduced_rank, fold->reduced, fold->reduced_stride, index, &offset));
        if (pass == 0 && isfinite(value))
            shift = value;
    }
    return finished(r->kind, value, shift, fold->per_result);
}

static int64_t other_integer(const reduce_other *r, const pxi_fold *fold, int64_t base)
{
    const bool wide = r->x->dtype == PX_UINT64;
    uint64_t value = r->kind == PXI_REDUCE_PROD;
    bool first = true;
    int64_t index[PXI_NEST_RANK] = {0}, offset = base;
    do {
        const int64_t b = pxi_integer(r->x, offset);
        const uint64_t u = (uint64_t)b;
        const bool above = wide ? u > value : b > (int64_t)value;
        if (r->kind == PXI_REDUCE_MAX || r->kind == PXI_REDUCE_MIN)
            value = first || above == (r->kind == PXI_REDUCE_MAX) ? u : value;
        else if (r->kind == PXI_REDUCE_PROD)
            value *= u;
        else if (r->kind == PXI_REDUCE_SUM_SQUARE)
            value += u * u;
        else if (r->kind == PXI_REDUCE_L1 && !wide && b < 0)
            value -= u;
        else
            value += u;
        first = false;
    } while (
        pxi_fold_next(fold->reduced_rank, fold->reduced, fold->reduced_stride, index, &offset));
    if (r->kind == PXI_REDUCE_MEAN && wide)
        value /= (uint64_t)fold->per_result;
    else if (r->kind == PXI_REDUCE_MEAN)
        return (int64_t)value / fold->per_result;
    return (int64_t)value;
}

/* The fold's row becomes one more axis, so that elements are visited singly. */
static void reduce_others(pxi_fold fold, const reduce_other *r)
{
    int64_t *extent = fold.scalar ? fold.reduced : fold.kept;
    int64_t *stride = fold.scalar ? fold.reduced_stride : fold.kept_stride;
    int *rank = fold.scalar ? &fold.reduced_rank : &fold.kept_rank;
    for (int i = (*rank)++; i > 0; i--) {
        extent[i] = extent[i - 1];
        stride[i] = stride[i - 1];
    }
    extent[0] = fold.row;
    stride[0] = 1;
    int64_t kept[PXI_NEST_RANK] = {0}, base = 0;
    for (int64_t y = 0; y < fold.out_count; y++) {
        if (fold.per_result == 0)
            pxi_store_number(r->y, y, finished(r->kind, first_value(r->kind), 0.0, 0));
        else if (reduce_is_real(r))
            pxi_store_number(r->y, y, other_real(r, &fold, base));
        else
            pxi_store_integer(r->y, y, other_integer(r, &fold, base));
        pxi_fold_next(fold.kept_rank, fold.kept, fold.kept_stride, kept, &base);
    }
}

static px_status reduce_forward(const px_op_ctx *ctx, px_error *err)
{
    (void)err;
    const pxi_reduce_params *params = ctx->params;
    pxi_fold fold;
    pxi_fold_init(&fold, ctx->in[0].shape.rank, ctx->in[0].shape.dim, params->reduced);
    if (ctx->in[0].dtype == PX_FLOAT32)
        reduce_real(&fold, params->kind, PXI_F32(ctx->out[0]), PXI_F32(ctx->in[0]));
    else
        reduce_others(fold, &(reduce_other){params->kind, &ctx->in[0], &ctx->out[0]});
    return PX_OK;
}

static px_status reduce_permute(px_op_ctx *ctx, const int *perm, int rank, px_error *err)
{
    pxi_reduce_params *params = ctx->params;
    if (!params->keepdims)
        return pxi_permute_refuse(ctx, err);
    pxi_permute_bool(params->reduced, perm, rank);
    return PX_OK;
}

#define REDUCE_OP(id, op_name, version, kind, how)             \
    static px_status setup_##id(px_op_ctx *ctx, px_error *err) \
    {                                                          \
        return reduce_setup_##how(ctx, kind, err);             \
    }                                                          \
    const px_op px_op_##id = {                                 \
        .name = op_name,                                       \
        .since = version,                                      \
        .diff = PX_DIFF_YES,                                   \
        .setup = setup_##id,                                   \
        .forward = reduce_forward,                             \
        .backward = pxi_reduce_backward,                       \
        .permute = reduce_permute,                             \
    };
/* axes are an attribute up to the second version, an input from there on */
#define REDUCE_OPS(id, op_name, kind, input_since) \
    REDUCE_OP(id##_1, op_name, 1, kind, attr)      \
    REDUCE_OP(id##_##input_since, op_name, input_since, kind, input)

REDUCE_OPS(reducesum, "ReduceSum", PXI_REDUCE_SUM, 13)
REDUCE_OPS(reducemean, "ReduceMean", PXI_REDUCE_MEAN, 18)
REDUCE_OPS(reducemax, "ReduceMax", PXI_REDUCE_MAX, 18)
REDUCE_OPS(reducemin, "ReduceMin", PXI_REDUCE_MIN, 18)
REDUCE_OPS(reduceprod, "ReduceProd", PXI_REDUCE_PROD, 18)
REDUCE_OPS(reducel1, "ReduceL1", PXI_REDUCE_L1, 18)
REDUCE_OPS(reducel2, "ReduceL2", PXI_REDUCE_L2, 18)
REDUCE_OPS(reducelogsum, "ReduceLogSum", PXI_REDUCE_LOG_SUM, 18)
REDUCE_OPS(reducelogsumexp, "ReduceLogSumExp", PXI_REDUCE_LOG_SUM_EXP, 18)
REDUCE_OPS(reducesumsquare, "ReduceSumSquare", PXI_REDUCE_SUM_SQUARE, 18)
