/* src/cli/cli_cover.h - what the commands about coverage share */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PLEXOR_CLI_COVER_H
#define PLEXOR_CLI_COVER_H

#include "cli/cli_fields.h"
#include "cli/cli_net.h"

#include <plexor/cover.h>
#include <plexor/training.h>

/* Cheap ones that see every layer. */
#define CLI_DEFAULT_CRITERIA "nc,kmnc,nbc,snac,tknc,tknp,nlc"

typedef struct cli_criteria { /* which ones, and how they are set */
    const char *list, *preset;
    cli_list settings;
} cli_criteria;

#define CLI_CRITERIA_OPTIONS(c)                                                          \
    CLI_STRING(0, "criteria", &(c)->list, "LIST|all",                                    \
               "which ones; 'plexor list criteria' names them"),                         \
        CLI_STRING(0, "preset", &(c)->preset, "PAPER",                                   \
                   "settings of a paper: nss, nsgen or rev; see 'plexor list presets'"), \
        CLI_STRINGS(0, "set", &(c)->settings, "CRITERION.NAME=VALUE",                    \
                    "change one setting, as in kmnc.k=1000; may be given again and again")

typedef struct cli_training { /* where ranges and traces come from */
    const char *profile, *spec;
    int64_t limit, first, memory_mib;
} cli_training;

#define CLI_TRAINING_OPTIONS(t)                                                                 \
    CLI_STRING(0, "train", &(t)->spec, "SPEC",                                                  \
               "training data to learn ranges and traces from (its train part)"),               \
        CLI_INT(0, "train-limit", &(t)->limit, "N", 0, 9e15,                                    \
                "learn from that many of them, drawn by --seed; 0: all"),                       \
        CLI_INT(0, "train-first", &(t)->first, "N", 0, 9e15,                                    \
                "learn from the first N of them, so that others can be candidates; 0: not so"), \
        CLI_INT(0, "mem", &(t)->memory_mib, "MIB", 0, 9e9,                                      \
                "refuse to keep traces that need more than this; 0: three quarters of memory")

/* Where training data come from, as the options say, with a bar and remarks as they are learned
 * from; `pre` becomes how they are fed. All that is given is borrowed. */
px_status cli_training_of(const px_model *model, const cli_data *data, const cli_training *training,
                          const cli_workers *workers, px_preprocess *pre, px_training *out,
                          px_error *err);
/* Learns what the options need from training data: those of --train, else 1,000 inputs of the train
 * part of `data` (and says so). `shape` is that of an input; NULL: as the training data have it.
 * *out stays NULL where nothing has to be learned. */
px_status cli_profile_make(const px_model *model, const cli_data *data,
                           const cli_training *training, const cli_workers *workers,
                           const px_shape *shape, const px_cover_options *options, px_profile **out,
                           px_error *err);

/* The same with what is to be learned, which is freed; `who` needs it: "selectors". */
px_status cli_profile_learn(const px_model *model, const cli_data *data,
                            const cli_training *training, const cli_workers *workers,
                            const char *who, px_lessons *lessons, px_profile **out, px_error *err);
/* --mem, or three quarters of the machine's. */
int64_t cli_memory_bytes(const cli_training *training);

/* Classes without samples, inputs that were left out. */
void cli_profile_remarks(const px_model *model, const px_profile *profile);

/* Lines of what a criterion or selector has to say, each with its id: below the result, or, with
 * `json`, among the remarks. */
void cli_print_remarks(const char *id, const char *text, bool json);

typedef struct cover_values { /* what the criteria came to */
    px_cover *cover;
    const double *baseline; /* per criterion, of random inputs; NULL: none */
} cover_values;
extern const px_field cover_values_fields[];

typedef struct cover_report { /* what a run of `plexor cover` has to say */
    cli_origin origin;
    cover_values values;
    const px_model *model;
    const cli_inputs *inputs;
    const char *profile_name; /* NULL: none */
    int64_t profile_count;
    px_cover_tally tally;
    bool has_labels; /* and they are the network's classes */
    double accuracy;
    int classes;          /* of what follows; 0: none */
    double *class_values; /* [class][criterion] */
    px_cover_tally *class_tally;
    px_cover_gap *gaps;
    size_t gap_count;
    int64_t shard, shards;
    bool is_part, per_layer, uncovered;
    double seconds;
} cover_report;
extern const px_field cover_fields[];

cli_print_fn cover_print;
void cover_print_table(const cover_values *values);
void cover_print_remarks(px_cover *cover, bool json);

#endif
