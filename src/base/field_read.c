/* src/base/field_read.c - what was written by a table of fields, read back by it
 *
 * Everything that is read is hostile: a member that is missing or of another kind is refused, and
 * nothing is converted that does not fit. What values mean is the caller's concern.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#include <internal/field.h>

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static bool read_bool(const px_field *f, const px_json_value *v, void *to)
{
    (void)f;
    if (v->kind == PX_JSON_BOOL)
        *(bool *)to = v->boolean;
    return v->kind == PX_JSON_BOOL;
}

/* Not negative: there are no others that are read back. */
static bool read_whole(const px_field *f, const px_json_value *v, void *to)
{
    const double most = f->size == sizeof(int64_t) ? 0x1p53 : (double)INT32_MAX;
    if (v->kind != PX_JSON_NUMBER || !(v->number >= 0.0 && v->number <= most) ||
        floor(v->number) != v->number)
        return false;
    const int64_t wide = (int64_t)v->number;
    const int32_t narrow = f->size == sizeof wide ? 0 : (int32_t)v->number;
    assert(f->size == sizeof wide || f->size == sizeof narrow);
    memcpy(to, f->size == sizeof wide ? (const void *)&wide : &narrow, f->size);
    return true;
}

static bool read_hash(const px_field *f, const px_json_value *v, void *to)
{
    (void)f;
    if (v->kind != PX_JSON_STRING || strlen(v->string) != 16 ||
        strspn(v->string, "0123456789abcdef") != 16)
        return false;
    *(uint64_t *)to = strtoull(v->string, NULL, 16);
    return true;
}

/* null is NaN; infinities come from numbers such as 1e999. */
static bool read_real(const px_field *f, const px_json_value *v, void *to)
{
    if (v->kind != PX_JSON_NULL && (v->kind != PX_JSON_NUMBER || !isfinite(v->number)))
        return false;
    assert(f->size == sizeof(double));
    *(double *)to = v->kind == PX_JSON_NULL ? (double)NAN : v->number;
    return true;
}

static bool read_text(const px_field *f, const px_json_value *v, void *to)
{
    if (v->kind != PX_JSON_STRING && (v->kind != PX_JSON_NULL || !f->none)) /* NULL is shown so */
        return false;
    *(const char **)to = v->kind == PX_JSON_NULL ? NULL : v->string;
    return true;
}

typedef struct reader {
    px_field_kind kind;
    bool (*read)(const px_field *f, const px_json_value *v, void *to);
    const char *wanted;
} reader;

static const reader readers[] = {
    {PX_FIELD_BOOL, read_bool, "true or false"},
    {PX_FIELD_INT, read_whole, "a whole number"},
    {PX_FIELD_COUNT, read_whole, "a whole number"},
    {PX_FIELD_HASH, read_hash, "16 hexadecimal digits"},
    {PX_FIELD_REAL, read_real, "a number or null"},
    {PX_FIELD_TEXT, read_text, "a text"},
};

static px_status read_one(const px_field *f, const char *key, const px_json_value *v, void *to,
                          px_error *err);

/* An array within the record, as long as it is, or as much of it as its count then says. */
static px_status read_list(const px_field *f, const px_json_value *v, void *record, px_error *err)
{
    if (!v || v->kind != PX_JSON_ARRAY || v->count > f->count ||
        (!f->count_size && v->count != f->count))
        return px_fail(err, PX_E_INPUT, "'%s' is missing or not a list of %s%zu", f->key,
                       f->count_size ? "at most " : "", f->count);
    for (size_t i = 0; i < v->count; i++) {
        char *to = (char *)record + f->offset + i * f->size;
        if (f->fields->key && !*f->fields->key)
            PX_TRY(read_one(f->fields, f->key, &v->items[i], to, err));
        else
            PX_TRY(px_fields_read(f->fields, &v->items[i], to, err));
    }
    assert(!f->count_size || f->count_size == sizeof v->count);
    if (f->count_size)
        memcpy((char *)record + f->count_offset, &v->count, sizeof v->count);
    return PX_OK;
}

/* What `v` is of: a member, or an item of the list of that key. */
static px_status read_one(const px_field *f, const char *key, const px_json_value *v, void *to,
                          px_error *err)
{
    for (size_t i = 0; i < sizeof readers / sizeof *readers; i++)
        if (readers[i].kind == f->kind && !(v && readers[i].read(f, v, to)))
            return px_fail(err, PX_E_INPUT, "'%s' is missing or not %s", key, readers[i].wanted);
    return PX_OK;
}

static px_status read_member(const px_field *f, const px_json_value *object, void *record,
                             px_error *err)
{
    const px_json_value *v = px_json_member(object, f->key);
    void *to = (char *)record + f->offset;
    if (!v && (f->optional || f->if_size))
        return PX_OK;
    if (f->kind == PX_FIELD_LIST)
        return read_list(f, v, record, err);
    if (f->kind != PX_FIELD_OBJECT)
        return read_one(f, f->key, v, to, err);
    if (!v || v->kind != PX_JSON_OBJECT)
        return px_fail(err, PX_E_INPUT, "'%s' is missing or not an object", f->key);
    return px_fields_read(f->fields, v, to, err);
}

px_status px_fields_read(const px_field *fields, const px_json_value *object, void *record,
                         px_error *err)
{
    for (const px_field *f = fields; f->kind != PX_FIELD_END; f++) {
        if (!f->key || f->get || f->item || f->pointer)
            continue;
        if (*f->key)
            PX_TRY(read_member(f, object, record, err));
        else if (f->kind == PX_FIELD_OBJECT)
            PX_TRY(px_fields_read(f->fields, object, (char *)record + f->offset, err));
    }
    return PX_OK;
}
