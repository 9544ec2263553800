/* include/internal/repair.h - retraining with new inputs, and what that changed
 *
 *     px_repair_options options = px_repair_options_default();    // recipe: nss
 *     options.model = model;
 *     options.train = (px_feeder_set){.set = train, .pre = &pre};
 *     options.added = (px_feeder_set){.set = failures, .pre = &pre};
 *     options.test = (px_judge_set){test, &pre};
 *     px_repair_new(&options, &repair, &err);      // splits, chooses; px_repair_get() says what
 *     px_repair_run(repair, &err);                 // judges, trains, judges again
 *     px_repair_get(repair)->clean.regressions;
 *     px_repair_freeze(repair, NULL, 0, &repaired, &err);
 *
 * With an adversary (<internal/train.h>) a share of every batch is replaced by attacks, and nothing
 * need be added: adversarial training. The report then has a third set, `robust`: the test set
 * under the same attack, made anew on the network before and after.
 *
 *     options.recipe = *px_repair_recipe_find("growing");
 *     options.adversary = px_adversary_default();
 *     options.adversary.method = "pgd";                            // added.set stays NULL
 *
 * What a generator makes of the training inputs (<internal/failures.h>) is added like any other
 * set.
 *
 * Part of the added inputs is held back and never trained on, so that "the failures are gone" can
 * be told from "the failures were learnt by heart". docs/repair.md has the recipes and the report.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PXI_INTERNAL_REPAIR_H
#define PXI_INTERNAL_REPAIR_H

#include <internal/stats.h>
#include <internal/train.h>
#include <plexor/eval.h>
#include <plexor/registry.h>

PX_BEGIN_DECLS

/* --- recipes: how the papers retrain ---------------------------------------------------------- */

typedef struct px_repair_recipe { /* every field may be changed */
    px_entry entry;
    const char *chosen; /* what the paper leaves open and plexor chose; "": nothing */
    px_mix mix;
    double share;          /* of PX_MIX_FIXED */
    const char *optimizer; /* NULL: the one that the network was trained with (plexor.train) */
    double lr;             /* with an optimiser of NULL: times the rate it was trained with */
    const char *schedule;
    int64_t epochs, batch;
    int64_t train_limit, add_limit; /* at most so many inputs, drawn by the seed; 0: all */
    int64_t stages;                 /* of an adversary that does not say; 0: one */
    bool few;                       /* trains on few inputs by design: norms are frozen */
} px_repair_recipe;

PX_REGISTRY(pxi_repair_recipes, px_repair_recipe, px_repair_recipe)

/* As px_mix_parse(); and "adversarial" or "adversarial:R" with 0 < R <= 1: *adversarial gets that
 * share of every batch (1), the mix is PX_MIX_APPEND. *adversarial is 0 with any other mode. */
px_status px_repair_mode_parse(const char *text, px_mix *mix, double *share, double *adversarial,
                               px_error *err);

/* --- a repair --------------------------------------------------------------------------------- */

typedef enum px_repair_norms {                   /* BatchNormalization during retraining */
                               PX_NORMS_DEFAULT, /* frozen with PX_MIX_ONLY and recipes of few
                                                    inputs */
                               PX_NORMS_FROZEN,  /* running statistics are used and stay */
                               PX_NORMS_TRAINED, /* statistics of the batch; the running ones move
                                                  */
} px_repair_norms;

typedef struct px_repair_options { /* what it points to is borrowed and must outlive the repair */
    const px_model *model;
    px_feeder_set train;     /* not needed with PX_MIX_ONLY */
    px_feeder_set added;     /* set NULL: nothing is added, and without an adversary nothing is
                                trained */
    px_judge_set test;       /* untouched, labelled inputs; any that are trained on are left out */
    px_judge_set failing;    /* failures to judge on; NULL: those held back */
    double hold_out;         /* fraction of each class of `added` that is held back */
    px_judge_set validation; /* keep the epoch that is best here; NULL: the last one */

    px_repair_recipe recipe;
    px_adversary adversary; /* method NULL: none; what is open in it is filled in */
    int64_t robust_limit;   /* attack so many test inputs at most; 0: all of them */
    px_repair_norms norms;
    const char *augment; /* as px_feeder_options.augment */
    const char *freeze;  /* layers whose weights stay, as px_trainer_options.freeze */
    int retries;         /* when the loss is not a number: so often half the rate, from the epoch's
                            start */

    int64_t micro_batch; /* 0: chosen */
    int threads;         /* 0: one per core */
    uint64_t seed;

    const char *checkpoint; /* as px_trainer_options */
    bool resume, fresh;

    bool (*progress)(void *context, const px_train_progress *progress); /* of training */
    px_progress_fn judging;                                             /* of judging */
    void *context;
} px_repair_options;

px_repair_options px_repair_options_default(void); /* nss, a fifth held back, 3 retries */

typedef struct px_repair px_repair;

/* Splits the added inputs and checks everything that can be checked before training. */
px_status px_repair_new(const px_repair_options *options, px_repair **out, px_error *err);
void px_repair_free(px_repair *repair); /* NULL is fine */

/* Judges the network, trains, and judges what px_repair_freeze() gives. PX_E_CANCELLED as
 * px_trainer_run(). Nothing to add: judges only. */
px_status px_repair_run(px_repair *repair, px_error *err);

/* --- the report (LGR F.4) --------------------------------------------------------------------- */

enum { PX_BEFORE, PX_AFTER };

typedef struct px_repair_set { /* inputs judged before and after */
    const px_dataset *set;
    int64_t count;             /* 0: there are none */
    const int64_t *index;      /* in the set */
    px_predictions said[2];    /* of those inputs, by PX_BEFORE and PX_AFTER; borrowed, */
    px_eval eval[2];           /* as these are */
    int64_t regressions;       /* right before, wrong after: negative flips */
    int64_t fixed;             /* wrong before, right after: positive flips */
    px_mcnemar_result mcnemar; /* of those two */
} px_repair_set;
/* What became of input i: 1 fixed, -1 regressed, 0 neither. */
int px_repair_flip(const px_repair_set *set, int64_t i);

typedef enum px_repair_verdict {
    PX_REPAIR_UNCHANGED, /* nothing was trained, or no prediction changed */
    PX_REPAIR_REGRESSED, /* more than one point of accuracy on the test set was lost */
    PX_REPAIR_REPAIRED,  /* more of the failing inputs are right; without any: of the attacked ones;
                            without those too: of the test set */
    PX_REPAIR_FAILED,    /* none of these */
} px_repair_verdict;
const char *px_repair_verdict_name(px_repair_verdict verdict);

typedef struct px_repair_report {
    /* known after px_repair_new() */
    px_repair_recipe recipe; /* as it is carried out: optimiser and rate are filled in */
    bool optimizer_guessed;  /* the network does not say what it was trained with */
    bool norms_frozen;
    px_adversary adversary; /* complete */
    int classes;
    int64_t train_count, added_count; /* inputs that are trained on */
    int64_t held_out;                 /* of the added ones */
    int64_t overlap;  /* test inputs that are among the added ones, and so are left out */
    int64_t steps;    /* per epoch */
    bool outnumbered; /* more inputs are added than there are: mind the balance of labels */
    const int *missing_classes; /* PX_MIX_ONLY: classes that nothing trains */
    int missing_count;

    px_train_result training; /* so far; its history is borrowed too */

    /* known after px_repair_run() */
    bool trained;
    px_repair_set clean, failing;
    px_repair_set robust; /* of `clean`, attacked; 8-bit data as they are stored; count 0: none */
    px_repair_verdict verdict;
} px_repair_report;
const px_repair_report *px_repair_get(const px_repair *repair);

/* The repaired network as a model of its own; properties replaced or added. Nothing trained: the
 * old numbers. */
px_status px_repair_freeze(const px_repair *repair, const px_property *set, size_t set_count,
                           px_model **out, px_error *err);
/* Removes the checkpoint: the result is safe elsewhere. */
px_status px_repair_discard(px_repair *repair, px_error *err);

/* All flips as CSV, whole or not at all: set (clean, failing or robust), flip (regressed or fixed),
 * index, name, label, prediction and confidence before and after. */
px_status px_repair_save_flips(const px_repair *repair, const char *path, px_error *err);

PX_END_DECLS
#endif
