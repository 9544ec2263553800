/* include/internal/kmeans.h - k-means with k-means++ seeding, and the silhouette that judges it
 *
 * D. Arthur and S. Vassilvitskii, k-means++: The Advantages of Careful Seeding, SODA 2007;
 * S. Lloyd, Least squares quantization in PCM, 1982; P. Rousseeuw, Silhouettes, 1987.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PXI_INTERNAL_KMEANS_H
#define PXI_INTERNAL_KMEANS_H

#include "base/worker_pool.h"

#include <stddef.h>

typedef struct pxi_kmeans_options {
    int k;
    int restarts, iterations;
    uint64_t seed;
    uint32_t item; /* of the random numbers: apart from other fits with this seed */
} pxi_kmeans_options;

typedef struct pxi_kmeans { /* {0}: none */
    int k;                  /* fewer than asked for where there are not that many distinct points */
    double *centre;         /* [k][d] */
    int *label;             /* [n] */
    double inertia;         /* sum of squared distances to the own centre */
} pxi_kmeans;

/* x is [n][d], n >= 1. Ties go to the lower centre; the best restart has the smallest inertia, the
 * first one of equals. A pool (NULL: none) takes the restarts. */
px_status pxi_kmeans_fit(const double *x, size_t n, size_t d, const pxi_kmeans_options *options,
                         px_pool *pool, pxi_kmeans *out, px_error *err);
void pxi_kmeans_done(pxi_kmeans *result);
/* The nearest of k centres; *distance2 may be NULL. */
int pxi_kmeans_nearest(const double *centre, int k, size_t d, const double *x, double *distance2);

/* The mean silhouette of each of `count` labelings of the same points, from one pass over their
 * distances: labels[c][i] < k[c]. Points alone in their cluster count 0; fewer than two clusters in
 * use give NaN. */
px_status pxi_silhouette(const double *x, size_t n, size_t d, const int *const *labels,
                         const int *k, size_t count, px_pool *pool, double *means, px_error *err);

#endif
