/* src/cli/cli_train.h - a network and its data, opened for training */
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

/* What the written network says about itself: plexor.scale, mean, std, size and channels or audio,
 * classes, output and train. */
enum { CLI_PROPERTIES_MOST = 12 };
typedef struct cli_properties {
    px_property item[CLI_PROPERTIES_MOST];
    px_text text[CLI_PROPERTIES_MOST];
    size_t count;
} cli_properties;
/* Mean, std, size and channels, and the scale if asked for; the names of `classes` classes; and,
 * behind the last of them, the values into place. */
void cli_properties_preprocess(cli_properties *out, const px_preprocess *pre, const px_dataset *set,
                               bool scale);
px_status cli_properties_classes(cli_properties *out, const px_model *model, const px_dataset *set,
                                 int classes, px_error *err);
px_status cli_properties_end(cli_properties *out, px_error *err);
px_status cli_training_describe(const cli_training *training, px_json *train, cli_properties *out,
                                px_error *err);
void cli_properties_done(cli_properties *properties);

#endif
