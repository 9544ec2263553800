/* src/repair/outcome.c - predictions, confidences and losses on some inputs of a data set */
#include "repair/outcome.h"

#include "base/memory.h"
#include "engine/pass.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

typedef struct outcome_work {
    px_scores scores;
    const int64_t *labels;
    pxi_outcome out;
} outcome_work;

/* Softmax of the largest score, by differences to it: never overflows. */
static double outcome_confidence(const px_scores *scores, const float *row, int best)
{
    if (best < 0)
        return (double)NAN;
    if (scores->probabilities)
        return (double)row[best];
    double sum = 0.0;
    for (int c = 0; c < scores->classes; c++)
        sum += exp((double)row[c] - (double)row[best]);
    return 1.0 / sum;
}

static px_status outcome_open(pxi_lane *lane, px_error *err)
{
    const outcome_work *w = lane->context;
    float **row = lane->state;
    (void)err;
    *row = pxi_lane_array(lane, (size_t)w->scores.classes, sizeof **row);
    return PX_OK;
}

static px_status outcome_batch(pxi_lane *lane, const pxi_batch *batch, px_error *err)
{
    const outcome_work *w = lane->context;
    float *row = *(float **)lane->state;
    for (int64_t i = 0; i < batch->count; i++) {
        const int64_t at = batch->first + i, label = w->labels[at];
        PX_TRY(pxi_scores_row(lane->session, &w->scores, i, row, err));
        const int best = px_argmax(row, w->scores.classes);
        w->out.predictions[at] = best;
        w->out.confidences[at] = (float)outcome_confidence(&w->scores, row, best);
        w->out.losses[at] = w->scores.probabilities
                                ? px_probability_loss(row, w->scores.classes, label, NULL)
                                : px_softmax_loss(row, w->scores.classes, label, NULL);
    }
    return PX_OK;
}

px_status pxi_outcome_make(const px_model *model, const px_judge_set *data, const int64_t *items,
                           const int64_t *labels, int64_t count, int threads,
                           px_progress_fn progress, void *context, pxi_outcome *out, px_error *err)
{
    outcome_work w = {.labels = labels};
    const pxi_task task = {.model = model,
                           .set = data->set,
                           .pre = data->pre,
                           .indices = items,
                           .count = count,
                           .threads = threads,
                           .progress = progress,
                           .progress_context = context};
    const pxi_visitor visitor = {
        .context = &w, .state_size = sizeof(float *), .open = outcome_open, .visit = outcome_batch};
    PX_TRY(px_model_scores(model, &w.scores, err));
    const px_plan_options wants = pxi_wants_scores(&w.scores);
    w.out.predictions = pxi_calloc((size_t)count, sizeof *w.out.predictions);
    w.out.confidences = pxi_calloc((size_t)count, sizeof *w.out.confidences);
    w.out.losses = pxi_calloc((size_t)count, sizeof *w.out.losses);
    px_status status;
    if (!w.out.predictions || !w.out.confidences || !w.out.losses)
        status = px_fail(err, PX_E_NOMEM, "out of memory for %" PRId64 " predictions", count);
    else
        status = pxi_pass_once(&task, &wants, &visitor, err);
    if (status == PX_OK)
        *out = w.out;
    else
        pxi_outcome_done(&w.out);
    return status;
}

void pxi_outcome_done(pxi_outcome *outcome)
{
    free(outcome->predictions);
    free(outcome->confidences);
    free(outcome->losses);
    *outcome = (pxi_outcome){0};
}

px_repair_measure pxi_outcome_measure(const pxi_outcome *outcome, const int64_t *labels,
                                      int64_t count, int64_t *class_correct)
{
    px_repair_measure m = {.count = count};
    double right = 0.0, wrong = 0.0, loss = 0.0;
    for (int64_t i = 0; i < count; i++) {
        const int64_t prediction = outcome->predictions[i];
        loss += outcome->losses[i];
        if (prediction < 0) {
            m.lost++;
        } else if (prediction == labels[i]) {
            m.correct++;
            class_correct[prediction]++;
            right += (double)outcome->confidences[i];
        } else {
            wrong += (double)outcome->confidences[i];
        }
    }
    const int64_t mistaken = count - m.correct - m.lost;
    m.accuracy = count ? (double)m.correct / (double)count : (double)NAN;
    m.loss = count ? loss / (double)count : (double)NAN;
    m.confidence_right = m.correct ? right / (double)m.correct : (double)NAN;
    m.confidence_wrong = mistaken ? wrong / (double)mistaken : (double)NAN;
    return m;
}
