/* src/cli/cli_train.h - a network and its data, opened for training */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PLEXOR_CLI_TRAIN_H
#define PLEXOR_CLI_TRAIN_H

#include "cli/cli_net.h"

#include <internal/train.h>

typedef struct cli_train_request {
    const char *arch, *path; /* one of the two */
    cli_data data;           /* split NULL: train */
    const char *test;        /* NULL: the data's own test split; "none" */
    int64_t test_limit, threads;
    double dropout; /* of a new network; negative: its own */
} cli_train_request;

typedef struct cli_training {
    px_model *model;
    px_scores scores;
    cli_inputs train, test; /* test.set NULL: there is none */
    bool measured;          /* mean and std are the training data's own */
} cli_training;

/* Opens the data, builds or loads the network, and settles the preprocessing: options beat the
 * model's metadata beat the mean and standard deviation of the training data. */
px_status cli_training_open(const cli_command *self, const cli_train_request *request,
                            cli_training *out, px_error *err);
void cli_training_close(cli_training *training);

#endif
