/* src/cli/cmd_attack.c - plexor attack MODEL --data SPEC --method NAME */
#include "base/memory.h"
#include "cli/attack_files.h"
#include "cli/attack_print.h"

#include <internal/attack.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct attack_args {
    cli_data data;
    cli_workers workers;
    cli_output output;
    cli_list settings;
    pair_place place;
    const char *method, *norm, *eps, *step_size, *target, *range, *store, *sheet;
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
    o.keep_float = strcmp(a->store, "float") == 0;
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
    cli_progress progress = cli_progress_start("attack");
    o.progress = cli_progress_tick;
    o.progress_context = &progress;
    const px_status status = px_attack_run(&job, &o, &w->attack, err);
    cli_progress_end(&progress);
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

static px_status work_all(attack_work *w, const char *path, int argc, char **argv,
                          attack_report *report, px_error *err)
{
    const attack_args *a = w->a;
    px_attack_options options;
    if (a->place.folder)
        PX_TRY(pair_campaign_open(&w->files.pairs, w->self, &a->place, err));
    PX_TRY(cli_model_load(w->self, path, &w->model, err));
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
    attack_args a = {.method = "pgd", .store = "auto", .restarts = 1};
    const char *path = NULL;
    const cli_option options[] = {
        CLI_DATA_OPTIONS(&a.data),
        CLI_STRING(0, "method", &a.method, "NAME",
                   "fgsm, bim, pgd, deepfool or jsma; see 'plexor "
                   "list attacks'"),
        CLI_STRING(0, "norm", &a.norm, "linf|l2",
                   "how distances are measured; linf unless the "
                   "method has another"),
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
        CLI_STRING(0, "store", &a.store, "auto|float",
                   "float: do not round the results of 8-bit data"),
        CLI_STRING('o', "output", &a.place.folder, "FOLDER",
                   "a new campaign with originals and results"),
        CLI_PAIR_OPTIONS(&a.place),
        CLI_STRING(0, "sheet", &a.sheet, "FILE.png",
                   "a contact sheet: original, attacked, ten times the difference"),
        CLI_WORKER_OPTIONS(&a.workers),
        CLI_OUTPUT_OPTIONS(&a.output),
        CLI_END,
    };
    const int stop = cli_parse(self, argc, argv, options, &path, 1, 1);
    if (stop != CLI_GO)
        return stop;
    if (!cli_require(self, "data", a.data.spec))
        return CLI_BAD_INPUT;
    if (a.all_steps && a.stop_early)
        return cli_usage_error(self, "--all-steps and --stop-early exclude each other");
    if (strcmp(a.store, "auto") != 0 && strcmp(a.store, "float") != 0)
        return cli_usage_error(self, "--store '%.60s': expected auto or float", a.store);
    if (!pair_place_check(self, &a.place, a.place.folder != NULL))
        return CLI_BAD_INPUT;
    if (a.place.resume && a.sheet)
        return cli_usage_error(self, "--sheet shows what one run makes; 'plexor export --format "
                                     "sheet' draws what is in a campaign");
    px_error err = {0};
    attack_report report;
    attack_work work = {.self = self, .a = &a};
    int rc = CLI_DONE;
    if (work_all(&work, path, argc, argv, &report, &err) != PX_OK)
        rc = cli_fail(self, &err);
    else if (a.output.json)
        rc = cli_print_result(self, attack_fields, &report);
    else
        attack_print(&report);
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
        "the "
        "original where --eps bounds the change, so that the bound holds. All steps are taken, "
        "since what stops right behind the border falls back when it is rounded; so 'plexor check' "
        "gives the same robust accuracy. What the floats came to before rounding is in --json. "
        "Inputs without a label are attacked away from what the network says they are.\n"
        "-o makes a campaign: originals are its seed inputs, results its failures (or kept inputs, "
        "where "
        "the network stayed right). Inputs that were wrong to begin with are counted but not "
        "stored. A run that was stopped, by Ctrl-C or worse, goes on with --resume and ends as if "
        "it had not been.",
    .examples =
        "plexor attack net.onnx --data digits --method pgd --eps 8/255 --steps 20\n"
        "plexor attack net.onnx --data digits --method fgsm --eps 0.1 --target next --json\n"
        "plexor attack net.onnx --data digits --method deepfool --limit 100 -o found --sheet "
        "found.png\n",
    .run = attack_run,
    .result = attack_fields,
};
