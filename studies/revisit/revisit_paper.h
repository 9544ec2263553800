/* studies/revisit/revisit_paper.h - the numbers of the paper that the study `revisit` repeats
 *
 * Z. Yang, J. Shi, M. H. Asyrofi and D. Lo, Revisiting Neuron Coverage Metrics and Quality of Deep
 * Neural Networks, SANER 2022: Tables I to III, and the tables of its replication package that its
 * hypothesis tests are of. Shares are in per cent, as printed there.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PXI_STUDY_REVISIT_PAPER_H
#define PXI_STUDY_REVISIT_PAPER_H

#include <stddef.h>

/* What a network is judged on, and what it was retrained with (RV_BENIGN: nothing), in the order
 * of the package's columns. */
enum { RV_BENIGN, RV_DHD, RV_DHN, RV_DH, RV_FGSM, RV_PGD, RV_SETS };
extern const char *const rv_set_ids[RV_SETS];    /* "benign", "dhd", ...: of the cells */
extern const char *const rv_set_titles[RV_SETS]; /* "DH-D" */

enum { RV_STEPS = 10, RV_STATES = RV_STEPS + 1 }; /* k, and M_0 to M_k */

enum { RV_METRICS = 11 };
typedef struct rv_metric {
    const char *id; /* as <internal/assess.h> calls it */
    const char *cell, *title;
    double p; /* Table II */
    double u; /* the one that gives this p with 11 and 11 states (CSM E.2) */
} rv_metric;
extern const rv_metric rv_metrics[RV_METRICS];

enum { RV_COVERAGES = 10 };
typedef struct rv_coverage {
    const char *cell, *title;
} rv_coverage;
extern const rv_coverage rv_coverages[RV_COVERAGES];

enum { RV_ROWS = 13 };
typedef struct rv_row {         /* Table I, and what the package has of the same network */
    const char *dataset, *arch; /* of the cells */
    const char *title;
    long layers, parameters;
    double accuracy;
    double rates[RV_SETS]; /* misclassification */
} rv_row;
extern const rv_row rv_rows[RV_ROWS];

enum { RV_DEFENDED = 4 };
typedef struct rv_defended { /* the package: accuracy of defended networks */
    const char *dataset, *arch, *title;
    double accuracy[RV_SETS][RV_SETS]; /* [defence][judged on] */
} rv_defended;
extern const rv_defended rv_defences[RV_DEFENDED];

/* The lists behind the published test of H4: a defended network's benign accuracy, and that of the
 * network that it was made from. */
enum { RV_H4_COUNT = 25 };
void rv_paper_h4(double defended[RV_H4_COUNT], double original[RV_H4_COUNT]);

/* Of the package rather than the paper: what its rates of the DH sets are. */
extern const char rv_package_claim[];

enum { RV_HYPOTHESES = 6 };
typedef struct rv_hypothesis {
    const char *text;    /* the alternative that is tested */
    const char *verdict; /* "rejected" */
    const char *p;       /* as printed */
    const char *finding; /* Table III */
} rv_hypothesis;
extern const rv_hypothesis rv_hypotheses[RV_HYPOTHESES]; /* H1 is the first */

#endif
