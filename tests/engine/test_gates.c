/* tests/engine/test_gates.c - values that go through a gate
 *
 * A gate is a Mul by a further input: a plan with a gate and a network with such a node must agree,
 * in values, in the gradients by the factors and in those of the input.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#include "plan_helpers.h"

#include <internal/engine.h>
#include <string.h>

enum { BATCH = 3, GATED_PLACES = 6 };

typedef struct gated_place {
    const char *name, *factor; /* the factor's shape in the network with a Mul */
    int axis;
} gated_place;

static const gated_place places[GATED_PLACES] = {
    {"convolution that is activated", "-1,6,1,1", 1},
    {"activation with two readers", "-1,6,1,1", 1},
    {"sum", "-1,1,8,1", 2},
    {"sigmoid, whose gradient comes from its output", "-1,1,1,8", 3},
    {"pooling", "-1,6,1,1", 1},
    {"view", "-1,96", 1},
};

typedef struct gated_net {
    px_model *model;
    int gated, factor, logits; /* factor -1: none */
} gated_net;

/* Follows `value` with a Mul if it is the place, or remembers it. */
static int gated_step(net *n, gated_net *made, int *place, int which, bool with_mul, int value)
{
    if ((*place)++ != which)
        return value;
    made->gated = value;
    if (!with_mul)
        return value;
    made->factor = net_input(n, PX_FLOAT32, places[which].factor);
    return net_add(n, "Mul", "", IN(V(value), V(made->factor)));
}

static gated_net gated_net_new(int which, bool with_mul)
{
    net n;
    gated_net made = {.factor = -1};
    int at = 0;
    net_init(&n, 5, "1,3,8,8");
#define STEP(value) gated_step(&n, &made, &at, which, with_mul, (value))
    const int c1 = STEP(
        net_add(&n, "Conv", "pads=1,1,1,1", IN(V(n.x), {.weight = "6,3,3,3"}, {.weight = "6"})));
    const int r1 = STEP(net_add(&n, "Relu", "", IN(V(c1))));
    const int c2 = net_add(&n, "Conv", "pads=1,1,1,1", IN(V(r1), {.weight = "6,6,3,3"}));
    const int sum = STEP(net_add(&n, "Add", "", IN(V(c2), V(r1))));
    const int s2 = STEP(net_add(&n, "Sigmoid", "", IN(V(sum))));
    const int pool = STEP(net_add(&n, "MaxPool", "kernel_shape=2,2 strides=2,2", IN(V(s2))));
    const int flat = STEP(net_add(&n, "Flatten", "", IN(V(pool))));
    made.logits = net_add(&n, "Gemm", "", IN(V(flat), {.weight = "96,10"}, {.weight = "10"}));
#undef STEP
    made.model = net_take(&n, made.logits);
    return made;
}

/* Runs forward and backward; what comes of it is the caller's. */
typedef struct gated_result {
    float *logits, *factor_grad, *input_grad;
} gated_result;

static gated_result gated_run(const gated_net *made, int which, bool with_mul, bool reference)
{
    const px_gate gate = {.value = made->gated, .axis = places[which].axis};
    const int input = px_model_graph(made->model)->inputs[0];
    const int wrt[] = {input, made->factor};
    px_plan_options options = px_plan_options_default();
    options.batch = BATCH;
    options.reference = reference;
    options.seeds = &made->logits;
    options.seed_count = 1;
    options.wrt = wrt;
    options.wrt_count = with_mul ? 2 : 1;
    options.gates = &gate;
    options.gate_count = with_mul ? 0 : 1;
    px_plan *plan = NULL;
    px_session *session = open_plan(made->model, &options, &plan, places[which].name);
    const px_shape shape = px_plan_shape(plan, made->gated);
    const size_t factors = (size_t)(BATCH * shape.dim[places[which].axis]);
    net_fill(with_mul ? px_session_input(session, 1) : px_session_gate(session, 0), factors, 8,
             -0.5, 2.0);
    px_error err = {0};
    check(px_session_forward(session, &err), &err, "forward");
    check(px_session_seed_clear(session, &err), &err, "clear");
    seed_add(session, made->logits, 9, 1.0f);
    check(px_session_backward(session, &err), &err, "backward");
    gated_result result = {.factor_grad = pxi_calloc(factors, sizeof(float))};
    const px_view logits = px_session_view(session, made->logits);
    const px_view grad = px_session_grad(session, input);
    result.logits = view_copy(&logits);
    result.input_grad = view_copy(&grad);
    const float *by_factor =
        with_mul ? px_session_grad(session, made->factor).data : px_session_gate_grad(session, 0);
    assert_non_null(by_factor);
    memcpy(result.factor_grad, by_factor, factors * sizeof(float));
    assert_null(px_session_gate(session, with_mul ? 0 : 1));
    close_plan(plan, session);
    return result;
}

static void gated_free(gated_result *result)
{
    free(result->logits);
    free(result->factor_grad);
    free(result->input_grad);
}

static void test_gates_are_products(void **state)
{
    (void)state;
    for (int which = 0; which < GATED_PLACES; which++)
        for (int reference = 0; reference < 2; reference++) {
            gated_net plain = gated_net_new(which, false), with = gated_net_new(which, true);
            gated_result got = gated_run(&plain, which, false, reference);
            gated_result want = gated_run(&with, which, true, true);
            const px_shape factor = px_model_graph(with.model)->values[with.factor].shape;
            int64_t factors = BATCH;
            for (int d = 1; d < factor.rank; d++)
                factors *= factor.dim[d];
            assert_close(got.logits, want.logits, BATCH * 10, 1e-5, places[which].name);
            assert_close(got.factor_grad, want.factor_grad, factors, 2e-5, places[which].name);
            assert_close(got.input_grad, want.input_grad, BATCH * 192, 2e-5, places[which].name);
            gated_free(&got);
            gated_free(&want);
            px_model_free(plain.model);
            px_model_free(with.model);
        }
}

/* Factors of one change nothing, not even a bit. */
static void test_gates_that_are_open(void **state)
{
    (void)state;
    gated_net made = gated_net_new(1, false);
    const px_gate gates[] = {{made.gated, 1}, {made.logits, 1}};
    float *logits[2];
    for (int gated = 0; gated < 2; gated++) {
        px_plan_options options = px_plan_options_default();
        options.batch = BATCH;
        options.keep = &made.gated;
        options.keep_count = 1;
        options.gates = gates;
        options.gate_count = gated ? 2 : 0;
        px_plan *plan = NULL;
        px_session *session = open_plan(made.model, &options, &plan, "open");
        for (size_t g = 0; g < options.gate_count; g++)
            for (int i = 0; i < BATCH * (g ? 10 : 6); i++)
                px_session_gate(session, g)[i] = 1.0f;
        assert_null(px_session_gate_grad(session, 0)); /* no seeds */
        px_error err = {0};
        for (int again = 0; again < 2; again++) /* factors stay */
            check(px_session_forward(session, &err), &err, "open");
        const px_view view = px_session_view(session, made.logits);
        logits[gated] = view_copy(&view);
        close_plan(plan, session);
    }
    assert_memory_equal(logits[0], logits[1], BATCH * 10 * sizeof(float));
    free(logits[0]);
    free(logits[1]);
    px_model_free(made.model);
}

static void test_gates_refused(void **state)
{
    (void)state;
    gated_net made = gated_net_new(1, false);
    const int input = px_model_graph(made.model)->inputs[0];
    const struct {
        const char *name;
        px_gate gates[2];
        size_t count;
    } cases[] = {
        {"an input", {{input, 1}}, 1},
        {"the batch axis", {{made.gated, 0}}, 1},
        {"an axis too many", {{made.gated, 4}}, 1},
        {"no value", {{1000, 1}}, 1},
        {"twice", {{made.gated, 1}, {made.gated, 2}}, 2},
    };
    for (size_t i = 0; i < PX_LEN(cases); i++) {
        px_plan_options options = px_plan_options_default();
        options.gates = cases[i].gates;
        options.gate_count = cases[i].count;
        px_plan *plan = NULL;
        px_error err = {0};
        if (px_plan_new(made.model, &options, &plan, &err) != PX_E_USAGE)
            fail_msg("case '%s' is taken: %s", cases[i].name, err.message);
    }
    px_model_free(made.model);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_gates_are_products),
        cmocka_unit_test(test_gates_that_are_open),
        cmocka_unit_test(test_gates_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
