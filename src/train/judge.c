/* src/train/judge.c - forward runs over a data set: predictions, accuracy, loss */
#include <plexor/train.h>
#include <plexor/weights.h>

#include "base/memory.h"
#include "engine/sample_plan.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

struct px_judge {
    px_plan *plan;
    px_scores scores;
    px_judge_set data;
    int threads;
    bool refresh;
    size_t floats;
    int64_t count;
    int64_t *labels, *predictions; /* one per sample */
    double *losses;
};

px_status px_judge_new(const px_model *model, px_weights *weights, const px_judge_set *data,
                       int threads, px_judge **out, px_error *err)
{
    px_judge *judge = pxi_calloc(1, sizeof *judge);
    if (!judge)
        return px_fail(err, PX_E_NOMEM, "out of memory");
    const px_shape sample = px_dataset_shape(data->set);
    px_plan_options options = px_plan_options_default();
    px_feed feed;
    judge->data = *data;
    judge->threads = threads;
    judge->refresh = weights != NULL;
    judge->floats = (size_t)px_shape_count(&sample);
    judge->count = px_dataset_count(data->set);
    px_status status = px_model_scores(model, &judge->scores, err);
    if (status == PX_OK)
        status = px_dataset_check_labels(data->set, judge->scores.classes, err);
    if (status == PX_OK)
        status = pxi_sample_feed(model, &sample, data->pre->channels_last, &feed, err);
    if (status != PX_OK)
        goto done;
    options.weights = weights;
    options.keep = &judge->scores.value;
    options.keep_count = 1;
    options.no_outputs = true;
    status = pxi_sample_plan(model, &feed, options, judge->count, &judge->plan, err);
    if (status != PX_OK)
        goto done;
    const size_t count = (size_t)judge->count;
    judge->labels = pxi_calloc(count, sizeof *judge->labels);
    judge->predictions = pxi_calloc(count, sizeof *judge->predictions);
    judge->losses = pxi_calloc(count, sizeof *judge->losses);
    if (!judge->labels || !judge->predictions || !judge->losses) {
        status =
            px_fail(err, PX_E_NOMEM, "out of memory for %" PRId64 " predictions", judge->count);
        goto done;
    }
    for (int64_t i = 0; i < judge->count; i++)
        judge->labels[i] = px_dataset_label(data->set, i);
    *out = judge;
    judge = NULL;
done:
    px_judge_free(judge);
    return status;
}

void px_judge_free(px_judge *judge)
{
    if (!judge)
        return;
    px_plan_free(judge->plan);
    free(judge->labels);
    free(judge->predictions);
    free(judge->losses);
    free(judge);
}

static px_status judge_batch(void *context, px_session *session, int64_t first, int64_t samples,
                             px_error *err)
{
    px_judge *judge = context;
    float *to = px_session_input(session, 0);
    for (int64_t i = 0; i < samples; i++)
        PX_TRY(px_dataset_input(judge->data.set, judge->data.pre, first + i,
                                to + (size_t)i * judge->floats, err));
    memset(to + (size_t)samples * judge->floats, 0,
           (size_t)(px_plan_batch(judge->plan) - samples) * judge->floats * sizeof *to);
    PX_TRY(px_session_forward(session, err));
    return px_session_judge(session, &judge->scores, judge->labels + first, samples,
                            judge->predictions + first, judge->losses + first, err);
}

px_status px_judge_run(px_judge *judge, int64_t *predictions, double *losses, px_judgement *out,
                       px_progress_fn progress, void *context, px_error *err)
{
    if (judge->refresh)
        PX_TRY(px_plan_refresh(judge->plan, err));
    PX_TRY(px_plan_run(judge->plan, judge->threads, judge->count, judge_batch, judge, progress,
                       context, err));
    px_judgement sum = {.count = judge->count};
    for (int64_t i = 0; i < judge->count; i++) { /* in sample order */
        sum.loss += judge->losses[i];
        sum.correct += judge->predictions[i] == judge->labels[i];
    }
    sum.loss /= (double)sum.count;
    sum.accuracy = (double)sum.correct / (double)sum.count;
    if (predictions)
        memcpy(predictions, judge->predictions, (size_t)judge->count * sizeof *predictions);
    if (losses)
        memcpy(losses, judge->losses, (size_t)judge->count * sizeof *losses);
    *out = sum;
    return PX_OK;
}
