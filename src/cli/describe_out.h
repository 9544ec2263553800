/* src/cli/describe_out.h - what `plexor describe` prints and writes */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PLEXOR_CLI_DESCRIBE_OUT_H
#define PLEXOR_CLI_DESCRIBE_OUT_H

#include "cli/cli_fields.h"
#include "cli/cli_net.h"

#include <internal/describe.h>

typedef struct describe_report {
    cli_origin origin;
    const cli_inputs *inputs;
    const px_description *description;
    const px_bank *bank;
    const px_exemplars *exemplars;
    const char *describer_id, *validation;
    uint64_t bank_id;
    const px_gates *gates;
    px_exemplar_facts facts;
    px_description_facts training;
    double training_seconds; /* NaN: it was trained before */
    const char *folder;      /* NULL: nothing was written */
    const char *describer;   /* file of the trained one; NULL: none */
    int64_t shown;           /* units of a layer in the table; 0: all */
    int64_t rated;           /* items of a rating sheet */
} describe_report;
extern const px_field describe_fields[];

/* What follows from report->description. */
void describe_report_fill(describe_report *report, const px_model *model);
/* What the pictures of exemplars may take on disk. */
enum { DESCRIBE_MOST_BYTES = 512 << 20 };
/* Says beforehand what will not be written because of it. */
void describe_note_size(const cli_command *self, const describe_report *report);
/* Writes bank, exemplars and contact sheets into the folder `to`. */
px_status describe_write(const describe_report *report, const char *to, px_error *err);

cli_print_fn describe_print;

#endif
