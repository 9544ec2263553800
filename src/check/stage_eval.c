/* src/check/stage_eval.c - how often the network is right, for which classes, and how sure it is
 */
#include "base/file.h"
#include "check/check_inside.h"
#include "check/label_suspects.h"

#include <internal/data.h>
#include <internal/doctor.h>
#include <internal/store.h>
#include <math.h>
#include <plexor/eval.h>
#include <plexor/system.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PREDICTIONS_FILE "predictions.npz"
enum { EVAL_CONFUSION_MOST = 4000 };

typedef struct eval {
    px_check *c;
    px_predictions said;
    px_eval figures;
    bool failures; /* the data are a campaign's */
} eval;

/* --- the result ------------------------------------------------------------------------------ */

static void json_accuracy(const px_eval_sum *all, px_json *out)
{
    px_json_int(out, "correct", all->correct);
    px_json_int(out, "wrong", all->count - all->correct);
    px_json_real(out, "accuracy", all->accuracy);
    px_json_array(out, "interval");
    px_json_real(out, NULL, all->low);
    px_json_real(out, NULL, all->high);
    px_json_end(out);
    px_json_real(out, "top5", all->classes > 5 ? all->near_share : (double)NAN);
    px_json_real(out, "loss", all->loss);
}

static void json_classes(const eval *e, px_json *out)
{
    const px_check *c = e->c;
    const int worst = c->labelled ? px_eval_worst(&e->figures) : -1;
    px_json_array(out, "per_class");
    for (int i = 0; i < c->scores.classes; i++) {
        const px_eval_class *of = &e->figures.by_class[i];
        px_json_object(out, NULL);
        px_json_int(out, "class", i);
        px_json_string(out, "name", c->names[i]);
        px_json_int(out, "predicted", of->predicted);
        if (c->labelled) {
            px_json_int(out, "count", of->labelled);
            px_json_int(out, "correct", of->correct);
            px_json_real(out, "accuracy", of->accuracy);
            px_json_real(out, "precision", of->precision);
            px_json_real(out, "confidence", of->confidence);
        }
        px_json_end(out);
    }
    px_json_end(out);
    if (worst < 0)
        return;
    px_json_object(out, "worst");
    px_json_int(out, "class", worst);
    px_json_string(out, "name", c->names[worst]);
    px_json_real(out, "accuracy", e->figures.by_class[worst].accuracy);
    px_json_end(out);
}

static void json_calibration(const px_eval_sum *all, px_json *out)
{
    px_json_object(out, "calibration");
    px_json_real(out, "ece", all->ece);
    px_json_real(out, "most", all->mce);
    px_json_array(out, "bins");
    for (int b = 0; b < PX_EVAL_BINS; b++) {
        const px_eval_bin *bin = &all->bins[b];
        px_json_object(out, NULL);
        px_json_real(out, "low", bin->low);
        px_json_real(out, "high", bin->high);
        px_json_int(out, "count", bin->count);
        px_json_real(out, "confidence", bin->confidence);
        px_json_real(out, "accuracy", bin->accuracy);
        px_json_end(out);
    }
    px_json_end(out);
    px_json_end(out);
}

/* As many cells as a page can use. */
static void json_confusion(const px_eval *figures, px_json *out)
{
    const size_t listed = PX_MIN(figures->confusion_count, (size_t)EVAL_CONFUSION_MOST);
    px_json_array(out, "confusion");
    for (size_t i = 0; i < listed; i++) {
        const px_eval_cell *cell = &figures->confusion[i];
        px_json_array(out, NULL);
        px_json_int(out, NULL, cell->label);
        px_json_int(out, NULL, cell->predicted);
        px_json_int(out, NULL, cell->count);
        px_json_end(out);
    }
    px_json_end(out);
    px_json_int(out, "confusion_left_out", (int64_t)(figures->confusion_count - listed));
}

static px_status save_predictions(const eval *e, px_error *err)
{
    const px_shape shape = {.rank = 1, .dim = {e->c->count}};
    const px_tensor predictions = {PX_INT64, shape, e->said.predicted};
    const px_tensor confidence = {PX_FLOAT32, shape, e->said.confidence};
    char *path = pxi_check_path(e->c, PREDICTIONS_FILE);
    px_npz_writer *to = NULL;
    if (!path)
        return pxi_check_nomem(err);
    px_status status = px_npz_create(path, &to, err);
    free(path);
    PX_TRY(status);
    status = px_npz_add(to, "predictions", &predictions, err);
    if (status == PX_OK)
        status = px_npz_add(to, "confidence", &confidence, err);
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
        return pxi_check_nomem(err);
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
            status = pxi_check_nomem(err);
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
    px_json_object(&json, NULL);
    px_fields_json(px_doctor_fields, doctor, &json);
    px_json_end(&json);
    char *path = pxi_check_path(c, "doctor.json");
    const char *text = px_json_text(&json);
    const px_status status =
        path && text ? pxi_file_write(path, text, strlen(text), err) : pxi_check_nomem(err);
    px_json_done(&json);
    free(path);
    for (size_t i = 0; status == PX_OK && i < px_doctor_count(doctor); i++)
        pxi_check_note(c, "%s", px_doctor_get(doctor, i)->sentence);
    return status;
}

/* What speaks against the preprocessing and the data. Near the accuracy of guessing the rest would
 * be about nothing; failures of a campaign are inputs that some network got wrong, so that few
 * right answers are no surprise there. */
static px_status eval_doctor(const eval *e, px_error *err)
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
    if (status == PX_OK)
        status = doctor_write(c, doctor, err);
    if (status == PX_OK && !e->failures && !c->o.allow_chance &&
        px_eval_is_guessing(&e->figures.all)) {
        const px_finding *found = px_doctor_find(doctor, "preprocess");
        status = px_fail(err, PX_E_MISMATCH,
                         "accuracy is %.2f%%, about what guessing one of %d classes gives; %s, or "
                         "go on with --allow-chance",
                         100.0 * e->figures.all.accuracy, c->scores.classes,
                         found ? found->sentence
                               : "none of 'plexor list preprocess' does better: check whether "
                                 "labels and classes belong together");
    }
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
    return px_eval_make(&e->said, &e->figures, err);
}

static px_status eval_write(const eval *e, px_json *out, px_error *err)
{
    const px_check *c = e->c;
    const px_eval_sum *all = &e->figures.all;
    px_json_int(out, "count", c->count);
    px_json_bool(out, "labelled", c->labelled);
    px_json_int(out, "not_numbers", all->lost);
    px_json_string(out, "scores", c->scores.why);
    px_json_int(out, "batch", e->said.batch);
    px_json_bool(out, "batch_baked", e->said.batch_baked);
    px_json_int(out, "flops", e->said.flops);
    if (c->labelled)
        json_accuracy(all, out);
    px_json_real(out, "confidence", all->confidence);
    if (c->labelled)
        json_calibration(all, out);
    json_classes(e, out);
    if (c->labelled)
        json_confusion(&e->figures, out);
    /* Of answers that are wrong by the choice of inputs, or by guessing, no label is to blame. */
    if (c->labelled && !e->failures && !px_eval_is_guessing(all))
        PX_TRY(pxi_label_suspects_write(c, e->said.predicted, e->said.confidence, e->said.given,
                                        out, err));
    return save_predictions(e, err);
}

static px_status eval_run(px_check *c, px_json *out, px_error *err)
{
    eval e = {.c = c, .failures = px_campaign_part_fails(c->data_spec, c->o.read.split)};
    px_status status = eval_predict(&e, err);
    if (status == PX_OK)
        status = eval_doctor(&e, err);
    if (status == PX_OK)
        status = eval_write(&e, out, err);
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
    .public = {.id = "eval",
               .title = "Evaluation",
               .help = "accuracy, per class, confusion, calibration"},
    .version = 2,
    .passes = 1.0,
    .run = eval_run,
    .files = {{PREDICTIONS_FILE, "what the network says of every input", false},
              {PXI_SUSPECTS_FILE, "inputs whose label may be wrong", true}},
    .gates = {{"accuracy", "share of inputs that are classified correctly", "eval", "accuracy",
               "share", false},
              {"worst-class", "the same of the class where it is lowest", "eval", "worst.accuracy",
               "share", false},
              {"loss", "mean cross-entropy", "eval", "loss", "real", true},
              {"ece", "expected calibration error, 15 bins", "eval", "calibration.ece", "share",
               true}},
    .headlines = {{"accuracy", "accuracy"},
                  {"loss", "loss"},
                  {"ece", "calibration.ece"},
                  {"worst_class_accuracy", "worst.accuracy"}},
    .line = eval_line,
    .command = eval_command,
    .page = pxi_page_eval,
};
