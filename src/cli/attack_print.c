/* src/cli/attack_print.c - an attack in numbers, for people and for programs */
#include "cli/attack_print.h"

#include <internal/preprocess.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>

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

void attack_print(const attack_report *r)
{
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

const px_field attack_fields[] = {
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
