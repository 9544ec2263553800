/* src/cli/synthesize_print.h - what a run of `plexor synthesize` has to say */
#ifndef PLEXOR_CLI_SYNTHESIZE_PRINT_H
#define PLEXOR_CLI_SYNTHESIZE_PRINT_H

#include "cli/cli_fields.h"
#include "cli/cli_net.h"

#include <internal/synthesize.h>

typedef struct synthesize_side { /* inputs of one form */
    px_synthesis_mean mean;
    int64_t unchanged; /* -1: they are the originals */
} synthesize_side;

typedef struct synthesize_report {
    cli_origin origin;
    const cli_inputs *inputs;
    int64_t seed;
    const px_suspicious *suspects;
    const char *neurons, *stored_as;
    px_synthesis_options used;
    px_synthesis_summary sum;
    synthesize_side originals, exact, stored;
    const px_synthesis_targets *targets;
    int64_t k, right; /* right: inputs that the network gets right */
    int64_t known;    /* inputs that an earlier run made */
    bool pooled, rounds;
    const char *to; /* the folder; NULL: nothing is written */
} synthesize_report;
extern const px_field synthesize_fields[];

/* What follows from the synthesis. */
void synthesize_report_fill(synthesize_report *report, const px_synthesis *synthesis);
void synthesize_print(const synthesize_report *report);

#endif
