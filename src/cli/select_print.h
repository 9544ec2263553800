/* src/cli/select_print.h - what a run of `plexor select` has to say */
#ifndef PLEXOR_CLI_SELECT_PRINT_H
#define PLEXOR_CLI_SELECT_PRINT_H

#include "cli/cli_cover.h"

#include <plexor/select.h>

typedef struct select_report {
    const px_select *select;
    const px_model *model;
    const px_dataset *candidates;
    const char *mutate;         /* as asked for; NULL: the candidates are the data themselves */
    int64_t budget;             /* of the candidates */
    bool stratify, files;       /* files: the rankings are written there, and not printed */
    px_evaluation *evaluations; /* per selector; NULL: not asked for */
    double seconds;             /* of everything */
} select_report;

void select_print(const select_report *report);
void select_json(const select_report *report, px_json *json);

/* Without the check of stability, which is no part of selecting. */
double select_seconds(const px_select_times *times);

#endif
