/* src/text/word_table.h - words by number and numbers by word
 *
 *     px_word_table t = {0};
 *     index = pxi_words_add(&t, "red", 3);       // the same number every time; -1: out of memory
 *     index = pxi_words_find(&t, "red", 3);      // -1: not there
 *     pxi_words_get(&t, index);                  // "red"
 *     pxi_words_done(&t);
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PXI_TEXT_WORD_TABLE_H
#define PXI_TEXT_WORD_TABLE_H

#include <stddef.h>
#include <stdint.h>

typedef struct px_word_table { /* {0} is an empty one; words may hold any byte but NUL */
    char *bytes;               /* the words, each with a NUL behind it */
    size_t used, byte_cap;
    size_t *start; /* of word i in bytes */
    size_t count, start_cap;
    int32_t *slots; /* open addressing; -1: free */
    size_t slot_count;
} px_word_table;

enum { PXI_WORDS_MOST = 1 << 28 };

int32_t pxi_words_add(px_word_table *table, const char *word, size_t length);
int32_t pxi_words_find(const px_word_table *table, const char *word, size_t length);
const char *pxi_words_get(const px_word_table *table, size_t index);
void pxi_words_done(px_word_table *table);

uint64_t pxi_fnv1a(const char *bytes, size_t length); /* FNV-1a, 64 bits */

#endif
