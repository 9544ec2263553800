/* src/attribute/dpd.c - decision path discrepancy (CSM A.12, LGR C.10) */
/* SPDX-License-Identifier: Apache-2.0 */
#include <internal/decision_path.h>
#include <internal/dpd.h>
#include <internal/stats.h>

#include "base/memory.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>

enum { PAIRS_AT_A_TIME = 16 };

void px_dpd_count(px_dpd *dpd, px_path_mode mode, const px_tau *tau, double similarity)
{
    assert((size_t)mode < PX_LEN(dpd->of));
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

double px_dpd_value(const px_dpd *dpd, px_path_mode mode)
{
    assert((size_t)mode < PX_LEN(dpd->of));
    const px_dpd_mode *of = &dpd->of[mode];
    return of->pairs ? (double)of->apart / (double)of->pairs : NAN;
}

double px_dpd_mean(const px_dpd *dpd, px_path_mode mode)
{
    assert((size_t)mode < PX_LEN(dpd->of));
    const px_dpd_mode *of = &dpd->of[mode];
    return of->pairs ? of->sum / (double)of->pairs : NAN;
}

/* --- over data ------------------------------------------------------------------------------- */

typedef struct dpd_work {
    const px_path_tools *tools;
    const px_threshold *threshold;
    const px_dpd_pairs *pairs;
    px_dpd_result result;
    float *inputs; /* PAIRS_AT_A_TIME pairs */
    px_path *found;
    double *similarities; /* [mode][pair] */
    bool *fails;          /* per pair: the network errs on the changed input */
} dpd_work;

px_path_mode px_dpd_mode_of(const px_path_tools *tools)
{
    return tools->encoder ? PX_PATH_FULL : PX_PATH_NO_NLDG;
}

static px_status dpd_batch(dpd_work *w, int64_t first, int64_t count, px_error *err)
{
    const px_dpd_pairs *pairs = w->pairs;
    px_dpd_result *r = &w->result;
    const size_t size = (size_t)px_paths_input_size(w->tools->paths);
    int64_t labels[2 * PAIRS_AT_A_TIME];
    for (int64_t i = 0; i < count; i++) {
        const int64_t partner = pairs->partners[first + i];
        float *at = w->inputs + 2 * (size_t)i * size;
        labels[2 * i] = labels[2 * i + 1] = px_dataset_label(pairs->before, partner);
        PX_TRY(px_dataset_input(pairs->before, pairs->before_pre, partner, at, err));
        PX_TRY(px_dataset_input(pairs->after, pairs->after_pre, first + i, at + size, err));
    }
    PX_TRY(px_paths_run(w->tools->paths, w->inputs, labels, 2 * count, w->found, NULL, err));
    for (int64_t i = 0; i < count; i++) {
        const int64_t label = labels[2 * i];
        double similarities[PX_PATH_MODE_COUNT];
        PX_TRY(px_dpd_add(&r->dpd, w->tools->judge, w->threshold, &w->found[2 * i],
                          &w->found[2 * i + 1], similarities, err));
        for (int m = 0; m < PX_PATH_MODE_COUNT; m++)
            w->similarities[m * r->count + first + i] = similarities[m];
        w->fails[first + i] = label >= 0 && w->found[2 * i + 1].classes[0] != label;
        r->labelled += label >= 0;
        r->failed += w->fails[first + i];
    }
    return PX_OK;
}

static px_status dpd_all(dpd_work *w, px_error *err)
{
    px_dpd_result *r = &w->result;
    const size_t size = (size_t)px_paths_input_size(w->tools->paths);
    PX_TRY(PX_NEW(w->inputs, 2 * PAIRS_AT_A_TIME * size, err));
    PX_TRY(PX_NEW(w->found, 2 * PAIRS_AT_A_TIME, err));
    PX_TRY(PX_NEW(w->similarities, (size_t)r->count * PX_PATH_MODE_COUNT, err));
    PX_TRY(PX_NEW(w->fails, r->count, err));
    for (int64_t i = 0; i < r->count; i += PAIRS_AT_A_TIME) {
        const int64_t count = PX_MIN(r->count - i, (int64_t)PAIRS_AT_A_TIME);
        PX_TRY(dpd_batch(w, i, count, err));
        if (w->pairs->progress && !w->pairs->progress(w->pairs->context, i + count, r->count))
            return px_fail(err, PX_E_CANCELLED, "interrupted");
    }
    for (int m = 0; m < PX_PATH_MODE_COUNT; m++)
        r->with_failures[m] =
            r->labelled == r->count
                ? px_point_biserial(w->fails, w->similarities + m * r->count, (size_t)r->count)
                : (px_correlation){.r = NAN, .p = NAN};
    return PX_OK;
}

px_status px_dpd_run(const px_path_tools *tools, const px_threshold *threshold,
                     const px_dpd_pairs *pairs, px_dpd_result *out, px_error *err)
{
    dpd_work w = {.tools = tools,
                  .threshold = threshold,
                  .pairs = pairs,
                  .result = {.count = px_dataset_count(pairs->after)}};
    const px_status status = dpd_all(&w, err);
    free(w.inputs);
    free(w.found);
    free(w.similarities);
    free(w.fails);
    if (status == PX_OK)
        *out = w.result;
    return status;
}
