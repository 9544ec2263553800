/* studies/nsgen/nsgen_study.c - NSGen: neurons in words, decision paths, fuzzing guided by them
 *
 * Huang, Sun, Yan, Liu, Lei and Lo, Neuron Semantic-Guided Test Generation for Deep Neural Networks
 * Fuzzing; LGR H.1. Campaigns are those of the study `fuzz`, with guides that read paths beside;
 * everything else is a part of its own file (NG_PARTS).
 */
/* SPDX-License-Identifier: Apache-2.0 */
#include "nsgen/nsgen_study.h"

#include "base/memory.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static const px_study_part ng_parts[] = {
    {"networks", "the networks alone: judged, and ResNet-20 fine-tuned", true},
    {"words", "a describer and a bank of words for each, with its gates (C.12)", true},
    {"nsgen", "Tables 3 and 4: NSGen, and the class alone as its control", true},
    {"criteria", "Tables 3 and 4: the twelve criteria, and no guide at all", true},
    {"ablation", "Table 11: without critical neurons, without words, words alone", true},
    {"outputs", "Table 12: 1,000 outputs of every guide", true},
    {"encoders", "Table 5: text encoders", true},
    {"layers", "Figure 6: numbers of layers", true},
    {"labels", "Table 8: numbers of classes that are named", true},
    {"threshold", "Table 9: tau of 1 to 5% of the training set", true},
    {"describers", "Tables 6 and 7, Figure 2: exemplars, sizes of the LSTM, concepts", true},
    {"correlation", "Section 7.4, Figure 7: similarity of paths and failures", true},
    {"retrain", "Table 13: retrained networks under attack", true},
    {"map", "Figure 8: faults that only NSGen finds, on a map (UMAP)", true},
    {"mutants", "Figure 10: the first 20 mutants of guides, with SSIM", true},
};

static const char *const ng_models[] = {
    FZ_MODELS,          "encoder/bert",  "encoder/roberta", "encoder/gpt2",
    "encoder/fasttext", "encoder/glove", "encoder/clip",    NULL,
};

bool ng_planned(const px_study *study, size_t subject)
{
    char buffer[96];
    return pxi_study_wants(study, fz_subjects[subject].dataset, fz_subjects[subject].arch) &&
           !fz_missing(study, subject, buffer);
}

/* --- parts that are campaigns ---------------------------------------------------------------- */

typedef struct ng_campaigns {
    const char *part;
    size_t first, last; /* guides */
} ng_campaigns;

static const ng_campaigns campaigns[] = {
    {"nsgen", FZ_NSGEN, FZ_NSGEN},
    {"nsgen", FZ_LABEL_ONLY, FZ_LABEL_ONLY},
    {"criteria", 0, FZ_NSGEN - 1},
    {"criteria", FZ_RANDOM, FZ_NC_CODE},
    {"ablation", FZ_DESCR_ONLY, FZ_NO_NLDG},
    {"outputs", 0, FZ_LABEL_ONLY},
    {"encoders", FZ_ENCODER_FIRST, FZ_ENCODER_LAST},
    {"layers", FZ_LAYERS_FIRST, FZ_LAYERS_LAST},
    {"labels", FZ_TOP_FIRST, FZ_TOP_LAST},
};

/* A text encoder that is the user's may not be there. */
static bool guide_can_run(const px_study *study, size_t guide)
{
    const fz_paths *paths = fz_guides[guide].paths;
    return !paths || !paths->file || pxi_study_model(study, paths->file);
}

static px_status plan_campaigns(px_study *study, const ng_campaigns *c, int64_t run, px_error *err)
{
    const fz_measure measure = strcmp(c->part, "outputs") == 0 ? FZ_BY_OUTPUTS
                               : study->options.each_s > 0.0   ? FZ_BY_SECONDS
                                                               : FZ_BY_PICKS;
    for (size_t g = c->first; g <= c->last && run <= pxi_study_runs(study, c->part); g++)
        for (size_t s = 0; s < FZ_SUBJECTS; s++)
            if (ng_planned(study, s) && guide_can_run(study, g))
                PX_TRY(fz_plan_cell(study, s, g, measure, run, err));
    return PX_OK;
}

/* --- what comes first ------------------------------------------------------------------------ */

/* The last thing that part `words` does; the bank alone may have been made on the way. */
static bool ng_steps_done(const px_study *study, size_t subject)
{
    char key[CELL_KEY];
    snprintf(key, sizeof key, "%s %s steps run=1 n=%d", fz_subjects[subject].dataset,
             fz_subjects[subject].arch, NG_COMPARED);
    return pxi_cells_find(study->cells, key) != NULL;
}

static px_status plan_words(px_study *study, size_t subject, px_error *err)
{
    const fz_subject *s = &fz_subjects[subject];
    study_job job = {.kind = "words", .subject = subject, .run = 1};
    snprintf(job.label, sizeof job.label, "%s %s: describe its units", s->dataset, s->arch);
    snprintf(job.cost, sizeof job.cost, "%s %s words", s->dataset, s->arch);
    job.seconds = subject == FZ_RESNET ? 80.0 : 600.0;
    return pxi_study_add_job(study, &job, err);
}

/* --- the plan -------------------------------------------------------------------------------- */

typedef struct ng_part {
    const char *name;
    px_status (*plan)(px_study *study, px_error *err);
    px_status (*run)(px_study *study, const study_job *job, px_error *err);
} ng_part;

static const ng_part others[] = {
#define NG_PART_ENTRY(name) {#name, ng_##name##_plan, ng_##name##_run},
    NG_PARTS(NG_PART_ENTRY)
#undef NG_PART_ENTRY
};

static px_status ng_plan(px_study *study, px_error *err)
{
    int64_t most = 0;
    for (size_t p = 0; p < PX_LEN(ng_parts); p++)
        most = PX_MAX(most, pxi_study_runs(study, ng_parts[p].id));
    for (size_t s = 0; s < FZ_SUBJECTS; s++) {
        const study_network network = fz_network(s);
        if (ng_planned(study, s) && most > 0 && !pxi_network_done(study, &network))
            PX_TRY(fz_plan_network(study, s, err));
    }
    for (size_t s = 0; s < FZ_SUBJECTS; s++)
        if (ng_planned(study, s) && pxi_study_runs(study, "words") > 0 && !ng_steps_done(study, s))
            PX_TRY(plan_words(study, s, err));
    for (int64_t run = 1; run <= most; run++)
        for (size_t c = 0; c < PX_LEN(campaigns); c++)
            PX_TRY(plan_campaigns(study, &campaigns[c], run, err));
    for (size_t p = 0; p < PX_LEN(others); p++)
        if (pxi_study_runs(study, others[p].name) > 0)
            PX_TRY(others[p].plan(study, err));
    return PX_OK;
}

static px_status run_words(px_study *study, size_t subject, px_error *err)
{
    ng_words words = {0};
    px_status status = ng_words_bank(study, subject, &words, err);
    if (status == PX_OK)
        status = ng_words_steps(study, subject, &words, err);
    ng_words_close(&words);
    return status;
}

static px_status ng_run(px_study *study, const study_job *job, px_error *err)
{
    if (strcmp(job->kind, "network") == 0)
        return fz_make_network(study, job->subject, err);
    if (strcmp(job->kind, "words") == 0)
        return run_words(study, job->subject, err);
    for (size_t p = 0; p < PX_LEN(others); p++)
        if (strncmp(job->kind, others[p].name, strlen(others[p].name)) == 0)
            return others[p].run(study, job, err);
    return fz_run_cell(study, job, err);
}

const study_plan pxi_study_nsgen = {
    .kind =
        {
            .id = "nsgen",
            .title = "neurons in words, and fuzzing guided by decision paths",
            .source = "Huang, Sun, Yan, Liu, Lei and Lo, Neuron Semantic-Guided Test Generation "
                      "(NSGen)",
            .parts = ng_parts,
            .part_count = PX_LEN(ng_parts),
            .datasets = fz_datasets,
            .dataset_count = FZ_DATASETS,
            .models = ng_models,
            .piece = "picks",
            .pieces = FZ_PICKS,
            .piece_seconds = FZ_SECONDS,
        },
    .plan = ng_plan,
    .run = ng_run,
    .report = ng_report,
};
