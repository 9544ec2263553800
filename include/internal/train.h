/* include/internal/train.h - the training loop and its checkpoints
 *
 *     px_trainer_options options = px_trainer_options_default();
 *     options.model = model;                         // px_arch_build() or px_model_load()
 *     options.feeder = feeder;                       // what comes when: <internal/feeder.h>
 *     options.test = (px_judge_set){test, &pre};
 *     options.epochs = 10;
 *     px_trainer_new(&options, &trainer, &err);
 *     px_trainer_run(trainer, &err);
 *     px_trainer_freeze(trainer, properties, count, &trained, &err);   // a px_model to save
 *
 * Same options, data and seed give the same weights to the last bit, whatever the number of threads
 * and however often the run was stopped and resumed. A trainer belongs to one thread.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PXI_INTERNAL_TRAIN_H
#define PXI_INTERNAL_TRAIN_H

#include <internal/feeder.h>
#include <plexor/data.h>
#include <plexor/engine.h>
#include <plexor/field.h>
#include <plexor/weights.h>

PX_BEGIN_DECLS

typedef struct px_judge_set {
    const px_dataset *set; /* NULL: there is none. Borrowed */
    const px_preprocess *pre;
} px_judge_set;

/* Mean and standard deviation per channel of scaled pixels, to four digits, into pre->mean and
 * pre->stddev (a constant channel: 1). All of the data set is read, or, where it has more than 2^28
 * values, so many samples at even distances. */
px_status px_preprocess_measure(px_preprocess *pre, const px_dataset *set, int threads,
                                px_error *err);

/* --- what to begin with ---------------------------------------------------------------------- */

typedef struct px_recipe {                      /* settings that work, for those who give none */
    const char *optimizer, *schedule, *augment; /* as the options of those names; "": none */
    double lr, decay;
    int64_t epochs, batch;
} px_recipe;

/* For an architecture of the zoo, or, with NULL, for going on with a trained network. `channels`
 * of the pictures: colour pictures are augmented where that is the custom. */
px_recipe px_recipe_get(const char *arch, int64_t channels);

/* --- an adversary ------------------------------------------------------------------------------
 *
 * Adversarial training (Madry et al., ICLR 2018): before every step, a share of the batch is
 * replaced by attacks on the network as it is then, made with cross-entropy at the label that
 * training believes. The attack sees the network in evaluation mode (running statistics, nothing
 * dropped) and moves none of its statistics; the step itself is like any other. Inputs are attacked
 * after augmentation; all steps are taken, nothing is rounded, and values stay within the range.
 * Where all of a large eps from the first step ends with one answer for everything, stages help.
 * Random starts are those of (seed, PX_RNG_ADVERSARY, item, round): the same for any number of
 * threads, and after a resume.
 *
 *     px_adversary adversary = px_adversary_default();
 *     adversary.method = "pgd";
 *     PX_TRY(px_adversary_complete(&adversary, set, &pre, err));   // fills in what is open, checks
 *     trainer_options.adversary = adversary;                       // likewise px_repair_options
 */
typedef struct px_adversary {
    const char *method; /* "fgsm", "bim" or "pgd"; NULL: none, and the rest does not matter */
    double eps;         /* scaled units, by Linf; NaN: 0.3 of the range for inputs of one channel,
                           8/255 of it for others */
    double step_size;   /* NaN: eps/30 for one channel, eps/4 for others; fgsm: eps */
    int64_t steps;      /* 0: 40 for one channel, 7 for others; fgsm: 1 */
    double share;       /* of every batch: above 0 and up to 1 */
    double low, high;   /* what a scaled value may be; NaN: as px_attack_options */
    int64_t stages;     /* eps and step size grow in so many equal parts of the epochs, the last of
                           which has all of both; 0: the recipe's, and without one a single stage */
} px_adversary;

px_adversary px_adversary_default(void); /* none; everything open, and a share of 1 */

/* Fills in what is open for inputs of `set`; PX_E_USAGE for what cannot be. Without a method
 * nothing happens. `method` becomes static text. */
px_status px_adversary_complete(px_adversary *adversary, const px_dataset *set,
                                const px_preprocess *pre, px_error *err);
/* "pgd eps 0.3, 40 steps of 0.01 from random starts, 1 of every batch, values 0 to 1" of a complete
 * one, to the last digit; or "none". Returns `text`. */
#define PX_ADVERSARY_TEXT 256
const char *px_adversary_text(const px_adversary *adversary, char text[PX_ADVERSARY_TEXT]);

/* --- the loop -------------------------------------------------------------------------------- */

typedef struct px_trainer px_trainer;

typedef struct px_train_epoch { /* one line of the history; NaN: not measured */
    int64_t epoch;              /* counted from 1 */
    double lr;                  /* of its last step */
    double loss, accuracy;      /* mean over the epoch's training inputs as they came: augmented,
                                   attacked, with dropout, while the weights moved */
    double test_loss, test_accuracy;
    double seconds; /* of training steps, with loading and augmentation, without evaluation */
    double images_per_s;
} px_train_epoch;
extern const px_field px_train_epoch_fields[];

typedef struct px_train_progress {
    int64_t epoch, epochs; /* epoch: the running one, from 1 */
    int64_t step, steps;   /* done in this epoch, and how many it has */
    int64_t done, total;   /* training inputs seen so far and in the whole run */
    double loss, accuracy; /* of this epoch so far; NaN at its start */
    double test_accuracy;  /* the last one measured; NaN: none yet */
    double images_per_s;   /* of training steps in this process; 0 at the start */
    double seconds_left;   /* estimated, with evaluation; NaN at the start */
    bool evaluating;
} px_train_progress;

typedef struct px_trainer_options {
    const px_model *model; /* borrowed, must outlive the trainer */
    px_feeder *feeder;     /* borrowed; its batch is the optimiser's */
    px_judge_set test;     /* what is evaluated on; labels needed */

    const char *loss;      /* "cross-entropy", "mse", ...; NULL: cross-entropy (px_train_loss) */
    const char *optimizer; /* "sgd:momentum=0.9,nesterov=1,decay=5e-4"; NULL: "sgd" */
    const char *schedule;  /* "cosine", "step:20,30", ...; NULL: constant */
    double lr;             /* at most; what the schedule starts from */
    int64_t epochs;
    double label_smoothing; /* 0..1 */
    double clip;            /* largest norm of the whole gradient; 0: not clipped */
    const char *freeze;     /* layers whose weights stay, as in px_probe_options.layers; NULL: none.
                               A layer's weights are those of the nodes between its output and its
                               linear operator, and of that */
    bool freeze_norms;      /* BatchNormalization works with its running statistics, which stay */
    bool micro_norms;       /* it works with each micro-batch's own statistics, not the batch's */
    px_adversary adversary; /* what is open in it is filled in; px_trainer_adversary() has it */

    int64_t micro_batch; /* 0: chosen */
    int threads;         /* 0: one per core */
    uint64_t seed;       /* of dropout; the feeder has its own */
    int64_t eval_every;  /* epochs; the last one is always evaluated; 0: only that */
    bool keep_best;      /* end with the weights of the best evaluated epoch, not the last */
    int retries; /* a loss that is not a number: back to the start of the epoch with half the
                    learning rate, at most so often; then PX_E_INTERNAL */

    /* Ends when the accuracy on `test` is within half a point of this; < 0: off. See docs/train.md.
     */
    double until_accuracy;

    /* Where the run can be taken up again; NULL: nowhere. Written at each epoch's end, in between
     * every checkpoint_s seconds or checkpoint_steps steps (0: not), and on cancellation. */
    const char *checkpoint;
    double checkpoint_s;
    int64_t checkpoint_steps;
    bool resume; /* go on from `checkpoint` if it is there; else a file there is refused */
    bool fresh;  /* begin anew: a checkpoint that is there is removed */

    /* What else decides the result, to be recorded and compared on resume, in this order: a
     * checkpoint whose facts differ is refused, naming the first difference. */
    const px_property *facts;
    size_t fact_count;

    /* After each step, and during evaluation; false: stop after writing a checkpoint, and
     * px_trainer_run() is PX_E_CANCELLED. NULL: nobody looks. */
    bool (*progress)(void *context, const px_train_progress *progress);
    /* After each epoch; a failure stops the run. NULL: nobody looks. */
    px_status (*epoch)(void *context, const px_train_epoch *history, size_t count, px_error *err);
    void *context;
} px_trainer_options;

/* lr 0.05, 10 epochs, evaluation after every epoch, checkpoint every 60 seconds. */
px_trainer_options px_trainer_options_default(void);

/* Compiles the network for training; strings are copied. Refuses operators that have no gradient
 * (by name), labels the network has no class for, and checkpoints of other runs. With an adversary:
 * also networks whose gradients do not come to the input. */
px_status px_trainer_new(const px_trainer_options *options, px_trainer **out, px_error *err);
void px_trainer_free(px_trainer *trainer);

/* Trains to the end. PX_E_CANCELLED: the checkpoint, if there is one, has the state. PX_E_INTERNAL
 * with px_train_result.diverged: the loss is not a number; the message says where, the checkpoint
 * is the last good one. */
px_status px_trainer_run(px_trainer *trainer, px_error *err);

typedef struct px_train_result {
    int64_t epochs, steps; /* done, whole run; an epoch that until_accuracy ended counts */
    double loss, accuracy; /* of the last epoch in training */
    double test_loss, test_accuracy;
    double images_per_s;  /* training steps only, whole run */
    double seconds;       /* of training steps, whole run */
    int64_t best_epoch;   /* from 1; 0: none was evaluated */
    double best_accuracy; /* on the test set, of best_epoch */
    int64_t resumed_step; /* steps that were done when this process took over; -1: not resumed */
    int64_t micro_batch;  /* that was chosen */
    int64_t parameters;   /* that training may move */
    int64_t frozen;       /* that it may not */
    int64_t halvings;     /* of the learning rate, by until_accuracy or retries */
    bool diverged;        /* a loss was not a number */
    bool reached;         /* until_accuracy: the end is within half a point */
    const px_train_epoch *history; /* borrowed from the trainer */
    size_t history_count;
} px_train_result;
px_train_result px_trainer_result(const px_trainer *trainer);

/* The adversary, complete; without a method: none. */
px_adversary px_trainer_adversary(const px_trainer *trainer);

/* The weights as they are now. Borrowed. */
px_weights *px_trainer_weights(px_trainer *trainer);

/* A new model with these weights, independent of everything; properties replaced or added. */
px_status px_trainer_freeze(const px_trainer *trainer, const px_property *set, size_t set_count,
                            px_model **out, px_error *err);

/* What a written network says about itself: plexor.scale, mean, std, size and channels or audio,
 * classes, output and train, the JSON of how it was made. */
enum { PX_PROPERTIES_MOST = 12 };
typedef struct px_properties { /* {0} at first; px_properties_done() in any case */
    px_property item[PX_PROPERTIES_MOST];
    px_text text[PX_PROPERTIES_MOST];
    size_t count;
} px_properties;
px_status px_properties_describe(px_properties *out, const px_model *model, const px_scores *scores,
                                 const px_preprocess *pre, const px_dataset *set,
                                 const px_json *train, px_error *err);
/* Parts of that: mean, std, size and channels, and the scale if asked for; the names of `classes`
 * classes; and, behind the last of them, the values into place. */
void px_properties_preprocess(px_properties *out, const px_preprocess *pre, const px_dataset *set,
                              bool scale);
px_status px_properties_classes(px_properties *out, const px_model *model, const px_dataset *set,
                                int classes, px_error *err);
px_status px_properties_end(px_properties *out, px_error *err);
void px_properties_done(px_properties *properties);

/* Removes the checkpoint: the result is safe elsewhere. */
px_status px_trainer_discard(px_trainer *trainer, px_error *err);

/* The history as a file: .csv, or .jsonl with one object per epoch; whole or not at all. */
px_status px_train_log_save(const char *path, const px_train_epoch *history, size_t count,
                            px_error *err);

PX_END_DECLS
#endif
