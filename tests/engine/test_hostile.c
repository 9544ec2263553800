/* tests/engine/test_hostile.c - networks that lie, and lists that ask for odd things
 *
 * What cannot run is refused with a message, at plan time where shapes tell and at run time where
 * values do; what is odd but legal gives the same numbers as the plain operators. Networks are made
 * in memory, so that the engine meets what the ONNX reader might have refused before.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#include "plan_helpers.h"

#include <internal/engine.h>
#include <plexor/probe.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* --- refused when planning ------------------------------------------------------------------- */

static int huge_input(net *n)
{
    return net_add(n, "Relu", "", IN(V(n->x)));
}

static int huge_sum(net *n)
{
    return net_add(n, "Add", "", IN(V(n->x), V(n->x)));
}

static int huge_constant(net *n)
{
    const int64_t extent[] = {1 << 20, 1 << 20};
    const int made = net_add(n, "ConstantOfShape", "", IN(V(net_tensor(n, PX_INT64, "2", extent))));
    return net_add(n, "Mul", "", IN(V(n->x), V(made)));
}

static int huge_expand(net *n)
{
    const int64_t extent[] = {1 << 20, 1 << 20, 1};
    return net_add(n, "Expand", "", IN(V(n->x), V(net_tensor(n, PX_INT64, "3", extent))));
}

/* Within what memory can be addressed, but not within what a tensor may have. */
static int large_expand(net *n)
{
    const int64_t extent[] = {1, 1 << 20, 28, 28};
    return net_add(n, "Expand", "", IN(V(n->x), V(net_tensor(n, PX_INT64, "4", extent))));
}

static int huge_pads(net *n)
{
    return net_add(n, "Conv", "pads=1000000,1000000,1000000,1000000",
                   IN(V(n->x), {.weight = "4,3,3,3"}));
}

static int conflicting_add(net *n)
{
    return net_add(n, "Add", "", IN(V(n->x), {.weight = "5"}));
}

static int conflicting_conv(net *n)
{
    return net_add(n, "Conv", "", IN(V(n->x), {.weight = "4,7,3,3"}));
}

static int conflicting_bias(net *n)
{
    return net_add(n, "Conv", "", IN(V(n->x), {.weight = "4,3,3,3"}, {.weight = "9"}));
}

static int conflicting_norm(net *n)
{
    return net_add(n, "BatchNormalization", "",
                   IN(V(n->x), {.weight = "5"}, {.weight = "5"}, {.weight = "5"}, {.weight = "5"}));
}

static int conflicting_gemm(net *n)
{
    return net_add(n, "Gemm", "", IN(V(n->x), {.weight = "7,2"}));
}

static int bad_reshape(net *n)
{
    const int64_t to[] = {-1, 5};
    return net_add(n, "Reshape", "", IN(V(n->x), V(net_tensor(n, PX_INT64, "2", to))));
}

static int bad_slice(net *n)
{
    const int64_t at[] = {0}, end[] = {1}, axis[] = {0}, step[] = {0};
    return net_add(n, "Slice", "",
                   IN(V(n->x), V(net_tensor(n, PX_INT64, "1", at)),
                      V(net_tensor(n, PX_INT64, "1", end)), V(net_tensor(n, PX_INT64, "1", axis)),
                      V(net_tensor(n, PX_INT64, "1", step))));
}

static int unknown_operator(net *n)
{
    return net_add(n, "FlyToTheMoon", "", IN(V(n->x)));
}

static int softmax_of_nothing(net *n)
{
    return net_add(n, "Softmax", "", NOTHING);
}

static int conv_of_nothing(net *n)
{
    return net_add(n, "Conv", "", NOTHING);
}

static int value_without_producer(net *n)
{
    /* as if the node that makes it had been cut off */
    n->values[n->value_count] = (px_value){.name = "lost", .producer = -1};
    return net_add(n, "Relu", "", IN(V(n->value_count++)));
}

static const struct {
    const char *name, *input;
    int (*build)(net *n);
    px_status status;
    const char *word; /* in the message */
} refused[] = {
    {"2^40 elements", "1,1048576,1048576", huge_input, PX_E_UNSUPPORTED, "MiB"},
    {"2^59 elements", "1,1073741824,536870912", huge_input, PX_E_UNSUPPORTED, "MiB"},
    {"2^62 elements", "1,1073741824,1073741824,4", huge_input, PX_E_INPUT, "large"},
    {"sums of sizes", "1,1073741824,536870912", huge_sum, PX_E_UNSUPPORTED, "MiB"},
    {"constant of 2^40", "1,1", huge_constant, PX_E_UNSUPPORTED, "ConstantOfShape"},
    {"expand to 2^40", "1,1,1", huge_expand, PX_E_UNSUPPORTED, "Expand"},
    {"expand to 3 GiB", "1,1,28,28", large_expand, PX_E_UNSUPPORTED,
     "[1,1048576,28,28], more than the 2048 MiB"},
    {"pads of a million", "1,3,8,8", huge_pads, PX_E_UNSUPPORTED, "Conv"},
    {"add", "1,4", conflicting_add, PX_E_MISMATCH, "broadcast"},
    {"conv channels", "1,3,8,8", conflicting_conv, PX_E_MISMATCH, "Conv"},
    {"conv bias", "1,3,8,8", conflicting_bias, PX_E_MISMATCH, "Conv"},
    {"norm", "1,3,8,8", conflicting_norm, PX_E_MISMATCH, "BatchNormalization"},
    {"gemm", "1,3", conflicting_gemm, PX_E_MISMATCH, "Gemm"},
    {"reshape", "1,3", bad_reshape, PX_E_MISMATCH, "Reshape"},
    {"slice", "1,3", bad_slice, PX_E_INPUT, "Slice"},
    {"unknown operator", "1,3", unknown_operator, PX_E_UNSUPPORTED, "FlyToTheMoon"},
    {"softmax of nothing", "1,3", softmax_of_nothing, PX_E_INPUT, "Softmax"},
    {"conv of nothing", "1,3,8,8", conv_of_nothing, PX_E_INPUT, "Conv"},
    {"missing value", "1,3", value_without_producer, PX_E_INPUT, "lost"},
};

static void test_refused(void **state)
{
    (void)state;
    for (size_t i = 0; i < PX_LEN(refused); i++) {
        net n;
        net_init(&n, i, refused[i].input);
        px_model *model = net_take(&n, refused[i].build(&n));
        for (int mode = 0; mode < 3; mode++) {
            px_plan_options options = px_plan_options_default();
            options.batch = 1;
            options.reference = mode == 1;
            options.input_grad = mode == 2;
            px_plan *plan = NULL;
            px_error err = {0};
            const px_status status = px_plan_new(model, &options, &plan, &err);
            if (status == PX_OK || (mode < 2 && (status != refused[i].status ||
                                                 !strstr(err.message, refused[i].word))))
                fail_msg("case '%s', mode %d: status %d, '%s'", refused[i].name, mode, (int)status,
                         err.message);
            assert_null(plan);
        }
        px_scores scores;
        px_probe *probe = NULL;
        px_error err = {0};
        px_model_scores(model, &scores, &err); /* any answer will do, but not a crash */
        const px_probe_options probe_options = px_probe_options_default();
        if (px_probe_new(model, &probe_options, &probe, &err) == PX_OK)
            px_probe_free(probe);
        px_model_free(model);
    }
}

/* Every operator with too few, too many and ill-typed inputs, and with more outputs than it has. */
static void test_operators_with_wrong_arity(void **state)
{
    (void)state;
    static const char *const shapes[] = {"", "0", "3", "2,3", "1,2,3", "1,2,4,4", "0,2,4,4"};
    for (size_t i = 0; i < px_operator_count(); i++) {
        const px_operator op = px_operator_get(i);
        for (size_t s = 0; s < PX_LEN(shapes); s++)
            for (int inputs = 0; inputs < 5; inputs++)
                for (int outputs = 1; outputs < 4; outputs += 2)
                    for (int ints = 0; ints < 2; ints++) {
                        net n;
                        net_init(&n, i, "2,2,4,4");
                        net_in in[6] = {V(n.x)};
                        static const int64_t numbers[32] = {1, -1, 3, 7};
                        for (int k = 1; k < inputs; k++)
                            in[k] = ints ? (net_in)V(net_tensor(&n, PX_INT64, shapes[s], numbers))
                                         : (net_in){.weight = shapes[s]};
                        in[inputs].value = -1;
                        const int y = net_add_many(&n, op.name, "", in, outputs);
                        n.nodes[0].opset = op.since;
                        n.nodes[0].domain = op.domain;
                        px_model *model = net_take(&n, y);
                        px_plan_options options = px_plan_options_default();
                        options.batch = 2;
                        px_plan *plan = NULL;
                        px_session *session = NULL;
                        px_error err = {0};
                        if (px_plan_new(model, &options, &plan, &err) == PX_OK &&
                            px_session_new(plan, &session, &err) == PX_OK)
                            px_session_forward(session, &err);
                        else
                            assert_true(err.message[0] != '\0');
                        close_plan(plan, session);
                        px_model_free(model);
                    }
    }
}

/* --- refused when running -------------------------------------------------------------------- */

static void test_indices_out_of_range(void **state)
{
    (void)state;
    static const struct {
        const char *type, *attrs, *data, *indices;
        int64_t good, bad[2];
    } cases[] = {
        {"Gather", "axis=1", "1,5", "1,2", 4, {5, -6}},
        {"GatherElements", "axis=1", "2,5", "2,2", 4, {5, -6}},
        {"GatherND", "", "5,3", "4,1", 4, {5, -6}},
        {"Gather", "axis=0", "5,3", "2", -5, {INT64_MAX, INT64_MIN}},
    };
    for (size_t i = 0; i < PX_LEN(cases); i++) {
        net n;
        net_init(&n, i, cases[i].data);
        const px_shape shape = n.values[n.x].shape;
        const int index = net_input(&n, PX_INT64, cases[i].indices);
        int64_t *numbers;
        px_model *model =
            net_take(&n, net_add(&n, cases[i].type, cases[i].attrs, IN(V(n.x), V(index))));
        px_feed feeds[] = {{n.x, shape}, {index, px_model_graph(model)->values[index].shape}};
        feeds[0].shape.dim[0] = strtoll(cases[i].data, NULL, 10);
        px_plan_options options = px_plan_options_default();
        options.feeds = feeds;
        options.feed_count = 2;
        px_plan *plan = NULL;
        px_session *session = open_plan(model, &options, &plan, cases[i].type);
        numbers = px_session_input(session, 1);
        const int64_t count = px_shape_count(&feeds[1].shape);
        for (int round = 0; round < 5; round++) { /* a failed run must not spoil the session */
            px_error err = {0};
            for (int64_t k = 0; k < count; k++)
                numbers[k] = round % 2 ? cases[i].bad[round / 2] : cases[i].good;
            const px_status status = px_session_forward(session, &err);
            if ((status == PX_OK) != (round % 2 == 0))
                fail_msg("%s, round %d: status %d, '%s'", cases[i].type, round, (int)status,
                         err.message);
        }
        close_plan(plan, session);
        px_model_free(model);
    }
}

static void test_session_arguments(void **state)
{
    (void)state;
    net n;
    net_init(&n, 1, "1,4");
    const int inner = net_add(&n, "Relu", "", IN(V(n.x)));
    const int y = net_add(&n, "Gemm", "", IN(V(inner), {.weight = "4,3"}));
    px_model *model = net_take(&n, y);
    px_plan_options options = px_plan_options_default();
    options.batch = 2;
    options.input_grad = true;
    px_plan *plan = NULL;
    px_session *session = open_plan(model, &options, &plan, "arguments");
    px_error err = {0};
    const int odd[] = {-1, INT32_MIN, px_model_graph(model)->value_count, INT32_MAX};
    float out[64];
    check(px_session_forward(session, &err), &err, "forward");
    assert_null(px_session_input(session, 1));
    assert_null(px_session_input(session, SIZE_MAX));
    assert_int_equal(px_plan_feed_shape(plan, 7).rank, 0);
    for (size_t i = 0; i < PX_LEN(odd); i++) {
        assert_null(px_session_view(session, odd[i]).data);
        assert_null(px_session_seed(session, odd[i]).data);
        assert_null(px_session_grad(session, odd[i]).data);
        assert_int_equal(px_session_read(session, odd[i], -1, out, &err), PX_E_USAGE);
        assert_int_equal(px_plan_dtype(plan, odd[i]), PX_NONE);
        assert_int_equal(px_plan_shape(plan, odd[i]).rank, 0);
        px_plan *other = NULL;
        px_plan_options list = px_plan_options_default();
        list.keep = &odd[i];
        list.keep_count = 1;
        assert_int_equal(px_plan_new(model, &list, &other, &err), PX_E_USAGE);
    }
    assert_int_equal(px_session_read(session, inner, -1, out, &err), PX_E_USAGE);
    const px_scores scores = {.value = y, .classes = 3}, wrong = {.value = y, .classes = 4};
    const int64_t labels[] = {0, 1, 2};
    int64_t predictions[3];
    assert_int_equal(px_session_judge(session, &scores, NULL, 2, predictions, NULL, &err), PX_OK);
    assert_int_equal(px_session_judge(session, &scores, NULL, 3, predictions, NULL, &err),
                     PX_E_USAGE);
    assert_int_equal(px_session_judge(session, &wrong, NULL, 2, predictions, NULL, &err),
                     PX_E_USAGE);
    assert_int_equal(px_session_seed_loss(session, &scores, labels, 3, NULL, &err), PX_E_USAGE);
    assert_int_equal(px_session_seed_loss(session, &wrong, labels, 2, NULL, &err), PX_E_USAGE);
    close_plan(plan, session);
    px_model_free(model);
}

/* --- odd but legal: fast and plain plans agree ------------------------------------------------ */

static void zero_sized(net *n, int *out, int *count)
{
    const int64_t at[] = {0}, axis[] = {1};
    const int none =
        net_add(n, "Slice", "",
                IN(V(n->x), V(net_tensor(n, PX_INT64, "1", at)),
                   V(net_tensor(n, PX_INT64, "1", at)), V(net_tensor(n, PX_INT64, "1", axis))));
    out[(*count)++] = net_add(n, "Relu", "", IN(V(none)));
    out[(*count)++] = net_add(n, "Concat", "axis=1", IN(V(none), V(n->x)));
    out[(*count)++] = net_add(n, "ReduceSum", "keepdims=1", IN(V(none)));
}

static void odd_outputs(net *n, int *out, int *count)
{
    const float numbers[] = {1.0f, 2.0f, 3.0f};
    net_input(n, PX_INT64, "-1,7"); /* nobody reads it */
    const int constant = net_tensor(n, PX_FLOAT32, "3", numbers);
    const int y = net_add(n, "Relu", "", IN(V(n->x)));
    out[(*count)++] = y;
    out[(*count)++] = constant;
    out[(*count)++] = net_add(n, "Neg", "", IN(V(constant))); /* folded */
    out[(*count)++] = n->x;
    out[(*count)++] = y;
}

static void thousand_inputs(net *n, int *out, int *count)
{
    net_in in[1001];
    for (int i = 0; i < 1000; i++)
        in[i] = (net_in)V(n->x);
    in[1000] = (net_in)V(-1);
    const int wide = net_add(n, "Concat", "axis=1", in);
    out[(*count)++] = net_add(n, "Sum", "", in);
    out[(*count)++] = net_add(n, "GlobalMaxPool", "", IN(V(wide)));
}

static void not_numbers(net *n, int *out, int *count)
{
    float weights[4 * 3 * 3 * 3] = {0};
    weights[5] = NAN;
    weights[40] = INFINITY;
    weights[70] = -INFINITY;
    const int c =
        net_add(n, "Conv", "", IN(V(n->x), V(net_tensor(n, PX_FLOAT32, "4,3,3,3", weights))));
    out[(*count)++] = c;
    out[(*count)++] = net_add(n, "MaxPool", "kernel_shape=2,2", IN(V(c)));
}

/* Booleans and integers behind a convolution, whose result lies channels-last. */
static void other_types(net *n, int *out, int *count)
{
    const uint8_t mask[] = {1, 0, 1, 0, 1};
    const int64_t powers[] = {1, 2, 1, 2, 1};
    const int flags = net_input(n, PX_BOOL, "-1,5,6,6");
    const int c = net_add(n, "Conv", "", IN(V(n->x), {.weight = "5,3,3,3"}));
    const int zero = net_add(n, "Sub", "", IN(V(c), V(c)));
    const int more = net_add(n, "Greater", "", IN(V(c), V(zero)));
    out[(*count)++] = more;
    out[(*count)++] = net_add(n, "Cast", "to=7", IN(V(c)));
    out[(*count)++] = net_add(n, "Cast", "to=11", IN(V(c)));
    out[(*count)++] =
        net_add(n, "Where", "", IN(V(net_tensor(n, PX_BOOL, "5,1,1", mask)), V(c), V(zero)));
    out[(*count)++] = net_add(n, "Where", "", IN(V(flags), V(c), V(zero)));
    out[(*count)++] = net_add(n, "Pow", "", IN(V(c), V(net_tensor(n, PX_INT64, "5,1,1", powers))));
    out[(*count)++] = net_add(n, "ArgMax", "axis=1 keepdims=1", IN(V(c)));
    out[(*count)++] = net_add(n, "Flatten", "", IN(V(net_add(n, "Not", "", IN(V(more))))));
}

static void other_types_in_one_dimension(net *n, int *out, int *count)
{
    const uint8_t mask[] = {1, 0, 1, 0, 1};
    const int flags = net_input(n, PX_BOOL, "-1,5,6");
    const int c = net_add(n, "Conv", "", IN(V(n->x), {.weight = "5,3,3"}));
    const int zero = net_add(n, "Sub", "", IN(V(c), V(c)));
    const int more = net_add(n, "Less", "", IN(V(c), V(zero)));
    out[(*count)++] = more;
    out[(*count)++] = net_add(n, "Cast", "to=7", IN(V(c)));
    out[(*count)++] = net_add(n, "Flatten", "", IN(V(net_add(n, "Not", "", IN(V(more))))));
    out[(*count)++] = net_add(n, "Where", "", IN(V(flags), V(c), V(zero)));
    out[(*count)++] =
        net_add(n, "Where", "", IN(V(net_tensor(n, PX_BOOL, "5,1", mask)), V(c), V(zero)));
    const int back = net_add(n, "Transpose", "perm=0,2,1", IN(V(c)));
    out[(*count)++] = net_add(n, "MatMul", "", IN(V(back), V(c)));
    out[(*count)++] =
        net_add(n, "Reshape", "", IN(V(back), V(net_tensor(n, PX_INT64, "2", (int64_t[]){0, -1}))));
}

/* BatchNormalization behind a product of rank 3 normalises axis 1, not the columns. */
static void norm_of_product(net *n, int *out, int *count)
{
    const int p = net_add(n, "MatMul", "", IN(V(n->x), {.weight = "8,16"}));
    out[(*count)++] = net_add(n, "BatchNormalization", "",
                              IN(V(p), {.weight = "4", .low = 0.5, .high = 2.0}, {.weight = "4"},
                                 {.weight = "4"}, {.weight = "4", .low = 0.5, .high = 2.0}));
}

static void bias_after_norm(net *n, int *out, int *count)
{
    const int p = net_add(n, "MatMul", "", IN(V(n->x), {.weight = "8,6"}));
    const int m = net_add(n, "BatchNormalization", "",
                          IN(V(p), {.weight = "6", .low = 0.5, .high = 2.0}, {.weight = "6"},
                             {.weight = "6"}, {.weight = "6", .low = 0.5, .high = 2.0}));
    out[(*count)++] = net_add(n, "Add", "", IN(V(m), {.weight = "6", .low = 3.0, .high = 5.0}));
}

/* Residuals that are read again, that are views, and that are the convolution's own input. */
static void residuals(net *n, int *out, int *count)
{
    const net_in w = {.weight = "3,3,3,3"};
    const char *same = "pads=1,1,1,1";
    const int a = net_add(n, "Conv", same, IN(V(n->x), w));
    const int b = net_add(n, "Add", "", IN(V(net_add(n, "Conv", same, IN(V(a), w))), V(a)));
    const int view = net_add(n, "Identity", "", IN(V(b)));
    const int c = net_add(n, "Add", "", IN(V(view), V(net_add(n, "Conv", same, IN(V(b), w)))));
    const int d = net_add(n, "Add", "", IN(V(net_add(n, "Conv", same, IN(V(c), w))), V(n->x)));
    const int e = net_add(n, "Add", "", IN(V(net_add(n, "Conv", same, IN(V(d), w))), V(c)));
    const int f = net_add(n, "Relu", "", IN(V(e)));
    out[(*count)++] = net_add(n, "Add", "", IN(V(net_add(n, "Conv", same, IN(V(n->x), w))), V(f)));
}

static void transposes(net *n, int *out, int *count)
{
    const int last = net_add(n, "Transpose", "perm=0,2,3,1", IN(V(n->x)));
    const int first = net_add(n, "Transpose", "perm=0,3,1,2", IN(V(last)));
    const int c = net_add(n, "Conv", "", IN(V(first), {.weight = "5,3,3,3"}));
    const int c_last = net_add(n, "Transpose", "perm=0,2,3,1", IN(V(c)));
    out[(*count)++] = c_last;
    out[(*count)++] = net_add(n, "Flatten", "", IN(V(c_last)));
    out[(*count)++] = net_add(n, "Flatten", "", IN(V(c)));
    out[(*count)++] = net_add(n, "Softmax", "axis=3", IN(V(c_last)));
}

static const struct {
    const char *name, *input;
    void (*build)(net *n, int *out, int *count);
} legal[] = {
    {"zero-sized", "1,3,4", zero_sized},
    {"odd outputs", "1,3", odd_outputs},
    {"thousand inputs", "1,2,3,3", thousand_inputs},
    {"not a number", "1,3,7,7", not_numbers},
    {"other types", "1,3,8,8", other_types},
    {"other types in one dimension", "1,3,8", other_types_in_one_dimension},
    {"norm of a product", "1,4,8", norm_of_product},
    {"bias after norm", "1,8", bias_after_norm},
    {"residuals", "1,3,6,6", residuals},
    {"transposes", "1,3,6,6", transposes},
};

static double element(const px_tensor *t, int64_t i)
{
    switch (t->dtype) {
    case PX_FLOAT32:
        return (double)((const float *)t->data)[i];
    case PX_FLOAT64:
        return ((const double *)t->data)[i];
    case PX_INT64:
        return (double)((const int64_t *)t->data)[i];
    default:
        return (double)((const uint8_t *)t->data)[i];
    }
}

static px_tensor read_value(const px_plan *plan, const px_session *session, int value,
                            const char *what)
{
    px_tensor t = {0};
    px_error err = {0};
    const px_shape shape = px_plan_shape(plan, value);
    check(px_tensor_init(&t, px_plan_dtype(plan, value), &shape, &err), &err, what);
    check(px_session_read(session, value, -1, t.data, &err), &err, what);
    return t;
}

static void test_legal(void **state)
{
    (void)state;
    for (size_t i = 0; i < PX_LEN(legal); i++) {
        net n;
        int outputs[NET_ENDS], count = 0;
        net_init(&n, 40 + i, legal[i].input);
        legal[i].build(&n, outputs, &count);
        px_model *model = net_take_many(&n, outputs, count);
        px_plan *plans[2] = {0};
        px_session *sessions[2] = {0};
        for (int k = 0; k < 2; k++) {
            px_plan_options options = px_plan_options_default();
            options.batch = 3;
            options.reference = k == 1;
            sessions[k] = open_plan(model, &options, &plans[k], legal[i].name);
            for (size_t f = 1; f < px_plan_feed_count(plans[k]);
                 f++) { /* not floats: 0, 1, 0 ... */
                const px_graph *graph = px_model_graph(model);
                const px_shape shape = px_plan_feed_shape(plans[k], f);
                const size_t bytes = (size_t)px_shape_count(&shape) *
                                     px_dtype_size(graph->values[graph->inputs[f]].dtype);
                char *data = px_session_input(sessions[k], f);
                for (size_t b = 0; b < bytes; b++)
                    data[b] = (char)(b % 3 == 1);
            }
            px_error err = {0};
            for (int round = 0; round < 2; round++) /* a second run finds the first one's memory */
                check(px_session_forward(sessions[k], &err), &err, legal[i].name);
        }
        for (int o = 0; o < count; o++) {
            px_tensor fast = read_value(plans[0], sessions[0], outputs[o], legal[i].name);
            px_tensor plain = read_value(plans[1], sessions[1], outputs[o], legal[i].name);
            assert_true(fast.dtype == plain.dtype && px_shape_equal(&fast.shape, &plain.shape));
            for (int64_t e = 0; e < px_shape_count(&fast.shape); e++) {
                const double a = element(&fast, e), b = element(&plain, e);
                if (!(fabs(a - b) <= 1e-5 * (1.0 + fabs(b))) && !(isnan(a) && isnan(b)) && a != b)
                    fail_msg("case '%s', output %d, element %d: %g, plain %g", legal[i].name, o,
                             (int)e, a, b);
            }
            px_tensor_done(&fast);
            px_tensor_done(&plain);
        }
        for (int k = 0; k < 2; k++)
            close_plan(plans[k], sessions[k]);
        px_model_free(model);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_refused),
        cmocka_unit_test(test_operators_with_wrong_arity),
        cmocka_unit_test(test_indices_out_of_range),
        cmocka_unit_test(test_session_arguments),
        cmocka_unit_test(test_legal),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
