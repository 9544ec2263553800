/* src/cli/cmd_trace.c - plexor trace MODEL --data SPEC -o traces.npz */
#include "cli/cli_net.h"

#include <inttypes.h>
#include <plexor/trace.h>
#include <stdio.h>
#include <string.h>

static int trace_report(const cli_command *self, const cli_inputs *inputs, const px_trace_job *job,
                        const px_trace_facts *facts, bool json_wanted, int argc, char **argv)
{
    char a[CLI_NUMBER_TEXT], b[CLI_NUMBER_TEXT];
    const char *what = job->probe ? px_probe_describe(job->probe) : "no neurons observed";
    const double rate = (double)facts->run.count / facts->seconds;
    if (json_wanted) {
        px_json json = {0};
        px_json_object(&json, NULL);
        cli_json_origin(&json, job->model, job->set, argc, argv);
        cli_inputs_json(inputs, &json);
        px_json_string(&json, "output", job->path);
        px_json_string(&json, "definition", what);
        px_json_int(&json, "batch", facts->run.batch);
        px_json_int(&json, "count", facts->run.count);
        px_json_int(&json, "layers", job->probe ? (int64_t)px_probe_layer_count(job->probe) : 0);
        px_json_int(&json, "neurons", job->probe ? px_probe_neuron_count(job->probe) : 0);
        px_json_int(&json, "not_finite", facts->not_finite);
        px_json_real(&json, "seconds", facts->seconds);
        px_json_real(&json, "per_s", rate);
        px_json_end(&json);
        return cli_print_json(self, &json);
    }
    cli_print("%s\n%s%s%s inputs, %s per second\n", what, job->path ? job->path : "",
              job->path ? ": " : "", cli_number(facts->run.count, a), cli_number((int64_t)rate, b));
    if (facts->not_finite)
        cli_print("%" PRId64 " inputs have neurons that are not finite\n", facts->not_finite);
    return CLI_DONE;
}

static int trace_run(const cli_command *self, int argc, char **argv)
{
    cli_output output = {0};
    cli_data data = CLI_DATA_DEFAULT;
    cli_workers workers = {0};
    cli_neurons neurons = {0};
    const char *path = NULL, *to = NULL;
    const cli_option options[] = {
        CLI_DATA_OPTIONS(&data),
        CLI_NEURON_OPTIONS(&neurons),
        CLI_STRING('o', "output", &to, "FILE", "NPZ; without it the traces go nowhere, for timing"),
        CLI_WORKER_OPTIONS(&workers),
        CLI_OUTPUT_OPTIONS(&output),
        CLI_END,
    };
    const int stop = cli_parse(self, argc, argv, options, &path, 1, 1);
    if (stop != CLI_GO)
        return stop;
    if (!cli_require(self, "data", data.spec))
        return CLI_BAD_INPUT;
    px_error err = {0};
    px_model *model = NULL;
    px_probe *probe = NULL;
    cli_inputs inputs = {0};
    px_trace_facts facts = {0};
    px_status status = cli_model_load(self, path, &model, &err);
    if (status == PX_OK)
        status = cli_inputs_open(model, &data, &inputs, &err);
    if (status == PX_OK && (!neurons.layers || strcmp(neurons.layers, "none") != 0))
        status = cli_probe_new(model, &neurons, &inputs.shape, &probe, &err);
    cli_progress progress = cli_progress_start("trace");
    const px_trace_job job = {.model = model,
                              .probe = probe,
                              .set = inputs.set,
                              .pre = &inputs.pre,
                              .path = to,
                              .run = {.threads = (int)workers.threads,
                                      .batch = workers.batch,
                                      .progress = cli_progress_tick,
                                      .progress_context = &progress}};
    if (status == PX_OK)
        status = px_trace(&job, &facts, &err);
    cli_progress_end(&progress);
    if (status == PX_OK)
        cli_note_run(self, model, &facts.run);
    const int rc = status == PX_OK
                       ? trace_report(self, &inputs, &job, &facts, output.json, argc, argv)
                       : cli_fail(self, &err);
    px_probe_free(probe);
    cli_inputs_close(&inputs);
    px_model_free(model);
    return rc;
}

const cli_command cli_command_trace = {
    .name = "trace",
    .usage = "MODEL --data SPEC [-o traces.npz] [options]",
    .help = "write what every neuron does on every input",
    .details = "One float32 array per layer, named by the layer, [samples, neurons]; and labels, "
               "predictions and "
               "indices (the inputs' places in the data before --shuffle and --offset). Without -o "
               "nothing is "
               "written; --layers none leaves out the neurons as well, so that the difference is "
               "what observing costs.",
    .examples = "plexor trace net.onnx --data digits -o traces.npz\n"
                "plexor trace net.onnx --data photos/ --layers 'layer3.*' --neurons unit --tap pre "
                "-o t.npz\n",
    .run = trace_run,
};
