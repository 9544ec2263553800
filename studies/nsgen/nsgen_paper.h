/* studies/nsgen/nsgen_paper.h - the numbers of the NSGen paper beyond its Tables 1, 3 and 4
 *
 * Tables 5 (text encoders), 8 (classes that are named), 11 (ablation) and 12 (equal outputs). NaN:
 * the paper has none.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PXI_STUDY_NSGEN_PAPER_H
#define PXI_STUDY_NSGEN_PAPER_H

#include "fuzz/fuzz_study.h"

enum { NG_ROW_FAULTS, NG_ROW_OUTPUTS, NG_ROW_CLASSES, NG_ROW_OI, NG_COLUMNS };
enum { NG_ENCODERS = 6 }; /* those of the paper, CLIP last */

extern const double ng_outputs[FZ_DATASETS][FZ_NETWORKS][FZ_ROWS][NG_COLUMNS];
extern const double ng_encoders[FZ_DATASETS][FZ_NETWORKS][NG_ENCODERS][NG_COLUMNS];

typedef struct ng_variant { /* a row of Tables 8 and 11 */
    size_t subject, guide;
    double row[NG_COLUMNS];
} ng_variant;
extern const ng_variant ng_variants[];
extern const size_t ng_variant_count;

/* What the paper has for a cell: "faults", "outputs", "rft", "coverage", "classes" or "oi". */
double ng_paper_value(size_t subject, size_t guide, fz_measure measure, const char *name);

#endif
