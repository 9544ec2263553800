/* include/internal/umap.h - points of many dimensions on a plane: UMAP
 *
 *     px_umap_options options = px_umap_options_default();
 *     px_umap_map map = {0};
 *     if (px_umap(x, n, d, &options, &map, &err) == PX_OK)         // x is [n][d]
 *         printf("first point at %g, %g\n", map.y[0], map.y[1]);
 *     px_umap_map_done(&map);
 *
 * L. McInnes, J. Healy and J. Melville, UMAP: Uniform Manifold Approximation and Projection for
 * Dimension Reduction, arXiv 1802.03426. docs/map.md says what is done in which order. How far to
 * trust a map: px_trustworthiness() of plexor/tsne.h.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PXI_INTERNAL_UMAP_H
#define PXI_INTERNAL_UMAP_H

#include <internal/tsne.h>

PX_BEGIN_DECLS

#define PX_UMAP_POINTS_MOST PX_TSNE_POINTS_MOST
#define PX_UMAP_LEAST PX_TSNE_LEAST
#define PX_UMAP_NEIGHBOURS_MOST 1000
#define PX_UMAP_EPOCHS_MOST 100000

typedef struct px_umap_options {
    int neighbours;            /* 15, the point itself among them; where there are fewer, all */
    double min_dist, spread;   /* 0.1 and 1: how near points may come on the map, and its scale */
    int epochs;                /* 0: 500 up to 10,000 points, 200 beyond */
    int negatives;             /* 5: points that repel, for each one that attracts */
    double learning_rate;      /* 1: in the first epoch; falls to 0 in a line */
    int components;            /* 50: more dimensions are brought down to the first principal ones;
                                  0: left as they are */
    bool random_start;         /* else the first two principal components */
    uint64_t seed;             /* of the start, and of who repels */
    int threads;               /* 0: one per core; the result is the same for any number */
    px_tsne_progress progress; /* counts epochs */
    void *progress_context;
} px_umap_options;
px_umap_options px_umap_options_default(void);

typedef struct px_umap_map { /* {0}: none */
    size_t count;
    double *y;   /* [count][2]; their mean is 0 */
    double a, b; /* 1 / (1 + a d^2b): how near points at a distance of d count as, on the map */
    int neighbours, epochs; /* that were taken */
    size_t edges;           /* pairs that attract, both directions of each */
    size_t dimensions;      /* that distances were taken in */
    size_t vague; /* points whose weights do not add up to log2(neighbours): too many neighbours as
                     near as the nearest, duplicates mostly */
} px_umap_map;

/* PX_E_USAGE: settings out of range, or fewer than PX_UMAP_LEAST points. PX_E_INPUT: a value that
 * is not finite (or beyond 1e15), or points that are all the same. On PX_OK the caller owns what is
 * in *out. */
px_status px_umap(const float *x, size_t n, size_t d, const px_umap_options *options,
                  px_umap_map *out, px_error *err);
void px_umap_map_done(px_umap_map *map); /* {0} is fine */

PX_END_DECLS
#endif
