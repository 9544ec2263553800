/* studies/nss/nss_study.h - the NSS study, between its files
 *
 *     nss_study.c    what there is to run
 *     nss_bench.c    a network with its candidates; rankings and their cells
 *     nss_repair.c   Table 10
 *     nss_report.c   tables and claims; nss_claims.c
 *     nss_paper.c    the paper's own numbers
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PXI_STUDY_NSS_STUDY_H
#define PXI_STUDY_NSS_STUDY_H

#include "frame/study_internal.h"
#include "nss/nss_paper.h"

#include <internal/mutate.h>
#include <plexor/select.h>

enum {
    NSS_PROFILED = 10000, /* training inputs that ranges and traces are learned from */
    NSS_LABELLED = 2000,  /* inputs held back from training that PRIMA's ranker learns from */
    NSS_DECILES = 10,
    NSS_SEEDS = 5, /* of stage 1, for its stability */
};
#define NSS_HELD_BACK 0.2 /* of the training set, for PRIMA's ranker */

/* Selectors beyond Table 7's that are run beside them, if they are there. */
extern const char *const nss_extras[]; /* NULL-terminated */

study_network nss_network(size_t subject, int64_t number);
/* "mnist lenet1 WORDS" */
void nss_prefix(size_t subject, char key[CELL_KEY], const char *format, ...) PX_PRINTF(3, 4);
/* the same with " run=R n=N"; N is the number of candidates, which --limit may have reduced */
void nss_key(const px_study *study, size_t subject, int64_t run, char key[CELL_KEY],
             const char *format, ...) PX_PRINTF(5, 6);
int64_t nss_count(const px_study *study, size_t subject);

/* --- a network and its candidates ------------------------------------------------------------- */

typedef struct nss_bench {
    px_study *study;
    size_t subject;
    int64_t run;
    px_model *model;
    study_data test, labelled; /* labelled: for PRIMA, when it ranks */
    px_mutant_set *mutants;    /* of the test inputs, run by run others */
    const px_dataset *candidates;
    int64_t count;
    int64_t *labels;    /* for scoring only */
    int32_t *predicted; /* by the last nss_rank() */
    int64_t *order;     /* room for a ranking */
} nss_bench;

/* `mutations` as px_mutations_parse() takes them; `seed` of the mutants. */
px_status nss_bench_open(px_study *study, const study_job *job, const char *mutations,
                         uint64_t seed, nss_bench *bench, px_error *err);
void nss_bench_close(nss_bench *bench);

typedef struct nss_ranking {
    const char *selectors; /* comma list */
    const char *settings[4];
    size_t setting_count;
    const char *layers, *tap; /* NULL: the selector's own */
} nss_ranking;

/* Runs selectors; bench->predicted is filled. The caller frees the selection, which borrows from
 * the bench and from *profile. */
px_status nss_rank(nss_bench *bench, const nss_ranking *ranking, px_select **select,
                   px_profile **profile, px_error *err);
/* bench->order becomes the order of selector i. */
px_status nss_order(nss_bench *bench, const px_select *select, size_t i, px_error *err);
/* FDR, RAUC, APFD and times of selector i, as values of a cell. */
px_status nss_measure(nss_bench *bench, const px_select *select, size_t i, cell_list *list,
                      px_error *err);

/* --- jobs ------------------------------------------------------------------------------------- */

px_status nss_run_select(px_study *study, const study_job *job, px_error *err);
px_status nss_run_variant(px_study *study, const study_job *job, px_error *err);
px_status nss_run_repair(px_study *study, const study_job *job, px_error *err);

/* What a variant is: a cell of its own, and what differs from the study's NSS. */
typedef struct nss_variant {
    char words[64]; /* of the key: "k=20" */
    const char *selector;
    char setting[64];   /* "nss.k=20"; "": none */
    char mutations[32]; /* of the candidates */
    const char *layers, *tap;
    bool k20; /* Table 13 was run with k = 20% */
} nss_variant;
typedef enum nss_variant_kind {
    NSS_OTHER, /* readings of methods that the paper leaves open */
    NSS_K,
    NSS_LAYER,
    NSS_IDENTIFY,
    NSS_SCORE,
} nss_variant_kind;
nss_variant nss_variant_of(size_t subject, nss_variant_kind kind, size_t i);

enum { NSS_OTHERS = 3 };
extern const char *const nss_other_titles[NSS_OTHERS];

/* Selectors whose repair is measured, and Nesterov momenta. */
enum { NSS_REPAIRERS = 3, NSS_MOMENTA = 2 };
extern const char *const nss_repairers[NSS_REPAIRERS];
extern const char *const nss_momenta[NSS_MOMENTA];

void nss_report(const px_study *study, study_document *doc);
void nss_claims(const px_study *study, study_document *doc);

#endif
