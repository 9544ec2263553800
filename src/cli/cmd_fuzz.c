/* src/cli/cmd_fuzz.c - plexor fuzz MODEL --data SPEC -o CAMPAIGN */
#include "cli/fuzz_guide.h"
#include "cli/fuzz_screen.h"
#include "cli/fuzz_summary.h"
#include "cli/modes_print.h"

#include <math.h>
#include <plexor/fuzz.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { FUZZ_RIVALS = 2, FUZZ_SHORTS = 4, FUZZ_MODES = 5 };

typedef struct fuzz_args {
    cli_data data;
    cli_neurons neurons;
    cli_training training;
    fuzz_guide_args words;
    cli_workers workers;
    cli_list set;
    const char *guide, *preset, *engine, *policy, *mutations, *styles, *store, *range;
    const char *rivals[FUZZ_RIVALS];
    const char *folder, *time, *energy, *alpha, *beta, *optimizer;
    bool resume, fresh;
    px_closeness least;
    int64_t seeds, polluted_class;
    px_fuzz_limits limits;
    cli_output output;
    /* Settings apart: of the guide's criterion, and of the engine. */
    const char *cover_texts[CLI_LIST_MAX];
    const char *engine_texts[CLI_LIST_MAX + FUZZ_SHORTS];
    size_t cover_count, engine_count;
    char short_texts[FUZZ_SHORTS][64];
} fuzz_args;

typedef struct fuzz_job {
    const cli_command *self;
    px_campaign *campaign;
    px_model *model, *rivals[FUZZ_RIVALS];
    cli_inputs inputs;
    px_profile *profile;
    px_styles *styles;
    px_cover *cover;
    fuzz_guide words; /* of --guide nsgen */
    bool by_paths;
    px_fuzz *fuzz;
    px_text command;
    fuzz_screen *screen;
    px_fuzz_report report;
    double before_s; /* of earlier runs */
    px_campaign_counts counts;
    px_error_counts errors;
    px_mode *modes;
    size_t mode_count;
} fuzz_job;

/* --- settings ------------------------------------------------------------------------------------
 */

/* "kmnc.k=100" is the criterion's, all else the engine's. */
static void fuzz_sort_settings(fuzz_args *a)
{
    const struct {
        const char *name, *value;
    } shorts[FUZZ_SHORTS] = {
        {"energy", a->energy}, {"alpha", a->alpha}, {"beta", a->beta}, {"optimizer", a->optimizer}};
    for (int i = 0; i < a->set.count; i++) {
        const char *text = a->set.item[i];
        char id[64];
        const size_t length = strcspn(text, ".=");
        snprintf(id, sizeof id, "%.*s", (int)length, text);
        if (text[length] == '.' && px_criterion_find(id))
            a->cover_texts[a->cover_count++] = text;
        else
            a->engine_texts[a->engine_count++] = text;
    }
    for (size_t i = 0; i < sizeof shorts / sizeof shorts[0]; i++)
        if (shorts[i].value) {
            snprintf(a->short_texts[i], sizeof a->short_texts[i], "%s=%s", shorts[i].name,
                     shorts[i].value);
            a->engine_texts[a->engine_count++] = a->short_texts[i];
        }
}

static px_cover_options fuzz_cover_options(const fuzz_args *a, const px_profile *profile)
{
    px_cover_options options = px_cover_options_default();
    options.criteria = a->guide;
    options.preset = a->preset;
    options.settings = a->cover_texts;
    options.setting_count = a->cover_count;
    options.layers = a->neurons.layers;
    options.tap = a->neurons.tap;
    options.neurons = a->neurons.view;
    options.profile = profile;
    options.seed = (uint64_t)a->data.seed;
    options.threads = (int)a->workers.threads;
    return options;
}

/* --- opening -------------------------------------------------------------------------------------
 */

/* The campaign's own, or what --profile and --train say. */
static px_status fuzz_profile(const cli_command *self, const fuzz_args *a, fuzz_job *job,
                              px_error *err)
{
    PX_TRY(px_fuzz_profile_load(job->campaign, &job->profile, err));
    if (job->profile)
        return px_profile_check(job->profile, job->model, err);
    if (a->training.profile) {
        PX_TRY(px_profile_open(a->training.profile, &job->profile, err));
        PX_TRY(px_profile_check(job->profile, job->model, err));
        cli_profile_remarks(self, job->model, job->profile);
        return PX_OK;
    }
    const px_cover_options learn = fuzz_cover_options(a, NULL);
    return cli_profile_make(self, job->model, &a->data, &a->training, &a->workers,
                            &job->inputs.shape, &learn, &job->profile, err);
}

static px_status fuzz_open_guide(const cli_command *self, fuzz_args *a, fuzz_job *job,
                                 px_error *err)
{
    const px_fuzz_engine *engine = px_fuzz_engine_find(a->engine);
    if (engine && !engine->guided) {
        if (a->guide)
            return px_fail(err, PX_E_USAGE, "engine '%s' has a guide of its own and takes no other",
                           a->engine);
        return PX_OK;
    }
    if (!a->guide)
        a->guide = a->policy && strcmp(a->policy, "tensorfuzz") == 0 ? "cc" : "kmnc";
    if (strcmp(a->guide, "random") == 0)
        return PX_OK;
    px_path_mode mode = PX_PATH_FULL;
    PX_TRY(px_fuzz_paths_parse(a->guide, &job->by_paths, &mode, err));
    if (job->by_paths && !a->policy)
        a->policy = "nsgen";
    if (job->by_paths)
        return fuzz_guide_open(self, &a->words, mode, &a->data, &a->neurons, &a->training,
                               &a->workers, job->model, &job->inputs, job->campaign, &job->words,
                               err);
    if (!px_criterion_find(a->guide))
        return px_fail(
            err, PX_E_USAGE,
            "there is no guide '%.60s'; it is random, nsgen, or one of 'plexor list criteria'",
            a->guide);
    PX_TRY(fuzz_profile(self, a, job, err));
    const px_cover_options options = fuzz_cover_options(a, job->profile);
    return px_cover_new(job->model, &job->inputs.shape, &options, &job->cover, err);
}

static bool fuzz_tell(void *context, const px_fuzz_report *report)
{
    fuzz_job *job = context;
    fuzz_screen_show(job->screen, report);
    return !cli_interrupted();
}

static px_status fuzz_start(const fuzz_args *a, fuzz_job *job, px_error *err)
{
    const px_model *rivals[FUZZ_RIVALS];
    px_fuzz_options options = px_fuzz_options_default();
    for (size_t i = 0; i < FUZZ_RIVALS; i++)
        if (job->rivals[i])
            rivals[options.rival_count++] = job->rivals[i];
    if (a->range || !px_dataset_audio(job->inputs.set)) /* recordings are changed as such */
        PX_TRY(cli_range_of(job->self, a->range, &job->inputs, &options.low, &options.high, err));
    options.campaign = job->campaign;
    options.model = job->model;
    options.rivals = rivals;
    options.set = job->inputs.set;
    options.pre = &job->inputs.pre;
    options.cover = job->cover;
    options.paths = job->by_paths ? &job->words.by : NULL;
    options.profile = job->profile;
    options.engine = a->engine;
    options.policy = a->policy;
    options.mutations = a->mutations;
    options.styles = job->styles;
    options.settings = a->engine_texts;
    options.setting_count = a->engine_count;
    options.seeds = a->seeds;
    options.least = a->least;
    options.polluted_class = a->polluted_class;
    options.store_float = a->store && strcmp(a->store, "float") == 0;
    options.seed = (uint64_t)a->data.seed;
    options.batch = a->workers.batch;
    options.threads = (int)a->workers.threads;
    options.command = px_text_get(&job->command);
    options.progress = fuzz_tell;
    options.context = job;
    return px_fuzz_new(&options, &job->fuzz, err);
}

static px_status fuzz_open(const cli_command *self, fuzz_args *a, const char *path, fuzz_job *job,
                           px_error *err)
{
    /* The folder and its empty database come first: they show that it has begun. */
    PX_TRY(px_campaign_open(a->folder,
                            a->resume  ? PX_CAMPAIGN_RESUME
                            : a->fresh ? PX_CAMPAIGN_FRESH
                                       : PX_CAMPAIGN_CREATE,
                            &job->campaign, err));
    PX_TRY(cli_model_load(self, path, &job->model, err));
    for (size_t i = 0; i < FUZZ_RIVALS; i++)
        if (a->rivals[i])
            PX_TRY(cli_model_load(self, a->rivals[i], &job->rivals[i], err));
    PX_TRY(cli_inputs_open(job->model, &a->data, &job->inputs, err));
    if (a->styles)
        PX_TRY(px_styles_open(a->styles, &job->styles, err));
    PX_TRY(fuzz_open_guide(self, a, job, err));
    return fuzz_start(a, job, err);
}

static const char *fuzz_base_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

static px_status fuzz_work(const cli_command *self, const fuzz_args *a, const char *path,
                           fuzz_job *job, px_error *err)
{
    if (cli_interrupted())
        return px_fail(err, PX_E_CANCELLED, "cancelled before the first turn");
    cli_end_in_order(); /* a turn that was begun is finished */
    job->before_s = px_fuzz_report_get(job->fuzz).run_s;
    if (a->resume && a->limits.seconds > 0.0)
        cli_note(self,
                 "--time %s is of the whole campaign: it ran for %.3g s before, so that %.3g s "
                 "are left",
                 a->time, job->before_s, fmax(0.0, a->limits.seconds - job->before_s));
    job->screen = fuzz_screen_open(fuzz_base_name(path), (int)a->workers.threads);
    px_status status = px_fuzz_run(job->fuzz, &a->limits, err);
    fuzz_screen_close(job->screen);
    if (status == PX_E_CANCELLED)
        status = PX_OK; /* asked to stop, and so it did */
    job->report = px_fuzz_report_get(job->fuzz);
    PX_TRY(status);
    PX_TRY(px_campaign_count(job->campaign, &job->counts, err));
    PX_TRY(px_campaign_modes(job->campaign, &job->modes, &job->mode_count, err));
    return px_campaign_count_errors(job->campaign, -1, &job->errors, err);
}

static void fuzz_close(fuzz_job *job)
{
    px_fuzz_free(job->fuzz);
    px_cover_free(job->cover);
    fuzz_guide_close(&job->words);
    px_profile_free(job->profile);
    px_styles_free(job->styles);
    cli_inputs_close(&job->inputs);
    for (size_t i = 0; i < FUZZ_RIVALS; i++)
        px_model_free(job->rivals[i]);
    px_model_free(job->model);
    px_campaign_close(job->campaign);
    free(job->modes);
    px_text_done(&job->command);
}

static int fuzz_print(const cli_command *self, const fuzz_args *a, const fuzz_job *job, int argc,
                      char **argv)
{
    if (!a->output.json) {
        fuzz_summary_print(&job->report, job->before_s, &job->counts, &job->errors);
        modes_print(job->modes, job->mode_count, FUZZ_MODES);
        return CLI_DONE;
    }
    px_json json = {0};
    px_json_object(&json, NULL);
    cli_json_origin(&json, job->model, job->inputs.set, argc, argv);
    px_json_string(&json, "campaign", a->folder);
    fuzz_summary_json(&job->report, &job->counts, &job->errors, &json);
    px_json_real(&json, "seconds_before", job->before_s);
    px_error err = {0};
    if (px_modes_json(job->modes, job->mode_count, &json, &err) != PX_OK)
        return cli_fail(self, &err);
    px_json_end(&json);
    return cli_print_json(self, &json);
}

/* A campaign is gone on with as it was begun: that command is what is missing. */
static int fuzz_not_all(const cli_command *self, const fuzz_args *a, const char *path)
{
    px_error err = {0};
    px_campaign *campaign = NULL;
    char *command = NULL;
    px_status status = px_campaign_open(a->folder, PX_CAMPAIGN_READ, &campaign, &err);
    if (status == PX_OK)
        status = px_campaign_get(campaign, "command", &command, &err);
    const int rc = status != PX_OK ? cli_fail(self, &err)
                                   : cli_usage_error(self, "%s missing; '%s' was begun with: %s",
                                                     path           ? "--data is"
                                                     : a->data.spec ? "MODEL is"
                                                                    : "MODEL and --data are",
                                                     a->folder, command ? command : "(unknown)");
    free(command);
    px_campaign_close(campaign);
    return rc;
}

static int fuzz_run(const cli_command *self, int argc, char **argv)
{
    static fuzz_args a; /* large: lists */
    a = (fuzz_args){.engine = "loop", .seeds = 1000, .polluted_class = -1};
    const char *path = NULL;
    int64_t iterations = 0;
    const cli_option options[] = {
        CLI_DATA_OPTIONS(&a.data),
        CLI_STRING('o', "output", &a.folder, "CAMPAIGN", "the folder to make, or to go on with"),
        CLI_FLAG(0, "resume", &a.resume, "go on with that campaign"),
        CLI_FLAG(0, "fresh", &a.fresh, "begin anew: the campaign that is there is removed first"),
        CLI_STRING(0, "guide", &a.guide, "CRITERION",
                   "what must grow for a mutant to be kept: one of 'plexor list criteria' (kmnc "
                   "unless told), or random: everything is kept; nsgen: what is decided on another "
                   "path, in words"),
        FUZZ_GUIDE_OPTIONS(&a.words),
        CLI_STRING(0, "engine", &a.engine, "NAME", "the search; 'plexor list engines' names them"),
        CLI_STRING(0, "policy", &a.policy, "NAME",
                   "schedule, energy and validity; 'plexor list policies' names them"),
        CLI_STRING(0, "mutations", &a.mutations, "SET",
                   "what mutants are made with; see 'plexor list mutations'"),
        CLI_STRING(0, "styles", &a.styles, "SPEC",
                   "pictures whose colours and textures --mutations nsgen+style takes, instead of "
                   "generated ones; kept with the campaign"),
        CLI_STRINGS(0, "set", &a.set, "NAME=VALUE",
                    "change one setting of the engine (twins=5), or of the guide (kmnc.k=100); may "
                    "be given again and again"),
        CLI_STRING(0, "energy", &a.energy, "N", "mutants of a turn: --set energy=N"),
        CLI_STRING(0, "alpha", &a.alpha, "SHARE", "of values that may change: --set alpha=SHARE"),
        CLI_STRING(0, "beta", &a.beta, "SHARE",
                   "of the range that values may change by: --set beta=SHARE"),
        CLI_STRING(0, "optimizer", &a.optimizer, "NAME",
                   "of engine deepsensor: pso, random or ga; --set optimizer=NAME"),
        CLI_STRING(0, "preset", &a.preset, "PAPER",
                   "settings of a paper for the guide; see 'plexor list presets'"),
        CLI_REAL(0, "min-similarity", &a.least.similarity, "X", 0, 1,
                 "failing inputs less similar to their originals, what moved being undone, are "
                 "counted as rejected and dropped; 0.6 is what counts as close"),
        CLI_REAL(0, "min-inside", &a.least.inside, "X", 0, 1,
                 "the same for those with less of the object left in the frame; 0.8 is close"),
        CLI_INT(0, "seeds", &a.seeds, "N", 0, 1e9,
                "start from so many inputs, of every class as many, that the network gets right; "
                "0: from all of those"),
        CLI_INT(0, "polluted-class", &a.polluted_class, "C", 0, 1e9,
                "what a network trained on polluted data takes patches for, for E_pol (the "
                "network's metadata may say it)"),
        CLI_STRING(0, "model2", &a.rivals[0], "MODEL", "another network to compare with"),
        CLI_STRING(0, "model3", &a.rivals[1], "MODEL", "and a third one"),
        CLI_INT(0, "turns", &a.limits.turns, "N", 0, 4e9, "stop after so many picks"),
        CLI_INT(0, "iterations", &iterations, "N", 0, 4e9, "the same"),
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
        CLI_OUTPUT_OPTIONS(&a.output),
        CLI_END,
    };
    const int stop = cli_parse(self, argc, argv, options, &path, 0, 1);
    if (stop != CLI_GO)
        return stop;
    if (a.resume && a.folder && (!path || !a.data.spec))
        return fuzz_not_all(self, &a, path);
    if (!path)
        return cli_usage_error(self, "MODEL is missing; usage: plexor %s %s", self->name,
                               self->usage);
    if (!cli_require(self, "data", a.data.spec) || !cli_require(self, "output", a.folder))
        return CLI_BAD_INPUT;
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
    fuzz_sort_settings(&a);
    px_error err = {0};
    fuzz_job job = {.self = self};
    cli_command_line(&job.command, argc, argv);
    cli_catch_signals();
    px_status status = px_text_failed(&job.command) ? px_fail(&err, PX_E_NOMEM, "out of memory")
                                                    : fuzz_open(self, &a, path, &job, &err);
    if (status == PX_OK)
        status = fuzz_work(self, &a, path, &job, &err);
    const int rc = status == PX_OK ? fuzz_print(self, &a, &job, argc, argv) : cli_fail(self, &err);
    fuzz_close(&job);
    return rc;
}

const cli_command cli_command_fuzz = {
    .name = "fuzz",
    .usage = "MODEL --data SPEC -o CAMPAIGN [--guide CRITERION] [options]",
    .help = "make inputs that a network gets wrong, in a campaign that cannot be lost",
    .details =
        "Inputs that the network gets right are changed in ways that are meant to leave their "
        "meaning alone, and how near each failure is to its original is measured; "
        "what raises coverage is kept and changed further, what the network gets wrong is a "
        "failure. "
        "Everything goes into a folder with a database and is committed before it is counted: "
        "after kill -9 or a full disk --resume goes on. The same seed and number of turns give the "
        "same content, whatever the number of threads and however often it was interrupted.\n"
        "Ctrl-C stops after the turn at work, with exit status 0. Without a limit it runs until "
        "then. 'plexor status', "
        "'export', 'replay' and 'minimize' read a campaign, also while it runs, and --data takes "
        "one.\n"
        "--guide random is the baseline that coverage must beat. docs/fuzz.md has the rules.",
    .examples = "plexor fuzz net.onnx --data digits --guide kmnc -o run.campaign --time 5m\n"
                "plexor fuzz net.onnx --data digits --guide kmnc -o run.campaign --resume\n"
                "plexor fuzz net.onnx --data digits --policy nlc --guide nlc -o nlc.campaign "
                "--turns 10000\n",
    .run = fuzz_run,
    .signal_is_done = true,
};
