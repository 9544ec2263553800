/* src/ops/rnn.h - what RNN, GRU and LSTM share
 *
 * A sample's sequence is walked step by step, once per direction. A step's *slot* keeps what the
 * way back needs: the gates' sums before their activations, a second vector (the LSTM's cell, the
 * GRU's recurrent term), and the new hidden state.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PXI_OPS_RNN_H
#define PXI_OPS_RNN_H

#include <internal/op.h>

typedef enum pxi_rnn_function {
    PXI_RNN_AFFINE,
    PXI_RNN_ELU,
    PXI_RNN_HARD_SIGMOID,
    PXI_RNN_LEAKY_RELU,
    PXI_RNN_RELU,
    PXI_RNN_SCALED_TANH,
    PXI_RNN_SIGMOID,
    PXI_RNN_SOFTPLUS,
    PXI_RNN_SOFTSIGN,
    PXI_RNN_TANH,
    PXI_RNN_THRESHOLDED_RELU,
} pxi_rnn_function;

typedef struct pxi_rnn_activation {
    pxi_rnn_function function;
    double alpha, beta;
    double clip; /* the argument is first brought into -clip .. clip; infinite: left alone */
} pxi_rnn_activation;

double pxi_rnn_apply(const pxi_rnn_activation *activation, double x);
double pxi_rnn_slope(const pxi_rnn_activation *activation,
                     double x); /* derivative, with the clip */

enum { pxi_rnn_max_functions = 3 };

/* Reads activations, activation_alpha, activation_beta and clip for `directions` times `count`
 * functions, of which `defaults` names the usual ones. */
px_status pxi_rnn_read_activations(const px_op_ctx *ctx, int count,
                                   const pxi_rnn_function *defaults, int directions,
                                   pxi_rnn_activation out[2][pxi_rnn_max_functions], px_error *err);

/* X (seq, batch, input), W (directions, gates * hidden, input), R (directions, gates * hidden,
 * hidden), B (directions, 2 * gates * hidden), initial states (directions, batch, hidden),
 * P (directions, 3 * hidden), Y (seq, directions, batch, hidden). With batch_first the batch comes
 * first in X, Y and the states. */
typedef struct pxi_rnn_params {
    int64_t seq, batch, input, hidden;
    int directions, gates;
    bool batch_first;
    bool reverse;                           /* the only direction runs from the end */
    bool linear_before_reset, input_forget; /* GRU, LSTM */
    pxi_rnn_activation activation[2][pxi_rnn_max_functions]; /* f, g, h per direction */
} pxi_rnn_params;

/* One direction at work. Gradients are NULL where they are not wanted. */
typedef struct pxi_rnn_cell {
    const pxi_rnn_params *params;
    const pxi_rnn_activation *f, *g, *h;
    const px_real *w, *r;
    const px_real *w_bias, *r_bias, *peephole; /* NULL: none */
    px_real *dw, *dr, *dw_bias, *dr_bias, *dpeephole;
    px_real *work; /* (gates + 2) * hidden */
} pxi_rnn_cell;

/* What makes an RNN, a GRU or an LSTM. */
typedef struct pxi_rnn_kind {
    int gates, function_count;
    pxi_rnn_function functions[pxi_rnn_max_functions];
    bool has_cell; /* initial_c, P, Y_c */

    /* From x, h and c of the step before, fills the slot. */
    void (*step)(const pxi_rnn_cell *cell, const px_real *x, const px_real *h, const px_real *c,
                 px_real *slot);
    /* dh and dc come in as gradients of the step's states and leave as those of the states before;
     * dx (may be NULL) and the cell's gradients are added to. */
    void (*pull)(const pxi_rnn_cell *cell, const px_real *x, const px_real *h, const px_real *c,
                 const px_real *slot, px_real *dx, px_real *dh, px_real *dc);
} pxi_rnn_kind;

px_status pxi_rnn_setup(px_op_ctx *ctx, const pxi_rnn_kind *kind, px_error *err);
px_status pxi_rnn_forward(const px_op_ctx *ctx, const pxi_rnn_kind *kind, px_error *err);
void pxi_rnn_backward(const px_op_ctx *ctx, const pxi_rnn_kind *kind);
int64_t pxi_rnn_flops(const px_op_ctx *ctx);

/* out (rows) += matrix (rows, columns) times vector */
void pxi_rnn_product(const px_real *matrix, int64_t rows, int64_t columns, const px_real *vector,
                     px_real *out);

/* The way back: dvector (may be NULL) += matrix^T dout, dmatrix (may be NULL) += dout vector^T. */
void pxi_rnn_product_pull(const px_real *matrix, int64_t rows, int64_t columns,
                          const px_real *vector, const px_real *dout, px_real *dvector,
                          px_real *dmatrix);

/* out += from, where both are there */
void pxi_rnn_add(const px_real *from, int64_t count, px_real *out);

/* z = W x + R h + both biases, for the first `gates` gates. */
void pxi_rnn_sums(const pxi_rnn_cell *cell, int gates, const px_real *x, const px_real *h,
                  px_real *z);
/* The way back of W x and its bias for all gates, of R h and its bias for the first `gates`. */
void pxi_rnn_sums_pull(const pxi_rnn_cell *cell, int gates, const px_real *x, const px_real *h,
                       const px_real *dz, px_real *dx, px_real *dh);

#endif
