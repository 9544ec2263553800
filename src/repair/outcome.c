/* src/repair/outcome.c - predictions, confidences and losses on some inputs of a data set */
#include "repair/outcome.h"

#include "base/memory.h"
#include "engine/sample_plan.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct outcome_work {
    px_plan *plan;
    px_scores scores;
    const px_judge_set *data;
    const int64_t *items, *labels;
    size_t floats;
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

static px_status outcome_batch(void *context, px_session *session, int64_t first, int64_t samples,
                               px_error *err)
{
    outcome_work *w = context;
    const size_t classes = (size_t)w->scores.classes;
    float *to = px_session_input(session, 0);
    for (int64_t i = 0; i < samples; i++)
        PX_TRY(px_dataset_input(w->data->set, w->data->pre, w->items[first + i],
                                to + (size_t)i * w->floats, err));
    memset(to + (size_t)samples * w->floats, 0,
           (size_t)(px_plan_batch(w->plan) - samples) * w->floats * sizeof *to);
    PX_TRY(px_session_forward(session, err));
    float *rows = pxi_calloc((size_t)px_plan_batch(w->plan) * classes, sizeof *rows);
    if (!rows)
        return px_fail(err, PX_E_NOMEM, "out of memory for scores");
    const px_status status = px_session_read(session, w->scores.value, samples, rows, err);
    for (int64_t i = 0; i < samples && status == PX_OK; i++) {
        const float *row = rows + (size_t)i * classes;
        const int64_t at = first + i, label = w->labels[at];
        const int best = px_argmax(row, w->scores.classes);
        w->out.predictions[at] = best;
        w->out.confidences[at] = (float)outcome_confidence(&w->scores, row, best);
        w->out.losses[at] = w->scores.probabilities
                                ? px_probability_loss(row, w->scores.classes, label, NULL)
                                : px_softmax_loss(row, w->scores.classes, label, NULL);
    }
    free(rows);
    return status;
}

px_status pxi_outcome_make(const px_model *model, const px_judge_set *data, const int64_t *items,
                           const int64_t *labels, int64_t count, int threads,
                           px_progress_fn progress, void *context, pxi_outcome *out, px_error *err)
{
    const px_shape sample = px_dataset_shape(data->set);
    outcome_work w = {
        .data = data, .items = items, .labels = labels, .floats = (size_t)px_shape_count(&sample)};
    px_plan_options options = px_plan_options_default();
    px_feed feed;
    PX_TRY(px_model_scores(model, &w.scores, err));
    PX_TRY(pxi_sample_feed(model, &sample, data->pre->channels_last, &feed, err));
    options.keep = &w.scores.value;
    options.keep_count = 1;
    options.no_outputs = true;
    PX_TRY(pxi_sample_plan(model, &feed, options, count, &w.plan, err));
    w.out.predictions = pxi_calloc((size_t)count, sizeof *w.out.predictions);
    w.out.confidences = pxi_calloc((size_t)count, sizeof *w.out.confidences);
    w.out.losses = pxi_calloc((size_t)count, sizeof *w.out.losses);
    px_status status;
    if (!w.out.predictions || !w.out.confidences || !w.out.losses)
        status = px_fail(err, PX_E_NOMEM, "out of memory for %" PRId64 " predictions", count);
    else
        status = px_plan_run(w.plan, threads, count, outcome_batch, &w, progress, context, err);
    px_plan_free(w.plan);
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
