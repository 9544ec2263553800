/* src/cli/cli_safe.c - text of strangers on a terminal */
/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/cli_safe.h"

#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>
#include <unistd.h>

/* Bytes of the character at `s`; 0: it is none; more than `left`: its end is not there yet. */
static size_t character_length(const unsigned char *s, size_t left)
{
    const size_t length = s[0] < 0x80 ? 1 : s[0] < 0xe0 ? 2 : s[0] < 0xf0 ? 3 : 4;
    if ((s[0] >= 0x80 && s[0] < 0xc2) || s[0] > 0xf4)
        return 0;
    for (size_t i = 1; i < length && i < left; i++)
        if ((s[i] & 0xc0) != 0x80)
            return 0;
    if (left > 1 && length > 2) { /* overlong, surrogates, beyond the last */
        const unsigned first = (unsigned)s[0] << 8 | s[1];
        if ((first >= 0xe080 && first < 0xe0a0) || (first >= 0xeda0 && first < 0xedc0) ||
            (first >= 0xf080 && first < 0xf090) || first >= 0xf490)
            return 0;
    }
    return length;
}

/* C0, DEL, and C1, which terminals obey as well. */
static bool is_control(const unsigned char *s, size_t length)
{
    return length == 1 ? s[0] < 0x20 || s[0] == 0x7f : length == 2 && s[0] == 0xc2 && s[1] < 0xa0;
}

static size_t put_hex(char *out, const unsigned char *s, size_t count)
{
    static const char digits[] = "0123456789abcdef";
    for (size_t i = 0; i < count; i++) {
        *out++ = '\\';
        *out++ = 'x';
        *out++ = digits[s[i] >> 4];
        *out++ = digits[s[i] & 15];
    }
    return 4 * count;
}

/* Takes one character, or one byte that is none, from `s` and writes it to `out`, which has room
 * for 16 bytes; 0: its end is not there yet. */
static size_t safe_step(const unsigned char *s, size_t left, char *out, size_t *put)
{
    size_t length = character_length(s, left);
    if (length > left)
        return 0;
    const bool kept = length == 1 && (*s == '\n' || *s == '\t');
    if (length == 0 || (is_control(s, length) && !kept)) {
        length = length ? length : 1;
        *put = put_hex(out, s, length);
    } else {
        memcpy(out, s, length);
        *put = length;
    }
    return length;
}

void cli_safe_text(FILE *to, const char *text)
{
    const unsigned char *s = (const unsigned char *)text;
    for (size_t left = strlen(text); left > 0;) {
        char out[16];
        size_t put = 0;
        size_t taken = safe_step(s, left, out, &put);
        if (taken == 0) { /* the text ends in the middle of a character */
            put = put_hex(out, s, 1);
            taken = 1;
        }
        fwrite(out, 1, put, to);
        s += taken;
        left -= taken;
    }
}

/* --- a stream of it -------------------------------------------------------------------------- */

static bool write_all(const cli_safe *stream, const char *bytes, size_t size)
{
    if (stream->text) {
        px_text_add_bytes(stream->text, bytes, size);
        return !px_text_failed(stream->text);
    }
    while (size > 0) {
        const ssize_t put = write(STDOUT_FILENO, bytes, size);
        if (put < 0 && errno == EINTR)
            continue;
        if (put <= 0)
            return false;
        bytes += put;
        size -= (size_t)put;
    }
    return true;
}

static ssize_t safe_write(void *cookie, const char *bytes, size_t size)
{
    cli_safe *stream = cookie;
    char out[4096];
    size_t used = 0;
    unsigned char joined[2 * CLI_SAFE_CHARACTER];
    const unsigned char *s = (const unsigned char *)bytes;
    size_t left = size;
    while (stream->held_count > 0 && left > 0) { /* a character that came in two pieces */
        size_t put = 0;
        memcpy(joined, stream->held, stream->held_count);
        joined[stream->held_count] = *s++;
        left--;
        const size_t taken = safe_step(joined, ++stream->held_count, out + used, &put);
        if (taken == 0) {
            stream->held[stream->held_count - 1] = joined[stream->held_count - 1];
            continue;
        }
        used += put;
        stream->held_count -= taken;
        memmove(stream->held, joined + taken, stream->held_count);
        if (stream->held_count > 0) { /* bytes behind one that was none: look at them anew */
            s -= stream->held_count;
            left += stream->held_count;
            stream->held_count = 0;
        }
    }
    while (left > 0) {
        size_t put = 0;
        if (used + 16 > sizeof out) {
            if (!write_all(stream, out, used))
                return 0;
            used = 0;
        }
        const size_t taken = safe_step(s, left, out + used, &put);
        if (taken == 0) {
            memcpy(stream->held, s, left);
            stream->held_count = left;
            break;
        }
        used += put;
        s += taken;
        left -= taken;
    }
    return write_all(stream, out, used) ? (ssize_t)size : 0;
}

FILE *cli_safe_open(cli_safe *stream, px_text *text)
{
    const cookie_io_functions_t calls = {.write = safe_write};
    stream->held_count = 0;
    stream->text = text;
    FILE *safe = fopencookie(stream, "w", calls);
    if (safe)
        setvbuf(safe, stream->buffer, !text && isatty(STDOUT_FILENO) ? _IOLBF : _IOFBF,
                sizeof stream->buffer);
    return safe;
}
