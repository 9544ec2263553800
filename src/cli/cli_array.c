/* src/cli/cli_array.c - arrays from .npy files as a network's own inputs */
#include "cli/cli_array.h"

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
    case PX_BOOL:
        return (double)((const uint8_t *)t->data)[i];
    case PX_INT8:
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
        {PX_UINT8, 0, 0x1p8},        {PX_INT8, -0x1p7, 0x1p7},    {PX_UINT16, 0, 0x1p16},
        {PX_INT16, -0x1p15, 0x1p15}, {PX_UINT32, 0, 0x1p32},      {PX_INT32, -0x1p31, 0x1p31},
        {PX_UINT64, 0, 0x1p64},      {PX_INT64, -0x1p63, 0x1p63}, {PX_BOOL, 0, 2},
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
    case PX_BOOL:
        ((uint8_t *)t->data)[i] = (uint8_t)v;
        break;
    case PX_INT8:
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
    px_tensor *arrays = calloc((size_t)graph->input_count + 1, sizeof *arrays);
    if (!arrays)
        return px_fail(err, PX_E_NOMEM, "out of memory");
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
        if (status == PX_OK)
            status = array_check(value, &arrays[i], path, err);
        /* half inputs are computed in float32, see px_session_input() */
        const bool real =
            value->dtype == PX_NONE || value->dtype == PX_FLOAT16 || value->dtype == PX_BFLOAT16;
        if (status == PX_OK)
            status = cli_array_cast(&arrays[i], real ? PX_FLOAT32 : value->dtype, path, err);
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

/* Whether every wanted value has one row per sample of the plan's micro-batch. */
static bool passage_by_rows(const px_plan *plan, const int *wanted, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        const px_shape shape = px_plan_shape(plan, wanted[i]);
        if (shape.rank < 1 || shape.dim[0] != px_plan_batch(plan))
            return false;
    }
    return true;
}

px_status cli_passage_new(const cli_command *self, const px_model *model, const px_tensor *arrays,
                          int64_t batch, px_plan_options options, const int *wanted,
                          size_t wanted_count, cli_passage *out, px_error *err)
{
    const px_graph *graph = px_model_graph(model);
    cli_passage passage = {0};
    if (graph->input_count == 1 && arrays[0].shape.rank > 0) {
        passage.count = arrays[0].shape.dim[0];
        PX_TRY(cli_plan_new(self, model, &arrays[0].shape, batch, passage.count, options,
                            &passage.plan, err));
        if (passage_by_rows(passage.plan, wanted, wanted_count)) {
            *out = passage;
            return PX_OK;
        }
        px_plan_free(passage.plan);
        passage.plan = NULL;
    }
    px_feed *feeds = calloc((size_t)graph->input_count + 1, sizeof *feeds);
    if (!feeds)
        return px_fail(err, PX_E_NOMEM, "out of memory");
    for (int i = 0; i < graph->input_count; i++)
        feeds[i] = (px_feed){.value = graph->inputs[i], .shape = arrays[i].shape};
    options.feeds = feeds;
    options.feed_count = (size_t)graph->input_count;
    options.batch = 0;
    passage.whole = true;
    const px_status status = px_plan_new(model, &options, &passage.plan, err);
    free(feeds);
    PX_TRY(status);
    passage.count = px_plan_batch(passage.plan);
    *out = passage;
    return PX_OK;
}

px_status cli_passage_fill(const cli_passage *passage, px_session *session, const px_tensor *arrays,
                           int64_t first, int64_t samples, px_error *err)
{
    (void)err;
    for (size_t f = 0; f < px_plan_feed_count(passage->plan); f++) {
        char *to = px_session_input(session, f);
        const px_shape shape = px_plan_feed_shape(passage->plan, f);
        const size_t all = (size_t)px_shape_count(&shape) * px_dtype_size(arrays[f].dtype);
        if (passage->whole) {
            memcpy(to, arrays[f].data, all);
            continue;
        }
        const size_t row = all / (size_t)shape.dim[0];
        memcpy(to, (const char *)arrays[f].data + (size_t)first * row, (size_t)samples * row);
        memset(to + (size_t)samples * row, 0, all - (size_t)samples * row);
    }
    return PX_OK;
}
