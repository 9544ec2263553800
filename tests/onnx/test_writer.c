/* tests/onnx/test_writer.c - what is saved reads back as the same graph, in the same bytes */
/* SPDX-License-Identifier: Apache-2.0 */
#include "base/file.h"
#include "base/memory.h"
#include "onnx/corpus.h"

#include <internal/graph.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char first[] = "/tmp/plexor-first-XXXXXX", second[] = "/tmp/plexor-second-XXXXXX";

static int make_files(void **state)
{
    (void)state;
    const int a = mkstemp(first), b = mkstemp(second);
    return a >= 0 && b >= 0 && close(a) == 0 && close(b) == 0 ? 0 : -1;
}

static int remove_files(void **state)
{
    (void)state;
    return unlink(first) == 0 && unlink(second) == 0 ? 0 : -1;
}

static bool same_tensor(const px_tensor *a, const px_tensor *b)
{
    return a->dtype == b->dtype && px_shape_equal(&a->shape, &b->shape) &&
           memcmp(a->data, b->data, px_tensor_bytes(a)) == 0;
}

static bool same_inner(const px_graph *a, const px_graph *b);

static bool same_attr(const px_attr *a, const px_attr *b)
{
    if (strcmp(a->name, b->name) != 0 || a->kind != b->kind || a->count != b->count ||
        a->i != b->i || a->f != b->f || (a->s && strcmp(a->s, b->s) != 0))
        return false;
    for (size_t i = 0; i < a->count; i++)
        if ((a->ints && a->ints[i] != b->ints[i]) || (a->floats && a->floats[i] != b->floats[i]) ||
            (a->strings && strcmp(a->strings[i], b->strings[i]) != 0))
            return false;
    if (a->kind == PX_ATTR_GRAPH)
        return same_inner(a->graph, b->graph);
    return a->kind != PX_ATTR_TENSOR || same_tensor(&a->tensor, &b->tensor);
}

static const char *value_name(const px_graph *graph, int value)
{
    return value < 0 ? "" : graph->values[value].name;
}

static bool same_names(const px_graph *a, const int *in_a, const px_graph *b, const int *in_b,
                       int count)
{
    for (int i = 0; i < count; i++)
        if (strcmp(value_name(a, in_a[i]), value_name(b, in_b[i])) != 0)
            return false;
    return true;
}

static bool same_value(const px_value *a, const px_value *b)
{
    if (a->dtype != b->dtype || a->has_shape != b->has_shape || a->producer != b->producer ||
        !a->constant != !b->constant || (a->constant && !same_tensor(a->constant, b->constant)))
        return false;
    for (int i = 0; a->has_shape && i < a->shape.rank; i++) {
        const char *p = a->dim_names ? a->dim_names[i] : NULL;
        const char *q = b->dim_names ? b->dim_names[i] : NULL;
        if (!p != !q || (p && strcmp(p, q) != 0))
            return false;
    }
    return !a->has_shape || px_shape_equal(&a->shape, &b->shape);
}

/* Graphs inside of nodes: nodes, and what they read and make, by name. */
static bool same_inner(const px_graph *a, const px_graph *b)
{
    bool same = a->node_count == b->node_count && a->value_count == b->value_count &&
                a->input_count == b->input_count && a->output_count == b->output_count &&
                same_names(a, a->inputs, b, b->inputs, a->input_count) &&
                same_names(a, a->outputs, b, b->outputs, a->output_count);
    for (int n = 0; same && n < a->node_count; n++) {
        const px_node *p = &a->nodes[n], *q = &b->nodes[n];
        same = strcmp(p->type, q->type) == 0 && p->opset == q->opset &&
               p->input_count == q->input_count && p->output_count == q->output_count &&
               p->attr_count == q->attr_count &&
               same_names(a, p->inputs, b, q->inputs, p->input_count) &&
               same_names(a, p->outputs, b, q->outputs, p->output_count);
        for (int i = 0; same && i < p->attr_count; i++)
            same = same_attr(&p->attrs[i], &q->attrs[i]);
    }
    for (int v = 0; same && v < a->value_count; v++)
        if (a->values[v].constant) {
            same = false;
            for (int w = 0; w < b->value_count && !same; w++)
                same = strcmp(a->values[v].name, b->values[w].name) == 0 &&
                       same_value(&a->values[v], &b->values[w]);
        }
    return same;
}

static void compare(const char *what, const px_model *x, const px_model *y)
{
    const px_graph *a = px_model_graph(x), *b = px_model_graph(y);
    if (a->node_count != b->node_count || a->value_count != b->value_count ||
        a->input_count != b->input_count || a->output_count != b->output_count ||
        px_model_opset(x) != px_model_opset(y) ||
        px_model_ir_version(x) != px_model_ir_version(y) ||
        px_model_property_count(x) != px_model_property_count(y) ||
        strcmp(px_model_producer(x), px_model_producer(y)) != 0 || strcmp(a->name, b->name) != 0)
        fail_msg("%s: the outline differs", what);
    for (size_t i = 0; i < px_model_property_count(x); i++)
        assert_string_equal(px_model_properties(x)[i].value, px_model_properties(y)[i].value);
    if (!same_names(a, a->inputs, b, b->inputs, a->input_count) ||
        !same_names(a, a->outputs, b, b->outputs, a->output_count))
        fail_msg("%s: inputs or outputs differ", what);
    for (int v = 0; v < a->value_count; v++) {
        const int w = px_graph_find_value(b, a->values[v].name);
        if (w < 0 || !same_value(&a->values[v], &b->values[w]))
            fail_msg("%s: value '%s' differs", what, a->values[v].name);
    }
    for (int n = 0; n < a->node_count; n++) {
        const px_node *p = &a->nodes[n], *q = &b->nodes[n];
        bool same = strcmp(p->name, q->name) == 0 && strcmp(p->type, q->type) == 0 &&
                    strcmp(p->domain, q->domain) == 0 && p->opset == q->opset &&
                    p->input_count == q->input_count && p->output_count == q->output_count &&
                    p->attr_count == q->attr_count &&
                    same_names(a, p->inputs, b, q->inputs, p->input_count) &&
                    same_names(a, p->outputs, b, q->outputs, p->output_count);
        for (int i = 0; same && i < p->attr_count; i++)
            same = same_attr(&p->attrs[i], &q->attrs[i]);
        if (!same)
            fail_msg("%s: node %d '%s' differs", what, n, p->name);
    }
}

static void save(const px_model *model, const char *path)
{
    px_error err = {0};
    if (px_model_save(model, path, &err) != PX_OK)
        fail_msg("%s", err.message);
}

/* Load, save, load: the same graph. Save that again: the same bytes. */
static void round_trip(const char *path)
{
    px_model *before = NULL, *after = NULL;
    px_error err = {0};
    if (px_model_load(path, &before, &err) != PX_OK)
        fail_msg("%s", err.message);
    save(before, first);
    if (px_model_load(first, &after, &err) != PX_OK)
        fail_msg("%s: %s", path, err.message);
    compare(path, before, after);
    save(after, second);
    char *one = NULL, *two = NULL;
    size_t one_size = 0, two_size = 0;
    assert_int_equal(pxi_file_read(first, 1 << 30, &one, &one_size, &err), PX_OK);
    assert_int_equal(pxi_file_read(second, 1 << 30, &two, &two_size, &err), PX_OK);
    if (one_size != two_size || memcmp(one, two, one_size) != 0)
        fail_msg("%s: the bytes differ", path);
    free(one);
    free(two);
    px_model_free(before);
    px_model_free(after);
}

static void test_corpus(void **state)
{
    (void)state;
    static const char *const files[] = {
        "small.onnx",      "residual.onnx", "types-raw.onnx", "types-typed.onnx",
        "attributes.onnx", "function.onnx", "unsorted.onnx",  "ir3.onnx",
        "newer.onnx",      "outputs.onnx",  "external.onnx",  "subgraph.onnx",
        "loop.onnx",
    };
    for (size_t i = 0; i < PX_LEN(files); i++) {
        char path[CORPUS_PATH];
        round_trip(corpus_path(files[i], path));
    }
}

static void test_refusals(void **state)
{
    (void)state;
    static const char *const files[][2] = {
        {"sequence.onnx", "'s' is of the type sequence"},
    };
    for (size_t i = 0; i < PX_LEN(files); i++) {
        px_model *model = corpus_load(files[i][0]);
        px_error err = {0};
        const px_status status = px_model_save(model, first, &err);
        if (status != PX_E_UNSUPPORTED || !strstr(err.message, files[i][1]) ||
            !strstr(err.message, first))
            fail_msg("%s: status %d, '%s'", files[i][0], (int)status, err.message);
        px_model_free(model);
    }
    px_model *model = corpus_load("small.onnx");
    px_error err = {0};
    assert_int_equal(px_model_save(model, "/nonexistent/x.onnx", &err), PX_E_INPUT);
    px_model_free(model);
}

/* Networks of ../shared (or $PLEXOR_SHARED), which is not part of the repository. */
static const char *const real_networks[] = {"lenet5", "resnet20_cifar10", "mobilenetv2_cifar10"};

static const char *real_path(const char *name, char path[CORPUS_PATH])
{
    const char *shared = getenv("PLEXOR_SHARED");
    snprintf(path, CORPUS_PATH, "%s/models/%s.onnx", shared ? shared : SHARED, name);
    return path;
}

static void test_real_networks(void **state)
{
    (void)state;
    char path[CORPUS_PATH];
    for (size_t i = 0; i < PX_LEN(real_networks); i++)
        round_trip(real_path(real_networks[i], path));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_corpus),
        cmocka_unit_test(test_refusals),
    };
    const struct CMUnitTest all[] = {
        tests[0],
        tests[1],
        cmocka_unit_test(test_real_networks),
    };
    char path[CORPUS_PATH];
    if (access(real_path(real_networks[0], path), R_OK) == 0)
        return cmocka_run_group_tests(all, make_files, remove_files);
    fprintf(stderr, "test_real_networks is skipped: '%s' is not here\n", path);
    return cmocka_run_group_tests(tests, make_files, remove_files);
}
