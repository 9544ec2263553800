/* studies/revisit/revisit.h - the study of whether coverage helps, between its files
 *
 *     revisit_study.c     what there is to run
 *     revisit_cost.c      how long it takes
 *     revisit_data.c      a network with its inputs; test cases made of inputs
 *     revisit_arm.c       what of the candidates is added to the training data
 *     revisit_retrain.c   networks trained further
 *     revisit_quality.c   the eleven metrics of a network
 *     revisit_rq1.c ...   a part each, and its cells
 *     revisit_report.c    tables, tests, verdicts; revisit_rates.c, revisit_verdict.c,
 * revisit_plot.c revisit_paper.c     the paper's own numbers
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PXI_STUDY_REVISIT_H
#define PXI_STUDY_REVISIT_H

#include "frame/study_internal.h"
#include "revisit/revisit_paper.h"

#include <internal/train.h>
#include <plexor/cover.h>

/* The paper's: training inputs that test cases are made of, in RV_STEPS parts; test inputs, of the
 * smallest of its sets; how the networks are retrained. */
enum { RV_INPUTS = 50000, RV_TEST_INPUTS = 10000, RV_EPOCHS = 5, RV_BATCH = 128 };
#define RV_RATE 1e-3

/* RQ4: epochs with mutants; adversarial training, whose epochs here are fewer than the paper's. */
enum { RV_DH_EPOCHS = 60, RV_AT_EPOCHS = 200, RV_AT_EPOCHS_HERE = 20, RV_AT_BATCH = 256 };
/* The paper has 0.01, and all of the strength from the first step, with which LeNets at eps 0.3 end
 * with one answer for nearly everything, as they do with this rate alone; with the strength in four
 * stages, each of a quarter of the epochs, they do not. docs/study.md has the figures. */
#define RV_AT_RATE 0.001
enum { RV_AT_STAGES = 4 };

/* --- what is run ------------------------------------------------------------------------------ */

/* The paper's networks, as in rv_rows, and then LeNets on Fashion-MNIST. */
enum { RV_FASHION = RV_ROWS, RV_SUBJECTS = RV_FASHION + 3 };
typedef struct rv_subject {
    const char *dataset, *arch; /* of the cells */
    const char *title;
    const char *zoo; /* the architecture's name */
    /* Attacks: CSM E.2, step 3. The paper's inputs are in [-0.5, 0.5], x - 0.5 where ours are x in
     * [0, 1]: a shift alone, so that lengths are the same numbers in scaled pixel units. */
    double eps, step;
    int64_t steps;
    /* Guesses of seconds on two cores, until a job was run: training a network, and 10,000 inputs
     * forward. */
    double train_s, pass_s;
} rv_subject;
extern const rv_subject rv_subjects[RV_SUBJECTS];

typedef enum rv_rule {             /* when a mutant improves coverage */
                       RV_BY_SET,  /* with it the set covers more than without */
                       RV_BY_PAIR, /* alone it covers more than its original alone */
                       RV_RULES,
} rv_rule;
extern const char *const rv_rule_ids[RV_RULES]; /* "set", "pairwise": of the cells */

typedef enum rv_cases { /* whose test sets RQ3 is of */
                        RV_OF_PAPER,
                        RV_OF_PACKAGE,
                        RV_CASES,
} rv_cases;
extern const char *const rv_rq3_keys[RV_CASES]; /* "rq3", "rq3 package": of the cells */

typedef enum rv_arm { /* what is added; a matched one adds as many as its partner */
                      RV_IMPROVING,
                      RV_REMAINING,
                      RV_IMPROVING_MATCHED,
                      RV_REMAINING_MATCHED,
                      RV_ARMS,
} rv_arm;
extern const char *const rv_arm_ids[RV_ARMS]; /* "improving-matched": of the cells */

/* One for all runs, or with --networks as many. */
study_network rv_network(const px_study *study, size_t subject, int64_t run);
/* "not run: needs SVHN"; NULL: nothing is missing. */
const char *rv_missing(const px_study *study, size_t subject, char buffer[64]);
int64_t rv_count(const px_study *study); /* of D_0: fewer with --limit, which is the N of cells */

/* "mnist lenet1 WORDS", what all runs of a cell begin with; and with " run=R n=N" behind it.
 *
 *     rq1 i=K, rq1 pairwise i=K     D_K and the network that M_0 became with it
 *     rq2 ARM RULE i=K              the same after K rounds of Algorithm 1
 *     rq3                           mr_SET for each set of rv_set_ids
 *     rq3 package                   of its DH sets: mr_SET, own_SET, put_SET (revisit_rq3.c)
 *     rq4 DEFENCE                   acc_SET; DEFENCE is "none", "dhd", ... "pgd"
 */
#define RV_RQ1_KEY "rq1%s i=%d" /* "" or " pairwise" */
#define RV_RQ2_KEY "rq2 %s %s i=%d"
void rv_prefix(size_t subject, char key[CELL_KEY], const char *format, ...) PX_PRINTF(3, 4);
void rv_key(const px_study *study, size_t subject, int64_t run, char key[CELL_KEY],
            const char *format, ...) PX_PRINTF(5, 6);
bool rv_has(const px_study *study, size_t subject, int64_t run, const char *format, ...)
    PX_PRINTF(4, 5);

/* --- costs (revisit_cost.c) ------------------------------------------------------------------- */

typedef enum rv_part { RV_NETWORK, RV_RQ1, RV_RQ2, RV_RQ3, RV_RQ4 } rv_part;
/* Of one job of a part, two idle cores. `a`: the rule, the cases, or the defence. */
double rv_seconds(const px_study *study, size_t subject, rv_part part, size_t a);
/* "not run: about 7 min", or "not run: needs SVHN; then about 2.1 h": of so many jobs, and of the
 * network, which no cell keeps. */
const char *rv_cost_note(const px_study *study, size_t subject, rv_part part, size_t a, size_t jobs,
                         char buffer[STUDY_NOTE]);

/* --- pictures in memory (revisit_data.c) ------------------------------------------------------ */

typedef struct rv_pictures { /* 8-bit planes, decoded once; not to be moved once it is filled */
    px_dataset *set;         /* that reads them */
    px_preprocess pre;
    uint8_t *bytes;  /* [count][size], CHW */
    int64_t *labels; /* of each */
    int64_t count;
    size_t size;
} rv_pictures;
/* The same pictures and labels, to be changed; what it left goes to rv_pictures_done(). */
px_status rv_pictures_copy(const rv_pictures *from, rv_pictures *out, px_error *err);
void rv_pictures_done(rv_pictures *pictures); /* {0} is fine */

typedef struct rv_bench { /* a network with its inputs */
    px_study *study;
    size_t subject;
    int64_t run;
    px_model *model;    /* M_0 */
    rv_pictures inputs; /* D_0 */
    rv_pictures test;   /* held out */
} rv_bench;
/* {0}, or what this left, goes to rv_bench_close(), whatever it returned. */
/* Fewer training inputs than rv_count() are refused. */
px_status rv_bench_open(px_study *study, const study_job *job, rv_bench *bench, px_error *err);
void rv_bench_close(rv_bench *bench);

/* Test cases, one per picture and in the same order, as 8-bit planes: `set` is RV_DHD ... RV_PGD.
 * The DH sets are one random transformation with one random parameter per picture, the same for
 * all networks (`model` is not looked at); FGSM and PGD follow the gradients of `model`, and are
 * rounded towards the original, so that they stay within eps. `from` is one of the bench's: those
 * made of D_0 and of the test inputs have nothing in common. */
px_status rv_generate(const rv_bench *bench, const px_model *model, int set,
                      const rv_pictures *from, rv_pictures *out, px_error *err);

/* The DH sets of the first `count` pictures alone. */
px_status rv_mutants(const rv_bench *bench, int set, const rv_pictures *from, int64_t count,
                     rv_pictures *out, px_error *err);

/* How many the network gets wrong, as a share. */
px_status rv_error_rate(const rv_bench *bench, const px_model *model, const rv_pictures *pictures,
                        double *out, px_error *err);

/* --- choosing (revisit_arm.c) ----------------------------------------------------------------- */

/* Every scalar of the hidden layers is a neuron; the scaling of the package is over units too (CSM
 * A.1). By channel means 2,000 inputs of MNIST cover all 16 neurons of LeNet-1, and no mutant
 * improves on that. */
#define RV_NEURONS "unit"

/* What counts as covered: values above 0.75. The package scales them per layer and input, and its
 * layers are all of Keras's but the last: of each both what goes into the activation, also that of
 * the scores, and what comes out. (It counts pooled and flattened maps as layers too, which ours do
 * not; on LeNet-1 that moved no rate by more than 0.3 points.) */
typedef enum rv_scale {
    RV_RAW,       /* the paper's equations, hidden layers after the activation */
    RV_SCALED_IN, /* the package's neurons: all layers before the activation, ... */
    RV_SCALED,    /* ... and the hidden ones after it */
} rv_scale;
/* What a set covers under a network by NC. Empty; free with px_cover_free(). */
px_status rv_cover_new(const rv_bench *bench, const px_model *model, rv_scale scale, px_cover **out,
                       px_error *err);
/* Observes pictures; `only` one per picture, NULL: all. */
px_status rv_cover_add(const rv_bench *bench, px_cover *cover, const rv_pictures *pictures,
                       const bool *only, px_error *err);

typedef struct rv_traces { /* what the criterion of a cover reads of pictures first..first+count-1
                            */
    int64_t first, count, width;
    float *values; /* [count][width] */
    px_input_facts *facts;
    bool *rejected;
} rv_traces;
px_status rv_traces_make(const rv_bench *bench, const px_cover *cover, const rv_pictures *pictures,
                         int64_t first, int64_t end, rv_traces *out, px_error *err);
void rv_traces_done(rv_traces *traces); /* {0} is fine */

typedef struct rv_choice {
    int64_t *items; /* of the pictures, ascending */
    int64_t count;
    int64_t wrong; /* candidates that the network gets wrong: all that may be chosen */
} rv_choice;
void rv_choice_done(rv_choice *choice); /* {0} is fine */
/* Keeps `most` at random. */
px_status rv_choice_draw(rv_choice *choice, int64_t most, uint64_t seed, uint32_t item,
                         uint32_t iteration, px_error *err);

/* Chooses the candidates that are wrong and improve coverage, or (`improving` false) are wrong and
 * do not. By set: in order, each against `cover` and those chosen before. By pair: against its
 * original, each alone. `cover`, which stays as it is, outlives the chooser. */
typedef struct rv_chooser {
    rv_rule rule;
    bool improving;
    const px_criterion *criterion;
    void *now, *empty; /* covered by the set and what was chosen; by nothing */
    size_t room;       /* of items */
    rv_choice choice;  /* so far */
} rv_chooser;
px_status rv_chooser_open(rv_chooser *chooser, const px_cover *cover, rv_rule rule, bool improving,
                          px_error *err);
void rv_chooser_close(rv_chooser *chooser); /* half-opened ones too */
/* The next candidates; `originals` of the same places are looked at by pair only. */
px_status rv_chooser_take(rv_chooser *chooser, const rv_traces *candidates,
                          const rv_traces *originals, px_error *err);

/* Chooses among the candidates of part k, from 1, which are mutants of the inputs of D_0. The
 * network is the cover's. */
px_status rv_choose_part(const rv_bench *bench, const px_cover *cover,
                         const rv_pictures *candidates, int k, rv_rule rule, bool improving,
                         rv_choice *out, px_error *err);

/* Adds to `lead` how many more neurons each of the first `count` pictures covers, alone, than that
 * of `than` in its place. */
px_status rv_covers_more(const rv_bench *bench, const px_cover *cover, const rv_pictures *pictures,
                         const rv_pictures *than, int64_t count, int64_t *lead, px_error *err);

/* --- retraining (revisit_retrain.c) ----------------------------------------------------------- */

typedef struct rv_retraining {
    const px_model *start;
    const rv_pictures *base;       /* all of it takes part */
    const rv_pictures *added;      /* and of this `items`; NULL: nothing */
    const int64_t *items;          /* NULL: all */
    int64_t count;                 /* of items */
    int64_t epochs;                /* RV_EPOCHS in RQ1 and RQ2 */
    uint64_t seed;                 /* of the order of inputs */
    int64_t batch;                 /* 0: RV_BATCH */
    double rate;                   /* 0: RV_RATE */
    const px_adversary *adversary; /* NULL: none */
    int64_t *halvings; /* of the rate, where a loss was not a number; NULL: that is an error */
} rv_retraining;
/* Adam and cross-entropy. *accuracy is that on the bench's test inputs. */
px_status rv_retrain(const rv_bench *bench, const rv_retraining *how, px_model **out,
                     double *accuracy, px_error *err);

/* --- quality (revisit_quality.c) -------------------------------------------------------------- */

/* Puts the eleven metrics of rv_metrics (their `cell` names) of a network over pairs: the test
 * inputs and the test cases made of them. In RQ1 and RQ2 these are DH's, one per test input, the
 * same for all networks of a run: what differs is the network alone. NaN: undefined, as nothing is
 * wrong. */
px_status rv_quality(const rv_bench *bench, const px_model *model, const rv_pictures *cases,
                     cell_list *list, px_error *err);

/* --- parts ------------------------------------------------------------------------------------ */

px_status rv_run_rq1(px_study *study, const study_job *job, px_error *err); /* a: rv_rule */
px_status rv_run_rq2(px_study *study, const study_job *job, px_error *err); /* a: rv_rule */
px_status rv_run_rq3(px_study *study, const study_job *job, px_error *err); /* a: rv_cases */
px_status rv_run_rq4(px_study *study, const study_job *job, px_error *err); /* a: the defence */
int64_t rv_defence_epochs(const px_study *study, size_t defence); /* --each: of FGSM and PGD */
/* There is a cell, of so many epochs. */
bool rv_defence_done(const px_study *study, size_t subject, int64_t run, size_t defence);
void rv_report(const px_study *study, study_document *doc);

#endif
