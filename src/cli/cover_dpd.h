/* src/cli/cover_dpd.h - plexor cover --criteria dpd */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PLEXOR_COVER_DPD_H
#define PLEXOR_COVER_DPD_H

#include "cli/assess_partners.h"
#include "cli/cli_cover.h"
#include "cli/cli_paths.h"

typedef struct cover_dpd_args {
    const char *originals, *bank, *encoder, *threshold;
    int pair;
} cover_dpd_args;

#define COVER_DPD_OPTIONS(d)                                                     \
    CLI_STRING(0, "originals", &(d)->originals, "SPEC",                          \
               "of dpd: what the inputs were before; a campaign knows it"),      \
        CLI_CHOICE(0, "pair", &(d)->pair, ASSESS_PAIRINGS,                       \
                   "of dpd: how to find what an input was before"),              \
        CLI_STRING(0, "bank", &(d)->bank, "FILE",                                \
                   "of dpd: words of the units, from 'plexor describe'"),        \
        CLI_STRING(0, "encoder", &(d)->encoder, "SPEC",                          \
                   "of dpd: what turns texts into vectors; see 'plexor embed'"), \
        CLI_STRING(0, "threshold", &(d)->threshold, "FILE",                      \
                   "of dpd: tau, from 'plexor calibrate'; without it tau is found first")

/* Whether the list of criteria is dpd. PX_E_USAGE where it is one among others: it compares pairs,
 * they look at inputs. */
px_status cover_dpd_asked(const char *criteria, bool *is, px_error *err);

extern const px_field cover_dpd_fields[]; /* what it says instead, behind the origin */

/* The whole of the command with that criterion. */
int cover_dpd_run(const cli_command *self, const char *path, const cover_dpd_args *args,
                  const cli_data *data, const cli_neurons *neurons, const cli_training *training,
                  const cli_workers *workers, double fail_under);

#endif
