/* src/text/word_split.c - the words of a text */
/* SPDX-License-Identifier: Apache-2.0 */
#include "text/word_split.h"
#include "base/utf8.h"

#include "text/unicode_class.h"

static bool word_char(uint32_t code)
{
    if (code < 0x80)
        return (code >= 'a' && code <= 'z') || (code >= 'A' && code <= 'Z') ||
               (code >= '0' && code <= '9');
    const pxi_char_class class = pxi_char_class_of(code);
    return class == PXI_CHAR_LETTER || class == PXI_CHAR_NUMBER || class == PXI_CHAR_MARK;
}

px_word_reader pxi_word_reader(const char *text, size_t size)
{
    return (px_word_reader){.p = text, .end = text + size};
}

/* Whether an apostrophe or a hyphen stands at p with a word's character behind it. */
static bool word_joins(const char *p, const char *end)
{
    if (p + 1 >= end || (*p != '\'' && *p != '-'))
        return false;
    const char *next = p + 1;
    return word_char(pxi_utf8_next(&next, (size_t)(end - next)));
}

bool pxi_word_next(px_word_reader *r)
{
    px_text_clear(&r->word);
    px_text_clear(&r->lower);
    while (r->p < r->end) {
        const char *next = r->p;
        if (word_char(pxi_utf8_next(&next, (size_t)(r->end - next))))
            break;
        r->p = next;
    }
    while (r->p < r->end) {
        const char *next = r->p;
        const uint32_t code = pxi_utf8_next(&next, (size_t)(r->end - next));
        if (!word_char(code) && !word_joins(r->p, r->end))
            break;
        pxi_char_put(&r->word, code);
        pxi_char_put(&r->lower, pxi_char_lower(code));
        r->p = next;
    }
    return r->word.length > 0 && !r->word.failed && !r->lower.failed;
}

void pxi_word_reader_done(px_word_reader *r)
{
    px_text_done(&r->word);
    px_text_done(&r->lower);
}
