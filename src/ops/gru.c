/* src/ops/gru.c - GRU (ONNX, since opset 1); gates z (update), r (reset), h (hidden)
 *
 *     z = f(Wz x + Rz h' + Wbz + Rbz)
 *     r = f(Wr x + Rr h' + Wbr + Rbr)
 *     n = g(Wh x + Rh (r h') + Rbh + Wbh)         or, with linear_before_reset (opset 3):
 *     n = g(Wh x + r (Rh h' + Rbh) + Wbh)
 *     h = (1 - z) n + z h'
 *
 * The slot's second vector is r h', or Rh h' + Rbh.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#include "ops/rnn.h"

#include <string.h>

/* The hidden gate's rows of a weight matrix or bias; NULL stays NULL. */
static const px_real *hidden_rows(const px_real *of, int64_t hidden, int64_t columns)
{
    return of ? of + 2 * hidden * columns : NULL;
}

static px_real *hidden_gradient(px_real *of, int64_t hidden, int64_t columns)
{
    return of ? of + 2 * hidden * columns : NULL;
}

static void gru_step(const pxi_rnn_cell *cell, const px_real *x, const px_real *h, const px_real *c,
                     px_real *slot)
{
    (void)c;
    const pxi_rnn_params *p = cell->params;
    const int64_t n = p->hidden;
    const px_real *rh = hidden_rows(cell->r, n, n), *rbh = hidden_rows(cell->r_bias, n, 1);
    px_real *zh = slot + 2 * n, *term = slot + 3 * n, *h_new = slot + 4 * n;
    pxi_rnn_sums(cell, 2, x, h, slot);
    memset(zh, 0, 2 * (size_t)n * sizeof *zh); /* and term */
    pxi_rnn_add(hidden_rows(cell->w_bias, n, 1), n, zh);
    pxi_rnn_product(hidden_rows(cell->w, n, p->input), n, p->input, x, zh);
    if (p->linear_before_reset) {
        pxi_rnn_add(rbh, n, term);
        pxi_rnn_product(rh, n, n, h, term);
    }
    for (int64_t i = 0; i < n; i++) {
        const double r = pxi_rnn_apply(cell->f, (double)slot[n + i]);
        if (p->linear_before_reset)
            zh[i] += (px_real)(r * (double)term[i]);
        else
            term[i] = (px_real)(r * (double)h[i]);
    }
    if (!p->linear_before_reset) {
        pxi_rnn_add(rbh, n, zh);
        pxi_rnn_product(rh, n, n, term, zh);
    }
    for (int64_t i = 0; i < n; i++) {
        const double z = pxi_rnn_apply(cell->f, (double)slot[i]);
        const double next = pxi_rnn_apply(cell->g, (double)zh[i]);
        h_new[i] = (px_real)((1.0 - z) * next + z * (double)h[i]);
    }
}

static void gru_pull(const pxi_rnn_cell *cell, const px_real *x, const px_real *h, const px_real *c,
                     const px_real *slot, px_real *dx, px_real *dh, px_real *dc)
{
    (void)c, (void)dc;
    const pxi_rnn_params *p = cell->params;
    const int64_t n = p->hidden;
    const px_real *rh = hidden_rows(cell->r, n, n);
    px_real *drh = hidden_gradient(cell->dr, n, n), *drbh = hidden_gradient(cell->dr_bias, n, 1);
    const px_real *zr = slot + n, *zh = slot + 2 * n, *term = slot + 3 * n;
    px_real *dz = cell->work, *dterm = dz + 3 * n; /* dz: of the three gates */
    for (int64_t i = 0; i < n; i++) {
        const double z = pxi_rnn_apply(cell->f, (double)slot[i]);
        const double next = pxi_rnn_apply(cell->g, (double)zh[i]), up = (double)dh[i];
        dz[i] = (px_real)(up * ((double)h[i] - next) * pxi_rnn_slope(cell->f, (double)slot[i]));
        dz[2 * n + i] = (px_real)(up * (1.0 - z) * pxi_rnn_slope(cell->g, (double)zh[i]));
        dh[i] = (px_real)(up * z);
    }
    if (p->linear_before_reset) { /* term = Rh h' + Rbh, scaled by r */
        for (int64_t i = 0; i < n; i++)
            dterm[i] = (px_real)((double)dz[2 * n + i] * pxi_rnn_apply(cell->f, (double)zr[i]));
        pxi_rnn_product_pull(rh, n, n, h, dterm, dh, drh);
        pxi_rnn_add(dterm, n, drbh);
    } else { /* term = r h', multiplied by Rh */
        memset(dterm, 0, (size_t)n * sizeof *dterm);
        pxi_rnn_product_pull(rh, n, n, term, dz + 2 * n, dterm, drh);
        pxi_rnn_add(dz + 2 * n, n, drbh);
    }
    for (int64_t i = 0; i < n; i++) {
        const double dr = p->linear_before_reset ? (double)dz[2 * n + i] * (double)term[i]
                                                 : (double)dterm[i] * (double)h[i];
        dz[n + i] = (px_real)(dr * pxi_rnn_slope(cell->f, (double)zr[i]));
        if (!p->linear_before_reset)
            dh[i] += (px_real)((double)dterm[i] * pxi_rnn_apply(cell->f, (double)zr[i]));
    }
    pxi_rnn_sums_pull(cell, 2, x, h, dz, dx, dh);
}

static const pxi_rnn_kind gru_kind = {
    .gates = 3,
    .function_count = 2,
    .functions = {PXI_RNN_SIGMOID, PXI_RNN_TANH},
    .step = gru_step,
    .pull = gru_pull,
};

static px_status gru_setup(px_op_ctx *ctx, px_error *err)
{
    return pxi_rnn_setup(ctx, &gru_kind, err);
}

static px_status gru_forward(const px_op_ctx *ctx, px_error *err)
{
    return pxi_rnn_forward(ctx, &gru_kind, err);
}

static void gru_backward(const px_op_ctx *ctx)
{
    pxi_rnn_backward(ctx, &gru_kind);
}

const px_op px_op_gru_1 = {
    .name = "GRU",
    .since = 1,
    .diff = PX_DIFF_YES,
    .setup = gru_setup,
    .forward = gru_forward,
    .backward = gru_backward,
    .flops = pxi_rnn_flops,
};
