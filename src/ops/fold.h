/* src/ops/fold.h - walking a tensor whose axes are partly reduced; shared by reduce*.c */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PXI_OPS_FOLD_H
#define PXI_OPS_FOLD_H

#include "ops/nest.h"

/* A dense tensor whose axes are kept or reduced, neighbours of one kind joined. Reading it in rows:
 * a row is contiguous and lies either along one result (`scalar`) or along contiguous results. */
typedef struct pxi_fold {
    int kept_rank, reduced_rank; /* axes outside of the row */
    int64_t kept[PXI_NEST_RANK], kept_stride[PXI_NEST_RANK];
    int64_t reduced[PXI_NEST_RANK], reduced_stride[PXI_NEST_RANK];
    int64_t row;        /* elements */
    bool scalar;        /* the row's axis is a reduced one */
    int64_t out_count;  /* results */
    int64_t per_result; /* elements that each result is made of */
} pxi_fold;

void pxi_fold_init(pxi_fold *fold, int rank, const int64_t *extent, const bool *reduced);

/* Steps an odometer over `rank` axes; false when it is through. */
bool pxi_fold_next(int rank, const int64_t *extent, const int64_t *stride,
                   int64_t index[PXI_NEST_RANK], int64_t *offset);

/* Calls `visit` for every row: `x` is the row's place in the tensor, `y` that of its first (or
 * only) result. */
typedef void (*pxi_fold_row)(void *context, int64_t x, int64_t y, int64_t count, bool scalar);
void pxi_fold_rows(const pxi_fold *fold, pxi_fold_row visit, void *context);

/* Sum of contiguous values in double, in an order that depends on `count` only. */
double pxi_sum_row(const px_real *x, int64_t count);

/* What all Reduce operators are; reduce.c computes them, reduce_grad.c differentiates. */
typedef enum pxi_reduce_kind {
    PXI_REDUCE_SUM,
    PXI_REDUCE_MEAN,
    PXI_REDUCE_MAX,
    PXI_REDUCE_MIN,
    PXI_REDUCE_PROD,
    PXI_REDUCE_L1,
    PXI_REDUCE_L2,
    PXI_REDUCE_LOG_SUM,
    PXI_REDUCE_LOG_SUM_EXP,
    PXI_REDUCE_SUM_SQUARE,
} pxi_reduce_kind;

typedef struct pxi_reduce_params {
    pxi_reduce_kind kind;
    bool keepdims;
    bool reduced[PX_MAX_RANK];
} pxi_reduce_params;

void pxi_reduce_backward(const px_op_ctx *ctx);

#endif
