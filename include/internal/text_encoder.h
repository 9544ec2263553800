/* include/internal/text_encoder.h - <plexor/text_encoder.h>, and the functions of it
 *
 *     px_text_encoder_options options = px_text_encoder_options_default(); // "ppmi": trains itself
 *     options.captions = captions; options.caption_count = n;              // in well under a
 * second options.classes = class_names; options.class_count = 10; px_text_encoder_open(&options,
 * &encoder, &err); float *a = malloc(px_text_encoder_size(encoder) * sizeof *a), *b = ...;
 *     px_text_encoder_embed(encoder, "a photo of a cat with red regions", a, &facts, &err);
 *     px_text_encoder_embed(encoder, "a photo of a dog with orange regions", b, NULL, &err);
 *     sim = px_text_cosine(a, b, px_text_encoder_size(encoder));           // NaN: a zero vector
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PXI_INTERNAL_TEXT_ENCODER_H
#define PXI_INTERNAL_TEXT_ENCODER_H

#include <plexor/text_encoder.h>

PX_BEGIN_DECLS

px_text_encoder_options px_text_encoder_options_default(void);

/* On PX_OK the caller owns *out. All texts of the options are copied or used up. An encoder belongs
 * to one thread; the same options and files give the same vectors. */
px_status px_text_encoder_open(const px_text_encoder_options *options, px_text_encoder **out,
                               px_error *err);

void px_text_encoder_free(px_text_encoder *encoder); /* NULL is fine */

size_t px_text_encoder_size(const px_text_encoder *encoder); /* numbers in a vector */

/* "ppmi: 64 dimensions, 431 words of 5,210 sentences, pool sif". */
const char *px_text_encoder_describe(const px_text_encoder *encoder);

/* Says which vectors these are: kind, settings, and hashes of files and texts. Similarities and
 * thresholds of one id mean nothing under another. */
uint64_t px_text_encoder_id(const px_text_encoder *encoder);

/* `vector` has room for px_text_encoder_size() numbers; it is not scaled to length one. `facts` may
 * be NULL. A text without words gives zeros. PX_E_INPUT: not UTF-8, or numbers that are not finite
 * come out. PX_E_MISMATCH: not one word is in the vocabulary, and all unknown words are the same to
 * the encoder (glove, fasttext, onnx). */
px_status px_text_encoder_embed(px_text_encoder *encoder, const char *text, float *vector,
                                px_text_facts *facts, px_error *err);

/* In double. NaN where one of them is all zeros: whoever compares knows what that means. */
double px_text_cosine(const float *a, const float *b, size_t size);

/* A class name in words: up to the first comma, underscores to spaces, lower case ("Egyptian_cat,
 * Felis" gives "egyptian cat"). The caller frees it; NULL: out of memory. */
char *px_class_words(const char *name);

PX_END_DECLS
#endif
