/* src/onnx/annotate.c - other metadata in an ONNX file, all other bytes as they are
 *
 * A ModelProto is a sequence of fields; metadata_props, field 14, may stand anywhere and several
 * times. Entries of the keys at hand are left out, and new ones stand at the end.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#include "base/file.h"
#include "base/memory.h"
#include "onnx/decode.h"

#include <internal/text.h>
#include <plexor/onnx.h>
#include <stdlib.h>
#include <string.h>

enum { METADATA_PROPS = 14, ENTRY_KEY = 1, ENTRY_VALUE = 2, LENGTH_DELIMITED = 2 };

typedef struct field {
    uint64_t number, wire_type;
    const char *start, *body, *end;
} field;

static bool take_varint(const char **at, const char *end, uint64_t *value)
{
    *value = 0;
    for (int shift = 0; *at < end && shift < 64; shift += 7) {
        const uint8_t byte = (uint8_t) * (*at)++;
        *value |= (uint64_t)(byte & 127) << shift;
        if (byte < 128)
            return true;
    }
    return false;
}

static bool take_field(const char **at, const char *end, field *f)
{
    uint64_t tag = 0, size = 0;
    f->start = *at;
    if (!take_varint(at, end, &tag))
        return false;
    f->number = tag >> 3;
    f->wire_type = tag & 7;
    f->body = *at;
    if (f->wire_type == 0) {
        if (!take_varint(at, end, &size))
            return false;
        size = 0;
    } else if (f->wire_type == LENGTH_DELIMITED) {
        if (!take_varint(at, end, &size))
            return false;
        f->body = *at;
    } else if (f->wire_type == 1 || f->wire_type == 5) {
        size = f->wire_type == 1 ? 8 : 4;
    } else {
        return false;
    }
    if (size > (uint64_t)(end - *at))
        return false;
    *at += size;
    f->end = *at;
    return true;
}

/* Whether it is an entry of one of those keys. */
static bool is_replaced(const field *entry, const px_property *properties, size_t count)
{
    const char *at = entry->body;
    field f;
    if (entry->number != METADATA_PROPS || entry->wire_type != LENGTH_DELIMITED)
        return false;
    while (at < entry->end && take_field(&at, entry->end, &f))
        for (size_t i = 0; i < count && f.number == ENTRY_KEY; i++)
            if (strlen(properties[i].key) == (size_t)(f.end - f.body) &&
                memcmp(properties[i].key, f.body, (size_t)(f.end - f.body)) == 0)
                return true;
    return false;
}

static void put_varint(px_text *out, uint64_t value)
{
    for (; value > 127; value >>= 7)
        px_text_add_bytes(out, &(char){(char)(value | 128)}, 1);
    px_text_add_bytes(out, &(char){(char)value}, 1);
}

static void put_bytes(px_text *out, uint64_t number, const char *bytes, size_t size)
{
    put_varint(out, number << 3 | LENGTH_DELIMITED);
    put_varint(out, size);
    px_text_add_bytes(out, bytes, size);
}

static px_status annotate(const char *bytes, size_t size, const px_property *properties,
                          size_t count, px_text *out, px_error *err)
{
    const char *at = bytes, *end = bytes + size;
    field f;
    while (at < end) {
        if (!take_field(&at, end, &f))
            return px_fail(err, PX_E_INPUT, "is damaged at byte %zu", (size_t)(f.start - bytes));
        if (!is_replaced(&f, properties, count))
            px_text_add_bytes(out, f.start, (size_t)(f.end - f.start));
    }
    for (size_t i = 0; i < count; i++) {
        px_text entry = {0};
        put_bytes(&entry, ENTRY_KEY, properties[i].key, strlen(properties[i].key));
        put_bytes(&entry, ENTRY_VALUE, properties[i].value, strlen(properties[i].value));
        put_bytes(out, METADATA_PROPS, px_text_get(&entry), entry.length);
        const bool failed = px_text_failed(&entry);
        px_text_done(&entry);
        if (failed)
            return pxi_no_memory(err);
    }
    return px_text_failed(out) ? pxi_no_memory(err) : PX_OK;
}

px_status px_model_annotate(const char *path, const char *to, const px_property *properties,
                            size_t count, px_error *err)
{
    char *bytes = NULL;
    size_t size = 0;
    px_text out = {0};
    PX_TRY(pxi_file_read(path, PXI_PB_MAX_BYTES, &bytes, &size, err));
    px_status status = annotate(bytes, size, properties, count, &out, err);
    if (status != PX_OK)
        px_fail_in(err, status, "'%s'", path);
    else
        status = px_text_save(&out, to, err);
    px_text_done(&out);
    free(bytes);
    return status;
}
