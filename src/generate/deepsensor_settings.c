/* src/generate/deepsensor_settings.c - settings of engine `deepsensor`: section 5.5 of the paper, and LGR
 * B.5 where it is silent
 *
 * The paper gives no radius, no bound and no limit of speed. Without a bound its examples are noise
 * to the eye; the defaults keep within half of the range, where most digits can be read.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#include "generate/deepsensor.h"

#include <math.h>

static const char *const optimizers[] = {"pso", "random", "ga", NULL}; /* as pxi_swarm_kind */
static const char *const inits[] = {"random", "fixed", NULL};
static const char *const inertias[] = {"paper", "classic", NULL};
static const char *const rands[] = {"value", "scalar", NULL};
static const char *const objectives[] = {"shapley", "code", "loss", "chance", NULL};
static const char *const norms[] = {"raw", "layer-minmax", "layer-max", "global-minmax", NULL};
static const px_shapley_norm norm_values[] = {PX_SHAPLEY_RAW, PX_SHAPLEY_LAYER_MINMAX,
                                              PX_SHAPLEY_LAYER_MAX, PX_SHAPLEY_GLOBAL_MINMAX};
static const char *const diagonals[] = {"layer", "joint", NULL};

const px_param pxi_deepsensor_params[] = {
    PX_PARAM_CHOICE(pxi_deepsensor_config, optimizer, 0, optimizers,
                    "how places are chosen: a particle swarm, at random, or a genetic "
                    "algorithm, with the same number of evaluations"),
    PX_PARAM_INT(pxi_deepsensor_config, particles, 100, 1, PXI_SWARM_MOST,
                 "places that are looked at in an iteration"),
    PX_PARAM_INT(pxi_deepsensor_config, iters, 20, 1, PXI_SWARM_MOST - 1,
                 "iterations of a swarm; each gives an example"),
    PX_PARAM_INT(pxi_deepsensor_config, passes, 1, 0, 1e6,
                 "swarms around each seed, then the campaign is over; 0: it goes on"),
    PX_PARAM_REAL(pxi_deepsensor_config, epsilon, 1, 0, 1,
                  "a swarm ends when its fitness, as a share of neurons, is above this"),
    {.name = "bound",
     .def = 0.5,
     .min = 0,
     .max = 1,
     .none = true,
     .help = "how far a value may move from its seed, as a share of its range; none: "
             "anywhere in it, as in the paper",
     PX_PARAM_MEMBER(pxi_deepsensor_config, bound)},
    PX_PARAM_CHOICE(pxi_deepsensor_config, init, 0, inits,
                    "where particles begin: around the seed, or at it"),
    PX_PARAM_REAL(pxi_deepsensor_config, radius, 0.5, 0, 1,
                  "how far around it, and how fast at first, as a share of a value's range"),
    {.name = "vmax",
     .def = INFINITY,
     .min = 0,
     .max = 1,
     .none = true,
     .help = "how far a value moves in one step at most, as a share of its range",
     PX_PARAM_MEMBER(pxi_deepsensor_config, vmax)},
    PX_PARAM_REAL(pxi_deepsensor_config, c1, 2, 0, 1e3, "pull towards a particle's own best place"),
    PX_PARAM_REAL(pxi_deepsensor_config, c2, 2, 0, 1e3, "pull towards the swarm's"),
    PX_PARAM_REAL(pxi_deepsensor_config, w_init, 0.4, 0, 10, "inertia at first"),
    PX_PARAM_REAL(pxi_deepsensor_config, w_end, 0.9, 0, 10, "inertia at the end"),
    PX_PARAM_CHOICE(pxi_deepsensor_config, inertia, 0, inertias,
                    "as the paper has it, or from w_end to w_init, as swarms usually do"),
    PX_PARAM_CHOICE(pxi_deepsensor_config, rand, 0, rands,
                    "r1 and r2 are drawn for each value, or once per particle"),
    PX_PARAM_REAL(pxi_deepsensor_config, mutate, 0.05, 0, 1,
                  "ga: share of values that a child changes, by at most vmax, or else radius"),
    PX_PARAM_CHOICE(pxi_deepsensor_config, objective, 0, objectives,
                    "excitable neurons; what the published code maximises, NBC and scaled "
                    "differences; and to compare with: the loss alone, or numbers by chance"),
    PX_PARAM_CHOICE(pxi_deepsensor_config, norm, 0, norms,
                    "how a neuron's part in the loss, in nats, is scaled before lambda"),
    PX_PARAM_REAL(pxi_deepsensor_config, lambda, 0.5, -1e6, 1e6,
                  "a neuron is excitable above this"),
    PX_PARAM_CHOICE(pxi_deepsensor_config, diagonal, 0, diagonals,
                    "which masks grow together: those of one layer at a time, or of all"),
    PX_PARAM_INT(pxi_deepsensor_config, nodes, 8, 1, PX_SHAPLEY_MOST_NODES,
                 "of the quadrature along the diagonal"),
    PX_PARAM_REAL(pxi_deepsensor_config, sense, PX_SHAPLEY_CODE_LAMBDA, 0, 1,
                  "code: a neuron counts when its scaled difference is above this"),
    PX_PARAM_INT(pxi_deepsensor_config, group, 0, 0, 4096,
                 "seeds whose swarms move side by side; 0: as many as fit in 64 MiB, up to 4"),
    PX_PARAM_END,
};

/* By the letter of Def 3, Eq 5 and Eq 7; the radius, which it does not give, is the one with which
 * Table 3 comes out. */
static const char *const paper[] = {
    "norm=raw", "diagonal=joint", "bound=none", "vmax=none", "radius=0.8", NULL,
};

static const px_preset presets[] = {
    {.entry = {.id = "paper",
               .title = "by its letter, without a bound",
               .source = "Jin et al., DeepSensor, section 5.5"},
     .texts = paper},
};

const px_registry pxi_deepsensor_presets = {
    .kind = "preset", .plural = "presets", PX_REGISTRY_ARRAY(presets)};

const char *pxi_deepsensor_optimizer(const pxi_deepsensor_config *config)
{
    return optimizers[config->optimizer];
}

void pxi_deepsensor_rules(const pxi_deepsensor_config *config, uint64_t seed, pxi_swarm_rule *swarm,
                          pxi_excite_rule *excite)
{
    const bool classic = config->inertia != 0;
    *swarm = (pxi_swarm_rule){
        .kind = (pxi_swarm_kind)config->optimizer,
        .particles = (size_t)config->particles,
        .iters = config->iters,
        .c1 = config->c1,
        .c2 = config->c2,
        .w_init = classic ? config->w_end : config->w_init,
        .w_end = classic ? config->w_init : config->w_end,
        .scalar = config->rand != 0,
        .fixed = config->init != 0,
        .radius = config->radius,
        .vmax = config->vmax,
        .bound = config->bound,
        .mutate = config->mutate,
        .seed = seed,
    };
    *excite = (pxi_excite_rule){
        .objective = (pxi_objective)config->objective,
        .norm = norm_values[config->norm],
        .lambda = config->lambda,
        .diagonal = {.nodes = (int)config->nodes, .per_layer = config->diagonal == 0},
        .sense = config->sense,
    };
}
