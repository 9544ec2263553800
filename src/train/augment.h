/* src/train/augment.h - changes that training makes to its inputs so that it sees more of them
 *
 * An augmentation works on stored pixels, before preprocessing, in place. Adding one: write its
 * functions and a descriptor (pxi_augmentation_NAME) in a file of its own, add X(NAME) here.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PXI_TRAIN_AUGMENT_H
#define PXI_TRAIN_AUGMENT_H

#include <internal/optimizer.h>
#include <plexor/mutate.h>
#include <plexor/rng.h>
#include <plexor/tensor.h>

#define PXI_AUGMENTATIONS(X) X(crop) X(flip) X(dh) X(dh_d) X(dh_n)

typedef struct pxi_augment_link pxi_augment_link;

typedef struct pxi_augmentation {
    px_choice choice;
    /* Reads what follows the colon (NULL: nothing does) into `link`; refuses samples of a shape
     * that it cannot change. */
    px_status (*parse)(const char *argument, const px_shape *shape, pxi_augment_link *link,
                       px_error *err);
    /* `unit`: values are 0..1, not 0..255. */
    px_status (*apply)(const pxi_augment_link *link, const px_shape *shape, bool unit,
                       float *pixels, px_random *random, px_error *err);
} pxi_augmentation;

struct pxi_augment_link { /* one of the list that was asked for */
    const pxi_augmentation *kind;
    int64_t pixels;         /* of crop: the width of the border */
    px_mutations mutations; /* of dh, dh-d, dh-n: what is drawn from */
};

enum { PXI_AUGMENT_MOST = 16 };
typedef struct pxi_augment {
    int count;
    pxi_augment_link link[PXI_AUGMENT_MOST];
} pxi_augment;

/* "crop:4,flip" for samples of that shape; NULL or "": nothing. */
px_status pxi_augment_parse(const char *text, const px_shape *shape, pxi_augment *out,
                            px_error *err);
/* In the order of the list, all from one stream. */
px_status pxi_augment_apply(const pxi_augment *augment, const px_shape *shape, bool unit,
                            float *pixels, px_random *random, px_error *err);

/* Generators of Revisiting and the mutations that they draw from: augmentations, and what repair
 * generates with (augment_mutants.c). */
typedef struct pxi_generator {
    const char *id, *mutations;
} pxi_generator;
enum { PXI_GENERATOR_COUNT = 3 };
extern const pxi_generator pxi_generators[PXI_GENERATOR_COUNT];

#define PXI_AUGMENTATION_DECLARE(name) extern const pxi_augmentation pxi_augmentation_##name;
PXI_AUGMENTATIONS(PXI_AUGMENTATION_DECLARE)
#undef PXI_AUGMENTATION_DECLARE

#endif
