/* src/cli/cli_paths.h - what commands share that look at decision paths */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PLEXOR_CLI_PATHS_H
#define PLEXOR_CLI_PATHS_H

#include "cli/cli_net.h"

#include <internal/decision_path.h>

typedef struct cli_paths_args {
    const char *layers, *tap, *bank, *encoder;
    int rule, target, baseline;
    int64_t depth, steps, most_steps, classes;
} cli_paths_args;

cli_paths_args cli_paths_default(void);

#define CLI_PATHS_OPTIONS(p)                                                                  \
    CLI_STRING(0, "bank", &(p)->bank, "FILE",                                                 \
               "descriptions of the units, from 'plexor describe'; none: units are numbers"), \
        CLI_STRING(0, "encoder", &(p)->encoder, "SPEC",                                       \
                   "what turns texts into vectors; see 'plexor embed'"),                      \
        CLI_STRING(0, "layers", &(p)->layers, "LIST",                                         \
                   "which layers the path goes through; see 'plexor list layers'"),           \
        CLI_STRING(0, "tap", &(p)->tap, "TAP", "where in a layer: post, pre or pool"),        \
        CLI_INT(0, "depth", &(p)->depth, "N", 0, PX_PATH_LAYERS_MOST,                         \
                "refuse a network whose path has fewer layers; 0: take what there is"),       \
        CLI_INT(0, "steps", &(p)->steps, "N", 1, PX_PATH_STEPS_MOST,                          \
                "from the baseline to the input"),                                            \
        CLI_INT(0, "max-steps", &(p)->most_steps, "N", 1, PX_PATH_STEPS_MOST,                 \
                "steps are doubled up to this where contributions do not add up"),            \
        CLI_CHOICE(0, "rule", &(p)->rule, CLI_CHOICES(PX_PATH_RULES),                         \
                   "how contributions are summed"),                                           \
        CLI_CHOICE(0, "target", &(p)->target, CLI_CHOICES(PX_PATH_TARGETS),                   \
                   "the class that is contributed to"),                                       \
        CLI_CHOICE(0, "baseline", &(p)->baseline, CLI_CHOICES(PX_PATH_BASELINES),             \
                   "what the input is compared with"),                                        \
        CLI_INT(0, "top", &(p)->classes, "K", 1, PX_PATH_CLASSES_MOST,                        \
                "how many predicted classes the text names")

/* Opens all of it for the inputs at hand, and says where units have no words, or words that were
 * not validated. px_path_tools_close() in any case. */
px_status cli_path_tools_open(const cli_command *self, const cli_paths_args *args,
                              const px_model *model, const cli_inputs *inputs, int threads,
                              int64_t batch, px_path_tools *out, px_error *err);

/* How many inputs took more steps, and did not add up all the same. */
void cli_paths_note(const cli_command *self, const px_paths *paths);
extern const px_field cli_paths_fields[]; /* of a px_path_tools */

#endif
