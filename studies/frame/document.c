/* studies/frame/document.c - building a report */
/* SPDX-License-Identifier: Apache-2.0 */
#include "frame/document.h"

#include "base/arena.h"
#include "base/memory.h"

#include <assert.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct study_document {
    px_arena *arena;
    doc_item *first, *last;
    const char *stem;
    bool failed;
};

study_document *pxi_document_new(void)
{
    study_document *doc = pxi_calloc(1, sizeof *doc);
    if (doc)
        doc->arena = pxi_arena_new();
    if (!doc || doc->arena)
        return doc;
    free(doc);
    return NULL;
}

void pxi_document_free(study_document *doc)
{
    if (!doc)
        return;
    for (const doc_item *item = doc->first; item; item = item->next)
        px_plot_free(item->plot);
    pxi_arena_free(doc->arena);
    free(doc);
}

void pxi_document_fail(study_document *doc)
{
    if (doc)
        doc->failed = true;
}

const doc_item *pxi_doc_first(const study_document *doc)
{
    return doc && !doc->failed ? doc->first : NULL;
}

const char *pxi_doc_stem(const study_document *doc)
{
    return doc->stem;
}

static void *doc_alloc(study_document *doc, size_t count, size_t size)
{
    void *memory = pxi_arena_alloc(doc->arena, count, size);
    if (!memory)
        doc->failed = true;
    return memory;
}

static const char *doc_copy(study_document *doc, const char *text)
{
    const char *copy = text ? pxi_arena_strdup(doc->arena, text) : NULL;
    if (text && !copy)
        doc->failed = true;
    return copy;
}

static const char *doc_format(study_document *doc, const char *format, va_list words)
{
    va_list again;
    va_copy(again, words);
    const int length = vsnprintf(NULL, 0, format, words);
    char *text = length < 0 ? NULL : doc_alloc(doc, (size_t)length + 1, 1);
    if (text)
        vsnprintf(text, (size_t)length + 1, format, again);
    else
        doc->failed = true;
    va_end(again);
    return text;
}

static doc_item *doc_add(study_document *doc, doc_kind kind)
{
    doc_item *item = doc_alloc(doc, 1, sizeof *item);
    if (!item)
        return NULL;
    item->kind = kind;
    *(doc->last ? &doc->last->next : &doc->first) = item;
    doc->last = item;
    return item;
}

void pxi_doc_heading(study_document *doc, int level, const char *format, ...)
{
    doc_item *item = doc ? doc_add(doc, DOC_HEADING) : NULL;
    if (!item)
        return;
    va_list words;
    va_start(words, format);
    item->text = doc_format(doc, format, words);
    va_end(words);
    item->level = level;
}

void pxi_doc_paragraph(study_document *doc, const char *format, ...)
{
    doc_item *item = doc ? doc_add(doc, DOC_PARAGRAPH) : NULL;
    if (!item)
        return;
    va_list words;
    va_start(words, format);
    item->text = doc_format(doc, format, words);
    va_end(words);
}

void pxi_doc_code(study_document *doc, const char *text)
{
    doc_item *item = doc ? doc_add(doc, DOC_CODE) : NULL;
    if (item)
        item->text = doc_copy(doc, text);
}

void pxi_doc_table(study_document *doc, const char *caption, const char *const *columns,
                   size_t column_count, int digits)
{
    doc_item *item = doc ? doc_add(doc, DOC_TABLE) : NULL;
    const char **copies = item ? doc_alloc(doc, column_count, sizeof *copies) : NULL;
    if (!copies)
        return;
    for (size_t i = 0; i < column_count; i++)
        copies[i] = doc_copy(doc, columns[i]);
    item->text = doc_copy(doc, caption);
    item->columns = copies;
    item->column_count = column_count;
    item->digits = digits;
}

void pxi_doc_row(study_document *doc, const char *note, const char *format, ...)
{
    if (!doc || doc->failed)
        return;
    doc_item *table = doc->last;
    assert(table && table->kind == DOC_TABLE);
    doc_row *row = doc_alloc(doc, 1, sizeof *row + table->column_count * sizeof row->cells[0]);
    if (!row)
        return;
    va_list words;
    va_start(words, format);
    row->label = doc_format(doc, format, words);
    va_end(words);
    row->note = doc_copy(doc, note);
    *(table->last ? &table->last->next : &table->first) = row;
    table->last = row;
}

/* The next cell of the last row. */
static doc_cell *doc_cell_next(study_document *doc)
{
    if (!doc || doc->failed)
        return NULL;
    doc_item *table = doc->last;
    assert(table && table->kind == DOC_TABLE && table->last);
    assert(table->last->count < table->column_count);
    return &table->last->cells[table->last->count++];
}

void pxi_doc_figure(study_document *doc, study_figure figure)
{
    doc_cell *cell = doc_cell_next(doc);
    if (cell)
        cell->figure = figure;
}

void pxi_doc_words(study_document *doc, const char *format, ...)
{
    doc_cell *cell = doc_cell_next(doc);
    if (!cell)
        return;
    va_list words;
    va_start(words, format);
    cell->words = doc_format(doc, format, words);
    va_end(words);
}

const char *pxi_verdict_name(study_verdict verdict)
{
    static const char *const names[] = {
        [STUDY_HOLDS] = "holds",
        [STUDY_PARTLY] = "holds in part",
        [STUDY_FAILS] = "does not hold",
        [STUDY_OPEN] = "not run",
    };
    return names[verdict];
}

void pxi_doc_claim(study_document *doc, study_verdict verdict, const char *claim,
                   const char *format, ...)
{
    doc_item *item = doc ? doc_add(doc, DOC_CLAIM) : NULL;
    if (!item)
        return;
    va_list words;
    va_start(words, format);
    item->evidence = doc_format(doc, format, words);
    va_end(words);
    item->verdict = verdict;
    item->text = doc_copy(doc, claim);
}

void pxi_doc_cases(study_document *doc, int held, int run)
{
    if (!doc || doc->failed)
        return;
    assert(doc->last && doc->last->kind == DOC_CLAIM);
    doc->last->held = held;
    doc->last->run = run;
}

static void glance_rows(study_document *doc, const doc_item *claim)
{
    for (; claim; claim = claim->next) {
        if (claim->kind != DOC_CLAIM)
            continue;
        pxi_doc_row(doc, claim->text, "%s", pxi_verdict_name(claim->verdict));
        if (claim->run > 0)
            pxi_doc_words(doc, "%d of %d", claim->held, claim->run);
        else
            pxi_doc_words(doc, "–");
    }
}

void pxi_doc_glance(study_document *doc)
{
    static const char *const columns[] = {"cases"};
    int count[STUDY_OPEN + 1] = {0}, all = 0;
    const doc_item *first = pxi_doc_first(doc);
    for (const doc_item *item = first; item; item = item->next)
        if (item->kind == DOC_CLAIM) {
            count[item->verdict]++;
            all++;
        }
    if (all == 0 || !first->next)
        return;
    doc_item *before = doc->first->next, *rest = before->next, *last = doc->last;
    char caption[120];
    snprintf(caption, sizeof caption,
             "%d claims: %d hold, %d in part, %d do not; %d could not be told", all,
             count[STUDY_HOLDS], count[STUDY_PARTLY], count[STUDY_FAILS], count[STUDY_OPEN]);
    doc->last = before;
    before->next = NULL;
    pxi_doc_heading(doc, 2, "What holds");
    pxi_doc_table(doc, caption, columns, 1, 0);
    if (!doc->failed)
        doc->last->glance = true;
    glance_rows(doc, rest);
    doc->last->next = rest;
    doc->last = last;
}

void pxi_doc_plot(study_document *doc, px_plot *plot, const char *caption, const char *name, ...)
{
    doc_item *item = doc && plot ? doc_add(doc, DOC_PLOT) : NULL;
    if (!item) {
        pxi_document_fail(doc);
        px_plot_free(plot);
        return;
    }
    va_list words;
    va_start(words, name);
    item->name = doc_format(doc, name, words);
    va_end(words);
    item->text = doc_copy(doc, caption);
    item->plot = plot;
}

px_status pxi_doc_save_plots(study_document *doc, const char *stem, px_error *err)
{
    const doc_item *item = pxi_doc_first(doc);
    const char *slash = strrchr(stem, '/');
    px_text path = {0};
    px_status status = PX_OK;
    if (!item)
        return pxi_no_memory(err);
    for (; item && status == PX_OK; item = item->next) {
        if (item->kind != DOC_PLOT)
            continue;
        px_text_clear(&path);
        px_text_format(&path, "%s-%s.svg", stem, item->name);
        status = px_text_failed(&path) ? pxi_no_memory(err)
                                       : px_plot_save(item->plot, px_text_get(&path), err);
    }
    px_text_done(&path);
    if (status == PX_OK)
        doc->stem = doc_copy(doc, slash ? slash + 1 : stem);
    return status;
}
