/* src/describe/lstm_cell.h - one step of an LSTM behind its products
 *
 * Hochreiter, Schmidhuber 1997, with forget gates; gates in PyTorch's order:
 *
 *     i, f, o = sigmoid(.), g = tanh(.);  c' = f c + i g;  h' = o tanh(c')
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PXI_DESCRIBE_LSTM_CELL_H
#define PXI_DESCRIBE_LSTM_CELL_H

#include <stddef.h>

/* gates[rows][4 hidden], `gates_row` apart, hold the sums on entry and i, f, g, o afterwards. `c`
 * is the state before, NULL for zeros. All others are [rows][hidden]. */
void pxi_lstm_cell(size_t rows, size_t hidden, float *gates, size_t gates_row, const float *c,
                   float *c_new, float *tanh_c, float *h_new);

/* Takes i, f, g, o and leaves the gradients of their sums. dc is that of c' which does not come
 * through h' on entry, and that of c afterwards. */
void pxi_lstm_cell_back(size_t rows, size_t hidden, float *gates, size_t gates_row, const float *c,
                        const float *tanh_c, const float *dh, float *dc);

#endif
