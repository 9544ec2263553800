/* src/ops/gemm.c - Gemm (ONNX, since opset 1): Y = alpha * op(A) op(B) + beta * C
 *
 * C broadcasts to Y in one direction; the `broadcast` attribute of opsets 1 and 6 only says that it
 * may, so it is not needed. C became optional in opset 11.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#include <internal/gemm.h>

#include "base/memory.h"
#include <internal/nn_check.h>

/* Rows of B that stay in cache while the rows of C pass by. */
enum { gemm_block = 64 };

static void gemm_rows(bool trans_a, int64_t m, int64_t n, int64_t k, px_real alpha,
                      const px_real *restrict a, const px_real *restrict b, px_real *restrict c)
{
    for (int64_t from = 0; from < k; from += gemm_block) {
        const int64_t to = PX_MIN(from + gemm_block, k);
        for (int64_t i = 0; i < m; i++)
            for (int64_t p = from; p < to; p++) {
                const px_real factor = alpha * (trans_a ? a[p * m + i] : a[i * k + p]);
                const px_real *restrict b_row = b + p * n;
                px_real *restrict c_row = c + i * n;
#pragma omp simd
                for (int64_t j = 0; j < n; j++)
                    c_row[j] += factor * b_row[j];
            }
    }
}

/* B is transposed: its rows run along k, so that every element of C is a dot product. */
static void gemm_dots(bool trans_a, int64_t m, int64_t n, int64_t k, px_real alpha,
                      const px_real *restrict a, const px_real *restrict b, px_real *restrict c)
{
    const int64_t a_row = trans_a ? 1 : k, a_step = trans_a ? m : 1;
    for (int64_t i = 0; i < m; i++)
        for (int64_t j = 0; j < n; j++) {
            double sum = 0.0;
#pragma omp simd reduction(+ : sum)
            for (int64_t p = 0; p < k; p++)
                sum += (double)a[i * a_row + p * a_step] * (double)b[j * k + p];
            c[i * n + j] += (px_real)((double)alpha * sum);
        }
}

void pxi_gemm_add(bool trans_a, bool trans_b, int64_t m, int64_t n, int64_t k, px_real alpha,
                  const px_real *a, const px_real *b, px_real *c)
{
    if (trans_b)
        gemm_dots(trans_a, m, n, k, alpha, a, b, c);
    else
        gemm_rows(trans_a, m, n, k, alpha, a, b, c);
}

static px_status gemm_setup(px_op_ctx *ctx, px_error *err)
{
    PX_TRY(pxi_op_arity(ctx, 2, 3, 1, 1, err));
    PX_TRY(pxi_nn_float(ctx, 0, 2, err));
    PX_TRY(pxi_nn_rank(ctx, 0, 2, 2, err));
    PX_TRY(pxi_nn_rank(ctx, 1, 2, 2, err));
    PX_TRY(pxi_op_params(ctx, sizeof(pxi_gemm_params), err));
    pxi_gemm_params *p = ctx->params;
    p->alpha = (double)px_node_float(ctx->node, "alpha", 1.0f);
    p->beta = (double)px_node_float(ctx->node, "beta", 1.0f);
    p->trans_a = px_node_int(ctx->node, "transA", 0) != 0;
    p->trans_b = px_node_int(ctx->node, "transB", 0) != 0;
    const int64_t *a = ctx->in[0].shape.dim, *b = ctx->in[1].shape.dim;
    p->m = a[p->trans_a], p->k = a[!p->trans_a], p->n = b[!p->trans_b];
    char ta[PX_SHAPE_TEXT], tb[PX_SHAPE_TEXT];
    if (b[p->trans_b] != p->k)
        return pxi_op_fail(ctx, err, PX_E_MISMATCH,
                           "A of shape %s%s and B of shape %s%s do not fit",
                           px_shape_text(&ctx->in[0].shape, ta), p->trans_a ? " (transposed)" : "",
                           px_shape_text(&ctx->in[1].shape, tb), p->trans_b ? " (transposed)" : "");
    ctx->out[0] = (px_tensor){.dtype = PX_FLOAT32, .shape = {.rank = 2, .dim = {p->m, p->n}}};
    p->has_c = pxi_op_has_in(ctx, 2);
    if (!p->has_c)
        return PX_OK;
    const px_shape *c = &ctx->in[2].shape;
    const int64_t columns = c->rank > 0 ? c->dim[c->rank - 1] : 1;
    const int64_t rows = c->rank > 1 ? c->dim[0] : 1;
    if (c->rank > 2 || (columns != 1 && columns != p->n) || (rows != 1 && rows != p->m))
        return pxi_op_fail(ctx, err, PX_E_MISMATCH, "C of shape %s does not broadcast to %s",
                           px_shape_text(c, ta), px_shape_text(&ctx->out[0].shape, tb));
    p->c_row = rows == 1 ? 0 : columns;
    p->c_column = columns == 1 ? 0 : 1;
    return PX_OK;
}

static px_status gemm_forward(const px_op_ctx *ctx, px_error *err)
{
    (void)err;
    const pxi_gemm_params *p = ctx->params;
    const px_real *c = p->has_c ? PXI_F32(ctx->in[2]) : NULL;
    px_real *y = PXI_F32(ctx->out[0]);
    for (int64_t i = 0; i < p->m; i++)
        for (int64_t j = 0; j < p->n; j++)
            y[i * p->n + j] = c ? (px_real)p->beta * c[i * p->c_row + j * p->c_column] : 0;
    pxi_gemm_add(p->trans_a, p->trans_b, p->m, p->n, p->k, (px_real)p->alpha, PXI_F32(ctx->in[0]),
                 PXI_F32(ctx->in[1]), y);
    return PX_OK;
}

static void gemm_backward(const px_op_ctx *ctx)
{
    const pxi_gemm_params *p = ctx->params;
    const px_real *a = PXI_F32(ctx->in[0]), *b = PXI_F32(ctx->in[1]);
    const px_real *dy = PXI_F32(ctx->out_grad[0]), alpha = (px_real)p->alpha;
    if (!dy)
        return;
    if (pxi_op_wants_grad(ctx, 0)) { /* op(A) gradient = dY op(B)^T */
        px_real *da = PXI_F32(ctx->in_grad[0]);
        if (p->trans_a)
            pxi_gemm_add(p->trans_b, true, p->k, p->m, p->n, alpha, b, dy, da);
        else
            pxi_gemm_add(false, !p->trans_b, p->m, p->k, p->n, alpha, dy, b, da);
    }
    if (pxi_op_wants_grad(ctx, 1)) { /* op(B) gradient = op(A)^T dY */
        px_real *db = PXI_F32(ctx->in_grad[1]);
        if (p->trans_b)
            pxi_gemm_add(true, p->trans_a, p->n, p->k, p->m, alpha, dy, a, db);
        else
            pxi_gemm_add(!p->trans_a, false, p->k, p->n, p->m, alpha, a, dy, db);
    }
    if (p->has_c && pxi_op_wants_grad(ctx, 2)) {
        px_real *dc = PXI_F32(ctx->in_grad[2]);
        for (int64_t i = 0; i < p->m; i++)
            for (int64_t j = 0; j < p->n; j++)
                dc[i * p->c_row + j * p->c_column] += (px_real)p->beta * dy[i * p->n + j];
    }
}

static int64_t gemm_flops(const px_op_ctx *ctx)
{
    const pxi_gemm_params *p = ctx->params;
    return pxi_nn_flops(2.0 * (double)p->m * (double)p->n * (double)p->k);
}

const px_op px_op_gemm_1 = {
    .name = "Gemm",
    .since = 1,
    .diff = PX_DIFF_YES,
    .setup = gemm_setup,
    .forward = gemm_forward,
    .backward = gemm_backward,
    .flops = gemm_flops,
};
