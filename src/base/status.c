/* src/base/status.c - names of statuses, and how error messages are made */
/* SPDX-License-Identifier: Apache-2.0 */
#include <plexor/error.h>

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

px_status px_fail(px_error *err, px_status status, const char *format, ...)
{
    if (err) {
        va_list args;
        va_start(args, format);
        err->status = status;
        vsnprintf(err->message, sizeof err->message, format, args);
        va_end(args);
    }
    return status;
}

/* As much of the text as there is room for. */
static void message_append(px_error *err, const char *text)
{
    const size_t used = strlen(err->message);
    const size_t count = strnlen(text, sizeof err->message - 1 - used);
    memcpy(err->message + used, text, count);
    err->message[used + count] = '\0';
}

px_status px_fail_in(px_error *err, px_status status, const char *format, ...)
{
    if (err) {
        char inner[sizeof err->message];
        memcpy(inner, err->message, sizeof inner);
        va_list args;
        va_start(args, format);
        vsnprintf(err->message, sizeof err->message, format, args);
        va_end(args);
        err->status = status;
        message_append(err, ": ");
        message_append(err, inner);
    }
    return status;
}

const char *px_status_name(px_status status)
{
    switch (status) {
#define STATUS_NAME(name, number, text) \
    case name:                          \
        return #name;
        PX_STATUSES(STATUS_NAME)
#undef STATUS_NAME
    }
    return "?";
}

const char *px_status_text(px_status status)
{
    switch (status) {
#define STATUS_TEXT(name, number, text) \
    case name:                          \
        return text;
        PX_STATUSES(STATUS_TEXT)
#undef STATUS_TEXT
    }
    return "unknown status";
}
