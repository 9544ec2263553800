/* src/cli/cmd_minimize.c - plexor minimize CAMPAIGN: fewer inputs, or smaller faults */
#include "base/memory.h"
#include "cli/cli_cover.h"
#include "cli/minimize_print.h"

#include <errno.h>
#include <internal/fuzz.h>
#include <internal/store.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct minimize_args {
    const char *folder, *model, *to, *fault;
    cli_data data;
    cli_neurons neurons;
    cli_criteria criteria;
    cli_training training;
    cli_workers workers;
    int64_t all_faults, executions; /* all_faults -1: not asked for; 0: every one */
    bool seeds, any_type, same_class, fresh;
    cli_output output;
} minimize_args;

typedef struct minimize_job {
    px_campaign *campaign;
    px_model *model;
    cli_inputs inputs;
    px_profile *profile;
    px_cover *cover;
    char *guide[16]; /* settings of the campaign's guide, as texts */
    int guide_count;
    char *guide_neurons; /* that it looked at; NULL: not known, or the criteria are others */
    int64_t *ids;        /* of faults */
    size_t count;
    px_shrunk_fault *faults;
    px_minimized few;
} minimize_job;

/* --- fewer inputs ---------------------------------------------------------------------------- */

/* "k=1000 variant=ceil" of the guide becomes "kmnc.k=1000", "kmnc.variant=ceil". */
static void guide_settings(minimize_job *job, const char *guide, const char *settings)
{
    const int most = (int)(sizeof job->guide / sizeof job->guide[0]);
    while (*settings && job->guide_count < most) {
        const int length = (int)strcspn(settings, " ");
        if (length &&
            asprintf(&job->guide[job->guide_count], "%s.%.*s", guide, length, settings) > 0)
            job->guide_count++;
        settings += length + (settings[length] == ' ');
    }
}

/* Where no criteria are named: what the campaign was guided by, if it counts elements. */
static const char *minimize_criteria(minimize_job *job)
{
    px_campaign_identity identity = {0};
    px_json_document *document = NULL;
    const px_criterion *guide = NULL;
    if (px_campaign_identity_get(job->campaign, &identity) && identity.settings &&
        px_json_parse(identity.settings, strlen(identity.settings), &document, NULL) == PX_OK) {
        const px_json_value *root = px_json_root(document);
        const px_json_value *name = px_json_member(root, "guide"),
                            *settings = px_json_member(root, "guide_settings"),
                            *neurons = px_json_member(root, "guide_neurons");
        guide = name && name->kind == PX_JSON_STRING ? px_criterion_find(name->string) : NULL;
        if (guide && (guide->ordered || !*guide->unit))
            guide = NULL;
        if (guide && settings && settings->kind == PX_JSON_STRING)
            guide_settings(job, guide->entry.id, settings->string);
        if (guide && neurons && neurons->kind == PX_JSON_STRING)
            job->guide_neurons = strdup(neurons->string);
    }
    px_json_free(document);
    return guide ? guide->entry.id : "nc";
}

/* "layers=conv tap=post neurons=chan: 2 layers, ..." fills what the command line leaves open. The
 * texts stay in `text`, which is taken apart. */
static void guide_neurons(char *text, px_cover_options *options)
{
    char *tap = strstr(text, " tap="), *neurons = tap ? strstr(tap, " neurons=") : NULL;
    char *end = neurons ? strchr(neurons, ':') : NULL;
    if (strncmp(text, "layers=", 7) != 0 || !end)
        return;
    *tap = *neurons = *end = '\0';
    options->layers = options->layers ? options->layers : text + 7;
    options->tap = options->tap ? options->tap : tap + 5;
    options->neurons = options->neurons ? options->neurons : neurons + 9;
}

static px_status minimize_profile(const cli_command *self, const minimize_args *a,
                                  const px_cover_options *options, minimize_job *job, px_error *err)
{
    if (a->training.profile)
        PX_TRY(px_profile_open(a->training.profile, &job->profile, err));
    else if (!a->training.spec)
        PX_TRY(px_fuzz_profile_load(job->campaign, &job->profile, err));
    if (job->profile)
        return px_profile_check(job->profile, job->model, err);
    cli_data data = a->data;
    data.spec = a->folder;
    return cli_profile_make(self, job->model, &data, &a->training, &a->workers, &job->inputs.shape,
                            options, &job->profile, err);
}

static px_status minimize_cover(const cli_command *self, const minimize_args *a, minimize_job *job,
                                px_error *err)
{
    px_cover_options options = px_cover_options_default();
    options.criteria = a->criteria.list ? a->criteria.list : minimize_criteria(job);
    options.preset = a->criteria.preset;
    const bool given = a->criteria.settings.count > 0;
    options.settings = given ? a->criteria.settings.item : (const char *const *)job->guide;
    options.setting_count = (size_t)(given ? a->criteria.settings.count : job->guide_count);
    options.layers = a->neurons.layers;
    options.tap = a->neurons.tap;
    options.neurons = a->neurons.view;
    if (job->guide_neurons)
        guide_neurons(job->guide_neurons, &options);
    options.seed = (uint64_t)a->data.seed;
    options.threads = (int)a->workers.threads;
    PX_TRY(minimize_profile(self, a, &options, job, err));
    options.profile = job->profile;
    return px_cover_new(job->model, &job->inputs.shape, &options, &job->cover, err);
}

static px_status minimize_write(const minimize_args *a, minimize_job *job, px_error *err)
{
    const size_t length = a->to ? strlen(a->to) : 0;
    if (!a->to)
        return PX_OK;
    return length > 4 && strcmp(a->to + length - 4, ".csv") == 0
               ? px_minimized_csv(job->campaign, &job->few, a->to, err)
               : px_minimized_campaign(job->campaign, &job->few, a->to, a->fresh, err);
}

static px_status minimize_inputs(const cli_command *self, const minimize_args *a, minimize_job *job,
                                 px_error *err)
{
    px_minimize_options options = px_minimize_options_default();
    if (!a->criteria.list || strcmp(a->criteria.list, "none") != 0) {
        PX_TRY(minimize_cover(self, a, job, err));
        options.cover = job->cover;
    }
    cli_progress progress = cli_progress_start("minimize");
    options.fault_types = !a->any_type;
    options.batch = a->workers.batch;
    options.memory_bytes = cli_memory_bytes(&a->training);
    options.progress = cli_progress_tick;
    options.progress_context = &progress;
    const px_status status = px_minimize_inputs(job->campaign, job->inputs.set, &job->inputs.pre,
                                                &options, &job->few, err);
    cli_progress_end(&progress);
    PX_TRY(status);
    return minimize_write(a, job, err);
}

/* --- smaller faults -------------------------------------------------------------------------- */

static px_status faults_list(const minimize_args *a, minimize_job *job, px_error *err)
{
    px_campaign_input in = {0};
    int64_t damaged = 0, last = 0;
    PX_TRY(px_campaign_last(job->campaign, &last, err));
    PX_TRY(PX_NEW(job->ids, (size_t)last + 1, err));
    while (a->all_faults == 0 || (int64_t)job->count < a->all_faults) {
        PX_TRY(px_campaign_next(job->campaign, in.id, PX_INPUT_FAULT, &in, NULL, &damaged, err));
        if (!in.id || (int64_t)job->count >= last)
            break;
        if (!in.twin) /* another one nearly repeats it */
            job->ids[job->count++] = in.id;
    }
    return job->count ? PX_OK : px_fail(err, PX_E_INPUT, "'%s': has no failures", a->folder);
}

static px_status faults_choose(const minimize_args *a, minimize_job *job, px_error *err)
{
    char *end = NULL;
    if (!a->fault)
        return faults_list(a, job, err);
    errno = 0;
    const int64_t id = strtoll(a->fault, &end, 10);
    if (errno || *end || end == a->fault || id < 1)
        return px_fail(err, PX_E_USAGE, "--fault %s: not the id of an input", a->fault);
    PX_TRY(PX_NEW(job->ids, 1, err));
    job->ids[0] = id;
    job->count = 1;
    return PX_OK;
}

static px_status minimize_faults(const minimize_args *a, minimize_job *job, px_error *err)
{
    PX_TRY(faults_choose(a, job, err));
    PX_TRY(PX_NEW(job->faults, job->count, err));
    cli_progress progress = cli_progress_start("failures");
    px_shrink_options options = px_shrink_options_default();
    options.same_class = a->same_class;
    options.executions = a->executions;
    options.threads = (int)a->workers.threads;
    options.progress = cli_progress_tick;
    options.progress_context = &progress;
    const px_status status = px_shrink_faults(job->campaign, job->model, &job->inputs.pre, job->ids,
                                              job->count, &options, job->faults, err);
    cli_progress_end(&progress);
    PX_TRY(status);
    size_t errs = 0;
    for (size_t i = 0; i < job->count; i++)
        errs += job->faults[i].errs;
    if (!errs)
        return px_fail(
            err, PX_E_MISMATCH,
            "the network does not give the stored answer to %s%s; are --scale, --mean and "
            "--std as in the campaign?",
            a->fault ? "failure " : "these failures", a->fault ? a->fault : "");
    return a->to ? px_shrunk_save(job->campaign, job->faults, job->count, a->to, a->fresh, err)
                 : PX_OK;
}

/* --- the command ----------------------------------------------------------------------------- */

static px_status minimize_open(const cli_command *self, const minimize_args *a, minimize_job *job,
                               px_error *err)
{
    cli_data data = a->data;
    px_campaign_identity identity;
    PX_TRY(px_campaign_open(a->folder, PX_CAMPAIGN_READ, &job->campaign, err));
    if (!px_campaign_identity_get(job->campaign, &identity))
        return px_fail(err, PX_E_INPUT, "'%s': holds nothing yet", a->folder);
    if (!a->model) { /* fault types only */
        px_data_options options = px_data_options_default();
        options.split = a->seeds ? "all" : "generated";
        return px_dataset_open(a->folder, &options, &job->inputs.set, err);
    }
    PX_TRY(cli_model_load(self, a->model, &job->model, err));
    if (identity.model_hash != px_model_hash(job->model))
        return px_fail(err, PX_E_MISMATCH, "'%s': was made with another model", a->folder);
    data.spec = a->folder;
    data.split = a->seeds || a->fault ? "all" : "generated";
    return cli_inputs_open(job->model, &data, &job->inputs, err);
}

static void minimize_close(minimize_job *job)
{
    for (size_t i = 0; job->faults && i < job->count; i++)
        px_shrunk_done(&job->faults[i]);
    free(job->faults);
    free(job->ids);
    for (int i = 0; i < job->guide_count; i++)
        free(job->guide[i]);
    free(job->guide_neurons);
    px_minimized_done(&job->few);
    px_cover_free(job->cover);
    px_profile_free(job->profile);
    cli_inputs_close(&job->inputs);
    px_model_free(job->model);
    px_campaign_close(job->campaign);
}

static int minimize_say(const cli_command *self, const minimize_args *a, const minimize_job *job)
{
    minimize_report r = {.origin = cli_origin_of(job->model, job->inputs.set),
                         .few = job->faults ? NULL : &job->few,
                         .cover = job->cover,
                         .faults = job->faults,
                         .fault_count = job->count,
                         .to = a->to};
    r.means = px_shrunk_sum(r.faults, r.fault_count);
    r.left_out = (int64_t)(r.fault_count - r.means.count);
    if (a->output.json)
        return cli_print_result(self, minimize_fields, &r);
    minimize_print(&r);
    return CLI_DONE;
}

static int minimize_usage(const cli_command *self, const minimize_args *a)
{
    const bool faults = a->fault || a->all_faults >= 0;
    const bool alone = !faults && a->criteria.list && strcmp(a->criteria.list, "none") == 0;
    if (a->fault && a->all_faults >= 0)
        return cli_usage_error(self, "--fault and --all-faults exclude each other");
    if (faults && (a->criteria.list || a->seeds || a->any_type))
        return cli_usage_error(self, "--criteria, --seeds and --any-type choose inputs; they do "
                                     "not go with --fault and --all-faults");
    if (a->training.profile && a->training.spec)
        return cli_usage_error(self, "--profile and --train exclude each other");
    if (!a->model && !alone)
        return cli_require(self, "model", a->model) ? CLI_GO : CLI_BAD_INPUT;
    return CLI_GO;
}

static int minimize_run(const cli_command *self, int argc, char **argv)
{
    minimize_args a = {.all_faults = -1, .executions = px_shrink_options_default().executions};
    const cli_option options[] = {
        CLI_STRING(0, "model", &a.model, "MODEL", "the campaign's network"),
        CLI_STRING(
            'o', "output", &a.to, "NEW|FILE.csv",
            "a new campaign with the inputs, or a list of them; with failures: a new folder"),
        CLI_FLAG(0, "fresh", &a.fresh, "in place of what an earlier run made there"),
        CLI_CRITERIA_OPTIONS(&a.criteria),
        CLI_NEURON_OPTIONS(&a.neurons),
        CLI_STRING(0, "profile", &a.training.profile, "FILE",
                   "what 'plexor profile' learned; else the campaign's own, if it has one"),
        CLI_TRAINING_OPTIONS(&a.training),
        CLI_FLAG(0, "seeds", &a.seeds, "choose among the seeds too"),
        CLI_FLAG(0, "any-type", &a.any_type, "coverage alone decides, not kinds of failure"),
        CLI_STRING(0, "fault", &a.fault, "ID", "make this failure smaller instead"),
        CLI_INT(0, "all-faults", &a.all_faults, "N", 0, 9e15,
                "make the first N distinct failures smaller; 0: all"),
        CLI_FLAG(0, "same-class", &a.same_class, "the wrong answer must stay the same one"),
        CLI_INT(0, "executions", &a.executions, "N", 1, 9e15,
                "of the network for a failure, at most"),
        CLI_STRING(
            0, "preprocess", &a.data.pixels.preprocess, "NAME|FILE",
            "one of 'plexor list preprocess', or a file, instead of what the campaign remembers"),
        CLI_STRING(0, "scale", &a.data.pixels.scale, "X", "likewise"),
        CLI_STRING(0, "mean", &a.data.pixels.mean, "LIST", "likewise"),
        CLI_STRING(0, "std", &a.data.pixels.std, "LIST", "likewise"),
        CLI_INT(0, "seed", &a.data.seed, "N", 0, 9e15, "of everything random"),
        CLI_WORKER_OPTIONS(&a.workers),
        CLI_OUTPUT_OPTIONS(&a.output),
        CLI_END,
    };
    int stop = cli_parse(self, argc, argv, options, &a.folder, 1, 1);
    if (stop == CLI_GO)
        stop = minimize_usage(self, &a);
    if (stop != CLI_GO)
        return stop;
    px_error err = {0};
    minimize_job job = {0};
    px_status status = minimize_open(self, &a, &job, &err);
    PX_THEN(status, a.fault || a.all_faults >= 0 ? minimize_faults(&a, &job, &err)
                                                 : minimize_inputs(self, &a, &job, &err));
    const int rc = status == PX_OK ? minimize_say(self, &a, &job) : cli_fail(self, &err);
    minimize_close(&job);
    return rc;
}

const cli_command cli_command_minimize = {
    .name = "minimize",
    .usage = "CAMPAIGN --model MODEL [-o NEW] [--fault ID | --all-faults N] [options]",
    .help = "few inputs that cover as much, or failures that differ less from their seed inputs",
    .details =
        "Chooses inputs by exact greedy set cover: all that the criteria count stays covered (it "
        "is measured again), and a failure of each kind (label, answer). Criteria are those that "
        "the "
        "campaign was guided by, on the same neurons, unless --criteria names others; 'none' goes "
        "by kinds of failure "
        "alone and needs no network.\n"
        "With --fault, one failure goes back towards its seed input as far as the network still "
        "errs: "
        "links of its mutation chain that are not needed are dropped, then pixels return to what "
        "the seed input has, in whole levels. -o writes a picture (seed input, failure, minimized, "
        "ten times the "
        "difference), the pixels as NPZ and a table with the distances.",
    .examples = "plexor minimize run.campaign --model net.onnx -o few.campaign\n"
                "plexor minimize run.campaign --model net.onnx --criteria nc,tknc -o few.csv\n"
                "plexor minimize run.campaign --model net.onnx --fault 17 -o fault17\n",
    .run = minimize_run,
    .result = minimize_fields,
};
