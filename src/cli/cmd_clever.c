/* src/cli/cmd_clever.c - plexor clever MODEL --data SPEC */
#include "cli/cli_net.h"

#include <inttypes.h>
#include <math.h>
#include <plexor/clever.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SHOWN_MOST = 20 }; /* inputs in the table for people */

typedef struct clever_args {
    cli_data data;
    cli_workers workers;
    cli_output output;
    const char *norm, *radius, *fit, *target, *range;
    int64_t batches, samples, pool;
} clever_args;

typedef struct clever_work {
    const cli_command *self;
    const clever_args *a;
    px_model *model;
    cli_inputs inputs;
    cli_classes classes;
    px_scores scores;
    px_clever *clever;
    px_clever_summary sum;
} clever_work;

static px_status work_target(const clever_work *w, int64_t *out, px_error *err)
{
    const char *text = w->a->target;
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
    const clever_args *a = w->a;
    px_clever_options o = px_clever_options_default();
    PX_TRY(px_ball_parse(a->norm, &o.ball, err));
    if (a->range)
        PX_TRY(cli_range(a->range, &o.low, &o.high, err));
    if (a->radius)
        PX_TRY(px_length_parse(a->radius, "--radius", isnan(o.low) ? 0.0 : o.low,
                               isnan(o.high) ? 1.0 : o.high, &o.radius, err));
    o.batches = a->batches;
    o.samples = a->samples;
    o.pool = a->pool;
    o.penalised = strcmp(a->fit, "penalised") == 0;
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
    PX_TRY(cli_inputs_open(w->model, &w->a->data, &w->inputs, err));
    w->classes = cli_classes_of(w->model, w->inputs.set);
    PX_TRY(work_options(w, &o, err));
    const px_clever_job job = {.model = w->model, .set = w->inputs.set, .pre = &w->inputs.pre};
    cli_progress progress = cli_progress_start("clever");
    o.progress = cli_progress_tick;
    o.progress_context = &progress;
    const px_status status = px_clever_run(&job, &o, &w->clever, err);
    cli_progress_end(&progress);
    if (status != PX_OK)
        return status;
    PX_TRY(px_clever_sum(w->clever, &w->sum, err));
    work_notes(w);
    return PX_OK;
}

static const char *note_text(px_end_note note)
{
    static const char *const texts[] = {[PX_END_FITTED] = "",
                                        [PX_END_CONSTANT] = "constant: largest taken",
                                        [PX_END_OPEN] = "no maximum: largest taken",
                                        [PX_END_POOR] = "poor fit: largest taken"};
    return texts[note];
}

static void print_row(const clever_work *w, cli_table *table, const px_clever_row *row)
{
    char name[256], a[CLI_NUMBER_TEXT];
    cli_table_cell(table, "%s", px_dataset_name(w->inputs.set, row->input, name, sizeof name));
    cli_table_cell(table, "%s",
                   row->predicted < 0 ? "-" : cli_class_name(&w->classes, (int)row->predicted, a));
    if (isnan(row->score))
        cli_table_cell(table, "undefined");
    else
        cli_table_cell(table, "%.6g", row->score);
    if (row->nearest < 0) {
        for (int i = 0; i < 5; i++)
            cli_table_cell(table, "-");
        cli_table_cell(table, "%s",
                       row->wrong     ? "misclassified"
                       : row->skipped ? "of the target's class"
                                      : "no numbers");
        return;
    }
    const px_clever_target *t = px_clever_targets(w->clever) + row->first + row->nearest;
    cli_table_cell(table, "%s", cli_class_name(&w->classes, t->target, a));
    cli_table_cell(table, "%.4g", t->margin);
    cli_table_cell(table, "%.4g", t->fit.location);
    if (isnan(t->fit.shape)) {
        cli_table_cell(table, "-");
        cli_table_cell(table, "-");
    } else {
        cli_table_cell(table, "%.3g", t->fit.shape);
        cli_table_cell(table, "%.3g", t->fit.ks_p);
    }
    cli_table_cell(table, "%s", note_text(t->fit.note));
}

static void work_print(const clever_work *w)
{
    static const char *const titles[] = {"INPUT",    "CLASS", "SCORE", "NEAREST", "MARGIN",
                                         "GRADIENT", "SHAPE", "K-S P", ""};
    const px_clever_options *o = px_clever_used(w->clever);
    const px_clever_summary *s = &w->sum;
    const int64_t count = px_clever_count(w->clever);
    char a[CLI_NUMBER_TEXT], b[CLI_NUMBER_TEXT];
    printf("CLEVER by %s on %s inputs of %s\n", px_ball_name(o->ball), cli_number(count, a),
           px_dataset_describe(w->inputs.set));
    printf("radius %.6g in scaled units; %s batches of ", o->radius, cli_number(o->batches, a));
    if (o->pool)
        printf("%s points, drawn from a pool of %s", cli_number(o->samples, a),
               cli_number(o->pool * o->samples, b));
    else
        printf("%s fresh points", cli_number(o->samples, a));
    printf("; reverse Weibull fit by %s likelihood\n\n", o->penalised ? "penalised" : "maximum");
    cli_table *table = cli_table_new("lrrrrrrrl");
    for (size_t i = 0; i < sizeof titles / sizeof *titles; i++)
        cli_table_cell(table, "%s", titles[i]);
    for (int64_t i = 0; i < count && i < SHOWN_MOST; i++)
        print_row(w, table, &px_clever_rows(w->clever)[i]);
    cli_table_print_free(table, "");
    if (count > SHOWN_MOST)
        printf("... and %s more; --json has all\n", cli_number(count - SHOWN_MOST, a));
    if (s->count)
        printf("\nscore  mean %.6g, median %.6g, least %.6g of %s inputs", s->mean, s->median,
               s->least, cli_number(s->count, a));
    else
        printf("\nscore  undefined: no input has one");
    printf("; %s misclassified (score 0)", cli_number(s->wrong, a));
    if (!isnan(s->mean_all))
        printf(", mean with them %.6g", s->mean_all);
    printf("\nfits   %s; ", cli_number(s->fits, a));
    printf("%" PRId64 " constant, %" PRId64 " without a maximum, %" PRId64 " poor", s->constant,
           s->open, s->poor);
    if (!isnan(s->ks_p_median))
        printf("; Kolmogorov-Smirnov p of the others: median %.3g", s->ks_p_median);
    printf("\n%s gradients in %.3g s\n", cli_number((int64_t)s->points, a), s->seconds);
}

static void json_fit(px_json *json, const px_clever_target *t)
{
    static const char *const notes[] = {[PX_END_FITTED] = "fitted",
                                        [PX_END_CONSTANT] = "constant",
                                        [PX_END_OPEN] = "no maximum",
                                        [PX_END_POOR] = "poor"};
    px_json_object(json, NULL);
    px_json_int(json, "target", t->target);
    px_json_real(json, "score", t->score);
    px_json_real(json, "margin", t->margin);
    px_json_real(json, "lipschitz", t->fit.location);
    px_json_real(json, "largest", t->fit.largest);
    px_json_string(json, "fit", notes[t->fit.note]);
    px_json_real(json, "shape", t->fit.shape);
    px_json_real(json, "scale", t->fit.scale);
    px_json_real(json, "ks", t->fit.ks);
    px_json_real(json, "ks_p", t->fit.ks_p);
    px_json_end(json);
}

static void json_inputs(const clever_work *w, px_json *json)
{
    char name[256];
    px_json_array(json, "inputs");
    for (int64_t i = 0; i < px_clever_count(w->clever); i++) {
        const px_clever_row *row = &px_clever_rows(w->clever)[i];
        px_json_object(json, NULL);
        px_json_int(json, "index", px_dataset_index(w->inputs.set, row->input));
        px_json_string(json, "name", px_dataset_name(w->inputs.set, row->input, name, sizeof name));
        px_json_int(json, "label", row->label);
        px_json_int(json, "prediction", row->predicted);
        px_json_real(json, "score", row->score);
        px_json_bool(json, "misclassified", row->wrong);
        px_json_array(json, "targets");
        for (int64_t k = 0; k < row->count; k++)
            json_fit(json, px_clever_targets(w->clever) + row->first + k);
        px_json_end(json);
        px_json_end(json);
    }
    px_json_end(json);
}

static int work_json(const clever_work *w, int argc, char **argv)
{
    const px_clever_options *o = px_clever_used(w->clever);
    const px_clever_summary *s = &w->sum;
    px_json json = {0};
    px_json_object(&json, NULL);
    cli_json_origin(&json, w->model, w->inputs.set, argc, argv);
    cli_inputs_json(&w->inputs, &json);
    px_json_int(&json, "seed", w->a->data.seed);
    px_json_object(&json, "clever");
    px_json_real(&json, "value", s->mean);
    px_json_int(&json, "n", s->count);
    px_json_real(&json, "median", s->median);
    px_json_real(&json, "least", s->least);
    px_json_real(&json, "value_all", s->mean_all);
    px_json_int(&json, "misclassified", s->wrong);
    px_json_int(&json, "capped", s->capped);
    px_json_end(&json);
    px_json_string(&json, "norm", px_ball_name(o->ball));
    px_json_real(&json, "radius", o->radius);
    px_json_int(&json, "batches", o->batches);
    px_json_int(&json, "samples", o->samples);
    px_json_int(&json, "pool", o->pool);
    px_json_string(&json, "fit", o->penalised ? "penalised" : "plain");
    px_json_string(&json, "target", w->a->target);
    px_json_int(&json, "skipped", s->skipped);
    px_json_int(&json, "unlabelled", s->unlabelled);
    px_json_int(&json, "not_finite", s->odd);
    px_json_int(&json, "odd_gradients", s->odd_gradients);
    px_json_object(&json, "fits");
    px_json_int(&json, "count", s->fits);
    px_json_int(&json, "constant", s->constant);
    px_json_int(&json, "no_maximum", s->open);
    px_json_int(&json, "poor", s->poor);
    px_json_real(&json, "ks_median", s->ks_median);
    px_json_real(&json, "ks_p_median", s->ks_p_median);
    px_json_end(&json);
    json_inputs(w, &json);
    px_json_real(&json, "gradients", s->points);
    px_json_real(&json, "seconds", s->seconds);
    px_json_end(&json);
    return cli_print_json(w->self, &json);
}

static int clever_run(const cli_command *self, int argc, char **argv)
{
    const px_clever_options usual = px_clever_options_default();
    clever_args a = {.norm = "l2",
                     .fit = "plain",
                     .target = "all",
                     .batches = usual.batches,
                     .samples = usual.samples};
    const char *path = NULL;
    const cli_option options[] = {
        CLI_DATA_OPTIONS(&a.data),
        CLI_STRING(0, "norm", &a.norm, "l2|linf|l1", "of the ball that points are drawn from"),
        CLI_STRING(
            0, "radius", &a.radius, "X",
            "of the ball, in scaled units, and the highest score; 3 for l2, 0.1 for linf, 30 "
            "for l1, times the range"),
        CLI_INT(0, "batches", &a.batches, "N", 2, 1e6, "N_b: maxima that the fit sees"),
        CLI_INT(0, "samples", &a.samples, "N", 1, 1e6, "N_s: points that each is the maximum of"),
        CLI_INT(0, "pool", &a.pool, "K", 0, 1e4,
                "draw all batches from K times --samples points; 0: fresh points for each"),
        CLI_STRING(0, "fit", &a.fit, "plain|penalised",
                   "maximum likelihood, or with 0.01 shape^2 taken off"),
        CLI_STRING(0, "target", &a.target, "all|second|CLASS",
                   "the other classes: all, the runner-up, or one"),
        CLI_RANGE_OPTION(&a.range),
        CLI_WORKER_OPTIONS(&a.workers),
        CLI_OUTPUT_OPTIONS(&a.output),
        CLI_END,
    };
    const int stop = cli_parse(self, argc, argv, options, &path, 1, 1);
    if (stop != CLI_GO)
        return stop;
    if (!cli_require(self, "data", a.data.spec))
        return CLI_BAD_INPUT;
    if (strcmp(a.fit, "plain") != 0 && strcmp(a.fit, "penalised") != 0)
        return cli_usage_error(self, "--fit '%.60s': expected plain or penalised", a.fit);
    px_error err = {0};
    clever_work work = {.self = self, .a = &a};
    int rc = CLI_DONE;
    if (work_all(&work, path, &err) != PX_OK)
        rc = cli_fail(self, &err);
    else if (a.output.json)
        rc = work_json(&work, argc, argv);
    else
        work_print(&work);
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
};
