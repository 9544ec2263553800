/* src/cli/cmd_select.c - plexor select MODEL --data SPEC */
/* SPDX-License-Identifier: Apache-2.0 */
#include "base/file.h"
#include "base/memory.h"
#include "cli/cli_cover.h"
#include "cli/select_print.h"

#include <errno.h>
#include <internal/data.h>
#include <internal/fault_curve.h>
#include <internal/folder.h>
#include <internal/mutate.h>
#include <internal/select.h>
#include <inttypes.h>
#include <math.h>
#include <plexor/system.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

typedef struct select_args {
    cli_data data;
    cli_neurons neurons;
    cli_training training;
    cli_workers workers;
    const char *by, *budget, *mutate, *labelled, *curve, *type_curve, *to, *keep_profile, *shard,
        *state;
    cli_list settings;
    bool stratify, evaluate, fresh;
} select_args;

typedef struct select_job {
    px_model *model;
    cli_inputs inputs;
    px_mutant_set *mutants;
    const px_dataset *candidates;
    px_dataset *labelled;
    px_preprocess labelled_pre;
    px_profile *profile;
    px_select *select;
    px_folder *folder; /* NULL: a file, or none */
    const char *settings[CLI_LIST_MAX + 1];
    px_select_share share; /* which part of the data, with --shard */
    select_report report;
} select_job;

/* "500" or "5%" of `count` candidates. */
static px_status select_budget(const char *text, int64_t count, int64_t *out, px_error *err)
{
    char *end;
    errno = 0;
    const double value = strtod(text, &end);
    const bool percent = *end == '%';
    if (end == text || end[percent] != '\0' || errno || !isfinite(value) ||
        (!percent && value != floor(value)))
        return px_fail(err, PX_E_USAGE,
                       "--budget %.60s: expected a count or a share, as in 500 or 5%%", text);
    if (!(value > 0.0))
        return px_fail(err, PX_E_USAGE, "--budget %.60s: nothing would be selected", text);
    if (percent ? value > 100.0 : value > (double)count)
        return px_fail(err, PX_E_USAGE, "--budget %.60s: there are only %" PRId64 " candidates",
                       text, count);
    *out = percent ? px_percent_count(value, count) : (int64_t)value;
    return PX_OK;
}

static px_status select_mutants(const select_args *a, select_job *job, px_error *err)
{
    px_mutations from;
    job->candidates = job->inputs.set;
    if (!a->mutate)
        return PX_OK;
    PX_TRY(px_mutations_parse(a->mutate, &from, err));
    PX_TRY(px_mutant_set_new(job->inputs.set, &from, (uint64_t)a->data.seed, PX_MUTATE_CANDIDATES,
                             &job->mutants, err));
    job->candidates = px_mutant_set_data(job->mutants);
    return PX_OK;
}

static px_status select_labelled(const select_args *a, select_job *job, px_error *err)
{
    if (!a->labelled)
        return PX_OK;
    px_data_options options = px_model_data_options(job->model);
    options.seed = (uint64_t)a->data.seed;
    PX_TRY(
        px_model_preprocess(job->model, &a->data.pixels, a->data.audio, &job->labelled_pre, err));
    PX_TRY(px_dataset_open_for(&job->labelled_pre, px_model_input_shape(job->model), a->labelled,
                               &options, &job->labelled, err));
    if (px_dataset_hash(job->labelled) == px_dataset_hash(job->inputs.set))
        return px_fail(err, PX_E_INPUT,
                       "--labelled '%.100s' are the candidates themselves; give others",
                       a->labelled);
    return PX_OK;
}

static px_select_options select_options(const select_args *a, select_job *job)
{
    px_select_options options = px_select_options_default();
    size_t count = 0;
    if (a->evaluate)
        job->settings[count++] = "nss.seeds=5"; /* how stable it is; the user's own come after */
    for (int i = 0; i < a->settings.count; i++)
        job->settings[count++] = a->settings.item[i];
    options.selectors = a->by;
    options.settings = job->settings;
    options.setting_count = count;
    options.layers = a->neurons.layers;
    options.tap = a->neurons.tap;
    options.neurons = a->neurons.view;
    options.profile = job->profile;
    options.originals = job->mutants ? job->inputs.set : NULL;
    options.labelled = job->labelled;
    options.labelled_pre = &job->labelled_pre;
    options.keep = a->evaluate ? 0 : job->report.budget;
    options.stratify = a->stratify;
    options.memory_bytes = cli_memory_bytes(&a->training);
    options.batch = a->workers.batch;
    options.seed = (uint64_t)a->data.seed;
    options.threads = (int)a->workers.threads;
    return options;
}

/* Faults can only be counted where there are labels; better said before all the work. */
static px_status select_check_labels(const select_args *a, const select_job *job, px_error *err)
{
    px_scores scores;
    if (!a->evaluate)
        return a->curve || a->type_curve
                   ? px_fail(err, PX_E_USAGE, "a curve of failures needs --evaluate")
                   : PX_OK;
    if (!px_dataset_has_labels(job->candidates))
        return px_fail(err, PX_E_INPUT,
                       "--evaluate counts failures against labels, and '%.100s' has none; without "
                       "it no labels are needed",
                       a->data.spec);
    PX_TRY(px_model_scores(job->model, &scores, err));
    return px_dataset_check_labels(job->candidates, scores.classes, err);
}

/* The part of --shard is a range of what the other options choose. */
static px_status select_open_data(select_args *a, select_job *job, px_error *err)
{
    int64_t shard, shards;
    px_select_share *share = &job->share;
    PX_TRY(cli_shard(a->shard, &shard, &shards, err));
    PX_TRY(cli_inputs_open(job->model, &a->data, &job->inputs, err));
    share->all = px_dataset_count(job->inputs.set);
    if (!a->state)
        return PX_OK;
    share->data = px_dataset_hash(job->inputs.set);
    share->first = share->all * shard / shards;
    PX_TRY(select_budget(a->budget, share->all, &share->budget, err));
    if (shards == 1)
        return PX_OK;
    a->data.limit = share->all * (shard + 1) / shards - share->first;
    a->data.offset += share->first;
    if (a->data.limit == 0)
        return px_fail(err, PX_E_USAGE,
                       "--shard %s: that part is empty, there are %" PRId64 " candidates", a->shard,
                       share->all);
    cli_inputs_close(&job->inputs);
    job->inputs = (cli_inputs){0};
    return cli_inputs_open(job->model, &a->data, &job->inputs, err);
}

/* A place that cannot be written to is found out before the work. */
static px_status select_place(const select_args *a, select_job *job, px_error *err)
{
    const char *to = a->to;
    const size_t selectors = px_select_count(job->select);
    struct stat facts;
    if (!pxi_has_suffix(to, ".csv")) {
        if (stat(to, &facts) == 0 && !S_ISDIR(facts.st_mode))
            return px_fail(err, PX_E_USAGE,
                           "'%.200s' is a file; -o takes a folder, or a name that ends in .csv",
                           to);
        return px_folder_begin(to, "select", a->fresh, &job->folder, err);
    }
    if (selectors > 1)
        return px_fail(err, PX_E_USAGE,
                       "%zu selectors write one file each: -o must be a folder, not '%.200s'",
                       selectors, to);
    const char *slash = strrchr(to, '/');
    char *folder = slash && slash > to ? strndup(to, (size_t)(slash - to)) : NULL;
    const bool there = !folder || (stat(folder, &facts) == 0 && S_ISDIR(facts.st_mode));
    const px_status status =
        there ? PX_OK
              : px_fail(err, PX_E_USAGE, "'%.200s': there is no folder '%.200s'", to, folder);
    free(folder);
    return status;
}

static px_status select_open(const cli_command *self, select_args *a, const char *path,
                             select_job *job, px_error *err)
{
    PX_TRY(cli_model_load(self, path, &job->model, err));
    PX_TRY(select_open_data(a, job, err));
    PX_TRY(select_mutants(a, job, err));
    const int64_t candidates = px_dataset_count(job->candidates);
    if (a->state)
        job->report.budget = PX_MIN(job->share.budget, candidates);
    else
        PX_TRY(select_budget(a->budget, candidates, &job->report.budget, err));
    PX_TRY(select_check_labels(a, job, err));
    PX_TRY(select_labelled(a, job, err));
    px_select_options options = select_options(a, job);
    if (a->training.profile) {
        PX_TRY(px_profile_open(a->training.profile, &job->profile, err));
        PX_TRY(px_profile_check(job->profile, job->model, err));
        cli_profile_remarks(job->model, job->profile);
    } else {
        px_lessons lessons = {0};
        PX_TRY(px_select_lessons(job->model, job->candidates, &job->inputs.pre, &options, &lessons,
                                 err));
        PX_TRY(cli_profile_learn(job->model, &a->data, &a->training, &a->workers, "selectors",
                                 &lessons, &job->profile, err));
        if (a->keep_profile && job->profile)
            PX_TRY(px_profile_save(job->profile, a->keep_profile, err));
    }
    options.profile = job->profile;
    PX_TRY(
        px_select_new(job->model, job->candidates, &job->inputs.pre, &options, &job->select, err));
    if (a->state)
        PX_TRY(px_select_can_be_part(job->select, err));
    const char *left_out = px_select_left_out(job->select);
    for (int length; *left_out; left_out += length + (left_out[length] == '\n')) {
        length = (int)strcspn(left_out, "\n");
        cli_note(self, "%.*s", length, left_out);
    }
    return a->to ? select_place(a, job, err) : PX_OK;
}

static px_status select_write(const select_args *a, select_job *job, px_error *err)
{
    if (!a->to)
        return PX_OK;
    if (pxi_has_suffix(a->to, ".csv"))
        return px_select_save(job->select, 0, job->report.budget, a->to, err);
    for (size_t i = 0; i < px_select_count(job->select); i++) {
        px_text path = {0};
        px_text_format(&path, "%s/%s.csv", px_folder_path(job->folder),
                       px_select_selector(job->select, i)->entry.id);
        const px_status status =
            px_text_failed(&path)
                ? pxi_no_memory(err)
                : px_select_save(job->select, i, job->report.budget, px_text_get(&path), err);
        px_text_done(&path);
        PX_TRY(status);
    }
    px_folder *whole = job->folder;
    job->folder = NULL;
    return px_folder_commit(whole, err);
}

static px_status select_keep(const select_args *a, const select_job *job, px_error *err)
{
    px_selection *part = NULL;
    PX_TRY(px_select_part(job->select, &job->share, &part, err));
    const px_status status = px_selection_save(part, a->state, err);
    px_selection_free(part);
    return status;
}

static px_status select_work(const select_args *a, select_job *job, px_error *err)
{
    const double start = px_clock_s();
    PX_TRY(px_select_run(job->select, cli_tick, CLI_WORDS("select"), err));
    const size_t count = px_select_count(job->select);
    if (a->evaluate) {
        PX_TRY(PX_NEW(job->report.evaluations, count, err));
        for (size_t i = 0; i < count; i++)
            PX_TRY(px_select_evaluate(job->select, i, &job->report.evaluations[i], err));
    }
    if (a->curve)
        PX_TRY(px_select_save_curve(job->select, PX_FAULTS, 100.0, a->curve, err));
    if (a->type_curve)
        PX_TRY(px_select_save_curve(job->select, PX_FAULT_TYPES, 20.0, a->type_curve, err));
    PX_TRY(select_write(a, job, err));
    if (a->state)
        PX_TRY(select_keep(a, job, err));
    job->report.seconds = px_clock_s() - start;
    return PX_OK;
}

static int select_run(const cli_command *self, int argc, char **argv)
{
    select_args a = {.by = "gini", .budget = "5%"};
    select_job job = {.model = NULL};
    const char *path = NULL;
    const cli_option options[] = {
        CLI_DATA_OPTIONS(&a.data),
        CLI_STRING(0, "by", &a.by, "LIST|all", "how; 'plexor list selectors' names them"),
        CLI_STRING(0, "budget", &a.budget, "N|P%", "how many inputs, as a count or a share"),
        CLI_STRINGS(0, "set", &a.settings, "SELECTOR.NAME=VALUE",
                    "change one setting, as in nss.k=20; may be given again and again"),
        CLI_FLAG(0, "stratify", &a.stratify,
                 "take turns over the predicted classes: the best of each, the second of each, "
                 "..."),
        CLI_STRING(0, "mutate", &a.mutate, "SET",
                   "the candidates are one mutant of each input, as in the study of NSS: nss, or "
                   "a part of it, nss:rotation; see 'plexor list mutations'"),
        CLI_NEURON_OPTIONS(&a.neurons),
        CLI_STRING(0, "profile", &a.training.profile, "FILE",
                   "what was learned from training data"),
        CLI_TRAINING_OPTIONS(&a.training),
        CLI_STRING(0, "save-profile", &a.keep_profile, "FILE",
                   "keep what is learned from training data, for --profile"),
        CLI_STRING(0, "labelled", &a.labelled, "SPEC",
                   "labelled inputs that the network was not trained on, for prima"),
        CLI_FLAG(0, "evaluate", &a.evaluate,
                 "count the failures that each selector finds; needs labels"),
        CLI_STRING(0, "curve", &a.curve, "FILE",
                   "with --evaluate: failures found over inputs selected, as .svg or .csv"),
        CLI_STRING(0, "type-curve", &a.type_curve, "FILE",
                   "with --evaluate: kinds of failure found over the first 20%, as .svg or .csv"),
        CLI_STRING('o', "output", &a.to, "FILE.csv|FOLDER",
                   "where the selection goes: a file, or a folder with a file per selector"),
        CLI_STRING(0, "shard", &a.shard, "I/N", "only part I (from 0) of N parts of the data"),
        CLI_STRING(0, "state", &a.state, "FILE",
                   "save the best of the part, for 'plexor merge'; one selector that scores each "
                   "input by itself"),
        CLI_FLAG(0, "fresh", &a.fresh, "in place of a folder that an earlier select made"),
        CLI_WORKER_OPTIONS(&a.workers),
        CLI_OUTPUT_OPTIONS,
        CLI_END,
    };
    CLI_TRY(cli_parse(self, argc, argv, options, &path, 1, 1));
    CLI_TRY(cli_require(self, "data", a.data.spec));
    if (a.training.profile && a.training.spec)
        return cli_usage_error(self, "--profile and --train exclude each other");
    if (a.shard && !a.state)
        return cli_usage_error(self, "--shard ranks a part of the data, for 'plexor merge': say "
                                     "where to with --state");
    if (a.state && (a.mutate || a.evaluate || a.to))
        return cli_usage_error(self, "--state is for a part of the data; -o, --mutate and "
                                     "--evaluate go without it");
    if (a.state && (strchr(a.by, ',') || strcmp(a.by, "all") == 0))
        return cli_usage_error(self, "--state is for one selector, not '%s'", a.by);
    px_error err = {0};
    px_status status = select_open(self, &a, path, &job, &err);
    PX_THEN(status, select_work(&a, &job, &err));
    job.report.select = job.select;
    job.report.candidates = job.candidates;
    job.report.mutate = a.mutate;
    job.report.stratify = a.stratify;
    job.report.files = a.to != NULL;
    if (status == PX_OK) {
        job.report.origin = cli_origin_of(job.model, job.candidates);
        job.report.names = cli_classes_of(job.model, job.candidates);
        job.report.count = px_dataset_count(job.candidates);
    }
    if (status == PX_OK && cli_now()->json)
        select_print_remarks(&job.report, /* json= */ true);
    const int rc = cli_answer(self, status, &err, &job.report, select_print);
    free(job.report.evaluations);
    px_folder_abandon(job.folder);
    px_select_free(job.select);
    px_profile_free(job.profile);
    px_dataset_close(job.labelled);
    px_mutant_set_free(job.mutants);
    cli_inputs_close(&job.inputs);
    px_model_free(job.model);
    return rc;
}

const cli_command cli_command_select = {
    .name = "select",
    .usage = "MODEL --data SPEC [--by LIST] [--budget N|P%] [-o FILE.csv|FOLDER] [options]",
    .help = "which inputs are worth a label",
    .details =
        "Ranks unlabelled inputs, the candidates, by how likely they are to be failures, and "
        "writes the first ones of the ranking. No labels are needed, except with --evaluate, "
        "which counts what each selector would have found: FDR is the share of wrongly classified "
        "inputs among the selected.\n"
        "Selectors that need ranges or traces of training data take them from --profile, or learn "
        "them from --train; with neither, from 1,000 inputs of the train part of --data.\n"
        "nss compares inputs with mutants. With --mutate nss the candidates are mutants whose "
        "originals are known (pair=original), which is the setting of its paper; a pile of inputs "
        "has no originals, and then a fresh mutant of each is made (pair=fresh), which was "
        "measured to be near random.\n"
        "\n"
        "With --shard and --state a part of the candidates is ranked, and 'plexor merge' makes the "
        "selection of all: the same as without.",
    .examples = "plexor select net.onnx --data photos/ --by gini --budget 500 -o label-these.csv\n"
                "plexor select net.onnx --data digits --by all --mutate nss --evaluate\n"
                "plexor select net.onnx --data digits --by gini,random --stratify -o chosen\n"
                "plexor select net.onnx --data digits --shard 0/4 --state 0.state\n",
    .run = select_run,
    .ranks = true,
    .result = select_fields,
};
