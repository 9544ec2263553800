/* src/describe/describe_internal.h - what the files of descriptions share */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PXI_DESCRIBE_DESCRIBE_INTERNAL_H
#define PXI_DESCRIBE_DESCRIBE_INTERNAL_H

#include <internal/describe.h>

struct px_description {
    px_exemplars *exemplars;
    px_concepts *concepts;
    px_dissection *dissection;
    px_captioner *captioner;
    px_bank *bank;
    px_caption_score held_out, unseen; /* g1 */
    px_description_facts facts;
};

typedef struct pxi_describe { /* one call of px_describe() */
    const px_model *model;
    const px_dataset *set;
    const px_preprocess *pre;
    px_describe_options options;
    px_description *out;
    px_annotator *annotator;
    size_t k; /* exemplars of a unit */
} pxi_describe;

void pxi_describe_stage(const pxi_describe *job, const char *name);

/* Gets a captioner: from its file where that fits, otherwise trained (describe_learn.c). */
px_status pxi_describe_learn(pxi_describe *job, px_error *err);

/* A phrase for every unit of all layers, "" where it is inactive; the caller frees each of them and
 * the array. */
px_status pxi_describe_phrases(pxi_describe *job, char ***phrases, size_t *count, px_error *err);
void pxi_describe_phrases_free(char **phrases, size_t count);

/* Identity of a trained describer, which its file carries (describe_cache.c). */
uint64_t pxi_describe_key(const px_model *model, const px_dataset *set,
                          const px_describe_options *options);
/* PX_E_MISMATCH where the file is another's; *out is the captioner and the facts that were kept
 * with it are in the job's description. */
px_status pxi_describe_load(pxi_describe *job, px_error *err);
px_status pxi_describe_save(pxi_describe *job, px_error *err);

/* --- what an encoder sees of many units (describe_encode.c) ---------------------------------- */

/* Fills in exemplar j of a unit: the mask into `mask`, and pixels into `pixels` where the pictures
 * are not the data set's. False in *there: there is none, and its features are zeros. */
typedef px_status (*pxi_encode_fn)(void *context, size_t unit, size_t j, px_annotated_pair *pair,
                                   uint8_t *mask, uint8_t *pixels, bool *there, px_error *err);
typedef struct pxi_encode {
    size_t units, k;
    size_t mask_bytes, picture_bytes; /* of one; the latter 0: pictures are the data set's */
    pxi_encode_fn fill;
    void *context;
} pxi_encode;
/* features is [units][k][size of the annotator]. */
px_status pxi_describe_encode(px_annotator *annotator, const pxi_encode *what, float *features,
                              px_error *err);

#endif
