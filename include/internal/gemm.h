/* include/internal/gemm.h - Gemm and MatMul as their setup() leaves them in ctx->params */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PXI_INTERNAL_GEMM_H
#define PXI_INTERNAL_GEMM_H

#include <internal/op.h>

/* Y (m, n) = alpha * op(A) op(B) + beta * C, op(A) being (m, k). Without a C, has_c is false. */
typedef struct pxi_gemm_params {
    int64_t m, n, k;
    double alpha, beta;
    bool trans_a, trans_b, has_c;
    int64_t c_row, c_column; /* C(i, j) is c[i * c_row + j * c_column]: 0 where it broadcasts */
} pxi_gemm_params;

/* batch_count products (m, k) x (k, n), one after another in the output; the operands' matrices of
 * batch i are found by pxi_matmul_at(). */
typedef struct pxi_matmul_params {
    int64_t m, n, k, batch_count;
    px_shape batch;                                       /* broadcast batch axes */
    int64_t a_stride[PX_MAX_RANK], b_stride[PX_MAX_RANK]; /* in elements; 0 where it broadcasts */
    bool b_is_shared; /* every batch has the same B: A's batches and rows are just batch_count * m
                         rows of one product */
} pxi_matmul_params;

/* Element offsets of batch i's matrices. */
void pxi_matmul_at(const pxi_matmul_params *params, int64_t i, int64_t *a, int64_t *b);

/* Numpy's rules for MatMul, MatMulInteger and QLinearMatMul (inputs `a` and `b`): sets *params and
 * out[0].shape. */
px_status pxi_matmul_read(px_op_ctx *ctx, int a, int b, pxi_matmul_params *params, px_error *err);

/* c (m, n) += alpha * op(a) op(b), plain rows without gaps; op(a) is (m, k), op(b) is (k, n). */
void pxi_gemm_add(bool trans_a, bool trans_b, int64_t m, int64_t n, int64_t k, px_real alpha,
                  const px_real *a, const px_real *b, px_real *c);

#endif
