/* src/localize/suspicious.h - making lists of suspicious neurons */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PXI_LOCALIZE_SUSPICIOUS_H
#define PXI_LOCALIZE_SUSPICIOUS_H

#include "localize/spectrum.h"

#define PXI_RANDOM "random" /* in place of a measure's id */
#define PXI_SHAPLEY "shapley"
#define PXI_STAR_MOST 30.0 /* so that af^star stays finite */

/* A list with the spectrum's facts and its own copy of the layers' names, without neurons;
 * names[i] is that of layer i. */
px_status pxi_suspicious_start(const px_spectrum *spectrum, const char *measure, double star,
                               size_t room, px_suspicious **out, const char ***names,
                               px_error *err);
/* Adds a neuron behind the others; there is room. */
void pxi_suspicious_add(px_suspicious *list, const px_spectrum *spectrum, const char *const *names,
                        int c, int64_t rank, int64_t neuron, double score);

/* A neuron with what decides its place. */
typedef struct pxi_scored {
    double score;
    int64_t af;
    size_t layer;
    int64_t neuron;
} pxi_scored;
/* All neurons of a class, by the rule of the ranking; `scored` has room for them. */
void pxi_ranking(const px_spectrum *spectrum, const px_measure *measure, double star, int c,
                 pxi_scored *scored);
/* Puts neurons in that order. */
void pxi_ranking_sort(pxi_scored *scored, size_t count);
/* The first half of that rule: below 0 where a comes before b, 0 where they tie. */
int pxi_scored_compare(const pxi_scored *a, const pxi_scored *b);

#endif
