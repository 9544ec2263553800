/* include/internal/stats.h - <plexor/stats.h>, and what only plexor itself uses of it */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PXI_INTERNAL_STATS_H
#define PXI_INTERNAL_STATS_H

#include "base/worker_pool.h"

#include <plexor/stats.h>
#include <stdbool.h>
#include <stdint.h>

PX_BEGIN_DECLS

/* Quantile of type 7 (linear; what numpy and R do by default) of an ascending array, 0 <= p <= 1.
 * NaN where count is 0 or p is outside. */
double px_quantile_sorted(const double *values, size_t count, double p);

/* The same of an array in any order, which is sorted in place. NaN if any value is NaN. */
double px_quantile(double *values, size_t count, double p);

/* McNemar's test of paired outcomes (Psychometrika 12, 1947): b went one way, c the other, and
 * those that did not change do not count. With the continuity correction
 * chi2 = max(0, |b - c| - 1)^2 / (b + c), on one degree of freedom; `exact_p` is the two-sided
 * binomial one (beyond a million changes: chi2_p). Nothing changed: chi2 0, both p 1. Negative
 * counts are taken as 0. */
typedef struct px_mcnemar_result {
    double chi2, chi2_p, exact_p;
    bool exact; /* fewer than 25 changed: chi2 is not to be trusted */
    double p;   /* exact_p or chi2_p, as `exact` says */
} px_mcnemar_result;
px_mcnemar_result px_mcnemar(int64_t b, int64_t c);

/* Wilson's 95% interval of a share (JASA 22, 1927): `part` of `all`; 0 to 1 where all is 0. */
void px_wilson(int64_t part, int64_t all, double *low, double *high);

/* P(X >= x) for X of a chi-square distribution with that many degrees of freedom, and the x at
 * which it is p. NaN where freedom is not positive or p not in [0, 1]. */
double px_chi2_survival(double x, double freedom);

double px_chi2_critical(double p, double freedom);

/* Sums are taken in two passes. Both are NaN without values, the standard deviation (of a sample:
 * over count - 1) also for a single one. */
double px_mean(const double *values, size_t count);

double px_standard_deviation(const double *values, size_t count);

/* I_x(a, b), the regularised incomplete beta function. NaN unless a, b > 0 and 0 <= x <= 1. */
double px_incomplete_beta(double a, double b, double x);

/* P(|T| >= |t|) for T of Student's distribution. NaN where freedom is not positive. */
double px_student_two_sided(double t, double freedom);

/* P(Z >= z) for Z of the standard normal distribution. */
double px_normal_survival(double z);

px_correlation px_pearson(const double *x, const double *y, size_t count);

/* Pearson on ranks, ties having their mean rank. Fails only for want of memory. */
px_status px_spearman(const double *x, const double *y, size_t count, px_correlation *out,
                      px_error *err);

/* Pearson of a yes/no variable and values: (M1 - M0) / s_n * sqrt(n1 n0 / n^2). */
px_correlation px_point_biserial(const bool *flags, const double *values, size_t count);

/* Ranks from 1, ties having their mean rank; *tie_sum (may be NULL) becomes the sum of t^3 - t over
 * groups of t equal values. Values may not be NaN. */
px_status px_ranks(const double *values, size_t count, double *ranks, double *tie_sum,
                   px_error *err);

/* Cohen's kappa, (p_o - p_e) / (1 - p_e), of two subsets of `count` units, by sizes: how many are
 * in the first, the second, in both. NaN where these cannot be. */
double px_kappa_sets(int64_t first, int64_t second, int64_t both, int64_t count);

/* Mann-Whitney U test of a against b. `method` says whether p comes from the exact null
 * distribution (PX_U_AUTO: taken without ties and with at most 20 values on either side) or from
 * the normal one with corrections for continuity and ties. `legacy` is what
 * scipy.stats.mannwhitneyu gave by default before 1.7, and what papers print that used it: half the
 * two-sided normal p, whichever side the data lie. Values that are all equal: p 1. */
typedef enum px_alternative {
    PX_TWO_SIDED,
    PX_GREATER, /* a tends to be above b */
    PX_LESS,
} px_alternative;

typedef enum px_u_method {
    PX_U_AUTO,
    PX_U_NORMAL,
    PX_U_LEGACY, /* `alternative` is not used */
} px_u_method;

typedef struct px_mann_whitney_result {
    double u;          /* of a: pairs in which a is above b, halves for ties */
    double sd;         /* of u under the null hypothesis, ties taken into account */
    double effect;     /* u / (n1 n2): P(a above b), ties counting half */
    double p;          /* NaN where either side is empty or has a NaN */
    double smallest_p; /* that samples of these sizes could have reached, without ties */
    bool exact;
} px_mann_whitney_result;

px_status px_mann_whitney(const double *a, size_t a_count, const double *b, size_t b_count,
                          px_alternative alternative, px_u_method method,
                          px_mann_whitney_result *out, px_error *err);

/* A12 of Vargha and Delaney, px_mann_whitney_result.effect, in their words: "negligible", "small",
 * "medium" or "large". */
const char *px_a12_size(double a12);

/* Wilcoxon's signed-rank test of pairs: differences a - b, or `a` itself where b is NULL.
 * Differences of 0 are left out. p comes from the exact null distribution with at most 50
 * differences, none 0 and no two of one size, unless `normal` asks for the normal one, which is
 * corrected for continuity and ties. */
typedef struct px_wilcoxon_result {
    double plus, minus; /* sums of the ranks of differences above and below 0 */
    double sd;          /* of `plus` under the null hypothesis */
    double effect;      /* (plus - minus) / (plus + minus): -1 to 1; 0 without differences */
    double p;           /* NaN without pairs or with a NaN; 1 where all differences are 0 */
    double smallest_p;  /* that so many differences could have reached */
    size_t n, zeros;    /* differences that count, and those that are 0 */
    bool exact;
} px_wilcoxon_result;
px_status px_wilcoxon(const double *a, const double *b, size_t count, px_alternative alternative,
                      bool normal, px_wilcoxon_result *out, px_error *err);

/* P(D >= d) for Kolmogorov's distance D of `count` values from the distribution they come from. */
px_status px_kolmogorov_survival(double d, size_t count, double *out, px_error *err);

/* The Weibull distribution of positive values, P(V > v) = exp(-(v / scale)^shape), by maximum
 * likelihood. All NaN where it is undefined: no values, all equal, one that is not above 0. */
typedef struct px_weibull {
    double shape, scale, log_likelihood;
} px_weibull;
px_status px_weibull_fit(const double *values, size_t count, px_weibull *out, px_error *err);

/* Where the distribution that maxima come from ends on the right: the location of a reverse Weibull
 * distribution, F(g) = exp(-((end - g) / scale)^shape), by maximum likelihood over shapes of 1 and
 * more; `penalised` takes 0.01 shape^2 off the log-likelihood. Where there is no fit to be had, or
 * none to be trusted, `location` is the largest value and `note` says why. */
typedef enum px_end_note {
    PX_END_FITTED,
    PX_END_CONSTANT, /* all values are the same */
    PX_END_OPEN,     /* the likelihood has no maximum in reach */
    PX_END_POOR,     /* Kolmogorov-Smirnov p below 0.001 (not where penalised) */
} px_end_note;
typedef struct px_reverse_weibull {
    double location;                          /* what to use; NaN: a value is not finite */
    double largest;                           /* of the values */
    double end, shape, scale, log_likelihood; /* of the fit; shape NaN: there is none */
    double ks, ks_p;                          /* its Kolmogorov-Smirnov distance */
    px_end_note note;
} px_reverse_weibull;
px_status px_reverse_weibull_fit(const double *maxima, size_t count, bool penalised,
                                 px_reverse_weibull *out, px_error *err);

/* The k nearest of each of n points x [n][d] without itself, exactly: index [n][*k], near ones
 * first, the lower index of equals; *k is brought down to n - 1. The caller frees *index. */
px_status px_neighbours(const float *x, size_t n, size_t d, size_t *k, px_pool *pool,
                        uint32_t **index, px_error *err);

PX_END_DECLS
#endif
