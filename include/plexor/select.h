/* include/plexor/select.h - which inputs are worth a label
 *
 *     px_select_options options = px_select_options_default();
 *     options.selectors = "gini,random";
 *     options.keep = 500;                                          // the best ones; 0: all
 *     px_select_new(model, candidates, &pre, &options, &select, &err);
 *     px_select_run(select, NULL, NULL, &err);
 *     const px_ranked *best = px_select_ranked(select, 0, &count); // of the first selector
 *
 * A selector ranks the inputs of a data set, the *candidates*, without looking at their labels.
 * There are two kinds. One *reads rows*, as criteria do (cover.h): all selectors of that kind share
 * one plan and one forward pass over the candidates. The other makes *passes of its own*, over
 * changed inputs or changed networks. Either gives each candidate a score, the higher the better,
 * and a selector may then arrange the candidates in an order of its own.
 *
 * The ranking is by (score descending, index ascending); +Inf comes first, NaN last and is counted.
 * Everything is the same to the byte for any number of threads.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PLEXOR_SELECT_H
#define PLEXOR_SELECT_H

#include <plexor/cover.h>
#include <plexor/fault_curve.h>
#include <plexor/field.h>
#include <plexor/stats.h>

PX_BEGIN_DECLS

/* --- what a selector is: a static const descriptor, listed in src/select/selectors.h --------- */

enum {                        /* what a selector cannot do without; refused before anything runs */
       PX_NEEDS_CLASSES = 1,  /* a classifier */
       PX_NEEDS_LABELLED = 2, /* labelled inputs that the network was not trained on */
       PX_NEEDS_PICTURES = 4, /* pictures (C, H, W), which it changes */
};

/* What a selector is made for. Borrowed during prepare(); the model, the extractor, the profile and
 * the data sets live as long as what was prepared. */
typedef struct px_selector_request {
    const px_model *model;
    const px_extractor *extractor; /* NULL: it makes passes of its own, and has no neurons */
    const void *config;            /* the selector's settings, as its table describes them */
    const px_profile *profile;     /* NULL: none is needed */
    const char *const *learned;    /* sections of the profile, one per entry of `learners` */
    int classes;                   /* 0: the network is no classifier */
    px_scores scores;              /* of a classifier */
    int64_t count;                 /* candidates: indices are 0..count-1 */
    const px_dataset *set;         /* the candidates themselves */
    const px_preprocess *pre;
    const px_dataset *originals; /* what candidate i was made from is input i; NULL: unknown */
    uint64_t seed;
    int threads; /* that prepare() may use, at least 1 */
} px_selector_request;

typedef struct px_select_times { /* seconds, by the clock on the wall */
    double prepare;              /* fitting to the profile */
    double learn;                /* of a selector with passes of its own: before it can score */
    double pass;  /* running networks over the candidates; the shared pass counts in full */
    double score; /* scoring, where that can be told from the pass */
    double order; /* sorting, arranging */
    double check; /* repetitions that only check how stable it is; no part of selecting */
} px_select_times;

/* What a selector with passes of its own works on. */
typedef struct px_selector_job {
    const px_model *model;
    const px_dataset *set; /* candidates */
    const px_preprocess *pre;
    const px_dataset *originals; /* as above; NULL: unknown */
    const px_dataset *labelled;  /* for PX_NEEDS_LABELLED; NULL: none */
    const px_preprocess *labelled_pre;
    int64_t count;
    int64_t batch; /* micro-batch; 0: chosen */
    int threads;   /* at least 1 */
    uint64_t seed;
    px_progress_fn progress; /* may be NULL; returns false: PX_E_CANCELLED */
    void *progress_context;
    /* Who runs the unchanged network over all candidates anyway fills both, if they are not NULL,
     * and sets *predicts: that saves a pass. Class -1 and NaN where scores are not numbers. */
    int32_t *predicted;
    float *confidence;
    bool *predicts;
    px_select_times *times; /* learn, pass, score and check are its own to fill */
} px_selector_job;

typedef struct px_selector {
    px_entry entry; /* id, title, source, settings */
    /* What it learns from training data, with its own extractor: NULL-terminated; NULL: nothing. */
    const px_learner *const *learners;
    /* Its own neurons; --layers, --tap and --neurons win. */
    const char *layers; /* NULL: "hidden" */
    px_tap tap;
    px_neurons neurons;
    unsigned needs; /* PX_NEEDS_* */

    /* Changes the defaults above as the settings ask (NULL: they stay), before the user's own
     * neuron options are applied. */
    void (*choose)(const void *config, px_probe_options *options);
    /* Makes the extractor; NULL: the neuron values of a probe with these options. Those that read
     * class scores give px_extractor_scores(). */
    px_status (*extract)(const px_model *model, const px_probe_options *options, const void *config,
                         px_extractor **out, px_error *err);
    /* Has no extractor at all: no rows, no neurons (`run` and not about neurons; random). */
    bool no_rows;

    /* Bytes that it will hold for all candidates together, besides their scores; NULL: few. Asked
     * before prepare(). */
    int64_t (*bytes)(const px_selector_request *request);

    /* Everything a selector has: settings, fitted models, and what it keeps of each candidate.
     * NULL: it needs none (then release is NULL too). Refuses settings that do not fit. */
    px_status (*prepare)(const px_selector_request *request, void **prepared, px_error *err);
    void (*release)(void *prepared); /* NULL is fine */

    /* --- the kind that reads rows: score, and maybe open and close ---
     * A worker's private scratch; NULL: it needs none. */
    px_status (*open)(void *prepared, void **worker, px_error *err);
    void (*close)(void *worker);
    /* scores[rows->count]. Called by all workers at once, for different candidates: what is kept
     * of a candidate goes to a place in `prepared` that its facts.index alone decides (whole bytes
     * of its own), and nothing else there changes. Rejected rows get NaN by the driver, whatever is
     * written here. */
    px_status (*score)(void *prepared, void *worker, const px_rows *rows, double *scores,
                       px_error *err);

    /* Where score() keeps something of candidates: the i-th such array, and its bytes for each; 0:
     * there are no more. NULL: it keeps nothing. */
    size_t (*kept)(void *prepared, size_t i, void **array);

    /* --- the kind that makes passes of its own: run, and neither of the above ---
     * scores[job->count], in any way that does not depend on job->threads. */
    px_status (*run)(void *prepared, const px_selector_job *job, double *scores, px_error *err);

    /* Both kinds: an order of its own, a permutation of 0..count-1, best first. It may change the
     * scores to what it went by. NULL: the order is that of the scores. */
    px_status (*arrange)(void *prepared, double *scores, int64_t count, int64_t *order,
                         px_error *err);

    /* After the run: sentences a user should read, each on a line of its own; NULL: has none. */
    void (*remark)(const void *prepared, px_text *text);
    /* More members of the selector's JSON object, of what prepare() made; NULL: has none. */
    const px_field *result;
} px_selector;

PX_REGISTRY(px_selectors, px_selector, px_selector)
PX_API px_status px_selector_add(const px_selector *selector, px_error *err); /* as criteria are */

/* --- a selection ----------------------------------------------------------------------------- */

typedef struct px_select px_select;

typedef struct px_select_options {
    const char *selectors; /* comma-separated ids, or "all" */
    const char *const *settings;
    size_t setting_count;
    const char *layers, *tap, *neurons; /* texts of the neuron options; NULL: the selector's own */
    const px_profile *profile;          /* borrowed, outlives the selection; NULL: none */
    const px_dataset *originals;        /* what candidate i was made from; NULL: unknown */
    const px_dataset *labelled;         /* and not trained on; NULL: none */
    const px_preprocess *labelled_pre;
    int64_t keep;         /* how many of the best; 0: all. Bounds the memory of plain scorers */
    bool stratify;        /* in turns over the predicted classes: see px_select_ranked() */
    int64_t memory_bytes; /* refuse selectors that would hold more; <= 0: no limit */
    int64_t batch;        /* micro-batch; 0: chosen */
    uint64_t seed;
    int threads; /* <= 0: one per core */
} px_select_options;
PX_API px_select_options px_select_options_default(void); /* every selector that can run */

/* Makes the selectors. Everything given is borrowed and must outlive the selection. "all" leaves
 * out those whose needs are not met (px_select_left_out() says which and why); one that was named
 * is PX_E_INPUT, PX_E_USAGE or PX_E_MISMATCH then. */
PX_API px_status px_select_new(const px_model *model, const px_dataset *candidates,
                               const px_preprocess *pre, const px_select_options *options,
                               px_select **out, px_error *err);
PX_API void px_select_free(px_select *select); /* NULL is fine */

/* Scores and ranks, once. The progress is of all passes together. */
PX_API px_status px_select_run(px_select *select, px_progress_fn progress, void *progress_context,
                               px_error *err);

PX_API size_t px_select_count(const px_select *select);
PX_API const px_selector *px_select_selector(const px_select *select, size_t i);
PX_API const char *px_select_settings_text(const px_select *select, size_t i); /* "k=10" */
PX_API const char *px_select_definition(const px_select *select, size_t i); /* NULL: no neurons */
/* Sentences about selectors that "all" left out; "" if none. */
PX_API const char *px_select_left_out(const px_select *select);

typedef struct px_ranked {
    int64_t index; /* of the candidate */
    double score;
    int predicted;    /* -1: no classifier, or scores that are not numbers */
    float confidence; /* the predicted class's probability; NaN: none */
} px_ranked;

/* The first min(keep, count) of the ranking, best first. Stratified: the best of every predicted
 * class, then the second of every class, and so on, each turn in the order of the ranking; so every
 * prefix has as many of each class as it can. Candidates without a class are a class of their own.
 * Borrowed. */
PX_API const px_ranked *px_select_ranked(const px_select *select, size_t i, int64_t *count);

typedef struct px_select_facts {
    int64_t unscored; /* candidates whose score is NaN; they come last */
    bool constant;    /* all other scores are equal: ties are broken by index */
    px_select_times times;
} px_select_facts;

/* Writes the first `count` of a ranking as CSV: rank, index (in the source, before shuffle, offset
 * and limit), name, score, predicted, confidence. Whole or not at all. */
PX_API px_status px_select_save(const px_select *select, size_t i, int64_t count, const char *path,
                                px_error *err);

/* --- with labels: how good was it? --------------------------------------------------------------
 *
 * Only where the whole ranking was kept (`keep` 0) and every candidate has a label among the
 * network's classes; PX_E_INPUT or PX_E_USAGE otherwise.
 */

#define PX_EVALUATE_BUDGETS 4
#define PX_EVALUATE_GROUPS 10
extern PX_API const int px_evaluate_percent[PX_EVALUATE_BUDGETS]; /* 5, 10, 15, 20 */

typedef struct px_evaluation { /* fault_curve.h has the definitions; NaN: undefined */
    int64_t faults, types;     /* among all candidates */
    double fault_rate;
    double fdr[PX_EVALUATE_BUDGETS];
    double rauc, fault_rauc; /* of fault types and of faults, over the first 20% */
    double apfd, apfd_normalised, apfd_types;
    /* Of tenths of the ranking, the lowest-ranked first; and how that goes with their number. */
    double accuracy[PX_EVALUATE_GROUPS];
    px_correlation pearson, spearman;
} px_evaluation;

PX_API px_status px_select_evaluate(const px_select *select, size_t i, px_evaluation *out,
                                    px_error *err);

PX_END_DECLS
#endif
