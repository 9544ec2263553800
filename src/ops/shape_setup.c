/* src/ops/shape_setup.c - what setup() and permute() of the shape operators share */
/* SPDX-License-Identifier: Apache-2.0 */
#include "ops/nest.h"

px_status pxi_attr_ints(const px_op_ctx *ctx, const char *name, const int64_t **values,
                        int64_t *count, px_error *err)
{
    const px_attr *attr = px_node_attr(ctx->node, name);
    *count = -1;
    *values = NULL;
    if (!attr)
        return PX_OK;
    if (attr->kind == PX_ATTR_INT) {
        *values = &attr->i;
        *count = 1;
    } else if (attr->kind == PX_ATTR_INTS) {
        *values = attr->ints;
        *count = (int64_t)attr->count;
    } else {
        return pxi_op_fail(ctx, err, PX_E_INPUT, "its attribute '%s' is not a list of integers",
                           name);
    }
    return PX_OK;
}

px_status pxi_op_ints(px_op_ctx *ctx, const char *attr, int input, const int64_t **values,
                      int64_t *count, px_error *err)
{
    if (attr)
        return pxi_attr_ints(ctx, attr, values, count, err);
    if (pxi_op_has_in(ctx, input))
        return pxi_op_const_ints(ctx, input, values, count, err);
    *values = NULL;
    *count = -1;
    return PX_OK;
}

px_status pxi_op_mark_axes(const px_op_ctx *ctx, const int64_t *axes, int64_t count, int rank,
                           bool marked[PX_MAX_RANK], px_error *err)
{
    for (int64_t i = 0; i < count; i++) {
        int axis;
        PX_TRY(pxi_op_axis(ctx, axes[i], rank, &axis, err));
        if (marked[axis])
            return pxi_op_fail(ctx, err, PX_E_INPUT, "names axis %d twice", axis);
        marked[axis] = true;
    }
    return PX_OK;
}

px_status pxi_op_need_const(const px_op_ctx *ctx, int input, px_error *err)
{
    if (ctx->in[input].data)
        return PX_OK;
    return pxi_op_fail(ctx, err, PX_E_UNSUPPORTED,
                       "its input %d decides a shape and must be constant; one that is known at "
                       "run time only is not supported",
                       input);
}

px_status pxi_op_need_rank(const px_op_ctx *ctx, int64_t rank, px_error *err)
{
    if (rank <= PX_MAX_RANK)
        return PX_OK;
    return pxi_op_fail(ctx, err, PX_E_UNSUPPORTED,
                       "a tensor of rank %lld is not supported; at most %d is", (long long)rank,
                       PX_MAX_RANK);
}

px_status pxi_op_need_index(const px_op_ctx *ctx, int input, px_error *err)
{
    return pxi_op_type(ctx, input, PXI_ONLY(PX_INT64) | PXI_ONLY(PX_INT32), err);
}

int64_t pxi_mul_all(const int64_t *extent, int rank)
{
    int64_t product = 1;
    for (int i = 0; i < rank; i++)
        if (extent[i] < 0 || __builtin_mul_overflow(product, extent[i], &product))
            return -1;
    return product;
}

px_status pxi_op_scratch(px_op_ctx *ctx, int64_t count, size_t size, px_error *err)
{
    size_t bytes;
    if (count < 0 || __builtin_mul_overflow((size_t)count, size, &bytes) || bytes > INT64_MAX)
        return pxi_op_fail(ctx, err, PX_E_INPUT, "needs too much memory");
    ctx->scratch_bytes = bytes;
    return PX_OK;
}

/* cases of a switch over types; `op` is what a load returns */
#define LOAD(op, dtype, T, tag) \
    case dtype:                 \
        return (op)((const T *)tensor->data)[i];
#define STORE(op, dtype, T, tag)             \
    case dtype:                              \
        ((T *)tensor->data)[i] = (T)(value); \
        return;

double pxi_number(const px_tensor *tensor, int64_t i)
{
    switch (tensor->dtype) {
        PXI_NUMBER_TYPES(LOAD, double)
        LOAD(double, PX_BOOL, uint8_t, bool)
    default:
        return 0.0;
    }
}

int64_t pxi_integer(const px_tensor *tensor, int64_t i)
{
    switch (tensor->dtype) {
        PXI_INT_TYPES(LOAD, int64_t)
        LOAD(int64_t, PX_BOOL, uint8_t, bool)
    default:
        return PXI_INT_FROM(int64_t, pxi_number(tensor, i));
    }
}

void pxi_store_integer(px_tensor *tensor, int64_t i, int64_t value)
{
    switch (tensor->dtype) {
        PXI_NUMBER_TYPES(STORE, )
        STORE(, PX_BOOL, uint8_t, bool)
    default:
        return;
    }
}

void pxi_store_number(px_tensor *tensor, int64_t i, double value)
{
    switch (tensor->dtype) {
        PXI_REAL_TYPES(STORE, )
    default:
        pxi_store_integer(tensor, i, PXI_INT_FROM(int64_t, value));
    }
}

void pxi_permute_int64(int64_t *values, const int *perm, int rank)
{
    int64_t old[PX_MAX_RANK];
    for (int i = 0; i < rank; i++)
        old[i] = values[i];
    for (int i = 0; i < rank; i++)
        values[i] = old[perm[i]];
}

void pxi_permute_bool(bool *values, const int *perm, int rank)
{
    bool old[PX_MAX_RANK];
    for (int i = 0; i < rank; i++)
        old[i] = values[i];
    for (int i = 0; i < rank; i++)
        values[i] = old[perm[i]];
}

int pxi_permute_axis(int axis, const int *perm, int rank)
{
    for (int i = 0; i < rank; i++)
        if (perm[i] == axis)
            return i;
    return axis;
}

px_status pxi_permute_refuse(const px_op_ctx *ctx, px_error *err)
{
    return pxi_op_fail(ctx, err, PX_E_UNSUPPORTED, "another order of its axes is not supported");
}
