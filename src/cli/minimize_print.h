/* src/cli/minimize_print.h - what `plexor minimize` has to say */
#ifndef PLEXOR_MINIMIZE_PRINT_H
#define PLEXOR_MINIMIZE_PRINT_H

#include "cli/cli_fields.h"
#include "cli/cli_net.h"

#include <internal/minimize.h>

typedef struct minimize_report {
    cli_origin origin;
    const px_minimized *few; /* inputs; NULL: faults */
    const px_cover *cover;   /* NULL: chosen by kinds alone */
    const px_shrunk_fault *faults;
    size_t fault_count;
    px_shrunk_means means;
    int64_t left_out;
    const char *to; /* where they were written; NULL: nowhere */
} minimize_report;
extern const px_field minimize_fields[];

void minimize_print(const minimize_report *report);

#endif
