/* src/data/npz_meta.c - the `meta` of profiles, states, captioners: JSON in an NPZ */
/* SPDX-License-Identifier: Apache-2.0 */
#include <internal/npz_meta.h>

#include "base/memory.h"

#include <internal/data.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

px_status pxi_meta_put(px_npz_writer *to, px_json *json, px_error *err)
{
    const char *text = px_json_text(json);
    px_status status = PX_OK;
    if (!text) {
        status = pxi_no_memory(err);
    } else {
        const px_tensor bytes = {.dtype = PX_UINT8,
                                 .shape = {.rank = 1, .dim = {(int64_t)strlen(text)}},
                                 .data = (void *)text}; /* px_npz_add() reads only */
        status = px_npz_add(to, "meta", &bytes, err);
    }
    px_json_done(json);
    return status;
}

px_status pxi_meta_take(const px_npz *from, const char *format, int version,
                        px_json_document **document, const px_json_value **root, px_error *err)
{
    const px_tensor *meta = px_npz_get(from, "meta");
    if (!meta || meta->dtype != PX_UINT8 || meta->shape.rank != 1)
        return px_fail(err, PX_E_INPUT, "is not a %s: it has no 'meta'", format);
    px_json_document *json = NULL;
    PX_TRY(px_json_parse(meta->data, (size_t)meta->shape.dim[0], &json, err));
    const px_json_value *top = px_json_root(json);
    const px_json_value *kind = px_json_member(top, "format");
    const px_json_value *number = px_json_member(top, "version");
    px_status status = PX_OK;
    if (!kind || kind->kind != PX_JSON_STRING || strcmp(kind->string, format) != 0)
        status = px_fail(err, PX_E_INPUT, "is not a %s%s%.40s%s", format,
                         kind && kind->kind == PX_JSON_STRING ? " but a " : "",
                         kind && kind->kind == PX_JSON_STRING ? kind->string : "", "");
    else if (!number || number->kind != PX_JSON_NUMBER || number->number != (double)version)
        status = px_fail(
            err, PX_E_INPUT, "is a %s of version %g; this plexor reads version %d: make it again",
            format, number && number->kind == PX_JSON_NUMBER ? number->number : 0.0, version);
    if (status != PX_OK) {
        px_json_free(json);
        return status;
    }
    *document = json;
    *root = top;
    return PX_OK;
}

px_status pxi_meta_string(const px_json_value *object, const char *key, const char **out,
                          px_error *err)
{
    const px_json_value *value = px_json_member(object, key);
    if (!value || value->kind != PX_JSON_STRING)
        return px_fail(err, PX_E_INPUT, "'meta' lacks '%s'", key);
    *out = value->string;
    return PX_OK;
}

px_status pxi_meta_int(const px_json_value *object, const char *key, int64_t most, int64_t *out,
                       px_error *err)
{
    const px_json_value *value = px_json_member(object, key);
    if (!value || value->kind != PX_JSON_NUMBER || !(value->number >= 0.0) ||
        !(value->number <= (double)most) || value->number != floor(value->number))
        return px_fail(err, PX_E_INPUT, "'%s' in 'meta' is no whole number between 0 and %" PRId64,
                       key, most);
    *out = (int64_t)value->number;
    return PX_OK;
}

px_status pxi_meta_hash(const px_json_value *object, const char *key, uint64_t *out, px_error *err)
{
    const char *text = NULL;
    PX_TRY(pxi_meta_string(object, key, &text, err));
    if (strlen(text) != 16 || strspn(text, "0123456789abcdef") != 16)
        return px_fail(err, PX_E_INPUT, "'%s' in 'meta' is no hash", key);
    *out = strtoull(text, NULL, 16);
    return PX_OK;
}

px_status pxi_meta_array(const px_json_value *object, const char *key, const px_json_value **out,
                         px_error *err)
{
    const px_json_value *value = px_json_member(object, key);
    if (!value || value->kind != PX_JSON_ARRAY)
        return px_fail(err, PX_E_INPUT, "'meta' has no list '%s'", key);
    *out = value;
    return PX_OK;
}

void pxi_meta_put_hash(px_json *json, const char *key, uint64_t hash)
{
    char text[17];
    snprintf(text, sizeof text, "%016" PRIx64, hash);
    px_json_string(json, key, text);
}
