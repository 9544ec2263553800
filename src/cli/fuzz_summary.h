/* src/cli/fuzz_summary.h - what a campaign found, at its end: paper 001 section 5.4 */
#ifndef PLEXOR_FUZZ_SUMMARY_H
#define PLEXOR_FUZZ_SUMMARY_H

#include <plexor/fuzz.h>
#include <plexor/json.h>

/* A table on stdout: #Faults, RFT, FRE, #Classes, OI, errors as paper 003 counts them, and
 * coverage beside what the seeds had. `before_s`: seconds of earlier runs. */
void fuzz_summary_print(const px_fuzz_report *report, double before_s,
                        const px_campaign_counts *counts, const px_error_counts *errors);
/* The same as keys of the object that is open. */
void fuzz_summary_json(const px_fuzz_report *report, const px_campaign_counts *counts,
                       const px_error_counts *errors, px_json *json);

#endif
