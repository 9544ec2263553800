/* src/cli/select_print.h - what a run of `plexor select` has to say */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PLEXOR_CLI_SELECT_PRINT_H
#define PLEXOR_CLI_SELECT_PRINT_H

#include "cli/cli_cover.h"

#include <plexor/select.h>

typedef struct select_report {
    cli_origin origin;
    cli_classes names;
    const px_select *select;
    const px_dataset *candidates;
    const char *mutate;         /* as asked for; NULL: the candidates are the data themselves */
    int64_t count, budget;      /* candidates, and those that are taken */
    bool stratify, files;       /* files: the rankings are written there, and not printed */
    px_evaluation *evaluations; /* per selector; NULL: not asked for */
    double seconds;             /* of everything */
} select_report;

extern const px_field select_fields[];

cli_print_fn select_print;
/* What selectors have to say: below the result, or, with `json`, among the remarks. */
void select_print_remarks(const select_report *report, bool json);

#endif
