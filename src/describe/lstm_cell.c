/* src/describe/lstm_cell.c - one step of an LSTM behind its products */
/* SPDX-License-Identifier: Apache-2.0 */
#include "describe/lstm_cell.h"

#include "base/vector_math.h"

static inline float sigmoid(float x)
{
    return 1.0f / (1.0f + pxi_exp(-x)); /* 0 and 1 at the ends: exp() is infinite or 0 there */
}

PXI_WIDE static void cell_run(size_t rows, size_t hidden, float *gates, size_t gates_row,
                              const float *c, float *c_new, float *tanh_c, float *h_new)
{
    for (size_t r = 0; r < rows; r++) {
        float *restrict i = gates + r * gates_row, *restrict f = i + hidden;
        float *restrict g = f + hidden, *restrict o = g + hidden;
        float *restrict to = c_new + r * hidden, *restrict t = tanh_c + r * hidden;
        float *restrict h = h_new + r * hidden;
        for (size_t j = 0; j < hidden; j++) {
            i[j] = sigmoid(i[j]);
            f[j] = sigmoid(f[j]);
            g[j] = pxi_tanh(g[j]);
            o[j] = sigmoid(o[j]);
            to[j] = i[j] * g[j];
        }
        if (c)
            for (size_t j = 0; j < hidden; j++)
                to[j] += f[j] * c[r * hidden + j];
        for (size_t j = 0; j < hidden; j++) {
            t[j] = pxi_tanh(to[j]);
            h[j] = o[j] * t[j];
        }
    }
}

PXI_WIDE static void cell_back(size_t rows, size_t hidden, float *gates, size_t gates_row,
                               const float *c, const float *tanh_c, const float *dh, float *dc)
{
    for (size_t r = 0; r < rows; r++) {
        float *restrict i = gates + r * gates_row, *restrict f = i + hidden;
        float *restrict g = f + hidden, *restrict o = g + hidden;
        const float *restrict t = tanh_c + r * hidden, *restrict d = dh + r * hidden;
        float *restrict e = dc + r * hidden;
        for (size_t j = 0; j < hidden; j++) {
            const float all = e[j] + d[j] * o[j] * (1.0f - t[j] * t[j]);
            const float before = c ? c[r * hidden + j] : 0.0f;
            const float di = all * g[j] * i[j] * (1.0f - i[j]);
            const float df = all * before * f[j] * (1.0f - f[j]);
            const float dg = all * i[j] * (1.0f - g[j] * g[j]);
            e[j] = all * f[j];
            o[j] = d[j] * t[j] * o[j] * (1.0f - o[j]);
            i[j] = di;
            f[j] = df;
            g[j] = dg;
        }
    }
}

void pxi_lstm_cell(size_t rows, size_t hidden, float *gates, size_t gates_row, const float *c,
                   float *c_new, float *tanh_c, float *h_new)
{
    cell_run(rows, hidden, gates, gates_row, c, c_new, tanh_c, h_new);
}

void pxi_lstm_cell_back(size_t rows, size_t hidden, float *gates, size_t gates_row, const float *c,
                        const float *tanh_c, const float *dh, float *dc)
{
    cell_back(rows, hidden, gates, gates_row, c, tanh_c, dh, dc);
}
