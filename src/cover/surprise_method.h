/* src/cover/surprise_method.h - inside the surprise-adequacy scorers: traces by class, work by
 * block
 *
 * surprise.c sorts traces and rows by class and hands blocks of rows of one class to the method;
 * surprise_lsa_kde.c ... surprise_mmdsa.c each hold one method.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PXI_COVER_SURPRISE_METHOD_H
#define PXI_COVER_SURPRISE_METHOD_H

#include "base/worker_pool.h"
#include "stats/cholesky.h"

#include <internal/surprise.h>

#define PXI_SA_ROWS 128           /* of a block */
#define PXI_SA_COLUMNS_MOST 16384 /* of a covariance: 2 GiB each */

typedef struct pxi_sa_columns { /* which neurons take part */
    int64_t count;
    const int64_t *at; /* NULL: all, in order */
} pxi_sa_columns;

/* Traces in order of class, then of index; a position in that order is what methods use. */
typedef struct pxi_sa_set {
    px_traces traces; /* borrowed */
    int classes;
    bool whole;              /* all of one class, whatever the facts say */
    int64_t count;           /* that take part */
    int64_t *row;            /* [count] position to trace */
    int64_t *start;          /* [classes + 1] positions */
    int64_t *memory;         /* of the columns */
    pxi_sa_columns *columns; /* [classes], the same for all but with PX_FILTER_TOP */
    int64_t not_finite, no_class;
} pxi_sa_set;

px_status pxi_sa_set_init(pxi_sa_set *set, const px_traces *traces, int classes, bool whole,
                          const px_surprise_options *options, px_error *err);
void pxi_sa_set_done(pxi_sa_set *set);

static inline const float *pxi_sa_trace(const pxi_sa_set *set, int64_t position)
{
    return set->traces.values + set->row[position] * set->traces.width;
}

/* out[j] = values[column j] - centre[j]; centre may be NULL. */
void pxi_sa_read(const float *values, const pxi_sa_columns *columns, const double *centre,
                 double *out);
/* The mean of some positions (NULL: 0 .. n-1 from `first`) over the columns. */
void pxi_sa_mean(const pxi_sa_set *set, const int64_t *positions, int64_t first, int64_t n,
                 const pxi_sa_columns *columns, double *mean);

/* --- rows to score --------------------------------------------------------------------------- */

typedef struct pxi_sa_block { /* rows of one group (class or cluster) */
    int group;
    int64_t first, count; /* in `row` */
} pxi_sa_block;

typedef struct pxi_sa_work {
    const px_rows *rows;
    int64_t *row; /* numbers of rows, by group, then ascending */
    pxi_sa_block *block;
    int64_t block_count;
    px_pool *pool; /* NULL: on the caller's thread */
    double *scores;
} pxi_sa_work;

/* group[i] of each row; below 0: not to be scored. */
px_status pxi_sa_work_init(pxi_sa_work *work, const px_rows *rows, const int *group, int groups,
                           px_error *err);
void pxi_sa_work_done(pxi_sa_work *work);
px_status pxi_sa_each(px_pool *pool, int64_t count, pxi_pool_fn run, void *context, px_error *err);

static inline const float *pxi_sa_row(const pxi_sa_work *work, int64_t i)
{
    return work->rows->values + work->row[i] * work->rows->width;
}

/* --- methods --------------------------------------------------------------------------------- */

typedef struct pxi_sa_kind {
    const char *id;
    bool whole; /* not class by class: rows come as one group */
    int64_t (*bytes)(const px_surprise_options *options, int64_t count, int64_t width, int classes);
    px_status (*fit)(const pxi_sa_set *set, const px_surprise_options *options, px_pool *pool,
                     void **model, px_error *err);
    void (*free)(void *model);
    /* Scores of rows whose class has traces. */
    px_status (*score)(const pxi_sa_set *set, const void *model, pxi_sa_work *work, px_error *err);
    void (*remark)(const pxi_sa_set *set, const void *model, px_text *text);
} pxi_sa_kind;

extern const pxi_sa_kind pxi_sa_lsa, pxi_sa_dsa, pxi_sa_mdsa, pxi_sa_mlsa, pxi_sa_mmdsa;

/* dsa with its details; each may be NULL. */
px_status pxi_sa_dsa_details(const pxi_sa_set *set, const void *model, pxi_sa_work *work,
                             int64_t *nearest, double *dist_a, double *dist_b, px_error *err);
int pxi_sa_mmdsa_clusters(const void *model);

/* --- one Gaussian: mean, and whitening by the covariance ------------------------------------- */

typedef struct pxi_sa_gauss {
    int64_t count; /* traces it comes from */
    size_t d;
    double *mean; /* NULL: there is none */
    double ridge; /* that was needed; NaN: the traces do not spread at all */
    pxi_whitener whitener;
    pxi_panels pseudo; /* in place of the whitener: rows of M^-1 L^T */
} pxi_sa_gauss;

typedef struct pxi_sa_gauss_request {
    const int64_t *positions; /* NULL: 0 .. count-1 from `first` */
    int64_t first, count;
    pxi_sa_columns columns;
    double divisor, scale; /* of the covariance, and of what is whitened */
    bool pseudo;
} pxi_sa_gauss_request;

px_status pxi_sa_gauss_fit(pxi_sa_gauss *gauss, const pxi_sa_set *set,
                           const pxi_sa_gauss_request *request, px_error *err);
void pxi_sa_gauss_done(pxi_sa_gauss *gauss);
int64_t pxi_sa_gauss_bytes(int64_t width);
/* Mahalanobis distances of [rows] pointers; scratch-free for the caller. */
px_status pxi_sa_gauss_distance(const pxi_sa_gauss *gauss, const pxi_sa_columns *columns,
                                const float *const *rows, int64_t count, bool squared, double *out,
                                px_error *err);
/* Sentences that mdsa, mlsa and lsa share. */
void pxi_sa_remark_ridge(px_text *text, const char *what, int64_t ridged, int64_t flat);
px_status pxi_sa_no_memory(px_error *err);

#endif
