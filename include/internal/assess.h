/* include/internal/assess.h - how bad failures are: the quality metrics of pairs of inputs
 *
 *     px_assess_job job = {.model = model, .original = {set, &pre}, .adversarial = {bad,
 * &bad_pre}}; px_assess_options options = px_assess_options_default();      // all metrics
 *     px_assess_run(&job, &options, &assess, &err);
 *     for (size_t i = 0; i < px_assess_metric_count(assess); i++) {
 *         px_metric_value v = px_assess_metric(assess, i);          // v.value NaN: undefined
 *         printf("%s %g of %d\n", v.metric->entry.id, v.value, (int)v.n);
 *     }
 *     px_assess_free(assess);
 *
 * A pair is an input and what became of it: attacked, mutated, fuzzed. Most metrics are means over
 * the pairs whose second half the network gets wrong; without any they are undefined, which is not
 * 0. docs/assess.md has the definitions.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PXI_INTERNAL_ASSESS_H
#define PXI_INTERNAL_ASSESS_H

#include <plexor/data.h>
#include <plexor/engine.h>
#include <plexor/registry.h>

PX_BEGIN_DECLS

/* --- metrics --------------------------------------------------------------------------------- */

typedef enum px_better { /* of two networks on pairs made the same way, the better one has ... */
                         PX_BETTER_LOW,
                         PX_BETTER_HIGH,
} px_better;
const char *px_better_name(px_better better); /* "low", "high" */

typedef struct px_metric { /* a static const descriptor, listed in src/assess/metrics.h */
    px_entry entry;        /* its source is the equation: where it is printed */
    const char *definition;
    px_better better;
    bool stated;        /* the paper says so of networks; else it follows from what it measures */
    const char *remark; /* where we differ or chose; NULL: nowhere */
} px_metric;
PX_REGISTRY(pxi_metrics, px_metric, px_metric)

/* --- pairs ----------------------------------------------------------------------------------- */

typedef struct px_assess_side {
    const px_dataset *set;
    const px_preprocess *pre; /* the sides may be stored differently: bytes and floats */
} px_assess_side;

typedef struct px_assess_job { /* everything is borrowed while px_assess_run() runs */
    const px_model *model;
    px_assess_side original, adversarial;
    const int64_t *partners; /* partners[i] is the original of adversarial i; NULL: i itself */
} px_assess_job;

/* Fills partners[0..count of adversarial) by position, which needs sets of one size, or by name:
 * paths without their ending, every adversarial one being found among the originals. PX_E_MISMATCH
 * with advice where they do not pair up. *left (may be NULL): originals without a partner. */
px_status px_pair_by_index(const px_dataset *original, const px_dataset *adversarial,
                           int64_t *partners, px_error *err);
px_status px_pair_by_name(const px_dataset *original, const px_dataset *adversarial,
                          int64_t *partners, int64_t *left, px_error *err);
/* Whether both have names that are more than row numbers. */
bool px_pair_has_names(const px_dataset *original, const px_dataset *adversarial);

/* --- a run ----------------------------------------------------------------------------------- */

typedef struct px_assess_options {
    const char *metrics;         /* ids with commas between; NULL or "all": all */
    const char *const *settings; /* "ric.quality=75" */
    size_t setting_count;
    double low, high; /* what a scaled value may be; both NaN: px_dataset_range() */
    int64_t batch;    /* micro-batch; 0: chosen */
    int threads;      /* <= 0: one per core */
    px_progress_fn progress;
    void *progress_context;
} px_assess_options;
px_assess_options px_assess_options_default(void);

typedef struct px_assess px_assess;

/* *out is the caller's on PX_OK and untouched otherwise. The result does not depend on threads or
 * batch. PX_E_MISMATCH: shapes, or labels of a pair, that differ. */
px_status px_assess_run(const px_assess_job *job, const px_assess_options *options, px_assess **out,
                        px_error *err);
void px_assess_free(px_assess *assess); /* NULL is fine */

typedef struct px_metric_value {
    const px_metric *metric;
    double value;         /* NaN: undefined */
    int64_t n;            /* pairs that it is the mean of */
    int64_t left_out;     /* pairs that it should be a mean of, but that have no term */
    const char *why;      /* it is undefined; NULL: it is not */
    const char *settings; /* "quality=90"; "" without any; borrowed */
} px_metric_value;
size_t px_assess_metric_count(const px_assess *assess);
px_metric_value px_assess_metric(const px_assess *assess, size_t i);

typedef struct px_assess_row {
    int64_t original, adversarial;
    int64_t label; /* of the data; -1: none, and `before` stands in for it */
    int64_t truth;
    int64_t before, after; /* predicted for the halves; -1: the scores are not numbers */
    double confidence;     /* of `after` */
} px_assess_row;

typedef struct px_assess_summary {
    int64_t pairs;
    int64_t right;  /* originals that are classified correctly */
    int64_t wrong;  /* adversarial inputs that are not: what most metrics are over */
    int64_t fooled; /* right before and wrong after */
    int64_t unlabelled, not_finite;
    int64_t jpegs; /* adversarial inputs that come from JPEG files: ric compresses them again */
    double seconds;
} px_assess_summary;
px_assess_summary px_assess_sum(const px_assess *assess);

PX_END_DECLS
#endif
