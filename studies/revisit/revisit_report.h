/* studies/revisit/revisit_report.h - the report of the study of coverage, between its files */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PXI_STUDY_REVISIT_REPORT_H
#define PXI_STUDY_REVISIT_REPORT_H

#include "revisit/revisit.h"
#include "revisit/revisit_verdict.h"

/* Of the cells of a subject that begin with these words: mean and deviation of a value over the
 * runs; and all its values, into *out. */
study_figure rv_figure(const px_study *study, size_t subject, const char *name, double scale,
                       double paper, const char *format, ...) PX_PRINTF(6, 7);
void rv_values(const px_study *study, size_t subject, const char *name, rv_sample *out,
               const char *format, ...) PX_PRINTF(5, 6);

/* The row of Table I, and of the package's defended networks, that a subject is; NULL: none. */
const rv_row *rv_row_of(size_t subject);
const rv_defended *rv_defended_of(size_t subject);

/* "0.31", "0.0021", "2.0e-11": three digits at most; "–" for NaN. */
const char *rv_p_text(double p, char text[16]);

/* A number as a cell of words; "–" for NaN. */
void rv_words(study_document *doc, double value, int digits);

/* Names the subjects that a part, of so many jobs each, was not run of, and what they would take.
 */
void rv_report_left_out(const px_study *study, study_document *doc, rv_part part, size_t jobs,
                        const bool ran[RV_SUBJECTS]);

/* How the rates of the DH sets are read: which test sets, by which labels (revisit_rates.c). */
enum { RV_READINGS = 3 };
typedef struct rv_reading {
    const char *words; /* ", test sets as the package makes them" */
    const char *value; /* "own_": of the cells */
    rv_cases cases;
} rv_reading;
extern const rv_reading rv_readings[RV_READINGS]; /* the paper's is the first */
/* The misclassification rates of a subject on a set, once per run. */
void rv_rate_values(const px_study *study, const rv_reading *reading, size_t subject, size_t set,
                    rv_sample *out);

/* Sections. */
void rv_report_rates(const px_study *study, study_document *doc);         /* revisit_rates.c */
void rv_report_package_claim(const px_study *study, study_document *doc); /* revisit_rates.c */
void rv_report_verdicts(const px_study *study, study_document *doc);      /* revisit_tests.c */
void rv_report_findings(const px_study *study, study_document *doc);      /* revisit_tests.c */
void rv_report_arms(const px_study *study, study_document *doc);          /* revisit_tables.c */
void rv_report_table2(const px_study *study, study_document *doc);        /* revisit_tables.c */
void rv_report_trends(const px_study *study, study_document *doc);        /* revisit_trends.c */

/* --- H1: what is compared, by which metric (revisit_tests.c) ---------------------------------- */

/* The states of the two arms under a rule, of one subject: 11 and 11 per run. "Better" is as
 * src/assess says: p is that the improving arm is better, and so is `effect`. */
px_status rv_h1_test(const px_study *study, size_t subject, rv_rule rule, bool matched,
                     size_t metric, rv_test *out, px_error *err);
/* Over subjects: each one's difference of means over M_1 to M_k, by Wilcoxon's signed ranks. */
px_status rv_h1_paired(const px_study *study, rv_rule rule, bool matched, size_t metric,
                       px_wilcoxon_result *out, px_error *err);
px_status rv_h1_family(const px_study *study, rv_rule rule, bool matched, rv_family *out,
                       px_error *err);

/* --- trends (revisit_trends.c, revisit_plot.c) ------------------------------------------------ */

typedef struct rv_trend { /* values at D_0 to D_k; NaN: not there */
    const char *title;
    double values[RV_STATES];
} rv_trend;
/* Each divided by its own value at `base`; a trend that is 0 or undefined there is left out. NULL:
 * out of memory. */
px_plot *rv_plot_trends(const char *title, const char *what, const rv_trend *trends, size_t count,
                        size_t base);

#endif
