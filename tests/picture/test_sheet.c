/* tests/picture/test_sheet.c - contact sheets */
/* SPDX-License-Identifier: Apache-2.0 */
#include "picture_helpers.h"

static px_error err;

static px_sheet *sheet_of(const px_sheet_options *options)
{
    px_sheet *sheet = NULL;
    if (px_sheet_new(options, &sheet, &err) != PX_OK)
        fail_msg("%s", err.message);
    return sheet;
}

static void add(px_sheet *sheet, px_sheet_item item)
{
    if (px_sheet_add(sheet, &item, &err) != PX_OK)
        fail_msg("%s", err.message);
}

static pxi_image sheet_pixels(const px_sheet *sheet)
{
    uint8_t *bytes[2] = {NULL, NULL};
    size_t size[2] = {0, 0};
    for (int i = 0; i < 2; i++)
        if (px_sheet_png(sheet, &bytes[i], &size[i], &err) != PX_OK)
            fail_msg("%s", err.message);
    assert_int_equal(size[0], size[1]);
    assert_memory_equal(bytes[0], bytes[1], size[0]);
    const pxi_image image = decoded(bytes[0], size[0]);
    free(bytes[0]);
    free(bytes[1]);
    return image;
}

static const uint8_t GREY[] = {10, 60, 120, 250};                            /* 2 x 2 */
static const uint8_t COLOURS[] = {255, 0, 0, 0, 255, 0, 0, 0, 255, 9, 8, 7}; /* 4 x 1 */
enum { MARGIN = 14, GAP = 12 };

/* Two columns, pixels ten times as large: every pixel is a square at a known place. */
static void test_places(void **state)
{
    (void)state;
    px_sheet *sheet = sheet_of(&(px_sheet_options){.columns = 2, .enlarge = 10});
    add(sheet, (px_sheet_item){.picture = {2, 2, 1, GREY}});
    add(sheet, (px_sheet_item){.picture = {4, 1, 3, COLOURS}});
    add(sheet, (px_sheet_item){.picture = {2, 2, 1, GREY}, .marked = true});
    pxi_image image = sheet_pixels(sheet);
    assert_int_equal(image.width, 2 * MARGIN + GAP + 2 * 40);
    assert_int_equal(image.height, 2 * MARGIN + GAP + 2 * 20);
    for (int row = 0; row < 2; row++)
        for (int p = 0; p < 4;
             p++) { /* a cell is 40 x 20, the grey picture 20 x 20 in its middle */
            const int x = MARGIN + 10 + 10 * (p % 2), y = MARGIN + row * (20 + GAP) + 10 * (p / 2);
            const uint32_t want = GREY[p] * 0x10101u;
            assert_int_equal(pixel(&image, x, y), want);
            assert_int_equal(pixel(&image, x + 9, y + 9), want);
        }
    for (int p = 0; p < 4; p++) {
        const uint8_t *c = COLOURS + 3 * p;
        assert_int_equal(pixel(&image, MARGIN + 40 + GAP + 10 * p + 5, MARGIN + 5 + 5),
                         (uint32_t)c[0] << 16 | (uint32_t)c[1] << 8 | c[2]);
    }
    assert_int_equal(pixel(&image, MARGIN + 10 - 1, MARGIN + 10), 0xc8c8c8);
    assert_int_equal(pixel(&image, MARGIN + 10 - 3, MARGIN + 20 + GAP + 10), ORANGE);
    assert_int_equal(pixel(&image, MARGIN + 40 + GAP + 20, MARGIN + 20 + GAP + 10), WHITE);
    pxi_image_done(&image);
    px_sheet_free(sheet);
}

static void test_captions_and_title(void **state)
{
    (void)state;
    px_sheet *sheet = sheet_of(&(px_sheet_options){.title = "Sheet", .enlarge = 20});
    add(sheet, (px_sheet_item){.picture = {2, 2, 1, GREY}, .caption = "one\ntwo\nthree\nfour"});
    pxi_image image = sheet_pixels(sheet);
    assert_int_equal(image.height, 2 * MARGIN + 28 + 40 + 5 + 3 * 15);
    int dark[3] = {0, 0, 0}; /* in each line of the caption, and above the picture */
    for (int k = 0; k < 3; k++)
        for (int y = 0; y < 15; y++)
            for (int x = 0; x < image.width; x++)
                dark[k] += pixel(&image, x, MARGIN + 28 + 40 + 6 + 15 * k + y) == INK;
    for (int k = 0; k < 3; k++)
        assert_true(dark[k] > 10);
    pxi_image_done(&image);
    px_sheet_free(sheet);
}

static void test_overlays(void **state)
{
    (void)state;
    static const uint8_t before[] = {100, 100, 100}, after[] = {100, 150, 50}, mask[] = {0, 255, 0};
    px_sheet *sheet = sheet_of(&(px_sheet_options){.columns = 1, .enlarge = 4});
    add(sheet, (px_sheet_item){.picture = {3, 1, 1, before},
                               .other = {3, 1, 1, after},
                               .overlay = PX_SHEET_DIFFERENCE});
    add(sheet, (px_sheet_item){.picture = {3, 1, 1, before},
                               .other = {3, 1, 1, mask},
                               .overlay = PX_SHEET_MASK});
    add(sheet, (px_sheet_item){.picture = {3, 1, 1, before}, /* no difference at all */
                               .other = {3, 1, 1, before},
                               .overlay = PX_SHEET_DIFFERENCE});
    pxi_image image = sheet_pixels(sheet);
    const int x = MARGIN + 2, y = MARGIN + 2, step = 4 + GAP;
    assert_int_equal(pixel(&image, x, y), WHITE);
    assert_int_equal(pixel(&image, x + 4, y), 0x67001f); /* more: red */
    assert_int_equal(pixel(&image, x + 8, y), 0x053061); /* less: blue */
    assert_int_equal(pixel(&image, x, y + step), 0x646464);
    assert_int_equal(pixel(&image, x + 4, y + step), 0xad6023); /* 35% of 100, 65% of the orange */
    assert_int_equal(pixel(&image, x + 8, y + step), 0x646464);
    for (int i = 0; i < 3; i++)
        assert_int_equal(pixel(&image, x + 4 * i, y + 2 * step), WHITE);
    pxi_image_done(&image);
    px_sheet_free(sheet);
}

static void test_refuses(void **state)
{
    (void)state;
    px_sheet *sheet = NULL;
    assert_int_equal(px_sheet_new(&(px_sheet_options){.columns = -1}, &sheet, &err), PX_E_USAGE);
    assert_int_equal(px_sheet_new(&(px_sheet_options){.enlarge = 65}, &sheet, &err), PX_E_USAGE);
    assert_null(sheet);
    static const struct {
        const char *name;
        px_sheet_item item;
    } cases[] = {
        {"no pixels", {.picture = {2, 2, 1, NULL}}},
        {"no width", {.picture = {0, 2, 1, GREY}}},
        {"negative", {.picture = {2, -2, 1, GREY}}},
        {"huge", {.picture = {1, PX_SHEET_SIDE_MOST + 1, 1, GREY}}},
        {"two channels", {.picture = {1, 1, 2, GREY}}},
        {"no overlay", {.picture = {2, 2, 1, GREY}, .overlay = PX_SHEET_MASK}},
        {"overlay of another size",
         {.picture = {2, 2, 1, GREY}, .overlay = PX_SHEET_DIFFERENCE, .other = {1, 2, 1, GREY}}},
    };
    sheet = sheet_of(NULL);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        if (px_sheet_add(sheet, &cases[i].item, &err) != PX_E_USAGE)
            fail_msg("case '%s' is taken", cases[i].name);
    pxi_image image = sheet_pixels(sheet); /* still empty, and a picture */
    assert_true(image.width < 300);
    pxi_image_done(&image);
    assert_int_equal(px_sheet_save(sheet, "sheet.jpg", &err), PX_E_USAGE);
    px_sheet_free(sheet);

    sheet = sheet_of(&(px_sheet_options){.enlarge = 64, .columns = 1});
    static uint8_t large[200 * 200];
    for (int i = 0; i < 10; i++)
        add(sheet, (px_sheet_item){.picture = {200, 200, 1, large}});
    uint8_t *bytes = NULL;
    size_t size = 0;
    assert_int_equal(px_sheet_png(sheet, &bytes, &size, &err), PX_E_USAGE);
    assert_non_null(strstr(err.message, "too large"));
    px_sheet_free(sheet);
    px_sheet_free(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_places),
        cmocka_unit_test(test_captions_and_title),
        cmocka_unit_test(test_overlays),
        cmocka_unit_test(test_refuses),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
