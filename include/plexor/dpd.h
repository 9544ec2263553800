/* include/plexor/dpd.h - decision path discrepancy: how many changed inputs are decided otherwise
 *
 *     px_dpd dpd = {0};
 *     px_paths_run(paths, before, labels, n, was, NULL, &err);
 *     px_paths_run(paths, after, labels, n, is, NULL, &err);
 *     for (i = 0; i < n; i++)
 *         px_dpd_add(&dpd, judge, &threshold, &was[i], &is[i], &err);
 *     share = px_dpd_value(&dpd, PX_PATH_FULL);
 *
 * NSGen's criterion (Eq 5): the share of pairs of an input and its changed copy whose decision
 * paths are less similar than tau. A fuzz campaign counts what it keeps by the same rule over its
 * seeds, which has no bound. All modes that have a tau are counted side by side, `label-only`
 * among them: what that keeps, words had no part in.
 */
#ifndef PLEXOR_DPD_H
#define PLEXOR_DPD_H

#include <plexor/decision_path.h>

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
PX_API px_status px_dpd_add(px_dpd *dpd, px_path_judge *judge, const px_threshold *threshold,
                            const px_path *before, const px_path *after,
                            double similarities[PX_PATH_MODE_COUNT], px_error *err);
/* The same of a similarity that is known already. */
PX_API void px_dpd_count(px_dpd *dpd, px_path_mode mode, const px_tau *tau, double similarity);
PX_API void px_dpd_join(px_dpd *dpd, const px_dpd *other);

PX_API double px_dpd_value(const px_dpd *dpd, px_path_mode mode); /* NaN: no pairs */
PX_API double px_dpd_mean(const px_dpd *dpd, px_path_mode mode);  /* similarity; NaN: no pairs */

PX_END_DECLS
#endif
