/* src/predict/predict.c - what a classifier says about every input of a data set */
#include <plexor/predict.h>

#include "base/memory.h"
#include "engine/pass.h"

#include <inttypes.h>
#include <math.h>
#include <plexor/select.h>
#include <stdlib.h>
#include <string.h>

enum { NEAR_MOST = 5 };

typedef struct predicting {
    const px_dataset *set;
    const px_preprocess *pre;
    const px_predict_options *options;
    px_predictions *out;
} predicting;

typedef struct predict_lane {
    float *row; /* [classes] */
    double *q;  /* [classes] */
} predict_lane;

px_predict_options px_predict_options_default(void)
{
    return (px_predict_options){.threads = 0};
}

static int64_t predict_index(const predicting *p, int64_t i)
{
    return p->options->indices ? p->options->indices[i] : i;
}

static px_status lane_open(pxi_lane *lane, px_error *err)
{
    const predicting *p = lane->context;
    const size_t classes = (size_t)p->out->scores.classes;
    predict_lane *own = lane->state;
    (void)err;
    own->row = pxi_lane_array(lane, classes, sizeof *own->row);
    own->q = pxi_lane_array(lane, classes, sizeof *own->q);
    return PX_OK;
}

/* Notices values that are not finite before a network hides or spreads them. */
static px_status lane_fill(pxi_lane *lane, int64_t item, int view, float *input, px_error *err)
{
    const predicting *p = lane->context;
    const size_t floats = pxi_pass_floats(lane->pass);
    bool finite = true;
    (void)view;
    PX_TRY(pxi_lane_read(lane, item, input, err));
    for (size_t k = 0; k < floats; k++)
        finite &= isfinite(input[k]) != 0;
    p->out->not_finite[item] = !finite;
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

static px_status lane_visit(pxi_lane *lane, const pxi_batch *batch, px_error *err)
{
    const predicting *p = lane->context;
    const predict_lane *own = lane->state;
    px_predictions *out = p->out;
    const int64_t first = batch->first;
    const int classes = out->scores.classes;
    PX_TRY(px_session_judge(lane->session, &out->scores, out->label + first, batch->count,
                            out->predicted + first, out->loss + first, err));
    for (int64_t i = 0; i < batch->count; i++) {
        const int64_t at = first + i, label = out->label[at];
        PX_TRY(pxi_scores_row(lane->session, &out->scores, i, own->row, err));
        px_scores_probabilities(&out->scores, own->row, own->q);
        for (int c = 0; out->probabilities && c < classes; c++)
            out->probabilities[at * classes + c] = (float)own->q[c];
        out->confidence[at] = out->given[at] = NAN;
        if (out->predicted[at] < 0)
            continue;
        out->confidence[at] = (float)own->q[out->predicted[at]];
        out->given[at] = label >= 0 ? (float)own->q[label] : NAN;
        out->near[at] = label >= 0 && predict_rank(own->q, classes, label) < NEAR_MOST;
    }
    return PX_OK;
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

static px_status predict_reserve(px_predictions *out, bool probabilities, px_error *err)
{
    const size_t n = (size_t)out->count;
    out->label = pxi_calloc(n, sizeof *out->label);
    out->predicted = pxi_calloc(n, sizeof *out->predicted);
    out->confidence = pxi_calloc(n, sizeof *out->confidence);
    out->given = pxi_calloc(n, sizeof *out->given);
    out->loss = pxi_calloc(n, sizeof *out->loss);
    out->near = pxi_calloc(n, sizeof *out->near);
    out->not_finite = pxi_calloc(n, sizeof *out->not_finite);
    if (probabilities && n <= SIZE_MAX / sizeof(float) / (size_t)out->scores.classes)
        out->probabilities = pxi_calloc(n * (size_t)out->scores.classes, sizeof(float));
    if (!out->label || !out->predicted || !out->confidence || !out->given || !out->loss ||
        !out->near || !out->not_finite || (probabilities && !out->probabilities))
        return px_fail(err, PX_E_NOMEM, "out of memory for %" PRId64 " predictions", out->count);
    return PX_OK;
}

static px_status predict_run(const predicting *p, const px_model *model, px_error *err)
{
    const px_predict_options *o = p->options;
    px_predictions *out = p->out;
    const pxi_task task = {.model = model,
                           .set = p->set,
                           .pre = p->pre,
                           .indices = o->indices,
                           .count = out->count,
                           .threads = o->threads,
                           .batch = o->batch,
                           .progress = o->progress,
                           .progress_context = o->context};
    const pxi_visitor visitor = {.context = (void *)p,
                                 .state_size = sizeof(predict_lane),
                                 .open = lane_open,
                                 .fill = lane_fill,
                                 .visit = lane_visit};
    const px_plan_options wants = pxi_wants_scores(&out->scores);
    pxi_pass *pass = NULL;
    PX_TRY(pxi_pass_open(&task, &wants, &visitor, &pass, err));
    const px_plan *plan = pxi_pass_plan(pass);
    out->batch = px_plan_batch(plan);
    out->batch_baked = px_plan_batch_is_baked(plan);
    out->flops = px_plan_flops(plan) / out->batch;
    const px_status status = pxi_pass_run(pass, err);
    pxi_pass_close(pass);
    return status;
}

px_status px_predict(const px_model *model, const px_dataset *set, const px_preprocess *pre,
                     const px_predict_options *options, px_predictions *out, px_error *err)
{
    const px_predict_options standard = px_predict_options_default();
    px_predictions made = {0};
    predicting p = {.set = set, .pre = pre, .options = options ? options : &standard, .out = &made};
    PX_TRY(px_model_scores(model, &made.scores, err));
    made.count = p.options->indices ? p.options->index_count : px_dataset_count(set);
    px_status status = predict_reserve(&made, p.options->probabilities, err);
    if (status == PX_OK)
        status = predict_labels(&p, err);
    if (status == PX_OK)
        status = predict_run(&p, model, err);
    if (status == PX_OK)
        *out = made;
    else
        px_predictions_done(&made);
    return status;
}

void px_predictions_done(px_predictions *predictions)
{
    free(predictions->label);
    free(predictions->predicted);
    free(predictions->confidence);
    free(predictions->given);
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
