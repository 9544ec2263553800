/* src/stats/pseudo_root.c - lengths by the pseudo-inverse of a covariance
 *
 * Cholesky with pivoting gives s = L L^T with L of full column rank r, and the pseudo-inverse of
 * that is L M^-2 L^T with M = L^T L. So W = M^-1 L^T will do, and no eigenvalues are needed.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#include "base/memory.h"
#include "stats/cholesky.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* factor[i] (rows of d) gets row i of L; returns the rank. Unpivoted rows: `left` of them. */
static size_t pivoted_factor(const double *s, size_t d, double *factor, double *rest, size_t *order)
{
    double most = 0.0;
    for (size_t i = 0; i < d; i++) {
        order[i] = i;
        rest[i] = s[i * d + i];
        most = fmax(most, rest[i]);
    }
    memset(factor, 0, d * d * sizeof *factor);
    size_t rank = 0;
    for (; rank < d; rank++) {
        size_t best = rank;
        for (size_t i = rank + 1; i < d; i++)
            if (rest[order[i]] > rest[order[best]])
                best = i;
        const size_t pivot = order[best];
        if (!(rest[pivot] > (double)d * DBL_EPSILON * most))
            break;
        order[best] = order[rank];
        order[rank] = pivot;
        const double root = sqrt(rest[pivot]);
        const double *pivot_row = factor + pivot * d;
        for (size_t i = rank + 1; i < d; i++) {
            double *row = factor + order[i] * d;
            const double value = (s[order[i] * d + pivot] - pxi_dot(row, pivot_row, rank)) / root;
            row[rank] = value;
            rest[order[i]] -= value * value;
        }
        factor[pivot * d + rank] = root;
    }
    return rank;
}

/* x := (C C^T)^-1 x for the lower triangle C (r x r). */
static void factor_solve(const double *c, size_t r, double *x)
{
    for (size_t i = 0; i < r; i++)
        x[i] = (x[i] - pxi_dot(c + i * r, x, i)) / c[i * r + i];
    for (size_t i = r; i-- > 0;) {
        x[i] /= c[i * r + i];
        for (size_t j = 0; j < i; j++)
            x[j] -= c[i * r + j] * x[i];
    }
}

/* m (r x r) = L^T L for L of [d][stride]; `packed` is [d][r] of scratch that keeps L. */
static px_status factor_moment(const double *factor, size_t d, size_t r, double *packed, double *m,
                               px_error *err)
{
    pxi_panels panels = {0};
    double *scratch = pxi_calloc(PXI_MOMENT_ROWS * r, sizeof *scratch);
    px_status status =
        scratch ? pxi_panels_init(&panels, r, PXI_MOMENT_ROWS, err) : pxi_no_memory(err);
    if (status == PX_OK) {
        for (size_t i = 0; i < d; i++)
            memcpy(packed + i * r, factor + i * d, r * sizeof *packed);
        for (size_t first = 0; first < d; first += PXI_MOMENT_ROWS)
            pxi_moment_add(packed + first * r, PX_MIN(d - first, (size_t)PXI_MOMENT_ROWS), r, m,
                           scratch, &panels);
    }
    pxi_panels_done(&panels);
    free(scratch);
    return status;
}

px_status pxi_pseudo_root(double *s, size_t d, pxi_panels *out, px_error *err)
{
    px_status status = PX_OK;
    double *factor = pxi_calloc(d * d, sizeof *factor), *rest = pxi_calloc(d, sizeof *rest);
    double *packed = NULL, *m = NULL;
    size_t *order = pxi_calloc(d, sizeof *order);
    if (!factor || !rest || !order) {
        status = pxi_no_memory_for(err, "a covariance of %zu neurons", d);
        goto done;
    }
    const size_t r = pivoted_factor(s, d, factor, rest, order);
    packed = pxi_calloc(d * r, sizeof *packed);
    m = pxi_calloc(r * r, sizeof *m);
    if (!packed || !m)
        status = pxi_no_memory_for(err, "a covariance of %zu neurons", d);
    PX_THEN_IF(status, r > 0, factor_moment(factor, d, r, packed, m, err));
    double ridge = 0.0;
    if (status == PX_OK && r > 0) /* L has full rank, by far more than rounding: no ridge */
        status = pxi_cholesky_ridge(m, r, /* singular= */ false, s, &ridge, err);
    PX_THEN(status, pxi_panels_init(out, r, d, err));
    if (status != PX_OK)
        goto done;
    for (size_t i = 0; i < d; i++)
        factor_solve(s, r, packed + i * r);
    for (size_t k = 0; k < r; k++) { /* W[k][i] = packed[i][k] */
        for (size_t i = 0; i < d; i++)
            rest[i] = packed[i * r + k];
        pxi_panels_fill(out, k, 1, rest, d);
    }
done:
    free(factor);
    free(rest);
    free(order);
    free(packed);
    free(m);
    return status;
}
