/* src/select/prima_features.h - how predictions react to mutants, as numbers
 *
 * Wang et al., Prioritizing Test Inputs for Deep Neural Networks via Mutation Analysis (PRIMA),
 * ICSE 2021; CSM B.6. For each rule of mutation, with p the class probabilities of the unchanged
 * input on the unchanged network, c the class it predicts, and q_j those of the rule's mutants:
 *
 *     0      kills: mutants that are not predicted as c
 *     1      sum of cosine distances 1 - cos(q_j, p), each clamped to [0, 1]
 *     2      sum of |p_c - q_jc|
 *     3      size of the largest group among the wrong classes
 *     4      number of distinct wrong classes
 *     5..14  histogram of the cosine distances, ten bins of width 0.1, the last closed
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PXI_SELECT_PRIMA_FEATURES_H
#define PXI_SELECT_PRIMA_FEATURES_H

#include <stdint.h>

enum { PXI_PRIMA_BINS = 10, PXI_PRIMA_FEATURES = 5 + PXI_PRIMA_BINS };

typedef struct pxi_prima_outcome { /* of one mutant */
    double distance, difference;
    int predicted; /* -1: q is not a distribution */
} pxi_prima_outcome;

/* A p or q of length 0 has distance 0. A q with numbers that are not finite is as far from p as can
 * be: a kill of no class, distance 1, difference p_c. */
pxi_prima_outcome pxi_prima_compare(const double *p, const double *q, int classes, int c);

typedef struct pxi_prima_sum { /* of one rule; starts as zeros */
    double distance, difference;
    int32_t kills, bins[PXI_PRIMA_BINS];
} pxi_prima_sum;

/* `wrong`[classes] goes with the sum and starts as zeros too. */
void pxi_prima_add(pxi_prima_sum *sum, int32_t *wrong, const pxi_prima_outcome *outcome, int c);
void pxi_prima_features(const pxi_prima_sum *sum, const int32_t *wrong, int classes,
                        float features[PXI_PRIMA_FEATURES]);

#endif
