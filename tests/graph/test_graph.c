/* tests/graph/test_graph.c - names, attributes, cuts, restarts, parameter counts */
/* SPDX-License-Identifier: Apache-2.0 */
#include "onnx/corpus.h"
#include <internal/names.h>
#include <internal/reach.h>

#include <stdlib.h>

static void test_names(void **state)
{
    (void)state;
    enum { COUNT = 5000 };
    static char texts[COUNT][16];
    pxi_names names = {0};
    assert_int_equal(pxi_names_find(&names, "n0"), -1);
    for (int i = 0; i < COUNT; i++) {
        snprintf(texts[i], sizeof texts[i], "n%d", i);
        assert_int_equal(pxi_names_add(&names, texts[i], i), i);
    }
    for (int i = 0; i < COUNT; i++) {
        assert_int_equal(pxi_names_find(&names, texts[i]), i);
        assert_int_equal(pxi_names_add(&names, texts[i], COUNT + i), i);
    }
    assert_int_equal(pxi_names_find(&names, "n5000"), -1);
    assert_int_equal(pxi_names_find(&names, ""), -1);
    pxi_names_done(&names);
}

static void test_attributes(void **state)
{
    (void)state;
    px_model *model = corpus_load("attributes.onnx");
    const px_node *node = &px_model_graph(model)->nodes[0];
    assert_int_equal(px_node_int(node, "i", 9), -3);
    assert_int_equal(px_node_int(node, "absent", 9), 9);
    assert_int_equal(px_node_int(node, "f", 9), 9); /* of another kind */
    assert_true(px_node_float(node, "f", 2.0f) == 0.5f);
    assert_true(px_node_float(node, "i", 2.0f) == 2.0f);
    assert_string_equal(px_node_string(node, "s", "no"), "text");
    assert_string_equal(px_node_string(node, "ints", "no"), "no");
    assert_null(px_node_attr(node, "absent"));
    px_model_free(model);
}

/* residual.onnx: x -stem-> a -relu0-> b -conv1-> c -relu1-> d -conv2-> e, b -short-> s,
 * w0 -folds-> k, e + s = f, f * k = y, s -aux-> aux */
static const struct {
    const char *value, *to;
    bool cut;
} cuts[] = {
    {"x", "y", true},  {"a", "y", true}, {"b", "y", true},   {"d", "y", false},
    {"s", "y", false}, {"f", "y", true}, {"s", "aux", true}, {"d", "aux", false},
    {"c", "d", true},  {"y", "y", true}, {"k", "y", false},
};

static void test_cuts(void **state)
{
    (void)state;
    px_model *model = corpus_load("residual.onnx");
    const px_graph *graph = px_model_graph(model);
    for (size_t i = 0; i < sizeof cuts / sizeof cuts[0]; i++) {
        const int value = px_graph_find_value(graph, cuts[i].value);
        const int to = px_graph_find_value(graph, cuts[i].to);
        assert_true(value >= 0 && to >= 0);
        bool cut = !cuts[i].cut;
        assert_int_equal(pxi_graph_cuts(graph, value, to, &cut, NULL), PX_OK);
        if (cut != cuts[i].cut)
            fail_msg("'%s' to '%s'", cuts[i].value, cuts[i].to);
    }
    px_model_free(model);
}

static const struct {
    const char *value, *feeds[4];
} restarts[] = {
    {"x", {"x"}},
    {"b", {"b"}},
    {"d", {"d", "s", "aux"}}, /* neither depends on d; both are wanted */
    {"s", {"s", "e"}},
    {"f", {"f", "aux"}}, /* k follows from constants */
    {"y", {"y", "aux"}},
};

static void test_restarts(void **state)
{
    (void)state;
    px_model *model = corpus_load("residual.onnx");
    const px_graph *graph = px_model_graph(model);
    for (size_t i = 0; i < sizeof restarts / sizeof restarts[0]; i++) {
        int *feeds = NULL;
        const int count =
            px_graph_restart(graph, px_graph_find_value(graph, restarts[i].value), &feeds);
        int expected = 0;
        for (; expected < 4 && restarts[i].feeds[expected]; expected++) {
            bool found = false;
            for (int k = 0; k < count; k++)
                found =
                    found || feeds[k] == px_graph_find_value(graph, restarts[i].feeds[expected]);
            if (!found)
                fail_msg("restart at '%s' lacks '%s'", restarts[i].value,
                         restarts[i].feeds[expected]);
        }
        if (count != expected || feeds[0] != px_graph_find_value(graph, restarts[i].value))
            fail_msg("restart at '%s' gives %d feeds", restarts[i].value, count);
        free(feeds);
    }
    px_model_free(model);
}

static void test_parameters(void **state)
{
    (void)state;
    px_model *model = corpus_load("small.onnx");
    int64_t statistics = -1;
    assert_int_equal(px_model_parameters(model, &statistics), 18 + 2 + 2 + 2 + 6);
    assert_int_equal(statistics, 4);
    assert_int_equal(px_model_parameters(model, NULL), 30);
    px_model_free(model);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_names),      cmocka_unit_test(test_attributes),
        cmocka_unit_test(test_cuts),       cmocka_unit_test(test_restarts),
        cmocka_unit_test(test_parameters),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
