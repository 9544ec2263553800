/* src/describe/lexicon.c - the words of captions, their paraphrases, and finding them in texts
 *
 * The list is closed on purpose: every word stands for something that can be measured. Words are
 * among those that the default text encoder has glosses for.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#include "describe/concepts_internal.h"

#include "base/memory.h"
#include "describe/drawn_concept.h"

#include <internal/text_encoder.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LEXICON_KEYS = 4 };

/* A colour goes before a form; `keys` are what counts as a mention. */
typedef struct lexicon_row {
    const char *words;
    const char *forms[PX_VIRTUAL_CAPTIONS];
    const char *keys[LEXICON_KEYS]; /* NULL ends them */
} lexicon_row;

#define COLOUR(name)                                                                 \
    {                                                                                \
        name " regions", {name " regions", "regions that are " name, name " areas"}, \
        {                                                                            \
            name                                                                     \
        }                                                                            \
    }

static const lexicon_row attribute_rows[] = {
    COLOUR("red"),
    COLOUR("orange"),
    COLOUR("yellow"),
    COLOUR("green"),
    COLOUR("blue"),
    COLOUR("purple"),
    COLOUR("white"),
    COLOUR("black"),
    COLOUR("brown"),
    {"gray regions", {"gray regions", "regions that are gray", "gray areas"}, {"gray", "grey"}},
    {"bright regions",
     {"bright regions", "regions that are bright", "light regions"},
     {"bright", "light"}},
    {"dark regions", {"dark regions", "regions that are dark", "dim regions"}, {"dark", "dim"}},
    {"vertical edges",
     {"vertical edges", "edges that are vertical", "upright edges"},
     {"vertical", "upright"}},
    {"horizontal edges",
     {"horizontal edges", "edges that are horizontal", "level edges"},
     {"horizontal", "level"}},
    {"diagonal edges",
     {"diagonal edges", "edges that are diagonal", "slanted edges"},
     {"diagonal", "slanted"}},
    {"bright spots",
     {"bright spots", "spots that are bright", "shining spots"},
     {"bright spots", "spots that are bright", "shining spots", "spots"}},
    {"fine texture", {"fine texture", "texture that is fine", "detailed texture"}, {"texture"}},
    {"flat regions",
     {"flat regions", "regions that are flat", "smooth regions"},
     {"flat", "smooth"}},
    {"thick strokes",
     {"thick strokes", "strokes that are thick", "broad strokes"},
     {"thick", "broad"}},
    {"thin strokes",
     {"thin strokes", "strokes that are thin", "narrow strokes"},
     {"thin", "narrow"}},
    {"stroke ends", {"stroke ends", "ends of strokes", "stroke tips"}, {"ends", "tips"}},
    {"junctions", {"junctions", "junctions of strokes", "forks"}, {"junctions", "forks"}},
    {"crossings", {"crossings", "crossings of strokes", "stroke crossings"}, {"crossings"}},
    {"loops", {"loops", "closed loops", "holes"}, {"loops", "holes"}},
};

static const lexicon_row position_rows[PXI_POSITIONS] = {
    {"at top", {"at top", "near the top", "in the upper part"}, {"top", "upper"}},
    {"at bottom", {"at bottom", "near the bottom", "in the lower part"}, {"bottom", "lower"}},
    {"at left", {"at left", "near the left", "on the left side"}, {"left"}},
    {"at right", {"at right", "near the right", "on the right side"}, {"right"}},
    {"at center", {"at center", "near the center", "in the middle"}, {"center", "middle"}},
};

static const lexicon_row *lexicon_find(const char *words)
{
    for (size_t i = 0; i < PX_LEN(attribute_rows); i++)
        if (strcmp(attribute_rows[i].words, words) == 0)
            return &attribute_rows[i];
    return NULL;
}

/* --- terms ----------------------------------------------------------------------------------- */

typedef struct lexicon_maker {
    px_concepts *c;
    size_t term_capacity, key_capacity;
} lexicon_maker;

static px_status maker_term(lexicon_maker *m, px_term_kind kind, const char *words, int class_index,
                            px_error *err)
{
    px_concepts *c = m->c;
    const char *copy = pxi_arena_strdup(c->arena, words);
    if (!copy || pxi_grow(&c->terms, &m->term_capacity, c->term_count + 1, sizeof *c->terms) != 0)
        return pxi_no_memory(err);
    c->terms[c->term_count++] = (px_term){kind, copy, class_index};
    return PX_OK;
}

/* Another phrase that means the newest term. */
static px_status maker_key(lexicon_maker *m, const char *words, px_error *err)
{
    px_concepts *c = m->c;
    char *normal = pxi_words_normal(words);
    const char *copy = normal ? pxi_arena_strdup(c->arena, normal) : NULL;
    free(normal);
    if (!copy || pxi_grow(&c->keys, &m->key_capacity, c->key_count + 1, sizeof *c->keys) != 0)
        return pxi_no_memory(err);
    if (*copy)
        c->keys[c->key_count++] = (pxi_term_key){copy, strlen(copy), c->term_count - 1};
    return PX_OK;
}

static px_status maker_row(lexicon_maker *m, px_term_kind kind, const lexicon_row *row,
                           px_error *err)
{
    PX_TRY(maker_term(m, kind, row->words, -1, err));
    for (size_t k = 0; k < LEXICON_KEYS && row->keys[k]; k++)
        PX_TRY(maker_key(m, row->keys[k], err));
    return PX_OK;
}

px_status pxi_lexicon_make(px_concepts *c, const char *const *classes, int class_count,
                           px_error *err)
{
    lexicon_maker m = {.c = c};
    for (size_t i = 0; i < c->count; i++) { /* maps with the same words follow each other */
        if (i == 0 || strcmp(c->maps[i].words, c->maps[i - 1].words) != 0)
            PX_TRY(maker_row(&m, PX_TERM_ATTRIBUTE, lexicon_find(c->maps[i].words), err));
        c->maps[i].term = c->term_count - 1;
    }
    c->first_position = c->term_count;
    for (size_t i = 0; i < PXI_POSITIONS; i++)
        PX_TRY(maker_row(&m, PX_TERM_POSITION, &position_rows[i], err));
    c->first_class = c->term_count;
    for (int i = 0; i < class_count; i++) {
        char number[32];
        snprintf(number, sizeof number, "class %d", i);
        char *words = px_class_words(classes && classes[i] ? classes[i] : number);
        px_status status = words ? maker_term(&m, PX_TERM_CLASS, *words ? words : number, i, err)
                                 : pxi_no_memory(err);
        PX_THEN(status, maker_key(&m, c->terms[c->term_count - 1].words, err));
        free(words);
        PX_TRY(status);
    }
    c->first_drawn = c->term_count;
    for (size_t i = 0; i < pxi_drawn_count(); i++) {
        PX_TRY(maker_term(&m, PX_TERM_DRAWN, pxi_drawn_words(i), -1, err));
        PX_TRY(maker_key(&m, pxi_drawn_words(i), err));
    }
    return PX_OK;
}

size_t px_concepts_term_count(const px_concepts *c)
{
    return c->term_count;
}

const px_term *px_concepts_term(const px_concepts *c, size_t i)
{
    return i < c->term_count ? &c->terms[i] : NULL;
}

int px_concepts_class(const px_concepts *c, const char *words)
{
    for (size_t i = c->first_class; i < c->first_drawn; i++)
        if (strcmp(c->terms[i].words, words) == 0)
            return c->terms[i].class_index;
    return -1;
}

/* --- captions -------------------------------------------------------------------------------- */

/* "red regions" gives "red "; SIZE_MAX gives nothing. */
static void caption_colour(const px_concepts *c, size_t colour, px_text *out)
{
    if (colour == SIZE_MAX)
        return;
    const char *words = c->terms[colour].words;
    px_text_format(out, "%.*s ", (int)strcspn(words, " "), words);
}

void pxi_caption_attribute(const px_concepts *c, size_t attribute, size_t colour, size_t position,
                           int form, px_text *out)
{
    const char *shape = lexicon_find(c->terms[attribute].words)->forms[form];
    caption_colour(c, colour, out);
    px_text_add(out, shape);
    if (position != SIZE_MAX)
        px_text_format(out, " %s", position_rows[position - c->first_position].forms[form]);
}

void pxi_caption_class(const px_concepts *c, size_t term, int form, px_text *out)
{
    const char *words = c->terms[term].words;
    if (form == 1)
        px_text_add(out, strchr("aeiou", words[0]) ? "an " : "a ");
    px_text_add(out, words);
    if (form == 2)
        px_text_add(out, " pictures");
}

/* "red circle", "a shape that is red circle", "red circle shape". */
void pxi_caption_drawn(const px_concepts *c, size_t term, size_t colour, int form, px_text *out)
{
    const char *noun = pxi_drawn_noun(term - c->first_drawn);
    if (form == 1)
        px_text_format(out, "a %s that is ", noun);
    caption_colour(c, colour, out);
    px_text_add(out, c->terms[term].words);
    if (form == 2)
        px_text_format(out, " %s", noun);
}

/* Outer 34 % of an axis; the central 40 % of both. Pixels count by their centres. */
void pxi_position_window(int position, int h, int w, float *out)
{
    for (int y = 0; y < h; y++)
        for (int x = 0; x < w; x++) {
            const double v = (y + 0.5) / h, u = (x + 0.5) / w;
            const bool inside[PXI_POSITIONS] = {v<0.34, v> 0.66, u<0.34, u> 0.66,
                                                v > 0.3 && v < 0.7 && u > 0.3 && u < 0.7};
            out[(size_t)y * (size_t)w + (size_t)x] = inside[position] ? 1.0f : 0.0f;
        }
}

/* --- mentions -------------------------------------------------------------------------------- */

char *pxi_words_normal(const char *text)
{
    const size_t size = strlen(text);
    char *out = pxi_calloc(size + 1, 1), *to = out;
    if (!out)
        return NULL;
    bool parted = false;
    for (const char *p = text; *p; p++) {
        const unsigned char c = (unsigned char)*p;
        const bool upper = c >= 'A' && c <= 'Z';
        if (!(upper || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c >= 0x80)) {
            parted = to != out;
            continue;
        }
        if (parted)
            *to++ = ' ';
        parted = false;
        *to++ = (char)(upper ? c - 'A' + 'a' : c);
    }
    *to = '\0';
    return out;
}

/* The length of the longest key at the beginning of `text`; its terms are marked. */
static size_t mention_at(const px_concepts *c, const char *text, bool *mentioned)
{
    size_t longest = 0;
    for (int pass = 0; pass < 2; pass++)
        for (size_t k = 0; k < c->key_count; k++) {
            const pxi_term_key *key = &c->keys[k];
            if (key->length < PX_MAX(longest, 1) || strncmp(text, key->words, key->length) != 0 ||
                (text[key->length] != '\0' && text[key->length] != ' '))
                continue;
            if (pass == 0)
                longest = key->length;
            else
                mentioned[key->term] = true;
        }
    return longest;
}

px_status px_concepts_mentions(const px_concepts *c, const char *text, bool *mentioned,
                               px_error *err)
{
    char *normal = pxi_words_normal(text);
    if (!normal)
        return pxi_no_memory(err);
    memset(mentioned, 0, c->term_count * sizeof *mentioned);
    for (const char *p = normal; *p;) {
        p += mention_at(c, p, mentioned);
        p += strcspn(p, " "); /* a word that is no key is passed over whole */
        p += *p == ' ';
    }
    free(normal);
    return PX_OK;
}
