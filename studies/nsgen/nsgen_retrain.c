/* studies/nsgen/nsgen_retrain.c - section 7.5: networks retrained with faults that NSGen finds
 *
 * Seeds are the first 1,000 images of S1, the first half of the test set. A campaign of NSGen looks
 * for 1,000 faults of these, in at most ten times as many picks; with the labels of their seeds
 * they are appended to the training set, and the network is trained further (recipe `nsgen`: what
 * the paper does not state is plexor's choice). Two controls: as many faults of the same seeds that
 * were found without a guide (nsgen_search.c), and as many epochs without anything new.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#include "nsgen/nsgen_stats.h"

#include "base/memory.h"

#include <internal/repair.h>
#include <inttypes.h>
#include <plexor/onnx.h>
#include <plexor/system.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { TRAINED_PER_FAULT = 50 }; /* inputs of the training set: the paper's CIFAR */

enum { STEP_FUZZ, STEP_TRAIN, STEP_JUDGE }; /* job->a; job->b is the arm */

const char *const ng_arms[NG_ARMS] = {"original", "none", "nsgen", "random"};

void ng_retrain_prefix(size_t subject, size_t arm, char prefix[CELL_KEY])
{
    snprintf(prefix, CELL_KEY, "%s %s retrain %s", fz_subjects[subject].dataset,
             fz_subjects[subject].arch, ng_arms[arm]);
}

static void key_end(const px_study *study, int64_t run, char key[CELL_KEY])
{
    const size_t used = strlen(key);
    snprintf(key + used, CELL_KEY - used, " run=%" PRId64 " n=%" PRId64, run,
             ng_inputs(study, FZ_SEEDS));
}

void ng_retrain_key(const px_study *study, size_t subject, size_t arm, int64_t run,
                    char key[CELL_KEY])
{
    ng_retrain_prefix(subject, arm, key);
    key_end(study, run, key);
}

void ng_search_key(const px_study *study, size_t subject, size_t arm, int64_t run,
                   char key[CELL_KEY])
{
    snprintf(key, CELL_KEY, "%s %s retrain-fuzz %s", fz_subjects[subject].dataset,
             fz_subjects[subject].arch, ng_arms[arm]);
    key_end(study, run, key);
}

study_network ng_retrain_network(const px_study *study, size_t subject, size_t arm, int64_t run,
                                 char arch[NG_ARCH])
{
    study_network network = fz_network(subject);
    if (arm == NG_ORIGINAL)
        return network;
    snprintf(arch, NG_ARCH, "%s-retrained-%s-%" PRId64, fz_subjects[subject].arch, ng_arms[arm],
             ng_inputs(study, FZ_SEEDS));
    network.arch = arch;
    network.number = run;
    return network;
}

/* --- planning -------------------------------------------------------------------------------- */

static px_status plan_step(px_study *study, size_t s, size_t step, size_t arm, int64_t run,
                           px_error *err)
{
    static const char *const words[] = {"look for faults to retrain with", "retrain",
                                        "judge what was retrained"};
    const double count = (double)ng_inputs(study, FZ_SEEDS), size = s == FZ_RESNET ? 1.0 : 5.0;
    study_job job = {
        .kind = "retrain", .subject = s, .run = run, .network = 1, .a = step, .b = arm};
    snprintf(job.label, sizeof job.label, "%s %s: %s%s%s%s, run %" PRId64, fz_subjects[s].dataset,
             fz_subjects[s].arch, words[step], step == STEP_JUDGE ? "" : " (",
             step == STEP_JUDGE ? "" : ng_arms[arm], step == STEP_JUDGE ? "" : ")", run);
    snprintf(job.cost, sizeof job.cost, "%s %s retrain %zu %s %.0f", fz_subjects[s].dataset,
             fz_subjects[s].arch, step, arm == NG_FAULTS ? "nsgen" : "other", count);
    job.seconds = size * count *
                  (step == STEP_TRAIN   ? 1.2
                   : step == STEP_JUDGE ? 2.0
                   : arm == NG_FAULTS   ? 1.0
                                        : 0.1);
    return pxi_study_add_job(study, &job, err);
}

static px_status plan_run(px_study *study, size_t s, int64_t run, px_error *err)
{
    char key[CELL_KEY], arch[NG_ARCH];
    ng_retrain_key(study, s, NG_ARMS - 1, run, key);
    if (pxi_cells_find(study->cells, key))
        return PX_OK;
    for (size_t arm = NG_FAULTS; arm <= NG_RANDOM; arm++) {
        ng_search_key(study, s, arm, run, key);
        if (!pxi_cells_find(study->cells, key))
            PX_TRY(plan_step(study, s, STEP_FUZZ, arm, run, err));
    }
    for (size_t arm = NG_NOTHING; arm <= NG_RANDOM; arm++) {
        const study_network network = ng_retrain_network(study, s, arm, run, arch);
        if (!pxi_network_done(study, &network))
            PX_TRY(plan_step(study, s, STEP_TRAIN, arm, run, err));
    }
    return plan_step(study, s, STEP_JUDGE, NG_ORIGINAL, run, err);
}

px_status ng_retrain_plan(px_study *study, px_error *err)
{
    for (int64_t run = 1; run <= pxi_study_runs(study, "retrain"); run++)
        for (size_t s = 0; s < FZ_SUBJECTS; s++)
            if (ng_planned(study, s))
                PX_TRY(plan_run(study, s, run, err));
    return PX_OK;
}

/* --- training -------------------------------------------------------------------------------- */

typedef struct training {
    px_study *study;
    const study_job *job;
    px_model *model;
    study_data train, seeds, added; /* the last without a set: nothing is added */
    px_feeder *feeder;
    px_trainer *trainer;
} training;

static bool training_progress(void *context, const px_train_progress *p)
{
    const px_study *study = context;
    return !study->options.progress ||
           study->options.progress(study->options.context, p->done, p->total);
}

/* The first faults of a campaign, as many as its cell says. */
static px_status training_faults(training *t, px_error *err)
{
    const px_graph *graph = px_model_graph(t->model);
    char key[CELL_KEY], *path = NULL;
    ng_search_key(t->study, t->job->subject, t->job->b, t->job->run, key);
    const study_cell *cell = pxi_cells_find(t->study->cells, key);
    if (!cell)
        return px_fail(err, PX_E_INTERNAL, "'%s' is not there", key);
    px_data_options options = px_model_data_options(t->model);
    options.limit = (int64_t)pxi_cell_number(cell, "faults");
    if (options.limit < 1)
        return PX_OK;
    PX_TRY(ng_search_path(t->study, t->job, t->job->b, &path, err));
    t->added.pre = t->train.pre;
    const px_status status = px_dataset_open_for(
        &t->added.pre, &graph->values[graph->inputs[0]].shape, path, &options, &t->added.set, err);
    free(path);
    return status;
}

static px_status training_open(training *t, px_error *err)
{
    const study_network network = fz_network(t->job->subject);
    const int64_t count = ng_inputs(t->study, FZ_SEEDS);
    PX_TRY(pxi_network_load(t->study, &network, &t->model, err));
    PX_TRY(pxi_study_open(t->study, t->model, network.dataset, "train", 0.0,
                          count < FZ_SEEDS ? count * TRAINED_PER_FAULT : 0, &t->train, err));
    PX_TRY(pxi_study_open(t->study, t->model, network.dataset, "test", 0.5, count, &t->seeds, err));
    return t->job->b == NG_NOTHING ? PX_OK : training_faults(t, err);
}

static px_status training_run(training *t, px_error *err)
{
    const px_repair_recipe *recipe = px_repair_recipe_find("nsgen");
    const uint64_t seed = t->study->options.seed + (uint64_t)t->job->run;
    px_scores scores;
    PX_TRY(px_model_scores(t->model, &scores, err));
    px_feeder_options feed = px_feeder_options_default();
    feed.base = (px_feeder_set){.set = t->train.set, .pre = &t->train.pre};
    feed.added = (px_feeder_set){.set = t->added.set, .pre = &t->added.pre};
    feed.mix = recipe->mix;
    feed.classes = (int)scores.classes;
    feed.batch = recipe->batch;
    feed.seed = seed;
    PX_TRY(px_feeder_new(&feed, &t->feeder, err));
    px_trainer_options o = px_trainer_options_default();
    o.model = t->model;
    o.feeder = t->feeder;
    o.test = (px_judge_set){t->seeds.set, &t->seeds.pre};
    o.optimizer = recipe->optimizer;
    o.schedule = recipe->schedule;
    o.lr = recipe->lr;
    o.epochs = recipe->epochs;
    o.eval_every = 0;
    o.until_accuracy = -1.0;
    o.threads = t->study->options.threads;
    o.seed = seed;
    o.progress = training_progress;
    o.context = t->study;
    PX_TRY(px_trainer_new(&o, &t->trainer, err));
    return px_trainer_run(t->trainer, err);
}

static px_status training_save(training *t, double start, px_error *err)
{
    char key[CELL_KEY], arch[NG_ARCH];
    const study_network network =
        ng_retrain_network(t->study, t->job->subject, t->job->b, t->job->run, arch);
    const px_train_result result = px_trainer_result(t->trainer);
    const px_feeder_counts counts = px_feeder_count(t->feeder);
    cell_list cell = {.count = 0};
    px_model *after = NULL;
    char *path = pxi_network_path(t->study, &network, err);
    if (!path)
        return PX_E_NOMEM;
    px_status status = px_trainer_freeze(t->trainer, NULL, 0, &after, err);
    if (status == PX_OK)
        status = pxi_study_own(t->study, path, err);
    if (status == PX_OK)
        status = px_model_save(after, path, err);
    px_model_free(after);
    after = NULL;
    if (status == PX_OK) /* as it is read back */
        status = px_model_load(path, &after, err);
    if (status == PX_OK) {
        pxi_cell_put(&cell, (double)counts.base, "train_inputs");
        pxi_cell_put(&cell, (double)counts.added, "added");
        pxi_cell_put(&cell, (double)result.epochs, "epochs");
        pxi_cell_put(&cell, result.accuracy, "train_accuracy");
        pxi_cell_put(&cell, result.test_accuracy, "seed_accuracy");
        pxi_study_put_hash(&cell, px_model_hash(after));
        pxi_network_key(&network, key);
        status = pxi_study_put(t->study, key, px_clock_s() - start, &cell, err);
    }
    px_model_free(after);
    free(path);
    return status;
}

static px_status run_training(px_study *study, const study_job *job, px_error *err)
{
    const double start = px_clock_s();
    training t = {.study = study, .job = job};
    px_status status = training_open(&t, err);
    if (status == PX_OK)
        status = training_run(&t, err);
    if (status == PX_OK)
        status = training_save(&t, start, err);
    px_trainer_free(t.trainer);
    px_feeder_free(t.feeder);
    pxi_study_close(&t.added);
    pxi_study_close(&t.seeds);
    pxi_study_close(&t.train);
    px_model_free(t.model);
    return status;
}

px_status ng_retrain_run(px_study *study, const study_job *job, px_error *err)
{
    return job->a == STEP_FUZZ    ? ng_search_run(study, job, err)
           : job->a == STEP_TRAIN ? run_training(study, job, err)
                                  : ng_retrain_judge(study, job, err);
}
