/* studies/deepsensor/deepsensor_tables.h - the tables of the DeepSensor paper, for its report */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PXI_STUDY_DEEPSENSOR_TABLES_H
#define PXI_STUDY_DEEPSENSOR_TABLES_H

#include "frame/study_internal.h"

/* What a value of a cell is divided by. */
typedef enum ds_share {
    DS_COUNT,
    DS_PER_SEED,
    DS_PER_CENT,    /* of the seeds */
    DS_PER_EXAMPLE, /* in per cent of seeds times iterations */
} ds_share;

/* What to multiply a value by, of so many seeds; and of that cell. */
double ds_share_scale(const px_study *study, double seeds, ds_share share);
double ds_scale(const px_study *study, size_t subject, size_t state, size_t method, ds_share share);

enum { DS_COLUMNS_MOST = 8 };

typedef struct ds_column {
    const char *title, *name; /* name: of the cells' value */
    ds_share share;
    int paper; /* column of ds_table3; -1: none */
    double paper_scale;
} ds_column;

/* Rows are methods, on the well-trained network: Table 3 or 6, rates, bounds, distances. */
void ds_table_methods(const px_study *study, study_document *doc, size_t subject,
                      const char *table);
void ds_table_norms(const px_study *study, study_document *doc, size_t subject);
void ds_table_polluted(const px_study *study, study_document *doc);              /* Table 4 */
void ds_table_trainings(const px_study *study, study_document *doc, bool audio); /* 5, 7 */
void ds_table_parameters(const px_study *study, study_document *doc);            /* RQ5 */
void ds_table_times(const px_study *study, study_document *doc);
void ds_table_curves(const px_study *study, study_document *doc);
void ds_table_networks(const px_study *study, study_document *doc); /* Tables 1 and 2 */

/* Figures 1, 7 and 4 to 6 (deepsensor_figures.c). */
void ds_table_excited(const px_study *study, study_document *doc);
void ds_table_overlap(const px_study *study, study_document *doc);
void ds_table_retrained(const px_study *study, study_document *doc);
void ds_claims_figures(const px_study *study, study_document *doc);

#endif
