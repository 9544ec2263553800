/* src/stats/cholesky.c - covariances, their factors, and what is whitened with them
 *
 * Left-looking, in blocks of CHOLESKY_BLOCK columns: what the columns before a block take from it
 * is one product, and only the block itself is worked element by element.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#include "stats/cholesky.h"

#include "base/memory.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { CHOLESKY_BLOCK = 64 };

/* Factors the diagonal block at j0 of n columns and solves for the rows below it. `diagonal` are
 * the elements before anything was taken from them. */
static bool block_factor(double *s, size_t d, size_t j0, size_t n, const double *diagonal)
{
    for (size_t j = 0; j < n; j++) {
        double *row = s + (j0 + j) * d + j0;
        for (size_t i = 0; i < j; i++)
            row[i] = (row[i] - pxi_dot(row, s + (j0 + i) * d + j0, i)) / s[(j0 + i) * d + j0 + i];
        const double pivot = row[j] - pxi_dot(row, row, j);
        if (!(pivot > (double)d * DBL_EPSILON * diagonal[j0 + j])) /* NaN too */
            return false;
        row[j] = sqrt(pivot);
    }
    for (size_t r = j0 + n; r < d; r++) {
        double *row = s + r * d + j0;
        for (size_t i = 0; i < n; i++)
            row[i] = (row[i] - pxi_dot(row, s + (j0 + i) * d + j0, i)) / s[(j0 + i) * d + j0 + i];
    }
    return true;
}

px_status pxi_cholesky(double *s, size_t d, bool *definite, px_error *err)
{
    px_status status = PX_OK;
    pxi_panels panels = {0};
    double *diagonal = NULL;
    if ((status = PX_NEW(diagonal, d, err)) != PX_OK)
        goto done;
    *definite = true;
    for (size_t j = 0; j < d; j++)
        diagonal[j] = s[j * d + j];
    for (size_t j0 = 0; j0 < d && *definite; j0 += CHOLESKY_BLOCK) {
        const size_t n = PX_MIN(d - j0, (size_t)CHOLESKY_BLOCK);
        if (j0 > 0) {
            status = pxi_panels_init(&panels, n, j0, err);
            if (status != PX_OK)
                goto done;
            pxi_panels_fill(&panels, 0, n, s + j0 * d, d);
            pxi_product(&panels, 0, n, s + j0 * d, d, d - j0, s + j0 * d + j0, d, PXI_TAKE);
            pxi_panels_done(&panels);
        }
        *definite = block_factor(s, d, j0, n, diagonal);
    }
    for (size_t i = 0; i < d; i++)
        memset(s + i * d + i + 1, 0, (d - i - 1) * sizeof *s);
done:
    pxi_panels_done(&panels);
    free(diagonal);
    return status;
}

px_status pxi_cholesky_ridge(const double *s, size_t d, bool singular, double *factor,
                             double *ridge, px_error *err)
{
    double trace = 0.0;
    for (size_t j = 0; j < d; j++)
        trace += s[j * d + j];
    *ridge = NAN;
    if (!(trace > 0.0) || !isfinite(trace))
        return PX_OK;
    const double smallest = 1e-6 * trace / (double)d;
    for (double lambda = singular ? smallest : 0.0; isfinite(lambda);
         lambda = lambda > 0.0 ? 10.0 * lambda : smallest) {
        memcpy(factor, s, d * d * sizeof *factor);
        for (size_t j = 0; j < d; j++)
            factor[j * d + j] += lambda;
        bool definite;
        PX_TRY(pxi_cholesky(factor, d, &definite, err));
        if (definite) {
            *ridge = lambda;
            return PX_OK;
        }
        if (lambda > trace) /* s itself is not finite, or worse than any covariance */
            break;
        if (smallest == 0.0)
            break; /* the trace is that small */
    }
    return PX_OK;
}

/* inverse[j] = R^-1 e_j, as rows: y_I = R_II^-1 (e_I - R_I,<I y_<I) block by block. Rows of later
 * unit vectors are 0 there, and stay out. */
static px_status factor_invert(const double *factor, size_t d, double *columns, px_error *err)
{
    memset(columns, 0, d * d * sizeof *columns);
    for (size_t i = 0; i < d; i++)
        columns[i * d + i] = 1.0;
    for (size_t i0 = 0; i0 < d; i0 += CHOLESKY_BLOCK) {
        const size_t n = PX_MIN(d - i0, (size_t)CHOLESKY_BLOCK), rows = i0 + n;
        if (i0 > 0) {
            pxi_panels panels = {0};
            PX_TRY(pxi_panels_init(&panels, n, i0, err));
            pxi_panels_fill(&panels, 0, n, factor + i0 * d, d);
            pxi_product(&panels, 0, n, columns, d, rows, columns + i0, d, PXI_TAKE);
            pxi_panels_done(&panels);
        }
        for (size_t r = 0; r < rows; r++) {
            double *y = columns + r * d + i0;
            for (size_t i = 0; i < n; i++) {
                const double *row = factor + (i0 + i) * d + i0;
                y[i] = (y[i] - pxi_dot(y, row, i)) / row[i];
            }
        }
    }
    return PX_OK;
}

px_status pxi_whitener_init(pxi_whitener *whitener, const double *factor, size_t d, double scale,
                            px_error *err)
{
    px_status status;
    double *columns = pxi_calloc(d * d, sizeof *columns), *row = pxi_calloc(d, sizeof *row);
    *whitener = (pxi_whitener){.d = d};
    if (!columns || !row) {
        status = pxi_no_memory_for(err, "a covariance of %zu neurons", d);
        goto done;
    }
    status = factor_invert(factor, d, columns, err);
    PX_THEN(status, pxi_panels_init(&whitener->inverse, d, d, err));
    if (status != PX_OK)
        goto done;
    for (size_t i = 0; i < d; i++) {
        for (size_t j = 0; j < d; j++)
            row[j] = scale * columns[j * d + i];
        pxi_panels_fill(&whitener->inverse, i, 1, row, d);
        whitener->log_det += log(factor[i * d + i]);
    }
    whitener->log_det -= (double)d * log(scale);
done:
    free(columns);
    free(row);
    return status;
}

void pxi_whitener_done(pxi_whitener *whitener)
{
    pxi_panels_done(&whitener->inverse);
    *whitener = (pxi_whitener){0};
}

void pxi_whiten(const pxi_whitener *whitener, const double *x, size_t rows, double *out)
{
    const size_t d = whitener->d;
    pxi_product(&whitener->inverse, 0, d, x, d, rows, out, d, PXI_PUT);
}

void pxi_moment_add(const double *x, size_t rows, size_t d, double *s, double *scratch,
                    pxi_panels *panels)
{
    enum { N = PXI_MOMENT_ROWS };
    for (size_t j = 0; j < d; j++)
        for (size_t i = 0; i < N; i++)
            scratch[j * N + i] = i < rows ? x[i * d + j] : 0.0;
    pxi_panels_fill(panels, 0, d, scratch, N);
    pxi_product(panels, 0, d, scratch, N, d, s, d, PXI_ADD);
}
