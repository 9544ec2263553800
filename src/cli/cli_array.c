/* src/cli/cli_array.c - arrays from .npy files as a network's own inputs */
/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/cli_array.h"

#include "base/memory.h"

#include <internal/tensor.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static double array_get(const px_tensor *t, size_t i)
{
    switch (t->dtype) {
    case PX_FLOAT32:
        return (double)((const float *)t->data)[i];
    case PX_FLOAT64:
        return ((const double *)t->data)[i];
    case PX_FLOAT16:
        return (double)px_half_to_float(((const uint16_t *)t->data)[i]);
    case PX_BFLOAT16:
        return (double)px_bfloat_to_float(((const uint16_t *)t->data)[i]);
    case PX_UINT8:
    case PX_UINT4:
    case PX_BOOL:
        return (double)((const uint8_t *)t->data)[i];
    case PX_INT8:
    case PX_INT4:
        return (double)((const int8_t *)t->data)[i];
    case PX_UINT16:
        return (double)((const uint16_t *)t->data)[i];
    case PX_INT16:
        return (double)((const int16_t *)t->data)[i];
    case PX_UINT32:
        return (double)((const uint32_t *)t->data)[i];
    case PX_INT32:
        return (double)((const int32_t *)t->data)[i];
    case PX_UINT64:
        return (double)((const uint64_t *)t->data)[i];
    case PX_INT64:
        return (double)((const int64_t *)t->data)[i];
    case PX_NONE:
        break;
    }
    return 0.0;
}

/* Whole numbers' ranges; doubles hold all that is checked here exactly enough (2^63 itself is out).
 */
static bool array_fits(px_dtype dtype, double v)
{
    static const struct {
        px_dtype dtype;
        double least, beyond;
    } ranges[] = {
        {PX_UINT8, 0, 0x1p8},   {PX_INT8, -0x1p7, 0x1p7},
        {PX_UINT16, 0, 0x1p16}, {PX_INT16, -0x1p15, 0x1p15},
        {PX_UINT32, 0, 0x1p32}, {PX_INT32, -0x1p31, 0x1p31},
        {PX_UINT64, 0, 0x1p64}, {PX_INT64, -0x1p63, 0x1p63},
        {PX_BOOL, 0, 2},        {PX_UINT4, 0, 16},
        {PX_INT4, -8, 8},
    };
    for (size_t i = 0; i < sizeof ranges / sizeof ranges[0]; i++)
        if (ranges[i].dtype == dtype)
            return v >= ranges[i].least && v < ranges[i].beyond && v == floor(v);
    return true;
}

static void array_set(px_tensor *t, size_t i, double v)
{
    switch (t->dtype) {
    case PX_FLOAT32:
        ((float *)t->data)[i] = (float)v;
        break;
    case PX_FLOAT64:
        ((double *)t->data)[i] = v;
        break;
    case PX_FLOAT16:
        ((uint16_t *)t->data)[i] = px_float_to_half((float)v);
        break;
    case PX_BFLOAT16:
        ((uint16_t *)t->data)[i] = px_float_to_bfloat((float)v);
        break;
    case PX_UINT8:
    case PX_UINT4:
    case PX_BOOL:
        ((uint8_t *)t->data)[i] = (uint8_t)v;
        break;
    case PX_INT8:
    case PX_INT4:
        ((int8_t *)t->data)[i] = (int8_t)v;
        break;
    case PX_UINT16:
        ((uint16_t *)t->data)[i] = (uint16_t)v;
        break;
    case PX_INT16:
        ((int16_t *)t->data)[i] = (int16_t)v;
        break;
    case PX_UINT32:
        ((uint32_t *)t->data)[i] = (uint32_t)v;
        break;
    case PX_INT32:
        ((int32_t *)t->data)[i] = (int32_t)v;
        break;
    case PX_UINT64:
        ((uint64_t *)t->data)[i] = (uint64_t)v;
        break;
    case PX_INT64:
        ((int64_t *)t->data)[i] = (int64_t)v;
        break;
    case PX_NONE:
        break;
    }
}

px_status cli_array_cast(px_tensor *tensor, px_dtype dtype, const char *where, px_error *err)
{
    if (tensor->dtype == dtype)
        return PX_OK;
    px_tensor made = {0};
    PX_TRY(px_tensor_init(&made, dtype, &tensor->shape, err));
    const size_t count = (size_t)px_shape_count(&tensor->shape);
    for (size_t i = 0; i < count; i++) {
        const double v = array_get(tensor, i);
        if (!array_fits(dtype, v)) {
            px_tensor_done(&made);
            return px_fail(err, PX_E_MISMATCH, "'%s': the value %g at position %zu is no %s", where,
                           v, i, px_dtype_name(dtype));
        }
        array_set(&made, i, v);
    }
    px_tensor_done(tensor);
    *tensor = made;
    return PX_OK;
}

/* The given file for graph input `i`, or NULL. */
static const char *array_file(const px_graph *graph, const cli_list *given, int i)
{
    const char *name = graph->values[graph->inputs[i]].name;
    const size_t length = strlen(name);
    for (int g = 0; g < given->count; g++)
        if (strncmp(given->item[g], name, length) == 0 && given->item[g][length] == '=')
            return given->item[g] + length + 1;
    return graph->input_count == 1 && given->count == 1 ? given->item[0] : NULL;
}

static px_status array_check(const px_value *value, const px_tensor *array, const char *path,
                             px_error *err)
{
    char has[PX_SHAPE_TEXT], wants[PX_SHAPE_TEXT];
    bool fits = !value->has_shape || value->shape.rank == array->shape.rank;
    for (int d = 1; fits && value->has_shape && d < value->shape.rank; d++)
        fits = value->shape.dim[d] < 0 || value->shape.dim[d] == array->shape.dim[d];
    if (!fits)
        return px_fail(err, PX_E_MISMATCH, "'%s' has shape %s, the network's input '%s' wants %s",
                       path, px_shape_text(&array->shape, has), value->name,
                       px_shape_text(&value->shape, wants));
    if (px_shape_count(&array->shape) == 0)
        return px_fail(err, PX_E_INPUT, "'%s' is empty, its shape is %s", path,
                       px_shape_text(&array->shape, has));
    return PX_OK;
}

px_status cli_arrays_load(const px_model *model, const cli_list *given, px_tensor **out,
                          px_error *err)
{
    const px_graph *graph = px_model_graph(model);
    px_tensor *arrays = NULL;
    PX_TRY(PX_NEW(arrays, (size_t)graph->input_count + 1, err));
    px_status status = PX_OK;
    if (given->count > graph->input_count)
        status = px_fail(err, PX_E_USAGE, "--input is given %d times, the network has %d input%s",
                         given->count, graph->input_count, graph->input_count == 1 ? "" : "s");
    for (int i = 0; status == PX_OK && i < graph->input_count; i++) {
        const px_value *value = &graph->values[graph->inputs[i]];
        const char *path = array_file(graph, given, i);
        if (!path) {
            status = px_fail(err, PX_E_USAGE,
                             "nothing is given for input '%s'; say --input %s%sFILE.npy",
                             value->name, graph->input_count == 1 ? "" : value->name,
                             graph->input_count == 1 ? "" : "=");
            break;
        }
        status = px_npy_load(path, &arrays[i], err);
        PX_THEN(status, array_check(value, &arrays[i], path, err));
        /* half inputs are computed in float32, see px_session_input() */
        const bool real =
            value->dtype == PX_NONE || value->dtype == PX_FLOAT16 || value->dtype == PX_BFLOAT16;
        PX_THEN(status, cli_array_cast(&arrays[i], real ? PX_FLOAT32 : value->dtype, path, err));
    }
    if (status != PX_OK) {
        cli_arrays_free(model, arrays);
        return status;
    }
    *out = arrays;
    return PX_OK;
}

void cli_arrays_free(const px_model *model, px_tensor *arrays)
{
    for (int i = 0; arrays && i < px_model_graph(model)->input_count; i++)
        px_tensor_done(&arrays[i]);
    free(arrays);
}

px_status cli_labels_load(const char *path, int64_t count, int64_t **out, px_error *err)
{
    px_tensor labels = {0};
    PX_TRY(px_npy_load(path, &labels, err));
    px_status status = PX_OK;
    if (px_shape_count(&labels.shape) != count) {
        char text[PX_SHAPE_TEXT];
        status = px_fail(err, PX_E_MISMATCH, "'%s' has shape %s, but there are %" PRId64 " inputs",
                         path, px_shape_text(&labels.shape, text), count);
    } else {
        status = cli_array_cast(&labels, PX_INT64, path, err);
    }
    if (status != PX_OK) {
        px_tensor_done(&labels);
        return status;
    }
    *out = labels.data; /* aligned_alloc'd: free() takes it */
    return PX_OK;
}
