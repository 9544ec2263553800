/* src/cli/cmd_grad.c - plexor grad MODEL --input x.npy -o g.npy --of loss|NEURONS */
/* SPDX-License-Identifier: Apache-2.0 */
#include "base/memory.h"
#include "cli/cli_array.h"
#include "cli/cli_fields.h"

#include <internal/probe.h>
#include <stdlib.h>
#include <string.h>

typedef struct grad {
    const px_model *model;
    px_tensor *inputs; /* one */
    px_gradient_options how;
    px_probe *probe; /* NULL: of the loss */
    px_gradient_neuron *neurons;
    int64_t *labels;
    int value; /* with respect to which */
    px_tensor result;
    px_run_facts facts;
    cli_origin origin;
    const char *to, *of, *wrt, *definition; /* of the neurons; NULL: of the loss */
} grad;

static const px_field grad_fields[] = {
    PX_OBJECT(grad, origin, cli_origin_fields, ""),
    PX_FIELD(grad, to, "output", "the file"),
    PX_FIELD(grad, of, "of", "loss, or neurons"),
    PX_FIELD(grad, wrt, "wrt", "the tensor that it is with respect to"),
    PX_FIELD(grad, definition, "definition", "what a neuron is; null: of the loss"),
    PX_FIELD(grad, facts.count, "count", "inputs"),
    PX_FIELDS_END,
};

/* "LAYER:INDEX[,LAYER:INDEX...]": a comma parts two neurons where a colon and a number stand before
 * it, so that names with commas survive. */
static px_status grad_neurons(grad *g, const char *of, px_error *err)
{
    char *copy = strdup(of);
    g->neurons = calloc(strlen(of) + 1, sizeof *g->neurons);
    px_status status = PX_OK;
    if (!copy || !g->neurons) {
        free(copy);
        return pxi_no_memory(err);
    }
    for (char *start = copy; status == PX_OK && *start;) {
        char *end = start;
        for (;;) {
            end += strcspn(end, ",");
            const char *digit = end;
            while (digit > start && digit[-1] >= '0' && digit[-1] <= '9')
                digit--;
            if (!*end || (digit < end && digit > start && digit[-1] == ':'))
                break;
            end++;
        }
        const bool more = *end == ',';
        *end = '\0';
        px_gradient_neuron *neuron = &g->neurons[g->how.neuron_count++];
        status = px_probe_find(g->probe, start, &neuron->layer, &neuron->unit, err);
        start = end + more;
    }
    free(copy);
    return status;
}

/* What is differentiated: the loss at labels from a file, or neurons. */
static px_status grad_of(grad *g, const char *of, const cli_neurons *neurons, const char *labels,
                         px_error *err)
{
    const px_shape *shape = &g->inputs[0].shape;
    if (strcmp(of, "loss") == 0) {
        PX_TRY(cli_labels_load(labels, shape->rank ? shape->dim[0] : 1, &g->labels, err));
        g->how.labels = g->labels;
        return PX_OK;
    }
    PX_TRY(cli_probe_new(g->model, neurons, shape, &g->probe, err));
    PX_TRY(grad_neurons(g, of, err));
    g->how.probe = g->probe;
    g->how.neurons = g->neurons;
    return PX_OK;
}

/* By the value called `name`; NULL: the input. */
static px_status grad_by(grad *g, const char *name, px_error *err)
{
    const px_graph *graph = px_model_graph(g->model);
    g->value = name ? px_graph_find_value(graph, name) : graph->inputs[0];
    g->how.wrt = g->value;
    return g->value >= 0 ? PX_OK
                         : px_fail(err, PX_E_USAGE, "the network has no tensor '%.200s'", name);
}

static px_status grad_all(const cli_command *self, grad *g, const cli_workers *workers,
                          px_error *err)
{
    g->how.run = (px_run_options){.threads = (int)workers->threads,
                                  .batch = workers->batch,
                                  .progress = cli_tick,
                                  .progress_context = CLI_WORDS("grad")};
    const px_status status =
        px_gradient(g->model, &g->inputs[0], &g->how, &g->result, &g->facts, err);
    if (status == PX_OK)
        cli_note_run(self, g->model, &g->facts);
    return status;
}

static void grad_print(const void *of)
{
    const grad *g = of;
    char shape[PX_SHAPE_TEXT];
    cli_print("%s: d(%s)/d('%s') %s%s%s\n", g->to, g->of, g->wrt,
              px_shape_text(&g->result.shape, shape), g->definition ? ", " : "",
              g->definition ? g->definition : "");
}

static int grad_run(const cli_command *self, int argc, char **argv)
{
    cli_workers workers = {0};
    cli_neurons neurons = {.layers = "all"};
    cli_list inputs = {0};
    const char *path = NULL, *to = NULL, *of = "loss", *labels = NULL, *wrt = NULL;
    const cli_option options[] = {
        CLI_STRINGS('i', "input", &inputs, "FILE", "the network's own input as .npy"),
        CLI_STRING('o', "output", &to, "FILE", "the gradient as .npy, of the input's shape"),
        CLI_STRING(0, "of", &of, "loss|LAYER:INDEX,...",
                   "cross-entropy, or the sum of neurons; LAYER is a name or #i"),
        CLI_STRING(0, "labels", &labels, "FILE", "true classes as .npy, for the loss"),
        CLI_STRING(0, "wrt", &wrt, "TENSOR",
                   "with respect to a weight (summed over the samples) or an inner tensor; "
                   "default: the input"),
        CLI_STRING(0, "tap", &neurons.tap, "TAP", "where in a layer; see 'plexor list taps'"),
        CLI_STRING(0, "neurons", &neurons.view, "VIEW",
                   "what a neuron is; see 'plexor list neurons'"),
        CLI_WORKER_OPTIONS(&workers),
        CLI_OUTPUT_OPTIONS,
        CLI_END,
    };
    CLI_TRY(cli_parse(self, argc, argv, options, &path, 1, 1));
    CLI_TRY(cli_require(self, "output", to));
    if (strcmp(of, "loss") == 0)
        CLI_TRY(cli_require(self, "labels", labels));
    px_error err = {0};
    px_model *model = NULL;
    grad g = {.how = px_gradient_options_default()};
    px_status status = cli_model_load_file(self, path, &model, &err);
    g.model = model;
    if (status == PX_OK && px_model_graph(model)->input_count != 1)
        status = px_fail(&err, PX_E_UNSUPPORTED, "'%s' has %d inputs; grad takes networks with one",
                         path, px_model_graph(model)->input_count);
    PX_THEN(status, cli_arrays_load(model, &inputs, &g.inputs, &err));
    PX_THEN(status, grad_by(&g, wrt, &err));
    PX_THEN(status, grad_of(&g, of, &neurons, labels, &err));
    PX_THEN(status, grad_all(self, &g, &workers, &err));
    PX_THEN(status, px_npy_save(to, &g.result, &err));
    g.origin = cli_origin_of(model, NULL);
    g.to = to;
    g.of = of;
    g.wrt = status == PX_OK ? px_model_graph(model)->values[g.value].name : NULL;
    g.definition = g.probe ? px_probe_describe(g.probe) : NULL;
    const int rc = cli_answer(self, status, &err, &g, grad_print);
    px_tensor_done(&g.result);
    free(g.labels);
    free(g.neurons);
    px_probe_free(g.probe);
    if (model)
        cli_arrays_free(model, g.inputs);
    px_model_free(model);
    return rc;
}

const cli_command cli_command_grad = {
    .name = "grad",
    .usage = "MODEL --input x.npy -o g.npy --of loss --labels y.npy",
    .help = "gradient of the loss or of neurons with respect to the input",
    .details = "Each sample gets the gradient of its own term; nothing is averaged over the batch. "
               "With --wrt and a weight, the samples' gradients are added up.",
    .examples = "plexor grad net.onnx --input x.npy --labels y.npy -o g.npy\n"
                "plexor grad net.onnx --input x.npy --of 'conv2:3,#4:17' -o g.npy\n"
                "plexor grad net.onnx --input x.npy --labels y.npy --wrt fc1.weight -o g.npy\n",
    .run = grad_run,
    .result = grad_fields,
};
