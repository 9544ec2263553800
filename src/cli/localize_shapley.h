/* src/cli/localize_shapley.h - plexor localize --measure shapley */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PLEXOR_CLI_LOCALIZE_SHAPLEY_H
#define PLEXOR_CLI_LOCALIZE_SHAPLEY_H

#include "cli/assess_partners.h"

#include <internal/shapley_tally.h>

typedef struct shapley_args {
    const char *perturb;             /* "fgsm:8/255"; NULL: fgsm with its own eps */
    const char *adversarial;         /* data instead; NULL: none */
    int pair, estimator, norm, goal; /* the last three -1: not given */
    int64_t permutations, nodes;
    double lambda, truncation; /* NaN: the estimator's own */
} shapley_args;

#define SHAPLEY_ARGS_DEFAULT                                                                     \
    {                                                                                            \
        .estimator = -1, .norm = -1, .goal = -1, .permutations = 100, .nodes = 8, .lambda = NAN, \
        .truncation = NAN                                                                        \
    }
#define SHAPLEY_OPTIONS(s)                                                                        \
    CLI_STRING(0, "perturb", &(s)->perturb, "METHOD[:EPS]",                                       \
               "shapley: the change whose effect is looked at, an attack; fgsm unless named"),    \
        CLI_STRING(0, "adversarial", &(s)->adversarial, "SPEC|CAMPAIGN",                          \
                   "shapley: the changed inputs instead; --data has what they were before"),      \
        CLI_CHOICE(0, "pair", &(s)->pair, ASSESS_PAIRINGS,                                        \
                   "shapley: how to find what an input was before"),                              \
        CLI_CHOICE(0, "estimator", &(s)->estimator, CLI_CHOICES(PX_SHAPLEY_METHODS),              \
                   "shapley: how values are found; sampled unless given"),                        \
        CLI_INT(0, "permutations", &(s)->permutations, "N", 2, 1048576,                           \
                "shapley: removal orders per layer of 'sampled', an even number"),                \
        CLI_REAL(0, "truncation", &(s)->truncation, "X", 0, 1,                                    \
                 "shapley: an order ends when less than this share of the change is left; 0.01"), \
        CLI_CHOICE(0, "goal", &(s)->goal, "all|excitable|top",                                    \
                   "shapley: 'sampled' stops early for neurons about which this is settled"),     \
        CLI_INT(0, "nodes", &(s)->nodes, "Q", 1, PX_SHAPLEY_MOST_NODES,                           \
                "shapley: nodes of the quadrature of 'aumann'"),                                  \
        CLI_CHOICE(0, "norm", &(s)->norm, CLI_CHOICES(PX_SHAPLEY_NORMS),                          \
                   "shapley: scale of the values; layer-minmax unless given, of code raw"),       \
        CLI_REAL(0, "lambda", &(s)->lambda, "X", -1e30, 1e30,                                     \
                 "shapley: a neuron is excitable above this; 0.5, of 'code' 0.2")

typedef struct shapley_job { /* what the command brings */
    const cli_command *self;
    const shapley_args *args;
    const cli_data *data;
    const cli_neurons *neurons;
    const cli_workers *workers;
    const char *output_path;
    int64_t k;
    bool pooled;
} shapley_job;

/* Whether any option was given that only this measure takes. */
bool shapley_args_given(const shapley_args *args);

/* Runs, prints, and returns the exit status. */
int localize_shapley(const shapley_job *job, const char *model_path);

#endif
