/* include/plexor/data.h - data sets: a random-access source of (input, label, name)
 *
 *     px_preprocess pre;
 *     px_dataset *set = NULL;
 *     px_data_options options = px_data_options_default();
 *     px_preprocess_init(&pre, properties, count, &input_shape, NULL, &err);
 *     px_dataset_open_for(&pre, &input_shape, "fashion-mnist", &options, &set, &err);
 *     px_dataset_input(set, &pre, 0, input, &err);
 *     px_dataset_close(set);
 *
 * A data set is lazy: pixels are decoded when asked for, and nothing is cached. After opening it is
 * read-only, and every function that takes a const px_dataset may be called from many threads at
 * once. docs/data.md has the formats, their limits, and the rules for splits and class order.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PLEXOR_DATA_H
#define PLEXOR_DATA_H

#include <plexor/audio.h>
#include <plexor/json.h>
#include <plexor/preprocess.h>
#include <plexor/property.h>
#include <plexor/tensor.h>

PX_BEGIN_DECLS

typedef struct px_dataset px_dataset;

typedef struct px_data_options {
    /* "test", "train", or another one that the data has. NULL: the test split; all of the data
     * where there are no splits. */
    const char *split;
    int64_t limit; /* <= 0: all */
    int64_t offset;
    bool shuffle; /* seeded permutation, applied before offset and limit */
    uint64_t seed;
    /* What the network wants; 0: as stored. 8-bit pictures are resized (PIL's antialiased bilinear)
     * and turned grey or RGB as needed; float arrays must fit. */
    int height, width, channels;
    /* How recordings become features; NULL: px_audio_default() with `height` frames and `width`
     * mels where those are given. */
    const px_audio *audio;
    /* The network's classes in its order; NULL: unknown. Where the data name theirs too, labels go
     * by name and are indices of the network's classes; a class with inputs that the network lacks
     * is PX_E_MISMATCH. Copied; px_model_data_options() fills them in. */
    const char *const *class_names;
    int class_count;
    /* What the network takes where that is not one array of float32; NULL: it is. Borrowed, and
     * filled in along. */
    const struct px_inputs *inputs;
    /* Numbers that the network is to give for every input, where it is one of regression: `y` is
     * not classes but these (px_dataset_target), and every label is 0, within the tolerance. Filled
     * in along; 0: it classifies. */
    int targets;
    /* Such a class is no error, and its inputs have no label: px_dataset_class_match(). */
    bool any_classes;
    /* Reads all that was chosen, and leaves out what cannot be read: px_dataset_skipped(). Counts
     * are then smaller than `limit`; px_dataset_index() is still that of the source. `progress`
     * (may be NULL) is told how many were read; false: PX_E_CANCELLED. */
    bool skip_damaged;
    bool (*progress)(void *context, int64_t done, int64_t total);
    void *context;
} px_data_options;
PX_API px_data_options px_data_options_default(void);

/* SPEC as in `plexor list data`: folder, IDX, CIFAR, .npy/.npz, .csv, archive, or a known name. On
 * PX_OK the caller owns *out. PX_E_USAGE: they have no such split; data that are damaged or cannot
 * be read are PX_E_INPUT and PX_E_IO, so that nobody takes other data in their place. */
PX_API px_status px_dataset_open(const char *spec, const px_data_options *options, px_dataset **out,
                                 px_error *err);
PX_API void px_dataset_close(px_dataset *set);          /* NULL is fine */
PX_API int64_t px_dataset_count(const px_dataset *set); /* at least 1 */
PX_API bool px_dataset_has_labels(const px_dataset *set);
/* The network's classes where their names were given (px_data_options), else the data's own. */
PX_API int px_dataset_class_count(const px_dataset *set);               /* 0: unknown */
PX_API const char *px_dataset_class_name(const px_dataset *set, int c); /* NULL: unknown */
/* Where labels went by name, what did not meet, a sentence each; NULL: nothing. */
typedef struct px_class_match {
    const char *unknown; /* on classes that the network lacks, with px_data_options.any_classes */
    const char *absent;  /* on classes of the network that the data lack; a remark, too */
    int unknown_count, absent_count; /* of classes */
} px_class_match;
PX_API const char *px_dataset_describe(const px_dataset *set); /* "IDX, 10000 x [1,28,28] uint8" */
/* Of names, sizes, labels and targets; stable. */
PX_API uint64_t px_dataset_hash(const px_dataset *set);
PX_API bool px_dataset_is_8bit(const px_dataset *set); /* pixels are 0..255; float otherwise */

/* The shape of a sample without the batch axis: [C,H,W] for images, anything for NPY. */
PX_API px_shape px_dataset_shape(const px_dataset *set);

/* Raw values as float in CHW order: 0..255 for 8-bit sources, as stored for float ones. `pixels`
 * has room for the product of px_dataset_shape(). Memory is taken for the call only. */
PX_API px_status px_dataset_pixels(const px_dataset *set, int64_t index, float *pixels,
                                   px_error *err);
PX_API int64_t px_dataset_label(const px_dataset *set, int64_t index); /* -1: none */
/* Soft targets, a probability for each class (the array `targets` of an NPZ file, docs/data.md):
 * how many there are per sample, 0 without any, and those of one sample. */
PX_API int px_dataset_target_count(const px_dataset *set);
PX_API px_status px_dataset_target(const px_dataset *set, int64_t index, float *target,
                                   px_error *err);
/* Stable identity: relative path or row number; writes at most `size` bytes with the NUL. */
PX_API const char *px_dataset_name(const px_dataset *set, int64_t index, char *buffer, size_t size);
/* Index in the source before shuffle/offset/limit. */
PX_API int64_t px_dataset_index(const px_dataset *set, int64_t index);

/* --- damage ---------------------------------------------------------------------------------- */

typedef struct px_damage {
    int64_t index; /* in the data set; of px_dataset_skipped(): as px_dataset_index() gives it */
    char *name, *reason;
} px_damage;

/* Of the pictures that were read so far: those that came in another size than the first one.
 * Returns `buffer`, or NULL where there are none. */
#define PX_SIZES_TEXT 448

/* --- recordings ------------------------------------------------------------------------------ */

/* Of the recordings that were read so far: how many are silent (nothing beyond -80 dB), how many
 * clipped (three samples or more in a row at full scale), and the first of either, -1 without. */
typedef struct px_audio_flaws {
    int64_t silent, clipped, first_silent, first_clipped;
} px_audio_flaws;

/* What is doubtful about labels that did not go by name, for a network of `classes` classes: their
 * number is another one. Returns `buffer`, or NULL where nothing is. */
#define PX_CLASSES_TEXT 384

/* --- as a network takes them ------------------------------------------------------------------ */

/* Opens a data set in the shape that the network's first input wants, and completes `pre` with what
 * depends on the data (the scale, see px_preprocess_fit(); what of the audio features follows from
 * the sample rate). */
PX_API px_status px_dataset_open_for(px_preprocess *pre, const px_shape *input_shape,
                                     const char *spec, const px_data_options *options,
                                     px_dataset **out, px_error *err);
/* Reads sample `index` straight into a network input (CHW; HWC if pre->channels_last). */
PX_API px_status px_dataset_input(const px_dataset *set, const px_preprocess *pre, int64_t index,
                                  float *input, px_error *err);

/* --- NPY and NPZ ----------------------------------------------------------------------------- */

PX_API px_status px_npy_load(const char *path, px_tensor *out, px_error *err);
PX_API px_status px_npy_save(const char *path, const px_tensor *tensor, px_error *err);

typedef struct px_npz px_npz; /* a file being read */
PX_API px_status px_npz_open(const char *path, px_npz **out, px_error *err);
PX_API size_t px_npz_count(const px_npz *npz);
PX_API const char *px_npz_name(const px_npz *npz, size_t i);             /* without ".npy" */
PX_API const px_tensor *px_npz_get(const px_npz *npz, const char *name); /* NULL: absent */
PX_API void px_npz_close(px_npz *npz);

typedef struct px_npz_writer
    px_npz_writer; /* deterministic bytes: fixed time stamps, given order */
PX_API px_status px_npz_create(const char *path, px_npz_writer **out, px_error *err);
PX_API px_status px_npz_write(px_npz_writer *writer, const void *bytes, size_t size, px_error *err);
/* Renames the temporary file into place; frees the writer in any case. */
PX_API px_status px_npz_commit(px_npz_writer *writer, px_error *err);
PX_API void px_npz_abandon(px_npz_writer *writer); /* removes the temporary file */

/* What scaled values (after pre->scale, before mean and std) may be where nobody says: 0 and what
 * 255 becomes for 8-bit data; for others 0 and 1 where all values lie between, else the least and
 * the greatest value of all inputs, which are read for it. Values that are no numbers are passed
 * over. */
PX_API px_status px_dataset_range(const px_dataset *set, const px_preprocess *pre, double *low,
                                  double *high, px_error *err);

PX_END_DECLS
#endif
