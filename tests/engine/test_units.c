/* tests/engine/test_units.c - every other fast kernel against the plain C operators */
/* SPDX-License-Identifier: Apache-2.0 */
#include "plan_helpers.h"
#include "unit_compare.h"

#include <internal/tensor.h>
#include <stdio.h>

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

/* Weights that a file has in half precision and casts, and views of weights, are in memory once. */
static void test_weights_once(void **state)
{
    (void)state;
    uint16_t half[12];
    for (int i = 0; i < 12; i++)
        half[i] = px_float_to_half((float)i * 0.25f - 1.0f);
    net n;
    net_init(&n, 900, "1,4");
    const int w = net_tensor(&n, PX_FLOAT16, "3,4", half);
    const int wide = net_add(&n, "Cast", "to=1", IN(V(w)));
    const int same = net_add(&n, "Identity", "", IN(V(wide)));
    const int rounded = net_add(&n, "Cast", "to=10", IN(V(same)));
    const int y = net_add(&n, "Gemm", "transB=1", IN(V(n.x), V(rounded)));
    px_model *model = net_take(&n, net_add(&n, "Add", "", IN(V(y), {.weight = "3"})));
    const int kept[] = {w, wide, same, rounded};
    px_plan_options options = px_plan_options_default();
    options.keep = kept;
    options.keep_count = PX_LEN(kept);
    px_plan *plan = NULL;
    px_session *session = open_plan(model, &options, &plan, "weights");
    const float *at[PX_LEN(kept)];
    for (size_t k = 0; k < PX_LEN(kept); k++) {
        at[k] = px_session_view(session, kept[k]).data;
        for (int i = 0; i < 12; i++)
            assert_true(at[k][i] == (float)i * 0.25f - 1.0f);
    }
    assert_ptr_equal(at[1], at[0]);
    assert_ptr_equal(at[2], at[0]);
    assert_ptr_not_equal(at[3], at[0]); /* a cast that rounds makes numbers of its own */
    close_plan(plan, session);
    px_model_free(model);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_pool),          cmocka_unit_test(test_global_pool),
        cmocka_unit_test(test_dense),         cmocka_unit_test(test_between),
        cmocka_unit_test(test_one_dimension), cmocka_unit_test(test_tokens),
        cmocka_unit_test(test_matmul),        cmocka_unit_test(test_weights_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
