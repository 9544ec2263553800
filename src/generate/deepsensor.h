/* src/generate/deepsensor.h - settings of engine `deepsensor` */
#ifndef PXI_GENERATE_DEEPSENSOR_H
#define PXI_GENERATE_DEEPSENSOR_H

#include "generate/swarm.h"
#include "generate/swarm_fitness.h"

enum {
    DS_OPTIMIZER,
    DS_PARTICLES,
    DS_ITERS,
    DS_PASSES,
    DS_EPSILON,
    DS_BOUND,
    DS_INIT,
    DS_RADIUS,
    DS_VMAX,
    DS_C1,
    DS_C2,
    DS_W_INIT,
    DS_W_END,
    DS_INERTIA,
    DS_RAND,
    DS_MUTATE,
    DS_OBJECTIVE,
    DS_NORM,
    DS_LAMBDA,
    DS_DIAGONAL,
    DS_NODES,
    DS_SENSE,
    DS_GROUP,
    DS_SETTINGS
};

extern const px_param pxi_deepsensor_settings[DS_SETTINGS];

const char *pxi_deepsensor_optimizer(const double *settings); /* "pso" */
void pxi_deepsensor_rules(const double *settings, uint64_t seed, pxi_swarm_rule *swarm,
                          pxi_excite_rule *excite);

#endif
