/* src/cli/repair_print.h - the report of a repair, for people and as JSON */
#ifndef PLEXOR_CLI_REPAIR_PRINT_H
#define PLEXOR_CLI_REPAIR_PRINT_H

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
/* All of it, afterwards. */
void repair_print_report(const px_repair_report *r, const cli_classes *names,
                         const repair_files *files);
void repair_json_report(px_json *json, const px_repair_report *r, const px_repair_options *o,
                        const repair_generated *made, const cli_classes *names,
                        const repair_files *files);

/* The value of plexor.repair: what was done, and nothing that depends on the clock. */
void repair_json_origin(px_json *json, const px_repair_report *r, const px_repair_options *o,
                        const repair_generated *made);

#endif
