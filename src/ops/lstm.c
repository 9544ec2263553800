/* src/ops/lstm.c - LSTM (ONNX, since opset 1); gates i (input), o (output), f (forget), c (cell)
 *
 *     i = f(Wi x + Ri h' + Pi C' + Wbi + Rbi)
 *     f = f(Wf x + Rf h' + Pf C' + Wbf + Rbf)       1 - i with input_forget
 *     c = g(Wc x + Rc h' + Wbc + Rbc)
 *     C = f C' + i c
 *     o = f(Wo x + Ro h' + Po C + Wbo + Rbo)
 *     h = o h(C)
 *
 * The slot's second vector is C. P is stored in the order i, o, f.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#include "ops/rnn.h"

/* Values of one unit at one step. */
typedef struct lstm_unit {
    double i, o, f, c, cell;
} lstm_unit;

static lstm_unit lstm_gates(const pxi_rnn_cell *cell, const px_real *slot, int64_t k)
{
    const int64_t n = cell->params->hidden;
    lstm_unit u = {
        .i = pxi_rnn_apply(cell->f, (double)slot[k]),
        .o = pxi_rnn_apply(cell->f, (double)slot[n + k]),
        .f = pxi_rnn_apply(cell->f, (double)slot[2 * n + k]),
        .c = pxi_rnn_apply(cell->g, (double)slot[3 * n + k]),
        .cell = (double)slot[4 * n + k],
    };
    if (cell->params->input_forget)
        u.f = 1.0 - u.i;
    return u;
}

static void lstm_step(const pxi_rnn_cell *cell, const px_real *x, const px_real *h,
                      const px_real *c, px_real *slot)
{
    const int64_t n = cell->params->hidden;
    const px_real *peephole = cell->peephole;
    px_real *c_new = slot + 4 * n, *h_new = slot + 5 * n;
    pxi_rnn_sums(cell, 4, x, h, slot);
    for (int64_t k = 0; k < n; k++) {
        if (peephole) {
            slot[k] += peephole[k] * c[k];
            slot[2 * n + k] += peephole[2 * n + k] * c[k];
        }
        c_new[k] = 0; /* lstm_gates() reads it */
        const lstm_unit u = lstm_gates(cell, slot, k);
        c_new[k] = (px_real)(u.f * (double)c[k] + u.i * u.c);
        if (peephole)
            slot[n + k] += peephole[n + k] * c_new[k];
        h_new[k] = (px_real)(pxi_rnn_apply(cell->f, (double)slot[n + k]) *
                             pxi_rnn_apply(cell->h, (double)c_new[k]));
    }
}

static void lstm_pull(const pxi_rnn_cell *cell, const px_real *x, const px_real *h,
                      const px_real *c, const px_real *slot, px_real *dx, px_real *dh, px_real *dc)
{
    const int64_t n = cell->params->hidden;
    const bool coupled = cell->params->input_forget;
    const px_real *peephole = cell->peephole;
    px_real *dz = cell->work, *dpeephole = cell->dpeephole;
    for (int64_t k = 0; k < n; k++) {
        const lstm_unit u = lstm_gates(cell, slot, k);
        const double before = (double)c[k], up = (double)dh[k];
        const double dzo =
            up * pxi_rnn_apply(cell->h, u.cell) * pxi_rnn_slope(cell->f, (double)slot[n + k]);
        double dcell = (double)dc[k] + up * u.o * pxi_rnn_slope(cell->h, u.cell);
        if (peephole)
            dcell += dzo * (double)peephole[n + k];
        const double df = dcell * before, di = dcell * u.c - (coupled ? df : 0.0);
        const double dzi = di * pxi_rnn_slope(cell->f, (double)slot[k]);
        const double dzf = coupled ? 0.0 : df * pxi_rnn_slope(cell->f, (double)slot[2 * n + k]);
        const double dzc = dcell * u.i * pxi_rnn_slope(cell->g, (double)slot[3 * n + k]);
        double dbefore = dcell * u.f;
        if (peephole)
            dbefore += dzi * (double)peephole[k] + dzf * (double)peephole[2 * n + k];
        if (dpeephole) {
            dpeephole[k] += (px_real)(dzi * before);
            dpeephole[n + k] += (px_real)(dzo * u.cell);
            dpeephole[2 * n + k] += (px_real)(dzf * before);
        }
        dz[k] = (px_real)dzi;
        dz[n + k] = (px_real)dzo;
        dz[2 * n + k] = (px_real)dzf;
        dz[3 * n + k] = (px_real)dzc;
        dc[k] = (px_real)dbefore;
        dh[k] = 0;
    }
    pxi_rnn_sums_pull(cell, 4, x, h, dz, dx, dh);
}

static const pxi_rnn_kind lstm_kind = {
    .gates = 4,
    .function_count = 3,
    .functions = {PXI_RNN_SIGMOID, PXI_RNN_TANH, PXI_RNN_TANH},
    .has_cell = true,
    .step = lstm_step,
    .pull = lstm_pull,
};

static px_status lstm_setup(px_op_ctx *ctx, px_error *err)
{
    return pxi_rnn_setup(ctx, &lstm_kind, err);
}

static px_status lstm_forward(const px_op_ctx *ctx, px_error *err)
{
    return pxi_rnn_forward(ctx, &lstm_kind, err);
}

static void lstm_backward(const px_op_ctx *ctx)
{
    pxi_rnn_backward(ctx, &lstm_kind);
}

const px_op px_op_lstm_1 = {
    .name = "LSTM",
    .since = 1,
    .diff = PX_DIFF_YES,
    .setup = lstm_setup,
    .forward = lstm_forward,
    .backward = lstm_backward,
    .flops = pxi_rnn_flops,
};
