/* studies/deepsensor/deepsensor_methods.c - what is compared: methods, and what they leave open
 *
 * Section 5.3: DeepXplore by neuron coverage with `blackout`, DLFuzz with 10 neurons and k = 4,
 * DeepHunter by SNAC, 20 iterations each. What an iteration of a rival is, the paper does not say.
 * Its DeepXplore finds two classes or more per seed, which one climb that ends where the networks
 * differ cannot: so it is one climb of up to 50 steps from every seed, anew each time. DLFuzz's is
 * one step; DeepHunter's as many picks as there are seeds. The swarm is unbounded, as printed; its
 * radius, which the paper does not give, is that of the engine's preset.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#include "deepsensor/deepsensor_study.h"

#include "base/memory.h"

#include <string.h>

#define SWARM(...) .clock = DS_BY_SWARM, .engine = "deepsensor", .settings = {__VA_ARGS__}
/* By the paper's letter, but for what is said. */
#define PAPER(...) .preset = "paper", SWARM(__VA_ARGS__)

#define LAMBDA(text, number)                                                     \
    {                                                                            \
        .id = "lambda-" text, .title = "lambda " text, .group = DS_GROUP_LAMBDA, \
        PAPER("lambda=" text), .value = (number)                                 \
    }

#define EPSILON(text, number)                                                       \
    {                                                                               \
        .id = "epsilon-" text, .title = "epsilon " text, .group = DS_GROUP_EPSILON, \
        PAPER("epsilon=" text), .value = (number)                                   \
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
    [DS_SENSOR] = {.id = "deepsensor", .title = "DeepSensor", .group = DS_GROUP_PAPER, PAPER(NULL)},
    {.id = "chance",
     .title = "the same swarm, fitness by chance",
     .group = DS_GROUP_CONTROL,
     PAPER("objective=chance")},
    {.id = "loss",
     .title = "the same swarm, fitness the loss alone",
     .group = DS_GROUP_CONTROL,
     PAPER("objective=loss")},
    {.id = "ga",
     .title = "the same fitness, genetic algorithm",
     .group = DS_GROUP_SEARCH,
     PAPER("optimizer=ga")},
    {.id = "random",
     .title = "the same fitness, random places",
     .group = DS_GROUP_SEARCH,
     PAPER("optimizer=random")},
    {.id = "default", .title = "plexor's default", .group = DS_GROUP_DEFAULT, SWARM(NULL)},
    {.id = "default-chance",
     .title = "default, fitness by chance",
     .group = DS_GROUP_DEFAULT,
     SWARM("objective=chance")},
    {.id = "default-loss",
     .title = "default, fitness the loss alone",
     .group = DS_GROUP_DEFAULT,
     SWARM("objective=loss")},
    {.id = "default-ga",
     .title = "default, genetic algorithm",
     .group = DS_GROUP_SEARCH,
     SWARM("optimizer=ga")},
    {.id = "default-random",
     .title = "default, random places",
     .group = DS_GROUP_SEARCH,
     SWARM("optimizer=random")},
    {.id = "deepxplore-steps",
     .title = "DeepXplore, one climb",
     .group = DS_GROUP_SEARCH,
     .clock = DS_BY_STEP,
     .engine = "deepxplore",
     .settings = {"constraint=blackout", "twins=1000000000"}},
    {.id = "norm-layer-minmax",
     .title = "layer-minmax",
     .group = DS_GROUP_NORM,
     PAPER("norm=layer-minmax")},
    {.id = "norm-layer-max", .title = "layer-max", .group = DS_GROUP_NORM, PAPER("norm=layer-max")},
    {.id = "norm-global-minmax",
     .title = "global-minmax",
     .group = DS_GROUP_NORM,
     PAPER("norm=global-minmax")},
    {.id = "objective-code",
     .title = "its code's objective",
     .group = DS_GROUP_NORM,
     PAPER("objective=code")},
    {.id = "radius-0.1", .title = "radius 0.1", .group = DS_GROUP_TRIED, PAPER("radius=0.1")},
    {.id = "radius-0.5", .title = "radius 0.5", .group = DS_GROUP_TRIED, PAPER("radius=0.5")},
    {.id = "radius-0.7",
     .title = "radius 0.7, the published code's figure for dx",
     .group = DS_GROUP_TRIED,
     PAPER("radius=0.7")},
    {.id = "radius-1", .title = "radius 1", .group = DS_GROUP_TRIED, PAPER("radius=1")},
    {.id = "radius-0.7-3-nodes",
     .title = "radius 0.7, 3 nodes instead of 8",
     .group = DS_GROUP_TRIED,
     PAPER("radius=0.7", "nodes=3")},
    {.id = "diagonal-layer",
     .title = "radius 0.7, one layer at a time",
     .group = DS_GROUP_TRIED,
     PAPER("radius=0.7", "diagonal=layer")},
    {.id = "vmax-0.1",
     .title = "radius 0.7, steps of at most 0.1",
     .group = DS_GROUP_TRIED,
     PAPER("radius=0.7", "vmax=0.1")},
    {.id = "inertia-classic",
     .title = "inertia from 0.9 to 0.4",
     .group = DS_GROUP_TRIED,
     PAPER("inertia=classic")},
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
     PAPER("init=fixed")},
};

const size_t ds_method_count = PX_LEN(ds_methods);

size_t ds_method_find(const char *id)
{
    size_t m = 0;
    while (strcmp(ds_methods[m].id, id) != 0)
        m++;
    return m;
}
