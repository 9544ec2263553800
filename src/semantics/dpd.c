/* src/semantics/dpd.c - decision path discrepancy (CSM A.12, LGR C.10) */
#include <plexor/dpd.h>

#include <math.h>

void px_dpd_count(px_dpd *dpd, px_path_mode mode, const px_tau *tau, double similarity)
{
    px_dpd_mode *of = &dpd->of[mode];
    of->pairs++;
    of->apart += px_tau_keeps(tau, similarity);
    of->sum += similarity;
}

px_status px_dpd_add(px_dpd *dpd, px_path_judge *judge, const px_threshold *threshold,
                     const px_path *before, const px_path *after,
                     double similarities[PX_PATH_MODE_COUNT], px_error *err)
{
    for (int m = 0; m < PX_PATH_MODE_COUNT; m++) {
        double similarity = NAN;
        if (threshold->of[m].known) {
            PX_TRY(
                px_path_judge_similarity(judge, (px_path_mode)m, before, after, &similarity, err));
            px_dpd_count(dpd, (px_path_mode)m, &threshold->of[m], similarity);
        }
        if (similarities)
            similarities[m] = similarity;
    }
    return PX_OK;
}

void px_dpd_join(px_dpd *dpd, const px_dpd *other)
{
    for (int m = 0; m < PX_PATH_MODE_COUNT; m++) {
        dpd->of[m].pairs += other->of[m].pairs;
        dpd->of[m].apart += other->of[m].apart;
        dpd->of[m].sum += other->of[m].sum;
    }
}

double px_dpd_value(const px_dpd *dpd, px_path_mode mode)
{
    const px_dpd_mode *of = &dpd->of[mode];
    return of->pairs ? (double)of->apart / (double)of->pairs : NAN;
}

double px_dpd_mean(const px_dpd *dpd, px_path_mode mode)
{
    const px_dpd_mode *of = &dpd->of[mode];
    return of->pairs ? of->sum / (double)of->pairs : NAN;
}
