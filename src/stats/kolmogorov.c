/* src/stats/kolmogorov.c - the distribution of Kolmogorov's D
 *
 * Three ways, each where it is good. n d^2 >= 4: twice Smirnov's one-sided tail, which is exact
 * from d = 1/2 on and there as good as exact (Simard & L'Ecuyer, J. Statistical Software 39(11),
 * 2011). Below, up to n = MATRIX_MOST: the matrix of Marsaglia, Tsang & Wang (J. Statistical
 * Software 8(18), 2003). Larger n: the limit with Vrbik's correction of d (2018).
 */
/* SPDX-License-Identifier: Apache-2.0 */
#include <internal/stats.h>

#include "base/memory.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MATRIX_MOST = 1000 };

/* P(D+ >= d): d sum over j <= n (1 - d) of C(n, j) (d + j/n)^(j-1) (1 - d - j/n)^(n-j), all terms
 * positive. */
static double smirnov_tail(double n, double d)
{
    int sign;
    double sum = 0.0;
    const double whole = lgamma_r(n + 1.0, &sign);
    for (double j = 0.0; j <= floor(n * (1.0 - d)); j++) {
        const double left = 1.0 - d - j / n,
                     ways = lgamma_r(j + 1.0, &sign) + lgamma_r(n - j + 1.0, &sign);
        if (left > 0.0 || j == n)
            sum += exp(whole - ways + (j - 1.0) * log(d + j / n) +
                       (j == n ? 0.0 : (n - j) * log(left)));
    }
    return fmin(1.0, d * sum);
}

typedef struct scaled { /* size x size values, times 10^tens */
    double *value;
    int tens;
} scaled;

static void multiply(const double *a, const double *b, double *out, size_t size)
{
    memset(out, 0, size * size * sizeof *out);
    for (size_t i = 0; i < size; i++)
        for (size_t k = 0; k < size; k++) {
            const double factor = a[i * size + k];
            for (size_t j = 0; j < size; j++)
                out[i * size + j] += factor * b[k * size + j];
        }
}

static void rescale(scaled *m, size_t size, size_t middle)
{
    if (m->value[middle * size + middle] < 1e140)
        return;
    for (size_t i = 0; i < size * size; i++)
        m->value[i] *= 1e-140;
    m->tens += 140;
}

/* H of the paper: k - h = n d. */
static void matrix_fill(double *m, size_t size, double h)
{
    for (size_t i = 0; i < size; i++)
        for (size_t j = 0; j < size; j++)
            m[i * size + j] = j <= i + 1 ? 1.0 : 0.0;
    for (size_t i = 0; i < size; i++) {
        m[i * size] -= pow(h, (double)(i + 1));
        m[(size - 1) * size + i] -= pow(h, (double)(size - i));
    }
    if (2.0 * h - 1.0 > 0.0)
        m[(size - 1) * size] += pow(2.0 * h - 1.0, (double)size);
    for (size_t i = 0; i < size; i++)
        for (size_t j = 0; j <= i; j++)
            for (size_t g = 2; g <= i - j + 1; g++)
                m[i * size + j] /= (double)g;
}

/* P(D < d) by n!/n^n times the middle of H^n. */
static px_status matrix_below(size_t n, double d, double *out, px_error *err)
{
    const size_t k = (size_t)((double)n * d) + 1, size = 2 * k - 1, cells = size * size;
    const double h = (double)k - (double)n * d;
    double *room = NULL;
    PX_TRY(PX_NEW(room, 3 * cells, err));
    scaled base = {room, 0}, power = {room + cells, 0};
    double *spare = room + 2 * cells;
    matrix_fill(base.value, size, h);
    for (size_t i = 0; i < size; i++)
        power.value[i * size + i] = 1.0;
    for (size_t rest = n; rest > 0; rest /= 2) {
        if (rest % 2) {
            multiply(power.value, base.value, spare, size);
            double *old = power.value;
            power = (scaled){spare, power.tens + base.tens};
            spare = old;
            rescale(&power, size, k - 1);
        }
        if (rest == 1)
            break;
        multiply(base.value, base.value, spare, size);
        double *old = base.value;
        base = (scaled){spare, 2 * base.tens};
        spare = old;
        rescale(&base, size, k - 1);
    }
    double share = power.value[(k - 1) * size + k - 1];
    int tens = power.tens;
    for (size_t i = 1; i <= n; i++) {
        share *= (double)i / (double)n;
        if (share < 1e-140) {
            share *= 1e140;
            tens -= 140;
        }
    }
    free(room);
    *out = share * pow(10.0, tens);
    return PX_OK;
}

/* 2 sum of (-1)^(k-1) exp(-2 k^2 x^2), by its dual where x is small. */
static double limit_survival(double x)
{
    static const double pi = 3.14159265358979323846;
    double sum = 0.0;
    if (x < 0.2)
        return 1.0;
    if (x < 1.0) {
        for (int k = 1; k < 20; k += 2)
            sum += exp(-(double)(k * k) * pi * pi / (8.0 * x * x));
        return fmax(0.0, 1.0 - sqrt(2.0 * pi) / x * sum);
    }
    for (int k = 1; k < 20; k++)
        sum += (k % 2 ? 1.0 : -1.0) * exp(-2.0 * k * k * x * x);
    return fmin(1.0, 2.0 * sum);
}

px_status px_kolmogorov_survival(double d, size_t count, double *out, px_error *err)
{
    const double n = (double)count;
    double below = 0.0;
    if (count == 0 || d != d) {
        *out = NAN;
    } else if (d <= 0.5 / n) {
        *out = 1.0;
    } else if (d >= 1.0) {
        *out = 0.0;
    } else if (d >= 0.5 || n * d * d >= 4.0) {
        *out = fmin(1.0, 2.0 * smirnov_tail(n, d));
    } else if (count <= MATRIX_MOST) {
        PX_TRY(matrix_below(count, d, &below, err));
        *out = fmin(1.0, fmax(0.0, 1.0 - below));
    } else {
        const double x = sqrt(n) * d;
        *out = limit_survival(x + 1.0 / (6.0 * sqrt(n)) + (x - 1.0) / (4.0 * n));
    }
    return PX_OK;
}
