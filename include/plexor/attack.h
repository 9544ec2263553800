/* include/plexor/attack.h - small changes that make a network wrong, found along its gradients
 *
 *     px_attack_options options = px_attack_options_default();      // pgd, Linf, eps 8/255
 *     px_attack_job job = {.model = model, .set = set, .pre = &pre};
 *     px_attack_run(&job, &options, &attack, &err);
 *     px_attack_summary sum;
 *     px_attack_sum(attack, &sum, &err);                            // success, distances, queries
 *     px_attack_free(attack);
 *
 * Lengths (eps, step_size, theta) are in scaled units: after `scale`, before mean and std; 0 to 1
 * for 8-bit data. An attack works on floats. Each result is judged twice: as computed, and as it is
 * stored, which for 8-bit data is whole levels. Where eps bounds it, rounding goes towards the
 * original and stays in the ball; elsewhere to the nearest level. docs/attack.md has the rules.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PLEXOR_ATTACK_H
#define PLEXOR_ATTACK_H

#include <plexor/data.h>
#include <plexor/engine.h>
#include <plexor/registry.h>

PX_BEGIN_DECLS

typedef enum px_norm {
    PX_NORM_AUTO, /* the method's own: the first that it takes */
    PX_NORM_LINF,
    PX_NORM_L2,
    PX_NORM_L0,
} px_norm;
PX_API const char *px_norm_name(px_norm norm); /* "linf", "l2", "l0" */
PX_API px_status px_norm_parse(const char *text, px_norm *out, px_error *err);

/* --- methods --------------------------------------------------------------------------------- */

typedef struct px_attack_method { /* a static const descriptor, listed in src/attack/methods.h */
    px_entry entry;               /* id, title, source, settings */
    px_norm norms[3];             /* that it takes; PX_NORM_AUTO behind the last */
    bool bounded;                 /* takes eps and stays within it */
    bool iterates;                /* takes steps and step_size */
    bool restarts;                /* begins at random, and may begin again */
} px_attack_method;
PX_REGISTRY(px_attacks, px_attack_method, px_attack_method)

/* --- a run ----------------------------------------------------------------------------------- */

typedef enum px_attack_goal {                 /* which class to reach */
                              PX_GOAL_WRONG,  /* any but the label */
                              PX_GOAL_CLASS,  /* `target` */
                              PX_GOAL_NEXT,   /* the label's successor, the first after the last */
                              PX_GOAL_RANDOM, /* one of the others, drawn per input */
                              PX_GOAL_LEAST_LIKELY, /* the lowest score of the original */
} px_attack_goal;

typedef struct px_attack_row px_attack_row;

typedef struct px_attack_job { /* everything is borrowed while px_attack_run() runs */
    const px_model *model;
    const px_dataset *set; /* inputs without a label are taken as what the network says they are */
    const px_preprocess *pre;
    const int64_t *inputs; /* indices into the data set; NULL: all of it */
    int64_t count;         /* of `inputs` */
    /* Results of the first so many inputs, from a run that did not get further: they are not
     * attacked again, nor handed out, and count like the others. */
    const px_attack_row *known;
    int64_t known_count;
} px_attack_job;

typedef struct px_attack_made { /* one result, as it is handed out */
    const px_attack_row *row;
    int64_t place;         /* 0..count-1 */
    const float *original; /* raw values as px_dataset_pixels() gives them, CHW */
    const float *exact;    /* the same kind of values, before rounding */
    const uint8_t *bytes;  /* rounded; NULL where nothing is */
} px_attack_made;

typedef struct px_attack_options {
    const char *method;
    px_norm norm;
    double eps;       /* NaN: 8/255 of the range */
    double step_size; /* NaN: the method's own share of eps */
    int64_t steps;    /* 0: the method's own number */
    int64_t restarts; /* of random starts, at least 1 */
    bool stop_early;  /* where the goal is reached; else all steps are taken, as Foolbox does */
    bool no_random;   /* begin at the input itself */
    px_attack_goal goal;
    int64_t target;
    const char *const *settings; /* "jsma.theta=0.5" */
    size_t setting_count;
    double low, high; /* what a value may be; both NaN: px_dataset_range() */
    bool keep_float;  /* what is stored is not rounded, whatever the data */
    uint64_t seed;
    int64_t batch; /* micro-batch; 0: chosen */
    int threads;   /* <= 0: one per core */
    /* Gets every result in order, on the calling thread, while its pixels are there; NULL: nobody
     * wants them. */
    px_status (*emit)(void *context, const px_attack_made *made, px_error *err);
    void *emit_context;
    px_progress_fn progress;
    void *progress_context;
} px_attack_options;
PX_API px_attack_options px_attack_options_default(void);

/* Fills in what is left to method and data; PX_E_USAGE for what cannot be. `settings` are checked
 * but stay texts. */
PX_API px_status px_attack_complete(px_attack_options *options, const px_dataset *set,
                                    const px_preprocess *pre, px_error *err);

/* --- what came of it ------------------------------------------------------------------------- */

typedef struct px_attack_form {
    int64_t predicted; /* -1: the scores are not numbers */
    bool reached;      /* the goal: not the label, or the target */
    double loss;       /* cross-entropy at the label */
    double confidence; /* of `predicted` */
    int64_t l0;        /* values that differ from the original */
    double l2, linf;   /* in scaled units */
} px_attack_form;

struct px_attack_row {
    int64_t input;
    int64_t label;  /* of the data; -1: none, and `before` stands in for it */
    int64_t truth;  /* the label, or what stands in for it */
    int64_t target; /* -1: none */
    bool skipped;   /* the target is the true class: nothing was tried */
    int64_t before; /* predicted for the original */
    double loss_before, confidence_before;
    px_attack_form exact, stored; /* the same where nothing is rounded */
    int64_t steps;                /* that were taken for the result */
    int64_t restart;              /* which start it came from */
    int64_t forwards, backwards;  /* passes through the network for this input, all counted */
    int64_t odd_gradients;        /* values that were no numbers, taken as 0 */
    bool flat;                    /* some gradient was 0 everywhere */
};

typedef struct px_attack px_attack;

/* Attacks all inputs on all workers. *out is the caller's on PX_OK and untouched otherwise. The
 * result does not depend on threads or batch. PX_E_INPUT: a value outside low..high, or all targets
 * are the true classes. */
PX_API px_status px_attack_run(const px_attack_job *job, const px_attack_options *options,
                               px_attack **out, px_error *err);
PX_API void px_attack_free(px_attack *attack); /* NULL is fine */
PX_API int64_t px_attack_count(const px_attack *attack);
PX_API const px_attack_row *px_attack_rows(const px_attack *attack);

typedef struct px_attack_spread {
    double mean, median; /* NaN without any */
} px_attack_spread;

typedef struct px_attack_outcome { /* of one form */
    int64_t reached;               /* inputs that were right before and reached the goal */
    double success;                /* their share of those that were right before */
    double success_all;            /* inputs that reach the goal, share of all */
    int64_t robust;                /* inputs that are right before and after */
    double robust_accuracy;        /* their share of all */
    px_attack_spread l0, l2, linf; /* of `reached` */
} px_attack_outcome;

typedef struct px_attack_summary {
    int64_t count;   /* inputs that were attacked */
    int64_t skipped; /* inputs whose target is their class; in no other number */
    int64_t right;   /* classified correctly before */
    int64_t unlabelled;
    double accuracy; /* before */
    px_attack_outcome exact, stored;
    double forwards, backwards; /* per input */
    double queries;             /* their sum */
    int64_t flat, odd_gradients, not_finite;
    double seconds, emit_seconds; /* on the clock: the run, and handing results out */
} px_attack_summary;
PX_API px_status px_attack_sum(const px_attack *attack, px_attack_summary *out, px_error *err);

PX_END_DECLS
#endif
