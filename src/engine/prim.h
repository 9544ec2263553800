/* src/engine/prim.h - the one place that talks to oneDNN
 *
 * A *prim* is a compiled kernel with its packed weights: immutable, shared by all sessions. A
 * *bound* is a prim with one session's memory in it. Only prim*.c include dnnl.h, and only
 * prim_api.h knows that oneDNN 2 and 3 differ.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PXI_ENGINE_PRIM_H
#define PXI_ENGINE_PRIM_H

#include "engine/plan.h"

typedef struct pxi_prim pxi_prim;
typedef struct pxi_bound pxi_bound;

/* A two-dimensional convolution; pads of either side apart. Data is channels-last. */
typedef struct pxi_conv_shape {
    int64_t batch, group, in_channels, out_channels;
    int64_t in[2], out[2], kernel[2], stride[2], dilation[2], pad_begin[2], pad_end[2];
    bool direct; /* not by Winograd */
} pxi_conv_shape;

/* All makers: PX_E_UNSUPPORTED when oneDNN has only its reference loop for the shape. Weights are
 * (out_channels, in_channels / group, kh, kw), bias (out_channels) or NULL, both copied. */

/* slots: 0 source, 1 destination. `adds`: the result is added to what the destination holds before
 * the activation. `act` may be NULL. */
px_status pxi_prim_conv(const pxi_conv_shape *shape, const float *weights, const float *bias,
                        const pxi_act *act, bool adds, pxi_prim **out, px_error *err);

/* slots: 0 gradient of the result, 1 gradient of the data (overwritten). */
px_status pxi_prim_conv_data(const pxi_conv_shape *shape, const float *weights, pxi_prim **out,
                             px_error *err);

/* slots: 0 data, 1 gradient of the result, 2 gradient of the weights in their plain order
 * (overwritten; NULL: not wanted), 3 gradient of the bias (with `bias`). */
px_status pxi_prim_conv_weights(const pxi_conv_shape *shape, bool bias, pxi_prim **out,
                                px_error *err);

/* (rows, k) x (k, n) with constant right side `b` (row-major, or (n, k) with `transposed`); slots
 * as pxi_prim_conv. */
px_status pxi_prim_product(int64_t rows, int64_t k, int64_t n, const float *b, bool transposed,
                           const float *bias, const pxi_act *act, bool adds, pxi_prim **out,
                           px_error *err);

/* Batched product of two run-time operands; slots: 0 (batch, m, k), 1 (batch, k, n), 2 the result
 * (batch, m, n). `trans_a`, `trans_b`: the operand's matrices lie transposed in memory. */
px_status pxi_prim_matmul(int64_t batch, int64_t m, int64_t k, int64_t n, bool trans_a,
                          bool trans_b, pxi_prim **out, px_error *err);

/* Other weights and bias for a prim that was made with some, given as its maker takes them; bound
 * prims see them. Not while it runs. NULL prim is fine. */
px_status pxi_prim_repack(pxi_prim *prim, const float *weights, const float *bias, px_error *err);

void pxi_prim_free(pxi_prim *prim);
size_t pxi_prim_scratch(const pxi_prim *prim);
const char *pxi_prim_name(const pxi_prim *prim); /* oneDNN's implementation name */

/* Whether oneDNN uses AVX-512 here: the processor has it, and ONEDNN_MAX_CPU_ISA does not forbid
 * it. Our own kernels follow, so that one variable shows what another machine would run. */
bool pxi_prim_has_avx512(void);
bool pxi_prim_has_avx2(void);

/* A session's own command queue. */
px_status pxi_stream_new(void **out, px_error *err);
void pxi_stream_free(void *stream);

/* `slots` are addresses in the order the maker documents. */
px_status pxi_bound_new(const pxi_prim *prim, void *stream, void *const *slots, void *scratch,
                        pxi_bound **out, px_error *err);
void pxi_bound_free(pxi_bound *bound);
px_status pxi_bound_run(const pxi_bound *bound, px_error *err);

/* c = a b for plain matrices, one thread: for benchmarks and small products at plan time. */
px_status pxi_sgemm(int64_t m, int64_t n, int64_t k, const float *a, const float *b, float *c,
                    px_error *err);
/* c = alpha a b^T + beta c for b of (n, k); c is not read where beta is 0. On the calling thread,
 * whatever OpenMP is set to there. The rounding of an element may depend on m and n. */
px_status pxi_sgemm_nt(int64_t m, int64_t n, int64_t k, float alpha, const float *a, const float *b,
                       float beta, float *c, px_error *err);
/* c = op(a) op(b) + beta c for rows that lie `a_row`, `b_row`, `c_row` elements apart, as they are
 * in memory; op(a) is (m, k), op(b) is (k, n). Otherwise as pxi_sgemm_nt(). */
px_status pxi_sgemm_rows(bool trans_a, bool trans_b, int64_t m, int64_t n, int64_t k,
                         const float *a, int64_t a_row, const float *b, int64_t b_row, float beta,
                         float *c, int64_t c_row, px_error *err);

#endif
