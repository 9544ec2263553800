/* src/cli/synthesize_print.c - synthesised inputs in numbers, for people and for programs */
#include "cli/synthesize_print.h"

#include "cli/synthesize_campaign.h"

#include <internal/preprocess.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>

void synthesize_report_fill(synthesize_report *r, const px_synthesis *synthesis)
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

const px_field synthesize_fields[] = {
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

void synthesize_print(const synthesize_report *r)
{
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
