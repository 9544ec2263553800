/* src/stats/tsne_affinity.c - how near points are to each other, as probabilities
 *
 * p_{j|i} = exp(-b_i d_ij^2) / sum, with b_i such that the entropy of the row is log(perplexity);
 * p_ij = (p_{j|i} + p_{i|j}) / 2n (van der Maaten and Hinton 2008, equations 1 and 4). Over all
 * pairs, distances are taken twice rather than kept: rows give the precisions, tiles then P.
 */
#include "base/memory.h"
#include "stats/exp_log.h"
#include "stats/tsne_inside.h"

#include <math.h>
#include <stdlib.h>

enum { ROWS = 16, TRIES_MOST = 200 };
static const double entropy_exact = 1e-10, entropy_good = 1e-5;

/* --- the precision of one point */

typedef struct row_sums {
    double w, wd, wdd; /* of exp(-beta e), and that times e and e^2, e = d - least */
} row_sums;

__attribute__((target_clones("avx512f", "arch=haswell", "default"))) static row_sums
sums_at(const double *distances, size_t count, double least, double beta)
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

/* --- all pairs */

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
        return px_fail(err, PX_E_NOMEM, "out of memory for distances of %zu points", n);
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
__attribute__((target_clones("avx512f", "arch=haswell", "default"))) static double
row_affinity(const dense_job *job, double *restrict distances, size_t count, size_t own,
             size_t from, float *restrict p)
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
        return px_fail(err, PX_E_NOMEM, "out of memory for distances of %zu points", n);
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
        status = px_fail(err, PX_E_NOMEM, "out of memory for affinities of %zu points", n);
        goto done;
    }
    status = pxi_rows_run(pool, (int64_t)((n + ROWS - 1) / ROWS), bands_run, &job, err);
    if (status == PX_OK)
        status = pxi_rows_run(pool, (int64_t)tiles, tile_run, &job, err);
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

/* --- near neighbours */

typedef struct sparse_job {
    pxi_points points;
    double perplexity;
    size_t k;
    uint32_t *near; /* [n][k] */
    double *given;  /* [n][k]: p_{j|i} */
    bool *vague;    /* [n] */
} sparse_job;

static px_status near_run(void *context, int worker, int64_t index, px_error *err)
{
    (void)worker;
    const sparse_job *job = context;
    const size_t n = job->points.n, k = job->k, first = (size_t)index * ROWS;
    const size_t rows = PX_MIN(n - first, (size_t)ROWS);
    double *distances = pxi_alloc_aligned(rows * n * sizeof *distances);
    pxi_near *near = pxi_calloc(k, sizeof *near);
    double *of_near = pxi_calloc(k, sizeof *of_near);
    px_status status = PX_OK;
    if (!distances || !near || !of_near) {
        status = px_fail(err, PX_E_NOMEM, "out of memory for distances of %zu points", n);
        goto done;
    }
    pxi_distances(&job->points, first, rows, 0, n, distances, n);
    for (size_t r = 0; r < rows; r++) {
        const size_t i = first + r;
        pxi_nearest(distances + r * n, n, i, k, near);
        for (size_t e = 0; e < k; e++)
            of_near[e] = near[e].distance2;
        const pxi_bandwidth band = pxi_tsne_bandwidth(of_near, k, job->perplexity);
        job->vague[i] = band.vague;
        for (size_t e = 0; e < k; e++) {
            job->near[i * k + e] = (uint32_t)near[e].index;
            job->given[i * k + e] = exp(-band.beta * (of_near[e] - band.least)) / band.sum;
        }
    }
done:
    free(distances);
    free(near);
    free(of_near);
    return status;
}

typedef struct sparse_entry {
    uint32_t column;
    double p;
} sparse_entry;

static int entry_order(const void *a, const void *b)
{
    const uint32_t x = ((const sparse_entry *)a)->column, y = ((const sparse_entry *)b)->column;
    return (x > y) - (x < y);
}

/* p_{j|i} and p_{i|j} side by side in row i; where both are there, they are added. */
static px_status sparse_join(pxi_sparse *sparse, const sparse_job *job, px_error *err)
{
    const size_t n = sparse->n, k = job->k;
    size_t *start = pxi_calloc(n + 1, sizeof *start), *used = pxi_calloc(n, sizeof *used);
    sparse_entry *entry = pxi_calloc(2 * n, k * sizeof *entry);
    px_status status = PX_OK;
    sparse->row = pxi_calloc(n + 1, sizeof *sparse->row);
    if (!start || !used || !entry || !sparse->row)
        goto out_of_memory;
    for (size_t i = 0; i < n; i++) {
        start[i + 1] += k;
        for (size_t e = 0; e < k; e++)
            start[job->near[i * k + e] + 1]++;
    }
    for (size_t i = 0; i < n; i++)
        start[i + 1] += start[i];
    for (size_t i = 0; i < n; i++)
        for (size_t e = 0; e < k; e++) {
            const uint32_t j = job->near[i * k + e];
            const double p = job->given[i * k + e] / (2.0 * (double)n);
            entry[start[i] + used[i]++] = (sparse_entry){j, p};
            entry[start[j] + used[j]++] = (sparse_entry){(uint32_t)i, p};
        }
    size_t count = 0;
    for (size_t i = 0; i < n; i++) {
        qsort(entry + start[i], used[i], sizeof *entry, entry_order);
        const size_t first = count;
        sparse->row[i] = first;
        for (size_t e = start[i]; e < start[i + 1]; e++) {
            if (count > first && entry[count - 1].column == entry[e].column)
                entry[count - 1].p += entry[e].p;
            else
                entry[count++] = entry[e];
        }
    }
    sparse->row[n] = count;
    sparse->column = pxi_calloc(count, sizeof *sparse->column);
    sparse->p = pxi_calloc(count, sizeof *sparse->p);
    if (!sparse->column || !sparse->p)
        goto out_of_memory;
    for (size_t e = 0; e < count; e++) {
        sparse->column[e] = entry[e].column;
        sparse->p[e] = entry[e].p;
        if (entry[e].p > 0.0)
            sparse->entropy += entry[e].p * log(entry[e].p);
    }
    goto done;
out_of_memory:
    status = px_fail(err, PX_E_NOMEM, "out of memory for neighbours of %zu points", n);
done:
    free(start);
    free(used);
    free(entry);
    return status;
}

px_status pxi_sparse_init(pxi_sparse *sparse, const double *x, size_t n, size_t d,
                          double perplexity, size_t neighbours, px_pool *pool, px_error *err)
{
    sparse_job job = {.perplexity = perplexity, .k = PX_MIN(neighbours, n - 1)};
    *sparse = (pxi_sparse){.n = n};
    px_status status = pxi_points_init(&job.points, x, n, d, err);
    if (status != PX_OK)
        return status;
    job.near = pxi_calloc(n, job.k * sizeof *job.near);
    job.given = pxi_calloc(n, job.k * sizeof *job.given);
    job.vague = pxi_calloc(n, sizeof *job.vague);
    if (!job.near || !job.given || !job.vague)
        status = px_fail(err, PX_E_NOMEM, "out of memory for neighbours of %zu points", n);
    if (status == PX_OK)
        status = pxi_rows_run(pool, (int64_t)((n + ROWS - 1) / ROWS), near_run, &job, err);
    if (status == PX_OK)
        status = sparse_join(sparse, &job, err);
    for (size_t i = 0; status == PX_OK && i < n; i++)
        sparse->vague += job.vague[i];
    free(job.near);
    free(job.given);
    free(job.vague);
    pxi_points_done(&job.points);
    if (status != PX_OK)
        pxi_sparse_done(sparse);
    return status;
}

void pxi_sparse_done(pxi_sparse *sparse)
{
    free(sparse->row);
    free(sparse->column);
    free(sparse->p);
    *sparse = (pxi_sparse){0};
}
