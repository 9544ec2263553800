/* src/ops/attention.c - Attention (ONNX, since opset 23): softmax(scale Q K^T + bias) V
 *
 * Q, K and V are (batch, heads, tokens, size), or (batch, tokens, heads * size) with the numbers of
 * heads as attributes; several heads of Q may share one of K and V. Row by row: one query's scores
 * are all there is beside inputs and outputs, forward and backward, and backward forms them again.
 *
 * The bias is 0 where a query may look and -infinity where it may not (causal, windows, padding,
 * boolean mask), plus a mask of numbers. A key under -infinity takes no part, whatever it holds; a
 * query that may look nowhere gets zeros. The softmax is in double, and softmax_precision without
 * effect.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#include "ops/op_types.h"
#include <internal/nn_check.h>

#include "base/memory.h"

#include <tgmath.h>

enum { ATTN_Q, ATTN_K, ATTN_V, ATTN_MASK, ATTN_PAST_K, ATTN_PAST_V, ATTN_USED };
enum { ATTN_Y, ATTN_PRESENT_K, ATTN_PRESENT_V, ATTN_SCORES };

typedef enum attn_mode { /* what output 3 holds */
                         ATTN_RAW,
                         ATTN_CAPPED,
                         ATTN_BIASED,
                         ATTN_PROBABILITIES,
} attn_mode;

typedef struct attn_side { /* where (batch, head, token) lies, in elements */
    int64_t heads, tokens, size, batch_step, head_step, token_step;
} attn_side;

typedef struct attn_params {
    attn_side q, k, v, y;
    attn_side past_k, past_v;         /* tokens 0: none */
    int64_t batch, keys, shared;      /* keys: past and new ones; heads of Q per head of K */
    int64_t mask_step[4], mask_width; /* of (batch, head, query, key); keys beyond are hidden */
    double scale, cap;
    attn_mode mode;
    bool causal;
    int64_t left, right; /* how far a query looks; -1: as far as it likes */
} attn_params;

/* --- setup ----------------------------------------------------------------------------------- */

static px_status attn_side_of(const px_op_ctx *ctx, int input, int64_t heads, attn_side *out,
                              px_error *err)
{
    const px_shape *s = &ctx->in[input].shape;
    PX_TRY(pxi_nn_rank(ctx, input, 3, 4, err));
    if (s->rank == 4) {
        *out = (attn_side){.heads = s->dim[1], .tokens = s->dim[2], .size = s->dim[3]};
        out->token_step = out->size;
        out->head_step = out->tokens * out->token_step;
        out->batch_step = out->heads * out->head_step;
        return PX_OK;
    }
    if (heads < 1 || s->dim[2] % heads != 0)
        return pxi_op_fail(ctx, err, PX_E_INPUT,
                           "its input %d has %lld features, which are not those of %lld heads",
                           input, (long long)s->dim[2], (long long)heads);
    *out = (attn_side){.heads = heads, .tokens = s->dim[1], .size = s->dim[2] / heads};
    out->head_step = out->size;
    out->token_step = s->dim[2];
    out->batch_step = out->tokens * out->token_step;
    return PX_OK;
}

/* What was looked at before: (batch, heads, tokens, size), as K and V without their tokens. */
static px_status attn_past(const px_op_ctx *ctx, int input, const attn_side *now, attn_side *out,
                           px_error *err)
{
    *out = (attn_side){0};
    if (!pxi_op_has_in(ctx, input))
        return PX_OK;
    PX_TRY(pxi_nn_rank(ctx, input, 4, 4, err));
    const px_shape *s = &ctx->in[input].shape;
    const int64_t want[] = {ctx->in[0].shape.dim[0], now->heads, s->dim[2], now->size};
    PX_TRY(pxi_nn_shape(ctx, input, "what is past", 4, want, err));
    return attn_side_of(ctx, input, 0, out, err);
}

/* The mask broadcasts to (batch, heads, queries, keys), but for keys that it leaves out at the end.
 */
static px_status attn_mask(const px_op_ctx *ctx, attn_params *p, px_error *err)
{
    if (!pxi_op_has_in(ctx, ATTN_MASK))
        return PX_OK;
    PX_TRY(pxi_op_type(ctx, ATTN_MASK, PXI_TYPES_BOOL | 1u << PX_FLOAT32, err));
    const px_shape *s = &ctx->in[ATTN_MASK].shape;
    const int64_t all[] = {p->batch, p->q.heads, p->q.tokens, p->keys};
    int64_t step = 1;
    bool fits = s->rank >= 1 && s->rank <= 4;
    for (int i = s->rank - 1, d = 3; fits && i >= 0; i--, d--) {
        p->mask_step[d] = s->dim[i] == 1 && d < 3 ? 0 : step;
        fits = d == 3 ? s->dim[i] <= all[d] : s->dim[i] == all[d] || s->dim[i] == 1;
        step *= s->dim[i];
    }
    char text[PX_SHAPE_TEXT];
    if (!fits)
        return pxi_op_fail(ctx, err, PX_E_MISMATCH,
                           "its mask %s does not fit %lld queries and %lld keys of %lld heads",
                           px_shape_text(s, text), (long long)p->q.tokens, (long long)p->keys,
                           (long long)p->q.heads);
    p->mask_width = s->dim[s->rank - 1];
    return PX_OK;
}

static px_status attn_attrs(const px_op_ctx *ctx, attn_params *p, px_error *err)
{
    int64_t mode = 0;
    PX_TRY(pxi_nn_int(ctx, "qk_matmul_output_mode", 0, 3, 0, &mode, err));
    PX_TRY(pxi_nn_int(ctx, "left_window_size", -1, INT32_MAX, -1, &p->left, err));
    PX_TRY(pxi_nn_int(ctx, "right_window_size", -1, INT32_MAX, -1, &p->right, err));
    p->mode = (attn_mode)mode;
    p->causal = px_node_int(ctx->node, "is_causal", 0) != 0;
    p->cap = (double)px_node_float(ctx->node, "softcap", 0.0f);
    p->scale = 1.0 / sqrt((double)PX_MAX(p->q.size, (int64_t)1));
    if (px_node_attr(ctx->node, "scale"))
        p->scale = (double)px_node_float(ctx->node, "scale", 1.0f);
    return PX_OK;
}

static px_status attn_check(const px_op_ctx *ctx, const attn_params *p, px_error *err)
{
    const attn_side *q = &p->q, *k = &p->k, *v = &p->v;
    const int64_t *batch[] = {&ctx->in[0].shape.dim[0], &ctx->in[1].shape.dim[0],
                              &ctx->in[2].shape.dim[0]};
    if (*batch[1] != *batch[0] || *batch[2] != *batch[0] || k->size != q->size ||
        k->heads != v->heads || k->tokens != v->tokens || k->heads < 1 ||
        q->heads % k->heads != 0) {
        char a[PX_SHAPE_TEXT], b[PX_SHAPE_TEXT], c[PX_SHAPE_TEXT];
        return pxi_op_fail(ctx, err, PX_E_MISMATCH, "queries %s, keys %s and values %s do not fit",
                           px_shape_text(&ctx->in[0].shape, a), px_shape_text(&ctx->in[1].shape, b),
                           px_shape_text(&ctx->in[2].shape, c));
    }
    if (p->past_k.tokens != p->past_v.tokens)
        return pxi_op_fail(ctx, err, PX_E_MISMATCH, "has %lld past keys and %lld past values",
                           (long long)p->past_k.tokens, (long long)p->past_v.tokens);
    if (!pxi_op_has_in(ctx, ATTN_USED))
        return PX_OK;
    PX_TRY(pxi_op_type(ctx, ATTN_USED, 1u << PX_INT64, err));
    if (pxi_op_has_in(ctx, ATTN_PAST_K))
        return pxi_op_fail(ctx, err, PX_E_INPUT, "has past keys and lengths of a cache, too");
    return pxi_nn_shape(ctx, ATTN_USED, "the number of keys in use", 1, &p->batch, err);
}

static px_status attn_setup(px_op_ctx *ctx, px_error *err)
{
    PX_TRY(pxi_op_arity(ctx, 3, 7, 1, 4, err));
    PX_TRY(pxi_nn_float(ctx, 0, 2, err));
    PX_TRY(pxi_nn_float(ctx, ATTN_PAST_K, ATTN_PAST_V, err));
    PX_TRY(pxi_op_params(ctx, sizeof(attn_params), err));
    attn_params *p = ctx->params;
    const int64_t q_heads = px_node_int(ctx->node, "q_num_heads", 0);
    const int64_t k_heads = px_node_int(ctx->node, "kv_num_heads", 0);
    PX_TRY(attn_side_of(ctx, ATTN_Q, q_heads, &p->q, err));
    PX_TRY(attn_side_of(ctx, ATTN_K, k_heads, &p->k, err));
    PX_TRY(attn_side_of(ctx, ATTN_V, k_heads, &p->v, err));
    PX_TRY(attn_past(ctx, ATTN_PAST_K, &p->k, &p->past_k, err));
    PX_TRY(attn_past(ctx, ATTN_PAST_V, &p->v, &p->past_v, err));
    p->batch = ctx->in[0].shape.dim[0];
    PX_TRY(attn_check(ctx, p, err));
    p->keys = p->past_k.tokens + p->k.tokens;
    p->shared = p->q.heads / p->k.heads;
    PX_TRY(attn_mask(ctx, p, err));
    PX_TRY(attn_attrs(ctx, p, err));

    px_shape y = ctx->in[0].shape;
    y.dim[y.rank - 1] = y.rank == 4 ? p->v.size : p->q.heads * p->v.size;
    ctx->out[ATTN_Y] = (px_tensor){.dtype = PX_FLOAT32, .shape = y};
    p->y = p->q;
    p->y.size = p->v.size;
    p->y.token_step = y.dim[y.rank - 1];
    p->y.head_step = y.rank == 4 ? p->q.tokens * p->v.size : p->v.size;
    p->y.batch_step = p->q.tokens * p->q.heads * p->v.size;
    for (int i = ATTN_PRESENT_K; i < ctx->out_count && i <= ATTN_PRESENT_V; i++)
        ctx->out[i] = (px_tensor){.dtype = PX_FLOAT32,
                                  .shape = {.rank = 4,
                                            .dim = {p->batch, p->k.heads, p->keys,
                                                    i == ATTN_PRESENT_K ? p->k.size : p->v.size}}};
    if (ctx->out_count > ATTN_SCORES)
        ctx->out[ATTN_SCORES] =
            (px_tensor){.dtype = PX_FLOAT32,
                        .shape = {.rank = 4, .dim = {p->batch, p->q.heads, p->q.tokens, p->keys}}};
    return pxi_nn_bytes(ctx, p->keys, 4 * sizeof(double), &ctx->scratch_bytes, err);
}

/* --- one query ------------------------------------------------------------------------------- */

typedef struct attn_row {
    int64_t batch, head, query;
    double *score;       /* per key: scale q.k, capped */
    double *bias;        /* -infinity: hidden */
    double *probability; /* sums to 1, or all 0 */
    double *slope;       /* backward: the gradient of the probability, then of the biased score */
} attn_row;

/* Token `token` of past and new ones together, of the head that query head `head` looks at; NULL
 * where the tensor is not there. */
static px_real *attn_key(const attn_params *p, const px_tensor *past, const px_tensor *now,
                         const attn_side *past_side, const attn_side *side, const attn_row *row,
                         int64_t token)
{
    const int64_t head = row->head / p->shared;
    const bool old = token < past_side->tokens;
    const attn_side *s = old ? past_side : side;
    px_real *data = old ? past->data : now->data;
    const int64_t at = old ? token : token - past_side->tokens;
    return data ? data + row->batch * s->batch_step + head * s->head_step + at * s->token_step
                : NULL;
}

static px_real *attn_k(const attn_params *p, const px_tensor *tensors, const attn_row *row,
                       int64_t token)
{
    return attn_key(p, &tensors[ATTN_PAST_K], &tensors[ATTN_K], &p->past_k, &p->k, row, token);
}

static px_real *attn_v(const attn_params *p, const px_tensor *tensors, const attn_row *row,
                       int64_t token)
{
    return attn_key(p, &tensors[ATTN_PAST_V], &tensors[ATTN_V], &p->past_v, &p->v, row, token);
}

static px_real *attn_at(px_real *data, const attn_side *s, const attn_row *row)
{
    return data ? data + row->batch * s->batch_step + row->head * s->head_step +
                      row->query * s->token_step
                : NULL;
}

static int64_t attn_mask_at(const attn_params *p, const attn_row *row, int64_t key)
{
    return row->batch * p->mask_step[0] + row->head * p->mask_step[1] +
           row->query * p->mask_step[2] + key * p->mask_step[3];
}

static void attn_bias(const px_op_ctx *ctx, const attn_params *p, const attn_row *row)
{
    const bool used = pxi_op_has_in(ctx, ATTN_USED), masked = pxi_op_has_in(ctx, ATTN_MASK);
    const int64_t filled = used ? ((const int64_t *)ctx->in[ATTN_USED].data)[row->batch] : p->keys;
    const int64_t place = row->query + (used ? filled - p->q.tokens : p->past_k.tokens);
    for (int64_t j = 0; j < p->keys; j++) {
        bool hidden = j >= filled || (p->causal && j > place) ||
                      (p->left >= 0 && j < place - p->left) ||
                      (p->right >= 0 && j > place + p->right);
        double bias = 0.0;
        if (masked && j >= p->mask_width)
            hidden = true;
        else if (masked && ctx->in[ATTN_MASK].dtype == PX_BOOL)
            hidden |= ((const uint8_t *)ctx->in[ATTN_MASK].data)[attn_mask_at(p, row, j)] == 0;
        else if (masked)
            bias = (double)PXI_F32(ctx->in[ATTN_MASK])[attn_mask_at(p, row, j)];
        row->bias[j] = hidden ? -(double)INFINITY : bias;
    }
}

static double attn_dot(const px_real *restrict a, const px_real *restrict b, int64_t n)
{
    double sum = 0.0;
#pragma omp simd reduction(+ : sum)
    for (int64_t i = 0; i < n; i++)
        sum += (double)a[i] * (double)b[i];
    return sum;
}

static void attn_softmax(const attn_params *p, const attn_row *row)
{
    double top = -(double)INFINITY, sum = 0.0;
    for (int64_t j = 0; j < p->keys; j++) {
        const double s = row->score[j] + row->bias[j];
        row->probability[j] = row->bias[j] == -(double)INFINITY ? row->bias[j] : s;
        if (!(row->probability[j] <= top)) /* NaN goes to the top */
            top = row->probability[j];
    }
    for (int64_t j = 0; j < p->keys; j++) {
        row->probability[j] =
            row->probability[j] == -(double)INFINITY ? 0.0 : exp(row->probability[j] - top);
        sum += row->probability[j];
    }
    for (int64_t j = 0; j < p->keys && sum != 0.0; j++)
        row->probability[j] /= sum;
}

/* Scores, bias and probabilities of a query; `raw` NULL, or where its scores go before the cap. */
static void attn_look(const px_op_ctx *ctx, const attn_row *row, px_real *raw)
{
    const attn_params *p = ctx->params;
    const px_real *q = attn_at(PXI_F32(ctx->in[ATTN_Q]), &p->q, row);
    for (int64_t j = 0; j < p->keys; j++) {
        const double s = p->scale * attn_dot(q, attn_k(p, ctx->in, row, j), p->q.size);
        if (raw)
            raw[j] = (px_real)s;
        row->score[j] = p->cap > 0.0 ? p->cap * tanh(s / p->cap) : s;
    }
    attn_bias(ctx, p, row);
    attn_softmax(p, row);
}

static attn_row attn_rows(const px_op_ctx *ctx)
{
    const attn_params *p = ctx->params;
    double *scratch = ctx->scratch;
    return (attn_row){.score = scratch,
                      .bias = scratch + p->keys,
                      .probability = scratch + 2 * p->keys,
                      .slope = scratch + 3 * p->keys};
}

static bool attn_next(const attn_params *p, attn_row *row)
{
    if (++row->query < p->q.tokens)
        return true;
    row->query = 0;
    if (++row->head < p->q.heads)
        return true;
    row->head = 0;
    return ++row->batch < p->batch;
}

static bool attn_is_empty(const attn_params *p)
{
    return p->batch == 0 || p->q.heads == 0 || p->q.tokens == 0;
}

static px_real *attn_scores(const px_op_ctx *ctx, const px_tensor *tensors, const attn_row *row)
{
    const attn_params *p = ctx->params;
    return ctx->out_count > ATTN_SCORES && tensors[ATTN_SCORES].data
               ? PXI_F32(tensors[ATTN_SCORES]) +
                     ((row->batch * p->q.heads + row->head) * p->q.tokens + row->query) * p->keys
               : NULL;
}

/* --- past and new ones, one behind the other ------------------------------------------------- */

/* present = past and now, or, backward, past += and now += present's gradient. */
static void attn_present(const px_tensor *present, const px_tensor *past, const px_tensor *now,
                         const attn_side *past_side, const attn_side *side, int64_t batch,
                         bool backward)
{
    px_real *all = present->data;
    for (int64_t b = 0; all && b < batch; b++)
        for (int64_t h = 0; h < side->heads; h++)
            for (int64_t t = 0; t < past_side->tokens + side->tokens; t++, all += side->size) {
                const bool old = t < past_side->tokens;
                const attn_side *s = old ? past_side : side;
                px_real *data = old ? past->data : now->data;
                if (!data)
                    continue;
                px_real *one = data + b * s->batch_step + h * s->head_step +
                               (old ? t : t - past_side->tokens) * s->token_step;
                for (int64_t i = 0; i < side->size; i++)
                    if (backward)
                        one[i] += all[i];
                    else
                        all[i] = one[i];
            }
}

static void attn_presents(const px_op_ctx *ctx, const px_tensor *out, const px_tensor *in,
                          bool backward)
{
    const attn_params *p = ctx->params;
    static const px_tensor none = {0};
    const px_tensor *past_k = ctx->in_count > ATTN_PAST_K ? &in[ATTN_PAST_K] : &none;
    const px_tensor *past_v = ctx->in_count > ATTN_PAST_V ? &in[ATTN_PAST_V] : &none;
    if (ctx->out_count > ATTN_PRESENT_K)
        attn_present(&out[ATTN_PRESENT_K], past_k, &in[ATTN_K], &p->past_k, &p->k, p->batch,
                     backward);
    if (ctx->out_count > ATTN_PRESENT_V)
        attn_present(&out[ATTN_PRESENT_V], past_v, &in[ATTN_V], &p->past_v, &p->v, p->batch,
                     backward);
}

/* --- forward and backward -------------------------------------------------------------------- */

static px_status attn_forward(const px_op_ctx *ctx, px_error *err)
{
    const attn_params *p = ctx->params;
    attn_row row = attn_rows(ctx);
    (void)err;
    attn_presents(ctx, ctx->out, ctx->in, /* backward= */ false);
    if (attn_is_empty(p))
        return PX_OK;
    do {
        px_real *shown = attn_scores(ctx, ctx->out, &row);
        attn_look(ctx, &row, p->mode == ATTN_RAW ? shown : NULL);
        for (int64_t j = 0; shown && p->mode != ATTN_RAW && j < p->keys; j++)
            shown[j] = (px_real)(p->mode == ATTN_CAPPED   ? row.score[j]
                                 : p->mode == ATTN_BIASED ? row.score[j] + row.bias[j]
                                                          : row.probability[j]);
        px_real *y = attn_at(ctx->out[ATTN_Y].data, &p->y, &row);
        for (int64_t i = 0; y && i < p->v.size; i++)
            y[i] = 0;
        for (int64_t j = 0; y && j < p->keys; j++) {
            const px_real w = (px_real)row.probability[j], *v = attn_v(p, ctx->in, &row, j);
            if (w == 0)
                continue;
#pragma omp simd
            for (int64_t i = 0; i < p->v.size; i++)
                y[i] += w * v[i];
        }
    } while (attn_next(p, &row));
    return PX_OK;
}

static void attn_add(px_real *to, double factor, const px_real *from, int64_t n)
{
    for (int64_t i = 0; to && from && i < n; i++)
        to[i] += (px_real)(factor * (double)from[i]);
}

/* row->slope: from what flows back to the probabilities to the biased scores. */
static void attn_slopes(const px_op_ctx *ctx, const attn_row *row, const px_real *dy,
                        const px_real *shown)
{
    const attn_params *p = ctx->params;
    double mean = 0.0;
    for (int64_t j = 0; j < p->keys; j++) {
        const bool seen = row->probability[j] != 0.0;
        row->slope[j] = dy && seen ? attn_dot(dy, attn_v(p, ctx->in, row, j), p->v.size) : 0.0;
        if (shown && p->mode == ATTN_PROBABILITIES)
            row->slope[j] += (double)shown[j];
        mean += row->probability[j] * row->slope[j];
    }
    for (int64_t j = 0; j < p->keys; j++) {
        row->slope[j] = row->probability[j] * (row->slope[j] - mean);
        if (shown && p->mode == ATTN_BIASED)
            row->slope[j] += (double)shown[j];
    }
}

static void attn_backward(const px_op_ctx *ctx)
{
    const attn_params *p = ctx->params;
    attn_row row = attn_rows(ctx);
    attn_presents(ctx, ctx->out_grad, ctx->in_grad, /* backward= */ true);
    if (attn_is_empty(p))
        return;
    do {
        const px_real *shown = attn_scores(ctx, ctx->out_grad, &row);
        const px_real *dy = attn_at(ctx->out_grad[ATTN_Y].data, &p->y, &row);
        if (!shown && !dy)
            continue;
        attn_look(ctx, &row, NULL);
        attn_slopes(ctx, &row, dy, shown);
        px_real *dmask = pxi_op_wants_grad(ctx, ATTN_MASK) ? ctx->in_grad[ATTN_MASK].data : NULL;
        px_real *dq = attn_at(ctx->in_grad[ATTN_Q].data, &p->q, &row);
        const px_real *q = attn_at(ctx->in[ATTN_Q].data, &p->q, &row);
        for (int64_t j = 0; j < p->keys; j++) {
            double slope = row.slope[j];
            attn_add(attn_v(p, ctx->in_grad, &row, j), row.probability[j], dy, p->v.size);
            if (dmask && j < p->mask_width)
                dmask[attn_mask_at(p, &row, j)] += (px_real)slope;
            if (shown && p->mode == ATTN_CAPPED)
                slope += (double)shown[j];
            if (p->cap > 0.0)
                slope *= 1.0 - row.score[j] / p->cap * (row.score[j] / p->cap);
            if (shown && p->mode == ATTN_RAW)
                slope += (double)shown[j];
            attn_add(dq, slope * p->scale, attn_k(p, ctx->in, &row, j), p->q.size);
            attn_add(attn_k(p, ctx->in_grad, &row, j), slope * p->scale, q, p->q.size);
        }
    } while (attn_next(p, &row));
}

static int64_t attn_flops(const px_op_ctx *ctx)
{
    const attn_params *p = ctx->params;
    return pxi_nn_flops(2.0 * (double)p->batch * (double)p->q.heads * (double)p->q.tokens *
                        (double)p->keys * (double)(p->q.size + p->v.size));
}

const px_op px_op_attention_23 = {
    .name = "Attention",
    .since = 23,
    .diff = PX_DIFF_YES,
    .setup = attn_setup,
    .forward = attn_forward,
    .backward = attn_backward,
    .flops = attn_flops,
};
