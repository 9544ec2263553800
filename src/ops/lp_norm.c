/* src/ops/lp_norm.c - LpNormalization (since opset 1) and MeanVarianceNormalization (since 9)
 *
 * LpNormalization: y = x / (1- or 2-norm of x) along one axis. Where the norm is 0, y is 0 and
 * nothing flows back.
 *
 * MeanVarianceNormalization: y = (x - mean) / (s + 1e-9), s the standard deviation over `axes`
 * (0, 2, 3 by default). Where s is 0 its own derivative is taken as 0.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#include <internal/nn_check.h>

#include <tgmath.h>

/* Both walk groups of elements: `outer` axes say which group, `inner` ones which element of it. */
typedef struct lp_norm_walk {
    int outer_rank, inner_rank;
    int outer_axis[PX_MAX_RANK], inner_axis[PX_MAX_RANK];
    int64_t p; /* LpNormalization: 1 or 2 */
} lp_norm_walk;

static px_status lp_norm_check(px_op_ctx *ctx, px_error *err)
{
    PX_TRY(pxi_op_arity(ctx, 1, 1, 1, 1, err));
    PX_TRY(pxi_nn_float(ctx, 0, 0, err));
    ctx->out[0] = (px_tensor){.dtype = PX_FLOAT32, .shape = ctx->in[0].shape};
    return pxi_op_params(ctx, sizeof(lp_norm_walk), err);
}

static void walk_make(lp_norm_walk *walk, int rank, unsigned inner_axes)
{
    for (int i = 0; i < rank; i++) {
        if (inner_axes >> i & 1u)
            walk->inner_axis[walk->inner_rank++] = i;
        else
            walk->outer_axis[walk->outer_rank++] = i;
    }
}

static px_status lp_norm_setup(px_op_ctx *ctx, px_error *err)
{
    PX_TRY(lp_norm_check(ctx, err));
    lp_norm_walk *walk = ctx->params;
    int axis = 0;
    const int rank = ctx->in[0].shape.rank;
    PX_TRY(pxi_op_axis(ctx, px_node_int(ctx->node, "axis", -1), rank, &axis, err));
    PX_TRY(pxi_nn_int(ctx, "p", 1, 2, 2, &walk->p, err));
    walk_make(walk, rank, 1u << axis);
    return PX_OK;
}

static px_status mean_variance_setup(px_op_ctx *ctx, px_error *err)
{
    PX_TRY(lp_norm_check(ctx, err));
    static const int64_t standard[] = {0, 2, 3};
    const px_attr *attr = px_node_attr(ctx->node, "axes");
    const int rank = ctx->in[0].shape.rank;
    unsigned inner = 0;
    if (attr && attr->kind != PX_ATTR_INTS)
        return pxi_op_fail(ctx, err, PX_E_INPUT, "attribute 'axes' should be a list of integers");
    for (size_t i = 0; i < (attr ? attr->count : 3); i++) {
        int axis = 0;
        PX_TRY(pxi_op_axis(ctx, attr ? attr->ints[i] : standard[i], rank, &axis, err));
        inner |= 1u << axis;
    }
    walk_make(ctx->params, rank, inner);
    return PX_OK;
}

static int64_t walk_count(const px_shape *shape, const int *axes, int rank)
{
    int64_t count = 1;
    for (int i = 0; i < rank; i++)
        count *= shape->dim[axes[i]];
    return count;
}

/* Where element i of the sub-array spanned by `axes` lies. */
static int64_t walk_at(const px_shape *shape, const int *axes, int rank, int64_t i)
{
    int64_t at = 0;
    for (int k = rank - 1; k >= 0; k--) {
        int64_t stride = 1;
        for (int axis = axes[k] + 1; axis < shape->rank; axis++)
            stride *= shape->dim[axis];
        at += i % shape->dim[axes[k]] * stride;
        i /= shape->dim[axes[k]];
    }
    return at;
}

/* One group: `base` is where it starts, `count` its elements. */
typedef struct lp_norm_group {
    const lp_norm_walk *walk;
    const px_shape *shape;
    int64_t base, count;
} lp_norm_group;

static int64_t group_at(const lp_norm_group *g, int64_t i)
{
    return g->base + walk_at(g->shape, g->walk->inner_axis, g->walk->inner_rank, i);
}

static double group_norm(const lp_norm_group *g, const px_real *x)
{
    double sum = 0.0;
    for (int64_t i = 0; i < g->count; i++) {
        const double value = (double)x[group_at(g, i)];
        sum += g->walk->p == 1 ? fabs(value) : value * value;
    }
    return g->walk->p == 1 ? sum : sqrt(sum);
}

static void lp_norm_pass(const lp_norm_group *g, const px_real *x, px_real *y)
{
    const double norm = group_norm(g, x);
    for (int64_t i = 0; i < g->count; i++) {
        const int64_t at = group_at(g, i);
        y[at] = norm == 0.0 ? 0 : (px_real)((double)x[at] / norm);
    }
}

/* dx = (dy - d|x|_p/dx * sum of dy y) / norm */
static void lp_norm_pull(const lp_norm_group *g, const px_real *x, const px_real *dy, px_real *dx)
{
    const double norm = group_norm(g, x);
    if (norm == 0.0)
        return;
    double sum = 0.0;
    for (int64_t i = 0; i < g->count; i++)
        sum += (double)dy[group_at(g, i)] * (double)x[group_at(g, i)] / norm;
    for (int64_t i = 0; i < g->count; i++) {
        const int64_t at = group_at(g, i);
        const double slope =
            g->walk->p == 2 ? (double)x[at] / norm : (double)((x[at] > 0) - (x[at] < 0));
        dx[at] += (px_real)(((double)dy[at] - slope * sum) / norm);
    }
}

static const double mean_variance_epsilon = 1e-9;

static void group_moments(const lp_norm_group *g, const px_real *x, double *mean, double *deviation)
{
    double sum = 0.0, squares = 0.0;
    for (int64_t i = 0; i < g->count; i++)
        sum += (double)x[group_at(g, i)];
    *mean = sum / (double)g->count;
    for (int64_t i = 0; i < g->count; i++) {
        const double off = (double)x[group_at(g, i)] - *mean;
        squares += off * off;
    }
    *deviation = sqrt(squares / (double)g->count);
}

static void mean_variance_pass(const lp_norm_group *g, const px_real *x, px_real *y)
{
    double mean, deviation;
    group_moments(g, x, &mean, &deviation);
    for (int64_t i = 0; i < g->count; i++) {
        const int64_t at = group_at(g, i);
        y[at] = (px_real)(((double)x[at] - mean) / (deviation + mean_variance_epsilon));
    }
}

static void mean_variance_pull(const lp_norm_group *g, const px_real *x, const px_real *dy,
                               px_real *dx)
{
    double mean, deviation, sum = 0.0, product = 0.0;
    group_moments(g, x, &mean, &deviation);
    const double divisor = deviation + mean_variance_epsilon, count = (double)g->count;
    for (int64_t i = 0; i < g->count; i++) {
        const int64_t at = group_at(g, i);
        sum += (double)dy[at];
        product += (double)dy[at] * ((double)x[at] - mean);
    }
    const double lean = deviation == 0.0 ? 0.0 : product / (divisor * divisor * deviation * count);
    for (int64_t i = 0; i < g->count; i++) {
        const int64_t at = group_at(g, i);
        dx[at] +=
            (px_real)(((double)dy[at] - sum / count) / divisor - ((double)x[at] - mean) * lean);
    }
}

typedef void pass_function(const lp_norm_group *g, const px_real *x, px_real *y);
typedef void pull_function(const lp_norm_group *g, const px_real *x, const px_real *dy,
                           px_real *dx);

static void walk_groups(const px_op_ctx *ctx, pass_function *pass, pull_function *pull)
{
    const lp_norm_walk *walk = ctx->params;
    const px_shape *shape = &ctx->in[0].shape;
    lp_norm_group g = {.walk = walk,
                       .shape = shape,
                       .count = walk_count(shape, walk->inner_axis, walk->inner_rank)};
    const int64_t groups = walk_count(shape, walk->outer_axis, walk->outer_rank);
    for (int64_t i = 0; g.count > 0 && i < groups; i++) {
        g.base = walk_at(shape, walk->outer_axis, walk->outer_rank, i);
        if (pass)
            pass(&g, PXI_F32(ctx->in[0]), PXI_F32(ctx->out[0]));
        else if (ctx->out_grad[0].data && pxi_op_wants_grad(ctx, 0))
            pull(&g, PXI_F32(ctx->in[0]), PXI_F32(ctx->out_grad[0]), PXI_F32(ctx->in_grad[0]));
    }
}

static px_status lp_norm_forward(const px_op_ctx *ctx, px_error *err)
{
    (void)err;
    walk_groups(ctx, lp_norm_pass, NULL);
    return PX_OK;
}

static void lp_norm_backward(const px_op_ctx *ctx)
{
    walk_groups(ctx, NULL, lp_norm_pull);
}

static px_status mean_variance_forward(const px_op_ctx *ctx, px_error *err)
{
    (void)err;
    walk_groups(ctx, mean_variance_pass, NULL);
    return PX_OK;
}

static void mean_variance_backward(const px_op_ctx *ctx)
{
    walk_groups(ctx, NULL, mean_variance_pull);
}

const px_op px_op_lpnormalization_1 = {
    .name = "LpNormalization",
    .since = 1,
    .diff = PX_DIFF_YES,
    .setup = lp_norm_setup,
    .forward = lp_norm_forward,
    .backward = lp_norm_backward,
};

const px_op px_op_meanvariancenormalization_9 = {
    .name = "MeanVarianceNormalization",
    .since = 9,
    .diff = PX_DIFF_YES,
    .setup = mean_variance_setup,
    .forward = mean_variance_forward,
    .backward = mean_variance_backward,
};
