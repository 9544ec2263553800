/* src/stats/silhouette.c - how well clusters are apart
 *
 * s(i) = (b - a) / max(a, b): a is the mean distance to the others of the own cluster, b the
 * smallest mean distance to another one. Distances come in blocks of a product, and each block
 * serves all labelings at once.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#include "base/memory.h"
#include "base/wide.h"
#include "stats/product.h"
#include <internal/kmeans.h>

#include <math.h>
#include <stdlib.h>

enum { SILHOUETTE_ROWS = 64, SILHOUETTE_COLUMNS = 512 };

typedef struct silhouette_job {
    const double *x;
    size_t n, d;
    const int *const *labels;
    const int *k;
    size_t count;
    size_t *const *members; /* [count][k] */
    pxi_panels panels;
    double *norm2;   /* [n] */
    double **value;  /* [count][n] */
    size_t clusters; /* sum of k */
} silhouette_job;

static double silhouette_of(const double *sums, const size_t *members, int k, int own)
{
    if (members[own] < 2)
        return 0.0;
    const double a = sums[own] / (double)(members[own] - 1);
    double b = INFINITY;
    for (int c = 0; c < k; c++)
        if (c != own && members[c] > 0)
            b = fmin(b, sums[c] / (double)members[c]);
    const double most = fmax(a, b);
    return most > 0.0 ? (b - a) / most : 0.0;
}

PXI_WIDE static void distances(double *g, const double *norm2, double own, size_t count)
{
#pragma omp simd
    for (size_t j = 0; j < count; j++) {
        const double square = own + norm2[j] - 2.0 * g[j];
        g[j] = sqrt(square > 0.0 ? square : 0.0);
    }
}

static px_status rows_run(void *context, int worker, int64_t index, px_error *err)
{
    (void)worker;
    const silhouette_job *job = context;
    const size_t n = job->n, first = (size_t)index * SILHOUETTE_ROWS;
    const size_t rows = PX_MIN(n - first, (size_t)SILHOUETTE_ROWS);
    double *g = pxi_alloc_aligned(SILHOUETTE_ROWS * SILHOUETTE_COLUMNS * sizeof *g);
    double *sums = pxi_calloc(rows * job->clusters, sizeof *sums); /* [rows][clusters] */
    px_status status = PX_OK;
    if (!g || !sums) {
        status = pxi_no_memory_for(err, "the silhouette of %zu points", n);
        goto done;
    }
    for (size_t j0 = 0; j0 < n; j0 += SILHOUETTE_COLUMNS) {
        const size_t columns = PX_MIN(n - j0, (size_t)SILHOUETTE_COLUMNS);
        pxi_product(&job->panels, j0, columns, job->x + first * job->d, job->d, rows, g,
                    SILHOUETTE_COLUMNS, PXI_PUT);
        for (size_t r = 0; r < rows; r++) {
            double *row = g + r * SILHOUETTE_COLUMNS;
            distances(row, job->norm2 + j0, job->norm2[first + r], columns);
            if (first + r >= j0 && first + r < j0 + columns)
                row[first + r - j0] = 0.0; /* to itself */
            double *sum = sums + r * job->clusters;
            for (size_t c = 0; c < job->count; sum += job->k[c], c++)
                for (size_t j = 0; j < columns; j++)
                    sum[job->labels[c][j0 + j]] += row[j];
        }
    }
    for (size_t r = 0; r < rows; r++) {
        const double *sum = sums + r * job->clusters;
        for (size_t c = 0; c < job->count; sum += job->k[c], c++)
            job->value[c][first + r] =
                silhouette_of(sum, job->members[c], job->k[c], job->labels[c][first + r]);
    }
done:
    free(g);
    free(sums);
    return status;
}

static double silhouette_mean(const silhouette_job *job, size_t c)
{
    int used = 0;
    for (int k = 0; k < job->k[c]; k++)
        used += job->members[c][k] > 0;
    double sum = 0.0;
    for (size_t i = 0; i < job->n; i++)
        sum += job->value[c][i];
    return used < 2 ? NAN : sum / (double)job->n;
}

px_status pxi_silhouette(const double *x, size_t n, size_t d, const int *const *labels,
                         const int *k, size_t count, px_pool *pool, double *means, px_error *err)
{
    px_status status = PX_OK;
    silhouette_job job = {.x = x, .n = n, .d = d, .labels = labels, .k = k, .count = count};
    size_t **members = pxi_calloc(count, sizeof *members);
    job.members = members;
    job.value = pxi_calloc(count, sizeof *job.value);
    job.norm2 = pxi_calloc(n, sizeof *job.norm2);
    bool enough = members && job.value && job.norm2;
    for (size_t c = 0; c < count && enough; c++) {
        members[c] = pxi_calloc((size_t)k[c], sizeof *members[c]);
        job.value[c] = pxi_calloc(n, sizeof *job.value[c]);
        enough = members[c] && job.value[c];
        for (size_t i = 0; i < n && enough; i++)
            members[c][labels[c][i]]++;
        job.clusters += (size_t)k[c];
    }
    if (!enough) {
        status = pxi_no_memory_for(err, "the silhouette of %zu points", n);
        goto done;
    }
    status = pxi_panels_init(&job.panels, n, d, err);
    if (status != PX_OK)
        goto done;
    pxi_panels_fill(&job.panels, 0, n, x, d);
    for (size_t i = 0; i < n; i++)
        job.norm2[i] = pxi_dot(x + i * d, x + i * d, d);
    const int64_t blocks = (int64_t)((n + SILHOUETTE_ROWS - 1) / SILHOUETTE_ROWS);
    if (pool)
        status = pxi_pool_run(pool, blocks, rows_run, &job, pxi_pool_unwatched, NULL, err);
    for (int64_t i = 0; i < blocks && !pool && status == PX_OK; i++)
        status = rows_run(&job, 0, i, err);
    for (size_t c = 0; c < count && status == PX_OK; c++)
        means[c] = silhouette_mean(&job, c);
done:
    for (size_t c = 0; c < count; c++) {
        if (members)
            free(members[c]);
        if (job.value)
            free(job.value[c]);
    }
    free(members);
    free(job.value);
    free(job.norm2);
    pxi_panels_done(&job.panels);
    return status;
}
