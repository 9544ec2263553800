/* src/describe/virtual_unit.h - virtual units as their files see them */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PXI_DESCRIBE_VIRTUAL_UNIT_H
#define PXI_DESCRIBE_VIRTUAL_UNIT_H

#include "base/arena.h"
#include "base/worker_pool.h"
#include "describe/concepts_internal.h"
#include "describe/exemplar_level.h"

#include <plexor/rng.h>

#define PXI_NONE SIZE_MAX

typedef struct pxi_recipe { /* what one virtual unit computes; PXI_NONE: there is no such part */
    size_t class_term;      /* of a class unit */
    double window;          /* its Gaussian's sd, of the side */
    size_t map;             /* otherwise: the attribute */
    size_t colour;          /* a map that it is multiplied by */
    size_t position;        /* 0..4: a window that it is multiplied by */
    size_t drawn;           /* a thing drawn into some of the pictures, in the colour's paint */
    size_t other;           /* impurity: another attribute's map, not in the caption */
    double other_weight;
    double blur; /* sd in pixels */
    int pool;    /* average over squares of so many pixels */
} pxi_recipe;

typedef struct pxi_corpus_pool { /* pictures in memory, values between 0 and 1 */
    int64_t count;
    int64_t *items; /* in the data set, ascending */
    int64_t *labels;
    float *values; /* [count][floats] */
} pxi_corpus_pool;

/* Draws of one unit are addressed by its number and the attempt; what belongs to the whole corpus
 * by PXI_CORPUS_ITEM. */
#define PXI_CORPUS_ITEM UINT32_MAX
enum { PXI_DRAW_RECIPE = 0, PXI_DRAW_SUBSET = 1 << 16, PXI_DRAW_GAIN = 2 << 16 };
#define PXI_DRAWN_IMAGES_MOST (1u << 20) /* of a unit: attempts and pictures are one address */

/* The recipe of unit `unit` at its attempt; `classes` are terms that the data have. */
pxi_recipe pxi_recipe_draw(const px_concepts *concepts, const size_t *classes, size_t class_count,
                           uint64_t seed, uint32_t unit, uint32_t attempt);
/* The same for a unit that is drawn. */
pxi_recipe pxi_recipe_drawn(const px_concepts *concepts, uint64_t seed, uint32_t unit,
                            uint32_t attempt);

/* Whether training may not see the recipe's pair of attribute and position. `reserved` is
 * [attribute terms][PXI_POSITIONS]. */
void pxi_pairs_reserve(const px_concepts *concepts, double share, uint64_t seed, bool *reserved);
bool pxi_recipe_is_reserved(const px_concepts *concepts, const pxi_recipe *recipe,
                            const bool *reserved);

/* At most three terms; returns how many. */
size_t pxi_recipe_terms(const px_concepts *concepts, const pxi_recipe *recipe, size_t terms[3]);
void pxi_recipe_caption(const px_concepts *concepts, const pxi_recipe *recipe, int form,
                        px_text *out);

struct px_virtual_units {
    px_arena *arena; /* captions and terms */
    px_virtual_unit *units;
    size_t count;
    int64_t *images;   /* [count][exemplars] */
    uint8_t *masks;    /* [count][exemplars][mask_bytes], a bit per pixel */
    uint8_t *pictures; /* NULL, or of drawn units: [drawn][exemplars][3 * pixels] */
    size_t *drawn;     /* [count]: place among them; PXI_NONE: not drawn */
    size_t drawn_count;
    int64_t exemplars;
    size_t pixels, mask_bytes;
};

typedef struct pxi_made_unit { /* of one unit, before there are words */
    pxi_recipe recipe;
    double level;
} pxi_made_unit;

typedef struct pxi_maker_worker {
    pxi_look *look;
    float *plane, *colour, *window; /* one picture */
    float *picture;                 /* with something drawn into it */
    float *scratch;
    float *main, *other; /* [images][pixels]: blurred and pooled */
    uint8_t *mask;
    int64_t *order; /* a permutation of the pool */
    int64_t *best;  /* [exemplars]: places in the subset */
    float *score;
    pxi_level_counts *counts;
    pxi_level_total *total;
} pxi_maker_worker;

typedef struct pxi_maker {
    const px_concepts *c;
    const px_dataset *set;
    px_virtual_options o;
    pxi_corpus_pool pool;
    size_t *classes; /* terms that the data have */
    size_t class_count;
    pxi_made_unit *made;
    px_virtual_units *out;
    px_arena *memory; /* of the workers */
    pxi_maker_worker *workers;
    int worker_count;
    px_pool *threads;
} pxi_maker;

/* Makes unit number `index`: pxi_pool_fn with a pxi_maker. Draws anew until all its masks show
 * something. */
px_status pxi_virtual_unit_make(void *maker, int worker, int64_t index, px_error *err);

#endif
