/* src/cli/cmd_trace.c - plexor trace MODEL --data SPEC -o traces.npz */
/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/cli_fields.h"
#include "cli/cli_net.h"

#include <inttypes.h>
#include <plexor/trace.h>
#include <string.h>

typedef struct trace {
    cli_origin origin;
    cli_inputs inputs;
    px_trace_facts facts;
    const char *path, *definition; /* of the neurons */
    int64_t layers, neurons;
    double per_s;
} trace;

static const px_field trace_fields[] = {
    PX_OBJECT(trace, origin, cli_origin_fields, ""),
    PX_OBJECT(trace, inputs, cli_inputs_fields, ""),
    PX_FIELD(trace, path, "output", "the file; null: none"),
    PX_FIELD(trace, definition, "definition", "what a neuron is"),
    PX_FIELD(trace, facts.run.batch, "batch", "inputs at a time"),
    PX_FIELD(trace, facts.run.count, "count", "inputs"),
    PX_FIELD(trace, layers, "layers", "that were observed"),
    PX_FIELD(trace, neurons, "neurons", "in them"),
    PX_FIELD(trace, facts.not_finite, "not_finite", "inputs with neurons that are not"),
    PX_FIELD(trace, facts.seconds, "seconds", "of all", .unit = "s"),
    PX_FIELD(trace, per_s, "per_s", "inputs"),
    PX_FIELDS_END,
};

static void trace_print(const void *of)
{
    const trace *t = of;
    char a[CLI_NUMBER_TEXT], b[CLI_NUMBER_TEXT];
    cli_print("%s\n%s%s%s inputs, %s per second\n", t->definition, t->path ? t->path : "",
              t->path ? ": " : "", cli_number(t->facts.run.count, a),
              cli_number((int64_t)t->per_s, b));
    if (t->facts.not_finite)
        cli_print("%" PRId64 " inputs have neurons that are not finite\n", t->facts.not_finite);
}

static int trace_run(const cli_command *self, int argc, char **argv)
{
    cli_data data = CLI_DATA_DEFAULT;
    cli_workers workers = {0};
    cli_neurons neurons = {0};
    const char *path = NULL;
    trace t = {.definition = "no neurons observed"};
    const cli_option options[] = {
        CLI_DATA_OPTIONS(&data),
        CLI_NEURON_OPTIONS(&neurons),
        CLI_STRING('o', "output", &t.path, "FILE",
                   "NPZ; without it the traces go nowhere, for timing"),
        CLI_WORKER_OPTIONS(&workers),
        CLI_OUTPUT_OPTIONS,
        CLI_END,
    };
    CLI_TRY(cli_parse(self, argc, argv, options, &path, 1, 1));
    CLI_TRY(cli_require(self, "data", data.spec));
    px_error err = {0};
    px_model *model = NULL;
    px_probe *probe = NULL;
    px_status status = cli_model_load(self, path, &model, &err);
    PX_THEN(status, cli_inputs_open(model, &data, &t.inputs, &err));
    PX_THEN_IF(status, (!neurons.layers || strcmp(neurons.layers, "none") != 0),
               cli_probe_new(model, &neurons, &t.inputs.shape, &probe, &err));
    const px_trace_job job = {.model = model,
                              .probe = probe,
                              .set = t.inputs.set,
                              .pre = &t.inputs.pre,
                              .path = t.path,
                              .run = {.threads = (int)workers.threads,
                                      .batch = workers.batch,
                                      .progress = cli_tick,
                                      .progress_context = CLI_WORDS("trace")}};
    PX_THEN(status, px_trace(&job, &t.facts, &err));
    if (status == PX_OK)
        cli_note_run(self, model, &t.facts.run);
    if (probe) {
        t.definition = px_probe_describe(probe);
        t.layers = (int64_t)px_probe_layer_count(probe);
        t.neurons = px_probe_neuron_count(probe);
    }
    t.origin = cli_origin_of(model, t.inputs.set);
    t.per_s = (double)t.facts.run.count / t.facts.seconds;
    const int rc = cli_answer(self, status, &err, &t, trace_print);
    px_probe_free(probe);
    cli_inputs_close(&t.inputs);
    px_model_free(model);
    return rc;
}

const cli_command cli_command_trace = {
    .name = "trace",
    .usage = "MODEL --data SPEC [-o traces.npz] [options]",
    .help = "write what every neuron does on every input",
    .details = "One float32 array per layer, named by the layer, [samples, neurons]; and labels, "
               "predictions and indices (the inputs' places in the data before --shuffle and "
               "--offset). Without -o nothing is written; --layers none leaves out the neurons as "
               "well, so that the difference is what observing costs.",
    .examples = "plexor trace net.onnx --data digits -o traces.npz\n"
                "plexor trace net.onnx --data photos/ --layers 'layer3.*' --neurons unit --tap pre "
                "-o t.npz\n",
    .run = trace_run,
    .ranks = true,
    .result = trace_fields,
};
