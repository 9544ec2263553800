/* src/select/prima_features.c - how predictions react to mutants, as numbers */
/* SPDX-License-Identifier: Apache-2.0 */
#include "select/prima_features.h"

#include "base/memory.h"

#include <assert.h>
#include <math.h>
#include <stdbool.h>

pxi_prima_outcome pxi_prima_compare(const double *p, const double *q, int classes, int c)
{
    assert(c >= 0 && c < classes);
    double pp = 0.0, qq = 0.0, pq = 0.0;
    bool finite = true;
    int best = 0;
    for (int k = 0; k < classes; k++) {
        finite &= isfinite(q[k]) != 0;
        pp += p[k] * p[k];
        qq += q[k] * q[k];
        pq += p[k] * q[k];
        best = q[k] > q[best] ? k : best;
    }
    if (!finite)
        return (pxi_prima_outcome){.distance = 1.0, .difference = p[c], .predicted = -1};
    const double length = sqrt(pp) * sqrt(qq);
    const double distance = length > 0.0 ? 1.0 - pq / length : 0.0;
    return (pxi_prima_outcome){.distance = fmax(0.0, fmin(1.0, distance)),
                               .difference = fabs(p[c] - q[c]),
                               .predicted = best};
}

void pxi_prima_add(pxi_prima_sum *sum, int32_t *wrong, const pxi_prima_outcome *outcome, int c)
{
    const int bin = (int)(outcome->distance * PXI_PRIMA_BINS);
    sum->distance += outcome->distance;
    sum->difference += outcome->difference;
    sum->bins[PX_MIN(bin, PXI_PRIMA_BINS - 1)]++;
    if (outcome->predicted == c)
        return;
    sum->kills++;
    if (outcome->predicted >= 0)
        wrong[outcome->predicted]++;
}

void pxi_prima_features(const pxi_prima_sum *sum, const int32_t *wrong, int classes,
                        float features[PXI_PRIMA_FEATURES])
{
    int32_t largest = 0, distinct = 0;
    for (int k = 0; k < classes; k++) {
        largest = PX_MAX(largest, wrong[k]);
        distinct += wrong[k] > 0;
    }
    features[0] = (float)sum->kills;
    features[1] = (float)sum->distance;
    features[2] = (float)sum->difference;
    features[3] = (float)largest;
    features[4] = (float)distinct;
    for (int b = 0; b < PXI_PRIMA_BINS; b++)
        features[5 + b] = (float)sum->bins[b];
}
