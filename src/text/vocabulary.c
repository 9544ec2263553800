/* src/text/vocabulary.c - captions as numbers of words, and back */
/* SPDX-License-Identifier: Apache-2.0 */
#include "text/vocabulary.h"

#include "base/ascending.h"
#include "base/memory.h"
#include "base/utf8.h"

#include <plexor/text.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

static bool is_space(char c)
{
    return (unsigned char)c <= ' ' || c == 0x7f || c == '"';
}

static bool is_mark(char c)
{
    return c && strchr(".,;:!?()", c);
}

/* Letters, digits, and all bytes of characters beyond ASCII. */
static bool is_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           (unsigned char)c >= 0x80;
}

/* Whether byte i of the text is punctuation that stands alone. */
static bool stands_alone(const char *text, size_t i)
{
    return is_mark(text[i]) && !(i > 0 && is_letter(text[i - 1]) && is_letter(text[i + 1]) &&
                                 text[i] != '(' && text[i] != ')');
}

px_status pxi_tokens_init(const char *text, pxi_tokens *out, px_error *err)
{
    const size_t size = strlen(text);
    for (size_t i = 0, n; i < size; i += n)
        if ((n = pxi_utf8_length(text + i, size - i)) == 0)
            return px_fail(err, PX_E_INPUT, "the text '%.100s' is not UTF-8 at byte %zu", text, i);
    pxi_tokens tokens = {.bytes = pxi_calloc(size + 1, 2),
                         .at = pxi_calloc(size + 1, sizeof *tokens.at)};
    if (!tokens.bytes || !tokens.at) {
        pxi_tokens_done(&tokens);
        return pxi_no_memory(err);
    }
    char *to = tokens.bytes; /* every word has at least one byte, and a NUL */
    for (size_t i = 0; i < size;) {
        if (is_space(text[i])) {
            i++;
            continue;
        }
        tokens.at[tokens.count++] = to;
        const bool alone = stands_alone(text, i);
        do {
            const char c = text[i++];
            *to++ = c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
        } while (!alone && i < size && !is_space(text[i]) && !stands_alone(text, i));
        *to++ = '\0';
    }
    *out = tokens;
    return PX_OK;
}

void pxi_tokens_done(pxi_tokens *tokens)
{
    free(tokens->bytes);
    free(tokens->at);
    *tokens = (pxi_tokens){0};
}

/* --- the vocabulary -------------------------------------------------------------------------- */

typedef struct counted_word {
    const char *word;
    size_t count;
} counted_word;

static int by_count(const void *a, const void *b)
{
    const counted_word *x = a, *y = b;
    return x->count != y->count ? (x->count < y->count) - (x->count > y->count)
                                : strcmp(x->word, y->word);
}

static int by_word(const void *a, const void *b, void *words)
{
    const char *const *of = words;
    return strcmp(of[*(const uint32_t *)a], of[*(const uint32_t *)b]);
}

/* Copies the words and sorts their numbers. */
static px_status vocabulary_fill(const counted_word *words, size_t count, pxi_wordlist *out,
                                 px_error *err)
{
    if (count > PXI_WORDLIST_MOST)
        return px_fail(err, PX_E_UNSUPPORTED, "%zu words are more than the %d there may be", count,
                       (int)PXI_WORDLIST_MOST);
    size_t size = 0;
    for (size_t i = 0; i < count; i++)
        size += strlen(words[i].word) + 1;
    pxi_wordlist v = {.count = count,
                      .bytes = pxi_calloc(size + 1, 1),
                      .words = pxi_calloc(count + 1, sizeof *v.words),
                      .sorted = pxi_calloc(count + 1, sizeof *v.sorted)};
    if (!v.bytes || !v.words || !v.sorted) {
        pxi_wordlist_done(&v);
        return pxi_no_memory(err);
    }
    char *to = v.bytes;
    for (size_t i = 0; i < count; i++) {
        v.words[i] = to;
        v.sorted[i] = (uint32_t)i;
        to = stpcpy(to, words[i].word) + 1;
    }
    qsort_r(v.sorted, count, sizeof *v.sorted, by_word, v.words);
    *out = v;
    return PX_OK;
}

px_status pxi_wordlist_init(const pxi_tokens *texts, size_t count, pxi_wordlist *out, px_error *err)
{
    size_t all = 0, distinct = 0;
    for (size_t i = 0; i < count; i++)
        all += texts[i].count;
    const char **every = pxi_calloc(all + 1, sizeof *every);
    counted_word *words = pxi_calloc(all + 1, sizeof *words);
    px_status status = PX_OK;
    if (!every || !words) {
        status = pxi_no_memory(err);
        goto done;
    }
    for (size_t i = 0, n = 0; i < count; n += texts[i++].count)
        if (texts[i].count)
            memcpy(every + n, texts[i].at, texts[i].count * sizeof *every);
    qsort(every, all, sizeof *every, pxi_order_text);
    for (size_t i = 0; i < all; i++) {
        if (i == 0 || strcmp(every[i], every[i - 1]) != 0)
            words[distinct++].word = every[i];
        words[distinct - 1].count++;
    }
    qsort(words, distinct, sizeof *words, by_count);
    status = vocabulary_fill(words, distinct, out, err);
done:
    free(every);
    free(words);
    return status;
}

/* Whether captions can have this word. */
static px_status vocabulary_check(const char *word, px_error *err)
{
    pxi_tokens tokens = {0};
    PX_TRY(pxi_tokens_init(word, &tokens, err));
    const bool good = tokens.count == 1 && strcmp(tokens.at[0], word) == 0;
    pxi_tokens_done(&tokens);
    return good ? PX_OK : px_fail(err, PX_E_INPUT, "'%.100s' is not one word", word);
}

px_status pxi_wordlist_read(const char *bytes, size_t size, pxi_wordlist *out, px_error *err)
{
    size_t count = 0, n = 0;
    for (size_t i = 0; i < size; i++)
        count += bytes[i] == '\n';
    if (size == 0 || bytes[size - 1] != '\n' || memchr(bytes, '\0', size))
        return px_fail(err, PX_E_INPUT, "the words do not end with a line");
    if (count > PXI_WORDLIST_MOST)
        return px_fail(err, PX_E_INPUT, "%zu words are more than the %d there may be", count,
                       (int)PXI_WORDLIST_MOST);
    pxi_wordlist v = {0};
    char *copy = pxi_calloc(size, 1);
    counted_word *words = pxi_calloc(count, sizeof *words);
    px_status status = PX_OK;
    if (!copy || !words) {
        status = pxi_no_memory(err);
        goto done;
    }
    memcpy(copy, bytes, size);
    for (char *word = copy, *end; n < count; word = end + 1) {
        end = memchr(word, '\n', size - (size_t)(word - copy));
        *end = '\0';
        words[n++].word = word;
        status = vocabulary_check(word, err);
        if (status != PX_OK)
            goto done;
    }
    status = vocabulary_fill(words, count, &v, err);
    for (size_t i = 1; i < count && status == PX_OK; i++)
        if (strcmp(v.words[v.sorted[i - 1]], v.words[v.sorted[i]]) == 0)
            status =
                px_fail(err, PX_E_INPUT, "the word '%.100s' is there twice", v.words[v.sorted[i]]);
    if (status == PX_OK)
        *out = v;
    else
        pxi_wordlist_done(&v);
done:
    free(copy);
    free(words);
    return status;
}

void pxi_wordlist_done(pxi_wordlist *v)
{
    free(v->bytes);
    free(v->words);
    free(v->sorted);
    *v = (pxi_wordlist){0};
}

int32_t pxi_wordlist_find(const pxi_wordlist *v, const char *word)
{
    size_t low = 0, high = v->count;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        const int order = strcmp(word, v->words[v->sorted[middle]]);
        if (order == 0)
            return (int32_t)v->sorted[middle];
        if (order < 0)
            high = middle;
        else
            low = middle + 1;
    }
    return pxi_wordlist_special(v, PXI_WORD_UNKNOWN);
}

char *pxi_wordlist_text(const pxi_wordlist *v, const int32_t *words, size_t count)
{
    px_text text = {0};
    px_text_add(&text, "");
    bool glued = true; /* no space before what comes */
    for (size_t i = 0; i < count && words[i] != pxi_wordlist_special(v, PXI_WORD_STOP); i++) {
        if (words[i] < 0 || (size_t)words[i] >= v->count)
            continue;
        const char *word = v->words[words[i]];
        const bool mark = is_mark(word[0]) && word[1] == '\0';
        if (!glued && !(mark && word[0] != '('))
            px_text_add(&text, " ");
        px_text_add(&text, word);
        glued = mark && word[0] == '(';
    }
    return px_text_take(&text);
}
