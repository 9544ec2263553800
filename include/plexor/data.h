/* include/plexor/data.h - data sets: a random-access source of (input, label, name)
 *
 *     px_dataset *set = NULL;
 *     px_data_options options = px_data_options_default();
 *     if (px_dataset_open("fashion-mnist", &options, &set, &err) == PX_OK)
 *         px_dataset_read(set, i, &sample, &err);
 *
 * A data set is lazy: pixels are decoded when asked for. After opening it is read-only and
 * px_dataset_read() may be called from many threads at once.
 */
#ifndef PLEXOR_DATA_H
#define PLEXOR_DATA_H

#include <plexor/property.h>
#include <plexor/tensor.h>

PX_BEGIN_DECLS

typedef struct px_dataset px_dataset;

typedef struct px_data_options {
    const char *split; /* "test" (default), "train", or another folder name */
    int64_t limit;     /* <= 0: all */
    int64_t offset;
    bool shuffle;      /* seeded permutation, applied before offset and limit */
    uint64_t seed;
    /* what the network wants; 0: as stored. Images are resized (PIL-like antialiased bilinear) and
     * turned grey or rgb as needed. */
    int height, width, channels;
} px_data_options;
PX_API px_data_options px_data_options_default(void);

/* SPEC as in `plexor help data`: folder, IDX, CIFAR, .npy/.npz, .csv, archive, or a known name. */
PX_API px_status px_dataset_open(const char *spec, const px_data_options *options, px_dataset **out,
                                 px_error *err);
PX_API void px_dataset_close(px_dataset *set);
PX_API int64_t px_dataset_count(const px_dataset *set);
PX_API bool px_dataset_has_labels(const px_dataset *set);
PX_API int px_dataset_class_count(const px_dataset *set);              /* 0: unknown */
PX_API const char *px_dataset_class_name(const px_dataset *set, int c); /* NULL: unknown */
PX_API const char *px_dataset_describe(const px_dataset *set);         /* "IDX, 10000 x 1x28x28 uint8" */
PX_API uint64_t px_dataset_hash(const px_dataset *set); /* of names, sizes and labels; stable */
PX_API bool px_dataset_is_8bit(const px_dataset *set);  /* pixels are 0..255; float otherwise */

/* The stored shape of a sample without the batch axis: [C,H,W] for images, anything for NPY. */
PX_API px_shape px_dataset_shape(const px_dataset *set);

/* Raw values as float in CHW order: 0..255 for 8-bit sources, as stored for float ones. `pixels`
 * has room for the product of px_dataset_shape(). */
PX_API px_status px_dataset_pixels(const px_dataset *set, int64_t index, float *pixels,
                                   px_error *err);
PX_API int64_t px_dataset_label(const px_dataset *set, int64_t index); /* -1: none */
/* Stable identity: relative path or row number; writes at most `size` bytes with the NUL. */
PX_API const char *px_dataset_name(const px_dataset *set, int64_t index, char *buffer, size_t size);
/* Index in the source before shuffle/offset/limit. */
PX_API int64_t px_dataset_index(const px_dataset *set, int64_t index);

/* --- preprocessing: (pixel * scale - mean) / std, options beat metadata beat defaults ------------ */

typedef struct px_preprocess {
    float scale;
    int channels;             /* how many of mean/stddev are used */
    float mean[16], stddev[16];
    int height, width;        /* what the network takes; 0: anything */
    bool bgr;                 /* swap the first and third channel */
    const char *scale_from, *mean_from, *std_from, *size_from; /* "option", "metadata", "default" */
} px_preprocess;

/* Works out what a network wants from its metadata (px_model_properties) and the declared shape of
 * its first input (px_value; -1: free). `scale`, `mean`, `std`, `size` are option texts or NULL. */
PX_API px_status px_preprocess_init(px_preprocess *pre, const px_property *properties,
                                    size_t property_count, const px_shape *input_shape,
                                    const char *scale, const char *mean, const char *std,
                                    const char *size, px_error *err);
/* Opens a data set in the shape that the network's first input wants, and completes `pre` with what
 * depends on the data (the default scale: 1/255 for 8-bit sources, 1 for float ones). */
PX_API px_status px_dataset_open_for(px_preprocess *pre, const px_shape *input_shape,
                                     const char *spec, const px_data_options *options,
                                     px_dataset **out, px_error *err);
/* Reads sample `index` straight into a network input (CHW). */
PX_API px_status px_dataset_input(const px_dataset *set, const px_preprocess *pre, int64_t index,
                                  float *input, px_error *err);

/* --- NPY and NPZ ---------------------------------------------------------------------------------- */

PX_API px_status px_npy_load(const char *path, px_tensor *out, px_error *err);
PX_API px_status px_npy_save(const char *path, const px_tensor *tensor, px_error *err);

typedef struct px_npz px_npz; /* a file being read */
PX_API px_status px_npz_open(const char *path, px_npz **out, px_error *err);
PX_API size_t px_npz_count(const px_npz *npz);
PX_API const char *px_npz_name(const px_npz *npz, size_t i); /* without ".npy" */
PX_API const px_tensor *px_npz_get(const px_npz *npz, const char *name); /* NULL: absent */
PX_API void px_npz_close(px_npz *npz);

typedef struct px_npz_writer px_npz_writer; /* deterministic bytes: fixed time stamps, given order */
PX_API px_status px_npz_create(const char *path, px_npz_writer **out, px_error *err);
PX_API px_status px_npz_add(px_npz_writer *writer, const char *name, const px_tensor *tensor,
                            px_error *err);
/* Streaming form for arrays that are too large to hold: shape first, then all bytes in order. */
PX_API px_status px_npz_begin(px_npz_writer *writer, const char *name, px_dtype dtype,
                              const px_shape *shape, px_error *err);
PX_API px_status px_npz_write(px_npz_writer *writer, const void *bytes, size_t size, px_error *err);
/* Renames the temporary file into place; frees the writer in any case. */
PX_API px_status px_npz_commit(px_npz_writer *writer, px_error *err);
PX_API void px_npz_abandon(px_npz_writer *writer); /* removes the temporary file */

PX_END_DECLS
#endif
