/* include/internal/stats.h - <plexor/stats.h>, and what only plexor itself uses of it */
#ifndef PXI_INTERNAL_STATS_H
#define PXI_INTERNAL_STATS_H

#include "base/worker_pool.h"

#include <plexor/stats.h>

PX_BEGIN_DECLS

/* Quantile of type 7 (linear; what numpy and R do by default) of an ascending array, 0 <= p <= 1.
 * NaN where count is 0 or p is outside. */
double px_quantile_sorted(const double *values, size_t count, double p);

/* The same of an array in any order, which is sorted in place. NaN if any value is NaN. */
double px_quantile(double *values, size_t count, double p);

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

/* Cohen's kappa of two ratings of the same things, each a class in [0, classes): (p_o - p_e) /
 * (1 - p_e); 1 where both always said the same one class. NaN without things, or with a class
 * outside. */
double px_kappa(const int32_t *first, const int32_t *second, size_t count, int32_t classes);

/* The same of two subsets of `count` units, by sizes: how many are in the first, the second, in
 * both. NaN where these cannot be. */
double px_kappa_sets(int64_t first, int64_t second, int64_t both, int64_t count);

px_status px_mann_whitney(const double *a, size_t a_count, const double *b, size_t b_count,
                          px_alternative alternative, px_u_method method,
                          px_mann_whitney_result *out, px_error *err);

/* A12 of Vargha and Delaney: P(a above b), ties counting half; NaN where either side is empty or
 * has a NaN. px_a12_size() says it in their words: "negligible", "small", "medium" or "large". */
px_status px_vargha_delaney(const double *a, size_t a_count, const double *b, size_t b_count,
                            double *out, px_error *err);

const char *px_a12_size(double a12);

px_status px_wilcoxon(const double *a, const double *b, size_t count, px_alternative alternative,
                      bool normal, px_wilcoxon_result *out, px_error *err);

/* P(D >= d) for Kolmogorov's distance D of `count` values from the distribution they come from. */
px_status px_kolmogorov_survival(double d, size_t count, double *out, px_error *err);

px_status px_weibull_fit(const double *values, size_t count, px_weibull *out, px_error *err);

px_status px_reverse_weibull_fit(const double *maxima, size_t count, bool penalised,
                                 px_reverse_weibull *out, px_error *err);

px_bootstrap_options px_bootstrap_options_default(void);

px_status px_bootstrap(const double *values, size_t count, const px_bootstrap_options *options,
                       px_interval *out, px_error *err);

/* The k nearest of each of n points x [n][d] without itself, exactly: index [n][*k], near ones
 * first, the lower index of equals; *k is brought down to n - 1. The caller frees *index. */
px_status px_neighbours(const float *x, size_t n, size_t d, size_t *k, px_pool *pool,
                        uint32_t **index, px_error *err);

PX_END_DECLS
#endif
