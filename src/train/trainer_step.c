/* src/train/trainer_step.c - one optimiser step: forward, backward, move
 *
 * The mean over the batch is taken where the gradient starts: each sample's loss is seeded times
 * 1/samples. Whatever is summed is summed in sample order or in the order of fixed pieces, so the
 * number of threads does not show.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#include "train/trainer.h"

#include <internal/engine.h>
#include <inttypes.h>
#include <math.h>
#include <plexor/system.h>
#include <string.h>

static float *step_target(const px_trainer *t, int64_t position)
{
    return t->targets ? t->targets + (size_t)position * (size_t)t->scores.classes : NULL;
}

/* What the step trains on at a position of its batch, and the label that it believes. */
static px_status step_input(const px_trainer *t, int64_t position, float *to, int64_t *label,
                            px_error *err)
{
    const float *attacked = t->adversary ? pxi_adversary_input(t->adversary, position) : NULL;
    if (!attacked)
        return px_feeder_get(t->o.feeder, t->state.step, position, to, label, err);
    memcpy(to, attacked, t->floats * sizeof *to);
    *label = px_feeder_item_at(t->o.feeder, t->state.step, position).label;
    return PX_OK;
}

static px_status step_load(void *context, px_session *session, int64_t first, int64_t samples,
                           px_error *err)
{
    px_trainer *t = context;
    float *to = px_session_input(session, 0);
    for (int64_t i = 0; i < samples; i++) {
        int64_t *label = &t->labels[first + i];
        PX_TRY(step_input(t, first + i, to + (size_t)i * t->floats, label, err));
        if (*label < 0 || *label >= t->scores.classes)
            return px_fail(err, PX_E_MISMATCH,
                           "the data have label %" PRId64 ", the network's classes are 0..%d",
                           *label, t->scores.classes - 1);
        if (t->targets)
            PX_TRY(px_feeder_target(t->o.feeder, t->state.step, first + i,
                                    step_target(t, first + i), err));
    }
    memset(to + (size_t)samples * t->floats, 0,
           (size_t)(px_plan_batch(t->plan) - samples) * t->floats * sizeof *to);
    return PX_OK;
}

static px_status step_judge(void *context, px_session *session, int64_t first, int64_t samples,
                            px_error *err)
{
    px_trainer *t = context;
    return px_loss_seed(&t->loss, session, &t->scores, t->targets ? NULL : t->labels + first,
                        step_target(t, first), samples, 1.0 / (double)t->batch, t->losses + first,
                        t->predictions + first, err);
}

/* A piece's part of the squared norm of the whole gradient. */
static px_status step_square(void *context, int64_t index, px_error *err)
{
    px_trainer *t = context;
    const px_piece piece = px_optimizer_piece(t->optimizer, (size_t)index);
    const float *g = t->gradients[piece.tensor] + piece.first;
    double sum = 0.0;
    (void)err;
    for (size_t i = 0; i < piece.count; i++)
        sum += (double)g[i] * (double)g[i];
    t->squares[index] = sum;
    return PX_OK;
}

/* What gradients are multiplied by so that their norm is within the limit, as PyTorch's
 * clip_grad_norm_ has it, guard included. */
static px_status step_clip(px_trainer *t, double *scale, px_error *err)
{
    const size_t pieces = px_optimizer_piece_count(t->optimizer);
    PX_TRY(px_team_each(t->team, (int64_t)pieces, step_square, t, err));
    double sum = 0.0;
    for (size_t i = 0; i < pieces; i++)
        sum += t->squares[i];
    *scale = fmin(t->o.clip / (sqrt(sum) + 1e-6), 1.0);
    return PX_OK;
}

static px_status step_move(void *context, int64_t index, px_error *err)
{
    px_trainer *t = context;
    const px_piece piece = px_optimizer_piece(t->optimizer, (size_t)index);
    (void)err;
    px_optimizer_move(t->optimizer, piece, t->moved[piece.tensor]->tensor.data,
                      t->gradients[piece.tensor]);
    return PX_OK;
}

/* Moves the weights by the team's gradients. */
static px_status step_apply(px_trainer *t, px_error *err)
{
    px_pace pace = px_schedule_at(t->schedule, pxi_train_steps_done(t));
    double scale = 1.0;
    pace.lr = ldexp(pace.lr, -(int)t->state.halvings);
    for (size_t i = 0; i < t->moved_count; i++) {
        t->gradients[i] = px_team_gradient(t->team, t->moved[i]->value);
        if (!t->gradients[i])
            return px_fail(err, PX_E_INTERNAL, "there is no gradient for weight '%s'",
                           t->moved[i]->name);
    }
    if (t->squares)
        PX_TRY(step_clip(t, &scale, err));
    px_optimizer_begin(t->optimizer, pace, scale);
    PX_TRY(
        px_team_each(t->team, (int64_t)px_optimizer_piece_count(t->optimizer), step_move, t, err));
    t->state.lr = pace.lr;
    /* until.c: statistics that move would pass an accuracy whatever the rate */
    px_team_commit(t->team, t->o.until_accuracy >= 0.0 ? ldexp(1.0, -(int)t->state.halvings) : 1.0);
    return px_team_refresh(t->team, err);
}

px_status pxi_train_step(px_trainer *t, px_error *err)
{
    train_state *s = &t->state;
    const double start = px_clock_s();
    t->batch = px_feeder_samples(t->o.feeder, s->step);
    const px_team_step step = {
        .seed = t->o.seed,
        .iteration = pxi_train_steps_done(t),
        .samples = t->batch,
        .apart = t->o.micro_norms,
        .load = step_load,
        .judge = step_judge,
        .context = t,
        .left = {{t->labels, sizeof *t->labels},
                 {t->losses, sizeof *t->losses},
                 {t->predictions, sizeof *t->predictions}},
    };
    if (t->adversary)
        PX_TRY(pxi_adversary_make(t->adversary, s->epoch, t->o.epochs, s->step, err));
    PX_TRY(px_team_run(t->team, &step, err));
    double loss = 0.0;
    int64_t correct = 0;
    for (int64_t i = 0; i < t->batch; i++) {
        loss += t->losses[i];
        correct += t->predictions[i] == t->labels[i];
    }
    t->diverged = !isfinite(loss);
    if (t->diverged)
        return PX_OK; /* nothing has moved yet */
    PX_TRY(step_apply(t, err));
    const double seconds = px_clock_s() - start;
    s->loss_sum += loss;
    s->correct += correct;
    s->seen += t->batch;
    s->trained += t->batch;
    s->epoch_s += seconds;
    s->train_s += seconds;
    t->ran += t->batch;
    t->ran_s += seconds;
    s->step++;
    return PX_OK;
}
