/* tests/picture/test_plot.c - charts: where things are, what is left out, what is refused */
/* SPDX-License-Identifier: Apache-2.0 */
#include "picture_helpers.h"

#include <dirent.h>
#include <math.h>
#include <unistd.h>

static px_error err;

static const px_plot_options PERCENT = {
    .width = 400, .height = 300, .x = {.least = 0, .most = 10}, .y = {.least = 0, .most = 100}};

static px_plot *plot_of(const px_plot_options *options)
{
    px_plot *plot = NULL;
    if (px_plot_new(options, &plot, &err) != PX_OK)
        fail_msg("%s", err.message);
    return plot;
}

static void must(px_status status)
{
    if (status != PX_OK)
        fail_msg("%s", err.message);
}

static void near(const char *what, double got, double want, double slack)
{
    if (!(fabs(got - want) <= slack))
        fail_msg("%s: %g, not %g", what, got, want);
}

static void test_line_lies_where_it_should(void **state)
{
    (void)state;
    px_plot *plot = plot_of(&PERCENT);
    const double flat_x[] = {0, 10}, flat_y[] = {25, 25};
    const double up_x[] = {0, 10}, up_y[] = {0, 100};
    must(px_plot_line(plot, NULL, flat_x, flat_y, 2, 0, &err));
    must(px_plot_line(plot, NULL, up_x, up_y, 2, 0, &err));
    pxi_image image = plot_pixels(plot);
    const area f = frame_of(plot);
    const double height = f.bottom - f.top;
    const area flat = area_of(&image, BLUE, 0, image.width);
    near("flat line", (flat.top + flat.bottom) / 2.0, f.bottom - 0.25 * height, 1.1);
    near("flat line, rows", flat.bottom - flat.top + 1, 2, 1);
    near("flat line, left", flat.left, f.left, 1);
    near("flat line, right", flat.right, f.right, 1);
    for (int k = 1; k < 10; k++) { /* the rising line is at k * 10% of both axes */
        const int x = f.left + (f.right + 1 - f.left) * k / 10;
        const area column = area_of(&image, ORANGE, x, x + 1);
        near("rising line", (column.top + column.bottom) / 2.0, f.bottom - height * k / 10, 1.1);
    }
    pxi_image_done(&image);
    px_plot_free(plot);
}

static void test_log_axes(void **state)
{
    (void)state;
    px_plot_options options = PERCENT;
    options.x = (px_plot_axis){.log = true, .least = 1, .most = 10000};
    options.y = (px_plot_axis){.log = true, .least = 0.01, .most = 100};
    px_plot *plot = plot_of(&options);
    const double x[] = {1, 100, 10000}, y[] = {0.01, 1, 100};
    must(px_plot_line(plot, NULL, x, y, 3, 0, &err));
    pxi_image image = plot_pixels(plot);
    const area f = frame_of(plot);
    const int middle = (f.left + f.right + 1) / 2;
    const area column = area_of(&image, BLUE, middle, middle + 1);
    near("the middle of both", (column.top + column.bottom) / 2.0, (f.top + f.bottom) / 2.0, 1.1);
    char *words = plot_words(plot);
    static const char *const labels[] = {">1<",      ">10<",   ">100<", ">1,000<",
                                         ">10,000<", ">0.01<", ">0.1<"};
    for (size_t i = 0; i < sizeof labels / sizeof labels[0]; i++)
        if (!strstr(words, labels[i]))
            fail_msg("no label %s", labels[i]);
    free(words);
    pxi_image_done(&image);
    px_plot_free(plot);
}

static void test_points_and_clipping(void **state)
{
    (void)state;
    px_plot *plot = plot_of(&PERCENT);
    const double x[] = {5, 5, -3, 11, 5}, y[] = {45, 1e9, 50, 50, -7};
    must(px_plot_points(plot, NULL, x, y, 5, &err));
    const double far_x[] = {-1e9, 1e9}, far_y[] = {80, 80}; /* begins and ends outside */
    must(px_plot_line(plot, NULL, far_x, far_y, 2, 0, &err));
    pxi_image image = plot_pixels(plot);
    const area f = frame_of(plot);
    const area line = area_of(&image, ORANGE, 0, image.width);
    near("cut line, left", line.left, f.left, 1);
    near("cut line, right", line.right, f.right, 1);
    near("cut line, row", (line.top + line.bottom) / 2.0, f.bottom - 0.8 * (f.bottom - f.top), 1.1);
    char *words = plot_words(plot);
    assert_int_equal(words_count(words, "<circle"), 1);
    assert_int_equal(words_count(words, "<polyline"), 1);
    const double cx = strtod(strstr(words, "cx=\"") + 4, NULL);
    const double cy = strtod(strstr(words, "cy=\"") + 4, NULL);
    near("point x", cx, (f.left + f.right + 1) / 2.0, 0.6);
    near("point y", cy, f.bottom - 0.45 * (f.bottom - f.top), 0.6);
    const uint32_t there = pixel(&image, (int)cx, (int)cy); /* three quarters of blue on white */
    near("point, red", there >> 16, 0.25 * 255, 2);
    near("point, blue", there & 255, 0.75 * 0xb2 + 0.25 * 255, 2);
    assert_int_equal(px_plot_left_out(plot), 0);
    free(words);
    pxi_image_done(&image);
    px_plot_free(plot);
}

static void test_bars_have_their_heights(void **state)
{
    (void)state;
    px_plot_options options = PERCENT;
    options.y = (px_plot_axis){.least = -50, .most = 100};
    px_plot *plot = plot_of(&options);
    const char *const groups[] = {"a", "b", "c"};
    const double first[] = {50, 100, NAN}, second[] = {-50, 0, 25};
    must(px_plot_groups(plot, groups, 3, &err));
    must(px_plot_bars(plot, "first", first, NULL, 3, &err));
    must(px_plot_bars(plot, "second", second, NULL, 3, &err));
    assert_int_equal(px_plot_left_out(plot), 1);
    char *words = plot_words(plot);
    /* rectangles of a series' colour, the legend's first */
    double box[2][8][4];
    int count[2] = {0, 0};
    double b[4];
    uint32_t colour;
    for (const char *at = words; next_rect(&at, b, &colour);) {
        const int s = colour == BLUE ? 0 : colour == ORANGE ? 1 : -1;
        if (s >= 0 && count[s] < 8)
            memcpy(box[s][count[s]++], b, sizeof b);
    }
    assert_int_equal(count[0], 3); /* the legend and two bars */
    assert_int_equal(count[1], 3); /* a bar of height 0 is not drawn */
    const double unit = box[0][2][3] / 100;
    near("half of it", box[0][1][3], 50 * unit, 1);
    near("below 0", box[1][1][3], 50 * unit, 1);
    near("hangs from 0", box[1][1][1], box[0][1][1] + box[0][1][3], 1);
    near("a quarter", box[1][2][3], 25 * unit, 1);
    near("side by side", box[1][1][0], box[0][1][0] + box[0][1][2] + 1, 0);
    pxi_image image = plot_pixels(plot);
    for (int s = 0; s < 2; s++)
        for (int i = 0; i < 3; i++) /* the same in pixels */
            assert_int_equal(pixel(&image, (int)(box[s][i][0] + box[s][i][2] / 2),
                                   (int)(box[s][i][1] + box[s][i][3] / 2)),
                             s ? ORANGE : BLUE);
    pxi_image_done(&image);
    free(words);
    px_plot_free(plot);
}

static void test_box_shows_quartiles(void **state)
{
    (void)state;
    px_plot_options options = PERCENT;
    px_plot *plot = plot_of(&options);
    /* quartiles 20, 30, 40; whiskers to 10 and 60; 90 is beyond 40 + 1.5 * 20 */
    const double values[] = {30, NAN, 20, 90, 40, 10, 30, 20, INFINITY, 60, 40};
    must(px_plot_box(plot, "one", values, 11, &err));
    assert_int_equal(px_plot_left_out(plot), 2);
    pxi_image image = plot_pixels(plot);
    const area f = frame_of(plot);
    const double unit = (f.bottom - f.top) / 100.0;
    const int middle = (f.left + f.right + 1) / 2;
    const area edge = area_of(&image, BLUE, middle - 20, middle - 19); /* box, not whiskers */
    near("upper quartile", edge.top, f.bottom - 40 * unit, 1.1);
    near("lower quartile", edge.bottom, f.bottom - 20 * unit, 1.1);
    const area whisker = area_of(&image, BLUE, middle - 12, middle - 11);
    near("upper whisker", whisker.top, f.bottom - 60 * unit, 1.1);
    near("lower whisker", whisker.bottom, f.bottom - 10 * unit, 1.1);
    int median = 0;
    for (int y = f.top; y < f.bottom; y++)
        if (pixel(&image, middle, y) == INK)
            median = y;
    near("median", median, f.bottom - 30 * unit, 1.1);
    char *words = plot_words(plot);
    assert_int_equal(words_count(words, "<circle"), 1);
    near("outlier", strtod(strstr(words, "cy=\"") + 4, NULL), f.bottom - 90 * unit, 0.8);
    free(words);
    pxi_image_done(&image);
    px_plot_free(plot);
}

static void test_left_out(void **state)
{
    (void)state;
    static const double bad[] = {NAN, INFINITY, -INFINITY, 1e301, -1e301};
    static const double not_log[] = {0, -1, -0.0};
    for (int log = 0; log < 2; log++) {
        px_plot *plot = plot_of(&(px_plot_options){.y = {.log = log}});
        must(px_plot_line(plot, "a", NULL, bad, 5, 0, &err));
        assert_int_equal(px_plot_left_out(plot), 5);
        must(px_plot_line(plot, "b", NULL, not_log, 3, 0, &err));
        assert_int_equal(px_plot_left_out(plot), log ? 8 : 5);
        const double x[] = {1, NAN}, y[] = {1, NAN}; /* both: one point */
        must(px_plot_points(plot, "c", x, y, 2, &err));
        assert_int_equal(px_plot_left_out(plot), log ? 9 : 6);
        char *words = plot_words(plot);
        assert_non_null(strstr(words, log ? "9 values left out: not finite, or not above 0"
                                          : "6 values left out: not finite<"));
        assert_null(strstr(words, "nan"));
        assert_null(strstr(words, "inf\""));
        free(words);
        px_plot_free(plot);
    }
}

/* Nothing, one point, equal values, the ends of the range: a chart all the same. */
static void test_odd_data(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        size_t count;
        double y[4];
        size_t shapes; /* polylines and circles */
    } cases[] = {
        {"empty", 0, {0}, 0},
        {"one point", 1, {3}, 1},
        {"all alike", 3, {7, 7, 7}, 1},
        {"all zero", 3, {0, 0, 0}, 1},
        {"gaps on both sides", 3, {NAN, 2, NAN}, 1},
        {"two pieces", 4, {1, 2, NAN, 3}, 2},
        {"huge", 2, {-1e300, 1e300}, 1},
        {"tiny", 2, {1e-300, 3e-300}, 1},
        {"denormal", 2, {5e-324, 1e-323}, 1},
        {"far from 0", 2, {1e15, 1e15 + 1}, 1},
        {"only NaN", 2, {NAN, NAN}, 0},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        for (int log = 0; log < 2; log++) {
            px_plot *plot = plot_of(&(px_plot_options){.y = {.log = log}});
            must(px_plot_line(plot, cases[i].name, NULL, cases[i].y, cases[i].count, 0, &err));
            char *words = plot_words(plot);
            const size_t legend = 1;
            const size_t shapes =
                words_count(words, "<polyline") + words_count(words, "<circle") - legend;
            if (!log && shapes != cases[i].shapes)
                fail_msg("case '%s': %zu shapes", cases[i].name, shapes);
            if (strstr(words, "nan") || strstr(words, "=\"inf") || strstr(words, "=\"-inf"))
                fail_msg("case '%s': a coordinate is no number", cases[i].name);
            free(words);
            pxi_image image = plot_pixels(plot);
            pxi_image_done(&image);
            px_plot_free(plot);
        }
}

static void test_words_are_escaped(void **state)
{
    (void)state;
    px_plot *plot = plot_of(&(px_plot_options){.title = "a<b & \"c\" \x01\xff ]]>", .width = 600});
    const double y[] = {1, 2};
    must(px_plot_line(plot, "</text><script>", NULL, y, 2, 0, &err));
    char *words = plot_words(plot);
    assert_int_equal(words_count(words, "a&lt;b &amp; \"c\"  \xef\xbf\xbd ]]&gt;"),
                     2); /* <title> too */
    assert_non_null(strstr(words, "&lt;/text&gt;&lt;script&gt;"));
    assert_null(strstr(words, "<script"));
    free(words);
    px_plot_free(plot);

    char *long_title = malloc(100001);
    assert_non_null(long_title);
    memset(long_title, 'w', 100000);
    long_title[100000] = '\0';
    plot = plot_of(&(px_plot_options){.title = long_title});
    words = plot_words(plot);
    assert_true(strlen(words) < 4000);
    assert_non_null(strstr(words, "\xe2\x80\xa6</text>"));
    free(words);
    free(long_title);
    px_plot_free(plot);
}

static void test_refuses(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        px_plot_options options;
    } cases[] = {
        {"narrow", {.width = 119}},
        {"wide", {.width = 4097}},
        {"negative", {.height = -1}},
        {"axis backwards", {.x = {.least = 2, .most = 1}}},
        {"axis without length", {.x = {.least = 1, .most = 1}}},
        {"NaN axis", {.y = {.least = NAN, .most = 1}}},
        {"infinite axis", {.y = {.least = 0, .most = INFINITY}}},
        {"log axis from 0", {.y = {.log = true, .least = 0, .most = 1}}},
        {"hair-thin axis", {.y = {.least = 1e9, .most = 1e9 + 1e-3}}},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        px_plot *plot = NULL;
        if (px_plot_new(&cases[i].options, &plot, &err) != PX_E_USAGE || plot)
            fail_msg("case '%s' is taken", cases[i].name);
    }
    const double y[] = {1, 2};
    const char *const names[] = {"a", "b"};
    px_plot *plot = plot_of(NULL);
    assert_int_equal(px_plot_bars(plot, "no groups", y, NULL, 2, &err), PX_E_USAGE);
    assert_int_equal(px_plot_line(plot, "too many", NULL, y, PX_PLOT_VALUES_MOST + 1, 0, &err),
                     PX_E_USAGE);
    assert_int_equal(px_plot_groups(plot, names, 0, &err), PX_E_USAGE);
    assert_int_equal(px_plot_groups(plot, names, PX_PLOT_GROUPS_MOST + 1, &err), PX_E_USAGE);
    must(px_plot_groups(plot, names, 2, &err)); /* none of these left a trace */
    assert_int_equal(px_plot_groups(plot, names, 2, &err), PX_E_USAGE);
    assert_int_equal(px_plot_bars(plot, "short", y, NULL, 1, &err), PX_E_USAGE);
    assert_int_equal(px_plot_line(plot, "line", NULL, y, 2, 0, &err), PX_E_USAGE);
    assert_string_equal(err.message, "a chart of bars cannot show lines and points too");
    assert_int_equal(px_plot_box(plot, "box", y, 2, &err), PX_E_USAGE);
    for (int i = 0; i < PX_PLOT_SERIES_MOST; i++)
        must(px_plot_bars(plot, "set", y, NULL, 2, &err));
    assert_int_equal(px_plot_bars(plot, "one more", y, NULL, 2, &err), PX_E_USAGE);
    pxi_image image = plot_pixels(plot); /* with a legend of 64 names */
    pxi_image_done(&image);
    assert_int_equal(px_plot_save(plot, "chart.png", &err), PX_E_USAGE);
    assert_non_null(strstr(err.message, "'chart.png'"));
    assert_int_equal(px_plot_save(plot, "/no/such/folder/x.svg", &err) == PX_OK, 0);
    px_plot_free(plot);
    px_plot_free(NULL);
}

/* Sets of bars differ by colour beyond the seventh; bars that are too narrow have no numbers. */
static void test_many_sets(void **state)
{
    (void)state;
    px_plot *plot = plot_of(&(px_plot_options){.numbers = true});
    const char *const group[] = {"only"};
    const double value = 12.345;
    must(px_plot_groups(plot, group, 1, &err));
    for (int i = 0; i < 21; i++)
        must(px_plot_bars(plot, "set", &value, NULL, 1, &err));
    char *words = plot_words(plot);
    uint32_t seen[64], colour;
    double box[4];
    int different = 0, bars = 0;
    for (const char *at = words; next_rect(&at, box, &colour);) {
        if (box[3] < 100) /* the legend and grid lines */
            continue;
        bool known = false;
        for (int i = 0; i < different; i++)
            known |= seen[i] == colour;
        if (!known && different < 64)
            seen[different++] = colour;
        bars++;
    }
    assert_int_equal(bars, 21);
    assert_int_equal(different, 21);
    assert_int_equal(words_count(words, ">12.3<"), 21);
    free(words);
    px_plot_free(plot);

    plot = plot_of(&(px_plot_options){.numbers = true, .width = 300});
    must(px_plot_groups(plot, group, 1, &err));
    for (int i = 0; i < 30; i++)
        must(px_plot_bars(plot, "set", &value, NULL, 1, &err));
    words = plot_words(plot);
    assert_int_equal(words_count(words, ">12.3<"), 0);
    free(words);
    px_plot_free(plot);
}

/* From the smallest to the largest, with words that need more room than there is. */
static void test_sizes(void **state)
{
    (void)state;
    static const int sizes[][2] = {{120, 120}, {120, 600}, {600, 120}, {4096, 130}, {130, 4096}};
    const char *const names[] = {"a rather long name, longer than that", "b", "c", "d"};
    const double y[] = {-12345.678, 3e9, NAN, 1e-7};
    for (size_t i = 0; i < 3 * sizeof sizes / sizeof sizes[0]; i++) {
        const int *size = sizes[i / 3];
        px_plot *plot = plot_of(&(px_plot_options){.title = names[0],
                                                   .note = names[0],
                                                   .width = size[0],
                                                   .height = size[1],
                                                   .x = {names[0], "unit", false, 0, 0},
                                                   .y = {names[0], "unit", false, 0, 0},
                                                   .numbers = true});
        for (size_t k = 0; k < 4; k++) {
            if (i % 3 == 0)
                must(px_plot_line(plot, names[k], y, y, 4, PX_PLOT_DOTS | PX_PLOT_DASHED, &err));
            else if (i % 3 == 1)
                must(px_plot_box(plot, names[k], y, 4, &err));
            else if (k == 0)
                must(px_plot_groups(plot, names, 4, &err));
            else
                must(px_plot_bars(plot, names[k], y, y, 4, &err));
        }
        pxi_image image = plot_pixels(plot);
        assert_int_equal(image.width, size[0]);
        assert_int_equal(image.height, size[1]);
        pxi_image_done(&image);
        px_plot_free(plot);
    }
}

/* Many points make a small file that shows their whole range. */
static void test_many_points(void **state)
{
    (void)state;
    enum { MANY = 1000000 };
    double *y = malloc(MANY * sizeof *y);
    assert_non_null(y);
    for (int i = 0; i < MANY; i++)
        y[i] = i % 2 ? 90 : 10;
    y[MANY / 2] = 100; /* one spike must not be lost */
    px_plot_options options = PERCENT;
    options.x = (px_plot_axis){0};
    px_plot *plot = plot_of(&options);
    must(px_plot_line(plot, NULL, NULL, y, MANY, 0, &err));
    must(px_plot_points(plot, NULL, NULL, y, MANY, &err));
    char *words = plot_words(plot);
    assert_true(strlen(words) < 500000);
    free(words);
    pxi_image image = plot_pixels(plot);
    const area f = frame_of(plot), line = area_of(&image, BLUE, 0, image.width);
    near("the spike", line.top, f.top, 4);
    near("the low end", line.bottom, f.bottom - 0.1 * (f.bottom - f.top), 6);
    pxi_image_done(&image);
    px_plot_free(plot);
    free(y);
}

static void test_saves_whole_files(void **state)
{
    (void)state;
    char folder[] = "plot-test-XXXXXX", path[64];
    assert_non_null(mkdtemp(folder));
    px_plot *plot = plot_of(&(px_plot_options){.title = "saved"});
    snprintf(path, sizeof path, "%s/chart.SVG", folder);
    must(px_plot_save(plot, path, &err));
    FILE *file = fopen(path, "rb");
    assert_non_null(file);
    static char got[1 << 20];
    const size_t size = fread(got, 1, sizeof got - 1, file);
    fclose(file);
    char *want = plot_words(plot);
    assert_int_equal(size, strlen(want));
    assert_string_equal(got, want);
    free(want);
    assert_int_equal(unlink(path), 0);
    px_plot_free(plot);
    assert_int_equal(rmdir(folder), 0); /* nothing else was left in it */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_line_lies_where_it_should),
        cmocka_unit_test(test_log_axes),
        cmocka_unit_test(test_points_and_clipping),
        cmocka_unit_test(test_bars_have_their_heights),
        cmocka_unit_test(test_box_shows_quartiles),
        cmocka_unit_test(test_left_out),
        cmocka_unit_test(test_odd_data),
        cmocka_unit_test(test_words_are_escaped),
        cmocka_unit_test(test_refuses),
        cmocka_unit_test(test_many_sets),
        cmocka_unit_test(test_sizes),
        cmocka_unit_test(test_many_points),
        cmocka_unit_test(test_saves_whole_files),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
