/* src/generate/adapt_features.h - ADAPT's 29 features of neurons, and the best by a vector of
 * weights (LGR D.11)
 *
 * A neuron's features are bits: 0-3 the quarter of the network its layer is in; 4-8 its mean
 * incoming weight among the top 10, 20, ... 50 %, 9 the lower half; 10-16 the kind of layer; 17 it
 * fired on a fault; 18 it never fired; 19-28 how often it fired, in tenths of those that ever did,
 * the most frequent first.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PXI_GENERATE_ADAPT_FEATURES_H
#define PXI_GENERATE_ADAPT_FEATURES_H

#include "generate/unit_facts.h"

enum { PXI_ADAPT_FEATURES = 29 };

/* Features 0 to 16, which stay. `code`: without feature 7, as in the published program. False: out
 * of memory. */
bool pxi_adapt_fixed(const pxi_unit_facts *facts, bool code, uint32_t *out);

/* All of them. `faulty[i]`: neuron i fired on a fault. False: out of memory. */
bool pxi_adapt_features(const uint32_t *fixed, const int64_t *times, const bool *faulty,
                        int64_t count, uint32_t *out);

double pxi_adapt_score(uint32_t features, const double *w);

/* The `k` (at most count) neurons with the highest scores, the lower of equals first. */
void pxi_adapt_best(const uint32_t *features, int64_t count, const double *w, int64_t k,
                    int64_t *out);

#endif
