/* src/base/json.c - JSON out */
/* SPDX-License-Identifier: Apache-2.0 */
#include <internal/json.h>
#include <internal/text.h>

#include "base/json_most.h"
#include "base/utf8.h"

#include <assert.h>
#include <inttypes.h>
#include <math.h>
#include <string.h>

static void json_quote(px_text *text, const char *words)
{
    px_text_add(text, "\"");
    const char *p = words;
    while (*p) {
        const unsigned char c = (unsigned char)*p;
        if (c == '"' || c == '\\') {
            px_text_format(text, "\\%c", c);
            p++;
        } else if (c < 0x20 || c == 0x7f) {
            px_text_format(text, "\\u%04x", c);
            p++;
        } else if (c < 0x80) {
            px_text_add_bytes(text, p, 1);
            p++;
        } else {
            const size_t length = pxi_utf8_length(p, strlen(p));
            px_text_add_bytes(text, length ? p : "\xef\xbf\xbd", length ? length : 3);
            p += length ? length : 1;
        }
    }
    px_text_add(text, "\"");
}

static void json_indent(px_json *json)
{
    px_text_add(&json->text, "\n");
    for (int i = 0; i < json->depth; i++)
        px_text_add(&json->text, "  ");
}

/* The comma, the line break and the key before a value. */
static void json_start(px_json *json, const char *key)
{
    if (json->depth > 0) {
        const int level = json->depth - 1;
        assert(json->array[level] == (key == NULL));
        if (json->filled[level])
            px_text_add(&json->text, ",");
        json->filled[level] = true;
        json_indent(json);
    }
    if (key) {
        json_quote(&json->text, key);
        px_text_add(&json->text, ": ");
    }
}

static void json_open(px_json *json, const char *key, bool array)
{
    assert(json->depth < PX_JSON_DEPTH);
    json_start(json, key);
    px_text_add(&json->text, array ? "[" : "{");
    json->array[json->depth] = array;
    json->filled[json->depth] = false;
    json->depth++;
}

void px_json_object(px_json *json, const char *key)
{
    json_open(json, key, false);
}

void px_json_array(px_json *json, const char *key)
{
    json_open(json, key, true);
}

void px_json_end(px_json *json)
{
    assert(json->depth > 0);
    json->depth--;
    if (json->filled[json->depth])
        json_indent(json);
    px_text_add(&json->text, json->array[json->depth] ? "]" : "}");
    if (json->depth == 0)
        px_text_add(&json->text, "\n");
}

void px_json_reopen(px_json *json)
{
    assert(json->depth == 0 && !json->array[0]);
    json->depth = 1;
    const size_t close = json->filled[0] ? strlen("\n}\n") : strlen("}\n");
    if (json->text.length < close) /* memory ran out on the way */
        return;
    json->text.length -= close;
    json->text.data[json->text.length] = '\0';
}

void px_json_string(px_json *json, const char *key, const char *value)
{
    json_start(json, key);
    if (value)
        json_quote(&json->text, value);
    else
        px_text_add(&json->text, "null");
}

void pxi_json_verbatim(px_json *json, const char *key, const char *value)
{
    json_start(json, key);
    px_text_add(&json->text, value);
}

void px_json_int(px_json *json, const char *key, int64_t value)
{
    json_start(json, key);
    px_text_format(&json->text, "%" PRId64, value);
}

void px_json_real(px_json *json, const char *key, double value)
{
    char buffer[PX_REAL_TEXT];
    json_start(json, key);
    px_text_add(&json->text, isfinite(value) ? px_real_text(value, buffer) : "null");
}

void px_json_bool(px_json *json, const char *key, bool value)
{
    json_start(json, key);
    px_text_add(&json->text, value ? "true" : "false");
}

void px_json_null(px_json *json, const char *key)
{
    px_json_string(json, key, NULL);
}

const char *px_json_text(const px_json *json)
{
    return px_text_failed(&json->text) ? NULL : px_text_get(&json->text);
}

void px_json_done(px_json *json)
{
    if (!json)
        return;
    px_text_done(&json->text);
    *json = (px_json){0};
}
