/* src/cli/cmd_info.c - plexor info MODEL */
#include "cli/cli_net.h"

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
} info;

static void info_collect(info *in, const px_model *model, const cli_neurons *neurons,
                         const px_shape *open, int64_t batch)
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
}

static void info_done(info *in)
{
    px_probe_free(in->probe);
    px_plan_free(in->plan);
    free(in->unsupported);
}

static void info_print_values(const info *in, const char *title, const int *indices, int count)
{
    const px_graph *graph = px_model_graph(in->model);
    char shape[PX_SHAPE_TEXT];
    for (int i = 0; i < count; i++) {
        const px_value *value = &graph->values[indices[i]];
        printf("%-12s'%s' %s%s%s\n", i ? "" : title, value->name,
               value->has_shape ? px_shape_text(&value->shape, shape) : "of undeclared shape",
               value->dtype == PX_NONE ? "" : " ",
               value->dtype == PX_NONE ? "" : px_dtype_name(value->dtype));
    }
}

static void info_print_metadata(const info *in)
{
    const px_property *properties = px_model_properties(in->model);
    for (size_t i = 0; i < px_model_property_count(in->model); i++)
        printf("%-12s%s = %.200s\n", i ? "" : "metadata", properties[i].key, properties[i].value);
}

static void info_print_layers(const info *in)
{
    char shape[PX_SHAPE_TEXT], number[CLI_NUMBER_TEXT];
    if (!in->probe) {
        printf("\nlayers: %s\n", in->probe_error.message);
        return;
    }
    printf("\n%s\n", px_probe_describe(in->probe));
    const px_graph *graph = px_model_graph(in->model);
    cli_table *table = cli_table_new("rlllrl");
    static const char *const titles[] = {"#", "LAYER", "KIND", "SHAPE", "NEURONS", "TENSOR"};
    for (size_t i = 0; i < sizeof titles / sizeof titles[0]; i++)
        cli_table_cell(table, "%s", titles[i]);
    for (size_t i = 0; i < px_probe_layer_count(in->probe); i++) {
        const px_layer *layer = px_probe_layer(in->probe, i);
        cli_table_cell(table, "%d", layer->position);
        cli_table_cell(table, "%s", layer->name);
        cli_table_cell(table, "%s", px_layer_kind_name(layer->kind));
        cli_table_cell(table, "%s", px_shape_text(&layer->shape, shape));
        cli_table_cell(table, "%s", cli_number(layer->neuron_count, number));
        cli_table_cell(table, "%s", graph->values[layer->tap_value].name);
    }
    cli_table_print_free(table, "  ");
}

static bool info_is_slow(const char *kernel)
{
    return strncmp(kernel, "ref", 3) == 0 || strstr(kernel, ":ref") != NULL;
}

static void info_print_plan(const info *in)
{
    char number[CLI_NUMBER_TEXT];
    if (!in->plan) {
        printf("\nplan: %s\n", in->plan_error.message);
        return;
    }
    int slow = 0;
    printf("\nplan for %" PRId64 " inputs at a time, %s bytes per worker\n",
           px_plan_batch(in->plan), cli_number((int64_t)px_plan_arena_bytes(in->plan), number));
    cli_table *table = cli_table_new("rlllr");
    static const char *const titles[] = {"STEP", "KIND", "KERNEL", "NODE", "MFLOP"};
    for (size_t i = 0; i < 5; i++)
        cli_table_cell(table, "%s", titles[i]);
    for (size_t i = 0; i < px_plan_step_count(in->plan); i++) {
        const px_plan_step step = px_plan_step_get(in->plan, i);
        slow += info_is_slow(step.kernel);
        cli_table_cell(table, "%zu", i);
        cli_table_cell(table, "%s", step.type);
        cli_table_cell(table, "%s%s", step.kernel, info_is_slow(step.kernel) ? " (slow)" : "");
        cli_table_cell(table, "%s", step.node);
        cli_table_cell(table, "%.3f", (double)step.flops * 1e-6);
    }
    cli_table_print_free(table, "  ");
    if (slow)
        printf("  %d steps run oneDNN's reference kernels, which are slow\n", slow);
}

static void info_print(const info *in, bool plan)
{
    char a[CLI_NUMBER_TEXT], b[CLI_NUMBER_TEXT];
    const px_graph *graph = px_model_graph(in->model);
    printf("%s: ONNX, IR %d, opset %d", px_model_path(in->model), px_model_ir_version(in->model),
           px_model_opset(in->model));
    if (*px_model_producer(in->model))
        printf(", by %s", px_model_producer(in->model));
    printf("\n\n");
    info_print_values(in, "inputs", graph->inputs, graph->input_count);
    info_print_values(in, "outputs", graph->outputs, graph->output_count);
    if (in->scores_error.status == PX_OK)
        printf("%-12s%s, %d classes: %s\n", "scores",
               in->scores.probabilities ? "probabilities" : "logits", in->scores.classes,
               in->scores.why);
    else
        printf("%-12s%s\n", "scores", in->scores_error.message);
    printf("%-12s%s", "parameters", cli_number(in->parameters, a));
    if (in->statistics)
        printf(" (and %s running statistics)", cli_number(in->statistics, b));
    printf("\n%-12s%s\n", "nodes", cli_number(graph->node_count, a));
    if (in->plan)
        printf("%-12s%sFLOP per input\n", "cost",
               cli_metric((double)px_plan_flops(in->plan) / (double)px_plan_batch(in->plan), a));
    else if (!in->unsupported)
        printf("%-12s%s\n", "cost", in->plan_error.message);
    info_print_metadata(in);
    if (in->unsupported) {
        printf("\nnot supported ('plexor list ops' shows what is):\n");
        for (const char *p = in->unsupported; *p;) {
            const size_t length = strcspn(p, "\n");
            fputs("  ", stdout);
            fwrite(p, 1, length, stdout);
            putchar('\n');
            p += length + (p[length] != '\0');
        }
    }
    info_print_layers(in);
    if (plan)
        info_print_plan(in);
}

static void info_json_values(const info *in, px_json *json, const char *key, const int *indices,
                             int count)
{
    const px_graph *graph = px_model_graph(in->model);
    px_json_array(json, key);
    for (int i = 0; i < count; i++) {
        const px_value *value = &graph->values[indices[i]];
        px_json_object(json, NULL);
        px_json_string(json, "name", value->name);
        px_json_string(json, "type", value->dtype == PX_NONE ? NULL : px_dtype_name(value->dtype));
        if (value->has_shape) {
            px_json_array(json, "shape");
            for (int d = 0; d < value->shape.rank; d++) {
                if (value->shape.dim[d] < 0)
                    px_json_null(json, NULL);
                else
                    px_json_int(json, NULL, value->shape.dim[d]);
            }
            px_json_end(json);
        } else {
            px_json_null(json, "shape");
        }
        px_json_end(json);
    }
    px_json_end(json);
}

static void info_json_layers(const info *in, px_json *json)
{
    px_json_string(json, "definition", in->probe ? px_probe_describe(in->probe) : NULL);
    px_json_array(json, "layers");
    for (size_t i = 0; in->probe && i < px_probe_layer_count(in->probe); i++) {
        const px_layer *layer = px_probe_layer(in->probe, i);
        px_json_object(json, NULL);
        px_json_string(json, "name", layer->name);
        px_json_string(json, "tensor", px_model_graph(in->model)->values[layer->tap_value].name);
        px_json_int(json, "position", layer->position);
        px_json_string(json, "kind", px_layer_kind_name(layer->kind));
        px_json_array(json, "shape"); /* of one input */
        for (int d = 1; d < layer->shape.rank; d++)
            px_json_int(json, NULL, layer->shape.dim[d]);
        px_json_end(json);
        px_json_int(json, "neurons", layer->neuron_count);
        px_json_bool(json, "hidden", layer->hidden);
        px_json_end(json);
    }
    px_json_end(json);
}

static void info_json_plan(const info *in, px_json *json)
{
    px_json_object(json, "plan");
    px_json_int(json, "batch", px_plan_batch(in->plan));
    px_json_int(json, "bytes_per_worker", (int64_t)px_plan_arena_bytes(in->plan));
    px_json_array(json, "steps");
    for (size_t i = 0; i < px_plan_step_count(in->plan); i++) {
        const px_plan_step step = px_plan_step_get(in->plan, i);
        px_json_object(json, NULL);
        px_json_string(json, "kind", step.type);
        px_json_string(json, "kernel", step.kernel);
        px_json_string(json, "node", step.node);
        px_json_int(json, "flops", step.flops);
        px_json_bool(json, "ref", info_is_slow(step.kernel));
        px_json_end(json);
    }
    px_json_end(json);
    px_json_end(json);
}

static int info_json(const cli_command *self, const info *in, bool plan, int argc, char **argv)
{
    const px_graph *graph = px_model_graph(in->model);
    px_json json = {0};
    px_json_object(&json, NULL);
    cli_json_origin(&json, in->model, NULL, argc, argv);
    px_json_int(&json, "opset", px_model_opset(in->model));
    info_json_values(in, &json, "inputs", graph->inputs, graph->input_count);
    info_json_values(in, &json, "outputs", graph->outputs, graph->output_count);
    px_json_int(&json, "parameters", in->parameters);
    px_json_int(&json, "statistics", in->statistics);
    if (in->plan)
        px_json_int(&json, "flops", px_plan_flops(in->plan) / px_plan_batch(in->plan));
    else
        px_json_null(&json, "flops");
    if (in->scores_error.status == PX_OK) {
        px_json_object(&json, "scores");
        px_json_string(&json, "tensor", graph->values[in->scores.value].name);
        px_json_string(&json, "kind", in->scores.probabilities ? "probs" : "logits");
        px_json_int(&json, "classes", in->scores.classes);
        px_json_string(&json, "why", in->scores.why);
        px_json_end(&json);
    } else {
        px_json_null(&json, "scores");
    }
    if (in->probe)
        px_json_int(&json, "neurons", px_probe_neuron_count(in->probe));
    else
        px_json_null(&json, "neurons");
    info_json_layers(in, &json);
    px_json_object(&json, "metadata");
    for (size_t i = 0; i < px_model_property_count(in->model); i++)
        px_json_string(&json, px_model_properties(in->model)[i].key,
                       px_model_properties(in->model)[i].value);
    px_json_end(&json);
    px_json_array(&json, "unsupported");
    char *copy = in->unsupported ? strdup(in->unsupported) : NULL;
    for (char *rest = copy, *line; (line = strsep(&rest, "\n"));)
        if (*line)
            px_json_string(&json, NULL, line);
    free(copy);
    px_json_end(&json);
    if (plan && in->plan)
        info_json_plan(in, &json);
    px_json_end(&json);
    return cli_print_json(self, &json);
}

static int info_run(const cli_command *self, int argc, char **argv)
{
    cli_output output = {0};
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
        CLI_OUTPUT_OPTIONS(&output),
        CLI_END,
    };
    const int stop = cli_parse(self, argc, argv, options, &path, 1, 1);
    if (stop != CLI_GO)
        return stop;
    px_error err = {0};
    px_model *model = NULL;
    px_shape open;
    if (cli_model_load(self, path, &model, &err) != PX_OK ||
        cli_open_shape(model, size, &open, &err) != PX_OK) {
        px_model_free(model);
        return cli_fail(self, &err);
    }
    info in = {0};
    int rc = CLI_DONE;
    info_collect(&in, model, &neurons, &open, batch);
    if (in.probe_error.status ==
        PX_E_USAGE) /* a layer that does not exist, not a network we fail on */
        rc = cli_fail(self, &in.probe_error);
    else if (output.json)
        rc = info_json(self, &in, plan, argc, argv);
    else
        info_print(&in, plan);
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
};
