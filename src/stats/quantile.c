/* src/stats/quantile.c - quantiles of type 7 (Hyndman and Fan, Sample Quantiles in Statistical
 * Packages, The American Statistician 50(4), 1996): h = (M-1)p, v[floor h] + (h - floor h) times
 * the step to the next value */
/* SPDX-License-Identifier: Apache-2.0 */
#include "base/ascending.h"
#include <internal/stats.h>

#include <math.h>
#include <stdlib.h>

double px_quantile_sorted(const double *values, size_t count, double p)
{
    if (count == 0 || !(p >= 0.0 && p <= 1.0))
        return NAN;
    const double h = (double)(count - 1) * p;
    const double below = floor(h);
    const size_t i = (size_t)below;
    if (i + 1 >= count || h == below) /* no neighbour is looked at, it may be infinite */
        return values[i < count ? i : count - 1];
    return values[i] + (h - below) * (values[i + 1] - values[i]);
}

double px_quantile(double *values, size_t count, double p)
{
    for (size_t i = 0; i < count; i++)
        if (isnan(values[i]))
            return NAN;
    qsort(values, count, sizeof *values, pxi_order_double);
    return px_quantile_sorted(values, count, p);
}
