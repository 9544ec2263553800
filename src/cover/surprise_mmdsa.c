/* src/cover/surprise_mmdsa.c - MMDSA: Mahalanobis distance within the nearest of a few clusters
 *
 * k-means over a sample of all traces, of any class, for each k of a range; the k with the largest
 * mean silhouette stays. Every trace then belongs to the cluster of its nearest centre, each
 * cluster gets a Gaussian as in MDSA, and a test is measured by that of its nearest centre.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#include "base/memory.h"
#include "cover/surprise_method.h"
#include <internal/kmeans.h>

#include <internal/rng.h>
#include <math.h>
#include <stdlib.h>

enum { MMDSA_ITERATIONS = 300, MMDSA_SAMPLE_LEAST = 100, MMDSA_CLUSTERS = 64 };

typedef struct mmdsa {
    const pxi_sa_set *set;
    pxi_sa_columns columns;
    bool squared, pseudo;
    double *mean; /* of all; centres are about it */
    pxi_kmeans clusters;
    pxi_sa_gauss *gauss;  /* [k] */
    int64_t *member;      /* [count] positions by cluster; while fitting */
    int64_t *member_from; /* [k + 1] */
} mmdsa;

static int64_t mmdsa_sample(const px_surprise_options *options, int64_t count)
{
    const double wanted = ceil(options->cluster_sample * (double)count - 1e-9);
    return PX_MIN(count, PX_MAX((int64_t)wanted, (int64_t)MMDSA_SAMPLE_LEAST));
}

static int64_t mmdsa_bytes(const px_surprise_options *options, int64_t count, int64_t width,
                           int classes)
{
    (void)classes;
    return (options->most_clusters + 4) * pxi_sa_gauss_bytes(width) + 8 * count +
           2 * 8 * width * mmdsa_sample(options, count);
}

static void mmdsa_free(void *model)
{
    mmdsa *m = model;
    if (!m)
        return;
    for (int k = 0; k < m->clusters.k && m->gauss; k++)
        pxi_sa_gauss_done(&m->gauss[k]);
    free(m->gauss);
    free(m->mean);
    free(m->member);
    free(m->member_from);
    pxi_kmeans_done(&m->clusters);
    free(m);
}

/* x [sample][d]: traces drawn without replacement, in order of position, about the mean. */
static px_status mmdsa_draw(const mmdsa *m, const px_surprise_options *options, int64_t sample,
                            double *x, px_error *err)
{
    const int64_t n = m->set->count, d = m->columns.count;
    int64_t *order = pxi_calloc((size_t)n, sizeof *order);
    bool *drawn = pxi_calloc((size_t)n, sizeof *drawn);
    const bool enough = order && drawn;
    if (enough) {
        px_random random = px_rng(options->seed, PX_RNG_SAMPLE, /* item= */ 1, /* iteration= */ 0);
        px_rng_permutation(&random, order, (uint32_t)n);
        for (int64_t i = 0; i < sample; i++)
            drawn[order[i]] = true;
        for (int64_t i = 0, to = 0; i < n; i++)
            if (drawn[i])
                pxi_sa_read(pxi_sa_trace(m->set, i), &m->columns, m->mean, x + d * to++);
    }
    free(order);
    free(drawn);
    return enough ? PX_OK : pxi_sa_no_memory(err);
}

/* The clustering with the best silhouette; one cluster where no two can be told apart. */
static px_status mmdsa_cluster(mmdsa *m, const px_surprise_options *options, const double *x,
                               int64_t sample, px_pool *pool, px_error *err)
{
    const int least = options->least_clusters;
    const size_t n = (size_t)sample, d = (size_t)m->columns.count;
    const size_t tries = (size_t)(PX_MIN(options->most_clusters, MMDSA_CLUSTERS) - least + 1);
    pxi_kmeans result[MMDSA_CLUSTERS] = {{0}};
    const int *labels[MMDSA_CLUSTERS];
    int k[MMDSA_CLUSTERS];
    double silhouette[MMDSA_CLUSTERS];
    pxi_kmeans_options kmeans = {
        .restarts = options->restarts, .iterations = MMDSA_ITERATIONS, .seed = options->seed};
    px_status status = PX_OK;
    size_t made = 0, best = 0;
    for (; made < tries && status == PX_OK && least + (int64_t)made < sample; made++) {
        kmeans.k = least + (int)made;
        kmeans.item = (uint32_t)kmeans.k;
        status = pxi_kmeans_fit(x, n, d, &kmeans, pool, &result[made], err);
        labels[made] = result[made].label;
        k[made] = result[made].k;
    }
    PX_THEN_IF(status, made > 0, pxi_silhouette(x, n, d, labels, k, made, pool, silhouette, err));
    if (status != PX_OK)
        goto done;
    for (size_t i = 1; i < made; i++)
        if (silhouette[i] > silhouette[best] || isnan(silhouette[best]))
            best = i;
    if (made > 0 && !isnan(silhouette[best])) {
        m->clusters = result[best];
        result[best] = (pxi_kmeans){0};
    } else {
        kmeans.k = 1;
        kmeans.item = 1;
        status = pxi_kmeans_fit(x, n, d, &kmeans, pool, &m->clusters, err);
    }
done:
    for (size_t i = 0; i < made; i++)
        pxi_kmeans_done(&result[i]);
    return status;
}

static px_status mmdsa_fit_cluster(void *context, int worker, int64_t index, px_error *err)
{
    (void)worker;
    mmdsa *m = context;
    const int64_t first = m->member_from[index], n = m->member_from[index + 1] - first;
    if (n == 0)
        return PX_OK;
    const pxi_sa_gauss_request request = {
        .positions = m->member + first,
        .count = n,
        .columns = m->columns,
        .divisor = (double)n,
        .scale = 1.0,
        .pseudo = m->pseudo,
    };
    return pxi_sa_gauss_fit(&m->gauss[index], m->set, &request, err);
}

/* Gives all traces to clusters and fits those. */
static px_status mmdsa_members(mmdsa *m, px_pool *pool, px_error *err)
{
    const int64_t n = m->set->count;
    const int k = m->clusters.k;
    const size_t d = (size_t)m->columns.count;
    int *label = pxi_calloc((size_t)n, sizeof *label);
    double *x = pxi_calloc(d, sizeof *x);
    m->member = pxi_calloc((size_t)n, sizeof *m->member);
    m->member_from = pxi_calloc((size_t)k + 1, sizeof *m->member_from);
    m->gauss = pxi_calloc((size_t)k, sizeof *m->gauss);
    px_status status =
        label && x && m->member && m->member_from && m->gauss ? PX_OK : pxi_sa_no_memory(err);
    if (status == PX_OK) {
        for (int64_t i = 0; i < n; i++) {
            pxi_sa_read(pxi_sa_trace(m->set, i), &m->columns, m->mean, x);
            label[i] = pxi_kmeans_nearest(m->clusters.centre, k, d, x, NULL);
        }
        int64_t to = 0;
        for (int c = 0; c < k; c++) {
            for (int64_t i = 0; i < n; i++)
                if (label[i] == c)
                    m->member[to++] = i;
            m->member_from[c + 1] = to;
        }
        status = pxi_sa_each(pool, k, mmdsa_fit_cluster, m, err);
    }
    free(label);
    free(x);
    return status;
}

static px_status mmdsa_fit(const pxi_sa_set *set, const px_surprise_options *options, px_pool *pool,
                           void **model, px_error *err)
{
    const int64_t d = set->columns[0].count, sample = mmdsa_sample(options, set->count);
    if (d == 0)
        return px_fail(err, PX_E_INPUT,
                       "mmdsa has nothing to compare: no neuron's variance reaches the filter's");
    mmdsa *m = pxi_calloc(1, sizeof *m);
    if (!m)
        return pxi_sa_no_memory(err);
    *m = (mmdsa){.set = set,
                 .columns = set->columns[0],
                 .squared = options->squared,
                 .pseudo = options->pseudo,
                 .mean = pxi_calloc((size_t)d, sizeof *m->mean)};
    size_t elements;
    double *x = __builtin_mul_overflow((size_t)sample, (size_t)d, &elements)
                    ? NULL
                    : pxi_calloc(elements, sizeof *x);
    px_status status = m->mean && x ? PX_OK : pxi_sa_no_memory(err);
    if (status == PX_OK) {
        pxi_sa_mean(set, NULL, 0, set->count, &m->columns, m->mean);
        status = mmdsa_draw(m, options, sample, x, err);
    }
    PX_THEN(status, mmdsa_cluster(m, options, x, sample, pool, err));
    free(x);
    PX_THEN(status, mmdsa_members(m, pool, err));
    if (status == PX_OK)
        *model = m;
    else
        mmdsa_free(m);
    return status;
}

typedef struct mmdsa_request {
    const mmdsa *m;
    const pxi_sa_work *work;
} mmdsa_request;

static px_status mmdsa_score_block(void *context, int worker, int64_t index, px_error *err)
{
    (void)worker;
    const mmdsa_request *r = context;
    const mmdsa *m = r->m;
    const pxi_sa_block *block = &r->work->block[index];
    const int64_t *row = r->work->row + block->first;
    int label[PXI_SA_ROWS];
    double *x = pxi_calloc((size_t)m->columns.count, sizeof *x);
    if (!x)
        return pxi_sa_no_memory(err);
    for (int64_t i = 0; i < block->count; i++) {
        pxi_sa_read(pxi_sa_row(r->work, block->first + i), &m->columns, m->mean, x);
        label[i] = pxi_kmeans_nearest(m->clusters.centre, m->clusters.k, (size_t)m->columns.count,
                                      x, NULL);
    }
    free(x);
    for (int k = 0; k < m->clusters.k; k++) {
        const float *rows[PXI_SA_ROWS];
        double out[PXI_SA_ROWS];
        int64_t to[PXI_SA_ROWS], count = 0;
        for (int64_t i = 0; i < block->count; i++)
            if (label[i] == k) {
                rows[count] = pxi_sa_row(r->work, block->first + i);
                to[count++] = row[i];
            }
        if (count > 0 && m->gauss[k].mean)
            PX_TRY(pxi_sa_gauss_distance(&m->gauss[k], &m->columns, rows, count, m->squared, out,
                                         err));
        for (int64_t i = 0; i < count; i++)
            r->work->scores[to[i]] = m->gauss[k].mean ? out[i] : INFINITY;
    }
    return PX_OK;
}

static px_status mmdsa_score(const pxi_sa_set *set, const void *model, pxi_sa_work *work,
                             px_error *err)
{
    (void)set;
    mmdsa_request request = {.m = model, .work = work};
    return pxi_sa_each(work->pool, work->block_count, mmdsa_score_block, &request, err);
}

static void mmdsa_remark(const pxi_sa_set *set, const void *model, px_text *text)
{
    (void)set;
    const mmdsa *m = model;
    int64_t ridged = 0, flat = 0;
    for (int k = 0; k < m->clusters.k; k++) {
        ridged += m->gauss[k].mean && m->gauss[k].ridge > 0.0;
        flat += m->gauss[k].mean && isnan(m->gauss[k].ridge);
    }
    pxi_sa_remark_ridge(text, "clusters have", ridged, flat);
}

int pxi_sa_mmdsa_clusters(const void *model)
{
    return ((const mmdsa *)model)->clusters.k;
}

const pxi_sa_kind pxi_sa_mmdsa = {
    .id = "mmdsa",
    .whole = true,
    .bytes = mmdsa_bytes,
    .fit = mmdsa_fit,
    .free = mmdsa_free,
    .score = mmdsa_score,
    .remark = mmdsa_remark,
};
