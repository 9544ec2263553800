/* src/generate/deepsensor.h - settings of engine `deepsensor` */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PXI_GENERATE_DEEPSENSOR_H
#define PXI_GENERATE_DEEPSENSOR_H

#include "generate/swarm.h"
#include "generate/swarm_fitness.h"

typedef struct pxi_deepsensor_config {
    int optimizer;
    int64_t particles;
    int64_t iters;
    int64_t passes;
    double epsilon;
    double bound;
    int init;
    double radius;
    double vmax;
    double c1;
    double c2;
    double w_init;
    double w_end;
    int inertia;
    int rand;
    double mutate;
    int objective;
    int norm;
    double lambda;
    int diagonal;
    int64_t nodes;
    double sense;
    int64_t group;
} pxi_deepsensor_config;

extern const px_param pxi_deepsensor_params[];
extern const px_registry pxi_deepsensor_presets;

const char *pxi_deepsensor_optimizer(const pxi_deepsensor_config *config); /* "pso" */
void pxi_deepsensor_rules(const pxi_deepsensor_config *config, uint64_t seed, pxi_swarm_rule *swarm,
                          pxi_excite_rule *excite);

#endif
