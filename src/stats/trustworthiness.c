/* src/stats/trustworthiness.c - whether neighbours on a map are neighbours
 *
 * T(k) = 1 - 2 / (n k (2n - 3k - 1)) sum_i sum_j (r(i, j) - k), over the j that are among the k
 * nearest of i on the map but not among the points, where j is the r-th nearest (Venna and Kaski,
 * ICANN 2001, equation 1). Of points at equal distance the one with the lower index is nearer.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#include "base/memory.h"
#include "base/wide.h"
#include "stats/tsne_internal.h"

#include <stdlib.h>

typedef struct trust_job {
    pxi_points points;
    const double *y;
    size_t k, step; /* every how manyth point is looked at */
    double *excess; /* per point looked at: sum of ranks beyond k */
} trust_job;

PXI_WIDE static void plane_distances(const double *y, size_t n, size_t own, double *restrict out)
{
    const double x0 = y[2 * own], y0 = y[2 * own + 1];
    for (size_t j = 0; j < n; j++) {
        const double dx = y[2 * j] - x0, dy = y[2 * j + 1] - y0;
        out[j] = dx * dx + dy * dy;
    }
}

/* The place of `other` among all points by their distance from `own`, from 1. */
PXI_WIDE static size_t rank_of(const double *distances, size_t n, size_t own, size_t other)
{
    const double limit = distances[other];
    size_t nearer = 0;
    for (size_t j = 0; j < n; j++)
        nearer += distances[j] < limit;
    for (size_t j = 0; j < other; j++)
        nearer += distances[j] == limit;
    if (distances[own] < limit || (distances[own] == limit && own < other))
        nearer--;
    return nearer + 1;
}

static px_status trust_run(void *context, int worker, int64_t index, px_error *err)
{
    (void)worker;
    const trust_job *job = context;
    const size_t n = job->points.n, own = (size_t)index * job->step;
    double *flat = pxi_calloc(n, sizeof *flat), *deep = pxi_calloc(n, sizeof *deep);
    pxi_near *near = pxi_calloc(job->k, sizeof *near);
    px_status status = PX_OK;
    if (!flat || !deep || !near) {
        status = pxi_no_memory_for(err, "distances of %zu points", n);
        goto done;
    }
    plane_distances(job->y, n, own, flat);
    pxi_nearest(flat, n, own, job->k, near);
    pxi_distances(&job->points, own, 1, 0, n, deep, n);
    double excess = 0.0;
    for (size_t e = 0; e < job->k; e++) {
        const size_t rank = rank_of(deep, n, own, near[e].index);
        if (rank > job->k)
            excess += (double)(rank - job->k);
    }
    job->excess[index] = excess;
done:
    free(flat);
    free(deep);
    free(near);
    return status;
}

px_status px_trustworthiness(const float *x, size_t n, size_t d, const double *y, int k,
                             size_t sample, int threads, double *out, px_error *err)
{
    if (k < 1 || !(2 * (size_t)k < n) || d == 0)
        return px_fail(err, PX_E_USAGE,
                       "trustworthiness of %zu points takes 1 to %zu neighbours, not %d", n,
                       n > 2 ? (n - 1) / 2 : (size_t)0, k);
    trust_job job = {.y = y, .k = (size_t)k, .step = sample ? (n + sample - 1) / sample : 1};
    const size_t rows = (n + job.step - 1) / job.step;
    double *centred = NULL;
    px_pool *pool = NULL;
    px_status status = pxi_centred(x, n, d, &centred, err);
    PX_THEN(status, pxi_points_init(&job.points, centred, n, d, err));
    PX_THEN(status, pxi_pool_new(threads, &pool, err));
    PX_THEN(status, PX_NEW(job.excess, rows, err));
    PX_THEN(status, pxi_rows_run(pool, (int64_t)rows, trust_run, &job, err));
    if (status == PX_OK) {
        double sum = 0.0;
        for (size_t i = 0; i < rows; i++)
            sum += job.excess[i];
        const double nd = (double)n, kd = (double)k;
        *out = 1.0 - 2.0 * sum / ((double)rows * kd * (2.0 * nd - 3.0 * kd - 1.0));
    }
    pxi_pool_free(pool);
    pxi_points_done(&job.points);
    free(job.excess);
    free(centred);
    return status;
}
