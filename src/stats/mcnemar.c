/* src/stats/mcnemar.c - McNemar's test: did a change make more wrong than it made right?
 *
 * Q. McNemar, Note on the sampling error of the difference between correlated proportions or
 * percentages, Psychometrika 12(2), 1947; the correction is Edwards' (Psychometrika 13(3), 1948),
 * cut off at 0 so that b = c is no evidence at all.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#include <internal/stats.h>

#include <math.h>

/* 2 P(X <= k) for X ~ B(n, 1/2), at most 1; k <= n / 2. The largest term is formed by logarithms,
 * the others from it. */
static double binomial_two_sided(double n, double k)
{
    int sign;
    double term = exp(lgamma_r(n + 1.0, &sign) - lgamma_r(k + 1.0, &sign) -
                      lgamma_r(n - k + 1.0, &sign) - n * log(2.0));
    double sum = 0.0;
    for (double i = k; i >= 0.0 && term > sum * 1e-17; i--) {
        sum += term;
        term *= i / (n - i + 1.0);
    }
    return fmin(1.0, 2.0 * sum);
}

px_mcnemar_result px_mcnemar(int64_t b, int64_t c)
{
    enum { SMALL = 25, LARGE = 1000000 }; /* beyond: logarithms cancel, and the two agree */
    const double x = b > 0 ? (double)b : 0.0, y = c > 0 ? (double)c : 0.0;
    px_mcnemar_result r = {.chi2_p = 1.0, .exact_p = 1.0, .exact = x + y < SMALL};
    if (x + y > 0.0) {
        const double difference = fmax(0.0, fabs(x - y) - 1.0);
        r.chi2 = difference * difference / (x + y);
        r.chi2_p = erfc(sqrt(r.chi2 / 2.0)); /* upper tail of chi-square, one degree of freedom */
        r.exact_p = x + y > LARGE ? r.chi2_p : binomial_two_sided(x + y, fmin(x, y));
    }
    r.p = r.exact ? r.exact_p : r.chi2_p;
    return r;
}
