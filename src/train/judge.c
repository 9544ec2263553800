/* src/train/judge.c - forward runs over a data set: predictions, accuracy, loss */
#include <plexor/train.h>
#include <plexor/weights.h>

#include "base/memory.h"
#include "engine/pass.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

struct px_judge {
    pxi_pass *pass;
    px_scores scores;
    bool refresh;
    int64_t count;
    int64_t *labels, *predictions; /* one per sample */
    double *losses;
};

static px_status judge_batch(pxi_lane *lane, const pxi_batch *batch, px_error *err)
{
    const px_judge *judge = lane->context;
    return px_session_judge(lane->session, &judge->scores, judge->labels + batch->first,
                            batch->count, judge->predictions + batch->first,
                            judge->losses + batch->first, err);
}

static px_status judge_open(px_judge *judge, const px_model *model, px_weights *weights,
                            const px_judge_set *data, int threads, px_error *err)
{
    const size_t count = (size_t)px_dataset_count(data->set);
    const pxi_task task = {.model = model,
                           .set = data->set,
                           .pre = data->pre,
                           .count = (int64_t)count,
                           .threads = threads};
    const pxi_visitor visitor = {.context = judge, .visit = judge_batch};
    judge->count = task.count;
    judge->refresh = weights != NULL;
    PX_TRY(px_model_scores(model, &judge->scores, err));
    PX_TRY(px_dataset_check_labels(data->set, judge->scores.classes, err));
    px_plan_options wants = pxi_wants_scores(&judge->scores);
    wants.weights = weights;
    PX_TRY(pxi_pass_open(&task, &wants, &visitor, &judge->pass, err));
    judge->labels = pxi_calloc(count, sizeof *judge->labels);
    judge->predictions = pxi_calloc(count, sizeof *judge->predictions);
    judge->losses = pxi_calloc(count, sizeof *judge->losses);
    if (!judge->labels || !judge->predictions || !judge->losses)
        return px_fail(err, PX_E_NOMEM, "out of memory for %" PRId64 " predictions", judge->count);
    for (int64_t i = 0; i < judge->count; i++)
        judge->labels[i] = px_dataset_label(data->set, i);
    return PX_OK;
}

px_status px_judge_new(const px_model *model, px_weights *weights, const px_judge_set *data,
                       int threads, px_judge **out, px_error *err)
{
    px_judge *judge = pxi_calloc(1, sizeof *judge);
    if (!judge)
        return px_fail(err, PX_E_NOMEM, "out of memory");
    const px_status status = judge_open(judge, model, weights, data, threads, err);
    if (status == PX_OK)
        *out = judge;
    else
        px_judge_free(judge);
    return status;
}

void px_judge_free(px_judge *judge)
{
    if (!judge)
        return;
    pxi_pass_close(judge->pass);
    free(judge->labels);
    free(judge->predictions);
    free(judge->losses);
    free(judge);
}

px_status px_judge_run(px_judge *judge, int64_t *predictions, double *losses, px_judgement *out,
                       px_progress_fn progress, void *context, px_error *err)
{
    if (judge->refresh)
        PX_TRY(px_plan_refresh(pxi_pass_plan(judge->pass), err));
    pxi_pass_watch(judge->pass, progress, context);
    PX_TRY(pxi_pass_run(judge->pass, err));
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
