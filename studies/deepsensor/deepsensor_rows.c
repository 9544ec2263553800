/* studies/deepsensor/deepsensor_rows.c - inputs one behind the other, as they are stored */
/* SPDX-License-Identifier: Apache-2.0 */
#include "deepsensor/deepsensor_rows.h"

#include "base/memory.h"

#include <internal/data.h>
#include <stdlib.h>
#include <string.h>

px_status ds_rows_new(px_dtype dtype, const px_shape *shape, int64_t count, ds_rows *out,
                      px_error *err)
{
    ds_rows rows = {.dtype = dtype, .shape = *shape, .size = 1, .count = count};
    for (int i = 0; i < shape->rank; i++)
        rows.size *= (size_t)shape->dim[i];
    rows.bytes = rows.size * (dtype == PX_UINT8 ? 1 : sizeof(float));
    rows.pixels = pxi_calloc((size_t)PX_MAX(count, (int64_t)1), rows.bytes);
    rows.labels = pxi_calloc((size_t)PX_MAX(count, (int64_t)1), sizeof *rows.labels);
    if (!rows.pixels || !rows.labels) {
        ds_rows_free(&rows);
        return pxi_no_memory(err);
    }
    *out = rows;
    return PX_OK;
}

void ds_rows_free(ds_rows *rows)
{
    free(rows->pixels);
    free(rows->labels);
    free(rows->indices);
    *rows = (ds_rows){0};
}

static px_status rows_for(const px_dataset *set, int64_t count, ds_rows *out, px_error *err)
{
    const px_shape shape = px_dataset_shape(set);
    return ds_rows_new(px_dataset_is_8bit(set) ? PX_UINT8 : PX_FLOAT32, &shape, count, out, err);
}

px_status ds_rows_read(const px_dataset *set, const int64_t *wanted, int64_t count, ds_rows *out,
                       px_error *err)
{
    ds_rows rows;
    PX_TRY(rows_for(set, count, &rows, err));
    float *values = NULL;
    px_status status = PX_NEW(values, rows.size, err);
    for (int64_t i = 0; i < count && status == PX_OK; i++) {
        const int64_t index = wanted ? wanted[i] : i;
        uint8_t *row = ds_rows_at(&rows, i);
        status = px_dataset_pixels(set, index, values, err);
        if (rows.dtype == PX_UINT8)
            for (size_t k = 0; k < rows.size; k++)
                row[k] = (uint8_t)values[k];
        else
            memcpy(row, values, rows.bytes);
        rows.labels[i] = px_dataset_label(set, index);
    }
    free(values);
    if (status == PX_OK)
        *out = rows;
    else
        ds_rows_free(&rows);
    return status;
}

static px_status rows_take(void *context, const px_attack_made *made, px_error *err)
{
    ds_rows *rows = context;
    (void)err;
    memcpy(ds_rows_at(rows, made->place),
           made->bytes ? (const void *)made->bytes : (const void *)made->exact, rows->bytes);
    rows->labels[made->place] = made->row->truth;
    return PX_OK;
}

px_status ds_rows_attack(const px_attack_job *job, const px_attack_options *options, ds_rows *out,
                         px_error *err)
{
    ds_rows rows;
    px_attack *attack = NULL;
    px_attack_options own = *options;
    PX_TRY(rows_for(job->set, job->inputs ? job->count : px_dataset_count(job->set), &rows, err));
    own.emit = rows_take;
    own.emit_context = &rows;
    const px_status status = px_attack_run(job, &own, &attack, err);
    px_attack_free(attack);
    if (status == PX_OK)
        *out = rows;
    else
        ds_rows_free(&rows);
    return status;
}

px_status ds_rows_save(const ds_rows *rows, const char *path, px_error *err)
{
    px_npz_writer *writer = NULL;
    px_tensor x = {.dtype = rows->dtype, .shape = rows->shape, .data = rows->pixels};
    px_tensor y = {
        .dtype = PX_INT64, .shape = {.rank = 1, .dim = {rows->count}}, .data = rows->labels};
    x.shape.rank++;
    for (int i = x.shape.rank - 1; i > 0; i--)
        x.shape.dim[i] = x.shape.dim[i - 1];
    x.shape.dim[0] = rows->count;
    PX_TRY(px_npz_create(path, &writer, err));
    px_status status = px_npz_add(writer, "x", &x, err);
    if (status == PX_OK)
        status = px_npz_add(writer, "y", &y, err);
    y.data = rows->indices;
    if (status == PX_OK && rows->indices)
        status = px_npz_add(writer, "indices", &y, err);
    if (status == PX_OK)
        return px_npz_commit(writer, err);
    px_npz_abandon(writer);
    return status;
}

void ds_rows_values(const ds_rows *rows, int64_t i, float *values)
{
    const uint8_t *row = ds_rows_at(rows, i);
    if (rows->dtype != PX_UINT8)
        memcpy(values, row, rows->bytes);
    for (size_t k = 0; rows->dtype == PX_UINT8 && k < rows->size; k++)
        values[k] = (float)row[k];
}

px_status ds_rows_inputs(const ds_rows *rows, const px_preprocess *pre, float *inputs,
                         px_error *err)
{
    for (int64_t i = 0; i < rows->count; i++) {
        float *values = inputs + (size_t)i * rows->size;
        ds_rows_values(rows, i, values);
        PX_TRY(px_preprocess_apply(pre, &rows->shape, values, err));
    }
    return PX_OK;
}
