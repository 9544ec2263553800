/* src/cli/attack_print.c - an attack in numbers, for people and for programs */
#include "cli/attack_print.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>

static void print_length(const attack_report *r, const char *name, double length)
{
    printf("%s %.4g", name, length);
    if (px_dataset_is_8bit(r->inputs->set))
        printf(" (%.4g of 255 levels)", px_length_levels(&r->inputs->pre, length));
}

static void print_settings(const attack_report *r)
{
    const px_attack_options *o = px_attack_used(r->attack);
    const px_attack_method *method = px_attack_method_find(o->method);
    char a[CLI_NUMBER_TEXT];
    printf("%s on %s inputs of %s\n", o->method, cli_number(r->sum.count, a),
           px_dataset_describe(r->inputs->set));
    printf("goal: %s%s; norm %s", r->goal ? "target " : "any wrong class", r->goal ? r->goal : "",
           px_norm_name(o->norm));
    if (method->bounded)
        print_length(r, ", eps", o->eps);
    if (method->iterates) {
        printf(", %" PRId64 " steps of", o->steps);
        print_length(r, "", o->step_size);
        printf("%s", o->stop_early ? ", until the goal" : "");
    }
    if (method->restarts && o->no_random)
        printf(", from the input itself");
    else if (method->restarts)
        printf(", %" PRId64 " random start%s", o->restarts, o->restarts == 1 ? "" : "s");
    if (*r->settings)
        printf("; %s", r->settings);
    printf("\nvalues %g to %g; %s\n\n", o->low, o->high,
           !px_attack_rounds(r->attack) ? "stored as floats"
           : method->bounded ? "8-bit: rounded to whole levels towards the original, as stored"
                             : "8-bit: rounded to the nearest level, as stored");
}

static void row(cli_table *table, const char *name, const char *format, double value)
{
    char text[CLI_NUMBER_TEXT];
    snprintf(text, sizeof text, isnan(value) ? "-" : format, value);
    cli_table_cell(table, "%s", name);
    cli_table_cell(table, "%s", text);
}

/* Of what is stored, which is what counts; floats get a line of their own. */
static void print_table(const attack_report *r)
{
    const px_attack_summary *s = &r->sum;
    const px_attack_outcome *t = &s->stored;
    char right[96], number[CLI_NUMBER_TEXT];
    cli_table *table = cli_table_new("lr");
    snprintf(right, sizeof right, "success, of %s right before", cli_number(s->right, number));
    row(table, right, "%.2f%%", 100 * t->success);
    row(table, "success, of all", "%.2f%%", 100 * t->success_all);
    row(table, "accuracy before", "%.2f%%", 100 * s->accuracy);
    row(table, "L0, mean", "%.1f", t->l0.mean);
    row(table, "L0, median", "%.1f", t->l0.median);
    row(table, "L2, mean", "%.4f", t->l2.mean);
    row(table, "L2, median", "%.4f", t->l2.median);
    row(table, "Linf, mean", "%.4f", t->linf.mean);
    row(table, "Linf, median", "%.4f", t->linf.median);
    cli_table_print_free(table, "");
}

void attack_print(const attack_report *r)
{
    const px_attack_summary *s = &r->sum;
    const bool rounds = px_attack_rounds(r->attack);
    char robust[CLI_NUMBER_TEXT], count[CLI_NUMBER_TEXT];
    print_settings(r);
    printf("robust accuracy %.2f%% (%s of %s; as stored, %s)\n\n", 100 * s->stored.robust_accuracy,
           cli_number(s->stored.robust, robust), cli_number(s->count, count),
           rounds ? "8-bit" : "float");
    print_table(r);
    if (rounds)
        printf("\nbefore rounding: robust accuracy %.2f%%, success %.2f%%",
               100 * s->exact.robust_accuracy, 100 * s->exact.success);
    printf("\ndistances are of inputs that were right before and reach the goal, in scaled units\n"
           "%.4g queries per input (%.4g forward, %.4g backward); %.3g s, %.0f inputs/s",
           s->queries, s->forwards, s->backwards, s->seconds,
           (double)(px_attack_count(r->attack) - r->known) / s->seconds);
    if (r->to || r->sheet)
        printf(", and %.3g s for files", s->emit_seconds);
    printf("\n");
    if (r->known)
        printf("%s of %s inputs were there from an earlier run\n", cli_number(r->known, robust),
               cli_number(px_attack_count(r->attack), count));
    if (r->to)
        printf("%s: a campaign; see 'plexor status', 'plexor export', or use it as data\n", r->to);
}

static void json_spread(px_json *json, const px_attack_outcome *o)
{
    px_json_real(json, "success", o->success);
    px_json_real(json, "success_all", o->success_all);
    px_json_int(json, "reached", o->reached);
    px_json_int(json, "robust", o->robust);
    px_json_real(json, "robust_accuracy", o->robust_accuracy);
    px_json_real(json, "l0", o->l0.mean);
    px_json_real(json, "l2", o->l2.mean);
    px_json_real(json, "linf", o->linf.mean);
    px_json_object(json, "median");
    px_json_real(json, "l0", o->l0.median);
    px_json_real(json, "l2", o->l2.median);
    px_json_real(json, "linf", o->linf.median);
    px_json_end(json);
}

void attack_json(const attack_report *r, px_json *json)
{
    const px_attack_summary *s = &r->sum;
    const px_attack_options *o = px_attack_used(r->attack);
    px_json_string(json, "method", o->method);
    px_json_string(json, "settings", r->settings);
    px_json_string(json, "target", r->goal);
    px_json_string(json, "norm", px_norm_name(o->norm));
    px_json_real(json, "eps", o->eps);
    px_json_int(json, "steps", o->steps);
    px_json_real(json, "step_size", o->step_size);
    px_json_int(json, "restarts", o->restarts);
    px_json_bool(json, "all_steps", !o->stop_early);
    px_json_array(json, "range");
    px_json_real(json, NULL, o->low);
    px_json_real(json, NULL, o->high);
    px_json_end(json);
    px_json_int(json, "count", s->count);
    px_json_int(json, "right", s->right);
    px_json_int(json, "skipped", s->skipped);
    px_json_int(json, "unlabelled", s->unlabelled);
    px_json_real(json, "accuracy", s->accuracy);
    px_json_string(json, "stored_as", px_attack_rounds(r->attack) ? "8-bit" : "float");
    json_spread(json, &s->stored); /* what is stored is what counts */
    px_json_object(json, "float");
    json_spread(json, &s->exact);
    px_json_end(json);
    px_json_real(json, "queries", s->queries);
    px_json_real(json, "forwards", s->forwards);
    px_json_real(json, "backwards", s->backwards);
    px_json_int(json, "flat", s->flat);
    px_json_int(json, "odd_gradients", s->odd_gradients);
    px_json_int(json, "not_finite", s->not_finite);
    px_json_real(json, "seconds", s->seconds);
    px_json_real(json, "files_seconds", s->emit_seconds);
}
