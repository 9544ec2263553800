/* src/describe/milan_annotations.c - what people wrote about units: annotations.csv (LGR C.1) */
/* SPDX-License-Identifier: Apache-2.0 */
#include "base/arena.h"
#include "base/csv_rows.h"
#include "base/file.h"
#include "base/memory.h"
#include "base/utf8.h"
#include <internal/exemplars.h>

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum { ANNOTATIONS_MOST_BYTES = 256 << 20 };

struct px_milan_annotations {
    px_arena *arena;
    px_milan_annotation *rows;
    size_t count, capacity;
};

void px_milan_annotations_free(px_milan_annotations *annotations)
{
    if (!annotations)
        return;
    free(annotations->rows);
    pxi_arena_free(annotations->arena);
    free(annotations);
}

size_t px_milan_annotations_count(const px_milan_annotations *annotations)
{
    return annotations->count;
}

const px_milan_annotation *px_milan_annotations_get(const px_milan_annotations *annotations,
                                                    size_t i)
{
    assert(i < annotations->count);
    return &annotations->rows[i];
}

static bool blank(char c)
{
    return c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == '\v' || c == '\f';
}

/* Lower case, single blanks, none at the ends; in place. False: not UTF-8. */
static bool tidy(char *text)
{
    char *to = text;
    for (const char *at = text; *at;) {
        const size_t length = pxi_utf8_length(at, strlen(at) < 4 ? strlen(at) : 4);
        if (length == 0)
            return false;
        if (length == 1 && blank(*at)) {
            if (to > text && to[-1] != ' ')
                *to++ = ' ';
        } else if (length == 1) {
            *to++ = *at >= 'A' && *at <= 'Z' ? (char)(*at - 'A' + 'a') : *at;
        } else {
            memmove(to, at, length);
            to += length;
        }
        at += length;
    }
    if (to > text && to[-1] == ' ')
        to--;
    *to = '\0';
    return true;
}

typedef struct columns {
    size_t layer, unit, summary;
} columns;

static px_status find_columns(const pxi_csv *csv, columns *out, px_error *err)
{
    static const char *const names[] = {"layer", "unit", "summary"};
    size_t *const places[] = {&out->layer, &out->unit, &out->summary};
    for (size_t n = 0; n < PX_LEN(names); n++) {
        size_t i = 0;
        while (i < csv->count && strcasecmp(csv->fields[i], names[n]) != 0)
            i++;
        if (i == csv->count)
            return px_fail(err, PX_E_INPUT,
                           "'%s': no column '%s'; expected a header with layer,unit,summary",
                           csv->name, names[n]);
        *places[n] = i;
    }
    return PX_OK;
}

static px_status add_row(px_milan_annotations *a, const pxi_csv *csv, const columns *c,
                         px_error *err)
{
    if (csv->count <= c->layer || csv->count <= c->unit || csv->count <= c->summary)
        return pxi_csv_fail(csv, "fewer columns than the header has", err);
    char *end = NULL, *summary = csv->fields[c->summary];
    const char *unit = csv->fields[c->unit];
    errno = 0;
    const long long value = strtoll(unit, &end, 10);
    if (end == unit || *end || errno || value < 0)
        return pxi_csv_fail(csv, "the unit is no whole number from 0 on", err);
    if (!tidy(summary))
        return pxi_csv_fail(csv, "the summary is not UTF-8", err);
    if (!*summary)
        return PX_OK;
    PX_TRY(PX_GROW(a->rows, a->capacity, a->count + 1, err));
    px_milan_annotation *row = &a->rows[a->count];
    row->layer = pxi_arena_strdup(a->arena, csv->fields[c->layer]);
    row->summary = pxi_arena_strdup(a->arena, summary);
    row->unit = value;
    if (!row->layer || !row->summary)
        return pxi_no_memory(err);
    a->count++;
    return PX_OK;
}

static px_status read_rows(px_milan_annotations *a, const char *path, char *text, size_t size,
                           px_error *err)
{
    pxi_csv csv = {.at = text, .end = text + size, .name = path, .line = 1};
    columns c = {0};
    if (memchr(text, '\0', size))
        return px_fail(err, PX_E_INPUT, "'%s': not a CSV text: it has bytes of 0", path);
    PX_TRY(pxi_csv_row(&csv, err));
    PX_TRY(find_columns(&csv, &c, err));
    for (;;) {
        PX_TRY(pxi_csv_row(&csv, err));
        if (csv.count == 0)
            break;
        csv.line--; /* the row's own, for messages */
        PX_TRY(add_row(a, &csv, &c, err));
        csv.line++;
    }
    return a->count ? PX_OK : px_fail(err, PX_E_INPUT, "'%s': no row has a summary", path);
}

px_status px_milan_annotations_load(const char *path, px_milan_annotations **out, px_error *err)
{
    char *text = NULL;
    size_t size = 0;
    px_milan_annotations *a = pxi_calloc(1, sizeof *a);
    px_status status = PX_OK;
    if (!a || !(a->arena = pxi_arena_new()))
        status = pxi_no_memory(err);
    PX_THEN(status, pxi_file_read(path, ANNOTATIONS_MOST_BYTES, &text, &size, err));
    PX_THEN(status, read_rows(a, path, text, size, err));
    free(text);
    return PX_GIVE(status, a, out, px_milan_annotations_free);
}
