/* tests/picture/test_raster.c - how much ink goes where; the font */
/* SPDX-License-Identifier: Apache-2.0 */
#include "cmocka_all.h"
#include "picture/raster.h"
#include "picture/stroke_font.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { SIDE = 40 };
static const pxi_colour BLACK = {0, 0, 0, 255};
static px_error err;

static pxi_raster white(void)
{
    pxi_raster r = {0};
    assert_int_equal(pxi_raster_init(&r, SIDE, SIDE, &err), PX_OK);
    return r;
}

static int at(const pxi_raster *r, int x, int y)
{
    return r->rgb[3 * (y * SIDE + x)];
}

/* Black ink in pixels, all in all. */
static double ink(const pxi_raster *r)
{
    double sum = 0;
    for (int i = 0; i < SIDE * SIDE; i++)
        sum += (255 - r->rgb[3 * i]) / 255.0;
    return sum;
}

static void near(const char *what, double got, double want, double slack)
{
    if (!(fabs(got - want) <= slack))
        fail_msg("%s: %g, not %g", what, got, want);
}

static void test_rect_covers_its_area(void **state)
{
    (void)state;
    pxi_raster r = white();
    pxi_raster_rect(&r, 10, 10, 5, 3, BLACK);
    assert_int_equal(at(&r, 10, 10), 0);
    assert_int_equal(at(&r, 14, 12), 0);
    assert_int_equal(at(&r, 9, 10), 255);
    assert_int_equal(at(&r, 15, 12), 255);
    near("whole pixels", ink(&r), 15, 1e-9);
    pxi_raster_rect(&r, 20.25, 20.5, 2.5, 1, BLACK);
    near("parts of pixels", ink(&r), 17.5, 0.02);
    near("a corner", at(&r, 20, 20), 255 * (1 - 0.75 * 0.5), 1);
    pxi_raster_rect(&r, 30, 30, 1, 1, (pxi_colour){0, 0, 0, 128});
    near("half transparent", at(&r, 30, 30), 127, 1);
    pxi_raster_done(&r);
}

static void test_lines_cover_their_area(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        double x0, y0, x1, y1, stroke, want, slack;
    } cases[] = {
        {"dot", 20, 20, 20, 20, 16, M_PI * 64, 2},
        {"thick line", 10, 20, 30, 20, 6, 20 * 6 + M_PI * 9, 2},
        {"slanted line", 10, 15, 30, 25, 2, 44.721 + M_PI, 2},
        {"hair", 10, 20.5, 30, 20.5, 0.5, 0.5 * 20, 1},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        pxi_raster r = white();
        pxi_raster_segment(&r, cases[i].x0, cases[i].y0, cases[i].x1, cases[i].y1, cases[i].stroke);
        pxi_raster_ink(&r, BLACK);
        near(cases[i].name, ink(&r), cases[i].want, cases[i].slack);
        pxi_raster_done(&r);
    }
}

/* Crossing pieces of one line do not darken each other; the mask is empty afterwards. */
static void test_ink_is_not_doubled(void **state)
{
    (void)state;
    pxi_raster r = white();
    pxi_raster_segment(&r, 5, 20.5, 35, 20.5, 1);
    pxi_raster_segment(&r, 20.5, 5, 20.5, 35, 1);
    pxi_raster_ink(&r, (pxi_colour){0, 0, 0, 100});
    assert_int_equal(at(&r, 20, 20), at(&r, 10, 20));
    assert_int_equal(at(&r, 10, 20), 155);
    pxi_raster_ink(&r, BLACK);
    assert_int_equal(at(&r, 20, 20), 155);
    for (int i = 0; i < 2; i++) /* half a pixel, twice */
        pxi_raster_segment(&r, 5, 10, 15, 10, 1);
    pxi_raster_ink(&r, BLACK);
    near("half a pixel", at(&r, 10, 10), 127, 1);
    pxi_raster_done(&r);
}

static void test_outside_is_cut_off(void **state)
{
    (void)state;
    static const double far[] = {-1e7, -50, -1, 0, 20, SIDE, SIDE + 1, 1e7};
    enum { FAR = sizeof far / sizeof far[0] };
    pxi_raster r = white();
    for (int i = 0; i < FAR * FAR; i++) {
        const double x = far[i / FAR], y = far[i % FAR];
        pxi_raster_segment(&r, x, y, y, x, 3);
        pxi_raster_rect(&r, x, y, 7, 7, BLACK);
        pxi_raster_image(&r, x, y, 9, 9, 1, 1, (const uint8_t[]){1, 2, 3});
    }
    pxi_raster_ink(&r, BLACK);
    pxi_raster_done(&r);
}

static void test_image_is_not_smoothed(void **state)
{
    (void)state;
    static const uint8_t two[] = {10, 10, 10, 200, 200, 200};
    pxi_raster r = white();
    pxi_raster_image(&r, 4, 4, 6, 3, 2, 1, two);
    for (int x = 0; x < 12; x++)
        assert_int_equal(at(&r, x, 5), x < 4 || x >= 10 ? 255 : x < 7 ? 10 : 200);
    assert_int_equal(at(&r, 5, 3), 255);
    assert_int_equal(at(&r, 5, 7), 255);
    pxi_raster_done(&r);
}

typedef struct extent {
    double left, right, top, bottom;
    int strokes;
} extent;

static void extent_add(void *user, double x0, double y0, double x1, double y1)
{
    extent *e = user;
    e->left = fmin(e->left, fmin(x0, x1));
    e->right = fmax(e->right, fmax(x0, x1));
    e->top = fmin(e->top, fmin(y0, y1));
    e->bottom = fmax(e->bottom, fmax(y0, y1));
    e->strokes++;
}

/* Every character has a shape of its own within its advance; unknown ones a box. */
static void test_font(void **state)
{
    (void)state;
    for (int c = '!'; c <= '~'; c++) {
        const char text[] = {(char)c, '\0'};
        extent e = {1e9, -1e9, 1e9, -1e9, 0};
        pxi_font_draw(text, 48, extent_add, &e);
        const double advance = pxi_font_width(text, 48);
        if (e.strokes == 0 || e.left < 0 || e.right > advance || e.top < -40 || e.bottom > 10)
            fail_msg("'%c': %d strokes, %g..%g of %g, %g..%g", c, e.strokes, e.left, e.right,
                     advance, e.top, e.bottom);
    }
    assert_true(pxi_font_width("abc", 12) == pxi_font_width("a", 12) + pxi_font_width("bc", 12));
    static const char *const known[] = {"\xc3\xa9", "\xc3\x96",     "\xc3\xa7",
                                        "\xc2\xb5", "\xe2\x89\xa4", "\xe2\x80\xa6",
                                        "\xce\xb5", "\xc3\xaf",     "\xc5\x93"};
    extent box = {1e9, -1e9, 1e9, -1e9, 0};
    pxi_font_draw("\xe6\x97\xa5", 48, extent_add, &box);
    assert_int_equal(box.strokes, 4);
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
        extent e = {1e9, -1e9, 1e9, -1e9, 0};
        pxi_font_draw(known[i], 48, extent_add, &e);
        if (e.strokes == 0 ||
            (e.strokes == 4 && e.left == box.left && e.right == box.right && e.top == box.top))
            fail_msg("'%s' has no shape", known[i]);
    }
    extent plain = {1e9, -1e9, 1e9, -1e9, 0}, accent = plain;
    pxi_font_draw("e", 48, extent_add, &plain);
    pxi_font_draw("\xc3\xa9", 48, extent_add, &accent);
    assert_true(accent.top < plain.top && accent.bottom == plain.bottom);
}

static void test_fit_cuts_between_characters(void **state)
{
    (void)state;
    const char *text = "a\xc3\xa9\xe2\x89\xa4z";
    const double size = 48;
    assert_int_equal(pxi_font_fit(text, size, 1e9), strlen(text));
    assert_int_equal(pxi_font_fit(text, size, pxi_font_width("ae", size)), 3);
    assert_int_equal(pxi_font_fit(text, size, pxi_font_width("ae", size) + 1), 3);
    assert_int_equal(pxi_font_fit(text, size, pxi_font_width("ae", size) - 1), 1);
    assert_int_equal(pxi_font_fit(text, size, -5), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rect_covers_its_area),
        cmocka_unit_test(test_lines_cover_their_area),
        cmocka_unit_test(test_ink_is_not_doubled),
        cmocka_unit_test(test_outside_is_cut_off),
        cmocka_unit_test(test_image_is_not_smoothed),
        cmocka_unit_test(test_font),
        cmocka_unit_test(test_fit_cuts_between_characters),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
