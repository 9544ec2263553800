/* src/predict/predict.c - what a classifier says about every input of a data set */
#include <plexor/predict.h>

#include "base/memory.h"

#include <inttypes.h>
#include <math.h>
#include <plexor/select.h>
#include <stdlib.h>
#include <string.h>

enum { FREE_AXES_BATCH = 8, NEAR_MOST = 5 };

typedef struct predicting {
    const px_dataset *set;
    const px_preprocess *pre;
    const px_predict_options *options;
    px_predictions *out;
    px_plan *plan;
    size_t floats; /* per input */
    int64_t done;  /* as the progress last said */
} predicting;

px_predict_options px_predict_options_default(void)
{
    return (px_predict_options){.threads = 0};
}

static int64_t predict_index(const predicting *p, int64_t i)
{
    return p->options->indices ? p->options->indices[i] : i;
}

/* Reads inputs, and notices values that are not finite before a network hides or spreads them. */
static px_status predict_fill(const predicting *p, px_session *session, int64_t first,
                              int64_t samples, px_error *err)
{
    float *to = px_session_input(session, 0);
    for (int64_t i = 0; i < samples; i++) {
        float *input = to + (size_t)i * p->floats;
        PX_TRY(px_dataset_input(p->set, p->pre, predict_index(p, first + i), input, err));
        bool finite = true;
        for (size_t k = 0; k < p->floats; k++)
            finite &= isfinite(input[k]) != 0;
        p->out->not_finite[first + i] = !finite;
    }
    memset(to + (size_t)samples * p->floats, 0,
           (size_t)(px_plan_batch(p->plan) - samples) * p->floats * sizeof *to);
    return PX_OK;
}

/* How many scores are above that of the label, or equal and before it. */
static int predict_rank(const double *p, int classes, int64_t label)
{
    int above = 0;
    for (int i = 0; i < classes; i++)
        above += p[i] > p[label] || (p[i] == p[label] && i < label);
    return above;
}

static px_status predict_rows(const predicting *p, const px_session *session, int64_t first,
                              int64_t samples, px_error *err)
{
    px_predictions *out = p->out;
    const int classes = out->scores.classes;
    float *rows = pxi_calloc((size_t)px_plan_batch(p->plan) * (size_t)classes, sizeof *rows);
    double *q = pxi_calloc((size_t)classes, sizeof *q);
    px_status status = rows && q ? PX_OK : px_fail(err, PX_E_NOMEM, "out of memory");
    if (status == PX_OK)
        status = px_session_read(session, out->scores.value, samples, rows, err);
    for (int64_t i = 0; status == PX_OK && i < samples; i++) {
        const int64_t at = first + i;
        out->confidence[at] = NAN;
        px_scores_probabilities(&out->scores, rows + i * classes, q);
        for (int c = 0; out->probabilities && c < classes; c++)
            out->probabilities[at * classes + c] = (float)q[c];
        if (out->predicted[at] < 0)
            continue;
        out->confidence[at] = (float)q[out->predicted[at]];
        out->near[at] = out->label[at] >= 0 && predict_rank(q, classes, out->label[at]) < NEAR_MOST;
    }
    free(rows);
    free(q);
    return status;
}

static px_status predict_batch(void *context, px_session *session, int64_t first, int64_t samples,
                               px_error *err)
{
    const predicting *p = context;
    px_predictions *out = p->out;
    PX_TRY(predict_fill(p, session, first, samples, err));
    PX_TRY(px_session_forward(session, err));
    PX_TRY(px_session_judge(session, &out->scores, out->label + first, samples,
                            out->predicted + first, out->loss + first, err));
    return predict_rows(p, session, first, samples, err);
}

static bool predict_tick(void *context, int64_t done, int64_t total)
{
    predicting *p = context;
    p->done = total > 0 ? (int64_t)((double)done / (double)total * (double)p->out->count) : 0;
    return !p->options->progress || p->options->progress(p->options->context, done, total);
}

static px_status predict_labels(predicting *p, px_error *err)
{
    px_predictions *out = p->out;
    const bool labelled = px_dataset_has_labels(p->set);
    for (int64_t i = 0; i < out->count; i++) {
        const int64_t index = predict_index(p, i);
        char name[256];
        out->label[i] = labelled ? px_dataset_label(p->set, index) : -1;
        if (out->label[i] < out->scores.classes)
            continue;
        if (!p->options->any_labels)
            return px_fail(err, PX_E_MISMATCH,
                           "input '%s' has label %" PRId64 ", the network's classes are 0..%d",
                           px_dataset_name(p->set, index, name, sizeof name), out->label[i],
                           out->scores.classes - 1);
        out->label[i] = -1;
    }
    return PX_OK;
}

/* Networks that leave axes open get the shape of the inputs. */
static px_status predict_plan(predicting *p, const px_model *model, px_error *err)
{
    const px_graph *graph = px_model_graph(model);
    const px_value *value = &graph->values[graph->inputs[0]];
    const px_shape sample = px_dataset_shape(p->set);
    px_feed feed = {.value = graph->inputs[0], .shape = {.rank = sample.rank + 1}};
    px_plan_options options = px_plan_options_default();
    bool free_axes = !value->has_shape;
    for (int d = 1; d < value->shape.rank; d++)
        free_axes |= value->shape.dim[d] < 0;
    options.batch = p->options->batch;
    options.keep = &p->out->scores.value;
    options.keep_count = 1;
    options.no_outputs = true;
    if (free_axes) {
        if (options.batch <= 0)
            options.batch = PX_MIN((int64_t)FREE_AXES_BATCH, p->out->count);
        feed.shape.dim[0] = options.batch;
        for (int d = 0; d < sample.rank; d++)
            feed.shape.dim[d + 1] = sample.dim[d];
        if (p->pre->channels_last && sample.rank == 3) {
            feed.shape.dim[1] = sample.dim[1];
            feed.shape.dim[2] = sample.dim[2];
            feed.shape.dim[3] = sample.dim[0];
        }
        options.feeds = &feed;
        options.feed_count = 1;
    }
    return px_plan_new(model, &options, &p->plan, err);
}

static px_status predict_reserve(px_predictions *out, bool probabilities, px_error *err)
{
    const size_t n = (size_t)out->count;
    out->label = pxi_calloc(n, sizeof *out->label);
    out->predicted = pxi_calloc(n, sizeof *out->predicted);
    out->confidence = pxi_calloc(n, sizeof *out->confidence);
    out->loss = pxi_calloc(n, sizeof *out->loss);
    out->near = pxi_calloc(n, sizeof *out->near);
    out->not_finite = pxi_calloc(n, sizeof *out->not_finite);
    if (probabilities && n <= SIZE_MAX / sizeof(float) / (size_t)out->scores.classes)
        out->probabilities = pxi_calloc(n * (size_t)out->scores.classes, sizeof(float));
    if (!out->label || !out->predicted || !out->confidence || !out->loss || !out->near ||
        !out->not_finite || (probabilities && !out->probabilities))
        return px_fail(err, PX_E_NOMEM, "out of memory for %" PRId64 " predictions", out->count);
    return PX_OK;
}

px_status px_predict(const px_model *model, const px_dataset *set, const px_preprocess *pre,
                     const px_predict_options *options, px_predictions *out, px_error *err)
{
    const px_predict_options standard = px_predict_options_default();
    const px_shape sample = px_dataset_shape(set);
    px_predictions made = {0};
    predicting p = {.set = set,
                    .pre = pre,
                    .options = options ? options : &standard,
                    .out = &made,
                    .floats = (size_t)px_shape_count(&sample)};
    if (px_model_graph(model)->input_count != 1)
        return px_fail(err, PX_E_UNSUPPORTED,
                       "'%.200s' has %d inputs; data sets can be fed to networks with one",
                       px_model_path(model), px_model_graph(model)->input_count);
    PX_TRY(px_model_scores(model, &made.scores, err));
    made.count = p.options->indices ? p.options->index_count : px_dataset_count(set);
    px_status status = predict_reserve(&made, p.options->probabilities, err);
    if (status == PX_OK)
        status = predict_labels(&p, err);
    if (status == PX_OK)
        status = predict_plan(&p, model, err);
    if (status == PX_OK) {
        made.batch = px_plan_batch(p.plan);
        made.batch_baked = px_plan_batch_is_baked(p.plan);
        made.flops = px_plan_flops(p.plan) / made.batch;
        status = px_plan_run(p.plan, p.options->threads, made.count, predict_batch, &p,
                             predict_tick, &p, err);
    }
    if (status == PX_E_CANCELLED)
        px_fail(err, status, "interrupted after about %" PRId64 " of %" PRId64 " inputs", p.done,
                made.count);
    px_plan_free(p.plan);
    if (status != PX_OK) {
        px_predictions_done(&made);
        return status;
    }
    *out = made;
    return PX_OK;
}

void px_predictions_done(px_predictions *predictions)
{
    free(predictions->label);
    free(predictions->predicted);
    free(predictions->confidence);
    free(predictions->loss);
    free(predictions->near);
    free(predictions->not_finite);
    free(predictions->probabilities);
    *predictions = (px_predictions){0};
}

/* --- sums --------------------------------------------------------------------------------------
 */

px_predictions_sum px_predictions_add(const px_predictions *predictions)
{
    px_predictions_sum sum = {0};
    for (int64_t i = 0; i < predictions->count; i++) {
        sum.lost += predictions->predicted[i] < 0;
        sum.not_finite += predictions->not_finite[i];
        if (predictions->label[i] < 0)
            continue;
        sum.labelled++;
        sum.correct += predictions->predicted[i] == predictions->label[i];
        sum.near += predictions->near[i];
        sum.loss += predictions->loss[i];
    }
    sum.loss = sum.labelled ? sum.loss / (double)sum.labelled : (double)NAN;
    return sum;
}

bool px_predictions_guess(const px_predictions *predictions)
{
    enum { LEAST = 50 };
    const px_predictions_sum sum = px_predictions_add(predictions);
    const double n = (double)sum.labelled, chance = 1.0 / predictions->scores.classes;
    if (predictions->scores.classes < 2 || sum.labelled < LEAST)
        return false;
    const double spread = 3.0 * sqrt(chance * (1.0 - chance) / n);
    return (double)sum.correct / n <= chance + fmax(spread, 0.05 * (1.0 - chance));
}

int px_predictions_top(const px_predictions *predictions, int64_t i, int *top, int most)
{
    const int classes = predictions->scores.classes;
    const float *p = predictions->probabilities + i * classes;
    int count = 0;
    for (; count < most && count < classes; count++) {
        int best = -1;
        for (int c = 0; c < classes; c++) {
            bool taken = false;
            for (int k = 0; k < count; k++)
                taken |= top[k] == c;
            if (!taken && !isnan(p[c]) && (best < 0 || p[c] > p[best]))
                best = c;
        }
        if (best < 0)
            break;
        top[count] = best;
    }
    return count;
}
