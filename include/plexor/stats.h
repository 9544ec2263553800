/* include/plexor/stats.h - statistics of plain arrays of doubles */
#ifndef PLEXOR_STATS_H
#define PLEXOR_STATS_H

#include <plexor/error.h>
#include <stdbool.h>
#include <stdint.h>

PX_BEGIN_DECLS

/* Quantile of type 7 (linear; what numpy and R do by default) of an ascending array, 0 <= p <= 1.
 * NaN where count is 0 or p is outside. */
PX_API double px_quantile_sorted(const double *values, size_t count, double p);

/* The same of an array in any order, which is sorted in place. NaN if any value is NaN. */
PX_API double px_quantile(double *values, size_t count, double p);

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
PX_API px_mcnemar_result px_mcnemar(int64_t b, int64_t c);

/* P(X >= x) for X of a chi-square distribution with that many degrees of freedom, and the x at
 * which it is p. NaN where freedom is not positive or p not in [0, 1]. */
PX_API double px_chi2_survival(double x, double freedom);
PX_API double px_chi2_critical(double p, double freedom);

PX_END_DECLS
#endif
