/* src/cli/cmd_fuzz.c - plexor fuzz MODEL --data SPEC -o CAMPAIGN */
/* SPDX-License-Identifier: Apache-2.0 */
#include "base/file.h"
#include "base/memory.h"
#include "cli/campaign_print.h"
#include "cli/cli_campaign.h"
#include "cli/cli_cover.h"
#include "cli/cli_fields.h"
#include "cli/cli_net.h"
#include "cli/fuzz_figures.h"
#include "cli/fuzz_screen.h"

#include <internal/data.h>
#include <internal/graph.h>
#include <internal/mutate.h>
#include <math.h>
#include <plexor/fuzz.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { FUZZ_RIVALS = 2 };

/* --- what a campaign found, at its end: NSGen, section 5.4 ------------------------------------ */

typedef struct fuzz_summary {
    cli_origin origin;
    const char *campaign;
    px_fuzz_report report;
    campaign_found found;
    double before_s; /* seconds of earlier runs */
} fuzz_summary;

enum { FUZZ_MODES = 5 };

static void summary_line(cli_table *table, const char *what, const char *value, const char *remark)
{
    cli_table_cell(table, "%s", what);
    cli_table_cell(table, "%s", value);
    cli_table_cell(table, "%s", remark);
}

static void summary_count(cli_table *table, const char *what, int64_t value, const char *remark)
{
    char number[FUZZ_FIGURE];
    summary_line(table, what, cli_number(value, number), remark);
}

static void summary_real(cli_table *table, const char *what, double value, const char *format,
                         const char *remark)
{
    char number[64];
    snprintf(number, sizeof number, format, value);
    summary_line(table, what, isnan(value) ? "-" : number, remark);
}

static void fuzz_summary_print(const void *of)
{
    const fuzz_summary *summary = of;
    const px_fuzz_report *report = &summary->report;
    const px_campaign_counts *counts = &summary->found.counts;
    const double before_s = summary->before_s;
    char words[160], a[FUZZ_FIGURE], b[FUZZ_FIGURE];
    error_line lines[ERROR_LINES_MOST];
    cli_table *table = cli_table_new("lrl");
    snprintf(words, sizeof words, "stopped: %.100s", report->stopped ? report->stopped : "not yet");
    if (before_s > 0)
        snprintf(words + strlen(words), sizeof words - strlen(words), " in all, %.3g s before",
                 before_s);
    summary_line(table, "run time", fuzz_time_short(report->run_s, b), words);
    snprintf(words, sizeof words, "%s/s", fuzz_rate(report->executions_per_s, a));
    summary_count(table, "executions", report->executions, words);
    snprintf(words, sizeof words, "%s misclassified ones were left out",
             cli_number(report->seeds_wrong, a));
    summary_count(table, "seeds", counts->seeds, words);
    snprintf(words, sizeof words, "%s kept", cli_number(counts->kept, a));
    summary_count(table, "outputs", counts->outputs, words);
    snprintf(words, sizeof words, "%s distinct, of %s kinds", cli_number(counts->unique_faults, a),
             cli_number(counts->fault_types, b));
    summary_count(table, "failures", counts->faults, words);
    summary_count(table, "close", counts->close_faults, "failures close to their originals");
    if (report->rejected > 0)
        summary_count(table, "rejected", report->rejected, "too far from their originals");
    summary_real(table, "RFT", counts->rft, "%.3f", "failures / outputs");
    summary_real(table, "FRE", counts->fre, "%.3g", "seconds / failure");
    snprintf(words, sizeof words, "of %s, that failures are taken for",
             cli_number(report->class_count, a));
    summary_count(table, "classes", counts->classes,
                  report->class_count > 0 ? words : "that failures are taken for");
    summary_real(table, "OI", counts->oi, "%.3f", "impartiality of those predictions");
    const int line_count = error_lines(&summary->found.errors, lines);
    for (int i = 0; i < line_count; i++)
        summary_count(table, lines[i].what, lines[i].value, lines[i].remark);
    if (!isnan(report->coverage.value)) {
        const px_coverage seeds = {.value = report->coverage_seeds,
                                   .total = report->coverage.total};
        snprintf(words, sizeof words, "the seeds alone: %s", fuzz_coverage(&seeds, a));
        if (report->resets > 0)
            snprintf(words, sizeof words, "since the last of %s resets; the seeds alone: %s",
                     cli_number(report->resets, b), fuzz_coverage(&seeds, a));
        summary_line(table, report->guide ? report->guide : "coverage",
                     fuzz_coverage(&report->coverage, b), words);
    }
    const char *whose = isnan(report->paths.tau) ? report->engine : report->guide;
    for (size_t i = 0; i < report->note_count; i++)
        if (!report->guide || strcmp(report->notes[i].name, report->guide) != 0)
            summary_line(table, report->notes[i].name, report->notes[i].value, whose);
    if (report->not_finite > 0)
        summary_count(table, "not numbers", report->not_finite, "answers of the network");
    cli_table_print_free(table, "");
    modes_print(&summary->found.modes, FUZZ_MODES);
}

/* --- as JSON --------------------------------------------------------------------------------- */

typedef struct named_value {
    const char *name;
    double value;
} named_value;

static const void *coverage_get(const void *of, size_t i, void *row)
{
    const px_fuzz_report *r = of;
    *(named_value *)row = (named_value){r->guide ? r->guide : "coverage", r->coverage.value};
    return i == 0 && !isnan(r->coverage.value) ? row : NULL;
}

static const void *note_get(const void *of, size_t i, void *row)
{
    const px_fuzz_report *r = of;
    (void)row;
    return i < r->note_count ? &r->notes[i] : NULL;
}

static const void *paths_get(const void *of, size_t i, void *row)
{
    const px_fuzz_report *r = of;
    (void)row;
    return i == 0 && !isnan(r->paths.tau) ? &r->paths : NULL;
}

static const px_field coverage_fields[] = {
    PX_FIELD(named_value, name, "guide", "what it follows"),
    PX_FIELD(named_value, value, "", "of the guide"),
    PX_FIELDS_END,
};

static const px_field note_fields[] = {
    PX_FIELD(px_fuzz_note, name, "note", "what it is about"),
    PX_CHARS(px_fuzz_note, value, "", "in words"),
    PX_FIELDS_END,
};

static const px_field paths_fields[] = {
    PX_FIELD(px_fuzz_path_figures, tau, "tau", "paths less similar than this differ"),
    PX_FIELD(px_fuzz_path_figures, similarity, "similarity", "mean over the mutants judged"),
    PX_FIELD(px_fuzz_path_figures, kept, "kept", "of them", .unit = PX_SHARE),
    PX_FIELD(px_fuzz_path_figures, as_label, "as_label_only",
             "of what it or the class alone would keep, what both do", .unit = PX_SHARE),
    PX_FIELDS_END,
};

static const px_field yield_fields[] = {
    PX_FIELD(px_fuzz_yield, name, "name", "of a mutation, or of what else an engine tries"),
    PX_FIELD(px_fuzz_yield, tried, "tried", "mutants by it"),
    PX_FIELD(px_fuzz_yield, valid, "valid", "those that keep the meaning of their input"),
    PX_FIELD(px_fuzz_yield, kept, "kept", "those that showed something new"),
    PX_FIELD(px_fuzz_yield, faults, "faults", "those that the network gets wrong"),
    PX_FIELDS_END,
};

static const px_field report_fields[] = {
    PX_FIELD(px_fuzz_report, not_finite, "not_finite", "answers that were no numbers"),
    PX_FIELD(px_fuzz_report, resets, "resets", "of coverage that was saturated"),
    PX_MAP_MADE(coverage_get, coverage_fields, "coverage", "in the end"),
    PX_FIELD(px_fuzz_report, coverage_seeds, "coverage_seeds", "what the seeds alone had"),
    PX_OBJECT_MADE(paths_get, paths_fields, "paths", "with a guide by decision paths",
                   .optional = true),
    PX_MAP_MADE(note_get, note_fields, "notes", "figures that only this engine has"),
    PX_LIST(px_fuzz_report, yields, yield_count, yield_fields, "yields", "of what was tried"),
    PX_FIELDS_END,
};

#define REPORT(member, ...) PX_FIELD(fuzz_summary, report.member, #member, __VA_ARGS__)
#define COUNT(member, ...) PX_FIELD(fuzz_summary, found.counts.member, #member, __VA_ARGS__)
static const px_field fuzz_fields[] = {
    PX_OBJECT(fuzz_summary, origin, cli_origin_fields, ""),
    PX_FIELD(fuzz_summary, campaign, "campaign", "its folder"),
    REPORT(engine, "the search"),
    REPORT(policy, "its settings by a name"),
    REPORT(guide, "the coverage that it follows"),
    REPORT(stopped, "why"),
    REPORT(turns, "picks of an input to change"),
    REPORT(cycles, "times that all were picked"),
    REPORT(executions, "mutants that the network judged"),
    REPORT(executions_per_s, "since the campaign began"),
    COUNT(seeds, "inputs it began with"),
    REPORT(seeds_wrong, "dropped: misclassified"),
    REPORT(queue, "inputs that can be picked"),
    REPORT(depth, "longest chain of mutations"),
    COUNT(outputs, "kept inputs and failures"),
    COUNT(faults, "failures"),
    COUNT(unique_faults, "those that no earlier one nearly repeats"),
    COUNT(close_faults, "those close to their originals"),
    REPORT(rejected, "failing mutants too far from them"),
    PX_OBJECT(fuzz_summary, found, campaign_rates_fields, ""),
    PX_OBJECT(fuzz_summary, report, report_fields, ""),
    COUNT(seconds, "that it ran, without pauses", .unit = "s"),
    PX_FIELD(fuzz_summary, before_s, "seconds_before", "of that, earlier", .unit = "s"),
    PX_OBJECT(fuzz_summary, found.modes, px_modes_fields, ""),
    PX_FIELDS_END,
};

typedef struct fuzz_args {
    px_fuzz_options o; /* most options are written here as they are read */
    px_fuzz_limits limits;
    cli_data data;
    cli_neurons neurons;
    cli_training training;
    cli_workers workers;
    const char *styles, *store, *range, *compare, *folder, *time;
    const char *rivals[FUZZ_RIVALS];
    bool resume, fresh;
} fuzz_args;

typedef struct fuzz_job {
    const cli_command *self;
    px_campaign *campaign;
    px_model *model, *rivals[FUZZ_RIVALS];
    cli_inputs inputs;
    px_styles *styles;
    px_preprocess training_pre;
    px_fuzz *fuzz;
    px_text command;
    fuzz_screen *screen;
    fuzz_summary summary;
} fuzz_job;

/* --- opening --------------------------------------------------------------------------------- */

static bool fuzz_tell(void *context, const px_fuzz_report *report)
{
    fuzz_job *job = context;
    fuzz_screen_show(job->screen, report);
    return !cli_interrupted();
}

static px_status fuzz_start(const fuzz_args *a, fuzz_job *job, px_error *err)
{
    const px_model *rivals[FUZZ_RIVALS];
    px_fuzz_options o = a->o;
    if (a->compare && strcmp(a->compare, "parent") != 0 && strcmp(a->compare, "root") != 0)
        return px_fail(err, PX_E_USAGE, "--compare '%.60s': expected parent or root", a->compare);
    for (size_t i = 0; i < FUZZ_RIVALS; i++)
        if (job->rivals[i])
            rivals[o.rival_count++] = job->rivals[i];
    if (a->range || !px_dataset_audio(job->inputs.set)) /* recordings are changed as such */
        PX_TRY(cli_range_of(job->self, a->range, &job->inputs, &o.low, &o.high, err));
    PX_TRY(cli_training_of(job->model, &a->data, &a->training, &a->workers, &job->training_pre,
                           &o.guide.training, err));
    o.guide.profile = a->training.profile;
    o.guide.layers = a->neurons.layers;
    o.guide.tap = a->neurons.tap;
    o.guide.neurons = a->neurons.view;
    o.guide.root = a->compare && strcmp(a->compare, "root") == 0;
    o.campaign = job->campaign;
    o.model = job->model;
    o.rivals = rivals;
    o.set = job->inputs.set;
    o.pre = &job->inputs.pre;
    o.styles = job->styles;
    o.store_float = a->store && strcmp(a->store, "float") == 0;
    o.seed = (uint64_t)a->data.seed;
    o.batch = a->workers.batch;
    o.threads = (int)a->workers.threads;
    o.command = px_text_get(&job->command);
    o.progress = fuzz_tell;
    o.context = job;
    return px_fuzz_new(&o, &job->fuzz, err);
}

static px_status fuzz_open(const cli_command *self, const fuzz_args *a, const char *path,
                           fuzz_job *job, int argc, char **argv, px_error *err)
{
    /* The folder and its empty database come first: they show that it has begun. */
    PX_TRY(px_campaign_open(a->folder,
                            a->resume  ? PX_CAMPAIGN_RESUME
                            : a->fresh ? PX_CAMPAIGN_FRESH
                                       : PX_CAMPAIGN_CREATE,
                            &job->campaign, err));
    cli_campaign_watch(job->campaign);
    PX_TRY(cli_model_load(self, path, &job->model, err));
    for (size_t i = 0; i < FUZZ_RIVALS; i++)
        if (a->rivals[i])
            PX_TRY(cli_model_load(self, a->rivals[i], &job->rivals[i], err));
    PX_TRY(cli_inputs_open(job->model, &a->data, &job->inputs, err));
    if (px_model_regression(job->model))
        cli_note(self, "targets are taken to stay what they are when inputs are mutated; "
                       "--mutations leaves out what moves them, as rotation does an angle");
    if (a->styles)
        PX_TRY(px_styles_open(a->styles, &job->styles, err));
    PX_TRY(fuzz_start(a, job, err));
    return cli_campaign_begin(job->campaign, argc, argv, err);
}

static px_status fuzz_work(const cli_command *self, const fuzz_args *a, const char *path,
                           fuzz_job *job, px_error *err)
{
    if (cli_interrupted())
        return px_fail(err, PX_E_CANCELLED, "cancelled before the first turn");
    cli_end_in_order(); /* a turn that was begun is finished */
    fuzz_summary *summary = &job->summary;
    summary->before_s = px_fuzz_report_get(job->fuzz).run_s;
    if (a->resume && a->limits.seconds > 0.0)
        cli_note(self,
                 "--time %s is of the whole campaign: it ran for %.3g s before, so that %.3g s "
                 "are left",
                 a->time, summary->before_s, fmax(0.0, a->limits.seconds - summary->before_s));
    job->screen = fuzz_screen_open(pxi_base_name(path), (int)a->workers.threads);
    px_status status = px_fuzz_run(job->fuzz, &a->limits, err);
    fuzz_screen_close(job->screen);
    if (status == PX_E_CANCELLED)
        status = PX_OK; /* asked to stop, and so it did */
    PX_TRY(status);
    summary->report = px_fuzz_report_get(job->fuzz);
    summary->origin = cli_origin_of(job->model, job->inputs.set);
    summary->campaign = a->folder;
    return campaign_found_read(job->campaign, -1, &summary->found, err);
}

static void fuzz_close(fuzz_job *job)
{
    px_fuzz_free(job->fuzz);
    px_styles_free(job->styles);
    cli_inputs_close(&job->inputs);
    for (size_t i = 0; i < FUZZ_RIVALS; i++)
        px_model_free(job->rivals[i]);
    px_model_free(job->model);
    px_campaign_close(job->campaign);
    px_modes_done(&job->summary.found.modes);
    px_text_done(&job->command);
}

/* Parses again: what the campaign was begun with, and over it what is given now. Limits, threads
 * and places are of one run. */
static int fuzz_as_begun(const cli_command *self, int argc, char **argv, fuzz_args *a,
                         const cli_option *options, const char **path)
{
    const fuzz_args now = *a;
    const bool quiet = cli_now()->quiet, json = cli_now()->json;
    char **words = NULL;
    int count = 0;
    px_error err = {0};
    if (cli_campaign_begun(now.folder, &words, &count, &err) != PX_OK)
        return cli_fail(self, &err);
    CLI_TRY(cli_parse(self, count, words, options, path, 0, 1));
    const char *before = *path;
    CLI_TRY(cli_parse(self, argc, argv, options, path, 0, 1));
    a->limits = now.limits;
    a->time = now.time;
    a->workers = now.workers;
    a->fresh = now.fresh;
    cli_now()->quiet = quiet;
    cli_now()->json = json;
    if (!*path && before && access(before, F_OK) != 0)
        return cli_usage_error(self, "'%s' was begun with '%s', which is not there: give MODEL",
                               now.folder, before);
    *path = *path ? *path : before;
    if (*path && a->data.spec)
        cli_note(self, "'%s' goes on as it was begun: with %s and --data %s", now.folder, *path,
                 a->data.spec);
    return CLI_GO;
}

static int fuzz_run(const cli_command *self, int argc, char **argv)
{
    enum { SHORTS = 4 };
    cli_list set = {0};
    static const char *const short_names[SHORTS] = {"energy", "alpha", "beta", "optimizer"};
    const char *texts[CLI_LIST_MAX + SHORTS], *shorts[SHORTS] = {NULL}, *path = NULL;
    char short_texts[SHORTS][64];
    fuzz_args a = {.o = px_fuzz_options_default()};
    int64_t iterations = 0;
    const cli_option options[] = {
        CLI_DATA_OPTIONS(&a.data),
        CLI_STRING('o', "output", &a.folder, "CAMPAIGN", "the folder to make, or to go on with"),
        CLI_FLAG(0, "resume", &a.resume, "go on with that campaign"),
        CLI_FLAG(0, "fresh", &a.fresh, "begin anew: the campaign that is there is removed first"),
        CLI_STRING(0, "guide", &a.o.guide.name, "CRITERION",
                   "what must grow for a mutant to be kept: one of 'plexor list criteria' (kmnc "
                   "unless told), or random: everything is kept; nsgen: what is decided on another "
                   "path, in words"),
        CLI_STRING(0, "bank", &a.o.guide.bank, "FILE",
                   "of --guide nsgen: words of the units, from 'plexor describe'"),
        CLI_STRING(0, "encoder", &a.o.guide.encoder, "SPEC",
                   "of --guide nsgen: what turns texts into vectors; see 'plexor embed'"),
        CLI_STRING(0, "threshold", &a.o.guide.threshold, "FILE",
                   "of --guide nsgen: tau, from 'plexor calibrate'; without it tau is found first, "
                   "from 50 training inputs"),
        CLI_STRING(0, "compare", &a.compare, "parent|root",
                   "of --guide nsgen: a mutant's path is compared with that of the input that was "
                   "changed, or of its seed"),
        CLI_STRING(0, "engine", &a.o.engine, "NAME",
                   "the search; 'plexor list engines' names them"),
        CLI_STRING(0, "policy", &a.o.policy, "NAME",
                   "schedule, energy and validity; 'plexor list policies' names them"),
        CLI_STRING(0, "mutations", &a.o.mutations, "SET",
                   "what mutants are made with; see 'plexor list mutations'"),
        CLI_STRING(0, "styles", &a.styles, "SPEC",
                   "pictures whose colours and textures --mutations nsgen+style takes, instead of "
                   "generated ones; kept with the campaign"),
        CLI_STRINGS(0, "set", &set, "NAME=VALUE",
                    "change one setting of the engine (twins=5), or of the guide (kmnc.k=100); may "
                    "be given again and again"),
        CLI_STRING(0, "energy", &shorts[0], "N", "mutants of a turn: --set energy=N"),
        CLI_STRING(0, "alpha", &shorts[1], "SHARE", "of values that may change: --set alpha=SHARE"),
        CLI_STRING(0, "beta", &shorts[2], "SHARE",
                   "of the range that values may change by: --set beta=SHARE"),
        CLI_STRING(0, "optimizer", &shorts[3], "NAME",
                   "of engine deepsensor: pso, random or ga; --set optimizer=NAME"),
        CLI_STRING(0, "preset", &a.o.preset, "PAPER",
                   "settings of a paper: for the guide ('plexor list presets'), or for an engine "
                   "with a guide of its own ('plexor list engines')"),
        CLI_REAL(0, "min-similarity", &a.o.least.similarity, "X", 0, 1,
                 "failing inputs less similar to their originals, what moved being undone, are "
                 "counted as rejected and dropped; 0.6 is what counts as close"),
        CLI_REAL(
            0, "min-inside", &a.o.least.inside, "X", 0, 1,
            "failing inputs with less of the object left in the frame are counted as rejected and "
            "dropped; 0.8 is what counts as close"),
        CLI_INT(0, "seeds", &a.o.seeds, "N", 0, 1e9,
                "start from so many inputs, of every class as many, that the network gets right; "
                "0: from all of those"),
        CLI_INT(0, "polluted-class", &a.o.polluted_class, "C", 0, 1e9,
                "what a network trained on polluted data takes patches for, for E_pol (the "
                "network's metadata may say it)"),
        CLI_STRING(0, "model2", &a.rivals[0], "MODEL", "another network to compare with"),
        CLI_STRING(0, "model3", &a.rivals[1], "MODEL", "a third network to compare with"),
        CLI_INT(0, "turns", &a.limits.turns, "N", 0, 4e9, "stop after so many picks"),
        CLI_INT(0, "iterations", &iterations, "N", 0, 4e9,
                "stop after so many picks; another name of --turns"),
        CLI_INT(0, "executions", &a.limits.executions, "N", 0, 9e15,
                "stop after so many runs of the network"),
        CLI_STRING(0, "time", &a.time, "TIME", "stop after that time: 90s, 30m, 2h"),
        CLI_INT(0, "faults", &a.limits.faults, "N", 0, 9e15, "stop with so many failures"),
        CLI_INT(0, "outputs", &a.limits.outputs, "N", 0, 9e15, "stop with so many outputs"),
        CLI_INT(0, "stall", &a.limits.stall, "N", 0, 9e15,
                "stop after so many turns in a row without an output"),
        CLI_NEURON_OPTIONS(&a.neurons),
        CLI_STRING(0, "profile", &a.training.profile, "FILE",
                   "what 'plexor profile' learned from training data"),
        CLI_TRAINING_OPTIONS(&a.training),
        CLI_RANGE_OPTION(&a.range),
        CLI_STRING(0, "store", &a.store, "FORM",
                   "byte: pixels are rounded before they are judged; float: they are not"),
        CLI_WORKER_OPTIONS(&a.workers),
        CLI_OUTPUT_OPTIONS,
        CLI_END,
    };
    int stop = cli_parse(self, argc, argv, options, &path, 0, 1);
    const int64_t turns = iterations;
    if (stop == CLI_GO && a.resume && a.folder && (!path || !a.data.spec)) {
        set.count = 0;
        stop = fuzz_as_begun(self, argc, argv, &a, options, &path);
        iterations = turns;
    }
    CLI_TRY(stop);
    if (!path && a.resume)
        return cli_usage_error(self, "--resume is about a campaign: it needs -o CAMPAIGN");
    if (!path)
        return cli_usage_error(self, "MODEL is missing; usage: plexor %s %s", self->name,
                               self->usage);
    CLI_TRY(cli_require(self, "data", a.data.spec));
    CLI_TRY(cli_require(self, "output", a.folder));
    if (a.resume && a.fresh)
        return cli_usage_error(self, "--resume and --fresh exclude each other");
    if (a.training.profile && a.training.spec)
        return cli_usage_error(self, "--profile and --train exclude each other");
    if (a.time && !cli_seconds(a.time, &a.limits.seconds))
        return cli_usage_error(self, "--time '%s': expected a time such as 90s, 30m or 2h", a.time);
    if (a.store && strcmp(a.store, "float") != 0 && strcmp(a.store, "byte") != 0)
        return cli_usage_error(self, "--store '%s': it is byte or float", a.store);
    if (iterations)
        a.limits.turns = iterations;
    while (a.o.setting_count < (size_t)set.count) {
        texts[a.o.setting_count] = set.item[a.o.setting_count];
        a.o.setting_count++;
    }
    for (size_t i = 0; i < SHORTS; i++)
        if (shorts[i]) {
            snprintf(short_texts[i], sizeof short_texts[i], "%s=%s", short_names[i], shorts[i]);
            texts[a.o.setting_count++] = short_texts[i];
        }
    a.o.settings = texts;
    px_error err = {0};
    fuzz_job job = {.self = self};
    cli_command_line(&job.command, argc, argv);
    px_status status = px_text_failed(&job.command)
                           ? pxi_no_memory(&err)
                           : fuzz_open(self, &a, path, &job, argc, argv, &err);
    PX_THEN(status, fuzz_work(self, &a, path, &job, &err));
    const int rc = cli_answer(self, status, &err, &job.summary, fuzz_summary_print);
    fuzz_close(&job);
    return rc;
}

const cli_command cli_command_fuzz = {
    .name = "fuzz",
    .usage = "MODEL --data SPEC -o CAMPAIGN [--guide CRITERION] [options]",
    .help = "make inputs that a network gets wrong, in a campaign that cannot be lost",
    .details =
        "Inputs that the network gets right are changed in ways that are meant to leave their "
        "meaning alone, and how near each failure is to its original is measured; what raises "
        "coverage is kept and changed further, what the network gets wrong is a failure. "
        "Everything goes into a folder with a database and is committed before it is counted: "
        "after kill -9 or a full disk --resume goes on, with the network, the data and the "
        "settings that it was begun with where none are given. The same seed and number of turns "
        "give the same content, whatever the number of threads and however often it was "
        "interrupted.\n"
        "Ctrl-C stops after the turn at work, with exit status 0. Without a limit it runs until "
        "then. 'plexor status', 'export', 'replay' and 'minimize' read a campaign, also while it "
        "runs, and --data takes one.\n"
        "--guide random is the baseline that coverage must beat. docs/fuzz.md has the rules.",
    .examples = "plexor fuzz net.onnx --data digits --guide kmnc -o run.campaign --time 5m\n"
                "plexor fuzz --resume -o run.campaign\n"
                "plexor fuzz net.onnx --data digits --policy nlc --guide nlc -o nlc.campaign "
                "--turns 10000\n",
    .run = fuzz_run,
    .ranks = true,
    .signal_is_done = true,
    .result = fuzz_fields,
};
