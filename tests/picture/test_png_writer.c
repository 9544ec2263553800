/* tests/picture/test_png_writer.c */
/* SPDX-License-Identifier: Apache-2.0 */
#include "cmocka_all.h"
#include <internal/picture.h>

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void test_same_bytes_and_header(void **state)
{
    (void)state;
    static const uint8_t pixels[2 * 3 * 3] = {255, 0, 0, 0, 255, 0, 0, 0, 255, 9, 9, 9};
    for (int channels = 1; channels <= 3; channels += 2) {
        uint8_t *a = NULL, *b = NULL;
        size_t a_size = 0, b_size = 0;
        px_error err = {0};
        assert_int_equal(px_png_encode(3, 2, channels, pixels, &a, &a_size, &err), PX_OK);
        assert_int_equal(px_png_encode(3, 2, channels, pixels, &b, &b_size, &err), PX_OK);
        assert_int_equal(a_size, b_size);
        assert_memory_equal(a, b, a_size);
        assert_memory_equal(a, "\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\0\3\0\0\0\2\x8", 25);
        assert_int_equal(a[25], channels == 1 ? 0 : 2); /* colour type */
        free(a);
        free(b);
    }
}

static void test_refuses(void **state)
{
    (void)state;
    static const int bad[][3] = {{0, 1, 1}, {1, -1, 1}, {1, 1, 2}, {1, 1, 4}};
    const uint8_t pixel[4] = {0};
    uint8_t *bytes = NULL;
    size_t size = 0;
    px_error err = {0};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        assert_int_equal(px_png_encode(bad[i][0], bad[i][1], bad[i][2], pixel, &bytes, &size, &err),
                         PX_E_USAGE);
    assert_int_not_equal(px_png_save("/no/such/folder/x.png", 1, 1, 1, pixel, &err), PX_OK);
    assert_non_null(strstr(err.message, "/no/such/folder/x.png"));
    assert_int_equal(px_png_save("/dev/null", 1, 1, 1, pixel, &err), PX_OK);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_same_bytes_and_header),
        cmocka_unit_test(test_refuses),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
