/* src/cli/cli_cover.h - what the commands about coverage share */
#ifndef PLEXOR_CLI_COVER_H
#define PLEXOR_CLI_COVER_H

#include "cli/cli_net.h"

#include <plexor/cover.h>

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

/* Learns what the options need from training data: those of --train, else 1,000 inputs of the train
 * part of `data` (and says so). `shape` is that of an input; NULL: as the training data have it.
 * *out stays NULL where nothing has to be learned. */
px_status cli_profile_make(const cli_command *self, const px_model *model, const cli_data *data,
                           const cli_training *training, const cli_workers *workers,
                           const px_shape *shape, const px_cover_options *options, px_profile **out,
                           px_error *err);

/* The training data themselves, by the same rules; `who` needs them. */
px_status cli_training_inputs(const px_model *model, const cli_data *data,
                              const cli_training *training, const char *who, px_preprocess *pre,
                              px_dataset **out, px_error *err);

/* The same with what is to be learned, which is freed; `who` needs it: "selectors". */
px_status cli_profile_learn(const cli_command *self, const px_model *model, const cli_data *data,
                            const cli_training *training, const cli_workers *workers,
                            const char *who, px_lessons *lessons, px_profile **out, px_error *err);
/* --mem, or three quarters of the machine's. */
int64_t cli_memory_bytes(const cli_training *training);

/* Classes without samples, inputs that were left out. */
void cli_profile_remarks(const cli_command *self, const px_model *model, const px_profile *profile);

/* Lines of what a criterion or selector has to say, each with its id: below the result, or, with
 * `json`, among the remarks. */
void cli_print_remarks(const char *id, const char *text, bool json);

typedef struct cover_report { /* what a run of `plexor cover` has to say */
    px_cover *cover;
    const px_model *model;
    const cli_inputs *inputs;
    const px_profile *profile; /* NULL: none */
    px_cover_tally tally;
    bool has_labels;      /* and they are the network's classes */
    double *baseline;     /* per criterion; NULL: none */
    int classes;          /* of what follows; 0: none */
    double *class_values; /* [class][criterion] */
    px_cover_tally *class_tally;
    int64_t shard, shards;
    double seconds;
    bool per_layer, uncovered;
} cover_report;

void cover_print(const cover_report *report);
void cover_print_table(const px_cover *cover, const double *baseline);
void cover_json(const cover_report *report, px_json *json);
void cover_json_criteria(const px_cover *cover, const double *baseline, px_json *json);

#endif
