/* include/plexor/bank.h - what the units of a network respond to, in words
 *
 *     px_bank *bank = NULL;
 *     px_error err = {0};
 *     if (px_bank_load("resnet20.bank", &bank, &err) != PX_OK ||
 *         px_bank_check_model(bank, model, &err) != PX_OK)
 *         fprintf(stderr, "%s\n", err.message);
 *     const px_bank_unit *unit = px_bank_find(bank, "layer3.2.relu2", 17);
 *     if (px_bank_described(unit))
 *         printf("%s (%s)\n", unit->phrase, px_bank_validation(bank));
 *
 * A *unit* is a channel of a layer. A bank holds one phrase for each unit that was looked at, what
 * was measured about it without any learned part (the attributes that its masks overlap with, the
 * class that its exemplars share), and the gates: numbers that say how far the phrases may be
 * believed. The verdict follows from the gates alone; a file that states another one is refused.
 *
 * The file is JSON lines in UTF-8: the first object is about the bank, every other one is a unit.
 * docs/describe.md has its members. A bank that nobody adds to may be read from many threads.
 */
#ifndef PLEXOR_BANK_H
#define PLEXOR_BANK_H

#include <plexor/graph.h>
#include <plexor/json.h>

PX_BEGIN_DECLS

typedef struct px_bank px_bank; /* opaque */

/* Limits of what a bank takes, from a program as from a file. */
#define PX_BANK_UNITS_MOST ((size_t)1 << 20)
#define PX_BANK_TEXT_MOST 4096 /* bytes of a name or a phrase, without the NUL */
#define PX_BANK_LABELS 3       /* attributes that are listed */
#define PX_BANK_EXEMPLARS_MOST 256

/* An attribute is a unit's label when its IoU is above this (spec C.12.2). */
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
PX_API const char *px_describer_id(px_describer describer);
PX_API const char *px_describer_help(px_describer describer);
/* PX_E_USAGE, naming those there are, for a word that is none. */
PX_API px_status px_describer_parse(const char *text, px_describer *out, px_error *err);

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

/* All of it not measured. */
PX_API px_gates px_gates_none(void);

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

/* The verdict on such gates. PX_MEASURED for PX_DESCRIBER_DISSECT, whatever they say: its words
 * are measurements. Otherwise PX_VALIDATED needs
 *   g1, where it was measured: precision and recall of units held out of at least 0.8,
 *   g2, top-1 and top-3: more than two standard deviations above chance,
 *   g3, cosine and share named, where there are class-selective units: the same,
 *   g4: no description on more than half of the described units.
 * What was missed is added to `why` (may be NULL), a clause each, parted by "; ". */
PX_API px_validation px_gates_verdict(const px_gates *gates, px_describer describer, px_text *why);

/* --- making one ------------------------------------------------------------------------------ */

/* An empty bank whose gates are not measured. Texts are copied. */
PX_API px_status px_bank_new(const px_bank_about *about, px_bank **out, px_error *err);
PX_API void px_bank_free(px_bank *bank); /* NULL is fine */

/* Copies a unit. PX_E_USAGE for a second one of that name and for what is beyond the limits, which
 * leaves the bank as it was. What px_bank_find() gave out before is void. */
PX_API px_status px_bank_add(px_bank *bank, const px_bank_unit *unit, px_error *err);
PX_API void px_bank_set_gates(px_bank *bank, const px_gates *gates); /* and the verdict with them */

/* --- asking it ------------------------------------------------------------------------------- */

PX_API size_t px_bank_count(const px_bank *bank);
PX_API const px_bank_unit *px_bank_get(const px_bank *bank, size_t i); /* in the order of adding */
/* NULL: the bank does not know that unit. Constant time. */
PX_API const px_bank_unit *px_bank_find(const px_bank *bank, const char *layer, int64_t unit);
/* Whether there is a description: neither NULL, nor inactive, nor a phrase without words. Only such
 * units take part in decision paths. */
PX_API bool px_bank_described(const px_bank_unit *unit);
/* "(inactive)", "(no label)", or the phrase; what is to be shown to people. */
PX_API const char *px_bank_shown(const px_bank_unit *unit);
/* The label, the class: NULL where the best IoU, the share of exemplars, is not enough. */
PX_API const char *px_bank_label_of(const px_bank_unit *unit);
PX_API const char *px_bank_class_of(const px_bank_unit *unit);

PX_API const px_bank_about *px_bank_get_about(const px_bank *bank);
PX_API uint64_t px_bank_model_hash(const px_bank *bank);
PX_API const px_gates *px_bank_gates(const px_bank *bank);
PX_API px_validation px_bank_verdict(const px_bank *bank);
PX_API const char *px_bank_validation(const px_bank *bank); /* the verdict's text */

/* Of what the bank is about and of all units, not of the gates: the same words on the same network
 * have the same id. Files that depend on the phrases (a threshold) keep it. */
PX_API uint64_t px_bank_id(const px_bank *bank);

/* PX_E_MISMATCH where the bank was made for another network. */
PX_API px_status px_bank_check_model(const px_bank *bank, const px_model *model, px_error *err);

/* What has to be said wherever descriptions are shown (spec C.12.5), with this bank's numbers:
 * sentence i of PX_BANK_SENTENCES, capital letter and full stop. The caller frees it; NULL: out of
 * memory. */
#define PX_BANK_SENTENCES 6
PX_API char *px_bank_sentence(const px_bank *bank, int i);

/* The gates as lines of text, paper's trial beside ours, for the terminal and for reports; ends
 * with the verdict and, where it is PX_NOT_VALIDATED, with why and what to do instead. */
PX_API void px_bank_gates_text(const px_bank *bank, px_text *text);
PX_API void px_gates_json(const px_gates *gates, px_json *json); /* a member `gates` */

/* --- files ----------------------------------------------------------------------------------- */

/* The file appears whole or not at all; the same bank gives the same bytes. */
PX_API px_status px_bank_save(const px_bank *bank, const char *path, px_error *err);
/* On PX_OK the caller owns *out. PX_E_INPUT, naming the line, for what is no bank. */
PX_API px_status px_bank_load(const char *path, px_bank **out, px_error *err);

PX_END_DECLS
#endif
