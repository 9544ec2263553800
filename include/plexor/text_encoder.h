/* include/plexor/text_encoder.h - texts as vectors, near each other where they mean the like
 *
 *     px_text_encoder_options options = px_text_encoder_options_default(); // "ppmi": trains itself
 *     options.captions = captions; options.caption_count = n;              // in well under a
 * second options.classes = class_names; options.class_count = 10; px_text_encoder_open(&options,
 * &encoder, &err); float *a = malloc(px_text_encoder_size(encoder) * sizeof *a), *b = ...;
 *     px_text_encoder_embed(encoder, "a photo of a cat with red regions", a, &facts, &err);
 *     px_text_encoder_embed(encoder, "a photo of a dog with orange regions", b, NULL, &err);
 *     sim = px_text_cosine(a, b, px_text_encoder_size(encoder));           // NaN: a zero vector
 *
 * What an encoder is made of is its *spec*:
 *
 *     ppmi                 words by what stands near them in the captions, in the class names' own
 *                          sentences and in glosses ("red is warm color"), PPMI and SVD
 *     glove-train          the same corpus, by GloVe's weighted least squares
 *     glove:FILE           a text file of vectors, "word v1 .. vd" per line; .vec files too
 *     fasttext:FILE        a .vec file, or a .bin file with its n-grams, for any word at all
 *     onnx:FILE            a text encoder as a network, with a tokeniser: CLIP, GPT-2, BERT ...
 *
 * The first four are bags of words: a text is the weighted mean of its words (smooth inverse
 * frequency, Arora, Liang, Ma, ICLR 2017), less what all texts have in common. Order does not
 * matter to them. The nearness of the default's words is what the gloss table says: names without a
 * gloss are all as far from each other.
 */
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
    int dimensions;      /* of ppmi and glove-train */
    int64_t most_words;  /* of a file of vectors: its first rows; 0: all */
    uint64_t seed;       /* which captions, where there are too many; where glove-train starts */
    /* of onnx */
    const char *tokenizer;  /* clip, gpt2, roberta, wordpiece; NULL: told from the files */
    const char *vocabulary; /* vocab.json or vocab.txt; NULL: the one beside the network */
    const char *merges;     /* merges.txt; NULL: the one beside the network */
    const char *output;     /* which output; NULL: by name and shape */
    bool cased;             /* wordpiece: leave capitals and accents as they are */
    int64_t length;         /* most tokens, with the special ones; 0: the network's, else the kind's
                               (clip 77, wordpiece and roberta 512, gpt2 1,024) */
} px_text_encoder_options;
PX_API px_text_encoder_options px_text_encoder_options_default(void);

/* On PX_OK the caller owns *out. All texts of the options are copied or used up. An encoder belongs
 * to one thread; the same options and files give the same vectors. */
PX_API px_status px_text_encoder_open(const px_text_encoder_options *options, px_text_encoder **out,
                                      px_error *err);
PX_API void px_text_encoder_free(px_text_encoder *encoder); /* NULL is fine */

PX_API size_t px_text_encoder_size(const px_text_encoder *encoder); /* numbers in a vector */

/* "ppmi: 64 dimensions, 431 words of 5,210 sentences, pool sif". */
PX_API const char *px_text_encoder_describe(const px_text_encoder *encoder);

/* Says which vectors these are: kind, settings, and hashes of files and texts. Similarities and
 * thresholds of one id mean nothing under another. */
PX_API uint64_t px_text_encoder_id(const px_text_encoder *encoder);

typedef struct px_text_facts {
    int64_t tokens;  /* words, or tokens of a network without the special ones */
    int64_t unknown; /* of them: not in the vocabulary. Words of ppmi and glove-train get a vector
                        by a hash of their letters, of fastText .bin by their n-grams, of other
                        files that of <unk> or the mean of the rarest rows */
    int64_t dropped; /* did not fit into the length and were left out, at the end; not in tokens */
} px_text_facts;

/* `vector` has room for px_text_encoder_size() numbers; it is not scaled to length one. `facts` may
 * be NULL. A text without words gives zeros. PX_E_INPUT: not UTF-8, or numbers that are not finite
 * come out. PX_E_MISMATCH: not one word is in the vocabulary, and all unknown words are the same to
 * the encoder (glove, fasttext without n-grams, onnx). */
PX_API px_status px_text_encoder_embed(px_text_encoder *encoder, const char *text, float *vector,
                                       px_text_facts *facts, px_error *err);

/* In double. NaN where one of them is all zeros: whoever compares knows what that means. */
PX_API double px_text_cosine(const float *a, const float *b, size_t size);

/* A class name in words: up to the first comma, underscores to spaces, lower case ("Egyptian_cat,
 * Felis" gives "egyptian cat"). The caller frees it; NULL: out of memory. */
PX_API char *px_class_words(const char *name);

PX_END_DECLS
#endif
