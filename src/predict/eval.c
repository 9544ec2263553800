/* src/predict/eval.c - how right a classifier is, from its predictions */
/* SPDX-License-Identifier: Apache-2.0 */
#include <internal/eval.h>

#include "base/memory.h"

#include <internal/stats.h>
#include <math.h>
#include <stdlib.h>

static double share(int64_t part, int64_t whole)
{
    return whole > 0 ? (double)part / (double)whole : (double)NAN;
}

static double mean(double sum, int64_t count)
{
    return count > 0 ? sum / (double)count : (double)NAN;
}

/* --- sums over a slice ----------------------------------------------------------------------- */

static int bin_of(double confidence)
{
    const int bin = (int)ceil(confidence * PX_EVAL_BINS) - 1;
    return PX_MIN(PX_MAX(bin, 0), PX_EVAL_BINS - 1);
}

/* `sure` holds sums of confidence per bin, of all inputs. */
static void sum_calibration(px_eval_sum *s, const double sure[PX_EVAL_BINS])
{
    double all = 0.0, gaps = 0.0, largest = 0.0;
    int64_t count = 0;
    for (int b = 0; b < PX_EVAL_BINS; b++) {
        px_eval_bin *bin = &s->bins[b];
        all += sure[b];
        bin->low = (double)b / PX_EVAL_BINS;
        bin->high = (double)(b + 1) / PX_EVAL_BINS;
        if (bin->count) {
            const double gap = fabs(bin->confidence - (double)bin->correct);
            count += bin->count;
            gaps += gap;
            largest = fmax(largest, gap / (double)bin->count);
        }
        bin->accuracy = share(bin->correct, bin->count);
        bin->confidence = mean(bin->confidence, bin->count);
    }
    s->confidence = mean(all, s->count - s->lost);
    s->ece = mean(gaps, count);
    s->mce = count ? largest : (double)NAN;
}

px_eval_sum px_eval_slice(const px_predictions *said, const int64_t *items, int64_t count)
{
    px_eval_sum s = {.classes = said->scores.classes, .count = count};
    double sure[PX_EVAL_BINS] = {0.0}, loss = 0.0, right = 0.0, wrong = 0.0;
    for (int64_t k = 0; k < count; k++) {
        const int64_t i = items ? items[k] : k, label = said->label[i];
        const bool lost = said->predicted[i] < 0, correct = said->predicted[i] == label;
        const double confidence = (double)said->confidence[i];
        const int bin = lost ? 0 : bin_of(confidence);
        s.lost += lost;
        s.not_finite += said->not_finite[i];
        if (!lost)
            sure[bin] += confidence;
        if (label < 0)
            continue;
        s.labelled++;
        s.near += said->near[i];
        loss += said->loss[i];
        if (lost)
            continue;
        s.correct += correct;
        *(correct ? &right : &wrong) += confidence;
        s.bins[bin].count++;
        s.bins[bin].correct += correct;
        s.bins[bin].confidence += confidence;
    }
    sum_calibration(&s, sure);
    int64_t answered = 0;
    for (int b = 0; b < PX_EVAL_BINS; b++)
        answered += s.bins[b].count;
    s.accuracy = share(s.correct, s.labelled);
    s.near_share = share(s.near, s.labelled);
    s.loss = mean(loss, s.labelled);
    s.confidence_right = mean(right, s.correct);
    s.confidence_wrong = mean(wrong, answered - s.correct);
    px_wilson(s.correct, s.labelled, &s.low, &s.high);
    return s;
}

bool px_eval_is_guessing(const px_eval_sum *s)
{
    enum { LEAST = 50 };
    const double n = (double)s->labelled, chance = 1.0 / s->classes;
    if (s->classes < 2 || s->labelled < LEAST)
        return false;
    const double spread = 3.0 * sqrt(chance * (1.0 - chance) / n);
    return s->accuracy <= chance + fmax(spread, 0.05 * (1.0 - chance));
}

/* --- numbers --------------------------------------------------------------------------------- */

/* The largest |output - target| of input i; NaN without. */
static double error_of(const px_predictions *said, int64_t i)
{
    double most = 0.0;
    for (int64_t k = i * said->outputs; k < (i + 1) * said->outputs; k++) {
        const double error = fabs((double)said->output[k] - (double)said->target[k]);
        most = isnan(error) || error > most ? error : most; /* NaN stays: nothing is above it */
    }
    return said->outputs ? most : (double)NAN;
}

static px_eval_far far_of(const px_predictions *said, int64_t i, double error)
{
    px_eval_far far = {.item = i, .error = error};
    for (int64_t k = i * said->outputs; k < (i + 1) * said->outputs; k++)
        if (fabs((double)said->output[k] - (double)said->target[k]) >= error) {
            far.output = (double)said->output[k];
            far.target = (double)said->target[k];
        }
    return far;
}

/* Where it belongs among the largest. */
static void far_add(px_eval_errors *e, const px_eval_far *far)
{
    size_t at = e->far_count;
    while (at > 0 && e->far[at - 1].error < far->error)
        at--;
    if (at == PX_EVAL_FAR)
        return;
    e->far_count = PX_MIN(e->far_count + 1, (size_t)PX_EVAL_FAR);
    for (size_t k = e->far_count - 1; k > at; k--)
        e->far[k] = e->far[k - 1];
    e->far[at] = *far;
}

static int error_order(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

px_status px_eval_regression(const px_predictions *said, double tolerance, px_eval_errors *out,
                             px_error *err)
{
    const int count = said->outputs;
    px_eval_errors e = {.tolerance = tolerance};
    double sum = 0.0, squares = 0.0, targets = 0.0, bias = 0.0, spread = 0.0;
    double *errors = NULL;
    PX_TRY(PX_NEW(errors, said->count, err));
    for (int64_t i = 0; i < said->count; i++) {
        const double error = error_of(said, i);
        if (!isfinite(error))
            continue;
        errors[e.count++] = error;
        const px_eval_far far = far_of(said, i, error);
        far_add(&e, &far);
        for (int64_t k = i * count; k < (i + 1) * count; k++) {
            const double apart = (double)said->output[k] - (double)said->target[k];
            sum += fabs(apart);
            squares += apart * apart;
            bias += apart;
            targets += (double)said->target[k];
        }
    }
    const int64_t numbers = e.count * count;
    const double middle = mean(targets, numbers);
    for (int64_t i = 0; i < said->count; i++)
        for (int64_t k = i * count; isfinite(error_of(said, i)) && k < (i + 1) * count; k++)
            spread += ((double)said->target[k] - middle) * ((double)said->target[k] - middle);
    qsort(errors, (size_t)e.count, sizeof *errors, error_order);
    e.mae = mean(sum, numbers);
    e.rmse = sqrt(mean(squares, numbers));
    e.bias = mean(bias, numbers);
    e.r2 = spread > 0.0 ? 1.0 - squares / spread : (double)NAN;
    e.median = e.count ? (errors[(e.count - 1) / 2] + errors[e.count / 2]) / 2.0 : (double)NAN;
    e.most = e.count ? errors[e.count - 1] : (double)NAN;
    free(errors);
    *out = e;
    return PX_OK;
}

const px_field px_eval_errors_fields[] = {
    PX_FIELD(px_eval_errors, count, "count", "inputs with a target and an answer"),
    PX_FIELD(px_eval_errors, tolerance, "tolerance", "that an error may have"),
    PX_FIELD(px_eval_errors, mae, "mae", "mean of |output - target|"),
    PX_FIELD(px_eval_errors, rmse, "rmse", "root of the mean of its squares"),
    PX_FIELD(px_eval_errors, r2, "r2", "share of the targets' variance that is explained"),
    PX_FIELD(px_eval_errors, bias, "bias", "mean of output - target"),
    PX_FIELD(px_eval_errors, median, "median", "of the errors"),
    PX_FIELD(px_eval_errors, most, "most", "the largest error"),
    PX_FIELDS_END,
};

/* --- per class ------------------------------------------------------------------------------- */

static void classes_fill(const px_predictions *said, px_eval_class *by_class)
{
    for (int64_t i = 0; i < said->count; i++) {
        const int64_t label = said->label[i], predicted = said->predicted[i];
        if (label >= 0)
            by_class[label].labelled++;
        if (predicted >= 0)
            by_class[predicted].predicted++;
        if (label < 0 || predicted < 0)
            continue;
        by_class[label].correct += label == predicted;
        by_class[label].confidence += (double)said->confidence[i];
    }
    for (int c = 0; c < said->scores.classes; c++) {
        px_eval_class *k = &by_class[c];
        k->accuracy = share(k->correct, k->labelled);
        k->precision = share(k->correct, k->predicted);
        k->confidence = mean(k->confidence, k->labelled);
    }
}

int px_eval_worst(const px_eval *eval)
{
    int worst = -1;
    for (int c = 0; c < eval->all.classes; c++)
        if (eval->by_class[c].labelled &&
            (worst < 0 || eval->by_class[c].accuracy < eval->by_class[worst].accuracy))
            worst = c;
    return worst;
}

/* --- confusion ------------------------------------------------------------------------------- */

static int cell_place(const void *a, const void *b)
{
    const px_eval_cell *x = a, *y = b;
    return x->label != y->label ? x->label - y->label : x->predicted - y->predicted;
}

static int cell_order(const void *a, const void *b)
{
    const px_eval_cell *x = a, *y = b;
    if (x->count != y->count)
        return x->count < y->count ? 1 : -1;
    return cell_place(a, b);
}

/* A table of all pairs would not fit 20,000 classes: one cell for each input, equal ones joined. */
static px_status confusion_fill(const px_predictions *said, px_eval *out, px_error *err)
{
    size_t used = 0, joined = 0;
    px_eval_cell *cells = NULL;
    PX_TRY(PX_NEW(cells, said->count, err));
    out->confusion = cells;
    for (int64_t i = 0; i < said->count; i++)
        if (said->label[i] >= 0 && said->predicted[i] >= 0)
            cells[used++] = (px_eval_cell){(int)said->label[i], (int)said->predicted[i], 1};
    qsort(cells, used, sizeof *cells, cell_place);
    for (size_t i = 0; i < used; i++) {
        if (joined > 0 && cell_place(&cells[joined - 1], &cells[i]) == 0)
            cells[joined - 1].count++;
        else
            cells[joined++] = cells[i];
    }
    qsort(cells, joined, sizeof *cells, cell_order);
    out->confusion_count = joined;
    return PX_OK;
}

void px_eval_row(const px_eval *eval, int label, int64_t *counts)
{
    for (int c = 0; c < eval->all.classes; c++)
        counts[c] = 0;
    for (size_t i = 0; i < eval->confusion_count; i++)
        if (eval->confusion[i].label == label)
            counts[eval->confusion[i].predicted] = eval->confusion[i].count;
}

/* --- all of it ------------------------------------------------------------------------------- */

px_status px_eval_make(const px_predictions *predictions, px_eval *out, px_error *err)
{
    px_eval made = {.all = px_eval_slice(predictions, NULL, predictions->count)};
    px_status status = PX_NEW(made.by_class, made.all.classes, err);
    PX_THEN(status, confusion_fill(predictions, &made, err));
    if (status != PX_OK) {
        px_eval_done(&made);
        return status;
    }
    classes_fill(predictions, made.by_class);
    *out = made;
    return PX_OK;
}

void px_eval_done(px_eval *eval)
{
    free(eval->by_class);
    free(eval->confusion);
    *eval = (px_eval){0};
}

const px_field px_eval_class_fields[] = {
    PX_FIELD(px_eval_class, labelled, "count", "inputs with that label", .title = "INPUTS"),
    PX_FIELD(px_eval_class, correct, "correct", "of them, right", .title = "RIGHT"),
    PX_FIELD(px_eval_class, accuracy, "accuracy", "of them; null: there are none",
             .title = "ACCURACY", .unit = PX_SHARE, .format = "%.2f%%"),
    PX_FIELDS_END,
};
