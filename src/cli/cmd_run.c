/* src/cli/cmd_run.c - plexor run MODEL --input x.npy -o y.npy */
#include "base/memory.h"
#include "cli/cli_array.h"
#include "cli/cli_fields.h"
#include "cli/run_expect.h"

#include <internal/data.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct run {
    const px_model *model;
    cli_origin origin;
    const char *path; /* of the result; NULL: none */
    px_tensor *inputs, *outputs;
    int *wanted; /* values */
    int wanted_count;
    run_expect expect;
} run;

typedef struct tensor_row {
    const char *name, *type;
    px_shape shape;
} tensor_row;

static bool run_writes_npz(const char *path)
{
    const size_t length = strlen(path);
    return length > 4 && strcmp(path + length - 4, ".npz") == 0;
}

/* A tensor by its own name, or by the name of the node that makes it, as layers are called. */
static int run_find(const px_graph *graph, const char *name)
{
    const int value = px_graph_find_value(graph, name);
    for (int i = 0; value < 0 && i < graph->node_count; i++)
        if (strcmp(graph->nodes[i].name, name) == 0 && graph->nodes[i].output_count > 0)
            return graph->nodes[i].outputs[0];
    return value;
}

/* The tensors that were asked for: --tensor's, or all outputs for an NPZ, or the first output. */
static px_status run_choose(run *r, const cli_list *tensors, bool npz, px_error *err)
{
    const px_graph *graph = px_model_graph(r->model);
    PX_TRY(PX_NEW(r->wanted, (graph->output_count + tensors->count), err));
    for (int i = 0; i < tensors->count; i++) {
        const int value = run_find(graph, tensors->item[i]);
        if (value < 0)
            return px_fail(
                err, PX_E_USAGE,
                "'%s' has no tensor and no node '%s'; 'plexor info' shows those of layers",
                px_model_path(r->model), tensors->item[i]);
        r->wanted[r->wanted_count++] = value;
    }
    if (tensors->count > 1 && !npz)
        return px_fail(err, PX_E_USAGE,
                       "a .npy file holds one tensor; give -o a name ending in .npz");
    for (int i = 0; !tensors->count && i < (npz ? graph->output_count : 1); i++)
        r->wanted[r->wanted_count++] = graph->outputs[i];
    return PX_OK;
}

static px_status run_forward(const cli_command *self, run *r, const cli_workers *workers,
                             px_error *err)
{
    px_run_facts facts;
    PX_TRY(PX_NEW(r->outputs, r->wanted_count, err));
    cli_progress progress = cli_progress_start("run");
    const px_run_options options = {.threads = (int)workers->threads,
                                    .batch = workers->batch,
                                    .progress = cli_progress_tick,
                                    .progress_context = &progress};
    const px_status status = px_run(r->model, r->inputs, &options, r->wanted,
                                    (size_t)r->wanted_count, r->outputs, &facts, err);
    cli_progress_end(&progress);
    if (status == PX_OK)
        cli_note_run(self, r->model, &facts);
    return status;
}

static px_status run_save(const run *r, const char *path, px_error *err)
{
    if (!run_writes_npz(path))
        return px_npy_save(path, &r->outputs[0], err);
    px_npz_writer *writer = NULL;
    PX_TRY(px_npz_create(path, &writer, err));
    for (int i = 0; i < r->wanted_count; i++) {
        const char *name = px_model_graph(r->model)->values[r->wanted[i]].name;
        const px_status status = px_npz_add(writer, name, &r->outputs[i], err);
        if (status != PX_OK) {
            px_npz_abandon(writer);
            return status;
        }
    }
    return px_npz_commit(writer, err);
}

static const void *tensor_get(const void *of, size_t i, void *place)
{
    const run *r = of;
    tensor_row *row = place;
    if (i >= (size_t)r->wanted_count)
        return NULL;
    *row = (tensor_row){.name = px_model_graph(r->model)->values[r->wanted[i]].name,
                        .type = px_dtype_name(r->outputs[i].dtype),
                        .shape = r->outputs[i].shape};
    return row;
}

static const px_field tensor_fields[] = {
    PX_FIELD(tensor_row, name, "name", "of the tensor"),
    PX_FIELD(tensor_row, type, "type", "of its elements"),
    PX_FIELD(tensor_row, shape, "shape", "and the batch"),
    PX_FIELDS_END,
};

static const px_field run_fields[] = {
    PX_OBJECT(run, origin, cli_origin_fields, ""),
    PX_FIELD(run, path, "output", "the file; null: none"),
    PX_LIST_MADE(tensor_get, tensor_fields, "tensors", "that came out"),
    PX_OBJECT(run, expect, run_expect_fields, "expected", "what came out against another's",
              PX_IF(run, expect.path)),
    PX_FIELDS_END,
};

static int run_report(const cli_command *self, const run *r, bool json_wanted)
{
    tensor_row row;
    char shape[PX_SHAPE_TEXT];
    int rc = CLI_DONE;
    for (size_t i = 0; !json_wanted && r->path && tensor_get(r, i, &row); i++)
        cli_print("%s: '%s' %s %s\n", r->path, row.name, px_shape_text(&row.shape, shape),
                  row.type);
    if (json_wanted)
        rc = cli_print_result(self, run_fields, r);
    else if (r->expect.path)
        run_expect_print(&r->expect);
    return rc == CLI_DONE && r->expect.beyond ? CLI_CHECK_FAILED : rc;
}

static int run_run(const cli_command *self, int argc, char **argv)
{
    cli_output output = {0};
    cli_workers workers = {0};
    cli_list inputs = {0}, tensors = {0};
    const char *path = NULL, *to = NULL;
    run r = {.expect = {.rtol = 1e-3, .atol = 1e-4}};
    const cli_option options[] = {
        CLI_STRINGS('i', "input", &inputs, "[NAME=]FILE",
                    "the network's own input as .npy; once per input where it has several"),
        CLI_STRING('o', "output", &to, "FILE",
                   "result: .npy for one tensor, .npz for all outputs by name"),
        CLI_STRINGS(0, "tensor", &tensors, "NAME",
                    "this tensor instead, inner ones too, or what the node or layer of this name "
                    "makes"),
        CLI_STRING(0, "expect", &r.expect.path, "FILE.npy",
                   "what another program says should come out: exit with 1 where it does not"),
        CLI_REAL(0, "rtol", &r.expect.rtol, "X", 0, 1, "relative tolerance of --expect"),
        CLI_REAL(0, "atol", &r.expect.atol, "X", 0, 1e30, "absolute tolerance of --expect"),
        CLI_WORKER_OPTIONS(&workers),
        CLI_OUTPUT_OPTIONS(&output),
        CLI_END,
    };
    const int stop = cli_parse(self, argc, argv, options, &path, 1, 1);
    if (stop != CLI_GO)
        return stop;
    if (!r.expect.path && !cli_require(self, "output", to))
        return CLI_BAD_INPUT;
    if (r.expect.path && tensors.count > 1)
        return cli_usage_error(self, "--expect is about one tensor");
    px_error err = {0};
    px_model *model = NULL;
    int rc = CLI_DONE;
    px_status status = cli_model_load(self, path, &model, &err);
    r.model = model;
    PX_THEN(status, run_choose(&r, &tensors, to && run_writes_npz(to), &err));
    PX_THEN(status, cli_arrays_load(model, &inputs, &r.inputs, &err));
    PX_THEN(status, run_forward(self, &r, &workers, &err));
    if (status == PX_OK && r.expect.path)
        status = run_expect_compare(&r.expect, &r.outputs[0], &err);
    if (status == PX_OK && to)
        status = run_save(&r, to, &err);
    r.origin = cli_origin_of(model, NULL);
    r.path = to;
    rc = status == PX_OK ? run_report(self, &r, output.json) : cli_fail(self, &err);
    for (int i = 0; r.outputs && i < r.wanted_count; i++)
        px_tensor_done(&r.outputs[i]);
    free(r.outputs);
    free(r.wanted);
    if (model)
        cli_arrays_free(model, r.inputs);
    px_model_free(model);
    return rc;
}

const cli_command cli_command_run = {
    .name = "run",
    .usage = "MODEL --input x.npy [-o y.npy] [--tensor NAME] [--expect FILE.npy]",
    .help = "run arrays through a network, without preprocessing",
    .details = "The first axis of the array is samples. Numbers are converted to the type the "
               "network wants. With --expect FILE.npy the (first) output is compared with what "
               "another program made of the same array, such as PyTorch before an export: it must "
               "be within atol + rtol * |expected| everywhere.",
    .examples = "plexor run net.onnx --input x.npy -o y.npy\n"
                "plexor run net.onnx --input x.npy -o y.npz --tensor conv1 --tensor logits\n"
                "plexor run net.onnx --input x.npy --expect torch.npy\n",
    .run = run_run,
    .result = run_fields,
};
