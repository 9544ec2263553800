/* src/semantics/fasttext.h - fastText's .bin models: word vectors with character n-grams
 *
 * Bojanowski, Grave, Joulin, Mikolov, Enriching Word Vectors with Subword Information, TACL 5,
 * 2017. The matrix stays where it lies in the file.
 */
#ifndef PXI_SEMANTICS_FASTTEXT_H
#define PXI_SEMANTICS_FASTTEXT_H

#include "semantics/word_table.h"

#include <plexor/error.h>
#include <stdbool.h>

typedef struct px_fasttext { /* {0} is an empty one */
    px_word_table words;
    int64_t *counts;
    int64_t tokens; /* of the corpus it was trained on */
    size_t size;    /* numbers in a vector */
    uint32_t bucket, minn, maxn;
    const char *matrix; /* [words + bucket][size], little-endian float32, not aligned; borrowed */
} px_fasttext;

px_status pxi_fasttext_parse(const char *bytes, size_t size, const char *name, px_fasttext *out,
                             px_error *err);
void pxi_fasttext_done(px_fasttext *model);

/* 32-bit FNV-1a, but with each byte sign-extended, as fastText has it. */
uint32_t pxi_fasttext_hash(const char *bytes, size_t length);

/* Calls `visit` for the n-grams of "<word>" of minn to maxn UTF-8 characters; `marked` is the word
 * with its marks. */
typedef void (*pxi_ngram_fn)(void *context, const char *ngram, size_t length);
void pxi_fasttext_ngrams(const char *marked, size_t length, uint32_t minn, uint32_t maxn,
                         pxi_ngram_fn visit, void *context);

/* Adds `share` times the mean of the word's row (index -1: it has none) and its n-grams' rows. */
void pxi_fasttext_add(const px_fasttext *model, int32_t index, const char *word, size_t length,
                      double share, double *sum);

#endif
