/* src/cli/fuzz_summary.h - what a campaign found, at its end: paper 001 section 5.4 */
#ifndef PLEXOR_FUZZ_SUMMARY_H
#define PLEXOR_FUZZ_SUMMARY_H

#include "cli/campaign_print.h"
#include "cli/cli_net.h"

#include <plexor/fuzz.h>

typedef struct fuzz_summary {
    cli_origin origin;
    const char *campaign;
    px_fuzz_report report;
    campaign_found found;
    double before_s; /* seconds of earlier runs */
} fuzz_summary;
extern const px_field fuzz_fields[];

/* A table on stdout: #Faults, RFT, FRE, #Classes, OI, errors as paper 003 counts them, and
 * coverage beside what the seeds had; and what breaks it most. */
void fuzz_summary_print(const fuzz_summary *summary);

#endif
