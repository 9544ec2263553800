/* src/cli/cmd_eval.c - plexor eval MODEL --data SPEC */
#include "cli/cli_net.h"

#include <inttypes.h>
#include <math.h>
#include <plexor/system.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct eval {
    cli_inputs inputs;
    px_scores scores;
    px_plan *plan;
    double *batch_loss; /* sum per micro-batch, added in order at the end */
    int64_t batches;
    int64_t *predictions; /* per input; NULL: nobody wants them */

    pthread_mutex_t lock; /* guards `confusion`, whose counts do not depend on the order */
    int64_t *confusion;   /* [label][prediction], and one more column: no prediction (NaN scores) */
} eval;

typedef struct eval_result {
    int64_t count, correct, lost; /* lost: inputs whose scores were not numbers */
    double accuracy, loss, seconds;
} eval_result;

static int64_t *eval_cell(const eval *e, int64_t label, int64_t prediction)
{
    const int64_t columns = e->scores.classes + 1;
    return &e->confusion[label * columns + (prediction < 0 ? columns - 1 : prediction)];
}

static px_status eval_batch(void *context, px_session *session, int64_t first, int64_t samples,
                            px_error *err)
{
    eval *e = context;
    int64_t *labels = calloc((size_t)samples, sizeof *labels);
    int64_t *predictions = calloc((size_t)samples, sizeof *predictions);
    double *losses = calloc((size_t)samples, sizeof *losses);
    px_status status = PX_OK;
    if (!labels || !predictions || !losses) {
        status = px_fail(err, PX_E_NOMEM, "out of memory");
        goto done;
    }
    for (int64_t i = 0; i < samples; i++)
        labels[i] = px_dataset_label(e->inputs.set, first + i);
    status = cli_inputs_fill(&e->inputs, e->plan, session, first, samples, err);
    if (status == PX_OK)
        status = px_session_forward(session, err);
    if (status == PX_OK)
        status = px_session_judge(session, &e->scores, labels, samples, predictions, losses, err);
    if (status != PX_OK)
        goto done;
    double sum = 0.0;
    for (int64_t i = 0; i < samples; i++)
        sum += losses[i];
    e->batch_loss[first / px_plan_batch(e->plan)] = sum;
    if (e->predictions)
        memcpy(e->predictions + first, predictions, (size_t)samples * sizeof *predictions);
    pthread_mutex_lock(&e->lock);
    for (int64_t i = 0; i < samples; i++)
        ++*eval_cell(e, labels[i], predictions[i]);
    pthread_mutex_unlock(&e->lock);
done:
    free(labels);
    free(predictions);
    free(losses);
    return status;
}

static eval_result eval_sum(const eval *e, double seconds)
{
    eval_result r = {.count = e->inputs.count, .seconds = seconds};
    for (int64_t c = 0; c < e->scores.classes; c++) {
        r.correct += *eval_cell(e, c, c);
        r.lost += *eval_cell(e, c, -1);
    }
    for (int64_t b = 0; b < e->batches; b++)
        r.loss += e->batch_loss[b];
    r.loss /= (double)r.count;
    r.accuracy = (double)r.correct / (double)r.count;
    return r;
}

static int64_t eval_class_count(const eval *e, int64_t label)
{
    int64_t count = 0;
    for (int64_t p = -1; p < e->scores.classes; p++)
        count += *eval_cell(e, label, p);
    return count;
}

/* Guessing gives 1/classes. Near it: within three standard deviations of guessing, or closer to it
 * than a twentieth of the way up. Few inputs prove nothing. */
static bool eval_near_chance(const eval *e, const eval_result *r)
{
    const double chance = 1.0 / e->scores.classes;
    const double spread = 3.0 * sqrt(chance * (1.0 - chance) / (double)r->count);
    const double margin = fmax(spread, 0.05 * (1.0 - chance));
    return e->scores.classes > 1 && r->count >= 50 && r->accuracy <= chance + margin;
}

static void eval_print_classes(const eval *e, const cli_classes *names)
{
    char buffer[CLI_NUMBER_TEXT];
    cli_table *table = cli_table_new("rlrrr");
    static const char *const titles[] = {"CLASS", "NAME", "INPUTS", "RIGHT", "ACCURACY"};
    for (size_t i = 0; i < 5; i++)
        cli_table_cell(table, "%s", titles[i]);
    for (int c = 0; c < e->scores.classes; c++) {
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
    const int classes = e->scores.classes;
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

static void eval_print(const eval *e, const eval_result *r, const px_model *model)
{
    char count[CLI_NUMBER_TEXT];
    cli_classes names = cli_classes_open(model, e->inputs.set);
    cli_inputs_print(&e->inputs, model, &e->scores);
    printf("\naccuracy %.2f%% (%" PRId64 " of %s), loss %.4f, %.0f inputs per second\n",
           100.0 * r->accuracy, r->correct, cli_number(r->count, count), r->loss,
           (double)r->count / r->seconds);
    if (r->lost)
        printf("%" PRId64 " inputs have no prediction: their scores are not numbers\n", r->lost);
    eval_print_classes(e, &names);
    eval_print_confusion(e, &names);
    cli_classes_close(&names);
}

static int eval_json(const cli_command *self, const eval *e, const eval_result *r,
                     const px_model *model, int argc, char **argv)
{
    char buffer[CLI_NUMBER_TEXT];
    cli_classes names = cli_classes_open(model, e->inputs.set);
    px_json json = {0};
    px_json_object(&json, NULL);
    cli_json_origin(&json, model, e->inputs.set, argc, argv);
    cli_inputs_json(&e->inputs, &json);
    px_json_string(&json, "scores", e->scores.probabilities ? "probs" : "logits");
    px_json_string(&json, "scores_from", e->scores.why);
    px_json_int(&json, "batch", px_plan_batch(e->plan));
    px_json_int(&json, "count", r->count);
    px_json_int(&json, "correct", r->correct);
    px_json_real(&json, "accuracy", r->accuracy);
    px_json_real(&json, "loss", r->loss);
    px_json_int(&json, "not_numbers", r->lost);
    px_json_array(&json, "per_class");
    for (int c = 0; c < e->scores.classes; c++) {
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
    if (e->scores.classes <= CONFUSION_MOST) {
        px_json_array(&json, "confusion");
        for (int c = 0; c < e->scores.classes; c++) {
            px_json_array(&json, NULL);
            for (int p = 0; p < e->scores.classes; p++)
                px_json_int(&json, NULL, *eval_cell(e, c, p));
            px_json_end(&json);
        }
        px_json_end(&json);
    }
    px_json_real(&json, "seconds", r->seconds);
    px_json_real(&json, "peak_rss_mib", (double)px_peak_rss_bytes() / 1048576.0);
    px_json_end(&json);
    cli_classes_close(&names);
    return cli_print_json(self, &json);
}

/* The mistakes as a data set, for `plexor repair --add` and for looking at them. */
static int eval_save_wrong(const cli_command *self, const eval *e, const char *path)
{
    px_error err = {0};
    int64_t count = 0;
    if (cli_inputs_save_wrong(&e->inputs, e->predictions, path, &count, &err) != PX_OK)
        return cli_fail(self, &err);
    cli_note(self, "'%s' has the %" PRId64 " inputs that are wrong", path, count);
    return CLI_DONE;
}

static px_status eval_open(const cli_command *self, eval *e, const px_model *model,
                           const cli_data *data, int64_t batch, bool keep_predictions,
                           px_error *err)
{
    PX_TRY(px_model_scores(model, &e->scores, err));
    PX_TRY(cli_inputs_open(model, data, &e->inputs, err));
    PX_TRY(px_dataset_check_labels(e->inputs.set, e->scores.classes, err));
    cli_classes_doubt(self, e->inputs.set, e->scores.classes);
    px_plan_options options = px_plan_options_default();
    options.keep = &e->scores.value;
    options.keep_count = 1;
    options.no_outputs = true;
    PX_TRY(cli_plan_new(self, model, &e->inputs.shape, batch, e->inputs.count, options, &e->plan,
                        err));
    const int64_t size = px_plan_batch(e->plan);
    e->batches = (e->inputs.count + size - 1) / size;
    e->batch_loss = calloc((size_t)e->batches, sizeof *e->batch_loss);
    e->confusion =
        calloc((size_t)e->scores.classes * (size_t)(e->scores.classes + 1), sizeof *e->confusion);
    if (keep_predictions)
        e->predictions = calloc((size_t)e->inputs.count, sizeof *e->predictions);
    if (!e->batch_loss || !e->confusion || (keep_predictions && !e->predictions))
        return px_fail(err, PX_E_NOMEM, "out of memory for %d classes", e->scores.classes);
    return PX_OK;
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
    eval e = {.lock = PTHREAD_MUTEX_INITIALIZER};
    int rc = CLI_DONE;
    if (cli_model_load(self, path, &model, &err) != PX_OK ||
        eval_open(self, &e, model, &data, workers.batch, wrong != NULL, &err) != PX_OK) {
        rc = cli_fail(self, &err);
        goto done;
    }
    const double start = px_clock_s();
    cli_progress progress = cli_progress_start("eval");
    const px_status status = px_plan_run(e.plan, (int)workers.threads, e.inputs.count, eval_batch,
                                         &e, cli_progress_tick, &progress, &err);
    cli_progress_end(&progress);
    if (status != PX_OK) {
        rc = cli_fail(self, &err);
        goto done;
    }
    const eval_result r = eval_sum(&e, px_clock_s() - start);
    if (!allow_chance && eval_near_chance(&e, &r)) {
        if (!output.json)
            cli_inputs_print(&e.inputs, model, &e.scores);
        px_fail(
            &err, PX_E_MISMATCH,
            "accuracy is %.2f%%, about what guessing one of %d classes gives; check --scale, "
            "--mean, "
            "--std, the channel order and whether labels and classes belong together, or accept it "
            "with --allow-chance",
            100.0 * r.accuracy, e.scores.classes);
        rc = cli_fail(self, &err);
    } else if (output.json) {
        rc = eval_json(self, &e, &r, model, argc, argv);
    } else {
        eval_print(&e, &r, model);
    }
    if (rc == CLI_DONE && wrong)
        rc = eval_save_wrong(self, &e, wrong);
done:
    free(e.predictions);
    free(e.batch_loss);
    free(e.confusion);
    px_plan_free(e.plan);
    cli_inputs_close(&e.inputs);
    px_model_free(model);
    return rc;
}

const cli_command cli_command_eval = {
    .name = "eval",
    .usage = "MODEL --data SPEC [options]",
    .help = "accuracy, loss, per-class table and confusion",
    .details = "Says what it assumes about preprocessing, and where each part comes from: an "
               "option, the model's "
               "metadata, or a default. Stops with advice where the accuracy is that of guessing, "
               "since wrong "
               "preprocessing is then more likely than a bad network.",
    .examples =
        "plexor eval net.onnx --data fashion-mnist\n"
        "plexor eval net.onnx --data photos/ --mean 0.485,0.456,0.406 --std 0.229,0.224,0.225\n"
        "plexor eval net.onnx --data fashion-mnist --split train --wrong failures.npz\n",
    .run = eval_run,
};
