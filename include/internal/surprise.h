/* include/internal/surprise.h - how far an input's trace is from those of training data
 *
 *     px_surprise_options options = px_surprise_options_default(PX_DSA);
 *     px_surprise_new(&traces, classes, &options, &surprise, &err);      // fits
 *     px_surprise_score(surprise, &rows, threads, scores, &err);         // one number per row
 *     px_surprise_free(surprise);
 *
 * J. Kim, R. Feldt and S. Yoo, Guiding Deep Learning System Testing using Surprise Adequacy, ICSE
 * 2019 (LSA, DSA); the same, Reducing DNN Labelling Cost using Surprise Adequacy, FSE 2020 (MDSA);
 * M. Weiss, R. Chakraborty and P. Tonella, A Review and Refinement of Surprise Adequacy, DeepTest
 * 2021 (MLSA, MMDSA). A *trace* is a row of neuron values; traces and tests are compared within the
 * class that the network predicts, unless `by` says otherwise.
 *
 *     lsa    -log density of a Gaussian kernel estimate over the class's traces
 *     dsa    distance to the nearest trace of the class, over that one's to the nearest of others
 *     mdsa   Mahalanobis distance to the class's traces
 *     mlsa   -log density of a Gaussian mixture per class
 *     mmdsa  Mahalanobis distance within the nearest of a few clusters of all traces
 *
 * A score is a double, the higher the more surprising: +Inf where there is nothing to compare with
 * (a class without traces), NaN where there is nothing to score (a rejected row, no predicted
 * class). It depends on its row alone: not on the rows around it, nor on threads.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PXI_INTERNAL_SURPRISE_H
#define PXI_INTERNAL_SURPRISE_H

#include <plexor/profile.h>

PX_BEGIN_DECLS

typedef enum px_surprise_method { PX_LSA, PX_DSA, PX_MDSA, PX_MLSA, PX_MMDSA } px_surprise_method;
#define PX_SURPRISE_METHODS 5
const char *px_surprise_id(px_surprise_method method); /* "lsa" ...; NULL beyond the last */

typedef enum px_surprise_by { PX_SURPRISE_PREDICTED, PX_SURPRISE_LABEL } px_surprise_by;

/* Which neurons of a trace take part; variances are those of the population. */
typedef enum px_surprise_filter {
    PX_FILTER_NONE,   /* all */
    PX_FILTER_CLASS,  /* those whose variance is at least `variance` in every class (SADL) */
    PX_FILTER_GLOBAL, /* ... over all classes together (NLC) */
    PX_FILTER_TOP,    /* the `columns` ones of highest variance, per class (dnn-tip); not for dsa */
} px_surprise_filter;

typedef struct px_surprise_options {
    px_surprise_method method;
    px_surprise_by by;
    px_surprise_filter filter;
    double variance; /* for PX_FILTER_CLASS and _GLOBAL */
    int64_t columns; /* for PX_FILTER_TOP */
    double sample;   /* share of the traces that are used, 0 < sample <= 1; seeded */
    /* lsa: 0: Scott's rule with the class's covariance; above: an isotropic kernel this wide */
    double bandwidth;
    /* dsa */
    bool from_input;   /* the second distance starts at the input, not at its nearest trace */
    double least_dist; /* stands in for a second distance of 0; 0: dsa is 0 or +Inf then */
    bool squared;      /* dsa: of squared distances; mdsa, mmdsa: without the root */
    bool pseudo;       /* mdsa, mmdsa: pseudo-inverse in place of a ridge */
    /* mlsa */
    int components;
    /* mmdsa */
    int least_clusters, most_clusters;
    int restarts;          /* of k-means */
    double cluster_sample; /* share of the traces that k-means and silhouette see (100 at least) */
    uint64_t seed;
    int threads;          /* for fitting; <= 0: one per core */
    int64_t memory_bytes; /* refuse to hold more; <= 0: no limit */
} px_surprise_options;
px_surprise_options px_surprise_options_default(px_surprise_method method);

typedef struct px_surprise px_surprise; /* immutable, shared by threads */

/* Bytes that `count` traces of `width` neurons will take beside the traces themselves, while
 * fitting and after. */
int64_t px_surprise_bytes(const px_surprise_options *options, int64_t count, int64_t width,
                          int classes);

/* Fits. The traces are borrowed and must outlive the result. Traces with values that are not
 * finite, or without a class below `classes`, are left out and counted. PX_E_INPUT where nothing is
 * left, or for dsa only one class. */
px_status px_surprise_new(const px_traces *traces, int classes, const px_surprise_options *options,
                          px_surprise **out, px_error *err);
void px_surprise_free(px_surprise *surprise); /* NULL is fine */

/* scores[rows->count]. Any thread, any number of them at once; threads > 1 makes more for this
 * call (<= 0: one per core). rows->rejected may be NULL: then this looks for itself. */
px_status px_surprise_score(const px_surprise *surprise, const px_rows *rows, int threads,
                            double *scores, px_error *err);
/* What the traces themselves score, lowest first: the least of them that is a number; NaN: none. */
px_status px_surprise_lowest(const px_surprise *surprise, int threads, double *lowest,
                             px_error *err);

/* Of dsa, per row of a request: the nearest trace (-1: none), both distances. Any may be NULL. */
px_status px_surprise_neighbours(const px_surprise *surprise, const px_rows *rows, int threads,
                                 int64_t *nearest, double *dist_a, double *dist_b, px_error *err);
/* Of mmdsa: how many clusters it chose; else 0. */
int px_surprise_clusters(const px_surprise *surprise);

/* Adds sentences about what was left out or had to be bent, each on a line of its own. */
void px_surprise_remark(const px_surprise *surprise, px_text *text);

PX_END_DECLS
#endif
