/* src/cli/fuzz_panel.h - the figures of a running campaign, arranged in the cells of a terminal */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PLEXOR_FUZZ_PANEL_H
#define PLEXOR_FUZZ_PANEL_H

#include "cli/term_cells.h"

#include <plexor/fuzz.h>

/* The smallest terminal that gets boxes; any smaller one gets a line. */
enum { FUZZ_PANEL_COLUMNS = 60, FUZZ_PANEL_ROWS = 12 };

/* What a report does not tell. */
typedef struct fuzz_about {
    const char *model; /* as people call it: the file's name */
    int threads;
} fuzz_about;

/* Draws into blank cells; their number decides what is left out, and the last row stays free (for
 * the cursor). `cells->ascii`: lines are drawn with + - and |. */
void fuzz_panel_draw(term_cells *cells, const fuzz_about *about, const px_fuzz_report *report);

/* The same in a line, without an end of line; returns `buffer`. */
#define FUZZ_LINE_TEXT 320
const char *fuzz_panel_line(const px_fuzz_report *report, char buffer[FUZZ_LINE_TEXT]);

#endif
