/* src/data/array_source.c - samples that are rows of one array (IDX, NPY, NPZ) */
#include "data/array_source.h"

#include "base/memory.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static px_status array_values(const pxi_source *source, int64_t index, float *out, px_error *err)
{
    const pxi_array_source *array = (const pxi_array_source *)source;
    if (!array->channels_last)
        return pxi_npy_floats(&array->bytes, &array->npy, array->name, index * array->row,
                              array->row, out, err);
    float *rows = pxi_calloc((size_t)array->row, sizeof *rows);
    if (!rows)
        return px_fail(err, PX_E_NOMEM, "out of memory");
    const px_status status = pxi_npy_floats(&array->bytes, &array->npy, array->name,
                                            index * array->row, array->row, rows, err);
    const size_t channels = (size_t)source->shape.dim[0], count = (size_t)array->row / channels;
    for (size_t c = 0; c < channels && status == PX_OK; c++)
        for (size_t i = 0; i < count; i++)
            out[c * count + i] = rows[i * channels + c];
    free(rows);
    return status;
}

static int64_t array_label(const pxi_source *source, int64_t index)
{
    const pxi_array_source *array = (const pxi_array_source *)source;
    return array->labels ? array->labels[index] : -1;
}

static void array_free(pxi_source *source)
{
    pxi_array_source *array = (pxi_array_source *)source;
    pxi_bytes_done(&array->bytes);
    pxi_tree_free(array->tree);
    free(array->labels);
    free(array->name);
    if (array->names)
        for (int i = 0; i < source->class_count; i++)
            free(array->names[i]);
    free(array->names);
    free(array);
}

static const pxi_source_type array_type = {
    .values = array_values,
    .label = array_label,
    .free = array_free,
};

/* Grey or RGB in the last axis and not in the first one: channels last. */
static bool is_channel_count(int64_t extent)
{
    return extent == 1 || extent == 3;
}

static void array_layout(pxi_array_source *array, const px_shape *stored)
{
    px_shape *shape = &array->base.shape;
    shape->rank = stored->rank - 1;
    memcpy(shape->dim, stored->dim + 1, sizeof shape->dim - sizeof shape->dim[0]);
    if (shape->rank == 2 && array->base.is_8bit)
        *shape = (px_shape){.rank = 3, .dim = {1, stored->dim[1], stored->dim[2]}};
    if (stored->rank == 4 && is_channel_count(stored->dim[3]) &&
        !is_channel_count(stored->dim[1])) {
        *shape = (px_shape){.rank = 3, .dim = {stored->dim[3], stored->dim[1], stored->dim[2]}};
        array->channels_last = stored->dim[3] > 1;
    }
}

px_status pxi_array_source_new(const char *kind, const char *name, pxi_tree *tree, pxi_bytes *bytes,
                               const pxi_npy *npy, pxi_array_source **out, px_error *err)
{
    pxi_array_source *array = pxi_calloc(1, sizeof *array);
    px_status status = PX_OK;
    if (!array) {
        pxi_bytes_done(bytes);
        pxi_tree_free(tree);
        return px_fail(err, PX_E_NOMEM, "out of memory");
    }
    array->base.type = &array_type;
    array->base.is_8bit = npy->dtype == PX_UINT8;
    snprintf(array->base.kind, sizeof array->base.kind, "%s", kind);
    array->bytes = *bytes;
    array->tree = tree;
    array->npy = *npy;
    *bytes = (pxi_bytes){0};
    if (!(array->name = pxi_strdup(name))) {
        status = px_fail(err, PX_E_NOMEM, "out of memory");
        goto done;
    }
    if (npy->shape.rank < 1 || npy->shape.dim[0] == 0) {
        status = px_fail(err, PX_E_INPUT, "'%s': holds no samples", name);
        goto done;
    }
    array->base.count = npy->shape.dim[0];
    array->row = px_shape_count(&npy->shape) / array->base.count;
    if (array->row == 0) {
        status = px_fail(err, PX_E_INPUT, "'%s': its samples are empty", name);
        goto done;
    }
    array_layout(array, &npy->shape);
    if (npy->fortran && npy->shape.rank > 1) { /* rows are not together: turn it round, once */
        px_tensor tensor = {0};
        status = pxi_npy_tensor(&array->bytes, name, &tensor, err);
        if (status != PX_OK)
            goto done;
        pxi_bytes_done(&array->bytes);
        array->bytes = pxi_bytes_view(tensor.data, px_tensor_bytes(&tensor));
        array->bytes.owned = tensor.data;
        array->npy.offset = 0;
        array->npy.swapped = array->npy.fortran = false;
    }
    *out = array;
    array = NULL;
done:
    if (array)
        array_free(&array->base);
    return status;
}

px_status pxi_array_source_set_labels(pxi_array_source *source, const pxi_bytes *bytes,
                                      const pxi_npy *npy, const char *name, px_error *err)
{
    const int64_t count = source->base.count;
    char shape[PX_SHAPE_TEXT];
    if (npy->shape.rank < 1 || npy->shape.dim[0] != count || px_shape_count(&npy->shape) != count)
        return px_fail(err, PX_E_MISMATCH,
                       "'%s': labels of shape %s do not fit the %lld samples of '%s'", name,
                       px_shape_text(&npy->shape, shape), (long long)count, source->name);
    int32_t *labels = pxi_calloc((size_t)count, sizeof *labels);
    if (!labels)
        return px_fail(err, PX_E_NOMEM, "out of memory");
    int64_t most = -1;
    px_status status = PX_OK;
    for (int64_t done = 0; done < count && status == PX_OK;) {
        float values[1024]; /* exact up to 2^24, and larger labels are refused */
        const int64_t n = PX_MIN(count - done, (int64_t)PX_LEN(values));
        status = pxi_npy_floats(bytes, npy, name, done, n, values, err);
        for (int64_t i = 0; i < n && status == PX_OK; i++) {
            const float v = values[i];
            if (!(v >= 0.0f && v < (float)PXI_CLASSES_MAX) || v != floorf(v))
                status = px_fail(err, PX_E_INPUT,
                                 "'%s': label %g of sample %lld is not a class index below %d",
                                 name, (double)v, (long long)(done + i), PXI_CLASSES_MAX);
            else
                labels[done + i] = (int32_t)v;
            most = PX_MAX(most, (int64_t)labels[done + i]);
        }
        done += n;
    }
    if (status != PX_OK) {
        free(labels);
        return status;
    }
    source->labels = labels;
    source->base.class_count = (int)(most + 1);
    return PX_OK;
}
