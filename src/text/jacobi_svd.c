/* src/text/jacobi_svd.c - singular values and left singular vectors
 *
 * One-sided Jacobi (Hestenes 1958): columns are turned in pairs until all are orthogonal; then
 * their lengths are the singular values and their directions the left singular vectors. It is done
 * not on A but on the transpose of R, where A P = Q R is the QR decomposition with the longest
 * column first (Drmac and Veselic, SIAM J. Matrix Anal. Appl. 29, 2008): R^T is nearly orthogonal
 * already, and a third of the sweeps do. R^T = X S W^T, so that A P X = Q R X = (Q W) S: neither Q
 * nor the rotations need be kept, one product with A gives the left vectors.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#include "text/jacobi_svd.h"

#include "base/memory.h"
#include "base/wide.h"
#include "stats/product.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

enum { SWEEPS_MOST = 60 };
static const double settled = 1e-13; /* cosine of two columns that counts as 0 */
static const double nothing = 1e-14; /* length of a column, of the longest, that counts as 0 */

typedef struct svd_job {
    double *a;
    size_t columns, n;
    size_t *order; /* columns, the longest first */
    double *power; /* squared length of column i */
} svd_job;

PXI_WIDE static void svd_turn(double *a, double *b, size_t n, double c, double s)
{
#pragma omp simd
    for (size_t i = 0; i < n; i++) {
        const double x = a[i], y = b[i];
        a[i] = c * x - s * y;
        b[i] = s * x + c * y;
    }
}

/* a += share * b */
PXI_WIDE static void svd_add(double *a, const double *b, size_t n, double share)
{
#pragma omp simd
    for (size_t i = 0; i < n; i++)
        a[i] += share * b[i];
}

/* Longest first; equal ones by number. Few change places after the first sweeps. */
static void svd_sort(svd_job *job)
{
    for (size_t i = 1; i < job->columns; i++) {
        const size_t column = job->order[i];
        size_t at = i;
        while (at > 0 && (job->power[job->order[at - 1]] < job->power[column] ||
                          (job->power[job->order[at - 1]] == job->power[column] &&
                           job->order[at - 1] > column))) {
            job->order[at] = job->order[at - 1];
            at--;
        }
        job->order[at] = column;
    }
}

static void svd_measure(svd_job *job)
{
    for (size_t i = 0; i < job->columns; i++)
        job->power[i] = pxi_dot(job->a + i * job->n, job->a + i * job->n, job->n);
    svd_sort(job);
}

/* One pass over all pairs; whether any was turned. */
static bool svd_sweep(svd_job *job)
{
    bool turned = false;
    svd_measure(job);
    const double least = nothing * nothing * job->power[job->order[0]];
    for (size_t i = 0; i + 1 < job->columns; i++)
        for (size_t j = i + 1; j < job->columns; j++) {
            const size_t p = job->order[i], q = job->order[j];
            const double alpha = job->power[p], beta = job->power[q];
            if (!(alpha > least && beta > least))
                continue;
            const double gamma = pxi_dot(job->a + p * job->n, job->a + q * job->n, job->n);
            if (!(fabs(gamma) > settled * sqrt(alpha * beta)))
                continue;
            const double zeta = (beta - alpha) / (2.0 * gamma); /* gamma is not 0 here */
            const double t = (zeta >= 0 ? 1.0 : -1.0) / (fabs(zeta) + sqrt(1.0 + zeta * zeta));
            const double c = 1.0 / sqrt(1.0 + t * t);
            svd_turn(job->a + p * job->n, job->a + q * job->n, job->n, c, c * t);
            job->power[p] = alpha - t * gamma;
            job->power[q] = beta + t * gamma;
            turned = true;
        }
    return turned;
}

/* Householder's QR with the longest remaining column first, in place: afterwards column j has rows
 * 0..j of R, and zeros below. order[j] is which column of A it is. */
static void svd_triangle(double *a, size_t columns, size_t n, size_t *order)
{
    const size_t steps = PX_MIN(columns, n);
    for (size_t j = 0; j < columns; j++)
        order[j] = j;
    for (size_t j = 0; j < steps; j++) {
        size_t longest = j;
        double power = -1.0;
        for (size_t i = j; i < columns; i++) {
            const double p = pxi_dot(a + i * n + j, a + i * n + j, n - j);
            if (p > power) {
                power = p;
                longest = i;
            }
        }
        if (longest != j) {
            const size_t swap = order[j];
            order[j] = order[longest];
            order[longest] = swap;
            for (size_t i = 0; i < n; i++) {
                const double number = a[j * n + i];
                a[j * n + i] = a[longest * n + i];
                a[longest * n + i] = number;
            }
        }
        if (!(power > 0.0))
            break;
        double *v = a + j * n + j; /* the reflector grows where the column was */
        const double length = v[0] > 0.0 ? -sqrt(power) : sqrt(power);
        v[0] -= length;
        const double scale = 2.0 / pxi_dot(v, v, n - j); /* v[0] is at least `length` long */
        for (size_t i = j + 1; i < columns; i++)
            svd_add(a + i * n + j, v, n - j, -scale * pxi_dot(a + i * n + j, v, n - j));
        v[0] = length;
        for (size_t i = 1; i < n - j; i++)
            v[i] = 0.0;
    }
}

/* The direction of a column, by the rule of signs. */
static void svd_vector(double *u, size_t n)
{
    size_t largest = 0;
    for (size_t i = 1; i < n; i++)
        if (fabs(u[i]) > fabs(u[largest]))
            largest = i;
    const double length = sqrt(pxi_dot(u, u, n));
    const double scale = length > 0.0 ? (u[largest] < 0.0 ? -1.0 : 1.0) / length : 0.0;
    for (size_t i = 0; i < n; i++)
        u[i] *= scale;
}

static void svd_run(svd_job *job, const double *a, size_t n, const size_t *places, size_t k,
                    double *values, double *u)
{
    for (int sweep = 0; sweep < SWEEPS_MOST && svd_sweep(job); sweep++)
        continue;
    svd_measure(job);
    const double least = nothing * nothing * job->power[job->order[0]];
    for (size_t i = 0; i < k; i++) {
        const size_t column = job->order[i];
        const bool there = i < job->columns && job->power[column] > least;
        values[i] = there ? sqrt(job->power[column]) : 0.0;
        for (size_t e = 0; e < n; e++)
            u[i * n + e] = 0.0;
        if (!there)
            continue;
        const double *x = job->a + column * job->n; /* along P, not scaled */
        for (size_t j = 0; j < job->n; j++)
            svd_add(u + i * n, a + places[j] * n, n, x[j] / values[i]);
        svd_vector(u + i * n, n);
    }
}

px_status pxi_jacobi_svd(const double *a, size_t columns, size_t n, size_t k, double *values,
                         double *u, px_error *err)
{
    const size_t rank = PX_MIN(columns, n);
    svd_job job = {.columns = rank, .n = columns};
    double *triangle = pxi_calloc(columns * n + 1, sizeof *triangle);
    size_t *places = pxi_calloc(columns + 1, sizeof *places);
    job.a = pxi_calloc(rank * columns + 1, sizeof *job.a);
    job.order = pxi_calloc(rank + k + 1, sizeof *job.order);
    job.power = pxi_calloc(rank + 1, sizeof *job.power);
    px_status status = PX_OK;
    if (!triangle || !places || !job.a || !job.order || !job.power) {
        status = pxi_no_memory(err);
        goto done;
    }
    memcpy(triangle, a, columns * n * sizeof *triangle);
    svd_triangle(triangle, columns, n, places);
    for (size_t i = 0; i < rank; i++) { /* row i of R is column i of its transpose */
        job.order[i] = i;
        for (size_t j = i; j < columns; j++)
            job.a[i * columns + j] = triangle[j * n + i];
    }
    svd_run(&job, a, n, places, k, values, u);
done:
    free(triangle);
    free(places);
    free(job.a);
    free(job.order);
    free(job.power);
    return status;
}
