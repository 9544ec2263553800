/* include/plexor/in_memory.h - data that a program has in memory, or makes when asked
 *
 *     static float pixels[100][3][32][32];
 *     px_arrays arrays = px_arrays_default();
 *     px_dataset *set = NULL;
 *     arrays.inputs = px_array_of(pixels, PX_FLOAT32, 100, 3, 32, 32);
 *     if (px_dataset_from_arrays(&arrays, "pixels", &set, &err) == PX_OK)
 *         px_mem_put("pixels", set, &err);
 *     px_dataset_close(set);
 *
 * From then on the SPEC `mem:pixels` is known to all that opens data, and to every command of
 * px_call(). Memory is borrowed, not copied. An array gives the same results as a file that holds
 * it (`.npy`, or `.npz` with labels).
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PLEXOR_IN_MEMORY_H
#define PLEXOR_IN_MEMORY_H

#include <plexor/data.h>

PX_BEGIN_DECLS

typedef struct px_array {
    const void *data; /* the first element; NULL: there is no such array */
    px_dtype dtype;
    px_shape shape;              /* the first axis counts samples */
    int64_t stride[PX_MAX_RANK]; /* in bytes, also negative; all 0: row-major, no gaps */
} px_array;

typedef enum px_layout {
    PX_LAYOUT_GUESS, /* pictures whose last axis alone is 1 or 3 have their channels last */
    PX_LAYOUT_CHANNELS_FIRST,
    PX_LAYOUT_CHANNELS_LAST,
} px_layout;

typedef struct px_arrays {
    size_t size;
    px_array inputs; /* uint8 (pixels of 0..255) or float32 */
    px_layout layout;
    px_array labels;  /* integers or whole floats [N], or one-hot [N, classes]; copied */
    px_array targets; /* probabilities [N, classes] of soft labels */
    const char *const *class_names; /* class_count texts, copied; NULL: unknown */
    int class_count;
    const char *const *names; /* of the inputs, copied; NULL: their numbers */
    /* Called once, by the last that used the arrays, whichever thread that is in; not where
     * px_dataset_from_arrays() fails. NULL: nobody needs to know. */
    void (*release)(void *context);
    void *context;
} px_arrays;

/* All samples in their order; `name` is for messages. Labels and targets have no gaps. */
PX_API px_status px_dataset_from_arrays(const px_arrays *arrays, const char *name, px_dataset **out,
                                        px_error *err);

/* Data that a program makes or fetches one by one. The functions may be called by several threads
 * at once, and give the same for the same index whenever they are asked. */
typedef struct px_source {
    size_t size;
    void *context;
    int64_t count;
    px_shape shape;                 /* of a sample: [C,H,W] for pictures */
    bool is_8bit;                   /* values are pixels, whole numbers from 0 to 255 */
    const char *const *class_names; /* class_count texts, copied; NULL: unknown */
    int class_count;                /* 0: unknown */
    px_status (*read)(void *context, int64_t index, float *values, px_error *err);
    int64_t (*label)(void *context, int64_t index); /* NULL: no labels; -1: this one has none */
    /* Writes at most `size` bytes with the NUL, returns `buffer`; NULL: names are numbers. */
    const char *(*name)(void *context, int64_t index, char *buffer, size_t size);
    void (*free)(void *context); /* as `release` above; may be NULL */
} px_source;

PX_API px_status px_dataset_from_source(const px_source *source, const char *name, px_dataset **out,
                                        px_error *err);

/* Puts the data of a set under a name, for the SPEC `mem:NAME`, in place of what was there. The set
 * may be closed at once, its memory lives as long as the name. What the set leaves out (offset,
 * limit, shuffle) is there for whoever opens the name. Recordings are PX_E_UNSUPPORTED. */
PX_API px_status px_mem_put(const char *name, const px_dataset *set, px_error *err);
/* Forgets a name, of data or of a network (px_mem_put_model()); false: there is none. Data sets
 * that were opened by it live on. */
PX_API bool px_mem_remove(const char *name);

/* The other way: what any SPEC says, for a program to read with px_dataset_count(), _shape(),
 * _is_8bit(), _pixels(), _label(), _name(), _class_count() and _class_name() of data.h. `split` as
 * in px_data_options; NULL: the default. */
PX_API px_status px_dataset_open_split(const char *spec, const char *split, px_dataset **out,
                                       px_error *err);

/* `n` samples without gaps; axes that are not there are 0: px_array_of(labels, PX_INT64, n, 0, 0,
 * 0).
 */
static inline px_array px_array_of(const void *data, px_dtype dtype, int64_t n, int64_t c,
                                   int64_t h, int64_t w)
{
    const px_array array = {data, dtype, {c ? h ? w ? 4 : 3 : 2 : 1, {n, c, h, w}}, {0}};
    return array;
}

static inline px_arrays px_arrays_default(void)
{
    const px_array none = {NULL, PX_NONE, {0, {0}}, {0}};
    const px_arrays arrays = {sizeof arrays, none, PX_LAYOUT_GUESS, none, none, NULL, 0, NULL,
                              NULL,          NULL};
    return arrays;
}

static inline px_source px_source_default(void)
{
    const px_source source = {sizeof source, NULL, 0,    {0, {0}}, false, NULL, 0,
                              NULL,          NULL, NULL, NULL};
    return source;
}

PX_END_DECLS
#endif
