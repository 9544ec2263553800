/* src/cli/term_cells.h - a terminal as a grid of cells, and the bytes that turn one into another
 *
 *     term_cells_resize(&next, 80, 24);                 // blank
 *     term_cells_put(&next, 3, 0, TERM_TITLE, "plexor");
 *     term_cells_update(&shown, &next, colour, &bytes); // only what differs
 *
 * Whoever draws composes whole frames; what did not change is never sent, so nothing flickers. A
 * cell is one column wide: characters that may not be (east Asian, combining, control) become '?',
 * and so do bytes that are no UTF-8.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PLEXOR_TERM_CELLS_H
#define PLEXOR_TERM_CELLS_H

#include <plexor/text.h>
#include <stdint.h>

enum { TERM_COLUMNS_MOST = 500, TERM_ROWS_MOST = 200 }; /* larger terminals are used in part */

typedef enum term_style {
    TERM_PLAIN,
    TERM_FRAME,  /* lines between boxes */
    TERM_TITLE,  /* of the whole */
    TERM_HEAD,   /* of a box */
    TERM_LABEL,  /* "run time :" */
    TERM_STRONG, /* figures to look at first */
    TERM_GOOD,
    TERM_EARLY, /* too early to say */
    TERM_CALM,
    TERM_BAD, /* faults: what one is here for */
    TERM_STYLES
} term_style;

typedef struct term_cell {
    uint32_t code; /* a Unicode character that is one column wide */
    uint8_t style;
} term_cell;

typedef struct term_cells { /* {0} has no cells */
    int columns, rows;
    bool ascii; /* no character beyond ASCII is put */
    term_cell *cells;
} term_cells;

/* Blank cells of that size, within the limits above. False when out of memory: the old ones stay.
 */
bool term_cells_resize(term_cells *cells, int columns, int rows);
void term_cells_done(term_cells *cells);

/* Puts a text of one line, cut at the right edge; returns the columns it took. Places outside the
 * grid take nothing. */
int term_cells_put(term_cells *cells, int column, int row, term_style style, const char *text);
/* The same, cut at `most` columns. */
int term_cells_put_most(term_cells *cells, int column, int row, int most, term_style style,
                        const char *text);
/* `count` times one character. */
void term_cells_fill(term_cells *cells, int column, int row, int count, term_style style,
                     uint32_t code);
int term_text_width(const char *text); /* columns that it would take */

/* Adds to `bytes` what makes a terminal that shows `shown` show `next`, and puts the cursor at the
 * beginning of row `rest`. Both have one size. `shown` becomes equal to `next`. */
void term_cells_update(term_cells *shown, const term_cells *next, bool colour, int rest,
                       px_text *bytes);
/* The first row from which on all are blank; the last one where none is. */
int term_cells_rest(const term_cells *cells);
/* Rows without the blanks at their ends, as lines; the blank rows at the bottom are left out. */
void term_cells_text(const term_cells *cells, px_text *text);

#endif
