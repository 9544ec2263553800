/* src/cli/describe_out.h - what `plexor describe` prints and writes */
#ifndef PLEXOR_CLI_DESCRIBE_OUT_H
#define PLEXOR_CLI_DESCRIBE_OUT_H

#include "cli/cli_net.h"

#include <plexor/describe.h>

typedef struct describe_report {
    const cli_command *self;
    const px_model *model;
    const cli_inputs *inputs;
    const px_description *description;
    const char *folder;    /* NULL: nothing was written */
    const char *describer; /* file of the trained one; NULL: none */
    int64_t shown;         /* units of a layer in the table; 0: all */
    int64_t rated;         /* items of a rating sheet */
} describe_report;

/* Writes bank, exemplars and contact sheets into the folder `to`. */
px_status describe_write(const describe_report *report, const char *to, px_error *err);

void describe_print(const describe_report *report);
int describe_json(const describe_report *report, int argc, char **argv);

#endif
