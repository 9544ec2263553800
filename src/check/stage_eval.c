/* src/check/stage_eval.c - how often the network is right, for which classes, and how sure it is
 *
 * Calibration: expected calibration error over equal bins of confidence (Guo et al., On Calibration
 * of Modern Neural Networks, ICML 2017, equation 3); a bin is (low, high]. The interval of the
 * accuracy is Wilson's (JASA 22, 1927) at 95%.
 */
#include "base/file.h"
#include "check/check_inside.h"
#include "check/label_suspects.h"

#include <math.h>
#include <plexor/doctor.h>
#include <plexor/predict.h>
#include <plexor/store.h>
#include <plexor/system.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PREDICTIONS_FILE "predictions.npz"
enum { EVAL_BINS = 15, EVAL_CONFUSION_MOST = 4000, EVAL_MISTAKES = 20 };

typedef struct eval_bin {
    int64_t count, right;
    double confidence; /* sum */
} eval_bin;

typedef struct eval {
    px_check *c;
    px_predictions said;
    int64_t *labelled, *predicted, *right; /* [classes] */
    double *sure;                          /* [classes]: sum of confidence, by label */
    eval_bin bins[EVAL_BINS];
    int64_t lost; /* scores that are not numbers */
} eval;

static void eval_count(eval *e)
{
    const px_check *c = e->c;
    for (int64_t i = 0; i < c->count; i++) {
        const int64_t label = e->said.label[i], said = e->said.predicted[i];
        if (label >= 0)
            e->labelled[label]++;
        if (said < 0) {
            e->lost++;
            continue;
        }
        const double sure = (double)e->said.confidence[i];
        int bin = (int)ceil(sure * EVAL_BINS) - 1;
        bin = bin < 0 ? 0 : bin >= EVAL_BINS ? EVAL_BINS - 1 : bin;
        e->predicted[said]++;
        e->bins[bin].count++;
        e->bins[bin].confidence += sure;
        if (label < 0)
            continue;
        e->bins[bin].right += label == said;
        e->sure[label] += sure;
        e->right[label] += label == said;
    }
}

/* --- the result ---------------------------------------------------------------------------------
 */

static double share(int64_t part, int64_t all)
{
    return all > 0 ? (double)part / (double)all : (double)NAN;
}

static void json_accuracy(const eval *e, px_json *out)
{
    const px_check *c = e->c;
    int64_t right = 0, near = 0;
    double loss = 0.0;
    for (int64_t i = 0; i < c->count; i++) {
        right += e->said.label[i] == e->said.predicted[i];
        near += e->said.near[i];
        loss += e->said.loss[i];
    }
    const double n = (double)c->count, p = (double)right / n, z = 1.959963984540054;
    const double middle = (p + z * z / (2.0 * n)) / (1.0 + z * z / n);
    const double half = z / (1.0 + z * z / n) * sqrt(p * (1.0 - p) / n + z * z / (4.0 * n * n));
    px_json_int(out, "correct", right);
    px_json_int(out, "wrong", c->count - right);
    px_json_real(out, "accuracy", p);
    px_json_array(out, "interval");
    px_json_real(out, NULL, fmax(0.0, middle - half));
    px_json_real(out, NULL, fmin(1.0, middle + half));
    px_json_end(out);
    px_json_real(out, "top5", c->scores.classes > 5 ? (double)near / n : (double)NAN);
    px_json_real(out, "loss", loss / n);
}

static void json_classes(const eval *e, px_json *out)
{
    const px_check *c = e->c;
    int worst = -1;
    double lowest = 2.0;
    px_json_array(out, "per_class");
    for (int i = 0; i < c->scores.classes; i++) {
        const int64_t right = e->right[i];
        px_json_object(out, NULL);
        px_json_int(out, "class", i);
        px_json_string(out, "name", c->names[i]);
        px_json_int(out, "predicted", e->predicted[i]);
        if (c->labelled) {
            const double recall = share(right, e->labelled[i]);
            px_json_int(out, "count", e->labelled[i]);
            px_json_int(out, "correct", right);
            px_json_real(out, "accuracy", recall);
            px_json_real(out, "precision", share(right, e->predicted[i]));
            px_json_real(out, "confidence",
                         e->labelled[i] ? e->sure[i] / (double)e->labelled[i] : (double)NAN);
            if (recall < lowest) {
                lowest = recall;
                worst = i;
            }
        }
        px_json_end(out);
    }
    px_json_end(out);
    if (worst < 0)
        return;
    px_json_object(out, "worst");
    px_json_int(out, "class", worst);
    px_json_string(out, "name", c->names[worst]);
    px_json_real(out, "accuracy", lowest);
    px_json_end(out);
}

static void json_calibration(const eval *e, px_json *out)
{
    const px_check *c = e->c;
    double ece = 0.0, most = 0.0, sum = 0.0;
    int64_t n = 0;
    for (int b = 0; b < EVAL_BINS; b++) {
        const eval_bin *bin = &e->bins[b];
        if (!bin->count)
            continue;
        const double gap = fabs(bin->confidence - (double)bin->right);
        n += bin->count;
        sum += bin->confidence;
        ece += gap;
        most = fmax(most, gap / (double)bin->count);
    }
    px_json_real(out, "confidence", n ? sum / (double)n : (double)NAN);
    if (!c->labelled)
        return;
    px_json_object(out, "calibration");
    px_json_real(out, "ece", n ? ece / (double)n : (double)NAN);
    px_json_real(out, "most", n ? most : (double)NAN);
    px_json_array(out, "bins");
    for (int b = 0; b < EVAL_BINS; b++) {
        const eval_bin *bin = &e->bins[b];
        px_json_object(out, NULL);
        px_json_real(out, "low", (double)b / EVAL_BINS);
        px_json_real(out, "high", (double)(b + 1) / EVAL_BINS);
        px_json_int(out, "count", bin->count);
        px_json_real(out, "confidence",
                     bin->count ? bin->confidence / (double)bin->count : (double)NAN);
        px_json_real(out, "accuracy", share(bin->right, bin->count));
        px_json_end(out);
    }
    px_json_end(out);
    px_json_end(out);
}

typedef struct cell {
    int label, said;
    int64_t count;
} cell;

static int cell_compare(const void *a, const void *b)
{
    const cell *x = a, *y = b;
    if (x->count != y->count)
        return x->count < y->count ? 1 : -1;
    return x->label != y->label ? x->label - y->label : x->said - y->said;
}

static int cell_order(const void *a, const void *b)
{
    const cell *x = a, *y = b;
    return x->label != y->label ? x->label - y->label : x->said - y->said;
}

/* One cell of each pair, with its count; a table of all pairs would not fit 20,000 classes. */
static size_t cells_join(cell *cells, size_t count)
{
    size_t used = 0;
    qsort(cells, count, sizeof *cells, cell_order);
    for (size_t i = 0; i < count; i++) {
        if (used > 0 && cell_order(&cells[used - 1], &cells[i]) == 0)
            cells[used - 1].count++;
        else
            cells[used++] = cells[i];
    }
    return used;
}

/* Cells above 0, the largest first, as many as a page can use. */
static px_status json_confusion(const eval *e, px_json *out, px_error *err)
{
    const px_check *c = e->c;
    size_t used = 0, left = 0;
    cell *cells = pxi_calloc((size_t)c->count, sizeof *cells);
    if (!cells)
        return pxi_check_nomem(err);
    for (int64_t i = 0; i < c->count; i++) {
        const int64_t label = e->said.label[i], said = e->said.predicted[i];
        if (label >= 0 && said >= 0)
            cells[used++] = (cell){(int)label, (int)said, 1};
    }
    used = cells_join(cells, used);
    qsort(cells, used, sizeof *cells, cell_compare);
    if (used > EVAL_CONFUSION_MOST) {
        left = used - EVAL_CONFUSION_MOST;
        used = EVAL_CONFUSION_MOST;
    }
    px_json_array(out, "confusion");
    for (size_t i = 0; i < used; i++) {
        px_json_array(out, NULL);
        px_json_int(out, NULL, cells[i].label);
        px_json_int(out, NULL, cells[i].said);
        px_json_int(out, NULL, cells[i].count);
        px_json_end(out);
    }
    px_json_end(out);
    px_json_int(out, "confusion_left_out", (int64_t)left);
    free(cells);
    return PX_OK;
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
    px_doctor_json(doctor, &json);
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
    int64_t right = 0;
    for (int64_t i = 0; i < c->count; i++)
        right += e->said.label[i] >= 0 && e->said.label[i] == e->said.predicted[i];
    const bool failures = px_campaign_part_fails(c->data_spec, c->o.read.split);
    px_doctor_options options = px_doctor_options_default();
    options.model = c->model;
    options.set = c->set;
    options.pre = &c->pre;
    options.predictions = &e->said;
    options.quick = true;
    options.failures = failures;
    options.threads = c->o.threads;
    px_status status = px_doctor_new(&options, &doctor, err);
    if (status == PX_OK)
        status = doctor_write(c, doctor, err);
    if (status == PX_OK && !failures && !c->o.allow_chance && px_predictions_guess(&e->said)) {
        const px_finding *found = px_doctor_find(doctor, "preprocess");
        status = px_fail(err, PX_E_MISMATCH,
                         "accuracy is %.2f%%, about what guessing one of %d classes gives; %s, or "
                         "go on with --allow-chance",
                         100.0 * (double)right / (double)c->count, c->scores.classes,
                         found ? found->sentence
                               : "none of 'plexor list preprocess' does better: check whether "
                                 "labels and classes belong together");
    }
    px_doctor_free(doctor);
    return status;
}

static px_status eval_new(eval *e, px_error *err)
{
    px_check *c = e->c;
    const size_t classes = (size_t)c->scores.classes;
    px_predict_options options = px_predict_options_default();
    e->labelled = pxi_calloc(classes, sizeof *e->labelled);
    e->predicted = pxi_calloc(classes, sizeof *e->predicted);
    e->sure = pxi_calloc(classes, sizeof *e->sure);
    e->right = pxi_calloc(classes, sizeof *e->right);
    if (!e->labelled || !e->predicted || !e->sure || !e->right)
        return pxi_check_nomem(err);
    options.threads = c->o.threads;
    options.batch = c->o.batch;
    options.progress = pxi_check_tick;
    options.context = c;
    return px_predict(c->model, c->set, &c->pre, &options, &e->said, err);
}

static void eval_done(eval *e)
{
    px_predictions_done(&e->said);
    free(e->labelled);
    free(e->predicted);
    free(e->sure);
    free(e->right);
}

static px_status eval_write(const eval *e, px_json *out, px_error *err)
{
    static const char *const files[] = {PREDICTIONS_FILE, PXI_SUSPECTS_FILE};
    const px_check *c = e->c;
    px_json_int(out, "count", c->count);
    px_json_bool(out, "labelled", c->labelled);
    px_json_int(out, "not_numbers", e->lost);
    px_json_string(out, "scores", c->scores.why);
    px_json_int(out, "batch", e->said.batch);
    px_json_bool(out, "batch_baked", e->said.batch_baked);
    px_json_int(out, "flops", e->said.flops);
    if (c->labelled)
        json_accuracy(e, out);
    json_calibration(e, out);
    json_classes(e, out);
    if (c->labelled)
        PX_TRY(json_confusion(e, out, err));
    if (c->labelled)
        PX_TRY(pxi_label_suspects_write(c, e->said.predicted, e->said.confidence, e->said.given,
                                        out, err));
    PX_TRY(save_predictions(e, err));
    return pxi_check_files(c, files, c->labelled ? 2 : 1, out, err);
}

static px_status eval_run(px_check *c, px_json *out, px_error *err)
{
    eval e = {.c = c};
    px_status status = eval_new(&e, err);
    if (status == PX_OK) {
        eval_count(&e);
        status = eval_doctor(&e, err);
    }
    if (status == PX_OK)
        status = eval_write(&e, out, err);
    eval_done(&e);
    return status;
}

const pxi_stage pxi_stage_eval = {
    .public = {.id = "eval",
               .title = "Evaluation",
               .help = "accuracy, per class, confusion, calibration"},
    .version = 2,
    .passes = 1.0,
    .run = eval_run,
};
