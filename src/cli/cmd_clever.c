/* src/cli/cmd_clever.c - plexor clever MODEL --data SPEC */
/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/cli_fields.h"
#include "cli/cli_net.h"

#include <internal/clever.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { SHOWN_MOST = 20 }; /* inputs in the table for people */

typedef struct clever_args {
    cli_data data;
    cli_workers workers;
    const char *radius, *target, *range;
    int norm; /* a px_ball */
    int fit;  /* place in fit_names */
    int64_t batches, samples, pool;
} clever_args;

typedef struct clever_work {
    const cli_command *self;
    clever_args a;
    px_model *model;
    cli_inputs inputs;
    cli_origin origin;
    cli_classes classes;
    px_scores scores;
    px_clever *clever;
    px_clever_options used;
    const char *norm; /* that is used */
    px_clever_summary sum;
} clever_work;

static px_status work_target(const clever_work *w, int64_t *out, px_error *err)
{
    const char *text = w->a.target;
    char *end = NULL, buffer[CLI_NUMBER_TEXT];
    *out = strcmp(text, "second") == 0 ? PX_CLEVER_SECOND : PX_CLEVER_ALL;
    if (strcmp(text, "all") == 0 || *out == PX_CLEVER_SECOND)
        return PX_OK;
    const long long number = strtoll(text, &end, 10);
    if (end != text && *end == '\0' && number >= 0) {
        *out = number;
        return PX_OK;
    }
    for (int c = 0; c < w->scores.classes; c++)
        if (strcmp(cli_class_name(&w->classes, c, buffer), text) == 0) {
            *out = c;
            return PX_OK;
        }
    return px_fail(err, PX_E_USAGE,
                   "--target '%.60s': expected all, second, or a class (0 to %d, or its name)",
                   text, w->scores.classes - 1);
}

static px_status work_options(const clever_work *w, px_clever_options *out, px_error *err)
{
    const clever_args *a = &w->a;
    px_clever_options o = px_clever_options_default();
    o.ball = (px_ball)a->norm;
    if (a->range)
        PX_TRY(cli_range(a->range, &o.low, &o.high, err));
    if (a->radius)
        PX_TRY(px_length_parse(a->radius, "--radius", isnan(o.low) ? 0.0 : o.low,
                               isnan(o.high) ? 1.0 : o.high, &o.radius, err));
    o.batches = a->batches;
    o.samples = a->samples;
    o.pool = a->pool;
    o.penalised = a->fit == 1;
    o.seed = (uint64_t)a->data.seed;
    o.batch = a->workers.batch;
    o.threads = (int)a->workers.threads;
    PX_TRY(work_target(w, &o.target, err));
    *out = o;
    return PX_OK;
}

static void work_notes(const clever_work *w)
{
    const px_clever_summary *s = &w->sum;
    if (w->scores.probabilities)
        cli_note(w->self, "the network gives probabilities only: margins and gradients are of "
                          "these, not of logits");
    if (s->unlabelled)
        cli_note(w->self,
                 "%" PRId64 " inputs have no label: what the network says stands in for it",
                 s->unlabelled);
    if (s->odd)
        cli_note(w->self, "%" PRId64 " inputs have class scores that are no numbers, and no score",
                 s->odd);
    if (s->skipped)
        cli_note(w->self, "%" PRId64 " inputs are of the target's class already and were left out",
                 s->skipped);
    if (s->odd_gradients)
        cli_note(w->self, "%" PRId64 " values of gradients were no numbers and taken as 0",
                 s->odd_gradients);
    if (s->capped)
        cli_note(w->self,
                 "%" PRId64 " scores are the radius itself: a larger --radius may say more",
                 s->capped);
}

static px_status work_all(clever_work *w, const char *path, px_error *err)
{
    px_clever_options o;
    PX_TRY(cli_model_load(w->self, path, &w->model, err));
    PX_TRY(px_model_scores(w->model, &w->scores, err));
    PX_TRY(cli_inputs_open(w->model, &w->a.data, &w->inputs, err));
    w->classes = cli_classes_of(w->model, w->inputs.set);
    PX_TRY(work_options(w, &o, err));
    const px_clever_job job = {.model = w->model, .set = w->inputs.set, .pre = &w->inputs.pre};
    o.progress = cli_tick;
    o.progress_context = CLI_WORDS("clever");
    PX_TRY(px_clever_run(&job, &o, &w->clever, err));
    PX_TRY(px_clever_sum(w->clever, &w->sum, err));
    w->used = *px_clever_used(w->clever);
    w->norm = px_ball_name(w->used.ball);
    w->origin = cli_origin_of(w->model, w->inputs.set);
    work_notes(w);
    return PX_OK;
}

/* --- what a result is made of ---------------------------------------------------------------- */

typedef struct clever_input { /* one input of the result */
    char name[256], text[2][CLI_NUMBER_TEXT];
    const char *class_name, *nearest_name, *note;
    int64_t index;
    const px_clever_row *row;
    const px_clever_target *targets, *nearest; /* nearest NULL: it has none */
    int64_t target_count;
} clever_input;

static const void *clever_input_get(const void *of, size_t i, void *place)
{
    static const char *const notes[] = {[PX_END_FITTED] = "",
                                        [PX_END_CONSTANT] = "constant: largest taken",
                                        [PX_END_OPEN] = "no maximum: largest taken",
                                        [PX_END_POOR] = "poor fit: largest taken"};
    const clever_work *w = of;
    clever_input *in = place;
    if (i >= (size_t)px_clever_count(w->clever))
        return NULL;
    const px_clever_row *row = &px_clever_rows(w->clever)[i];
    const px_clever_target *targets = px_clever_targets(w->clever) + row->first;
    *in = (clever_input){.index = px_dataset_index(w->inputs.set, row->input),
                         .row = row,
                         .targets = targets,
                         .target_count = row->count,
                         .nearest = row->nearest < 0 ? NULL : targets + row->nearest,
                         .note = row->wrong     ? "misclassified"
                                 : row->skipped ? "of the target's class"
                                                : "no numbers"};
    px_dataset_name(w->inputs.set, row->input, in->name, sizeof in->name);
    if (row->predicted >= 0)
        in->class_name = cli_class_name(&w->classes, (int)row->predicted, in->text[0]);
    if (in->nearest) {
        in->nearest_name = cli_class_name(&w->classes, in->nearest->target, in->text[1]);
        in->note = notes[in->nearest->fit.note];
    }
    return in;
}

static const char *const fit_notes[] = {[PX_END_FITTED] = "fitted",
                                        [PX_END_CONSTANT] = "constant",
                                        [PX_END_OPEN] = "no maximum",
                                        [PX_END_POOR] = "poor",
                                        NULL};
static const char *const fit_names[] = {"plain", "penalised", NULL};

static const px_field target_fields[] = {
    PX_FIELD(px_clever_target, target, "target", "the other class"),
    PX_FIELD(px_clever_target, score, "score", "margin / lipschitz, at most the radius"),
    PX_FIELD(px_clever_target, margin, "margin", "of the class scores, at the input"),
    PX_FIELD(px_clever_target, fit.location, "lipschitz",
             "estimated length of the longest gradient of the margin in the ball"),
    PX_FIELD(px_clever_target, fit.largest, "largest", "gradient that was seen"),
    PX_CHOICE(px_clever_target, fit.note, fit_notes, "fit",
              "how the reverse Weibull fit went; the largest gradient is taken but for fitted"),
    PX_FIELD(px_clever_target, fit.shape, "shape", "of the fit"),
    PX_FIELD(px_clever_target, fit.scale, "scale", "of the fit"),
    PX_FIELD(px_clever_target, fit.ks, "ks", "Kolmogorov-Smirnov statistic of the fit"),
    PX_FIELD(px_clever_target, fit.ks_p, "ks_p", "its p-value"),
    PX_FIELDS_END,
};

/* The target that the score is from, in columns. */
static const px_field nearest_fields[] = {
    PX_FIELD(px_clever_target, margin, NULL, NULL, .title = "MARGIN", .format = "%.4g"),
    PX_FIELD(px_clever_target, fit.location, NULL, NULL, .title = "GRADIENT", .format = "%.4g"),
    PX_FIELD(px_clever_target, fit.shape, NULL, NULL, .title = "SHAPE", .format = "%.3g"),
    PX_FIELD(px_clever_target, fit.ks_p, NULL, NULL, .title = "K-S P", .format = "%.3g"),
    PX_FIELDS_END,
};

static const px_field row_fields[] = {
    PX_FIELD(px_clever_row, label, "label", "of the data; -1: none"),
    PX_FIELD(px_clever_row, predicted, "prediction", "of the network; -1: no numbers"),
    PX_FIELD(px_clever_row, score, "score", "least of its targets", .title = "SCORE",
             .none = "undefined"),
    PX_FIELD(px_clever_row, wrong, "misclassified", "its score is 0, nothing was sampled"),
    PX_FIELDS_END,
};

static const px_field input_fields[] = {
    PX_FIELD(clever_input, index, "index", "in the data"),
    PX_CHARS(clever_input, name, "name", "of the input", .title = "INPUT"),
    PX_FIELD(clever_input, class_name, NULL, NULL, .title = "CLASS", .align = 'r'),
    PX_OBJECT_AT(clever_input, row, row_fields, ""),
    PX_FIELD(clever_input, nearest_name, NULL, NULL, .title = "NEAREST", .align = 'r'),
    PX_OBJECT_AT(clever_input, nearest, nearest_fields, NULL),
    PX_FIELD(clever_input, note, NULL, NULL, .title = ""),
    PX_LIST(clever_input, targets, target_count, target_fields, "targets", "the other classes"),
    PX_FIELDS_END,
};

static const px_field sum_fields[] = {
    PX_FIELD(px_clever_summary, mean, "value", "mean score"),
    PX_FIELD(px_clever_summary, count, "n", "inputs that it is over"),
    PX_FIELD(px_clever_summary, median, "median", "score"),
    PX_FIELD(px_clever_summary, least, "least", "score"),
    PX_FIELD(px_clever_summary, mean_all, "value_all", "mean score, misclassified inputs being 0"),
    PX_FIELD(px_clever_summary, wrong, "misclassified", "inputs"),
    PX_FIELD(px_clever_summary, capped, "capped", "scores that are the radius itself"),
    PX_FIELDS_END,
};

static const px_field fits_fields[] = {
    PX_FIELD(px_clever_summary, fits, "count", "targets with maxima to fit"),
    PX_FIELD(px_clever_summary, constant, "constant", "all maxima were the same"),
    PX_FIELD(px_clever_summary, open, "no_maximum", "the likelihood has no maximum"),
    PX_FIELD(px_clever_summary, poor, "poor", "fits that were thrown away"),
    PX_FIELD(px_clever_summary, ks_median, "ks_median", "Kolmogorov-Smirnov statistic, median"),
    PX_FIELD(px_clever_summary, ks_p_median, "ks_p_median", "its p-value, median"),
    PX_FIELDS_END,
};

static const px_field clever_fields[] = {
    PX_OBJECT(clever_work, origin, cli_origin_fields, ""),
    PX_OBJECT(clever_work, inputs, cli_inputs_fields, ""),
    PX_FIELD(clever_work, a.data.seed, "seed", "of everything random"),
    PX_OBJECT(clever_work, sum, sum_fields, "clever", "the score over all inputs"),
    PX_FIELD(clever_work, norm, "norm", "of the ball"),
    PX_FIELD(clever_work, used.radius, "radius", "of the ball, and the highest score",
             .unit = "scaled units"),
    PX_FIELD(clever_work, used.batches, "batches", "maxima that a fit sees"),
    PX_FIELD(clever_work, used.samples, "samples", "points that each is the maximum of"),
    PX_FIELD(clever_work, used.pool, "pool",
             "batches are drawn from that many times samples points; 0: all points are fresh"),
    PX_CHOICE(clever_work, used.penalised, fit_names, "fit", "kind of likelihood"),
    PX_FIELD(clever_work, a.target, "target", "the other classes, as asked for"),
    PX_FIELD(clever_work, sum.skipped, "skipped", "inputs of the target's class already"),
    PX_FIELD(clever_work, sum.unlabelled, "unlabelled", "inputs whose prediction is their label"),
    PX_FIELD(clever_work, sum.odd, "not_finite", "inputs whose class scores are no numbers"),
    PX_FIELD(clever_work, sum.odd_gradients, "odd_gradients", "values that were taken as 0"),
    PX_OBJECT(clever_work, sum, fits_fields, "fits", "of the reverse Weibull distribution"),
    PX_LIST_MADE(clever_input_get, input_fields, "inputs", "in the order of the data"),
    PX_FIELD(clever_work, sum.points, "gradients", "that were taken"),
    PX_FIELD(clever_work, sum.seconds, "seconds", "in all", .unit = "s"),
    PX_FIELDS_END,
};

static void work_print(const void *of)
{
    const clever_work *w = of;
    const px_clever_options *o = &w->used;
    const px_clever_summary *s = &w->sum;
    const int64_t count = px_clever_count(w->clever);
    char a[CLI_NUMBER_TEXT], b[CLI_NUMBER_TEXT];
    cli_print("CLEVER by %s on %s inputs of %s\n", w->norm, cli_number(count, a),
              px_dataset_describe(w->inputs.set));
    cli_print("radius %.6g in scaled units; %s batches of ", o->radius, cli_number(o->batches, a));
    if (o->pool)
        cli_print("%s points, drawn from a pool of %s", cli_number(o->samples, a),
                  cli_number(o->pool * o->samples, b));
    else
        cli_print("%s fresh points", cli_number(o->samples, a));
    cli_print("; reverse Weibull fit by %s likelihood\n\n", o->penalised ? "penalised" : "maximum");
    cli_print_list(clever_fields, "inputs", w, "", SHOWN_MOST);
    if (count > SHOWN_MOST)
        cli_print("... and %s more; --json has all\n", cli_number(count - SHOWN_MOST, a));
    if (s->count)
        cli_print("\nscore  mean %.6g, median %.6g, least %.6g of %s inputs", s->mean, s->median,
                  s->least, cli_number(s->count, a));
    else
        cli_print("\nscore  undefined: no input has one");
    cli_print("; %s misclassified (score 0)", cli_number(s->wrong, a));
    if (!isnan(s->mean_all))
        cli_print(", mean with them %.6g", s->mean_all);
    cli_print("\nfits   %s; ", cli_number(s->fits, a));
    cli_print("%" PRId64 " constant, %" PRId64 " without a maximum, %" PRId64 " poor", s->constant,
              s->open, s->poor);
    if (!isnan(s->ks_p_median))
        cli_print("; Kolmogorov-Smirnov p of the others: median %.3g", s->ks_p_median);
    cli_print("\n%s gradients in %.3g s\n", cli_number((int64_t)s->points, a), s->seconds);
}

static int clever_run(const cli_command *self, int argc, char **argv)
{
    const px_clever_options usual = px_clever_options_default();
    clever_work work = {.self = self,
                        .a = {.target = "all", .batches = usual.batches, .samples = usual.samples}};
    clever_args *a = &work.a;
    const char *path = NULL;
    const cli_option options[] = {
        CLI_DATA_OPTIONS(&a->data),
        CLI_CHOICE(0, "norm", &a->norm, CLI_CHOICES(PX_BALLS),
                   "of the ball that points are drawn from"),
        CLI_STRING(
            0, "radius", &a->radius, "X",
            "of the ball, in scaled units, and the highest score; 3 for l2, 0.1 for linf, 30 "
            "for l1, times the range"),
        CLI_INT(0, "batches", &a->batches, "N", 2, 1e6, "N_b: maxima that the fit sees"),
        CLI_INT(0, "samples", &a->samples, "N", 1, 1e6, "N_s: points that each is the maximum of"),
        CLI_INT(0, "pool", &a->pool, "K", 0, 1e4,
                "draw all batches from K times --samples points; 0: fresh points for each"),
        CLI_CHOICE(0, "fit", &a->fit, "plain|penalised",
                   "maximum likelihood, or with 0.01 shape^2 taken off"),
        CLI_STRING(0, "target", &a->target, "all|second|CLASS",
                   "the other classes: all, the runner-up, or one"),
        CLI_RANGE_OPTION(&a->range),
        CLI_WORKER_OPTIONS(&a->workers),
        CLI_OUTPUT_OPTIONS,
        CLI_END,
    };
    CLI_TRY(cli_parse(self, argc, argv, options, &path, 1, 1));
    CLI_TRY(cli_require(self, "data", a->data.spec));
    px_error err = {0};
    const px_status status = work_all(&work, path, &err);
    const int rc = cli_answer(self, status, &err, &work, work_print);
    px_clever_free(work.clever);
    cli_inputs_close(&work.inputs);
    px_model_free(work.model);
    return rc;
}

const cli_command cli_command_clever = {
    .name = "clever",
    .usage = "MODEL --data SPEC [--norm l2|linf|l1] [--radius X] [--batches N] [--samples N]",
    .help = "estimate how far inputs are from being classified otherwise",
    .details =
        "For each input that is classified correctly and each other class: the margin of the class "
        "scores divided by the longest gradient of that margin around the input. The longest "
        "gradient is estimated as the right end of a reverse Weibull distribution of the maxima of "
        "many batches of random points (Weng et al., ICLR 2018); how well it fits is shown. The "
        "score is the smallest over classes, at most the radius. It is an estimate, not a proof.\n"
        "Misclassified inputs have the score 0 and are counted apart.",
    .examples = "plexor clever net.onnx --data digits --limit 10 --batches 50 --samples 128\n"
                "plexor clever net.onnx --data digits --limit 10 --norm linf --pool 10 --json\n",
    .run = clever_run,
    .ranks = true,
    .result = clever_fields,
};
