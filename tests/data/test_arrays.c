/* tests/data/test_arrays.c - NPZ and NPY files as data sets: layouts, labels, targets */
/* SPDX-License-Identifier: Apache-2.0 */
#include "data/dataset_helpers.h"
#include <internal/data.h>
#include <math.h>

static void add_array(px_npz_writer *writer, const char *name, px_dtype dtype, px_shape shape,
                      int first)
{
    px_error err = {0};
    px_tensor x = {0};
    assert_int_equal(px_tensor_init(&x, dtype, &shape, &err), PX_OK);
    for (int64_t i = 0; i < px_shape_count(&shape); i++) {
        if (dtype == PX_UINT8)
            ((uint8_t *)x.data)[i] = (uint8_t)(first + i);
        else if (dtype == PX_INT64)
            ((int64_t *)x.data)[i] = first + i;
        else
            ((float *)x.data)[i] = (float)(first + i) / 4.0f;
    }
    assert_int_equal(px_npz_add(writer, name, &x, &err), PX_OK);
    px_tensor_done(&x);
}

static const struct {
    const char *name, *x, *y, *split;
    px_dtype dtype;
    px_shape stored;
    px_shape shape;
    float second; /* the second value of the first sample, in CHW order */
} arrays[] = {
    {"NCHW bytes", "x_test", "y_test", NULL, PX_UINT8, {4, {2, 3, 4, 5}}, {3, {3, 4, 5}}, 1},
    {"NHWC bytes", "x_test", "y_test", "test", PX_UINT8, {4, {2, 4, 5, 3}}, {3, {3, 4, 5}}, 3},
    {"NHW bytes",
     "train_images",
     "train_labels",
     "train",
     PX_UINT8,
     {3, {2, 4, 5}},
     {3, {1, 4, 5}},
     1},
    {"NHWC grey", "images", "labels", NULL, PX_UINT8, {4, {2, 4, 5, 1}}, {3, {1, 4, 5}}, 1},
    {"flat floats", "inputs", "labels", NULL, PX_FLOAT32, {2, {2, 6}}, {1, {6}}, .25f},
    {"NHWC floats", "x", "y", NULL, PX_FLOAT32, {4, {2, 4, 5, 3}}, {3, {3, 4, 5}}, .75f},
    {"one array", "stuff", NULL, NULL, PX_FLOAT32, {3, {2, 4, 5}}, {2, {4, 5}}, .25f},
};

static void test_arrays(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(arrays); i++) {
        px_error err = {0};
        px_npz_writer *writer = NULL;
        float pixels[64];
        assert_int_equal(px_npz_create("x.npz", &writer, &err), PX_OK);
        add_array(writer, arrays[i].x, arrays[i].dtype, arrays[i].stored, 0);
        if (arrays[i].y)
            add_array(writer, arrays[i].y, PX_INT64, (px_shape){1, {2}}, 4);
        assert_int_equal(px_npz_commit(writer, &err), PX_OK);
        const px_data_options options = {.split = arrays[i].split};
        px_dataset *set = open_set("x.npz", &options);
        const px_shape shape = px_dataset_shape(set);
        if (!px_shape_equal(&shape, &arrays[i].shape))
            fail_msg("%s: %s", arrays[i].name, px_dataset_describe(set));
        assert_int_equal(px_dataset_label(set, 1), arrays[i].y ? 5 : -1);
        assert_int_equal(px_dataset_is_8bit(set), arrays[i].dtype == PX_UINT8);
        assert_int_equal(px_dataset_pixels(set, 0, pixels, &err), PX_OK);
        if (pixels[1] != arrays[i].second)
            fail_msg("%s: second value %g", arrays[i].name, (double)pixels[1]);
        px_dataset_close(set);
    }
    const px_data_options large = {.height = 40, .width = 50, .channels = 1};
    refuse("x.npz", &large, PX_E_MISMATCH, "only 8-bit");
    const px_data_options train = {.split = "train"};
    refuse("x.npz", &train, PX_E_USAGE, "no splits");
}

static void test_array_labels_are_checked(void **state)
{
    (void)state;
    static const struct {
        int first, count;
        px_status status;
        const char *says;
    } labels[] = {{-1, 2, PX_E_INPUT, "label -1 of sample 0 is not a class number: 0, 1, 2"},
                  {1 << 20, 2, PX_E_INPUT, "not a class number"},
                  {0, 3, PX_E_MISMATCH, "do not fit"}};
    for (size_t i = 0; i < COUNT(labels); i++) {
        px_error err = {0};
        px_npz_writer *writer = NULL;
        assert_int_equal(px_npz_create("l.npz", &writer, &err), PX_OK);
        add_array(writer, "x", PX_UINT8, (px_shape){3, {2, 2, 2}}, 0);
        add_array(writer, "y", PX_INT64, (px_shape){1, {labels[i].count}}, labels[i].first);
        assert_int_equal(px_npz_commit(writer, &err), PX_OK);
        refuse("l.npz", NULL, labels[i].status, labels[i].says);
    }
}

static void add_targets(px_npz_writer *writer, const char *name, px_shape shape, const float *t)
{
    px_error err = {0};
    px_tensor x = {0};
    assert_int_equal(px_tensor_init(&x, PX_FLOAT32, &shape, &err), PX_OK);
    memcpy(x.data, t, px_tensor_bytes(&x));
    assert_int_equal(px_npz_add(writer, name, &x, &err), PX_OK);
    px_tensor_done(&x);
}

static void test_one_hot(void **state)
{
    (void)state;
    static const float hot[] = {0, 0, 1, 1, 0, 0}, soft[] = {0, 0, 1, 0.5f, 0.5f, 0},
                       two[] = {0, 1, 1, 1, 0, 0}, none[] = {0, 1, 0, 0, 0, 0};
    static const float *const bad[] = {soft, two, none};
    for (size_t i = 0; i <= COUNT(bad); i++) {
        px_error err = {0};
        px_npz_writer *writer = NULL;
        assert_int_equal(px_npz_create("h.npz", &writer, &err), PX_OK);
        add_array(writer, "x", PX_UINT8, (px_shape){3, {2, 2, 2}}, 0);
        add_targets(writer, "y", (px_shape){2, {2, 3}}, i < COUNT(bad) ? bad[i] : hot);
        assert_int_equal(px_npz_commit(writer, &err), PX_OK);
        if (i < COUNT(bad)) {
            refuse("h.npz", NULL, PX_E_MISMATCH, "is not one 1 among zeros; take the argmax");
            continue;
        }
        px_dataset *set = open_set("h.npz", NULL);
        assert_int_equal(px_dataset_class_count(set), 3);
        assert_int_equal(px_dataset_label(set, 0), 2);
        assert_int_equal(px_dataset_label(set, 1), 0);
        assert_non_null(strstr(px_dataset_remark(set, 0), "labels are one-hot"));
        px_dataset_close(set);
    }
}

static void test_targets(void **state)
{
    (void)state;
    static const float t[] = {.25f, .5f, .25f, .4f, .2f, .4f}, other[] = {.25f, .5f, .25f, 1, 0, 0};
    static const struct {
        const char *x, *y, *targets, *split;
        int64_t label; /* of the second sample */
    } names[] = {{"x", "y", "targets", NULL, 1},
                 {"x", NULL, "targets", NULL, 0}, /* the first of equals */
                 {"x_train", "y_train", "targets_train", "train", 1},
                 {"train_images", NULL, "train_targets", "train", 0}};
    for (size_t i = 0; i < COUNT(names); i++) {
        uint64_t hash[2];
        for (int k = 0; k < 2; k++) { /* the second time with other targets */
            px_error err = {0};
            px_npz_writer *writer = NULL;
            float got[3];
            assert_int_equal(px_npz_create("t.npz", &writer, &err), PX_OK);
            add_array(writer, names[i].x, PX_UINT8, (px_shape){3, {2, 2, 2}}, 0);
            if (names[i].y)
                add_array(writer, names[i].y, PX_INT64, (px_shape){1, {2}}, 0);
            add_targets(writer, names[i].targets, (px_shape){2, {2, 3}}, k ? other : t);
            assert_int_equal(px_npz_commit(writer, &err), PX_OK);
            const px_data_options options = {.split = names[i].split, .offset = 1};
            px_dataset *set = open_set("t.npz", &options);
            assert_int_equal(px_dataset_target_count(set), 3);
            assert_int_equal(px_dataset_class_count(set), 3);
            assert_int_equal(px_dataset_target(set, 0, got, &err), PX_OK);
            if (memcmp(got, (k ? other : t) + 3, sizeof got) != 0)
                fail_msg("'%s': %g %g %g", names[i].targets, (double)got[0], (double)got[1],
                         (double)got[2]);
            assert_int_equal(px_dataset_label(set, 0), names[i].label);
            hash[k] = px_dataset_hash(set);
            px_dataset_close(set);
        }
        if (hash[0] == hash[1])
            fail_msg("'%s': other targets, the same hash", names[i].targets);
    }
}

static void test_targets_are_checked(void **state)
{
    (void)state;
    static const struct {
        px_shape shape;
        float t[6];
        px_status status;
        const char *says;
    } bad[] = {
        {{2, {2, 3}}, {0, 1, 0, .5f, .6f, 0}, PX_E_INPUT, "of sample 1 add up to 1.1"},
        {{2, {2, 3}}, {0, 1, 0, NAN, 1, 0}, PX_E_INPUT, "target nan of sample 1, class 0"},
        {{2, {2, 3}}, {0, 1, 0, 1, -1, 1}, PX_E_INPUT, "target -1 of sample 1, class 1"},
        {{2, {3, 2}}, {0, 1, 0, 1, 0, 1}, PX_E_MISMATCH, "not [samples,classes] for the 2"},
        {{1, {2}}, {0, 1}, PX_E_MISMATCH, "not [samples,classes]"},
        {{2, {2, 1}}, {1, 1}, PX_E_MISMATCH, "targets for 1 classes, a label is 1"},
        {{2, {2, 0}}, {0}, PX_E_MISMATCH, "not [samples,classes]"},
    };
    for (size_t i = 0; i < COUNT(bad); i++) {
        px_error err = {0};
        px_npz_writer *writer = NULL;
        assert_int_equal(px_npz_create("b.npz", &writer, &err), PX_OK);
        add_array(writer, "x", PX_UINT8, (px_shape){3, {2, 2, 2}}, 0);
        add_array(writer, "y", PX_INT64, (px_shape){1, {2}}, 0);
        add_targets(writer, "targets", bad[i].shape, bad[i].t);
        assert_int_equal(px_npz_commit(writer, &err), PX_OK);
        refuse("b.npz", NULL, bad[i].status, bad[i].says);
    }
}

static void test_packed_and_fortran_arrays(void **state)
{
    (void)state;
    SKIP_WITHOUT("numpy");
    assert_true(run_python("import numpy as np, tarfile, os\n"
                           "x = np.arange(120).reshape(2, 3, 4, 5).astype('f4')\n"
                           "np.savez_compressed('p.npz', x=x, y=[3, 1])\n"
                           "np.savez('f.npz', x=np.asfortranarray(x), y=[3, 1])\n"
                           "np.save('b.npy', x.astype('>f8'))\n"
                           "os.mkdir('box'); np.savez('box/p.npz', x=x, y=[3, 1])\n"
                           "with tarfile.open('p.tar.gz', 'w:gz') as t: t.add('box')\n"));
    static const char *const names[] = {"p.npz", "f.npz", "b.npy", "box", "p.tar.gz"};
    for (size_t i = 0; i < COUNT(names); i++) {
        float values[60];
        px_error err = {0};
        px_dataset *set = open_set(names[i], NULL);
        assert_int_equal(px_dataset_pixels(set, 1, values, &err), PX_OK);
        for (int k = 0; k < 60; k++)
            if (values[k] != (float)(60 + k))
                fail_msg("'%s': value %d is %g", names[i], k, (double)values[k]);
        assert_int_equal(px_dataset_label(set, 0), i == 2 ? -1 : 3);
        px_dataset_close(set);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_arrays),
        cmocka_unit_test(test_array_labels_are_checked),
        cmocka_unit_test(test_one_hot),
        cmocka_unit_test(test_targets),
        cmocka_unit_test(test_targets_are_checked),
        cmocka_unit_test(test_packed_and_fortran_arrays),
    };
    return cmocka_run_group_tests(tests, enter_folder, leave_folder);
}
