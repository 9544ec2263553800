/* studies/deepsensor/deepsensor_study.h - the study of DeepSensor, between its files */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PXI_STUDY_DEEPSENSOR_STUDY_H
#define PXI_STUDY_DEEPSENSOR_STUDY_H

#include "deepsensor/deepsensor_paper.h"
#include "deepsensor/deepsensor_trail.h"
#include "frame/study_internal.h"

#include <plexor/attack.h>

/* The bound that all methods are compared at, in scaled units: a tenth of the range of pixels. */
#define DS_BOUND 0.1

enum { DS_PROFILE = 1000 }; /* training inputs that SNAC's ranges are of, as in the paper */

/* --- methods (deepsensor_methods.c) ----------------------------------------------------------- */

typedef enum ds_group {
    DS_GROUP_PAPER,   /* those of its tables */
    DS_GROUP_CONTROL, /* plexor's own: the same swarm without sensitivity */
    DS_GROUP_DEFAULT, /* plexor's own settings of the engine, with and without it */
    DS_GROUP_SEARCH,  /* what else the same budget buys */
    DS_GROUP_NORM,    /* what the paper leaves open: how values are scaled, what is maximised */
    DS_GROUP_TRIED,   /* what else might make it find errors */
    DS_GROUP_LAMBDA,  /* RQ5 */
    DS_GROUP_EPSILON,
    DS_GROUP_INIT,
} ds_group;

enum { DS_METHOD_SETTINGS = 8 };

typedef struct ds_method {
    const char *id, *title;
    ds_group group;
    ds_clock clock;
    const char *engine, *preset, *policy, *guide; /* NULL: none */
    const char *settings[DS_METHOD_SETTINGS + 1]; /* NULL-terminated */
    double value;                                 /* of lambda or epsilon; else 0 */
} ds_method;
/* The first four are those of the paper. */
extern const ds_method ds_methods[];
extern const size_t ds_method_count;
size_t ds_method_find(const char *id); /* that there is */

/* --- subjects and states (deepsensor_network.c) ----------------------------------------------- */

int64_t ds_seeds(const px_study *study); /* fewer with --limit */
int64_t ds_iterations(const px_study *study);
bool ds_is_audio(size_t subject);
/* Place in ds_faulty_ways; DS_FAULTY: it is trained in one way only. */
size_t ds_faulty_of(size_t subject);
int64_t ds_polluted_class(size_t subject, size_t state);                    /* -1: none */
enum { DS_ARCH = 48 };                                                      /* room for a name */
study_network ds_network(size_t subject, size_t state, char arch[DS_ARCH]); /* which it borrows */
/* Whether there is a way to a network: given, in the folder, or to be trained. */
bool ds_has_network(const px_study *study, size_t subject, size_t state);
/* What it needs and is not given; NULL: nothing. */
const char *ds_missing(const px_study *study, size_t subject, size_t state,
                       char buffer[STUDY_NOTE]);
px_status ds_make_network(px_study *study, size_t subject, size_t state, px_error *err);
double ds_network_seconds(const px_study *study, size_t subject, size_t state);

/* Networks that DeepXplore compares the subject with; returns how many, at most two. */
enum { DS_RIVALS = 2 };
typedef struct ds_rival {
    const char *arch, *model; /* of the cells, and of --model */
    size_t subject;           /* DS_SUBJECTS: it is only there to be compared with */
} ds_rival;
size_t ds_rivals(size_t subject, ds_rival out[DS_RIVALS]);
study_network ds_rival_network(size_t subject, const ds_rival *rival);
bool ds_has_rival(const px_study *study, size_t subject, const ds_rival *rival);
px_status ds_make_rival(px_study *study, size_t subject, const ds_rival *rival, px_error *err);

/* --- cells ------------------------------------------------------------------------------------ */

/* "mnist lenet5 clean deephunter", " iters=N" behind it where they are not the paper's. */
void ds_prefix(const px_study *study, size_t subject, size_t state, size_t method,
               char key[CELL_KEY]);
/* FOLDER/examples/...: what a cell leaves for those after it; the caller frees it. */
char *ds_examples_path(const px_study *study, size_t subject, size_t state, size_t method,
                       int64_t run, bool seeds, px_error *err);
/* About, with two threads of an idle machine: of a seed, and of a figure's row (whole; "fig1",
 * "overlap" or "retrain"). */
double ds_cell_seconds(size_t subject, size_t method);
double ds_figure_seconds(size_t subject, const char *what);
px_status ds_run_cell(px_study *study, const study_job *job, px_error *err);

/* --- retrained networks (deepsensor_retrain.c) ------------------------------------------------ */

enum { DS_NOTHING = DS_PAPER_METHODS, DS_PGD, DS_REMEDIES }; /* after the methods of the paper */
extern const char *const ds_remedies[DS_REMEDIES];           /* "deepxplore", ..., "none", "pgd" */
/* Attacks that networks are asked to withstand. */
enum { DS_ATTACK_PGD, DS_ATTACK_FGSM, DS_ATTACK_DEEPFOOL, DS_ATTACK_JSMA, DS_ATTACKS };
extern const char *const ds_attacks[DS_ATTACKS];
/* "mnist lenet5 retrain deephunter run=1 n=500" */
void ds_retrain_key(const px_study *study, size_t subject, size_t remedy, int64_t run,
                    char key[CELL_KEY]);
/* As the paper has them: eps 0.3, 40 steps of eps/30 for PGD; DeepFool and JSMA have no eps. */
void ds_attack_options(const px_study *study, int64_t run, size_t attack, px_attack_options *out);
px_status ds_run_retrain(px_study *study, const study_job *job, px_error *err);

/* --- excitable neurons (deepsensor_excite.c) -------------------------------------------------- */

/* What is compared in Figures 1 and 7: three attacks, the swarm's last examples, and noise, which
 * has the swarm's (Figure 1: PGD's) changes at other places. */
enum { DS_BY_PGD, DS_BY_JSMA, DS_BY_DEEPFOOL, DS_BY_SENSOR, DS_BY_NOISE, DS_SOURCES };
extern const char *const ds_sources[DS_SOURCES];
void ds_excite_key(const px_study *study, size_t subject, const char *what, int64_t run,
                   int64_t count, char key[CELL_KEY]); /* what: "fig1" or "overlap" */
px_status ds_run_figure1(px_study *study, const study_job *job, px_error *err);
px_status ds_run_overlap(px_study *study, const study_job *job, px_error *err);

/* --- the report ------------------------------------------------------------------------------- */

void ds_report(const px_study *study, study_document *doc);
void ds_claims(const px_study *study, study_document *doc);
study_figure ds_figure(const px_study *study, size_t subject, size_t state, size_t method,
                       const char *name, double scale, double paper);
bool ds_was_run(const px_study *study, size_t subject, size_t state, size_t method);
/* "not run: about 7 min". */
const char *ds_cost_note(double seconds, char buffer[STUDY_NOTE]);
/* Why a row has no figures of ours, and what they would cost; NULL: it has. */
const char *ds_row_note(const px_study *study, size_t subject, size_t state, size_t method,
                        char buffer[STUDY_NOTE]);

#endif
