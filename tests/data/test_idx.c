/* tests/data/test_idx.c - IDX files: names, splits, labels, damage, the real ones */
/* SPDX-License-Identifier: Apache-2.0 */
#include "data/data_helpers.h"
#include <internal/data.h>
#include <internal/source.h>

#include <zlib.h>

#define COUNT(array) (sizeof(array) / sizeof(array)[0])

/* Three pictures of 2 x 2; pixel k of picture i is 10 i + k. */
static const uint8_t images[] = {0, 0, 8, 3, 0, 0, 0,  3,  0,  0,  0,  2,  0,  0,
                                 0, 2, 0, 1, 2, 3, 10, 11, 12, 13, 20, 21, 22, 23};
static const uint8_t labels[] = {0, 0, 8, 1, 0, 0, 0, 3, 7, 0, 2};

static void write_gz(const char *path, const void *bytes, unsigned size)
{
    gzFile file = gzopen(path, "wb");
    assert_int_equal(gzwrite(file, bytes, size), (int)size);
    assert_int_equal(gzclose(file), Z_OK);
}

static void write_set(const char *folder)
{
    char path[256];
    assert_int_equal(mkdir(folder, 0777), 0);
    snprintf(path, sizeof path, "%s/train-images-idx3-ubyte", folder);
    write_file(path, images, sizeof images);
    snprintf(path, sizeof path, "%s/train-labels-idx1-ubyte", folder);
    write_file(path, labels, sizeof labels);
    snprintf(path, sizeof path, "%s/t10k-images-idx3-ubyte.gz", folder);
    write_gz(path, images, sizeof images);
    snprintf(path, sizeof path, "%s/t10k-labels-idx1-ubyte", folder); /* one packed, one not */
    write_file(path, labels, sizeof labels);
}

static void test_splits_and_pixels(void **state)
{
    (void)state;
    static const char *const splits[] = {NULL, "test", "t10k", "train", "training"};
    write_set("plain");
    for (size_t i = 0; i < COUNT(splits); i++) {
        px_dataset *set = NULL;
        px_error err = {0};
        float pixels[4];
        const px_data_options options = {.split = splits[i]};
        if (px_dataset_open("plain", &options, &set, &err) != PX_OK)
            fail_msg("split %zu: %s", i, err.message);
        assert_int_equal(px_dataset_count(set), 3);
        assert_int_equal(px_dataset_class_count(set), 8);
        assert_int_equal(px_dataset_label(set, 0), 7);
        assert_int_equal(px_dataset_shape(set).rank, 3);
        assert_int_equal(px_dataset_pixels(set, 2, pixels, &err), PX_OK);
        assert_true(pixels[0] == 20.0f && pixels[3] == 23.0f);
        px_dataset_close(set);
    }
    px_dataset *set = NULL;
    px_error err = {0};
    const px_data_options options = {.split = "val"};
    assert_int_equal(px_dataset_open("plain", &options, &set, &err), PX_E_USAGE);
    assert_non_null(strstr(err.message, "t10k, train"));
}

static void test_one_file_without_labels(void **state)
{
    (void)state;
    px_dataset *set = NULL;
    px_error err = {0};
    write_file("my-images-idx3-ubyte", images, sizeof images);
    assert_int_equal(px_dataset_open("my-images-idx3-ubyte", NULL, &set, &err), PX_OK);
    assert_false(px_dataset_has_labels(set));
    assert_int_equal(px_dataset_label(set, 0), -1);
    assert_int_equal(px_dataset_check_labels(set, 10, &err), PX_E_INPUT);
    px_dataset_close(set);
}

static void test_limit_offset_shuffle(void **state)
{
    (void)state;
    px_error err = {0};
    px_dataset *set = NULL;
    write_set("pick");
    px_data_options options = {.offset = 1, .limit = 1};
    assert_int_equal(px_dataset_open("pick", &options, &set, &err), PX_OK);
    assert_int_equal(px_dataset_count(set), 1);
    assert_int_equal(px_dataset_index(set, 0), 1);
    px_dataset_close(set);
    options = (px_data_options){.offset = 3};
    assert_int_equal(px_dataset_open("pick", &options, &set, &err), PX_E_INPUT);
    options = (px_data_options){.offset = -1};
    assert_int_equal(px_dataset_open("pick", &options, &set, &err), PX_E_USAGE);
    uint64_t first = 0;
    bool differ = false;
    for (uint64_t seed = 0; seed < 8; seed++) {
        options = (px_data_options){.shuffle = true, .seed = seed};
        int seen = 0;
        assert_int_equal(px_dataset_open("pick", &options, &set, &err), PX_OK);
        for (int i = 0; i < 3; i++)
            seen |= 1 << px_dataset_index(set, i);
        assert_int_equal(seen, 7); /* a permutation */
        first = seed ? first : px_dataset_hash(set);
        differ = differ || px_dataset_hash(set) != first;
        px_dataset_close(set);
    }
    assert_true(differ); /* the seed matters */
}

static void test_label_check(void **state)
{
    (void)state;
    px_error err = {0};
    px_dataset *set = NULL;
    write_set("check");
    assert_int_equal(px_dataset_open("check", NULL, &set, &err), PX_OK);
    assert_int_equal(px_dataset_check_labels(set, 8, &err), PX_OK);
    assert_int_equal(px_dataset_check_labels(set, 7, &err), PX_E_MISMATCH);
    assert_non_null(strstr(err.message, "label 7 of sample '0'"));
    px_dataset_close(set);
}

static const struct {
    const char *name;
    size_t at;
    uint8_t byte;
    const char *says;
} flips[] = {
    {"not IDX", 0, 1, "not an IDX file"},
    {"unknown type", 2, 7, "not an IDX file"},
    {"floats", 2, 0x0d, "truncated"},
    {"no axes", 3, 0, "not an IDX file"},
    {"two axes", 3, 2, "does not match"},
    {"many axes", 3, 200, "200 axes"},
    {"fewer pictures", 7, 2, "does not match"},
    {"more pictures", 7, 4, "truncated"},
    {"4 billion pictures", 4, 0xff, "truncated"},
    {"4 billion rows", 8, 0xff, "truncated"},
    {"no pictures", 7, 0, "does not match"},
};

static void test_refuses(void **state)
{
    (void)state;
    pxi_source *source = NULL;
    px_error err = {0};
    for (size_t i = 0; i < COUNT(flips); i++) {
        uint8_t bytes[sizeof images];
        memcpy(bytes, images, sizeof images);
        bytes[flips[i].at] = flips[i].byte;
        const px_status status = pxi_idx_parse(bytes, sizeof bytes, "bad", &source, &err);
        if ((status != PX_E_INPUT && status != PX_E_UNSUPPORTED) ||
            !strstr(err.message, flips[i].says))
            fail_msg("%s: %s '%s'", flips[i].name, px_status_name(status), err.message);
    }
    for (size_t cut = 0; cut < sizeof images; cut++)
        assert_int_not_equal(pxi_idx_parse(images, cut, "cut", &source, &err), PX_OK);
    const uint8_t none[] = {0, 0, 8, 3, 0, 0, 0, 0, 0, 0, 0, 2, 0, 0, 0, 2};
    assert_int_equal(pxi_idx_parse(none, sizeof none, "none", &source, &err), PX_E_INPUT);
    assert_non_null(strstr(err.message, "no samples"));
}

static void test_labels_that_do_not_fit(void **state)
{
    (void)state;
    px_dataset *set = NULL;
    px_error err = {0};
    const uint8_t two[] = {0, 0, 8, 1, 0, 0, 0, 2, 1, 0};
    write_set("unfit");
    write_file("unfit/t10k-labels-idx1-ubyte", two, sizeof two);
    assert_int_equal(px_dataset_open("unfit", NULL, &set, &err), PX_E_MISMATCH);
    /* a packed file that ends early, and one whose data is damaged */
    uint8_t packed[256];
    FILE *file = fopen("unfit/t10k-images-idx3-ubyte.gz", "rb");
    const size_t size = fread(packed, 1, sizeof packed, file);
    fclose(file);
    for (size_t cut = 18; cut < size; cut++) {
        write_file("unfit/t10k-images-idx3-ubyte.gz", packed, cut);
        assert_int_equal(px_dataset_open("unfit", NULL, &set, &err), PX_E_INPUT);
    }
    packed[size - 8] ^= 1;
    write_file("unfit/t10k-images-idx3-ubyte.gz", packed, size);
    assert_int_equal(px_dataset_open("unfit", NULL, &set, &err), PX_E_INPUT);
    assert_non_null(strstr(err.message, "damaged"));
}

static void check_first_labels(const char *spec, const char *split, int64_t count,
                               const int want[10])
{
    px_dataset *set = NULL;
    px_error err = {0};
    const px_data_options options = {.split = split};
    if (px_dataset_open(spec, &options, &set, &err) != PX_OK)
        fail_msg("%s", err.message);
    assert_int_equal(px_dataset_count(set), count);
    for (int i = 0; i < 10; i++)
        assert_int_equal(px_dataset_label(set, i), want[i]);
    px_dataset_close(set);
}

static void test_mnist(void **state)
{
    (void)state;
    static const int test[10] = {7, 2, 1, 0, 4, 1, 4, 9, 5, 9};
    static const int train[10] = {5, 0, 4, 1, 9, 2, 1, 3, 1, 4};
    char path[512];
    if (!shared_path("data/mnist", path, sizeof path))
        skip();
    check_first_labels(path, NULL, 10000, test);
    check_first_labels(path, "train", 60000, train);
}

static void test_fashion_mnist(void **state)
{
    (void)state;
    static const int test[10] = {9, 2, 1, 1, 6, 1, 4, 6, 5, 7};
    px_dataset *set = NULL;
    px_error err = {0};
    if (px_dataset_open("fashion-mnist", NULL, &set, &err) != PX_OK) {
        fprintf(stderr, "%s\n", err.message); /* which package to install */
        skip();
    }
    assert_string_equal(px_dataset_class_name(set, 9), "Ankle boot");
    px_dataset_close(set);
    check_first_labels("fashion-mnist", NULL, 10000, test);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_splits_and_pixels),
        cmocka_unit_test(test_one_file_without_labels),
        cmocka_unit_test(test_limit_offset_shuffle),
        cmocka_unit_test(test_label_check),
        cmocka_unit_test(test_refuses),
        cmocka_unit_test(test_labels_that_do_not_fit),
        cmocka_unit_test(test_mnist),
        cmocka_unit_test(test_fashion_mnist),
    };
    return cmocka_run_group_tests(tests, enter_folder, leave_folder);
}
