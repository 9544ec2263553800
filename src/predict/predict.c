/* src/predict/predict.c - what a classifier says about every input of a data set */
/* SPDX-License-Identifier: Apache-2.0 */
#include "predict/predictions.h"

#include "base/memory.h"
#include "base/vector_math.h"
#include <internal/pass.h>

#include <internal/engine.h>
#include <internal/graph.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

enum { NEAR_MOST = 5 };

struct px_predictor {
    px_predict_options o;
    const px_dataset *set;
    pxi_pass *pass;
    const px_regression *regression; /* NULL: it classifies */
    px_predictions said;
    pxi_left left;
};

typedef struct predict_lane {
    float *row; /* [classes] */
    double *q;  /* [classes] */
} predict_lane;

px_predict_options px_predict_options_default(void)
{
    return (px_predict_options){.threads = 0};
}

static px_status lane_open(pxi_lane *lane, px_error *err)
{
    const px_predictor *p = lane->context;
    const size_t classes = (size_t)p->said.scores.classes;
    predict_lane *own = lane->state;
    (void)err;
    own->row = pxi_lane_array(lane, classes, sizeof *own->row);
    own->q = pxi_lane_array(lane, classes, sizeof *own->q);
    return PX_OK;
}

/* Notices values that are not finite before a network hides or spreads them. */
static px_status lane_fill(pxi_lane *lane, int64_t item, int view, float *input, px_error *err)
{
    const px_predictor *p = lane->context;
    (void)view;
    PX_TRY(pxi_lane_read(lane, item, input, err));
    p->said.not_finite[item] = !pxi_all_finite(input, (int64_t)pxi_pass_floats(lane->pass));
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

/* What a network of regression gave, beside what it was to give. */
static px_status visit_output(const px_predictor *p, const pxi_lane *lane, const pxi_batch *batch,
                              px_error *err)
{
    const px_predictions *out = &p->said;
    const px_regression *regression = p->regression;
    const int count = out->outputs;
    if (!regression)
        return PX_OK;
    const px_view view = px_session_view(lane->session, regression->output);
    if (!view.data)
        return px_fail(err, PX_E_INTERNAL, "the plan does not keep the network's numbers");
    for (int64_t i = 0; i < batch->count; i++) {
        const int64_t at = batch->first + i, index = p->o.indices ? p->o.indices[at] : at;
        for (int k = 0; k < count; k++)
            out->output[at * count + k] =
                view.data[i * view.stride[0] + (view.shape.rank > 1 ? k * view.stride[1] : 0)];
        if (px_dataset_target_count(p->set) == count)
            PX_TRY(px_dataset_target(p->set, index, out->target + at * count, err));
    }
    return PX_OK;
}

static px_status lane_visit(pxi_lane *lane, const pxi_batch *batch, px_error *err)
{
    px_predictor *p = lane->context;
    const predict_lane *own = lane->state;
    px_predictions *out = &p->said;
    const int64_t first = batch->first;
    const int classes = out->scores.classes;
    PX_TRY(px_session_judge(lane->session, &out->scores, out->label + first, batch->count,
                            out->predicted + first, out->loss + first, err));
    PX_TRY(visit_output(p, lane, batch, err));
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

static px_status predict_labels(px_predictor *p, px_error *err)
{
    px_predictions *out = &p->said;
    const bool labelled = px_dataset_has_labels(p->set);
    for (int64_t i = 0; i < out->count; i++) {
        const int64_t index = p->o.indices ? p->o.indices[i] : i;
        char name[256];
        out->label[i] = labelled ? px_dataset_label(p->set, index) : -1;
        if (out->label[i] < out->scores.classes)
            continue;
        if (!p->o.any_labels)
            return px_fail(err, PX_E_MISMATCH,
                           "input '%s' has label %" PRId64 ", the network's classes are 0..%d",
                           px_dataset_name(p->set, index, name, sizeof name), out->label[i],
                           out->scores.classes - 1);
        out->label[i] = -1;
    }
    return PX_OK;
}

px_status pxi_predictions_reserve(px_predictions *out, bool probabilities, px_error *err)
{
    const int64_t n = out->count;
    PX_TRY(PX_NEW(out->label, n, err));
    PX_TRY(PX_NEW(out->predicted, n, err));
    PX_TRY(PX_NEW(out->confidence, n, err));
    PX_TRY(PX_NEW(out->given, n, err));
    PX_TRY(PX_NEW(out->loss, n, err));
    PX_TRY(PX_NEW(out->near, n, err));
    PX_TRY(PX_NEW(out->not_finite, n, err));
    const size_t classes = (size_t)out->scores.classes;
    if (probabilities && (size_t)n > SIZE_MAX / sizeof(float) / classes)
        return pxi_no_memory_for(err, "%" PRId64 " predictions", n);
    return probabilities ? PX_NEW(out->probabilities, (size_t)n * classes, err) : PX_OK;
}

static px_status predictor_open(px_predictor *p, const px_model *model, const px_preprocess *pre,
                                px_error *err)
{
    px_predictions *out = &p->said;
    PX_TRY(px_model_scores(model, &out->scores, err));
    out->count = p->o.indices ? p->o.index_count : px_dataset_count(p->set);
    PX_TRY(pxi_predictions_reserve(out, p->o.probabilities, err));
    PX_TRY(predict_labels(p, err));
    p->regression = px_model_regression(model);
    if (p->regression) {
        out->outputs = p->regression->count;
        PX_TRY(PX_NEW(out->output, out->count * out->outputs, err));
        PX_TRY(PX_NEW(out->target, out->count * out->outputs, err));
        for (int64_t i = 0; i < out->count * out->outputs; i++)
            out->target[i] = NAN;
    }
    const pxi_task task = {.model = model,
                           .set = p->set,
                           .pre = pre,
                           .indices = p->o.indices,
                           .count = out->count,
                           .threads = p->o.threads,
                           .batch = p->o.batch,
                           .progress = p->o.progress,
                           .progress_context = p->o.context};
    const pxi_visitor visitor = {.context = p,
                                 .state_size = sizeof(predict_lane),
                                 .open = lane_open,
                                 .fill = lane_fill,
                                 .visit = lane_visit,
                                 .left = &p->left};
    p->left = (pxi_left){
        .array = {{out->predicted, sizeof *out->predicted},
                  {out->confidence, sizeof *out->confidence},
                  {out->given, sizeof *out->given},
                  {out->loss, sizeof *out->loss},
                  {out->near, sizeof *out->near},
                  {out->not_finite, sizeof *out->not_finite},
                  {out->probabilities, (size_t)out->scores.classes * sizeof *out->probabilities}}};
    px_plan_options wants = pxi_wants_scores(&out->scores);
    const int keep[] = {out->scores.value, p->regression ? p->regression->output : -1};
    if (p->regression) {
        wants.keep = keep;
        wants.keep_count = PX_LEN(keep);
    }
    wants.weights = p->o.weights;
    PX_TRY(pxi_pass_open(&task, &wants, &visitor, &p->pass, err));
    const px_plan *plan = pxi_pass_plan(p->pass);
    out->batch = px_plan_batch(plan);
    out->batch_baked = px_plan_batch_is_baked(plan);
    out->flops = px_plan_flops(plan) / out->batch;
    return PX_OK;
}

px_status px_predictor_new(const px_model *model, const px_dataset *set, const px_preprocess *pre,
                           const px_predict_options *options, px_predictor **out, px_error *err)
{
    px_predictor *p = NULL;
    PX_TRY(PX_NEW(p, 1, err));
    p->o = options ? *options : px_predict_options_default();
    p->set = set;
    const px_status status = predictor_open(p, model, pre, err);
    return PX_GIVE(status, p, out, px_predictor_free);
}

px_status px_predictor_run(px_predictor *p, const px_predictions **out, px_error *err)
{
    if (p->o.weights)
        PX_TRY(px_plan_refresh(pxi_pass_plan(p->pass), err));
    PX_TRY(pxi_pass_run(p->pass, err));
    *out = &p->said;
    return PX_OK;
}

void px_predictor_free(px_predictor *p)
{
    if (!p)
        return;
    pxi_pass_close(p->pass);
    px_predictions_done(&p->said);
    free(p);
}

px_status px_predict(const px_model *model, const px_dataset *set, const px_preprocess *pre,
                     const px_predict_options *options, px_predictions *out, px_error *err)
{
    px_predictor *p = NULL;
    const px_predictions *said;
    PX_TRY(px_predictor_new(model, set, pre, options, &p, err));
    const px_status status = px_predictor_run(p, &said, err);
    if (status == PX_OK) {
        *out = p->said;
        p->said = (px_predictions){0};
    }
    px_predictor_free(p);
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
    free(predictions->output);
    free(predictions->target);
    *predictions = (px_predictions){0};
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
