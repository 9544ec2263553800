/* include/plexor/bank.h - what the units of a network respond to, in words
 *
 * A *unit* is a channel of a layer. A bank holds one phrase for each unit that was looked at, what
 * was measured about it without any learned part (the attributes that its masks overlap with, the
 * class that its exemplars share), and the gates: numbers that say how far the phrases may be
 * believed. The verdict follows from the gates alone; a file that states another one is refused.
 *
 * The file is JSON lines in UTF-8: the first object is about the bank, every other one is a unit.
 * docs/describe.md has its members. A bank that nobody adds to may be read from many threads.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PLEXOR_BANK_H
#define PLEXOR_BANK_H

#include <plexor/field.h>
#include <plexor/graph.h>

PX_BEGIN_DECLS

typedef struct px_bank px_bank; /* opaque */

/* Limits of what a bank takes, from a program as from a file. */
#define PX_BANK_UNITS_MOST ((size_t)1 << 20)
#define PX_BANK_TEXT_MOST 4096 /* bytes of a name or a phrase, without the NUL */
#define PX_BANK_LABELS 3       /* attributes that are listed */
#define PX_BANK_EXEMPLARS_MOST 256

/* An attribute is a unit's label when its IoU is above this (LGR C.12.2). */
#define PX_BANK_LABEL_LEAST 0.04
/* A class is named where at least so great a share of the exemplars has it: 9 of 15. */
#define PX_BANK_CLASS_LEAST 0.6

typedef struct px_bank_label { /* an attribute, and how well the unit's masks overlap with it */
    const char *words;         /* "vertical edges" */
    double iou;                /* sum of |M and L| over sum of |M or L|, 0 to 1 */
} px_bank_label;

typedef struct px_bank_unit {
    const char *layer;  /* px_layer.name */
    int64_t unit;       /* the channel, from 0 */
    const char *phrase; /* lower case; "" : nothing can be said. Of inactive units it is ignored */
    bool inactive;      /* nothing in the data raises it above its level */
    double level;       /* the activation quantile that its masks were cut at; NaN: not known */
    px_bank_label labels[PX_BANK_LABELS]; /* best first, whether above PX_BANK_LABEL_LEAST or not */
    size_t label_count;
    const char *class_name;   /* that most exemplars have, as the phrases spell it; NULL: unlabelled
                                 data */
    double class_share;       /* of the exemplars, 0 to 1 */
    const int64_t *exemplars; /* indices in the data set, strongest first */
    size_t exemplar_count;
} px_bank_unit;

/* What a describer is, which decides what must be said about its words. */
#define PX_DESCRIBERS(X)                                                                         \
    X(PX_DESCRIBER_VIRTUAL_UNITS, "virtual-units", "a decoder trained on program-made captions") \
    X(PX_DESCRIBER_DISSECT, "dissect", "measured labels, without any learned part")              \
    X(PX_DESCRIBER_MILAN, "milan", "a decoder trained on people's captions of units")            \
    X(PX_DESCRIBER_OTHER, "other", "words from elsewhere")

typedef enum px_describer {
#define PX_DESCRIBER_ENUM(enumerator, id, help) enumerator,
    PX_DESCRIBERS(PX_DESCRIBER_ENUM)
#undef PX_DESCRIBER_ENUM
} px_describer;

typedef struct px_bank_about {
    uint64_t model; /* px_model_hash() */
    uint64_t data;  /* px_dataset_hash() of the images that exemplars were taken from */
    int64_t images; /* how many */
    px_describer describer;
    const char *encoder; /* what turned exemplars into features: "self+pixels"; NULL: nothing */
    uint64_t seed;
} px_bank_about;

/* --- gates ----------------------------------------------------------------------------------- */

typedef struct px_caption_score { /* g1: captions of virtual units that training did not see */
    int64_t count;                /* 0: not measured, and all others are NaN */
    double bleu;                  /* 0 to 100 */
    double exact;                 /* share that says one of the unit's own captions */
    double precision, recall;     /* of the attributes mentioned, over all captions together */
} px_caption_score;

typedef struct px_agreement { /* a share or a mean beside what permuted captions give */
    double value, chance, sd; /* NaN: not measured */
} px_agreement;

typedef struct px_gates {
    px_caption_score held_out;     /* g1, units held out at random */
    px_caption_score unseen_pairs; /* g1, attribute and position never seen together */
    int64_t labelled;              /* g2: units that have a dissection label and a description */
    px_agreement top1, top3;       /* share of them whose caption has the label, one of the three */
    int64_t selective;             /* g3: described units whose exemplars share a class */
    px_agreement cosine;           /* mean similarity of description and class name */
    px_agreement named;            /* share whose caption names the class */
    int64_t units, inactive;       /* g4 */
    int64_t distinct;              /* different descriptions */
    double most_frequent;          /* share of described units that have the commonest one */
    int permutations;
} px_gates;

/* X(enumerator, text) */
#define PX_VALIDATIONS(X)                             \
    X(PX_NOT_VALIDATED, "descriptions not validated") \
    X(PX_VALIDATED, "validated")                      \
    X(PX_MEASURED, "measured labels")

typedef enum px_validation {
#define PX_VALIDATION_ENUM(enumerator, text) enumerator,
    PX_VALIDATIONS(PX_VALIDATION_ENUM)
#undef PX_VALIDATION_ENUM
} px_validation;

/* --- making one ------------------------------------------------------------------------------ */

/* --- asking it ------------------------------------------------------------------------------- */

/* What has to be said wherever descriptions are shown (LGR C.12.5), with this bank's numbers:
 * sentence i of PX_BANK_SENTENCES, capital letter and full stop. The caller frees it; NULL: out of
 * memory. */
#define PX_BANK_SENTENCES 6

/* --- files ----------------------------------------------------------------------------------- */

PX_END_DECLS
#endif
