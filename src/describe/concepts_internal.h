/* src/describe/concepts_internal.h - what the files of concepts share */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PXI_DESCRIBE_CONCEPTS_INTERNAL_H
#define PXI_DESCRIBE_CONCEPTS_INTERNAL_H

#include "base/arena.h"
#include "describe/attribute_map.h"

typedef struct pxi_term_key { /* words that mean a term, as pxi_words_normal() writes them */
    const char *words;
    size_t length, term;
} pxi_term_key;

struct px_concepts {
    px_arena *arena;
    px_concept_kind kind;
    int h, w, channels;
    size_t pixels, floats; /* of a picture, without and with channels */
    double offset, gain;   /* (pixel - offset) * gain is between 0 and 1 */
    pxi_look_facts facts;
    const pxi_attribute *attributes;
    px_concept *maps;
    size_t count;
    px_term *terms; /* attributes, positions, classes, drawn things */
    size_t term_count, first_position, first_class, first_drawn;
    pxi_term_key *keys;
    size_t key_count;
};

/* Raw pixels as values between 0 and 1; what is no number is 0. */
void pxi_concepts_values(const px_concepts *concepts, const float *pixels, float *values);

/* --- words (lexicon.c) ----------------------------------------------------------------------- */

enum { PXI_POSITIONS = 5 };

/* Fills in terms and keys; maps are there already, and get their term. */
px_status pxi_lexicon_make(px_concepts *concepts, const char *const *classes, int class_count,
                           px_error *err);

/* Words in lower case with one blank between them; whatever is neither letter, digit nor beyond
 * ASCII parts words. The caller frees it; NULL: out of memory. */
char *pxi_words_normal(const char *text);

/* Caption number `form` (0 is the plain one) of an attribute with a colour or brightness before it
 * and a position behind it, terms, or SIZE_MAX for none; or of a class. */
void pxi_caption_attribute(const px_concepts *concepts, size_t attribute, size_t colour,
                           size_t position, int form, px_text *out);
void pxi_caption_class(const px_concepts *concepts, size_t term, int form, px_text *out);

void pxi_caption_drawn(const px_concepts *concepts, size_t term, size_t colour, int form,
                       px_text *out);

/* 1 inside the window of a position, 0 outside; `position` counts from 0. */
void pxi_position_window(int position, int h, int w, float *out);

#endif
