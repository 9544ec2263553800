/* src/stats/neighbours.c - who is near whom: exact neighbours of many points, and graphs of them
 *
 * All distances are taken, a few rows at a time: time grows with the square of the points, memory
 * does not.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#include "stats/neighbours.h"

#include "base/memory.h"

#include <internal/stats.h>
#include <math.h>
#include <stdlib.h>

enum { ROWS = 16 };

/* --- neighbours ------------------------------------------------------------------------------ */

typedef struct near_job {
    pxi_points points;
    pxi_neighbours *near;
} near_job;

static px_status near_run(void *context, int worker, int64_t index, px_error *err)
{
    (void)worker;
    const near_job *job = context;
    const size_t n = job->points.n, k = job->near->k, first = (size_t)index * ROWS;
    const size_t rows = PX_MIN(n - first, (size_t)ROWS);
    double *distances = pxi_alloc_aligned(rows * n * sizeof *distances);
    pxi_near *near = pxi_calloc(k, sizeof *near);
    px_status status = PX_OK;
    if (!distances || !near) {
        status = pxi_no_memory_for(err, "distances of %zu points", n);
        goto done;
    }
    pxi_distances(&job->points, first, rows, 0, n, distances, n);
    for (size_t r = 0; r < rows; r++) {
        const size_t i = first + r;
        pxi_nearest(distances + r * n, n, i, k, near);
        for (size_t e = 0; e < k; e++) {
            job->near->index[i * k + e] = (uint32_t)near[e].index;
            job->near->distance2[i * k + e] = near[e].distance2;
        }
    }
done:
    free(distances);
    free(near);
    return status;
}

px_status pxi_neighbours_init(pxi_neighbours *near, const double *x, size_t n, size_t d, size_t k,
                              px_pool *pool, px_error *err)
{
    near_job job = {.near = near};
    *near = (pxi_neighbours){.n = n, .k = PX_MIN(k, n - 1)};
    px_status status = pxi_points_init(&job.points, x, n, d, err);
    if (status != PX_OK)
        return status;
    near->index = pxi_calloc(n, near->k * sizeof *near->index);
    near->distance2 = pxi_calloc(n, near->k * sizeof *near->distance2);
    if (!near->index || !near->distance2)
        status = pxi_no_memory_for(err, "neighbours of %zu points", n);
    PX_THEN(status, pxi_rows_run(pool, (int64_t)((n + ROWS - 1) / ROWS), near_run, &job, err));
    pxi_points_done(&job.points);
    if (status != PX_OK)
        pxi_neighbours_done(near);
    return status;
}

void pxi_neighbours_done(pxi_neighbours *near)
{
    free(near->index);
    free(near->distance2);
    *near = (pxi_neighbours){0};
}

px_status px_neighbours(const float *x, size_t n, size_t d, size_t *k, px_pool *pool,
                        uint32_t **index, px_error *err)
{
    pxi_neighbours near = {.n = 0};
    double *centred = NULL;
    px_status status = pxi_centred(x, n, d, &centred, err);
    PX_THEN(status, pxi_neighbours_init(&near, centred, n, d, *k, pool, err));
    if (status == PX_OK) {
        *k = near.k;
        *index = near.index;
        near.index = NULL;
    }
    pxi_neighbours_done(&near);
    free(centred);
    return status;
}

/* --- graphs ---------------------------------------------------------------------------------- */

typedef struct sparse_entry {
    uint32_t column;
    double p;
} sparse_entry;

static int entry_order(const void *a, const void *b)
{
    const uint32_t x = ((const sparse_entry *)a)->column, y = ((const sparse_entry *)b)->column;
    return (x > y) - (x < y);
}

/* a + b - a b, and exactly 1 where either is: edges of the largest weight come in every epoch. */
static double sparse_union(double a, double b)
{
    const double high = fmax(a, b), low = fmin(a, b);
    return high + low * (1.0 - high);
}

/* Both directions of a pair come side by side in both of its rows, and become one. */
px_status pxi_sparse_join(pxi_sparse *sparse, const pxi_neighbours *near, const double *weights,
                          pxi_sparse_rule rule, px_error *err)
{
    const size_t n = near->n, k = near->k;
    *sparse = (pxi_sparse){.n = n};
    size_t *start = pxi_calloc(n + 1, sizeof *start), *used = pxi_calloc(n, sizeof *used);
    sparse_entry *entry = pxi_calloc(2 * n, k * sizeof *entry);
    px_status status = PX_OK;
    sparse->row = pxi_calloc(n + 1, sizeof *sparse->row);
    if (!start || !used || !entry || !sparse->row)
        goto out_of_memory;
    for (size_t i = 0; i < n; i++) {
        start[i + 1] += k;
        for (size_t e = 0; e < k; e++)
            start[near->index[i * k + e] + 1]++;
    }
    for (size_t i = 0; i < n; i++)
        start[i + 1] += start[i];
    for (size_t i = 0; i < n; i++)
        for (size_t e = 0; e < k; e++) {
            const uint32_t j = near->index[i * k + e];
            const double p = weights[i * k + e];
            entry[start[i] + used[i]++] = (sparse_entry){j, p};
            entry[start[j] + used[j]++] = (sparse_entry){(uint32_t)i, p};
        }
    size_t count = 0;
    for (size_t i = 0; i < n; i++) {
        qsort(entry + start[i], used[i], sizeof *entry, entry_order);
        const size_t first = count;
        sparse->row[i] = first;
        for (size_t e = start[i]; e < start[i + 1]; e++) {
            if (count == first || entry[count - 1].column != entry[e].column) {
                entry[count++] = entry[e];
                continue;
            }
            const double a = entry[count - 1].p, b = entry[e].p;
            entry[count - 1].p = rule == PXI_SPARSE_SUM ? a + b : sparse_union(a, b);
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
    }
    goto done;
out_of_memory:
    status = pxi_no_memory_for(err, "neighbours of %zu points", n);
    pxi_sparse_done(sparse);
done:
    free(start);
    free(used);
    free(entry);
    return status;
}

void pxi_sparse_done(pxi_sparse *sparse)
{
    free(sparse->row);
    free(sparse->column);
    free(sparse->p);
    *sparse = (pxi_sparse){0};
}
