/* src/ops/unary.c - what operators y[i] = f(x[i]) share at setup */
/* SPDX-License-Identifier: Apache-2.0 */
#include "ops/unary.h"

px_status pxi_unary_setup(px_op_ctx *ctx, unsigned types, pxi_unary_attr a, pxi_unary_attr b,
                          px_error *err)
{
    PX_TRY(pxi_setup_same(ctx, err));
    PX_TRY(pxi_op_type(ctx, 0, types, err));
    PX_TRY(pxi_op_params(ctx, sizeof(pxi_unary_params), err));
    pxi_unary_params *params = ctx->params;
    params->a = a.name ? (double)px_node_float(ctx->node, a.name, a.fallback) : 0;
    params->b = b.name ? (double)px_node_float(ctx->node, b.name, b.fallback) : 0;
    return PX_OK;
}
