/* src/stats/principal.c - principal components by subspace iteration
 *
 * A few more vectors than asked for are multiplied by X and X^T in turn and kept orthonormal; the
 * small eigenvalue problem in their span (Rayleigh-Ritz) gives components and variances (Halko,
 * Martinsson and Tropp, SIAM Review 53, 2011, algorithm 4.4). Where the span is the whole space one
 * step is exact. Every product is a chain of its own, so the number of threads changes no bit.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#include "stats/principal.h"

#include "base/arena.h"
#include "base/memory.h"
#include "stats/distances.h"

#include <internal/rng.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { SPARE = 10, STEPS_MOST = 60, BLOCK = 64, SWEEPS_MOST = 40 };
static const double settled = 1e-9; /* change of variances, relative to the largest */

/* --- small symmetric matrices: cyclic Jacobi rotations --------------------------------------- */

static void jacobi_rotate(double *s, double *vectors, size_t k, size_t p, size_t q)
{
    const double off = s[p * k + q];
    const double tau = (s[q * k + q] - s[p * k + p]) / (2.0 * off);
    const double t = (tau >= 0 ? 1.0 : -1.0) / (fabs(tau) + sqrt(1.0 + tau * tau));
    const double c = 1.0 / sqrt(1.0 + t * t), sine = t * c;
    for (size_t i = 0; i < k; i++) {
        const double a = s[i * k + p], b = s[i * k + q];
        s[i * k + p] = c * a - sine * b;
        s[i * k + q] = sine * a + c * b;
    }
    for (size_t i = 0; i < k; i++) {
        const double a = s[p * k + i], b = s[q * k + i];
        s[p * k + i] = c * a - sine * b;
        s[q * k + i] = sine * a + c * b;
        const double u = vectors[p * k + i], v = vectors[q * k + i];
        vectors[p * k + i] = c * u - sine * v;
        vectors[q * k + i] = sine * u + c * v;
    }
}

void pxi_symmetric_eigen(double *s, size_t k, double *values, double *vectors)
{
    double size = 0.0;
    for (size_t i = 0; i < k * k; i++)
        size = fmax(size, fabs(s[i]));
    memset(vectors, 0, k * k * sizeof *vectors);
    for (size_t i = 0; i < k; i++)
        vectors[i * k + i] = 1.0;
    bool turned = size > 0.0;
    for (int sweep = 0; turned && sweep < SWEEPS_MOST; sweep++) {
        turned = false;
        for (size_t p = 0; p + 1 < k; p++)
            for (size_t q = p + 1; q < k; q++)
                if (fabs(s[p * k + q]) > 1e-16 * size) {
                    jacobi_rotate(s, vectors, k, p, q);
                    turned = true;
                }
    }
    for (size_t i = 0; i < k; i++)
        values[i] = s[i * k + i];
    for (size_t i = 0; i + 1 < k; i++) { /* descending; few enough to select */
        size_t best = i;
        for (size_t j = i + 1; j < k; j++)
            if (values[j] > values[best])
                best = j;
        const double value = values[i];
        values[i] = values[best];
        values[best] = value;
        for (size_t j = 0; j < k && best != i; j++) {
            const double v = vectors[i * k + j];
            vectors[i * k + j] = vectors[best * k + j];
            vectors[best * k + j] = v;
        }
    }
}

/* --- the iteration --------------------------------------------------------------------------- */

typedef struct principal_job {
    size_t n, d, k; /* k: with the spare ones */
    const double *x;
    double *across; /* x transposed, [d][n] */
    double *basis;  /* [k][d], rows orthonormal */
    double *image;  /* [n][k]: x times basis */
    double *back;   /* [d][k]: x transposed times image */
    double *turned; /* scratch of max(n, d) x k: columns as rows */
    double *small, *vectors, *values, *before;
    pxi_panels right; /* what a product is with */
    const double *left;
    size_t left_rows, length; /* of `left`: [left_rows][length] */
    double *product;          /* [left_rows][k] */
} principal_job;

static px_status product_block(void *context, int worker, int64_t index, px_error *err)
{
    (void)worker;
    (void)err;
    const principal_job *job = context;
    const size_t first = (size_t)index * BLOCK;
    const size_t rows = PX_MIN(job->left_rows - first, (size_t)BLOCK);
    pxi_product(&job->right, 0, job->k, job->left + first * job->length, job->length, rows,
                job->product + first * job->k, job->k, PXI_PUT);
    return PX_OK;
}

/* product = left (rows x length) times the transpose of right (k x length). */
static px_status job_product(principal_job *job, const double *left, size_t rows, size_t length,
                             const double *right, double *product, px_pool *pool, px_error *err)
{
    PX_TRY(pxi_panels_init(&job->right, job->k, length, err));
    pxi_panels_fill(&job->right, 0, job->k, right, length);
    job->left = left;
    job->left_rows = rows;
    job->length = length;
    job->product = product;
    const px_status status =
        pxi_rows_run(pool, (int64_t)((rows + BLOCK - 1) / BLOCK), product_block, job, err);
    pxi_panels_done(&job->right);
    return status;
}

static void transpose(const double *a, size_t rows, size_t columns, double *out)
{
    for (size_t i = 0; i < rows; i += 16)
        for (size_t j = 0; j < columns; j++)
            for (size_t r = i; r < PX_MIN(i + 16, rows); r++)
                out[j * rows + r] = a[r * columns + j];
}

/* Gram-Schmidt on rows [k][d], each freed of the earlier ones twice; what is left of a row that
 * depends on them is 0. */
static void orthonormalise(double *rows, size_t k, size_t d)
{
    for (size_t i = 0; i < k; i++) {
        double *row = rows + i * d;
        const double size = sqrt(pxi_dot(row, row, d));
        for (int pass = 0; pass < 2; pass++)
            for (size_t j = 0; j < i; j++) {
                const double share = pxi_dot(row, rows + j * d, d);
                for (size_t e = 0; e < d; e++)
                    row[e] -= share * rows[j * d + e];
            }
        const double rest = sqrt(pxi_dot(row, row, d));
        const double scale = rest > 1e-13 * size ? 1.0 / rest : 0.0;
        for (size_t e = 0; e < d; e++)
            row[e] *= scale;
    }
}

static void basis_start(principal_job *job, uint64_t seed)
{
    if (job->k == job->d) { /* the whole space */
        for (size_t i = 0; i < job->d; i++)
            job->basis[i * job->d + i] = 1.0;
        return;
    }
    for (size_t i = 0; i < job->k; i++) {
        px_random random = px_rng(seed, PX_RNG_TSNE, (uint32_t)i, /* iteration= */ 1);
        for (size_t e = 0; e < job->d; e++)
            job->basis[i * job->d + e] = px_rng_normal(&random);
    }
    orthonormalise(job->basis, job->k, job->d);
}

/* image = x basis, and the eigenvalue problem in the span of the basis. */
static px_status ritz(principal_job *job, px_pool *pool, px_error *err)
{
    PX_TRY(job_product(job, job->x, job->n, job->d, job->basis, job->image, pool, err));
    transpose(job->image, job->n, job->k, job->turned);
    for (size_t i = 0; i < job->k; i++)
        for (size_t j = 0; j <= i; j++)
            job->small[i * job->k + j] = job->small[j * job->k + i] =
                pxi_dot(job->turned + i * job->n, job->turned + j * job->n, job->n);
    pxi_symmetric_eigen(job->small, job->k, job->values, job->vectors);
    return PX_OK;
}

static bool values_settled(const principal_job *job, size_t wanted)
{
    double change = 0.0;
    for (size_t i = 0; i < wanted; i++)
        change = fmax(change, fabs(job->values[i] - job->before[i]));
    return !(change > settled * job->values[0]);
}

static px_status iterate(principal_job *job, size_t wanted, px_pool *pool, px_error *err)
{
    PX_TRY(ritz(job, pool, err));
    for (int step = 0; job->k < job->d && step < STEPS_MOST; step++) {
        memcpy(job->before, job->values, job->k * sizeof *job->before);
        /* `turned` has the image's columns as rows */
        PX_TRY(job_product(job, job->across, job->d, job->n, job->turned, job->back, pool, err));
        transpose(job->back, job->d, job->k, job->basis);
        orthonormalise(job->basis, job->k, job->d);
        PX_TRY(ritz(job, pool, err));
        if (values_settled(job, wanted))
            break;
    }
    return PX_OK;
}

static void job_scores(const principal_job *job, size_t wanted, double *scores, double *variance)
{
    for (size_t c = 0; c < wanted; c++) {
        const double *vector = job->vectors + c * job->k;
        double largest = 0.0;
        variance[c] = fmax(job->values[c], 0.0) / (double)(job->n > 1 ? job->n - 1 : 1);
        for (size_t i = 0; i < job->n; i++) {
            const double score = pxi_dot(job->image + i * job->k, vector, job->k);
            scores[i * wanted + c] = score;
            if (fabs(score) > fabs(largest))
                largest = score;
        }
        for (size_t i = 0; largest < 0.0 && i < job->n; i++)
            scores[i * wanted + c] = -scores[i * wanted + c];
    }
}

px_status pxi_principal(const double *x, size_t n, size_t d, size_t k, uint64_t seed, px_pool *pool,
                        double *scores, double *variance, px_error *err)
{
    principal_job job = {.n = n, .d = d, .k = PX_MIN(k + SPARE, d), .x = x};
    px_arena *memory = pxi_arena_new();
    px_status status = PX_OK;
    job.across = pxi_arena_alloc(memory, n * d, sizeof *job.across);
    job.basis = pxi_arena_alloc(memory, job.k * d, sizeof *job.basis);
    job.image = pxi_arena_alloc(memory, n * job.k, sizeof *job.image);
    job.back = pxi_arena_alloc(memory, d * job.k, sizeof *job.back);
    job.turned = pxi_arena_alloc(memory, PX_MAX(n, d) * job.k, sizeof *job.turned);
    job.small = pxi_arena_alloc(memory, job.k * job.k, sizeof *job.small);
    job.vectors = pxi_arena_alloc(memory, job.k * job.k, sizeof *job.vectors);
    job.values = pxi_arena_alloc(memory, job.k, sizeof *job.values);
    job.before = pxi_arena_alloc(memory, job.k, sizeof *job.before);
    if (pxi_arena_whole(memory)) {
        transpose(x, n, d, job.across);
        basis_start(&job, seed);
        status = iterate(&job, k, pool, err);
    } else {
        status =
            pxi_no_memory_for(err, "the principal components of %zu points of %zu values", n, d);
    }
    if (status == PX_OK)
        job_scores(&job, k, scores, variance);
    pxi_arena_free(memory);
    return status;
}
