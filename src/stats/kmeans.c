/* src/stats/kmeans.c - k-means with k-means++ seeding */
/* SPDX-License-Identifier: Apache-2.0 */
#include <internal/kmeans.h>

#include "base/memory.h"
#include "base/wide.h"

#include <assert.h>
#include <internal/rng.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static const double movement_least = 1e-4; /* of the centres, relative to their size */

/* In ascending order within 8 lanes, so that every build and processor agrees. */
PXI_WIDE static double distance_squared(const double *x, const double *y, size_t d)
{
    double sum[8] = {0};
    size_t i = 0;
    for (; i + 8 <= d; i += 8)
        for (size_t k = 0; k < 8; k++)
            sum[k] += (x[i + k] - y[i + k]) * (x[i + k] - y[i + k]);
    for (size_t k = 0; i + k < d; k++)
        sum[k] += (x[i + k] - y[i + k]) * (x[i + k] - y[i + k]);
    return ((sum[0] + sum[1]) + (sum[2] + sum[3])) + ((sum[4] + sum[5]) + (sum[6] + sum[7]));
}

int pxi_kmeans_nearest(const double *centre, int k, size_t d, const double *x, double *distance2)
{
    assert(k > 0);
    int best = 0;
    double least = INFINITY;
    for (int c = 0; c < k; c++) {
        const double distance = distance_squared(x, centre + (size_t)c * d, d);
        if (distance < least) {
            least = distance;
            best = c;
        }
    }
    if (distance2)
        *distance2 = least;
    return best;
}

void pxi_kmeans_done(pxi_kmeans *result)
{
    free(result->centre);
    free(result->label);
    *result = (pxi_kmeans){0};
}

typedef struct kmeans_job {
    const double *x;
    size_t n, d;
    const pxi_kmeans_options *options;
    pxi_kmeans *result; /* one per restart */
} kmeans_job;

typedef struct kmeans_scratch {
    double *distance2; /* [n] to the own centre */
    double *sum;       /* [k][d] */
    size_t *members;   /* [k] */
} kmeans_scratch;

/* Chooses up to k centres; stops early where every point is a centre already. */
static int seed_centres(const kmeans_job *job, uint32_t restart, double *centre, double *distance2)
{
    const size_t n = job->n, d = job->d;
    px_random random = px_rng(job->options->seed, PX_RNG_CLUSTER, job->options->item, restart);
    size_t chosen = px_rng_below(&random, (uint32_t)n);
    for (size_t i = 0; i < n; i++)
        distance2[i] = INFINITY;
    for (int c = 0;; c++) {
        memcpy(centre + (size_t)c * d, job->x + chosen * d, d * sizeof *centre);
        double most = 0.0;
        for (size_t i = 0; i < n; i++) {
            const double to_new = distance_squared(job->x + i * d, centre + (size_t)c * d, d);
            distance2[i] = fmin(distance2[i], to_new);
            most = fmax(most, distance2[i]);
        }
        if (c + 1 == job->options->k || !(most > 0.0))
            return c + 1;
        chosen = px_rng_choose(&random, distance2, (uint32_t)n);
        if (!(distance2[chosen] > 0.0)) /* the draw hit the very end of the sums */
            for (chosen = 0; distance2[chosen] < most;)
                chosen++;
    }
}

/* Gives each point to its nearest centre; whether any went elsewhere. */
static bool assign_points(const kmeans_job *job, pxi_kmeans *r, kmeans_scratch *s)
{
    bool changed = false;
    r->inertia = 0.0;
    for (size_t i = 0; i < job->n; i++) {
        const int label =
            pxi_kmeans_nearest(r->centre, r->k, job->d, job->x + i * job->d, &s->distance2[i]);
        changed |= label != r->label[i];
        r->label[i] = label;
        r->inertia += s->distance2[i];
    }
    return changed;
}

/* Emptied clusters take the points that are farthest from their centres. */
static void fill_empty(const kmeans_job *job, pxi_kmeans *r, kmeans_scratch *s)
{
    memset(s->members, 0, (size_t)r->k * sizeof *s->members);
    for (size_t i = 0; i < job->n; i++)
        s->members[r->label[i]]++;
    for (int c = 0; c < r->k; c++) {
        if (s->members[c] > 0)
            continue;
        size_t farthest = job->n;
        for (size_t i = 0; i < job->n; i++)
            if (s->members[r->label[i]] > 1 &&
                (farthest == job->n || s->distance2[i] > s->distance2[farthest]))
                farthest = i;
        if (farthest == job->n)
            continue; /* k <= n points: cannot be */
        s->members[r->label[farthest]]--;
        s->members[c] = 1;
        r->label[farthest] = c;
        s->distance2[farthest] = 0.0;
    }
}

/* Centres become means; their movement relative to their size, both as lengths. */
static double move_centres(const kmeans_job *job, pxi_kmeans *r, kmeans_scratch *s)
{
    const size_t d = job->d;
    memset(s->sum, 0, (size_t)r->k * d * sizeof *s->sum);
    for (size_t i = 0; i < job->n; i++) {
        double *sum = s->sum + (size_t)r->label[i] * d;
        for (size_t j = 0; j < d; j++)
            sum[j] += job->x[i * d + j];
    }
    double moved = 0.0, size = 0.0;
    for (int c = 0; c < r->k; c++)
        for (size_t j = 0; j < d; j++) {
            double *centre = &r->centre[(size_t)c * d + j];
            const double mean = s->sum[(size_t)c * d + j] / (double)s->members[c];
            moved += (mean - *centre) * (mean - *centre);
            size += mean * mean;
            *centre = mean;
        }
    return size > 0.0 ? sqrt(moved / size) : moved > 0.0 ? INFINITY : 0.0;
}

static px_status restart_run(void *context, int worker, int64_t index, px_error *err)
{
    (void)worker;
    const kmeans_job *job = context;
    const size_t n = job->n, d = job->d, most = (size_t)job->options->k;
    pxi_kmeans *r = &job->result[index];
    kmeans_scratch s = {
        .distance2 = pxi_calloc(n, sizeof *s.distance2),
        .sum = pxi_calloc(most * d, sizeof *s.sum),
        .members = pxi_calloc(most, sizeof *s.members),
    };
    px_status status = PX_OK;
    r->centre = pxi_calloc(most * d, sizeof *r->centre);
    r->label = pxi_calloc(n, sizeof *r->label);
    if (!s.distance2 || !s.sum || !s.members || !r->centre || !r->label) {
        status = pxi_no_memory_for(err, "k-means over %zu points", n);
        goto done;
    }
    r->k = seed_centres(job, (uint32_t)index, r->centre, s.distance2);
    for (size_t i = 0; i < n; i++)
        r->label[i] = -1;
    for (int i = 0; i < job->options->iterations && assign_points(job, r, &s); i++) {
        fill_empty(job, r, &s);
        if (move_centres(job, r, &s) < movement_least)
            break;
    }
    assign_points(job, r, &s);
done:
    free(s.distance2);
    free(s.sum);
    free(s.members);
    return status;
}

px_status pxi_kmeans_fit(const double *x, size_t n, size_t d, const pxi_kmeans_options *options,
                         px_pool *pool, pxi_kmeans *out, px_error *err)
{
    px_status status = PX_OK;
    kmeans_job job = {.x = x, .n = n, .d = d, .options = options};
    const size_t restarts = (size_t)options->restarts;
    PX_TRY(PX_NEW(job.result, restarts, err));
    if (pool)
        status =
            pxi_pool_run(pool, (int64_t)restarts, restart_run, &job, pxi_pool_unwatched, NULL, err);
    for (size_t i = 0; i < restarts && !pool && status == PX_OK; i++)
        status = restart_run(&job, 0, (int64_t)i, err);
    if (status == PX_OK) {
        size_t best = 0;
        for (size_t i = 1; i < restarts; i++)
            if (job.result[i].inertia < job.result[best].inertia)
                best = i;
        *out = job.result[best];
        job.result[best] = (pxi_kmeans){0};
    }
    for (size_t i = 0; i < restarts; i++)
        pxi_kmeans_done(&job.result[i]);
    free(job.result);
    return status;
}
