/* src/ops/loss_ops.c - NegativeLogLikelihoodLoss and SoftmaxCrossEntropyLoss (since opset 12)
 *
 * Data (N, C, D1, ...), labels (N, D1, ...), weights (C) or none. One sample's loss is
 *
 *     l = -w(label) * x(label)                   x the data, or its log-softmax along C
 *
 * and 0 where the label is ignore_index; `mean` divides by the sum of the w(label) that count (by
 * their number without weights), which makes it NaN when nothing counts, as in PyTorch.
 *
 * The gradient of cross-entropy at the true class is formed as minus the sum of the other
 * probabilities: p - 1 would lose all digits on confident samples.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#include <internal/nn_check.h>

#include <string.h>
#include <tgmath.h>

typedef enum loss_reduction {
    LOSS_NONE,
    LOSS_SUM,
    LOSS_MEAN,
} loss_reduction;

typedef struct loss_params {
    int64_t batch, classes, area; /* data as (batch, classes, area) */
    loss_reduction reduction;
    bool has_ignore, has_weights, is_softmax;
    int64_t ignore;
} loss_params;

static px_status loss_reduction_read(const px_op_ctx *ctx, loss_reduction *out, px_error *err)
{
    static const char *const names[] = {
        [LOSS_NONE] = "none", [LOSS_SUM] = "sum", [LOSS_MEAN] = "mean"};
    const char *text = px_node_string(ctx->node, "reduction", "mean");
    for (int i = LOSS_NONE; i <= LOSS_MEAN; i++)
        if (strcmp(text, names[i]) == 0) {
            *out = (loss_reduction)i;
            return PX_OK;
        }
    return pxi_op_fail(ctx, err, PX_E_INPUT, "its reduction '%.40s' is none of none, sum, mean",
                       text);
}

static px_status loss_setup(px_op_ctx *ctx, bool is_softmax, px_error *err)
{
    PX_TRY(pxi_op_arity(ctx, 2, 3, 1, is_softmax ? 2 : 1, err));
    PX_TRY(pxi_nn_float(ctx, 0, 0, err));
    PX_TRY(pxi_nn_float(ctx, 2, 2, err));
    PX_TRY(pxi_nn_rank(ctx, 0, 2, PX_MAX_RANK, err));
    PX_TRY(pxi_op_params(ctx, sizeof(loss_params), err));
    loss_params *p = ctx->params;
    const px_shape *x = &ctx->in[0].shape;
    px_shape labels = {.rank = x->rank - 1, .dim = {x->dim[0]}};
    p->batch = x->dim[0];
    p->classes = x->dim[1];
    p->area = 1;
    for (int i = 2; i < x->rank; i++) {
        labels.dim[i - 1] = x->dim[i];
        p->area *= x->dim[i];
    }
    PX_TRY(pxi_nn_shape(ctx, 1, "the labels' tensor", labels.rank, labels.dim, err));
    PX_TRY(pxi_nn_shape(ctx, 2, "the weights' tensor", 1, &p->classes, err));
    if (ctx->in[1].dtype != PX_INT64 && ctx->in[1].dtype != PX_INT32)
        return pxi_op_fail(ctx, err, PX_E_INPUT, "its labels are %s, expected int64",
                           px_dtype_name(ctx->in[1].dtype));
    PX_TRY(loss_reduction_read(ctx, &p->reduction, err));
    p->is_softmax = is_softmax;
    p->has_weights = pxi_op_has_in(ctx, 2);
    p->has_ignore = px_node_attr(ctx->node, "ignore_index") != NULL;
    p->ignore = px_node_int(ctx->node, "ignore_index", 0);
    ctx->out[0] = (px_tensor){.dtype = PX_FLOAT32};
    if (p->reduction == LOSS_NONE)
        ctx->out[0].shape = labels;
    if (ctx->out_count > 1)
        ctx->out[1] = (px_tensor){.dtype = PX_FLOAT32, .shape = *x};
    return PX_OK;
}

static px_status nll_setup(px_op_ctx *ctx, px_error *err)
{
    return loss_setup(ctx, /* is_softmax= */ false, err);
}

static px_status cross_entropy_setup(px_op_ctx *ctx, px_error *err)
{
    return loss_setup(ctx, /* is_softmax= */ true, err);
}

static int64_t loss_label(const px_op_ctx *ctx, int64_t sample)
{
    return ctx->in[1].dtype == PX_INT64 ? PXI_I64(ctx->in[1])[sample]
                                        : ((const int32_t *)ctx->in[1].data)[sample];
}

/* The label of a sample that counts, -1 if it is ignored. (forward() has refused others.) */
static int64_t loss_class(const px_op_ctx *ctx, int64_t sample)
{
    const loss_params *p = ctx->params;
    const int64_t label = loss_label(ctx, sample);
    return (p->has_ignore && label == p->ignore) || label < 0 || label >= p->classes ? -1 : label;
}

static double loss_weight(const px_op_ctx *ctx, int64_t label)
{
    const loss_params *p = ctx->params;
    if (label < 0)
        return 0.0;
    return p->has_weights ? (double)PXI_F32(ctx->in[2])[label] : 1.0;
}

/* What `mean` divides by; 1 for the other reductions. */
static double loss_divisor(const px_op_ctx *ctx)
{
    const loss_params *p = ctx->params;
    if (p->reduction != LOSS_MEAN)
        return 1.0;
    double sum = 0.0;
    for (int64_t i = 0; i < p->batch * p->area; i++)
        sum += loss_weight(ctx, loss_class(ctx, i));
    return sum;
}

/* Where class 0 of a sample lies; its classes are `area` apart. */
static const px_real *loss_column(const px_op_ctx *ctx, int64_t sample)
{
    const loss_params *p = ctx->params;
    return PXI_F32(ctx->in[0]) + sample / p->area * p->classes * p->area + sample % p->area;
}

/* log of the sum of exp(x) over a sample's classes */
static double loss_log_sum(const loss_params *p, const px_real *x)
{
    double top = (double)x[0], sum = 0.0;
    for (int64_t c = 1; c < p->classes; c++)
        top = (double)x[c * p->area] > top ? (double)x[c * p->area] : top;
    for (int64_t c = 0; c < p->classes; c++)
        sum += exp((double)x[c * p->area] - top);
    return top + log(sum); /* sum >= 1, or NaN */
}

static px_status loss_check_labels(const px_op_ctx *ctx, px_error *err)
{
    const loss_params *p = ctx->params;
    for (int64_t i = 0; i < p->batch * p->area; i++) {
        const int64_t label = loss_label(ctx, i);
        if ((label < 0 || label >= p->classes) && !(p->has_ignore && label == p->ignore))
            return pxi_op_fail(ctx, err, PX_E_INPUT, "label %lld of sample %lld is outside 0..%lld",
                               (long long)label, (long long)i, (long long)p->classes - 1);
    }
    return PX_OK;
}

static px_status loss_forward(const px_op_ctx *ctx, px_error *err)
{
    const loss_params *p = ctx->params;
    PX_TRY(loss_check_labels(ctx, err));
    px_real *loss = PXI_F32(ctx->out[0]);
    px_real *log_prob = ctx->out_count > 1 ? PXI_F32(ctx->out[1]) : NULL;
    double sum = 0.0;
    for (int64_t i = 0; p->classes > 0 && i < p->batch * p->area; i++) {
        const px_real *x = loss_column(ctx, i);
        const int64_t label = loss_class(ctx, i);
        const double shift = p->is_softmax ? loss_log_sum(p, x) : 0.0;
        const double own =
            label < 0 ? 0.0 : -loss_weight(ctx, label) * ((double)x[label * p->area] - shift);
        for (int64_t c = 0; log_prob && c < p->classes; c++)
            log_prob[x - PXI_F32(ctx->in[0]) + c * p->area] =
                (px_real)((double)x[c * p->area] - shift);
        sum += own;
        if (loss && p->reduction == LOSS_NONE)
            loss[i] = (px_real)own;
    }
    if (loss && p->reduction != LOSS_NONE)
        loss[0] = (px_real)(sum / loss_divisor(ctx));
    return PX_OK;
}

/* dL/dx of one cross-entropy sample times `pull`, and what comes back through the log
 * probabilities (`log_pull`, NULL if nothing does). */
static void loss_softmax_pull(const loss_params *p, const px_real *x, int64_t label, double pull,
                              const px_real *log_pull, px_real *dx)
{
    const double shift = loss_log_sum(p, x);
    double others = 0.0, total = 0.0;
    for (int64_t c = 0; c < p->classes; c++) {
        const double prob = exp((double)x[c * p->area] - shift);
        others += c == label ? 0.0 : prob;
        total += log_pull ? (double)log_pull[c * p->area] : 0.0;
    }
    for (int64_t c = 0; c < p->classes; c++) {
        const double prob = exp((double)x[c * p->area] - shift);
        double gradient = label < 0 ? 0.0 : pull * (c == label ? -others : prob);
        if (log_pull)
            gradient += (double)log_pull[c * p->area] - prob * total;
        dx[c * p->area] += (px_real)gradient;
    }
}

static void loss_backward(const px_op_ctx *ctx)
{
    const loss_params *p = ctx->params;
    const px_real *dloss = PXI_F32(ctx->out_grad[0]);
    const px_real *dlog = ctx->out_count > 1 ? PXI_F32(ctx->out_grad[1]) : NULL;
    const double divisor = loss_divisor(ctx);
    /* d(sum / divisor)/dw(c) = (-x(c) - mean loss) / divisor for every sample of class c */
    const double mean =
        p->reduction == LOSS_MEAN && ctx->out[0].data ? (double)PXI_F32(ctx->out[0])[0] : 0.0;
    for (int64_t i = 0; p->classes > 0 && i < p->batch * p->area; i++) {
        const px_real *x = loss_column(ctx, i);
        const int64_t at = x - PXI_F32(ctx->in[0]), label = loss_class(ctx, i);
        const double up = dloss ? (double)dloss[p->reduction == LOSS_NONE ? i : 0] / divisor : 0.0;
        const double pull = label < 0 ? 0.0 : up * loss_weight(ctx, label);
        if (label >= 0 && p->has_weights && pxi_op_wants_grad(ctx, 2)) {
            const double shift = p->is_softmax ? loss_log_sum(p, x) : 0.0;
            PXI_F32(ctx->in_grad[2])
            [label] += (px_real)(up * (shift - (double)x[label * p->area] - mean));
        }
        if (!pxi_op_wants_grad(ctx, 0))
            continue;
        px_real *dx = PXI_F32(ctx->in_grad[0]) + at;
        if (p->is_softmax)
            loss_softmax_pull(p, x, label, pull, dlog ? dlog + at : NULL, dx);
        else if (label >= 0)
            dx[label * p->area] -= (px_real)pull;
    }
}

const px_op px_op_negativeloglikelihoodloss_12 = {
    .name = "NegativeLogLikelihoodLoss",
    .since = 12,
    .diff = PX_DIFF_YES,
    .setup = nll_setup,
    .forward = loss_forward,
    .backward = loss_backward,
};

const px_op px_op_softmaxcrossentropyloss_12 = {
    .name = "SoftmaxCrossEntropyLoss",
    .since = 12,
    .diff = PX_DIFF_YES,
    .setup = cross_entropy_setup,
    .forward = loss_forward,
    .backward = loss_backward,
};
