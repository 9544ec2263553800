/* include/internal/dpd.h - decision path discrepancy: how many changed inputs are decided otherwise
 *
 *     px_dpd dpd = {0};
 *     px_paths_run(paths, before, labels, n, was, NULL, &err);
 *     px_paths_run(paths, after, labels, n, is, NULL, &err);
 *     for (i = 0; i < n; i++)
 *         px_dpd_add(&dpd, judge, &threshold, &was[i], &is[i], NULL, &err);
 *     share = px_dpd_value(&dpd, PX_PATH_FULL);
 *
 * NSGen's criterion (Eq 5): the share of pairs of an input and its changed copy whose decision
 * paths are less similar than tau. A fuzz campaign counts what it keeps by the same rule over its
 * seeds, which has no bound. All modes that have a tau are counted side by side, `label-only`
 * among them: what that keeps, words had no part in.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PXI_INTERNAL_DPD_H
#define PXI_INTERNAL_DPD_H

#include <internal/decision_path.h>
#include <plexor/stats.h>

PX_BEGIN_DECLS

typedef struct px_dpd_mode { /* plain sums: those of parts of the data add up */
    int64_t pairs, apart;    /* compared, and less similar than tau */
    double sum;              /* of similarities */
} px_dpd_mode;

typedef struct px_dpd {
    px_dpd_mode of[PX_PATH_MODE_COUNT];
} px_dpd; /* {0} is none */

/* One pair, in every mode that the threshold has a tau of. similarities is NULL, or gets one per
 * mode, NaN where there is no tau. */
px_status px_dpd_add(px_dpd *dpd, px_path_judge *judge, const px_threshold *threshold,
                     const px_path *before, const px_path *after,
                     double similarities[PX_PATH_MODE_COUNT], px_error *err);
/* The same of a similarity that is known already. */
void px_dpd_count(px_dpd *dpd, px_path_mode mode, const px_tau *tau, double similarity);

double px_dpd_value(const px_dpd *dpd, px_path_mode mode); /* NaN: no pairs */
double px_dpd_mean(const px_dpd *dpd, px_path_mode mode);  /* similarity; NaN: no pairs */

/* All pairs of inputs and what became of them: input i of `after` was input partners[i] of
 * `before`.
 */
typedef struct px_dpd_pairs {
    const px_dataset *before, *after;
    const px_preprocess *before_pre, *after_pre;
    const int64_t *partners;
    px_progress_fn progress;
    void *context;
} px_dpd_pairs;

typedef struct px_dpd_result {
    px_dpd dpd;
    int64_t count, labelled, failed; /* pairs; those of a labelled input; wrong once changed */
    /* Of similarity with failing; NaN where no tau is known, or a pair has no label. */
    px_correlation with_failures[PX_PATH_MODE_COUNT];
} px_dpd_result;

px_status px_dpd_run(const px_path_tools *tools, const px_threshold *threshold,
                     const px_dpd_pairs *pairs, px_dpd_result *out, px_error *err);
/* The mode that is spoken of as the criterion: with words, where there are any. */
px_path_mode px_dpd_mode_of(const px_path_tools *tools);

PX_END_DECLS
#endif
