/* src/stats/chi_square.c - the chi-square distribution, by the incomplete gamma function
 *
 * Q(a, x) by its series below a + 1 and by its continued fraction (Lentz's method) above:
 * Abramowitz & Stegun 6.5.29 and 6.5.31; Press et al., Numerical Recipes, 6.2.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#include <internal/stats.h>

#include <float.h>
#include <math.h>

enum { CHI2_STEPS = 100000 };

/* Upper regularised incomplete gamma function; a > 0, x >= 0. */
static double gamma_upper(double a, double x)
{
    if (x == 0.0)
        return 1.0;
    int sign;
    const double front = exp(a * log(x) - x - lgamma_r(a, &sign));
    if (x < a + 1.0) {
        double term = 1.0 / a, sum = term;
        for (int n = 1; n < CHI2_STEPS && term > sum * DBL_EPSILON / 4.0; n++) {
            term *= x / (a + n);
            sum += term;
        }
        return fmax(0.0, 1.0 - front * sum);
    }
    double b = x + 1.0 - a, c = 1.0 / DBL_MIN, d = 1.0 / b, fraction = d;
    for (int n = 1; n < CHI2_STEPS; n++) {
        const double an = -n * (n - a);
        b += 2.0;
        d = an * d + b;
        c = b + an / c;
        if (fabs(d) < DBL_MIN)
            d = DBL_MIN;
        if (fabs(c) < DBL_MIN)
            c = DBL_MIN;
        d = 1.0 / d;
        fraction *= d * c;
        if (fabs(d * c - 1.0) < DBL_EPSILON)
            break;
    }
    return fmin(1.0, front * fraction);
}

double px_chi2_survival(double x, double freedom)
{
    if (!(freedom > 0.0) || x != x)
        return NAN;
    if (isinf(x))
        return x < 0.0 ? 1.0 : 0.0;
    return x <= 0.0 ? 1.0 : gamma_upper(freedom / 2.0, x / 2.0);
}

double px_chi2_critical(double p, double freedom)
{
    if (!(freedom > 0.0) || !(p >= 0.0 && p <= 1.0))
        return NAN;
    if (p == 0.0)
        return INFINITY;
    if (p == 1.0)
        return 0.0;
    double low = 0.0, high = freedom + 10.0;
    while (px_chi2_survival(high, freedom) > p)
        high *= 2.0;
    for (int i = 0; i < 200 && low < high; i++) { /* bisection: down to neighbouring doubles */
        const double middle = low + (high - low) / 2.0;
        if (middle <= low || middle >= high)
            break;
        if (px_chi2_survival(middle, freedom) > p)
            low = middle;
        else
            high = middle;
    }
    return high;
}
