/* src/train/trainer.h - a run of training: what its files share
 *
 * trainer.c makes one, trainer_step.c does one optimiser step, trainer_run.c the epochs around it,
 * until.c stops at an accuracy, snapshot.c goes back in memory, checkpoint.c on disk.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PXI_TRAIN_TRAINER_H
#define PXI_TRAIN_TRAINER_H

#include "train/adversary.h"

#include <internal/optimizer.h>
#include <internal/train.h>
#include <plexor/eval.h>
#include <plexor/text.h>
#include <plexor/weights.h>

/* With the weights, the optimiser's and the schedule's state, this decides all that comes; only
 * what ends in _s is clock time. */
typedef struct train_state {
    int64_t epoch, step; /* the next one to do; step == steps: the epoch has still to be closed */
    int64_t halvings, retries;
    double loss_sum; /* of this epoch so far */
    int64_t seen, correct;
    double lr;                       /* of the last step */
    double test_loss, test_accuracy; /* the last ones measured; NaN: none */
    int64_t best_epoch;              /* from 1; 0: none yet */
    double best_accuracy;
    bool until_fine, reached;
    double epoch_s, train_s; /* in training steps: of this epoch, of the whole run */
    int64_t trained;         /* inputs in train_s, which what was taken back is part of */
    int64_t history_count;
} train_state;

/* A state to go back to. */
typedef struct train_snapshot {
    px_weights *weights; /* NULL: there is no snapshot */
    px_state *optimizer; /* tensors of its own */
    size_t optimizer_count;
    px_tensor schedule;
    train_state state;
} train_snapshot;

struct px_trainer {
    px_trainer_options o; /* texts are copies */
    px_model *owned;      /* a copy of o.model without Constant nodes that hold weights, or NULL */
    const px_model *model;
    px_scores scores;
    px_loss loss;
    px_weights *weights;
    px_weight **moved; /* those that training may change */
    size_t moved_count;
    int64_t parameters, frozen;

    px_plan *plan;
    px_team *team;
    px_predictor *judge;      /* NULL: no test set */
    pxi_adversary *adversary; /* NULL: inputs are trained on as they are */
    px_schedule *schedule;
    px_optimizer *optimizer;
    int64_t steps;   /* per epoch */
    int64_t samples; /* per epoch */
    size_t floats;   /* per input */

    int64_t begun; /* the epoch that the feeder stands in; -1: none */
    int64_t batch; /* of the step that runs */
    int64_t *labels, *predictions;
    float *targets; /* soft ones, per sample and class; NULL: the labels are what counts */
    double *losses;
    const float **gradients; /* per moved weight, of the step that runs */
    double *squares;         /* per piece: its part of the norm; NULL: no clipping */

    train_state state;
    px_train_epoch *history;
    size_t history_room;
    train_snapshot back; /* where `until` and `retries` return to */
    px_weights *best;    /* with keep_best */
    px_property *facts;  /* all of them, keys and values owned */
    size_t fact_count, fact_room;

    int64_t resumed_step, checkpoint_step;
    double checkpoint_at_s,
        judge_s; /* when the last one was written; how long one judgement took */
    int64_t ran; /* inputs and seconds of this process, for the rate */
    double ran_s;
    bool diverged;
    bool due; /* for a checkpoint, by the clock */
};

/* trainer_frozen.c: frozen[i] = weight i belongs to a layer that `layers` chooses. */
px_status pxi_train_frozen(const px_model *model, px_weights *weights, const char *layers,
                           const px_feed *feed, bool *frozen, px_error *err);

/* trainer_step.c: forward, backward and the optimiser's step on one batch; moves the state on. */
px_status pxi_train_step(px_trainer *trainer, px_error *err);

/* trainer_run.c */
int64_t pxi_train_steps_done(const px_trainer *trainer);
px_status pxi_train_judge_open(px_trainer *trainer, px_error *err); /* there is a test set */
px_status pxi_train_judge(px_trainer *trainer, px_error *err);
bool pxi_train_goes_back(const px_trainer *trainer); /* until or retries: there is a snapshot */

/* until.c: whether a check is due after the step just done, and what comes of it. */
bool pxi_until_due(const px_trainer *trainer);
px_status pxi_until_start(px_trainer *trainer, px_error *err);
px_status pxi_until_check(px_trainer *trainer, px_error *err);

/* snapshot.c */
px_status pxi_snapshot_take(px_trainer *trainer, px_error *err);
px_status pxi_snapshot_restore(px_trainer *trainer, px_error *err); /* keeps the clock going */
void pxi_snapshot_done(train_snapshot *snapshot);
bool pxi_weights_finite(px_weights *weights);

/* facts.c */
px_status pxi_facts_make(px_trainer *trainer, px_error *err);
void pxi_facts_free(px_trainer *trainer);

/* checkpoint.c: nothing happens without a path. */
px_status pxi_checkpoint_save(px_trainer *trainer, px_error *err);
/* checkpoint_load.c: goes on from the file, or makes sure that there is none. */
px_status pxi_checkpoint_open(px_trainer *trainer, px_error *err);

/* The columns of the history, in the order of files. */
enum { PXI_HISTORY_COLUMNS = 8 };
void pxi_history_row(const px_train_epoch *epoch, double row[PXI_HISTORY_COLUMNS]);
void pxi_history_read(const double row[PXI_HISTORY_COLUMNS], px_train_epoch *epoch);
px_status pxi_history_reserve(px_trainer *trainer, size_t count, px_error *err);

#endif
