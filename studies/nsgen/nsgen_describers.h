/* studies/nsgen/nsgen_describers.h - part `describers` of the study of NSGen, between its files */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PXI_STUDY_NSGEN_DESCRIBERS_H
#define PXI_STUDY_NSGEN_DESCRIBERS_H

#include "nsgen/nsgen_study.h"

/* Rows of Table 6, then of Table 7, whose first is the paper's choice. */
enum { NG_TABLE6, NG_K15 = 3, NG_TABLE7 = 5, NG_SETTINGS = 12 };

enum { NG_VIRTUAL_LEAST = 300 }; /* virtual units that a reduced describer still learns from */

typedef struct ng_setting {
    const char *id, *title;
    int64_t exemplars;            /* 0: as the study has them */
    int embedding, hidden;        /* the same; attention follows the hidden size */
    double paper[FZ_DATASETS][2]; /* CLIP's cosine, mpnet's; of each data set one network */
} ng_setting;
extern const ng_setting ng_settings[NG_SETTINGS];

/* "cifar-10 resnet20 describers exemplars-15" */
void ng_describers_prefix(size_t subject, size_t setting, char key[CELL_KEY]);

/* Figure 2, units per concept (nsgen_concepts.c). Its jobs are of this kind. */
#define NG_CONCEPTS_KIND "describers-concepts"
px_status ng_concepts_plan(px_study *study, size_t subject, px_error *err);
px_status ng_concepts_run(px_study *study, const study_job *job, px_error *err);
void ng_concepts_report(const px_study *study, study_document *doc);

#endif
