/* src/base/csv_rows.h - the rows of a CSV text, cut up in place
 *
 *     pxi_csv csv = {.at = text, .end = text + size, .name = path, .line = 1};
 *     do
 *         PX_TRY(pxi_csv_row(&csv, err));
 *     while (csv.count > 0);
 *
 * Fields may be quoted as in RFC 4180; blanks around plain ones are dropped, and so are blank
 * lines. The text has a NUL behind its last byte, and none within: the caller looks.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PXI_BASE_CSV_ROWS_H
#define PXI_BASE_CSV_ROWS_H

#include <plexor/text.h>
#include <stdbool.h>

enum { PXI_CSV_FIELDS = 64 }; /* the most columns */

typedef struct pxi_csv {
    char *at, *end;
    const char *name;             /* of the file, for messages */
    bool tabs;                    /* between fields, which are never quoted then: TSV */
    size_t line, row_line;        /* where it is; where the row begins */
    char *fields[PXI_CSV_FIELDS]; /* of the row, in the text */
    size_t count;
} pxi_csv;

/* Reads the next row; count 0 at the end. */
px_status pxi_csv_row(pxi_csv *csv, px_error *err);
px_status pxi_csv_fail(const pxi_csv *csv, const char *what, px_error *err); /* PX_E_INPUT */

/* Adds a text, quoted where it has to be. One that spreadsheets would take for a formula (it begins
 * with = + - @, a tab or a carriage return) gets a ' before it; numbers are not written with this.
 */
void pxi_csv_put(px_text *text, const char *field);
/* What was put, of a field that was read back. */
const char *pxi_csv_plain(const char *field);

#endif
