/* tests/data/test_image.c - pictures against PIL's, see make_golden.py; and damaged ones */
/* SPDX-License-Identifier: Apache-2.0 */
#include "base/file.h"
#include "data/data_helpers.h"
#include <internal/image.h>
#include <internal/picture.h>
#include <plexor/data.h>

static const char *const files[] = {
    "rgb.png", "grey.png", "rgba.png", "la.png",   "palette.png",     "bit.png",  "deep.png",
    "420.jpg", "422.jpg",  "444.jpg",  "grey.jpg", "progressive.jpg", "cmyk.jpg",
};
static const int sizes[][2] = {{5, 7}, {40, 31}, {13, 6}, {29, 19}};
#define COUNT(array) (sizeof(array) / sizeof(array)[0])

static px_npz *expected;

static int load_expected(void **state)
{
    (void)state;
    px_error err = {0};
    if (px_npz_open(GOLDEN "/expected.npz", &expected, &err) == PX_OK)
        return 0;
    print_error("%s\n", err.message);
    return -1;
}

static int drop_expected(void **state)
{
    (void)state;
    px_npz_close(expected);
    return 0;
}

static pxi_image decode(const char *name)
{
    char path[512], *bytes = NULL;
    size_t size = 0;
    px_error err = {0};
    pxi_image image = {0};
    snprintf(path, sizeof path, GOLDEN "/%s", name);
    if (pxi_file_read(path, 1 << 20, &bytes, &size, &err) != PX_OK ||
        pxi_image_decode((const uint8_t *)bytes, size, name, &image, &err) != PX_OK)
        fail_msg("%s", err.message);
    free(bytes);
    return image;
}

static void compare(const pxi_image *image, const char *name)
{
    const px_tensor *want = px_npz_get(expected, name);
    if (!want)
        fail_msg("'%s' is not in expected.npz", name);
    const int64_t channels = want->shape.rank == 3 ? want->shape.dim[2] : 1;
    if (image->height != want->shape.dim[0] || image->width != want->shape.dim[1] ||
        image->channels != channels)
        fail_msg("'%s': is %d x %d x %d", name, image->height, image->width, image->channels);
    for (size_t i = 0; i < px_tensor_bytes(want); i++)
        if (image->data[i] != ((const uint8_t *)want->data)[i])
            fail_msg("'%s': byte %zu is %d, PIL has %d", name, i, image->data[i],
                     ((const uint8_t *)want->data)[i]);
}

static void test_decodes_as_pil(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(files); i++) {
        pxi_image image = decode(files[i]);
        compare(&image, files[i]);
        pxi_image_done(&image);
    }
}

static void test_grey_as_pil(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(files); i++) {
        char name[64];
        pxi_image image = decode(files[i]);
        assert_int_equal(pxi_image_set_channels(&image, 1, NULL), PX_OK);
        snprintf(name, sizeof name, "%s@grey", files[i]);
        compare(&image, name);
        pxi_image_done(&image);
    }
}

static void test_resizes_as_pil(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(files); i++)
        for (size_t k = 0; k < COUNT(sizes); k++) {
            char name[64];
            pxi_image image = decode(files[i]);
            assert_int_equal(pxi_image_resize(&image, sizes[k][1], sizes[k][0], NULL), PX_OK);
            snprintf(name, sizeof name, "%s@%dx%d", files[i], sizes[k][0], sizes[k][1]);
            compare(&image, name);
            pxi_image_done(&image);
        }
}

static void test_planes(void **state)
{
    (void)state;
    pxi_image image = decode("rgb.png"), back = {0};
    float planes[3 * 13 * 19];
    pxi_image_to_planes(&image, planes);
    assert_true(planes[13 * 19] == (float)image.data[1]);
    assert_int_equal(pxi_image_init(&back, 19, 13, 3, NULL), PX_OK);
    pxi_image_from_planes(&back, planes);
    assert_memory_equal(back.data, image.data, sizeof planes / sizeof planes[0]);
    pxi_image_done(&image);
    pxi_image_done(&back);
}

/* Every prefix is refused, every flipped bit is survived. */
static void test_damage(void **state)
{
    (void)state;
    static const char *const some[] = {"rgb.png", "palette.png", "420.jpg", "progressive.jpg"};
    for (size_t f = 0; f < COUNT(some); f++) {
        char path[512], *bytes = NULL;
        size_t size = 0;
        px_error err = {0};
        pxi_image image = {0};
        snprintf(path, sizeof path, GOLDEN "/%s", some[f]);
        assert_int_equal(pxi_file_read(path, 1 << 20, &bytes, &size, &err), PX_OK);
        uint8_t *data = (uint8_t *)bytes;
        const size_t last = strstr(some[f], ".jpg") ? size - 2 : size - 12; /* EOI and IEND */
        for (size_t cut = 0; cut < last; cut++) {
            err = (px_error){0};
            if (pxi_image_decode(data, cut, "cut", &image, &err) == PX_OK)
                fail_msg("'%s' cut to %zu of %zu bytes was read", some[f], cut, size);
            assert_non_null(strstr(err.message, "'cut'"));
            assert_null(image.data);
        }
        for (size_t bit = 0; bit < size * 8; bit += 3) {
            data[bit / 8] ^= (uint8_t)(1 << bit % 8);
            if (pxi_image_decode(data, size, "flip", &image, &err) == PX_OK)
                pxi_image_done(&image);
            data[bit / 8] ^= (uint8_t)(1 << bit % 8);
        }
        free(bytes);
    }
}

/* A few bytes that claim many pixels must not get the memory for them. */
static void test_bombs(void **state)
{
    (void)state;
    static const char *const some[] = {"rgb.png", "420.jpg"};
    for (size_t f = 0; f < COUNT(some); f++) {
        char path[512], *bytes = NULL;
        size_t size = 0;
        px_error err = {0};
        pxi_image image = {0};
        snprintf(path, sizeof path, GOLDEN "/%s", some[f]);
        assert_int_equal(pxi_file_read(path, 1 << 20, &bytes, &size, &err), PX_OK);
        uint8_t *data = (uint8_t *)bytes;
        if (f == 0) { /* IHDR: width and height; its checksum is checked first */
            static const uint8_t crc[] = {0xce, 0x1c, 0x48, 0x89};
            memcpy(data + 16, "\0\0\x3e\x80\0\0\x3e\x80", 8);
            memcpy(data + 29, crc, sizeof crc);
        } else { /* SOF0: height and width */
            for (size_t i = 0; i + 9 < size; i++)
                if (data[i] == 0xff && data[i + 1] == 0xc0)
                    memcpy(data + i + 5, "\x3e\x80\x3e\x80", 4);
        }
        assert_int_equal(pxi_image_decode(data, size, "bomb", &image, &err), PX_E_INPUT);
        if (!strstr(err.message, "cannot be in"))
            fail_msg("%s: %s", some[f], err.message);
        free(bytes);
    }
}

static void test_written_png_reads_back(void **state)
{
    (void)state;
    for (size_t i = 0; i < 2; i++) {
        pxi_image image = decode(files[i]), back = {0};
        uint8_t *bytes = NULL;
        size_t size = 0;
        px_error err = {0};
        assert_int_equal(px_png_encode(image.width, image.height, image.channels, image.data,
                                       &bytes, &size, &err),
                         PX_OK);
        assert_int_equal(pxi_image_decode(bytes, size, "ours", &back, &err), PX_OK);
        compare(&back, files[i]);
        free(bytes);
        pxi_image_done(&image);
        pxi_image_done(&back);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_decodes_as_pil),
        cmocka_unit_test(test_grey_as_pil),
        cmocka_unit_test(test_resizes_as_pil),
        cmocka_unit_test(test_planes),
        cmocka_unit_test(test_damage),
        cmocka_unit_test(test_bombs),
        cmocka_unit_test(test_written_png_reads_back),
    };
    return cmocka_run_group_tests(tests, load_expected, drop_expected);
}
