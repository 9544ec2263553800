/* src/base/json_reader.c - a small JSON reader (RFC 8259) for texts from strangers' files
 *
 * Sizes are bounded by the text: every item takes at least one byte of it, and the text is at most
 * JSON_MAX_BYTES unless a caller expects more. Nesting is bounded by PX_JSON_DEPTH.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#include <plexor/json.h>

#include "base/arena.h"
#include "base/json_most.h"
#include "base/memory.h"
#include "base/utf8.h"

#include <stdlib.h>
#include <string.h>

enum { JSON_MAX_BYTES = 1 << 20 };

struct px_json_document {
    px_arena *arena;
    px_json_value root;
};

typedef struct json_reader {
    const char *start, *p, *end;
    px_arena *arena;
    int depth;
    px_error *err;
} json_reader;

static px_status json_fail(const json_reader *r, const char *what)
{
    return px_fail(r->err, PX_E_INPUT, "not JSON: %s at byte %zu", what, (size_t)(r->p - r->start));
}

static px_status json_nomem(const json_reader *r)
{
    return pxi_no_memory_for(r->err, "JSON");
}

static void json_space(json_reader *r)
{
    while (r->p < r->end && strchr(" \t\r\n", *r->p) && *r->p)
        r->p++;
}

static bool json_take(json_reader *r, char c)
{
    if (r->p >= r->end || *r->p != c)
        return false;
    r->p++;
    return true;
}

static px_status json_word(json_reader *r, const char *word)
{
    const size_t length = strlen(word);
    if ((size_t)(r->end - r->p) < length || memcmp(r->p, word, length) != 0)
        return json_fail(r, "an unknown word");
    r->p += length;
    return PX_OK;
}

static px_status json_hex4(json_reader *r, uint32_t *out)
{
    uint32_t code = 0;
    for (int i = 0; i < 4; i++, r->p++) {
        static const char digits[] = "0123456789abcdef";
        const char c = r->p < r->end ? *r->p : '\0';
        const char *at = c ? strchr(digits, c >= 'A' && c <= 'F' ? c + 32 : c) : NULL;
        if (!at)
            return json_fail(r, "\\u needs four hexadecimal digits");
        code = code << 4 | (uint32_t)(at - digits);
    }
    *out = code;
    return PX_OK;
}

static px_status json_escape(json_reader *r, char *out, size_t *used)
{
    static const char from[] = "\"\\/bfnrt", to[] = "\"\\/\b\f\n\r\t";
    const char c = r->p < r->end ? *r->p++ : '\0';
    const char *at = c ? strchr(from, c) : NULL;
    if (at) {
        out[(*used)++] = to[at - from];
        return PX_OK;
    }
    if (c != 'u')
        return json_fail(r, "an unknown escape");
    uint32_t code = 0;
    PX_TRY(json_hex4(r, &code));
    if (code >= 0xd800 && code < 0xdc00) {
        uint32_t low = 0;
        if (!json_take(r, '\\') || !json_take(r, 'u'))
            return json_fail(r, "half a surrogate pair");
        PX_TRY(json_hex4(r, &low));
        if (low < 0xdc00 || low > 0xdfff)
            return json_fail(r, "half a surrogate pair");
        code = 0x10000 + ((code - 0xd800) << 10) + (low - 0xdc00);
    }
    if (code == 0 || (code >= 0xdc00 && code < 0xe000))
        return json_fail(r, "an escape that is no character");
    *used += pxi_utf8_put(code, out + *used);
    return PX_OK;
}

/* After the opening quote. An escape never takes fewer bytes than what it stands for. */
static px_status json_string(json_reader *r, const char **out)
{
    const char *close = r->p;
    while (close < r->end && *close != '"')
        close += *close == '\\' ? 2 : 1;
    if (close >= r->end)
        return json_fail(r, "a string without an end");
    char *copy = pxi_arena_alloc(r->arena, (size_t)(close - r->p) + 1, 1);
    if (!copy)
        return json_nomem(r);
    size_t used = 0;
    while (r->p < close) {
        if (*r->p == '\\') {
            r->p++;
            PX_TRY(json_escape(r, copy, &used));
            continue;
        }
        const size_t length = pxi_utf8_length(r->p, (size_t)(close - r->p));
        if (length == 0 || (unsigned char)*r->p < 0x20)
            return json_fail(r, "a control character or bytes that are not UTF-8");
        memcpy(copy + used, r->p, length);
        used += length;
        r->p += length;
    }
    r->p = close + 1;
    *out = copy;
    return PX_OK;
}

static size_t json_digits(json_reader *r)
{
    const char *first = r->p;
    while (r->p < r->end && *r->p >= '0' && *r->p <= '9')
        r->p++;
    return (size_t)(r->p - first);
}

static px_status json_number(json_reader *r, double *out)
{
    char copy[64];
    const char *first = r->p;
    json_take(r, '-');
    const bool zero = r->p < r->end && *r->p == '0';
    const size_t whole = json_digits(r);
    if (whole == 0 || (zero && whole > 1))
        return json_fail(r, "not a number");
    if (json_take(r, '.') && json_digits(r) == 0)
        return json_fail(r, "not a number");
    if (json_take(r, 'e') || json_take(r, 'E')) {
        if (!json_take(r, '+'))
            json_take(r, '-');
        if (json_digits(r) == 0)
            return json_fail(r, "not a number");
    }
    const size_t length = (size_t)(r->p - first);
    if (length >= sizeof copy)
        return json_fail(r, "a number of too many digits");
    memcpy(copy, first, length);
    copy[length] = '\0';
    *out = strtod(copy, NULL);
    return PX_OK;
}

static px_status json_value(json_reader *r, px_json_value *out);

/* After the opening bracket: items up to `close`, with keys where it is an object. */
static px_status json_items(json_reader *r, char close, px_json_value *out)
{
    const bool object = close == '}';
    px_json_value *items = NULL;
    const char **keys = NULL;
    size_t count = 0, item_cap = 0, key_cap = 0;
    px_status status = PX_OK;
    if (++r->depth > PX_JSON_DEPTH)
        return json_fail(r, "nested too deeply");
    json_space(r);
    if (json_take(r, close))
        goto done;
    for (;;) {
        if (pxi_grow(&items, &item_cap, count + 1, sizeof *items) != 0 ||
            (object && pxi_grow(&keys, &key_cap, count + 1, sizeof *keys) != 0)) {
            status = json_nomem(r);
            goto done;
        }
        json_space(r);
        if (object) {
            status = json_take(r, '"') ? json_string(r, &keys[count]) : json_fail(r, "no key");
            if (status != PX_OK)
                goto done;
            json_space(r);
            if (!json_take(r, ':')) {
                status = json_fail(r, "no colon after a key");
                goto done;
            }
        }
        status = json_value(r, &items[count]);
        if (status != PX_OK)
            goto done;
        count++;
        json_space(r);
        if (json_take(r, close))
            break;
        if (!json_take(r, ',')) {
            status = json_fail(r, "neither a comma nor a closing bracket");
            goto done;
        }
    }
    px_json_value *kept = pxi_arena_alloc(r->arena, count, sizeof *kept);
    const char **kept_keys = pxi_arena_alloc(r->arena, object ? count : 0, sizeof *kept_keys);
    if (!kept || !kept_keys) {
        status = json_nomem(r);
        goto done;
    }
    memcpy(kept, items, count * sizeof *kept);
    if (object)
        memcpy(kept_keys, keys, count * sizeof *kept_keys);
    out->items = kept;
    out->keys = object ? kept_keys : NULL;
done:
    out->count = count;
    free(items);
    free(keys);
    r->depth--;
    return status;
}

static px_status json_value(json_reader *r, px_json_value *out)
{
    *out = (px_json_value){0};
    json_space(r);
    const char c = r->p < r->end ? *r->p : '\0';
    switch (c) {
    case '{':
    case '[':
        r->p++;
        out->kind = c == '{' ? PX_JSON_OBJECT : PX_JSON_ARRAY;
        return json_items(r, c == '{' ? '}' : ']', out);
    case '"':
        r->p++;
        out->kind = PX_JSON_STRING;
        return json_string(r, &out->string);
    case 't':
    case 'f':
        out->kind = PX_JSON_BOOL;
        out->boolean = c == 't';
        return json_word(r, c == 't' ? "true" : "false");
    case 'n':
        return json_word(r, "null");
    default:
        out->kind = PX_JSON_NUMBER;
        return json_number(r, &out->number);
    }
}

px_status pxi_json_parse_most(const char *text, size_t size, size_t most, px_json_document **out,
                              px_error *err)
{
    if (size > most)
        return px_fail(err, PX_E_INPUT, "JSON of %zu bytes; at most %zu are read", size, most);
    px_json_document *document = pxi_calloc(1, sizeof *document);
    if (document)
        document->arena = pxi_arena_new();
    if (!document || !document->arena) {
        px_json_free(document);
        return pxi_no_memory_for(err, "JSON");
    }
    json_reader r = {
        .start = text, .p = text, .end = text + size, .arena = document->arena, .err = err};
    px_status status = json_value(&r, &document->root);
    json_space(&r);
    PX_THEN_IF(status, r.p < r.end, json_fail(&r, "something after the end"));
    return PX_GIVE(status, document, out, px_json_free);
}

px_status px_json_parse(const char *text, size_t size, px_json_document **out, px_error *err)
{
    return pxi_json_parse_most(text, size, JSON_MAX_BYTES, out, err);
}

const px_json_value *px_json_root(const px_json_document *document)
{
    return &document->root;
}

const px_json_value *px_json_member(const px_json_value *object, const char *key)
{
    if (object->kind != PX_JSON_OBJECT)
        return NULL;
    for (size_t i = 0; i < object->count; i++)
        if (strcmp(object->keys[i], key) == 0)
            return &object->items[i];
    return NULL;
}

void px_json_free(px_json_document *document)
{
    if (!document)
        return;
    pxi_arena_free(document->arena);
    free(document);
}
