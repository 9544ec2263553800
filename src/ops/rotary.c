/* src/ops/rotary.c - RotaryEmbedding (ONNX, since opset 23)
 *
 * Pairs of features (a, b) of a token are turned by the angle whose cosine and sine the caches have
 * for the token's place: (a cos - b sin, a sin + b cos). The pairs are neighbours (interleaved), or
 * feature i and i + dim / 2; features beyond `rotary_embedding_dim` stay as they are. X is (batch,
 * heads, tokens, size), or (batch, tokens, heads * size) with num_heads.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#include "ops/nest.h"
#include <internal/nn_check.h>

typedef struct rotary_params {
    int64_t batch, heads, tokens, size, turned; /* turned: features per head */
    int64_t head_step, token_step;
    int64_t places;      /* rows of the caches; 0: one per token */
    int64_t cache_batch; /* 1: all samples have the same angles */
    bool interleaved;
} rotary_params;

static px_status rotary_caches(const px_op_ctx *ctx, rotary_params *p, px_error *err)
{
    const px_shape *cache = &ctx->in[1].shape;
    const bool by_id = pxi_op_has_in(ctx, 3);
    PX_TRY(pxi_nn_rank(ctx, 1, by_id ? 2 : 3, by_id ? 2 : 3, err));
    p->places = by_id ? cache->dim[0] : 0;
    p->cache_batch = by_id ? 1 : cache->dim[0];
    const int64_t want[] = {p->cache_batch == 1 ? 1 : p->batch, p->tokens, p->turned / 2};
    const int64_t by_place[] = {p->places, p->turned / 2};
    for (int i = 1; i <= 2; i++)
        PX_TRY(pxi_nn_shape(ctx, i, i == 1 ? "the cache of cosines" : "the cache of sines",
                            by_id ? 2 : 3, by_id ? by_place : want, err));
    if (!by_id)
        return PX_OK;
    PX_TRY(pxi_op_need_index(ctx, 3, err));
    const int64_t ids[] = {p->batch, p->tokens};
    return pxi_nn_shape(ctx, 3, "the places of tokens", 2, ids, err);
}

static px_status rotary_setup(px_op_ctx *ctx, px_error *err)
{
    PX_TRY(pxi_op_arity(ctx, 3, 4, 1, 1, err));
    PX_TRY(pxi_nn_float(ctx, 0, 2, err));
    PX_TRY(pxi_nn_rank(ctx, 0, 3, 4, err));
    PX_TRY(pxi_op_params(ctx, sizeof(rotary_params), err));
    rotary_params *p = ctx->params;
    const px_shape *x = &ctx->in[0].shape;
    const bool flat = x->rank == 3;
    p->batch = x->dim[0];
    p->heads = flat ? px_node_int(ctx->node, "num_heads", 0) : x->dim[1];
    p->tokens = x->dim[flat ? 1 : 2];
    if (flat && (p->heads < 1 || x->dim[2] % p->heads != 0))
        return pxi_op_fail(ctx, err, PX_E_INPUT, "%lld features are not those of %lld heads",
                           (long long)x->dim[2], (long long)p->heads);
    p->size = flat ? x->dim[2] / p->heads : x->dim[3];
    p->head_step = flat ? p->size : p->tokens * p->size;
    p->token_step = flat ? x->dim[2] : p->size;
    p->interleaved = px_node_int(ctx->node, "interleaved", 0) != 0;
    PX_TRY(pxi_nn_int(ctx, "rotary_embedding_dim", 0, p->size, 0, &p->turned, err));
    if (p->turned == 0)
        p->turned = p->size;
    if (p->turned % 2 != 0)
        return pxi_op_fail(ctx, err, PX_E_INPUT, "turns %lld features, which are no pairs",
                           (long long)p->turned);
    PX_TRY(rotary_caches(ctx, p, err));
    ctx->out[0].dtype = PX_FLOAT32;
    ctx->out[0].shape = *x;
    return PX_OK;
}

/* The row of the caches for a token; -1: there is none. */
static int64_t rotary_row(const px_op_ctx *ctx, const rotary_params *p, int64_t b, int64_t t)
{
    if (p->places == 0)
        return (p->cache_batch == 1 ? 0 : b) * p->tokens + t;
    const int64_t place = pxi_index(&ctx->in[3], b * p->tokens + t);
    return place >= 0 && place < p->places ? place : -1;
}

static px_status rotary_forward(const px_op_ctx *ctx, px_error *err)
{
    const rotary_params *p = ctx->params;
    const int64_t half = p->turned / 2, step = p->interleaved ? 2 : 1;
    const int64_t apart = p->interleaved ? 1 : half;
    for (int64_t b = 0; b < p->batch; b++)
        for (int64_t t = 0; t < p->tokens; t++) {
            const int64_t row = half > 0 ? rotary_row(ctx, p, b, t) : 0;
            if (row < 0)
                return pxi_op_fail(ctx, err, PX_E_INPUT,
                                   "token %lld of sample %lld is at no place of the caches",
                                   (long long)t, (long long)b);
            const px_real *cosine = PXI_F32(ctx->in[1]) + row * half;
            const px_real *sine = PXI_F32(ctx->in[2]) + row * half;
            for (int64_t h = 0; h < p->heads; h++) {
                const int64_t at =
                    b * p->heads * p->tokens * p->size + h * p->head_step + t * p->token_step;
                const px_real *x = PXI_F32(ctx->in[0]) + at;
                px_real *y = PXI_F32(ctx->out[0]) + at;
                for (int64_t i = 0; i < half; i++) {
                    const px_real one = x[i * step], two = x[i * step + apart];
                    y[i * step] = one * cosine[i] - two * sine[i];
                    y[i * step + apart] = one * sine[i] + two * cosine[i];
                }
                for (int64_t i = p->turned; i < p->size; i++)
                    y[i] = x[i];
            }
        }
    return PX_OK;
}

static void rotary_backward(const px_op_ctx *ctx)
{
    const rotary_params *p = ctx->params;
    const int64_t half = p->turned / 2, step = p->interleaved ? 2 : 1;
    const int64_t apart = p->interleaved ? 1 : half;
    for (int64_t b = 0; ctx->out_grad[0].data && b < p->batch; b++)
        for (int64_t t = 0; t < p->tokens; t++) {
            const int64_t row = half > 0 ? rotary_row(ctx, p, b, t) : 0;
            const px_real *cosine = PXI_F32(ctx->in[1]) + row * half;
            const px_real *sine = PXI_F32(ctx->in[2]) + row * half;
            px_real *dcosine = ctx->in_grad[1].data, *dsine = ctx->in_grad[2].data;
            for (int64_t h = 0; h < p->heads; h++) {
                const int64_t at =
                    b * p->heads * p->tokens * p->size + h * p->head_step + t * p->token_step;
                const px_real *x = PXI_F32(ctx->in[0]) + at, *dy = PXI_F32(ctx->out_grad[0]) + at;
                px_real *dx = pxi_op_wants_grad(ctx, 0) ? PXI_F32(ctx->in_grad[0]) + at : NULL;
                for (int64_t i = 0; i < half; i++) {
                    const int64_t one = i * step, two = one + apart;
                    if (dx) {
                        dx[one] += dy[one] * cosine[i] + dy[two] * sine[i];
                        dx[two] += dy[two] * cosine[i] - dy[one] * sine[i];
                    }
                    if (dcosine)
                        dcosine[row * half + i] += dy[one] * x[one] + dy[two] * x[two];
                    if (dsine)
                        dsine[row * half + i] += dy[two] * x[one] - dy[one] * x[two];
                }
                for (int64_t i = p->turned; dx && i < p->size; i++)
                    dx[i] += dy[i];
            }
        }
}

const px_op px_op_rotaryembedding_23 = {
    .name = "RotaryEmbedding",
    .since = 23,
    .diff = PX_DIFF_YES,
    .setup = rotary_setup,
    .forward = rotary_forward,
    .backward = rotary_backward,
};
