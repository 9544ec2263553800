/* src/stats/tsne_affinity.c - how near points are to each other, as probabilities
 *
 * p_{j|i} = exp(-b_i d_ij^2) / sum, with b_i such that the entropy of the row is log(perplexity);
 * p_ij = (p_{j|i} + p_{i|j}) / 2n (van der Maaten and Hinton 2008, equations 1 and 4). Over all
 * pairs, distances are taken twice rather than kept: rows give the precisions, tiles then P.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#include "base/memory.h"
#include "base/wide.h"
#include "stats/exp_log.h"
#include "stats/tsne_internal.h"

#include <math.h>
#include <stdlib.h>

enum { ROWS = 16, TRIES_MOST = 200 };
static const double entropy_exact = 1e-10, entropy_good = 1e-5;

/* --- the precision of one point -------------------------------------------------------------- */

typedef struct row_sums {
    double w, wd, wdd; /* of exp(-beta e), and that times e and e^2, e = d - least */
} row_sums;

PXI_WIDE static row_sums sums_at(const double *distances, size_t count, double least, double beta)
{
    double w = 0.0, wd = 0.0, wdd = 0.0;
#pragma omp simd reduction(+ : w, wd, wdd)
    for (size_t j = 0; j < count; j++) {
        const double e = distances[j] - least;
        const double v = pxi_exp_down(-beta * e);
        w += v;
        wd += v * e;
        wdd += v * e * e;
    }
    return (row_sums){w, wd, wdd};
}

/* The entropy falls as beta grows: Newton's steps in log(beta), inside what bisection has left. */
pxi_bandwidth pxi_tsne_bandwidth(const double *distances, size_t count, double perplexity)
{
    pxi_bandwidth b = {.beta = 0.0, .least = INFINITY, .sum = (double)count};
    double mean = 0.0;
    for (size_t j = 0; j < count; j++)
        b.least = fmin(b.least, distances[j]);
    for (size_t j = 0; j < count; j++)
        mean += distances[j] - b.least;
    mean /= (double)count;
    const double target = log(perplexity);
    if (!(mean > 0.0)) { /* all as near as the nearest */
        b.vague = fabs(log((double)count) - target) > entropy_good;
        return b;
    }
    double at = -log(mean), low = at - 80.0, high = at + 80.0, miss = INFINITY;
    for (int i = 0; i < TRIES_MOST && fabs(miss) > entropy_exact && high - low > 1e-13; i++) {
        b.beta = exp(at);
        const row_sums s = sums_at(distances, count, b.least, b.beta);
        const double e = s.wd / s.w;
        b.sum = s.w;
        miss = log(s.w) + b.beta * e - target;
        *(miss > 0.0 ? &low : &high) = at;
        const double slope = b.beta * b.beta * (s.wdd / s.w - e * e);
        const double step = slope > 0.0 ? miss / slope : INFINITY;
        const double newton = at + fmax(-4.0, fmin(4.0, step));
        at = newton > low && newton < high ? newton : (low + high) / 2.0;
    }
    b.vague = fabs(miss) > entropy_good;
    return b;
}

/* --- all pairs ------------------------------------------------------------------------------- */

typedef struct dense_job {
    pxi_points points;
    double perplexity;
    pxi_dense *dense;
    double *beta, *least, *scale; /* [n] each: p_{j|i} / 2n = scale exp(-beta (d_j - least)) */
    bool *vague;                  /* [n] */
    double *entropy;              /* [tiles]: of p log p */
} dense_job;

static px_status bands_run(void *context, int worker, int64_t index, px_error *err)
{
    (void)worker;
    const dense_job *job = context;
    const size_t n = job->points.n, first = (size_t)index * ROWS;
    const size_t rows = PX_MIN(n - first, (size_t)ROWS);
    double *distances = pxi_alloc_aligned(rows * n * sizeof *distances);
    if (!distances)
        return pxi_no_memory_for(err, "distances of %zu points", n);
    pxi_distances(&job->points, first, rows, 0, n, distances, n);
    for (size_t r = 0; r < rows; r++) {
        double *row = distances + r * n;
        row[first + r] = row[n - 1]; /* without itself; order does not matter */
        const pxi_bandwidth band = pxi_tsne_bandwidth(row, n - 1, job->perplexity);
        job->beta[first + r] = band.beta;
        job->least[first + r] = band.least;
        job->scale[first + r] = 1.0 / (2.0 * (double)n * band.sum);
        job->vague[first + r] = band.vague;
    }
    free(distances);
    return PX_OK;
}

/* One row of a tile; returns its sum of p log p. */
PXI_WIDE static double row_affinity(const dense_job *job, double *restrict distances, size_t count,
                                    size_t own, size_t from, float *restrict p)
{
    const double own_beta = job->beta[own], own_least = job->least[own];
    const double own_scale = job->scale[own];
    const double *restrict beta = job->beta + from, *restrict least = job->least + from;
    const double *restrict scale = job->scale + from;
    const bool diagonal = own >= from && own - from < count;
    double entropy = 0.0;
    if (diagonal)
        distances[own - from] = 1e300; /* nothing to itself, and nothing that overflows */
#pragma omp simd reduction(+ : entropy)
    for (size_t j = 0; j < count; j++) {
        const double here = own_scale * pxi_exp_down(-own_beta * (distances[j] - own_least));
        const double there = scale[j] * pxi_exp_down(-beta[j] * (distances[j] - least[j]));
        const double sum = here + there;
        const double value = sum > pxi_tsne_floor ? sum : pxi_tsne_floor;
        p[j] = (float)value;
        entropy += value * pxi_log(value);
    }
    if (diagonal) {
        const double value = (double)p[own - from];
        p[own - from] = 0.0f;
        entropy -= value * pxi_log(value);
    }
    return entropy;
}

static px_status tile_run(void *context, int worker, int64_t index, px_error *err)
{
    (void)worker;
    const dense_job *job = context;
    const size_t n = job->points.n;
    size_t a = 0;
    while (pxi_tile(a + 1, 0) <= (size_t)index)
        a++;
    const size_t b = (size_t)index - pxi_tile(a, 0);
    const size_t first = a * PXI_TILE, from = b * PXI_TILE;
    const size_t rows = PX_MIN(n - first, (size_t)PXI_TILE);
    const size_t columns = PX_MIN(n - from, (size_t)PXI_TILE);
    double *distances = pxi_alloc_aligned(ROWS * PXI_TILE * sizeof *distances);
    if (!distances)
        return pxi_no_memory_for(err, "distances of %zu points", n);
    float *tile = job->dense->p + (size_t)index * PXI_TILE * PXI_TILE;
    double entropy = 0.0;
    for (size_t r = 0; r < rows; r += ROWS) {
        const size_t part = PX_MIN(rows - r, (size_t)ROWS);
        pxi_distances(&job->points, first + r, part, from, from + columns, distances, PXI_TILE);
        for (size_t i = r; i < r + part; i++)
            entropy += row_affinity(job, distances + (i - r) * PXI_TILE, columns, first + i, from,
                                    tile + i * PXI_TILE);
    }
    job->entropy[index] = a == b ? entropy : 2.0 * entropy;
    free(distances);
    return PX_OK;
}

px_status pxi_dense_init(pxi_dense *dense, const double *x, size_t n, size_t d, double perplexity,
                         px_pool *pool, px_error *err)
{
    dense_job job = {.perplexity = perplexity, .dense = dense};
    *dense = (pxi_dense){.n = n, .blocks = (n + PXI_TILE - 1) / PXI_TILE};
    const size_t tiles = pxi_tile(dense->blocks, 0);
    px_status status = pxi_points_init(&job.points, x, n, d, err);
    if (status != PX_OK)
        return status;
    job.beta = pxi_calloc(n, sizeof *job.beta);
    job.least = pxi_calloc(n, sizeof *job.least);
    job.scale = pxi_calloc(n, sizeof *job.scale);
    job.vague = pxi_calloc(n, sizeof *job.vague);
    job.entropy = pxi_calloc(tiles, sizeof *job.entropy);
    dense->p = pxi_calloc(tiles, PXI_TILE * PXI_TILE * sizeof *dense->p);
    if (!job.beta || !job.least || !job.scale || !job.vague || !job.entropy || !dense->p) {
        status = pxi_no_memory_for(err, "affinities of %zu points", n);
        goto done;
    }
    status = pxi_rows_run(pool, (int64_t)((n + ROWS - 1) / ROWS), bands_run, &job, err);
    PX_THEN(status, pxi_rows_run(pool, (int64_t)tiles, tile_run, &job, err));
    if (status != PX_OK)
        goto done;
    for (size_t t = 0; t < tiles; t++)
        dense->entropy += job.entropy[t];
    for (size_t i = 0; i < n; i++)
        dense->vague += job.vague[i];
done:
    free(job.beta);
    free(job.least);
    free(job.scale);
    free(job.vague);
    free(job.entropy);
    pxi_points_done(&job.points);
    if (status != PX_OK)
        pxi_dense_done(dense);
    return status;
}

void pxi_dense_done(pxi_dense *dense)
{
    free(dense->p);
    *dense = (pxi_dense){0};
}

/* --- near neighbours ------------------------------------------------------------------------- */

typedef struct sparse_job {
    pxi_neighbours near;
    double perplexity;
    double *given; /* [n][k]: p_{j|i} / 2n */
    bool *vague;   /* [n] */
} sparse_job;

static px_status given_run(void *context, int worker, int64_t index, px_error *err)
{
    (void)worker;
    (void)err;
    const sparse_job *job = context;
    const size_t n = job->near.n, k = job->near.k, first = (size_t)index * ROWS;
    for (size_t i = first; i < PX_MIN(n, first + ROWS); i++) {
        const double *distance2 = job->near.distance2 + i * k;
        const pxi_bandwidth band = pxi_tsne_bandwidth(distance2, k, job->perplexity);
        job->vague[i] = band.vague;
        for (size_t e = 0; e < k; e++) {
            const double p = exp(-band.beta * (distance2[e] - band.least)) / band.sum;
            job->given[i * k + e] = p / (2.0 * (double)n);
        }
    }
    return PX_OK;
}

px_status pxi_sparse_init(pxi_sparse *sparse, const double *x, size_t n, size_t d,
                          double perplexity, size_t neighbours, px_pool *pool, px_error *err)
{
    sparse_job job = {.perplexity = perplexity};
    *sparse = (pxi_sparse){0};
    PX_TRY(pxi_neighbours_init(&job.near, x, n, d, neighbours, pool, err));
    px_status status = PX_OK;
    job.given = pxi_calloc(n, job.near.k * sizeof *job.given);
    job.vague = pxi_calloc(n, sizeof *job.vague);
    if (!job.given || !job.vague)
        status = pxi_no_memory_for(err, "neighbours of %zu points", n);
    PX_THEN(status, pxi_rows_run(pool, (int64_t)((n + ROWS - 1) / ROWS), given_run, &job, err));
    PX_THEN(status, pxi_sparse_join(sparse, &job.near, job.given, PXI_SPARSE_SUM, err));
    if (status == PX_OK) {
        for (size_t e = 0; e < sparse->row[n]; e++)
            if (sparse->p[e] > 0.0)
                sparse->entropy += sparse->p[e] * log(sparse->p[e]);
        for (size_t i = 0; i < n; i++)
            sparse->vague += job.vague[i];
    }
    free(job.given);
    free(job.vague);
    pxi_neighbours_done(&job.near);
    return status;
}
