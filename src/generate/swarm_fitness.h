/* src/generate/swarm_fitness.h - what a place of a swarm is worth: the share of excitable neurons
 *
 *     PX_TRY(pxi_excite_open(fuzz, &rule, &excite, err));
 *     PX_TRY(pxi_excite_learn(excite, err));                       // once there are seeds
 *     PX_TRY(pxi_excite_seeds(excite, seeds, count, err));         // of the swarms at work
 *     PX_TRY(pxi_excite_measure(excite, rows, count, out, err));   // places of all swarms at once
 *
 * DeepSensor, Def 3 and Eq 6: a hidden channel is excitable where its part in the change of the
 * loss from the seed to the place, normalised, is above lambda; that part is its Aumann-Shapley
 * value along the diagonal (<internal/shapley.h>, LGR B.2 and B.4). The objective of the published
 * code is another one: the share of channels beyond the boundaries that the seeds have (NBC), and
 * the share whose value differs from the seed's by more than `sense`, scaled within the layer
 * (LGR B.3). Two more are there to compare with: the change of the loss itself, and a number that
 * says nothing.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PXI_GENERATE_SWARM_FITNESS_H
#define PXI_GENERATE_SWARM_FITNESS_H

#include "generate/fuzz_internal.h"

#include <internal/shapley.h>

typedef enum pxi_objective {
    PXI_OBJECTIVE_SHAPLEY,
    PXI_OBJECTIVE_CODE, /* the published code's */
    PXI_OBJECTIVE_LOSS,
    PXI_OBJECTIVE_CHANCE,
} pxi_objective;

typedef struct pxi_excite_rule {
    pxi_objective objective;
    px_shapley_norm norm;
    double lambda;
    px_diagonal diagonal;
    double sense; /* of the published code */
} pxi_excite_rule;

typedef struct pxi_excite pxi_excite;

px_status pxi_excite_open(px_fuzz *fuzz, const pxi_excite_rule *rule, pxi_excite **out,
                          px_error *err);
void pxi_excite_close(pxi_excite *excite); /* NULL is fine */
int64_t pxi_excite_neurons(const pxi_excite *excite);

/* What follows from all seeds of the campaign. */
px_status pxi_excite_learn(pxi_excite *excite, px_error *err);

typedef struct pxi_excite_row {
    const float *levels;
    int64_t label;
    size_t seed;   /* place in the list of pxi_excite_seeds(); rows of one seed lie together */
    double chance; /* of PXI_OBJECTIVE_CHANCE: what the place is worth */
} pxi_excite_row;

typedef struct pxi_excited {
    double fitness;
    int64_t neurons; /* that are excitable; -1: none was looked at */
    int64_t answer;  /* of the network; -1: its scores are no numbers */
} pxi_excited;

px_status pxi_excite_seeds(pxi_excite *excite, const pxi_excite_row *seeds, size_t count,
                           px_error *err);
px_status pxi_excite_measure(pxi_excite *excite, const pxi_excite_row *rows, int64_t count,
                             pxi_excited *out, px_error *err);

#endif
