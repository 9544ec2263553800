/* src/stats/distances.h - squared distances between many points, a few rows at a time */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PXI_STATS_DISTANCES_H
#define PXI_STATS_DISTANCES_H

#include "base/worker_pool.h"
#include "stats/product.h"

/* x [n][d] is borrowed. Equal points are at distance 0 exactly. */
typedef struct pxi_points { /* {0}: none */
    size_t n, d;
    const double *x;
    double *norm2; /* [n] */
    pxi_panels panels;
} pxi_points;

px_status pxi_points_init(pxi_points *points, const double *x, size_t n, size_t d, px_error *err);
void pxi_points_done(pxi_points *points);

/* out[r][j - from] for points first <= r < first + rows and from <= j < to; `from` is a multiple of
 * PXI_PANEL. A result depends on its two points alone, and not on their order. */
void pxi_distances(const pxi_points *points, size_t first, size_t rows, size_t from, size_t to,
                   double *out, size_t stride);

typedef struct pxi_near {
    double distance2;
    size_t index;
} pxi_near;
/* The k nearest of distances [n] without `self`, near ones first, the lower index of equals. k < n.
 */
void pxi_nearest(const double *distances, size_t n, size_t self, size_t k, pxi_near *out);

/* x [n][d] of floats as doubles, with the mean of each column taken away: the caller frees it.
 * PX_E_INPUT where a value is not finite or beyond 1e15. */
px_status pxi_centred(const float *x, size_t n, size_t d, double **out, px_error *err);

/* Runs a job for each index on the pool; NULL: on the caller's thread. */
px_status pxi_rows_run(px_pool *pool, int64_t count, pxi_pool_fn work, void *context,
                       px_error *err);

#endif
