/* studies/frame/study.h - papers replicated: their numbers, and ours beside them
 *
 *     px_study_options options = px_study_options_default();
 *     options.folder = "nss-study";
 *     px_study_new("nss", &options, &study, &err);             // plans, runs nothing
 *     px_study_left(study, &jobs, &seconds);                   // what is missing, estimated
 *     px_study_run(study, &err);                               // goes on where it was stopped
 *     px_study_report(study, PX_STUDY_MARKDOWN, &text, &err);
 *
 * A study is a list of *jobs*, each of which ends in *cells*: a key and numbers, appended to
 * FOLDER/cells.jsonl as they are finished. A job whose cells are there is not run again. Networks
 * that a study trains are in FOLDER/models and are used again. The report is made of all cells in
 * the folder, whichever invocation they come from. docs/study.md has the rules.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PXI_FRAME_STUDY_H
#define PXI_FRAME_STUDY_H

#include <plexor/engine.h>

PX_BEGIN_DECLS

typedef struct px_study_part { /* what may be run on its own */
    const char *id, *help;
    bool standard; /* run where no parts are named */
} px_study_part;

typedef struct px_study_dataset {
    const char *id;    /* "fashion-mnist" */
    const char *title; /* as the paper calls it */
    const char *spec;  /* where it is found without being told; NULL: it has to be given */
} px_study_dataset;

typedef struct px_study_kind {
    const char *id, *title;
    const char *source; /* the paper */
    const px_study_part *parts;
    size_t part_count;
    const px_study_dataset *datasets;
    size_t dataset_count;
    const char *const *models; /* networks that may be given, NULL-terminated; NULL: none */
    /* What a cell may take is a choice: how much the paper's takes, in pieces of work ("picks") and
     * in seconds (0: not by time). NULL: it is no choice. */
    const char *piece;
    int64_t pieces;
    double piece_seconds;
} px_study_kind;

size_t px_study_count(void);
const px_study_kind *px_study_get(size_t i);        /* NULL beyond the last */
const px_study_kind *px_study_find(const char *id); /* NULL: there is none */

typedef struct px_study_options {
    const char *folder;      /* made if it is not there; NULL: NAME-study */
    bool fresh;              /* what a study made there is removed first */
    const char *cells;       /* a file of cells, for a report of it and nothing else; NULL: none */
    const char *const *data; /* "NAME=SPEC": where data sets are */
    size_t data_count;
    const char *const *models; /* "NAME=PATH": networks; see px_study_kind.models */
    size_t model_count;
    const char *mean, *std;     /* preprocessing of networks given that do not say; NULL: 0 and 1 */
    const char *dataset, *arch; /* comma lists: only these subjects; NULL: all */
    const char *parts;          /* "select,prima:1": only these, with their runs; NULL: standard */
    const char *command;        /* kept with the cells, and shown by the report; NULL: none */
    int64_t runs;               /* of each part that does not say */
    int64_t networks;           /* per subject; run r uses network 1 + (r-1) % networks; 0: runs */
    int64_t limit;              /* at most so many candidates: reduced cells; 0: all */
    double budget_s;            /* no job begins after that many seconds; 0: no limit */
    int64_t each_pieces; /* of a cell, where that is a choice; 0: the paper's, or what docs/study.md
                            says */
    double each_s;       /* instead: seconds of a cell; 0: no */
    uint64_t seed;       /* run r has seed + r */
    int threads;         /* <= 0: one per core */
    /* What is being done, a line at a time; NULL: nobody listens. */
    void (*tell)(void *context, const char *line);
    px_progress_fn progress; /* within a job; false: PX_E_CANCELLED after the cells that are done */
    void *context;
} px_study_options;
px_study_options px_study_options_default(void); /* 5 runs */

typedef struct px_study px_study;

/* Reads the cells that are there and plans the rest. Strings are copied. */
px_status px_study_new(const char *name, const px_study_options *options, px_study **out,
                       px_error *err);
void px_study_free(px_study *study); /* NULL is fine */
const px_study_kind *px_study_of(const px_study *study);
const char *px_study_folder(const px_study *study);

/* Jobs that are planned and not done, and how long they would take by what such jobs took before in
 * this folder, else by figures of a machine with two cores. */
void px_study_left(const px_study *study, int64_t *jobs, double *seconds);

/* Runs what is left until the budget is used up. A job whose data are missing is not planned at
 * all; the report says what it needs. */
px_status px_study_run(px_study *study, px_error *err);

typedef enum px_study_format { PX_STUDY_TEXT, PX_STUDY_MARKDOWN, PX_STUDY_JSON } px_study_format;

/* Every table of the paper with ours beside it, and its claims. The caller frees *out. */
px_status px_study_report(const px_study *study, px_study_format format, char **out, px_error *err);
/* The same into a file, whole or not at all. Markdown into FILE.md: its charts are written beside
 * it, as FILE-NAME.svg. */
px_status px_study_save(const px_study *study, px_study_format format, const char *path,
                        px_error *err);

PX_END_DECLS
#endif
