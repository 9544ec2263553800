/* tests/engine/test_conv_units.c - every kernel for convolutions against the plain C operators */
/* SPDX-License-Identifier: Apache-2.0 */
#include "unit_compare.h"

#include <stdio.h>

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
    for (int i = 0; i < 28; i++) {
        const bool wide = i >= 24; /* more tiles at a time */
        const int ic = 16 * (wide ? draw(9, 16) : draw(1, 4)), oc = 16 * (wide ? 15 : draw(1, 4));
        const int pad = draw(0, 1), h = draw(3, 19), w = draw(3, 19), act = draw(0, 3);
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

/* Many weights: every border, pictures smaller than the kernel, strides and dilations */
static void test_gathered(void **state)
{
    (void)state;
    draw_state = 12;
    for (int i = 0; i < 12; i++) {
        const int kernel = draw(2, 5), stride = draw(1, 2), dilation = draw(1, 4) == 4 ? 2 : 1;
        const int reach = (kernel - 1) * dilation, pad = PX_MIN(draw(0, 2), reach);
        const int least = PX_MAX(1, reach + 1 - 2 * pad), act = draw(0, 7);
        const int h = least + draw(0, 4), w = least + draw(0, 4);
        const int ic = draw(500, 530), oc = (1 << 20) / (ic * kernel * kernel) + draw(1, 60);
        char what[120], shape[64], weight[64], attrs[120];
        snprintf(what, sizeof what, "gathered %d: %d>%d %dx%d kernel %d stride %d pad %d %s", i, ic,
                 oc, h, w, kernel, stride, pad, activations[act][0]);
        snprintf(shape, sizeof shape, "1,%d,%d,%d", ic, h, w);
        snprintf(weight, sizeof weight, "%d,%d,%d,%d", oc, ic, kernel, kernel);
        snprintf(attrs, sizeof attrs, "pads=%d,%d,%d,%d strides=%d,%d dilations=%d,%d", pad, pad,
                 pad, pad, stride, stride, dilation, dilation);
        net n;
        net_init(&n, (uint64_t)(1300 + i), shape);
        int y = net_add(&n, "Conv", attrs,
                        (net_in[]){{n.x, NULL, 0, 0}, {0, weight, 0, 0}, {-1, NULL, 0, 0}});
        if (i % 3 == 0) { /* and one that is added to what is there */
            const int other =
                net_add(&n, "Conv", attrs,
                        (net_in[]){{n.x, NULL, 0, 0}, {0, weight, 0, 0}, {-1, NULL, 0, 0}});
            y = net_add(&n, "Add", "",
                        (net_in[]){{y, NULL, 0, 0}, {other, NULL, 0, 0}, {-1, NULL, 0, 0}});
        }
        compare(net_take(&n, add_activation(&n, y, act)), what);
    }
}

/* 1x1: every leftover of a tile of pixels and channels, with and without a stride */
static void test_pointwise(void **state)
{
    (void)state;
    draw_state = 9;
    for (int i = 0; i < 24; i++) {
        const int ic = draw(1, 50), oc = draw(1, 70), act = draw(0, 7), stride = 1 + i % 2;
        const int h = draw(1, 6), w = draw(1, 6);
        char what[120], shape[64], weight[64], back[64];
        snprintf(what, sizeof what, "pointwise %d: %d>%d %dx%d %s", i, ic, oc, h, w,
                 activations[act][0]);
        snprintf(shape, sizeof shape, "1,%d,%d,%d", ic, h, w);
        snprintf(weight, sizeof weight, "%d,%d,1,1", oc, ic);
        snprintf(back, sizeof back, "%d,%d,1,1", ic, oc);
        const char *attrs = stride == 2 ? "strides=2,2" : "";
        net n;
        net_init(&n, (uint64_t)(900 + i), shape);
        int y = net_add(&n, "Conv", attrs,
                        (net_in[]){{n.x, NULL, 0, 0}, {0, weight, 0, 0}, {-1, NULL, 0, 0}});
        if (i % 3 == 0) { /* and one that is added to what is there */
            const int other =
                net_add(&n, "Conv", attrs,
                        (net_in[]){{n.x, NULL, 0, 0}, {0, weight, 0, 0}, {-1, NULL, 0, 0}});
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_conv),      cmocka_unit_test(test_winograd),
        cmocka_unit_test(test_gathered),  cmocka_unit_test(test_pointwise),
        cmocka_unit_test(test_depthwise),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
