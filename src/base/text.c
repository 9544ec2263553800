/* src/base/text.c - a string that grows */
/* SPDX-License-Identifier: Apache-2.0 */
#include <internal/text.h>

#include "base/file.h"
#include "base/memory.h"

#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool text_reserve(px_text *text, size_t extra)
{
    if (text->failed)
        return false;
    if (extra >= SIZE_MAX - text->length ||
        pxi_grow(&text->data, &text->capacity, text->length + extra + 1, 1) != 0) {
        text->failed = true;
        return false;
    }
    return true;
}

void px_text_add_bytes(px_text *text, const char *bytes, size_t count)
{
    if (!text_reserve(text, count))
        return;
    if (count)
        memcpy(text->data + text->length, bytes, count);
    text->length += count;
    text->data[text->length] = '\0';
}

void px_text_add(px_text *text, const char *words)
{
    px_text_add_bytes(text, words, strlen(words));
}

void px_text_format(px_text *text, const char *format, ...)
{
    va_list args, again;
    va_start(args, format);
    va_copy(again, args);
    const int need = vsnprintf(NULL, 0, format, args);
    va_end(args);
    if (need < 0)
        text->failed = true;
    else if (text_reserve(text, (size_t)need)) {
        vsnprintf(text->data + text->length, (size_t)need + 1, format, again);
        text->length += (size_t)need;
    }
    va_end(again);
}

const char *px_text_get(const px_text *text)
{
    return text->data ? text->data : "";
}

bool px_text_failed(const px_text *text)
{
    return text->failed;
}

char *px_text_take(px_text *text)
{
    char *data = NULL;
    if (text_reserve(text, 0)) {
        data = text->data;
        data[text->length] = '\0';
        text->data = NULL;
    }
    px_text_done(text);
    return data;
}

void px_text_clear(px_text *text)
{
    text->length = 0;
    text->failed = false;
    if (text->data)
        text->data[0] = '\0';
}

void px_text_done(px_text *text)
{
    if (!text)
        return;
    free(text->data);
    *text = (px_text){0};
}

px_status px_text_save(const px_text *text, const char *path, px_error *err)
{
    if (text->failed)
        return px_fail_in(err, pxi_no_memory(err), "'%.200s'", path);
    return pxi_file_write(path, px_text_get(text), text->length, err);
}

const char *px_number_text(int64_t value, char buffer[PX_NUMBER_TEXT])
{
    char digits[24], *out = buffer;
    const int length = snprintf(digits, sizeof digits, "%" PRId64, value);
    for (int i = 0; i < length; i++) {
        if (i > (value < 0) && (length - i) % 3 == 0)
            *out++ = ',';
        *out++ = digits[i];
    }
    *out = '\0';
    return buffer;
}

const char *px_real_text(double value, char buffer[PX_REAL_TEXT])
{
    if (isnan(value))
        return strcpy(buffer, "nan");
    if (isinf(value))
        return strcpy(buffer, value < 0 ? "-inf" : "inf");
    char text[PX_REAL_TEXT]; /* compilers doubt that `buffer` is there, under sanitizers */
    const bool minus_zero = value == 0.0 && signbit(value);
    if (value == floor(value) && fabs(value) < 1e15 && !minus_zero) { /* 100, not 1e+02 */
        snprintf(text, sizeof text, "%lld", (long long)value);
        return strcpy(buffer, text);
    }
    for (int digits = 1; digits <= 17; digits++) {
        snprintf(text, sizeof text, "%.*g", digits, value);
        if (strtod(text, NULL) == value)
            break;
    }
    for (char *p = text; *p; p++)
        if (*p == ',') /* the decimal sign of some locales */
            *p = '.';
    return strcpy(buffer, text);
}
