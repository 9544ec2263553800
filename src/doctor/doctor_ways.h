/* src/doctor/doctor_ways.h - ways to make a network's inputs of pixels, on trial */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PXI_DOCTOR_WAYS_H
#define PXI_DOCTOR_WAYS_H

#include "doctor/doctor_internal.h"

enum { PXI_WAYS_MOST = 24 };

typedef struct pxi_losses {
    double *each, mean;
} pxi_losses;

typedef struct pxi_way {
    char words[64]; /* the options that give it */
    px_preprocess pre;
    const px_preprocess_preset *preset;
    bool swapped; /* channels in the other order than the preset has them */
    pxi_losses raw, calibrated;
    uint8_t *right;
    int64_t right_count;
} pxi_way;

typedef struct pxi_trials {
    px_doctor *d;
    pxi_way at_hand, ways[PXI_WAYS_MOST];
    size_t count;
    int64_t *indices, input_count;
} pxi_trials;

/* The best of ways that are sorted by calibrated loss. Of those that it does not tell from the
 * lowest, the one with the lowest loss as it is: that whose confidence is as the network was
 * trained. Where that does not tell either, the one that is in wider use. */
const pxi_way *pxi_ways_best(const pxi_trials *t);
bool pxi_way_tie(const pxi_trials *t, const pxi_way *best,
                 const pxi_way *w); /* neither loss tells them apart */
/* Whether it does better than the way at hand; `tried`: of how many it is the best. */
bool pxi_way_better(const pxi_trials *t, const pxi_way *w, size_t tried);

#endif
