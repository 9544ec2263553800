/* include/plexor/weights.h - a network's numbers while they change
 *
 * A weight is a float32 initialiser that an operator with parameters reads, directly or through
 * Identity, Transpose, Reshape, Flatten, Squeeze and Unsqueeze: Conv, ConvTranspose, Gemm, MatMul,
 * RNN, GRU and LSTM (not their initial states), a normalisation, PRelu; and Add and Mul where it
 * has more than one element. Pads, clip bounds, scales of Resize and other numbers are not weights,
 * nor is what no output depends on. An initialiser that several nodes read is one weight.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PLEXOR_WEIGHTS_H
#define PLEXOR_WEIGHTS_H

#include <plexor/graph.h>

PX_BEGIN_DECLS

typedef struct px_weights px_weights;

typedef enum px_weight_role {
    PX_WEIGHT_PARAMETER, /* what gradients change */
    PX_WEIGHT_STATISTIC, /* running mean and variance of BatchNormalization */
} px_weight_role;

typedef struct px_weight {
    int value;        /* of the model's graph */
    const char *name; /* the value's */
    px_tensor tensor; /* float32, 64-byte aligned, in the file's order; data is yours to change */
    px_weight_role role;
} px_weight;

PX_END_DECLS
#endif
