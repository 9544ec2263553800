/* studies/nss/nss_repair.c - Table 10: what retraining with the selected inputs gains
 *
 * The training set and the first 5, 10, 15 or 20% of a ranking with their true labels, 40 epochs of
 * SGD with Nesterov momentum; the paper's 0.99 and the usual 0.9. The paper does not say on what
 * accuracy is measured. Here: on the untouched test set, and on a second candidate set, mutants of
 * another seed; neither is trained on.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#include "nss/nss_study.h"

#include <internal/fault_curve.h>
#include <internal/mutate.h>
#include <internal/repair.h>
#include <plexor/profile.h>
#include <plexor/system.h>
#include <stdio.h>
#include <string.h>

enum { REPAIR_SEED = 1000 }; /* from a run's candidates to those it is judged by */

static bool repair_progress(void *context, const px_train_progress *p)
{
    const px_study *study = context;
    return !study->options.progress ||
           study->options.progress(study->options.context, p->done, p->total);
}

static px_status repair_train(nss_bench *b, const study_job *job, const px_dataset *judged,
                              const study_data *train, cell_list *list, px_error *err)
{
    px_repair *repair = NULL;
    char optimizer[64];
    const int64_t chosen = px_percent_count(nss_rates[job->a % NSS_RATES], b->count);
    snprintf(optimizer, sizeof optimizer, "sgd:momentum=%s,nesterov=1",
             nss_momenta[job->a / NSS_RATES]);
    px_repair_options o = px_repair_options_default();
    o.model = b->model;
    o.train = (px_feeder_set){.set = train->set, .pre = &train->pre};
    o.added = (px_feeder_set){
        .set = b->candidates, .pre = &b->test.pre, .items = b->order, .count = chosen};
    o.test = (px_judge_set){b->test.set, &b->test.pre};
    o.failing = (px_judge_set){judged, &b->test.pre};
    o.hold_out = 0.0;
    o.recipe = *px_repair_recipe_find("nss");
    o.recipe.optimizer = optimizer;
    o.threads = b->study->options.threads;
    o.seed = b->study->options.seed + (uint64_t)b->run;
    o.progress = repair_progress;
    o.context = b->study;
    px_status status = px_repair_new(&o, &repair, err);
    if (status == PX_OK)
        status = px_repair_run(repair, err);
    if (status == PX_OK) {
        const px_repair_report *r = px_repair_get(repair);
        const px_repair_set *sets[] = {&r->clean, &r->failing};
        for (int i = 0; i < 2; i++) {
            const char *what = i == 0 ? "test" : "mutants";
            const double before = sets[i]->eval[PX_BEFORE].all.accuracy;
            const double after = sets[i]->eval[PX_AFTER].all.accuracy;
            pxi_cell_put(list, before, "%s_before", what);
            pxi_cell_put(list, after, "%s_after", what);
            pxi_cell_put(list, after - before, "%s_gain", what);
        }
        pxi_cell_put(list, (double)r->training.epochs, "epochs");
        pxi_cell_put(list, (double)r->training.halvings, "halvings");
        pxi_cell_put(list, (double)r->clean.regressions, "regressions");
        pxi_cell_put(list, (double)r->clean.fixed, "fixed");
    }
    px_repair_free(repair);
    return status;
}

px_status nss_run_repair(px_study *study, const study_job *job, px_error *err)
{
    const double start = px_clock_s();
    const uint64_t seed = study->options.seed + (uint64_t)job->run;
    nss_bench b = {.study = study};
    px_select *select = NULL;
    px_profile *profile = NULL;
    px_mutant_set *second = NULL;
    study_data train = {.set = NULL};
    px_mutations from;
    cell_list list = {.count = 0};
    const nss_ranking ranking = {.selectors = nss_repairers[job->b]};
    px_status status = nss_bench_open(study, job, "nss", seed, &b, err);
    if (status == PX_OK)
        status = nss_rank(&b, &ranking, &select, &profile, err);
    if (status == PX_OK)
        status = nss_order(&b, select, 0, err);
    if (status == PX_OK)
        status = px_mutations_parse("nss", &from, err);
    if (status == PX_OK)
        status = px_mutant_set_new(b.test.set, &from, seed + REPAIR_SEED, PX_MUTATE_CANDIDATES,
                                   &second, err);
    if (status == PX_OK)
        status = pxi_study_open(study, b.model, nss_subjects[job->subject].dataset, "train",
                                1.0 - NSS_HELD_BACK, 0, &train, err);
    if (status == PX_OK)
        status = repair_train(&b, job, px_mutant_set_data(second), &train, &list, err);
    if (status == PX_OK) {
        char key[CELL_KEY];
        nss_key(study, job->subject, job->run, key, "repair %s rate=%d momentum=%s",
                nss_repairers[job->b], nss_rates[job->a % NSS_RATES],
                nss_momenta[job->a / NSS_RATES]);
        status = pxi_study_put(study, key, px_clock_s() - start, &list, err);
    }
    pxi_study_close(&train);
    px_mutant_set_free(second);
    px_select_free(select);
    px_profile_free(profile);
    nss_bench_close(&b);
    return status;
}
