/* src/text/word_split.h - the words of a text
 *
 *     px_word_reader r = pxi_word_reader(text, size);
 *     while (pxi_word_next(&r))
 *         ... px_text_get(&r.word), as written, and px_text_get(&r.lower) ...
 *     if (px_text_failed(&r.word) || px_text_failed(&r.lower)) ... out of memory ...
 *     pxi_word_reader_done(&r);
 *
 * A word is a run of letters, numbers and marks; an apostrophe or a hyphen between two of them
 * belongs to it ("eye-like" is one word). Everything else separates.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PXI_TEXT_WORD_SPLIT_H
#define PXI_TEXT_WORD_SPLIT_H

#include <plexor/text.h>

typedef struct px_word_reader {
    const char *p, *end;
    px_text word, lower;
} px_word_reader;

px_word_reader pxi_word_reader(const char *text, size_t size); /* the text is UTF-8 */
bool pxi_word_next(px_word_reader *reader);                    /* false: none left, or no memory */
void pxi_word_reader_done(px_word_reader *reader);

#endif
