/* src/cli/cmd_predict.c - plexor predict MODEL SPEC...: what a network says about inputs */
/* SPDX-License-Identifier: Apache-2.0 */
#include "base/file.h"
#include "cli/cli_fields.h"
#include "cli/cli_net.h"

#include <internal/text.h>
#include <inttypes.h>
#include <math.h>
#include <plexor/predict.h>
#include <stdlib.h>

enum { TOP_MOST = 100, PRINT_MOST = 100 };

typedef struct predict_args {
    cli_data data;
    cli_workers workers;
    int64_t top;
    const char *path; /* -o; NULL: none */
    bool npz;
} predict_args;

typedef struct predict_part { /* the inputs of one word */
    cli_inputs inputs;
    px_predictions said;
} predict_part;

typedef struct predict {
    const predict_args *args;
    cli_origin origin;
    px_model *model;
    predict_part *parts;
    size_t count;
} predict;

static px_status predict_part_run(const cli_command *self, const predict_args *a,
                                  const px_model *model, const char *spec, predict_part *part,
                                  px_error *err)
{
    cli_data data = a->data;
    px_predict_options how = px_predict_options_default();
    data.spec = spec;
    PX_TRY(cli_inputs_open(model, &data, &part->inputs, err));
    how.probabilities = true;
    how.any_labels = true;
    how.threads = (int)a->workers.threads;
    how.batch = a->workers.batch;
    how.progress = cli_tick;
    how.context = CLI_WORDS("predict");
    const px_status status =
        px_predict(model, part->inputs.set, &part->inputs.pre, &how, &part->said, err);
    if (status == PX_OK && part->said.batch_baked && part->said.batch < part->said.count)
        cli_note_baked(self, model, part->said.batch);
    return status;
}

/* --- what a result is made of ---------------------------------------------------------------- */

typedef struct prediction { /* of one input */
    const predict *of;
    size_t part;
    int64_t at; /* in the part */
    char name[512];
    int64_t label, predicted;
    bool not_finite;
    int top[TOP_MOST], top_count;
} prediction;

static const void *prediction_get(const void *of, size_t i, void *place)
{
    prediction *row = place;
    row->of = of;
    row->part = i ? row->part : 0;
    row->at = i ? row->at + 1 : 0;
    for (; row->part < row->of->count; row->part++, row->at = 0) {
        const px_predictions *said = &row->of->parts[row->part].said;
        if (row->at >= said->count)
            continue;
        px_dataset_name(row->of->parts[row->part].inputs.set, row->at, row->name, sizeof row->name);
        row->label = said->label[row->at];
        row->predicted = said->predicted[row->at];
        row->not_finite = said->not_finite[row->at] != 0;
        row->top_count = px_predictions_top(said, row->at, row->top, (int)row->of->args->top);
        return row;
    }
    return NULL;
}

typedef struct top_row {
    int class;
    const char *name;
    double probability;
    char number[PX_CLASS_NUMBER];
} top_row;

static const char *class_name(const prediction *p, int class, char number[PX_CLASS_NUMBER])
{
    return px_predict_class_name(p->of->model, p->of->parts[p->part].inputs.set, class, number);
}

static const void *top_get(const void *of, size_t i, void *place)
{
    const prediction *p = of;
    const px_predictions *said = &p->of->parts[p->part].said;
    top_row *row = place;
    if (i >= (size_t)p->top_count)
        return NULL;
    row->class = p->top[i];
    row->name = class_name(p, row->class, row->number);
    row->probability = (double)said->probabilities[p->at * said->scores.classes + row->class];
    return row;
}

static const px_field top_fields[] = {
    PX_FIELD(top_row, class, "class", "its number"),
    PX_FIELD(top_row, name, "name", "of the class"),
    PX_FIELD(top_row, probability, "probability", "that the network gives it", .unit = PX_SHARE),
    PX_FIELDS_END,
};

/* Of a network of regression. */
static const void *number_get(const void *of, size_t i, bool target, double *row)
{
    const prediction *p = of;
    const px_predictions *said = &p->of->parts[p->part].said;
    if (i >= (size_t)said->outputs)
        return NULL;
    *row = (double)(target ? said->target : said->output)[p->at * said->outputs + (int64_t)i];
    return row;
}

static const void *output_get(const void *of, size_t i, void *place)
{
    return number_get(of, i, /* target= */ false, place);
}

static const void *target_get(const void *of, size_t i, void *place)
{
    return number_get(of, i, /* target= */ true, place);
}

static bool prediction_regresses(const void *of)
{
    const prediction *p = of;
    return p->of->parts[p->part].said.outputs > 0;
}

static bool prediction_classifies(const void *of)
{
    return !prediction_regresses(of);
}

static const px_field prediction_fields[] = {
    PX_CHARS(prediction, name, "name", "of the input"),
    PX_INDEX(prediction, label, "label", "its class", .optional = true,
             .when = prediction_classifies),
    PX_FIELD(prediction, predicted, "predicted", "class; -1: the scores are not numbers",
             .when = prediction_classifies),
    PX_VALUES_MADE(output_get, double, "output", "of regression: what the network gives",
                   .when = prediction_regresses),
    PX_VALUES_MADE(target_get, double, "target", "what it was to give; null: not known",
                   .when = prediction_regresses),
    PX_FIELD(prediction, not_finite, "not_finite", "it has values that are not"),
    PX_LIST_MADE(top_get, top_fields, "top", "the most probable classes",
                 .when = prediction_classifies),
    PX_FIELDS_END,
};

static const px_field part_fields[] = {
    PX_OBJECT(predict_part, inputs, cli_inputs_fields, ""),
    PX_FIELDS_END,
};

static const px_field predict_fields[] = {
    PX_OBJECT(predict, origin, cli_origin_fields, ""),
    PX_OBJECT_AT(predict, parts, part_fields, ""),
    PX_LIST_MADE(prediction_get, prediction_fields, "predictions", "of all inputs, in order"),
    PX_FIELDS_END,
};

static void predict_print_numbers(const prediction *row)
{
    double output, target;
    for (size_t k = 0; number_get(row, k, false, &output); k++) {
        number_get(row, k, true, &target);
        cli_print("%s%.6g", k ? ", " : "  ", output);
        if (!isnan(target))
            cli_print(" (target %.6g, off by %.3g)", target, fabs(output - target));
    }
    cli_print("%s\n", row->not_finite ? "  has values that are not finite" : "");
}

static void predict_print(const predict *p)
{
    prediction row;
    top_row top;
    char number[PX_CLASS_NUMBER];
    for (size_t i = 0; i < PRINT_MOST && prediction_get(p, i, &row); i++) {
        cli_print("%s", row.name);
        if (prediction_regresses(&row)) {
            predict_print_numbers(&row);
            continue;
        }
        if (row.label >= 0)
            cli_print("  (label %s)", class_name(&row, (int)row.label, number));
        cli_print("%s%s\n", row.predicted < 0 ? "  no answer: the scores are not numbers" : "",
                  row.not_finite ? "  has values that are not finite" : "");
        for (size_t k = 0; row.predicted >= 0 && top_get(&row, k, &top); k++)
            cli_print("  %6.2f%%  %s\n", 100.0 * top.probability, top.name);
    }
}

static px_status predict_save(const cli_command *self, const predict *p, px_error *err)
{
    const predict_args *a = p->args;
    px_text text = {0};
    px_status status = PX_OK;
    if (!a->path)
        return PX_OK;
    if (a->npz)
        status = px_predictions_npz(&p->parts[0].said, p->parts[0].inputs.set, a->path, err);
    for (size_t i = 0; !a->npz && i < p->count; i++)
        px_predictions_csv(&p->parts[i].said, p->model, p->parts[i].inputs.set, i == 0, &text);
    if (!a->npz)
        status = px_text_save(&text, a->path, err);
    px_text_done(&text);
    if (status == PX_OK)
        cli_note(self, "'%s' has all probabilities of all inputs", a->path);
    return status;
}

static int predict_report(const cli_command *self, predict *p)
{
    px_error err = {0};
    int64_t all = 0;
    if (predict_save(self, p, &err) != PX_OK)
        return cli_fail(self, &err);
    p->origin = cli_origin_of(p->model, p->parts[0].inputs.set);
    if (cli_now()->json)
        return cli_print_result(self, predict_fields, p);
    for (size_t i = 0; i < p->count; i++)
        all += p->parts[i].said.count;
    if (!p->args->path)
        predict_print(p);
    if (!p->args->path && all > PRINT_MOST)
        cli_note(self, "the first %d of %" PRId64 " inputs; -o FILE.csv has all", PRINT_MOST, all);
    return CLI_DONE;
}

static int predict_run(const cli_command *self, int argc, char **argv)
{
    predict_args a = {.data = CLI_DATA_DEFAULT, .top = 5};
    const char **words =
        cli_keep_alloc((size_t)argc + 2, sizeof *words); /* as many as there can be */
    const cli_option options[] = {
        CLI_INT('k', "top", &a.top, "N", 1, TOP_MOST, "classes to show for each input"),
        CLI_STRING('o', "output", &a.path, "FILE.csv|FILE.npz",
                   "all probabilities of all inputs, with names, labels and answers"),
        CLI_DATA_OPTIONS(&a.data),
        CLI_WORKER_OPTIONS(&a.workers),
        CLI_OUTPUT_OPTIONS,
        CLI_END,
    };
    if (!words)
        return cli_no_memory(self);
    const int stop = cli_parse(self, argc, argv, options, words, 1, argc);
    px_error err = {0};
    predict p = {.args = &a};
    size_t count = 0;
    int rc = stop;
    if (stop != CLI_GO) {
        return stop;
    }
    while (words[count])
        count++;
    if (a.data.spec)
        words[count++] = a.data.spec;
    p.count = count - 1;
    p.parts = calloc(count, sizeof *p.parts);
    a.npz = a.path && pxi_has_suffix(a.path, ".npz");
    if (!p.parts)
        rc = cli_no_memory(self);
    else if (count < 2)
        rc = cli_usage_error(self, "something is missing: pictures, recordings or other data to "
                                   "look at; 'plexor list data' says what there is");
    else if (a.path && !a.npz && !pxi_has_suffix(a.path, ".csv"))
        rc = cli_usage_error(self, "-o '%s': expected a file that ends in .csv or .npz", a.path);
    else if (a.npz && count > 2)
        rc = cli_usage_error(self, "-o FILE.npz takes the inputs of one SPEC; .csv takes several");
    else {
        px_status status = cli_model_load(self, words[0], &p.model, &err);
        for (size_t i = 0; status == PX_OK && i < p.count; i++)
            status = predict_part_run(self, &a, p.model, words[i + 1], &p.parts[i], &err);
        rc = status == PX_OK ? predict_report(self, &p) : cli_fail(self, &err);
    }
    for (size_t i = 0; p.parts && i < p.count; i++) {
        px_predictions_done(&p.parts[i].said);
        cli_inputs_close(&p.parts[i].inputs);
    }
    px_model_free(p.model);
    free(p.parts);
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
    .ranks = true,
    .result = predict_fields,
};
