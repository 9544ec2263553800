/* src/cli/synthesize_print.c - synthesised inputs in numbers, for people and for programs */
#include "cli/synthesize_print.h"

#include "cli/synthesize_campaign.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>

static bool report_pooled(const synthesize_report *r)
{
    return r->suspects->count > 0 && r->suspects->items[0].class_index == PX_POOLED;
}

static void print_settings(const synthesize_report *r)
{
    const px_synthesis_options *o = px_synthesis_used(r->synthesis);
    const px_preprocess *pre = &r->inputs->pre;
    const px_synthesis_summary sum = px_synthesis_sum(r->synthesis);
    char a[CLI_NUMBER_TEXT], b[CLI_NUMBER_TEXT];
    printf("%s inputs of %" PRId64 " classes, made from %s of %s\n", cli_number(sum.count, a),
           sum.classes, cli_number(r->right, b), px_dataset_describe(r->inputs->set));
    printf("raised: %s, %" PRId64 " neurons %s; %s\n", r->suspects->measure, r->k,
           report_pooled(r) ? "for all classes together" : "of each class",
           px_probe_describe(r->probe));
    printf("step %g, distance %g", o->step, o->distance);
    if (px_dataset_is_8bit(r->inputs->set))
        printf(" (%.4g of 255 levels)", px_length_levels(pre, o->distance));
    printf(", values %g to %g, %" PRId64 " iteration%s; %s\n\n", o->low, o->high, o->iterations,
           o->iterations == 1 ? "" : "s",
           px_synthesis_rounds(r->synthesis)
               ? "8-bit: rounded to whole levels towards the original, as stored"
               : "stored as floats");
}

static void row(cli_table *table, const char *name, const char *format, double before, double exact,
                double stored, bool rounds)
{
    const double values[] = {before, exact, stored};
    cli_table_cell(table, "%s", name);
    for (int i = 0; i < (rounds ? 3 : 2); i++) {
        char text[CLI_NUMBER_TEXT];
        snprintf(text, sizeof text, isnan(values[i]) ? "-" : format, values[i]);
        cli_table_cell(table, "%s", text);
    }
}

static void print_table(const synthesize_report *r)
{
    const px_synthesis_summary s = px_synthesis_sum(r->synthesis);
    const bool rounds = px_synthesis_rounds(r->synthesis);
    const double before = 1.0 - (double)s.wrong_before / (double)s.count;
    const px_synthesis_mean *e = &s.exact, *t = &s.stored;
    cli_table *table = cli_table_new(rounds ? "lrrr" : "lrr");
    static const char *const titles[] = {"", "ORIGINALS", "FLOAT", "8-BIT"};
    for (int i = 0; i < (rounds ? 4 : 3); i++)
        cli_table_cell(table, "%s", titles[i]);
    row(table, "accuracy", "%.2f%%", 100 * before, 100 * e->accuracy, 100 * t->accuracy, rounds);
    row(table, "loss", "%.4f", s.loss_before, e->loss, t->loss, rounds);
    row(table, "L1", "%.4f", (double)NAN, e->l1, t->l1, rounds);
    row(table, "L2", "%.4f", (double)NAN, e->l2, t->l2, rounds);
    row(table, "Linf", "%.4f", (double)NAN, e->linf, t->linf, rounds);
    row(table, "Linf, largest", "%.4f", (double)NAN, e->linf_most, t->linf_most, rounds);
    row(table, "neurons that rose", "%.2f%%", (double)NAN, 100 * e->raised, 100 * t->raised,
        rounds);
    row(table, "unchanged inputs", "%.0f", (double)NAN, (double)s.unchanged,
        (double)s.unchanged_stored, rounds);
    cli_table_print_free(table, "");
}

static void print_time(const synthesize_report *r)
{
    const px_synthesis_summary s = px_synthesis_sum(r->synthesis);
    char known[CLI_NUMBER_TEXT], count[CLI_NUMBER_TEXT];
    const double ms = 1000.0 / (double)(s.count - r->known);
    if (s.count == r->known) {
        printf("\nall %s inputs were there from an earlier run\n", cli_number(s.count, count));
        return;
    }
    printf("\n%.3g ms per input on one worker: forward %.3g, backward %.3g, judging %.3g, the rest "
           "%.3g; %.3g s in all",
           ms * (s.forward_seconds + s.backward_seconds + s.judge_seconds + s.other_seconds),
           ms * s.forward_seconds, ms * s.backward_seconds, ms * s.judge_seconds,
           ms * s.other_seconds, s.seconds);
    if (r->to)
        printf(", and %.3g s for files", s.emit_seconds);
    printf("\n");
    if (r->known)
        printf("%s of %s inputs were there from an earlier run\n", cli_number(r->known, known),
               cli_number(s.count, count));
}

void synthesize_print(const synthesize_report *r)
{
    print_settings(r);
    print_table(r);
    print_time(r);
    if (r->to && synthesize_is_campaign(r->to))
        printf("%s: a campaign of originals and inputs\n", r->to);
    else if (r->to)
        printf("%s: inputs.npz, originals.npz, index.csv, report.json, and pictures\n", r->to);
}

static void json_mean(px_json *json, const char *key, const px_synthesis_mean *m, int64_t unchanged)
{
    if (key)
        px_json_object(json, key);
    px_json_real(json, "accuracy", m->accuracy);
    px_json_real(json, "loss", m->loss);
    px_json_real(json, "l1", m->l1);
    px_json_real(json, "l2", m->l2);
    px_json_real(json, "linf", m->linf);
    px_json_real(json, "linf_most", m->linf_most);
    px_json_real(json, "raised", m->raised);
    px_json_int(json, "unchanged", unchanged);
    if (key)
        px_json_end(json);
}

void synthesize_json(const synthesize_report *r, px_json *json)
{
    const px_synthesis_summary s = px_synthesis_sum(r->synthesis);
    const px_synthesis_options *o = px_synthesis_used(r->synthesis);
    px_json_string(json, "measure", r->suspects->measure);
    px_json_int(json, "k", r->k);
    px_json_bool(json, "pooled", report_pooled(r));
    px_json_string(json, "neurons", px_probe_describe(r->probe));
    px_json_real(json, "step", o->step);
    px_json_real(json, "distance", o->distance);
    px_json_array(json, "range");
    px_json_real(json, NULL, o->low);
    px_json_real(json, NULL, o->high);
    px_json_end(json);
    px_json_int(json, "iterations", o->iterations);
    px_json_int(json, "right", r->right);
    px_json_int(json, "count", s.count);
    px_json_string(json, "stored_as", px_synthesis_rounds(r->synthesis) ? "8-bit" : "float");
    json_mean(json, NULL, &s.stored, s.unchanged_stored); /* what is stored is what counts */
    json_mean(json, "float", &s.exact, s.unchanged);
    px_json_object(json, "originals");
    px_json_real(json, "accuracy", 1.0 - (double)s.wrong_before / (double)s.count);
    px_json_real(json, "loss", s.loss_before);
    px_json_end(json);
    px_json_array(json, "classes_without_neurons");
    for (int c = 0; c < r->targets->classes; c++)
        if (r->targets->of_class[c] < 0)
            px_json_int(json, NULL, c);
    px_json_end(json);
    px_json_real(json, "seconds", s.seconds);
    px_json_real(json, "files_seconds", s.emit_seconds);
    px_json_object(json, "worker_seconds");
    px_json_real(json, "forward", s.forward_seconds);
    px_json_real(json, "backward", s.backward_seconds);
    px_json_real(json, "judge", s.judge_seconds);
    px_json_real(json, "other", s.other_seconds);
    px_json_end(json);
}
