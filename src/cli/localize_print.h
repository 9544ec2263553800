/* src/cli/localize_print.h - suspicious neurons for people, for programs and as a chart */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PLEXOR_CLI_LOCALIZE_PRINT_H
#define PLEXOR_CLI_LOCALIZE_PRINT_H

#include "cli/cli_fields.h"
#include "cli/cli_net.h"

#include <plexor/localize.h>

typedef struct localize_report { /* what a run of `plexor localize` has to say */
    cli_origin origin;
    cli_classes names;
    const cli_inputs *inputs; /* NULL: the spectrum was read from a file */
    const px_spectrum *spectrum;
    const char *definition;
    double theta;
    int64_t count, failed, neurons; /* inputs, those that are wrong */
    int64_t always, never;          /* neurons active on all inputs, on none */
    px_activity_counts active;      /* almost */
    int64_t uninformative;
    bool all;                  /* uninformative neurons are ranked too */
    const px_suspicious *list; /* NULL: only counted, a part of the data */
    int64_t k;
    bool per_class;
    px_rankings rankings; /* of --compare */
    double seconds;
} localize_report;
extern const px_field localize_fields[];

/* What follows from the spectrum, and from report->inputs. */
void localize_report_fill(localize_report *report, const px_model *model,
                          const px_spectrum *spectrum);
cli_print_fn localize_print;
/* The layers of the list's neurons, or of all measures' with a comparison, as .svg. */
px_status localize_plot(const localize_report *report, const char *path, px_error *err);

typedef struct localize_row { /* a suspicious neuron; its class where it has one */
    const px_suspect *suspect;
    int class_index; /* -1: all classes */
    const char *class_name;
    char text[CLI_NUMBER_TEXT];
} localize_row;
extern const px_field localize_row_fields[];
void localize_row_fill(localize_row *row, const px_suspect *suspect, const cli_classes *names);

#endif
