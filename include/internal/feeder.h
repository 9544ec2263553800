/* include/internal/feeder.h - which training input comes when, and in what dress
 *
 *     px_feeder_options options = px_feeder_options_default();
 *     options.base = (px_feeder_set){.set = train, .pre = &pre};
 *     options.classes = 10;
 *     options.batch = 128;
 *     options.augment = "crop:4,flip";
 *     px_feeder_new(&options, &feeder, &err);
 *     px_feeder_begin(feeder, epoch, &err);                            // one thread
 *     px_feeder_get(feeder, step, position, input, &label, &err);      // any thread
 *
 * What comes at (epoch, step, position) is a pure function of that address, the seed and the data:
 * no matter who asks, in what order, or whether a run was resumed. The dress is put on in this
 * order: stored pixels, pollution, augmentation, preprocessing. Pollution and label noise belong to
 * an item and stay the same over all epochs; augmentation is drawn anew each time the item comes.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PXI_INTERNAL_FEEDER_H
#define PXI_INTERNAL_FEEDER_H

#include <plexor/data.h>

PX_BEGIN_DECLS

typedef struct px_feeder px_feeder; /* opaque */

typedef struct px_feeder_set { /* a data set or some of its items */
    const px_dataset *set;     /* NULL: there is none. Borrowed, must outlive the feeder */
    const px_preprocess *pre;  /* copied; as px_dataset_open_for() left it */
    const int64_t *items;      /* indices in the set, copied; NULL: all of it */
    int64_t count;             /* of items */
} px_feeder_set;

/* How the base set D and the added set A come together (LGR F.2). With one set only, that one is
 * shuffled and gone through once per epoch. */
typedef enum px_mix {
    PX_MIX_APPEND, /* D + A, shuffled together every epoch */
    PX_MIX_FIXED,  /* the first round(share * batch) positions of every batch are A's, the rest D's;
                    * both are cycled through shuffles of their own, all batches are full, and an
                    * epoch is as long as D takes */
    PX_MIX_ONLY,   /* A only */
} px_mix;

/* "append", "only", "fixed" (share 0.5) or "fixed:R" with 0 < R <= 1. */
px_status px_mix_parse(const char *text, px_mix *mix, double *share, px_error *err);
const char *px_mix_name(px_mix mix);

typedef struct px_feeder_options {
    px_feeder_set base, added;
    px_mix mix;
    double share;  /* of A in a batch, with PX_MIX_FIXED */
    int classes;   /* of the network: labels are 0..classes-1 */
    int64_t batch; /* the optimiser's */
    uint64_t seed;
    bool in_order;       /* not shuffled */
    bool drop_short;     /* leave out a last batch that is not full, unless it is the only one */
    const char *augment; /* comma list of pxi_augmentations; NULL or "": none */
    bool hard_labels;    /* leave the soft targets of data sets alone */

    /* Faulty training, of the base set (LGR B.7). */
    double pollute; /* fraction of items that get a patch and the polluted class as label */
    int64_t polluted_class;
    int patch_min, patch_max; /* side of the square, uniform in between, both included */
    bool patch_white;         /* else uniform noise, fresh for each pixel and channel */
    double label_noise;       /* fraction of items, of those not polluted, with another class */
} px_feeder_options;

px_feeder_options px_feeder_options_default(void); /* batch 128, patches of 1..6 */

/* Checks all labels and options. On PX_OK the caller owns *out, which stands before epoch 0 (begun
 * already). */
px_status px_feeder_new(const px_feeder_options *options, px_feeder **out, px_error *err);
void px_feeder_free(px_feeder *feeder); /* NULL is fine */

int64_t px_feeder_steps(const px_feeder *feeder); /* per epoch; the same in all of them */
int64_t px_feeder_batch(const px_feeder *feeder);
size_t px_feeder_floats(const px_feeder *feeder);  /* per input */
px_shape px_feeder_shape(const px_feeder *feeder); /* of a sample, as px_dataset_shape() */

/* Makes the order of an epoch. One thread, between steps, while nobody calls px_feeder_get(). */
px_status px_feeder_begin(px_feeder *feeder, int64_t epoch, px_error *err);

/* How many positions a step of the epoch has: the batch, fewer in a short last one. */
int64_t px_feeder_samples(const px_feeder *feeder, int64_t step);

/* The preprocessed network input and the label that training believes. Any thread; memory is taken
 * for the call only. */
px_status px_feeder_get(const px_feeder *feeder, int64_t step, int64_t position, float *input,
                        int64_t *label, px_error *err);

/* The same before preprocessing: raw values, CHW, polluted and augmented; for those who change them
 * further. px_feeder_preprocess() is what comes next, of the side that the position's item is of.
 */
px_status px_feeder_pixels(const px_feeder *feeder, int64_t step, int64_t position, float *pixels,
                           int64_t *label, px_error *err);
const px_preprocess *px_feeder_preprocess(const px_feeder *feeder, bool added);

/* Whether a data set has soft targets that count; then the target to train a position towards, one
 * number per class. Inputs without one, polluted and mislabelled ones have 1 at the label that
 * training believes. Any thread. */
bool px_feeder_is_soft(const px_feeder *feeder);
px_status px_feeder_target(const px_feeder *feeder, int64_t step, int64_t position, float *target,
                           px_error *err);

/* What stands at a position; for logs, and for those who replace some inputs by others made from
 * them. Any thread. */
typedef struct px_feeder_item {
    const px_dataset *set;
    int64_t index;    /* in the set */
    uint32_t number;  /* among all that take part, base items first: the address of its draws */
    int64_t label;    /* that training believes */
    int64_t round;    /* how often its set was gone through before: the epoch, except with FIXED */
    bool added;       /* of the added set */
    bool polluted;    /* carries a patch */
    bool mislabelled; /* by label noise */
} px_feeder_item;
px_feeder_item px_feeder_item_at(const px_feeder *feeder, int64_t step, int64_t position);

typedef struct px_feeder_counts {
    int64_t base, added; /* items that take part */
    int64_t polluted, mislabelled;
    int64_t added_per_batch; /* with PX_MIX_FIXED, else 0 */
} px_feeder_counts;
px_feeder_counts px_feeder_count(const px_feeder *feeder);

/* Of the data (px_dataset_hash, which items) and of all options that change what comes: a run may
 * be resumed with a feeder of the same hash. */
uint64_t px_feeder_hash(const px_feeder *feeder);

PX_END_DECLS
#endif
