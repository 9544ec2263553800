/* tests/engine/unit_compare.c - fast kernels against the plain C operators, case by case */
/* SPDX-License-Identifier: Apache-2.0 */
#include "unit_compare.h"

#include <internal/engine.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct run {
    px_plan *plan;
    px_session *session;
} run;

static void check(px_status status, const px_error *err, const char *what)
{
    if (status != PX_OK)
        fail_msg("%s: %s", what, err->message);
}

static bool is_weight(const px_value *value)
{
    return value->constant && value->dtype == PX_FLOAT32;
}

static run run_new(const px_model *model, int64_t batch, bool reference, bool weights, bool repeat,
                   const char *what)
{
    const px_graph *graph = px_model_graph(model);
    px_error err = {0};
    int wrt[NET_VALUES];
    size_t count = 0;
    wrt[count++] = graph->inputs[0];
    for (int v = 0; weights && v < graph->value_count; v++)
        if (is_weight(&graph->values[v]))
            wrt[count++] = v;
    px_plan_options options = px_plan_options_default();
    options.batch = batch;
    options.reference = reference;
    options.repeat = repeat;
    options.seeds = graph->outputs;
    options.seed_count = 1;
    options.wrt = wrt;
    options.wrt_count = count;
    run r = {0};
    check(px_plan_new(model, &options, &r.plan, &err), &err, what);
    check(px_session_new(r.plan, &r.session, &err), &err, what);
    return r;
}

static void run_free(run *r)
{
    px_session_free(r->session);
    px_plan_free(r->plan);
}

static void run_back(run *r, uint64_t cotangents, const char *what)
{
    px_error err = {0};
    const px_graph *graph = px_model_graph(px_plan_model(r->plan));
    check(px_session_seed_clear(r->session, &err), &err, what);
    const px_place seed = px_session_seed(r->session, graph->outputs[0]);
    assert_non_null(seed.data);
    const int64_t count = px_shape_count(&seed.shape);
    float *cotangent = malloc((size_t)count * sizeof *cotangent);
    net_fill(cotangent, (size_t)count, cotangents, -1.0, 1.0);
    for (int64_t i = 0; i < count; i++) {
        int64_t at = 0, rest = i;
        for (int d = seed.shape.rank - 1; d >= 0; rest /= seed.shape.dim[d], d--)
            at += rest % seed.shape.dim[d] * seed.stride[d];
        seed.data[at] = cotangent[i];
    }
    free(cotangent);
    check(px_session_backward(r->session, &err), &err, what);
}

enum { COTANGENTS = 5, OTHER_COTANGENTS = 6 };

/* Forward and backward with the same input rows and cotangents for every plan. */
static void run_go(run *r, const char *what)
{
    px_error err = {0};
    const px_shape in = px_plan_feed_shape(r->plan, 0);
    net_fill(px_session_input(r->session, 0), (size_t)px_shape_count(&in), 99, -1.0, 1.0);
    check(px_session_forward(r->session, &err), &err, what);
    run_back(r, COTANGENTS, what);
}

static float *view_copy(const px_view *view, int64_t *count)
{
    assert_non_null(view->data);
    *count = px_shape_count(&view->shape);
    float *copy = malloc((size_t)*count * sizeof *copy);
    for (int64_t i = 0; i < *count; i++) {
        int64_t at = 0, rest = i;
        for (int d = view->shape.rank - 1; d >= 0; rest /= view->shape.dim[d], d--)
            at += rest % view->shape.dim[d] * view->stride[d];
        copy[i] = view->data[at];
    }
    return copy;
}

/* ||a - b|| <= tolerance ||b||; the gradient of a single number is a sum over everything, which may
 * all but cancel. */
static void expect_close(px_view a, px_view b, const char *what, const char *which)
{
    int64_t count, other;
    float *x = view_copy(&a, &count), *y = view_copy(&b, &other);
    assert_int_equal(count, other);
    double difference = 0.0, size = 0.0;
    for (int64_t i = 0; i < count; i++) {
        difference += pow((double)x[i] - (double)y[i], 2);
        size += pow((double)y[i], 2);
    }
    free(x);
    free(y);
    const double tolerance = count == 1 ? 1e-3 : 5e-6;
    if (!(sqrt(difference) <= tolerance * sqrt(size) + 1e-9)) /* false for NaN */
        fail_msg("%s: %s differs by %g of %g", what, which, sqrt(difference), sqrt(size));
}

/* The first `rows` samples of a and b are the same to the bit. */
static void expect_same_rows(px_view a, px_view b, int64_t rows, const char *what,
                             const char *which)
{
    int64_t count, other;
    float *x = view_copy(&a, &count), *y = view_copy(&b, &other);
    const int64_t each = count / a.shape.dim[0];
    if (memcmp(x, y, (size_t)(rows * each) * sizeof *x) != 0)
        fail_msg("%s: %s depends on the micro-batch or on earlier runs", what, which);
    free(x);
    free(y);
}

/* The same sample in every row gives the same row, to the bit. */
static void expect_equal_rows(run *r, int value, const char *what)
{
    px_error err = {0};
    const px_shape in = px_plan_feed_shape(r->plan, 0);
    const size_t row = (size_t)(px_shape_count(&in) / in.dim[0]);
    float *x = px_session_input(r->session, 0);
    for (int64_t i = 1; i < in.dim[0]; i++)
        memcpy(x + (size_t)i * row, x, row * sizeof *x);
    check(px_session_forward(r->session, &err), &err, what);
    const px_view view = px_session_view(r->session, value);
    int64_t count;
    float *y = view_copy(&view, &count);
    const int64_t each = count / view.shape.dim[0];
    for (int64_t i = 1; i < view.shape.dim[0]; i++)
        if (memcmp(y, y + i * each, (size_t)each * sizeof *y) != 0)
            fail_msg("%s: row %d differs from row 0", what, (int)i);
    free(y);
}

static run forward_new(const px_model *model, int64_t batch, bool reference, const char *what)
{
    px_plan_options options = px_plan_options_default();
    px_error err = {0};
    run r = {0};
    options.batch = batch;
    options.reference = reference;
    check(px_plan_new(model, &options, &r.plan, &err), &err, what);
    check(px_session_new(r.plan, &r.session, &err), &err, what);
    const px_shape in = px_plan_feed_shape(r.plan, 0);
    net_fill(px_session_input(r.session, 0), (size_t)px_shape_count(&in), 99, -1.0, 1.0);
    check(px_session_forward(r.session, &err), &err, what);
    return r;
}

/* Without gradients more is fused. Whatever micro-batch is chosen, rows are the same to the bit. */
static void compare_forward(const px_model *model, int y, const char *what)
{
    static const int64_t batches[] = {1, 8};
    run plain = forward_new(model, 3, true, what), fast = forward_new(model, 3, false, what);
    expect_close(px_session_view(fast.session, y), px_session_view(plain.session, y), what,
                 "the result, without gradients,");
    for (size_t i = 0; i < sizeof batches / sizeof *batches; i++) {
        run other = forward_new(model, batches[i], false, what);
        expect_same_rows(px_session_view(other.session, y), px_session_view(fast.session, y),
                         batches[i] < 3 ? batches[i] : 3, what, "the result, without gradients,");
        run_free(&other);
    }
    run_free(&plain);
    run_free(&fast);
}

void compare(px_model *model, const char *what)
{
    const px_graph *graph = px_model_graph(model);
    const int y = graph->outputs[0], x = graph->inputs[0];
    compare_forward(model, y, what);
    for (int weights = 0; weights < 2; weights++) {
        run fast = run_new(model, 3, false, weights, false, what);
        run plain = run_new(model, 3, true, weights, false, what);
        run_go(&fast, what);
        run_go(&plain, what);
        expect_close(px_session_view(fast.session, y), px_session_view(plain.session, y), what,
                     "the result");
        expect_close(px_session_grad(fast.session, x), px_session_grad(plain.session, x), what,
                     "the input's gradient");
        for (int v = 0; weights && v < graph->value_count; v++)
            if (is_weight(&graph->values[v]))
                expect_close(px_session_grad(fast.session, v), px_session_grad(plain.session, v),
                             what, graph->values[v].name);
        run_free(&plain);
        if (!weights) {
            run single = run_new(model, 1, false, false, false, what);
            run_go(&single, what);
            expect_same_rows(px_session_view(single.session, y), px_session_view(fast.session, y),
                             1, what, "the result");
            expect_same_rows(px_session_grad(single.session, x), px_session_grad(fast.session, x),
                             1, what, "the input's gradient");
            run_free(&single);
            run again = run_new(model, 3, false, false, true, what);
            run_go(&again, what);
            run_back(&again, OTHER_COTANGENTS, what);
            run_back(&again, COTANGENTS, what);
            expect_same_rows(px_session_grad(again.session, x), px_session_grad(fast.session, x), 3,
                             what, "the input's gradient from a second backward run");
            run_free(&again);
            expect_equal_rows(&fast, y, what);
        }
        run_free(&fast);
    }
    px_model_free(model);
}

uint64_t draw_state;

int draw(int low, int high)
{
    draw_state = draw_state * 6364136223846793005u + 1442695040888963407u;
    return low + (int)((draw_state >> 33) % (uint64_t)(high - low + 1));
}

const char *const activations[8][2] = {
    {"", ""},        {"Relu", ""}, {"LeakyRelu", "alpha=0.1"}, {"Clip", "min=-0.3 max=0.4"},
    {"Sigmoid", ""}, {"Tanh", ""}, {"Elu", "alpha=1.5"},       {"Softplus", ""},
};

/* Clip's bounds are inputs since opset 11; as constants here. */
int add_activation(net *n, int value, int which)
{
    if (which == 0)
        return value;
    if (strcmp(activations[which][0], "Clip") == 0)
        return net_add(
            n, "Clip", "",
            (net_in[]){
                {value, NULL, 0, 0}, {0, "", -0.3, -0.3}, {0, "", 0.4, 0.4}, {-1, NULL, 0, 0}});
    return net_add(n, activations[which][0], activations[which][1],
                   (net_in[]){{value, NULL, 0, 0}, {-1, NULL, 0, 0}});
}

int add_norm(net *n, int value, int channels)
{
    char c[16];
    snprintf(c, sizeof c, "%d", channels);
    return net_add(n, "BatchNormalization", "epsilon=0.001",
                   (net_in[]){{value, NULL, 0, 0},
                              {0, c, 0.5, 1.5},
                              {0, c, -0.5, 0.5},
                              {0, c, -0.2, 0.2},
                              {0, c, 0.5, 2.0},
                              {-1, NULL, 0, 0}});
}
