/* src/stats/umap_internal.h - the parts of UMAP
 *
 * neighbours.c -> umap_graph.c (weights, edges) -> umap.c (descent)
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PXI_STATS_UMAP_INTERNAL_H
#define PXI_STATS_UMAP_INTERNAL_H

#include "stats/neighbours.h"

#include <internal/umap.h>

/* Fits 1 / (1 + a d^2b) to 1 for d < min_dist, exp(-(d - min_dist) / spread) beyond: least squares
 * over 300 points of [0, 3 spread]. */
void pxi_umap_curve(double min_dist, double spread, double *a, double *b);

/* Of distances to `count` neighbours: rho is the smallest that is not 0 (0: all are), sigma such
 * that exp(-max(0, d - rho) / sigma) adds up to log2(count + 1). */
typedef struct pxi_umap_band {
    double rho, sigma;
    bool vague; /* no sigma does */
} pxi_umap_band;
/* `mean`: of all distances between neighbours, which bounds sigma where rho is 0. */
pxi_umap_band pxi_umap_bandwidth(const double *distances, size_t count, double mean);

/* Symmetric weights w + w^T - w w^T of neighbours; near->distance2 becomes distances. */
px_status pxi_umap_graph(pxi_sparse *graph, pxi_neighbours *near, px_error *err);

/* The edges that are visited at least once in so many epochs, both directions, by head, then tail;
 * an edge's turn comes every `period` epochs. */
typedef struct pxi_umap_edge {
    uint32_t head, tail;
    double period, next;
} pxi_umap_edge;
px_status pxi_umap_edges(const pxi_sparse *graph, int epochs, pxi_umap_edge **out, size_t *count,
                         px_error *err);

typedef struct pxi_umap_layout {
    size_t n, edge_count;
    pxi_umap_edge *edge;
    double *y; /* [n][2] */
    double a, b;
    int negatives;
    uint64_t seed;
} pxi_umap_layout;
/* One pass over the edges whose turn it is, with steps of `rate`. */
void pxi_umap_epoch(pxi_umap_layout *layout, int epoch, double rate);

#endif
