/* tests/picture/test_plot_map.c - maps: one scale both ways, colours and marks, the key */
/* SPDX-License-Identifier: Apache-2.0 */
#include "picture_helpers.h"

#include <math.h>

static px_error err;

static px_plot *map_of(const double *x, const double *y, size_t count, int width, int height)
{
    static const uint16_t colours[8] = {0, 1, 2, 3, 0, 1, 2, 3}, marks[8] = {0};
    px_plot *plot = NULL;
    assert_int_equal(px_plot_new(&(px_plot_options){.width = width, .height = height}, &plot, &err),
                     PX_OK);
    assert_int_equal(px_plot_map(plot, x, y, colours, marks, count, &err), PX_OK);
    return plot;
}

/* The centres of circles, in the order of drawing. */
static size_t circles(const px_plot *plot, double (*at)[2], size_t most)
{
    char *words = plot_words(plot);
    size_t count = 0;
    for (const char *c = words; (c = strstr(c, "<circle")) && count < most; c++, count++) {
        at[count][0] = strtod(strstr(c, "cx=\"") + 4, NULL);
        at[count][1] = strtod(strstr(c, "cy=\"") + 4, NULL);
    }
    free(words);
    return count;
}

static void test_one_scale_both_ways(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        double x[3], y[3];
        double right, up; /* of the second from the first, in units of the farthest pair's length */
    } cases[] = {
        {"wide", {-4, 4, 0}, {0, 0, 1}, 1, 0},
        {"high", {0, 1, 0}, {-2, -2, 2}, 0.25, 0},
        {"shifted", {1000, 1001, 1000}, {5, 5, 7}, 0.5, 0},
        {"huge", {-9e299, 9e299, 0}, {0, 0, 1}, 1, 0},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        double at[3][2];
        px_plot *plot = map_of(cases[i].x, cases[i].y, 3, 400, 300);
        assert_int_equal(circles(plot, at, 3), 3);
        const double wide = cases[i].x[1] / 2 - cases[i].x[0] / 2;
        const double high = cases[i].y[2] / 2 - cases[i].y[0] / 2;
        const double unit = (at[1][0] - at[0][0]) / wide; /* pixels of half a unit */
        if (!(unit > 0) || fabs((at[0][1] - at[2][1]) - high * unit) > 0.3)
            fail_msg("case '%s': %g pixels across, %g up", cases[i].name, at[1][0] - at[0][0],
                     at[0][1] - at[2][1]);
        for (int c = 0; c < 3; c++)
            assert_true(at[c][0] > 0 && at[c][0] < 400 && at[c][1] > 0 && at[c][1] < 300);
        px_plot_free(plot);
    }
}

static void test_odd_points(void **state)
{
    (void)state;
    const double x[] = {1, NAN, 3, INFINITY, 1}, y[] = {1, 2, NAN, 4, 1};
    double at[8][2];
    px_plot *plot = map_of(x, y, 5, 300, 300);
    assert_int_equal(px_plot_left_out(plot), 3);
    assert_int_equal(circles(plot, at, 8), 2); /* both in the middle */
    assert_true(fabs(at[0][0] - 150) < 5 && at[0][0] == at[1][0] && at[0][1] == at[1][1]);
    px_plot_free(plot);

    plot = map_of(x, y, 0, 300, 300);
    char *words = plot_words(plot);
    assert_non_null(strstr(words, "no data"));
    free(words);
    px_plot_free(plot);
}

static void test_looks_and_keys(void **state)
{
    (void)state;
    enum { COUNT = 26 };
    double x[COUNT], y[COUNT];
    uint16_t colours[COUNT], marks[COUNT];
    for (uint16_t i = 0; i < COUNT; i++) {
        x[i] = 10 * i;
        y[i] = 5;
        colours[i] = i;
        marks[i] = i;
    }
    px_plot *plot = NULL;
    assert_int_equal(px_plot_new(&(px_plot_options){.width = 1000, .height = 400}, &plot, &err),
                     PX_OK);
    assert_int_equal(px_plot_key(plot, "cats & dogs", 1, -1, &err), PX_OK);
    assert_int_equal(px_plot_key(plot, "seeds", -1, 0, &err), PX_OK);
    assert_int_equal(px_plot_map(plot, x, y, colours, marks, COUNT, &err), PX_OK);
    assert_int_equal(px_plot_map(plot, x, y, colours, marks, COUNT, &err), PX_E_USAGE);
    assert_int_equal(px_plot_line(plot, "line", NULL, y, 2, 0, &err), PX_E_USAGE);
    assert_string_equal(err.message, "a chart of a map cannot show lines and points too");
    char *words = plot_words(plot);
    assert_non_null(strstr(words, "cats &amp; dogs"));
    assert_non_null(strstr(words, "seeds"));
    /* marks repeat after six: 5 circles of 26, and the key's */
    size_t round = 0;
    for (const char *c = words; (c = strstr(c, "<circle")); c++)
        round++;
    assert_int_equal(round, 6);
    char seen[64][8];
    size_t different = 0;
    const char *points = strstr(words, "<polyline"); /* the edge; behind it the marks */
    assert_non_null(points);
    for (const char *c = points; (c = strstr(c, "fill=\"#")) && different < 64; c += 6) {
        bool is_new = true;
        for (size_t s = 0; s < different; s++)
            is_new &= strncmp(seen[s], c + 6, 7) != 0;
        if (is_new)
            memcpy(seen[different++], c + 6, 7);
    }
    assert_int_equal(different, PX_PLOT_COLOURS);
    free(words);
    pxi_image image = plot_pixels(plot);
    pxi_image_done(&image);
    px_plot_free(plot);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_one_scale_both_ways),
        cmocka_unit_test(test_odd_points),
        cmocka_unit_test(test_looks_and_keys),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
