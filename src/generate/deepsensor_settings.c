/* src/generate/deepsensor_settings.c - settings of engine `deepsensor`: paper 003 section 5.5, and
 * spec LGR B.5 where the paper is silent
 */
#include "generate/deepsensor.h"

static const char *const optimizers[] = {"pso", "random", "ga", NULL}; /* as pxi_swarm_kind */
static const char *const inits[] = {"random", "fixed", NULL};
static const char *const inertias[] = {"paper", "classic", NULL};
static const char *const rands[] = {"value", "scalar", NULL};
static const char *const objectives[] = {"shapley", "code", NULL};
static const char *const norms[] = {"layer-minmax", "raw", "layer-max", "global-minmax", NULL};
static const px_shapley_norm norm_values[] = {PX_SHAPLEY_LAYER_MINMAX, PX_SHAPLEY_RAW,
                                              PX_SHAPLEY_LAYER_MAX, PX_SHAPLEY_GLOBAL_MINMAX};
static const char *const diagonals[] = {"joint", "layer", NULL};

const px_param pxi_deepsensor_settings[DS_SETTINGS] = {
    [DS_OPTIMIZER] = {.name = "optimizer",
                      .choices = optimizers,
                      .help = "how places are chosen: a particle swarm, at random, or a genetic "
                              "algorithm, with the same number of evaluations"},
    [DS_PARTICLES] = {.name = "particles",
                      .fallback = 100,
                      .least = 1,
                      .most = PXI_SWARM_MOST,
                      .integer = true,
                      .help = "places that are looked at in an iteration"},
    [DS_ITERS] = {.name = "iters",
                  .fallback = 20,
                  .least = 1,
                  .most = PXI_SWARM_MOST - 1,
                  .integer = true,
                  .help = "iterations of a swarm; each gives an example"},
    [DS_PASSES] = {.name = "passes",
                   .fallback = 1,
                   .most = 1e6,
                   .integer = true,
                   .help = "swarms around each seed, then the campaign is over; 0: it goes on"},
    [DS_EPSILON] = {.name = "epsilon",
                    .fallback = 1,
                    .most = 1,
                    .help = "a swarm ends when its fitness is above this, except with the code's "
                            "objective"},
    [DS_BOUND] = {.name = "bound",
                  .fallback = 0.1,
                  .most = 1,
                  .none = true,
                  .help = "how far a value may move from its seed, as a share of its range; none: "
                          "anywhere in it, as in the paper"},
    [DS_INIT] = {.name = "init",
                 .choices = inits,
                 .help = "where particles begin: around the seed, or at it"},
    [DS_RADIUS] = {.name = "radius",
                   .fallback = 0.1,
                   .most = 1,
                   .help = "how far around it, as a share of a value's range"},
    [DS_VMAX] = {.name = "vmax",
                 .fallback = 0.1,
                 .most = 1,
                 .none = true,
                 .help = "how far a value moves in one step at most, as a share of its range"},
    [DS_C1] = {.name = "c1",
               .fallback = 2,
               .most = 1e3,
               .help = "pull towards a particle's own best place"},
    [DS_C2] = {.name = "c2", .fallback = 2, .most = 1e3, .help = "pull towards the swarm's"},
    [DS_W_INIT] = {.name = "w_init", .fallback = 0.4, .most = 10, .help = "inertia at first"},
    [DS_W_END] = {.name = "w_end", .fallback = 0.9, .most = 10, .help = "inertia at the end"},
    [DS_INERTIA] = {.name = "inertia",
                    .choices = inertias,
                    .help = "as the paper has it, or from w_end to w_init, as swarms usually do"},
    [DS_RAND] = {.name = "rand",
                 .choices = rands,
                 .help = "r1 and r2 are drawn for each value, or once per particle"},
    [DS_MUTATE] = {.name = "mutate",
                   .fallback = 0.05,
                   .most = 1,
                   .help = "ga: share of values that a child changes, by at most vmax"},
    [DS_OBJECTIVE] = {.name = "objective",
                      .choices = objectives,
                      .help = "excitable neurons, or what the published code maximises: NBC and "
                              "scaled differences"},
    [DS_NORM] = {.name = "norm",
                 .choices = norms,
                 .help = "how a neuron's part in the loss is scaled before lambda"},
    [DS_LAMBDA] = {.name = "lambda",
                   .fallback = 0.5,
                   .least = -1e6,
                   .most = 1e6,
                   .help = "a neuron is excitable above this"},
    [DS_DIAGONAL] = {.name = "diagonal",
                     .choices = diagonals,
                     .help = "which masks grow together: those of all layers, or of one at a time"},
    [DS_NODES] = {.name = "nodes",
                  .fallback = 8,
                  .least = 1,
                  .most = PX_SHAPLEY_MOST_NODES,
                  .integer = true,
                  .help = "of the quadrature along the diagonal"},
    [DS_SENSE] = {.name = "sense",
                  .fallback = PX_SHAPLEY_CODE_LAMBDA,
                  .most = 1,
                  .help = "code: a neuron counts when its scaled difference is above this"},
    [DS_GROUP] = {.name = "group",
                  .most = 4096,
                  .integer = true,
                  .help = "seeds whose swarms move side by side; 0: as many as fit in 64 MiB, up "
                          "to 4"},
};

const char *pxi_deepsensor_optimizer(const double *settings)
{
    return optimizers[(size_t)settings[DS_OPTIMIZER]];
}

void pxi_deepsensor_rules(const double *s, uint64_t seed, pxi_swarm_rule *swarm,
                          pxi_excite_rule *excite)
{
    const bool classic = s[DS_INERTIA] != 0.0;
    *swarm = (pxi_swarm_rule){
        .kind = (pxi_swarm_kind)s[DS_OPTIMIZER],
        .particles = (size_t)s[DS_PARTICLES],
        .iters = (int64_t)s[DS_ITERS],
        .c1 = s[DS_C1],
        .c2 = s[DS_C2],
        .w_init = s[classic ? DS_W_END : DS_W_INIT],
        .w_end = s[classic ? DS_W_INIT : DS_W_END],
        .scalar = s[DS_RAND] != 0.0,
        .fixed = s[DS_INIT] != 0.0,
        .radius = s[DS_RADIUS],
        .vmax = s[DS_VMAX],
        .bound = s[DS_BOUND],
        .mutate = s[DS_MUTATE],
        .seed = seed,
    };
    *excite = (pxi_excite_rule){
        .code = s[DS_OBJECTIVE] != 0.0,
        .norm = norm_values[(size_t)s[DS_NORM]],
        .lambda = s[DS_LAMBDA],
        .diagonal = {.nodes = (int)s[DS_NODES], .per_layer = s[DS_DIAGONAL] != 0.0},
        .sense = s[DS_SENSE],
    };
}
