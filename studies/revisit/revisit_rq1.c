/* studies/revisit/revisit_rq1.c - RQ1: does quality grow with the coverage of the training data?
 *
 * D_0 is taken in ten parts. D_i is D_(i-1) with those mutants of part i that M_0 gets wrong and
 * that improve coverage; M_0 is retrained on each D_i, and judged. Coverage of D_i is that of M_0,
 * by ten criteria; ranges are those of D_0, so that its own NBC and SNAC are 0. Every retraining
 * has the same seed: what differs is the data, and without new data nothing is trained anew.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#include "revisit/revisit.h"

#include "base/memory.h"

#include <inttypes.h>
#include <math.h>
#include <plexor/profile.h>
#include <plexor/system.h>
#include <stdlib.h>
#include <string.h>

enum { RQ1_COVERS = 6 };

typedef struct rq1_cover {
    const char *criteria, *settings[3];
} rq1_cover;

static const rq1_cover rq1_covers[RQ1_COVERS] = {
    /* together: rv_coverages, in their order */
    {"nc", {"nc.t=0.1"}}, {"nc", {"nc.t=0.3"}},
    {"nc", {"nc.t=0.5"}}, {"nc", {"nc.t=0.7"}},
    {"nc", {"nc.t=0.9"}}, {"kmnc,nbc,snac,tknc,tknp", {"kmnc.k=10", "tknc.k=2", "tknp.k=2"}},
};

typedef struct rq1_work {
    rv_bench b;
    rv_rule rule;
    rv_pictures candidates, cases; /* mutants of D_0, and of the test inputs */
    px_profile *profile;
    px_cover *accepting;          /* what decides */
    px_cover *covers[RQ1_COVERS]; /* what is tracked */
    bool *fresh;                  /* per candidate: added in this step */
    int64_t *items;               /* of candidates: D_i beyond D_0 */
    int64_t count;
    cell_list quality; /* of the last network, with its accuracy */
} rq1_work;

static void work_close(rq1_work *w)
{
    for (size_t i = 0; i < RQ1_COVERS; i++)
        px_cover_free(w->covers[i]);
    px_cover_free(w->accepting);
    px_profile_free(w->profile);
    rv_pictures_done(&w->candidates);
    rv_pictures_done(&w->cases);
    free(w->fresh);
    free(w->items);
    rv_bench_close(&w->b);
}

/* --- coverage --------------------------------------------------------------------------------- */

static px_cover_options cover_options(const rq1_work *w, size_t i)
{
    px_cover_options o = px_cover_options_default();
    o.criteria = rq1_covers[i].criteria;
    o.settings = rq1_covers[i].settings;
    while (o.setting_count < PX_LEN(rq1_covers[i].settings) && o.settings[o.setting_count])
        o.setting_count++;
    o.neurons = RV_NEURONS;
    o.profile = w->profile;
    o.threads = w->b.study->options.threads;
    return o;
}

/* Ranges of D_0, for the last of the covers. */
static px_status work_profile(rq1_work *w, px_error *err)
{
    const px_study_options *study = &w->b.study->options;
    const px_cover_options o = cover_options(w, RQ1_COVERS - 1);
    px_lessons lessons = {0};
    px_profile_options make = px_profile_options_default();
    make.threads = study->threads;
    make.progress = study->progress;
    make.progress_context = study->context;
    px_status status = px_cover_lessons(w->b.model, NULL, &o, &lessons, err);
    if (status == PX_OK)
        status = px_profile_make(w->b.model, &lessons, w->b.inputs.set, &w->b.inputs.pre, &make,
                                 &w->profile, err);
    px_lessons_free(&lessons);
    return status;
}

static px_status work_covers(rq1_work *w, px_error *err)
{
    PX_TRY(work_profile(w, err));
    PX_TRY(rv_cover_new(&w->b, w->b.model, RV_RAW, &w->accepting, err));
    PX_TRY(rv_cover_add(&w->b, w->accepting, &w->b.inputs, NULL, err));
    for (size_t i = 0; i < RQ1_COVERS; i++) {
        const px_cover_options o = cover_options(w, i);
        PX_TRY(px_cover_new(w->b.model, NULL, &o, &w->covers[i], err));
        PX_TRY(rv_cover_add(&w->b, w->covers[i], &w->b.inputs, NULL, err));
    }
    return PX_OK;
}

static px_status work_observe(rq1_work *w, px_error *err)
{
    PX_TRY(rv_cover_add(&w->b, w->accepting, &w->candidates, w->fresh, err));
    for (size_t i = 0; i < RQ1_COVERS; i++)
        PX_TRY(rv_cover_add(&w->b, w->covers[i], &w->candidates, w->fresh, err));
    return PX_OK;
}

static void put_coverage(const rq1_work *w, cell_list *list)
{
    size_t n = 0;
    for (size_t i = 0; i < RQ1_COVERS; i++)
        for (size_t c = 0; c < px_cover_count(w->covers[i]); c++)
            pxi_cell_put(list, px_cover_value(w->covers[i], c).value, "%s", rv_coverages[n++].cell);
    pxi_cell_put(list, px_cover_value(w->accepting, 0).value, "coverage");
}

/* --- steps ------------------------------------------------------------------------------------ */

static const char *rule_words(const rq1_work *w)
{
    return w->rule == RV_BY_PAIR ? " pairwise" : "";
}

static px_status work_judge(rq1_work *w, const px_model *model, double accuracy, px_error *err)
{
    w->quality.count = 0;
    pxi_cell_put(&w->quality, accuracy, "accuracy");
    return rv_quality(&w->b, model, &w->cases, &w->quality, err);
}

static px_status work_retrain(rq1_work *w, px_error *err)
{
    const rv_retraining how = {.start = w->b.model,
                               .base = &w->b.inputs,
                               .added = w->count > 0 ? &w->candidates : NULL,
                               .items = w->items,
                               .count = w->count,
                               .epochs = RV_EPOCHS,
                               .seed = w->b.study->options.seed + (uint64_t)w->b.run};
    px_model *model = NULL;
    double accuracy = 0.0;
    px_status status = rv_retrain(&w->b, &how, &model, &accuracy, err);
    if (status == PX_OK)
        status = work_judge(w, model, accuracy, err);
    px_model_free(model);
    return status;
}

/* What a cell of an earlier invocation says about its network. */
static void work_recall(rq1_work *w, const study_cell *cell)
{
    w->quality.count = 0;
    pxi_cell_put(&w->quality, pxi_cell_number(cell, "accuracy"), "accuracy");
    for (size_t m = 0; m < RV_METRICS; m++)
        pxi_cell_put(&w->quality, pxi_cell_number(cell, rv_metrics[m].cell), "%s",
                     rv_metrics[m].cell);
}

static px_status work_put(rq1_work *w, int k, int64_t added, double wrong, double seconds,
                          px_error *err)
{
    cell_list list = {.count = 0};
    char key[CELL_KEY];
    pxi_cell_put(&list, (double)(w->b.inputs.count + w->count), "size");
    pxi_cell_put(&list, (double)added, "added");
    pxi_cell_put(&list, wrong, "wrong");
    put_coverage(w, &list);
    for (size_t i = 0; i < w->quality.count; i++)
        pxi_cell_put(&list, w->quality.value[i].number, "%s", w->quality.value[i].name);
    rv_key(w->b.study, w->b.subject, w->b.run, key, RV_RQ1_KEY, rule_words(w), k);
    return pxi_study_put(w->b.study, key, seconds, &list, err);
}

static px_status work_step(rq1_work *w, int k, px_error *err)
{
    const double start = px_clock_s();
    rv_choice choice = {.count = 0};
    char key[CELL_KEY];
    PX_TRY(rv_choose_part(&w->b, w->accepting, &w->candidates, k, w->rule, true, &choice, err));
    memset(w->fresh, 0, (size_t)w->candidates.count * sizeof *w->fresh);
    for (int64_t i = 0; i < choice.count; i++) {
        w->fresh[choice.items[i]] = true;
        w->items[w->count++] = choice.items[i];
    }
    const int64_t added = choice.count, wrong = choice.wrong;
    rv_choice_done(&choice);
    if (added > 0)
        PX_TRY(work_observe(w, err));
    rv_key(w->b.study, w->b.subject, w->b.run, key, RV_RQ1_KEY, rule_words(w), k);
    const study_cell *cell = pxi_cells_find(w->b.study->cells, key);
    if (cell) {
        work_recall(w, cell);
        return PX_OK;
    }
    if (added > 0 || k == 1) /* else it is the network of the step before */
        PX_TRY(work_retrain(w, err));
    pxi_study_tell(w->b.study,
                   "step %d of %d: %" PRId64 " of %" PRId64 " failures added, accuracy %.2f%%", k,
                   RV_STEPS, added, wrong, 100.0 * w->quality.value[0].number);
    return work_put(w, k, added, (double)wrong, px_clock_s() - start, err);
}

static px_status work_begin(rq1_work *w, px_error *err)
{
    const double start = px_clock_s();
    double wrong = 0.0;
    if (rv_has(w->b.study, w->b.subject, w->b.run, RV_RQ1_KEY, rule_words(w), 0))
        return PX_OK;
    PX_TRY(rv_error_rate(&w->b, w->b.model, &w->b.test, &wrong, err));
    PX_TRY(work_judge(w, w->b.model, 1.0 - wrong, err));
    return work_put(w, 0, 0, (double)NAN, px_clock_s() - start, err);
}

px_status rv_run_rq1(px_study *study, const study_job *job, px_error *err)
{
    rq1_work w = {.rule = (rv_rule)job->a};
    px_status status = rv_bench_open(study, job, &w.b, err);
    if (status == PX_OK)
        status = rv_generate(&w.b, NULL, RV_DH, &w.b.inputs, &w.candidates, err);
    if (status == PX_OK)
        status = rv_generate(&w.b, NULL, RV_DH, &w.b.test, &w.cases, err);
    if (status == PX_OK) {
        w.fresh = pxi_calloc((size_t)w.candidates.count, sizeof *w.fresh);
        w.items = pxi_calloc((size_t)w.candidates.count, sizeof *w.items);
        if (!w.fresh || !w.items)
            status = pxi_no_memory(err);
    }
    if (status == PX_OK)
        status = work_covers(&w, err);
    if (status == PX_OK)
        status = work_begin(&w, err);
    for (int k = 1; k <= RV_STEPS && status == PX_OK; k++)
        status = work_step(&w, k, err);
    work_close(&w);
    return status;
}
