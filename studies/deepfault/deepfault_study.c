/* studies/deepfault/deepfault_study.c - DeepFault: fault localization for deep neural networks
 *
 * H. F. Eniser, S. Gerasimou and A. Sen, FASE 2019; LGR A.8. Three networks for MNIST and three for
 * CIFAR-10; for each, the most suspicious neurons of each class by Tarantula, Ochiai and D*, and
 * random ones of the same layers; ten inputs of each class are moved along the mean gradient of
 * those neurons; five runs draw other inputs and other random neurons.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#include "deepfault/deepfault_study.h"

#include "base/memory.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

const df_choice df_choices[DF_CHOICES] = {
    [DF_TARANTULA] = {"tarantula", "Tarantula"},
    [DF_OCHIAI] = {"ochiai", "Ochiai"},
    [DF_DSTAR] = {"dstar", "D*"},
    [DF_RANDOM] = {"random", "Random"},
};

const df_pair df_pairs[DF_PAIRS] = {
    {DF_TARANTULA, DF_RANDOM, "TR", "T-R"}, {DF_OCHIAI, DF_RANDOM, "OR", "O-R"},
    {DF_DSTAR, DF_RANDOM, "DR", "D-R"},     {DF_TARANTULA, DF_OCHIAI, "TO", "T-O"},
    {DF_TARANTULA, DF_DSTAR, "TD", "T-D"},  {DF_OCHIAI, DF_DSTAR, "OD", "O-D"},
};

static const px_study_part df_parts[] = {
    {"mnist", "the three MNIST networks", true},
    {"cifar", "the three CIFAR-10 networks, with a sweep of steps; training them takes hours",
     false},
};

static const px_study_dataset df_datasets[] = {
    {"mnist", "MNIST", NULL},
    {"cifar-10", "CIFAR-10", NULL},
};

size_t df_steps(size_t subject, double steps[DF_STEPS])
{
    /* The paper's step of 10 belongs to networks that read 0..255. */
    static const double sweep[DF_STEPS] = {0.1, 1.0, 10.0};
    if (df_dataset(subject) == DF_MNIST) {
        steps[0] = 1.0;
        return 1;
    }
    memcpy(steps, sweep, sizeof sweep);
    return DF_STEPS;
}

study_network df_network(size_t subject)
{
    enum { EPOCHS = 100 };
    const df_subject *s = &df_subjects[subject];
    return (study_network){
        .dataset = s->dataset,
        .arch = s->arch,
        .zoo = s->zoo,
        .accuracy = s->accuracy / 100.0,
        .held_back = s->held_back,
        .epochs = df_dataset(subject) == DF_MNIST ? 0 : EPOCHS,
        .number = 1,
    };
}

int64_t df_per_class(const px_study *study)
{
    const int64_t limit = study->options.limit / DF_CLASSES;
    return study->options.limit > 0 && limit < DF_PER_CLASS ? PX_MAX(limit, 1) : DF_PER_CLASS;
}

/* --- names ------------------------------------------------------------------------------------ */

void df_prefix(size_t subject, int choice, int k, double step, char key[CELL_KEY])
{
    const df_subject *s = &df_subjects[subject];
    snprintf(key, CELL_KEY, "%s %s made %s k=%d step=%g", s->dataset, s->arch,
             df_choices[choice].id, k, step);
}

void df_tests_prefix(size_t subject, int k, double step, char key[CELL_KEY])
{
    const df_subject *s = &df_subjects[subject];
    snprintf(key, CELL_KEY, "%s %s tests k=%d step=%g", s->dataset, s->arch, k, step);
}

void df_layers_prefix(size_t subject, int choice, char key[CELL_KEY])
{
    const df_subject *s = &df_subjects[subject];
    snprintf(key, CELL_KEY, "%s %s layers %s", s->dataset, s->arch, df_choices[choice].id);
}

void df_key_end(char key[CELL_KEY], int64_t run, int64_t n)
{
    const size_t at = strlen(key);
    snprintf(key + at, CELL_KEY - at, " run=%" PRId64 " n=%" PRId64, run, n);
}

/* --- the plan --------------------------------------------------------------------------------- */

/* The tests over all runs are the last thing that a subject's job puts. */
static bool df_done(const px_study *study, size_t subject, int64_t runs)
{
    char key[CELL_KEY];
    double steps[DF_STEPS];
    const size_t count = df_steps(subject, steps);
    df_tests_prefix(subject, df_ks[df_dataset(subject)][DF_KS - 1], steps[count - 1], key);
    df_key_end(key, 1, runs * df_per_class(study) * DF_CLASSES);
    return pxi_cells_find(study->cells, key) != NULL;
}

static px_status df_plan_subject(px_study *study, size_t subject, int64_t runs, px_error *err)
{
    const df_subject *s = &df_subjects[subject];
    const study_network network = df_network(subject);
    const bool mnist = df_dataset(subject) == DF_MNIST;
    if (df_done(study, subject, runs))
        return PX_OK;
    if (!pxi_network_done(study, &network)) {
        study_job train = {.kind = "network", .subject = subject, .run = 1, .network = 1};
        snprintf(train.label, sizeof train.label, "%s: a network of %.1f%% accuracy", s->title,
                 s->accuracy);
        snprintf(train.cost, sizeof train.cost, "%s %s network", s->dataset, s->arch);
        train.seconds = mnist ? 30.0 : 3600.0;
        PX_TRY(pxi_study_add_job(study, &train, err));
    }
    study_job job = {.kind = "subject", .subject = subject, .run = runs, .network = 1};
    snprintf(job.label, sizeof job.label, "%s: %" PRId64 " runs of every measure and k", s->title,
             runs);
    snprintf(job.cost, sizeof job.cost, "%s %s subject", s->dataset, s->arch);
    job.seconds = (mnist ? 2.0 : 60.0) * (double)runs;
    return pxi_study_add_job(study, &job, err);
}

static px_status df_plan(px_study *study, px_error *err)
{
    for (size_t s = 0; s < DF_SUBJECTS; s++) {
        const df_subject *subject = &df_subjects[s];
        const int64_t runs = pxi_study_runs(study, df_parts[df_dataset(s)].id);
        if (runs > 0 && pxi_study_spec(study, subject->dataset) &&
            pxi_study_wants(study, subject->dataset, subject->arch))
            PX_TRY(df_plan_subject(study, s, runs, err));
    }
    return PX_OK;
}

static px_status df_run(px_study *study, const study_job *job, px_error *err)
{
    if (strcmp(job->kind, "network") != 0)
        return df_run_subject(study, job, err);
    const study_network network = df_network(job->subject);
    return pxi_network_make(study, &network, err);
}

const study_plan pxi_study_deepfault = {
    .kind =
        {
            .id = "deepfault",
            .title = "fault localization for deep neural networks",
            .source = "Eniser, Gerasimou and Sen, DeepFault, FASE 2019",
            .parts = df_parts,
            .part_count = PX_LEN(df_parts),
            .datasets = df_datasets,
            .dataset_count = PX_LEN(df_datasets),
        },
    .plan = df_plan,
    .run = df_run,
    .report = df_report,
};
