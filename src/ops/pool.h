/* src/ops/pool.h - the pooling operators as their setup() leaves them in ctx->params */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PXI_OPS_POOL_H
#define PXI_OPS_POOL_H

#include "ops/conv_window.h"

/* MaxPool, AveragePool, LpPool: X (N, C, in...), Y (N, C, out...). Every pad is smaller than the
 * window's extent, but with dilations or ceil_mode a window may still miss the data altogether. */
typedef struct pxi_pool_params {
    pxi_window window;
    int64_t planes;         /* N * C */
    bool count_include_pad; /* AveragePool: divide by the padded window's size */
    bool column_major;      /* MaxPool: storage_order of the indices */
    bool dilated;           /* some dilation is not 1 */
    bool overhangs;         /* ceil_mode added a window that reaches beyond pad_end somewhere */
    double p;               /* LpPool: the norm */
} pxi_pool_params;

/* Reads what all pools have in common and sets out[0]. */
px_status pxi_pool_read(px_op_ctx *ctx, pxi_pool_params *params, px_error *err);

/* The attribute p of LpPool and GlobalLpPool: a float in opset 1, an integer since. */
px_status pxi_pool_norm(const px_op_ctx *ctx, double *p, px_error *err);

/* GlobalAveragePool, GlobalMaxPool, GlobalLpPool: X (N, C, ...), Y (N, C, 1...). */
typedef struct pxi_global_pool_params {
    int64_t planes, area; /* N * C, product of the spatial extents */
    double p;             /* GlobalLpPool: the norm */
} pxi_global_pool_params;

#endif
