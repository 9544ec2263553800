/* include/internal/tsne.h - points of many dimensions on a plane: t-SNE, and how far to trust it
 *
 *     px_tsne_options options = px_tsne_options_default();
 *     px_tsne_map map = {0};
 *     if (px_tsne(x, n, d, &options, &map, &err) == PX_OK)         // x is [n][d]
 *         printf("first point at %g, %g\n", map.y[0], map.y[1]);
 *     px_tsne_map_done(&map);
 *
 * L. van der Maaten and G. Hinton, Visualizing Data using t-SNE, JMLR 9, 2008; L. van der Maaten,
 * Accelerating t-SNE using Tree-Based Algorithms, JMLR 15, 2014. docs/map.md says what is done in
 * which order, and what such a map does not show.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PXI_INTERNAL_TSNE_H
#define PXI_INTERNAL_TSNE_H

#include <plexor/error.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

PX_BEGIN_DECLS

typedef enum px_tsne_method {
    PX_TSNE_AUTO,       /* exact up to PX_TSNE_EXACT points, Barnes-Hut beyond */
    PX_TSNE_ALL_PAIRS,  /* exact: time and memory grow with the square of the points */
    PX_TSNE_BARNES_HUT, /* near neighbours attract, distant groups repel as one */
} px_tsne_method;

#define PX_TSNE_EXACT ((size_t)5000)
#define PX_TSNE_EXACT_MOST ((size_t)20000)   /* that PX_TSNE_ALL_PAIRS takes */
#define PX_TSNE_POINTS_MOST ((size_t)500000) /* that px_tsne() takes */
#define PX_TSNE_LEAST ((size_t)4)

/* Returns false to cancel; called on the calling thread. */
typedef bool (*px_tsne_progress)(void *context, int64_t done, int64_t total);

typedef struct px_tsne_options {
    double perplexity; /* 30: about how many neighbours a point has */
    int iterations;    /* 1,000 */
    int components;    /* 50: more dimensions are brought down to the first principal ones; 0:
                          left as they are */
    px_tsne_method method;
    double theta;              /* 0.5: of Barnes-Hut; 0 opens every cell */
    double exaggeration;       /* 12: of attraction during the first 250 iterations */
    double learning_rate;      /* 0: max(n / exaggeration / 4, 50) */
    bool random_start;         /* else the first two principal components */
    uint64_t seed;             /* of the random start, and of directions that the data leave open */
    int threads;               /* 0: one per core; the result is the same for any number */
    px_tsne_progress progress; /* counts iterations */
    void *progress_context;
} px_tsne_options;
px_tsne_options px_tsne_options_default(void);

typedef struct px_tsne_map { /* {0}: none */
    size_t count;
    double *y;            /* [count][2]; their mean is 0 */
    double kl;            /* Kullback-Leibler divergence of the map from the points, in nats; with
                             Barnes-Hut over near neighbours, and its normalisation is approximate */
    double gradient_norm; /* at the end */
    int iterations;       /* that were made */
    bool exact;
    size_t dimensions; /* that distances were taken in */
    size_t vague; /* points without the perplexity asked for: too many neighbours as near as the
                     nearest, duplicates mostly */
} px_tsne_map;

/* PX_E_USAGE: settings out of range, fewer than PX_TSNE_LEAST points, or no more than 3 times the
 * perplexity. PX_E_INPUT: a value that is not finite (or beyond 1e15), or points that are all the
 * same. On PX_OK the caller owns what is in *out. */
px_status px_tsne(const float *x, size_t n, size_t d, const px_tsne_options *options,
                  px_tsne_map *out, px_error *err);
void px_tsne_map_done(px_tsne_map *map); /* {0} is fine */

/* How far near neighbours on a map y [n][2] are near neighbours among the points x [n][d]: 1 if all
 * of the k are, for every point (Venna and Kaski, ICANN 2001, equation 1; what
 * sklearn.manifold.trustworthiness() computes). Over `sample` points evenly taken; 0: all.
 * PX_E_USAGE unless 1 <= k < n / 2. */
px_status px_trustworthiness(const float *x, size_t n, size_t d, const double *y, int k,
                             size_t sample, int threads, double *out, px_error *err);

PX_END_DECLS
#endif
