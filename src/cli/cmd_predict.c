/* src/cli/cmd_predict.c - plexor predict MODEL SPEC...: what a network says about inputs */
#include "cli/cli_net.h"

#include <internal/text.h>
#include <inttypes.h>
#include <plexor/predict.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { TOP_MOST = 100, PRINT_MOST = 100 };

typedef struct predict_args {
    cli_data data;
    cli_workers workers;
    cli_output output;
    int64_t top;
    const char *path; /* -o; NULL: none */
    bool npz;
} predict_args;

typedef struct predict_part { /* the inputs of one word */
    cli_inputs inputs;
    px_predictions said;
} predict_part;

static bool ends_with(const char *text, const char *end)
{
    const size_t n = strlen(text), m = strlen(end);
    return n > m && strcmp(text + n - m, end) == 0;
}

static px_status predict_part_run(const cli_command *self, const predict_args *a,
                                  const px_model *model, const char *spec, predict_part *part,
                                  px_error *err)
{
    cli_data data = a->data;
    cli_progress progress = cli_progress_start("predict");
    px_predict_options how = px_predict_options_default();
    data.spec = spec;
    PX_TRY(cli_inputs_open(model, &data, &part->inputs, err));
    how.probabilities = true;
    how.any_labels = true;
    how.threads = (int)a->workers.threads;
    how.batch = a->workers.batch;
    how.progress = cli_progress_tick;
    how.context = &progress;
    const px_status status =
        px_predict(model, part->inputs.set, &part->inputs.pre, &how, &part->said, err);
    cli_progress_end(&progress);
    if (status == PX_OK && part->said.batch_baked && part->said.batch < part->said.count)
        cli_note_baked(self, model, part->said.batch);
    return status;
}

static void predict_print(const predict_args *a, const px_model *model, const predict_part *part,
                          int64_t *left)
{
    int top[TOP_MOST];
    char name[512], number[PX_CLASS_NUMBER];
    const px_predictions *said = &part->said;
    const px_dataset *set = part->inputs.set;
    for (int64_t i = 0; i<said->count && * left> 0; i++, --*left) {
        const int count = px_predictions_top(said, i, top, (int)a->top);
        cli_print("%s", px_dataset_name(set, i, name, sizeof name));
        if (said->label[i] >= 0)
            cli_print("  (label %s)",
                      px_predict_class_name(model, set, (int)said->label[i], number));
        cli_print("%s%s\n", said->predicted[i] < 0 ? "  no answer: the scores are not numbers" : "",
                  said->not_finite[i] ? "  has values that are not finite" : "");
        for (int k = 0; k < count && said->predicted[i] >= 0; k++)
            cli_print("  %6.2f%%  %s\n",
                      100.0 * (double)said->probabilities[i * said->scores.classes + top[k]],
                      px_predict_class_name(model, set, top[k], number));
    }
}

static void predict_json(const predict_args *a, const px_model *model, const predict_part *part,
                         px_json *json)
{
    int top[TOP_MOST];
    char name[512], number[PX_CLASS_NUMBER];
    const px_predictions *said = &part->said;
    const px_dataset *set = part->inputs.set;
    for (int64_t i = 0; i < said->count; i++) {
        const int count = px_predictions_top(said, i, top, (int)a->top);
        px_json_object(json, NULL);
        px_json_string(json, "name", px_dataset_name(set, i, name, sizeof name));
        if (said->label[i] >= 0)
            px_json_int(json, "label", said->label[i]);
        px_json_int(json, "predicted", said->predicted[i]);
        px_json_bool(json, "not_finite", said->not_finite[i] != 0);
        px_json_array(json, "top");
        for (int k = 0; k < count; k++) {
            px_json_object(json, NULL);
            px_json_int(json, "class", top[k]);
            px_json_string(json, "name", px_predict_class_name(model, set, top[k], number));
            px_json_real(json, "probability",
                         (double)said->probabilities[i * said->scores.classes + top[k]]);
            px_json_end(json);
        }
        px_json_end(json);
        px_json_end(json);
    }
}

static px_status predict_save(const cli_command *self, const predict_args *a, const px_model *model,
                              const predict_part *parts, size_t count, px_error *err)
{
    px_text text = {0};
    px_status status = PX_OK;
    if (!a->path)
        return PX_OK;
    if (a->npz)
        status = px_predictions_npz(&parts[0].said, parts[0].inputs.set, a->path, err);
    for (size_t i = 0; !a->npz && i < count; i++)
        px_predictions_csv(&parts[i].said, model, parts[i].inputs.set, i == 0, &text);
    if (!a->npz)
        status = px_text_save(&text, a->path, err);
    px_text_done(&text);
    if (status == PX_OK)
        cli_note(self, "'%s' has all probabilities of all inputs", a->path);
    return status;
}

static int predict_report(const cli_command *self, const predict_args *a, const px_model *model,
                          const predict_part *parts, size_t count, int argc, char **argv)
{
    px_error err = {0};
    int64_t left = PRINT_MOST, all = 0;
    int rc = CLI_DONE;
    if (predict_save(self, a, model, parts, count, &err) != PX_OK)
        return cli_fail(self, &err);
    if (a->output.json) {
        px_json json = {0};
        px_json_object(&json, NULL);
        cli_json_origin(&json, model, parts[0].inputs.set, argc, argv);
        cli_inputs_json(&parts[0].inputs, &json);
        px_json_array(&json, "predictions");
        for (size_t i = 0; i < count; i++)
            predict_json(a, model, &parts[i], &json);
        px_json_end(&json);
        px_json_end(&json);
        return cli_print_json(self, &json);
    }
    for (size_t i = 0; i < count; i++) {
        all += parts[i].said.count;
        if (!a->path)
            predict_print(a, model, &parts[i], &left);
    }
    if (!a->path && all > PRINT_MOST)
        cli_note(self, "the first %d of %" PRId64 " inputs; -o FILE.csv has all", PRINT_MOST, all);
    return rc;
}

static int predict_run(const cli_command *self, int argc, char **argv)
{
    predict_args a = {.data = CLI_DATA_DEFAULT, .top = 5};
    const char **words = calloc((size_t)argc + 2, sizeof *words); /* as many as there can be */
    const cli_option options[] = {
        CLI_INT('k', "top", &a.top, "N", 1, TOP_MOST, "classes to show for each input"),
        CLI_STRING('o', "output", &a.path, "FILE.csv|FILE.npz",
                   "all probabilities of all inputs, with names, labels and answers"),
        CLI_DATA_OPTIONS(&a.data),
        CLI_WORKER_OPTIONS(&a.workers),
        CLI_OUTPUT_OPTIONS(&a.output),
        CLI_END,
    };
    if (!words)
        return cli_no_memory(self);
    const int stop = cli_parse(self, argc, argv, options, words, 1, argc);
    px_error err = {0};
    px_model *model = NULL;
    size_t count = 0;
    int rc = stop;
    if (stop != CLI_GO) {
        free(words);
        return stop;
    }
    while (words[count])
        count++;
    if (a.data.spec)
        words[count++] = a.data.spec;
    predict_part *parts = calloc(count + 1, sizeof *parts);
    a.npz = a.path && ends_with(a.path, ".npz");
    if (!parts)
        rc = cli_no_memory(self);
    else if (count < 2)
        rc = cli_usage_error(self, "something is missing: pictures, recordings or other data to "
                                   "look at; 'plexor list data' says what there is");
    else if (a.path && !a.npz && !ends_with(a.path, ".csv"))
        rc = cli_usage_error(self, "-o '%s': expected a file that ends in .csv or .npz", a.path);
    else if (a.npz && count > 2)
        rc = cli_usage_error(self, "-o FILE.npz takes the inputs of one SPEC; .csv takes several");
    else {
        px_status status = cli_model_load(self, words[0], &model, &err);
        for (size_t i = 1; status == PX_OK && i < count; i++)
            status = predict_part_run(self, &a, model, words[i], &parts[i - 1], &err);
        rc = status == PX_OK ? predict_report(self, &a, model, parts, count - 1, argc, argv)
                             : cli_fail(self, &err);
    }
    for (size_t i = 0; parts && i < count; i++) {
        px_predictions_done(&parts[i].said);
        cli_inputs_close(&parts[i].inputs);
    }
    px_model_free(model);
    free(parts);
    free(words);
    return rc;
}

const cli_command cli_command_predict = {
    .name = "predict",
    .usage = "MODEL FILE|SPEC... [-o FILE.csv|FILE.npz]",
    .help = "what a network says about pictures, recordings or other data",
    .details = "Prints the most probable classes of each input by name. No labels are needed. With "
               "-o all probabilities of all inputs go into a file: CSV, or NPZ with the arrays "
               "probabilities, predicted, label and names.",
    .examples = "plexor predict net.onnx cat.jpg\n"
                "plexor predict net.onnx *.png --preprocess imagenet --top 3\n"
                "plexor predict net.onnx photos/ -o predictions.csv\n",
    .run = predict_run,
};
