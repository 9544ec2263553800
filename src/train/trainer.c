/* src/train/trainer.c - making a run of training, and what is left of it at the end */
/* SPDX-License-Identifier: Apache-2.0 */
#include "train/trainer.h"

#include "base/memory.h"
#include <internal/gradient_reach.h>
#include <internal/sample_plan.h>

#include <errno.h>
#include <internal/build.h>
#include <internal/engine.h>
#include <internal/ranks.h>
#include <internal/weights.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

px_trainer_options px_trainer_options_default(void)
{
    return (px_trainer_options){
        .loss = "cross-entropy",
        .optimizer = "sgd",
        .schedule = "constant",
        .lr = 0.05,
        .epochs = 10,
        .eval_every = 1,
        .adversary = px_adversary_default(),
        .until_accuracy = -1.0,
        .checkpoint_s = 60.0,
    };
}

static px_status trainer_check(const px_trainer_options *o, px_error *err)
{
    if (o->epochs < 1 || o->epochs > 1000000)
        return px_fail(err, PX_E_USAGE, "training for %" PRId64 " epochs is not possible",
                       o->epochs);
    if (!(o->lr > 0.0) || !isfinite(o->lr))
        return px_fail(err, PX_E_USAGE, "a learning rate of %g is not possible", o->lr);
    if (!(o->clip >= 0.0) || !isfinite(o->clip))
        return px_fail(err, PX_E_USAGE, "clipping gradients to a norm of %g is not possible",
                       o->clip);
    if (o->until_accuracy > 1.0)
        return px_fail(err, PX_E_USAGE,
                       "an accuracy of %g cannot be reached; it is a fraction from 0 to 1",
                       o->until_accuracy);
    if (o->until_accuracy >= 0.0 && !o->test.set)
        return px_fail(err, PX_E_USAGE, "training until an accuracy needs data to measure it on");
    if (o->keep_best && (!o->test.set || o->until_accuracy >= 0.0))
        return px_fail(err, PX_E_USAGE,
                       "keeping the best epoch needs data to measure it on, and "
                       "does not go with stopping at an accuracy");
    return PX_OK;
}

/* The caller's texts need not outlive the call. */
static px_status trainer_copy_texts(px_trainer *t, px_error *err)
{
    const char **const texts[] = {&t->o.loss, &t->o.optimizer, &t->o.schedule, &t->o.freeze,
                                  &t->o.checkpoint};
    const char *const standard[] = {"cross-entropy", "sgd", "constant", NULL, NULL};
    bool room = true;
    for (size_t i = 0; i < PX_LEN(texts); i++) {
        const char *text = *texts[i] ? *texts[i] : standard[i];
        *texts[i] = text ? pxi_strdup(text) : NULL;
        room = room && (*texts[i] || !text);
    }
    return room ? PX_OK : pxi_no_memory(err);
}

static bool node_holds_weights(const px_node *node)
{
    if (strcmp(node->type, "Constant") != 0 || node->domain[0])
        return false;
    const px_attr *value = px_node_attr(node, "value"), *list = px_node_attr(node, "value_floats");
    return list || (value && value->tensor.dtype == PX_FLOAT32 && value->tensor.shape.rank > 0);
}

/* Weights are initialisers; exporters that write Constant nodes instead are put right. */
static px_status trainer_model(px_trainer *t, px_error *err)
{
    const px_graph *graph = px_model_graph(t->o.model);
    t->model = t->o.model;
    for (int i = 0; i < graph->node_count; i++) {
        if (!node_holds_weights(&graph->nodes[i]))
            continue;
        px_builder *builder = NULL;
        PX_TRY(px_builder_from_model(t->o.model, &builder, err));
        PX_TRY(px_builder_finish(builder, &t->owned, err));
        t->model = t->owned;
        return PX_OK;
    }
    return PX_OK;
}

/* reaches[i] = the scores' gradient comes to weight i. An operator that has none and stands between
 * is an error that names it. */
static px_status trainer_reach(const px_trainer *t, bool *reaches, px_error *err)
{
    pxi_reach reach = {0};
    px_status status = pxi_reach_init(&reach, t->model, t->scores.value, err);
    for (size_t i = 0; i < t->moved_count && status == PX_OK; i++) {
        const px_weight *weight = t->moved[i];
        reaches[i] = reach.reached[weight->value];
        const px_node *gap = reaches[i] ? NULL : pxi_reach_gap(&reach, weight->value);
        if (gap)
            status = px_fail(err, PX_E_UNSUPPORTED,
                             "operator '%s' (node '%s') has no gradient, so weight '%s' before it "
                             "cannot be trained; freeze the layers up to there",
                             gap->type, gap->name, weight->name);
    }
    pxi_reach_done(&reach);
    return status;
}

/* Leaves out weights that the scores do not depend on, as those of a second head. `scratch` has
 * room for all weights. */
static px_status trainer_reachable(px_trainer *t, bool *scratch, px_error *err)
{
    size_t kept = 0;
    PX_TRY(trainer_reach(t, scratch, err));
    for (size_t i = 0; i < t->moved_count; i++) {
        const int64_t size = px_shape_count(&t->moved[i]->tensor.shape);
        *(scratch[i] ? &t->parameters : &t->frozen) += size;
        if (scratch[i])
            t->moved[kept++] = t->moved[i];
    }
    t->moved_count = kept;
    return PX_OK;
}

/* Chooses the weights that move. */
static px_status trainer_weights(px_trainer *t, const px_feed *feed, px_error *err)
{
    PX_TRY(px_weights_new(t->model, &t->weights, err));
    const size_t count = px_weights_count(t->weights);
    bool *frozen = pxi_calloc(PX_MAX(count, 1), sizeof *frozen);
    t->moved = pxi_calloc(PX_MAX(count, 1), sizeof *t->moved);
    if (!frozen || !t->moved) {
        free(frozen);
        return pxi_no_memory(err);
    }
    px_status status = PX_OK;
    if (t->o.freeze)
        status = pxi_train_frozen(t->model, t->weights, t->o.freeze, feed, frozen, err);
    for (size_t i = 0; i < count && status == PX_OK; i++) {
        px_weight *weight = px_weights_get(t->weights, i);
        if (weight->role == PX_WEIGHT_PARAMETER && frozen[i])
            t->frozen += px_shape_count(&weight->tensor.shape);
        else if (weight->role == PX_WEIGHT_PARAMETER)
            t->moved[t->moved_count++] = weight;
    }
    PX_THEN(status, trainer_reachable(t, frozen, err));
    free(frozen);
    if (status == PX_OK && t->moved_count == 0)
        status = px_fail(err, PX_E_MISMATCH,
                         t->frozen ? "'%s' freezes every weight, nothing is left to train"
                                   : "the network has no weights to train",
                         t->o.freeze);
    return status;
}

static px_status trainer_plan(px_trainer *t, const px_feed *feed, px_error *err)
{
    int *wrt = NULL;
    PX_TRY(PX_NEW(wrt, t->moved_count, err));
    for (size_t i = 0; i < t->moved_count; i++)
        wrt[i] = t->moved[i]->value;
    px_plan_options options = px_plan_options_default();
    options.batch = t->o.micro_batch;
    options.team_samples = px_feeder_batch(t->o.feeder);
    options.weights = t->weights;
    options.training = true;
    options.frozen_norms = t->o.freeze_norms;
    options.keep = options.seeds = &t->scores.value;
    options.keep_count = options.seed_count = 1;
    options.wrt = wrt;
    options.wrt_count = t->moved_count;
    options.no_outputs = true;
    px_status status =
        pxi_sample_plan(t->model, feed, options, px_feeder_batch(t->o.feeder), &t->plan, err);
    PX_THEN(status,
            px_team_new(t->plan, t->o.threads, px_feeder_batch(t->o.feeder), &t->team, err));
    free(wrt);
    return status;
}

static px_status trainer_optimizer(px_trainer *t, px_error *err)
{
    PX_TRY(px_schedule_new(t->o.schedule, t->o.lr, t->steps, t->o.epochs, &t->schedule, err));
    px_shape *shapes = NULL;
    PX_TRY(PX_NEW(shapes, t->moved_count, err));
    for (size_t i = 0; i < t->moved_count; i++)
        shapes[i] = t->moved[i]->tensor.shape;
    const px_status status =
        px_optimizer_new(t->o.optimizer, shapes, t->moved_count, &t->optimizer, err);
    free(shapes);
    return status == PX_OK ? px_schedule_check(t->schedule, t->optimizer, err) : status;
}

static px_status trainer_buffers(px_trainer *t, px_error *err)
{
    const size_t batch = (size_t)px_feeder_batch(t->o.feeder);
    t->labels = pxi_calloc(batch, sizeof *t->labels);
    t->predictions = pxi_calloc(batch, sizeof *t->predictions);
    t->losses = pxi_calloc(batch, sizeof *t->losses);
    t->gradients = pxi_calloc(t->moved_count, sizeof *t->gradients);
    bool room = t->labels && t->predictions && t->losses && t->gradients;
    if (room && px_feeder_is_soft(t->o.feeder)) {
        size_t count;
        room = !__builtin_mul_overflow(batch, (size_t)t->scores.classes, &count) &&
               (t->targets = pxi_calloc(count, sizeof *t->targets)) != NULL;
    }
    if (room && t->o.clip > 0.0) {
        t->squares = pxi_calloc(px_optimizer_piece_count(t->optimizer), sizeof *t->squares);
        room = t->squares != NULL;
    }
    return room ? PX_OK : pxi_no_memory(err);
}

static px_status trainer_adversary(px_trainer *t, px_error *err)
{
    const pxi_adversary_job job = {
        .model = t->model,
        .weights = t->weights,
        .feeder = t->o.feeder,
        .scores = &t->scores,
        .micro_batch = t->o.micro_batch,
        .threads = t->o.threads,
        .seed = t->o.seed,
    };
    return t->o.adversary.method ? pxi_adversary_new(&job, &t->o.adversary, &t->adversary, err)
                                 : PX_OK;
}

static px_status trainer_setup(px_trainer *t, px_error *err)
{
    const px_shape sample = px_feeder_shape(t->o.feeder);
    px_feed feed;
    PX_TRY(trainer_copy_texts(t, err));
    PX_TRY(trainer_model(t, err));
    PX_TRY(px_model_scores(t->model, &t->scores, err));
    PX_TRY(px_loss_parse(t->o.loss, &t->loss, err));
    if (t->o.label_smoothing > 0.0)
        t->loss.smoothing = t->o.label_smoothing;
    PX_TRY(pxi_sample_feed(t->model, &sample, t->o.test.pre ? t->o.test.pre->channels_last : false,
                           &feed, err));
    PX_TRY(trainer_weights(t, &feed, err));
    t->steps = px_feeder_steps(t->o.feeder);
    for (int64_t i = 0; i < t->steps; i++)
        t->samples += px_feeder_samples(t->o.feeder, i);
    t->floats = px_feeder_floats(t->o.feeder);
    PX_TRY(trainer_optimizer(t, err));
    PX_TRY(trainer_plan(t, &feed, err));
    PX_TRY(trainer_adversary(t, err));
    if (t->o.test.set)
        PX_TRY(pxi_train_judge_open(t, err));
    PX_TRY(trainer_buffers(t, err));
    if (t->o.keep_best)
        PX_TRY(px_weights_new(t->model, &t->best, err));
    PX_TRY(pxi_facts_make(t, err));
    return pxi_checkpoint_open(t, err);
}

px_status px_trainer_new(const px_trainer_options *options, px_trainer **out, px_error *err)
{
    PX_TRY(trainer_check(options, err));
    px_trainer *t = NULL;
    PX_TRY(PX_NEW(t, 1, err));
    t->o = *options;
    t->resumed_step = t->begun = -1;
    t->state.test_loss = t->state.test_accuracy = (double)NAN;
    t->state.best_accuracy = -1.0;
    const px_status status = trainer_setup(t, err);
    return PX_GIVE(status, t, out, px_trainer_free);
}

void px_trainer_free(px_trainer *t)
{
    if (!t)
        return;
    pxi_snapshot_done(&t->back);
    pxi_facts_free(t);
    px_team_free(t->team);
    px_plan_free(t->plan);
    pxi_adversary_free(t->adversary);
    px_predictor_free(t->judge);
    px_optimizer_free(t->optimizer);
    px_schedule_free(t->schedule);
    px_weights_free(t->best);
    px_weights_free(t->weights);
    px_model_free(t->owned);
    free(t->squares);
    free(t->gradients);
    free(t->labels);
    free(t->targets);
    free(t->predictions);
    free(t->losses);
    free(t->moved);
    free(t->history);
    free((char *)t->o.loss);
    free((char *)t->o.optimizer);
    free((char *)t->o.schedule);
    free((char *)t->o.freeze);
    free((char *)t->o.checkpoint);
    free(t);
}

px_train_result px_trainer_result(const px_trainer *t)
{
    const train_state *s = &t->state;
    px_train_result r = {
        .epochs = s->history_count,
        .steps = pxi_train_steps_done(t),
        .loss = (double)NAN,
        .accuracy = (double)NAN,
        .test_loss = s->test_loss,
        .test_accuracy = s->test_accuracy,
        .images_per_s = s->train_s > 0.0 ? (double)s->trained / s->train_s : 0.0,
        .seconds = s->train_s,
        .best_epoch = s->best_epoch,
        .best_accuracy = s->best_epoch ? s->best_accuracy : (double)NAN,
        .resumed_step = t->resumed_step,
        .micro_batch = px_plan_batch(t->plan),
        .parameters = t->parameters,
        .frozen = t->frozen,
        .halvings = s->halvings,
        .diverged = t->diverged,
        .reached = s->reached,
        .history = t->history,
        .history_count = (size_t)s->history_count,
    };
    if (s->seen > 0) { /* stopped within an epoch */
        r.loss = s->loss_sum / (double)s->seen;
        r.accuracy = (double)s->correct / (double)s->seen;
    } else if (s->history_count > 0) {
        r.loss = t->history[s->history_count - 1].loss;
        r.accuracy = t->history[s->history_count - 1].accuracy;
    }
    return r;
}

px_adversary px_trainer_adversary(const px_trainer *t)
{
    return t->o.adversary;
}

px_weights *px_trainer_weights(px_trainer *t)
{
    return t->weights;
}

px_status px_trainer_freeze(const px_trainer *t, const px_property *set, size_t set_count,
                            px_model **out, px_error *err)
{
    return px_weights_freeze(t->weights, set, set_count, out, err);
}

px_status px_trainer_discard(px_trainer *t, px_error *err)
{
    if (t->o.checkpoint && !pxi_ranks_mute() && unlink(t->o.checkpoint) != 0 && errno != ENOENT)
        return px_fail(err, PX_E_IO, "'%s': cannot remove: %s", t->o.checkpoint, strerror(errno));
    return PX_OK;
}
