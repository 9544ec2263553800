/* src/cover/surprise_mdsa.c - MDSA: Mahalanobis distance to the traces of the class
 *
 * sqrt((a - mu)^T S^-1 (a - mu)) with S of divisor n: |R^-1 (a - mu)| for S = R R^T. dnn-tip
 * leaves the root out (`squared`) and uses a pseudo-inverse (`pseudo`). A class whose traces are
 * all equal has no S: what equals them scores 0, anything else +Inf.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#include "base/memory.h"
#include "cover/surprise_method.h"

#include <math.h>
#include <stdlib.h>

/* --- one Gaussian ---------------------------------------------------------------------------- */

void pxi_sa_gauss_done(pxi_sa_gauss *gauss)
{
    free(gauss->mean);
    pxi_whitener_done(&gauss->whitener);
    pxi_panels_done(&gauss->pseudo);
    *gauss = (pxi_sa_gauss){0};
}

/* Mean and covariance s (d x d). */
static px_status gauss_moments(pxi_sa_gauss *gauss, const pxi_sa_set *set,
                               const pxi_sa_gauss_request *request, double *s, px_error *err)
{
    const size_t d = gauss->d;
    pxi_panels panels = {0};
    double *block = pxi_calloc(PXI_MOMENT_ROWS * d, sizeof *block);
    double *scratch = pxi_calloc(PXI_MOMENT_ROWS * d, sizeof *scratch);
    px_status status = block && scratch ? pxi_panels_init(&panels, d, PXI_MOMENT_ROWS, err)
                                        : pxi_sa_no_memory(err);
    if (status != PX_OK)
        goto done;
    pxi_sa_mean(set, request->positions, request->first, request->count, &request->columns,
                gauss->mean);
    for (int64_t first = 0; first < request->count; first += PXI_MOMENT_ROWS) {
        const int64_t rows = PX_MIN(request->count - first, (int64_t)PXI_MOMENT_ROWS);
        for (int64_t i = 0; i < rows; i++) {
            const int64_t position =
                request->positions ? request->positions[first + i] : request->first + first + i;
            pxi_sa_read(pxi_sa_trace(set, position), &request->columns, gauss->mean,
                        block + (size_t)i * d);
        }
        pxi_moment_add(block, (size_t)rows, d, s, scratch, &panels);
    }
    for (size_t i = 0; i < d * d; i++)
        s[i] /= request->divisor;
done:
    free(block);
    free(scratch);
    pxi_panels_done(&panels);
    return status;
}

px_status pxi_sa_gauss_fit(pxi_sa_gauss *gauss, const pxi_sa_set *set,
                           const pxi_sa_gauss_request *request, px_error *err)
{
    const size_t d = (size_t)request->columns.count;
    px_status status;
    *gauss = (pxi_sa_gauss){.count = request->count, .d = d};
    gauss->mean = pxi_calloc(d, sizeof *gauss->mean);
    double *s = pxi_calloc(d * d, sizeof *s), *factor = NULL;
    if (!gauss->mean || !s) {
        status = pxi_sa_no_memory(err);
        goto done;
    }
    status = gauss_moments(gauss, set, request, s, err);
    if (status != PX_OK)
        goto done;
    if (request->pseudo) {
        status = pxi_pseudo_root(s, d, &gauss->pseudo, err);
        goto done;
    }
    factor = pxi_calloc(d * d, sizeof *factor);
    status = factor ? pxi_cholesky_ridge(s, d, /* singular= */ request->count <= (int64_t)d, factor,
                                         &gauss->ridge, err)
                    : pxi_sa_no_memory(err);
    PX_THEN_IF(status, !isnan(gauss->ridge),
               pxi_whitener_init(&gauss->whitener, factor, d, request->scale, err));
done:
    free(s);
    free(factor);
    if (status != PX_OK)
        pxi_sa_gauss_done(gauss);
    return status;
}

int64_t pxi_sa_gauss_bytes(int64_t width)
{
    return 8 * (width * width + width);
}

px_status pxi_sa_gauss_distance(const pxi_sa_gauss *gauss, const pxi_sa_columns *columns,
                                const float *const *rows, int64_t count, bool squared, double *out,
                                px_error *err)
{
    const size_t d = gauss->d, n = (size_t)count;
    const bool flat = isnan(gauss->ridge);
    const size_t rank = gauss->pseudo.data ? gauss->pseudo.count : flat ? 0 : d;
    double *centred = pxi_calloc(n * d, sizeof *centred);
    double *white = pxi_calloc(n * rank, sizeof *white);
    if (!centred || !white) {
        free(centred);
        free(white);
        return pxi_sa_no_memory(err);
    }
    for (size_t i = 0; i < n; i++)
        pxi_sa_read(rows[i], columns, gauss->mean, centred + i * d);
    if (gauss->pseudo.data)
        pxi_product(&gauss->pseudo, 0, rank, centred, d, n, white, rank, PXI_PUT);
    else if (!flat)
        pxi_whiten(&gauss->whitener, centred, n, white);
    for (size_t i = 0; i < n; i++) {
        double square = pxi_dot(white + i * rank, white + i * rank, rank);
        if (flat)
            square = pxi_dot(centred + i * d, centred + i * d, d) > 0.0 ? INFINITY : 0.0;
        out[i] = squared ? square : sqrt(square);
    }
    free(centred);
    free(white);
    return PX_OK;
}

void pxi_sa_remark_ridge(px_text *text, const char *what, int64_t ridged, int64_t flat)
{
    if (ridged > 0)
        px_text_format(text,
                       "%lld %s too few or dependent traces for their covariance: a ridge "
                       "was added to it\n",
                       (long long)ridged, what);
    if (flat > 0)
        px_text_format(text, "%lld %s traces that are all equal\n", (long long)flat, what);
}

/* --- the method ------------------------------------------------------------------------------ */

typedef struct mdsa {
    bool squared, pseudo;
    int classes;
    const pxi_sa_set *set;
    pxi_sa_gauss *gauss; /* [classes]; without traces: no mean */
} mdsa;

static int64_t mdsa_bytes(const px_surprise_options *options, int64_t count, int64_t width,
                          int classes)
{
    (void)count;
    const int64_t most = options->filter == PX_FILTER_TOP ? PX_MIN(width, options->columns) : width;
    return (classes + 4) * pxi_sa_gauss_bytes(most);
}

static void mdsa_free(void *model)
{
    mdsa *m = model;
    if (!m)
        return;
    for (int c = 0; c < m->classes && m->gauss; c++)
        pxi_sa_gauss_done(&m->gauss[c]);
    free(m->gauss);
    free(m);
}

static px_status mdsa_fit_class(void *context, int worker, int64_t index, px_error *err)
{
    (void)worker;
    mdsa *m = context;
    const int64_t first = m->set->start[index], n = m->set->start[index + 1] - first;
    if (n == 0)
        return PX_OK;
    const pxi_sa_gauss_request request = {
        .first = first,
        .count = n,
        .columns = m->set->columns[index],
        .divisor = (double)n,
        .scale = 1.0,
        .pseudo = m->pseudo,
    };
    return pxi_sa_gauss_fit(&m->gauss[index], m->set, &request, err);
}

static px_status mdsa_fit(const pxi_sa_set *set, const px_surprise_options *options, px_pool *pool,
                          void **model, px_error *err)
{
    mdsa *m = pxi_calloc(1, sizeof *m);
    if (!m)
        return pxi_sa_no_memory(err);
    *m = (mdsa){.squared = options->squared,
                .pseudo = options->pseudo,
                .classes = set->classes,
                .set = set,
                .gauss = pxi_calloc((size_t)set->classes, sizeof *m->gauss)};
    px_status status =
        m->gauss ? pxi_sa_each(pool, set->classes, mdsa_fit_class, m, err) : pxi_sa_no_memory(err);
    if (status == PX_OK)
        *model = m;
    else
        mdsa_free(m);
    return status;
}

typedef struct mdsa_request {
    const mdsa *m;
    const pxi_sa_set *set;
    const pxi_sa_work *work;
} mdsa_request;

static px_status mdsa_score_block(void *context, int worker, int64_t index, px_error *err)
{
    (void)worker;
    const mdsa_request *r = context;
    const pxi_sa_block *block = &r->work->block[index];
    const float *rows[PXI_SA_ROWS];
    double out[PXI_SA_ROWS];
    for (int64_t i = 0; i < block->count; i++)
        rows[i] = pxi_sa_row(r->work, block->first + i);
    PX_TRY(pxi_sa_gauss_distance(&r->m->gauss[block->group], &r->set->columns[block->group], rows,
                                 block->count, r->m->squared, out, err));
    for (int64_t i = 0; i < block->count; i++)
        r->work->scores[r->work->row[block->first + i]] = out[i];
    return PX_OK;
}

static px_status mdsa_score(const pxi_sa_set *set, const void *model, pxi_sa_work *work,
                            px_error *err)
{
    mdsa_request request = {.m = model, .set = set, .work = work};
    return pxi_sa_each(work->pool, work->block_count, mdsa_score_block, &request, err);
}

static void mdsa_remark(const pxi_sa_set *set, const void *model, px_text *text)
{
    const mdsa *m = model;
    int64_t ridged = 0, flat = 0;
    for (int c = 0; c < set->classes; c++) {
        ridged += m->gauss[c].mean && m->gauss[c].ridge > 0.0;
        flat += m->gauss[c].mean && isnan(m->gauss[c].ridge);
    }
    pxi_sa_remark_ridge(text, "classes have", ridged, flat);
}

const pxi_sa_kind pxi_sa_mdsa = {
    .id = "mdsa",
    .bytes = mdsa_bytes,
    .fit = mdsa_fit,
    .free = mdsa_free,
    .score = mdsa_score,
    .remark = mdsa_remark,
};
