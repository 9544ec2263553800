/* src/cli/onnx_case.c - one ONNX backend test: a folder with model.onnx and test_data_set_* */
#include "cli/onnx_case.h"

#include "cli/onnx_compare.h"

#include <plexor/engine.h>
#include <plexor/onnx.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { CASE_PATH = 4096, CASE_MOST_SETS = 1000 };

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
    px_tensor *tensors = calloc((size_t)count + 1, sizeof *tensors);
    px_status status = tensors ? PX_OK : px_fail(err, PX_E_NOMEM, "out of memory");
    for (int i = 0; i < count && status == PX_OK; i++) {
        snprintf(path, sizeof path, "%s/%s_%d.pb", folder, what, i);
        status = px_tensor_load_pb(path, &tensors[i], NULL, err);
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
            onnx_compare(&set->outputs[i], &set->expected[i], set->rtol, set->atol, err);
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
    if (status == PX_OK)
        status = px_session_forward(session, err);
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
    px_feed *feeds = calloc((size_t)graph->input_count + 1, sizeof *feeds);
    px_plan *plan = NULL;
    if (!feeds)
        return px_fail(err, PX_E_NOMEM, "out of memory");
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
        if (status == PX_OK)
            status = compare_outputs(set, "compiled", err);
    }
    px_plan_free(plan);
    free(feeds);
    return status;
}

static px_status run_data_set(const px_model *model, const char *folder, double rtol, double atol,
                              bool *compiled, px_error *err)
{
    const px_graph *graph = px_model_graph(model);
    data_set set = {.model = model, .rtol = rtol, .atol = atol};
    px_status status =
        read_tensors(graph, folder, "input", graph->inputs, graph->input_count, &set.inputs, err);
    if (status == PX_OK)
        status = read_tensors(graph, folder, "output", graph->outputs, graph->output_count,
                              &set.expected, err);
    if (status == PX_OK) {
        set.outputs = calloc((size_t)graph->output_count, sizeof *set.outputs);
        status = set.outputs ? px_model_interpret(model, set.inputs, set.outputs, err)
                             : px_fail(err, PX_E_NOMEM, "out of memory");
    }
    if (status == PX_OK)
        status = compare_outputs(&set, "interpreted", err);
    if (status == PX_OK)
        status = run_compiled(&set, compiled, err);
    data_set_done(&set);
    return status;
}

/* Which operator is behind "not supported": one that plexor lacks altogether, else the one that the
 * message names, else a type that is no tensor. */
static void blame(const px_model *model, onnx_case *out)
{
    const px_graph *graph = px_model_graph(model);
    char *unsupported = px_model_unsupported(model);
    if (unsupported) {
        snprintf(out->operator, sizeof out->operator, "%.*s", (int)strcspn(unsupported, " \n"),
                 unsupported);
        free(unsupported);
        return;
    }
    for (int n = 0; n < graph->node_count; n++) {
        char type[160];
        snprintf(type, sizeof type, "(%s)", graph->nodes[n].type);
        if (strstr(out->message, type)) {
            snprintf(out->operator, sizeof out->operator, "%s", graph->nodes[n].type);
            return;
        }
    }
    snprintf(out->operator, sizeof out->operator, "?");
}

/* An input or output that is no tensor of numbers; NULL if all are. */
static const px_value *foreign_value(const px_graph *graph)
{
    for (int i = 0; i < graph->input_count; i++)
        if (graph->values[graph->inputs[i]].foreign_type)
            return &graph->values[graph->inputs[i]];
    for (int i = 0; i < graph->output_count; i++)
        if (graph->values[graph->outputs[i]].foreign_type)
            return &graph->values[graph->outputs[i]];
    return NULL;
}

static void case_end(onnx_case *out, px_status status, const px_error *err)
{
    out->verdict = status == PX_OK              ? ONNX_PASSED
                   : status == PX_E_UNSUPPORTED ? ONNX_SKIPPED
                                                : ONNX_FAILED;
    snprintf(out->message, sizeof out->message, "%s", err->message);
}

void onnx_case_run(const char *folder, double rtol, double atol, onnx_case *out)
{
    char path[CASE_PATH];
    px_error err = {0};
    px_model *model = NULL;
    *out = (onnx_case){0};
    snprintf(path, sizeof path, "%s/model.onnx", folder);
    px_status status = px_model_load(path, &model, &err);
    if (status != PX_OK) {
        case_end(out, status, &err);
        snprintf(out->operator, sizeof out->operator, "?");
        return;
    }
    const px_value *foreign = foreign_value(px_model_graph(model));
    if (foreign) {
        status = px_fail(&err, PX_E_UNSUPPORTED, "'%s' is of the type %s", foreign->name,
                         foreign->foreign_type);
        case_end(out, status, &err);
        blame(model, out);
        if (strcmp(out->operator, "?") == 0)
            snprintf(out->operator, sizeof out->operator, "%s", foreign->foreign_type);
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
    if (out->verdict == ONNX_SKIPPED)
        blame(model, out);
    px_model_free(model);
}
