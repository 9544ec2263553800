/* tests/graph/test_weights.c - which numbers are weights, and what becomes of them */
/* SPDX-License-Identifier: Apache-2.0 */
#include <internal/weights.h>
#include <plexor/onnx.h>

#include "base/memory.h"
#include "graph/graph_helpers.h"
#include "onnx/corpus.h"

#include <stdint.h>
#include <stdlib.h>

typedef int (*branch)(px_builder *b, int x); /* from the input [N,4] to some value */

static int conv(px_builder *b, int x)
{
    return NODE(b, "Conv", "y", x, constant(b, "w", 4), constant(b, "b", 2));
}

static int conv_transpose(px_builder *b, int x)
{
    return NODE(b, "ConvTranspose", "y", x, constant(b, "w", 4), constant(b, "b", 2));
}

static int gemm(px_builder *b, int x)
{
    return NODE(b, "Gemm", "y", x, constant(b, "w", 4), constant(b, "b", 1));
}

static int lstm(px_builder *b, int x)
{
    return NODE(b, "LSTM", "y", x, constant(b, "w", 4), constant(b, "r", 4), constant(b, "b", 4),
                -1, constant(b, "h", 4), constant(b, "c", 4), constant(b, "p", 3));
}

static int batch_norm(px_builder *b, int x)
{
    return NODE(b, "BatchNormalization", "y", x, constant(b, "scale", 4), constant(b, "shift", 4),
                constant(b, "mean", 4), constant(b, "var", 4));
}

static int instance_norm(px_builder *b, int x)
{
    return NODE(b, "InstanceNormalization", "y", x, constant(b, "s", 4), constant(b, "b", 4));
}

static int prelu(px_builder *b, int x)
{
    return NODE(b, "PRelu", "y", x, constant(b, "slope", 1));
}

static int add_many(px_builder *b, int x)
{
    return NODE(b, "Add", "y", constant(b, "b", 4), x);
}

static int add_one(px_builder *b, int x)
{
    return NODE(b, "Add", "y", x, constant(b, "b", 1));
}

static int mul_one_through_reshape(px_builder *b, int x)
{
    const int64_t shape[] = {1, 1};
    const int to = px_builder_constant(b, "to", PX_INT64, SHAPE(1, 2), shape);
    return NODE(b, "Mul", "y", x, NODE(b, "Reshape", "r", constant(b, "b", 1), to));
}

static int through_chain(px_builder *b, int x)
{
    const int64_t shape[] = {4, 1};
    const int to = px_builder_constant(b, "to", PX_INT64, SHAPE(1, 2), shape);
    const int r = NODE(b, "Reshape", "r", constant(b, "w", 4), to);
    return NODE(b, "MatMul", "y", x, NODE(b, "Identity", "i", NODE(b, "Transpose", "t", r)));
}

static int statistic_through_identity(px_builder *b, int x)
{
    const int mean = NODE(b, "Identity", "i", constant(b, "mean", 4));
    return NODE(b, "BatchNormalization", "y", x, constant(b, "scale", 4), constant(b, "shift", 4),
                mean, constant(b, "var", 4));
}

static int shared_twice(px_builder *b, int x)
{
    const int w = constant(b, "w", 4);
    return NODE(b, "MatMul", "y", NODE(b, "MatMul", "h", x, w), w);
}

static int clip(px_builder *b, int x)
{
    return NODE(b, "Clip", "y", x, constant(b, "low", 1), constant(b, "high", 1));
}

static int resize(px_builder *b, int x)
{
    return NODE(b, "Resize", "y", x, -1, constant(b, "scales", 4));
}

static int integers(px_builder *b, int x)
{
    const int one = px_builder_constant(b, "one", PX_INT64, SHAPE(1, 4), NULL);
    return NODE(b, "Reshape", "y", x, NODE(b, "Add", "s", NODE(b, "Shape", "q", x), one));
}

static int dead(px_builder *b, int x)
{
    NODE(b, "MatMul", "unread", x, constant(b, "w", 4));
    return NODE(b, "Relu", "y", x);
}

static int empty(px_builder *b, int x)
{
    return NODE(b, "Add", "y", x, constant(b, "b", 0));
}

static int scalar_node(px_builder *b, int x)
{
    return NODE(b, "PRelu", "y", x, constant_node(b, "slope", SHAPE(0, 0)));
}

static int relu(px_builder *b, int x)
{
    return NODE(b, "Relu", "y", x);
}

static const struct {
    const char *what;
    branch make;
    const char *parameters, *statistics; /* names in the order of values */
} cases[] = {
    {"Conv", conv, "w b ", ""},
    {"ConvTranspose", conv_transpose, "w b ", ""},
    {"Gemm, one bias", gemm, "w b ", ""},
    {"LSTM, not its initial states", lstm, "w r b p ", ""},
    {"BatchNormalization", batch_norm, "scale shift ", "mean var "},
    {"InstanceNormalization", instance_norm, "s b ", ""},
    {"PRelu with one slope", prelu, "slope ", ""},
    {"Add of several", add_many, "b ", ""},
    {"Add of one", add_one, "", ""},
    {"Mul of one, reshaped", mul_one_through_reshape, "", ""},
    {"MatMul through a chain", through_chain, "w ", ""},
    {"statistic through Identity", statistic_through_identity, "scale shift ", "mean var "},
    {"read twice", shared_twice, "w ", ""},
    {"Clip's bounds", clip, "", ""},
    {"Resize's scales", resize, "", ""},
    {"sums of integers", integers, "", ""},
    {"what no output needs", dead, "", ""},
    {"no elements", empty, "", ""},
    {"a scalar Constant node", scalar_node, "", ""},
    {"no weights", relu, "", ""},
};

static px_model *made(branch make)
{
    px_builder *b = begin("g");
    const int x = px_builder_input(b, "x", PX_FLOAT32, SHAPE(2, -1, 4));
    px_builder_output(b, make(b, x), PX_FLOAT32, NULL);
    return finish(b);
}

static void test_roles(void **state)
{
    (void)state;
    for (size_t i = 0; i < PX_LEN(cases); i++) {
        px_model *model = made(cases[i].make);
        px_weights *weights = NULL;
        px_error err = {0};
        if (px_weights_new(model, &weights, &err) != PX_OK)
            fail_msg("%s: %s", cases[i].what, err.message);
        char names[2][64] = {"", ""};
        for (size_t k = 0; k < px_weights_count(weights); k++) {
            px_weight *weight = px_weights_get(weights, k);
            snprintf(names[weight->role] + strlen(names[weight->role]), 32, "%s ", weight->name);
            assert_ptr_equal(px_weights_find(weights, weight->value), weight);
            assert_int_equal((uintptr_t)weight->tensor.data % 64, 0);
            assert_memory_equal(weight->tensor.data,
                                px_model_graph(model)->values[weight->value].constant->data,
                                px_tensor_bytes(&weight->tensor));
        }
        if (strcmp(names[PX_WEIGHT_PARAMETER], cases[i].parameters) != 0 ||
            strcmp(names[PX_WEIGHT_STATISTIC], cases[i].statistics) != 0)
            fail_msg("%s: parameters '%s', statistics '%s'", cases[i].what, names[0], names[1]);
        assert_null(px_weights_find(weights, 0)); /* the input */
        assert_null(px_weights_find(weights, -1));
        assert_null(px_weights_find(weights, 1000));
        assert_ptr_equal(px_weights_model(weights), model);
        px_weights_free(weights);
        px_model_free(model);
    }
    px_weights_free(NULL);
}

static int half(px_builder *b, int x)
{
    return NODE(b, "MatMul", "y", x, px_builder_constant(b, "w", PX_FLOAT16, SHAPE(1, 4), NULL));
}

static int constant_in_node(px_builder *b, int x)
{
    return NODE(b, "MatMul", "y", x, constant_node(b, "w", SHAPE(1, 4)));
}

static int both(px_builder *b, int x)
{
    const int w = constant(b, "w", 4);
    return NODE(b, "BatchNormalization", "y", x, w, w, w, w);
}

static const struct {
    branch make;
    const char *message;
} refused[] = {
    {half, "the weight 'w' is float16; only float32"},
    {constant_in_node, "the weight 'w' is held by a Constant node"},
    {both, "the weight 'w' is read both as a parameter and as a running statistic"},
};

static void test_refused(void **state)
{
    (void)state;
    for (size_t i = 0; i < PX_LEN(refused); i++) {
        px_model *model = made(refused[i].make);
        px_weights *weights = NULL;
        px_error err = {0};
        const px_status status = px_weights_new(model, &weights, &err);
        if (status != PX_E_UNSUPPORTED || weights || !strstr(err.message, refused[i].message))
            fail_msg("'%s': '%s'", refused[i].message, err.message);
        px_model_free(model);
    }
}

/* A weight in a Constant node is one after a copy through the builder. */
static void test_constant_node_copied(void **state)
{
    (void)state;
    px_model *model = made(constant_in_node);
    px_builder *b = NULL;
    px_weights *weights = NULL;
    px_error err = {0};
    assert_int_equal(px_builder_from_model(model, &b, &err), PX_OK);
    px_model *copy = finish(b);
    px_model_free(model);
    assert_int_equal(px_weights_new(copy, &weights, &err), PX_OK);
    assert_int_equal(px_weights_count(weights), 1);
    assert_string_equal(px_weights_get(weights, 0)->name, "w");
    px_weights_free(weights);
    px_model_free(copy);
}

static void test_freeze(void **state)
{
    (void)state;
    px_model *model = corpus_load("small.onnx"), *frozen = NULL;
    px_weights *weights = NULL, *others = NULL;
    px_error err = {0};
    assert_int_equal(px_weights_new(model, &weights, &err), PX_OK);
    assert_int_equal(px_weights_new(model, &others, &err), PX_OK);
    assert_int_equal(px_weights_count(weights), 7);
    for (size_t i = 0; i < px_weights_count(weights); i++)
        ((float *)px_weights_get(weights, i)->tensor.data)[0] = 100.0f + (float)i;
    assert_int_equal(px_weights_copy(others, weights, &err), PX_OK);
    assert_int_equal(px_weights_copy(others, others, &err), PX_OK);
    const px_property set[] = {{"plexor.scale", "0.25"}, {"plexor.train", "{}"}};
    if (px_weights_freeze(others, set, PX_LEN(set), &frozen, &err) != PX_OK)
        fail_msg("%s", err.message);
    px_weights_free(others);

    assert_string_equal(px_model_property(frozen, "plexor.scale"), "0.25");
    assert_string_equal(px_model_property(frozen, "plexor.train"), "{}");
    assert_string_equal(px_model_property(frozen, "plexor.classes"),
                        px_model_property(model, "plexor.classes"));
    assert_int_equal(px_model_property_count(frozen), px_model_property_count(model) + 1);
    assert_true(px_model_hash(frozen) != px_model_hash(model));
    for (size_t i = 0; i < px_weights_count(weights); i++) {
        const px_weight *weight = px_weights_get(weights, i);
        const px_tensor *now = px_model_graph(frozen)->values[weight->value].constant;
        assert_memory_equal(now->data, weight->tensor.data, px_tensor_bytes(now));
        const px_tensor *before = px_model_graph(model)->values[weight->value].constant;
        assert_true(((const float *)before->data)[0] < 100.0f);
    }
    px_weights *of_frozen = NULL;
    assert_int_equal(px_weights_new(frozen, &of_frozen, &err), PX_OK);
    assert_int_equal(px_weights_copy(of_frozen, weights, &err), PX_E_MISMATCH);
    px_weights_free(of_frozen);
    px_weights_free(weights);
    px_model_free(model);
    px_model_free(frozen);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_roles),
        cmocka_unit_test(test_refused),
        cmocka_unit_test(test_constant_node_copied),
        cmocka_unit_test(test_freeze),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
