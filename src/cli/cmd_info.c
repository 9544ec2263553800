/* src/cli/cmd_info.c - plexor info MODEL */
/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/cli_fields.h"
#include "cli/cli_net.h"

#include <internal/engine.h>
#include <internal/field.h>
#include <internal/graph.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct info { /* what could be found out; a part that could not has its reason beside it */
    const px_model *model;
    px_probe *probe;
    px_error probe_error;
    px_plan *plan;
    px_error plan_error;
    px_scores scores;
    px_error scores_error;
    char *unsupported; /* lines, or NULL */
    int64_t parameters, statistics;
    /* the result */
    cli_origin origin;
    int opset;
    int64_t flops, neurons; /* -1: not known */
    const char *definition; /* NULL: there are no neurons */
    bool has_scores;
    const px_property *properties;
    size_t property_count;
    bool shows_plan;
} info;

static void info_collect(info *in, const px_model *model, const cli_neurons *neurons,
                         const px_shape *open, int64_t batch, bool plan)
{
    px_plan_options options = px_plan_options_default();
    options.batch = batch;
    in->model = model;
    in->parameters = px_model_parameters(model, &in->statistics);
    in->unsupported = px_model_unsupported(model);
    in->plan_error.status = cli_plan_open(model, open, options, &in->plan, &in->plan_error);
    in->probe_error.status = cli_probe_new(model, neurons, open, &in->probe, &in->probe_error);
    if (in->probe_error.status == PX_E_USAGE && !neurons->layers) { /* none of them is hidden */
        cli_neurons all = *neurons;
        all.layers = "all";
        in->probe_error.status = cli_probe_new(model, &all, open, &in->probe, &in->probe_error);
    }
    in->scores_error.status = px_model_scores(model, &in->scores, &in->scores_error);
    in->origin = cli_origin_of(model, NULL);
    in->opset = px_model_opset(model);
    in->flops = in->plan ? px_plan_flops(in->plan) / px_plan_batch(in->plan) : -1;
    in->neurons = in->probe ? px_probe_neuron_count(in->probe) : -1;
    in->definition = in->probe ? px_probe_describe(in->probe) : NULL;
    in->has_scores = in->scores_error.status == PX_OK;
    in->properties = px_model_properties(model);
    in->property_count = px_model_property_count(model);
    in->shows_plan = plan && in->plan;
}

static void info_done(info *in)
{
    px_probe_free(in->probe);
    px_plan_free(in->plan);
    free(in->unsupported);
}

static bool info_is_slow(const char *kernel)
{
    return strncmp(kernel, "ref", 3) == 0 || strstr(kernel, ":ref") != NULL;
}

/* --- what a result is made of ---------------------------------------------------------------- */

typedef struct value_row { /* an input or output of the network */
    const char *name, *type;
    px_shape shape;
} value_row;

static const void *value_get(const info *in, const int *indices, int count, size_t i,
                             value_row *row)
{
    if (i >= (size_t)count)
        return NULL;
    const px_value *value = &px_model_graph(in->model)->values[indices[i]];
    *row = (value_row){value->name, value->dtype == PX_NONE ? NULL : px_dtype_name(value->dtype),
                       value->has_shape ? value->shape : (px_shape){.rank = -1}};
    return row;
}

static const void *input_get(const void *of, size_t i, void *place)
{
    const px_graph *graph = px_model_graph(((const info *)of)->model);
    return value_get(of, graph->inputs, graph->input_count, i, place);
}

static const void *output_get(const void *of, size_t i, void *place)
{
    const px_graph *graph = px_model_graph(((const info *)of)->model);
    return value_get(of, graph->outputs, graph->output_count, i, place);
}

typedef struct layer_row {
    const px_layer *layer;
    const char *kind, *tensor;
    char shape_text[PX_SHAPE_TEXT];
    px_shape shape; /* of one input */
} layer_row;

static const void *layer_get(const void *of, size_t i, void *place)
{
    const info *in = of;
    layer_row *row = place;
    if (!in->probe || i >= px_probe_layer_count(in->probe))
        return NULL;
    const px_layer *layer = px_probe_layer(in->probe, i);
    *row = (layer_row){.layer = layer,
                       .kind = px_layer_kind_name(layer->kind),
                       .tensor = px_model_graph(in->model)->values[layer->tap_value].name};
    px_shape_text(&layer->shape, row->shape_text);
    for (int d = 1; d < layer->shape.rank; d++)
        row->shape.dim[row->shape.rank++] = layer->shape.dim[d];
    return row;
}

typedef struct step_row {
    px_plan_step step;
    size_t number;
    double mflop;
    bool slow;
    char kernel[256];
} step_row;

static const void *step_get(const void *of, size_t i, void *place)
{
    const px_plan *plan = ((const info *)of)->plan;
    step_row *row = place;
    if (i >= px_plan_step_count(plan))
        return NULL;
    *row = (step_row){.step = px_plan_step_get(plan, i), .number = i};
    row->slow = info_is_slow(row->step.kernel);
    row->mflop = (double)row->step.flops * 1e-6;
    snprintf(row->kernel, sizeof row->kernel, "%s%s", row->step.kernel, row->slow ? " (slow)" : "");
    return row;
}

typedef struct line_row {
    const char *text;
    char line[1024];
} line_row;

static const void *unsupported_get(const void *of, size_t i, void *place)
{
    const char *p = ((const info *)of)->unsupported;
    line_row *row = place;
    row->text = row->line;
    for (; p && *p; p += strspn(p, "\n")) {
        const int length = (int)strcspn(p, "\n");
        if (i-- == 0) {
            snprintf(row->line, sizeof row->line, "%.*s", length, p);
            return row;
        }
        p += length;
    }
    return NULL;
}

static px_datum plan_batch(const void *of, char *text)
{
    (void)text;
    return px_datum_int(px_plan_batch(((const info *)of)->plan));
}

static px_datum plan_bytes(const void *of, char *text)
{
    (void)text;
    return px_datum_int((int64_t)px_plan_arena_bytes(((const info *)of)->plan));
}

static px_datum scores_tensor(const void *of, char *text)
{
    const info *in = of;
    (void)text;
    return px_datum_text(px_model_graph(in->model)->values[in->scores.value].name);
}

static const void *scores_get(const void *of, size_t i, void *place)
{
    (void)place;
    return i == 0 && ((const info *)of)->has_scores ? of : NULL;
}

static const char *const score_kinds[] = {"logits", "probs", NULL};
static const px_field scores_fields[] = {
    PX_MADE(TEXT, scores_tensor, "tensor", "its name"),
    PX_CHOICE(info, scores.probabilities, score_kinds, "kind", "of numbers"),
    PX_FIELD(info, scores.classes, "classes", "that there are"),
    PX_FIELD(info, scores.why, "why", "these are taken for the class scores"),
    PX_FIELDS_END,
};

static const px_field value_fields[] = {
    PX_FIELD(value_row, name, "name", "of the tensor"),
    PX_FIELD(value_row, type, "type", "as declared; null: it is not"),
    PX_FIELD(value_row, shape, "shape", "as declared; null: it is not"),
    PX_FIELDS_END,
};

static const px_field position_fields[] = {
    PX_FIELD(px_layer, position, NULL, NULL, .title = "#"),
    PX_FIELD(px_layer, name, "name", "of the layer", .title = "LAYER"),
    PX_FIELDS_END,
};
static const px_field place_fields[] = {
    PX_FIELD(px_layer, position, "position", "#i, among all layers of the network"),
    PX_FIELDS_END,
};
static const px_field neuron_fields[] = {
    PX_FIELD(px_layer, neuron_count, "neurons", "under the chosen view", .title = "NEURONS",
             .format = ","),
    PX_FIELD(px_layer, hidden, "hidden", "it is neither the class scores nor after them"),
    PX_FIELDS_END,
};

static const px_field layer_fields[] = {
    PX_OBJECT_AT(layer_row, layer, position_fields, ""),
    PX_FIELD(layer_row, tensor, "tensor", "that is looked at"),
    PX_OBJECT_AT(layer_row, layer, place_fields, ""),
    PX_FIELD(layer_row, kind, "kind", "of layer", .title = "KIND"),
    PX_CHARS(layer_row, shape_text, NULL, NULL, .title = "SHAPE"),
    PX_FIELD(layer_row, shape, "shape", "of one input's values"),
    PX_OBJECT_AT(layer_row, layer, neuron_fields, ""),
    PX_FIELD(layer_row, tensor, NULL, NULL, .title = "TENSOR"),
    PX_FIELDS_END,
};

static const px_field step_fields[] = {
    PX_FIELD(step_row, number, NULL, NULL, .title = "STEP"),
    PX_FIELD(step_row, step.type, "kind", "operator", .title = "KIND"),
    PX_FIELD(step_row, step.kernel, "kernel", "that runs it"),
    PX_CHARS(step_row, kernel, NULL, NULL, .title = "KERNEL"),
    PX_FIELD(step_row, step.node, "node", "of the graph", .title = "NODE"),
    PX_FIELD(step_row, step.flops, "flops", "of a batch"),
    PX_FIELD(step_row, mflop, NULL, NULL, .title = "MFLOP", .format = "%.3f"),
    PX_FIELD(step_row, slow, "ref", "a reference kernel, which is slow"),
    PX_FIELDS_END,
};

static const px_field plan_fields[] = {
    PX_MADE(INT, plan_batch, "batch", "inputs at a time"),
    PX_MADE(INT, plan_bytes, "bytes_per_worker", "of activations"),
    PX_LIST_MADE(step_get, step_fields, "steps", "in order"),
    PX_FIELDS_END,
};

static const px_field property_fields[] = {
    PX_FIELD(px_property, key, "key", "of the property"),
    PX_FIELD(px_property, value, "", "its value"),
    PX_FIELDS_END,
};

static const px_field info_fields[] = {
    PX_OBJECT(info, origin, cli_origin_fields, ""),
    PX_FIELD(info, opset, "opset", "version of ONNX's operators"),
    PX_LIST_MADE(input_get, value_fields, "inputs", "of the network"),
    PX_LIST_MADE(output_get, value_fields, "outputs", "of the network"),
    PX_FIELD(info, parameters, "parameters", "numbers that are learned"),
    PX_FIELD(info, statistics, "statistics", "running means and variances"),
    PX_INDEX(info, flops, "flops", "per input; null: it does not run"),
    PX_OBJECT_MADE(scores_get, scores_fields, "scores", "of classes; null: there are none"),
    PX_INDEX(info, neurons, "neurons", "under the chosen view; null: there are none"),
    PX_FIELD(info, definition, "definition", "of the neurons"),
    PX_LIST_MADE(layer_get, layer_fields, "layers", "that were chosen"),
    PX_MAP(info, properties, property_count, property_fields, "metadata", "of the file"),
    PX_VALUES_MADE(unsupported_get, char *, "unsupported", "operators that plexor lacks"),
    PX_OBJECT_OF(plan_fields, "plan", "with --plan", PX_IF(info, shows_plan)),
    PX_FIELDS_END,
};

/* --- for people ------------------------------------------------------------------------------ */

static void info_print_values(const info *in, const char *title, const int *indices, int count)
{
    const px_graph *graph = px_model_graph(in->model);
    char shape[PX_SHAPE_TEXT];
    for (int i = 0; i < count; i++) {
        const px_value *value = &graph->values[indices[i]];
        cli_print("%-12s'%s' %s%s%s\n", i ? "" : title, value->name,
                  value->has_shape ? px_shape_text(&value->shape, shape) : "of undeclared shape",
                  value->dtype == PX_NONE ? "" : " ",
                  value->dtype == PX_NONE ? "" : px_dtype_name(value->dtype));
    }
}

static void info_print_metadata(const info *in)
{
    const px_property *properties = px_model_properties(in->model);
    for (size_t i = 0; i < px_model_property_count(in->model); i++)
        cli_print("%-12s%s = %.200s\n", i ? "" : "metadata", properties[i].key,
                  properties[i].value);
}

static void info_print_layers(const info *in)
{
    if (!in->probe) {
        cli_print("\nlayers: %s\n", in->probe_error.message);
        return;
    }
    cli_print("\n%s\n", in->definition);
    cli_print_list(info_fields, "layers", in, "  ", 0);
}

static void info_print_plan(const info *in)
{
    char number[CLI_NUMBER_TEXT];
    if (!in->plan) {
        cli_print("\nplan: %s\n", in->plan_error.message);
        return;
    }
    int slow = 0;
    for (size_t i = 0; i < px_plan_step_count(in->plan); i++)
        slow += info_is_slow(px_plan_step_get(in->plan, i).kernel);
    cli_print("\nplan for %" PRId64 " inputs at a time, %s bytes per worker\n",
              px_plan_batch(in->plan), cli_number((int64_t)px_plan_arena_bytes(in->plan), number));
    cli_print_list(plan_fields, "steps", in, "  ", 0);
    if (slow)
        cli_print("  %d steps run oneDNN's reference kernels, which are slow\n", slow);
}

static void info_print(const void *of)
{
    const info *in = of;
    char a[CLI_NUMBER_TEXT], b[CLI_NUMBER_TEXT];
    const px_graph *graph = px_model_graph(in->model);
    cli_print("%s: ONNX, IR %d, opset %d", px_model_path(in->model), px_model_ir_version(in->model),
              px_model_opset(in->model));
    if (*px_model_producer(in->model))
        cli_print(", by %s", px_model_producer(in->model));
    cli_print("\n\n");
    info_print_values(in, "inputs", graph->inputs, graph->input_count);
    info_print_values(in, "outputs", graph->outputs, graph->output_count);
    if (in->scores_error.status == PX_OK)
        cli_print("%-12s%s, %d classes: %s\n", "scores",
                  in->scores.probabilities ? "probabilities" : "logits", in->scores.classes,
                  in->scores.why);
    else
        cli_print("%-12s%s\n", "scores", in->scores_error.message);
    cli_print("%-12s%s", "parameters", cli_number(in->parameters, a));
    if (in->statistics)
        cli_print(" (and %s running statistics)", cli_number(in->statistics, b));
    cli_print("\n%-12s%s\n", "nodes", cli_number(graph->node_count, a));
    if (in->plan)
        cli_print("%-12s%sFLOP per input\n", "cost",
                  cli_metric((double)px_plan_flops(in->plan) / (double)px_plan_batch(in->plan), a));
    else if (!in->unsupported)
        cli_print("%-12s%s\n", "cost", in->plan_error.message);
    info_print_metadata(in);
    if (in->unsupported) {
        cli_print("\nnot supported ('plexor list ops' shows what is):\n");
        for (const char *p = in->unsupported; *p;) {
            const size_t length = strcspn(p, "\n");
            fputs("  ", cli_out());
            fwrite(p, 1, length, cli_out());
            fputc('\n', cli_out());
            p += length + (p[length] != '\0');
        }
    }
    info_print_layers(in);
    if (in->shows_plan)
        info_print_plan(in);
}

static int info_run(const cli_command *self, int argc, char **argv)
{
    int64_t threads = 0;
    cli_neurons neurons = {0};
    bool plan = false;
    int64_t batch = 0;
    const char *path = NULL, *size = NULL;
    const cli_option options[] = {
        CLI_FLAG(0, "plan", &plan, "show the compiled steps and their kernels"),
        CLI_INT(0, "batch", &batch, "N", 0, 65536, "inputs at a time in that plan; 0: chosen"),
        CLI_STRING(0, "size", &size, "HxW", "of the pictures, where the network leaves it open"),
        CLI_NEURON_OPTIONS(&neurons),
        CLI_INT('j', "threads", &threads, "N", 0, 1024,
                "taken as everywhere; one thread is enough here"),
        CLI_OUTPUT_OPTIONS,
        CLI_END,
    };
    CLI_TRY(cli_parse(self, argc, argv, options, &path, 1, 1));
    px_error err = {0};
    px_model *model = NULL;
    px_shape open;
    if (cli_model_load_file(self, path, &model, &err) != PX_OK ||
        cli_open_shape(model, size, &open, &err) != PX_OK) {
        px_model_free(model);
        return cli_fail(self, &err);
    }
    info in = {0};
    info_collect(&in, model, &neurons, &open, batch, plan);
    /* a layer that does not exist, not a network we fail on */
    const px_status status = in.probe_error.status == PX_E_USAGE ? PX_E_USAGE : PX_OK;
    const int rc = cli_answer(self, status, &in.probe_error, &in, info_print);
    info_done(&in);
    px_model_free(model);
    return rc;
}

const cli_command cli_command_info = {
    .name = "info",
    .usage = "MODEL [--plan] [options]",
    .help = "show layers, shapes, parameters, cost, and what is not supported",
    .examples = "plexor info net.onnx\nplexor info net.onnx --layers all --plan\n"
                "plexor info net.onnx --size 224x224\n",
    .run = info_run,
    .result = info_fields,
};
