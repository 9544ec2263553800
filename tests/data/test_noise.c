/* tests/data/test_noise.c - inputs without meaning */
/* SPDX-License-Identifier: Apache-2.0 */
#include "base/memory.h"
#include "cmocka_all.h"

#include <plexor/data.h>
#include <string.h>

static px_dataset *noise_open(const char *spec, int64_t limit)
{
    px_data_options options = px_data_options_default();
    px_dataset *set = NULL;
    px_error err = {0};
    options.limit = limit;
    if (px_dataset_open(spec, &options, &set, &err) != PX_OK)
        fail_msg("%s", err.message);
    return set;
}

/* Whole values over all of 0..255, in equal shares. */
static void test_values(void **state)
{
    (void)state;
    enum { COUNT = 200, SIZE = 3 * 32 * 32 };
    px_dataset *set = noise_open("noise:3x32x32", COUNT);
    const px_shape shape = px_dataset_shape(set);
    int64_t histogram[256] = {0};
    float pixels[SIZE];
    assert_int_equal(px_dataset_count(set), COUNT);
    assert_int_equal(px_shape_count(&shape), SIZE);
    assert_true(px_dataset_is_8bit(set));
    assert_false(px_dataset_has_labels(set));
    for (int i = 0; i < COUNT; i++) {
        assert_int_equal(px_dataset_pixels(set, i, pixels, NULL), PX_OK);
        for (int p = 0; p < SIZE; p++) {
            assert_true(pixels[p] >= 0.0f && pixels[p] <= 255.0f &&
                        pixels[p] == (float)(int)pixels[p]);
            histogram[(int)pixels[p]]++;
        }
    }
    for (int v = 0; v < 256; v++) /* 2400 expected, six standard deviations */
        assert_in_range(histogram[v], 2400 - 294, 2400 + 294);
    px_dataset_close(set);
}

static void test_seeds(void **state)
{
    (void)state;
    static const char *const specs[] = {"noise:1x8x9", "noise:1x8x9:0", "noise:1x8x9:7"};
    float pixels[3][2][72];
    for (size_t i = 0; i < PX_LEN(specs); i++) {
        px_dataset *set = noise_open(specs[i], 2);
        for (int k = 0; k < 2; k++)
            assert_int_equal(px_dataset_pixels(set, k, pixels[i][k], NULL), PX_OK);
        px_dataset_close(set);
    }
    assert_memory_equal(pixels[0], pixels[1], sizeof pixels[0]);
    assert_memory_not_equal(pixels[0], pixels[2], sizeof pixels[0]);
    assert_memory_not_equal(pixels[0][0], pixels[0][1], sizeof pixels[0][0]);
}

static void test_wrong(void **state)
{
    (void)state;
    static const char *const specs[] = {
        "noise",          "noise:",         "noise:3x32",      "noise:3x32x32x4",
        "noise:0x8x8",    "noise:-1x8x8",   "noise:1x8x8:",    "noise:1x8x8:x",
        "noise:1x8x8:-1", "noise:1x8x8:1x", "noise:99999x8x8", "noise:1x8x8 ",
    };
    for (size_t i = 0; i < PX_LEN(specs); i++) {
        px_dataset *set = NULL;
        px_error err = {0};
        const px_data_options options = px_data_options_default();
        if (px_dataset_open(specs[i], &options, &set, &err) != PX_E_USAGE ||
            !strstr(err.message, "noise:CxHxW"))
            fail_msg("'%s': '%s'", specs[i], err.message);
    }
    px_data_options options = px_data_options_default();
    px_dataset *set = NULL;
    options.split = "train";
    assert_int_equal(px_dataset_open("noise:1x8x8", &options, &set, NULL), PX_E_USAGE);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_values),
        cmocka_unit_test(test_seeds),
        cmocka_unit_test(test_wrong),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
