/* src/cli/cmd_cover.c - plexor cover MODEL --data SPEC */
/* SPDX-License-Identifier: Apache-2.0 */
#include "base/memory.h"
#include "cli/cover_dpd.h"

#include <internal/cover.h>
#include <internal/data.h>
#include <internal/profile.h>
#include <inttypes.h>
#include <math.h>
#include <plexor/system.h>
#include <stdio.h>
#include <stdlib.h>

enum { CURVE_POINTS = 50 };

typedef struct cover_args {
    cli_data data;
    cli_neurons neurons;
    cli_criteria criteria;
    cli_training training;
    cli_workers workers;
    cover_dpd_args dpd;
    const char *curve, *state, *shard;
    bool per_layer, per_class, uncovered, baseline;
    double fail_under;
} cover_args;

typedef struct cover_job {
    px_model *model;
    cli_inputs inputs;
    px_profile *profile;
    cover_report report;
    double *baseline;
    bool *only; /* per input */
} cover_job;

static px_cover_options cover_options(const cover_args *a, const px_profile *profile)
{
    px_cover_options options = px_cover_options_default();
    options.criteria = a->criteria.list;
    options.preset = a->criteria.preset;
    options.settings = a->criteria.settings.item;
    options.setting_count = (size_t)a->criteria.settings.count;
    options.layers = a->neurons.layers;
    options.tap = a->neurons.tap;
    options.neurons = a->neurons.view;
    options.profile = profile;
    options.seed = (uint64_t)a->data.seed;
    options.threads = (int)a->workers.threads;
    return options;
}

static px_status cover_open(const cli_command *self, const cover_args *a, const char *path,
                            cover_job *job, px_error *err)
{
    PX_TRY(cli_model_load(self, path, &job->model, err));
    PX_TRY(cli_inputs_open(job->model, &a->data, &job->inputs, err));
    if (a->training.profile) {
        PX_TRY(px_profile_open(a->training.profile, &job->profile, err));
        PX_TRY(px_profile_check(job->profile, job->model, err));
        cli_profile_remarks(job->model, job->profile);
    } else {
        const px_cover_options learn = cover_options(a, NULL);
        PX_TRY(cli_profile_make(job->model, &a->data, &a->training, &a->workers, &job->inputs.shape,
                                &learn, &job->profile, err));
    }
    const px_cover_options options = cover_options(a, job->profile);
    cover_report *r = &job->report;
    PX_TRY(px_cover_new(job->model, &job->inputs.shape, &options, &r->values.cover, err));
    r->model = job->model;
    r->inputs = &job->inputs;
    r->origin = cli_origin_of(job->model, job->inputs.set);
    r->is_part = r->shards > 1;
    if (job->profile) {
        r->profile_name = px_profile_name(job->profile);
        r->profile_count = px_profile_count(job->profile);
    }
    px_scores scores;
    const px_status scored = px_model_scores(job->model, &scores, err);
    if (scored == PX_E_NOMEM)
        return scored;
    r->has_labels = px_dataset_has_labels(job->inputs.set) && scored == PX_OK;
    px_error why = {0};
    if (r->has_labels && px_dataset_check_labels(job->inputs.set, scores.classes, &why) != PX_OK) {
        r->has_labels = false;
        cli_note(self, "failures are not counted: %s", why.message);
    }
    return PX_OK;
}

static px_status cover_observe(const cover_args *a, cover_job *job, const char *label,
                               const px_dataset *set, const px_preprocess *pre, const bool *only,
                               size_t curve_points, px_cover_tally *tally, px_error *err)
{
    px_cover_run_options run = px_cover_run_options_default();
    run.batch = a->workers.batch;
    run.shard = job->report.shard;
    run.shards = job->report.shards;
    run.only = only;
    run.curve_points = curve_points;
    run.progress = cli_tick;
    run.progress_context = CLI_WORDS(label);
    return px_cover_run(job->report.values.cover, set, pre, &run, tally, err);
}

/* The inputs of each class by themselves. The whole is put together again afterwards. */
static px_status cover_classes(const cover_args *a, cover_job *job, px_error *err)
{
    cover_report *r = &job->report;
    px_scores scores;
    if (!r->has_labels)
        return px_fail(err, PX_E_INPUT, "--per-class needs data with the network's class labels");
    PX_TRY(px_model_scores(job->model, &scores, err));
    const size_t criteria = px_cover_count(r->values.cover), classes = (size_t)scores.classes;
    PX_TRY(PX_NEW(job->only, (size_t)job->inputs.count, err));
    PX_TRY(PX_NEW(r->class_values, classes * (criteria + 1), err));
    PX_TRY(PX_NEW(r->class_tally, classes, err));
    for (int c = 0; c < scores.classes; c++) {
        int64_t count = 0;
        for (int64_t i = 0; i < job->inputs.count; i++)
            count += job->only[i] = px_dataset_label(job->inputs.set, i) == c;
        if (count == 0)
            continue;
        PX_TRY(px_cover_reset(r->values.cover, err));
        PX_TRY(cover_observe(a, job, "class by class", job->inputs.set, &job->inputs.pre, job->only,
                             0, &r->class_tally[c], err));
        for (size_t i = 0; i < criteria; i++)
            r->class_values[(size_t)c * criteria + i] = px_cover_value(r->values.cover, i).value;
    }
    r->classes = scores.classes;
    return px_cover_reset(r->values.cover, err);
}

/* As many inputs again, of noise. */
static px_status cover_baseline(const cover_args *a, cover_job *job, px_error *err)
{
    cover_report *r = &job->report;
    const px_shape sample = px_dataset_shape(job->inputs.set);
    if (sample.rank != 3 || !px_dataset_is_8bit(job->inputs.set))
        return px_fail(err, PX_E_UNSUPPORTED,
                       "--baseline makes random 8-bit images; the data are %s",
                       px_dataset_describe(job->inputs.set));
    char spec[128];
    snprintf(spec, sizeof spec, "noise:%" PRId64 "x%" PRId64 "x%" PRId64 ":%" PRId64, sample.dim[0],
             sample.dim[1], sample.dim[2], a->data.seed);
    px_data_options options = px_data_options_default();
    px_preprocess pre = job->inputs.pre;
    px_dataset *noise = NULL;
    options.limit = job->inputs.count;
    job->baseline = calloc(px_cover_count(r->values.cover) + 1, sizeof *job->baseline);
    r->values.baseline = job->baseline;
    if (!job->baseline)
        return pxi_no_memory(err);
    PX_TRY(
        px_dataset_open_for(&pre, px_model_input_shape(job->model), spec, &options, &noise, err));
    px_status status = cover_observe(a, job, "random inputs", noise, &pre, NULL, 0, NULL, err);
    px_dataset_close(noise);
    PX_TRY(status);
    for (size_t i = 0; i < px_cover_count(r->values.cover); i++)
        job->baseline[i] = px_cover_value(r->values.cover, i).value;
    return px_cover_reset(r->values.cover, err);
}

/* What has to be reset is run first, so that the cover ends with the data themselves. */
static px_status cover_work(const cover_args *a, cover_job *job, px_error *err)
{
    cover_report *r = &job->report;
    const double start = px_clock_s();
    if (a->baseline)
        PX_TRY(cover_baseline(a, job, err));
    if (a->per_class)
        PX_TRY(cover_classes(a, job, err));
    PX_TRY(cover_observe(a, job, "cover", job->inputs.set, &job->inputs.pre, NULL,
                         a->curve ? CURVE_POINTS : 0, &r->tally, err));
    r->seconds = px_clock_s() - start;
    r->accuracy =
        r->tally.labelled ? 1.0 - (double)r->tally.wrong / (double)r->tally.labelled : (double)NAN;
    if (r->uncovered)
        PX_TRY(px_cover_gaps(r->values.cover, &r->gaps, &r->gap_count, err));
    if (a->state)
        PX_TRY(px_cover_save(r->values.cover, a->state, err));
    return a->curve ? px_cover_save_curve(r->values.cover, a->curve, err) : PX_OK;
}

static int cover_gate(const cli_command *self, const cover_args *a, const px_cover *cover)
{
    int rc = CLI_DONE;
    for (size_t i = 0; a->fail_under > 0.0 && i < px_cover_count(cover); i++) {
        const px_coverage c = px_cover_value(cover, i);
        if (c.total > 0 && c.value < a->fail_under) {
            cli_note(self, "%s is %.4f, below --fail-under %g",
                     px_cover_criterion(cover, i)->entry.id, c.value, a->fail_under);
            rc = CLI_CHECK_FAILED;
        }
    }
    return rc;
}

static int cover_run(const cli_command *self, int argc, char **argv)
{
    cover_args a = {.criteria = {.list = CLI_DEFAULT_CRITERIA}};
    const char *path = NULL;
    const cli_option options[] = {
        CLI_DATA_OPTIONS(&a.data),
        CLI_CRITERIA_OPTIONS(&a.criteria),
        CLI_NEURON_OPTIONS(&a.neurons),
        CLI_STRING(0, "profile", &a.training.profile, "FILE",
                   "what 'plexor profile' learned from training data"),
        CLI_TRAINING_OPTIONS(&a.training),
        CLI_FLAG(0, "per-layer", &a.per_layer, "a table with a row per layer"),
        CLI_FLAG(0, "per-class", &a.per_class, "the inputs of each class by themselves"),
        CLI_FLAG(0, "baseline", &a.baseline, "what as many random images would cover"),
        CLI_FLAG(0, "uncovered", &a.uncovered, "name the neurons that were not covered"),
        CLI_STRING(0, "curve", &a.curve, "FILE",
                   "how coverage grew over the inputs, as .svg or .csv"),
        CLI_STRING(0, "state", &a.state, "FILE", "save the state, for 'plexor merge'"),
        CLI_STRING(0, "shard", &a.shard, "I/N", "only part I (from 0) of N parts of the data"),
        CLI_REAL(0, "fail-under", &a.fail_under, "SHARE", 0, 1,
                 "exit with 1 if a criterion that has a total is below this"),
        COVER_DPD_OPTIONS(&a.dpd),
        CLI_WORKER_OPTIONS(&a.workers),
        CLI_OUTPUT_OPTIONS,
        CLI_END,
    };
    CLI_TRY(cli_parse(self, argc, argv, options, &path, 1, 1));
    CLI_TRY(cli_require(self, "data", a.data.spec));
    if (a.training.profile && a.training.spec)
        return cli_usage_error(self, "--profile and --train exclude each other");
    px_error err = {0};
    bool by_paths;
    if (cover_dpd_asked(a.criteria.list, &by_paths, &err) != PX_OK)
        return cli_fail(self, &err);
    if (by_paths)
        return cover_dpd_run(self, path, &a.dpd, &a.data, &a.neurons, &a.training, &a.workers,
                             a.fail_under);
    cover_job job = {.report = {.per_layer = a.per_layer, .uncovered = a.uncovered}};
    px_status status = cli_shard(a.shard, &job.report.shard, &job.report.shards, &err);
    PX_THEN_IF(status, a.curve, px_cover_curve_check(a.curve, &err));
    PX_THEN(status, cover_open(self, &a, path, &job, &err));
    PX_THEN(status, cover_work(&a, &job, &err));
    if (status == PX_OK && cli_now()->json)
        cover_print_remarks(job.report.values.cover, /* json= */ true);
    int rc = cli_answer(self, status, &err, &job.report, cover_print);
    if (rc == CLI_DONE)
        rc = cover_gate(self, &a, job.report.values.cover);
    free(job.only);
    free(job.baseline);
    free(job.report.class_values);
    free(job.report.class_tally);
    px_cover_gaps_free(job.report.gaps, job.report.gap_count);
    px_cover_free(job.report.values.cover);
    px_profile_free(job.profile);
    cli_inputs_close(&job.inputs);
    px_model_free(job.model);
    return rc;
}

const cli_command cli_command_cover = {
    .name = "cover",
    .usage = "MODEL --data SPEC [--train SPEC | --profile FILE] [options]",
    .help = "how thoroughly inputs exercise a network",
    .details =
        "Coverage says how much of a network's behaviour some inputs have set in motion. It does "
        "not say how good the inputs or the network are: so the share of wrong answers is printed "
        "beside it, and --baseline adds what as many random images cover.\n"
        "Criteria that need ranges or traces of training data take them from --profile, or learn "
        "them from --train; with neither, from 1,000 inputs of the train part of --data.\n"
        "--criteria dpd compares changed inputs with what they were before: the share that is "
        "decided on another path, in words (NSGen); docs/cover.md has the rules.\n"
        "--state saves everything that was counted; states of parts of the data (--shard) are "
        "joined by 'plexor merge', and the result is the same to the byte as that of one run.",
    .examples = "plexor cover net.onnx --data digits --criteria all\n"
                "plexor cover net.onnx --data photos/ --profile net.profile --set kmnc.k=100\n"
                "plexor cover net.onnx --data digits --shard 0/4 --state 0.state\n",
    .run = cover_run,
    .ranks = true,
    .result = cover_fields,
};
