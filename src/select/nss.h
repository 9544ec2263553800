/* src/select/nss.h - NSS, neuron sensitivity guided selection: its arithmetic and its passes
 *
 * D. Huang, Q. Bu, Y. Fu, Y. Qing, X. Xie, J. Chen and H. Cui, Neuron Sensitivity Guided Test Case
 * Selection, TOSEM 2024; CSM B.1. s_i(x, x') = |N_i(x) - N_i(x')|.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PXI_SELECT_NSS_H
#define PXI_SELECT_NSS_H

#include "base/exact.h"

#include <internal/pass.h>
#include <plexor/mutate.h>
#include <plexor/probe.h>

/* sums[i] += s_i(x, y); `scratch` has room for `units`. */
void pxi_nss_add(pxi_exact *sums, const float *x, const float *y, int64_t units, double *scratch,
                 bool *lost);
/* The `count` units of the largest sums, ties to the lower index; in that order. */
px_status pxi_nss_top(const double *sums, int64_t units, int64_t count, int64_t *top,
                      px_error *err);
/* The sum of s_i over those units, in the order given. */
double pxi_nss_score(const float *x, const float *y, const int64_t *units, int64_t count);

/* --- passes over pairs (nss_pairs.c) --------------------------------------------------------- */

typedef enum pxi_pair_kind {
    PXI_PAIR_FRESH,          /* a candidate and a fresh mutant of it */
    PXI_PAIR_ORIGINAL,       /* a candidate and what it was made from */
    PXI_PAIR_ORIGINAL_FRESH, /* what a candidate was made from, and a fresh mutant of that */
} pxi_pair_kind;

typedef struct pxi_pair {
    int64_t index;      /* of the candidate */
    const float *x, *y; /* neuron values; x is the first named above */
    bool rejected;      /* some of them are not finite */
    int predicted;      /* of x; -1: nobody asked, or none */
    float confidence;   /* of x */
} pxi_pair;

typedef struct pxi_pair_pass {
    const px_model *model;
    const px_probe *probe;
    const px_dataset *set, *originals;
    const px_preprocess *pre;
    pxi_pair_kind kind;
    px_mutations from;    /* of fresh mutants */
    uint64_t seed;        /* of fresh mutants */
    uint32_t iteration;   /* PX_MUTATE_IDENTIFY, PX_MUTATE_SCORE */
    const int64_t *index; /* the candidates; NULL: 0..count-1 */
    int64_t count;
    bool predict; /* the class of x too; without it the network is only run as far as needed */
    int64_t batch;
    int threads;
    /* Called once per pair, by all workers at once: different pairs, and `worker` is below
     * `threads`. */
    px_status (*visit)(void *context, int worker, const pxi_pair *pair, px_error *err);
    void *context;
    const pxi_left *left;    /* of candidates, by item; NULL: not told */
    px_progress_fn progress; /* in pairs; may be NULL */
    void *progress_context;
} pxi_pair_pass;

px_status pxi_pair_run(const pxi_pair_pass *pass, px_error *err);

#endif
