/* src/select/vote_scores.h - what many stochastic passes over one input say about it
 *
 * Y. Gal and Z. Ghahramani, Dropout as a Bayesian Approximation, ICML 2016; CSM B.8. Passes are
 * added one by one; sums are kept, so that passes may be shared out and merged in any fixed order.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PXI_SELECT_VOTE_SCORES_H
#define PXI_SELECT_VOTE_SCORES_H

#include <stdbool.h>
#include <stdint.h>

typedef struct pxi_votes {
    int classes;
    int64_t passes;
    int64_t *votes;   /* [classes] passes whose most probable class it was; ties: the lower one */
    double *sum;      /* [classes] of probabilities */
    double entropies; /* sum of each pass's entropy, in bits */
} pxi_votes;

bool pxi_votes_init(pxi_votes *votes, int classes); /* false: out of memory */
void pxi_votes_done(pxi_votes *votes);
void pxi_votes_clear(pxi_votes *votes);
void pxi_votes_add(pxi_votes *votes, const double *p); /* probabilities of one pass */

typedef struct pxi_vote_scores {
    double variation;   /* 1 - largest share of votes */
    double entropy;     /* of the mean probabilities, in bits */
    double information; /* that, less the mean of the passes' entropies */
    double softmax;     /* 1 - largest mean probability */
} pxi_vote_scores;
/* All NaN where a pass gave no number, or where there was none. */
pxi_vote_scores pxi_votes_value(const pxi_votes *votes);

#endif
