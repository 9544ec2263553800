/* src/cli/cmd_eval.c - plexor eval MODEL --data SPEC */
/* SPDX-License-Identifier: Apache-2.0 */
#include "base/memory.h"
#include "cli/cli_doctor.h"
#include "cli/cli_fields.h"
#include "cli/cli_net.h"

#include <internal/data.h>
#include <internal/eval.h>
#include <internal/graph.h>
#include <internal/store.h>
#include <internal/system.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

typedef struct eval {
    const px_regression *regression; /* NULL: it classifies */
    px_eval_errors errors;
    cli_inputs inputs;
    const px_model *model;
    px_predictions said;
    px_eval figures;
    px_doctor *doctor;
    cli_origin origin;
    cli_classes names;
    px_matrix confusion; /* rows: labels; none where it would be a million numbers */
    double seconds, peak_rss_mib;
} eval;

/* --- what a result is made of ---------------------------------------------------------------- */

typedef struct class_row {
    const px_eval_class *of;
    int class;
    const char *name;
    char number[CLI_NUMBER_TEXT];
} class_row;

static const void *class_get(const void *of, size_t i, void *place)
{
    const eval *e = of;
    class_row *row = place;
    if (i >= (size_t)e->figures.all.classes)
        return NULL;
    row->of = &e->figures.by_class[i];
    row->class = (int)i;
    row->name = cli_class_name(&e->names, row->class, row->number);
    return row;
}

static const px_field class_fields[] = {
    PX_FIELD(class_row, class, "class", "its number", .title = "CLASS"),
    PX_FIELD(class_row, name, "name", "of the class", .title = "NAME"),
    PX_OBJECT_AT(class_row, of, px_eval_class_fields, ""),
    PX_FIELDS_END,
};

static const px_field sum_fields[] = {
    PX_FIELD(px_eval_sum, count, "count", "inputs"),
    PX_FIELD(px_eval_sum, correct, "correct", "inputs that are predicted right"),
    PX_FIELD(px_eval_sum, accuracy, "accuracy", "share of labelled inputs", .unit = PX_SHARE),
    PX_FIELD(px_eval_sum, loss, "loss", "mean cross-entropy"),
    PX_FIELD(px_eval_sum, lost, "not_numbers", "inputs whose scores are not numbers"),
    PX_FIELD(px_eval_sum, not_finite, "not_finite_inputs",
             "inputs with values that are not finite"),
    PX_FIELDS_END,
};

typedef struct far_row {
    px_eval_far of;
    int64_t index;
    char name[256];
} far_row;

static const void *far_get(const void *of, size_t i, void *place)
{
    const eval *e = of;
    far_row *row = place;
    if (i >= e->errors.far_count)
        return NULL;
    row->of = e->errors.far[i];
    row->index = px_dataset_index(e->inputs.set, row->of.item);
    px_dataset_name(e->inputs.set, row->of.item, row->name, sizeof row->name);
    return row;
}

static const px_field far_fields[] = {
    PX_FIELD(far_row, index, "index", "of the input, in the data", .title = "INPUT"),
    PX_CHARS(far_row, name, "name", "of the input", .title = "NAME"),
    PX_FIELD(far_row, of.error, "error", "|output - target|", .title = "ERROR"),
    PX_FIELD(far_row, of.output, "output", "what the network gave", .title = "OUTPUT"),
    PX_FIELD(far_row, of.target, "target", "what it was to give", .title = "TARGET"),
    PX_FIELDS_END,
};

static const px_field regression_fields[] = {
    PX_OBJECT(eval, errors, px_eval_errors_fields, ""),
    PX_LIST_MADE(far_get, far_fields, "worst", "inputs with the largest errors"),
    PX_FIELDS_END,
};

static bool eval_regresses(const void *of)
{
    return ((const eval *)of)->regression != NULL;
}

static bool eval_classifies(const void *of)
{
    return !eval_regresses(of);
}

static const char *const score_kinds[] = {"logits", "probs", NULL};
static const px_field eval_fields[] = {
    PX_OBJECT(eval, origin, cli_origin_fields, ""),
    PX_OBJECT(eval, inputs, cli_inputs_fields, ""),
    PX_CHOICE(eval, said.scores.probabilities, score_kinds, "scores", "what the network gives"),
    PX_FIELD(eval, said.scores.why, "scores_from", "why these are taken for the class scores"),
    PX_FIELD(eval, said.batch, "batch", "inputs at a time"),
    PX_OBJECT(eval, figures.all, sum_fields, ""),
    PX_OBJECT_AT(eval, doctor, px_doctor_fields, "doctor",
                 "what speaks against preprocessing and data"),
    PX_OBJECT_OF(regression_fields, "regression", "how far its numbers are from their targets",
                 .when = eval_regresses),
    PX_LIST_MADE(class_get, class_fields, "per_class", "in the order of the network",
                 .when = eval_classifies),
    PX_FIELD(eval, confusion, "confusion", "inputs by label, then prediction; up to 100 classes",
             PX_IF(eval, confusion.rows)),
    PX_FIELD(eval, seconds, "seconds", "of predicting"),
    PX_FIELD(eval, peak_rss_mib, "peak_rss_mib", "most memory that the process had"),
    PX_FIELDS_END,
};

/* --- for people ------------------------------------------------------------------------------ */

/* The whole matrix for a screen, the most frequent mistakes for more classes than that. */
static void eval_print_confusion(const eval *e)
{
    enum { SCREEN = 20, MISTAKES = 10 };
    const px_eval *figures = &e->figures;
    const int classes = figures->all.classes;
    char a[CLI_NUMBER_TEXT], b[CLI_NUMBER_TEXT], columns[SCREEN + 2];
    if (classes <= SCREEN) {
        cli_print("\n  confusion (rows: label, columns: prediction)\n");
        for (int i = 0; i <= classes; i++)
            columns[i] = 'r';
        columns[classes + 1] = '\0';
        cli_table *table = cli_table_new(columns);
        cli_table_cell(table, "%s", "");
        for (int p = 0; p < classes; p++)
            cli_table_cell(table, "%d", p);
        for (int c = 0; c < classes; c++)
            for (int p = -1; p < classes; p++)
                cli_table_cell(table, "%" PRId64, p < 0 ? c : e->confusion.counts[c * classes + p]);
        cli_table_print_free(table, "  ");
        return;
    }
    cli_print("\n  most frequent mistakes\n");
    for (size_t i = 0, shown = 0; i < figures->confusion_count && shown < MISTAKES; i++) {
        const px_eval_cell *cell = &figures->confusion[i];
        if (cell->label == cell->predicted)
            continue;
        cli_print("  %6" PRId64 "  %s taken for %s\n", cell->count,
                  cli_class_name(&e->names, cell->label, a),
                  cli_class_name(&e->names, cell->predicted, b));
        shown++;
    }
}

static void eval_print_errors(const eval *e)
{
    char count[CLI_NUMBER_TEXT];
    const px_eval_sum *all = &e->figures.all;
    const px_eval_errors *errors = &e->errors;
    cli_print("\nwithin %g: %.2f%% (%" PRId64 " of %s), %.0f inputs per second\n",
              errors->tolerance, 100.0 * all->accuracy, all->correct,
              cli_number(all->labelled, count), (double)all->count / e->seconds);
    cli_print("errors   mean %.4g (MAE), RMSE %.4g, median %.4g, largest %.4g, bias %+.3g\n",
              errors->mae, errors->rmse, errors->median, errors->most, errors->bias);
    if (!isnan(errors->r2))
        cli_print("         R2 %.4f\n", errors->r2);
    if (all->lost)
        cli_print("%" PRId64 " inputs have no answer that is a number\n", all->lost);
    cli_print("\n  largest errors\n");
    cli_print_list(regression_fields, "worst", e, "  ", 0);
}

static void eval_print(const void *of)
{
    const eval *e = of;
    char count[CLI_NUMBER_TEXT];
    const px_eval_sum *all = &e->figures.all;
    cli_inputs_print(&e->inputs, e->model, &e->said.scores);
    if (e->regression) {
        eval_print_errors(e);
        return;
    }
    cli_print("\naccuracy %.2f%% (%" PRId64 " of %s), loss %.4f, %.0f inputs per second\n",
              100.0 * all->accuracy, all->correct, cli_number(all->labelled, count), all->loss,
              (double)all->count / e->seconds);
    if (all->lost)
        cli_print("%" PRId64 " inputs have no prediction: their scores are not numbers\n",
                  all->lost);
    cli_print("\n");
    cli_print_list(eval_fields, "per_class", e, "  ", 0);
    eval_print_confusion(e);
}

/* The mistakes as a data set, for `plexor repair --add` and for looking at them. */
static int eval_save_wrong(const cli_command *self, const eval *e, const char *path)
{
    px_error err = {0};
    int64_t count = 0;
    if (px_predictions_save_wrong(&e->said, e->inputs.set, path, &count, &err) != PX_OK)
        return cli_fail(self, &err);
    cli_note(self, "'%s' has the %" PRId64 " inputs that are wrong", path, count);
    return CLI_DONE;
}

/* A file that cannot be written is told of before the work, not after it. */
static px_status eval_try_wrong(const char *path, px_error *err)
{
    px_npz_writer *writer = NULL;
    PX_TRY(px_npz_create(path, &writer, err));
    px_npz_abandon(writer);
    return PX_OK;
}

static px_status eval_open(const cli_command *self, eval *e, const px_model *model,
                           const cli_data *data, px_error *err)
{
    px_scores scores;
    PX_TRY(px_model_scores(model, &scores, err));
    PX_TRY(cli_inputs_open(model, data, &e->inputs, err));
    PX_TRY(px_dataset_check_labels(e->inputs.set, scores.classes, err));
    cli_classes_doubt(self, e->inputs.set, scores.classes);
    return PX_OK;
}

static px_status eval_measure(const cli_command *self, eval *e, const px_model *model,
                              const cli_data *data, const cli_workers *workers, px_error *err)
{
    const double start = px_clock_s();
    px_predict_options how = px_predict_options_default();
    how.threads = (int)workers->threads;
    how.batch = workers->batch;
    how.progress = cli_tick;
    how.context = CLI_WORDS("eval");
    const px_status status = px_predict(model, e->inputs.set, &e->inputs.pre, &how, &e->said, err);
    e->seconds = px_clock_s() - start;
    PX_TRY(status);
    if (e->said.batch_baked && e->said.batch < e->said.count)
        cli_note_baked(self, model, e->said.batch);
    PX_TRY(px_eval_make(&e->said, &e->figures, err));
    e->regression = px_model_regression(model);
    if (e->regression) /* what the doctor asks is asked of classes */
        return px_eval_regression(&e->said, e->regression->tolerance, &e->errors, err);
    px_doctor_options doctor = px_doctor_options_default();
    doctor.model = model;
    doctor.set = e->inputs.set;
    doctor.pre = &e->inputs.pre;
    doctor.predictions = &e->said;
    doctor.failures = px_campaign_part_fails(data->spec, data->split);
    doctor.quick = true;
    doctor.threads = (int)workers->threads;
    doctor.progress = cli_tick;
    doctor.context = CLI_WORDS("doctor");
    return px_doctor_new(&doctor, &e->doctor, err);
}

static px_status eval_finish(eval *e, const px_model *model, px_error *err)
{
    enum { CONFUSION_MOST = 100 };
    const int classes = e->figures.all.classes;
    e->origin = cli_origin_of(model, e->inputs.set);
    e->names = cli_classes_of(model, e->inputs.set);
    e->peak_rss_mib = (double)px_peak_rss_bytes() / 1048576.0;
    if (classes > CONFUSION_MOST || e->regression)
        return PX_OK;
    int64_t *counts = NULL;
    PX_TRY(PX_NEW(counts, (size_t)classes * (size_t)classes, err));
    for (int c = 0; c < classes; c++)
        px_eval_row(&e->figures, c, counts + c * classes);
    e->confusion =
        (px_matrix){.counts = counts, .rows = (size_t)classes, .columns = (size_t)classes};
    return PX_OK;
}

/* Near the accuracy of guessing nothing else is worth reading; failures of a campaign are inputs
 * that some network got wrong, so that few right answers are no surprise. */
static px_status eval_chance(const eval *e, const cli_data *data, px_error *err)
{
    if (px_campaign_part_fails(data->spec, data->split) || !px_eval_is_guessing(&e->figures.all))
        return PX_OK;
    return px_fail(err, PX_E_MISMATCH,
                   "accuracy is %.2f%%, about what guessing one of %d classes gives; %s, or accept "
                   "it with --allow-chance",
                   100.0 * e->figures.all.accuracy, e->figures.all.classes,
                   px_doctor_why_guessing(e->doctor));
}

static int eval_run(const cli_command *self, int argc, char **argv)
{
    cli_data data = CLI_DATA_DEFAULT;
    cli_workers workers = {0};
    bool allow_chance = false;
    const char *path = NULL, *wrong = NULL;
    const cli_option options[] = {
        CLI_DATA_OPTIONS(&data),
        CLI_STRING(0, "wrong", &wrong, "FILE.npz",
                   "save the inputs it gets wrong, with their labels: a data set to repair with"),
        CLI_FLAG(0, "allow-chance", &allow_chance,
                 "do not stop where accuracy is that of guessing"),
        CLI_WORKER_OPTIONS(&workers),
        CLI_OUTPUT_OPTIONS,
        CLI_END,
    };
    CLI_TRY(cli_parse(self, argc, argv, options, &path, 1, 1));
    CLI_TRY(cli_require(self, "data", data.spec));

    px_error err = {0};
    px_model *model = NULL;
    eval e = {0};
    px_status status = wrong ? eval_try_wrong(wrong, &err) : PX_OK;
    PX_THEN(status, cli_model_load(self, path, &model, &err));
    PX_THEN(status, eval_open(self, &e, model, &data, &err));
    PX_THEN(status, eval_measure(self, &e, model, &data, &workers, &err));
    PX_THEN_IF(status, !allow_chance && !e.regression, eval_chance(&e, &data, &err));
    PX_THEN(status, eval_finish(&e, model, &err));
    e.model = model;
    if (status != PX_OK && e.doctor && !cli_now()->json)
        cli_inputs_print(&e.inputs, model, &e.said.scores);
    int rc = cli_answer(self, status, &err, &e, eval_print);
    if (status == PX_OK && e.doctor)
        cli_note_findings(self, e.doctor);
    if (rc == CLI_DONE && wrong)
        rc = eval_save_wrong(self, &e, wrong);
    px_doctor_free(e.doctor);
    px_eval_done(&e.figures);
    free((void *)(uintptr_t)e.confusion.counts);
    px_predictions_done(&e.said);
    cli_inputs_close(&e.inputs);
    px_model_free(model);
    return rc;
}

const cli_command cli_command_eval = {
    .name = "eval",
    .usage = "MODEL --data SPEC [options]",
    .help = "accuracy, loss, per-class table and confusion",
    .details =
        "Says what it assumes about preprocessing, and where each part comes from: an option, the "
        "model's metadata, or a default. Where answers look wrong and mean or std are defaults, it "
        "tries what is in wide use on some of the inputs, and says which does better; 'plexor "
        "doctor' looks at more. Stops where the accuracy is that of guessing.",
    .examples = "plexor eval net.onnx --data fashion-mnist\n"
                "plexor eval net.onnx --data photos/ --preprocess imagenet\n"
                "plexor eval net.onnx --data fashion-mnist --split train --wrong failures.npz\n",
    .run = eval_run,
    .ranks = true,
    .result = eval_fields,
};
