/* src/text/tokenizer_wordpiece.c - WordPiece, as BERT has it
 *
 * Devlin, Chang, Lee, Toutanova, BERT, NAACL 2019, and the tokenizer of its code: control
 * characters dropped, CJK characters apart, lower case without accents for uncased models,
 * punctuation apart; then the longest entry from the left, and of what is left again with ## before
 * it. A word that does not come out whole is [UNK].
 */
/* SPDX-License-Identifier: Apache-2.0 */
#include "base/utf8.h"
#include "text/tokenizer.h"
#include "text/unicode_class.h"

#include <string.h>

enum { WORD_CHARS_MOST = 200 };

static bool is_cjk(uint32_t c)
{
    return (c >= 0x4E00 && c <= 0x9FFF) || (c >= 0x3400 && c <= 0x4DBF) ||
           (c >= 0x20000 && c <= 0x2A6DF) || (c >= 0x2A700 && c <= 0x2B73F) ||
           (c >= 0x2B740 && c <= 0x2B81F) || (c >= 0x2B820 && c <= 0x2CEAF) ||
           (c >= 0xF900 && c <= 0xFAFF) || (c >= 0x2F800 && c <= 0x2FA1F);
}

static bool is_punctuation(uint32_t c)
{
    if ((c >= 33 && c <= 47) || (c >= 58 && c <= 64) || (c >= 91 && c <= 96) ||
        (c >= 123 && c <= 126))
        return true;
    return pxi_char_class_of(c) == PXI_CHAR_PUNCTUATION;
}

static bool is_dropped(uint32_t c)
{
    if (c == 0 || c == 0xFFFD)
        return true;
    return c != '\t' && c != '\n' && c != '\r' && pxi_char_class_of(c) == PXI_CHAR_OTHER;
}

/* Puts a character of a word, or what is left of it, by itself where it is punctuation. */
static void clean_put(px_text *out, uint32_t code)
{
    const bool apart = is_punctuation(code) || is_cjk(code);
    if (apart)
        px_text_add_bytes(out, " ", 1);
    pxi_char_put(out, code);
    if (apart)
        px_text_add_bytes(out, " ", 1);
}

/* Words with one or more blanks between them. */
static void wordpiece_clean(const char *text, size_t size, bool cased, px_text *out)
{
    for (const char *p = text, *end = text + size; p < end;) {
        const uint32_t code = pxi_utf8_next(&p, (size_t)(end - p));
        uint32_t bare[3];
        if (is_dropped(code))
            continue;
        if (pxi_char_is_space(code)) {
            px_text_add_bytes(out, " ", 1);
            continue;
        }
        if (cased) {
            clean_put(out, code);
            continue;
        }
        if (is_cjk(code)) /* by itself even where it decomposes to one that is elsewhere */
            px_text_add_bytes(out, " ", 1);
        const int count = pxi_char_bare(pxi_char_lower(code), bare);
        for (int i = 0; i < count; i++)
            clean_put(out, bare[i]);
        if (is_cjk(code))
            px_text_add_bytes(out, " ", 1);
    }
}

static size_t count_chars(const char *word, size_t length)
{
    size_t count = 0;
    for (size_t i = 0; i < length; i++)
        count += ((unsigned char)word[i] & 0xc0) != 0x80;
    return count;
}

/* The longest entry that begins the rest of the word; 0: there is none. */
static size_t longest_match(const px_vocabulary *v, const char *word, size_t at, size_t length,
                            int32_t *id)
{
    char piece[4 * WORD_CHARS_MOST + 4] = "##";
    const size_t mark = at ? 2 : 0;
    memcpy(piece + mark, word + at, length - at);
    for (size_t take = length - at; take > 0; take--) {
        if (at + take < length && ((unsigned char)word[at + take] & 0xc0) == 0x80)
            continue; /* in the middle of a character */
        *id = pxi_vocabulary_find(v, piece, mark + take);
        if (*id >= 0)
            return take;
    }
    return 0;
}

static bool wordpiece_word(const px_vocabulary *v, int64_t unknown, const char *word, size_t length,
                           px_token_ids *ids)
{
    const size_t before = ids->count;
    size_t at = 0;
    while (at < length && count_chars(word, length) <= WORD_CHARS_MOST) {
        int32_t id = -1;
        const size_t take = longest_match(v, word, at, length, &id);
        if (!take)
            break;
        if (!pxi_ids_add(ids, id))
            return false;
        at += take;
    }
    if (at == length)
        return true;
    ids->count = before;
    ids->unknown++;
    return pxi_ids_add(ids, unknown);
}

bool pxi_wordpiece_encode(const px_vocabulary *vocabulary, bool cased, int64_t unknown,
                          const char *text, size_t size, px_token_ids *ids)
{
    px_text clean = {0};
    wordpiece_clean(text, size, cased, &clean);
    bool fits = !clean.failed;
    const char *p = px_text_get(&clean), *end = p + clean.length;
    while (fits && p < end) {
        const char *blank = memchr(p, ' ', (size_t)(end - p));
        const char *stop = blank ? blank : end;
        if (stop > p)
            fits = wordpiece_word(vocabulary, unknown, p, (size_t)(stop - p), ids);
        p = stop < end ? stop + 1 : end;
    }
    px_text_done(&clean);
    return fits;
}
