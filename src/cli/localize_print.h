/* src/cli/localize_print.h - suspicious neurons for people, for programs and as a chart */
#ifndef PLEXOR_CLI_LOCALIZE_PRINT_H
#define PLEXOR_CLI_LOCALIZE_PRINT_H

#include "cli/cli_net.h"

#include <plexor/localize.h>

typedef struct localize_report { /* what a run of `plexor localize` has to say */
    const px_model *model;
    const cli_inputs *inputs; /* NULL: the spectrum was read from a file */
    const px_spectrum *spectrum;
    const px_suspicious *list; /* NULL: only counted, a part of the data */
    int64_t k;
    bool all; /* uninformative neurons are ranked too */
    /* of --compare: */
    px_suspicious **lists; /* one per measure; NULL: no comparison */
    double *overlap;       /* [measures][measures], means over classes */
    double *spearman;
    double *list_overlap; /* [measures] with the list */
    double seconds;
} localize_report;

void localize_print(const localize_report *report);
void localize_json(const localize_report *report, px_json *json);
/* The layers of the list's neurons, or of all measures' with a comparison, as .svg or .png. */
px_status localize_plot(const localize_report *report, const char *path, px_error *err);
/* counts[layer]: how many of the list's neurons are in each layer of the spectrum. */
void localize_layers(const px_spectrum *spectrum, const px_suspicious *list, double *counts);

/* The members of one suspicious neuron, into an object that is open. */
void localize_json_suspect(const px_suspect *suspect, px_json *json);

void list_print_measures(void);
void list_json_measures(px_json *json);

#endif
