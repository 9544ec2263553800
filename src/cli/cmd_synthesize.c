/* src/cli/cmd_synthesize.c - plexor synthesize MODEL --data SPEC */
/* SPDX-License-Identifier: Apache-2.0 */
#include "base/memory.h"
#include "cli/cli_fields.h"
#include "cli/cli_net.h"
#include "cli/synthesize_campaign.h"

#include <internal/data.h>
#include <internal/localize.h>
#include <internal/preprocess.h>
#include <internal/synthesize.h>
#include <inttypes.h>
#include <math.h>
#include <plexor/eval.h>
#include <stdlib.h>
#include <string.h>

/* --- what it has to say ----------------------------------------------------------------------- */

typedef struct synthesize_side { /* inputs of one form */
    px_synthesis_mean mean;
    int64_t unchanged; /* -1: they are the originals */
} synthesize_side;

typedef struct synthesize_report {
    cli_origin origin;
    const cli_inputs *inputs;
    int64_t seed;
    const px_suspicious *suspects;
    const char *neurons, *stored_as;
    px_synthesis_options used;
    px_synthesis_summary sum;
    synthesize_side originals, exact, stored;
    const px_synthesis_targets *targets;
    int64_t k, right; /* right: inputs that the network gets right */
    int64_t known;    /* inputs that an earlier run made */
    bool pooled, rounds;
    const char *to; /* the folder; NULL: nothing is written */
} synthesize_report;

static void synthesize_report_fill(synthesize_report *r, const px_synthesis *synthesis)
{
    const double none = (double)NAN;
    const px_synthesis_summary s = px_synthesis_sum(synthesis);
    r->used = *px_synthesis_used(synthesis);
    r->sum = s;
    r->exact = (synthesize_side){s.exact, s.unchanged};
    r->stored = (synthesize_side){s.stored, s.unchanged_stored};
    r->originals = (synthesize_side){{1.0 - (double)s.wrong_before / (double)s.count, s.loss_before,
                                      none, none, none, none, none},
                                     -1};
    r->pooled = r->suspects->count > 0 && r->suspects->items[0].class_index == PX_POOLED;
    r->rounds = px_synthesis_rounds(synthesis);
    r->stored_as = r->rounds ? "8-bit" : "float";
}

static const px_field original_fields[] = {
    PX_FIELD(synthesize_side, mean.accuracy, "accuracy", "of the network", .title = "accuracy",
             .unit = PX_SHARE, .format = "%.2f%%"),
    PX_FIELD(synthesize_side, mean.loss, "loss", "mean", .title = "loss", .format = "%.4f"),
    PX_FIELDS_END,
};

static const px_field side_fields[] = {
    PX_OBJECT_OF(original_fields, ""),
    PX_FIELD(synthesize_side, mean.l1, "l1", "distance, mean", .title = "L1", .format = "%.4f"),
    PX_FIELD(synthesize_side, mean.l2, "l2", "distance, mean", .title = "L2", .format = "%.4f"),
    PX_FIELD(synthesize_side, mean.linf, "linf", "distance, mean", .title = "Linf",
             .format = "%.4f"),
    PX_FIELD(synthesize_side, mean.linf_most, "linf_most", "distance, the largest",
             .title = "Linf, largest", .format = "%.4f"),
    PX_FIELD(synthesize_side, mean.raised, "raised", "neurons whose value rose",
             .title = "neurons that rose", .unit = PX_SHARE, .format = "%.2f%%"),
    PX_INDEX(synthesize_side, unchanged, "unchanged", "inputs", .title = "unchanged inputs"),
    PX_FIELDS_END,
};

static const void *idle_class_get(const void *of, size_t i, void *place)
{
    const px_synthesis_targets *targets = ((const synthesize_report *)of)->targets;
    for (int c = 0; c < targets->classes; c++)
        if (targets->of_class[c] < 0 && i-- == 0) {
            *(int *)place = c;
            return place;
        }
    return NULL;
}

static const px_field suspects_fields[] = {
    PX_FIELD(px_suspicious, measure, "measure", "that chose the neurons"),
    PX_FIELDS_END,
};

static const px_field time_fields[] = {
    PX_FIELD(px_synthesis_summary, forward_seconds, "forward", "passes", .unit = "s"),
    PX_FIELD(px_synthesis_summary, backward_seconds, "backward", "passes", .unit = "s"),
    PX_FIELD(px_synthesis_summary, judge_seconds, "judge", "what came of them", .unit = "s"),
    PX_FIELD(px_synthesis_summary, other_seconds, "other", "the rest", .unit = "s"),
    PX_FIELDS_END,
};

static const px_field synthesize_fields[] = {
    PX_OBJECT(synthesize_report, origin, cli_origin_fields, ""),
    PX_OBJECT_AT(synthesize_report, inputs, cli_inputs_fields, ""),
    PX_FIELD(synthesize_report, seed, "seed", "of everything random"),
    PX_OBJECT_AT(synthesize_report, suspects, suspects_fields, ""),
    PX_FIELD(synthesize_report, k, "k", "neurons, of each class or of all"),
    PX_FIELD(synthesize_report, pooled, "pooled", "they are for all classes together"),
    PX_FIELD(synthesize_report, neurons, "neurons", "among which they were chosen"),
    PX_FIELD(synthesize_report, used.step, "step", "along the gradient"),
    PX_FIELD(synthesize_report, used.distance, "distance", "from the original, at most",
             .unit = "scaled units"),
    PX_SPAN(synthesize_report, used.low, 2, "range", "what a scaled value may be"),
    PX_FIELD(synthesize_report, used.iterations, "iterations", "steps"),
    PX_FIELD(synthesize_report, right, "right", "inputs of the data that are classified correctly"),
    PX_FIELD(synthesize_report, sum.count, "count", "inputs that were made"),
    PX_FIELD(synthesize_report, stored_as, "stored_as", "8-bit or float, which is what counts"),
    PX_OBJECT(synthesize_report, stored, side_fields, ""),
    PX_OBJECT(synthesize_report, exact, side_fields, "float", "before rounding"),
    PX_OBJECT(synthesize_report, originals, original_fields, "originals", "before the change"),
    PX_VALUES_MADE(idle_class_get, int, "classes_without_neurons", "no inputs were made of them"),
    PX_FIELD(synthesize_report, sum.seconds, "seconds", "of making them", .unit = "s"),
    PX_FIELD(synthesize_report, sum.emit_seconds, "files_seconds", "of writing", .unit = "s"),
    PX_OBJECT(synthesize_report, sum, time_fields, "worker_seconds", "of all workers together"),
    PX_FIELDS_END,
};

static void print_settings(const synthesize_report *r)
{
    const px_synthesis_options *o = &r->used;
    char a[CLI_NUMBER_TEXT], b[CLI_NUMBER_TEXT];
    cli_print("%s inputs of %" PRId64 " classes, made from %s of %s\n", cli_number(r->sum.count, a),
              r->sum.classes, cli_number(r->right, b), r->origin.data);
    cli_print("raised: %s, %" PRId64 " neurons %s; %s\n", r->suspects->measure, r->k,
              r->pooled ? "for all classes together" : "of each class", r->neurons);
    cli_print("step %g, distance %g", o->step, o->distance);
    if (px_dataset_is_8bit(r->inputs->set))
        cli_print(" (%.4g of 255 levels)", px_length_levels(&r->inputs->pre, o->distance));
    cli_print(", values %g to %g, %" PRId64 " iteration%s; %s\n\n", o->low, o->high, o->iterations,
              o->iterations == 1 ? "" : "s",
              r->rounds ? "8-bit: rounded to whole levels towards the original, as stored"
                        : "stored as floats");
}

static void print_time(const synthesize_report *r)
{
    const px_synthesis_summary s = r->sum;
    char known[CLI_NUMBER_TEXT], count[CLI_NUMBER_TEXT];
    const double ms = 1000.0 / (double)(s.count - r->known);
    if (s.count == r->known) {
        cli_print("\nall %s inputs were there from an earlier run\n", cli_number(s.count, count));
        return;
    }
    cli_print(
        "\n%.3g ms per input on one worker: forward %.3g, backward %.3g, judging %.3g, the rest "
        "%.3g; %.3g s in all",
        ms * (s.forward_seconds + s.backward_seconds + s.judge_seconds + s.other_seconds),
        ms * s.forward_seconds, ms * s.backward_seconds, ms * s.judge_seconds, ms * s.other_seconds,
        s.seconds);
    if (r->to)
        cli_print(", and %.3g s for files", s.emit_seconds);
    cli_print("\n");
    if (r->known)
        cli_print("%s of %s inputs were there from an earlier run\n", cli_number(r->known, known),
                  cli_number(s.count, count));
}

static void synthesize_print(const void *of)
{
    const synthesize_report *r = of;
    print_settings(r);
    static const char *const heads[] = {"ORIGINALS", "FLOAT", "8-BIT"};
    const void *const sides[] = {&r->originals, &r->exact, &r->stored};
    cli_print_beside(side_fields, heads, sides, r->rounds ? 3 : 2);
    print_time(r);
    if (r->to && synthesize_is_campaign(r->to))
        cli_print("%s: a campaign of originals and inputs\n", r->to);
    else if (r->to)
        cli_print("%s: inputs.npz, originals.npz, index.csv, report.json, and pictures\n", r->to);
}

typedef struct synthesize_args {
    cli_data data;
    cli_neurons neurons;
    cli_workers workers;
    pair_place place;
    const char *suspicious, *measure, *step, *distance, *range;
    int store; /* place in PAIR_STORES */
    int64_t k, iterations, draw, pictures;
    double star, theta;
    bool per_class, pooled, absolute;
} synthesize_args;

typedef struct synthesize_work {
    const cli_command *self;
    const synthesize_args *a;
    px_model *model;
    cli_inputs inputs;
    px_scores scores;
    px_spectrum *spectrum;
    px_suspicious *suspects;
    px_probe *probe;
    px_synthesis_targets targets;
    int64_t *predictions, right;
    int64_t *chosen, count;
    size_t *list_of;
    px_synthesis *synthesis;
    synthesize_campaign campaign;
} synthesize_work;

/* --- which neurons --------------------------------------------------------------------------- */

static px_status work_spectrum(synthesize_work *w, px_error *err)
{
    px_spectrum_options options = px_spectrum_options_default();
    px_spectrum_run_options run = {.batch = w->a->workers.batch};
    options.layers = w->a->neurons.layers;
    options.neurons = w->a->neurons.view;
    options.theta = w->a->theta;
    options.threads = (int)w->a->workers.threads;
    run.progress = cli_tick;
    run.progress_context = CLI_WORDS("localize");
    PX_TRY(px_spectrum_new(w->model, &w->inputs.shape, &options, &w->spectrum, err));
    return px_spectrum_run(w->spectrum, w->inputs.set, &w->inputs.pre, &run, err);
}

static px_status work_rank(synthesize_work *w, const char *measure, px_suspicious **out,
                           px_error *err)
{
    px_rank_options options = px_rank_options_default();
    options.measure = measure;
    options.star = w->a->star;
    options.k = w->a->k;
    options.pooled = w->a->pooled;
    options.include_uninformative = true; /* as the paper does */
    return px_suspicious_rank(w->spectrum, &options, out, err);
}

/* The baseline of the paper: drawn to resemble what its three measures choose. */
static px_status work_random(synthesize_work *w, px_error *err)
{
    static const char *const measures[] = {"tarantula", "ochiai", "dstar"};
    enum { MEASURES = sizeof measures / sizeof *measures };
    px_suspicious *lists[MEASURES] = {NULL};
    const px_baseline_options options = {.k = w->a->k, .seed = (uint64_t)w->a->data.seed};
    px_status status = PX_OK;
    for (size_t i = 0; i < MEASURES && status == PX_OK; i++)
        status = work_rank(w, measures[i], &lists[i], err);
    PX_THEN(status, px_suspicious_random(w->spectrum, (const px_suspicious *const *)lists, MEASURES,
                                         &options, &w->suspects, err));
    for (size_t i = 0; i < MEASURES; i++)
        px_suspicious_free(lists[i]);
    return status;
}

static px_status work_suspects(synthesize_work *w, px_error *err)
{
    const synthesize_args *a = w->a;
    if (a->suspicious) {
        PX_TRY(px_suspicious_open(a->suspicious, &w->suspects, err));
        return px_suspicious_check(w->suspects, w->model, err);
    }
    const px_measure *measure = NULL;
    const bool random = strcmp(a->measure, "random") == 0;
    if (!random)
        PX_TRY(px_measure_choose(a->measure, &measure, err));
    PX_TRY(work_spectrum(w, err));
    return random ? work_random(w, err) : work_rank(w, a->measure, &w->suspects, err);
}

static px_status work_targets(synthesize_work *w, px_error *err)
{
    PX_TRY(px_synthesis_targets_open(&w->targets, w->suspects, w->model, &w->inputs.shape,
                                     w->a->neurons.tap, w->scores.classes, w->a->k, &w->probe,
                                     err));
    size_t fewest = (size_t)w->a->k;
    for (size_t i = 0; i < w->targets.count; i++)
        fewest = w->targets.lists[i].count < fewest ? w->targets.lists[i].count : fewest;
    if (fewest < (size_t)w->a->k)
        cli_note(w->self, "-k %" PRId64 ": there are only %zu neurons%s", w->a->k, fewest,
                 w->a->suspicious ? " in the file" : "");
    int missing = 0;
    for (int c = 0; c < w->targets.classes; c++)
        missing += w->targets.of_class[c] < 0;
    if (missing)
        cli_note(w->self,
                 "%d of %d classes have no suspicious neurons, for want of wrong or of right "
                 "answers: no inputs are made from them; --pooled ranks over all classes",
                 missing, w->targets.classes);
    return PX_OK;
}

/* --- which inputs ---------------------------------------------------------------------------- */

static px_status work_predictions(synthesize_work *w, px_error *err)
{
    px_predict_options how = px_predict_options_default();
    px_predictions said = {0};
    how.threads = (int)w->a->workers.threads;
    how.progress = cli_tick;
    how.context = CLI_WORDS("predict");
    PX_TRY(px_dataset_check_labels(w->inputs.set, w->scores.classes, err));
    PX_TRY(px_predict(w->model, w->inputs.set, &w->inputs.pre, &how, &said, err));
    w->right = px_eval_slice(&said, NULL, said.count).correct;
    w->predictions = said.predicted;
    said.predicted = NULL;
    px_predictions_done(&said);
    return PX_OK;
}

static px_status work_choose(synthesize_work *w, px_error *err)
{
    const px_synthesis_choice choice = {.predictions = w->predictions,
                                        .limit = w->a->data.limit,
                                        .per_class = w->a->draw,
                                        .seed = (uint64_t)w->a->data.seed};
    const px_status status = px_synthesis_targets_choose(&w->targets, w->inputs.set, choice,
                                                         &w->chosen, &w->list_of, &w->count, err);
    return status == PX_E_INPUT ? px_fail(err, status,
                                          "%.300s; check --scale, --mean and --std with 'plexor "
                                          "eval'",
                                          err->message)
                                : status;
}

/* --- making them ----------------------------------------------------------------------------- */

static px_status work_options(const synthesize_work *w, px_synthesis_options *out, px_error *err)
{
    const synthesize_args *a = w->a;
    px_synthesis_options o = px_synthesis_options_default();
    PX_TRY(cli_range_of(w->self, a->range, &w->inputs, &o.low, &o.high, err));
    o.keep_float = a->store == PAIR_STORE_FLOAT;
    o.iterations = a->iterations;
    PX_TRY(px_synthesis_complete(&o, w->inputs.set, &w->inputs.pre, err));
    PX_TRY(px_length_parse(a->step, "--step", o.low, o.high, &o.step, err));
    PX_TRY(px_length_parse(a->distance, "--distance", o.low, o.high, &o.distance, err));
    PX_TRY(px_synthesis_complete(&o, w->inputs.set, &w->inputs.pre, err));
    o.batch = a->workers.batch;
    o.threads = (int)a->workers.threads;
    *out = o;
    return PX_OK;
}

static px_status work_make(synthesize_work *w, px_synthesis_options options,
                           px_synthesis_folder **folder, px_error *err)
{
    px_synthesis_job job = {
        .model = w->model,
        .probe = w->probe,
        .set = w->inputs.set,
        .pre = &w->inputs.pre,
        .lists = w->targets.lists,
        .list_count = w->targets.count,
        .inputs = w->chosen,
        .list_of = w->list_of,
        .count = w->count,
    };
    if (w->campaign.pairs.campaign) {
        const synthesize_about about = {.inputs = &w->inputs,
                                        .options = &options,
                                        .model = w->model,
                                        .classes = w->scores.classes,
                                        .suspects = w->suspects,
                                        .k = w->a->k,
                                        .seed = w->a->data.seed,
                                        .job = &job};
        PX_TRY(synthesize_campaign_begin(&w->campaign, &about, err));
        job.known = w->campaign.known;
        job.known_count = w->campaign.known_count;
        options.emit = synthesize_campaign_add;
        options.emit_context = &w->campaign;
    } else if (w->a->place.folder) {
        enum { SHEET = 48 };
        const px_synthesis_folder_options how = {
            .pictures = w->a->pictures > 0 ? w->a->pictures : -1,
            .sheet = SHEET,
            .title = "original, synthesised, ten times the difference",
            .absolute = w->a->absolute,
            .fresh = w->a->place.fresh,
        };
        PX_TRY(px_synthesis_folder_new(w->a->place.folder, w->inputs.set, &w->inputs.pre, &options,
                                       w->count, &how, folder, err));
        options.emit = px_synthesis_folder_add;
        options.emit_context = *folder;
    }
    options.progress = cli_tick;
    options.progress_context = CLI_WORDS("synthesize");
    const px_status status = px_synthesize(&job, &options, &w->synthesis, err);
    if (status != PX_OK)
        pair_campaign_stopped(&w->campaign.pairs, err);
    return status;
}

static px_status work_all(synthesize_work *w, const char *path, int argc, char **argv,
                          px_json *json, synthesize_report *report, px_error *err)
{
    const synthesize_args *a = w->a;
    px_synthesis_options options;
    px_synthesis_folder *folder = NULL;
    cli_data data = a->data;
    data.limit = 0; /* spectra use all of the data */
    if (synthesize_is_campaign(a->place.folder))
        PX_TRY(pair_campaign_open(&w->campaign.pairs, w->self, &a->place, err));
    PX_TRY(cli_model_load(w->self, path, &w->model, err));
    PX_TRY(px_model_scores(w->model, &w->scores, err));
    PX_TRY(cli_inputs_open(w->model, &data, &w->inputs, err));
    PX_TRY(px_dataset_check_labels(w->inputs.set, w->scores.classes, err));
    PX_TRY(work_options(w, &options, err));
    PX_TRY(work_suspects(w, err));
    PX_TRY(work_targets(w, err));
    PX_TRY(work_predictions(w, err));
    PX_TRY(work_choose(w, err));
    px_status status = work_make(w, options, &folder, err);
    *report = (synthesize_report){
        .origin = cli_origin_of(w->model, w->inputs.set),
        .inputs = &w->inputs,
        .seed = a->data.seed,
        .suspects = w->suspects,
        .neurons = px_probe_describe(w->probe),
        .targets = &w->targets,
        .k = a->k,
        .right = w->right,
        .known = w->campaign.known_count,
        .to = a->place.folder,
    };
    if (status == PX_OK) {
        synthesize_report_fill(report, w->synthesis);
        cli_result_json(synthesize_fields, report, json);
        if (!px_json_text(json))
            status = pxi_no_memory(err);
    }
    if (status == PX_OK && folder) {
        status = px_synthesis_folder_commit(folder, w->synthesis, px_json_text(json), err);
        folder = NULL;
    }
    px_synthesis_folder_abandon(folder);
    if (status == PX_OK && w->campaign.pairs.campaign) {
        px_text command = {0};
        cli_command_line(&command, argc, argv);
        status = px_text_failed(&command)
                     ? pxi_no_memory(err)
                     : px_pairs_finish(w->campaign.pairs.pairs, px_text_get(&command),
                                       px_synthesis_sum(w->synthesis).seconds, err);
        px_text_done(&command);
    }
    return status;
}

static void work_done(synthesize_work *w)
{
    synthesize_campaign_close(&w->campaign);
    px_synthesis_free(w->synthesis);
    free(w->list_of);
    free(w->chosen);
    free(w->predictions);
    px_synthesis_targets_done(&w->targets);
    px_probe_free(w->probe);
    px_suspicious_free(w->suspects);
    px_spectrum_free(w->spectrum);
    cli_inputs_close(&w->inputs);
    px_model_free(w->model);
}

static int synthesize_run(const cli_command *self, int argc, char **argv)
{
    synthesize_args a = {.measure = "ochiai",
                         .step = "1",
                         .distance = "10%",
                         .k = 10,
                         .iterations = 1,
                         .pictures = 1000,
                         .star = PX_STAR_DEFAULT};
    const char *path = NULL;
    const cli_option options[] = {
        CLI_DATA_OPTIONS(&a.data),
        CLI_STRING(0, "suspicious", &a.suspicious, "FILE",
                   "neurons as 'plexor localize -o' wrote them"),
        CLI_STRING(0, "measure", &a.measure, "NAME|random",
                   "or find them: a measure of 'plexor list measures', or random neurons of the "
                   "same layers"),
        CLI_INT('k', "k", &a.k, "N", 1, 1e9, "so many neurons of each class are raised"),
        CLI_STRING(0, "step", &a.step, "S",
                   "how far along the mean gradient, in units of scaled pixels"),
        CLI_STRING(0, "distance", &a.distance, "D",
                   "how far a value may move: 0.1, 8/255, or 10% of the range"),
        CLI_RANGE_OPTION(&a.range),
        CLI_INT(0, "iterations", &a.iterations, "N", 1, 1e6,
                "take so many steps, each along its own gradient, within the distance"),
        CLI_FLAG(0, "per-class", &a.per_class, "rank neurons for each class by itself (default)"),
        CLI_FLAG(0, "pooled", &a.pooled, "rank neurons over all classes together"),
        CLI_REAL(0, "star", &a.star, "X", 0, 1e3, "the exponent of dstar"),
        CLI_REAL(0, "theta", &a.theta, "X", -1e30, 1e30, "a neuron above this is active"),
        CLI_INT(0, "draw", &a.draw, "N", 0, 9e15,
                "draw so many inputs of each class by --seed; 0: take all in order, up to --limit"),
        CLI_STRING(0, "layers", &a.neurons.layers, "LIST", "where to look; hidden by default"),
        CLI_STRING(0, "neurons", &a.neurons.view, "VIEW",
                   "what a neuron is; see 'plexor list neurons'"),
        CLI_STRING(0, "tap", &a.neurons.tap, "pre|post",
                   "where in a layer gradients start: pre (default) or post"),
        CLI_CHOICE(0, "store", &a.store, PAIR_STORES,
                   "float: do not round the inputs of 8-bit data"),
        CLI_INT(0, "pictures", &a.pictures, "N", 0, 9e15,
                "at most so many PNG files of each kind; 0: of all inputs"),
        CLI_FLAG(0, "absolute", &a.absolute, "differences without their sign, black is none"),
        CLI_STRING('o', "output", &a.place.folder, "FOLDER",
                   "where inputs, pictures and tables go; NAME.campaign: a campaign"),
        CLI_PAIR_OPTIONS(&a.place),
        CLI_WORKER_OPTIONS(&a.workers),
        CLI_OUTPUT_OPTIONS,
        CLI_END,
    };
    CLI_TRY(cli_parse(self, argc, argv, options, &path, 1, 1));
    CLI_TRY(cli_require(self, "data", a.data.spec));
    if (a.per_class && a.pooled)
        return cli_usage_error(self, "--per-class and --pooled exclude each other");
    if (!pair_place_check(self, &a.place, synthesize_is_campaign(a.place.folder)))
        return CLI_BAD_INPUT;
    px_error err = {0};
    px_json json = {0};
    synthesize_report report;
    synthesize_work work = {.self = self, .a = &a};
    int rc = CLI_DONE;
    const px_status status = work_all(&work, path, argc, argv, &json, &report, &err);
    if (status != PX_OK) {
        rc = cli_fail(self, &err);
        px_json_done(&json);
    } else if (cli_now()->json) {
        rc = cli_print_json(self, &json);
    } else {
        synthesize_print(&report);
        px_json_done(&json);
    }
    work_done(&work);
    return rc;
}

const cli_command cli_command_synthesize = {
    .name = "synthesize",
    .usage = "MODEL --data SPEC [--suspicious FILE|--measure NAME|random] [-k N] [-o FOLDER]",
    .help = "make inputs that excite suspicious neurons",
    .details =
        "Moves inputs that the network gets right along the mean gradient of the neurons that are "
        "most active when it is wrong (DeepFault, Algorithm 2), cut to --distance and to the range "
        "of values. All of --data is used to find the neurons, --limit and --draw say from which "
        "inputs to begin.\n"
        "Each input is judged as computed, and as it is stored: 8-bit data are rounded to whole "
        "levels towards the original, so that the distance holds. The folder has inputs.npz, which "
        "is data for 'plexor eval' and 'plexor repair --add', the originals, a table, PNG "
        "pictures with ten times the difference, and a contact sheet.",
    .examples =
        "plexor synthesize net.onnx --data digits --measure ochiai -k 10 --limit 1000 -o made\n"
        "plexor synthesize net.onnx --data digits --suspicious suspicious.csv --distance 8/255\n"
        "plexor synthesize net.onnx --data digits --measure random --seed 3 --json\n",
    .run = synthesize_run,
    .ranks = true,
    .result = synthesize_fields,
};
