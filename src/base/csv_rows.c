/* src/base/csv_rows.c - the rows of a CSV text, cut up in place */
/* SPDX-License-Identifier: Apache-2.0 */
#include "base/csv_rows.h"

#include <string.h>

px_status pxi_csv_fail(const pxi_csv *csv, const char *what, px_error *err)
{
    return px_fail(err, PX_E_INPUT, "'%s': line %zu: %s", csv->name, csv->line, what);
}

static char csv_mark(const pxi_csv *csv)
{
    return csv->tabs ? '\t' : ',';
}

/* Cuts a quoted field out in place; leaves csv->at behind its closing quote. */
static px_status csv_quoted(pxi_csv *csv, char **field, px_error *err)
{
    const size_t line = csv->line;
    char *to = ++csv->at;
    *field = to;
    for (;; csv->at++) {
        if (csv->at == csv->end) {
            csv->line = line; /* where it was opened */
            return pxi_csv_fail(csv, "a quote is not closed", err);
        }
        if (*csv->at == '"') {
            if (csv->at + 1 == csv->end || csv->at[1] != '"')
                break;
            csv->at++;
        }
        csv->line += *csv->at == '\n';
        *to++ = *csv->at;
    }
    csv->at++;
    if (csv->at < csv->end && *csv->at != csv_mark(csv) && !strchr("\r\n", *csv->at))
        return pxi_csv_fail(csv, "text after a closing quote", err);
    *to = '\0'; /* at most on the closing quote */
    return PX_OK;
}

static char *csv_plain(pxi_csv *csv)
{
    while (csv->at < csv->end && *csv->at != csv_mark(csv) && (*csv->at == ' ' || *csv->at == '\t'))
        csv->at++;
    char *field = csv->at;
    while (csv->at < csv->end && *csv->at != csv_mark(csv) && *csv->at != '\n')
        csv->at++;
    return field;
}

px_status pxi_csv_row(pxi_csv *csv, px_error *err)
{
    csv->count = 0;
    while (csv->at < csv->end && (*csv->at == '\n' || *csv->at == '\r')) /* blank lines */
        csv->line += *csv->at++ == '\n';
    csv->row_line = csv->line;
    while (csv->at < csv->end) {
        if (csv->count == PXI_CSV_FIELDS)
            return pxi_csv_fail(csv, "too many columns", err);
        char **field = &csv->fields[csv->count++];
        char *stop = NULL;
        if (*csv->at == '"' && !csv->tabs) {
            PX_TRY(csv_quoted(csv, field, err));
            while (csv->at < csv->end && *csv->at == '\r')
                csv->at++;
        } else {
            *field = csv_plain(csv);
            stop = csv->at;
            while (stop > *field && strchr(" \t\r", stop[-1]))
                stop--;
        }
        const char next = csv->at < csv->end ? *csv->at : '\n';
        if (stop)
            *stop = '\0';
        if (csv->at < csv->end)
            csv->at++;
        if (next == '\n') {
            csv->line++;
            return PX_OK;
        }
        if (next != csv_mark(csv))
            return pxi_csv_fail(csv, "a stray carriage return", err);
        if (csv->at == csv->end) { /* a last, empty field */
            if (csv->count < PXI_CSV_FIELDS)
                csv->fields[csv->count++] = csv->end;
            return PX_OK;
        }
    }
    return PX_OK;
}

/* Where a spreadsheet would take the text for a formula, or for one that was defused. */
static bool is_formula(const char *field)
{
    while (*field == '\'')
        field++;
    return *field && strchr("=+-@\t\r", *field);
}

void pxi_csv_put(px_text *text, const char *field)
{
    const size_t length = strlen(field);
    const bool edges = length > 0 && (strchr(" \t", field[0]) || strchr(" \t", field[length - 1]));
    const char *defused = is_formula(field) ? "'" : "";
    if (length > 0 && !edges && !strpbrk(field, "\",\r\n")) {
        px_text_format(text, "%s%s", defused, field);
        return;
    }
    px_text_format(text, "\"%s", defused);
    for (const char *c = field; *c; c++)
        px_text_add_bytes(text, *c == '"' ? "\"\"" : c, *c == '"' ? 2 : 1);
    px_text_add(text, "\"");
}

const char *pxi_csv_plain(const char *field)
{
    return *field == '\'' && is_formula(field) ? field + 1 : field;
}
