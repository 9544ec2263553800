/* studies/deepsensor/deepsensor_study.c - DeepSensor: excitable neurons, and swarms that look for
 * them
 *
 * Jin, Chen, Zheng, Chen, Cheng, Yu and Liu, Excitement Surfeited Turns to Errors, sections 1, 5, 6
 * and 7; LGR parts B and H.2. A network, 1,000 seeds, 20 iterations, and a method; errors and the
 * classes they are taken for. Then the same on networks that were trained badly, and networks
 * retrained with what was found.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#include "deepsensor/deepsensor_study.h"

#include "base/memory.h"

#include <inttypes.h>
#include <plexor/fuzz.h>
#include <stdio.h>
#include <string.h>

static const px_study_part ds_parts[] = {
    {"networks", "the networks alone: judged, or trained; faulty ones too", true},
    {"table3", "Table 3: errors and their classes by method, unbounded and within 0.1", true},
    {"default", "Table 3 for plexor's own settings of the swarm", true},
    {"search", "Table 3 for a genetic search, places at random, and single climbs", true},
    {"norms", "Table 3 for normalisations and the code's objective", true},
    {"tried", "Table 3 for other readings of the method", false},
    {"table4", "Table 4: networks trained with polluted data", true},
    {"table5", "Table 5: networks that are under- and over-trained", true},
    {"rq5", "lambda, epsilon, and where particles begin", true},
    {"rq5-faulty", "the same on networks that are polluted and over-trained", true},
    {"fig1", "Figure 1: excitable neurons of corner cases and of noise", true},
    {"overlap", "Figure 7: neurons that attacks and the swarm have in common", true},
    {"retrain", "Figures 4 to 6: attacks on networks retrained with what was found, CLEVER", true},
    {"table6", "Table 6: speakers, the whole of the test part", true},
    {"table7", "Table 7: speakers, under- and over-trained", true},
};

static const px_study_dataset ds_datasets[] = {
    {"mnist", "MNIST", NULL}, {"cifar-10", "CIFAR-10", NULL}, {"imagenet", "ImageNet", NULL},
    {"vctk", "VCTK", NULL},   {"fsdd", "FSDD", NULL},
};

static const char *const ds_models[] = {
    "lenet1",
    "lenet4",
    "lenet5",
    "resnet20",
    "resnet32",
    "mobilenetv2",
    "vgg16",
    "imagenet/mobilenet",
    "imagenet/resnet50",
    "vctk/resnet34",
    "vctk/deepspeaker",
    "fsdd/resnet34",
    "fsdd/deepspeaker",
    "fsdd/speaker-small",
    NULL,
};

/* --- which cells there are -------------------------------------------------------------------- */

/* How many runs the parts want of a network and a method; 0: none. */
static int64_t cell_runs(const px_study *study, size_t subject, size_t state, size_t method)
{
    const ds_group group = ds_methods[method].group;
    const bool paper = group == DS_GROUP_PAPER, audio = ds_is_audio(subject);
    const bool main = paper || group == DS_GROUP_CONTROL;
    const bool polluted = ds_states[state].pollute > 0.0;
    const bool faulty = ds_faulty_of(subject) < DS_FAULTY && !polluted;
    int64_t runs = 0;
    if (state == DS_CLEAN && main)
        runs = PX_MAX(runs, pxi_study_runs(study, audio ? "table6" : "table3"));
    if (state == DS_CLEAN && group == DS_GROUP_DEFAULT)
        runs = PX_MAX(runs, pxi_study_runs(study, "default"));
    if (state == DS_CLEAN && group == DS_GROUP_SEARCH)
        runs = PX_MAX(runs, pxi_study_runs(study, "search"));
    if (state == DS_CLEAN && !audio && group == DS_GROUP_NORM)
        runs = PX_MAX(runs, pxi_study_runs(study, "norms"));
    if (state == DS_CLEAN && !audio && group == DS_GROUP_TRIED)
        runs = PX_MAX(runs, pxi_study_runs(study, "tried"));
    if (polluted && !audio && paper)
        runs = PX_MAX(runs, pxi_study_runs(study, "table4"));
    if (faulty && paper)
        runs = PX_MAX(runs, pxi_study_runs(study, audio ? "table7" : "table5"));
    if (state == DS_CLEAN && !audio && paper)
        runs = PX_MAX(runs, pxi_study_runs(study, "retrain"));
    if (state == DS_CLEAN && !audio && method == DS_SENSOR)
        runs = PX_MAX(runs, pxi_study_runs(study, "overlap"));
    if (subject == DS_LENET5 && (group >= DS_GROUP_LAMBDA || method == DS_SENSOR)) {
        if (state == DS_CLEAN)
            runs = PX_MAX(runs, pxi_study_runs(study, "rq5"));
        if (state == DS_POLLUTED10 || state == DS_OVER)
            runs = PX_MAX(runs, pxi_study_runs(study, "rq5-faulty"));
    }
    return runs;
}

/* Whether there is something to compare with. */
static bool cell_possible(const px_study *study, size_t subject, size_t method)
{
    ds_rival rivals[DS_RIVALS];
    if (!px_fuzz_engine_find(ds_methods[method].engine))
        return false;
    if (strcmp(ds_methods[method].engine, "deepxplore") != 0)
        return true;
    const size_t count = ds_rivals(subject, rivals);
    for (size_t i = 0; i < count; i++)
        if (ds_has_rival(study, subject, &rivals[i]))
            return true;
    return false;
}

/* --- the plan --------------------------------------------------------------------------------- */

static px_status plan_network(px_study *study, size_t subject, size_t state, px_error *err)
{
    const ds_subject *s = &ds_subjects[subject];
    char arch[DS_ARCH];
    const study_network network = ds_network(subject, state, arch);
    const bool given = state == DS_CLEAN && pxi_study_model(study, s->model);
    study_job job = {.kind = "network", .subject = subject, .run = 1, .b = state};
    snprintf(job.label, sizeof job.label, "%s %s: %s", s->dataset, arch,
             given ? "a network as it was given" : "train a network");
    snprintf(job.cost, sizeof job.cost, "%s %s network", s->dataset, arch);
    job.seconds = ds_network_seconds(study, subject, state);
    for (size_t i = 0; i < study->job_count; i++) /* as a rival, maybe */
        if (strcmp(study->jobs[i].label, job.label) == 0)
            return PX_OK;
    return pxi_network_done(study, &network) ? PX_OK : pxi_study_add_job(study, &job, err);
}

static px_status plan_rivals(px_study *study, size_t subject, px_error *err)
{
    ds_rival rivals[DS_RIVALS];
    const size_t count = ds_rivals(subject, rivals);
    for (size_t i = 0; i < count; i++) {
        const study_network network = ds_rival_network(subject, &rivals[i]);
        study_job job = {.kind = "rival", .subject = subject, .run = 1, .a = i};
        if (pxi_network_done(study, &network) || !ds_has_rival(study, subject, &rivals[i]))
            continue;
        if (rivals[i].subject < DS_SUBJECTS) {
            PX_TRY(plan_network(study, rivals[i].subject, DS_CLEAN, err));
            continue;
        }
        snprintf(job.label, sizeof job.label, "%s %s: a network to compare with",
                 ds_subjects[subject].dataset, rivals[i].arch);
        snprintf(job.cost, sizeof job.cost, "%s %s network", ds_subjects[subject].dataset,
                 rivals[i].arch);
        job.seconds = 30.0;
        PX_TRY(pxi_study_add_job(study, &job, err));
    }
    return PX_OK;
}

double ds_cell_seconds(size_t subject, size_t method)
{
    const bool small = subject <= DS_LENET5 || subject == DS_FSDD_SMALL;
    switch (ds_methods[method].clock) {
    case DS_BY_EXECUTION:
        return small ? 0.1 : 1.5;
    case DS_BY_VISIT:
        return small ? 0.2 : 4.0;
    case DS_BY_STEP:
        return small ? 0.01 : 0.2;
    case DS_BY_SWARM:
        break;
    }
    const char *first = ds_methods[method].settings[0]; /* one forward pass per place */
    if (first && (strcmp(first, "objective=loss") == 0 || strcmp(first, "objective=chance") == 0))
        return small ? 0.03 : 1.5;
    return small ? 0.4 : 20.0;
}

static px_status plan_cell(px_study *study, size_t subject, size_t state, size_t method,
                           int64_t run, px_error *err)
{
    const ds_subject *s = &ds_subjects[subject];
    const ds_method *m = &ds_methods[method];
    const int64_t seeds = ds_seeds(study);
    char key[CELL_KEY];
    ds_prefix(study, subject, state, method, key);
    const size_t used = strlen(key);
    snprintf(key + used, CELL_KEY - used, " run=%" PRId64 " n=%" PRId64, run, seeds);
    if (pxi_cells_find(study->cells, key))
        return PX_OK;
    study_job job = {
        .kind = "cell", .subject = subject, .run = run, .network = 1, .a = method, .b = state};
    snprintf(job.label, sizeof job.label, "%s %s, %s: %s, run %" PRId64 ", %" PRId64 " seeds",
             s->dataset, s->arch, ds_states[state].title, m->title, run, seeds);
    snprintf(job.cost, sizeof job.cost, "%s %s %s %" PRId64 "x%" PRId64, s->dataset, s->arch, m->id,
             seeds, ds_iterations(study));
    job.seconds = (double)seeds * ds_cell_seconds(subject, method) * (double)ds_iterations(study) /
                  DS_ITERATIONS;
    return pxi_study_add_job(study, &job, err);
}

/* A job of a part that is none of the campaigns, unless its cell is there. */
static px_status plan_other(px_study *study, const char *kind, size_t subject, size_t a,
                            int64_t run, const char *key, const char *what, double seconds,
                            px_error *err)
{
    const ds_subject *s = &ds_subjects[subject];
    study_job job = {.kind = kind, .subject = subject, .run = run, .a = a, .seconds = seconds};
    if (pxi_cells_find(study->cells, key))
        return PX_OK;
    snprintf(job.label, sizeof job.label, "%s %s: %s, run %" PRId64, s->dataset, s->arch, what,
             run);
    snprintf(job.cost, sizeof job.cost, "%s %s %s %" PRId64, s->dataset, s->arch, what,
             ds_seeds(study));
    return pxi_study_add_job(study, &job, err);
}

double ds_figure_seconds(size_t subject, const char *what)
{
    const double slow = subject <= DS_LENET5 ? 1.0 : 20.0;
    return slow * (strcmp(what, "fig1") == 0 ? 20.0 : strcmp(what, "overlap") == 0 ? 30.0 : 300.0);
}

/* Figures 1 and 4 to 7, which need what the campaigns of the same run found. */
static px_status plan_figures(px_study *study, size_t subject, int64_t run, px_error *err)
{
    char key[CELL_KEY], what[80];
    const double part = (double)ds_seeds(study) / DS_SEEDS;
    if (subject == DS_LENET5 && run <= pxi_study_runs(study, "fig1")) {
        ds_excite_key(study, subject, "fig1", run, DS_PAIRS, key);
        PX_TRY(plan_other(study, "fig1", subject, 0, run, key, "excitable neurons",
                          ds_figure_seconds(subject, "fig1") * part, err));
    }
    if (run <= pxi_study_runs(study, "overlap") && cell_possible(study, subject, DS_SENSOR)) {
        ds_excite_key(study, subject, "overlap", run, DS_OVERLAP, key);
        PX_TRY(plan_other(study, "overlap", subject, 0, run, key, "overlap of neurons",
                          ds_figure_seconds(subject, "overlap") * part, err));
    }
    for (size_t i = 0; i < DS_REMEDIES && run <= pxi_study_runs(study, "retrain"); i++) {
        const size_t remedy = i == 0 ? DS_NOTHING : i <= DS_NOTHING ? i - 1 : i; /* it is first */
        if (remedy < DS_PAPER_METHODS && !cell_possible(study, subject, remedy))
            continue;
        ds_retrain_key(study, subject, remedy, run, key);
        snprintf(what, sizeof what, "%s", remedy == DS_NOTHING ? "attacked as it is" : "retrain, ");
        if (remedy != DS_NOTHING)
            snprintf(what + strlen(what), sizeof what - strlen(what), "%s", ds_remedies[remedy]);
        PX_TRY(plan_other(study, "retrain", subject, remedy, run, key, what,
                          ds_figure_seconds(subject, "retrain"), err));
    }
    return PX_OK;
}

/* Whether any method is run on the network; and whether DeepXplore is. */
static bool state_wanted(const px_study *study, size_t subject, size_t state, bool *rivals)
{
    bool wanted = false;
    *rivals = false;
    for (size_t m = 0; m < ds_method_count; m++) {
        const bool run =
            cell_runs(study, subject, state, m) > 0 && cell_possible(study, subject, m);
        wanted |= run;
        *rivals |= run && strcmp(ds_methods[m].engine, "deepxplore") == 0;
    }
    wanted |= subject == DS_LENET5 && state == DS_CLEAN && pxi_study_runs(study, "fig1") > 0;
    return wanted || (pxi_study_runs(study, "networks") > 0 &&
                      (state == DS_CLEAN || ds_faulty_of(subject) < DS_FAULTY));
}

static px_status plan_networks(px_study *study, bool planned[DS_SUBJECTS][DS_STATES], px_error *err)
{
    char buffer[STUDY_NOTE];
    for (size_t s = 0; s < DS_SUBJECTS; s++)
        for (size_t state = 0; state < DS_STATES; state++) {
            bool rivals = false;
            planned[s][state] =
                pxi_study_wants(study, ds_subjects[s].dataset, ds_subjects[s].arch) &&
                !ds_missing(study, s, state, buffer) && state_wanted(study, s, state, &rivals);
            if (planned[s][state])
                PX_TRY(plan_network(study, s, state, err));
            if (planned[s][state] && rivals)
                PX_TRY(plan_rivals(study, s, err));
        }
    return PX_OK;
}

static px_status ds_plan(px_study *study, px_error *err)
{
    bool planned[DS_SUBJECTS][DS_STATES];
    int64_t most = 0;
    if (ds_iterations(study) > 1000)
        return px_fail(err, PX_E_USAGE, "--each: at most 1000 iterations");
    PX_TRY(plan_networks(study, planned, err));
    for (size_t i = 0; i < PX_LEN(ds_parts); i++)
        most = PX_MAX(most, study->part_runs[i]);
    for (int64_t run = 1; run <= most; run++)
        for (size_t s = 0; s < DS_SUBJECTS; s++) {
            for (size_t state = 0; state < DS_STATES; state++)
                for (size_t m = 0; m < ds_method_count; m++)
                    if (planned[s][state] && run <= cell_runs(study, s, state, m) &&
                        cell_possible(study, s, m))
                        PX_TRY(plan_cell(study, s, state, m, run, err));
            if (planned[s][DS_CLEAN] && !ds_is_audio(s))
                PX_TRY(plan_figures(study, s, run, err));
        }
    return PX_OK;
}

static px_status run_rival(px_study *study, const study_job *job, px_error *err)
{
    ds_rival rivals[DS_RIVALS];
    ds_rivals(job->subject, rivals);
    return ds_make_rival(study, job->subject, &rivals[job->a], err);
}

static px_status ds_run(px_study *study, const study_job *job, px_error *err)
{
    static const struct {
        const char *kind;
        px_status (*run)(px_study *study, const study_job *job, px_error *err);
    } kinds[] = {{"rival", run_rival},
                 {"cell", ds_run_cell},
                 {"fig1", ds_run_figure1},
                 {"overlap", ds_run_overlap},
                 {"retrain", ds_run_retrain}};
    for (size_t i = 0; i < PX_LEN(kinds); i++)
        if (strcmp(kinds[i].kind, job->kind) == 0)
            return kinds[i].run(study, job, err);
    return ds_make_network(study, job->subject, job->b, err);
}

const study_plan pxi_study_deepsensor = {
    .kind =
        {
            .id = "deepsensor",
            .title = "excitable neurons and particle swarms",
            .source = "Jin, Chen, Zheng, Chen, Cheng, Yu and Liu, Excitement Surfeited Turns to "
                      "Errors (DeepSensor)",
            .parts = ds_parts,
            .part_count = PX_LEN(ds_parts),
            .datasets = ds_datasets,
            .dataset_count = PX_LEN(ds_datasets),
            .models = ds_models,
            .piece = "iterations",
            .pieces = DS_ITERATIONS,
        },
    .plan = ds_plan,
    .run = ds_run,
    .report = ds_report,
};
