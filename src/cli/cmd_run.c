/* src/cli/cmd_run.c - plexor run MODEL --input x.npy -o y.npy */
/* SPDX-License-Identifier: Apache-2.0 */
#include "base/file.h"
#include "base/memory.h"
#include "cli/cli_array.h"
#include "cli/cli_fields.h"

#include <internal/data.h>
#include <internal/field.h>
#include <inttypes.h>
#include <math.h>
#include <plexor/tensor.h>
#include <stdlib.h>
#include <string.h>

/* --- what another program says should come out ------------------------------------------------ */

typedef struct run_expect {
    const char *path; /* a .npy file; NULL: nothing is expected */
    double rtol, atol;
    /* what was found */
    double largest;         /* difference; infinity where one side is no number */
    int64_t where;          /* of the largest, in row-major order */
    double got, expected;   /* there */
    int64_t beyond, count;  /* elements beyond the tolerances, of all */
    int64_t same_top, rows; /* rows whose largest element is at the same place; 0: no rows */
} run_expect;

/* Numbers that are none on both sides agree, and so do infinities of the same sign. */
static double expect_difference(double got, double expected)
{
    if (got == expected || (isnan(got) && isnan(expected)))
        return 0.0;
    const double difference = fabs(got - expected);
    return isnan(difference) ? (double)INFINITY : difference;
}

static int64_t row_top(const double *row, int64_t count)
{
    int64_t top = 0;
    for (int64_t i = 1; i < count; i++)
        if (row[i] > row[top])
            top = i;
    return top;
}

static void expect_elements(run_expect *e, const double *got, const double *expected)
{
    for (int64_t i = 0; i < e->count; i++) {
        const double difference = expect_difference(got[i], expected[i]);
        e->beyond += difference > e->atol + e->rtol * fabs(expected[i]);
        if (i == 0 || difference > e->largest) {
            e->largest = difference;
            e->where = i;
            e->got = got[i];
            e->expected = expected[i];
        }
    }
}

/* Both as doubles, which hold every type of networks' outputs but large whole numbers exactly. */
static px_status expect_load(const run_expect *e, const px_tensor *got, px_tensor *mine,
                             px_tensor *theirs, px_error *err)
{
    char a[PX_SHAPE_TEXT], b[PX_SHAPE_TEXT];
    PX_TRY(px_npy_load(e->path, theirs, err));
    if (!px_shape_equal(&theirs->shape, &got->shape))
        return px_fail(err, PX_E_MISMATCH, "'%s' has shape %s, but the network's output has %s",
                       e->path, px_shape_text(&theirs->shape, a), px_shape_text(&got->shape, b));
    PX_TRY(cli_array_cast(theirs, PX_FLOAT64, e->path, err));
    PX_TRY(px_tensor_init(mine, got->dtype, &got->shape, err));
    memcpy(mine->data, got->data, px_tensor_bytes(got));
    return cli_array_cast(mine, PX_FLOAT64, e->path, err);
}

static px_status run_expect_compare(run_expect *e, const px_tensor *got, px_error *err)
{
    px_tensor mine = {0}, theirs = {0};
    const px_status status = expect_load(e, got, &mine, &theirs, err);
    if (status == PX_OK) {
        e->count = px_shape_count(&got->shape);
        expect_elements(e, mine.data, theirs.data);
        if (got->shape.rank == 2 && got->shape.dim[1] > 1) {
            const int64_t width = got->shape.dim[1];
            e->rows = got->shape.dim[0];
            for (int64_t i = 0; i < e->rows; i++)
                e->same_top += row_top((const double *)mine.data + i * width, width) ==
                               row_top((const double *)theirs.data + i * width, width);
        }
    }
    px_tensor_done(&mine);
    px_tensor_done(&theirs);
    return status;
}

static void run_expect_print(const run_expect *e)
{
    char a[CLI_NUMBER_TEXT], b[CLI_NUMBER_TEXT];
    cli_print("%s: largest difference %.3g (element %" PRId64 ": %.9g, expected %.9g)", e->path,
              e->largest, e->where, e->got, e->expected);
    if (e->rows)
        cli_print("; the same class on %s of %s rows", cli_number(e->same_top, a),
                  cli_number(e->rows, b));
    if (e->beyond)
        cli_print("; DIFFERS: %s of %s elements are beyond rtol %g, atol %g\n",
                  cli_number(e->beyond, a), cli_number(e->count, b), e->rtol, e->atol);
    else
        cli_print("; agrees within rtol %g, atol %g\n", e->rtol, e->atol);
}

static px_datum agrees_get(const void *of, char *text)
{
    (void)text;
    return px_datum_bool(((const run_expect *)of)->beyond == 0);
}

static const px_field run_expect_fields[] = {
    PX_FIELD(run_expect, path, "file", "that has it"),
    PX_MADE(BOOL, agrees_get, "agrees", "within the tolerances"),
    PX_FIELD(run_expect, largest, "largest_difference", "of two elements"),
    PX_FIELD(run_expect, where, "element", "where that is, in row-major order"),
    PX_FIELD(run_expect, beyond, "beyond", "elements beyond the tolerances"),
    PX_FIELD(run_expect, count, "count", "elements"),
    PX_FIELD(run_expect, same_top, "same_class", "rows with the same largest element"),
    PX_FIELD(run_expect, rows, "rows", "0: it is no matrix"),
    PX_FIELD(run_expect, rtol, "rtol", "relative tolerance"),
    PX_FIELD(run_expect, atol, "atol", "absolute tolerance"),
    PX_FIELDS_END,
};

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
    const px_run_options options = {.threads = (int)workers->threads,
                                    .batch = workers->batch,
                                    .progress = cli_tick,
                                    .progress_context = CLI_WORDS("run")};
    const px_status status = px_run(r->model, r->inputs, &options, r->wanted,
                                    (size_t)r->wanted_count, r->outputs, &facts, err);
    if (status == PX_OK)
        cli_note_run(self, r->model, &facts);
    return status;
}

static px_status run_save(const run *r, const char *path, px_error *err)
{
    if (!pxi_has_suffix(path, ".npz"))
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

static void run_print(const void *of)
{
    const run *r = of;
    tensor_row row;
    char shape[PX_SHAPE_TEXT];
    for (size_t i = 0; r->path && tensor_get(r, i, &row); i++)
        cli_print("%s: '%s' %s %s\n", r->path, row.name, px_shape_text(&row.shape, shape),
                  row.type);
    if (r->expect.path)
        run_expect_print(&r->expect);
}

static int run_run(const cli_command *self, int argc, char **argv)
{
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
        CLI_OUTPUT_OPTIONS,
        CLI_END,
    };
    CLI_TRY(cli_parse(self, argc, argv, options, &path, 1, 1));
    if (!r.expect.path)
        CLI_TRY(cli_require(self, "output", to));
    if (r.expect.path && tensors.count > 1)
        return cli_usage_error(self, "--expect is about one tensor");
    px_error err = {0};
    px_model *model = NULL;
    px_status status = cli_model_load_file(self, path, &model, &err);
    r.model = model;
    PX_THEN(status, run_choose(&r, &tensors, to && pxi_has_suffix(to, ".npz"), &err));
    PX_THEN(status, cli_arrays_load(model, &inputs, &r.inputs, &err));
    PX_THEN(status, run_forward(self, &r, &workers, &err));
    PX_THEN_IF(status, r.expect.path, run_expect_compare(&r.expect, &r.outputs[0], &err));
    PX_THEN_IF(status, to, run_save(&r, to, &err));
    r.origin = cli_origin_of(model, NULL);
    r.path = to;
    int rc = cli_answer(self, status, &err, &r, run_print);
    if (rc == CLI_DONE && r.expect.beyond)
        rc = CLI_CHECK_FAILED;
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
