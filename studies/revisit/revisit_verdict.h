/* studies/revisit/revisit_verdict.h - hypotheses of samples: a test, how strong it could be, a
 * verdict
 *
 *     rv_sample gradient = {0}, coverage = {0};
 *     rv_sample_add(&gradient, 0.98); ...
 *     rv_test_of(&gradient, &coverage, PX_GREATER, &test, err);
 *     puts(rv_verdict_name(test.verdict));
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PXI_STUDY_REVISIT_VERDICT_H
#define PXI_STUDY_REVISIT_VERDICT_H

#include "revisit/revisit_paper.h"

#include <internal/stats.h>

typedef struct rv_sample { /* {0}: empty; grows */
    double *values;
    size_t count, room;
    bool failed; /* out of memory */
} rv_sample;
void rv_sample_add(rv_sample *sample, double value); /* NaN is left out */
void rv_sample_done(rv_sample *sample);

typedef enum rv_verdict {
    RV_NOT_RUN,
    RV_CONFIRMED,
    RV_REJECTED,     /* not significant, though it could have been */
    RV_OPPOSITE,     /* significant the other way */
    RV_MIXED,        /* of a family of tests: some, but not most, are confirmed or opposite */
    RV_INCONCLUSIVE, /* samples of these sizes cannot be significant */
} rv_verdict;
const char *rv_verdict_name(rv_verdict verdict);

typedef struct rv_test {
    size_t n1, n2;
    double u;        /* of the first sample */
    double effect;   /* A12: P(a value of the first is above one of the second) */
    double p;        /* one-sided, as the hypothesis says */
    double opposite; /* one-sided, the other way */
    double legacy;   /* as scipy before 1.7 gave it, which the paper used */
    double smallest; /* p that samples of these sizes could reach */
    rv_verdict verdict;
} rv_test;
/* PX_GREATER: the first sample is said to be above the second; PX_LESS: below. */
px_status rv_test_of(const rv_sample *a, const rv_sample *b, px_alternative alternative,
                     rv_test *out, px_error *err);

/* A family of tests of one hypothesis: what holds for it as a whole, after Holm's correction, each
 * way on its own: for most of them, for none, or mixed. Tests that were not run or cannot tell do
 * not count. */
typedef struct rv_family {
    size_t tests;                 /* that could tell */
    size_t significant, opposite; /* p below 0.05, each by itself */
    size_t holm, holm_opposite;   /* that remain after the correction */
    double smallest;              /* the largest of their smallest p */
    rv_verdict verdict;
} rv_family;
px_status rv_family_of(const rv_test *tests, size_t count, rv_family *out, px_error *err);
/* How many of `count` p-values Holm's method rejects at 0.05; they are sorted. */
size_t rv_holm(double *p, size_t count);

/* --- H2 to H6 ------------------------------------------------------------------------------- */

/* Where their samples come from. `add` puts what a network that was retrained with `defence`
 * (RV_BENIGN: not at all) has on `set` into *out, once per run: the misclassification rate for H2
 * and H3, the accuracy for the others. */
typedef struct rv_source {
    void (*add)(const void *context, size_t network, size_t defence, size_t set, rv_sample *out);
    const void *context;
    size_t networks;
} rv_source;

/* The paper has a network's value before retraining as often as there are values after it; `once`
 * has it once (H4, H5). */
px_status rv_hypothesis_test(const rv_source *source, int h, bool once, rv_test *out,
                             px_error *err);

/* The same of the package's tables; H4 of the lists that were published for it. */
px_status rv_paper_test(int h, rv_test *out, px_error *err);

#endif
