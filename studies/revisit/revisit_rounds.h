/* studies/revisit/revisit_rounds.h - an arm of Algorithm 1 between two rounds, kept on disk
 *
 *     FOLDER/models/mnist_lenet1_1_rq2_set_improving_run1_n50000_3.onnx     M_3
 *     FOLDER/models/mnist_lenet1_1_rq2_set_improving_run1_n50000_3.npy      what D_3 has beyond D_0
 *
 * Written once the cells of all arms of the round are there; the files of the round before are then
 * removed, and the last round leaves none.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PXI_STUDY_REVISIT_ROUNDS_H
#define PXI_STUDY_REVISIT_ROUNDS_H

#include "revisit/revisit.h"

typedef struct rv_round {
    px_model *model; /* M_k */
    int64_t *items;  /* of the candidates: what D_k has beyond D_0, ascending; room for all */
    int64_t count;
} rv_round;
void rv_round_done(rv_round *round); /* {0} is fine */
bool rv_round_same(const rv_round *a,
                   const rv_round *b); /* have the same D_k, and so the same M_k */

/* The round that all arms have their files of, the last one; 0: none. */
int rv_rounds_last(const rv_bench *bench, rv_rule rule);
px_status rv_round_save(const rv_bench *bench, rv_rule rule, rv_arm arm, int k,
                        const rv_round *round, px_error *err);
/* Into a round that has room for items, and no model. */
px_status rv_round_load(const rv_bench *bench, rv_rule rule, rv_arm arm, int k, rv_round *round,
                        px_error *err);
void rv_rounds_remove(const rv_bench *bench, rv_rule rule, int k); /* what there is of all arms */

#endif
