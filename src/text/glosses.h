/* src/text/glosses.h - attributes of words, and the sentences they make
 *
 * A file of glosses has a line per word or group of words, "red, crimson: color, warm color"; '#'
 * begins a remark. Its words and attributes are of letters, numbers and spaces. plexor's own table
 * comes first (gloss_table.c).
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PXI_TEXT_GLOSSES_H
#define PXI_TEXT_GLOSSES_H

#include "text/word_corpus.h"

#include <plexor/text.h>

typedef struct px_glosses px_glosses;

/* plexor's own and those of the file; NULL: no file. */
px_status pxi_glosses_open(const char *path, px_glosses **out, px_error *err);
/* Those of `text` alone; `name` is used in messages. */
px_status pxi_glosses_parse(const char *text, size_t size, const char *name, px_glosses **out,
                            px_error *err);
void pxi_glosses_free(px_glosses *glosses);

/* "W is A" for each word and attribute, and "V and W are both A" for each word and those that
 * follow it in the table with the same attribute, GLOSS_PARTNERS of them at most; none of an
 * attribute that only one word has. known_only: of
 * words that the corpus has already, so that dimensions are spent on those. */
px_status pxi_glosses_sentences(const px_glosses *glosses, bool known_only, px_corpus *corpus,
                                px_error *err);

/* Captions to begin with: colours with textures and shapes, those at positions, and objects in the
 * template with some of them. Adds them to `out`, each with a NUL behind it. */
void pxi_glosses_captions(const px_glosses *glosses, px_text *out, size_t *count);

#endif
