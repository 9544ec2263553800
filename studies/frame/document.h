/* studies/frame/document.h - a report as data: headings, words, tables of paper and ours, claims,
 * charts
 *
 *     pxi_doc_table(doc, "fault detection rate (%)", columns, 4, 1);
 *     pxi_doc_row(doc, NULL, "nss");
 *     pxi_doc_figure(doc, (study_figure){.paper = 81.8, .mean = 77.2, .sd = 1.1, .n = 5});
 *
 * Built once, printed in three ways. Running out of memory is remembered and told by
 * pxi_doc_print(). Texts are copied.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PXI_STUDY_DOCUMENT_H
#define PXI_STUDY_DOCUMENT_H

#include "frame/study.h"
#include <internal/picture.h>
#include <plexor/text.h>

typedef struct study_figure {
    double paper; /* NaN: the paper has none */
    double mean;  /* NaN: we have none */
    double sd;    /* of n runs; NaN with fewer than two */
    int64_t n;
    bool reduced; /* of fewer inputs or runs than the protocol asks for */
} study_figure;

typedef struct study_document study_document;

study_document *pxi_document_new(void); /* NULL when out of memory, which the others take */
void pxi_document_free(study_document *doc);
/* What was to be added got lost for want of memory. */
void pxi_document_fail(study_document *doc);

void pxi_doc_heading(study_document *doc, int level, const char *format, ...) PX_PRINTF(3, 4);
void pxi_doc_paragraph(study_document *doc, const char *format, ...) PX_PRINTF(2, 3);
void pxi_doc_code(study_document *doc, const char *text); /* lines as they are */

/* Rows follow: as many figures and words as there are columns, or fewer. `digits` after the point.
 */
void pxi_doc_table(study_document *doc, const char *caption, const char *const *columns,
                   size_t column_count, int digits);
/* `note` is a remark at the row's end ("not run: needs SVHN"); NULL: none. */
void pxi_doc_row(study_document *doc, const char *note, const char *format, ...) PX_PRINTF(3, 4);
void pxi_doc_figure(study_document *doc, study_figure figure);
void pxi_doc_words(study_document *doc, const char *format, ...) PX_PRINTF(2, 3);

typedef enum study_verdict {
    STUDY_HOLDS,
    STUDY_PARTLY, /* for some of the subjects that were run */
    STUDY_FAILS,
    STUDY_OPEN, /* nothing was run that could tell */
} study_verdict;
const char *pxi_verdict_name(study_verdict verdict);

void pxi_doc_claim(study_document *doc, study_verdict verdict, const char *claim,
                   const char *format, ...) PX_PRINTF(4, 5);

/* How many cases the last claim is of, and for how many it held. */
void pxi_doc_cases(study_document *doc, int held, int run);
/* At the report's beginning, behind its title and first paragraph: all claims in one table. */
void pxi_doc_glance(study_document *doc);

/* A chart, which the document owns from now on (NULL: it got lost). It is shown where the report is
 * a Markdown file: pxi_doc_save_plots() writes each chart as STEM-NAME.svg, and from then on the
 * report refers to them, by names without their folder. */
void pxi_doc_plot(study_document *doc, px_plot *plot, const char *caption, const char *name, ...)
    PX_PRINTF(4, 5);
px_status pxi_doc_save_plots(study_document *doc, const char *stem, px_error *err);

px_status pxi_doc_print(const study_document *doc, px_study_format format, px_text *out,
                        px_error *err);

/* --- between document.c and document_print.c -------------------------------------------------- */

typedef enum doc_kind {
    DOC_HEADING,
    DOC_PARAGRAPH,
    DOC_CODE,
    DOC_TABLE,
    DOC_CLAIM,
    DOC_PLOT
} doc_kind;

typedef struct doc_cell {
    const char *words; /* NULL: a figure */
    study_figure figure;
} doc_cell;

typedef struct doc_row {
    struct doc_row *next;
    const char *label, *note;
    size_t count; /* of cells */
    doc_cell cells[];
} doc_row;

typedef struct doc_item {
    struct doc_item *next;
    doc_kind kind;
    const char *text; /* heading, paragraph, code, caption, claim */
    const char *name; /* of a chart */
    px_plot *plot;
    int level; /* heading */
    const char *const *columns;
    size_t column_count;
    int digits;
    doc_row *first, *last;
    study_verdict verdict;
    const char *evidence;
    int held, run; /* cases of a claim; run 0: it has none */
    bool glance;   /* a table that only repeats the claims */
} doc_item;

const doc_item *pxi_doc_first(const study_document *doc);
const char *pxi_doc_stem(const study_document *doc); /* of charts' files; NULL: they have none */

#endif
