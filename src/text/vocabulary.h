/* src/text/vocabulary.h - captions as numbers of words, and back
 *
 * Words are what stands between white space, in lower case; . , ; : ! ? ( ) are words of their own
 * except between letters or digits ("3.5"), and quotation marks are white space. A vocabulary has
 * its words by frequency (ties: by bytes), then start, stop, pad and unknown, in this order.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PXI_TEXT_VOCABULARY_H
#define PXI_TEXT_VOCABULARY_H

#include <plexor/error.h>
#include <stdint.h>

typedef struct pxi_tokens { /* the words of one text; {0}: none */
    char *bytes;
    const char **at;
    size_t count;
} pxi_tokens;

/* PX_E_INPUT where the text is not UTF-8. */
px_status pxi_tokens_init(const char *text, pxi_tokens *out, px_error *err);
void pxi_tokens_done(pxi_tokens *tokens);

typedef struct pxi_wordlist {
    char *bytes;        /* all words, each with a NUL */
    const char **words; /* by number */
    uint32_t *sorted;   /* numbers, by the words' bytes */
    size_t count;       /* without the four special ones */
} pxi_wordlist;

enum { PXI_WORD_START, PXI_WORD_STOP, PXI_WORD_PAD, PXI_WORD_UNKNOWN, PXI_WORD_SPECIALS };

/* At most; numbers of words fit an int32_t with the special ones. */
enum { PXI_WORDLIST_MOST = 1 << 20 };

/* Of the words of all texts. */
px_status pxi_wordlist_init(const pxi_tokens *texts, size_t count, pxi_wordlist *out,
                            px_error *err);
/* Of a file: `bytes` are words with '\n' after each, in the order of their numbers. PX_E_INPUT for
 * words that no text has, and for one that is there twice. */
px_status pxi_wordlist_read(const char *bytes, size_t size, pxi_wordlist *out, px_error *err);
void pxi_wordlist_done(pxi_wordlist *vocabulary);

/* The number of a special word. */
static inline int32_t pxi_wordlist_special(const pxi_wordlist *vocabulary, int which)
{
    return (int32_t)(vocabulary->count + (size_t)which);
}

int32_t pxi_wordlist_find(const pxi_wordlist *vocabulary, const char *word); /* or unknown */

/* Joins with spaces, none before punctuation; ends before a stop, special words are left out. The
 * caller frees it; NULL when out of memory. */
char *pxi_wordlist_text(const pxi_wordlist *vocabulary, const int32_t *words, size_t count);

#endif
