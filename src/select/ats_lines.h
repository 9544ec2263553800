/* src/select/ats_lines.h - ATS: inputs that are unsure in different ways
 *
 * Gao et al., Adaptive Test Selection for Deep Neural Networks, ICSE 2022; CSM B.9. An input of
 * predicted class i covers, for every pair p, q of other classes, a piece of the line between them:
 * where the ray from corner i through (p_i, p_p, p_q) meets it, wide in proportion to how far the
 * input is from being sure. Per class, inputs are taken greedily by how much of the lines they add.
 *
 * Ends of pieces are rounded to five decimals, so lengths are counted in units of 1e-5 and every
 * sum and comparison is exact.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PXI_SELECT_ATS_LINES_H
#define PXI_SELECT_ATS_LINES_H

#include <plexor/error.h>
#include <stdbool.h>
#include <stdint.h>

#define PXI_ATS_UNITS 100000 /* of a line */

typedef struct pxi_ats_piece { /* [from, to) in units; empty: from == to */
    int32_t from, to;
} pxi_ats_piece;

typedef struct pxi_ats_options {
    double up;       /* inputs this sure are left to the end */
    double least;    /* greedy stops at gains that are not above it */
    double radius;   /* half the width of a piece, per distance from `up` */
    bool as_program; /* slips and all, as the authors' program does; see ats_lines.c */
    uint64_t seed;   /* of the shuffled end */
} pxi_ats_options;
pxi_ats_options pxi_ats_options_default(void);

/* The piece that probabilities of predicted class i and of classes p and q cover. */
pxi_ats_piece pxi_ats_piece_of(double of_i, double of_p, double of_q,
                               const pxi_ats_options *options);

/* A union of pieces: sorted, disjoint, not touching. */
typedef struct pxi_ats_union {
    pxi_ats_piece *piece;
    size_t count, capacity;
} pxi_ats_union;
int64_t pxi_ats_union_overlap(const pxi_ats_union *set, pxi_ats_piece piece);
bool pxi_ats_union_add(pxi_ats_union *set, pxi_ats_piece piece); /* false: out of memory */

typedef struct pxi_ats_counts {
    int64_t chosen, others, sure;
} pxi_ats_counts;

/* Puts the items (indices into p and predicted) into order: those that greedy chose in any class by
 * what they added, the others by their own length, then the sure ones, shuffled. `p` is
 * [..][classes], classes >= 3; 0 <= predicted < classes. lengths[count] by place: what each one
 * went by; 0 for the sure ones. */
px_status pxi_ats_order(const float *p, const int32_t *predicted, int classes, const int64_t *items,
                        int64_t count, const pxi_ats_options *options, int64_t *order,
                        double *lengths, pxi_ats_counts *counts, px_error *err);

#endif
