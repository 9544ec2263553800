/* studies/deepsensor/deepsensor_rows.h - inputs one behind the other, as they are stored */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PXI_STUDY_DEEPSENSOR_ROWS_H
#define PXI_STUDY_DEEPSENSOR_ROWS_H

#include <plexor/attack.h>

typedef struct ds_rows {
    px_dtype dtype; /* PX_UINT8 or PX_FLOAT32 */
    px_shape shape; /* of one, as px_dataset_shape() */
    size_t size;    /* values of one */
    size_t bytes;   /* that those take */
    int64_t count;
    uint8_t *pixels; /* [count][bytes] */
    int64_t *labels;
    int64_t *indices; /* where they come from; NULL: not told */
} ds_rows;

/* Room for `count` inputs, all 0, without indices. */
px_status ds_rows_new(px_dtype dtype, const px_shape *shape, int64_t count, ds_rows *out,
                      px_error *err);
void ds_rows_free(ds_rows *rows); /* what it holds; {0} is fine */
static inline uint8_t *ds_rows_at(const ds_rows *rows, int64_t i)
{
    return rows->pixels + (size_t)i * rows->bytes;
}

/* Rows of a data set: `wanted` of them by index, or the first `count` where it is NULL. */
px_status ds_rows_read(const px_dataset *set, const int64_t *wanted, int64_t count, ds_rows *out,
                       px_error *err);
/* What an attack makes of each of a data set's inputs, in its stored form. */
px_status ds_rows_attack(const px_attack_job *job, const px_attack_options *options, ds_rows *out,
                         px_error *err);
/* As an NPZ file, which is a data set: x, y, indices. */
px_status ds_rows_save(const ds_rows *rows, const char *path, px_error *err);

/* Row i as it is: 0..255 for bytes. */
void ds_rows_values(const ds_rows *rows, int64_t i, float *values);
/* All of them as a network's input, [count][size]. */
px_status ds_rows_inputs(const ds_rows *rows, const px_preprocess *pre, float *inputs,
                         px_error *err);

#endif
