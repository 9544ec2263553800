/* include/plexor/text.h - a string that grows
 *
 *     px_text t = {0};
 *     px_text_format(&t, "%d neurons", n);
 *     puts(px_text_get(&t));
 *     px_text_done(&t);
 *
 * Running out of memory is remembered, not reported at each step: check px_text_failed() at the
 * end.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PLEXOR_TEXT_H
#define PLEXOR_TEXT_H

#include <plexor/error.h>
#include <stdbool.h>
#include <stdint.h>

PX_BEGIN_DECLS

typedef struct px_text { /* {0} is an empty text */
    char *data;          /* NULL or NUL-terminated */
    size_t length, capacity;
    bool failed;
} px_text;

PX_API void px_text_add(px_text *text, const char *words);
PX_API void px_text_add_bytes(px_text *text, const char *bytes, size_t count);
PX_API void px_text_format(px_text *text, const char *format, ...) PX_PRINTF(2, 3);
PX_API const char *px_text_get(const px_text *text); /* "" while empty */
PX_API bool px_text_failed(const px_text *text);

/* Hands the string to the caller, who frees it; NULL if memory ran out. Leaves {0}. */
PX_API char *px_text_take(px_text *text);
PX_API void px_text_clear(px_text *text); /* empty, but keeps its memory */
PX_API void px_text_done(px_text *text);

/* The shortest decimal that reads back as the same double ("nan", "inf", "-inf" for those);
 * always with a decimal point, never a comma. Returns `buffer`. */
#define PX_REAL_TEXT 32

/* 1234567 as "1,234,567". Returns `buffer`. */
#define PX_NUMBER_TEXT 32

PX_END_DECLS
#endif
