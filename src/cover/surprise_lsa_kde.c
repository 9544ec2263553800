/* src/cover/surprise_lsa_kde.c - LSA: -log of a KDE (Gaussian kernels) over the traces of the class
 *
 * The kernels have the covariance H = h^2 S, S the unbiased covariance of the class, and
 * h = n^(-1/(d + 4)) (Scott). With H = R R^T and whitened traces w_i = R^-1 (a_i - mean):
 *
 *     LSA = -(max_i q_i + log sum exp(q_i - max)) + log n + d/2 log 2 pi + log det R
 *     q_i = -|w - w_i|^2 / 2 = w . w_i - |w|^2 / 2 - |w_i|^2 / 2
 *
 * All in double: where S is close to singular, |w|^2 is large and a float would leave nothing of
 * the difference. NLC's kernel is isotropic with a fixed bandwidth: R = bandwidth I.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#include "base/memory.h"
#include "cover/surprise_method.h"

#include <math.h>
#include <stdlib.h>

enum { LSA_TRACES = 256 }; /* of a product: with PXI_SA_ROWS rows a quarter MiB */

static const double log_two_pi = 1.8378770664093454836;
static const double nothing = -50.0; /* exp() of it is below rounding even 10^5 times */

typedef struct lsa_class {
    bool fitted;
    pxi_sa_gauss gauss; /* with a fixed bandwidth only its mean */
    pxi_panels white;   /* traces */
    double *half_norm2; /* |w_i|^2 / 2 */
    double constant;    /* log n + d/2 log 2 pi + log det */
} lsa_class;

typedef struct lsa {
    const pxi_sa_set *set;
    double bandwidth;
    lsa_class *by_class;
} lsa;

static int64_t lsa_columns(const px_surprise_options *options, int64_t width)
{
    return options->filter == PX_FILTER_TOP ? PX_MIN(width, options->columns) : width;
}

static int64_t lsa_bytes(const px_surprise_options *options, int64_t count, int64_t width,
                         int classes)
{
    const int64_t d = lsa_columns(options, width);
    const int64_t factors = options->bandwidth > 0.0 ? 0 : (classes + 4) * pxi_sa_gauss_bytes(d);
    return factors + 8 * count * (d + 1);
}

static void lsa_free(void *model)
{
    lsa *m = model;
    if (!m)
        return;
    for (int c = 0; c < m->set->classes && m->by_class; c++) {
        pxi_sa_gauss_done(&m->by_class[c].gauss);
        pxi_panels_done(&m->by_class[c].white);
        free(m->by_class[c].half_norm2);
    }
    free(m->by_class);
    free(m);
}

/* w = R^-1 (a - mean) for rows that are centred already; may work in place only for a fixed
 * bandwidth, so it takes two arrays. */
static void lsa_whiten(const lsa *m, const lsa_class *k, const double *centred, size_t rows,
                       size_t d, double *white)
{
    if (!(m->bandwidth > 0.0)) {
        pxi_whiten(&k->gauss.whitener, centred, rows, white);
        return;
    }
    for (size_t i = 0; i < rows * d; i++)
        white[i] = centred[i] / m->bandwidth;
}

static px_status lsa_fit_factor(lsa *m, int64_t c, size_t d, int64_t first, int64_t n,
                                px_error *err)
{
    lsa_class *k = &m->by_class[c];
    const double log_n = log((double)n) + 0.5 * (double)d * log_two_pi;
    if (m->bandwidth > 0.0) {
        k->gauss.d = d;
        k->gauss.count = n;
        k->gauss.mean = pxi_calloc(d, sizeof *k->gauss.mean);
        if (!k->gauss.mean)
            return pxi_sa_no_memory(err);
        pxi_sa_mean(m->set, NULL, first, n, &m->set->columns[c], k->gauss.mean);
        k->constant = log_n + (double)d * log(m->bandwidth);
        k->fitted = true;
        return PX_OK;
    }
    const double h = pow((double)n, -1.0 / ((double)d + 4.0));
    const pxi_sa_gauss_request request = {
        .first = first,
        .count = n,
        .columns = m->set->columns[c],
        .divisor = (double)(n - 1),
        .scale = 1.0 / h,
    };
    PX_TRY(pxi_sa_gauss_fit(&k->gauss, m->set, &request, err));
    k->constant = log_n + k->gauss.whitener.log_det;
    k->fitted = !isnan(k->gauss.ridge);
    return PX_OK;
}

static px_status lsa_fit_class(void *context, int worker, int64_t index, px_error *err)
{
    (void)worker;
    lsa *m = context;
    lsa_class *k = &m->by_class[index];
    const pxi_sa_columns *columns = &m->set->columns[index];
    const int64_t first = m->set->start[index], n = m->set->start[index + 1] - first;
    const size_t d = (size_t)columns->count;
    if (n < 2 || d == 0)
        return PX_OK;
    PX_TRY(lsa_fit_factor(m, index, d, first, n, err));
    if (!k->fitted)
        return PX_OK;
    PX_TRY(pxi_panels_init(&k->white, (size_t)n, d, err));
    k->half_norm2 = pxi_calloc((size_t)n, sizeof *k->half_norm2);
    double *centred = pxi_calloc(LSA_TRACES * d, sizeof *centred);
    double *white = pxi_calloc(LSA_TRACES * d, sizeof *white);
    const bool enough = k->half_norm2 && centred && white;
    for (int64_t from = 0; from < n && enough; from += LSA_TRACES) {
        const size_t rows = (size_t)PX_MIN(n - from, (int64_t)LSA_TRACES);
        for (size_t i = 0; i < rows; i++)
            pxi_sa_read(pxi_sa_trace(m->set, first + from + (int64_t)i), columns, k->gauss.mean,
                        centred + i * d);
        lsa_whiten(m, k, centred, rows, d, white);
        pxi_panels_fill(&k->white, (size_t)from, rows, white, d);
        for (size_t i = 0; i < rows; i++)
            k->half_norm2[(size_t)from + i] = 0.5 * pxi_dot(white + i * d, white + i * d, d);
    }
    free(centred);
    free(white);
    return enough ? PX_OK : pxi_sa_no_memory(err);
}

static px_status lsa_fit(const pxi_sa_set *set, const px_surprise_options *options, px_pool *pool,
                         void **model, px_error *err)
{
    lsa *m = pxi_calloc(1, sizeof *m);
    if (!m)
        return pxi_sa_no_memory(err);
    *m = (lsa){.set = set,
               .bandwidth = options->bandwidth,
               .by_class = pxi_calloc((size_t)set->classes, sizeof *m->by_class)};
    px_status status = m->by_class ? pxi_sa_each(pool, set->classes, lsa_fit_class, m, err)
                                   : pxi_sa_no_memory(err);
    if (status == PX_OK)
        *model = m;
    else
        lsa_free(m);
    return status;
}

/* A log-sum-exp that goes on: log(sum) + most. */
typedef struct log_sum {
    double most, sum;
} log_sum;

static void log_sum_add(log_sum *s, const double *g, const double *half_norm2, double own,
                        size_t count)
{
    double most = s->most;
    for (size_t j = 0; j < count; j++) {
        const double q = g[j] - half_norm2[j] - own;
        most = q > most ? q : most;
    }
    if (most > s->most) {
        s->sum = s->sum > 0.0 ? s->sum * exp(s->most - most) : 0.0;
        s->most = most;
    }
    for (size_t j = 0; j < count; j++) {
        const double below = g[j] - half_norm2[j] - own - most;
        if (below > nothing)
            s->sum += exp(below);
    }
}

typedef struct lsa_request {
    const lsa *m;
    const pxi_sa_work *work;
} lsa_request;

static px_status lsa_score_block(void *context, int worker, int64_t index, px_error *err)
{
    (void)worker;
    const lsa_request *r = context;
    const pxi_sa_block *block = &r->work->block[index];
    const lsa_class *k = &r->m->by_class[block->group];
    const pxi_sa_columns *columns = &r->m->set->columns[block->group];
    const size_t d = (size_t)columns->count, n = (size_t)block->count;
    double *scores = r->work->scores;
    const int64_t *row = r->work->row + block->first;
    if (d == 0 || !k->fitted) { /* no neuron is left: 0 for all; no density: +Inf */
        for (size_t i = 0; i < n; i++)
            scores[row[i]] = d == 0 ? 0.0 : INFINITY;
        return PX_OK;
    }
    double *centred = pxi_calloc(n * d, sizeof *centred), *white = pxi_calloc(n * d, sizeof *white);
    double *g = pxi_alloc_aligned(n * LSA_TRACES * sizeof *g);
    const bool enough = centred && white && g;
    if (enough) {
        double own[PXI_SA_ROWS];
        log_sum sum[PXI_SA_ROWS];
        for (size_t i = 0; i < n; i++)
            pxi_sa_read(pxi_sa_row(r->work, block->first + (int64_t)i), columns, k->gauss.mean,
                        centred + i * d);
        lsa_whiten(r->m, k, centred, n, d, white);
        for (size_t i = 0; i < n; i++) {
            own[i] = 0.5 * pxi_dot(white + i * d, white + i * d, d);
            sum[i] = (log_sum){.most = -INFINITY};
        }
        for (size_t from = 0; from < k->white.count; from += LSA_TRACES) {
            const size_t count = PX_MIN(k->white.count - from, (size_t)LSA_TRACES);
            pxi_product(&k->white, from, count, white, d, n, g, LSA_TRACES, PXI_PUT);
            for (size_t i = 0; i < n; i++)
                log_sum_add(&sum[i], g + i * LSA_TRACES, k->half_norm2 + from, own[i], count);
        }
        for (size_t i = 0; i < n; i++)
            scores[row[i]] = sum[i].sum > 0.0 ? k->constant - sum[i].most - log(sum[i].sum)
                                              : INFINITY; /* farther than a double can say */
    }
    free(centred);
    free(white);
    free(g);
    return enough ? PX_OK : pxi_sa_no_memory(err);
}

static px_status lsa_score(const pxi_sa_set *set, const void *model, pxi_sa_work *work,
                           px_error *err)
{
    (void)set;
    lsa_request request = {.m = model, .work = work};
    return pxi_sa_each(work->pool, work->block_count, lsa_score_block, &request, err);
}

static void lsa_remark(const pxi_sa_set *set, const void *model, px_text *text)
{
    const lsa *m = model;
    int64_t ridged = 0, flat = 0, single = 0;
    for (int c = 0; c < set->classes; c++) {
        const lsa_class *k = &m->by_class[c];
        ridged += k->fitted && k->gauss.ridge > 0.0;
        flat += !k->fitted && k->gauss.mean;
        single += set->start[c + 1] - set->start[c] == 1;
    }
    pxi_sa_remark_ridge(text, "classes have", ridged, flat);
    if (single > 0)
        px_text_format(text, "%lld classes have a single trace, hence no density\n",
                       (long long)single);
}

const pxi_sa_kind pxi_sa_lsa = {
    .id = "lsa",
    .bytes = lsa_bytes,
    .fit = lsa_fit,
    .free = lsa_free,
    .score = lsa_score,
    .remark = lsa_remark,
};
