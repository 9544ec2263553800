/* src/text/encoder.h - what a text encoder is made of inside
 *
 * A kind has one maker, which fills in the base: functions, size, a description, and the parts of
 * the id. Word encoders share encoder_words.c and bring a *source* of word vectors only.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PXI_TEXT_ENCODER_H
#define PXI_TEXT_ENCODER_H

#include "text/word_corpus.h"

#include <plexor/text.h>

struct px_text_encoder {
    size_t size;
    uint64_t id;
    px_text about;    /* px_text_encoder_describe() */
    bool needs_words; /* all unknown words are the same to it: refuses texts of nothing else */
    /* The text is UTF-8; *facts is zeros beforehand; `vector` of `size` numbers. */
    px_status (*embed)(void *state, const char *text, size_t bytes, float *vector,
                       px_text_facts *facts, px_error *err);
    void (*free)(void *state);
    void *state;
};

/* `path` is what follows the colon of the spec; NULL where there is none. */
typedef px_status (*pxi_encoder_maker)(const px_text_encoder_options *options, const char *path,
                                       px_text_encoder *out, px_error *err);

px_status pxi_encoder_ppmi(const px_text_encoder_options *options, const char *path,
                           px_text_encoder *out, px_error *err);
px_status pxi_encoder_vectors(const px_text_encoder_options *options, const char *path,
                              px_text_encoder *out, px_error *err);
px_status pxi_encoder_onnx(const px_text_encoder_options *options, const char *path,
                           px_text_encoder *out, px_error *err);

/* --- word encoders (encoder_words.c) --------------------------------------------------------- */

typedef struct pxi_word_source {
    const void *self;
    size_t size;
    bool cased; /* words are looked up as written first, then in lower case */
    int32_t (*find)(const void *self, const char *word, size_t length); /* -1: unknown */
    /* Adds `share` times the vector; index -1: by the rule for unknown words. */
    void (*add)(const void *self, int32_t index, const char *word, size_t length, double share,
                double *sum);
    double (*probability)(const void *self, int32_t index); /* -1: of an unknown word */
} pxi_word_source;

enum { PXI_WORD_SIZE_MOST = 1024 }; /* dimensions of word vectors */

/* s = (1/n) sum a / (a + p(w)) v_w over the words (SIF, a = 1e-3), or their mean; in double. */
px_status pxi_words_pool(const pxi_word_source *source, bool sif, const char *text, size_t bytes,
                         double *sum, px_text_facts *facts, px_error *err);

/* The first principal direction of the corpus' texts, pooled by SIF, without centring: [size]. */
px_status pxi_words_direction(const pxi_word_source *source, const px_corpus *corpus,
                              double *direction, px_error *err);

/* Makes *out an encoder over `source`, whose self it takes over (in any case: it is freed by
 * free_self, after a failure too). The corpus gives the direction that is taken off; NULL with
 * pool=mean. out->id and out->about have been begun by the caller and are finished here. */
px_status pxi_words_encoder(const px_text_encoder_options *options, const pxi_word_source *source,
                            void (*free_self)(void *self), const px_corpus *corpus,
                            px_text_encoder *out, px_error *err);

/* --- ids ------------------------------------------------------------------------------------- */

uint64_t pxi_id_mix(uint64_t id, const void *bytes, size_t size);
uint64_t pxi_id_corpus(uint64_t id, const px_corpus *corpus);

#endif
