/* src/text/unicode_class.c - letters, numbers, marks, lower case: what tokenisers ask */
/* SPDX-License-Identifier: Apache-2.0 */
#include "text/unicode_class.h"

#include "base/memory.h"
#include "base/utf8.h"
#include "text/unicode_table.h"

enum { TEXT_MOST_BYTES = 1 << 24 };

pxi_char_class pxi_char_class_of(uint32_t code)
{
    size_t low = 0, high = PX_LEN(unicode_runs); /* the last run that begins at or before code */
    while (high - low > 1) {
        const size_t middle = (low + high) / 2;
        if (unicode_runs[middle] >> 3 <= code)
            low = middle;
        else
            high = middle;
    }
    return (pxi_char_class)(unicode_runs[low] & 7);
}

bool pxi_char_is_space(uint32_t code)
{
    if (code < 0x80)
        return code == ' ' || (code >= '\t' && code <= '\r');
    return code == 0x85 || pxi_char_class_of(code) == PXI_CHAR_SPACE;
}

uint32_t pxi_char_lower(uint32_t code)
{
    if (code < 0x80)
        return code >= 'A' && code <= 'Z' ? code + 32 : code;
    if (code ==
        0x130) /* I with a dot: an i with a combining dot, which is left to those who care */
        return 'i';
    for (size_t i = 0; i < PX_LEN(unicode_lower) && unicode_lower[i].first <= code; i++) {
        const uint32_t past = code - unicode_lower[i].first;
        if (past % unicode_lower[i].step == 0 &&
            past / unicode_lower[i].step < unicode_lower[i].count)
            return (uint32_t)((int32_t)code + unicode_lower[i].add);
    }
    return code;
}

/* Hangul syllables decompose by arithmetic (Unicode, 3.12). */
static int hangul_bare(uint32_t code, uint32_t out[3])
{
    const uint32_t s = code - 0xAC00, tail = s % 28;
    out[0] = 0x1100 + s / 588;
    out[1] = 0x1161 + s % 588 / 28;
    out[2] = 0x11A7 + tail;
    return tail ? 3 : 2;
}

int pxi_char_bare(uint32_t code, uint32_t out[3])
{
    out[0] = code;
    if (code < 0xC0)
        return 1;
    if (code >= 0xAC00 && code < 0xD7A4)
        return hangul_bare(code, out);
    size_t low = 0, high = PX_LEN(unicode_bare);
    while (low < high) {
        const size_t middle = (low + high) / 2;
        if (unicode_bare[middle][0] < code)
            low = middle + 1;
        else
            high = middle;
    }
    if (low < PX_LEN(unicode_bare) && unicode_bare[low][0] == code) {
        out[0] = unicode_bare[low][1];
        return 1;
    }
    for (size_t i = 0; i < PX_LEN(unicode_bare_many); i++)
        if (unicode_bare_many[i][0] == code) {
            int count = 0;
            while (count < 3 && unicode_bare_many[i][count + 1]) {
                out[count] = unicode_bare_many[i][count + 1];
                count++;
            }
            return count;
        }
    return pxi_char_class_of(code) == PXI_CHAR_MARK ? 0 : 1;
}

void pxi_char_put(px_text *text, uint32_t code)
{
    char bytes[4];
    px_text_add_bytes(text, bytes, pxi_utf8_put(code, bytes));
}

px_status pxi_text_check(const char *text, size_t size, px_error *err)
{
    if (size > TEXT_MOST_BYTES)
        return px_fail(err, PX_E_INPUT, "a text of %zu bytes; at most %d are read", size,
                       TEXT_MOST_BYTES);
    for (size_t at = 0; at < size;) {
        const size_t length = pxi_utf8_length(text + at, size - at);
        if (!length)
            return px_fail(err, PX_E_INPUT, "the text is not UTF-8 at byte %zu; convert it first",
                           at);
        at += length;
    }
    return PX_OK;
}
