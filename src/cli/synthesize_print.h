/* src/cli/synthesize_print.h - what a run of `plexor synthesize` has to say */
#ifndef PLEXOR_CLI_SYNTHESIZE_PRINT_H
#define PLEXOR_CLI_SYNTHESIZE_PRINT_H

#include "cli/cli_net.h"

#include <plexor/synthesize.h>

typedef struct synthesize_report {
    const px_model *model;
    const cli_inputs *inputs;
    const px_suspicious *suspects;
    const px_probe *probe;
    const px_synthesis *synthesis;
    const px_synthesis_targets *targets;
    int64_t k, right; /* right: inputs that the network gets right */
    int64_t known;    /* inputs that an earlier run made */
    const char *to;   /* the folder; NULL: nothing is written */
} synthesize_report;

void synthesize_print(const synthesize_report *report);
void synthesize_json(const synthesize_report *report, px_json *json);

#endif
