/* src/cli/cli_adversary.h - the options of adversarial training, for train and repair */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PLEXOR_CLI_ADVERSARY_H
#define PLEXOR_CLI_ADVERSARY_H

#include "cli/cli_net.h"

#include <internal/train.h>

typedef struct cli_adversary { /* as given; share < 0: not given */
    const char *method, *eps, *step_size, *range;
    int64_t steps, stages;
    double share;
} cli_adversary;

#define CLI_ADVERSARY_NONE ((cli_adversary){.share = -1.0})

#define CLI_ADVERSARY_OPTIONS(to)                                                            \
    CLI_STRING(0, "adversary", &(to)->method, "fgsm|bim|pgd",                                \
               "replace training inputs by attacks on the network as it is then"),           \
        CLI_STRING(                                                                          \
            0, "eps", &(to)->eps, "X",                                                       \
            "how far those may move, in scaled units: 0.3, 8/255, or 10% of the range; 0.3 " \
            "of it for inputs of one channel, else 8/255"),                                  \
        CLI_STRING(0, "step-size", &(to)->step_size, "X",                                    \
                   "of one step of them; eps/30 for one channel, else eps/4"),               \
        CLI_INT(0, "adversary-steps", &(to)->steps, "N", 0, 1e6,                             \
                "steps of each; 0: 40 for one channel, else 7"),                             \
        CLI_REAL(0, "adversary-share", &(to)->share, "FRACTION", 0, 1,                       \
                 "of every batch that is replaced; 1 if not given"),                         \
        CLI_INT(0, "adversary-stages", &(to)->stages, "N", 0, 1e6,                           \
                "eps grows in N equal parts of the epochs; 0: the recipe's, else 1"),        \
        CLI_RANGE_OPTION(&(to)->range)

/* Reads and completes them for training inputs; without a method: none, and PX_E_USAGE where the
 * others were given. */
px_status cli_adversary_read(const cli_adversary *given, const px_dataset *set,
                             const px_preprocess *pre, px_adversary *out, px_error *err);

void cli_adversary_print(const px_adversary *adversary, const px_dataset *set,
                         const px_preprocess *pre);
extern const px_field cli_adversary_fields[]; /* of a px_adversary: `adversary` */

#endif
