/* src/data/array_source.c - samples that are rows of one array (IDX, NPY, NPZ) */
/* SPDX-License-Identifier: Apache-2.0 */
#include "data/array_source.h"

#include "base/memory.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* One row, wherever its elements lie. */
static void array_strided(const pxi_array_source *array, int64_t index, float *out)
{
    int64_t extent[3] = {1, 1, 1}, step[3] = {0}, axis[3] = {1, 2, 3};
    const int rank = array->npy.shape.rank - 1;
    const uint8_t *at = array->bytes.data + index * array->stride[0];
    if (array->channels_last) { /* C, H, W of N, H, W, C */
        axis[0] = 3;
        axis[1] = 1;
        axis[2] = 2;
    }
    for (int d = 0; d < rank; d++) {
        extent[d] = array->npy.shape.dim[axis[d]];
        step[d] = array->stride[axis[d]];
    }
    for (int64_t i = 0; i < extent[0]; i++)
        for (int64_t j = 0; j < extent[1]; j++) {
            const uint8_t *from = at + i * step[0] + j * step[1];
            for (int64_t k = 0; k < extent[2]; k++, from += step[2])
                if (array->base.is_8bit)
                    *out++ = (float)*from;
                else
                    memcpy(out++, from, sizeof *out);
        }
}

static px_status array_values(const pxi_source *source, int64_t index, float *out, px_error *err)
{
    const pxi_array_source *array = (const pxi_array_source *)source;
    if (array->strided) {
        array_strided(array, index, out);
        return PX_OK;
    }
    if (!array->channels_last)
        return pxi_npy_floats(&array->bytes, &array->npy, array->name, index * array->row,
                              array->row, out, err);
    float *rows = NULL;
    PX_TRY(PX_NEW(rows, array->row, err));
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

static px_status array_target(const pxi_source *source, int64_t index, float *out, px_error *err)
{
    const pxi_array_source *array = (const pxi_array_source *)source;
    return pxi_npy_floats(&array->targets, &array->targets_npy, array->targets_name,
                          index * source->target_count, source->target_count, out, err);
}

static const char *array_name(const pxi_source *source, int64_t index, char *buffer, size_t size)
{
    const pxi_array_source *array = (const pxi_array_source *)source;
    if (array->input_names)
        snprintf(buffer, size, "%s", array->input_names[index]);
    else
        snprintf(buffer, size, "%lld", (long long)index);
    return buffer;
}

static void array_texts_free(char **texts, int64_t count)
{
    for (int64_t i = 0; texts && i < count; i++)
        free(texts[i]);
    free(texts);
}

static void array_free(pxi_source *source)
{
    pxi_array_source *array = (pxi_array_source *)source;
    pxi_bytes_done(&array->bytes);
    pxi_bytes_done(&array->targets);
    pxi_tree_free(array->tree);
    free(array->labels);
    free(array->targets_name);
    free(array->name);
    array_texts_free(array->names, source->class_count);
    array_texts_free(array->input_names, source->count);
    free(array);
}

static const pxi_source_type array_type = {
    .values = array_values,
    .label = array_label,
    .target = array_target,
    .name = array_name,
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

/* Where the rows of an array are not together it is turned round, once. */
static px_status array_row_major(pxi_bytes *bytes, pxi_npy *npy, const char *name, px_error *err)
{
    if (!npy->fortran || npy->shape.rank < 2)
        return PX_OK;
    px_tensor tensor = {0};
    PX_TRY(pxi_npy_tensor(bytes, name, &tensor, err));
    pxi_bytes_done(bytes);
    *bytes = pxi_bytes_view(tensor.data, px_tensor_bytes(&tensor));
    bytes->owned = tensor.data;
    npy->offset = 0;
    npy->swapped = npy->fortran = false;
    return PX_OK;
}

px_status pxi_array_source_new(const char *kind, const char *name, pxi_tree *tree, pxi_bytes *bytes,
                               const pxi_npy *npy, pxi_array_source **out, px_error *err)
{
    pxi_array_source *array = pxi_calloc(1, sizeof *array);
    px_status status = PX_OK;
    if (!array) {
        pxi_bytes_done(bytes);
        pxi_tree_free(tree);
        return pxi_no_memory(err);
    }
    array->base.type = &array_type;
    array->base.is_8bit = npy->dtype == PX_UINT8;
    snprintf(array->base.kind, sizeof array->base.kind, "%s", kind);
    array->bytes = *bytes;
    array->tree = tree;
    array->npy = *npy;
    *bytes = (pxi_bytes){0};
    if (!(array->name = pxi_strdup(name))) {
        status = pxi_no_memory(err);
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
    if ((status = array_row_major(&array->bytes, &array->npy, name, err)) != PX_OK)
        goto done;
    *out = array;
    array = NULL;
done:
    if (array)
        array_free(&array->base);
    return status;
}

/* Which of the numbers is the one 1 among zeros; -1: it is not that. */
static int32_t one_hot_class(const float *row, int64_t classes)
{
    int32_t found = -1;
    for (int64_t c = 0; c < classes; c++) {
        if (row[c] != 0.0f && (row[c] != 1.0f || found >= 0))
            return -1;
        if (row[c] == 1.0f)
            found = (int32_t)c;
    }
    return found;
}

/* Labels as rows of zeros with one 1, as Keras likes them. */
static px_status array_one_hot(pxi_array_source *source, const pxi_bytes *bytes, const pxi_npy *npy,
                               const char *name, px_error *err)
{
    const int64_t count = source->base.count, classes = npy->shape.dim[1];
    char shape[PX_SHAPE_TEXT];
    px_status status = PX_OK;
    px_tensor whole = {0}; /* only where rows are not together */
    pxi_npy rows = *npy;
    pxi_bytes view = *bytes;
    float *row = NULL;
    int32_t *labels = NULL;
    if (classes > PXI_CLASSES_MAX)
        return px_fail(err, PX_E_INPUT, "'%s': %lld classes are too many", name,
                       (long long)classes);
    if (npy->fortran) {
        PX_TRY(pxi_npy_tensor(bytes, name, &whole, err));
        view = pxi_bytes_view(whole.data, px_tensor_bytes(&whole));
        rows.offset = 0;
        rows.swapped = rows.fortran = false;
    }
    row = pxi_calloc((size_t)classes, sizeof *row);
    labels = pxi_calloc((size_t)count, sizeof *labels);
    if (!row || !labels)
        status = pxi_no_memory(err);
    for (int64_t i = 0; i < count && status == PX_OK; i++) {
        status = pxi_npy_floats(&view, &rows, name, i * classes, classes, row, err);
        if (status == PX_OK && (labels[i] = one_hot_class(row, classes)) < 0)
            status = px_fail(err, PX_E_MISMATCH,
                             "'%s': labels of shape %s are neither class numbers nor one-hot: row "
                             "%lld is not one 1 among zeros; take the argmax, or call "
                             "probabilities 'targets'",
                             name, px_shape_text(&npy->shape, shape), (long long)i);
    }
    if (status == PX_OK) {
        source->labels = labels;
        source->base.class_count = (int)classes;
        labels = NULL;
        snprintf(source->base.remark, sizeof source->base.remark,
                 "'%.200s': labels are one-hot; the class of a row is where its 1 is", name);
    }
    px_tensor_done(&whole);
    free(row);
    free(labels);
    return status;
}

px_status pxi_array_source_set_labels(pxi_array_source *source, const pxi_bytes *bytes,
                                      const pxi_npy *npy, const char *name, px_error *err)
{
    const int64_t count = source->base.count;
    char shape[PX_SHAPE_TEXT];
    if (npy->shape.rank == 2 && npy->shape.dim[0] == count && npy->shape.dim[1] > 1)
        return array_one_hot(source, bytes, npy, name, err);
    if (npy->shape.rank < 1 || npy->shape.dim[0] != count || px_shape_count(&npy->shape) != count)
        return px_fail(err, PX_E_MISMATCH,
                       "'%s': labels of shape %s do not fit the %lld samples of '%s'", name,
                       px_shape_text(&npy->shape, shape), (long long)count, source->name);
    int32_t *labels = NULL;
    PX_TRY(PX_NEW(labels, count, err));
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
                                 "'%s': label %g of sample %lld is not a class number: 0, 1, 2, "
                                 "... below %d",
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

/* One row of targets is a distribution, up to what half precision loses. */
static px_status target_check(const float *row, int classes, const char *name, int64_t sample,
                              int *likeliest, px_error *err)
{
    static const double slack = 1e-3;
    double sum = 0.0;
    *likeliest = 0;
    for (int c = 0; c < classes; c++) {
        if (!(row[c] >= 0.0f && row[c] <= 1.0f))
            return px_fail(err, PX_E_INPUT,
                           "'%s': target %g of sample %lld, class %d, is not a probability", name,
                           (double)row[c], (long long)sample, c);
        sum += (double)row[c];
        if (row[c] > row[*likeliest])
            *likeliest = c;
    }
    if (fabs(sum - 1.0) > slack)
        return px_fail(err, PX_E_INPUT, "'%s': the targets of sample %lld add up to %g, not 1",
                       name, (long long)sample, sum);
    return PX_OK;
}

/* Checks every row, and labels the samples that have no label of their own. */
static px_status targets_check(pxi_array_source *source, px_error *err)
{
    const int64_t count = source->base.count;
    const int classes = source->base.target_count;
    const bool labelled = source->labels != NULL;
    px_status status = PX_OK;
    float *row = pxi_calloc((size_t)classes, sizeof *row);
    if (!labelled)
        source->labels = pxi_calloc((size_t)count, sizeof *source->labels);
    if (!row || !source->labels)
        status = pxi_no_memory(err);
    for (int64_t i = 0; i < count && status == PX_OK; i++) {
        int likeliest = 0;
        status = array_target(&source->base, i, row, err);
        PX_THEN(status, target_check(row, classes, source->targets_name, i, &likeliest, err));
        if (!labelled)
            source->labels[i] = likeliest;
    }
    free(row);
    return status;
}

px_status pxi_array_source_set_targets(pxi_array_source *source, pxi_bytes *bytes,
                                       const pxi_npy *npy, const char *name, px_error *err)
{
    char shape[PX_SHAPE_TEXT];
    source->targets = *bytes;
    source->targets_npy = *npy;
    *bytes = (pxi_bytes){0};
    if (npy->shape.rank != 2 || npy->shape.dim[0] != source->base.count || npy->shape.dim[1] < 1 ||
        npy->shape.dim[1] > PXI_CLASSES_MAX)
        return px_fail(err, PX_E_MISMATCH,
                       "'%s': targets of shape %s are not [samples,classes] for the %lld samples "
                       "of '%s'",
                       name, px_shape_text(&npy->shape, shape), (long long)source->base.count,
                       source->name);
    if (source->base.class_count > npy->shape.dim[1])
        return px_fail(err, PX_E_MISMATCH, "'%s': has targets for %lld classes, a label is %d",
                       name, (long long)npy->shape.dim[1], source->base.class_count - 1);
    source->base.class_count = source->base.target_count = (int)npy->shape.dim[1];
    PX_TRY(PX_DUP(source->targets_name, name, err));
    PX_TRY(array_row_major(&source->targets, &source->targets_npy, name, err));
    return targets_check(source, err);
}

px_status pxi_array_source_set_numbers(pxi_array_source *source, pxi_bytes *bytes,
                                       const pxi_npy *npy, const char *name, int targets,
                                       px_error *err)
{
    char shape[PX_SHAPE_TEXT];
    const int64_t count = source->base.count;
    source->targets = *bytes;
    source->targets_npy = *npy;
    *bytes = (pxi_bytes){0};
    if (npy->shape.rank < 1 || npy->shape.dim[0] != count ||
        px_shape_count(&npy->shape) != count * targets)
        return px_fail(err, PX_E_MISMATCH,
                       "'%s': targets of shape %s are not %d number%s for each of the %lld samples "
                       "of '%s'",
                       name, px_shape_text(&npy->shape, shape), targets, targets == 1 ? "" : "s",
                       (long long)count, source->name);
    PX_TRY(PX_DUP(source->targets_name, name, err));
    PX_TRY(array_row_major(&source->targets, &source->targets_npy, name, err));
    PX_TRY(PX_NEW(source->labels, count, err)); /* zeros */
    pxi_source_set_verdicts(&source->base, targets);
    return PX_OK;
}
