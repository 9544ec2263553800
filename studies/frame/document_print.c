/* studies/frame/document_print.c - a report for a terminal, as Markdown, as JSON
 *
 * A figure reads `paper / ours ±sd`, with (n) where a table's figures are not all of the same
 * number of runs; `–` is a figure that is not there; * marks a reduced one.
 */
#include "base/memory.h"
#include "frame/document.h"

#include <internal/system.h>
#include <math.h>
#include <plexor/json.h>
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

static void print_json_cell(px_json *json, const doc_cell *cell)
{
    if (cell->words) {
        px_json_string(json, NULL, cell->words);
        return;
    }
    const study_figure *f = &cell->figure;
    px_json_object(json, NULL);
    px_json_real(json, "paper", f->paper);
    px_json_real(json, "ours", f->mean);
    px_json_real(json, "sd", f->sd);
    px_json_int(json, "n", isnan(f->mean) ? 0 : f->n);
    if (f->reduced)
        px_json_bool(json, "reduced", true);
    px_json_end(json);
}

static void print_json_table(px_json *json, const doc_item *table, const char *heading)
{
    px_json_object(json, NULL);
    px_json_string(json, "section", heading);
    px_json_string(json, "caption", table->text);
    px_json_array(json, "columns");
    for (size_t i = 0; i < table->column_count; i++)
        px_json_string(json, NULL, table->columns[i]);
    px_json_end(json);
    px_json_array(json, "rows");
    for (const doc_row *row = table->first; row; row = row->next) {
        px_json_object(json, NULL);
        px_json_string(json, "label", row->label);
        if (row->note)
            px_json_string(json, "note", row->note);
        px_json_array(json, "cells");
        for (size_t i = 0; i < row->count; i++)
            print_json_cell(json, &row->cells[i]);
        px_json_end(json);
        px_json_end(json);
    }
    px_json_end(json);
    px_json_end(json);
}

/* The lines of a text that stands as it is: commands. */
static void print_json_lines(px_json *json, const char *text, px_text *room)
{
    while (*text) {
        const size_t length = strcspn(text, "\n");
        px_text_clear(room);
        px_text_add_bytes(room, text, length);
        px_json_string(json, NULL, px_text_failed(room) ? NULL : px_text_get(room));
        json->text.failed = json->text.failed || px_text_failed(room);
        text += length + (text[length] == '\n');
    }
}

static void print_json(px_json *json, const doc_item *first)
{
    const char *heading = NULL;
    px_text room = {0};
    px_json_object(json, NULL);
    px_json_string(json, "title", first->text);
    px_json_string(json, "version", px_version());
    px_json_array(json, "commands");
    for (const doc_item *item = first; item; item = item->next)
        if (item->kind == DOC_CODE)
            print_json_lines(json, item->text, &room);
    px_json_end(json);
    px_text_done(&room);
    px_json_array(json, "tables");
    for (const doc_item *item = first; item; item = item->next)
        if (item->kind == DOC_HEADING)
            heading = item->text;
        else if (item->kind == DOC_TABLE && !item->glance)
            print_json_table(json, item, heading);
    px_json_end(json);
    px_json_array(json, "claims");
    for (const doc_item *item = first; item; item = item->next) {
        if (item->kind != DOC_CLAIM)
            continue;
        px_json_object(json, NULL);
        px_json_string(json, "claim", item->text);
        px_json_string(json, "verdict", pxi_verdict_name(item->verdict));
        px_json_string(json, "evidence", item->evidence);
        px_json_end(json);
    }
    px_json_end(json);
    px_json_end(json);
}

px_status pxi_doc_print(const study_document *doc, px_study_format format, px_text *out,
                        px_error *err)
{
    const doc_item *first = pxi_doc_first(doc);
    if (!first)
        return pxi_no_memory(err);
    if (format == PX_STUDY_JSON) {
        px_json json = {0};
        print_json(&json, first);
        const char *text = px_json_text(&json);
        px_text_add(out, text ? text : "");
        out->failed = out->failed || !text;
        px_json_done(&json);
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
