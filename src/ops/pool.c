/* src/ops/pool.c - what MaxPool, AveragePool and LpPool have in common */
/* SPDX-License-Identifier: Apache-2.0 */
#include "ops/pool.h"

#include <internal/nn_check.h>

px_status pxi_pool_read(px_op_ctx *ctx, pxi_pool_params *params, px_error *err)
{
    const px_shape *x = &ctx->in[0].shape;
    pxi_pool_params p = *params;
    int64_t ceil_mode = 0;
    pxi_auto_pad auto_pad = PXI_PAD_NOTSET;
    PX_TRY(pxi_nn_rank(ctx, 0, 3, 2 + PXI_MAX_SPATIAL, err));
    PX_TRY(pxi_nn_int(ctx, "ceil_mode", 0, 1, 0, &ceil_mode, err));
    PX_TRY(pxi_window_read(ctx, x, /* kernel= */ NULL, &p.window, &auto_pad, err));
    PX_TRY(pxi_window_resolve(ctx, auto_pad, ceil_mode != 0, &p.window, err));
    p.planes = x->dim[0] * x->dim[1];
    px_shape *y = &ctx->out[0].shape;
    *y = *x;
    for (int i = 0; i < p.window.spatial; i++) {
        const pxi_window *w = &p.window;
        const int64_t extent = pxi_window_extent(w, i);
        if (w->pad_begin[i] >= extent || w->pad_end[i] >= extent)
            return pxi_op_fail(ctx, err, PX_E_INPUT,
                               "pads %lld and %lld are not smaller than the kernel's span %lld",
                               (long long)w->pad_begin[i], (long long)w->pad_end[i],
                               (long long)extent);
        p.dilated |= w->dilation[i] != 1;
        p.overhangs |=
            (w->out[i] - 1) * w->stride[i] + extent > w->in[i] + w->pad_begin[i] + w->pad_end[i];
        y->dim[2 + i] = w->out[i];
    }
    *params = p;
    return PX_OK;
}

px_status pxi_pool_norm(const px_op_ctx *ctx, double *p, px_error *err)
{
    const px_attr *attr = px_node_attr(ctx->node, "p");
    *p = !attr ? 2.0 : attr->kind == PX_ATTR_FLOAT ? (double)attr->f : (double)attr->i;
    if (!(*p >= 1.0 && *p <= 1e6))
        return pxi_op_fail(ctx, err, PX_E_INPUT, "its p is %g, expected at least 1", *p);
    return PX_OK;
}
