/* src/cover/cac_edges.c - CAC's arithmetic: contributions, changed layers, bins, the test */
/* SPDX-License-Identifier: Apache-2.0 */
#include "cover/cac.h"

#include "base/memory.h"
#include "base/vector_math.h"

#include <assert.h>
#include <math.h>

PXI_WIDE static void add_scaled(float *restrict to, const float *restrict from, float factor,
                                int64_t count)
{
    for (int64_t m = 0; m < count; m++)
        to[m] += factor * from[m];
}

void pxi_cac_contributions(const pxi_cac_layer *layer, int64_t group, const float *row, float *u)
{
    const int64_t pg = layer->inputs / layer->group, qg = layer->outputs / layer->group;
    for (int64_t k = 0; k < pg; k++) {
        const int64_t i = group * pg + k;
        const float *s = row + layer->s + i * layer->channel_step;
        float *to = u + k * qg;
        for (int64_t m = 0; m < qg; m++)
            to[m] = 0.0f;
        for (int64_t t = 0; t < layer->terms; t++)
            add_scaled(to, layer->weights + (i * layer->terms + t) * qg, s[t * layer->term_step],
                       qg);
    }
}

/* Rows n .. n + 3 at once, so that u is read once for four of them. */
PXI_WIDE static void four_rows(const float *restrict keep, const float *restrict u, int64_t pg,
                               int64_t qg, float *restrict y)
{
    for (int64_t i = 0; i < pg; i++) {
        const float a = keep[i], b = keep[pg + i], c = keep[2 * pg + i], d = keep[3 * pg + i];
        for (int64_t m = 0; m < qg; m++) {
            const float x = u[i * qg + m];
            y[m] += a * x;
            y[qg + m] += b * x;
            y[2 * qg + m] += c * x;
            y[3 * qg + m] += d * x;
        }
    }
}

void pxi_cac_changed(const pxi_cac_layer *layer, int64_t group, const float *keep, const float *u,
                     float *y)
{
    const int64_t pg = layer->inputs / layer->group, qg = layer->outputs / layer->group;
    for (int64_t n = 0; n < pg; n++)
        for (int64_t m = 0; m < qg; m++)
            y[n * qg + m] = layer->bias[group * qg + m];
    int64_t n = 0;
    for (; n + 4 <= pg; n += 4)
        four_rows(keep + n * pg, u, pg, qg, y + n * qg);
    for (; n < pg; n++)
        for (int64_t i = 0; i < pg; i++)
            add_scaled(y + n * qg, u + i * qg, keep[n * pg + i], qg);
}

void pxi_cac_alpha(const double *cov, int64_t p, double *alpha)
{
    for (int64_t n = 0; n < p; n++) {
        double sum = 0.0;
        for (int64_t i = 0; i < p; i++) {
            const int64_t a = PX_MAX(i, n), b = PX_MIN(i, n);
            alpha[n * p + i] = i == n ? 0.0 : fabs(cov[a * (a + 1) / 2 + b]);
            sum += alpha[n * p + i];
        }
        for (int64_t i = 0; i < p; i++)
            alpha[n * p + i] = sum > 0.0 ? alpha[n * p + i] / sum : 0.0;
    }
}

int pxi_cac_bin(float x, float low, float high, int k)
{
    assert(k > 0);
    if (!(x >= low && x <= high && low < high))
        return -1;
    const double at = ((double)x - (double)low) / ((double)high - (double)low) * (double)k;
    return at < (double)k ? (int)at : k - 1;
}

double pxi_cac_chi2(const pxi_cac_rule *rule, const uint32_t *table, double *least)
{
    const int bins = rule->bins;
    enum { MOST = 64 };
    double row[MOST] = {0}, column[MOST] = {0}, total = 0.0, chi2 = 0.0;
    *least = 0.0;
    for (int a = 0; a < bins; a++)
        for (int b = 0; b < bins; b++) {
            const double count = (double)table[a * bins + b];
            row[a] += count;
            column[b] += count;
            total += count;
        }
    if (total == 0.0)
        return 0.0;
    double least_row = row[0], least_column = column[0];
    for (int a = 1; a < bins; a++) {
        least_row = fmin(least_row, row[a]);
        least_column = fmin(least_column, column[a]);
    }
    const double over = rule->code ? (double)bins * bins : total;
    *least = least_row * least_column / over;
    for (int a = 0; a < bins; a++)
        for (int b = 0; b < bins; b++) {
            const double expected = row[a] * column[b] / over;
            const double d = (double)table[a * bins + b] - expected;
            if (expected > 0.0)
                chi2 += d * d / expected;
        }
    return chi2;
}

bool pxi_cac_dependent(const pxi_cac_rule *rule, const uint32_t *table)
{
    double least;
    const double chi2 = pxi_cac_chi2(rule, table, &least);
    return least >= rule->floor && chi2 >= rule->critical;
}
