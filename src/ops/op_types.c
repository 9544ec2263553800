/* src/ops/op_types.c - type checks with a message */
/* SPDX-License-Identifier: Apache-2.0 */
#include "ops/op_types.h"

px_status pxi_op_type(const px_op_ctx *ctx, int input, unsigned types, px_error *err)
{
    const px_dtype dtype = ctx->in[input].dtype;
    if (pxi_type_in(dtype, types))
        return PX_OK;
    return pxi_op_fail(ctx, err, PX_E_UNSUPPORTED, "its input %d is %s, which is not supported by %s",
                       input, px_dtype_name(dtype), ctx->node->type);
}

px_status pxi_op_type_as_first(const px_op_ctx *ctx, int input, px_error *err)
{
    if (ctx->in[input].dtype == ctx->in[0].dtype)
        return PX_OK;
    return pxi_op_fail(ctx, err, PX_E_INPUT, "its inputs 0 and %d are %s and %s, expected one type",
                       input, px_dtype_name(ctx->in[0].dtype), px_dtype_name(ctx->in[input].dtype));
}
