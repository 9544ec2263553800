/* src/select/softmax_scores.h - how unsure a network is, from its class probabilities
 *
 * CSM B.7. Every score is the higher the less sure: 1 - max p; entropy in bits; PCS, the difference
 * of the two best classes, negated; DeepGini, 1 - sum p^2 (Feng et al., DeepGini, ISSTA 2020). A
 * NaN among the probabilities makes the score NaN.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PXI_SELECT_SOFTMAX_SCORES_H
#define PXI_SELECT_SOFTMAX_SCORES_H

#include <stdint.h>

typedef double (*pxi_unsure_fn)(const double *p, int classes);
double pxi_unsure_softmax(const double *p, int classes);
double pxi_unsure_entropy(const double *p, int classes); /* 0 log 0 = 0 */
double pxi_unsure_pcs(const double *p, int classes);     /* -(best - second) */
double pxi_unsure_gini(const double *p, int classes);

/* Internal Gini: 1 - sum v^2 of a layer's values a made into a distribution v. */
typedef enum pxi_gini_norm {
    PXI_GINI_L1,      /* max(a, 0) / sum max(a, 0); the score is 0 where that sum is 0 */
    PXI_GINI_SOFTMAX, /* exp(a) / sum exp(a) */
    PXI_GINI_RAW,     /* a as it is: not a distribution, so any number up to 1 */
} pxi_gini_norm;
double pxi_internal_gini(const float *a, int64_t count, pxi_gini_norm norm);

#endif
