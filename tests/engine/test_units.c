/* tests/engine/test_units.c - every fast kernel against the plain C operators
 *
 * Each case is a small network, compiled twice: `reference` and not. Results, the gradient of the
 * input and the gradients of all weights have to agree, and one sample's row must be the same to
 * the bit whatever the micro-batch. Shapes are drawn at random, so that strips, tails and borders
 * of every kernel are met.
 */
#include "cmocka_all.h"
#include "net.h"

#include <math.h>
#include <plexor/engine.h>
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

static run run_new(const px_model *model, int64_t batch, bool reference, bool weights,
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

/* Forward and backward with the same input rows and cotangents for every plan. */
static void run_go(run *r, const char *what)
{
    px_error err = {0};
    const px_graph *graph = px_model_graph(px_plan_model(r->plan));
    const px_shape in = px_plan_feed_shape(r->plan, 0);
    net_fill(px_session_input(r->session, 0), (size_t)px_shape_count(&in), 99, -1.0, 1.0);
    check(px_session_forward(r->session, &err), &err, what);
    check(px_session_seed_clear(r->session, &err), &err, what);
    const px_place seed = px_session_seed(r->session, graph->outputs[0]);
    assert_non_null(seed.data);
    const int64_t count = px_shape_count(&seed.shape);
    float *cotangent = malloc((size_t)count * sizeof *cotangent);
    net_fill(cotangent, (size_t)count, 5, -1.0, 1.0);
    for (int64_t i = 0; i < count; i++) {
        int64_t at = 0, rest = i;
        for (int d = seed.shape.rank - 1; d >= 0; rest /= seed.shape.dim[d], d--)
            at += rest % seed.shape.dim[d] * seed.stride[d];
        seed.data[at] = cotangent[i];
    }
    free(cotangent);
    check(px_session_backward(r->session, &err), &err, what);
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

/* ||a - b|| <= tolerance ||b|| */
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
    if (!(sqrt(difference) <= 5e-6 * sqrt(size) + 1e-9)) /* false for NaN */
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
        fail_msg("%s: %s depends on the micro-batch", what, which);
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

static void compare(px_model *model, const char *what)
{
    const px_graph *graph = px_model_graph(model);
    const int y = graph->outputs[0], x = graph->inputs[0];
    for (int weights = 0; weights < 2; weights++) {
        run fast = run_new(model, 3, false, weights, what);
        run plain = run_new(model, 3, true, weights, what);
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
            run single = run_new(model, 1, false, false, what);
            run_go(&single, what);
            expect_same_rows(px_session_view(single.session, y), px_session_view(fast.session, y),
                             1, what, "the result");
            expect_same_rows(px_session_grad(single.session, x), px_session_grad(fast.session, x),
                             1, what, "the input's gradient");
            run_free(&single);
            expect_equal_rows(&fast, y, what);
        }
        run_free(&fast);
    }
    px_model_free(model);
}

static uint64_t draw_state;

static int draw(int low, int high) /* inclusive */
{
    draw_state = draw_state * 6364136223846793005u + 1442695040888963407u;
    return low + (int)((draw_state >> 33) % (uint64_t)(high - low + 1));
}

static const char *const activations[][2] = {
    {"", ""},        {"Relu", ""}, {"LeakyRelu", "alpha=0.1"}, {"Clip", "min=-0.3 max=0.4"},
    {"Sigmoid", ""}, {"Tanh", ""}, {"Elu", "alpha=1.5"},       {"Softplus", ""},
};

/* Clip's bounds are inputs since opset 11; as constants here. */
static int add_activation(net *n, int value, int which)
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

static int add_norm(net *n, int value, int channels)
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

/* conv [norm] [+ residual] [activation], of all the shapes that the kernels tell apart */
static void test_conv(void **state)
{
    (void)state;
    static const int channels[] = {1, 2, 3, 4, 6, 8, 12, 16, 17, 24, 32, 48, 64};
    draw_state = 1;
    for (int i = 0; i < 70; i++) {
        const int kernel = draw(1, 5), stride = draw(1, 3) == 3 ? 2 : 1;
        const int dilation = draw(1, 6) == 6 ? 2 : 1, pad = draw(0, kernel / 2);
        int ic = channels[draw(0, 12)], oc = channels[draw(0, 12)], group = 1;
        if (draw(1, 5) == 5)
            group = oc = ic; /* depthwise */
        else if (draw(1, 6) == 6 && ic % 2 == 0 && oc % 2 == 0)
            group = 2;
        const int h = draw(9, 20), w = draw(9, 20), act = draw(0, 7);
        const bool norm = draw(0, 1), bias = draw(0, 1), residual = draw(0, 2) == 0;
        char what[200], shape[64], weight[64], attrs[160], b[16];
        snprintf(what, sizeof what,
                 "conv %d: %d>%d group %d %dx%d kernel %d stride %d dilation %d pad %d%s%s%s %s", i,
                 ic, oc, group, h, w, kernel, stride, dilation, pad, bias ? " bias" : "",
                 norm ? " norm" : "", residual ? " residual" : "", activations[act][0]);
        snprintf(shape, sizeof shape, "1,%d,%d,%d", ic, h, w);
        snprintf(weight, sizeof weight, "%d,%d,%d,%d", oc, ic / group, kernel, kernel);
        snprintf(attrs, sizeof attrs,
                 "pads=%d,%d,%d,%d strides=%d,%d dilations=%d,%d group=%d kernel_shape=%d,%d", pad,
                 pad, pad, pad, stride, stride, dilation, dilation, group, kernel, kernel);
        snprintf(b, sizeof b, "%d", oc);
        net n;
        net_init(&n, (uint64_t)i, shape);
        int y = net_add(&n, "Conv", attrs,
                        (net_in[]){{n.x, NULL, 0, 0},
                                   {0, weight, 0, 0},
                                   {bias ? 0 : -1, b, -0.5, 0.5},
                                   {-1, NULL, 0, 0}});
        if (norm)
            y = add_norm(&n, y, oc);
        if (residual) { /* a second convolution of the same shape makes what is added */
            const int r =
                net_add(&n, "Conv", attrs,
                        (net_in[]){{n.x, NULL, 0, 0}, {0, weight, 0, 0}, {-1, NULL, 0, 0}});
            y = net_add(
                &n, "Add", "",
                (net_in[]){{draw(0, 1) ? y : r, NULL, 0, 0}, {y, NULL, 0, 0}, {-1, NULL, 0, 0}});
            y = net_add(&n, "Add", "",
                        (net_in[]){{r, NULL, 0, 0}, {y, NULL, 0, 0}, {-1, NULL, 0, 0}});
        }
        y = add_activation(&n, y, act);
        compare(net_take(&n, y), what);
    }
}

/* 3x3, stride 1, channels in sixteens: every border and every number of leftover tiles */
static void test_winograd(void **state)
{
    (void)state;
    draw_state = 2;
    for (int i = 0; i < 24; i++) {
        const int ic = 16 * draw(1, 4), oc = 16 * draw(1, 4), pad = draw(0, 1);
        const int h = draw(3, 19), w = draw(3, 19), act = draw(0, 3);
        char what[120], shape[64], weight[64], attrs[64];
        snprintf(what, sizeof what, "winograd %d: %d>%d %dx%d pad %d %s", i, ic, oc, h, w, pad,
                 activations[act][0]);
        snprintf(shape, sizeof shape, "1,%d,%d,%d", ic, h, w);
        snprintf(weight, sizeof weight, "%d,%d,3,3", oc, ic);
        snprintf(attrs, sizeof attrs, "pads=%d,%d,%d,%d", pad, pad, pad, pad);
        net n;
        net_init(&n, (uint64_t)(100 + i), shape);
        int y = net_add(&n, "Conv", attrs,
                        (net_in[]){{n.x, NULL, 0, 0}, {0, weight, 0, 0}, {-1, NULL, 0, 0}});
        if (ic == oc && pad == 1)
            y = net_add(&n, "Add", "",
                        (net_in[]){{y, NULL, 0, 0}, {n.x, NULL, 0, 0}, {-1, NULL, 0, 0}});
        compare(net_take(&n, add_activation(&n, y, act)), what);
    }
}

/* 1x1 with eight result channels more than whole vectors: every leftover of a block of pixels */
static void test_pointwise(void **state)
{
    (void)state;
    draw_state = 9;
    for (int i = 0; i < 24; i++) {
        const int ic = draw(16, 50), oc = 8 + 16 * draw(0, 2), act = draw(0, 3);
        const int h = draw(1, 6), w = draw(1, 6);
        char what[120], shape[64], weight[64], back[64];
        snprintf(what, sizeof what, "pointwise %d: %d>%d %dx%d %s", i, ic, oc, h, w,
                 activations[act][0]);
        snprintf(shape, sizeof shape, "1,%d,%d,%d", ic, h, w);
        snprintf(weight, sizeof weight, "%d,%d,1,1", oc, ic);
        snprintf(back, sizeof back, "%d,%d,1,1", ic, oc);
        net n;
        net_init(&n, (uint64_t)(900 + i), shape);
        int y = net_add(&n, "Conv", "",
                        (net_in[]){{n.x, NULL, 0, 0}, {0, weight, 0, 0}, {-1, NULL, 0, 0}});
        if (i % 3 == 0) { /* and one that is added to what is there */
            const int other = net_add(
                &n, "Conv", "", (net_in[]){{n.x, NULL, 0, 0}, {0, weight, 0, 0}, {-1, NULL, 0, 0}});
            y = net_add(&n, "Add", "",
                        (net_in[]){{y, NULL, 0, 0}, {other, NULL, 0, 0}, {-1, NULL, 0, 0}});
        }
        y = add_activation(&n, y, act);
        if (i % 2) /* its gradient is the other way round */
            y = net_add(&n, "Conv", "",
                        (net_in[]){{y, NULL, 0, 0}, {0, back, 0, 0}, {-1, NULL, 0, 0}});
        compare(net_take(&n, y), what);
    }
}

/* Inverted residual blocks: expand, act, depthwise, act, project [+ x]; every stride, border and
 * leftover of the depthwise kernels, and every activation before and behind them. */
static void test_depthwise(void **state)
{
    (void)state;
    static const net_in end = {-1, NULL, 0, 0};
    static const int channels[] = {3, 8, 16, 24, 32, 48, 64, 80, 144, 200};
    draw_state = 6;
    for (int i = 0; i < 60; i++) {
        const int kernel = draw(1, 3) == 3 ? 5 : 3, stride = draw(1, 2), c = channels[draw(0, 9)];
        const int top = draw(0, kernel / 2), left = draw(0, kernel / 2);
        const int bottom = draw(0, kernel - 1), right = draw(0, kernel - 1);
        const int h = draw(5, 13), w = draw(5, 13), before = draw(0, 4), behind = draw(0, 4);
        const bool expands = i % 5 != 0, residual = draw(0, 1), joins = i % 7 == 3;
        char what[200], shape[64], expand[32], deep[32], attrs[120], project[32];
        snprintf(what, sizeof what,
                 "depthwise %d: %d channels %dx%d kernel %d stride %d pads %d,%d,%d,%d %s %s%s%s",
                 i, c, h, w, kernel, stride, top, left, bottom, right, activations[before][0],
                 activations[behind][0], residual ? " residual" : "", joins ? " joins" : "");
        snprintf(shape, sizeof shape, "1,%d,%d,%d", expands ? 8 : c, h, w);
        snprintf(expand, sizeof expand, "%d,8,1,1", c);
        snprintf(deep, sizeof deep, "%d,1,%d,%d", c, kernel, kernel);
        snprintf(attrs, sizeof attrs, "group=%d strides=%d,%d pads=%d,%d,%d,%d", c, stride, stride,
                 top, left, bottom, right);
        snprintf(project, sizeof project, "8,%d,1,1", c);
        net n;
        net_init(&n, (uint64_t)(700 + i), shape);
        int x = n.x;
        if (expands) {
            x = net_add(&n, "Conv", "", (net_in[]){{x, NULL, 0, 0}, {0, expand, 0, 0}, end});
            x = add_activation(&n, add_norm(&n, x, c), before);
        }
        int y = net_add(&n, "Conv", attrs, (net_in[]){{x, NULL, 0, 0}, {0, deep, 0, 0}, end});
        if (residual) { /* what is added has a gradient as well */
            const int other =
                net_add(&n, "Conv", attrs, (net_in[]){{x, NULL, 0, 0}, {0, deep, 0, 0}, end});
            y = net_add(&n, "Add", "", (net_in[]){{y, NULL, 0, 0}, {other, NULL, 0, 0}, end});
        }
        y = add_activation(&n, y, behind);
        if (joins) /* two units read what the depthwise one made */
            y = net_add(&n, "Mul", "", (net_in[]){{y, NULL, 0, 0}, {y, NULL, 0, 0}, end});
        y = net_add(&n, "Conv", "", (net_in[]){{y, NULL, 0, 0}, {0, project, 0, 0}, end});
        compare(net_take(&n, y), what);
    }
}

static void test_pool(void **state)
{
    (void)state;
    static const char *const types[] = {"MaxPool", "AveragePool"};
    draw_state = 3;
    for (int i = 0; i < 60; i++) {
        const int kernel = draw(1, 4), stride = draw(1, 3), pad = draw(0, kernel / 2);
        const int c = draw(1, 20), type = draw(0, 1);
        int h = draw(6, 15), w = draw(6, 15);
        char what[120], shape[64], attrs[120];
        if (i % 3 == 0) { /* exact pairs have loops of their own */
            h += h % 2;
            w += w % 2;
        }
        const int k = i % 3 == 0 ? 2 : kernel, s = i % 3 == 0 ? 2 : stride, p = i % 3 ? pad : 0;
        snprintf(what, sizeof what, "%s %d: %d channels %dx%d kernel %d stride %d pad %d",
                 types[type], i, c, h, w, k, s, p);
        snprintf(shape, sizeof shape, "1,%d,%d,%d", c, h, w);
        snprintf(attrs, sizeof attrs, "kernel_shape=%d,%d strides=%d,%d pads=%d,%d,%d,%d%s%s", k, k,
                 s, s, p, p, p, p, type && draw(0, 1) ? " count_include_pad=1" : "",
                 i % 4 == 1 ? " ceil_mode=1" : "");
        net n;
        net_init(&n, (uint64_t)(200 + i), shape);
        compare(net_take(&n, net_add(&n, types[type], attrs,
                                     (net_in[]){{n.x, NULL, 0, 0}, {-1, NULL, 0, 0}})),
                what);
    }
}

static void test_global_pool(void **state)
{
    (void)state;
    static const char *const types[] = {"GlobalAveragePool", "GlobalMaxPool"};
    for (int i = 0; i < 2; i++) {
        net n;
        net_init(&n, (uint64_t)(300 + i), "1,19,5,7");
        int y = net_add(&n, types[i], "", (net_in[]){{n.x, NULL, 0, 0}, {-1, NULL, 0, 0}});
        y = net_add(&n, "Flatten", "axis=1", (net_in[]){{y, NULL, 0, 0}, {-1, NULL, 0, 0}});
        compare(net_take(&n, y), types[i]);
    }
}

static void test_dense(void **state)
{
    (void)state;
    draw_state = 4;
    for (int i = 0; i < 30; i++) {
        const int k = draw(1, 70), m = draw(1, 40), act = draw(0, 7), form = draw(0, 3);
        char what[100], shape[32], weight[32], bias[16];
        snprintf(what, sizeof what, "dense %d: %d>%d form %d %s", i, k, m, form,
                 activations[act][0]);
        snprintf(shape, sizeof shape, "1,%d", k);
        snprintf(weight, sizeof weight, form == 1 ? "%2$d,%1$d" : "%1$d,%2$d", k, m);
        snprintf(bias, sizeof bias, "%d", m);
        net n;
        net_init(&n, (uint64_t)(400 + i), shape);
        int y;
        if (form < 2) {
            y = net_add(&n, "Gemm", form == 1 ? "transB=1" : "",
                        (net_in[]){{n.x, NULL, 0, 0},
                                   {0, weight, 0, 0},
                                   {draw(0, 1) ? 0 : -1, bias, -0.5, 0.5},
                                   {-1, NULL, 0, 0}});
        } else {
            y = net_add(&n, "MatMul", "",
                        (net_in[]){{n.x, NULL, 0, 0}, {0, weight, 0, 0}, {-1, NULL, 0, 0}});
            if (form == 3)
                y = net_add(&n, "Add", "",
                            (net_in[]){{y, NULL, 0, 0}, {0, bias, -0.5, 0.5}, {-1, NULL, 0, 0}});
        }
        compare(net_take(&n, add_activation(&n, y, act)), what);
    }
}

/* What lies between fast units: layout copies, views, transposes, broadcasts on channels-last data.
 */
static void test_between(void **state)
{
    (void)state;
    static const net_in end = {-1, NULL, 0, 0};
    net n;
    net_init(&n, 500, "1,16,10,12");
    int y = net_add(&n, "Conv", "pads=1,1,1,1",
                    (net_in[]){{n.x, NULL, 0, 0}, {0, "24,16,3,3", 0, 0}, end});
    int gate = net_add(&n, "GlobalAveragePool", "", (net_in[]){{y, NULL, 0, 0}, end});
    gate = net_add(&n, "Conv", "", (net_in[]){{gate, NULL, 0, 0}, {0, "24,24,1,1", 0, 0}, end});
    gate = net_add(&n, "Sigmoid", "", (net_in[]){{gate, NULL, 0, 0}, end});
    y = net_add(&n, "Mul", "", (net_in[]){{y, NULL, 0, 0}, {gate, NULL, 0, 0}, end});
    const int half =
        net_add(&n, "Conv", "", (net_in[]){{y, NULL, 0, 0}, {0, "8,24,1,1", 0, 0}, end});
    y = net_add(&n, "Concat", "axis=1", (net_in[]){{y, NULL, 0, 0}, {half, NULL, 0, 0}, end});
    y = net_add(&n, "Mul", "", (net_in[]){{y, NULL, 0, 0}, {0, "32,1,1", 0.5, 1.5}, end});
    y = net_add(&n, "Add", "", (net_in[]){{y, NULL, 0, 0}, {0, "1,32,10,12", -0.5, 0.5}, end});
    y = net_add(&n, "PRelu", "", (net_in[]){{y, NULL, 0, 0}, {0, "32,1,1", 0.1, 0.4}, end});
    y = add_norm(&n, y, 32);
    y = net_add(&n, "Transpose", "perm=0,2,3,1", (net_in[]){{y, NULL, 0, 0}, end});
    y = net_add(&n, "Tanh", "", (net_in[]){{y, NULL, 0, 0}, end});
    y = net_add(&n, "Transpose", "perm=0,3,1,2", (net_in[]){{y, NULL, 0, 0}, end});
    y = net_add(&n, "MaxPool", "kernel_shape=2,2 strides=2,2", (net_in[]){{y, NULL, 0, 0}, end});
    y = net_add(&n, "Flatten", "axis=1", (net_in[]){{y, NULL, 0, 0}, end});
    y = net_add(&n, "Gemm", "", (net_in[]){{y, NULL, 0, 0}, {0, "960,10", 0, 0}, end});
    compare(net_take(&n, y), "a network with gates, joins and transposes");
}

/* One-dimensional networks: convolutions and pools of rank 3, layouts across Reshape and Transpose
 */
static void test_one_dimension(void **state)
{
    (void)state;
    static const net_in end = {-1, NULL, 0, 0};
    static const int channels[] = {1, 2, 8, 12, 16, 17, 32};
    draw_state = 5;
    for (int i = 0; i < 30; i++) {
        const int kernel = draw(1, 9), stride = draw(1, 4) == 4 ? 3 : 1, pad = draw(0, kernel / 2);
        const int dilation = draw(1, 4) == 4 ? 2 : 1, length = draw(24, 60), act = draw(0, 7);
        int ic = channels[draw(0, 6)], oc = channels[draw(0, 6)], group = 1;
        if (draw(1, 4) == 4)
            group = oc = ic;
        const bool norm = draw(0, 1), maximum = draw(0, 1);
        char what[160], shape[64], weight[64], attrs[120], bias[16];
        snprintf(what, sizeof what,
                 "1-d %d: %d>%d group %d length %d kernel %d stride %d dilation %d pad %d%s %s", i,
                 ic, oc, group, length, kernel, stride, dilation, pad, norm ? " norm" : "",
                 activations[act][0]);
        snprintf(shape, sizeof shape, "1,%d,%d", ic, length);
        snprintf(weight, sizeof weight, "%d,%d,%d", oc, ic / group, kernel);
        snprintf(attrs, sizeof attrs, "pads=%d,%d strides=%d dilations=%d group=%d", pad, pad,
                 stride, dilation, group);
        snprintf(bias, sizeof bias, "%d", oc);
        net n;
        net_init(&n, (uint64_t)(600 + i), shape);
        int y =
            net_add(&n, "Conv", attrs,
                    (net_in[]){{n.x, NULL, 0, 0}, {0, weight, 0, 0}, {0, bias, -0.5, 0.5}, end});
        if (norm)
            y = add_norm(&n, y, oc);
        y = add_activation(&n, y, act);
        y = net_add(&n, maximum ? "MaxPool" : "AveragePool", "kernel_shape=3 strides=2 pads=1,1",
                    (net_in[]){{y, NULL, 0, 0}, end});
        y = net_add(&n, "Mul", "", (net_in[]){{y, NULL, 0, 0}, {0, "1", 0.5, 1.5}, end});
        if (i % 3 == 1)
            y = net_add(&n, "GlobalAveragePool", "", (net_in[]){{y, NULL, 0, 0}, end});
        else if (i % 3 == 2)
            y = net_add(&n, "Transpose", "perm=0,2,1", (net_in[]){{y, NULL, 0, 0}, end});
        compare(net_take(&n, y), what);
    }
}

/* Patches as tokens: a picture's pixels become one axis, which then trades places with channels;
 * and back. */
static void test_tokens(void **state)
{
    (void)state;
    static const net_in end = {-1, NULL, 0, 0};
    net n;
    net_init(&n, 700, "1,3,16,16");
    int y = net_add(&n, "Conv", "strides=4,4",
                    (net_in[]){{n.x, NULL, 0, 0}, {0, "24,3,4,4", 0, 0}, end});
    y = net_add(&n, "Reshape", "", (net_in[]){{y, NULL, 0, 0}, {0, "=0,24,16", 0, 0}, end});
    y = net_add(&n, "Transpose", "perm=0,2,1", (net_in[]){{y, NULL, 0, 0}, end});
    y = net_add(&n, "MatMul", "", (net_in[]){{y, NULL, 0, 0}, {0, "24,20", 0, 0}, end});
    y = net_add(&n, "Add", "", (net_in[]){{y, NULL, 0, 0}, {0, "16,20", -0.5, 0.5}, end});
    y = net_add(&n, "Transpose", "perm=0,2,1", (net_in[]){{y, NULL, 0, 0}, end});
    y = net_add(&n, "Mul", "", (net_in[]){{y, NULL, 0, 0}, {0, "20,1", 0.5, 1.5}, end});
    y = net_add(&n, "Reshape", "", (net_in[]){{y, NULL, 0, 0}, {0, "=0,20,8,2", 0, 0}, end});
    y = net_add(&n, "Conv", "pads=1,1,1,1",
                (net_in[]){{y, NULL, 0, 0}, {0, "8,20,3,3", 0, 0}, end});
    y = net_add(&n, "Reshape", "", (net_in[]){{y, NULL, 0, 0}, {0, "=0,4,32", 0, 0}, end});
    compare(net_take(&n, y), "pixels as tokens");
}

/* Attention: products of run-time matrices of rank 3 and 4, either side transposed in memory, and
 * of a matrix with itself. */
static void test_matmul(void **state)
{
    (void)state;
    static const net_in end = {-1, NULL, 0, 0};
    draw_state = 6;
    for (int i = 0; i < 24; i++) {
        const int tokens = draw(1, 20), width = 4 * draw(1, 6), heads = i % 3 == 0 ? 2 : 1;
        char what[100], shape[32], weight[32], split[40], join[40];
        snprintf(what, sizeof what, "matmul %d: %d tokens of %d in %d heads", i, tokens, width,
                 heads);
        snprintf(shape, sizeof shape, "1,%d,%d", tokens, width);
        snprintf(weight, sizeof weight, "%d", width);
        snprintf(split, sizeof split, "=0,%d,%d,%d", tokens, heads, width / heads);
        snprintf(join, sizeof join, "=0,%d,%d", tokens, width);
        net n;
        net_init(&n, (uint64_t)(800 + i), shape);
        int part[3]; /* query, key, value */
        for (int k = 0; k < 3; k++) {
            part[k] =
                net_add(&n, "Mul", "", (net_in[]){{n.x, NULL, 0, 0}, {0, weight, -1.5, 1.5}, end});
            if (heads == 1)
                continue;
            part[k] = net_add(&n, "Reshape", "",
                              (net_in[]){{part[k], NULL, 0, 0}, {0, split, 0, 0}, end});
            part[k] =
                net_add(&n, "Transpose", "perm=0,2,1,3", (net_in[]){{part[k], NULL, 0, 0}, end});
        }
        const char *swap = heads == 1 ? "perm=0,2,1" : "perm=0,1,3,2";
        const int key = i % 5 == 1 ? part[0] : part[1]; /* with itself */
        int y = net_add(&n, "Transpose", swap, (net_in[]){{key, NULL, 0, 0}, end});
        y = net_add(&n, "MatMul", "", (net_in[]){{part[0], NULL, 0, 0}, {y, NULL, 0, 0}, end});
        y = net_add(&n, "Softmax", "axis=-1", (net_in[]){{y, NULL, 0, 0}, end});
        if (heads == 1 && i % 2) { /* (v^T a^T)^T: both sides transposed */
            const int v = net_add(&n, "Transpose", swap, (net_in[]){{part[2], NULL, 0, 0}, end});
            y = net_add(&n, "Transpose", swap, (net_in[]){{y, NULL, 0, 0}, end});
            y = net_add(&n, "MatMul", "", (net_in[]){{v, NULL, 0, 0}, {y, NULL, 0, 0}, end});
            y = net_add(&n, "Transpose", swap, (net_in[]){{y, NULL, 0, 0}, end});
        } else {
            y = net_add(&n, "MatMul", "", (net_in[]){{y, NULL, 0, 0}, {part[2], NULL, 0, 0}, end});
        }
        if (heads > 1) {
            y = net_add(&n, "Transpose", "perm=0,2,1,3", (net_in[]){{y, NULL, 0, 0}, end});
            y = net_add(&n, "Reshape", "", (net_in[]){{y, NULL, 0, 0}, {0, join, 0, 0}, end});
        }
        compare(net_take(&n, y), what);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_conv),        cmocka_unit_test(test_winograd),
        cmocka_unit_test(test_pointwise),   cmocka_unit_test(test_pool),
        cmocka_unit_test(test_global_pool), cmocka_unit_test(test_dense),
        cmocka_unit_test(test_between),     cmocka_unit_test(test_one_dimension),
        cmocka_unit_test(test_tokens),      cmocka_unit_test(test_matmul),
        cmocka_unit_test(test_depthwise),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
