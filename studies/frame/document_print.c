/* studies/frame/document_print.c - a report for a terminal, as Markdown, as JSON
 *
 * A figure reads `paper / ours ±sd`, with (n) where a table's figures are not all of the same
 * number of runs; `–` is a figure that is not there; * marks a reduced one.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#include "base/memory.h"
#include "frame/document.h"

#include <internal/field.h>
#include <internal/system.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PRINT_WIDTH = 100 }; /* of paragraphs on a terminal */

/* --- figures ---------------------------------------------------------------------------------- */

/* How many runs all figures of a table are of; 0: not all of the same; -1: there are none. */
static int64_t print_runs(const doc_item *table)
{
    int64_t n = -1;
    for (const doc_row *row = table->first; row; row = row->next)
        for (size_t i = 0; i < row->count; i++) {
            const doc_cell *cell = &row->cells[i];
            if (cell->words || isnan(cell->figure.mean))
                continue;
            if (n >= 0 && n != cell->figure.n)
                return 0;
            n = cell->figure.n;
        }
    return n;
}

static bool print_has_paper(const doc_item *table)
{
    for (const doc_row *row = table->first; row; row = row->next)
        for (size_t i = 0; i < row->count; i++)
            if (!row->cells[i].words && !isnan(row->cells[i].figure.paper))
                return true;
    return false;
}

static bool print_has_notes(const doc_item *table)
{
    for (const doc_row *row = table->first; row; row = row->next)
        if (row->note)
            return true;
    return false;
}

static bool print_has_reduced(const doc_item *table)
{
    for (const doc_row *row = table->first; row; row = row->next)
        for (size_t i = 0; i < row->count; i++)
            if (row->cells[i].figure.reduced && !row->cells[i].words)
                return true;
    return false;
}

static void print_number(px_text *out, double value, int digits)
{
    if (isnan(value))
        px_text_add(out, "–");
    else
        px_text_format(out, "%.*f", digits, value);
}

static void print_cell(px_text *out, const doc_item *table, const doc_cell *cell, bool bold)
{
    const study_figure *f = &cell->figure;
    if (cell->words) {
        px_text_add(out, cell->words);
        return;
    }
    if (print_has_paper(table)) {
        print_number(out, f->paper, table->digits);
        px_text_add(out, " / ");
    }
    const bool strong = bold && !isnan(f->mean);
    px_text_add(out, strong ? "**" : "");
    print_number(out, f->mean, table->digits);
    px_text_add(out, strong ? "**" : "");
    if (isnan(f->mean))
        return;
    if (!isnan(f->sd))
        px_text_format(out, " ±%.*f", table->digits, f->sd);
    if (print_runs(table) == 0)
        px_text_format(out, " (%lld)", (long long)f->n);
    px_text_add(out, f->reduced ? "*" : "");
}

static void print_caption(px_text *out, const doc_item *table)
{
    const int64_t n = print_runs(table);
    px_text_add(out, table->text);
    if (print_has_paper(table))
        px_text_add(out, "; paper / ours");
    if (n > 1)
        px_text_format(out, ", mean ± standard deviation of %lld runs", (long long)n);
    else if (n == 1)
        px_text_add(out, ", one run");
    else if (n == 0)
        px_text_add(out, ", (n) runs");
    if (print_has_reduced(table))
        px_text_add(out, "; * reduced");
}

/* --- Markdown --------------------------------------------------------------------------------- */

static void print_markdown_table(px_text *out, const doc_item *table)
{
    const bool notes = print_has_notes(table);
    print_caption(out, table);
    px_text_add(out, "\n\n|");
    for (size_t i = 0; i < table->column_count; i++)
        px_text_format(out, " | %s", table->columns[i]);
    px_text_add(out, notes ? " | |\n| --- |" : " |\n| --- |");
    for (size_t i = 0; i < table->column_count + notes; i++)
        px_text_add(out, " --- |");
    px_text_add(out, "\n");
    for (const doc_row *row = table->first; row; row = row->next) {
        px_text_format(out, "| %s", row->label);
        for (size_t i = 0; i < table->column_count; i++) {
            px_text_add(out, " | ");
            if (i < row->count)
                print_cell(out, table, &row->cells[i], /* bold= */ print_has_paper(table));
        }
        if (notes)
            px_text_format(out, " | %s", row->note ? row->note : "");
        px_text_add(out, " |\n");
    }
}

static void print_markdown(px_text *out, const doc_item *item, const char *stem)
{
    static const char *const levels[] = {"#", "##", "###", "####"};
    switch (item->kind) {
    case DOC_HEADING:
        px_text_format(out, "%s %s\n", levels[item->level - 1], item->text);
        break;
    case DOC_PARAGRAPH:
        px_text_format(out, "%s\n", item->text);
        break;
    case DOC_CODE:
        px_text_format(out, "```\n%s```\n", item->text);
        break;
    case DOC_TABLE:
        print_markdown_table(out, item);
        break;
    case DOC_CLAIM:
        px_text_format(out, "- **%s**: %s. %s\n", pxi_verdict_name(item->verdict), item->text,
                       item->evidence);
        break;
    case DOC_PLOT:
        px_text_format(out, "![%s](%s-%s.svg)\n", item->text, stem, item->name);
        break;
    }
}

/* --- a terminal ------------------------------------------------------------------------------- */

static size_t print_width(const char *text) /* characters, not bytes */
{
    size_t width = 0;
    for (; *text; text++)
        width += ((unsigned char)*text & 0xC0) != 0x80;
    return width;
}

static void print_padded(px_text *out, const char *text, size_t width, bool right)
{
    const size_t have = print_width(text);
    if (!right)
        px_text_add(out, text);
    for (size_t i = have; i < width; i++)
        px_text_add(out, " ");
    if (right)
        px_text_add(out, text);
}

static void print_wrapped(px_text *out, const char *text, const char *indent)
{
    size_t column = 0;
    while (*text) {
        const size_t word = strcspn(text, " ");
        if (column > 0 && column + 1 + word > PRINT_WIDTH) {
            px_text_format(out, "\n%s", indent);
            column = 0;
        } else if (column > 0) {
            px_text_add(out, " ");
            column++;
        }
        px_text_add_bytes(out, text, word);
        column += word;
        text += word + strspn(text + word, " ");
    }
    px_text_add(out, "\n");
}

static const char *print_cell_text(const doc_item *table, const doc_row *row, size_t i,
                                   px_text *room, px_text *out)
{
    px_text_clear(room);
    if (i < row->count)
        print_cell(room, table, &row->cells[i], /* bold= */ false);
    out->failed = out->failed || px_text_failed(room);
    return px_text_get(room);
}

static size_t print_column_width(const doc_item *table, size_t i, px_text *room, px_text *out)
{
    size_t width = print_width(table->columns[i]);
    for (const doc_row *row = table->first; row; row = row->next) {
        const size_t w = print_width(print_cell_text(table, row, i, room, out));
        width = w > width ? w : width;
    }
    return width;
}

static void print_plain_table(px_text *out, const doc_item *table)
{
    px_text room = {0};
    size_t label = 0;
    for (const doc_row *row = table->first; row; row = row->next)
        label = print_width(row->label) > label ? print_width(row->label) : label;
    print_caption(out, table);
    px_text_add(out, "\n\n  ");
    print_padded(out, "", label, false);
    for (size_t i = 0; i < table->column_count; i++) {
        const size_t width = print_column_width(table, i, &room, out);
        px_text_add(out, "  ");
        print_padded(out, table->columns[i], width, true);
    }
    px_text_add(out, "\n");
    for (const doc_row *row = table->first; row; row = row->next) {
        px_text_add(out, "  ");
        print_padded(out, row->label, label, false);
        for (size_t i = 0; i < table->column_count; i++) {
            const size_t width = print_column_width(table, i, &room, out);
            px_text_add(out, "  ");
            print_padded(out, print_cell_text(table, row, i, &room, out), width, true);
        }
        if (row->note)
            px_text_format(out, "  %s", row->note);
        px_text_add(out, "\n");
    }
    px_text_done(&room);
}

static void print_plain(px_text *out, const doc_item *item)
{
    switch (item->kind) {
    case DOC_HEADING:
        px_text_format(out, "%s\n", item->text);
        for (size_t i = print_width(item->text); i > 0; i--)
            px_text_add(out, item->level == 1 ? "=" : "-");
        px_text_add(out, "\n");
        break;
    case DOC_PARAGRAPH:
        print_wrapped(out, item->text, "");
        break;
    case DOC_CODE:
        px_text_add(out, item->text);
        break;
    case DOC_TABLE:
        print_plain_table(out, item);
        break;
    case DOC_CLAIM:
        px_text_format(out, "%s: ", pxi_verdict_name(item->verdict));
        print_wrapped(out, item->text, "  ");
        px_text_add(out, "  ");
        print_wrapped(out, item->evidence, "  ");
        break;
    case DOC_PLOT:
        break;
    }
}

/* --- JSON ------------------------------------------------------------------------------------- */

static px_datum json_runs(const void *at, char *text)
{
    const study_figure *f = at;
    (void)text;
    return px_datum_int(isnan(f->mean) ? 0 : f->n);
}

static const px_field json_figure[] = {
    PX_FIELD(study_figure, paper, "paper", "null: has none"),
    PX_FIELD(study_figure, mean, "ours", "null: has none"),
    PX_FIELD(study_figure, sd, "sd", "of the runs"),
    PX_MADE(INT, json_runs, "n", "runs"),
    PX_FIELD(study_figure, reduced, "reduced", "less than the protocol asks for",
             PX_IF(study_figure, reduced)),
    PX_FIELDS_END,
};

static const px_field json_cell[] = {
    PX_FIELD(doc_cell, words, "", "instead of a figure", PX_IF(doc_cell, words)),
    PX_OBJECT(doc_cell, figure, json_figure, "", "of the paper, and ours"),
    PX_FIELDS_END,
};

static const void *json_cell_item(const void *at, size_t i, void *row)
{
    (void)row;
    return i < ((const doc_row *)at)->count ? &((const doc_row *)at)->cells[i] : NULL;
}

static const px_field json_row[] = {
    PX_FIELD(doc_row, label, "label", "of the row"),
    PX_FIELD(doc_row, note, "note", "at its end", .optional = true),
    PX_LIST_MADE(json_cell_item, json_cell, "cells", "words or figures"),
    PX_FIELDS_END,
};

static const void *json_row_item(const void *at, size_t i, void *row)
{
    const doc_row **here = row;
    *here = i ? (*here)->next : ((const doc_item *)at)->first;
    return *here;
}

static const px_field json_table[] = {
    PX_FIELD(doc_item, text, "caption", "of the table"),
    PX_VALUES(doc_item, columns, column_count, "columns", "over the cells"),
    PX_LIST_MADE(json_row_item, json_row, "rows", "of the table"),
    PX_FIELDS_END,
};

typedef struct json_place { /* an item of the document, in the list of those of its kind */
    const doc_item *item;
    const char *heading, *rest; /* above a table; lines of code that are still to come */
    char line[PX_FIELD_TEXT_MOST];
} json_place;

static const void *json_table_item(const void *first, size_t i, void *row)
{
    json_place *at = row;
    at->heading = i ? at->heading : NULL;
    for (at->item = i ? at->item->next : first; at->item; at->item = at->item->next)
        if (at->item->kind == DOC_TABLE && !at->item->glance)
            return at;
        else if (at->item->kind == DOC_HEADING)
            at->heading = at->item->text;
    return NULL;
}

static const px_field json_section[] = {
    PX_FIELD(json_place, heading, "section", "its heading"),
    PX_OBJECT_AT(json_place, item, json_table, "", "the table"),
    PX_FIELDS_END,
};

/* The lines of texts that stand as they are: commands. */
static const void *json_line_item(const void *first, size_t i, void *row)
{
    json_place *at = row;
    at->rest = i ? at->rest : "";
    for (at->item = i ? at->item : first; !*at->rest; at->item = at->item->next)
        if (!at->item)
            return NULL;
        else if (at->item->kind == DOC_CODE)
            at->rest = at->item->text;
    const size_t length = strcspn(at->rest, "\n");
    snprintf(at->line, sizeof at->line, "%.*s", (int)length, at->rest);
    at->rest += length + (at->rest[length] == '\n');
    return at;
}

static const px_field json_line[] = {PX_CHARS(json_place, line, "", "a command"), PX_FIELDS_END};

static const void *json_claim_item(const void *first, size_t i, void *row)
{
    const doc_item **here = row;
    *here = i ? (*here)->next : first;
    while (*here && (*here)->kind != DOC_CLAIM)
        *here = (*here)->next;
    return *here;
}

static px_datum json_verdict(const void *at, char *text)
{
    (void)text;
    return px_datum_text(pxi_verdict_name(((const doc_item *)at)->verdict));
}

static const px_field json_claim[] = {
    PX_FIELD(doc_item, text, "claim", "of the paper"),
    PX_MADE(TEXT, json_verdict, "verdict", "whether it holds"),
    PX_FIELD(doc_item, evidence, "evidence", "for that"),
    PX_FIELDS_END,
};

static px_datum json_version(const void *at, char *text)
{
    (void)at, (void)text;
    return px_datum_text(px_version());
}

static const px_field json_document[] = {
    /* of its first item, which is the title */
    PX_FIELD(doc_item, text, "title", "of the report"),
    PX_MADE(TEXT, json_version, "version", "of plexor"),
    PX_LIST_MADE(json_line_item, json_line, "commands", "that made it"),
    PX_LIST_MADE(json_table_item, json_section, "tables", "of figures"),
    PX_LIST_MADE(json_claim_item, json_claim, "claims", "of the paper"),
    PX_FIELDS_END,
};

px_status pxi_doc_print(const study_document *doc, px_study_format format, px_text *out,
                        px_error *err)
{
    const doc_item *first = pxi_doc_first(doc);
    if (!first)
        return pxi_no_memory(err);
    if (format == PX_STUDY_JSON) {
        char *text = NULL;
        PX_TRY(px_fields_text(json_document, first, &text, err));
        px_text_add(out, text);
        free(text);
    }
    for (const doc_item *item = first; item && format != PX_STUDY_JSON; item = item->next) {
        const bool list = item->kind == DOC_CLAIM && item->next && item->next->kind == DOC_CLAIM;
        const bool hidden =
            item->kind == DOC_PLOT && (format != PX_STUDY_MARKDOWN || !pxi_doc_stem(doc));
        if (hidden)
            continue;
        if (format == PX_STUDY_MARKDOWN)
            print_markdown(out, item, pxi_doc_stem(doc));
        else
            print_plain(out, item);
        if (item->next && !list)
            px_text_add(out, "\n");
    }
    return px_text_failed(out) ? pxi_no_memory(err) : PX_OK;
}
