/* studies/fuzz/fuzz_study.c - coverage criteria as guides of a fuzzer: the baselines of NSGen
 *
 * Huang, Sun, Yan, Liu, Lei and Lo, Neuron Semantic-Guided Test Generation for Deep Neural Networks
 * Fuzzing, sections 5 and 6.1; LGR H.1. A network, 1,000 seeds, 10,000 picks or six hours, and one
 * criterion that decides which mutants are kept; faults, and the classes they are taken for, per
 * criterion. NSGen itself needs words for neurons and is not run here.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#include "fuzz/fuzz_study.h"

#include "base/memory.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static const px_study_part fz_parts[] = {
    {"networks", "the networks alone: judged, and ResNet-20 fine-tuned", true},
    {"nc", "neuron coverage, threshold 0.75", true},
    {"kmnc", "k-multisection neuron coverage, 100 sections", true},
    {"nbc", "neuron boundary coverage", true},
    {"snac", "strong neuron activation coverage", true},
    {"tknc", "top-k neuron coverage, k = 10", true},
    {"tknp", "top-k neuron patterns, k = 50", true},
    {"cc", "TensorFuzz's coverage, distance 10 (CIFAR-10)", true},
    {"lsc", "likelihood surprise coverage, buckets of 10", true},
    {"dsc", "distance surprise coverage, buckets of 0.1", true},
    {"mdsc", "Mahalanobis surprise coverage, buckets of 10", true},
    {"cac", "causal-aware coverage, 8 bins", true},
    {"nlc", "neural coverage", true},
    {"nc-code", "neuron coverage of values rescaled as the published code has them", true},
    {"random", "no guide: every valid mutant is kept (plexor's own baseline)", true},
};

const px_study_dataset fz_datasets[FZ_DATASETS] = {
    {"cifar-10", "CIFAR-10", NULL},
    {"cifar-100", "CIFAR-100", NULL},
    {"flowers-102", "Flowers-102", NULL},
    {"imagenet", "ImageNet", NULL},
};

static const char *const fz_models[] = {
    FZ_MODELS,
    NULL,
};

int64_t fz_seeds(const px_study *study)
{
    const int64_t limit = study->options.limit;
    return limit > 0 && limit < FZ_SEEDS ? limit : FZ_SEEDS;
}

study_network fz_network(size_t subject)
{
    return (study_network){
        .dataset = fz_subjects[subject].dataset, .arch = fz_subjects[subject].arch, .number = 1};
}

/* ResNet-20 can be trained; and a network that lies in the folder needs nothing. */
static bool fz_has_network(const px_study *study, size_t subject)
{
    const study_network network = fz_network(subject);
    return subject == FZ_RESNET || pxi_study_model(study, fz_subjects[subject].model) ||
           pxi_network_done(study, &network);
}

const char *fz_missing(const px_study *study, size_t subject, char buffer[96])
{
    char words[64];
    const fz_subject *s = &fz_subjects[subject];
    if (!pxi_study_spec(study, s->dataset))
        snprintf(buffer, 96, "%s", pxi_study_missing(study, s->dataset, words));
    else if (!fz_has_network(study, subject))
        snprintf(buffer, 96, "not run: needs --model %s=PATH", s->model);
    else
        return NULL;
    return buffer;
}

size_t fz_guide_find(const char *id)
{
    size_t g = 0;
    while (g < FZ_ALL_GUIDES && strcmp(fz_guides[g].id, id) != 0)
        g++;
    return g;
}

const char *fz_unit(fz_measure measure)
{
    return measure == FZ_BY_PICKS ? "picks" : measure == FZ_BY_SECONDS ? "seconds" : "outputs";
}

int64_t fz_size(const px_study *study, fz_measure measure)
{
    const px_study_options *o = &study->options;
    if (measure == FZ_BY_SECONDS)
        return (int64_t)(o->each_s + 0.5);
    const int64_t full = measure == FZ_BY_PICKS ? FZ_PICKS : FZ_OUTPUT_COUNT;
    return o->each_pieces > 0 && (measure == FZ_BY_PICKS || o->each_pieces < full) ? o->each_pieces
                                                                                   : full;
}

void fz_prefix(const px_study *study, size_t subject, size_t guide, fz_measure measure,
               char key[CELL_KEY])
{
    const fz_subject *s = &fz_subjects[subject];
    const int used = snprintf(key, CELL_KEY, "%s %s fuzz %s %s", s->dataset, s->arch,
                              fz_guides[guide].id, fz_unit(measure));
    if (fz_seeds(study) != FZ_SEEDS)
        snprintf(key + used, (size_t)(CELL_KEY - used), " seeds=%" PRId64, fz_seeds(study));
}

/* --- the plan --------------------------------------------------------------------------------- */

px_status fz_plan_network(px_study *study, size_t subject, px_error *err)
{
    const fz_subject *s = &fz_subjects[subject];
    const bool made = subject == FZ_RESNET;
    study_job job = {.kind = "network", .subject = subject, .run = 1};
    snprintf(job.label, sizeof job.label, "%s %s: %s", s->dataset, s->arch,
             !made                              ? "a network as it was given"
             : pxi_study_model(study, s->model) ? "fine-tune the network"
                                                : "train a network");
    snprintf(job.cost, sizeof job.cost, "%s %s network", s->dataset, s->arch);
    job.seconds = made ? 600.0 : 30.0;
    return pxi_study_add_job(study, &job, err);
}

px_status fz_plan_cell(px_study *study, size_t subject, size_t guide, fz_measure measure,
                       int64_t run, px_error *err)
{
    const fz_subject *s = &fz_subjects[subject];
    const int64_t size = fz_size(study, measure);
    const char *unit = fz_unit(measure);
    char key[CELL_KEY];
    fz_prefix(study, subject, guide, measure, key);
    const size_t used = strlen(key);
    snprintf(key + used, CELL_KEY - used, " run=%" PRId64 " n=%" PRId64, run, size);
    if (pxi_cells_find(study->cells, key))
        return PX_OK;
    study_job job = {.kind = "cell",
                     .subject = subject,
                     .run = run,
                     .network = 1,
                     .a = guide,
                     .b = (size_t)measure};
    snprintf(job.label, sizeof job.label, "%s %s: %s, run %" PRId64 ", %" PRId64 " %s", s->dataset,
             s->arch, fz_guides[guide].title, run, size, unit);
    snprintf(job.cost, sizeof job.cost, "%s %s %s %" PRId64 " %s", s->dataset, s->arch,
             fz_guides[guide].id, size, unit);
    const double each = subject == FZ_RESNET ? 0.03 : 0.1;
    job.seconds = measure == FZ_BY_SECONDS ? (double)size
                                           : (double)size * each * (fz_guides[guide].paths ? 5 : 1);
    return pxi_study_add_job(study, &job, err);
}

static int64_t runs_of(const px_study *study, size_t guide)
{
    return guide == FZ_NSGEN ? 0 : pxi_study_runs(study, fz_guides[guide].id);
}

static px_status fz_plan(px_study *study, px_error *err)
{
    bool planned[FZ_SUBJECTS];
    int64_t most = 0;
    char buffer[96];
    const fz_measure measure = study->options.each_s > 0.0 ? FZ_BY_SECONDS : FZ_BY_PICKS;
    for (size_t g = 0; g < FZ_GUIDES; g++)
        most = PX_MAX(most, runs_of(study, g));
    for (size_t s = 0; s < FZ_SUBJECTS; s++) {
        const study_network network = fz_network(s);
        planned[s] = pxi_study_wants(study, fz_subjects[s].dataset, fz_subjects[s].arch) &&
                     !fz_missing(study, s, buffer);
        if (planned[s] && !pxi_network_done(study, &network) &&
            (most > 0 || pxi_study_runs(study, "networks") > 0))
            PX_TRY(fz_plan_network(study, s, err));
    }
    for (int64_t run = 1; run <= most; run++)
        for (size_t g = 0; g < FZ_GUIDES; g++)
            for (size_t s = 0; s < FZ_SUBJECTS; s++)
                if (planned[s] && run <= runs_of(study, g))
                    PX_TRY(fz_plan_cell(study, s, g, measure, run, err));
    return PX_OK;
}

static px_status fz_run(px_study *study, const study_job *job, px_error *err)
{
    return strcmp(job->kind, "network") == 0 ? fz_make_network(study, job->subject, err)
                                             : fz_run_cell(study, job, err);
}

const study_plan pxi_study_fuzz = {
    .kind =
        {
            .id = "fuzz",
            .title = "coverage criteria as guides of a fuzzer",
            .source = "Huang, Sun, Yan, Liu, Lei and Lo, Neuron Semantic-Guided Test Generation "
                      "(NSGen)",
            .parts = fz_parts,
            .part_count = PX_LEN(fz_parts),
            .datasets = fz_datasets,
            .dataset_count = PX_LEN(fz_datasets),
            .models = fz_models,
            .piece = "picks",
            .pieces = FZ_PICKS,
            .piece_seconds = FZ_SECONDS,
        },
    .plan = fz_plan,
    .run = fz_run,
    .report = fz_report,
};
