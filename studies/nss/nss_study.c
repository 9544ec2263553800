/* studies/nss/nss_study.c - NSS: neuron sensitivity guided test case selection
 *
 * D. Huang, Q. Bu, Y. Fu, Y. Qing, B. Xiao and H. Cui; CSM E.1. Networks are under-trained to the
 * accuracy of the paper's Table 3 on the first 80% of the training set; the candidates of run r are
 * one mutant of every test input, drawn by seed r; every selector ranks them, and what is found is
 * measured against the labels.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#include "nss/nss_study.h"

#include "base/memory.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

const char *const nss_extras[] = {"entropy", "pcs", "internal-gini", "mdsa", "mlsa", "mmdsa", NULL};
const char *const nss_repairers[NSS_REPAIRERS] = {"nss", "gini", "random"};
const char *const nss_momenta[NSS_MOMENTA] = {"0.9", "0.99"};

static const px_study_part nss_parts[] = {
    {"select", "every selector but PRIMA: Tables 1, 6, 7, 8, 9 and 11", true},
    {"others", "NSS by the letter of its algorithm, without originals; DSA and LSA by buckets",
     true},
    {"prima", "PRIMA, which takes far longer than all others together", false},
    {"k", "Table 12: the share of sensitive neurons", false},
    {"layers", "Table 13: the layer", false},
    {"mutations", "Tables 14 and 15: one mutation in either stage (CIFAR-10)", false},
    {"repair", "Table 10: accuracy after retraining with what was selected", false},
};

static const px_study_dataset nss_datasets[] = {
    {"fashion-mnist", "Fashion-MNIST", "fashion-mnist"},
    {"mnist", "MNIST", NULL},
    {"svhn", "SVHN", NULL},
    {"cifar-10", "CIFAR-10", NULL},
};

/* --- names ------------------------------------------------------------------------------------ */

study_network nss_network(size_t subject, int64_t number)
{
    const nss_subject *s = &nss_subjects[subject];
    return (study_network){
        .dataset = s->dataset,
        .arch = s->arch,
        .zoo = s->zoo,
        .accuracy = s->accuracy / 100.0,
        .held_back = NSS_HELD_BACK,
        .epochs = s->epochs,
        .number = number,
    };
}

int64_t nss_count(const px_study *study, size_t subject)
{
    const int64_t all = nss_subjects[subject].candidates, limit = study->options.limit;
    return limit > 0 && limit < all ? limit : all;
}

static void nss_words(size_t subject, char key[CELL_KEY], const char *format, va_list words)
{
    const nss_subject *s = &nss_subjects[subject];
    const int at = snprintf(key, CELL_KEY, "%s %s ", s->dataset, s->arch);
    vsnprintf(key + at, (size_t)(CELL_KEY - at), format, words);
}

void nss_prefix(size_t subject, char key[CELL_KEY], const char *format, ...)
{
    va_list words;
    va_start(words, format);
    nss_words(subject, key, format, words);
    va_end(words);
}

void nss_key(const px_study *study, size_t subject, int64_t run, char key[CELL_KEY],
             const char *format, ...)
{
    va_list words;
    va_start(words, format);
    nss_words(subject, key, format, words);
    va_end(words);
    const size_t at = strlen(key);
    snprintf(key + at, CELL_KEY - at, " run=%" PRId64 " n=%" PRId64, run,
             nss_count(study, subject));
}

static const struct {
    const char *words, *selector, *setting;
} others[NSS_OTHERS] = {
    {"fresh", "nss", "nss.pair=fresh"},
    {"dsa-buckets", "dsa", "dsa.order=sc-cam"},
    {"lsa-buckets", "lsa", "lsa.order=sc-cam"},
};
const char *const nss_other_titles[NSS_OTHERS] = {"NSS, pair=fresh", "DSA, order=sc-cam",
                                                  "LSA, order=sc-cam"};

nss_variant nss_variant_of(size_t subject, nss_variant_kind kind, size_t i)
{
    const nss_subject *s = &nss_subjects[subject];
    nss_variant v = {.selector = "nss", .mutations = "nss"};
    switch (kind) {
    case NSS_OTHER:
        v.selector = others[i].selector;
        snprintf(v.words, sizeof v.words, "%s", others[i].words);
        snprintf(v.setting, sizeof v.setting, "%s", others[i].setting);
        break;
    case NSS_K:
        snprintf(v.words, sizeof v.words, "k=%g", nss_shares[i]);
        snprintf(v.setting, sizeof v.setting, "nss.k=%g", nss_shares[i]);
        break;
    case NSS_LAYER:
        snprintf(v.words, sizeof v.words, "layer=%s/%s", s->layers[i], s->taps[i]);
        v.layers = s->layers[i];
        v.tap = s->taps[i];
        v.k20 = true;
        break;
    case NSS_IDENTIFY:
        snprintf(v.words, sizeof v.words, "identify=%s", nss_mutation_ids[i]);
        snprintf(v.setting, sizeof v.setting, "nss.identify=%s", nss_mutation_ids[i]);
        break;
    case NSS_SCORE: /* the candidates are the mutants that are scored */
        snprintf(v.words, sizeof v.words, "score=%s", nss_mutation_ids[i]);
        snprintf(v.mutations, sizeof v.mutations, "nss:%s", nss_mutation_ids[i]);
        break;
    }
    return v;
}

/* --- the plan --------------------------------------------------------------------------------- */

static study_job nss_job(const px_study *study, size_t subject, int64_t run, const char *kind,
                         const char *words)
{
    const nss_subject *s = &nss_subjects[subject];
    study_job job = {
        .kind = kind,
        .subject = subject,
        .run = run,
        .network = pxi_study_network(study, run),
    };
    snprintf(job.label, sizeof job.label, "%s, run %" PRId64 ": %s", s->title, run, words);
    snprintf(job.cost, sizeof job.cost, "%s %s %s", s->dataset, s->arch, kind);
    return job;
}

static bool nss_has(const px_study *study, size_t subject, int64_t run, const char *words)
{
    char key[CELL_KEY];
    nss_key(study, subject, run, key, "%s", words);
    return pxi_cells_find(study->cells, key) != NULL;
}

static px_status nss_plan_network(px_study *study, size_t subject, int64_t run, px_error *err)
{
    const int64_t number = pxi_study_network(study, run);
    const study_network network = nss_network(subject, number);
    if (pxi_network_done(study, &network))
        return PX_OK;
    for (size_t i = 0; i < study->job_count; i++)
        if (strcmp(study->jobs[i].kind, "network") == 0 && study->jobs[i].subject == subject &&
            study->jobs[i].network == number)
            return PX_OK;
    study_job job = nss_job(study, subject, run, "network", "");
    snprintf(job.label, sizeof job.label, "%s: train network %" PRId64 " to %.2f%%",
             nss_subjects[subject].title, number, nss_subjects[subject].accuracy);
    job.seconds = nss_subjects[subject].seconds[0];
    return pxi_study_add_job(study, &job, err);
}

/* a: 1 for PRIMA alone, 0 for all others. */
static px_status nss_plan_select(px_study *study, size_t subject, int64_t run, bool prima,
                                 px_error *err)
{
    bool missing = false;
    char words[64];
    if (prima) {
        missing = px_selector_find("prima") && !nss_has(study, subject, run, "select prima");
    } else {
        for (size_t i = 0; i < px_selector_count(); i++) {
            const char *id = px_selector_get(i)->entry.id;
            snprintf(words, sizeof words, "select %s", id);
            bool wanted = false;
            for (size_t m = 0; m < NSS_METHODS; m++)
                wanted = wanted || strcmp(id, nss_methods[m].id) == 0;
            for (size_t m = 0; nss_extras[m]; m++)
                wanted = wanted || strcmp(id, nss_extras[m]) == 0;
            missing = missing ||
                      (wanted && strcmp(id, "prima") != 0 && !nss_has(study, subject, run, words));
        }
    }
    if (!missing)
        return PX_OK;
    PX_TRY(nss_plan_network(study, subject, run, err));
    study_job job = nss_job(study, subject, run, prima ? "prima" : "select",
                            prima ? "PRIMA" : "all selectors but PRIMA");
    job.a = prima;
    const double pass = nss_subjects[subject].seconds[1] * (double)nss_count(study, subject) /
                        (double)nss_subjects[subject].candidates;
    job.seconds = prima ? 1500.0 * pass : 30.0 + 30.0 * pass;
    return pxi_study_add_job(study, &job, err);
}

static px_status nss_plan_variants(px_study *study, size_t subject, int64_t run,
                                   nss_variant_kind kind, size_t count, px_error *err)
{
    for (size_t i = 0; i < count; i++) {
        const nss_variant v = nss_variant_of(subject, kind, i);
        if (nss_has(study, subject, run, v.words))
            continue;
        PX_TRY(nss_plan_network(study, subject, run, err));
        char words[80];
        snprintf(words, sizeof words, "%s, %s", v.selector, v.words);
        study_job job = nss_job(study, subject, run, "variant", words);
        job.a = kind;
        job.b = i;
        snprintf(job.cost, sizeof job.cost, "%s %s variant of %s", nss_subjects[subject].dataset,
                 nss_subjects[subject].arch, v.selector);
        job.seconds = 2.0 + 2.5 * nss_subjects[subject].seconds[1];
        PX_TRY(pxi_study_add_job(study, &job, err));
    }
    return PX_OK;
}

static px_status nss_plan_repair(px_study *study, size_t subject, int64_t run, px_error *err)
{
    for (size_t m = 0; m < NSS_MOMENTA; m++)
        for (size_t r = 0; r < NSS_RATES; r++)
            for (size_t s = 0; s < NSS_REPAIRERS; s++) {
                char words[80];
                snprintf(words, sizeof words, "repair %s rate=%d momentum=%s", nss_repairers[s],
                         nss_rates[r], nss_momenta[m]);
                if (nss_has(study, subject, run, words))
                    continue;
                PX_TRY(nss_plan_network(study, subject, run, err));
                study_job job = nss_job(study, subject, run, "repair", words);
                job.a = m * NSS_RATES + r;
                job.b = s;
                job.seconds = 40.0 * 15.0 * nss_subjects[subject].seconds[1] + 30.0;
                PX_TRY(pxi_study_add_job(study, &job, err));
            }
    return PX_OK;
}

/* One run of one subject. */
static px_status nss_plan_run(px_study *study, size_t subject, int64_t run, px_error *err)
{
    const bool cifar = strcmp(nss_subjects[subject].dataset, "cifar-10") == 0;
    if (run <= pxi_study_runs(study, "select"))
        PX_TRY(nss_plan_select(study, subject, run, false, err));
    if (run <= pxi_study_runs(study, "others"))
        PX_TRY(nss_plan_variants(study, subject, run, NSS_OTHER, NSS_OTHERS, err));
    if (run <= pxi_study_runs(study, "k"))
        PX_TRY(nss_plan_variants(study, subject, run, NSS_K, NSS_SHARES, err));
    if (run <= pxi_study_runs(study, "layers"))
        PX_TRY(nss_plan_variants(study, subject, run, NSS_LAYER, NSS_LAYERS, err));
    if (cifar && run <= pxi_study_runs(study, "mutations")) {
        PX_TRY(nss_plan_variants(study, subject, run, NSS_IDENTIFY, NSS_MUTATIONS, err));
        PX_TRY(nss_plan_variants(study, subject, run, NSS_SCORE, NSS_MUTATIONS, err));
    }
    if (run <= pxi_study_runs(study, "prima"))
        PX_TRY(nss_plan_select(study, subject, run, true, err));
    if (run <= pxi_study_runs(study, "repair"))
        PX_TRY(nss_plan_repair(study, subject, run, err));
    return PX_OK;
}

/* Run by run, so that a budget that ends early leaves something of every subject. */
static px_status nss_plan(px_study *study, px_error *err)
{
    int64_t runs = 0;
    for (size_t i = 0; i < PX_LEN(nss_parts); i++)
        runs = PX_MAX(runs, pxi_study_runs(study, nss_parts[i].id));
    for (int64_t run = 1; run <= runs; run++)
        for (size_t s = 0; s < NSS_SUBJECTS; s++) {
            const nss_subject *subject = &nss_subjects[s];
            if (pxi_study_spec(study, subject->dataset) &&
                pxi_study_wants(study, subject->dataset, subject->arch))
                PX_TRY(nss_plan_run(study, s, run, err));
        }
    return PX_OK;
}

static px_status nss_run(px_study *study, const study_job *job, px_error *err)
{
    if (strcmp(job->kind, "network") == 0) {
        const study_network network = nss_network(job->subject, job->network);
        return pxi_network_make(study, &network, err);
    }
    if (strcmp(job->kind, "variant") == 0)
        return nss_run_variant(study, job, err);
    if (strcmp(job->kind, "repair") == 0)
        return nss_run_repair(study, job, err);
    return nss_run_select(study, job, err);
}

const study_plan pxi_study_nss = {
    .kind =
        {
            .id = "nss",
            .title = "neuron sensitivity guided test case selection",
            .source = "Huang et al., Neuron Sensitivity Guided Test Case Selection",
            .parts = nss_parts,
            .part_count = PX_LEN(nss_parts),
            .datasets = nss_datasets,
            .dataset_count = PX_LEN(nss_datasets),
        },
    .plan = nss_plan,
    .run = nss_run,
    .report = nss_report,
};
