/* include/plexor/stats.h - statistics of plain arrays of doubles */
#ifndef PLEXOR_STATS_H
#define PLEXOR_STATS_H

#include <plexor/error.h>
#include <stdbool.h>
#include <stdint.h>

PX_BEGIN_DECLS

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

/* A correlation, its t and two-sided p on count - 2 degrees of freedom. All are NaN where the
 * correlation is undefined: a constant vector, fewer than two pairs, a value that is not finite.
 * With two pairs r is 1 or -1 and p 1; with r of 1 or -1 and more pairs, t is infinite and p 0. */
typedef struct px_correlation {
    double r, t, p;
} px_correlation;

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

/* The Weibull distribution of positive values, P(V > v) = exp(-(v / scale)^shape), by maximum
 * likelihood. All NaN where it is undefined: no values, all equal, one that is not above 0. */
typedef struct px_weibull {
    double shape, scale, log_likelihood;
} px_weibull;

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

/* A percentile bootstrap interval (Efron 1979) of the mean, or of any statistic: `resamples` times
 * count draws with replacement, and the quantiles (1 -+ level) / 2 of what `statistic` makes of
 * them. Draws are addressed by (seed, stream, resample): the same arguments give the same interval
 * on every machine. A statistic of NaN makes both ends NaN, as no values do. */
typedef double (*px_statistic)(const double *values, size_t count, void *context);
typedef struct px_bootstrap_options {
    int resamples; /* 10,000 */
    double level;  /* 0.95 */
    uint64_t seed;
    uint32_t stream;        /* which interval of a report this is */
    px_statistic statistic; /* NULL: the mean */
    void *context;
} px_bootstrap_options;

typedef struct px_interval {
    double low, high;
} px_interval;

PX_END_DECLS
#endif
