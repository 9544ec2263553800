/* src/stats/student.c - the incomplete beta function and what follows from it; the normal tail
 *
 * The continued fraction of Abramowitz & Stegun 26.5.8 by Lentz's method (Press et al., Numerical
 * Recipes, 6.4), on the side of the mean where it converges.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#include <internal/stats.h>

#include <float.h>
#include <math.h>

enum { BETA_STEPS = 100000 };

static double away_from_zero(double x)
{
    return fabs(x) < DBL_MIN ? DBL_MIN : x;
}

static double beta_fraction(double a, double b, double x)
{
    double c = 1.0, d = 1.0 / away_from_zero(1.0 - (a + b) * x / (a + 1.0)), h = d;
    for (int m = 1; m < BETA_STEPS; m++) {
        const double even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m));
        d = 1.0 / away_from_zero(1.0 + even * d);
        c = away_from_zero(1.0 + even / c);
        h *= d * c;
        const double odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1));
        d = 1.0 / away_from_zero(1.0 + odd * d);
        c = away_from_zero(1.0 + odd / c);
        h *= d * c;
        if (fabs(d * c - 1.0) < DBL_EPSILON)
            break;
    }
    return h;
}

/* I_x(a, b) where y = 1 - x is known better than by subtraction. */
static double beta_of(double a, double b, double x, double y)
{
    if (x == 0.0)
        return 0.0;
    if (y == 0.0)
        return 1.0;
    int sign;
    const double front = exp(lgamma_r(a + b, &sign) - lgamma_r(a, &sign) - lgamma_r(b, &sign) +
                             a * log(x) + b * log(y));
    if (x < (a + 1.0) / (a + b + 2.0))
        return fmin(1.0, front * beta_fraction(a, b, x) / a);
    return fmax(0.0, 1.0 - front * beta_fraction(b, a, y) / b);
}

double px_incomplete_beta(double a, double b, double x)
{
    if (!(a > 0.0 && b > 0.0 && x >= 0.0 && x <= 1.0) || isinf(a) || isinf(b))
        return NAN;
    return beta_of(a, b, x, 1.0 - x);
}

double px_student_two_sided(double t, double freedom)
{
    if (!(freedom > 0.0) || t != t)
        return NAN;
    if (isinf(t))
        return 0.0;
    if (isinf(freedom))
        return 2.0 * px_normal_survival(fabs(t));
    /* shares of freedom + t^2, without squaring what would overflow */
    const double ratio = t / sqrt(freedom), square = ratio * ratio;
    if (isinf(square))
        return 0.0;
    return beta_of(freedom / 2.0, 0.5, 1.0 / (1.0 + square), square / (1.0 + square));
}

double px_normal_survival(double z)
{
    return 0.5 * erfc(z / sqrt(2.0));
}
