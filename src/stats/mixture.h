/* src/stats/mixture.h - Gaussian mixtures with full covariances, fitted by EM
 *
 * A. Dempster, N. Laird and D. Rubin, Maximum Likelihood from Incomplete Data via the EM
 * Algorithm, 1977. `ridge` is added to every covariance's diagonal.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PXI_STATS_MIXTURE_H
#define PXI_STATS_MIXTURE_H

#include "stats/cholesky.h"

#include <stdint.h>

typedef struct pxi_mixture { /* {0}: none */
    int g;
    size_t d;
    double *weight;         /* [g], sum 1 */
    double *mean;           /* [g][d] */
    double *covariance;     /* [g][d][d] with the ridge */
    pxi_whitener *whitener; /* [g] of the covariances */
    double likelihood;      /* mean log-likelihood per point, before the last step */
    int iterations;
} pxi_mixture;

typedef struct pxi_mixture_options {
    int g;
    double ridge, tolerance; /* stop when the mean log-likelihood changes by less */
    int iterations;
    uint64_t seed;
    uint32_t item; /* of the random numbers */
} pxi_mixture_options;

/* Components as given; covariances without the ridge are [g][d][d]. */
px_status pxi_mixture_init(pxi_mixture *mixture, int g, size_t d, const double *weight,
                           const double *mean, const double *covariance, px_error *err);
void pxi_mixture_done(pxi_mixture *mixture);

/* One EM step over x of [n][d]; *likelihood is the sum of log p(x_i) before it. A component that
 * explains nothing starts anew at the point that is explained worst. */
px_status pxi_mixture_step(pxi_mixture *mixture, const double *x, size_t n, double ridge,
                           double *likelihood, px_error *err);
/* k-means, then steps. With fewer than g (d + 1) points g is made smaller. n >= 1. */
px_status pxi_mixture_fit(const double *x, size_t n, size_t d, const pxi_mixture_options *options,
                          pxi_mixture *out, px_error *err);

/* log p(x_i) for [rows][d]; parts (NULL: not wanted) gets log w_k N_k(x_i), [rows][g]. Any thread.
 */
px_status pxi_mixture_log(const pxi_mixture *mixture, const double *x, size_t rows, double *out,
                          double *parts, px_error *err);

#endif
