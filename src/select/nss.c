/* src/select/nss.c - NSS: sensitivity, the most sensitive neurons, scores */
/* SPDX-License-Identifier: Apache-2.0 */
#include "select/nss.h"

#include "base/memory.h"

#include <math.h>
#include <stdlib.h>

void pxi_nss_add(pxi_exact *sums, const float *x, const float *y, int64_t units, double *scratch,
                 bool *lost)
{
    for (int64_t i = 0; i < units; i++)
        scratch[i] = fabs((double)x[i] - (double)y[i]);
    pxi_exact_add_all(sums, scratch, (size_t)units, lost);
}

typedef struct unit_sum {
    double sum;
    int64_t unit;
} unit_sum;

static int unit_compare(const void *a, const void *b)
{
    const unit_sum *x = a, *y = b;
    if (x->sum != y->sum)
        return x->sum > y->sum ? -1 : 1;
    return x->unit < y->unit ? -1 : x->unit > y->unit;
}

px_status pxi_nss_top(const double *sums, int64_t units, int64_t count, int64_t *top, px_error *err)
{
    unit_sum *sorted = NULL;
    PX_TRY(PX_NEW(sorted, units, err));
    for (int64_t i = 0; i < units; i++)
        sorted[i] = (unit_sum){.sum = sums[i], .unit = i};
    qsort(sorted, (size_t)units, sizeof *sorted, unit_compare);
    for (int64_t i = 0; i < count; i++)
        top[i] = sorted[i].unit;
    free(sorted);
    return PX_OK;
}

double pxi_nss_score(const float *x, const float *y, const int64_t *units, int64_t count)
{
    double score = 0.0;
    for (int64_t i = 0; i < count; i++)
        score += fabs((double)x[units[i]] - (double)y[units[i]]);
    return score;
}
