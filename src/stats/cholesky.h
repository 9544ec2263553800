/* src/stats/cholesky.h - covariances, their factors, and what is whitened with them */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PXI_STATS_CHOLESKY_H
#define PXI_STATS_CHOLESKY_H

#include "stats/product.h"

#include <stdbool.h>

/* s (d x d, row-major, stride d) = R R^T; only the lower triangle is read. On success the lower
 * triangle of s is R and the upper one 0. False if s is not positive definite: a pivot is not above
 * what rounding alone could leave of its diagonal element. s is spoiled then. PX_E_NOMEM only. */
px_status pxi_cholesky(double *s, size_t d, bool *definite, px_error *err);

/* Factors s + ridge I with the smallest ridge that works of: 0 (unless `singular` says that it
 * cannot), then lambda = 1e-6 trace / d, and that times 10, 100 ... `s` stays as it is; factor
 * (d x d) gets R. A trace of 0, or one that is not finite, gives *ridge = NaN and no factor. */
px_status pxi_cholesky_ridge(const double *s, size_t d, bool singular, double *factor,
                             double *ridge, px_error *err);

/* A factor made ready for many vectors: the rows of scale R^-1, packed. */
typedef struct pxi_whitener { /* {0}: none */
    size_t d;
    double log_det;     /* sum of log (R_jj / scale) */
    pxi_panels inverse; /* d rows */
} pxi_whitener;
px_status pxi_whitener_init(pxi_whitener *whitener, const double *factor, size_t d, double scale,
                            px_error *err);
void pxi_whitener_done(pxi_whitener *whitener);
/* out[i] = scale R^-1 x[i]; both [rows][d]. */
void pxi_whiten(const pxi_whitener *whitener, const double *x, size_t rows, double *out);

/* The rows of a matrix W with |W x|^2 = x^T s^+ x, s^+ the pseudo-inverse of s (d x d, symmetric,
 * not negative): as many as the rank of s, which may be 0. s is spoiled. */
px_status pxi_pseudo_root(double *s, size_t d, pxi_panels *out, px_error *err);

/* s (d x d) += x^T x for x of [rows][d]; both triangles. Calls of up to PXI_MOMENT_ROWS rows.
 * `scratch` holds PXI_MOMENT_ROWS * d values, `panels` d rows of PXI_MOMENT_ROWS. */
#define PXI_MOMENT_ROWS 256
void pxi_moment_add(const double *x, size_t rows, size_t d, double *s, double *scratch,
                    pxi_panels *panels);

#endif
