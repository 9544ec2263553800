/* studies/frame/study_internal.h - what a study is made of, and what all studies share
 *
 * A study is a `static const study_plan` in its own file, listed in study.c. plan() adds a job for
 * everything that is wanted and not in the cells; run() does one and puts its cells; report() makes
 * a document of the cells alone, so that it can be made at any time.
 *
 * Keys of cells read "SUBJECT PART ... run=R n=N", R being the run and N the number of inputs it is
 * of: figures are taken over all runs of the largest N.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PXI_STUDY_INTERNAL_H
#define PXI_STUDY_INTERNAL_H

#include "frame/cells.h"
#include "frame/document.h"

#include "frame/study.h"
#include <internal/classes.h>
#include <plexor/data.h>
#include <plexor/eval.h>
#include <plexor/graph.h>
#include <plexor/store.h>

enum { STUDY_PARTS = 16, STUDY_DATASETS = 16, STUDY_MODELS = 24 };
enum { STUDY_NOTE = 120, STUDY_COST = 24 }; /* room for why a row has no figures, and a cost */

typedef struct study_job {
    const char *kind; /* "train", ...: what run() switches on */
    char label[120];  /* "train Fashion LeNet-1, network 1": for people */
    char cost[120];   /* jobs with the same text here take about as long */
    double seconds;   /* that it takes where none was run yet */
    size_t subject;
    int64_t run, network;
    size_t a, b; /* the study's own */
} study_job;

typedef struct study_plan {
    px_study_kind kind;
    px_status (*plan)(px_study *study, px_error *err);
    px_status (*run)(px_study *study, const study_job *job, px_error *err);
    void (*report)(const px_study *study, study_document *doc);
} study_plan;

struct px_study {
    const study_plan *plan;
    px_study_options options; /* its texts are owned */
    char *folder;
    char *specs[STUDY_DATASETS];    /* per data set; NULL: not known */
    char *models[STUDY_MODELS];     /* per network of the kind; NULL: not given */
    int64_t part_runs[STUDY_PARTS]; /* 0: the part is not wanted */
    study_cells *cells;
    study_job *jobs; /* that are left */
    size_t job_count, job_room;
};

extern const study_plan pxi_study_nss, pxi_study_deepfault, pxi_study_fuzz, pxi_study_revisit,
    pxi_study_deepsensor, pxi_study_nsgen;

/* --- planning --------------------------------------------------------------------------------- */

const char *pxi_study_spec(const px_study *study, const char *dataset); /* NULL: not known */
const char *pxi_study_model(const px_study *study, const char *name);   /* NULL: not given */
bool pxi_study_wants(const px_study *study, const char *dataset, const char *arch);
int64_t pxi_study_runs(const px_study *study, const char *part);
int64_t pxi_study_network(const px_study *study, int64_t run); /* that this run uses */
px_status pxi_study_add_job(px_study *study, const study_job *job, px_error *err);

/* --- running ---------------------------------------------------------------------------------- */

void pxi_study_tell(const px_study *study, const char *format, ...) PX_PRINTF(2, 3);
px_status pxi_study_put(px_study *study, const char *key, double seconds, const cell_list *list,
                        px_error *err);

/* The folder's data may not change under the cells: the first time a part of a data set is used,
 * its hash becomes a cell, and from then on it has to be the same. `part` is "test" or "train". */
px_status pxi_study_check_data(px_study *study, const char *dataset, const char *part,
                               const px_dataset *set, px_error *err);

/* --- files: FOLDER/.plexor names those that the study made (study_own.c) -----------------------
 *
 * Paths begin with the study's folder. */

/* Before a file is written: names it, makes the folders on the way, and names those. */
px_status pxi_study_own(const px_study *study, const char *path, px_error *err);
/* Somebody else put it there. */
px_status pxi_study_disown(const px_study *study, const char *path, px_error *err);
/* A campaign in a folder of its own, begun or gone on with. */
px_status pxi_study_campaign(const px_study *study, const char *path, px_campaign **out,
                             px_error *err);
/* Removes all that is named. PX_E_USAGE where `cells` are there and are not. */
px_status pxi_study_fresh(const px_study *study, const char *cells, px_error *err);

/* --- networks: trained once, kept in FOLDER/models (study_network.c) -------------------------- */

typedef struct study_network {
    const char *dataset, *arch; /* the study's names, for the file and the cells */
    const char *zoo;            /* the architecture's */
    double accuracy;            /* to stop at, 0..1; 0: the recipe's end is the end */
    double held_back;           /* share of the training data's end that is not trained on */
    int64_t epochs;             /* at most; 0: the recipe's */
    int64_t number;             /* from 1: which of several, and the seed */
} study_network;

/* For studies that make theirs in another way: 64-bit hashes in cells, and a network's file in
 * FOLDER/models (the caller frees it; NULL: out of memory). */
void pxi_study_put_hash(cell_list *list, uint64_t hash);
bool pxi_study_hash_is(const study_cell *cell, uint64_t hash);
char *pxi_network_path(const px_study *study, const study_network *network, px_error *err);
/* "SUBJECT network K": where its accuracy, epochs, steps and hash are. */
void pxi_network_key(const study_network *network, char key[CELL_KEY]);
bool pxi_network_done(const px_study *study, const study_network *network);
/* Trains, or takes what lies in models/, and puts the cell. */
px_status pxi_network_make(px_study *study, const study_network *network, px_error *err);
/* The network, which pxi_network_make() has made, and that it is the one of the cells. */
px_status pxi_network_load(px_study *study, const study_network *network, px_model **out,
                           px_error *err);

typedef struct study_data { /* a data set in the shape that a network takes */
    px_preprocess pre;
    px_dataset *set;
} study_data;
/* `share` > 0: the first share of the part; < 0: what comes after the first -share. `limit` <= 0:
 * all. */
px_status pxi_study_open(px_study *study, const px_model *model, const char *dataset,
                         const char *part, double share, int64_t limit, study_data *out,
                         px_error *err);
void pxi_study_close(study_data *data);
/* How right a network is on labelled data. */
px_status pxi_study_eval(px_study *study, const px_model *model, const px_dataset *set,
                         const px_preprocess *pre, px_eval_sum *out, px_error *err);

/* --- reporting -------------------------------------------------------------------------------- */

/* Mean and standard deviation of `name`, times `scale`, over the runs of the cells "PREFIX run=R
 * n=N" with the largest N; reduced where N is below `full`. */
study_figure pxi_study_figure(const px_study *study, const char *prefix, const char *name,
                              double scale, double paper, int64_t full);
/* The same of the cells with this N. */
study_figure pxi_study_figure_of(const px_study *study, const char *prefix, int64_t size,
                                 const char *name, double scale, double paper, int64_t full);
/* The largest N of such cells that is below another; -1: there is none. */
int64_t pxi_study_size(const px_study *study, const char *prefix, int64_t below);
/* The values themselves, at most `room`; returns how many. */
size_t pxi_study_values(const px_study *study, const char *prefix, const char *name, double *values,
                        size_t room);
/* Why a subject has no figures: "not run: needs SVHN", or "not run". */
const char *pxi_study_missing(const px_study *study, const char *dataset, char buffer[64]);
/* Some of the data set was used, so that what has no figures lacks nothing but time. */
bool pxi_study_had(const px_study *study, const char *dataset);
/* "7 min", "2.1 h", "31 h". */
const char *pxi_study_cost(double seconds, char buffer[STUDY_COST]);
/* The data set that was used consists of JPEGs. */
bool pxi_study_is_jpeg(const px_study *study, const char *dataset);
/* Commands and dates of the cells. */
void pxi_study_provenance(const px_study *study, study_document *doc);

#endif
