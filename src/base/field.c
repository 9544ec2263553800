/* src/base/field.c - results, written out by the tables of their fields */
/* SPDX-License-Identifier: Apache-2.0 */
#include <internal/field.h>

#include "base/memory.h"
#include <internal/text.h>

#include "base/csv_rows.h"
#include "base/json_most.h"

#include <assert.h>
#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

typedef union field_row { /* an item that is made, not found */
    long double align;
    unsigned char bytes[PX_FIELD_ROW_MOST];
} field_row;

/* --- values ---------------------------------------------------------------------------------- */

px_datum px_datum_none(void)
{
    return (px_datum){.kind = PX_FIELD_END};
}

px_datum px_datum_bool(bool value)
{
    return (px_datum){.kind = PX_FIELD_BOOL, .whole = value};
}

px_datum px_datum_int(int64_t value)
{
    return (px_datum){.kind = PX_FIELD_INT, .whole = value};
}

px_datum px_datum_real(double value)
{
    return (px_datum){.kind = PX_FIELD_REAL, .real = value};
}

px_datum px_datum_text(const char *value)
{
    return (px_datum){.kind = value ? PX_FIELD_TEXT : PX_FIELD_END, .text = value};
}

px_datum px_datum_format(char *text, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    vsnprintf(text, PX_FIELD_TEXT_MOST, format, args);
    va_end(args);
    return px_datum_text(text);
}

static int64_t read_int(const void *at, size_t size, bool is_signed)
{
    int64_t whole = 0;
    if (size == sizeof(int64_t)) {
        memcpy(&whole, at, sizeof whole);
        return whole;
    }
    if (size == sizeof(int32_t)) {
        int32_t narrow;
        memcpy(&narrow, at, sizeof narrow);
        return is_signed ? (int64_t)narrow : (int64_t)(uint32_t)narrow;
    }
    assert(size == 1);
    return *(const unsigned char *)at;
}

static px_datum field_datum(const px_field *f, const void *record, char *text)
{
    const void *at = (const char *)record + f->offset;
    if (f->get)
        return f->get(at, text);
    int64_t whole;
    switch (f->kind) {
    case PX_FIELD_BOOL:
        return px_datum_bool(*(const bool *)at);
    case PX_FIELD_INT:
    case PX_FIELD_COUNT:
        return px_datum_int(read_int(at, f->size, f->kind == PX_FIELD_INT));
    case PX_FIELD_INDEX:
        whole = read_int(at, f->size, true);
        return whole < 0 ? px_datum_none() : px_datum_int(whole);
    case PX_FIELD_HASH:
        return px_datum_format(text, "%016" PRIx64, (uint64_t)read_int(at, f->size, false));
    case PX_FIELD_REAL:
        return px_datum_real(f->size == sizeof(float) ? (double)*(const float *)at
                                                      : *(const double *)at);
    case PX_FIELD_TEXT:
    case PX_FIELD_READY:
        return px_datum_text(*(const char *const *)at);
    case PX_FIELD_CHARS:
        return px_datum_text(at);
    default:
        assert(f->kind == PX_FIELD_CHOICE);
        return px_datum_text(f->names[read_int(at, f->size, true)]);
    }
}

static bool is_plain(const px_field *f)
{
    return f->kind < PX_FIELD_OBJECT;
}

static bool in_place(const px_field *f)
{
    return f->key && !*f->key;
}

static bool is_absent(const px_field *f, const void *record)
{
    static const char zero[sizeof(double)];
    assert(f->if_size <= sizeof zero);
    return !record || (f->when && !f->when(record)) ||
           (f->if_size && !memcmp((const char *)record + f->if_offset, zero, f->if_size));
}

static bool is_share(const px_field *f)
{
    return f->unit && strcmp(f->unit, PX_SHARE) == 0;
}

static bool is_null(const px_datum *d)
{
    return d->kind == PX_FIELD_END || (d->kind == PX_FIELD_REAL && isnan(d->real));
}

/* The struct of an object, which may be made in `row`; NULL: there is none. */
static const void *object_of(const px_field *f, const void *record, void *row)
{
    const void *at = (const char *)record + f->offset;
    if (f->item)
        return f->item(at, 0, row);
    return f->pointer ? *(const void *const *)at : at;
}

const void *px_field_item(const px_field *f, const void *record, size_t i, void *row)
{
    if (f->item)
        return f->item((const char *)record + f->offset, i, row);
    const char *first = object_of(f, record, NULL);
    const size_t count = f->count_size ? (size_t)read_int((const char *)record + f->count_offset,
                                                          f->count_size, true)
                                       : f->count;
    return first && i < count ? first + i * f->size : NULL;
}

/* --- JSON ------------------------------------------------------------------------------------ */

static void json_field(const px_field *f, const void *record, const char *key, px_json *json);

static void json_datum(const px_datum *d, const char *key, px_json *json)
{
    switch (d->kind) {
    case PX_FIELD_BOOL:
        px_json_bool(json, key, d->whole != 0);
        break;
    case PX_FIELD_INT:
        px_json_int(json, key, d->whole);
        break;
    case PX_FIELD_REAL:
        px_json_real(json, key, d->real);
        break;
    default:
        px_json_string(json, key, d->text);
    }
}

/* Whether items are values themselves: their first field stands in place and has no members. Where
 * it is left out, an item is an object of the others. */
static bool is_value(const px_field *fields)
{
    return in_place(fields) &&
           (is_plain(fields) || fields->kind == PX_FIELD_LIST || fields->kind == PX_FIELD_SHAPE);
}

static void json_item(const px_field *fields, const void *item, const char *key, px_json *json)
{
    const bool other = fields->kind != PX_FIELD_END && fields[1].kind != PX_FIELD_END;
    if (is_value(fields) && !(other && is_absent(fields, item))) {
        json_field(fields, item, key, json);
        return;
    }
    px_fields_object(fields, item, key, json);
}

static void json_list(const px_field *f, const void *record, const char *key, px_json *json)
{
    field_row row;
    char text[PX_FIELD_TEXT_MOST];
    const bool map = f->kind == PX_FIELD_MAP, spliced = map && key && !*key;
    const void *item = px_field_item(f, record, 0, &row);
    if (!item && f->optional)
        return;
    if (map && !spliced)
        px_json_object(json, key);
    else if (!map)
        px_json_array(json, key);
    for (size_t i = 0; item; item = px_field_item(f, record, ++i, &row))
        if (map) {
            const px_datum name = field_datum(f->fields, item, text);
            json_item(f->fields + 1, item, name.text, json);
        } else {
            json_item(f->fields, item, NULL, json);
        }
    if (!spliced)
        px_json_end(json);
}

static void json_object(const px_field *f, const void *record, const char *key, px_json *json)
{
    field_row row;
    const void *object = object_of(f, record, &row);
    const bool spliced = key && !*key;
    if (!object && !f->optional && !spliced)
        px_json_null(json, key);
    if (!object)
        return;
    if (!spliced)
        px_json_object(json, key);
    px_fields_json(f->fields, object, json);
    if (!spliced)
        px_json_end(json);
}

static void json_matrix(const px_matrix *m, const char *key, px_json *json)
{
    void (*const open)(px_json *, const char *) = m->names ? px_json_object : px_json_array;
    open(json, key);
    for (size_t i = 0; i < m->rows; i++) {
        open(json, m->names ? m->names[i] : NULL);
        for (size_t j = 0; j < m->columns; j++) {
            const char *name = m->names ? m->names[j] : NULL;
            if (m->counts)
                px_json_int(json, name, m->counts[i * m->columns + j]);
            else
                px_json_real(json, name, m->values[i * m->columns + j]);
        }
        px_json_end(json);
    }
    px_json_end(json);
}

static void json_shape(const px_shape *shape, const char *key, px_json *json)
{
    if (shape->rank < 0) {
        px_json_null(json, key);
        return;
    }
    px_json_array(json, key);
    for (int d = 0; d < shape->rank; d++)
        if (shape->dim[d] < 0)
            px_json_null(json, NULL);
        else
            px_json_int(json, NULL, shape->dim[d]);
    px_json_end(json);
}

static void json_field(const px_field *f, const void *record, const char *key, px_json *json)
{
    char text[PX_FIELD_TEXT_MOST];
    if (is_absent(f, record))
        return;
    if (f->kind == PX_FIELD_JSON) {
        f->write((const char *)record + f->offset, json);
    } else if (f->kind == PX_FIELD_SHAPE) {
        json_shape((const void *)((const char *)record + f->offset), key, json);
    } else if (f->kind == PX_FIELD_MATRIX) {
        json_matrix((const void *)((const char *)record + f->offset), key, json);
    } else if (f->kind == PX_FIELD_OBJECT) {
        json_object(f, record, key, json);
    } else if (!is_plain(f)) {
        json_list(f, record, key, json);
    } else {
        const px_datum d = field_datum(f, record, text);
        if (f->kind == PX_FIELD_READY && d.text)
            pxi_json_verbatim(json, key, d.text);
        else if (!f->optional || !is_null(&d))
            json_datum(&d, key, json);
    }
}

void px_fields_json(const px_field *fields, const void *record, px_json *json)
{
    for (const px_field *f = fields; f->kind != PX_FIELD_END; f++)
        if (f->key)
            json_field(f, record, f->key, json);
}

void px_fields_object(const px_field *fields, const void *record, const char *key, px_json *json)
{
    px_json_object(json, key);
    px_fields_json(fields, record, json);
    px_json_end(json);
}

px_status px_fields_text(const px_field *fields, const void *record, char **out, px_error *err)
{
    px_json json = {0};
    px_fields_object(fields, record, NULL, &json);
    *out = px_text_take(&json.text);
    return *out ? PX_OK : pxi_no_memory(err);
}

/* --- for people ------------------------------------------------------------------------------ */

/* The text of a plain field; NULL: it is left out. */
static const char *field_text(const px_field *f, const void *record, char *text)
{
    if (is_absent(f, record))
        return NULL;
    const px_datum d = field_datum(f, record, text);
    if (is_null(&d))
        return f->optional ? NULL : f->none ? f->none : "-";
    switch (d.kind) {
    case PX_FIELD_BOOL:
        return d.whole ? "yes" : "no";
    case PX_FIELD_INT:
        if (f->format)
            return px_number_text(d.whole, text);
        snprintf(text, PX_FIELD_TEXT_MOST, "%" PRId64, d.whole);
        return text;
    case PX_FIELD_REAL:
        if (f->format && *f->format == ',' && fabs(d.real) < 1e18)
            return px_number_text((int64_t)d.real, text);
        snprintf(text, PX_FIELD_TEXT_MOST, f->format && *f->format != ',' ? f->format : "%.6g",
                 is_share(f) ? 100.0 * d.real : d.real);
        return text;
    default:
        return d.text;
    }
}

/* Cells of the items of a list that lies along a row. */
static void cells_along(const px_field *list, const void *record, px_cell_fn *cell, void *context)
{
    field_row row;
    char key[PX_FIELD_TEXT_MOST], title[128], text[PX_FIELD_TEXT_MOST];
    const bool map = list->kind == PX_FIELD_MAP;
    const void *item;
    for (size_t i = 0; (item = px_field_item(list, record, i, &row)); i++) {
        const char *name = key;
        if (map)
            name = field_datum(list->fields, item, key).text;
        else
            snprintf(key, sizeof key, "%zu", i + 1);
        snprintf(title, sizeof title, list->title, name);
        for (const px_field *f = list->fields + map; f->kind != PX_FIELD_END; f++)
            if (is_plain(f) && (f->title || in_place(f)))
                cell(context, f, f->title ? f->title : title, field_text(f, item, text));
    }
}

void px_fields_cells(const px_field *fields, const void *record, px_cell_fn *cell, void *context)
{
    field_row row;
    char text[PX_FIELD_TEXT_MOST];
    for (const px_field *f = fields; f->kind != PX_FIELD_END; f++) {
        const bool absent = is_absent(f, record);
        if (f->kind == PX_FIELD_OBJECT)
            px_fields_cells(f->fields, absent ? NULL : object_of(f, record, &row), cell, context);
        else if (!f->title)
            continue;
        else if (is_plain(f))
            cell(context, f, f->title, absent ? NULL : field_text(f, record, text));
        else if (!absent && f->kind < PX_FIELD_SHAPE)
            cells_along(f, record, cell, context);
    }
}

const px_field *px_field_find(const px_field *fields, const char *key, const void **record)
{
    for (const px_field *f = fields; f->kind != PX_FIELD_END; f++) {
        const char *name = f->key && *f->key ? f->key : f->title;
        if (f->kind == PX_FIELD_OBJECT && in_place(f) && !f->item && !is_absent(f, *record)) {
            const void *inner = object_of(f, *record, NULL);
            const px_field *found = inner ? px_field_find(f->fields, key, &inner) : NULL;
            if (found) {
                *record = inner;
                return found;
            }
        } else if ((f->kind == PX_FIELD_LIST || f->kind == PX_FIELD_MAP) && name &&
                   strcmp(name, key) == 0) {
            return f;
        }
    }
    return NULL;
}

/* --- CSV ------------------------------------------------------------------------------------- */

static void csv_cell(const px_field *f, const void *record, px_text *text)
{
    char made[PX_FIELD_TEXT_MOST], number[PX_REAL_TEXT];
    const px_datum d = is_absent(f, record) ? px_datum_none() : field_datum(f, record, made);
    switch (d.kind) {
    case PX_FIELD_BOOL:
        px_text_add(text, d.whole ? "yes" : "no");
        break;
    case PX_FIELD_INT:
        px_text_format(text, "%" PRId64, d.whole);
        break;
    case PX_FIELD_REAL:
        if (f->format && !is_share(f))
            px_text_format(text, f->format, d.real);
        else
            px_text_add(text, px_real_text(d.real, number));
        break;
    case PX_FIELD_TEXT:
        pxi_csv_put(text, d.text);
        break;
    default:
        px_text_add(text, f->none ? f->none : "");
    }
}

/* Returns what stands before the next cell. */
static const char *csv_cells(const px_field *fields, const void *record, bool names,
                             const char *comma, px_text *text)
{
    field_row row;
    for (const px_field *f = fields; f->kind != PX_FIELD_END; f++) {
        if (!f->key)
            continue;
        if (f->kind == PX_FIELD_OBJECT && in_place(f)) {
            const void *inner = record ? object_of(f, record, &row) : NULL;
            comma = csv_cells(f->fields, inner, names, comma, text);
        } else if (is_plain(f)) {
            px_text_add(text, comma);
            if (names)
                px_text_add(text, f->key);
            else
                csv_cell(f, record, text);
            comma = ",";
        }
    }
    return comma;
}

void px_fields_csv(const px_field *fields, const void *record, px_text *text)
{
    csv_cells(fields, record, !record, "", text);
    px_text_add(text, "\n");
}

/* --- what there is --------------------------------------------------------------------------- */

static const char *type_name(const px_field *f)
{
    static const char *const names[] = {
        [PX_FIELD_BOOL] = "bool",     [PX_FIELD_INT] = "integer",   [PX_FIELD_COUNT] = "integer",
        [PX_FIELD_INDEX] = "integer", [PX_FIELD_HASH] = "text",     [PX_FIELD_REAL] = "number",
        [PX_FIELD_TEXT] = "text",     [PX_FIELD_CHARS] = "text",    [PX_FIELD_CHOICE] = "text",
        [PX_FIELD_READY] = "object",  [PX_FIELD_OBJECT] = "object", [PX_FIELD_LIST] = "list",
        [PX_FIELD_MAP] = "map",       [PX_FIELD_SHAPE] = "shape",   [PX_FIELD_MATRIX] = "matrix",
        [PX_FIELD_JSON] = "object"};
    return names[f->kind];
}

static void describe_fields(const px_field *fields, bool optional, px_json *json);

/* "of" and what the items are: a type, or an object's fields. */
static void describe_items(const px_field *f, px_json *json)
{
    const px_field *items = f->fields;
    if (f->kind == PX_FIELD_MAP)
        px_json_string(json, "by", items++->key);
    if (is_value(items) && items[1].kind == PX_FIELD_END) {
        px_json_string(json, "of", type_name(items));
        if (items->kind == PX_FIELD_LIST && is_value(items->fields))
            px_json_string(json, "of_of", type_name(items->fields));
        return;
    }
    px_json_string(json, "of", "object");
    px_json_array(json, "fields");
    describe_fields(items, false, json);
    px_json_end(json);
}

static void describe_field(const px_field *f, bool optional, px_json *json)
{
    px_json_object(json, NULL);
    px_json_string(json, "key", in_place(f) ? "*" : f->key);
    px_json_string(json, "type", type_name(f));
    if (f->unit)
        px_json_string(json, "unit", f->unit);
    if (f->kind == PX_FIELD_CHOICE && !f->get) {
        px_json_array(json, "choices");
        for (const char *const *name = f->names; *name; name++)
            px_json_string(json, NULL, *name);
        px_json_end(json);
    }
    if (optional || f->optional || f->when || f->if_size)
        px_json_bool(json, "optional", true);
    px_json_string(json, "help", f->help);
    if (f->kind == PX_FIELD_LIST || f->kind == PX_FIELD_MAP) {
        describe_items(f, json);
    } else if (f->kind == PX_FIELD_OBJECT) {
        px_json_array(json, "fields");
        describe_fields(f->fields, false, json);
        px_json_end(json);
    }
    px_json_end(json);
}

static void describe_fields(const px_field *fields, bool optional, px_json *json)
{
    for (const px_field *f = fields; f->kind != PX_FIELD_END; f++) {
        if (!f->key)
            continue;
        if (f->kind == PX_FIELD_OBJECT && in_place(f))
            describe_fields(f->fields, optional || f->optional || f->when || f->if_size, json);
        else
            describe_field(f, optional, json);
    }
}

void px_fields_describe(const px_field *fields, const char *key, px_json *json)
{
    px_json_array(json, key);
    describe_fields(fields, false, json);
    px_json_end(json);
}
