/* src/cover/npz_arrays.c - arrays of the files of this room */
/* SPDX-License-Identifier: Apache-2.0 */
#include "base/memory.h"

#include <internal/cover.h>
#include <internal/data.h>
#include <stdlib.h>

static char *array_name(const char *prefix, const char *name)
{
    px_text text = {0};
    px_text_format(&text, "%s/%s", prefix, name);
    return px_text_take(&text);
}

px_status px_npz_put(px_npz_writer *to, const char *prefix, const char *name, px_dtype dtype,
                     const px_shape *shape, const void *values, px_error *err)
{
    char *full = array_name(prefix, name);
    if (!full)
        return pxi_no_memory(err);
    const px_tensor tensor = {.dtype = dtype, .shape = *shape, .data = (void *)values};
    const px_status status = px_npz_add(to, full, &tensor, err); /* reads only */
    free(full);
    return status;
}

static bool shape_fits(const px_shape *shape, const px_shape *wanted)
{
    if (shape->rank != wanted->rank)
        return false;
    for (int d = 0; d < shape->rank; d++)
        if (wanted->dim[d] >= 0 && wanted->dim[d] != shape->dim[d])
            return false;
    return true;
}

px_status px_npz_take(const px_npz *from, const char *prefix, const char *name, px_dtype dtype,
                      const px_shape *shape, const void **values, px_shape *found, px_error *err)
{
    char *full = array_name(prefix, name);
    if (!full)
        return pxi_no_memory(err);
    char is[PX_SHAPE_TEXT], wanted[PX_SHAPE_TEXT];
    const px_tensor *tensor = px_npz_get(from, full);
    px_status status = PX_OK;
    if (!tensor)
        status = px_fail(err, PX_E_INPUT, "array '%.100s' is missing", full);
    else if (tensor->dtype != dtype || !shape_fits(&tensor->shape, shape))
        status = px_fail(err, PX_E_INPUT, "array '%.100s' is %s %s instead of %s %s", full,
                         px_dtype_name(tensor->dtype), px_shape_text(&tensor->shape, is),
                         px_dtype_name(dtype), px_shape_text(shape, wanted));
    free(full);
    if (status != PX_OK)
        return status;
    *values = tensor->data;
    if (found)
        *found = tensor->shape;
    return PX_OK;
}
