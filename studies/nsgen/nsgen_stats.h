/* studies/nsgen/nsgen_stats.h - what the parts threshold, correlation and retrain share */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PXI_STUDY_NSGEN_STATS_H
#define PXI_STUDY_NSGEN_STATS_H

#include "nsgen/nsgen_study.h"

/* The paper's number of inputs, or what --limit leaves of it. */
static inline int64_t ng_inputs(const px_study *study, int64_t full)
{
    const int64_t limit = study->options.limit;
    return limit > 0 && limit < full ? limit : full;
}

/* "ResNet50 on CIFAR-10 (ours: ResNet-20)". */
static inline const char *ng_ours(size_t subject)
{
    return subject == FZ_RESNET ? " (ours: ResNet-20)" : "";
}

/* Modes that are compared; without those of all units, which the paper compares in Table 11 only.
 */
enum { NG_MODES = 4 };
extern const px_path_mode ng_modes[NG_MODES];
extern const char *const ng_mode_titles[NG_MODES];

/* --- threshold ------------------------------------------------------------------------------- */

enum { NG_RATES = 5, NG_TAU_IMAGES = 2500 }; /* 1 to 5% of each class of CIFAR's 50,000 */
/* "cifar-10 resnet20 threshold" */
void ng_threshold_prefix(size_t subject, char prefix[CELL_KEY]);

/* --- correlation ----------------------------------------------------------------------------- */

int64_t ng_pairs_full(size_t subject); /* the paper's number of pairs */
void ng_correlation_prefix(size_t subject, size_t mode, char prefix[CELL_KEY]);
/* A mean of p over runs says nothing: the largest. NaN: none is known. */
double ng_correlation_p(const px_study *study, size_t subject, size_t mode, size_t *runs);

/* --- retrain -----------------------------------------------------------------------------------
 *
 * Table 13: the network as it is, after as many epochs without new inputs, with NSGen's faults, and
 * with as many that no guide has found.
 */

enum { NG_ORIGINAL, NG_NOTHING, NG_FAULTS, NG_RANDOM, NG_ARMS };
extern const char *const ng_arms[NG_ARMS]; /* of the cells: "original", "none" ... */

enum { NG_STRENGTHS = 5, NG_ANEW = 1000 };   /* the latter: inputs of S2 that are attacked anew */
extern const int ng_strengths[NG_STRENGTHS]; /* eps in 255ths */
enum { NG_PGD, NG_BIM, NG_ATTACKS };
extern const char *const ng_attacks[NG_ATTACKS];

/* "cifar-10 resnet20 retrain nsgen" */
void ng_retrain_prefix(size_t subject, size_t arm, char prefix[CELL_KEY]);
/* The cell of one run. */
void ng_retrain_key(const px_study *study, size_t subject, size_t arm, int64_t run,
                    char key[CELL_KEY]);
/* Accuracy in per cent, the mean over strengths, of one attack or of both (NG_ATTACKS); `what` is
 * "", "anew_" or "exact_". */
double ng_retrain_mean(const px_study *study, size_t subject, size_t arm, const char *what,
                       size_t attack);
/* A network of FOLDER/models; `arch` holds its name. */
enum { NG_ARCH = 80 };
study_network ng_retrain_network(const px_study *study, size_t subject, size_t arm, int64_t run,
                                 char arch[NG_ARCH]);
/* The campaign that finds an arm's faults: its cell, "... retrain-fuzz nsgen run=1 n=1000"; its
 * folder, which the caller frees; running it. */
void ng_search_key(const px_study *study, size_t subject, size_t arm, int64_t run,
                   char key[CELL_KEY]);
px_status ng_search_path(const px_study *study, const study_job *job, size_t arm, char **out,
                         px_error *err);
px_status ng_search_run(px_study *study, const study_job *job, px_error *err); /* job->b: arm */
/* All four networks on S2, on what attacks on the first one made of it, and attacked themselves;
 * puts their cells, the last one of NG_RANDOM. */
px_status ng_retrain_judge(px_study *study, const study_job *job, px_error *err);

#endif
