/* src/cli/cmd_attack.c - plexor attack MODEL --data SPEC --method NAME */
/* SPDX-License-Identifier: Apache-2.0 */
#include "base/memory.h"
#include "cli/attack_files.h"
#include "cli/cli_fields.h"
#include "cli/cli_net.h"

#include <internal/attack.h>
#include <internal/graph.h>
#include <internal/preprocess.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* --- what it has to say ----------------------------------------------------------------------- */

typedef struct attack_report {
    cli_origin origin;
    const cli_inputs *inputs;
    int64_t seed, attacked;
    px_attack_options used;
    px_attack_summary sum;
    const char *goal;     /* as --target has it; NULL: any wrong class */
    const char *settings; /* of the method, as a text; "": it has none */
    const char *norm, *stored_as;
    bool rounds, all_steps; /* to 8 bits; and none is left out */
    int64_t known;          /* inputs that an earlier run attacked */
    const char *to, *sheet; /* files; NULL: none */
} attack_report;

static void print_length(const attack_report *r, const char *name, double length)
{
    cli_print("%s %.4g", name, length);
    if (px_dataset_is_8bit(r->inputs->set))
        cli_print(" (%.4g of 255 levels)", px_length_levels(&r->inputs->pre, length));
}

static void print_settings(const attack_report *r)
{
    const px_attack_options *o = &r->used;
    const px_attack_method *method = px_attack_method_find(o->method);
    char a[CLI_NUMBER_TEXT];
    cli_print("%s on %s inputs of %s\n", o->method, cli_number(r->sum.count, a), r->origin.data);
    cli_print("goal: %s%s; norm %s", r->goal ? "target " : "any wrong class",
              r->goal ? r->goal : "", r->norm);
    if (method->bounded)
        print_length(r, ", eps", o->eps);
    if (method->iterates) {
        cli_print(", %" PRId64 " steps of", o->steps);
        print_length(r, "", o->step_size);
        cli_print("%s", o->stop_early ? ", until the goal" : "");
    }
    if (method->restarts && o->no_random)
        cli_print(", from the input itself");
    else if (method->restarts)
        cli_print(", %" PRId64 " random start%s", o->restarts, o->restarts == 1 ? "" : "s");
    if (*r->settings)
        cli_print("; %s", r->settings);
    cli_print("\nvalues %g to %g; %s\n\n", o->low, o->high,
              !r->rounds        ? "stored as floats"
              : method->bounded ? "8-bit: rounded to whole levels towards the original, as stored"
                                : "8-bit: rounded to the nearest level, as stored");
}

/* Of what is stored, which is what counts; floats get a line of their own. */
static void print_table(const attack_report *r)
{
    char right[96], number[CLI_NUMBER_TEXT];
    snprintf(right, sizeof right, "success, of %s right before", cli_number(r->sum.right, number));
#define ROW(member, name, form, ...) \
    PX_FIELD(attack_report, sum.member, NULL, NULL, .title = name, .format = form, __VA_ARGS__)
    const px_field rows[] = {
        ROW(stored.success, right, "%.2f%%", .unit = PX_SHARE),
        ROW(stored.success_all, "success, of all", "%.2f%%", .unit = PX_SHARE),
        ROW(accuracy, "accuracy before", "%.2f%%", .unit = PX_SHARE),
        ROW(stored.l0.mean, "L0, mean", "%.1f", .unit = NULL),
        ROW(stored.l0.median, "L0, median", "%.1f", .unit = NULL),
        ROW(stored.l2.mean, "L2, mean", "%.4f", .unit = NULL),
        ROW(stored.l2.median, "L2, median", "%.4f", .unit = NULL),
        ROW(stored.linf.mean, "Linf, mean", "%.4f", .unit = NULL),
        ROW(stored.linf.median, "Linf, median", "%.4f", .unit = NULL),
        PX_FIELDS_END,
    };
#undef ROW
    cli_print_beside(rows, NULL, (const void *const[]){r}, 1);
}

static void attack_print(const void *of)
{
    const attack_report *r = of;
    const px_attack_summary *s = &r->sum;
    char robust[CLI_NUMBER_TEXT], count[CLI_NUMBER_TEXT];
    print_settings(r);
    cli_print("robust accuracy %.2f%% (%s of %s; as stored, %s)\n\n",
              100 * s->stored.robust_accuracy, cli_number(s->stored.robust, robust),
              cli_number(s->count, count), r->stored_as);
    print_table(r);
    if (r->rounds)
        cli_print("\nbefore rounding: robust accuracy %.2f%%, success %.2f%%",
                  100 * s->exact.robust_accuracy, 100 * s->exact.success);
    cli_print(
        "\ndistances are of inputs that were right before and reach the goal, in scaled units\n"
        "%.4g queries per input (%.4g forward, %.4g backward); %.3g s, %.0f inputs/s",
        s->queries, s->forwards, s->backwards, s->seconds,
        (double)(r->attacked - r->known) / s->seconds);
    if (r->to || r->sheet)
        cli_print(", and %.3g s for files", s->emit_seconds);
    cli_print("\n");
    if (r->known)
        cli_print("%s of %s inputs were there from an earlier run\n", cli_number(r->known, robust),
                  cli_number(r->attacked, count));
    if (r->to)
        cli_print("%s: a campaign; see 'plexor status', 'plexor export', or use it as data\n",
                  r->to);
}

static const px_field median_fields[] = {
    PX_FIELD(px_attack_outcome, l0.median, "l0", "values that differ"),
    PX_FIELD(px_attack_outcome, l2.median, "l2", "distance", .unit = "scaled units"),
    PX_FIELD(px_attack_outcome, linf.median, "linf", "distance", .unit = "scaled units"),
    PX_FIELDS_END,
};

static const px_field outcome_fields[] = {
    PX_FIELD(px_attack_outcome, success, "success",
             "inputs that reach the goal, of those that were right before", .unit = PX_SHARE),
    PX_FIELD(px_attack_outcome, success_all, "success_all", "of all", .unit = PX_SHARE),
    PX_FIELD(px_attack_outcome, reached, "reached", "inputs, right before, that reach the goal"),
    PX_FIELD(px_attack_outcome, robust, "robust", "inputs that are right before and after"),
    PX_FIELD(px_attack_outcome, robust_accuracy, "robust_accuracy", "these, of all",
             .unit = PX_SHARE),
    PX_FIELD(px_attack_outcome, l0.mean, "l0", "values that differ, mean over reached"),
    PX_FIELD(px_attack_outcome, l2.mean, "l2", "distance, mean", .unit = "scaled units"),
    PX_FIELD(px_attack_outcome, linf.mean, "linf", "distance, mean", .unit = "scaled units"),
    PX_OBJECT_OF(median_fields, "median", "instead of means"),
    PX_FIELDS_END,
};

static const px_field attack_fields[] = {
    PX_OBJECT(attack_report, origin, cli_origin_fields, ""),
    PX_OBJECT_AT(attack_report, inputs, cli_inputs_fields, ""),
    PX_FIELD(attack_report, seed, "seed", "of everything random"),
    PX_FIELD(attack_report, used.method, "method", "id of the attack"),
    PX_FIELD(attack_report, settings, "settings", "of the method, as --set takes them"),
    PX_FIELD(attack_report, goal, "target", "as --target has it; null: any wrong class"),
    PX_FIELD(attack_report, norm, "norm", "that eps is measured in"),
    PX_FIELD(attack_report, used.eps, "eps", "distance at most", .unit = "scaled units"),
    PX_FIELD(attack_report, used.steps, "steps", "at most"),
    PX_FIELD(attack_report, used.step_size, "step_size", "of each", .unit = "scaled units"),
    PX_FIELD(attack_report, used.restarts, "restarts", "random starts"),
    PX_FIELD(attack_report, all_steps, "all_steps", "taken, even where the goal is reached"),
    PX_SPAN(attack_report, used.low, 2, "range", "what a scaled value may be"),
    PX_FIELD(attack_report, sum.count, "count", "inputs that were attacked"),
    PX_FIELD(attack_report, sum.right, "right", "inputs that are classified correctly before"),
    PX_FIELD(attack_report, sum.skipped, "skipped", "inputs whose target is their class"),
    PX_FIELD(attack_report, sum.unlabelled, "unlabelled", "inputs whose prediction is their label"),
    PX_FIELD(attack_report, sum.accuracy, "accuracy", "before", .unit = PX_SHARE),
    PX_FIELD(attack_report, stored_as, "stored_as", "8-bit or float, which is what counts"),
    PX_OBJECT(attack_report, sum.stored, outcome_fields, ""),
    PX_OBJECT(attack_report, sum.exact, outcome_fields, "float", "before rounding"),
    PX_FIELD(attack_report, sum.queries, "queries", "of the network, per input"),
    PX_FIELD(attack_report, sum.forwards, "forwards", "passes, per input"),
    PX_FIELD(attack_report, sum.backwards, "backwards", "passes, per input"),
    PX_FIELD(attack_report, sum.flat, "flat", "inputs whose gradient is 0"),
    PX_FIELD(attack_report, sum.odd_gradients, "odd_gradients", "values that were taken as 0"),
    PX_FIELD(attack_report, sum.not_finite, "not_finite", "inputs with scores that are no numbers"),
    PX_FIELD(attack_report, sum.seconds, "seconds", "of attacking", .unit = "s"),
    PX_FIELD(attack_report, sum.emit_seconds, "files_seconds", "of writing", .unit = "s"),
    PX_FIELDS_END,
};

enum { IN_INPUT, IN_EMBEDDING };

typedef struct attack_args {
    cli_data data;
    cli_workers workers;
    cli_list settings;
    pair_place place;
    const char *method, *norm, *eps, *step_size, *target, *range, *sheet;
    int in, store; /* places in their words */
    int64_t steps, restarts;
    bool all_steps, stop_early, no_random;
} attack_args;

typedef struct attack_work {
    const cli_command *self;
    const attack_args *a;
    px_model *model;
    cli_inputs inputs;
    cli_classes classes;
    px_scores scores;
    px_attack *attack;
    attack_files files;
    char *settings; /* of the method */
} attack_work;

/* A number, or the name of a class. */
static px_status target_class(const attack_work *w, int64_t *out, px_error *err)
{
    char *end = NULL, buffer[CLI_NUMBER_TEXT];
    const char *text = w->a->target;
    const long long number = strtoll(text, &end, 10);
    if (end != text && *end == '\0') {
        *out = number;
        return PX_OK;
    }
    for (int c = 0; c < w->scores.classes; c++)
        if (strcmp(cli_class_name(&w->classes, c, buffer), text) == 0) {
            *out = c;
            return PX_OK;
        }
    return px_fail(err, PX_E_USAGE,
                   "--target '%.60s': expected a class (0 to %d, or its name), next, random or "
                   "least-likely",
                   text, w->scores.classes - 1);
}

static px_status work_goal(const attack_work *w, px_attack_options *o, px_error *err)
{
    static const struct {
        const char *name;
        px_attack_goal goal;
    } goals[] = {
        {"next", PX_GOAL_NEXT}, {"random", PX_GOAL_RANDOM}, {"least-likely", PX_GOAL_LEAST_LIKELY}};
    if (!w->a->target)
        return PX_OK;
    for (size_t i = 0; i < sizeof goals / sizeof *goals; i++)
        if (strcmp(goals[i].name, w->a->target) == 0) {
            o->goal = goals[i].goal;
            return PX_OK;
        }
    o->goal = PX_GOAL_CLASS;
    return target_class(w, &o->target, err);
}

static px_status work_options(const attack_work *w, px_attack_options *out, px_error *err)
{
    const attack_args *a = w->a;
    px_attack_options o = px_attack_options_default();
    o.method = a->method;
    if (a->norm)
        PX_TRY(px_norm_parse(a->norm, &o.norm, err));
    PX_TRY(cli_range_of(w->self, a->range, &w->inputs, &o.low, &o.high, err));
    o.keep_float = a->store == PAIR_STORE_FLOAT;
    o.steps = a->steps;
    o.restarts = a->restarts;
    o.stop_early = a->stop_early;
    o.no_random = a->no_random;
    o.settings = a->settings.item;
    o.setting_count = (size_t)a->settings.count;
    o.seed = (uint64_t)a->data.seed;
    o.batch = a->workers.batch;
    o.threads = (int)a->workers.threads;
    PX_TRY(work_goal(w, &o, err));
    px_attack_options ranged = o; /* percentages are of the range */
    PX_TRY(px_attack_complete(&ranged, w->inputs.set, &w->inputs.pre, err));
    if (a->eps)
        PX_TRY(px_length_parse(a->eps, "--eps", ranged.low, ranged.high, &o.eps, err));
    if (a->step_size)
        PX_TRY(px_length_parse(a->step_size, "--step-size", ranged.low, ranged.high, &o.step_size,
                               err));
    PX_TRY(px_attack_complete(&o, w->inputs.set, &w->inputs.pre, err));
    *out = o;
    return PX_OK;
}

static px_status work_files(attack_work *w, px_attack_options *o, px_error *err)
{
    attack_files *f = &w->files;
    f->inputs = &w->inputs;
    f->classes = &w->classes;
    f->options = *o;
    if (f->pairs.campaign)
        PX_TRY(attack_campaign_begin(f, w->model, w->scores.classes, w->settings, w->a->data.seed,
                                     err));
    if (w->a->sheet)
        PX_TRY(attack_sheet_open(f, err));
    if (f->pairs.campaign || w->a->sheet) {
        o->emit = attack_files_add;
        o->emit_context = f;
    }
    return PX_OK;
}

static px_status work_run(attack_work *w, px_attack_options o, px_error *err)
{
    const px_attack_job job = {.model = w->model,
                               .set = w->inputs.set,
                               .pre = &w->inputs.pre,
                               .known = w->files.known,
                               .known_count = w->files.known_count};
    o.progress = cli_tick;
    o.progress_context = CLI_WORDS("attack");
    const px_status status = px_attack_run(&job, &o, &w->attack, err);
    if (status != PX_OK)
        pair_campaign_stopped(&w->files.pairs, err);
    return status;
}

enum { CHANCE_TIMES = 3 }; /* accuracy below so many times that of guessing is told */

static void work_notes(const attack_work *w, const px_attack_summary *s)
{
    if (s->unlabelled)
        cli_note(w->self,
                 "%" PRId64 " of %" PRId64 " inputs have no label: what the network says of the "
                 "original stands in for it",
                 s->unlabelled, s->count);
    if (s->skipped)
        cli_note(w->self, "%" PRId64 " inputs are of the target's class already and were left out",
                 s->skipped);
    if (s->flat)
        cli_note(w->self,
                 "%" PRId64 " of %" PRId64 " inputs met a gradient that is 0 everywhere: there "
                 "the attack had nothing to go by",
                 s->flat, s->count);
    if (s->odd_gradients)
        cli_note(w->self, "%" PRId64 " values of gradients were no numbers and taken as 0",
                 s->odd_gradients);
    if (s->not_finite)
        cli_note(w->self,
                 "%" PRId64 " of %" PRId64 " inputs have class scores that are no numbers; they "
                 "count as failed attacks",
                 s->not_finite, s->count);
    if (s->unlabelled < s->count && s->accuracy * (double)w->scores.classes < CHANCE_TIMES)
        cli_note(w->self,
                 "the network gets only %.2f%% of these inputs right to begin with; check --scale, "
                 "--mean and --std with 'plexor eval'",
                 100.0 * s->accuracy);
}

/* Where inputs are moved. */
static px_status work_space(attack_work *w, px_error *err)
{
    if (w->a->in == IN_EMBEDDING)
        return px_model_embed(w->model, err);
    if (px_model_takes_tokens(w->model))
        return px_fail(err, PX_E_UNSUPPORTED,
                       "the network takes token numbers, which cannot be changed a little; --in "
                       "embedding moves the vectors that stand for them");
    return PX_OK;
}

static px_status work_all(attack_work *w, const char *path, int argc, char **argv,
                          attack_report *report, px_error *err)
{
    const attack_args *a = w->a;
    px_attack_options options;
    if (a->place.folder)
        PX_TRY(pair_campaign_open(&w->files.pairs, w->self, &a->place, err));
    PX_TRY(cli_model_load(w->self, path, &w->model, err));
    PX_TRY(work_space(w, err));
    PX_TRY(px_model_scores(w->model, &w->scores, err));
    PX_TRY(cli_inputs_open(w->model, &a->data, &w->inputs, err));
    w->classes = cli_classes_of(w->model, w->inputs.set);
    PX_TRY(work_options(w, &options, err));
    PX_TRY(px_attack_settings_text(&options, &w->settings, err));
    PX_TRY(work_files(w, &options, err));
    PX_TRY(work_run(w, options, err));
    const px_attack_options *used = px_attack_used(w->attack);
    const bool rounds = px_attack_rounds(w->attack);
    *report = (attack_report){.origin = cli_origin_of(w->model, w->inputs.set),
                              .inputs = &w->inputs,
                              .seed = a->data.seed,
                              .attacked = px_attack_count(w->attack),
                              .used = *used,
                              .norm = px_norm_name(used->norm),
                              .rounds = rounds,
                              .stored_as = rounds ? "8-bit" : "float",
                              .all_steps = !used->stop_early,
                              .goal = a->target,
                              .settings = w->settings,
                              .known = w->files.known_count,
                              .to = a->place.folder,
                              .sheet = a->sheet};
    PX_TRY(px_attack_sum(w->attack, &report->sum, err));
    work_notes(w, &report->sum);
    px_text command = {0};
    cli_command_line(&command, argc, argv);
    const px_status status = px_text_failed(&command)
                                 ? pxi_no_memory(err)
                                 : attack_files_finish(&w->files, a->sheet, px_text_get(&command),
                                                       report->sum.seconds, err);
    px_text_done(&command);
    return status;
}

static void work_done(attack_work *w)
{
    attack_files_close(&w->files);
    free(w->settings);
    px_attack_free(w->attack);
    cli_inputs_close(&w->inputs);
    px_model_free(w->model);
}

static int attack_run(const cli_command *self, int argc, char **argv)
{
    attack_args a = {.method = "pgd", .restarts = 1};
    const char *path = NULL;
    const cli_option options[] = {
        CLI_DATA_OPTIONS(&a.data),
        CLI_STRING(0, "method", &a.method, "NAME",
                   "fgsm, bim, pgd, deepfool or jsma; see 'plexor list attacks'"),
        CLI_CHOICE(
            0, "in", &a.in, "input|embedding",
            "where inputs are moved; embedding: of token numbers, the vectors that stand for "
            "them, in which distances are then"),
        CLI_STRING(0, "norm", &a.norm, "linf|l2",
                   "how distances are measured; linf unless the method has another"),
        CLI_STRING(0, "eps", &a.eps, "X",
                   "how far an input may move, in scaled units: 0.03, 8/255, or 3% of the range; "
                   "8/255 of the range by default"),
        CLI_INT(0, "steps", &a.steps, "N", 0, 1e6, "at most so many steps; 0: the method's own"),
        CLI_STRING(0, "step-size", &a.step_size, "X", "of one step, in the units of --eps"),
        CLI_INT(0, "restarts", &a.restarts, "N", 1, 1e6, "random starts of pgd"),
        CLI_FLAG(0, "no-random", &a.no_random, "pgd begins at the input itself"),
        CLI_FLAG(0, "stop-early", &a.stop_early,
                 "stop an input where it reaches the goal; rounded to 8 bits it may fall back"),
        CLI_FLAG(0, "all-steps", &a.all_steps, "take all steps (default)"),
        CLI_STRING(0, "target", &a.target, "CLASS|next|random|least-likely",
                   "the class to be taken for; any wrong one without it"),
        CLI_STRINGS(0, "set", &a.settings, "ATTACK.NAME=VALUE",
                    "a setting of the method, as in jsma.theta=0.5"),
        CLI_RANGE_OPTION(&a.range),
        CLI_CHOICE(0, "store", &a.store, PAIR_STORES,
                   "float: do not round the results of 8-bit data"),
        CLI_STRING('o', "output", &a.place.folder, "FOLDER",
                   "a new campaign with originals and results"),
        CLI_PAIR_OPTIONS(&a.place),
        CLI_STRING(0, "sheet", &a.sheet, "FILE.png",
                   "a contact sheet: original, attacked, ten times the difference"),
        CLI_WORKER_OPTIONS(&a.workers),
        CLI_OUTPUT_OPTIONS,
        CLI_END,
    };
    CLI_TRY(cli_parse(self, argc, argv, options, &path, 1, 1));
    CLI_TRY(cli_require(self, "data", a.data.spec));
    if (a.all_steps && a.stop_early)
        return cli_usage_error(self, "--all-steps and --stop-early exclude each other");
    if (!pair_place_check(self, &a.place, a.place.folder != NULL))
        return CLI_BAD_INPUT;
    if (a.place.resume && a.sheet)
        return cli_usage_error(self, "--sheet shows what one run makes; 'plexor export --format "
                                     "sheet' draws what is in a campaign");
    px_error err = {0};
    attack_report report;
    attack_work work = {.self = self, .a = &a};
    const px_status status = work_all(&work, path, argc, argv, &report, &err);
    const int rc = cli_answer(self, status, &err, &report, attack_print);
    work_done(&work);
    return rc;
}

const cli_command cli_command_attack = {
    .name = "attack",
    .usage = "MODEL --data SPEC [--method NAME] [--eps X] [--target CLASS] [-o FOLDER]",
    .help = "change inputs a little along the gradient until the network is wrong",
    .details =
        "Runs a gradient attack on every input and reports how many of those that the network got "
        "right become wrong (or are taken for --target), how far they had to move, and what it "
        "cost. Lengths are in scaled units: after --scale, before mean and std; 0 to 1 for 8-bit "
        "data.\n"
        "Results are judged as they are stored: 8-bit data are rounded to whole levels, towards "
        "the original where --eps bounds the change, so that the bound holds. All steps are taken, "
        "since what stops right behind the border falls back when it is rounded; so 'plexor check' "
        "gives the same robust accuracy. What the floats came to before rounding is in --json. "
        "Inputs without a label are attacked away from what the network says they are.\n"
        "-o makes a campaign: originals are its seed inputs, results its failures (or kept inputs, "
        "where the network stayed right). Inputs that were wrong to begin with are counted but not "
        "stored. A run that was stopped, by Ctrl-C or worse, goes on with --resume and ends as if "
        "it had not been.",
    .examples =
        "plexor attack net.onnx --data digits --method pgd --eps 8/255 --steps 20\n"
        "plexor attack net.onnx --data digits --method fgsm --eps 0.1 --target next --json\n"
        "plexor attack net.onnx --data digits --method deepfool --limit 100 -o found --sheet "
        "found.png\n",
    .run = attack_run,
    .ranks = true,
    .result = attack_fields,
};
