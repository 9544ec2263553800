/* src/cli/campaign_print.h - what a campaign found, as fuzz and status say it */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PLEXOR_CLI_CAMPAIGN_PRINT_H
#define PLEXOR_CLI_CAMPAIGN_PRINT_H

#include <internal/modes.h>

typedef struct campaign_found {
    px_campaign_counts counts;
    px_error_counts errors;
    px_modes modes; /* px_modes_done() */
} campaign_found;
px_status campaign_found_read(px_campaign *campaign, int64_t polluted_class, campaign_found *out,
                              px_error *err);
extern const px_field campaign_rates_fields[]; /* of one: what both commands say in a row */

/* Errors as DeepSensor counts them, for a table; returns how many lines. None where there are no
 * examples yet. */
enum { ERROR_LINES_MOST = 4, ERROR_LINE_REMARK = 120 };
typedef struct error_line {
    const char *what;
    int64_t value;
    char remark[ERROR_LINE_REMARK];
} error_line;
int error_lines(const px_error_counts *errors, error_line lines[ERROR_LINES_MOST]);

/* "rotation beyond 40 degrees 87% of tries fail": the `most` worst modes that fail at all, a line
 * each; nothing where there are none. */
void modes_print(const px_modes *modes, size_t most);

#endif
