/* src/stats/neighbours.h - who is near whom: exact neighbours of many points, and graphs of them */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PXI_STATS_NEIGHBOURS_H
#define PXI_STATS_NEIGHBOURS_H

#include "stats/distances.h"

/* The k nearest of each point without itself, near ones first, the lower index of equals. */
typedef struct pxi_neighbours { /* {0}: none */
    size_t n, k;
    uint32_t *index;   /* [n][k] */
    double *distance2; /* [n][k] */
} pxi_neighbours;

/* Of points x [n][d], n < 2^32; k is brought down to n - 1. */
px_status pxi_neighbours_init(pxi_neighbours *near, const double *x, size_t n, size_t d, size_t k,
                              px_pool *pool, px_error *err);
void pxi_neighbours_done(pxi_neighbours *near);

/* A weight for each pair of which one is a neighbour of the other, in the rows of both. */
typedef struct pxi_sparse { /* {0}: none */
    size_t n;
    size_t *row;      /* [n + 1] where rows begin */
    uint32_t *column; /* ascending in each row */
    double *p;
    double entropy; /* sum of p log p; 0 unless pxi_sparse_init() of t-SNE made it */
    size_t vague;   /* points without the spread asked for; by whoever made the weights */
} pxi_sparse;

typedef enum pxi_sparse_rule {                 /* of two points that are neighbours of each other */
                               PXI_SPARSE_SUM, /* a + b */
                               PXI_SPARSE_UNION, /* a + b - a b: of fuzzy sets */
} pxi_sparse_rule;

/* From weights [n][k] beside near->index. */
px_status pxi_sparse_join(pxi_sparse *sparse, const pxi_neighbours *near, const double *weights,
                          pxi_sparse_rule rule, px_error *err);
void pxi_sparse_done(pxi_sparse *sparse);

#endif
