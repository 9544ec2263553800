/* src/ops/rnn.c - RNN (ONNX, since opset 1): h = f(W x + R h' + Wb + Rb) */
/* SPDX-License-Identifier: Apache-2.0 */
#include "ops/rnn.h"

#include <string.h>

static void rnn_step(const pxi_rnn_cell *cell, const px_real *x, const px_real *h, const px_real *c,
                     px_real *slot)
{
    (void)c;
    const int64_t hidden = cell->params->hidden;
    px_real *rest = slot + hidden, *h_new = slot + 2 * hidden;
    pxi_rnn_sums(cell, 1, x, h, slot);
    memset(rest, 0, (size_t)hidden * sizeof *rest);
    for (int64_t i = 0; i < hidden; i++)
        h_new[i] = (px_real)pxi_rnn_apply(cell->f, (double)slot[i]);
}

static void rnn_pull(const pxi_rnn_cell *cell, const px_real *x, const px_real *h, const px_real *c,
                     const px_real *slot, px_real *dx, px_real *dh, px_real *dc)
{
    (void)c, (void)dc;
    const int64_t hidden = cell->params->hidden;
    px_real *dz = cell->work;
    for (int64_t i = 0; i < hidden; i++) {
        dz[i] = (px_real)((double)dh[i] * pxi_rnn_slope(cell->f, (double)slot[i]));
        dh[i] = 0;
    }
    pxi_rnn_sums_pull(cell, 1, x, h, dz, dx, dh);
}

static const pxi_rnn_kind rnn_kind = {
    .gates = 1,
    .function_count = 1,
    .functions = {PXI_RNN_TANH},
    .step = rnn_step,
    .pull = rnn_pull,
};

static px_status rnn_setup(px_op_ctx *ctx, px_error *err)
{
    return pxi_rnn_setup(ctx, &rnn_kind, err);
}

static px_status rnn_forward(const px_op_ctx *ctx, px_error *err)
{
    return pxi_rnn_forward(ctx, &rnn_kind, err);
}

static void rnn_backward(const px_op_ctx *ctx)
{
    pxi_rnn_backward(ctx, &rnn_kind);
}

const px_op px_op_rnn_1 = {
    .name = "RNN",
    .since = 1,
    .diff = PX_DIFF_YES,
    .setup = rnn_setup,
    .forward = rnn_forward,
    .backward = rnn_backward,
    .flops = pxi_rnn_flops,
};
