/* tests/engine/test_chains.c - operators on elements that run as one unit, and activations that are
 * made up of several operators, behind convolutions and products and by themselves */
/* SPDX-License-Identifier: Apache-2.0 */
#include "unit_compare.h"

#include <stdio.h>

static int add_unary(net *n, const char *type, int x)
{
    return net_add(n, type, "", (net_in[]){{x, NULL, 0, 0}, {-1, NULL, 0, 0}});
}

static int add_two(net *n, const char *type, int a, int b)
{
    return net_add(n, type, "", (net_in[]){{a, NULL, 0, 0}, {b, NULL, 0, 0}, {-1, NULL, 0, 0}});
}

/* An operand that is a constant: of `shape`, all between low and high. */
static int add_constant(net *n, const char *type, int x, const char *shape, double low, double high)
{
    return net_add(n, type, "",
                   (net_in[]){{x, NULL, 0, 0}, {0, shape, low, high}, {-1, NULL, 0, 0}});
}

static int add_silu(net *n, int x)
{
    return add_two(n, "Mul", x, add_unary(n, "Sigmoid", x));
}

static int add_gelu(net *n, int x)
{
    const int erf = add_unary(n, "Erf", add_constant(n, "Div", x, "", 1.41421356, 1.41421356));
    return add_constant(n, "Mul", add_two(n, "Mul", x, add_constant(n, "Add", erf, "", 1.0, 1.0)), "",
                        0.5, 0.5);
}

static int add_conv(net *n, int x, const char *weight, const char *attrs)
{
    return net_add(n, "Conv", attrs,
                   (net_in[]){{x, NULL, 0, 0}, {0, weight, 0, 0}, {-1, NULL, 0, 0}});
}

static void test_made_up_activations(void **state)
{
    (void)state;
    static const struct {
        const char *shape, *weight, *attrs;
    } convs[] = {{"1,20,7,5", "40,20,1,1", ""},
                 {"1,20,7,5", "24,20,1,1", "strides=2,2"},
                 {"1,16,6,6", "16,1,3,3", "group=16 pads=1,1,1,1"},
                 {"1,16,9,9", "32,16,3,3", "pads=1,1,1,1"},
                 {"1,3,9,9", "8,3,5,5", "pads=2,2,2,2"}};
    for (int i = 0; i < 10; i++) {
        char what[64];
        net n;
        snprintf(what, sizeof what, "convolution %d, %s", i / 2, i % 2 ? "gelu" : "silu");
        net_init(&n, (uint64_t)(70 + i), convs[i / 2].shape);
        const int y = add_conv(&n, n.x, convs[i / 2].weight, convs[i / 2].attrs);
        compare(net_take(&n, i % 2 ? add_gelu(&n, y) : add_silu(&n, y)), what);
    }
}

/* Tokens: products with rows of all lengths, weights small enough to be packed and too large. */
static void test_products(void **state)
{
    (void)state;
    static const char *const weights[] = {"24,70", "24,16", "24,100"};
    static const char *const back[] = {"70,24", "16,24", "100,24"};
    for (int i = 0; i < 6; i++) {
        char what[64];
        net n;
        snprintf(what, sizeof what, "product %d", i);
        net_init(&n, (uint64_t)(170 + i), i % 2 ? "1,5,24" : "1,13,24");
        int y = add_constant(&n, "MatMul", n.x, weights[i / 2], 0, 0);
        y = i % 2 ? add_gelu(&n, y) : add_silu(&n, y);
        y = add_constant(&n, "MatMul", y, back[i / 2], 0, 0);
        y = add_constant(&n, "Mul", y, "24", 0.5, 1.5);
        compare(net_take(&n, add_two(&n, "Add", y, n.x)), what);
    }
}

/* What a chain reads from outside is as large as its result, one number, a row or a channel. */
static void test_operands(void **state)
{
    (void)state;
    static const char *const shapes[] = {"1,40,13,17", "1,6,200,30", "1,3,2,2", "1,5000", "1,7,1000"};
    static const char *const rows[] = {"17", "30", "2", "5000", "1000"};
    for (int i = 0; i < 5; i++) {
        char what[64];
        net n;
        snprintf(what, sizeof what, "operands of %s", shapes[i]);
        net_init(&n, (uint64_t)(270 + i), shapes[i]);
        int y = add_constant(&n, "Mul", n.x, "", 1.5, 1.5);
        y = add_two(&n, "Add", add_unary(&n, "Sigmoid", y), n.x);
        y = add_constant(&n, "Sub", y, rows[i], -1.0, 1.0);
        compare(net_take(&n, add_unary(&n, "Tanh", add_silu(&n, y))), what);
    }
}

/* A factor per channel that comes from the data itself, as in squeeze-and-excite. */
static void test_gate_by_channel(void **state)
{
    (void)state;
    net n;
    net_init(&n, 370, "1,16,9,11");
    const int y = add_silu(&n, add_conv(&n, n.x, "32,16,1,1", ""));
    const int pooled = add_unary(&n, "GlobalAveragePool", y);
    const int gate = add_unary(&n, "Sigmoid", add_conv(&n, pooled, "32,32,1,1", ""));
    compare(net_take(&n, add_unary(&n, "Tanh", add_two(&n, "Mul", y, gate))), "squeeze and excite");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_made_up_activations),
        cmocka_unit_test(test_products),
        cmocka_unit_test(test_operands),
        cmocka_unit_test(test_gate_by_channel),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
