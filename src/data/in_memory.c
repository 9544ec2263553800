/* src/data/in_memory.c - data that a program has in memory, or makes when asked */
/* SPDX-License-Identifier: Apache-2.0 */
#include <internal/tensor.h>
#include <plexor/in_memory.h>

#include "base/mem_names.h"
#include "base/memory.h"
#include "data/array_source.h"
#include "data/dataset_internal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* --- arrays ---------------------------------------------------------------------------------- */

static bool array_has_gaps(const px_array *array)
{
    int64_t step = (int64_t)px_dtype_size(array->dtype);
    bool given = false, differs = false;
    for (int d = array->shape.rank - 1; d >= 0; d--) {
        given = given || array->stride[d] != 0;
        differs = differs || (array->stride[d] != step && array->shape.dim[d] > 1);
        step *= array->shape.dim[d];
    }
    return given && differs;
}

/* What a .npy file's header would say. */
static px_status array_npy(const px_array *array, const char *what, pxi_npy *out, pxi_bytes *bytes,
                           px_error *err)
{
    if (px_dtype_size(array->dtype) == 0)
        return px_fail(err, PX_E_USAGE, "%s have no element type", what);
    PX_TRY(px_shape_check(&array->shape, err));
    *out = (pxi_npy){
        .dtype = array->dtype, .item = px_dtype_size(array->dtype), .shape = array->shape};
    *bytes = pxi_bytes_view(array->data, (size_t)px_shape_count(&array->shape) * out->item);
    return PX_OK;
}

static px_status texts_copy(const char *const *texts, int64_t count, char ***out, px_error *err)
{
    if (!texts)
        return PX_OK;
    PX_TRY(PX_NEW(*out, count, err));
    for (int64_t i = 0; i < count; i++)
        PX_TRY(PX_DUP((*out)[i], texts[i], err));
    return PX_OK;
}

static px_status arrays_layout(pxi_array_source *source, const px_arrays *arrays, px_error *err)
{
    const px_shape *stored = &arrays->inputs.shape;
    const bool last = arrays->layout == PX_LAYOUT_CHANNELS_LAST;
    if (arrays->layout == PX_LAYOUT_GUESS || (!last && stored->rank != 4))
        return PX_OK;
    if (stored->rank != 4)
        return px_fail(err, PX_E_USAGE, "inputs with their channels last have 4 axes, not %d",
                       stored->rank);
    const int64_t *dim = stored->dim;
    source->base.shape = last ? (px_shape){.rank = 3, .dim = {dim[3], dim[1], dim[2]}}
                              : (px_shape){.rank = 3, .dim = {dim[1], dim[2], dim[3]}};
    source->channels_last = last && dim[3] > 1;
    return PX_OK;
}

static px_status arrays_side(pxi_array_source *source, const px_array *array, bool targets,
                             px_error *err)
{
    const char *what = targets ? "targets" : "labels";
    pxi_npy npy;
    pxi_bytes bytes;
    if (!array->data)
        return PX_OK;
    PX_TRY(array_npy(array, what, &npy, &bytes, err));
    if (array_has_gaps(array))
        return px_fail(err, PX_E_UNSUPPORTED, "%s lie in memory with gaps; copy them", what);
    return targets ? pxi_array_source_set_targets(source, &bytes, &npy, what, err)
                   : pxi_array_source_set_labels(source, &bytes, &npy, what, err);
}

static px_status arrays_classes(pxi_array_source *source, const px_arrays *arrays, px_error *err)
{
    if (!arrays->class_names)
        return PX_OK;
    if (arrays->class_count < source->base.class_count)
        return px_fail(err, PX_E_MISMATCH, "there are names of %d classes, and a label is %d",
                       arrays->class_count, source->base.class_count - 1);
    source->base.class_count = arrays->class_count;
    PX_TRY(texts_copy(arrays->class_names, arrays->class_count, &source->names, err));
    source->base.class_names = (const char *const *)source->names;
    return PX_OK;
}

static px_status arrays_fill(pxi_array_source *source, const px_arrays *arrays, px_error *err)
{
    PX_TRY(arrays_layout(source, arrays, err));
    PX_TRY(arrays_side(source, &arrays->labels, /* targets= */ false, err));
    PX_TRY(arrays_side(source, &arrays->targets, /* targets= */ true, err));
    PX_TRY(arrays_classes(source, arrays, err));
    PX_TRY(texts_copy(arrays->names, source->base.count, &source->input_names, err));
    if (array_has_gaps(&arrays->inputs)) {
        if (arrays->inputs.shape.rank > 4)
            return px_fail(err, PX_E_UNSUPPORTED,
                           "inputs of %d axes lie in memory with gaps; copy them",
                           arrays->inputs.shape.rank);
        source->strided = true;
        memcpy(source->stride, arrays->inputs.stride, sizeof source->stride);
    }
    return PX_OK;
}

px_status px_dataset_from_arrays(const px_arrays *arrays, const char *name, px_dataset **out,
                                 px_error *err)
{
    px_arrays given = px_arrays_default(); /* an older program's are shorter */
    pxi_array_source *source = NULL;
    pxi_npy npy;
    pxi_bytes bytes;
    memcpy(&given, arrays, PX_MIN(arrays->size, sizeof given));
    const px_dtype dtype = given.inputs.dtype;
    if (!given.inputs.data || (dtype != PX_UINT8 && dtype != PX_FLOAT32))
        return px_fail(err, PX_E_USAGE, "'%s': inputs are uint8 or float32, not %s", name,
                       px_dtype_name(dtype));
    PX_TRY(array_npy(&given.inputs, "inputs", &npy, &bytes, err));
    PX_TRY(pxi_array_source_new("arrays", name, NULL, &bytes, &npy, &source, err));
    const px_status status = arrays_fill(source, &given, err);
    if (status != PX_OK) {
        pxi_source_free(&source->base);
        return px_fail_in(err, status, "'%s'", name);
    }
    PX_TRY(pxi_dataset_make(&source->base, name, NULL, out, err));
    (*out)->source->released = given.release;
    (*out)->source->owner = given.context;
    return PX_OK;
}

/* --- functions ------------------------------------------------------------------------------- */

typedef struct given_source {
    pxi_source base;
    px_source is;
    char **names; /* of the classes */
} given_source;

static px_status given_values(const pxi_source *source, int64_t index, float *out, px_error *err)
{
    const px_source *is = &((const given_source *)source)->is;
    return is->read(is->context, index, out, err);
}

static int64_t given_label(const pxi_source *source, int64_t index)
{
    const px_source *is = &((const given_source *)source)->is;
    return is->label ? is->label(is->context, index) : -1;
}

static const char *given_name(const pxi_source *source, int64_t index, char *buffer, size_t size)
{
    const px_source *is = &((const given_source *)source)->is;
    if (is->name)
        return is->name(is->context, index, buffer, size);
    snprintf(buffer, size, "%lld", (long long)index);
    return buffer;
}

static void given_free(pxi_source *source)
{
    given_source *given = (given_source *)source;
    for (int i = 0; given->names && i < source->class_count; i++)
        free(given->names[i]);
    free(given->names);
    free(given);
}

static const pxi_source_type given_type = {
    .values = given_values,
    .label = given_label,
    .name = given_name,
    .free = given_free,
};

static px_status given_check(const px_source *is, px_error *err)
{
    PX_TRY(px_shape_check(&is->shape, err));
    if (!is->read || is->count < 1 || is->shape.rank < 1 || px_shape_count(&is->shape) < 1)
        return px_fail(err, PX_E_USAGE,
                       "a source has samples, a function that reads them, and their shape");
    if (is->class_count < 0 || is->class_count > PXI_CLASSES_MAX)
        return px_fail(err, PX_E_USAGE, "%d classes are not possible", is->class_count);
    return PX_OK;
}

px_status px_dataset_from_source(const px_source *source, const char *name, px_dataset **out,
                                 px_error *err)
{
    given_source *given = NULL;
    PX_TRY(PX_NEW(given, 1, err));
    given->is = px_source_default();
    memcpy(&given->is, source, PX_MIN(source->size, sizeof given->is));
    const px_source *is = &given->is;
    given->base = (pxi_source){.type = &given_type,
                               .count = is->count,
                               .is_8bit = is->is_8bit,
                               .shape = is->shape,
                               .class_count = is->class_count,
                               .kind = "samples of a program"};
    px_status status = given_check(is, err);
    PX_THEN(status, texts_copy(is->class_names, is->class_count, &given->names, err));
    if (status != PX_OK) {
        pxi_source_free(&given->base);
        return px_fail_in(err, status, "'%s'", name);
    }
    given->base.class_names = (const char *const *)given->names;
    PX_TRY(pxi_dataset_make(&given->base, name, NULL, out, err));
    given->base.released = is->free;
    given->base.owner = is->context;
    return PX_OK;
}

/* --- names ----------------------------------------------------------------------------------- */

static void mem_retain(void *thing)
{
    pxi_source_retain(thing);
}

static void mem_release(void *thing)
{
    pxi_source_free(thing);
}

static const pxi_mem_kind mem_data = {"data set", mem_retain, mem_release};

px_status px_mem_put(const char *name, const px_dataset *set, px_error *err)
{
    if (set->source->type->ready)
        return px_fail(err, PX_E_UNSUPPORTED,
                       "'%s': recordings are opened anew by each that uses them, and cannot be "
                       "put under a name",
                       set->spec);
    pxi_source_retain(set->source);
    const px_status status = pxi_mem_put(name, &mem_data, set->source, err);
    if (status != PX_OK)
        pxi_source_free(set->source);
    return status;
}

bool px_mem_remove(const char *name)
{
    return pxi_mem_remove(name);
}

px_status pxi_mem_open(const char *spec, const char *split, pxi_source **out, px_error *err)
{
    void *source = NULL;
    PX_TRY(pxi_mem_take(spec, &mem_data, &source, err));
    if (split) {
        pxi_source_free(source);
        return pxi_split_fail(spec, NULL, 0, split, err);
    }
    *out = source;
    return PX_OK;
}

px_status px_dataset_open_split(const char *spec, const char *split, px_dataset **out,
                                px_error *err)
{
    px_data_options options = px_data_options_default();
    options.split = split;
    return px_dataset_open(spec, &options, out, err);
}
