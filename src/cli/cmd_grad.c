/* src/cli/cmd_grad.c - plexor grad MODEL --input x.npy -o g.npy --of loss|NEURONS */
#include "cli/cli_array.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct grad_target {
    size_t layer;
    int64_t neuron;
} grad_target;

typedef struct grad {
    const px_model *model;
    px_tensor *inputs;
    px_tensor result;
    cli_passage passage;
    int input; /* value */
    int wrt;   /* value: the input, a weight, or an inner tensor */
    /* with respect to a weight: one partial sum per micro-batch of a round, joined in their order
     */
    bool summed;
    float *partials;
    double *sum;
    int64_t size, base; /* elements of the weight; the round's first sample */
    /* of the loss */
    px_scores scores;
    int64_t *labels; /* NULL: neurons */
    /* of neurons */
    px_probe *probe;
    grad_target *targets;
    size_t target_count;
} grad;

static px_status grad_copy(const grad *g, const px_session *session, int64_t first, int64_t samples,
                           px_error *err)
{
    const px_view view = px_session_grad(session, g->wrt);
    if (!view.data)
        return px_fail(err, PX_E_INTERNAL, "the plan has no gradient for '%s'",
                       px_model_graph(g->model)->values[g->wrt].name);
    const int rank = view.shape.rank;
    const int64_t batch = px_plan_batch(g->passage.plan);
    const int64_t row = g->summed ? g->size : px_shape_count(&view.shape) / batch;
    float *out =
        g->summed ? g->partials + first / batch * g->size : (float *)g->result.data + first * row;
    int64_t at[PX_MAX_RANK] = {0};
    for (int64_t i = 0; i < (g->summed ? row : samples * row); i++) { /* logical order */
        int64_t offset = 0;
        for (int d = 0; d < rank; d++)
            offset += at[d] * view.stride[d];
        out[i] = view.data[offset];
        for (int d = rank - 1; d >= 0 && ++at[d] == view.shape.dim[d]; d--)
            at[d] = 0;
    }
    return PX_OK;
}

static px_status grad_batch(void *context, px_session *session, int64_t first, int64_t samples,
                            px_error *err)
{
    const grad *g = context;
    PX_TRY(cli_passage_fill(&g->passage, session, g->inputs, g->base + first, samples, err));
    PX_TRY(px_session_forward(session, err));
    PX_TRY(px_session_seed_clear(session, err));
    if (g->labels)
        PX_TRY(px_session_seed_loss(session, &g->scores, g->labels + g->base + first, samples, NULL,
                                    err));
    for (size_t t = 0; t < g->target_count; t++)
        for (int64_t s = 0; s < samples; s++) /* not the padding: a weight would feel it */
            PX_TRY(px_probe_seed(g->probe, session, g->targets[t].layer, g->targets[t].neuron, s,
                                 /* weight= */ 1.0f, err));
    PX_TRY(px_session_backward(session, err));
    return grad_copy(g, session, first, samples, err);
}

/* "LAYER:INDEX[,LAYER:INDEX...]": a comma parts two neurons where a colon and a number stand before
 * it, so that names with commas survive. */
static px_status grad_parse_neurons(grad *g, const char *of, px_error *err)
{
    char *copy = strdup(of);
    g->targets = calloc(strlen(of) + 1, sizeof *g->targets);
    px_status status = PX_OK;
    if (!copy || !g->targets) {
        free(copy);
        return px_fail(err, PX_E_NOMEM, "out of memory");
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
        grad_target *target = &g->targets[g->target_count++];
        status = px_probe_find(g->probe, start, &target->layer, &target->neuron, err);
        start = end + more;
    }
    free(copy);
    return status;
}

static px_status grad_plan(const cli_command *self, grad *g, const char *of,
                           const cli_neurons *neurons, const cli_workers *workers, px_error *err)
{
    px_plan_options options = px_plan_options_default();
    int *seeds = NULL;
    size_t seed_count = 0;
    px_status status = PX_OK;
    if (strcmp(of, "loss") == 0) {
        PX_TRY(px_model_scores(g->model, &g->scores, err));
        seeds = calloc(2, sizeof *seeds);
        if (seeds)
            seeds[seed_count++] = g->scores.value;
    } else {
        PX_TRY(cli_probe_new(g->model, neurons, &g->inputs[0].shape, &g->probe, err));
        PX_TRY(grad_parse_neurons(g, of, err));
        seeds = calloc(g->target_count + 1, sizeof *seeds);
        for (size_t t = 0; seeds && t < g->target_count; t++) {
            const int value = px_probe_layer(g->probe, g->targets[t].layer)->tap_value;
            size_t i = 0;
            while (i < seed_count && seeds[i] != value)
                i++;
            if (i == seed_count)
                seeds[seed_count++] = value;
        }
    }
    if (!seeds)
        return px_fail(err, PX_E_NOMEM, "out of memory");
    options.keep = options.seeds = seeds;
    options.keep_count = options.seed_count = seed_count;
    if (!g->summed && g->wrt != g->input)
        seeds[options.keep_count++] = g->wrt;
    options.wrt = &g->wrt;
    options.wrt_count = 1;
    options.no_outputs = true;
    status = cli_passage_new(self, g->model, g->inputs, workers->batch, options, seeds,
                             options.keep_count, &g->passage, err);
    free(seeds);
    return status;
}

/* The value called `name`; NULL: the input. */
static px_status grad_find_wrt(grad *g, const char *name, px_error *err)
{
    const px_graph *graph = px_model_graph(g->model);
    g->wrt = name ? px_graph_find_value(graph, name) : g->input;
    if (g->wrt < 0)
        return px_fail(err, PX_E_USAGE, "the network has no tensor '%.200s'", name);
    g->summed = graph->values[g->wrt].constant != NULL;
    return PX_OK;
}

static px_status grad_result(grad *g, px_error *err)
{
    px_shape shape = px_plan_shape(g->passage.plan, g->wrt);
    if (g->summed) {
        shape = px_model_graph(g->model)->values[g->wrt].constant->shape;
        g->size = px_shape_count(&shape);
    } else if (g->wrt == g->input) {
        shape = g->inputs[0].shape;
    } else if (shape.rank > 0 && !g->passage.whole) {
        shape.dim[0] = g->passage.count;
    }
    return px_tensor_init(&g->result, PX_FLOAT32, &shape, err);
}

typedef struct grad_progress {
    cli_progress *progress;
    const grad *grad;
} grad_progress;

static bool grad_tick(void *context, int64_t done, int64_t total)
{
    const grad_progress *p = context;
    (void)total;
    return cli_progress_tick(p->progress, p->grad->base + done, p->grad->passage.count);
}

/* All samples; in rounds where a weight's partial sums would need too much memory at once. */
static px_status grad_all(grad *g, int threads, px_error *err)
{
    const size_t partial_bytes = (size_t)64 << 20;
    const int64_t batch = px_plan_batch(g->passage.plan), count = g->passage.count;
    cli_progress progress = cli_progress_start("grad");
    grad_progress tick = {.progress = &progress, .grad = g};
    int64_t round = count;
    px_status status = PX_OK;
    if (g->summed) {
        const size_t fit = partial_bytes / ((size_t)(g->size + 1) * sizeof *g->partials);
        const int64_t parts = fit < 1 ? 1 : fit > 256 ? 256 : (int64_t)fit;
        round = parts * batch;
        g->partials = calloc((size_t)parts * (size_t)(g->size + 1), sizeof *g->partials);
        g->sum = calloc((size_t)g->size + 1, sizeof *g->sum);
        if (!g->partials || !g->sum)
            status = px_fail(err, PX_E_NOMEM, "out of memory");
    }
    for (; status == PX_OK && g->base < count; g->base += round) {
        const int64_t samples = count - g->base < round ? count - g->base : round;
        status =
            px_plan_run(g->passage.plan, threads, samples, grad_batch, g, grad_tick, &tick, err);
        for (int64_t first = 0; g->summed && status == PX_OK && first < samples; first += batch)
            for (int64_t i = 0; i < g->size; i++)
                g->sum[i] += (double)g->partials[first / batch * g->size + i];
    }
    for (int64_t i = 0; status == PX_OK && g->summed && i < g->size; i++)
        ((float *)g->result.data)[i] = (float)g->sum[i];
    cli_progress_end(&progress);
    return status;
}

static int grad_run(const cli_command *self, int argc, char **argv)
{
    cli_output output = {0};
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
        CLI_OUTPUT_OPTIONS(&output),
        CLI_END,
    };
    const int stop = cli_parse(self, argc, argv, options, &path, 1, 1);
    if (stop != CLI_GO)
        return stop;
    if (!cli_require(self, "output", to) ||
        (strcmp(of, "loss") == 0 && !cli_require(self, "labels", labels)))
        return CLI_BAD_INPUT;
    px_error err = {0};
    px_model *model = NULL;
    grad g = {0};
    px_status status = cli_model_load(self, path, &model, &err);
    g.model = model;
    if (status == PX_OK && px_model_graph(model)->input_count != 1)
        status = px_fail(&err, PX_E_UNSUPPORTED, "'%s' has %d inputs; grad takes networks with one",
                         path, px_model_graph(model)->input_count);
    if (status == PX_OK) {
        g.input = px_model_graph(model)->inputs[0];
        status = cli_arrays_load(model, &inputs, &g.inputs, &err);
    }
    if (status == PX_OK && g.inputs[0].dtype != PX_FLOAT32)
        status =
            px_fail(&err, PX_E_UNSUPPORTED, "the network's input is %s; gradients need float32",
                    px_dtype_name(g.inputs[0].dtype));
    if (status == PX_OK)
        status = grad_find_wrt(&g, wrt, &err);
    if (status == PX_OK)
        status = grad_plan(self, &g, of, &neurons, &workers, &err);
    if (status == PX_OK && strcmp(of, "loss") == 0)
        status = cli_labels_load(labels, g.passage.count, &g.labels, &err);
    if (status == PX_OK)
        status = grad_result(&g, &err);
    if (status == PX_OK)
        status = grad_all(&g, (int)workers.threads, &err);
    if (status == PX_OK)
        status = px_npy_save(to, &g.result, &err);
    int rc = CLI_DONE;
    char shape[PX_SHAPE_TEXT];
    if (status != PX_OK) {
        rc = cli_fail(self, &err);
    } else if (output.json) {
        px_json json = {0};
        px_json_object(&json, NULL);
        cli_json_origin(&json, model, NULL, argc, argv);
        px_json_string(&json, "output", to);
        px_json_string(&json, "of", of);
        px_json_string(&json, "wrt", px_model_graph(model)->values[g.wrt].name);
        px_json_string(&json, "definition", g.probe ? px_probe_describe(g.probe) : NULL);
        px_json_int(&json, "count", g.passage.count);
        px_json_end(&json);
        rc = cli_print_json(self, &json);
    } else {
        printf("%s: d(%s)/d('%s') %s%s%s\n", to, of, px_model_graph(model)->values[g.wrt].name,
               px_shape_text(&g.result.shape, shape), g.probe ? ", " : "",
               g.probe ? px_probe_describe(g.probe) : "");
    }
    px_tensor_done(&g.result);
    free(g.sum);
    free(g.partials);
    free(g.labels);
    free(g.targets);
    px_plan_free(g.passage.plan);
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
};
