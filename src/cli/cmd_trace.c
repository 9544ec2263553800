/* src/cli/cmd_trace.c - plexor trace MODEL --data SPEC -o traces.npz */
#include "cli/cli_net.h"

#include <inttypes.h>
#include <plexor/system.h>
#include <plexor/trace.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct trace {
    cli_inputs inputs;
    px_probe *probe; /* NULL: --layers none, the network alone, to see what observing costs */
    px_plan *plan;
    px_scores scores;
    bool has_scores;
    px_trace_writer *writer; /* NULL: to nowhere */
    int64_t *labels, *predictions, *indices;
    atomic_llong rejected; /* inputs with a NaN or an infinity among their neurons */
} trace;

static px_status trace_observe(trace *t, px_session *session, int64_t first, int64_t samples,
                               px_error *err)
{
    const int64_t width = px_probe_neuron_count(t->probe);
    float *rows = calloc((size_t)(samples * width), sizeof *rows);
    bool *rejected = calloc((size_t)samples, sizeof *rejected);
    px_status status = rows && rejected ? PX_OK : px_fail(err, PX_E_NOMEM, "out of memory");
    if (status == PX_OK) {
        px_probe_watch watch = {.probe = t->probe, .samples = samples, .trace = rows};
        px_session_observe(session, px_probe_observer, &watch);
        status = px_session_forward(session, err);
        px_session_observe(session, NULL, NULL);
    }
    if (status == PX_OK) {
        px_probe_reject(t->probe, rows, samples, rejected);
        for (int64_t i = 0; i < samples; i++)
            if (rejected[i])
                atomic_fetch_add(&t->rejected, 1);
        if (t->writer)
            status = px_trace_put(t->writer, first, samples, rows, err);
    }
    free(rows);
    free(rejected);
    return status;
}

static px_status trace_batch(void *context, px_session *session, int64_t first, int64_t samples,
                             px_error *err)
{
    trace *t = context;
    PX_TRY(cli_inputs_fill(&t->inputs, t->plan, session, first, samples, err));
    if (t->probe)
        PX_TRY(trace_observe(t, session, first, samples, err));
    else
        PX_TRY(px_session_forward(session, err));
    for (int64_t i = first; i < first + samples; i++) {
        t->labels[i] = px_dataset_label(t->inputs.set, i);
        t->indices[i] = px_dataset_index(t->inputs.set, i);
    }
    if (!t->has_scores)
        return PX_OK;
    return px_session_judge(session, &t->scores, NULL, samples, t->predictions + first, NULL, err);
}

static px_status trace_open(const cli_command *self, trace *t, const px_model *model,
                            const cli_data *data, const cli_neurons *neurons, int64_t batch,
                            px_error *err)
{
    px_plan_options options = px_plan_options_default();
    PX_TRY(cli_inputs_open(model, data, &t->inputs, err));
    if (!neurons->layers || strcmp(neurons->layers, "none") != 0) {
        PX_TRY(cli_probe_new(model, neurons, &t->inputs.shape, &t->probe, err));
        options.observe = px_probe_values(t->probe, &options.observe_count);
    }
    const px_status scored = px_model_scores(model, &t->scores, err);
    if (scored == PX_E_NOMEM) /* else it has none, which is fine */
        return scored;
    t->has_scores = scored == PX_OK;
    if (t->has_scores) {
        options.keep = &t->scores.value;
        options.keep_count = 1;
    }
    options.no_outputs = t->has_scores || t->probe;
    PX_TRY(cli_plan_new(self, model, &t->inputs.shape, batch, t->inputs.count, options, &t->plan,
                        err));
    t->labels = calloc((size_t)t->inputs.count, sizeof *t->labels);
    t->predictions = calloc((size_t)t->inputs.count, sizeof *t->predictions);
    t->indices = calloc((size_t)t->inputs.count, sizeof *t->indices);
    if (!t->labels || !t->predictions || !t->indices)
        return px_fail(err, PX_E_NOMEM, "out of memory for %" PRId64 " inputs", t->inputs.count);
    return PX_OK;
}

static int trace_report(const cli_command *self, const trace *t, const px_model *model,
                        const char *to, double seconds, bool json_wanted, int argc, char **argv)
{
    char a[CLI_NUMBER_TEXT], b[CLI_NUMBER_TEXT];
    const char *what = t->probe ? px_probe_describe(t->probe) : "no neurons observed";
    const double rate = (double)t->inputs.count / seconds;
    const long long rejected = atomic_load(&t->rejected);
    if (json_wanted) {
        px_json json = {0};
        px_json_object(&json, NULL);
        cli_json_origin(&json, model, t->inputs.set, argc, argv);
        cli_inputs_json(&t->inputs, &json);
        px_json_string(&json, "output", to);
        px_json_string(&json, "definition", what);
        px_json_int(&json, "batch", px_plan_batch(t->plan));
        px_json_int(&json, "count", t->inputs.count);
        px_json_int(&json, "layers", t->probe ? (int64_t)px_probe_layer_count(t->probe) : 0);
        px_json_int(&json, "neurons", t->probe ? px_probe_neuron_count(t->probe) : 0);
        px_json_int(&json, "not_finite", rejected);
        px_json_real(&json, "seconds", seconds);
        px_json_real(&json, "per_s", rate);
        px_json_end(&json);
        return cli_print_json(self, &json);
    }
    printf("%s\n%s%s%s inputs, %s per second\n", what, to ? to : "", to ? ": " : "",
           cli_number(t->inputs.count, a), cli_number((int64_t)rate, b));
    if (rejected)
        printf("%lld inputs have neurons that are not finite\n", rejected);
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
    trace t = {0};
    int rc = CLI_DONE;
    px_status status = cli_model_load(self, path, &model, &err);
    if (status == PX_OK)
        status = trace_open(self, &t, model, &data, &neurons, workers.batch, &err);
    if (status == PX_OK && to) {
        if (t.probe)
            status = px_trace_create(to, t.probe, t.inputs.count, &t.writer, &err);
        else
            status = px_fail(&err, PX_E_USAGE,
                             "with --layers none there is nothing to write to '%s'", to);
    }
    const double start = px_clock_s();
    if (status == PX_OK) {
        cli_progress progress = cli_progress_start("trace");
        status = px_plan_run(t.plan, (int)workers.threads, t.inputs.count, trace_batch, &t,
                             cli_progress_tick, &progress, &err);
        cli_progress_end(&progress);
    }
    const double seconds = px_clock_s() - start;
    if (status == PX_OK && t.writer) {
        px_trace_writer *writer = t.writer;
        t.writer = NULL;
        status = px_trace_commit(writer, px_dataset_has_labels(t.inputs.set) ? t.labels : NULL,
                                 t.has_scores ? t.predictions : NULL, t.indices, &err);
    }
    rc = status == PX_OK ? trace_report(self, &t, model, to, seconds, output.json, argc, argv)
                         : cli_fail(self, &err);
    px_trace_abandon(t.writer);
    free(t.labels);
    free(t.predictions);
    free(t.indices);
    px_plan_free(t.plan);
    px_probe_free(t.probe);
    cli_inputs_close(&t.inputs);
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
