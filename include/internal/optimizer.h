/* include/internal/optimizer.h - what moves weights: optimisers, learning-rate schedules, losses
 *
 *     px_schedule_new("warmup:1+cosine", 0.1, steps_per_epoch, epochs, &schedule, &err);
 *     px_optimizer_new("sgd:momentum=0.9,nesterov=1,decay=5e-4", shapes, count, &opt, &err);
 *     for (int64_t step = 0; step < steps; step++) {   // forward, the loss's gradients, backward
 *         px_loss_seed(&loss, session, &scores, labels, NULL, n, 1.0 / batch, &sum, &right, &err);
 *         px_optimizer_begin(opt, px_schedule_at(schedule, step), 1.0);
 *         for (size_t i = 0; i < px_optimizer_piece_count(opt); i++)    // on as many threads as
 *             px_optimizer_move(opt, px_optimizer_piece(opt, i), weights, gradients); // one likes
 *     }
 *
 * All three are chosen by a text NAME[:KEY=VALUE,...] that is read strictly: what is unknown or out
 * of range is refused, and the message names what there is. docs/train.md has the formulas.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PXI_INTERNAL_OPTIMIZER_H
#define PXI_INTERNAL_OPTIMIZER_H

#include <plexor/engine.h>
#include <plexor/registry.h>

PX_BEGIN_DECLS

/* --- what there is --------------------------------------------------------------------------- */

typedef struct px_setting {
    const char *name; /* NULL ends a list */
    double standard;  /* used where the text does not say */
    double least, most;
    bool whole;        /* an integer; with limits 0 and 1 a switch */
    bool above, below; /* `least`, `most` themselves are out of range */
    const char *help;
} px_setting;

typedef struct px_choice {
    px_entry entry;
    const char *usage; /* "sgd[:KEY=VALUE,...]" */
    const px_setting *settings;
    int bare;         /* how many of the first settings may be given without their name, in order */
    const char *list; /* what numbers without a name are instead ("epochs"); NULL: see `bare` */
} px_choice;

PX_REGISTRY(pxi_optimizers, px_choice, px_optimizer_choice)
PX_REGISTRY(pxi_schedules, px_choice, px_schedule_choice)
PX_REGISTRY(pxi_losses, px_choice, px_loss_choice)
/* What --augment takes, a list of them (<internal/feeder.h>). */
PX_REGISTRY(pxi_augmentations, px_choice, px_augmentation)

/* --- schedules ------------------------------------------------------------------------------- */

/* How fast one step goes. */
typedef struct px_pace {
    double lr;
    double momentum; /* momentum, or beta1 of Adam; NaN: as the optimiser's text says */
} px_pace;

typedef struct px_schedule px_schedule;
typedef struct px_optimizer px_optimizer;

/* `lr` is the rate that the schedule starts from, or for onecycle its peak. Both counts are at
 * least 1. */
px_status px_schedule_new(const char *spec, double lr, int64_t steps_per_epoch, int64_t epochs,
                          px_schedule **out, px_error *err);
void px_schedule_free(px_schedule *schedule); /* NULL is fine */

/* The pace of step 0, 1, ... counted over the whole run; steps past its end are paced like the
 * last one. A pure function of the step, except that plateau also depends on what was reported. */
px_pace px_schedule_at(const px_schedule *schedule, int64_t step);

/* What plateau watches, once per epoch: a loss, or with mode max=1 an accuracy. Returns whether the
 * rate went down. The other schedules do not listen. */
bool px_schedule_report(px_schedule *schedule, double value);
bool px_schedule_listens(const px_schedule *schedule);
bool px_schedule_wants_more(const px_schedule *schedule); /* it watches an accuracy */

/* Refuses a schedule that moves a momentum which the optimiser does not have; such an optimiser
 * would ignore it. */
px_status px_schedule_check(const px_schedule *schedule, const px_optimizer *optimizer,
                            px_error *err);

/* For checkpoints: a float64 vector, borrowed from the schedule. Restoring it refuses tensors of
 * another type or size, and values that no run gives. */
px_tensor px_schedule_state(px_schedule *schedule);
px_status px_schedule_restore(px_schedule *schedule, const px_tensor *state, px_error *err);

/* --- optimisers ------------------------------------------------------------------------------ */

/* One optimiser for `count` float32 tensors of the given shapes; the shapes are copied. */
px_status px_optimizer_new(const char *spec, const px_shape *shapes, size_t count,
                           px_optimizer **out, px_error *err);
void px_optimizer_free(px_optimizer *optimizer);              /* NULL is fine */
const char *px_optimizer_spec(const px_optimizer *optimizer); /* with every setting */
bool px_optimizer_has_momentum(const px_optimizer *optimizer);

/* Counts a step and fixes its pace; gradients are multiplied by `scale` first (1: as they are; less
 * where the caller clips). Then every element of every tensor is moved once, by
 * px_optimizer_move() on a range of one tensor: distinct ranges on any threads at once, in any
 * order and any split, always with the same bits. */
void px_optimizer_begin(px_optimizer *optimizer, px_pace pace, double scale);

typedef struct px_piece { /* elements first..first+count-1 of a tensor */
    size_t tensor, first, count;
} px_piece;

/* `weights` and `gradient` are those of element 0 of the piece's tensor. */
void px_optimizer_move(px_optimizer *optimizer, px_piece piece, float *weights,
                       const float *gradient);

/* A split of all tensors into pieces of a size that suits the caches. */
size_t px_optimizer_piece_count(const px_optimizer *optimizer);
px_piece px_optimizer_piece(const px_optimizer *optimizer, size_t i);

/* For checkpoints: the state as named tensors ("step", an int64 scalar; "momentum/0", ... with the
 * tensor's number and shape), borrowed from the optimiser. Restoring asks `find` for each name
 * (NULL: absent) and refuses what is absent or does not fit; then nothing has changed. */
typedef struct px_state {
    char name[48];
    px_tensor tensor;
} px_state;
typedef const px_tensor *(*px_state_find)(const void *context, const char *name);
size_t px_optimizer_state_count(const px_optimizer *optimizer);
px_state px_optimizer_state(px_optimizer *optimizer, size_t i);
px_status px_optimizer_restore(px_optimizer *optimizer, px_state_find find, const void *context,
                               px_error *err);

/* --- losses ---------------------------------------------------------------------------------- */

typedef struct px_loss { /* open: made by px_loss_parse() */
    enum { PX_LOSS_CROSS_ENTROPY, PX_LOSS_MSE } kind;
    double smoothing; /* cross-entropy: share of the target spread over all classes */
    bool softmax;     /* mse: of the probabilities, not of the scores themselves */
} px_loss;

px_status px_loss_parse(const char *spec, px_loss *out, px_error *err);

/* The loss of one sample, in double. Its target is the class `label`, or a distribution `target`
 * over the classes (then the label is not looked at). `gradient` (may be NULL) gets the derivative
 * by each score. `probabilities`: the scores went through a softmax already. */
double px_loss_sample(const px_loss *loss, const float *scores, int classes, bool probabilities,
                      int64_t label, const float *target, float *gradient);

/* After a forward run: adds `scale` times each sample's gradient at the class scores, for the first
 * `samples` rows. Exactly one of `labels` [samples] and `targets` [samples][classes] is given.
 * `losses` (unscaled) and `predictions` (px_argmax) get one per sample and may be NULL. */
px_status px_loss_seed(const px_loss *loss, px_session *session, const px_scores *scores,
                       const int64_t *labels, const float *targets, int64_t samples, double scale,
                       double *losses, int64_t *predictions, px_error *err);

PX_END_DECLS
#endif
