/* src/check/stage_eval.c - how often the network is right, for which classes, and how sure it is
 */
/* SPDX-License-Identifier: Apache-2.0 */
#include "base/file.h"
#include "check/check_internal.h"
#include "check/label_suspects.h"

#include <internal/data.h>
#include <internal/doctor.h>
#include <internal/eval.h>
#include <internal/field.h>
#include <internal/graph.h>
#include <internal/store.h>
#include <math.h>
#include <plexor/system.h>
#include <stdlib.h>
#include <string.h>

#define PREDICTIONS_FILE "predictions.npz"
enum { EVAL_CONFUSION_MOST = 4000 };

typedef struct eval {
    px_check *c;
    bool labelled;
    px_predictions said;
    px_eval figures;
    bool failures;                   /* the data are a campaign's */
    bool mismatched;                 /* network and data are put together wrongly, it seems */
    const px_regression *regression; /* NULL: it classifies */
    px_eval_errors errors;
} eval;

/* --- the result ------------------------------------------------------------------------------ */

typedef struct class_row {
    int64_t class;
    const char *name;
    bool labelled;
    px_eval_class of;
} class_row;

static const void *class_at(const eval *e, size_t i, class_row *row)
{
    *row = (class_row){(int64_t)i, e->c->names[i], e->labelled, e->figures.by_class[i]};
    return row;
}

static const void *class_item(const void *at, size_t i, void *row)
{
    const eval *e = at;
    return i < (size_t)e->c->scores.classes ? class_at(e, i, row) : NULL;
}

static const void *class_worst(const void *at, size_t i, void *row)
{
    const eval *e = at;
    const int worst = e->labelled ? px_eval_worst(&e->figures) : -1;
    return i == 0 && worst >= 0 ? class_at(e, (size_t)worst, row) : NULL;
}

static const px_field class_fields[] = {
    PX_FIELD(class_row, class, "class", "its number"),
    PX_FIELD(class_row, name, "name", "of the class"),
    PX_FIELD(class_row, of.predicted, "predicted", "inputs that it is the answer to"),
    PX_OBJECT(class_row, of, px_eval_class_fields, "", PX_IF(class_row, labelled)),
    PX_FIELD(class_row, of.precision, "precision", "right ones of those that it is the answer to",
             .unit = PX_SHARE, PX_IF(class_row, labelled)),
    PX_FIELD(class_row, of.confidence, "confidence", "mean probability of the answer",
             .unit = PX_SHARE, PX_IF(class_row, labelled)),
    PX_FIELDS_END,
};

static const px_field worst_fields[] = {
    PX_FIELD(class_row, class, "class", "its number"),
    PX_FIELD(class_row, name, "name", "of the class"),
    PX_FIELD(class_row, of.accuracy, "accuracy", "of inputs with that label", .unit = PX_SHARE),
    PX_FIELDS_END,
};

static const px_field bin_fields[] = {
    PX_FIELD(px_eval_bin, low, "low", "confidence, from above this"),
    PX_FIELD(px_eval_bin, high, "high", "up to this"),
    PX_FIELD(px_eval_bin, count, "count", "inputs answered so surely"),
    PX_FIELD(px_eval_bin, confidence, "confidence", "mean", .unit = PX_SHARE),
    PX_FIELD(px_eval_bin, accuracy, "accuracy", "of these inputs", .unit = PX_SHARE),
    PX_FIELDS_END,
};

static const px_field calibration_fields[] = {
    PX_FIELD(px_eval_sum, ece, "ece", "expected calibration error", .unit = PX_SHARE),
    PX_FIELD(px_eval_sum, mce, "most", "the largest one of a bin", .unit = PX_SHARE),
    {.kind = PX_FIELD_LIST,
     .fields = bin_fields,
     .count = PX_EVAL_BINS,
     .size = sizeof(px_eval_bin),
     .offset = offsetof(px_eval_sum, bins),
     .key = "bins",
     .help = "of confidence"},
    PX_FIELDS_END,
};

enum { SCATTER_MOST = 2000 };

/* An input by its place: what it was to be, and what it is, of the number that is furthest off. */
typedef struct pair_row {
    int64_t at;
    double of[2];
} pair_row;

static const void *pair_item(const void *at, size_t i, void *row)
{
    const eval *e = at;
    pair_row *r = row;
    const int64_t count = e->said.count, most = PX_MIN(count, (int64_t)SCATTER_MOST);
    if ((int64_t)i >= most)
        return NULL;
    const int64_t input = (int64_t)i * count / most;
    int64_t k = input * e->said.outputs;
    for (int64_t j = k; j < (input + 1) * e->said.outputs; j++)
        if (fabsf(e->said.output[j] - e->said.target[j]) >
            fabsf(e->said.output[k] - e->said.target[k]))
            k = j;
    r->of[0] = (double)e->said.target[k];
    r->of[1] = (double)e->said.output[k];
    return r;
}

static const px_field pair_fields[] = {
    PX_ARRAY(pair_row, of, "", "target, output"),
    PX_FIELDS_END,
};

typedef struct far_row {
    int64_t index;
    px_eval_far of;
} far_row;

static const void *far_item(const void *at, size_t i, void *row)
{
    const eval *e = at;
    far_row *r = row;
    if (i >= e->errors.far_count)
        return NULL;
    r->of = e->errors.far[i];
    r->index = px_dataset_index(e->c->set, r->of.item);
    return r;
}

static const px_field far_fields[] = {
    PX_FIELD(far_row, of.item, "input", "its place in the data"),
    PX_FIELD(far_row, index, "index", "in the file or folder it is from"),
    PX_FIELD(far_row, of.error, "error", "|output - target|"),
    PX_FIELD(far_row, of.output, "output", "what the network gave"),
    PX_FIELD(far_row, of.target, "target", "what it was to give"),
    PX_FIELDS_END,
};

static const px_field regression_fields[] = {
    PX_OBJECT(eval, errors, px_eval_errors_fields, ""),
    PX_LIST_MADE(far_item, far_fields, "worst", "inputs with the largest errors"),
    PX_LIST_MADE(pair_item, pair_fields, "pairs", "some of all inputs, at even distances"),
    PX_FIELDS_END,
};

static px_datum wrong_of(const void *at, char *text)
{
    const px_eval_sum *all = at;
    (void)text;
    return px_datum_int(all->count - all->correct);
}

static px_datum top5_of(const void *at, char *text)
{
    const px_eval_sum *all = at;
    (void)text;
    return px_datum_real(all->classes > 5 ? all->near_share : (double)NAN);
}

static const px_field accuracy_fields[] = {
    PX_FIELD(px_eval_sum, correct, "correct", "inputs that are predicted right"),
    PX_MADE(INT, wrong_of, "wrong", "inputs that are not"),
    PX_FIELD(px_eval_sum, accuracy, "accuracy", "share of labelled inputs", .unit = PX_SHARE),
    PX_SPAN(px_eval_sum, low, 2, "interval", "of the accuracy, 95%"),
    PX_MADE(REAL, top5_of, "top5", "the label is among the five highest scores", .unit = PX_SHARE),
    PX_FIELD(px_eval_sum, loss, "loss", "mean cross-entropy"),
    PX_FIELDS_END,
};

typedef struct cell_row {
    int64_t of[3]; /* label, prediction, inputs */
} cell_row;

/* As many cells as a page can use. */
static const void *cell_item(const void *at, size_t i, void *row)
{
    const eval *e = at;
    if (i >= PX_MIN(e->figures.confusion_count, (size_t)EVAL_CONFUSION_MOST))
        return NULL;
    const px_eval_cell *cell = &e->figures.confusion[i];
    *(cell_row *)row = (cell_row){{cell->label, cell->predicted, cell->count}};
    return row;
}

static const px_field cell_fields[] = {
    PX_ARRAY(cell_row, of, "", "label, prediction, inputs"),
    PX_FIELDS_END,
};

static px_datum cells_left_out(const void *at, char *text)
{
    const size_t count = ((const eval *)at)->figures.confusion_count;
    (void)text;
    return px_datum_int((int64_t)(count - PX_MIN(count, (size_t)EVAL_CONFUSION_MOST)));
}

static bool eval_classifies(const void *at)
{
    return !((const eval *)at)->regression;
}

static bool eval_knows_classes(const void *at)
{
    return eval_classifies(at) && ((const eval *)at)->labelled;
}

static const px_field eval_fields[] = {
    PX_FIELD(eval, figures.all.count, "count", "inputs"),
    PX_FIELD(eval, labelled, "labelled", "every input has a label that the network knows"),
    PX_FIELD(eval, figures.all.lost, "not_numbers", "inputs whose scores are not numbers"),
    PX_FIELD(eval, said.scores.why, "scores", "why these are taken for the class scores"),
    PX_FIELD(eval, said.batch, "batch", "inputs at a time"),
    PX_FIELD(eval, said.batch_baked, "batch_baked", "the network takes no other number"),
    PX_FIELD(eval, said.flops, "flops", "of an input"),
    PX_OBJECT(eval, figures.all, accuracy_fields, "", PX_IF(eval, labelled)),
    PX_OBJECT_OF(regression_fields, "regression", "how far its numbers are from their targets",
                 PX_IF(eval, regression)),
    PX_FIELD(eval, figures.all.confidence, "confidence", "mean probability of the answer",
             .unit = PX_SHARE, .when = eval_classifies),
    PX_OBJECT(eval, figures.all, calibration_fields, "calibration",
              "how sure answers are, and how often they are right", .when = eval_knows_classes),
    PX_LIST_MADE(class_item, class_fields, "per_class", "in the order of the network",
                 .when = eval_classifies),
    PX_OBJECT_MADE(class_worst, worst_fields, "worst", "the class with the lowest accuracy",
                   .optional = true, .when = eval_classifies),
    PX_LIST_MADE(cell_item, cell_fields, "confusion", "the most frequent pairs first",
                 .when = eval_knows_classes),
    PX_MADE(INT, cells_left_out, "confusion_left_out", "pairs beyond those",
            .when = eval_knows_classes),
    PX_FIELDS_END,
};

static px_status save_predictions(const eval *e, px_error *err)
{
    const px_shape shape = {.rank = 1, .dim = {e->c->count}};
    const px_tensor predictions = {PX_INT64, shape, e->said.predicted};
    const px_tensor confidence = {PX_FLOAT32, shape, e->said.confidence};
    char *path = pxi_check_path(e->c, PREDICTIONS_FILE);
    px_npz_writer *to = NULL;
    if (!path)
        return pxi_no_memory(err);
    px_status status = px_npz_create(path, &to, err);
    free(path);
    PX_TRY(status);
    status = px_npz_add(to, "predictions", &predictions, err);
    PX_THEN(status, px_npz_add(to, "confidence", &confidence, err));
    if (status == PX_OK)
        return px_npz_commit(to, err);
    px_npz_abandon(to);
    return status;
}

px_status pxi_check_predictions(px_check *c, px_error *err)
{
    char *path = pxi_check_path(c, PREDICTIONS_FILE);
    px_npz *npz = NULL;
    if (!path)
        return pxi_no_memory(err);
    px_status status = px_npz_open(path, &npz, err);
    free(path);
    PX_TRY(status);
    const px_tensor *said = px_npz_get(npz, "predictions"), *sure = px_npz_get(npz, "confidence");
    if (!said || !sure || said->dtype != PX_INT64 || sure->dtype != PX_FLOAT32 ||
        px_shape_count(&said->shape) != c->count || px_shape_count(&sure->shape) != c->count) {
        status = px_fail(err, PX_E_INPUT, "'%.200s/" PREDICTIONS_FILE "' is not of these data",
                         c->folder);
    } else {
        free(c->predictions);
        free(c->confidence);
        c->predictions = pxi_calloc((size_t)c->count, sizeof *c->predictions);
        c->confidence = pxi_calloc((size_t)c->count, sizeof *c->confidence);
        if (!c->predictions || !c->confidence) {
            status = pxi_no_memory(err);
        } else {
            memcpy(c->predictions, said->data, (size_t)c->count * sizeof *c->predictions);
            memcpy(c->confidence, sure->data, (size_t)c->count * sizeof *c->confidence);
            for (int64_t i = 0; i < c->count; i++) /* whatever is in the file */
                if (c->predictions[i] < 0 || c->predictions[i] >= c->scores.classes)
                    c->predictions[i] = -1;
        }
    }
    px_npz_close(npz);
    return status;
}

/* FOLDER/doctor.json, and the findings as remarks. */
static px_status doctor_write(const px_check *c, const px_doctor *doctor, px_error *err)
{
    px_json json = {0};
    px_fields_object(px_doctor_fields, doctor, NULL, &json);
    char *path = pxi_check_path(c, "doctor.json");
    const char *text = px_json_text(&json);
    const px_status status =
        path && text ? pxi_file_write(path, text, strlen(text), err) : pxi_no_memory(err);
    px_json_done(&json);
    free(path);
    for (size_t i = 0; status == PX_OK && i < px_doctor_count(doctor); i++)
        pxi_check_note(c, "%s", px_doctor_get(doctor, i)->sentence);
    return status;
}

/* Another preprocessing explains the answers, or nobody knows which class a label means. */
static bool doctor_mismatched(const px_doctor *doctor)
{
    for (size_t i = 0; i < px_doctor_count(doctor); i++) {
        const px_finding *found = px_doctor_get(doctor, i);
        if (found->level != PX_FINDING_INFO &&
            (strcmp(found->id, "preprocess") == 0 || strcmp(found->id, "class-count") == 0))
            return true;
    }
    return false;
}

/* What speaks against the preprocessing and the data. Near the accuracy of guessing the rest would
 * be about nothing; failures of a campaign are inputs that some network got wrong, so that few
 * right answers are no surprise there. */
static px_status eval_doctor(eval *e, px_error *err)
{
    const px_check *c = e->c;
    px_doctor *doctor = NULL;
    px_doctor_options options = px_doctor_options_default();
    options.model = c->model;
    options.set = c->set;
    options.pre = &c->pre;
    options.predictions = &e->said;
    options.quick = true;
    options.failures = e->failures;
    options.threads = c->o.threads;
    px_status status = px_doctor_new(&options, &doctor, err);
    PX_THEN(status, doctor_write(c, doctor, err));
    if (status == PX_OK && !e->failures && !c->o.allow_chance &&
        px_eval_is_guessing(&e->figures.all))
        status = px_fail(err, PX_E_MISMATCH,
                         "accuracy is %.2f%%, about what guessing one of %d classes gives; %s, or "
                         "go on with --allow-chance",
                         100.0 * e->figures.all.accuracy, c->scores.classes,
                         px_doctor_why_guessing(doctor));
    e->mismatched = status == PX_OK && doctor_mismatched(doctor);
    px_doctor_free(doctor);
    return status;
}

static px_status eval_predict(eval *e, px_error *err)
{
    px_check *c = e->c;
    px_predict_options options = px_predict_options_default();
    options.threads = c->o.threads;
    options.batch = c->o.batch;
    options.progress = pxi_check_tick;
    options.context = c;
    PX_TRY(px_predict(c->model, c->set, &c->pre, &options, &e->said, err));
    PX_TRY(px_eval_make(&e->said, &e->figures, err));
    e->regression = px_model_regression(c->model);
    return e->regression ? px_eval_regression(&e->said, e->regression->tolerance, &e->errors, err)
                         : PX_OK;
}

static px_status eval_write(const eval *e, px_json *out, px_error *err)
{
    const px_check *c = e->c;
    px_fields_json(eval_fields, e, out);
    /* Of answers that are wrong by the choice of inputs, by guessing or by how network and data are
     * put together, no label is to blame. */
    if (c->labelled && !e->failures && !e->mismatched && !e->regression &&
        !px_eval_is_guessing(&e->figures.all))
        PX_TRY(pxi_label_suspects_write(c, e->said.predicted, e->said.confidence, e->said.given,
                                        out, err));
    return save_predictions(e, err);
}

static px_status eval_run(px_check *c, px_json *out, px_error *err)
{
    eval e = {.c = c,
              .labelled = c->labelled,
              .failures = px_campaign_part_fails(c->data_spec, c->o.read.split)};
    px_status status = eval_predict(&e, err);
    if (!e.regression) /* what the doctor asks is asked of classes */
        PX_THEN(status, eval_doctor(&e, err));
    PX_THEN(status, eval_write(&e, out, err));
    px_predictions_done(&e.said);
    px_eval_done(&e.figures);
    return status;
}

static void eval_line(const px_check *c, const px_json_value *result, px_text *out)
{
    char count[PXI_COUNT_TEXT];
    const double accuracy = pxi_json_number(result, "accuracy");
    const char *worst = pxi_json_words(result, "worst.name");
    const int64_t suspects = pxi_json_int(result, "label_suspects.total", 0);
    (void)c;
    pxi_count_text(pxi_json_int(result, "count", 0), count);
    const double mae = pxi_json_number(result, "regression.mae");
    if (!isnan(mae)) {
        px_text_format(out, "%.2f%% of %s inputs within %.4g, MAE %.4g, RMSE %.4g, largest %.4g",
                       100.0 * accuracy, count, pxi_json_number(result, "regression.tolerance"),
                       mae, pxi_json_number(result, "regression.rmse"),
                       pxi_json_number(result, "regression.most"));
        return;
    }
    if (isnan(accuracy)) {
        px_text_format(out, "%s inputs without labels, mean confidence %.3f", count,
                       pxi_json_number(result, "confidence"));
        return;
    }
    px_text_format(out, "accuracy %.2f%% of %s inputs, loss %.4f, calibration error %.4f",
                   100.0 * accuracy, count, pxi_json_number(result, "loss"),
                   pxi_json_number(result, "calibration.ece"));
    if (worst)
        px_text_format(out, "; worst class %s (%.2f%%)", worst,
                       100.0 * pxi_json_number(result, "worst.accuracy"));
    if (suspects > 0)
        px_text_format(out, "; %s label%s may be wrong", pxi_count_text(suspects, count),
                       suspects == 1 ? "" : "s");
}

static void eval_command(const px_check *c, const px_json_value *result, px_text *out)
{
    (void)result;
    pxi_command(c, "eval", /* range= */ false, out);
}

const pxi_stage pxi_stage_eval = {
    .public = {.entry = {.id = "eval", .title = "Evaluation"},
               .help = "accuracy, per class, confusion, calibration"},
    .version = 3,
    .passes = 1.0,
    .run = eval_run,
    .files = {{PREDICTIONS_FILE, "what the network says of every input", false},
              {PXI_SUSPECTS_FILE, "inputs whose label may be wrong", true}},
    .gates = {PXI_GATE("accuracy", "share of inputs that are classified correctly", "eval",
                       "accuracy", "share", false),
              PXI_GATE("worst-class", "accuracy of the class where it is lowest", "eval",
                       "worst.accuracy", "share", false),
              PXI_GATE("loss", "mean cross-entropy", "eval", "loss", "real", true),
              PXI_GATE("ece", "expected calibration error, 15 bins", "eval", "calibration.ece",
                       "share", true),
              PXI_GATE("mae", "mean error of a network of regression", "eval", "regression.mae",
                       "real", true)},
    .headlines = {{"accuracy", "accuracy"},
                  {"loss", "loss"},
                  {"ece", "calibration.ece"},
                  {"worst_class_accuracy", "worst.accuracy"}},
    .line = eval_line,
    .command = eval_command,
    .page = pxi_page_eval,
};
