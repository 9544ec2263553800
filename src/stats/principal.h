/* src/stats/principal.h - principal components */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PXI_STATS_PRINCIPAL_H
#define PXI_STATS_PRINCIPAL_H

#include "base/worker_pool.h"

#include <stddef.h>
#include <stdint.h>

/* The first k principal components of centred points x [n][d], 1 <= k <= min(n, d): scores [n][k],
 * and variance [k] (over n - 1), descending. Of two directions the one in which the score of the
 * largest size is positive. `seed` is of the vectors that the search begins with. */
px_status pxi_principal(const double *x, size_t n, size_t d, size_t k, uint64_t seed, px_pool *pool,
                        double *scores, double *variance, px_error *err);

/* Eigenvalues (descending) and eigenvectors of a symmetric matrix s [k][k], which is spoiled:
 * vectors[j] is the j-th. For matrices of a hundred rows or so. */
void pxi_symmetric_eigen(double *s, size_t k, double *values, double *vectors);

#endif
