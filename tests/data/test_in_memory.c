/* tests/data/test_in_memory.c - arrays and functions of a program as data, and the names it gives
 */
/* SPDX-License-Identifier: Apache-2.0 */
#include "cmocka_all.h"

#include <internal/data.h>
#include <plexor/plexor.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { COUNT = 12, CHANNELS = 3, SIDE = 4, SIZE = CHANNELS * SIDE * SIDE };

static uint8_t pixels[COUNT][CHANNELS][SIDE][SIDE];
static float floats[COUNT][CHANNELS][SIDE][SIDE];
static int32_t labels[COUNT];

static int fill(void **state)
{
    (void)state;
    for (int i = 0; i < COUNT * SIZE; i++) {
        (&pixels[0][0][0][0])[i] = (uint8_t)(i * 37 + i / 11);
        (&floats[0][0][0][0])[i] = (float)i / 7.0f;
    }
    for (int i = 0; i < COUNT; i++)
        labels[i] = i % 5;
    return 0;
}

static px_arrays arrays_of(const void *data, px_dtype dtype)
{
    px_arrays arrays = px_arrays_default();
    arrays.inputs.data = data;
    arrays.inputs.dtype = dtype;
    arrays.inputs.shape = (px_shape){.rank = 4, .dim = {COUNT, CHANNELS, SIDE, SIDE}};
    return arrays;
}

static void with_labels(px_arrays *arrays)
{
    arrays->labels.data = labels;
    arrays->labels.dtype = PX_INT32;
    arrays->labels.shape = (px_shape){.rank = 1, .dim = {COUNT}};
}

static px_dataset *made(const px_arrays *arrays)
{
    px_dataset *set = NULL;
    px_error err = {0};
    if (px_dataset_from_arrays(arrays, "arrays", &set, &err) != PX_OK)
        fail_msg("%s", err.message);
    return set;
}

static void assert_same(const px_dataset *a, const px_dataset *b, const char *name)
{
    const px_shape shape = px_dataset_shape(a), other = px_dataset_shape(b);
    float x[SIZE], y[SIZE];
    char n[64], m[64];
    if (!px_shape_equal(&shape, &other) || px_dataset_count(a) != px_dataset_count(b) ||
        px_dataset_is_8bit(a) != px_dataset_is_8bit(b) || px_dataset_hash(a) != px_dataset_hash(b))
        fail_msg("case '%s': %s against %s", name, px_dataset_describe(a), px_dataset_describe(b));
    for (int64_t i = 0; i < px_dataset_count(a); i++) {
        assert_int_equal(px_dataset_pixels(a, i, x, NULL), PX_OK);
        assert_int_equal(px_dataset_pixels(b, i, y, NULL), PX_OK);
        if (memcmp(x, y, sizeof x) != 0 || px_dataset_label(a, i) != px_dataset_label(b, i))
            fail_msg("case '%s': sample %d", name, (int)i);
        assert_string_equal(px_dataset_name(a, i, n, sizeof n), px_dataset_name(b, i, m, sizeof m));
    }
}

/* --- arrays ---------------------------------------------------------------------------------- */

static void test_like_a_file(void **state)
{
    (void)state;
    char path[] = "/tmp/plexor-memory-XXXXXX.npz";
    const int fd = mkstemps(path, 4);
    assert_true(fd >= 0);
    close(fd);
    for (int k = 0; k < 2; k++) {
        px_arrays arrays = k ? arrays_of(floats, PX_FLOAT32) : arrays_of(pixels, PX_UINT8);
        with_labels(&arrays);
        const px_tensor x = {arrays.inputs.dtype, arrays.inputs.shape, (void *)arrays.inputs.data};
        const px_tensor y = {PX_INT32, arrays.labels.shape, labels};
        px_npz_writer *writer = NULL;
        assert_int_equal(px_npz_create(path, &writer, NULL), PX_OK);
        assert_int_equal(px_npz_add(writer, "x", &x, NULL), PX_OK);
        assert_int_equal(px_npz_add(writer, "y", &y, NULL), PX_OK);
        assert_int_equal(px_npz_commit(writer, NULL), PX_OK);
        px_dataset *file = NULL, *set = made(&arrays);
        assert_int_equal(px_dataset_open(path, NULL, &file, NULL), PX_OK);
        assert_same(file, set, k ? "float" : "uint8");
        px_dataset_close(set);
        px_dataset_close(file);
    }
    unlink(path);
}

/* The same pictures, lying in memory in another way. */
static void test_strides(void **state)
{
    (void)state;
    static uint8_t last[COUNT][SIDE][SIDE][CHANNELS], wide[COUNT][CHANNELS][SIDE][2 * SIDE],
        reversed[COUNT][CHANNELS][SIDE][SIDE];
    for (int i = 0; i < COUNT; i++)
        for (int c = 0; c < CHANNELS; c++)
            for (int y = 0; y < SIDE; y++)
                for (int x = 0; x < SIDE; x++) {
                    const uint8_t v = pixels[i][c][y][x];
                    last[i][y][x][c] = wide[i][c][y][2 * x] = v;
                    reversed[COUNT - 1 - i][c][y][SIDE - 1 - x] = v;
                }
    px_arrays arrays = arrays_of(pixels, PX_UINT8);
    px_dataset *plain = made(&arrays), *set;

    arrays.inputs.data = last; /* as it is, and as a view whose strides say so */
    arrays.inputs.shape = (px_shape){.rank = 4, .dim = {COUNT, SIDE, SIDE, CHANNELS}};
    assert_same(plain, set = made(&arrays), "channels last, guessed");
    px_dataset_close(set);
    arrays.layout = PX_LAYOUT_CHANNELS_LAST;
    assert_same(plain, set = made(&arrays), "channels last, said");
    px_dataset_close(set);
    arrays.layout = PX_LAYOUT_CHANNELS_FIRST;
    arrays.inputs.shape = (px_shape){.rank = 4, .dim = {COUNT, CHANNELS, SIDE, SIDE}};
    arrays.inputs.stride[0] = SIZE;
    arrays.inputs.stride[1] = 1;
    arrays.inputs.stride[2] = SIDE * CHANNELS;
    arrays.inputs.stride[3] = CHANNELS;
    assert_same(plain, set = made(&arrays), "a transposed view");
    px_dataset_close(set);

    arrays = arrays_of(wide, PX_UINT8);
    const int64_t gaps[4] = {2 * SIZE, 2 * SIDE * SIDE, 2 * SIDE, 2};
    memcpy(arrays.inputs.stride, gaps, sizeof gaps);
    assert_same(plain, set = made(&arrays), "gaps");
    px_dataset_close(set);

    arrays = arrays_of(&reversed[COUNT - 1][0][0][SIDE - 1], PX_UINT8);
    const int64_t backwards[4] = {-SIZE, SIDE * SIDE, SIDE, -1};
    memcpy(arrays.inputs.stride, backwards, sizeof backwards);
    assert_same(plain, set = made(&arrays), "backwards");
    px_dataset_close(set);
    px_dataset_close(plain);

    /* channels last and gaps: every second row of a float array */
    static float rows[COUNT][2 * SIDE][SIDE][CHANNELS];
    for (int i = 0; i < COUNT * SIZE; i++)
        rows[i / SIZE][i / SIDE % SIDE * 2][i % SIDE][i / (SIDE * SIDE) % CHANNELS] =
            (&floats[0][0][0][0])[i];
    arrays = arrays_of(floats, PX_FLOAT32);
    plain = made(&arrays);
    arrays.inputs.data = rows;
    arrays.inputs.shape = (px_shape){.rank = 4, .dim = {COUNT, SIDE, SIDE, CHANNELS}};
    const int64_t every_second[4] = {8 * SIZE, 8 * SIDE * CHANNELS, 4 * CHANNELS, 4};
    memcpy(arrays.inputs.stride, every_second, sizeof every_second);
    assert_same(plain, set = made(&arrays), "channels last with gaps");
    px_dataset_close(set);
    px_dataset_close(plain);
}

static void test_names(void **state)
{
    (void)state;
    static const char *const classes[] = {"a", "b", "c", "d", "e", "f"};
    char text[COUNT][8], name[64];
    const char *names[COUNT];
    px_arrays arrays = arrays_of(pixels, PX_UINT8);
    with_labels(&arrays);
    for (int i = 0; i < COUNT; i++) {
        snprintf(text[i], sizeof text[i], "no %d", i);
        names[i] = text[i];
    }
    arrays.names = names;
    arrays.class_names = classes;
    arrays.class_count = 6;
    px_dataset *set = made(&arrays);
    memset(text, 0, sizeof text); /* they were copied */
    assert_string_equal(px_dataset_name(set, 11, name, sizeof name), "no 11");
    assert_int_equal(px_dataset_class_count(set), 6);
    assert_string_equal(px_dataset_class_name(set, 5), "f");
    px_dataset_close(set);
}

static void released(void *context)
{
    ++*(int *)context;
}

static void test_refused(void **state)
{
    (void)state;
    static const float row[2][3] = {{0, 1, 0}, {0.5f, 0.5f, 0}};
    int count = 0;
    px_dataset *set = NULL;
    px_error err = {0};
    px_arrays arrays = arrays_of(pixels, PX_INT16);
    arrays.release = released;
    arrays.context = &count;
    assert_int_equal(px_dataset_from_arrays(&arrays, "x", &set, &err), PX_E_USAGE);
    assert_string_equal(err.message, "'x': inputs are uint8 or float32, not int16");
    arrays.inputs.dtype = PX_UINT8;
    with_labels(&arrays);
    arrays.labels.shape.dim[0] = COUNT - 1;
    assert_int_equal(px_dataset_from_arrays(&arrays, "x", &set, &err), PX_E_MISMATCH);
    with_labels(&arrays);
    arrays.class_count = 4; /* a label is 4 */
    arrays.class_names = (const char *const[]){"a", "b", "c", "d"};
    assert_int_equal(px_dataset_from_arrays(&arrays, "x", &set, &err), PX_E_MISMATCH);
    arrays = arrays_of(row, PX_FLOAT32);
    arrays.inputs.shape = (px_shape){.rank = 2, .dim = {2, 3}};
    arrays.layout = PX_LAYOUT_CHANNELS_LAST;
    assert_int_equal(px_dataset_from_arrays(&arrays, "x", &set, &err), PX_E_USAGE);
    assert_null(set);
    assert_int_equal(count, 0);
}

/* --- functions ------------------------------------------------------------------------------- */

static px_status read_floats(void *context, int64_t index, float *values, px_error *err)
{
    (void)err;
    memcpy(values, ((float(*)[SIZE])context)[index], SIZE * sizeof *values);
    return PX_OK;
}

static int64_t label_of(void *context, int64_t index)
{
    (void)context;
    return labels[index];
}

static px_status read_fails(void *context, int64_t index, float *values, px_error *err)
{
    (void)context, (void)values;
    return px_fail(err, PX_E_IO, "the stream ended at %d", (int)index);
}

static void test_source(void **state)
{
    (void)state;
    px_arrays arrays = arrays_of(floats, PX_FLOAT32);
    with_labels(&arrays);
    px_dataset *plain = made(&arrays), *set = NULL;
    px_source source = px_source_default();
    px_error err = {0};
    source.context = floats;
    source.count = COUNT;
    source.shape = (px_shape){.rank = 3, .dim = {CHANNELS, SIDE, SIDE}};
    source.class_count = 5;
    source.read = read_floats;
    source.label = label_of;
    assert_int_equal(px_dataset_from_source(&source, "stream", &set, &err), PX_OK);
    assert_same(plain, set, "functions");
    px_dataset_close(set);
    px_dataset_close(plain);
    float values[SIZE];
    source.read = read_fails;
    source.label = NULL;
    assert_int_equal(px_dataset_from_source(&source, "stream", &set, &err), PX_OK);
    assert_false(px_dataset_has_labels(set));
    assert_int_equal(px_dataset_pixels(set, 3, values, &err), PX_E_IO);
    assert_non_null(strstr(err.message, "the stream ended at 3"));
    px_dataset_close(set);
    source.count = 0;
    assert_int_equal(px_dataset_from_source(&source, "stream", &set, &err), PX_E_USAGE);
}

/* --- names ----------------------------------------------------------------------------------- */

static void test_mem(void **state)
{
    (void)state;
    int count = 0;
    px_error err = {0};
    px_arrays arrays = arrays_of(pixels, PX_UINT8);
    with_labels(&arrays);
    arrays.release = released;
    arrays.context = &count;
    px_dataset *first = made(&arrays), *opened = NULL, *part = NULL;
    assert_int_equal(px_mem_put("", first, &err), PX_E_USAGE);
    assert_int_equal(px_mem_put("x", first, &err), PX_OK);
    assert_int_equal(px_dataset_open("mem:x", NULL, &opened, &err), PX_OK);
    assert_same(first, opened, "by name");
    px_dataset_close(first);
    px_data_options options = px_data_options_default();
    options.shuffle = true;
    options.limit = 5;
    assert_int_equal(px_dataset_open("mem:x", &options, &part, &err), PX_OK);
    assert_int_equal(px_dataset_count(part), 5);
    px_dataset_close(part);
    options.split = "train";
    assert_int_equal(px_dataset_open("mem:x", &options, &part, &err), PX_E_USAGE);
    assert_true(px_mem_remove("x"));
    assert_false(px_mem_remove("x"));
    assert_int_equal(count, 0); /* one has it open */
    px_dataset_close(opened);
    assert_int_equal(count, 1);
    assert_int_equal(px_dataset_open("mem:x", NULL, &opened, &err), PX_E_INPUT);
}

static void test_mem_replaced(void **state)
{
    (void)state;
    int count[2] = {0};
    px_error err = {0};
    px_model *model = NULL;
    px_dataset *set = NULL;
    for (int i = 0; i < 2; i++) {
        px_arrays arrays = arrays_of(pixels, PX_UINT8);
        arrays.release = released;
        arrays.context = &count[i];
        set = made(&arrays);
        assert_int_equal(px_mem_put("y", set, &err), PX_OK);
        px_dataset_close(set);
        assert_int_equal(count[0], i);
    }
    assert_int_equal(px_model_load("mem:y", &model, &err), PX_E_INPUT);
    assert_string_equal(err.message, "'mem:y': is a data set, a network is wanted");
    assert_int_equal(px_mem_put_model("y", "no network", 10, &err), PX_OK);
    assert_int_equal(count[1], 1);
    assert_int_equal(px_model_load("mem:y", &model, &err), PX_E_INPUT);
    assert_int_equal(px_dataset_open("mem:y", NULL, &set, &err), PX_E_INPUT);
    assert_true(px_mem_remove("y"));
}

static void *use_names(void *argument)
{
    const char *name = argument;
    char spec[32];
    intptr_t failed = 0;
    snprintf(spec, sizeof spec, "mem:%s", name);
    for (int i = 0; i < 200; i++) {
        px_arrays arrays = arrays_of(pixels, PX_UINT8);
        px_dataset *set = NULL, *opened = NULL;
        failed += px_dataset_from_arrays(&arrays, name, &set, NULL) != PX_OK;
        failed += px_mem_put(name, set, NULL) != PX_OK;
        px_dataset_close(set);
        failed += px_dataset_open(spec, NULL, &opened, NULL) != PX_OK;
        failed += px_dataset_count(opened) != COUNT;
        px_dataset_close(opened);
        failed += !px_mem_remove(name);
    }
    return (void *)failed;
}

static void test_mem_threads(void **state)
{
    (void)state;
    static char names[4][4] = {"a", "b", "c", "d"};
    pthread_t threads[4];
    for (int i = 0; i < 4; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, use_names, names[i]), 0);
    for (int i = 0; i < 4; i++) {
        void *failed = NULL;
        pthread_join(threads[i], &failed);
        assert_null(failed);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_like_a_file),  cmocka_unit_test(test_strides),
        cmocka_unit_test(test_names),        cmocka_unit_test(test_refused),
        cmocka_unit_test(test_source),       cmocka_unit_test(test_mem),
        cmocka_unit_test(test_mem_replaced), cmocka_unit_test(test_mem_threads),
    };
    return cmocka_run_group_tests(tests, fill, NULL);
}
