/* include/plexor/text_encoder.h - texts as vectors, near each other where they mean the like
 *
 * What an encoder is made of is its *spec*:
 *
 *     ppmi                 words by what stands near them in the captions, in the class names' own
 *                          sentences and in glosses ("red is warm color"), PPMI and SVD
 *     glove:FILE           a text file of vectors, "word v1 .. vd" per line; .vec files too
 *     fasttext:FILE        the same for fastText's .vec files
 *     onnx:FILE            a text encoder as a network, with a tokeniser: CLIP, GPT-2, BERT ...
 *
 * All but the last are bags of words: a text is the weighted mean of its words (smooth inverse
 * frequency, Arora, Liang, Ma, ICLR 2017), less what all texts have in common. Order does not
 * matter to them. The nearness of the default's words is what the gloss table says: names without a
 * gloss are all as far from each other.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PLEXOR_TEXT_ENCODER_H
#define PLEXOR_TEXT_ENCODER_H

#include <plexor/error.h>
#include <stdbool.h>
#include <stdint.h>

PX_BEGIN_DECLS

typedef struct px_text_encoder px_text_encoder;

typedef struct px_text_encoder_options {
    const char *spec; /* see above; NULL: ppmi */
    /* The texts that are to come are made of these; may be none. Encoders that train learn from
     * them, the other word encoders learn from them what all texts have in common, and where not
     * one of their words is in a file of vectors the file is refused. */
    const char *const *captions;
    size_t caption_count;
    const char *const *classes; /* names as they stand in files: see px_class_words() */
    size_t class_count;
    const char *glosses; /* a file of more glosses, "word: attribute, attribute" per line; NULL */
    const char *pool;    /* words: sif (NULL) or mean. onnx: eot, mean, cls or last; NULL: eot for
                            clip, else mean. What the network pools itself is taken as it is */
    int dimensions;      /* of ppmi */
    int64_t most_words;  /* of a file of vectors: its first rows; 0: all */
    uint64_t seed;       /* which captions, where there are too many */
    /* of onnx */
    const char *tokenizer;  /* clip, gpt2, roberta, wordpiece; NULL: told from the files */
    const char *vocabulary; /* vocab.json or vocab.txt; NULL: the one beside the network */
    const char *merges;     /* merges.txt; NULL: the one beside the network */
    const char *output;     /* which output; NULL: by name and shape */
    bool cased;             /* wordpiece: leave capitals and accents as they are */
    int64_t length;         /* most tokens, with the special ones; 0: the network's, else the kind's
                               (clip 77, wordpiece and roberta 512, gpt2 1,024) */
} px_text_encoder_options;

typedef struct px_text_facts {
    int64_t tokens;  /* words, or tokens of a network without the special ones */
    int64_t unknown; /* of them: not in the vocabulary. Words of ppmi get a vector
                        by a hash of their letters, of fastText .bin by their n-grams, of other
                        files that of <unk> or the mean of the rarest rows */
    int64_t dropped; /* did not fit into the length and were left out, at the end; not in tokens */
} px_text_facts;

PX_END_DECLS
#endif
