/* studies/nss/nss_bench.c - a network with its candidates; what selectors make of them
 *
 * Labels are looked at after a ranking is there, never before: what learns, learns from the part of
 * the training set that the network was trained on (ranges, traces) or was kept from (PRIMA).
 */
/* SPDX-License-Identifier: Apache-2.0 */
#include "nss/nss_study.h"

#include "base/memory.h"

#include <internal/fault_curve.h>
#include <internal/mutate.h>
#include <internal/select.h>
#include <internal/stats.h>
#include <internal/system.h>
#include <inttypes.h>
#include <plexor/profile.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

px_status nss_bench_open(px_study *study, const study_job *job, const char *mutations,
                         uint64_t seed, nss_bench *out, px_error *err)
{
    nss_bench b = {.study = study, .subject = job->subject, .run = job->run};
    const study_network network = nss_network(job->subject, job->network);
    px_mutations from;
    px_status status = px_mutations_parse(mutations, &from, err);
    if (status == PX_OK)
        status = pxi_network_load(study, &network, &b.model, err);
    if (status == PX_OK)
        status = pxi_study_open(study, b.model, network.dataset, "test", 0.0,
                                nss_count(study, job->subject), &b.test, err);
    if (status == PX_OK)
        status = px_mutant_set_new(b.test.set, &from, seed, PX_MUTATE_CANDIDATES, &b.mutants, err);
    if (status == PX_OK) {
        b.candidates = px_mutant_set_data(b.mutants);
        b.count = px_dataset_count(b.candidates);
        b.labels = pxi_calloc((size_t)b.count, sizeof *b.labels);
        b.predicted = pxi_calloc((size_t)b.count, sizeof *b.predicted);
        b.order = pxi_calloc((size_t)b.count, sizeof *b.order);
        if (!b.labels || !b.predicted || !b.order)
            status = pxi_no_memory(err);
    }
    for (int64_t i = 0; status == PX_OK && i < b.count; i++)
        b.labels[i] = px_dataset_label(b.candidates, i);
    if (status == PX_OK)
        *out = b;
    else
        nss_bench_close(&b);
    return status;
}

void nss_bench_close(nss_bench *b)
{
    free(b->labels);
    free(b->predicted);
    free(b->order);
    px_mutant_set_free(b->mutants);
    pxi_study_close(&b->test);
    pxi_study_close(&b->labelled);
    px_model_free(b->model);
}

/* --- ranking ---------------------------------------------------------------------------------- */

static px_status bench_profile(nss_bench *b, const px_select_options *options, px_profile **out,
                               px_error *err)
{
    px_study *study = b->study;
    px_lessons lessons = {0};
    study_data train = {.set = NULL};
    px_status status =
        px_select_lessons(b->model, b->candidates, &b->test.pre, options, &lessons, err);
    if (status == PX_OK && lessons.count > 0)
        status = pxi_study_open(study, b->model, nss_subjects[b->subject].dataset, "train",
                                1.0 - NSS_HELD_BACK, NSS_PROFILED, &train, err);
    if (status == PX_OK && lessons.count > 0) {
        px_profile_options make = px_profile_options_default();
        make.threads = study->options.threads;
        make.seed = options->seed;
        make.memory_bytes = px_memory_bytes() / 4 * 3;
        make.progress = study->options.progress;
        make.progress_context = study->options.context;
        status = px_profile_make(b->model, &lessons, train.set, &train.pre, &make, out, err);
    }
    pxi_study_close(&train);
    px_lessons_free(&lessons);
    return status;
}

px_status nss_rank(nss_bench *b, const nss_ranking *ranking, px_select **out, px_profile **profile,
                   px_error *err)
{
    px_study *study = b->study;
    px_select *select = NULL;
    px_select_options options = px_select_options_default();
    options.selectors = ranking->selectors;
    options.settings = ranking->settings;
    options.setting_count = ranking->setting_count;
    options.layers = ranking->layers;
    options.tap = ranking->tap;
    options.originals = b->test.set;
    options.seed = study->options.seed + (uint64_t)b->run;
    options.threads = study->options.threads;
    px_status status = PX_OK;
    if (strstr(ranking->selectors, "prima")) {
        status = pxi_study_open(study, b->model, nss_subjects[b->subject].dataset, "train",
                                -(1.0 - NSS_HELD_BACK), NSS_LABELLED, &b->labelled, err);
        options.labelled = b->labelled.set;
        options.labelled_pre = &b->labelled.pre;
    }
    if (status == PX_OK)
        status = bench_profile(b, &options, profile, err);
    options.profile = *profile;
    if (status == PX_OK)
        status = px_select_new(b->model, b->candidates, &b->test.pre, &options, &select, err);
    if (status == PX_OK)
        status = px_select_run(select, study->options.progress, study->options.context, err);
    if (status != PX_OK) {
        px_select_free(select);
        return status;
    }
    int64_t count = 0;
    const px_ranked *ranked = px_select_ranked(select, 0, &count);
    for (int64_t i = 0; i < count; i++)
        b->predicted[ranked[i].index] = ranked[i].predicted;
    *out = select;
    return PX_OK;
}

px_status nss_order(nss_bench *b, const px_select *select, size_t i, px_error *err)
{
    int64_t count = 0;
    const px_ranked *ranked = px_select_ranked(select, i, &count);
    if (count != b->count)
        return px_fail(err, PX_E_INTERNAL, "'%s' ranked %" PRId64 " of %" PRId64 " candidates",
                       px_select_selector(select, i)->entry.id, count, b->count);
    for (int64_t j = 0; j < count; j++)
        b->order[j] = ranked[j].index;
    return PX_OK;
}

/* --- measuring -------------------------------------------------------------------------------- */

static void measure_curve(const px_fault_curve *curve, cell_list *list)
{
    for (size_t r = 0; r < NSS_RATES; r++)
        pxi_cell_put(list, px_fdr(curve, px_percent_count(nss_rates[r], curve->count)), "fdr%d",
                     nss_rates[r]);
    const int64_t fifth = px_percent_count(20, curve->count);
    const px_apfd_result apfd = px_apfd(curve, PX_FAULTS);
    pxi_cell_put(list, px_rauc(curve, PX_FAULT_TYPES, fifth), "rauc");
    pxi_cell_put(list, px_rauc(curve, PX_FAULTS, fifth), "rauc_faults");
    pxi_cell_put(list, apfd.value, "apfd");
    pxi_cell_put(list, apfd.normalised, "apfd_normalised");
    pxi_cell_put(list, px_apfd(curve, PX_FAULT_TYPES).value, "apfd_types");
    pxi_cell_put(list, px_fault_rate(curve), "fault_rate");
    pxi_cell_put(list, (double)curve->total[PX_FAULT_TYPES], "fault_types");
}

static double measure_seconds(const px_select *select, size_t i, cell_list *list)
{
    const px_select_facts facts = px_select_facts_of(select, i);
    pxi_cell_put(list, facts.times.prepare, "prepare_s");
    pxi_cell_put(list, facts.times.learn, "learn_s");
    pxi_cell_put(list, facts.times.pass, "pass_s");
    pxi_cell_put(list, facts.times.score, "score_s");
    pxi_cell_put(list, facts.times.order, "order_s");
    pxi_cell_put(list, (double)facts.unscored, "unscored");
    return facts.times.prepare + facts.times.learn + facts.times.pass + facts.times.score +
           facts.times.order;
}

px_status nss_measure(nss_bench *b, const px_select *select, size_t i, cell_list *list,
                      px_error *err)
{
    px_fault_curve curve = {0};
    PX_TRY(nss_order(b, select, i, err));
    PX_TRY(px_fault_curve_init(&curve, b->order, b->count, b->labels, b->predicted, b->count, err));
    measure_curve(&curve, list);
    px_fault_curve_done(&curve);
    pxi_cell_put(list, measure_seconds(select, i, list), "seconds");
    return PX_OK;
}

/* Table 6: accuracy per tenth of the candidates, by falling score, and its correlation with the
 * tenth counted by rising score, as the paper counts it. */
static px_status measure_deciles(nss_bench *b, const px_select *select, size_t i, px_error *err)
{
    px_fault_curve curve = {0};
    double accuracy[NSS_DECILES], rising[NSS_DECILES], place[NSS_DECILES];
    cell_list list = {.count = 0};
    char key[CELL_KEY];
    px_correlation spearman = {0};
    PX_TRY(nss_order(b, select, i, err));
    PX_TRY(px_fault_curve_init(&curve, b->order, b->count, b->labels, b->predicted, b->count, err));
    px_accuracy_by_group(&curve, NSS_DECILES, accuracy);
    px_fault_curve_done(&curve);
    for (int d = 0; d < NSS_DECILES; d++) {
        rising[d] = accuracy[NSS_DECILES - 1 - d];
        place[d] = d + 1;
        pxi_cell_put(&list, rising[d], "decile%d", d + 1);
    }
    PX_TRY(px_spearman(place, rising, NSS_DECILES, &spearman, err));
    pxi_cell_put(&list, px_pearson(place, rising, NSS_DECILES).r, "pearson");
    pxi_cell_put(&list, spearman.r, "spearman");
    const pxi_nss_facts facts = pxi_nss_facts_of(px_select_prepared(select, i));
    pxi_cell_put(&list, facts.mean_kappa, "kappa_mean");
    pxi_cell_put(&list, facts.least_kappa, "kappa_least");
    pxi_cell_put(&list, (double)facts.units, "units");
    pxi_cell_put(&list, (double)facts.count, "sensitive");
    nss_key(b->study, b->subject, b->run, key, "deciles");
    return pxi_study_put(b->study, key, 0.0, &list, err);
}

/* --- jobs ------------------------------------------------------------------------------------- */

/* The selectors of the job whose cells are not there. */
static bool select_missing(const px_study *study, const study_job *job, px_text *list)
{
    for (size_t i = 0; i < NSS_METHODS + (size_t)16; i++) {
        if (i >= NSS_METHODS && !nss_extras[i - NSS_METHODS])
            break;
        const char *id = i < NSS_METHODS ? nss_methods[i].id : nss_extras[i - NSS_METHODS];
        char key[CELL_KEY];
        nss_key(study, job->subject, job->run, key, "select %s", id);
        if ((strcmp(id, "prima") == 0) != (job->a == 1) || !px_selector_find(id) ||
            pxi_cells_find(study->cells, key))
            continue;
        px_text_format(list, "%s%s", list->length ? "," : "", id);
    }
    return !px_text_failed(list);
}

px_status nss_run_select(px_study *study, const study_job *job, px_error *err)
{
    nss_bench b = {.study = study};
    px_select *select = NULL;
    px_profile *profile = NULL;
    px_text ids = {0};
    nss_ranking ranking = {.settings = {"nss.seeds=5"}};
    px_status status = select_missing(study, job, &ids) ? PX_OK : pxi_no_memory(err);
    ranking.selectors = px_text_get(&ids);
    ranking.setting_count = strncmp(ranking.selectors, "nss", 3) == 0;
    if (status == PX_OK)
        status =
            nss_bench_open(study, job, "nss", study->options.seed + (uint64_t)job->run, &b, err);
    if (status == PX_OK)
        status = nss_rank(&b, &ranking, &select, &profile, err);
    for (size_t i = 0; status == PX_OK && i < px_select_count(select); i++) {
        const char *id = px_select_selector(select, i)->entry.id;
        cell_list list = {.count = 0};
        char key[CELL_KEY];
        status = nss_measure(&b, select, i, &list, err);
        if (status == PX_OK && strcmp(id, "nss") == 0)
            status = measure_deciles(&b, select, i, err);
        nss_key(study, job->subject, job->run, key, "select %s", id);
        if (status == PX_OK)
            status = pxi_study_put(study, key, list.value[list.count - 1].number, &list, err);
    }
    px_select_free(select);
    px_profile_free(profile);
    nss_bench_close(&b);
    px_text_done(&ids);
    return status;
}

px_status nss_run_variant(px_study *study, const study_job *job, px_error *err)
{
    const nss_variant v = nss_variant_of(job->subject, (nss_variant_kind)job->a, job->b);
    nss_bench b = {.study = study};
    px_select *select = NULL;
    px_profile *profile = NULL;
    nss_ranking ranking = {.selectors = v.selector, .layers = v.layers, .tap = v.tap};
    if (v.setting[0])
        ranking.settings[ranking.setting_count++] = v.setting;
    if (v.k20)
        ranking.settings[ranking.setting_count++] = "nss.k=20";
    px_status status =
        nss_bench_open(study, job, v.mutations, study->options.seed + (uint64_t)job->run, &b, err);
    if (status == PX_OK)
        status = nss_rank(&b, &ranking, &select, &profile, err);
    if (status == PX_OK) {
        cell_list list = {.count = 0};
        char key[CELL_KEY];
        nss_key(study, job->subject, job->run, key, "%s", v.words);
        status = nss_measure(&b, select, 0, &list, err);
        if (status == PX_OK)
            status = pxi_study_put(study, key, list.value[list.count - 1].number, &list, err);
    }
    px_select_free(select);
    px_profile_free(profile);
    nss_bench_close(&b);
    return status;
}
