/* src/train/trainer_run.c - epochs: steps, evaluation, history, checkpoints, and ways to stop */
/* SPDX-License-Identifier: Apache-2.0 */
#include "train/trainer.h"

#include "base/memory.h"

#include <internal/data.h>
#include <internal/ranks.h>
#include <internal/weights.h>
#include <inttypes.h>
#include <math.h>
#include <plexor/system.h>
#include <stdio.h>

int64_t pxi_train_steps_done(const px_trainer *t)
{
    return t->state.epoch * t->steps + t->state.step;
}

bool pxi_train_goes_back(const px_trainer *t)
{
    return t->o.until_accuracy >= 0.0 || t->o.retries > 0;
}

static bool run_is_done(const px_trainer *t)
{
    return t->state.reached || t->state.epoch >= t->o.epochs;
}

/* --- telling the caller ---------------------------------------------------------------------- */

/* Training at the pace so far, plus the evaluations to come at the pace of the last one. */
static double run_seconds_left(const px_trainer *t, int64_t done, int64_t total)
{
    if (t->ran == 0)
        return (double)NAN;
    int64_t evaluations = 0;
    if (t->judge)
        evaluations = t->o.eval_every ? (t->o.epochs - t->state.epoch) / t->o.eval_every : 1;
    return (double)(total - done) * t->ran_s / (double)t->ran + (double)evaluations * t->judge_s;
}

static bool run_tell(const px_trainer *t, bool evaluating)
{
    const train_state *s = &t->state;
    if (!t->o.progress)
        return true;
    px_train_progress p = {
        .epoch = PX_MIN(s->epoch + 1, t->o.epochs),
        .epochs = t->o.epochs,
        .step = s->step,
        .steps = t->steps,
        .done = s->epoch * t->samples + s->seen,
        .total = t->o.epochs * t->samples,
        .loss = s->seen ? s->loss_sum / (double)s->seen : (double)NAN,
        .accuracy = s->seen ? (double)s->correct / (double)s->seen : (double)NAN,
        .test_accuracy = s->test_accuracy,
        .images_per_s = t->ran_s > 0.0 ? (double)t->ran / t->ran_s : 0.0,
        .evaluating = evaluating,
    };
    p.seconds_left = run_seconds_left(t, p.done, p.total);
    return t->o.progress(t->o.context, &p);
}

static bool run_tell_judging(void *context, int64_t done, int64_t total)
{
    (void)done;
    (void)total;
    return run_tell(context, true);
}

px_status pxi_train_judge_open(px_trainer *t, px_error *err)
{
    px_predict_options how = px_predict_options_default();
    how.weights = t->weights;
    how.threads = t->o.threads;
    how.progress = run_tell_judging;
    how.context = t;
    PX_TRY(px_dataset_check_labels(t->o.test.set, t->scores.classes, err));
    return px_predictor_new(t->model, t->o.test.set, t->o.test.pre, &how, &t->judge, err);
}

px_status pxi_train_judge(px_trainer *t, px_error *err)
{
    const double start = px_clock_s();
    const px_predictions *said;
    PX_TRY(px_predictor_run(t->judge, &said, err));
    const px_eval_sum sum = px_eval_slice(said, NULL, said->count);
    t->judge_s = px_clock_s() - start;
    t->state.test_loss = sum.loss;
    t->state.test_accuracy = sum.accuracy;
    return PX_OK;
}

/* --- the end of an epoch --------------------------------------------------------------------- */

static bool run_evaluates(const px_trainer *t)
{
    const int64_t number = t->state.epoch + 1;
    return t->judge && (number == t->o.epochs || t->o.until_accuracy >= 0.0 ||
                        px_schedule_listens(t->schedule) ||
                        (t->o.eval_every > 0 && number % t->o.eval_every == 0));
}

static px_status run_record(px_trainer *t, bool evaluated, px_error *err)
{
    train_state *s = &t->state;
    const double nothing = (double)NAN;
    PX_TRY(pxi_history_reserve(t, (size_t)s->history_count + 1, err));
    t->history[s->history_count++] = (px_train_epoch){
        .epoch = s->epoch + 1,
        .lr = s->lr,
        .loss = s->loss_sum / (double)s->seen,
        .accuracy = (double)s->correct / (double)s->seen,
        .test_loss = evaluated ? s->test_loss : nothing,
        .test_accuracy = evaluated ? s->test_accuracy : nothing,
        .seconds = s->epoch_s,
        .images_per_s = s->epoch_s > 0.0 ? (double)s->seen / s->epoch_s : nothing,
    };
    return PX_OK;
}

static px_status run_report(px_trainer *t, px_error *err)
{
    if (!t->o.epoch)
        return PX_OK;
    return t->o.epoch(t->o.context, t->history, (size_t)t->state.history_count, err);
}

/* What plateau goes by: the test set's figure, the training set's where there is none. */
static double run_watched(const px_trainer *t)
{
    const px_train_epoch *last = &t->history[t->state.history_count - 1];
    if (px_schedule_wants_more(t->schedule))
        return t->judge ? last->test_accuracy : last->accuracy;
    return t->judge ? last->test_loss : last->loss;
}

/* Evaluates, writes the epoch into the history and goes to the next. */
static px_status run_close_epoch(px_trainer *t, px_error *err)
{
    train_state *s = &t->state;
    const bool evaluated = run_evaluates(t);
    if (evaluated)
        PX_TRY(pxi_train_judge(t, err));
    PX_TRY(run_record(t, evaluated, err));
    if (px_schedule_listens(t->schedule))
        px_schedule_report(t->schedule, run_watched(t));
    if (evaluated && s->test_accuracy > s->best_accuracy) {
        s->best_accuracy = s->test_accuracy;
        s->best_epoch = s->epoch + 1;
        if (t->best)
            PX_TRY(px_weights_copy(t->best, t->weights, err));
    }
    s->epoch++;
    s->step = s->seen = s->correct = 0;
    s->loss_sum = s->epoch_s = 0.0;
    return PX_OK;
}

/* --- ways to stop ---------------------------------------------------------------------------- */

/* With retries left: back to where the epoch began, half as fast. */
static px_status run_diverge(px_trainer *t, const char *what, int64_t step, px_error *err)
{
    t->diverged = true;
    if (t->state.retries < t->o.retries && t->back.weights) {
        const train_state now = t->state;
        PX_TRY(pxi_snapshot_restore(t, err));
        t->state.halvings = now.halvings + 1;
        t->state.retries = now.retries + 1;
        t->back.state.halvings = t->state.halvings;
        t->back.state.retries = t->state.retries;
        t->diverged = false;
        return PX_OK;
    }
    char kept[256] = "";
    if (t->o.checkpoint && t->checkpoint_step >= 0)
        snprintf(kept, sizeof kept, "; '%.150s' has the state after %" PRId64 " steps",
                 t->o.checkpoint, t->checkpoint_step);
    return px_fail(
        err, PX_E_INTERNAL,
        "%s at epoch %" PRId64 ", step %" PRId64 " of %" PRId64
        ", with a learning rate of %g: training stops%s; a lower learning rate, warm-up "
        "or clipping may help",
        what, t->state.epoch + 1, step, t->steps,
        ldexp(px_schedule_at(t->schedule, pxi_train_steps_done(t)).lr, -(int)t->state.halvings),
        kept);
}

static px_status run_cancel(px_trainer *t, px_error *err)
{
    if (pxi_train_goes_back(t) && t->back.weights)
        PX_TRY(pxi_snapshot_restore(t, err)); /* to step 0 maybe, but after some retries */
    else if (pxi_train_steps_done(t) == 0)
        return px_fail(err, PX_E_CANCELLED, "cancelled before the first step; nothing was kept");
    if (!t->o.checkpoint)
        return px_fail(err, PX_E_CANCELLED,
                       "stopped in epoch %" PRId64 " after %" PRId64
                       " steps; nothing was kept, as no checkpoint was asked for",
                       t->state.epoch + 1, t->state.step);
    PX_TRY(pxi_checkpoint_save(t, err));
    return px_fail(err, PX_E_CANCELLED,
                   "stopped in epoch %" PRId64 " after %" PRId64
                   " steps; '%s' has the state, to be resumed from",
                   t->state.epoch + 1, t->state.step, t->o.checkpoint);
}

/* --- the loop -------------------------------------------------------------------------------- */

/* What clocks and signals say after a step, for all ranks the same. */
static px_status run_ask(px_trainer *t, px_error *err)
{
    const bool due =
        t->o.checkpoint_s > 0.0 && px_clock_s() - t->checkpoint_at_s >= t->o.checkpoint_s;
    uint64_t said = (uint64_t)run_tell(t, false) | (uint64_t)due << 1;
    PX_TRY(pxi_ranks_first("the end of a step", PX_OK, 0, &said, err));
    t->due = (said & 2) != 0;
    return said & 1 ? PX_OK : px_fail(err, PX_E_CANCELLED, "cancelled");
}

static bool run_checkpoint_due(const px_trainer *t)
{
    if (!t->o.checkpoint)
        return false;
    return t->due ||
           (t->o.checkpoint_steps > 0 &&
            pxi_train_steps_done(t) - PX_MAX(t->checkpoint_step, 0) >= t->o.checkpoint_steps);
}

/* After a step or the end of an epoch: is it a place to stop at or to come back to? */
static px_status run_keep(px_trainer *t, bool closed, bool checked, px_error *err)
{
    const bool back = pxi_train_goes_back(t);
    const bool place = !back || (t->o.until_accuracy >= 0.0 ? checked : closed);
    const bool save = place && (closed || t->state.reached || run_checkpoint_due(t));
    if ((closed || save) && !pxi_weights_finite(t->weights)) {
        const int64_t step = closed ? t->steps : t->state.step;
        t->state.epoch -= closed; /* where it happened */
        t->state.history_count -= closed;
        return run_diverge(t, "a weight is not a number", step, err);
    }
    if (back && place)
        PX_TRY(pxi_snapshot_take(t, err));
    if (save)
        PX_TRY(pxi_checkpoint_save(t, err));
    return closed || t->state.reached ? run_report(t, err) : PX_OK;
}

/* The check of `until`: false in *stays where it went back. */
static px_status run_check(px_trainer *t, bool closed, bool *stays, px_error *err)
{
    const int64_t before = pxi_train_steps_done(t);
    if (!closed)
        PX_TRY(pxi_train_judge(t, err));
    PX_TRY(pxi_until_check(t, err));
    *stays = pxi_train_steps_done(t) == before;
    return t->state.reached && !closed ? run_record(t, true, err) : PX_OK;
}

static px_status run_one(px_trainer *t, px_error *err)
{
    train_state *s = &t->state;
    if (t->begun != s->epoch) {
        PX_TRY(px_feeder_begin(t->o.feeder, s->epoch, err));
        t->begun = s->epoch;
    }
    if (s->step < t->steps) {
        PX_TRY(pxi_train_step(t, err));
        if (t->diverged)
            return run_diverge(t, "the loss is not a number", s->step + 1, err);
        PX_TRY(run_ask(t, err));
    }
    const bool closed = s->step == t->steps;
    bool stays = true;
    const bool check = t->o.until_accuracy >= 0.0 && (closed || pxi_until_due(t));
    if (closed)
        PX_TRY(run_close_epoch(t, err));
    if (check)
        PX_TRY(run_check(t, closed, &stays, err));
    return stays ? run_keep(t, closed, check, err) : PX_OK;
}

px_status px_trainer_run(px_trainer *t, px_error *err)
{
    px_status status = PX_OK;
    t->checkpoint_at_s = px_clock_s();
    if (run_is_done(t)) /* a checkpoint of a finished run */
        goto finish;
    if (t->o.until_accuracy >= 0.0 && isnan(t->state.test_accuracy)) /* not judged yet */
        status = pxi_until_start(t, err);
    PX_THEN_IF(status, pxi_train_goes_back(t), pxi_snapshot_take(t, err));
    while (status == PX_OK && !run_is_done(t))
        status = run_one(t, err);
    if (status == PX_E_CANCELLED)
        return run_cancel(t, err);
    if (status != PX_OK)
        return status;
finish:
    if (t->best && t->state.best_epoch) {
        for (int64_t i = 0; i < t->state.history_count; i++)
            if (t->history[i].epoch == t->state.best_epoch) {
                t->state.test_loss = t->history[i].test_loss;
                t->state.test_accuracy = t->history[i].test_accuracy;
            }
        PX_TRY(px_weights_copy(t->weights, t->best, err));
    }
    return PX_OK;
}
