/* src/cli/term_cells.c - a terminal as a grid of cells, and the bytes that turn one into another */
/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/term_cells.h"

#include "base/utf8.h"

#include <stdlib.h>

/* "Select graphic rendition", each from a clean slate. */
static const char *const STYLES[TERM_STYLES] = {
    [TERM_PLAIN] = "\033[0m",    [TERM_FRAME] = "\033[0;90m", [TERM_TITLE] = "\033[0;1;33m",
    [TERM_HEAD] = "\033[0;36m",  [TERM_LABEL] = "\033[0;37m", [TERM_STRONG] = "\033[0;1m",
    [TERM_GOOD] = "\033[0;32m",  [TERM_EARLY] = "\033[0;35m", [TERM_CALM] = "\033[0;33m",
    [TERM_BAD] = "\033[0;1;31m",
};

bool term_cells_resize(term_cells *cells, int columns, int rows)
{
    columns = columns < 1 ? 1 : columns > TERM_COLUMNS_MOST ? TERM_COLUMNS_MOST : columns;
    rows = rows < 1 ? 1 : rows > TERM_ROWS_MOST ? TERM_ROWS_MOST : rows;
    const size_t count = (size_t)columns * (size_t)rows;
    if (columns != cells->columns || rows != cells->rows) {
        term_cell *grown = reallocarray(cells->cells, count, sizeof *grown);
        if (!grown)
            return false;
        cells->cells = grown;
        cells->columns = columns;
        cells->rows = rows;
    }
    for (size_t i = 0; i < count; i++)
        cells->cells[i] = (term_cell){.code = ' ', .style = TERM_PLAIN};
    return true;
}

void term_cells_done(term_cells *cells)
{
    free(cells->cells);
    *cells = (term_cells){.ascii = cells->ascii};
}

/* --- characters ------------------------------------------------------------------------------ */

/* Latin, Greek and Cyrillic without what combines; arrows, blocks and lines that we draw. */
static bool code_is_narrow(uint32_t code)
{
    return (code >= 0x20 && code < 0x7f) || (code >= 0xa0 && code < 0x300 && code != 0xad) ||
           (code >= 0x370 && code < 0x483) || (code >= 0x48a && code < 0x530) ||
           (code >= 0x2010 && code < 0x2028) || (code >= 0x2500 && code < 0x25a0);
}

/* The character at *text, which is moved behind it. */
static uint32_t code_next(const char **text)
{
    const uint32_t code = pxi_utf8_next(text, 4);
    return code_is_narrow(code) ? code : '?';
}

static void code_add(px_text *out, uint32_t code)
{
    char bytes[4];
    px_text_add_bytes(out, bytes, pxi_utf8_put(code, bytes));
}

int term_text_width(const char *text)
{
    int width = 0;
    for (; *text; width++)
        code_next(&text);
    return width;
}

/* --- drawing --------------------------------------------------------------------------------- */

int term_cells_put_most(term_cells *cells, int column, int row, int most, term_style style,
                        const char *text)
{
    if (row < 0 || row >= cells->rows || column < 0 || column >= cells->columns)
        return 0;
    if (most > cells->columns - column)
        most = cells->columns - column;
    term_cell *at = cells->cells + (size_t)row * (size_t)cells->columns + column;
    int taken = 0;
    while (*text && taken < most) {
        const uint32_t code = code_next(&text);
        at[taken++] =
            (term_cell){.code = cells->ascii && code > 0x7e ? '?' : code, .style = (uint8_t)style};
    }
    return taken;
}

int term_cells_put(term_cells *cells, int column, int row, term_style style, const char *text)
{
    return term_cells_put_most(cells, column, row, cells->columns, style, text);
}

void term_cells_fill(term_cells *cells, int column, int row, int count, term_style style,
                     uint32_t code)
{
    if (row < 0 || row >= cells->rows)
        return;
    for (int i = column < 0 ? 0 : column; i < column + count && i < cells->columns; i++)
        cells->cells[(size_t)row * (size_t)cells->columns + (size_t)i] =
            (term_cell){.code = code, .style = (uint8_t)style};
}

/* --- bytes ----------------------------------------------------------------------------------- */

int term_cells_rest(const term_cells *cells)
{
    size_t used = (size_t)cells->columns * (size_t)cells->rows;
    while (used > 0 && cells->cells[used - 1].code == ' ')
        used--;
    const int rows = (int)((used + (size_t)cells->columns - 1) / (size_t)cells->columns);
    return rows < cells->rows ? rows : cells->rows - 1;
}

void term_cells_update(term_cells *shown, const term_cells *next, bool colour, int rest,
                       px_text *bytes)
{
    int style = -1; /* as the terminal has it: unknown */
    for (int row = 0; row < next->rows; row++) {
        int cursor = -1; /* its column, where it is in this row */
        for (int column = 0; column < next->columns; column++) {
            const size_t i = (size_t)row * (size_t)next->columns + (size_t)column;
            const term_cell want = next->cells[i];
            if (want.code == shown->cells[i].code &&
                (!colour || want.style == shown->cells[i].style))
                continue;
            if (cursor != column)
                px_text_format(bytes, "\033[%d;%dH", row + 1, column + 1);
            if (colour && style != want.style)
                px_text_add(bytes, STYLES[want.style]);
            style = want.style;
            code_add(bytes, want.code);
            cursor = column + 1;
            shown->cells[i] = want;
        }
    }
    if (style < 0)
        return;
    if (colour && style != TERM_PLAIN)
        px_text_add(bytes, STYLES[TERM_PLAIN]);
    px_text_format(bytes, "\033[%d;1H", rest + 1);
}

void term_cells_text(const term_cells *cells, px_text *text)
{
    int blank_rows = 0;
    for (int row = 0; row < cells->rows; row++) {
        const term_cell *at = cells->cells + (size_t)row * (size_t)cells->columns;
        int width = cells->columns;
        while (width > 0 && at[width - 1].code == ' ')
            width--;
        if (width == 0) {
            blank_rows++;
            continue;
        }
        for (; blank_rows > 0; blank_rows--)
            px_text_add(text, "\n");
        for (int column = 0; column < width; column++)
            code_add(text, at[column].code);
        px_text_add(text, "\n");
    }
}
