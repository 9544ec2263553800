/* src/describe/caption_attention.h - which exemplars a step looks at
 *
 * Additive attention (Bahdanau, Cho, Bengio, ICLR 2015), gated as in Xu et al., ICML 2015, 4.2.1:
 *
 *     e_j = v . tanh(q + k_j) + bv;  alpha = softmax(e);  z = sum of alpha_j a_j
 *
 * and what goes on is sigmoid(g) z. q and g come from the state, k_j from the vectors a_j.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PXI_DESCRIBE_CAPTION_ATTENTION_H
#define PXI_DESCRIBE_CAPTION_ATTENTION_H

#include "describe/caption_net.h"

typedef struct pxi_attention {
    const pxi_caption_sizes *sizes;
    const float *v, *v_bias; /* [A], [1] */
    size_t rows;
    const float *features, *keys;  /* per row [k][F], [k][A] */
    size_t features_row, keys_row; /* 0: all rows look at the same unit */
    float *state;                  /* per row q [A], then g [F]; `state_row` apart */
    size_t state_row;
    float *tanhs; /* [rows][k][A] */
    float *alpha; /* [rows][k] */
    float *z;     /* [rows][F], before the gate */
} pxi_attention;

/* Reads q and g, of which sigmoid(g) is left in place; writes tanhs, alpha, z and gated[rows][F],
 * `gated_row` apart. */
void pxi_attention_run(const pxi_attention *attention, float *gated, size_t gated_row);

/* Overwrites q and sigmoid(g) by the gradients of q and g. dgated[rows][F] is that of what went on,
 * push[rows][k] is added to that of alpha (the regulariser's). Adds to dkeys[rows][k][A], dv[A] and
 * dv_bias[1]. Overwrites z. */
void pxi_attention_back(const pxi_attention *attention, const float *dgated, size_t dgated_row,
                        const float *push, float *dkeys, float *dv, float *dv_bias);

/* The doubly stochastic regulariser: what is looked at over all steps should add up to 1 for every
 * vector. The sum over j of (1 - sums[j])^2. */
double pxi_attention_penalty(const float *sums, size_t k);

#endif
