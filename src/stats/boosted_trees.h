/* src/stats/boosted_trees.h - gradient-boosted trees for yes/no questions
 *
 *     PX_TRY(pxi_boosted_fit(x, is_fault, n, d, &options, &ranker, err));
 *     double log_odds = pxi_boosted_score(ranker, row);
 *     pxi_boosted_free(ranker);
 *
 * Friedman, Greedy Function Approximation: A Gradient Boosting Machine, Annals of Statistics 29
 * (2001), with the second-order leaves and gains of Chen & Guestrin, XGBoost, KDD 2016, and
 * features cut into bins first. The result does not depend on the number of threads.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PXI_STATS_BOOSTED_TREES_H
#define PXI_STATS_BOOSTED_TREES_H

#include <plexor/error.h>
#include <stdbool.h>
#include <stdint.h>

enum { PXI_BOOST_MAX_BINS = 256, PXI_BOOST_MAX_DEPTH = 16 };

typedef struct pxi_boost_options {
    int trees;          /* 100 */
    int depth;          /* 5: splits from the root to a leaf, at most PXI_BOOST_MAX_DEPTH */
    int bins;           /* 256 per feature, at most PXI_BOOST_MAX_BINS */
    double rate;        /* 0.05: what of each tree is added */
    double lambda;      /* 1: leaves are -G / (H + lambda) */
    double min_hessian; /* 1: least H of a child */
    double columns;     /* 0.5: share of the features that each tree may look at */
    uint64_t seed;      /* of that choice */
    int threads;        /* <= 0: one per core */
} pxi_boost_options;
pxi_boost_options pxi_boost_options_default(void);

typedef struct pxi_boosted pxi_boosted;

/* x is n rows of d features, NaN being above all numbers; y is the answer. Both answers must occur
 * (PX_E_INPUT if not). Works with n * d more bytes. */
px_status pxi_boosted_fit(const float *x, const bool *y, size_t n, size_t d,
                          const pxi_boost_options *options, pxi_boosted **out, px_error *err);
void pxi_boosted_free(pxi_boosted *model); /* NULL is fine */

/* The log odds of yes. Threads may share a model. */
double pxi_boosted_score(const pxi_boosted *model, const float *row);

/* How often each feature was split on, weighted by the gain: gains[d], not normalised. */
void pxi_boosted_gains(const pxi_boosted *model, double *gains);

#endif
