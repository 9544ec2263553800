/* include/internal/nn_check.h - what setup() of the neural-network operators checks again and again
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PXI_INTERNAL_NN_CHECK_H
#define PXI_INTERNAL_NN_CHECK_H

#include <internal/op.h>

/* Refuses present inputs among `first`..`last` that are not float32. (Half and bfloat16 have been
 * widened before an operator sees them.) */
px_status pxi_nn_float(const px_op_ctx *ctx, int first, int last, px_error *err);

/* Refuses an input whose rank lies outside the bounds. */
px_status pxi_nn_rank(const px_op_ctx *ctx, int input, int min_rank, int max_rank, px_error *err);

/* Refuses a present input whose shape is not `dims`; `what` names it: "the bias". */
px_status pxi_nn_shape(const px_op_ctx *ctx, int input, const char *what, int rank,
                       const int64_t *dims, px_error *err);

/* A list attribute of exactly `count` integers in min..max; `fallback` for all where it is absent.
 */
px_status pxi_nn_ints(const px_op_ctx *ctx, const char *name, int count, int64_t min, int64_t max,
                      int64_t fallback, int64_t *out, px_error *err);

/* An integer attribute in min..max. */
px_status pxi_nn_int(const px_op_ctx *ctx, const char *name, int64_t min, int64_t max,
                     int64_t fallback, int64_t *out, px_error *err);

/* `count` elements of `size` bytes in *bytes; PX_E_INPUT when that overflows. */
px_status pxi_nn_bytes(const px_op_ctx *ctx, int64_t count, size_t size, size_t *bytes,
                       px_error *err);

/* Whether the node names its output i (forward() may still find its data NULL). */
static inline bool pxi_nn_names_output(const px_op_ctx *ctx, int i)
{
    return i < ctx->out_count && (!ctx->node->outputs || ctx->node->outputs[i] >= 0);
}

/* A flop count that does not overflow. */
static inline int64_t pxi_nn_flops(double flops)
{
    return flops < 9e18 ? (int64_t)flops : INT64_MAX;
}

#endif
