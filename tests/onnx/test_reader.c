/* tests/onnx/test_reader.c - what every file of the corpus gives, to the value */
/* SPDX-License-Identifier: Apache-2.0 */
#include "base/memory.h"
#include "onnx/corpus.h"
#include "onnx/external.h"

#include <errno.h>
#include <fcntl.h>
#include <internal/graph.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

static const struct {
    const char *file;
    px_status status;
    const char *says; /* part of the message */
} cases[] = {
    {"small.onnx", PX_OK, ""},
    {"residual.onnx", PX_OK, ""},
    {"types-raw.onnx", PX_OK, ""},
    {"types-typed.onnx", PX_OK, ""},
    {"attributes.onnx", PX_OK, ""},
    {"function.onnx", PX_OK, ""},
    {"subgraph.onnx", PX_OK, ""},
    {"loop.onnx", PX_OK, ""},
    {"unsorted.onnx", PX_OK, ""},
    {"ir3.onnx", PX_OK, ""},
    {"newer.onnx", PX_OK, ""},
    {"outputs.onnx", PX_OK, ""},
    {"sequence.onnx", PX_OK, ""},
    {"string-unused.onnx", PX_OK, ""},
    {"external.onnx", PX_OK, ""},
    {"gone.onnx", PX_E_INPUT, "No such file"},
    {"bad-empty.onnx", PX_E_INPUT, "no graph"},
    {"bad-text.onnx", PX_E_INPUT, "not an ONNX file"},
    {"bad-cycle.onnx", PX_E_INPUT, "node 'ping' (Add) depends on its own output"},
    {"bad-missing.onnx", PX_E_INPUT, "node 'sum' (Add) reads 'nowhere'"},
    {"bad-two-makers.onnx", PX_E_INPUT, "node 'again' (Neg) makes 'y'"},
    {"bad-makes-input.onnx", PX_E_INPUT, "node 'back' (Neg) makes 'x'"},
    {"bad-two-inputs.onnx", PX_E_INPUT, "two inputs 'x'"},
    {"bad-two-initialisers.onnx", PX_E_INPUT, "two initialisers 'w'"},
    {"bad-output.onnx", PX_E_INPUT, "the output 'z' is made by no node"},
    {"bad-no-outputs.onnx", PX_E_INPUT, "no outputs"},
    {"bad-no-opset.onnx", PX_E_INPUT, "imports no operator set"},
    {"bad-sparse.onnx", PX_E_UNSUPPORTED, "sparse initialisers"},
    {"bad-two-attributes.onnx", PX_E_INPUT, "two attributes named 'alpha'"},
    {"bad-string.onnx", PX_E_UNSUPPORTED, "initialiser 'w': tensors of string"},
    {"bad-complex.onnx", PX_E_UNSUPPORTED, "initialiser 'w': tensors of complex64"},
    {"bad-huge.onnx", PX_E_INPUT, "does not fit its data of 8 bytes"},
    {"bad-overflow.onnx", PX_E_INPUT, "too large"},
    {"bad-negative.onnx", PX_E_INPUT, "negative extent"},
    {"bad-short.onnx", PX_E_INPUT, "the shape [3] of float32 does not fit its data of 8 bytes"},
    {"bad-long.onnx", PX_E_INPUT, "the shape [1] of float32 does not fit its data of 2 elements"},
    {"bad-range.onnx", PX_E_INPUT, "the number 300 does not fit uint8"},
    {"bad-rank.onnx", PX_E_UNSUPPORTED, "rank 9"},
    {"bad-function-bomb.onnx", PX_E_INPUT, "expand to more than"},
    {"bad-function-recursive.onnx", PX_E_INPUT, "may not recurse"},
    {"bad-deep.onnx", PX_E_INPUT, "more than 100 messages inside each other"},
    {"bad-external-absolute.onnx", PX_E_INPUT, "inside the model's folder"},
    {"bad-external-up.onnx", PX_E_INPUT, "inside the model's folder"},
    {"bad-external-inner-up.onnx", PX_E_INPUT, "inside the model's folder"},
    {"bad-external-gone.onnx", PX_E_INPUT, "'gone.bin' cannot be opened"},
    {"bad-external-offset.onnx", PX_E_INPUT, "16 from byte 20 on do not lie inside it"},
    {"bad-external-wrap.onnx", PX_E_INPUT, "do not lie inside it"},
    {"bad-external-length.onnx", PX_E_INPUT, "gives 12 bytes; type and shape need 16"},
    {"bad-external-text.onnx", PX_E_INPUT, "offset '-1'"},
    {"bad-external-nowhere.onnx", PX_E_INPUT, "no location"},
};

static void test_corpus(void **state)
{
    (void)state;
    for (size_t i = 0; i < PX_LEN(cases); i++) {
        char path[CORPUS_PATH];
        px_model *model = NULL;
        px_error err = {0};
        const px_status status = px_model_load(corpus_path(cases[i].file, path), &model, &err);
        if (status != cases[i].status || !strstr(err.message, cases[i].says))
            fail_msg("%s: status %d, '%s'", cases[i].file, (int)status, err.message);
        if (status != PX_OK && (!strstr(err.message, cases[i].file) || model))
            fail_msg("%s: not named in '%s'", cases[i].file, err.message);
        px_model_free(model);
    }
}

static const px_value *value_of(const px_model *model, const char *name)
{
    const px_graph *graph = px_model_graph(model);
    const int index = px_graph_find_value(graph, name);
    if (index < 0)
        fail_msg("no value '%s'", name);
    return &graph->values[index];
}

static void test_small(void **state)
{
    (void)state;
    px_model *model = corpus_load("small.onnx");
    const px_graph *graph = px_model_graph(model);
    assert_int_equal(graph->node_count, 7);
    assert_int_equal(graph->input_count, 1);
    assert_int_equal(graph->output_count, 1);
    assert_string_equal(graph->name, "g");
    assert_string_equal(px_model_producer(model), "corpus");
    assert_int_equal(px_model_opset(model), 13);
    assert_int_equal(px_model_ir_version(model), 7);
    assert_string_equal(px_model_warnings(model), "");
    assert_string_equal(px_model_property(model, "plexor.scale"), "0.5");
    assert_null(px_model_property(model, "plexor.mean"));
    assert_int_equal(px_model_property_count(model), 2);

    const px_value *x = value_of(model, "x"), *r = value_of(model, "r"), *c = value_of(model, "c");
    assert_int_equal(x->dtype, PX_FLOAT32);
    assert_true(x->has_shape && x->producer == -1);
    assert_true(px_shape_equal(&x->shape, &(px_shape){4, {-1, 1, 6, 6}}));
    assert_string_equal(x->dim_names[0], "batch");
    assert_null(x->dim_names[1]);
    assert_true(px_shape_equal(&r->shape, &(px_shape){4, {-1, 2, 6, 6}})); /* value_info */
    assert_int_equal(r->producer, 2);
    assert_int_equal(c->dtype, PX_NONE);
    assert_false(c->has_shape);
    assert_int_equal(px_graph_find_value(graph, "left behind by an exporter"), -1);

    const px_tensor *w = value_of(model, "w")->constant;
    assert_true(px_shape_equal(&w->shape, &(px_shape){4, {2, 1, 3, 3}}));
    assert_true(((const float *)w->data)[0] == -9.0f / 8 && ((const float *)w->data)[17] == 1.0f);
    const px_attr *pads = px_node_attr(&graph->nodes[0], "pads");
    assert_int_equal(pads->count, 4);
    assert_int_equal(pads->ints[3], 1);
    px_model_free(model);
}

static const struct {
    const char *name;
    px_dtype dtype;
    unsigned char bytes[16]; /* of {1, -2}, {1, 2}, or {true, true} */
} typed[] = {
    {"f32", PX_FLOAT32, {0, 0, 0x80, 0x3f, 0, 0, 0, 0xc0}},
    {"u8", PX_UINT8, {1, 2}},
    {"i8", PX_INT8, {1, 0xfe}},
    {"u16", PX_UINT16, {1, 0, 2, 0}},
    {"i16", PX_INT16, {1, 0, 0xfe, 0xff}},
    {"i32", PX_INT32, {1, 0, 0, 0, 0xfe, 0xff, 0xff, 0xff}},
    {"i64", PX_INT64, {1, 0, 0, 0, 0, 0, 0, 0, 0xfe, 255, 255, 255, 255, 255, 255, 255}},
    {"bool", PX_BOOL, {1, 1}},
    {"f16", PX_FLOAT16, {0, 0x3c, 0, 0xc0}},
    {"f64", PX_FLOAT64, {0, 0, 0, 0, 0, 0, 0xf0, 0x3f, 0, 0, 0, 0, 0, 0, 0, 0xc0}},
    {"u32", PX_UINT32, {1, 0, 0, 0, 2, 0, 0, 0}},
    {"u64", PX_UINT64, {1, 0, 0, 0, 0, 0, 0, 0, 2}},
    {"bf16", PX_BFLOAT16, {0x80, 0x3f, 0, 0xc0}},
};

static void test_types(void **state)
{
    (void)state;
    static const char *const files[] = {"types-raw.onnx", "types-typed.onnx"};
    for (size_t f = 0; f < PX_LEN(files); f++) {
        px_model *model = corpus_load(files[f]);
        for (size_t i = 0; i < PX_LEN(typed); i++) {
            const px_value *value = value_of(model, typed[i].name);
            if (value->dtype != typed[i].dtype || value->constant->dtype != typed[i].dtype ||
                memcmp(value->constant->data, typed[i].bytes, px_tensor_bytes(value->constant)))
                fail_msg("%s: '%s'", files[f], typed[i].name);
        }
        const px_value *empty = value_of(model, "empty"), *scalar = value_of(model, "scalar");
        assert_true(px_shape_equal(&empty->shape, &(px_shape){2, {0, 3}}));
        assert_non_null(empty->constant->data);
        assert_int_equal(scalar->shape.rank, 0);
        assert_true(*(const float *)scalar->constant->data == 7.0f);
        px_model_free(model);
    }
}

static void test_attributes(void **state)
{
    (void)state;
    px_model *model = corpus_load("attributes.onnx");
    const px_graph *graph = px_model_graph(model);
    const px_node *odd = &graph->nodes[0];
    assert_string_equal(odd->domain, "com.example");
    assert_int_equal(odd->opset, 3);
    assert_int_equal(odd->input_count, 3);
    assert_int_equal(odd->inputs[1], -1);
    assert_int_equal(odd->outputs[1], -1);
    const px_attr *floats = px_node_attr(odd, "floats"), *strings = px_node_attr(odd, "strings");
    const px_attr *t = px_node_attr(odd, "t");
    assert_true(floats->count == 2 && floats->floats[1] == 1.5f);
    assert_true(strings->count == 2 && strcmp(strings->strings[1], "bc") == 0);
    assert_true(t->kind == PX_ATTR_TENSOR && ((const int64_t *)t->tensor.data)[1] == 5);
    assert_int_equal(graph->nodes[1].opset, 13);
    const px_attr *empty = px_node_attr(&graph->nodes[2], "value");
    assert_true(empty->kind == PX_ATTR_TENSOR && empty->tensor.shape.dim[0] == 0);
    px_model_free(model);
}

/* call(alpha 0.5) -> Twice(Scaled(ref), Scaled(0.25), Add), Scaled -> Elu(ref), Neg */
static void test_function(void **state)
{
    (void)state;
    static const struct {
        const char *type;
        float alpha; /* 9: none */
    } expected[] = {{"Elu", 0.5f}, {"Neg", 9}, {"Elu", 0.25f}, {"Neg", 9}, {"Add", 9}, {"Relu", 9}};
    px_model *model = corpus_load("function.onnx");
    const px_graph *graph = px_model_graph(model);
    assert_int_equal(graph->node_count, PX_LEN(expected));
    for (size_t i = 0; i < PX_LEN(expected); i++) {
        assert_string_equal(graph->nodes[i].type, expected[i].type);
        assert_int_equal(graph->nodes[i].opset, 13);
        assert_true(px_node_float(&graph->nodes[i], "alpha", 9) == expected[i].alpha);
        if (i)
            assert_int_equal(graph->nodes[i].inputs[0], graph->nodes[i - 1].outputs[0]);
    }
    assert_int_equal(graph->nodes[4].inputs[1], graph->inputs[0]);
    assert_string_equal(graph->nodes[0].name, "Scaled#1/elu");
    px_model_free(model);
}

static void test_odd_graphs(void **state)
{
    (void)state;
    px_model *model = corpus_load("unsorted.onnx");
    const px_graph *graph = px_model_graph(model);
    assert_string_equal(graph->nodes[0].name, "first");
    assert_string_equal(graph->nodes[2].name, "last");
    assert_int_equal(value_of(model, "y")->producer, 2);
    px_model_free(model);

    model = corpus_load("ir3.onnx");
    assert_int_equal(px_model_graph(model)->input_count, 1);
    assert_non_null(value_of(model, "w")->constant);
    px_model_free(model);

    model = corpus_load("outputs.onnx");
    graph = px_model_graph(model);
    assert_int_equal(graph->outputs[1], graph->inputs[0]);
    assert_non_null(graph->values[graph->outputs[2]].constant);
    px_model_free(model);

    model = corpus_load("newer.onnx");
    assert_non_null(strstr(px_model_warnings(model), "opset 27 is newer"));
    px_model_free(model);

    model = corpus_load("subgraph.onnx");
    assert_int_equal(px_node_attr(&px_model_graph(model)->nodes[0], "then_branch")->kind,
                     PX_ATTR_GRAPH);
    px_model_free(model);

    model = corpus_load("sequence.onnx");
    assert_string_equal(value_of(model, "s")->foreign_type, "sequence");
    assert_int_equal(value_of(model, "s")->dtype, PX_NONE);
    px_model_free(model);
}

static void test_external(void **state)
{
    (void)state;
    px_model *model = corpus_load("external.onnx");
    const float *w = value_of(model, "w")->constant->data;
    assert_true(w[0] == -0.25f && w[3] == 0.125f);
    px_model_free(model);
}

/* Kernels before 5.6, some sandboxes and emulators have not. */
static bool has_openat2(void)
{
    return syscall(SYS_openat2, -1, "", NULL, (size_t)0) >= 0 ||
           (errno != ENOSYS && errno != EPERM);
}

/* A link inside the folder is fine where the system can tell, one that leads out of it is not, nor
 * is a pipe. */
static void test_external_links(void **state)
{
    (void)state;
    char folder[] = "/tmp/plexor-onnx-XXXXXX", from[CORPUS_PATH], bytes[256];
    assert_non_null(mkdtemp(folder));
    assert_int_equal(chdir(folder), 0);
    FILE *in = fopen(corpus_path("external.onnx", from), "rb"), *out = fopen("m.onnx", "wb");
    assert_true(in && out);
    fwrite(bytes, 1, fread(bytes, 1, sizeof bytes, in), out);
    fclose(in);
    fclose(out);

    px_model *model = NULL;
    px_error err = {0};
    assert_int_equal(symlink(corpus_path("external.bin", from), "external.bin"), 0);
    assert_int_equal(px_model_load("m.onnx", &model, &err), PX_E_INPUT);
    const bool follows = has_openat2();
    assert_non_null(strstr(err.message, follows ? "leads out of the model's folder" : "is a link"));
    unlink("external.bin");

    assert_int_equal(mkfifo("external.bin", 0600), 0);
    assert_int_equal(px_model_load("m.onnx", &model, &err), PX_E_INPUT);
    assert_non_null(strstr(err.message, "no regular file"));
    unlink("external.bin");

    out = fopen("inner.bin", "wb");
    fwrite(bytes, 1, 64, out);
    fclose(out);
    assert_int_equal(symlink("inner.bin", "external.bin"), 0);
    assert_int_equal(px_model_load("m.onnx", &model, &err), follows ? PX_OK : PX_E_INPUT);
    px_model_free(model);
    unlink("external.bin");
    unlink("inner.bin");
    unlink("m.onnx");
    assert_int_equal(chdir("/"), 0);
    assert_int_equal(rmdir(folder), 0);
}

static void test_external_without_openat2(void **state)
{
    (void)state;
    char root[] = "/tmp/plexor-plain-XXXXXX";
    assert_non_null(mkdtemp(root));
    assert_int_equal(chdir(root), 0);
    assert_int_equal(mkdir("sub", 0700), 0);
    fclose(fopen("sub/data", "wb"));
    assert_int_equal(symlink("data", "sub/link"), 0);
    assert_int_equal(symlink("sub", "link"), 0);
    const struct {
        const char *location;
        bool opens;
    } places[] = {{"sub/data", true},   {"./sub//data", true}, {"sub/link", false},
                  {"link/data", false}, {"sub/gone", false},   {"sub/data/x", false}};
    const int folder = open(".", O_PATH | O_DIRECTORY);
    assert_true(folder >= 0);
    for (size_t i = 0; i < PX_LEN(places); i++) {
        const int fd = pxi_external_open_plain(folder, places[i].location);
        if ((fd >= 0) != places[i].opens)
            fail_msg("'%s': %s", places[i].location, strerror(errno));
        if (fd >= 0)
            close(fd);
    }
    close(folder);
    unlink("link");
    unlink("sub/link");
    unlink("sub/data");
    assert_int_equal(rmdir("sub"), 0);
    assert_int_equal(chdir("/"), 0);
    assert_int_equal(rmdir(root), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_corpus),
        cmocka_unit_test(test_small),
        cmocka_unit_test(test_types),
        cmocka_unit_test(test_attributes),
        cmocka_unit_test(test_function),
        cmocka_unit_test(test_odd_graphs),
        cmocka_unit_test(test_external),
        cmocka_unit_test(test_external_links),
        cmocka_unit_test(test_external_without_openat2),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
