/* src/engine/onnx_case.c - one ONNX backend test: a folder with model.onnx and test_data_set_* */
/* SPDX-License-Identifier: Apache-2.0 */
#include "base/memory.h"

#include <internal/onnx.h>
#include <internal/tensor.h>
#include <inttypes.h>
#include <math.h>
#include <plexor/engine.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { CASE_PATH = 4096, CASE_MOST_SETS = 1000 };

/* --- is this the tensor that was expected? As numpy's assert_allclose has it ----------------- */

static bool is_half(px_dtype dtype)
{
    return dtype == PX_FLOAT16 || dtype == PX_BFLOAT16;
}

static double real_at(const px_tensor *tensor, int64_t i)
{
    switch (tensor->dtype) {
    case PX_FLOAT64:
        return ((const double *)tensor->data)[i];
    case PX_FLOAT16:
        return (double)px_half_to_float(((const uint16_t *)tensor->data)[i]);
    case PX_BFLOAT16:
        return (double)px_bfloat_to_float(((const uint16_t *)tensor->data)[i]);
    default:
        return (double)((const float *)tensor->data)[i];
    }
}

static bool near(double got, double expected, double rtol, double atol)
{
    if (isnan(got) || isnan(expected))
        return isnan(got) && isnan(expected);
    if (isinf(got) || isinf(expected))
        return got == expected;
    return fabs(got - expected) <= atol + rtol * fabs(expected);
}

static px_status compare_reals(const px_tensor *got, const px_tensor *expected, double rtol,
                               double atol, px_error *err)
{
    const int64_t count = px_shape_count(&expected->shape);
    int64_t wrong = 0, first = -1;
    /* Where a tensor has large elements, what is below a rounding of those is noise. */
    double largest = 0.0;
    for (int64_t i = 0; i < count && expected->dtype == PX_FLOAT32; i++)
        if (isfinite(real_at(expected, i)))
            largest = fmax(largest, fabs(real_at(expected, i)));
    const double noise = largest * 0x1p-23;
    for (int64_t i = 0; i < count; i++) {
        double value = real_at(got, i);
        if (expected->dtype == PX_FLOAT16) /* plexor computes halves in float */
            value = (double)px_half_to_float(px_float_to_half((float)value));
        else if (expected->dtype == PX_BFLOAT16)
            value = (double)px_bfloat_to_float(px_float_to_bfloat((float)value));
        if (near(value, real_at(expected, i), rtol, atol) ||
            (fabs(value) <= noise && fabs(real_at(expected, i)) <= noise))
            continue;
        wrong++;
        first = first < 0 ? i : first;
    }
    if (wrong)
        return px_fail(err, PX_E_MISMATCH,
                       "%" PRId64 " of %" PRId64 " elements differ, first %" PRId64
                       ": %.9g instead of %.9g",
                       wrong, count, first, real_at(got, first), real_at(expected, first));
    return PX_OK;
}

static px_status compare_tensors(const px_tensor *got, const px_tensor *expected, double rtol,
                                 double atol, px_error *err)
{
    char a[PX_SHAPE_TEXT], b[PX_SHAPE_TEXT];
    if (!px_shape_equal(&got->shape, &expected->shape))
        return px_fail(err, PX_E_MISMATCH, "the shape is %s instead of %s",
                       px_shape_text(&got->shape, a), px_shape_text(&expected->shape, b));
    if (got->dtype != expected->dtype && !(got->dtype == PX_FLOAT32 && is_half(expected->dtype)))
        return px_fail(err, PX_E_MISMATCH, "the type is %s instead of %s",
                       px_dtype_name(got->dtype), px_dtype_name(expected->dtype));
    if (expected->dtype == PX_FLOAT32 || expected->dtype == PX_FLOAT64 || is_half(expected->dtype))
        return compare_reals(got, expected, rtol, atol, err);
    const size_t size = px_dtype_size(expected->dtype);
    for (int64_t i = 0; i < px_shape_count(&expected->shape); i++)
        if (memcmp((const char *)got->data + (size_t)i * size,
                   (const char *)expected->data + (size_t)i * size, size) != 0)
            return px_fail(err, PX_E_MISMATCH, "element %" PRId64 " of %s differs", i,
                           px_dtype_name(expected->dtype));
    return PX_OK;
}

static px_status compare(const px_tensor *got, const px_tensor *expected, double rtol, double atol,
                         px_error *err)
{
    if (expected->dtype != PX_SEQUENCE)
        return compare_tensors(got, expected, rtol, atol, err);
    const int64_t count = expected->shape.dim[0];
    if (got->dtype != PX_SEQUENCE || got->shape.dim[0] != count)
        return px_fail(err, PX_E_MISMATCH, "it is no sequence of %" PRId64 " elements", count);
    for (int64_t i = 0; i < count; i++)
        PX_TRY(compare_tensors((const px_tensor *)got->data + i,
                               (const px_tensor *)expected->data + i, rtol, atol, err));
    return PX_OK;
}

/* --- data sets ------------------------------------------------------------------------------- */

typedef struct data_set {
    const px_model *model;
    double rtol, atol;
    px_tensor *inputs, *outputs, *expected; /* one per graph input, output, output */
} data_set;

static void tensors_free(px_tensor *tensors, int count)
{
    for (int i = 0; tensors && i < count; i++)
        px_tensor_done(&tensors[i]);
    free(tensors);
}

static void data_set_done(data_set *set)
{
    const px_graph *graph = px_model_graph(set->model);
    tensors_free(set->inputs, graph->input_count);
    tensors_free(set->outputs, graph->output_count);
    tensors_free(set->expected, graph->output_count);
}

/* input_0.pb, input_1.pb ... for the graph's inputs, in order; outputs likewise. The suite's own
 * generator has no bfloat16 and writes its bits as uint16. */
static px_status read_tensors(const px_graph *graph, const char *folder, const char *what,
                              const int *values, int count, px_tensor **out, px_error *err)
{
    char path[CASE_PATH];
    px_tensor *tensors = NULL;
    px_status status = PX_NEW(tensors, count + 1, err);
    for (int i = 0; i < count && status == PX_OK; i++) {
        snprintf(path, sizeof path, "%s/%s_%d.pb", folder, what, i);
        status = graph->values[values[i]].foreign_type
                     ? pxi_sequence_load_pb(path, &tensors[i], err)
                     : px_tensor_load_pb(path, &tensors[i], NULL, err);
        if (graph->values[values[i]].dtype == PX_BFLOAT16 && tensors[i].dtype == PX_UINT16)
            tensors[i].dtype = PX_BFLOAT16;
    }
    if (status != PX_OK) {
        tensors_free(tensors, count);
        return status;
    }
    *out = tensors;
    return PX_OK;
}

static px_status compare_outputs(const data_set *set, const char *how, px_error *err)
{
    const px_graph *graph = px_model_graph(set->model);
    for (int i = 0; i < graph->output_count; i++) {
        const px_status status =
            compare(&set->outputs[i], &set->expected[i], set->rtol, set->atol, err);
        if (status != PX_OK)
            return px_fail_in(err, status, "%s, output '%s'", how,
                              graph->values[graph->outputs[i]].name);
    }
    return PX_OK;
}

/* A session takes halves as float32, everything else as it is. */
static void fill_input(void *to, const px_tensor *from)
{
    const int64_t count = px_shape_count(&from->shape);
    const uint16_t *half = from->data;
    float *wide = to;
    if (from->dtype == PX_FLOAT16)
        for (int64_t i = 0; i < count; i++)
            wide[i] = px_half_to_float(half[i]);
    else if (from->dtype == PX_BFLOAT16)
        for (int64_t i = 0; i < count; i++)
            wide[i] = px_bfloat_to_float(half[i]);
    else
        memcpy(to, from->data, px_tensor_bytes(from));
}

static px_status run_session(data_set *set, const px_plan *plan, px_error *err)
{
    const px_graph *graph = px_model_graph(set->model);
    px_session *session = NULL;
    px_status status = px_session_new(plan, &session, err);
    for (int i = 0; i < graph->input_count && status == PX_OK; i++)
        fill_input(px_session_input(session, (size_t)i), &set->inputs[i]);
    PX_THEN(status, px_session_forward(session, err));
    for (int i = 0; i < graph->output_count && status == PX_OK; i++) {
        char a[PX_SHAPE_TEXT], b[PX_SHAPE_TEXT];
        const px_shape shape = px_plan_shape(plan, graph->outputs[i]);
        if (!px_shape_equal(&shape, &set->outputs[i].shape)) /* the interpreter's, at this point */
            status = px_fail(err, PX_E_MISMATCH, "the plan says %s, the interpreter %s",
                             px_shape_text(&shape, a), px_shape_text(&set->outputs[i].shape, b));
        else
            status = px_session_read(session, graph->outputs[i], -1, set->outputs[i].data, err);
    }
    px_session_free(session);
    return status;
}

/* The plan, where there can be one; it overwrites the interpreter's outputs. */
static px_status run_compiled(data_set *set, bool *compiled, px_error *err)
{
    const px_graph *graph = px_model_graph(set->model);
    px_feed *feeds = NULL;
    px_plan *plan = NULL;
    PX_TRY(PX_NEW(feeds, graph->input_count + 1, err));
    for (int i = 0; i < graph->input_count; i++)
        feeds[i] = (px_feed){.value = graph->inputs[i], .shape = set->inputs[i].shape};
    px_plan_options options = px_plan_options_default();
    options.feeds = feeds;
    options.feed_count = (size_t)graph->input_count;
    px_status status = px_plan_new(set->model, &options, &plan, err);
    if (status == PX_E_UNSUPPORTED) { /* a shape hangs on the value of an input */
        status = PX_OK;
    } else if (status == PX_OK) {
        *compiled = true;
        status = run_session(set, plan, err);
        PX_THEN(status, compare_outputs(set, "compiled", err));
    }
    px_plan_free(plan);
    free(feeds);
    return status;
}

/* An input or output that is no tensor of numbers, nor, if `sequences` pass, a sequence of them;
 * NULL if all are. */
static const px_value *foreign_value(const px_graph *graph, bool sequences)
{
    for (int i = 0; i < graph->input_count + graph->output_count; i++) {
        const px_value *value =
            &graph->values[i < graph->input_count ? graph->inputs[i]
                                                  : graph->outputs[i - graph->input_count]];
        if (value->foreign_type && !(sequences && strcmp(value->foreign_type, "sequence") == 0))
            return value;
    }
    return NULL;
}

static px_status run_data_set(const px_model *model, const char *folder, double rtol, double atol,
                              bool *compiled, px_error *err)
{
    const px_graph *graph = px_model_graph(model);
    data_set set = {.model = model, .rtol = rtol, .atol = atol};
    px_status status =
        read_tensors(graph, folder, "input", graph->inputs, graph->input_count, &set.inputs, err);
    PX_THEN(status, read_tensors(graph, folder, "output", graph->outputs, graph->output_count,
                                 &set.expected, err));
    PX_THEN(status, PX_NEW(set.outputs, graph->output_count, err));
    PX_THEN(status, px_model_interpret(model, set.inputs, set.outputs, err));
    PX_THEN(status, compare_outputs(&set, "interpreted", err));
    if (status == PX_OK && !foreign_value(graph, /* sequences= */ false))
        status = run_compiled(&set, compiled, err);
    data_set_done(&set);
    return status;
}

/* Which operator is behind "not supported": one that plexor lacks altogether, else the one that the
 * message names, else a type that is no tensor. */
static void blame(const px_model *model, px_onnx_case *out)
{
    const px_graph *graph = px_model_graph(model);
    char *unsupported = px_model_unsupported(model);
    if (unsupported) {
        snprintf(out->lacks, sizeof out->lacks, "%.*s", (int)strcspn(unsupported, " \n"),
                 unsupported);
        free(unsupported);
        return;
    }
    for (int n = 0; n < graph->node_count; n++) {
        char type[160];
        snprintf(type, sizeof type, "(%s)", graph->nodes[n].type);
        if (strstr(out->message, type)) {
            snprintf(out->lacks, sizeof out->lacks, "%s", graph->nodes[n].type);
            return;
        }
    }
    snprintf(out->lacks, sizeof out->lacks, "?");
}

static void case_end(px_onnx_case *out, px_status status, const px_error *err)
{
    out->verdict = status == PX_OK              ? PX_ONNX_PASSED
                   : status == PX_E_UNSUPPORTED ? PX_ONNX_SKIPPED
                                                : PX_ONNX_FAILED;
    snprintf(out->message, sizeof out->message, "%s", err->message);
}

void px_onnx_case_run(const char *folder, double rtol, double atol, px_onnx_case *out)
{
    char path[CASE_PATH];
    px_error err = {0};
    px_model *model = NULL;
    *out = (px_onnx_case){0};
    snprintf(path, sizeof path, "%s/model.onnx", folder);
    px_status status = px_model_load(path, &model, &err);
    if (status != PX_OK) {
        case_end(out, status, &err);
        snprintf(out->lacks, sizeof out->lacks, "?");
        return;
    }
    const px_value *foreign = foreign_value(px_model_graph(model), /* sequences= */ true);
    if (foreign) {
        status = px_fail(&err, PX_E_UNSUPPORTED, "'%s' is of the type %s, which is not supported",
                         foreign->name, foreign->foreign_type);
        case_end(out, status, &err);
        blame(model, out);
        if (strcmp(out->lacks, "?") == 0)
            snprintf(out->lacks, sizeof out->lacks, "%s", foreign->foreign_type);
        px_model_free(model);
        return;
    }
    int sets = 0;
    for (; sets < CASE_MOST_SETS && status == PX_OK; sets++) {
        snprintf(path, sizeof path, "%s/test_data_set_%d", folder, sets);
        if (access(path, F_OK) != 0)
            break;
        status = run_data_set(model, path, rtol, atol, &out->compiled, &err);
    }
    if (sets == 0)
        status = px_fail(&err, PX_E_INPUT, "'%s': has no test_data_set_0", folder);
    case_end(out, status, &err);
    if (out->verdict == PX_ONNX_SKIPPED)
        blame(model, out);
    px_model_free(model);
}
