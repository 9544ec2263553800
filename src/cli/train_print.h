/* src/cli/train_print.h - what `train` shows while it runs and at its end */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PLEXOR_CLI_TRAIN_PRINT_H
#define PLEXOR_CLI_TRAIN_PRINT_H

#include "cli/cli_adversary.h"
#include "cli/cli_fields.h"
#include "cli/cli_train.h"

typedef struct train_settings {
    const char *optimizer, *schedule, *loss, *augment, *freeze;
    px_text optimizer_spec; /* with the decay */
    double lr, decay, label_smoothing, clip, until, pollute, label_noise;
    bool hard_labels;
    int64_t epochs, batch, micro_batch, eval_every;
    int64_t polluted_class; /* with pollute */
    bool freeze_norms, micro_norms, keep_best;
    px_adversary adversary;
    bool recipe; /* how weights move was left to the recipe */
} train_settings;

typedef struct train_view { /* the context of the trainer's callbacks */
    bool quiet;             /* no table of epochs: stdout is for JSON */
    bool attacked;          /* training inputs are: their accuracy is under attack */
    const char *log;
    bool titled;
    size_t printed; /* epochs */
    cli_progress progress;
} train_view;

void train_view_start(train_view *view);
void train_view_end(train_view *view);
bool train_view_progress(void *view, const px_train_progress *progress);
px_status train_view_epoch(void *view, const px_train_epoch *history, size_t count, px_error *err);

void train_print_start(const cli_training *t, const train_settings *s, const px_feeder *feeder,
                       px_train_result r, const char *arch);

typedef struct train_report { /* what came of it */
    cli_origin origin;
    const cli_inputs *inputs;
    train_settings s;
    px_train_result r;
    const char *version, *arch, *out;
    bool is_old, has_until; /* the network was trained before: arch NULL; until is given */
    int64_t parameters;
    double peak_rss_mib;
} train_report;
train_report train_report_make(const cli_training *t, const train_settings *s, px_train_result r,
                               const char *arch, const char *out);
cli_print_fn train_print_result;
/* As JSON; and the value of plexor.train: what made the network, and nothing that depends on the
 * clock. */
extern const px_field train_fields[], train_origin_fields[];

#endif
