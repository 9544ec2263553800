/* src/cli/cmd_eval.c - plexor eval MODEL --data SPEC */
#include "cli/cli_doctor.h"
#include "cli/cli_net.h"

#include <inttypes.h>
#include <math.h>
#include <plexor/store.h>
#include <plexor/system.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct eval {
    cli_inputs inputs;
    px_predictions said;
    px_predictions_sum sum;
    double accuracy, seconds;
    int64_t *confusion; /* [label][prediction], and one more column: no prediction (NaN scores) */
    px_doctor *doctor;
} eval;

static int64_t *eval_cell(const eval *e, int64_t label, int64_t prediction)
{
    const int64_t columns = e->said.scores.classes + 1;
    return &e->confusion[label * columns + (prediction < 0 ? columns - 1 : prediction)];
}

static int64_t eval_class_count(const eval *e, int64_t label)
{
    int64_t count = 0;
    for (int64_t p = -1; p < e->said.scores.classes; p++)
        count += *eval_cell(e, label, p);
    return count;
}

static px_status eval_count(eval *e, px_error *err)
{
    const size_t classes = (size_t)e->said.scores.classes;
    e->confusion = calloc(classes * (classes + 1), sizeof *e->confusion);
    if (!e->confusion)
        return px_fail(err, PX_E_NOMEM, "out of memory for %zu classes", classes);
    for (int64_t i = 0; i < e->said.count; i++)
        if (e->said.label[i] >= 0)
            ++*eval_cell(e, e->said.label[i], e->said.predicted[i]);
    e->sum = px_predictions_add(&e->said);
    e->accuracy = (double)e->sum.correct / (double)e->sum.labelled;
    return PX_OK;
}

static void eval_print_classes(const eval *e, const cli_classes *names)
{
    char buffer[CLI_NUMBER_TEXT];
    cli_table *table = cli_table_new("rlrrr");
    static const char *const titles[] = {"CLASS", "NAME", "INPUTS", "RIGHT", "ACCURACY"};
    for (size_t i = 0; i < 5; i++)
        cli_table_cell(table, "%s", titles[i]);
    for (int c = 0; c < e->said.scores.classes; c++) {
        const int64_t count = eval_class_count(e, c), right = *eval_cell(e, c, c);
        cli_table_cell(table, "%d", c);
        cli_table_cell(table, "%s", cli_class_name(names, c, buffer));
        cli_table_cell(table, "%" PRId64, count);
        cli_table_cell(table, "%" PRId64, right);
        if (count)
            cli_table_cell(table, "%.2f%%", 100.0 * (double)right / (double)count);
        else
            cli_table_cell(table, "-");
    }
    printf("\n");
    cli_table_print_free(table, "  ");
}

/* The whole matrix for a screen, the most frequent mistakes for more classes than that. */
static void eval_print_confusion(const eval *e, const cli_classes *names)
{
    enum { SCREEN = 20, MISTAKES = 10 };
    const int classes = e->said.scores.classes;
    char a[CLI_NUMBER_TEXT], b[CLI_NUMBER_TEXT], columns[SCREEN + 2];
    if (classes <= SCREEN) {
        printf("\n  confusion (rows: label, columns: prediction)\n");
        for (int i = 0; i <= classes; i++)
            columns[i] = 'r';
        columns[classes + 1] = '\0';
        cli_table *table = cli_table_new(columns);
        for (int p = -1; p < classes; p++)
            cli_table_cell(table, p < 0 ? "" : "%d", p);
        for (int c = 0; c < classes; c++)
            for (int p = -1; p < classes; p++)
                cli_table_cell(table, "%" PRId64, p < 0 ? c : *eval_cell(e, c, p));
        cli_table_print_free(table, "  ");
        return;
    }
    printf("\n  most frequent mistakes\n");
    int64_t below = INT64_MAX, shown = 0;
    while (shown < MISTAKES) { /* the next lower count, all cells that have it */
        int64_t next = 0;
        for (int64_t i = 0; i < (int64_t)classes * classes; i++) {
            const int64_t n = *eval_cell(e, i / classes, i % classes);
            if (i / classes != i % classes && n < below && n > next)
                next = n;
        }
        if (next == 0)
            break;
        for (int64_t i = 0; i < (int64_t)classes * classes && shown < MISTAKES; i++) {
            const int label = (int)(i / classes), wrong = (int)(i % classes);
            if (label == wrong || *eval_cell(e, label, wrong) != next)
                continue;
            printf("  %6" PRId64 "  %s taken for %s\n", next, cli_class_name(names, label, a),
                   cli_class_name(names, wrong, b));
            shown++;
        }
        below = next;
    }
}

static void eval_print(const eval *e, const px_model *model)
{
    char count[CLI_NUMBER_TEXT];
    cli_classes names = cli_classes_of(model, e->inputs.set);
    cli_inputs_print(&e->inputs, model, &e->said.scores);
    printf("\naccuracy %.2f%% (%" PRId64 " of %s), loss %.4f, %.0f inputs per second\n",
           100.0 * e->accuracy, e->sum.correct, cli_number(e->sum.labelled, count), e->sum.loss,
           (double)e->said.count / e->seconds);
    if (e->sum.lost)
        printf("%" PRId64 " inputs have no prediction: their scores are not numbers\n",
               e->sum.lost);
    eval_print_classes(e, &names);
    eval_print_confusion(e, &names);
}

static int eval_json(const cli_command *self, const eval *e, const px_model *model, int argc,
                     char **argv)
{
    char buffer[CLI_NUMBER_TEXT];
    cli_classes names = cli_classes_of(model, e->inputs.set);
    px_json json = {0};
    px_json_object(&json, NULL);
    cli_json_origin(&json, model, e->inputs.set, argc, argv);
    cli_inputs_json(&e->inputs, &json);
    px_json_string(&json, "scores", e->said.scores.probabilities ? "probs" : "logits");
    px_json_string(&json, "scores_from", e->said.scores.why);
    px_json_int(&json, "batch", e->said.batch);
    px_json_int(&json, "count", e->said.count);
    px_json_int(&json, "correct", e->sum.correct);
    px_json_real(&json, "accuracy", e->accuracy);
    px_json_real(&json, "loss", e->sum.loss);
    px_json_int(&json, "not_numbers", e->sum.lost);
    px_json_int(&json, "not_finite_inputs", e->sum.not_finite);
    px_json_object(&json, "doctor");
    px_doctor_json(e->doctor, &json);
    px_json_end(&json);
    px_json_array(&json, "per_class");
    for (int c = 0; c < e->said.scores.classes; c++) {
        const int64_t count = eval_class_count(e, c), right = *eval_cell(e, c, c);
        px_json_object(&json, NULL);
        px_json_int(&json, "class", c);
        px_json_string(&json, "name", cli_class_name(&names, c, buffer));
        px_json_int(&json, "count", count);
        px_json_int(&json, "correct", right);
        px_json_real(&json, "accuracy", count ? (double)right / (double)count : (double)NAN);
        px_json_end(&json);
    }
    px_json_end(&json);
    enum { CONFUSION_MOST = 100 }; /* a thousand classes would be a million numbers */
    if (e->said.scores.classes <= CONFUSION_MOST) {
        px_json_array(&json, "confusion");
        for (int c = 0; c < e->said.scores.classes; c++) {
            px_json_array(&json, NULL);
            for (int p = 0; p < e->said.scores.classes; p++)
                px_json_int(&json, NULL, *eval_cell(e, c, p));
            px_json_end(&json);
        }
        px_json_end(&json);
    }
    px_json_real(&json, "seconds", e->seconds);
    px_json_real(&json, "peak_rss_mib", (double)px_peak_rss_bytes() / 1048576.0);
    px_json_end(&json);
    return cli_print_json(self, &json);
}

/* The mistakes as a data set, for `plexor repair --add` and for looking at them. */
static int eval_save_wrong(const cli_command *self, const eval *e, const char *path)
{
    px_error err = {0};
    int64_t count = 0;
    if (cli_inputs_save_wrong(&e->inputs, e->said.predicted, path, &count, &err) != PX_OK)
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
    cli_progress progress = cli_progress_start("eval");
    px_predict_options how = px_predict_options_default();
    how.threads = (int)workers->threads;
    how.batch = workers->batch;
    how.progress = cli_progress_tick;
    how.context = &progress;
    px_status status = px_predict(model, e->inputs.set, &e->inputs.pre, &how, &e->said, err);
    cli_progress_end(&progress);
    e->seconds = px_clock_s() - start;
    PX_TRY(status);
    if (e->said.batch_baked && e->said.batch < e->said.count)
        cli_note_baked(self, model, e->said.batch);
    PX_TRY(eval_count(e, err));
    px_doctor_options doctor = px_doctor_options_default();
    doctor.model = model;
    doctor.set = e->inputs.set;
    doctor.pre = &e->inputs.pre;
    doctor.predictions = &e->said;
    doctor.failures = px_campaign_part_fails(data->spec, data->split);
    doctor.quick = true;
    doctor.threads = (int)workers->threads;
    doctor.progress = cli_progress_tick;
    progress = cli_progress_start("doctor");
    doctor.context = &progress;
    status = px_doctor_new(&doctor, &e->doctor, err);
    cli_progress_end(&progress);
    return status;
}

/* Near the accuracy of guessing nothing else is worth reading; failures of a campaign are inputs
 * that some network got wrong, so that few right answers are no surprise. */
static px_status eval_chance(const eval *e, const cli_data *data, px_error *err)
{
    const px_finding *found = px_doctor_find(e->doctor, "preprocess");
    if (px_campaign_part_fails(data->spec, data->split) || !px_predictions_guess(&e->said))
        return PX_OK;
    return px_fail(err, PX_E_MISMATCH,
                   "accuracy is %.2f%%, about what guessing one of %d classes gives; %s, or accept "
                   "it with --allow-chance",
                   100.0 * e->accuracy, e->said.scores.classes,
                   found ? found->sentence
                         : "none of 'plexor list preprocess' does better: check whether labels and "
                           "classes belong together");
}

static int eval_run(const cli_command *self, int argc, char **argv)
{
    cli_output output = {0};
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
        CLI_OUTPUT_OPTIONS(&output),
        CLI_END,
    };
    const int stop = cli_parse(self, argc, argv, options, &path, 1, 1);
    if (stop != CLI_GO)
        return stop;
    if (!cli_require(self, "data", data.spec))
        return CLI_BAD_INPUT;

    px_error err = {0};
    px_model *model = NULL;
    eval e = {0};
    int rc = CLI_DONE;
    cli_catch_signals();
    px_status status = wrong ? eval_try_wrong(wrong, &err) : PX_OK;
    if (status == PX_OK)
        status = cli_model_load(self, path, &model, &err);
    if (status == PX_OK)
        status = eval_open(self, &e, model, &data, &err);
    if (status == PX_OK)
        status = eval_measure(self, &e, model, &data, &workers, &err);
    if (status == PX_OK && !allow_chance)
        status = eval_chance(&e, &data, &err);
    if (status != PX_OK) {
        if (e.doctor && !output.json)
            cli_inputs_print(&e.inputs, model, &e.said.scores);
        rc = cli_fail(self, &err);
    } else {
        if (output.json)
            rc = eval_json(self, &e, model, argc, argv);
        else
            eval_print(&e, model);
        cli_note_findings(self, e.doctor);
        if (rc == CLI_DONE && wrong)
            rc = eval_save_wrong(self, &e, wrong);
    }
    px_doctor_free(e.doctor);
    free(e.confusion);
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
        "Says what it assumes about preprocessing, and where each part comes from: an "
        "option, the model's metadata, or a default. Where answers look wrong and mean or std "
        "are defaults, it tries what is in wide use on some of the inputs, and says which "
        "does better; 'plexor doctor' looks at more. Stops where the accuracy is that of "
        "guessing.",
    .examples = "plexor eval net.onnx --data fashion-mnist\n"
                "plexor eval net.onnx --data photos/ --preprocess imagenet\n"
                "plexor eval net.onnx --data fashion-mnist --split train --wrong failures.npz\n",
    .run = eval_run,
};
