/* include/plexor/json.h - JSON out, and a small JSON reader for metadata
 *
 *     px_json json = {0};
 *     px_json_object(&json, NULL);
 *     px_json_int(&json, "count", 10000);
 *     px_json_end(&json);
 *     fputs(px_json_text(&json), stdout);
 *     px_json_done(&json);
 *
 * Keys appear in the order in which they are written. Numbers are the shortest that read back the
 * same; NaN and infinities, which JSON does not have, are written as null.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PLEXOR_JSON_H
#define PLEXOR_JSON_H

#include <plexor/text.h>
#include <stdint.h>

PX_BEGIN_DECLS

#define PX_JSON_DEPTH 32

typedef struct px_json { /* a writer; {0} is an empty one */
    px_text text;
    int depth;
    bool array[PX_JSON_DEPTH]; /* per open level */
    bool filled[PX_JSON_DEPTH];
} px_json;

/* `key` is NULL inside an array and at the top. The text is UTF-8; bytes that are not are replaced
 * by U+FFFD. */
PX_API void px_json_object(px_json *json, const char *key);
PX_API void px_json_array(px_json *json, const char *key);
PX_API void px_json_end(px_json *json); /* the innermost open object or array */
PX_API void px_json_string(px_json *json, const char *key, const char *value); /* NULL: null */
PX_API void px_json_int(px_json *json, const char *key, int64_t value);
PX_API void px_json_real(px_json *json, const char *key, double value);
PX_API void px_json_bool(px_json *json, const char *key, bool value);
PX_API void px_json_null(px_json *json, const char *key);
PX_API const char *px_json_text(const px_json *json); /* NULL if memory ran out */
PX_API void px_json_done(px_json *json);

typedef enum px_json_kind {
    PX_JSON_NULL,
    PX_JSON_BOOL,
    PX_JSON_NUMBER,
    PX_JSON_STRING,
    PX_JSON_ARRAY,
    PX_JSON_OBJECT,
} px_json_kind;

typedef struct px_json_value {
    px_json_kind kind;
    bool boolean;
    double number;
    const char *string; /* UTF-8; "\u0000" is refused */
    size_t count;       /* of an array's items or an object's members */
    const struct px_json_value *items;
    const char *const *keys; /* objects only; in the order of the file */
} px_json_value;

typedef struct px_json_document px_json_document; /* owns all that is reached from its root */

/* Reads one value and nothing after it. At most 1 MiB, PX_JSON_DEPTH deep. */
PX_API px_status px_json_parse(const char *text, size_t size, px_json_document **out,
                               px_error *err);
PX_API const px_json_value *px_json_root(const px_json_document *document);
PX_API const px_json_value *px_json_member(const px_json_value *object, const char *key);
PX_API void px_json_free(px_json_document *document);

PX_END_DECLS
#endif
