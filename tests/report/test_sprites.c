/* tests/report/test_sprites.c - thumbnails: sizes, places, equal ones */
/* SPDX-License-Identifier: Apache-2.0 */
#include "base/base64.h"
#include "cmocka_all.h"
#include <internal/image.h>

#include <internal/report.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static px_error err;

static px_sprites *sprites_of(int width, int height)
{
    px_sprites *sprites = NULL;
    if (px_sprites_new(width, height, &sprites, &err) != PX_OK)
        fail_msg("%s", err.message);
    return sprites;
}

static int add(px_sprites *sprites, px_pixels picture)
{
    int tile = -1;
    if (px_sprites_add(sprites, &picture, &tile, &err) != PX_OK)
        fail_msg("%s", err.message);
    return tile;
}

static int digit(char c)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    const char *at = c ? strchr(digits, c) : NULL;
    return at ? (int)(at - digits) : -1;
}

/* The sheet's picture, read again; *columns as its object says. */
static pxi_image sheet_of(const px_sprites *sprites, int *columns)
{
    px_json json = {0};
    px_json_object(&json, NULL);
    if (px_sprites_json(sprites, &json, &err) != PX_OK)
        fail_msg("%s", err.message);
    px_json_end(&json);
    const char *text = px_json_text(&json);
    const char prefix[] = "{\"png\":\"data:image/png;base64,";
    const char *at = text;
    for (size_t i = 0; i < strlen(prefix); at++) { /* whatever the spaces */
        if (*at == prefix[i])
            i++;
        else if (*at != ' ' && *at != '\n')
            fail_msg("'%.60s'", text);
    }
    uint8_t *bytes = calloc(strlen(at), 1);
    assert_non_null(bytes);
    size_t size = 0, bits = 0;
    unsigned held = 0;
    for (; digit(*at) >= 0; at++) {
        held = (held << 6 | (unsigned)digit(*at)) & 0xffff;
        bits += 6;
        if (bits >= 8) {
            bits -= 8;
            bytes[size++] = (uint8_t)(held >> bits);
        }
    }
    pxi_image image = {0};
    if (pxi_png_decode(bytes, size, "sheet", &image, &err) != PX_OK)
        fail_msg("%s", err.message);
    const char *key = strstr(at, "\"columns\":");
    assert_non_null(key);
    *columns = atoi(key + strlen("\"columns\":"));
    free(bytes);
    px_json_done(&json);
    return image;
}

static const uint8_t GREY[] = {10, 60, 120, 250};
static const uint8_t RED[] = {255, 0, 0, 0, 255, 0, 0, 0, 255, 9, 8, 7}; /* 2 x 2 */

static void test_places(void **state)
{
    (void)state;
    px_sprites *sprites = sprites_of(2, 2);
    uint8_t other[4] = {0};
    for (int i = 0; i < 200; i++) { /* the table of equal ones grows meanwhile */
        other[0] = (uint8_t)i;
        assert_int_equal(add(sprites, (px_pixels){2, 2, 1, other}), i);
    }
    assert_int_equal(add(sprites, (px_pixels){2, 2, 1, GREY}), 200);
    other[0] = 7;
    assert_int_equal(add(sprites, (px_pixels){2, 2, 1, other}), 7);
    assert_int_equal(px_sprites_count(sprites), 201);
    int columns = 0;
    pxi_image image = sheet_of(sprites, &columns);
    assert_int_equal(image.channels, 1);
    assert_int_equal(image.width, 2 * columns);
    assert_int_equal(image.height, 2 * ((201 + columns - 1) / columns));
    for (int i = 0; i < 201; i++)
        for (int p = 0; p < 4; p++) {
            const int x = 2 * (i % columns) + p % 2, y = 2 * (i / columns) + p / 2;
            const int want = i == 200 ? GREY[p] : p == 0 ? i : 0;
            assert_int_equal(image.data[y * image.width + x], want);
        }
    pxi_image_done(&image);

    assert_int_equal(add(sprites, (px_pixels){2, 2, 3, RED}), 201); /* from here in colour */
    image = sheet_of(sprites, &columns);
    assert_int_equal(image.channels, 3);
    const size_t at = (size_t)(2 * (201 / columns) * image.width + 2 * (201 % columns));
    assert_memory_equal(image.data + 3 * at, RED, 6);
    pxi_image_done(&image);
    px_sprites_free(sprites);
}

/* Pictures of other sizes: worked by hand. */
static void test_fits(void **state)
{
    (void)state;
    static const uint8_t wide[] = {0, 100, 200, 40, 10, 20, 30, 40}; /* 4 x 2 into 2 x 2: 2 x 1 */
    static const uint8_t tall[] = {0, 0, 90, 90, 0, 0};              /* 2 x 3 into 2 x 2: 1 x 2 */
    static const struct {
        const char *name;
        int side;
        px_pixels picture;
        uint8_t want[16];
    } cases[] = {
        {"as it is", 2, {2, 2, 1, GREY}, {10, 60, 120, 250}},
        {"twice as large",
         4,
         {2, 2, 1, GREY},
         {10, 10, 60, 60, 10, 10, 60, 60, 120, 120, 250, 250, 120, 120, 250, 250}},
        {"in the middle", 3, {2, 2, 1, GREY}, {10, 60, 128, 120, 250, 128, 128, 128, 128}},
        {"one pixel", 2, {2, 2, 1, GREY}, {10, 60, 120, 250}},
        {"half as wide", 2, {4, 2, 1, wide}, {33, 78, 128, 128}},
        {"higher than wide", 2, {2, 3, 1, tall}, {30, 128, 30, 128}},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        int columns = 0;
        px_sprites *sprites = sprites_of(cases[i].side, cases[i].side);
        add(sprites, cases[i].picture);
        pxi_image image = sheet_of(sprites, &columns);
        for (int p = 0; p < cases[i].side * cases[i].side; p++)
            if (image.data[p] != cases[i].want[p])
                fail_msg("case '%s', pixel %d: %d", cases[i].name, p, image.data[p]);
        pxi_image_done(&image);
        px_sprites_free(sprites);
    }
}

static void test_refuses(void **state)
{
    (void)state;
    px_sprites *sprites = NULL;
    int tile = 5;
    assert_int_equal(px_sprites_new(0, 4, &sprites, &err), PX_E_USAGE);
    assert_int_equal(px_sprites_new(4, 5000, &sprites, &err), PX_E_USAGE);
    assert_null(sprites);
    sprites = sprites_of(4, 4);
    assert_int_equal(px_sprites_add(sprites, &(px_pixels){2, 2, 2, GREY}, &tile, &err), PX_E_USAGE);
    assert_int_equal(px_sprites_add(sprites, &(px_pixels){0, 2, 1, GREY}, &tile, &err), PX_E_USAGE);
    assert_int_equal(px_sprites_add(sprites, &(px_pixels){5000, 1, 1, GREY}, &tile, &err),
                     PX_E_USAGE);
    assert_int_equal(tile, 5);
    assert_int_equal(px_sprites_count(sprites), 0);
    int columns = 0;
    pxi_image image = sheet_of(sprites, &columns); /* empty, and a picture all the same */
    assert_int_equal(image.width, 4);
    pxi_image_done(&image);
    px_sprites_free(sprites);
    px_sprites_free(NULL);
}

static void test_too_many(void **state)
{
    (void)state;
    px_sprites *sprites = sprites_of(1024, 1024); /* 64 of these are all */
    px_status status = PX_OK;
    int i = 0, tile = 0;
    for (; status == PX_OK && i < 100; i++)
        status =
            px_sprites_add(sprites, &(px_pixels){1, 1, 1, &(uint8_t){(uint8_t)i}}, &tile, &err);
    assert_int_equal(status, PX_E_USAGE);
    assert_int_equal(px_sprites_count(sprites), 64);
    px_sprites_free(sprites);
}

/* The example of the definition: x = (.5, .2, .9), x' = (.52, .15, .9). */
static void test_base64(void **state)
{
    (void)state;
    static const char *const cases[][2] = {
        {"", ""},
        {"f", "Zg=="},
        {"fo", "Zm8="},
        {"foo", "Zm9v"},
        {"foob", "Zm9vYg=="},
        {"fooba", "Zm9vYmE="},
        {"foobar", "Zm9vYmFy"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        px_text text = {0};
        pxi_base64_add(&text, (const uint8_t *)cases[i][0], strlen(cases[i][0]));
        assert_string_equal(px_text_get(&text), cases[i][1]);
        px_text_done(&text);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_places),  cmocka_unit_test(test_fits),
        cmocka_unit_test(test_refuses), cmocka_unit_test(test_too_many),
        cmocka_unit_test(test_base64),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
