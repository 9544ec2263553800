/* include/internal/concepts.h - what can be seen in pictures, measured: attributes, labels,
 * captions
 *
 *     px_concepts_new(photos, &pre, NULL, &concepts, &err);             // colours, edges, ...
 *     px_virtual_options options = px_virtual_options_default();
 *     px_virtual_units_make(concepts, photos, &options, &corpus, &err); // captions that are exact
 *     px_dissect(model, photos, &pre, exemplars, concepts, NULL, &labels, &err);
 *     px_dissection_bank(labels, &about, NULL, &bank, &err);            // no learned part
 *     px_gates_measure(bank, concepts, NULL, &gates, &err);
 *
 * An *attribute* is a known function of a picture with a value at every pixel: red regions,
 * vertical edges, fine texture, stroke ends. Three things are made of them. *Virtual units* are
 * attributes that are treated as if they were units of a network: their captions are exact by
 * construction, which is what a describer learns from. *Dissection labels* say which attributes the
 * masks of a real unit overlap with (Bau, Zhou, Khosla, Oliva, Torralba, Network Dissection, CVPR
 * 2017). *Gates* compare what a describer said with those labels and with permuted captions.
 *
 * Pictures of three channels have the attributes of colour images, those of one channel the
 * attributes of glyphs: no word of colour is ever said about grey data. docs/describe.md has the
 * formulas. All objects are immutable once made and may be shared by threads; results do not depend
 * on the number of threads.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PXI_INTERNAL_CONCEPTS_H
#define PXI_INTERNAL_CONCEPTS_H

#include <internal/exemplars.h>
#include <plexor/bank.h>

PX_BEGIN_DECLS

typedef struct px_concepts px_concepts;

typedef enum px_concept_kind {
    PX_CONCEPTS_AUTO,   /* three channels: colour; one: glyph */
    PX_CONCEPTS_COLOUR, /* needs three channels */
    PX_CONCEPTS_GLYPH,  /* of three channels the mean is looked at */
} px_concept_kind;

/* X(enumerator, id) */
#define PX_CONCEPT_GROUPS(X)                                                          \
    X(PX_GROUP_COLOUR, "colour")                                                      \
    X(PX_GROUP_BRIGHTNESS, "brightness") /* dark, gray, bright; gray in glyph data */ \
    X(PX_GROUP_EDGES, "edges")                                                        \
    X(PX_GROUP_TEXTURE, "texture") /* spots, fine texture, flat regions */            \
    X(PX_GROUP_STROKES, "strokes") /* of glyphs: thick, thin, ends, junctions, loops */

typedef enum px_concept_group {
#define PX_GROUP_ENUM(enumerator, id) enumerator,
    PX_CONCEPT_GROUPS(PX_GROUP_ENUM)
#undef PX_GROUP_ENUM
} px_concept_group;

typedef struct px_concept { /* one attribute map; two maps may have the same words */
    const char *words;      /* "vertical edges" */
    px_concept_group group;
    size_t term;     /* px_concepts_term() of the words */
    bool two_valued; /* 0 or 1 at every pixel */
    double level;    /* above which the attribute is there: 0.5 for two values, otherwise the 0.9
                        quantile over the data */
} px_concept;

typedef struct px_concepts_options {
    px_concept_kind kind;
    const char *const *classes; /* names of classes, as files have them; NULL: the data set's */
    int class_count;
    int64_t limit;           /* pictures that scales and levels are taken from, evenly spaced over
                                the data; <= 0: all */
    int threads;             /* <= 0: one per core */
    px_progress_fn progress; /* counts pictures, over all passes; false cancels */
    void *progress_context;
} px_concepts_options;
px_concepts_options px_concepts_options_default(void);

/* Goes through the data for what depends on them: the range of float values, the largest edges, the
 * median stroke width, and the levels. `options` may be NULL. PX_E_MISMATCH for data that are no
 * pictures of one or three channels, and where colours are wanted of one channel. */
px_status px_concepts_new(const px_dataset *set, const px_preprocess *pre,
                          const px_concepts_options *options, px_concepts **out, px_error *err);
void px_concepts_free(px_concepts *concepts); /* NULL is fine */

px_concept_kind px_concepts_kind(const px_concepts *concepts); /* never auto */
int px_concepts_height(const px_concepts *concepts);
int px_concepts_width(const px_concepts *concepts);
size_t px_concepts_count(const px_concepts *concepts); /* maps */
const px_concept *px_concepts_get(const px_concepts *concepts, size_t i);

/* All maps of one picture, raw pixels as px_dataset_pixels() gives them: maps is
 * [count][height * width]. */
px_status px_concepts_maps(const px_concepts *concepts, const float *pixels, float *maps,
                           px_error *err);

/* A *term* is what a caption can say: an attribute, a position, a class, a drawn thing. */
typedef enum px_term_kind {
    PX_TERM_ATTRIBUTE,
    PX_TERM_POSITION,
    PX_TERM_CLASS,
    PX_TERM_DRAWN, /* of virtual units that are drawn */
} px_term_kind;
typedef struct px_term {
    px_term_kind kind;
    const char *words; /* "red regions", "at top", "cat" */
    int class_index;   /* -1: no class */
} px_term;
size_t px_concepts_term_count(const px_concepts *concepts);
const px_term *px_concepts_term(const px_concepts *concepts, size_t i);
/* The class with these words (px_class_words() of its name), -1: none. */
int px_concepts_class(const px_concepts *concepts, const char *words);

/* Which terms a text mentions, by their own words or by a paraphrase ("upright edges" are vertical
 * ones): mentioned has px_concepts_term_count() places. Longer phrases win: "bright spots" are not
 * bright regions. A class named as an attribute ("orange") is not told apart from it. */
px_status px_concepts_mentions(const px_concepts *concepts, const char *text, bool *mentioned,
                               px_error *err);

/* --- virtual units --------------------------------------------------------------------------- */

typedef struct px_virtual_units px_virtual_units;

enum { PX_VIRTUAL_CAPTIONS = 3 };

typedef struct px_virtual_options {
    int64_t count;     /* units */
    int64_t images;    /* a fresh random subset for each */
    int64_t pool;      /* of so many pictures, held in memory; fewer where they are large */
    int64_t exemplars; /* as px_exemplar_options has them */
    double quantile;
    double held_out; /* share of units that training must not see, at random */
    double unseen;   /* share of pairs of attribute and position that training never sees */
    double drawn;    /* share of units that are shapes drawn into pictures, below 0.3: an extension
                        of the vocabulary, which alone did not transfer */
    uint64_t seed;
    int threads;             /* <= 0: one per core */
    px_progress_fn progress; /* counts units; false cancels */
    void *progress_context;
} px_virtual_options;
px_virtual_options px_virtual_options_default(void); /* 2400, 800, 10000, 15, 0.99, 0.08,
                                                               0.1, none drawn, seed 0 */

typedef enum px_virtual_split {
    PX_VIRTUAL_TRAIN,
    PX_VIRTUAL_HELD_OUT,
    PX_VIRTUAL_UNSEEN, /* its pair of attribute and position is not in the other two */
    PX_VIRTUAL_SPLITS
} px_virtual_split;

typedef struct px_virtual_unit {
    const char *captions[PX_VIRTUAL_CAPTIONS]; /* the plain one, and paraphrases */
    px_virtual_split split;
    const size_t *terms; /* that the captions say */
    size_t term_count;
    double level;
    const int64_t *images; /* indices in the data set, strongest first */
    int64_t exemplar_count;
    bool drawn;
} px_virtual_unit;

/* `set` is the one that `concepts` were made for, or another of the same shape and classes. Classes
 * are told where the data have labels. PX_E_INPUT for data in which hardly anything can be seen. */
px_status px_virtual_units_make(const px_concepts *concepts, const px_dataset *set,
                                const px_virtual_options *options, px_virtual_units **out,
                                px_error *err);
void px_virtual_units_free(px_virtual_units *units); /* NULL is fine */
size_t px_virtual_units_count(const px_virtual_units *units);
const px_virtual_unit *px_virtual_units_get(const px_virtual_units *units, size_t i);
/* The mask of exemplar j, height x width bytes of 0 and 1. */
void px_virtual_units_mask(const px_virtual_units *units, size_t i, int64_t j, uint8_t *mask);
/* NULL: the picture is the data set's own. Otherwise what was drawn: planes of red, green, blue. */
const uint8_t *px_virtual_units_picture(const px_virtual_units *units, size_t i, int64_t j);

/* How captions fare on the units of a split: texts[i] is what was said about unit i of all (those
 * of other splits are not read and may be NULL). g1. */
px_status px_virtual_units_score(const px_virtual_units *units, const px_concepts *concepts,
                                 px_virtual_split split, const char *const *texts,
                                 px_caption_score *out, px_error *err);

/* --- dissection ------------------------------------------------------------------------------ */

typedef struct px_dissection px_dissection;

typedef struct px_dissect_options {
    const char *layers;      /* the text that the exemplars were collected with */
    int64_t limit;           /* pictures that are looked at, evenly spaced; <= 0: all */
    int threads;             /* <= 0: one per core */
    int64_t batch;           /* 0: chosen by plexor */
    px_progress_fn progress; /* counts pictures; false cancels */
    void *progress_context;
} px_dissect_options;

/* The overlap of each unit's masks with each attribute over the data: sum of |M and L| over sum of
 * |M or L|, M = upsampled map above the level of the exemplars, L = attribute map above its own.
 * One pass; memory does not grow with the data. `options` may be NULL. PX_E_MISMATCH where the
 * exemplars are of other layers. */
px_status px_dissect(const px_model *model, const px_dataset *set, const px_preprocess *pre,
                     const px_exemplars *exemplars, const px_concepts *concepts,
                     const px_dissect_options *options, px_dissection **out, px_error *err);
void px_dissection_free(px_dissection *dissection); /* NULL is fine */
double px_dissection_iou(const px_dissection *dissection, size_t layer, int64_t unit,
                         size_t concept_index); /* 0 for inactive units */
/* All there is to say about a unit but its phrase: name, level, labels, class, exemplars. Borrowed
 * from the dissection. */
px_bank_unit px_dissection_unit(const px_dissection *dissection, size_t layer, int64_t unit);

/* A bank of all units in the order of the exemplars' layers. phrases[i] is that of the i-th unit
 * (NULL: all phrases are the measured ones, the label and the class; with PX_DESCRIBER_DISSECT in
 * `about`). Gates are still to be measured. */
px_status px_dissection_bank(const px_dissection *dissection, const px_bank_about *about,
                             const char *const *phrases, px_bank **out, px_error *err);

/* --- gates ----------------------------------------------------------------------------------- */

/* The similarity of two texts, as a text encoder has it. */
typedef px_status (*px_similarity_fn)(void *context, const char *a, const char *b, double *out,
                                      px_error *err);

typedef struct px_gates_options {
    int permutations; /* 500 */
    uint64_t seed;
    px_similarity_fn similarity; /* NULL: the cosine part of g3 is not measured */
    void *context;
} px_gates_options;
px_gates_options px_gates_options_default(void);

/* Fills in g2, g3 and g4 of *gates and leaves g1 as it is. Captions are permuted among the units
 * that count for a gate, so that words which are frequent there are frequent in the permutations
 * too. */
px_status px_gates_measure(const px_bank *bank, const px_concepts *concepts,
                           const px_gates_options *options, px_gates *gates, px_error *err);

PX_END_DECLS
#endif
