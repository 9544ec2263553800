/* src/select/softmax_scores.c - how unsure a network is, from its class probabilities */
/* SPDX-License-Identifier: Apache-2.0 */
#include "select/softmax_scores.h"

#include <assert.h>
#include <math.h>

/* The two largest; NaN if there is one. */
static void two_best(const double *p, int classes, double *best, double *second)
{
    assert(classes > 0);
    *best = *second = 0.0;
    for (int c = 0; c < classes; c++) {
        if (isnan(p[c])) {
            *best = *second = p[c];
            return;
        }
        if (p[c] > *best) {
            *second = *best;
            *best = p[c];
        } else if (p[c] > *second) {
            *second = p[c];
        }
    }
}

double pxi_unsure_softmax(const double *p, int classes)
{
    double best, second;
    two_best(p, classes, &best, &second);
    return 1.0 - best;
}

double pxi_unsure_pcs(const double *p, int classes)
{
    double best, second;
    two_best(p, classes, &best, &second);
    return second - best;
}

double pxi_unsure_entropy(const double *p, int classes)
{
    double sum = 0.0;
    for (int c = 0; c < classes; c++)
        sum -= p[c] == 0.0 ? 0.0 : p[c] * log2(p[c]);
    return sum;
}

double pxi_unsure_gini(const double *p, int classes)
{
    double sum = 0.0;
    for (int c = 0; c < classes; c++)
        sum += p[c] * p[c];
    return 1.0 - sum;
}

double pxi_internal_gini(const float *a, int64_t count, pxi_gini_norm norm)
{
    assert(count > 0);
    double sum = 0.0, squares = 0.0, most = -INFINITY;
    for (int64_t i = 0; norm == PXI_GINI_SOFTMAX && i < count; i++)
        most = (double)a[i] > most ? (double)a[i] : most;
    for (int64_t i = 0; i < count; i++) {
        double v = (double)a[i];
        if (norm == PXI_GINI_L1)
            v = v < 0.0 ? 0.0 : v; /* NaN stays */
        else if (norm == PXI_GINI_SOFTMAX)
            v = exp(v - most);
        sum += v;
        squares += v * v;
    }
    if (norm == PXI_GINI_RAW)
        return 1.0 - squares;
    return sum == 0.0 ? 0.0 : 1.0 - squares / (sum * sum);
}
