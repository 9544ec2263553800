/* include/internal/describe.h - a network's units in words, and how far the words may be believed
 *
 *     px_describe_options options = px_describe_options_default();    // measured labels
 *     options.describer = PX_DESCRIBER_VIRTUAL_UNITS;                 // or a learned describer
 *     options.captioner_file = "net.describer";                       // that is kept for next time
 *     px_describe(model, photos, &pre, &options, &description, &err);
 *     px_bank_save(px_description_bank(description), "net.bank", &err);
 *
 * Strings together what exemplars.h, concepts.h, captioner.h and bank.h have: the exemplars of all
 * units; the attributes of the pictures and their overlap with the units (dissection); for a
 * learned describer virtual units with exact captions, what the encoder sees in their masks, and a
 * decoder trained on that; its phrases for the real units; the gates.
 *
 * The same data, settings and seed give the same bank, for any number of threads.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PXI_INTERNAL_DESCRIBE_H
#define PXI_INTERNAL_DESCRIBE_H

#include <internal/bank.h>
#include <internal/captioner.h>
#include <internal/concepts.h>
#include <internal/exemplars.h>

PX_BEGIN_DECLS

typedef struct px_description px_description;

typedef struct px_describe_options {
    px_describer describer; /* PX_DESCRIBER_DISSECT, _VIRTUAL_UNITS, or _MILAN: a decoder that is
                               trained on virtual units and on people's captions together */
    px_exemplar_options exemplars;
    px_virtual_options virtual_units;
    px_captioner_options captioner;
    px_annotator_options annotator;
    const char *milan;          /* the folder of MILANNOTATIONS that PX_DESCRIBER_MILAN adds */
    const char *captioner_file; /* a trained describer: read where it fits network, data and
                                   settings, otherwise trained and written; NULL: trained */
    bool never_train; /* PX_E_INPUT where there is no such file, PX_E_MISMATCH where it is another's
                       */
    px_concept_kind concepts;   /* PX_CONCEPTS_AUTO: colours for three channels, glyphs for one */
    const char *const *classes; /* names; NULL: the data set's */
    int class_count;
    int64_t dissect_limit; /* pictures that attributes are compared with; <= 0: all */
    uint64_t seed;         /* of everything that is drawn */
    int threads;           /* <= 0: one per core */
    int64_t batch;         /* 0: chosen by plexor */
    void (*stage)(void *context, const char *name); /* what begins; NULL: nobody listens */
    px_progress_fn progress;                        /* of the stage; false cancels */
    void *context;
} px_describe_options;
/* dissect; 2,400 virtual units; decoder and attention of 256, at most 25 epochs. */
px_describe_options px_describe_options_default(void);

/* On PX_OK the caller owns *out. `model`, `set` and `pre` are borrowed during the call. */
px_status px_describe(const px_model *model, const px_dataset *set, const px_preprocess *pre,
                      const px_describe_options *options, px_description **out, px_error *err);
void px_description_free(px_description *description); /* NULL is fine */

const px_bank *px_description_bank(const px_description *description);
const px_exemplars *px_description_exemplars(const px_description *description);
const px_concepts *px_description_concepts(const px_description *description);

typedef struct px_description_facts {
    bool trained;               /* in this call; false: none, or from the file */
    px_captioner_report report; /* of training, now or then */
    int64_t virtual_units;      /* that the decoder learnt from, and was scored by */
    int64_t annotated;          /* people's captions among its sentences */
    int64_t features;           /* numbers per exemplar */
    double seconds;             /* clock time */
} px_description_facts;
px_description_facts px_description_facts_get(const px_description *description);

/* Where a trained describer of this network, these data and settings is kept unless one says
 * otherwise: under $PLEXOR_CACHE, $XDG_CACHE_HOME/plexor or ~/.cache/plexor. The caller frees it;
 * NULL: out of memory, or there is no such place. */
char *px_describe_cache(const px_model *model, const px_dataset *set,
                        const px_describe_options *options);

/* --- people's ratings ----------------------------------------------------------------------------
 *
 * A blind test: each item is a picture of a unit's exemplars and a phrase, which is the unit's own
 * or, as often, that of another unit that is described otherwise. Whoever rates does not know
 * which. Nothing here invents a rating.
 */

/* Writes item-001.png ..., ratings.csv (item, phrase, rating: to be filled in, 1 to 5), key.csv
 * (item, layer, unit, own: to be opened afterwards) and HOWTO.txt into a folder, which is made.
 * `items` is an even number; fewer where fewer units are described. PX_E_USAGE where no two phrases
 * differ. */
px_status px_describe_rate(const px_bank *bank, const px_exemplars *exemplars,
                           const px_dataset *set, int64_t items, uint64_t seed, const char *folder,
                           int64_t *written, px_error *err);

typedef struct px_ratings {
    int64_t own, other;          /* that have a rating */
    double mean_own, mean_other; /* NaN: none */
    double p;                    /* Mann-Whitney, two-sided: own against other; NaN: none */
} px_ratings;
/* Reads a folder whose ratings.csv was filled in; items without a rating are left out. */
px_status px_describe_ratings(const char *folder, px_ratings *out, px_error *err);

PX_END_DECLS
#endif
