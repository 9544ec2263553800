/* tests/graph/test_builder.c - graphs made step by step, copies, and what a builder refuses */
/* SPDX-License-Identifier: Apache-2.0 */
#include <internal/graph.h>
#include <internal/rng.h>
#include <plexor/engine.h>
#include <plexor/onnx.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/memory.h"
#include "graph/builder.h"
#include "graph/graph_helpers.h"
#include "onnx/corpus.h"

static void test_made(void **state)
{
    (void)state;
    px_builder *b = begin("net");
    const int x = px_builder_input(b, "x", PX_FLOAT32, SHAPE(2, -1, 3));
    const float numbers[] = {1, 0, 2, 0, -1, 1};
    const int w = px_builder_constant(b, "w", PX_FLOAT32, SHAPE(2, 3, 2), numbers);
    const int y = NODE(b, "MatMul", "fc", x, w);
    const int p = NODE(b, "Relu", "relu", y);
    px_builder_rename(b, p, "out");
    px_builder_output(b, p, PX_FLOAT32, SHAPE(2, -1, 2));
    px_builder_property(b, "a", "1");
    px_builder_property(b, "b", "2");
    px_builder_property(b, "a", "3");
    px_builder_property(b, "c", "4");
    px_builder_property(b, "b", NULL);
    px_builder_property(b, "never", NULL);
    px_model *model = finish(b);

    const px_graph *graph = px_model_graph(model);
    assert_int_equal(px_model_opset(model), 13);
    assert_int_equal(px_model_ir_version(model), 7);
    assert_int_equal(strncmp(px_model_producer(model), "plexor ", 7), 0);
    assert_int_equal(px_model_property_count(model), 2);
    assert_string_equal(px_model_property(model, "a"), "3");
    assert_string_equal(px_model_property(model, "c"), "4");
    assert_string_equal(graph->name, "net");
    assert_int_equal(graph->node_count, 2);
    assert_int_equal(graph->values[y].producer, 0);
    assert_int_equal(graph->values[p].producer, 1);
    assert_string_equal(graph->values[x].dim_names[0], "N");
    assert_int_equal(px_graph_find_value(graph, "out"), p);
    assert_int_equal(px_graph_find_value(graph, "relu"), -1);
    assert_int_equal(px_graph_find_value(graph, "w"), w);

    float input[] = {1, 2, 3};
    const px_tensor in = {.dtype = PX_FLOAT32, .shape = *SHAPE(2, 1, 3), .data = input};
    px_tensor out = {0};
    px_error err = {0};
    if (px_model_interpret(model, &in, &out, &err) != PX_OK)
        fail_msg("%s", err.message);
    assert_true(((float *)out.data)[0] == 2.0f && ((float *)out.data)[1] == 3.0f);
    px_tensor_done(&out);
    px_model_free(model);
}

static px_model *one_relu(const char *property)
{
    px_builder *b = begin("g");
    const int x = px_builder_input(b, "x", PX_FLOAT32, SHAPE(1, 2));
    px_builder_output(b, NODE(b, "Relu", "y", x), PX_FLOAT32, NULL);
    px_builder_property(b, "key", property);
    return finish(b);
}

static void test_hash(void **state)
{
    (void)state;
    px_model *a = one_relu("1"), *same = one_relu("1"), *other = one_relu("2");
    assert_true(px_model_hash(a) == px_model_hash(same));
    assert_true(px_model_hash(a) != px_model_hash(other));
    assert_true(px_model_hash(a) != 0);
    px_model_free(a);
    px_model_free(same);
    px_model_free(other);
}

/* Each leaves a builder that must refuse to finish. */
static void same_name(px_builder *b)
{
    px_builder_input(b, "x", PX_FLOAT32, SHAPE(1, 2));
    const int x = constant(b, "x", 2);
    assert_int_equal(x, -1);
    px_builder_output(b, 0, PX_FLOAT32, NULL);
}

static void no_output(px_builder *b)
{
    px_builder_input(b, "x", PX_FLOAT32, SHAPE(1, 2));
}

static void unknown_input(px_builder *b)
{
    assert_int_equal(NODE(b, "Relu", "y", 3), -1);
}

static void after_failure(px_builder *b)
{
    px_builder_fail(b, PX_E_INPUT, "too small: %d", 3);
    px_builder_fail(b, PX_E_USAGE, "later");
    assert_int_equal(px_builder_input(b, "x", PX_FLOAT32, SHAPE(1, 2)), -1);
    assert_null(px_builder_data(b, 0));
    px_builder_output(b, 0, PX_FLOAT32, NULL);
}

static void bad_shape(px_builder *b)
{
    px_builder_constant(b, "w", PX_FLOAT32, SHAPE(1, -1), NULL);
}

static void huge_shape(px_builder *b)
{
    px_builder_constant(b, "w", PX_FLOAT32, SHAPE(3, INT64_MAX, INT64_MAX, 2), NULL);
}

static void too_deep(px_builder *b)
{
    px_builder_input(b, "x", PX_FLOAT32, &(px_shape){.rank = PX_MAX_RANK + 1});
}

static void not_constant(px_builder *b)
{
    const int x = px_builder_input(b, "x", PX_FLOAT32, SHAPE(1, 2));
    assert_null(px_builder_data(b, x));
    px_builder_replace(b, x, "bytes");
}

static void renamed_to_taken(px_builder *b)
{
    const int x = px_builder_input(b, "x", PX_FLOAT32, SHAPE(1, 2));
    px_builder_rename(b, NODE(b, "Relu", "y", x), "x");
}

static const struct {
    void (*make)(px_builder *b);
    px_status status;
    const char *message; /* part of it */
} refused[] = {
    {same_name, PX_E_USAGE, "two values named 'x'"},
    {no_output, PX_E_USAGE, "the graph 'g' has no outputs"},
    {unknown_input, PX_E_USAGE, "no value 3"},
    {after_failure, PX_E_INPUT, "too small: 3"},
    {bad_shape, PX_E_INPUT, "constant 'w': the shape [?] has a negative extent"},
    {huge_shape, PX_E_INPUT, "too large"},
    {too_deep, PX_E_USAGE, "rank 9"},
    {not_constant, PX_E_USAGE, "'x' is no initialiser"},
    {renamed_to_taken, PX_E_USAGE, "two values named 'x'"},
};

static void test_refused(void **state)
{
    (void)state;
    for (size_t i = 0; i < PX_LEN(refused); i++) {
        px_builder *b = begin("g");
        px_model *model = NULL;
        px_error err = {0};
        refused[i].make(b);
        const px_status status = px_builder_finish(b, &model, &err);
        if (status != refused[i].status || model || !strstr(err.message, refused[i].message))
            fail_msg("'%s': %s, '%s'", refused[i].message, px_status_name(status), err.message);
    }
    px_builder_free(NULL);
}

/* --- copies ---------------------------------------------------------------------------------- */

static void test_constant_nodes(void **state)
{
    (void)state;
    px_builder *b = begin("g");
    const int x = px_builder_input(b, "x", PX_FLOAT32, SHAPE(1, 4));
    const int many = constant_node(b, "many", SHAPE(1, 4));
    const int one = constant_node(b, "one", SHAPE(0, 0));
    const int sum = NODE(b, "Add", "sum", x, many);
    px_builder_output(b, NODE(b, "Mul", "y", sum, one), PX_FLOAT32, NULL);
    px_model *model = finish(b);
    px_error err = {0};
    assert_int_equal(px_builder_from_model(model, &b, &err), PX_OK);
    px_model *copy = finish(b);
    const px_graph *graph = px_model_graph(copy);
    assert_int_equal(graph->node_count, px_model_graph(model)->node_count - 1);
    assert_non_null(graph->values[many].constant);
    assert_int_equal(graph->values[many].producer, -1);
    assert_null(graph->values[one].constant);
    assert_int_equal(graph->values[one].producer, 0);
    assert_int_equal(graph->values[sum].producer, 1);
    px_model_free(copy);
    px_model_free(model);
}

static void interpret(const px_model *model, const px_tensor *in, px_tensor *out)
{
    px_error err = {0};
    if (px_model_interpret(model, in, out, &err) != PX_OK)
        fail_msg("%s", err.message);
}

/* A network's copy, finished, saved and read again gives the same outputs to the last bit. */
static void copy_gives_same(const char *path)
{
    px_model *model = NULL, *copy = NULL, *again = NULL;
    px_builder *b = NULL;
    px_error err = {0};
    if (px_model_load(path, &model, &err) != PX_OK ||
        px_builder_from_model(model, &b, &err) != PX_OK ||
        px_builder_finish(b, &copy, &err) != PX_OK)
        fail_msg("%s", err.message);
    char saved[] = "/tmp/plexor-builder-XXXXXX";
    const int fd = mkstemp(saved);
    assert_true(fd >= 0);
    close(fd);
    if (px_model_save(copy, saved, &err) != PX_OK || px_model_load(saved, &again, &err) != PX_OK)
        fail_msg("%s", err.message);
    unlink(saved);

    const px_graph *graph = px_model_graph(model), *of_copy = px_model_graph(copy);
    assert_int_equal(graph->value_count, of_copy->value_count);
    for (int v = 0; v < graph->value_count; v++)
        assert_string_equal(graph->values[v].name, of_copy->values[v].name);
    px_shape shape = graph->values[graph->inputs[0]].shape;
    shape.dim[0] = 2;
    px_tensor in = {0}, out[3][2] = {{{0}}};
    assert_true(graph->output_count <= 2);
    assert_int_equal(px_tensor_init(&in, PX_FLOAT32, &shape, &err), PX_OK);
    px_random random = px_rng(7, PX_RNG_TEST, 0, 0);
    for (int64_t i = 0; i < px_shape_count(&shape); i++)
        ((float *)in.data)[i] = (float)px_rng_u01(&random);
    interpret(model, &in, out[0]);
    interpret(copy, &in, out[1]);
    interpret(again, &in, out[2]);
    for (int i = 0; i < graph->output_count; i++)
        for (int k = 0; k < 3; k++) {
            if (!px_shape_equal(&out[0][i].shape, &out[k][i].shape) ||
                memcmp(out[0][i].data, out[k][i].data, px_tensor_bytes(&out[0][i])) != 0)
                fail_msg("'%s': output %d of copy %d differs", path, i, k);
        }
    for (int i = 0; i < graph->output_count; i++)
        for (int k = 0; k < 3; k++)
            px_tensor_done(&out[k][i]);
    px_tensor_done(&in);
    px_model_free(model);
    px_model_free(copy);
    px_model_free(again);
}

static void test_copy(void **state)
{
    (void)state;
    const char *const files[] = {"tiny_lenet.onnx", "tiny_mobile.onnx", "tiny_residual.onnx"};
    for (size_t i = 0; i < PX_LEN(files); i++) {
        char path[CORPUS_PATH];
        snprintf(path, sizeof path, "%s/%s", NETWORKS, files[i]);
        copy_gives_same(path);
    }
}

static void test_copy_real(void **state)
{
    (void)state;
    const char *shared = getenv("PLEXOR_SHARED");
    const char *const files[] = {"lenet5.onnx", "resnet20_cifar10.onnx"};
    for (size_t i = 0; i < PX_LEN(files); i++) {
        char path[CORPUS_PATH];
        snprintf(path, sizeof path, "%s/models/%s", shared ? shared : SHARED, files[i]);
        if (access(path, R_OK) != 0) {
            fprintf(stderr, "skipped: no '%s'\n", path);
            skip();
        }
        copy_gives_same(path);
    }
}

/* Whatever the reader takes can be copied; what comes out is the same model. */
static void test_copy_corpus(void **state)
{
    (void)state;
    const char *const files[] = {"small.onnx",    "attributes.onnx", "types-typed.onnx",
                                 "function.onnx", "outputs.onnx",    "residual.onnx",
                                 "ir3.onnx",      "sequence.onnx",   "string-unused.onnx"};
    for (size_t i = 0; i < PX_LEN(files); i++) {
        px_model *model = corpus_load(files[i]);
        px_builder *b = NULL;
        px_error err = {0};
        if (px_builder_from_model(model, &b, &err) != PX_OK)
            fail_msg("%s: %s", files[i], err.message);
        px_model *copy = finish(b);
        const px_graph *from = px_model_graph(model), *to = px_model_graph(copy);
        if (from->value_count != to->value_count || from->input_count != to->input_count ||
            from->output_count != to->output_count || to->node_count > from->node_count ||
            px_model_property_count(model) != px_model_property_count(copy) ||
            px_model_opset(model) != px_model_opset(copy))
            fail_msg("%s: the copy differs", files[i]);
        /* all that is said, where no Constant node became an initialiser */
        if (from->node_count == to->node_count &&
            pxi_model_content_hash(model) != px_model_hash(copy))
            fail_msg("%s: the copy says something else", files[i]);
        for (int v = 0; v < from->value_count; v++) {
            const px_value *a = &from->values[v], *c = &to->values[v];
            if (strcmp(a->name, c->name) != 0 || (a->constant && !c->constant))
                fail_msg("%s: value '%s' became '%s'", files[i], a->name, c->name);
        }
        px_model_free(copy);
        px_model_free(model);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_made),        cmocka_unit_test(test_hash),
        cmocka_unit_test(test_refused),     cmocka_unit_test(test_constant_nodes),
        cmocka_unit_test(test_copy),        cmocka_unit_test(test_copy_real),
        cmocka_unit_test(test_copy_corpus),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
