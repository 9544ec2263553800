/* src/cli/cmd_localize.c - plexor localize MODEL --data SPEC */
/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/localize_print.h"
#include "cli/localize_shapley.h"

#include <internal/localize.h>
#include <inttypes.h>
#include <math.h>
#include <plexor/system.h>
#include <string.h>

typedef struct localize_args {
    cli_data data;
    cli_neurons neurons;
    cli_workers workers;
    const char *measure, *compat, *output_path, *plot, *state, *shard, *spectrum;
    int64_t k, run;
    double star, theta;
    bool per_class, pooled, compare, include;
    shapley_args shapley;
} localize_args;

typedef struct localize_job {
    px_model *model;
    cli_inputs inputs;
    px_spectrum *spectrum;
    px_suspicious *list;
    int64_t shard, shards;
    localize_report report;
} localize_job;

static bool localize_code(const localize_args *a)
{
    return a->compat != NULL;
}

/* The published code, and random neurons that are to resemble what it chooses, rank all. */
static bool localize_all(const localize_args *a)
{
    return a->include || localize_code(a) || strcmp(a->measure, "random") == 0;
}

/* --- the spectrum ---------------------------------------------------------------------------- */

static px_status localize_count(const localize_args *a, localize_job *job, px_error *err)
{
    px_spectrum_options options = px_spectrum_options_default();
    options.layers = a->neurons.layers;
    options.tap = !a->neurons.tap && localize_code(a) ? "pre" : a->neurons.tap;
    options.neurons = a->neurons.view;
    options.theta = a->theta;
    options.threads = (int)a->workers.threads;
    PX_TRY(cli_inputs_open(job->model, &a->data, &job->inputs, err));
    job->report.inputs = &job->inputs;
    PX_TRY(px_spectrum_new(job->model, &job->inputs.shape, &options, &job->spectrum, err));
    const px_spectrum_run_options run = {.batch = a->workers.batch,
                                         .shard = job->shard,
                                         .shards = job->shards,
                                         .progress = cli_tick,
                                         .progress_context = CLI_WORDS("localize")};
    return px_spectrum_run(job->spectrum, job->inputs.set, &job->inputs.pre, &run, err);
}

static px_status localize_read(const localize_args *a, localize_job *job, px_error *err)
{
    PX_TRY(px_spectrum_open(a->spectrum, &job->spectrum, err));
    const px_status status = px_spectrum_check(job->spectrum, job->model, err);
    return status == PX_OK ? PX_OK : px_fail_in(err, status, "'%s'", a->spectrum);
}

/* --- the ranking ----------------------------------------------------------------------------- */

static px_status localize_list(const localize_args *a, const px_rank_options *rank,
                               const px_spectrum *spectrum, px_suspicious **out, px_error *err)
{
    const px_baseline_options options = {.k = a->k,
                                         .seed = (uint64_t)a->data.seed,
                                         .run = (uint32_t)a->run,
                                         .compat_code = localize_code(a)};
    if (strcmp(a->measure, "random") == 0)
        return px_suspicious_random_beside(spectrum, rank, &options, out, err);
    return px_suspicious_rank(spectrum, rank, out, err);
}

static px_status localize_work(const cli_command *self, const localize_args *a, const char *path,
                               localize_job *job, px_error *err)
{
    const double start = px_clock_s();
    const px_measure *measure = NULL;
    localize_report *r = &job->report;
    const px_rank_options rank = {.measure = a->measure,
                                  .star = a->star,
                                  .k = a->k,
                                  .pooled = a->pooled,
                                  .include_uninformative = localize_all(a)};
    if (strcmp(a->measure, "random") != 0) /* before anything runs */
        PX_TRY(px_measure_choose(a->measure, &measure, err));
    PX_TRY(cli_shard(a->shard, &job->shard, &job->shards, err));
    PX_TRY(cli_model_load(self, path, &job->model, err));
    PX_TRY(a->spectrum ? localize_read(a, job, err) : localize_count(a, job, err));
    if (a->state)
        PX_TRY(px_spectrum_save(job->spectrum, a->state, err));
    localize_report_fill(r, job->model, job->spectrum);
    r->seconds = px_clock_s() - start;
    if (a->shard) /* its neurons would be those of a part: ranked when all parts are there */
        return PX_OK;
    const int64_t neurons = px_spectrum_neuron_count(job->spectrum);
    if (a->k > neurons)
        cli_note(self, "there are %" PRId64 " neurons: -k %" PRId64 " takes all of them", neurons,
                 a->k);
    PX_TRY(localize_list(a, &rank, job->spectrum, &job->list, err));
    r->list = job->list;
    r->all = rank.include_uninformative;
    r->per_class = !a->pooled;
    r->k = a->k < neurons ? a->k : neurons;
    if (a->compare)
        PX_TRY(px_rankings_compare(job->spectrum, &rank, job->list, &r->rankings, err));
    r->seconds = px_clock_s() - start;
    if (a->output_path)
        PX_TRY(px_suspicious_save(job->list, a->output_path, err));
    return a->plot ? localize_plot(r, a->plot, err) : PX_OK;
}

static void localize_done(localize_job *job)
{
    px_rankings_done(&job->report.rankings);
    px_suspicious_free(job->list);
    px_spectrum_free(job->spectrum);
    cli_inputs_close(&job->inputs);
    px_model_free(job->model);
}

/* Options that exclude each other; CLI_GO or an exit status. */
static int localize_check(const cli_command *self, const localize_args *a)
{
    if (a->spectrum && a->data.spec)
        return cli_usage_error(self, "--spectrum and --data exclude each other");
    if (a->spectrum && (a->neurons.layers || a->neurons.tap || a->neurons.view || a->shard))
        return cli_usage_error(self, "--spectrum has its neurons already: --layers, --tap, "
                                     "--neurons and --shard go with --data");
    if (!a->spectrum)
        CLI_TRY(cli_require(self, "data", a->data.spec));
    if (a->shard && !a->state)
        return cli_usage_error(self, "--shard counts a part of the data, for 'plexor merge': say "
                                     "where to with --state");
    if (a->shard && (a->output_path || a->plot || a->compare))
        return cli_usage_error(self, "--shard counts a part of the data; -o, --plot and --compare "
                                     "go with --spectrum, when the parts are merged");
    if (a->per_class && a->pooled)
        return cli_usage_error(self, "--per-class and --pooled exclude each other");
    if (a->compat && strcmp(a->compat, "code") != 0)
        return cli_usage_error(self, "--compat %.60s: there is only 'code'", a->compat);
    return CLI_GO;
}

static bool localize_is_shapley(const localize_args *a)
{
    return strcmp(a->measure, "shapley") == 0;
}

/* The same for what goes with one kind of measure only. */
static int localize_check_shapley(const cli_command *self, const localize_args *a)
{
    if (!localize_is_shapley(a))
        return shapley_args_given(&a->shapley)
                   ? cli_usage_error(self, "--perturb, --adversarial, --pair, --estimator, "
                                           "--permutations, --truncation, --goal, --nodes, --norm "
                                           "and --lambda go with --measure shapley")
                   : CLI_GO;
    if (a->spectrum || a->state || a->shard || a->compare || a->compat || a->plot || a->run ||
        a->include || a->theta != 0.0 || a->star != PX_STAR_DEFAULT)
        return cli_usage_error(self, "--measure shapley counts no hits: --spectrum, --state, "
                                     "--shard, --compare, --compat, --plot, --run, --theta, --star "
                                     "and --include-uninformative do not go with it");
    if (a->shapley.perturb && a->shapley.adversarial)
        return cli_usage_error(self, "--perturb and --adversarial exclude each other");
    if (!a->shapley.adversarial && a->shapley.pair != ASSESS_PAIR_AUTO)
        return cli_usage_error(self, "--pair goes with --adversarial");
    return CLI_GO;
}

static int localize_run(const cli_command *self, int argc, char **argv)
{
    localize_args a = {
        .measure = "ochiai", .k = 10, .star = PX_STAR_DEFAULT, .shapley = SHAPLEY_ARGS_DEFAULT};
    const char *path = NULL;
    const cli_option options[] = {
        CLI_DATA_OPTIONS(&a.data),
        CLI_STRING(0, "measure", &a.measure, "ID|random|shapley",
                   "how suspicious a neuron is; 'plexor list measures' names them"),
        CLI_INT('k', "top", &a.k, "K", 1, 9e15, "how many neurons, for each class"),
        CLI_FLAG(0, "per-class", &a.per_class, "a ranking for each class (the default)"),
        CLI_FLAG(0, "pooled", &a.pooled, "one ranking over the inputs of all classes"),
        CLI_FLAG(0, "include-uninformative", &a.include,
                 "rank neurons too that are active on (almost) all inputs, none, or too few"),
        CLI_REAL(0, "star", &a.star, "X", 1e-3, 30, "the exponent of dstar"),
        CLI_REAL(0, "theta", &a.theta, "X", -1e30, 1e30, "a neuron is active above this"),
        CLI_NEURON_OPTIONS(&a.neurons),
        SHAPLEY_OPTIONS(&a.shapley),
        CLI_FLAG(0, "compare", &a.compare, "all measures: neurons in common, and rank correlation"),
        CLI_INT(0, "run", &a.run, "N", 0, 4294967295.0,
                "which draw of random neurons; others for another number"),
        CLI_STRING(0, "compat", &a.compat, "code",
                   "as the published code: --tap pre, and layers of random neurons by chance"),
        CLI_STRING('o', "output", &a.output_path, "FILE", "the neurons as a table (CSV)"),
        CLI_STRING(0, "plot", &a.plot, "FILE", "their layers as a chart, .svg"),
        CLI_STRING(0, "state", &a.state, "FILE", "save the counts, for --spectrum and 'merge'"),
        CLI_STRING(0, "spectrum", &a.spectrum, "FILE",
                   "take the counts that --state saved, instead of --data"),
        CLI_STRING(0, "shard", &a.shard, "I/N", "only part I (from 0) of N parts of the data"),
        CLI_WORKER_OPTIONS(&a.workers),
        CLI_OUTPUT_OPTIONS,
        CLI_END,
    };
    CLI_TRY(cli_parse(self, argc, argv, options, &path, 1, 1));
    CLI_TRY(localize_check_shapley(self, &a));
    if (!localize_is_shapley(&a) || !a.shapley.adversarial || a.data.spec)
        CLI_TRY(localize_check(self, &a)); /* a campaign has what its inputs were before */
    if (localize_is_shapley(&a)) {
        const shapley_job shapley = {.self = self,
                                     .args = &a.shapley,
                                     .data = &a.data,
                                     .neurons = &a.neurons,
                                     .workers = &a.workers,
                                     .output_path = a.output_path,
                                     .k = a.k,
                                     .pooled = a.pooled};
        return localize_shapley(&shapley, path);
    }
    px_error err = {0};
    localize_job job = {0};
    const px_status status = localize_work(self, &a, path, &job, &err);
    const int rc = cli_answer(self, status, &err, &job.report, localize_print);
    localize_done(&job);
    return rc;
}

const cli_command cli_command_localize = {
    .name = "localize",
    .usage = "MODEL --data SPEC [--measure ID] [-k K] [options]",
    .help = "which neurons are active when a network is wrong",
    .details =
        "For each hidden neuron plexor counts on how many inputs it was active or not while the "
        "network was right or wrong (the hit spectrum), and a measure makes one number of the four "
        "counts. The neurons with the highest numbers are suspects, for each class by itself. Ties "
        "go to the deeper layer.\n"
        "That a neuron is active when the network is wrong does not show that it is the cause: "
        "'plexor synthesize' tries that out, and --measure random gives neurons from the same "
        "layers to compare with.\n"
        "--state saves the counts; those of parts of the data (--shard) are joined by 'plexor "
        "merge' and ranked with --spectrum.\n"
        "--measure shapley asks another question: which channels a change of the loss comes from "
        "when inputs are changed a little (--perturb, an attack, or --adversarial, data). Score: "
        "the mean Shapley value on a common scale (--norm); a neuron is excitable on an input "
        "above --lambda.",
    .examples = "plexor localize net.onnx --data digits -k 10 -o suspicious.csv\n"
                "plexor localize net.onnx --data digits --measure dstar --pooled --compare\n"
                "plexor localize net.onnx --data digits --limit 100 --measure shapley --perturb "
                "fgsm:8/255 -o suspicious.csv\n"
                "plexor localize net.onnx --data digits --shard 0/4 --state 0.state\n",
    .run = localize_run,
    .ranks = true,
    .result = localize_fields,
};
