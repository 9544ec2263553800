/* src/stats/correlation.c - means, ranks, correlations and agreement */
/* SPDX-License-Identifier: Apache-2.0 */
#include <internal/stats.h>

#include "base/memory.h"

#include <math.h>
#include <stdlib.h>

double px_mean(const double *values, size_t count)
{
    if (count == 0)
        return NAN;
    double sum = 0.0, rest = 0.0;
    for (size_t i = 0; i < count; i++)
        sum += values[i];
    const double mean = sum / (double)count;
    for (size_t i = 0; i < count; i++) /* what rounding took from the first pass */
        rest += values[i] - mean;
    return isfinite(mean) ? mean + rest / (double)count : mean;
}

double px_standard_deviation(const double *values, size_t count)
{
    if (count < 2)
        return NAN;
    const double mean = px_mean(values, count);
    double sum = 0.0;
    for (size_t i = 0; i < count; i++)
        sum += (values[i] - mean) * (values[i] - mean);
    return sqrt(sum / (double)(count - 1));
}

static px_correlation correlation_of(double r, size_t count)
{
    px_correlation c = {fmax(-1.0, fmin(1.0, r)), NAN, NAN};
    const double freedom = (double)count - 2.0;
    if (r != r) {
        c.r = NAN;
    } else if (count == 2) {
        c.t = 0.0; /* any two pairs lie on a line */
        c.p = 1.0;
    } else if (fabs(c.r) >= 1.0) {
        c.t = c.r * (double)INFINITY;
        c.p = 0.0;
    } else {
        c.t = c.r * sqrt(freedom / ((1.0 - c.r) * (1.0 + c.r)));
        c.p = px_student_two_sided(c.t, freedom);
    }
    return c;
}

static bool is_constant(const double *x, size_t count)
{
    for (size_t i = 1; i < count; i++)
        if (x[i] != x[0])
            return false;
    return true;
}

px_correlation px_pearson(const double *x, const double *y, size_t count)
{
    static const px_correlation undefined = {NAN, NAN, NAN};
    /* asked of the values: their deviations from a rounded mean need not all be 0 */
    if (count < 2 || is_constant(x, count) || is_constant(y, count))
        return undefined;
    const double mean_x = px_mean(x, count), mean_y = px_mean(y, count);
    double most_x = 0.0, most_y = 0.0;
    for (size_t i = 0; i < count; i++) {
        most_x = fmax(most_x, fabs(x[i] - mean_x));
        most_y = fmax(most_y, fabs(y[i] - mean_y));
        if (!isfinite(x[i] - mean_x) || !isfinite(y[i] - mean_y))
            return undefined;
    }
    if (!(most_x > 0.0 && most_y > 0.0))
        return undefined;
    double xx = 0.0, yy = 0.0, xy = 0.0;
    for (size_t i = 0; i < count; i++) { /* scaled: squares of tiny values stay above 0 */
        const double dx = (x[i] - mean_x) / most_x, dy = (y[i] - mean_y) / most_y;
        xx += dx * dx;
        yy += dy * dy;
        xy += dx * dy;
    }
    return correlation_of(xy / sqrt(xx * yy), count);
}

px_correlation px_point_biserial(const bool *flags, const double *values, size_t count)
{
    static const px_correlation undefined = {NAN, NAN, NAN};
    double ones = 0.0, sum[2] = {0.0, 0.0}, most = 0.0, square = 0.0;
    if (count < 2 || is_constant(values, count))
        return undefined;
    const double n = (double)count, mean = px_mean(values, count);
    for (size_t i = 0; i < count; i++) {
        most = fmax(most, fabs(values[i] - mean));
        if (!isfinite(values[i] - mean))
            return undefined;
    }
    for (size_t i = 0; i < count; i++) {
        const double d = (values[i] - mean) / most;
        ones += flags[i];
        sum[flags[i]] += d;
        square += d * d;
    }
    const double zeros = n - ones;
    if (!(most > 0.0) || ones == 0.0 || zeros == 0.0)
        return undefined;
    return correlation_of(
        (sum[1] / ones - sum[0] / zeros) / sqrt(square / n) * sqrt(ones * zeros) / n, count);
}

typedef struct placed {
    double value;
    size_t index;
} placed;

static int placed_compare(const void *a, const void *b)
{
    const double x = ((const placed *)a)->value, y = ((const placed *)b)->value;
    return (x > y) - (x < y);
}

px_status px_ranks(const double *values, size_t count, double *ranks, double *tie_sum,
                   px_error *err)
{
    placed *order = NULL;
    PX_TRY(PX_NEW(order, count, err));
    double ties = 0.0;
    for (size_t i = 0; i < count; i++)
        order[i] = (placed){values[i], i};
    if (count > 0)
        qsort(order, count, sizeof *order, placed_compare);
    for (size_t from = 0, to; from < count; from = to) {
        for (to = from + 1; to < count && order[to].value == order[from].value;)
            to++;
        const double size = (double)(to - from);
        for (size_t i = from; i < to; i++)
            ranks[order[i].index] = (double)from + (size + 1.0) / 2.0;
        ties += size * size * size - size;
    }
    if (tie_sum)
        *tie_sum = ties;
    free(order);
    return PX_OK;
}

px_status px_spearman(const double *x, const double *y, size_t count, px_correlation *out,
                      px_error *err)
{
    *out = (px_correlation){NAN, NAN, NAN};
    for (size_t i = 0; i < count; i++)
        if (!isfinite(x[i]) || !isfinite(y[i]))
            return PX_OK;
    if (count < 2)
        return PX_OK;
    double *ranks = pxi_calloc(count, 2 * sizeof *ranks);
    if (!ranks)
        return pxi_no_memory_for(err, "ranks of %zu pairs", count);
    px_status status = px_ranks(x, count, ranks, NULL, err);
    PX_THEN(status, px_ranks(y, count, ranks + count, NULL, err));
    if (status == PX_OK)
        *out = px_pearson(ranks, ranks + count, count);
    free(ranks);
    return status;
}

double px_kappa_sets(int64_t first, int64_t second, int64_t both, int64_t count)
{
    if (count <= 0 || first < 0 || second < 0 || both < 0 || first > count || second > count ||
        both > first || both > second || first - both > count - second)
        return NAN;
    const double n = (double)count, a = (double)first, b = (double)second;
    const double agreed = n - a - b + 2.0 * (double)both;
    const double expected = a * b + (n - a) * (n - b), chance = n * n - expected;
    return chance > 0.0 ? (agreed * n - expected) / chance : 1.0;
}
