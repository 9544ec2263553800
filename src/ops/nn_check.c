/* src/ops/nn_check.c - what setup() of the neural-network operators checks again and again */
/* SPDX-License-Identifier: Apache-2.0 */
#include <internal/nn_check.h>

#include <string.h>

px_status pxi_nn_float(const px_op_ctx *ctx, int first, int last, px_error *err)
{
    for (int i = first; i <= last; i++)
        if (pxi_op_has_in(ctx, i) && ctx->in[i].dtype != PX_FLOAT32)
            return pxi_op_fail(
                ctx, err, PX_E_UNSUPPORTED,
                "its input %d is %s, which is not supported; this operator computes in "
                "float32",
                i, px_dtype_name(ctx->in[i].dtype));
    return PX_OK;
}

px_status pxi_nn_rank(const px_op_ctx *ctx, int input, int min_rank, int max_rank, px_error *err)
{
    const px_shape *shape = &ctx->in[input].shape;
    char text[PX_SHAPE_TEXT];
    if (shape->rank < min_rank || shape->rank > max_rank)
        return pxi_op_fail(ctx, err, PX_E_MISMATCH,
                           "its input %d has shape %s, expected %d to %d dimensions", input,
                           px_shape_text(shape, text), min_rank, max_rank);
    return PX_OK;
}

px_status pxi_nn_shape(const px_op_ctx *ctx, int input, const char *what, int rank,
                       const int64_t *dims, px_error *err)
{
    if (!pxi_op_has_in(ctx, input))
        return PX_OK;
    px_shape wanted = {.rank = rank};
    memcpy(wanted.dim, dims, (size_t)rank * sizeof *dims);
    if (px_shape_equal(&ctx->in[input].shape, &wanted))
        return PX_OK;
    char has[PX_SHAPE_TEXT], want[PX_SHAPE_TEXT];
    return pxi_op_fail(ctx, err, PX_E_MISMATCH, "%s has shape %s, expected %s", what,
                       px_shape_text(&ctx->in[input].shape, has), px_shape_text(&wanted, want));
}

px_status pxi_nn_ints(const px_op_ctx *ctx, const char *name, int count, int64_t min, int64_t max,
                      int64_t fallback, int64_t *out, px_error *err)
{
    const px_attr *attr = px_node_attr(ctx->node, name);
    if (!attr) {
        for (int i = 0; i < count; i++)
            out[i] = fallback;
        return PX_OK;
    }
    if (attr->kind != PX_ATTR_INTS || attr->count != (size_t)count)
        return pxi_op_fail(ctx, err, PX_E_INPUT, "attribute '%s' should be a list of %d integers",
                           name, count);
    for (int i = 0; i < count; i++) {
        out[i] = attr->ints[i];
        if (out[i] < min || out[i] > max)
            return pxi_op_fail(ctx, err, PX_E_INPUT,
                               "attribute '%s' holds %lld, expected %lld to %lld", name,
                               (long long)out[i], (long long)min, (long long)max);
    }
    return PX_OK;
}

px_status pxi_nn_int(const px_op_ctx *ctx, const char *name, int64_t min, int64_t max,
                     int64_t fallback, int64_t *out, px_error *err)
{
    *out = px_node_int(ctx->node, name, fallback);
    if (*out < min || *out > max)
        return pxi_op_fail(ctx, err, PX_E_INPUT, "attribute '%s' is %lld, expected %lld to %lld",
                           name, (long long)*out, (long long)min, (long long)max);
    return PX_OK;
}

px_status pxi_nn_bytes(const px_op_ctx *ctx, int64_t count, size_t size, size_t *bytes,
                       px_error *err)
{
    if (count < 0 || __builtin_mul_overflow((size_t)count, size, bytes))
        return pxi_op_fail(ctx, err, PX_E_INPUT, "needs more memory than there can be");
    return PX_OK;
}
