/* src/train/adversary.h - attacks on the inputs of a step, while the weights that they attack move
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PXI_TRAIN_ADVERSARY_H
#define PXI_TRAIN_ADVERSARY_H

#include <internal/train.h>

typedef struct pxi_adversary pxi_adversary;

typedef struct pxi_adversary_job { /* all of it is borrowed and outlives the adversary */
    const px_model *model;
    px_weights *weights; /* as they are when pxi_adversary_make() is called */
    const px_feeder *feeder;
    const px_scores *scores;
    int64_t micro_batch; /* 0: chosen */
    int threads;
    uint64_t seed;
} pxi_adversary_job;

/* Completes *settings. Refuses networks whose gradients do not come to the input. */
px_status pxi_adversary_new(const pxi_adversary_job *job, px_adversary *settings,
                            pxi_adversary **out, px_error *err);
void pxi_adversary_free(pxi_adversary *adversary); /* NULL is fine */

/* Attacks what a step of the feeder's epoch replaces, on all workers, with the strength that the
 * epoch, from 0, has of so many. */
px_status pxi_adversary_make(pxi_adversary *adversary, int64_t epoch, int64_t epochs, int64_t step,
                             px_error *err);

/* What stands in for a position of that step, preprocessed; NULL: it is not replaced. */
const float *pxi_adversary_input(const pxi_adversary *adversary, int64_t position);

#endif
