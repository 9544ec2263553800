/* bench/train_job.c - bare training steps on batches in memory */
/* SPDX-License-Identifier: Apache-2.0 */
#include "train_job.h"

#include <internal/engine.h>
#include <internal/weights.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static px_status job_plan(train_job *job, const px_model *model, int64_t micro, const int *wrt,
                          size_t wrt_count, px_error *err)
{
    PX_TRY(px_model_scores(model, &job->scores, err));
    px_plan_options options = px_plan_options_default();
    options.batch = micro;
    options.team_samples = job->batch;
    options.keep = options.seeds = &job->scores.value;
    options.keep_count = options.seed_count = 1;
    options.wrt = wrt;
    options.wrt_count = wrt_count;
    options.no_outputs = true;
    options.weights = job->weights;
    options.training = true;
    return px_plan_new(model, &options, &job->plan, err);
}

/* The network's parameters, for plan and optimiser alike. */
static px_status job_fill(train_job *job, const px_model *model, const char *optimizer,
                          int64_t micro, int threads, int *wrt, px_shape *shapes, px_error *err)
{
    size_t count = 0;
    for (size_t i = 0; i < px_weights_count(job->weights); i++) {
        const px_weight *weight = px_weights_get(job->weights, i);
        if (weight->role != PX_WEIGHT_PARAMETER)
            continue;
        wrt[count] = weight->value;
        shapes[count] = weight->tensor.shape;
        job->tensors[count++] = weight->tensor.data;
    }
    PX_TRY(job_plan(job, model, micro, wrt, count, err));
    PX_TRY(px_team_new(job->plan, threads, job->batch, &job->team, err));
    PX_TRY(px_optimizer_new(optimizer, shapes, count, &job->optimizer, err));
    for (size_t i = 0; i < count; i++)
        job->gradients[i] = px_team_gradient(job->team, wrt[i]);
    const px_shape shape = px_plan_feed_shape(job->plan, 0);
    job->input_count = (size_t)(px_shape_count(&shape) / shape.dim[0]);
    return px_loss_parse("cross-entropy", &job->loss, err);
}

px_status train_job_open(train_job *job, const px_model *model, const char *optimizer,
                         int64_t batch, int64_t micro, int threads, px_error *err)
{
    *job = (train_job){.batch = batch};
    PX_TRY(px_weights_new(model, &job->weights, err));
    const size_t most = px_weights_count(job->weights) + 1;
    job->tensors = calloc(most, sizeof *job->tensors);
    job->gradients = calloc(most, sizeof *job->gradients);
    job->losses = calloc((size_t)batch, sizeof *job->losses);
    int *wrt = calloc(most, sizeof *wrt);
    px_shape *shapes = calloc(most, sizeof *shapes);
    const px_status status = job->tensors && job->gradients && job->losses && wrt && shapes
                                 ? job_fill(job, model, optimizer, micro, threads, wrt, shapes, err)
                                 : px_fail(err, PX_E_NOMEM, "out of memory");
    free(wrt);
    free(shapes);
    return status;
}

void train_job_close(train_job *job)
{
    px_optimizer_free(job->optimizer);
    px_team_free(job->team);
    px_plan_free(job->plan);
    px_weights_free(job->weights);
    free(job->tensors);
    free(job->gradients);
    free(job->losses);
    *job = (train_job){0};
}

static px_status job_load(void *context, px_session *session, int64_t first, int64_t samples,
                          px_error *err)
{
    (void)err;
    const train_job *job = context;
    memcpy(px_session_input(session, 0), job->inputs + (size_t)first * job->input_count,
           (size_t)samples * job->input_count * sizeof *job->inputs);
    return PX_OK;
}

static px_status job_judge(void *context, px_session *session, int64_t first, int64_t samples,
                           px_error *err)
{
    const train_job *job = context;
    return px_loss_seed(&job->loss, session, &job->scores, job->labels + first, NULL, samples,
                        1.0 / (double)job->batch, job->losses + first, NULL, err);
}

static px_status job_move(void *context, int64_t index, px_error *err)
{
    (void)err;
    const train_job *job = context;
    const px_piece piece = px_optimizer_piece(job->optimizer, (size_t)index);
    px_optimizer_move(job->optimizer, piece, job->tensors[piece.tensor],
                      job->gradients[piece.tensor]);
    return PX_OK;
}

px_status train_job_step(train_job *job, const float *inputs, const int64_t *labels, double lr,
                         px_error *err)
{
    job->inputs = inputs;
    job->labels = labels;
    const px_team_step step = {.iteration = job->steps++,
                               .samples = job->batch,
                               .load = job_load,
                               .judge = job_judge,
                               .context = job};
    PX_TRY(px_team_run(job->team, &step, err));
    px_optimizer_begin(job->optimizer, (px_pace){.lr = lr, .momentum = NAN}, 1.0);
    PX_TRY(px_team_each(job->team, (int64_t)px_optimizer_piece_count(job->optimizer), job_move, job,
                        err));
    px_team_commit(job->team, 1.0);
    return px_team_refresh(job->team, err);
}
