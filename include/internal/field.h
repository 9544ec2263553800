/* include/internal/field.h - <plexor/field.h>, and what only plexor itself uses of it */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PXI_INTERNAL_FIELD_H
#define PXI_INTERNAL_FIELD_H

#include <plexor/field.h>

PX_BEGIN_DECLS

/* What functions of fields return; px_datum_text(NULL) is null. */
px_datum px_datum_none(void);

px_datum px_datum_bool(bool value);

px_datum px_datum_int(int64_t value);

px_datum px_datum_real(double value);

px_datum px_datum_text(const char *value);

/* Formats into `text`, of PX_FIELD_TEXT_MOST bytes. */
px_datum px_datum_format(char *text, const char *format, ...) PX_PRINTF(2, 3);

/* An object of its own, with these members: `key` is NULL in an array and at the top. */
void px_fields_object(const px_field *fields, const void *record, const char *key, px_json *json);

/* The same as a text, which the caller frees. */
px_status px_fields_text(const px_field *fields, const void *record, char **out, px_error *err);

/* The members of an object back into the record: PX_E_INPUT, "'seed' is missing or not 16
 * hexadecimal digits", for one that is missing, unless the field is optional, or that is of another
 * kind. Whole numbers are not negative, null is a NaN, and NULL where a text has a `none`. Texts
 * are the document's. What pointers lead to and what functions make is left alone. */
px_status px_fields_read(const px_field *fields, const px_json_value *object, void *record,
                         px_error *err);

/* What the members are, for programs: an array of objects with key, type, unit, help, ... */
void px_fields_describe(const px_field *fields, const char *key, px_json *json);

/* The list or map with this key, or, where it has none, with this title; also in objects in place.
 * NULL: there is none. `*record` is made that of the struct it is in. */
const px_field *px_field_find(const px_field *fields, const char *key, const void **record);

/* Item i of a list; NULL beyond the last. `row` has PX_FIELD_ROW_MOST bytes, aligned for anything.
 */
const void *px_field_item(const px_field *list, const void *record, size_t i, void *row);

void px_fields_cells(const px_field *fields, const void *record, px_cell_fn *cell, void *context);

PX_END_DECLS
#endif
