/* src/ops/nest.h - loops over strided axes, shared by the operators that move data
 *
 * Transpose, Slice, Concat, Tile ... all say the same thing: walk some axes, step this far in the
 * target and that far in the source. A nest is that sentence; running it collapses axes that are
 * walked alike, so that whatever is contiguous becomes one memcpy.
 *
 *     pxi_nest nest = {0};
 *     for (int i = 0; i < rank; i++)
 *         pxi_nest_axis(&nest, extent[i], to_stride[i], from_stride[i]);
 *     pxi_nest_copy(&nest, element_size, to, from);
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PXI_OPS_NEST_H
#define PXI_OPS_NEST_H

#include "ops/op_types.h"

#define PXI_NEST_RANK (2 * PX_MAX_RANK) /* Tile and DepthToSpace split axes in two */

typedef struct pxi_nest {
    int rank;
    int64_t extent[PXI_NEST_RANK];
    int64_t to[PXI_NEST_RANK], from[PXI_NEST_RANK]; /* in elements; `from` may be 0 or negative */
} pxi_nest;

/* Appends an inner axis. */
void pxi_nest_axis(pxi_nest *nest, int64_t extent, int64_t to, int64_t from);

/* to[...] = from[...] for elements of 1, 2, 4 or 8 bytes. Every target is written once. */
void pxi_nest_copy(const pxi_nest *nest, size_t element, void *to, const void *from);

/* to[...] += from[...]: the backward of a copy. */
void pxi_nest_add(const pxi_nest *nest, px_real *to, const px_real *from);

/* Row-major strides of a shape, in elements. */
void pxi_strides(const px_shape *shape, int64_t stride[PX_MAX_RANK]);

/* A tensor seen from one axis: [outer][extent][inner]. */
typedef struct pxi_span {
    int64_t outer, extent, inner;
} pxi_span;
pxi_span pxi_span_at(const px_shape *shape, int axis);

/* Sums over the axes marked `reduced` and adds the result to `to`, which has the other axes, dense
 * and in order. Sums are formed in double. */
void pxi_sum_into(int rank, const int64_t *extent, const bool *reduced, px_real *to,
                  const px_real *from);

/* --- what setup() and permute() of these operators share ------------------------------------- */

/* *values gets the ints of an attribute (a single int counts as one of them); *count is -1 when the
 * node has no such attribute. */
px_status pxi_attr_ints(const px_op_ctx *ctx, const char *name, const int64_t **values,
                        int64_t *count, px_error *err);

/* `attr` of the node, or, if attr is NULL, constant input `input`. *count is -1 when it is left
 * out. */
px_status pxi_op_ints(px_op_ctx *ctx, const char *attr, int input, const int64_t **values,
                      int64_t *count, px_error *err);

/* Marks marked[axis] for each of the axes; refuses axes outside of `rank` and repeated ones. */
px_status pxi_op_mark_axes(const px_op_ctx *ctx, const int64_t *axes, int64_t count, int rank,
                           bool marked[PX_MAX_RANK], px_error *err);

/* Refuses an input whose data is not known in setup(): the output's shape depends on it. */
px_status pxi_op_need_const(const px_op_ctx *ctx, int input, px_error *err);

/* Refuses to make a tensor of more axes than there is room for. */
px_status pxi_op_need_rank(const px_op_ctx *ctx, int64_t rank, px_error *err);

/* Refuses an input that is not int64 or int32. */
px_status pxi_op_need_index(const px_op_ctx *ctx, int input, px_error *err);

#define PXI_ONLY(dtype) (1u << (dtype)) /* a set of types that holds one, see op_types.h */

/* ctx->scratch_bytes = count * size, or PX_E_INPUT when that is beyond any memory. `count` may
 * come from a shape that nobody has checked yet: pass its parts to pxi_mul_all() first. */
px_status pxi_op_scratch(px_op_ctx *ctx, int64_t count, size_t size, px_error *err);

/* Product of non-negative extents; -1 when it does not fit. */
int64_t pxi_mul_all(const int64_t *extent, int rank);

/* Element `i` of an int64 or int32 tensor. */
static inline int64_t pxi_index(const px_tensor *tensor, int64_t i)
{
    return tensor->dtype == PX_INT32 ? ((const int32_t *)tensor->data)[i]
                                     : ((const int64_t *)tensor->data)[i];
}

/* Element `i` of a tensor of any type; half types do not occur inside a program. Integers beyond
 * 2^53 are rounded by pxi_number(); pxi_integer() is exact (uint64 comes back modulo 2^64). */
double pxi_number(const px_tensor *tensor, int64_t i);
int64_t pxi_integer(const px_tensor *tensor, int64_t i);
void pxi_store_number(px_tensor *tensor, int64_t i, double value);
void pxi_store_integer(px_tensor *tensor, int64_t i, int64_t value);

static inline bool pxi_is_real(px_dtype dtype)
{
    return dtype == PX_FLOAT32 || dtype == PX_FLOAT64;
}

/* permute(): full-rank arrays per logical axis become arrays per stored axis. */
void pxi_permute_int64(int64_t *values, const int *perm, int rank);
void pxi_permute_bool(bool *values, const int *perm, int rank);
int pxi_permute_axis(int axis, const int *perm, int rank);

/* permute() returns this where the node at hand needs logical order after all. */
px_status pxi_permute_refuse(const px_op_ctx *ctx, px_error *err);

#endif
