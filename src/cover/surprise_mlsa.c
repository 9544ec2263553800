/* src/cover/surprise_mlsa.c - MLSA: -log density of a Gaussian mixture over the traces of the class
 *
 * EM starts from k-means++, adds 1e-6 to the covariances' diagonals, and stops when the mean
 * log-likelihood changes by less than 1e-3 or after 100 steps. With fewer than g (d + 1) traces the
 * class gets fewer components. A class with a single trace has no density: +Inf, as with LSA.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#include "base/memory.h"
#include "cover/surprise_method.h"
#include "stats/mixture.h"

#include <math.h>
#include <stdlib.h>

typedef struct mlsa {
    const pxi_sa_set *set;
    pxi_mixture_options options;
    pxi_mixture *mixture; /* [classes]; g 0: none */
    double **mean;        /* [classes]: traces are taken about it */
} mlsa;

static int64_t mlsa_bytes(const px_surprise_options *options, int64_t count, int64_t width,
                          int classes)
{
    const int64_t d = options->filter == PX_FILTER_TOP ? PX_MIN(width, options->columns) : width;
    return 2 * (classes + 2) * options->components * pxi_sa_gauss_bytes(d) +
           8 * count * (d + options->components + 1);
}

static void mlsa_free(void *model)
{
    mlsa *m = model;
    if (!m)
        return;
    for (int c = 0; c < m->set->classes; c++) {
        if (m->mixture)
            pxi_mixture_done(&m->mixture[c]);
        if (m->mean)
            free(m->mean[c]);
    }
    free(m->mixture);
    free(m->mean);
    free(m);
}

static px_status mlsa_fit_class(void *context, int worker, int64_t index, px_error *err)
{
    (void)worker;
    mlsa *m = context;
    const pxi_sa_columns *columns = &m->set->columns[index];
    const int64_t first = m->set->start[index], n = m->set->start[index + 1] - first;
    const size_t d = (size_t)columns->count;
    if (n < 2 || d == 0)
        return PX_OK;
    size_t elements;
    if (__builtin_mul_overflow((size_t)n, d, &elements))
        return pxi_sa_no_memory(err);
    m->mean[index] = pxi_calloc(d, sizeof *m->mean[index]);
    double *x = pxi_calloc(elements, sizeof *x);
    px_status status = m->mean[index] && x ? PX_OK : pxi_sa_no_memory(err);
    if (status == PX_OK) {
        pxi_sa_mean(m->set, NULL, first, n, columns, m->mean[index]);
        for (int64_t i = 0; i < n; i++)
            pxi_sa_read(pxi_sa_trace(m->set, first + i), columns, m->mean[index],
                        x + (size_t)i * d);
        pxi_mixture_options options = m->options;
        options.item = (uint32_t)index;
        status = pxi_mixture_fit(x, (size_t)n, d, &options, &m->mixture[index], err);
    }
    free(x);
    return status;
}

static px_status mlsa_fit(const pxi_sa_set *set, const px_surprise_options *options, px_pool *pool,
                          void **model, px_error *err)
{
    mlsa *m = pxi_calloc(1, sizeof *m);
    if (!m)
        return pxi_sa_no_memory(err);
    *m = (mlsa){
        .set = set,
        .options = {.g = options->components,
                    .ridge = 1e-6,
                    .tolerance = 1e-3,
                    .iterations = 100,
                    .seed = options->seed},
        .mixture = pxi_calloc((size_t)set->classes, sizeof *m->mixture),
        .mean = pxi_calloc((size_t)set->classes, sizeof *m->mean),
    };
    px_status status = m->mixture && m->mean
                           ? pxi_sa_each(pool, set->classes, mlsa_fit_class, m, err)
                           : pxi_sa_no_memory(err);
    if (status == PX_OK)
        *model = m;
    else
        mlsa_free(m);
    return status;
}

typedef struct mlsa_request {
    const mlsa *m;
    const pxi_sa_work *work;
} mlsa_request;

static px_status mlsa_score_block(void *context, int worker, int64_t index, px_error *err)
{
    (void)worker;
    const mlsa_request *r = context;
    const pxi_sa_block *block = &r->work->block[index];
    const pxi_mixture *mixture = &r->m->mixture[block->group];
    const pxi_sa_columns *columns = &r->m->set->columns[block->group];
    const size_t d = (size_t)columns->count, n = (size_t)block->count;
    const int64_t *row = r->work->row + block->first;
    double out[PXI_SA_ROWS];
    if (d == 0 || mixture->g == 0) {
        for (size_t i = 0; i < n; i++)
            r->work->scores[row[i]] = d == 0 ? 0.0 : INFINITY;
        return PX_OK;
    }
    double *x = pxi_calloc(n * d, sizeof *x);
    if (!x)
        return pxi_sa_no_memory(err);
    for (size_t i = 0; i < n; i++)
        pxi_sa_read(pxi_sa_row(r->work, block->first + (int64_t)i), columns,
                    r->m->mean[block->group], x + i * d);
    const px_status status = pxi_mixture_log(mixture, x, n, out, NULL, err);
    for (size_t i = 0; i < n && status == PX_OK; i++)
        r->work->scores[row[i]] = -out[i];
    free(x);
    return status;
}

static px_status mlsa_score(const pxi_sa_set *set, const void *model, pxi_sa_work *work,
                            px_error *err)
{
    (void)set;
    mlsa_request request = {.m = model, .work = work};
    return pxi_sa_each(work->pool, work->block_count, mlsa_score_block, &request, err);
}

static void mlsa_remark(const pxi_sa_set *set, const void *model, px_text *text)
{
    const mlsa *m = model;
    int64_t fewer = 0, single = 0;
    for (int c = 0; c < set->classes; c++) {
        fewer += m->mixture[c].g > 0 && m->mixture[c].g < m->options.g;
        single += set->start[c + 1] - set->start[c] == 1;
    }
    if (fewer > 0)
        px_text_format(text,
                       "%lld classes have too few or equal traces for %d components and got "
                       "fewer\n",
                       (long long)fewer, m->options.g);
    if (single > 0)
        px_text_format(text, "%lld classes have a single trace, hence no density\n",
                       (long long)single);
}

const pxi_sa_kind pxi_sa_mlsa = {
    .id = "mlsa",
    .bytes = mlsa_bytes,
    .fit = mlsa_fit,
    .free = mlsa_free,
    .score = mlsa_score,
    .remark = mlsa_remark,
};
