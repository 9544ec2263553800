/* src/text/vector_text.h - word vectors as text: GloVe's files, fastText's .vec
 *
 * A line is "word v1 .. vd". It is split from the right, as some words hold blanks. A first line
 * of two whole numbers, "rows dimensions", is a header.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PXI_TEXT_VECTOR_TEXT_H
#define PXI_TEXT_VECTOR_TEXT_H

#include "text/word_table.h"

#include <plexor/error.h>
#include <stdbool.h>

typedef struct px_vectors { /* {0} is an empty one */
    px_word_table words;
    float *rows; /* [words][size] */
    size_t size;
    bool cut; /* there are more rows in the file */
} px_vectors;

/* At most `most` rows (0: all). Of a word that comes twice the first row counts; a row without a
 * word is left out. `name` is used in messages. */
px_status pxi_vectors_parse(const char *text, size_t bytes, const char *name, size_t most,
                            px_vectors *out, px_error *err);
void pxi_vectors_done(px_vectors *vectors);

#endif
