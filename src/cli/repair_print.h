/* src/cli/repair_print.h - the report of a repair, for people and as JSON */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PLEXOR_CLI_REPAIR_PRINT_H
#define PLEXOR_CLI_REPAIR_PRINT_H

#include "cli/cli_fields.h"
#include "cli/cli_net.h"

#include <internal/failures.h>
#include <internal/repair.h>

typedef struct repair_files { /* what was written; NULL: not */
    const char *out, *flips;
} repair_files;

typedef struct repair_generated { /* where the added inputs come from */
    const char *generator;        /* NULL: they were given */
    px_failures_keep keep;
    bool pairwise;
    px_failures_counts counts;
} repair_generated;

/* What will be done, before it is done. */
void repair_print_plan(const px_repair_report *r, const px_repair_options *o,
                       const repair_generated *made);

enum { REPAIR_SETS = 3 };         /* clean, failing, robust */
typedef struct repair_when {      /* before or after */
    double accuracy[REPAIR_SETS]; /* NaN, and NULL: nothing was judged */
    const px_eval_sum *details[REPAIR_SETS];
} repair_when;

typedef struct repair_result { /* all of it, afterwards */
    cli_origin origin;
    px_repair_report r;
    px_repair_options o;
    repair_generated made;
    cli_classes names;
    repair_files files;
    const char *version, *mode, *augment, *keep, *verdict;
    bool has_share;
    const px_repair_set *sets[REPAIR_SETS]; /* of the report that was given; NULL: likewise */
    repair_when when[2];
} repair_result;
repair_result repair_result_make(const px_repair_report *r, const px_repair_options *o,
                                 const repair_generated *made, const cli_classes *names,
                                 const repair_files *files);
cli_print_fn repair_print_report;
/* As JSON; and the value of plexor.repair: what was done, and nothing that depends on the clock. */
extern const px_field repair_fields[], repair_origin_fields[];

#endif
