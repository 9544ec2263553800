/* studies/deepsensor/deepsensor_methods.c - what is compared: methods, and what they leave open
 *
 * Section 5.3: DeepXplore by neuron coverage with `blackout`, DLFuzz with 10 neurons and k = 4,
 * DeepHunter by SNAC, 20 iterations each. What an iteration of a rival is, the paper does not say.
 * Its DeepXplore finds two classes or more per seed, which one climb that ends where the networks
 * differ cannot: so it is one climb of up to 50 steps from every seed, anew each time. DLFuzz's is
 * one step; DeepHunter's as many picks as there are seeds. The swarm is unbounded, as printed.
 */
#include "deepsensor/deepsensor_study.h"

#include "base/memory.h"

#include <string.h>

#define SWARM(...) .clock = DS_BY_SWARM, .engine = "deepsensor", .settings = {__VA_ARGS__}

#define LAMBDA(text, number)                                                     \
    {                                                                            \
        .id = "lambda-" text, .title = "lambda " text, .group = DS_GROUP_LAMBDA, \
        SWARM("bound=none", "lambda=" text), .value = (number)                   \
    }

#define EPSILON(text, number)                                                       \
    {                                                                               \
        .id = "epsilon-" text, .title = "epsilon " text, .group = DS_GROUP_EPSILON, \
        SWARM("bound=none", "epsilon=" text), .value = (number)                     \
    }

const ds_method ds_methods[] = {
    [DS_XPLORE] = {.id = "deepxplore",
                   .title = "DeepXplore",
                   .group = DS_GROUP_PAPER,
                   .clock = DS_BY_VISIT,
                   .engine = "deepxplore",
                   .settings = {"constraint=blackout", "twins=1000000000"}},
    [DS_DLFUZZ] = {.id = "dlfuzz",
                   .title = "DLFuzz",
                   .group = DS_GROUP_PAPER,
                   .clock = DS_BY_STEP,
                   .engine = "dlfuzz",
                   .settings = {"neurons=10", "k=4", "twins=1000000000"}},
    [DS_HUNTER] = {.id = "deephunter",
                   .title = "DeepHunter",
                   .group = DS_GROUP_PAPER,
                   .clock = DS_BY_EXECUTION,
                   .engine = "loop",
                   .policy = "deephunter",
                   .guide = "snac",
                   .settings = {"twins=1000000000"}},
    [DS_SENSOR] = {.id = "deepsensor",
                   .title = "DeepSensor",
                   .group = DS_GROUP_PAPER,
                   SWARM("bound=none")},
    {.id = "random",
     .title = "random places",
     .group = DS_GROUP_CONTROL,
     SWARM("bound=none", "optimizer=random")},
    {.id = "ga",
     .title = "genetic algorithm",
     .group = DS_GROUP_CONTROL,
     SWARM("bound=none", "optimizer=ga")},
    {.id = "deepsensor-bound",
     .title = "DeepSensor, searching within 0.1",
     .group = DS_GROUP_CONTROL,
     SWARM("bound=0.1")},
    {.id = "deepxplore-steps",
     .title = "DeepXplore, one climb",
     .group = DS_GROUP_CONTROL,
     .clock = DS_BY_STEP,
     .engine = "deepxplore",
     .settings = {"constraint=blackout", "twins=1000000000"}},
    {.id = "norm-raw",
     .title = "DeepSensor, raw",
     .group = DS_GROUP_NORM,
     SWARM("bound=none", "norm=raw")},
    {.id = "norm-layer-max",
     .title = "DeepSensor, layer-max",
     .group = DS_GROUP_NORM,
     SWARM("bound=none", "norm=layer-max")},
    {.id = "norm-global-minmax",
     .title = "DeepSensor, global-minmax",
     .group = DS_GROUP_NORM,
     SWARM("bound=none", "norm=global-minmax")},
    {.id = "objective-code",
     .title = "DeepSensor, its code's objective",
     .group = DS_GROUP_NORM,
     SWARM("bound=none", "objective=code")},
    {.id = "raw-0.1",
     .title = "raw, lambda 0.1",
     .group = DS_GROUP_TRIED,
     SWARM("bound=none", "norm=raw", "lambda=0.1")},
    {.id = "raw-0.01",
     .title = "raw, lambda 0.01",
     .group = DS_GROUP_TRIED,
     SWARM("bound=none", "norm=raw", "lambda=0.01")},
    {.id = "raw-0",
     .title = "raw, lambda 0",
     .group = DS_GROUP_TRIED,
     SWARM("bound=none", "norm=raw", "lambda=0")},
    {.id = "diagonal-layer",
     .title = "one layer at a time",
     .group = DS_GROUP_TRIED,
     SWARM("bound=none", "diagonal=layer")},
    {.id = "vmax-none",
     .title = "no limit to a step",
     .group = DS_GROUP_TRIED,
     SWARM("bound=none", "vmax=none")},
    {.id = "inertia-classic",
     .title = "inertia from 0.9 to 0.4",
     .group = DS_GROUP_TRIED,
     SWARM("bound=none", "inertia=classic")},
    {.id = "radius-1",
     .title = "begins anywhere",
     .group = DS_GROUP_TRIED,
     SWARM("bound=none", "radius=1")},
    LAMBDA("0.1", 0.1),
    LAMBDA("0.2", 0.2),
    LAMBDA("0.3", 0.3),
    LAMBDA("0.4", 0.4),
    LAMBDA("0.6", 0.6),
    LAMBDA("0.7", 0.7),
    LAMBDA("0.8", 0.8),
    LAMBDA("0.9", 0.9),
    EPSILON("0.1", 0.1),
    EPSILON("0.2", 0.2),
    EPSILON("0.3", 0.3),
    EPSILON("0.4", 0.4),
    {.id = "init-fixed",
     .title = "all particles begin at the seed",
     .group = DS_GROUP_INIT,
     SWARM("bound=none", "init=fixed")},
};

const size_t ds_method_count = PX_LEN(ds_methods);

size_t ds_method_find(const char *id)
{
    size_t m = 0;
    while (strcmp(ds_methods[m].id, id) != 0)
        m++;
    return m;
}
