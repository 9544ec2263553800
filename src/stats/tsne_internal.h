/* src/stats/tsne_internal.h - the parts of t-SNE
 *
 * neighbours.c -> tsne_affinity.c (P) -> tsne_exact.c or tsne_tree.c (gradients) <- tsne.c
 * (descent)
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PXI_STATS_TSNE_INTERNAL_H
#define PXI_STATS_TSNE_INTERNAL_H

#include "stats/neighbours.h"

#include <internal/tsne.h>

static const double pxi_tsne_floor = 1e-12; /* of p_ij, i != j, where all pairs count */

/* --- affinities ------------------------------------------------------------------------------ */

/* Finds the precision `beta` for which exp(-beta d_j) over the `count` distances has the entropy
 * log(perplexity): p_j = exp(-beta (d_j - least)) / sum. */
typedef struct pxi_bandwidth {
    double beta, least, sum;
    bool vague; /* no beta has that entropy */
} pxi_bandwidth;
pxi_bandwidth pxi_tsne_bandwidth(const double *distances, size_t count, double perplexity);

enum { PXI_TILE = 256 }; /* points a side */

/* P over all pairs: square tiles below and on the diagonal, row by row of tiles. Tile (a, b <= a)
 * is at pxi_tile(a, b): rows are the points of block a, and PXI_TILE floats apart. */
typedef struct pxi_dense { /* {0}: none */
    size_t n, blocks;
    float *p;       /* sums to 1 over ordered pairs */
    double entropy; /* sum of p log p over ordered pairs */
    size_t vague;
} pxi_dense;
static inline size_t pxi_tile(size_t a, size_t b)
{
    return a * (a + 1) / 2 + b;
}
px_status pxi_dense_init(pxi_dense *dense, const double *x, size_t n, size_t d, double perplexity,
                         px_pool *pool, px_error *err);
void pxi_dense_done(pxi_dense *dense);

/* P over near neighbours: sums to 1. */
px_status pxi_sparse_init(pxi_sparse *sparse, const double *x, size_t n, size_t d,
                          double perplexity, size_t neighbours, px_pool *pool, px_error *err);

/* --- gradients -----------------------------------------------------------------------------------
 *
 * y is [2][n]: first all x, then all y. Gradients are those of KL(P || Q) with P multiplied by
 * `exaggeration`, in the same layout. *kl (NULL: not wanted) is that of P itself. */

typedef struct pxi_exact_map { /* {0}: none */
    const pxi_dense *dense;
    double *part; /* [tiles][2][4][PXI_TILE]: forces on the tile's rows, and on its columns */
    double *sums; /* [tiles][2]: of w, and of p log(1 / w) */
    const double *y;
    bool with_kl;
    double *total; /* [4][n] */
} pxi_exact_map;
px_status pxi_exact_map_init(pxi_exact_map *map, const pxi_dense *dense, px_error *err);
void pxi_exact_map_done(pxi_exact_map *map);
px_status pxi_exact_gradient(pxi_exact_map *map, const double *y, double exaggeration,
                             px_pool *pool, double *gradient, double *kl, px_error *err);

typedef struct pxi_tree_node {
    double x, y, count; /* centre of mass, and points */
    double width2;      /* of the cell, squared; -1: its points are in one place */
    uint32_t next;      /* the node to go on with if this one is not opened */
    uint32_t first;     /* of its points, in the tree's order */
    uint32_t leaf;      /* how many of them to take singly; 0: it has cells below */
} pxi_tree_node;

typedef struct pxi_tree_map { /* {0}: none */
    const pxi_sparse *sparse;
    double theta;
    struct px_arena *memory;           /* of all arrays but the nodes */
    struct pxi_tree_key *keys, *spare; /* [n] */
    double *sorted;                    /* [2][n padded]: y in the tree's order */
    pxi_tree_node *node;
    size_t nodes, capacity;
    double *repulsion;  /* [2][n] */
    double *normal;     /* [groups] of the sum of w */
    double *divergence; /* [groups] of the sum of p log(1 / w) */
    const double *y;
    bool with_kl;
    double *attraction; /* [2][n] */
} pxi_tree_map;
px_status pxi_tree_map_init(pxi_tree_map *map, const pxi_sparse *sparse, double theta,
                            px_error *err);
void pxi_tree_map_done(pxi_tree_map *map);
px_status pxi_tree_gradient(pxi_tree_map *map, const double *y, double exaggeration, px_pool *pool,
                            double *gradient, double *kl, px_error *err);

#endif
