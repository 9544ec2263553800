/* src/text/word_corpus.h - sentences as numbers: what word vectors are learnt from
 *
 * Three parts. Captions, class names in the template's words, and glosses are *learnt*: words that
 * stand together there are near each other. *Texts*, whole decision paths made of a class and some
 * captions, are not learnt, since who stands beside whom is chance there; they say how frequent
 * words will be, and what all texts have in common. Glosses do not count as frequent.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PXI_TEXT_WORD_CORPUS_H
#define PXI_TEXT_WORD_CORPUS_H

#include "text/word_table.h"

#include <plexor/text_encoder.h>

typedef struct px_corpus { /* {0} is an empty one */
    px_word_table words;
    int64_t *counts; /* per word, without glosses */
    size_t count_cap;
    int64_t counted; /* their sum */
    int32_t *tokens;
    size_t token_count, token_cap;
    size_t *ends; /* of each sentence, among the tokens */
    size_t sentence_count, sentence_cap;
    size_t learnt; /* sentences; texts are behind them */
} px_corpus;

typedef enum pxi_sentence {
    PXI_SENTENCE_CAPTION,
    PXI_SENTENCE_GLOSS,
    PXI_SENTENCE_TEXT
} pxi_sentence;

/* Texts are added last. */
px_status pxi_corpus_add(px_corpus *corpus, const char *sentence, size_t size, pxi_sentence kind,
                         px_error *err);
void pxi_corpus_done(px_corpus *corpus);

/* All of it from the options: at most 20,000 captions, or stock captions where there are none, the
 * glosses of plexor and of the user, and 2,000 texts. Glosses are of all words where stock captions
 * are, else of the words of captions and class names. */
px_status pxi_corpus_build(const px_text_encoder_options *options, px_corpus *out, px_error *err);

/* A sentence's words. */
const int32_t *pxi_corpus_sentence(const px_corpus *corpus, size_t i, size_t *count);

#endif
