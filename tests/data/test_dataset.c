/* tests/data/test_dataset.c - class folders, archives, CIFAR files, arrays, through the front door
 */
#include "data/data_helpers.h"
#include <math.h>
#include <plexor/data.h>
#include <plexor/picture.h>

#include <pthread.h>

#define COUNT(array) (sizeof(array) / sizeof(array)[0])

static px_dataset *open_set(const char *spec, const px_data_options *options)
{
    px_dataset *set = NULL;
    px_error err = {0};
    if (px_dataset_open(spec, options, &set, &err) != PX_OK)
        fail_msg("%s", err.message);
    return set;
}

static void refuse(const char *spec, const px_data_options *options, px_status status,
                   const char *says)
{
    px_dataset *set = NULL;
    px_error err = {0};
    const px_status got = px_dataset_open(spec, options, &set, &err);
    if (got != status || !strstr(err.message, says))
        fail_msg("'%s': %s '%s'", spec, px_status_name(got), err.message);
}

/* A picture of one colour. */
static void write_picture(const char *path, int width, int height, int channels, uint8_t value)
{
    px_error err = {0};
    uint8_t pixels[64 * 64 * 3];
    memset(pixels, value, sizeof pixels);
    if (px_png_save(path, width, height, channels, pixels, &err) != PX_OK)
        fail_msg("%s", err.message);
}

/* set/{train,test}/{ant,bee,cat}; ant has three pictures, bee one, cat two. The value of a picture
 * is 10 * class + number, 100 more in train. */
static void write_folders(const char *root)
{
    static const char *const splits[] = {"test", "train"}, *const classes[] = {"ant", "bee", "cat"};
    static const int counts[] = {3, 1, 2};
    char path[256];
    mkdir(root, 0777);
    for (int s = 0; s < 2; s++) {
        snprintf(path, sizeof path, "%s/%s", root, splits[s]);
        mkdir(path, 0777);
        for (int c = 0; c < 3; c++) {
            snprintf(path, sizeof path, "%s/%s/%s", root, splits[s], classes[c]);
            mkdir(path, 0777);
            for (int i = 0; i < counts[c]; i++) {
                snprintf(path, sizeof path, "%s/%s/%s/%d.png", root, splits[s], classes[c], i);
                write_picture(path, 4, 3, 1, (uint8_t)(100 * s + 10 * c + i));
            }
        }
    }
    snprintf(path, sizeof path, "%s/test/ant/notes.txt", root);
    write_text(path, "not a picture");
    snprintf(path, sizeof path, "%s/test/.hidden", root);
    mkdir(path, 0777);
}

/* Round robin: ant bee cat ant cat ant. */
static void check_folders(const char *spec)
{
    static const int labels[] = {0, 1, 2, 0, 2, 0}, values[] = {0, 10, 20, 1, 21, 2};
    px_error err = {0};
    char name[64];
    px_dataset *set = open_set(spec, NULL);
    assert_int_equal(px_dataset_count(set), 6);
    assert_int_equal(px_dataset_class_count(set), 3);
    assert_string_equal(px_dataset_class_name(set, 2), "cat");
    assert_null(px_dataset_class_name(set, 3));
    assert_true(px_dataset_is_8bit(set));
    for (int i = 0; i < 6; i++) {
        float pixels[12];
        assert_int_equal(px_dataset_label(set, i), labels[i]);
        assert_int_equal(px_dataset_pixels(set, i, pixels, &err), PX_OK);
        if (pixels[11] != (float)values[i])
            fail_msg("'%s': picture %d is %g", spec, i, (double)pixels[11]);
    }
    px_dataset_name(set, 3, name, sizeof name);
    if (!strstr(name, "test/ant/1.png"))
        fail_msg("'%s': picture 3 is called '%s'", spec, name);
    px_dataset_close(set);
    const px_data_options train = {.split = "train", .limit = 3};
    set = open_set(spec, &train);
    assert_int_equal(px_dataset_count(set), 3);
    px_dataset_close(set);
    const px_data_options val = {.split = "val"};
    refuse(spec, &val, PX_E_USAGE, "test, train");
}

static void test_class_folders(void **state)
{
    (void)state;
    write_folders("set");
    check_folders("set");
    check_folders("./set/");
    px_dataset *set = open_set("set/train", NULL); /* a split on its own has no splits */
    assert_int_equal(px_dataset_count(set), 6);
    px_dataset_close(set);
    const px_data_options train = {.split = "train"};
    refuse("set/train", &train, PX_E_USAGE, "no splits");
}

static void test_archives(void **state)
{
    (void)state;
    static const char *const names[] = {"a.tar", "a.tar.gz", "a.tar.xz",  "a.tgz",
                                        "a.zip", "deep.zip", "stored.zip"};
    write_folders("arc");
    assert_true(
        run_python("import tarfile, zipfile, os\n"
                   "for n, m in ('a.tar', 'w'), ('a.tar.gz', 'w:gz'), ('a.tgz', 'w:gz'), "
                   "('a.tar.xz', 'w:xz'):\n"
                   "  with tarfile.open(n, m) as t: t.add('arc', '.')\n"
                   "files = [os.path.join(d, f) for d, _, fs in os.walk('arc') for f in fs]\n"
                   "for n, m, k in ('a.zip', 8, 4), ('deep.zip', 8, 0), ('stored.zip', 0, 4):\n"
                   "  with zipfile.ZipFile(n, 'w', m) as z:\n"
                   "    for f in files: z.write(f, f[k:])\n"));
    for (size_t i = 0; i < COUNT(names); i++)
        check_folders(names[i]);
}

static void test_broken_archives(void **state)
{
    (void)state;
    static const char *const names[] = {"b.tar.gz", "b.tar.xz", "b.zip"};
    write_folders("brk");
    assert_true(run_python("import tarfile, zipfile, os\n"
                           "for n, m in ('b.tar.gz', 'w:gz'), ('b.tar.xz', 'w:xz'):\n"
                           "  with tarfile.open(n, m) as t: t.add('brk', '.')\n"
                           "with zipfile.ZipFile('b.zip', 'w', 8) as z:\n"
                           "  for d, _, fs in os.walk('brk'):\n"
                           "    for f in fs: z.write(os.path.join(d, f))\n"));
    for (size_t i = 0; i < COUNT(names); i++) {
        uint8_t bytes[1 << 15];
        FILE *file = fopen(names[i], "rb");
        const size_t size = fread(bytes, 1, sizeof bytes, file);
        fclose(file);
        for (size_t cut = 0; cut < size; cut += 37) {
            px_dataset *set = NULL;
            px_error err = {0};
            write_file(names[i], bytes, cut);
            if (px_dataset_open(names[i], NULL, &set, &err) == PX_OK) {
                px_dataset_close(set); /* the end of a tar is padding */
                assert_true(cut + 512 > size);
            } else {
                assert_non_null(strstr(err.message, names[i]));
            }
        }
    }
    write_text("text.zip", "this is not an archive at all");
    refuse("text.zip", NULL, PX_E_INPUT, "text.zip");
    write_text("text.tar", "this is not an archive at all");
    refuse("text.tar", NULL, PX_E_INPUT, "text.tar");
}

static void test_sizes_and_channels(void **state)
{
    (void)state;
    px_error err = {0};
    float pixels[3 * 8 * 8];
    mkdir("mixed", 0777);
    mkdir("mixed/a", 0777);
    write_picture("mixed/a/1.png", 8, 8, 3, 100);
    write_picture("mixed/a/2.png", 5, 9, 1, 50);
    px_dataset *set = open_set("mixed", NULL);
    assert_int_equal(px_dataset_pixels(set, 0, pixels, &err), PX_OK);
    assert_int_equal(px_dataset_pixels(set, 1, pixels, &err), PX_E_MISMATCH);
    assert_non_null(strstr(err.message, "mixed"));
    assert_non_null(strstr(err.message, "a/2.png"));
    assert_non_null(strstr(err.message, "--size"));
    px_dataset_close(set);
    static const px_data_options wanted[] = {{.height = 4, .width = 6, .channels = 3},
                                             {.height = 8, .width = 8, .channels = 1}};
    for (size_t i = 0; i < COUNT(wanted); i++) {
        set = open_set("mixed", &wanted[i]);
        for (int k = 0; k < 2; k++) {
            assert_int_equal(px_dataset_pixels(set, k, pixels, &err), PX_OK);
            assert_true(pixels[0] == (k ? 50.0f : 100.0f));
        }
        px_dataset_close(set);
    }
    const px_data_options five = {.channels = 5};
    refuse("mixed", &five, PX_E_MISMATCH, "channels");
}

static bool damage_stop(void *context, int64_t done, int64_t total)
{
    (void)context;
    (void)done;
    (void)total;
    return false;
}

/* Two of three pictures are damaged. */
static void test_damage(const px_dataset *set)
{
    px_error err = {0};
    px_damage *list = NULL;
    size_t count = 0;
    assert_int_equal(px_dataset_damaged(set, 2, NULL, NULL, &list, &count, &err), PX_OK);
    assert_int_equal(count, 2);
    assert_int_equal(list[0].index, 1);
    assert_string_equal(list[0].name, "a/2.jpg");
    assert_non_null(strstr(list[1].reason, "the file is empty"));
    px_damage_free(list, count);
    assert_int_equal(px_dataset_damaged(set, 1, damage_stop, NULL, &list, &count, &err),
                     PX_E_CANCELLED);
}

/* What is left has the indices of the source. */
static void test_skip_damaged(void **state)
{
    (void)state;
    float pixels[64];
    px_error err = {0};
    size_t count = 0;
    px_data_options options = px_data_options_default();
    mkdir("half", 0777);
    mkdir("half/a", 0777);
    write_text("half/a/1.png", "not a picture");
    write_picture("half/a/2.png", 8, 8, 1, 100);
    write_text("half/a/3.png", "");
    write_picture("half/a/4.png", 8, 8, 1, 50);
    refuse("half", NULL, PX_E_INPUT, "1 more of 4 inputs is damaged too (a/3.png)");
    options.skip_damaged = true;
    px_dataset *set = open_set("half", &options);
    assert_int_equal(px_dataset_count(set), 2);
    assert_int_equal(px_dataset_index(set, 0), 1);
    assert_int_equal(px_dataset_index(set, 1), 3);
    assert_int_equal(px_dataset_pixels(set, 1, pixels, &err), PX_OK);
    assert_true(pixels[0] == 50.0f);
    const px_damage *skipped = px_dataset_skipped(set, &count);
    assert_int_equal(count, 2);
    assert_int_equal(skipped[1].index, 2);
    assert_string_equal(px_dataset_remark(set, 0), "2 of 4 inputs are damaged and left out");
    px_dataset_close(set);
    options.limit = 1;
    refuse("half", &options, PX_E_INPUT, "all of its 1 inputs are damaged");
    options.limit = 0;
    options.progress = damage_stop;
    refuse("half", &options, PX_E_CANCELLED, "");
}

/* Said once pictures were read, where their sizes differ. */
static void test_sizes_are_said(void **state)
{
    (void)state;
    char text[PX_SIZES_TEXT];
    float pixels[64];
    px_error err = {0};
    const px_data_options options = {.height = 8, .width = 8, .channels = 1};
    mkdir("sizes", 0777);
    mkdir("sizes/a", 0777);
    write_picture("sizes/a/1.png", 4, 4, 1, 100);
    write_picture("sizes/a/2.png", 4, 4, 1, 100);
    write_picture("sizes/a/3.png", 6, 5, 1, 100);
    px_dataset *set = open_set("sizes", &options);
    for (int twice = 0; twice < 2; twice++)
        for (int64_t i = 0; i < 3; i++) {
            assert_int_equal(px_dataset_pixels(set, i, pixels, &err), PX_OK);
            assert_true((px_dataset_sizes_remark(set, text) != NULL) == (twice || i == 2));
        }
    assert_non_null(strstr(text, "1 of 3 pictures were resized"));
    assert_non_null(strstr(text, "'a/3.png' is 6x5"));
    px_dataset_close(set);
}

/* Files that a user would take for inputs. */
static void test_foreign_formats(void **state)
{
    (void)state;
    mkdir("other", 0777);
    mkdir("other/a", 0777);
    write_text("other/a/1.webp", "RIFF");
    write_text("other/a/2.BMP", "BM");
    refuse("other", NULL, PX_E_INPUT, "2 files are of formats that are not read: ");
    write_picture("other/a/3.png", 2, 2, 1, 0);
    px_dataset *set = open_set("other", NULL);
    assert_int_equal(px_dataset_count(set), 1);
    assert_string_equal(px_dataset_remark(set, 0),
                        "2 files are of formats that are not read: a/1.webp, a/2.BMP");
    px_dataset_close(set);
}

static void test_bad_pictures(void **state)
{
    (void)state;
    px_error err = {0};
    float pixels[64];
    mkdir("bad", 0777);
    mkdir("bad/a", 0777);
    write_picture("bad/a/1.png", 8, 8, 1, 100);
    write_text("bad/a/2.jpg", "not a picture");
    write_text("bad/a/3.jpg", "");
    assert_int_equal(mkfifo("bad/pipe.png", 0666), 0);
    px_dataset *set = open_set("bad", NULL); /* the pipe is not a file and not waited for */
    assert_int_equal(px_dataset_count(set), 3);
    assert_int_equal(px_dataset_pixels(set, 1, pixels, &err), PX_E_INPUT);
    assert_string_equal(err.message, "'bad/a/2.jpg': neither PNG nor JPEG; 1 more of 3 inputs is "
                                     "damaged too (a/3.jpg): --skip-damaged leaves them out");
    assert_int_equal(px_dataset_pixels(set, 2, pixels, &err), PX_E_INPUT);
    assert_non_null(strstr(err.message, "'bad/a/2.jpg'")); /* the first, whichever is met */
    test_damage(set);
    unlink("bad/a/1.png");
    assert_int_equal(px_dataset_pixels(set, 0, pixels, &err), PX_E_INPUT);
    assert_non_null(strstr(err.message, "bad/a/1.png"));
    px_dataset_close(set);
    mkdir("empty", 0777);
    refuse("empty", NULL, PX_E_INPUT, "holds no data set");
    refuse("absent", NULL, PX_E_INPUT, "no such file");
    write_text("what.bin", "x");
    refuse("what.bin", NULL, PX_E_INPUT, "not a data set");
}

/* --- CIFAR ----------------------------------------------------------------------------------- */

static void write_cifar(const char *path, int head, int records, int label)
{
    uint8_t record[2 + 3072];
    FILE *file = fopen(path, "wb");
    for (int i = 0; i < records; i++) {
        memset(record, i, sizeof record);
        record[head - 1] = (uint8_t)(label + i);
        record[head + 1024] = 77; /* the first green pixel */
        fwrite(record, 1, (size_t)head + 3072, file);
    }
    fclose(file);
}

static void test_cifar(void **state)
{
    (void)state;
    static float pixels[3072];
    px_error err = {0};
    mkdir("c10", 0777);
    mkdir("c10/cifar-10-batches-bin", 0777);
    write_cifar("c10/cifar-10-batches-bin/data_batch_1.bin", 1, 3, 0);
    write_cifar("c10/cifar-10-batches-bin/data_batch_2.bin", 1, 2, 5);
    write_cifar("c10/cifar-10-batches-bin/test_batch.bin", 1, 2, 8);
    px_dataset *set = open_set("c10", NULL);
    assert_int_equal(px_dataset_count(set), 2);
    assert_string_equal(px_dataset_class_name(set, 9), "truck");
    px_dataset_close(set);
    const px_data_options train = {.split = "train"};
    set = open_set("c10", &train);
    assert_int_equal(px_dataset_count(set), 5);
    assert_int_equal(px_dataset_label(set, 4), 6);
    assert_int_equal(px_dataset_pixels(set, 4, pixels, &err), PX_OK);
    assert_true(pixels[0] == 1.0f && pixels[1024] == 77.0f && pixels[3071] == 1.0f);
    px_dataset_close(set);
    write_cifar("c10/cifar-10-batches-bin/test_batch.bin", 1, 3, 8); /* label 10 */
    refuse("c10", NULL, PX_E_INPUT, "label 10 of record 2");
    assert_int_equal(truncate("c10/cifar-10-batches-bin/test_batch.bin", 3000), 0);
    refuse("c10", NULL, PX_E_INPUT, "truncated");

    mkdir("c100", 0777);
    write_cifar("c100/test.bin", 2, 2, 98);
    write_text("c100/fine_label_names.txt", "apple\nfish\n");
    set = open_set("c100", NULL);
    assert_int_equal(px_dataset_class_count(set), 100);
    assert_int_equal(px_dataset_label(set, 1), 99);
    assert_string_equal(px_dataset_class_name(set, 1), "fish");
    px_dataset_close(set);
}

/* --- arrays ---------------------------------------------------------------------------------- */

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

/* --- threads, real data ---------------------------------------------------------------------- */

typedef struct reader {
    const px_dataset *set;
    double sum;
} reader;

static void *read_all(void *context)
{
    reader *r = context;
    float pixels[28 * 28];
    for (int64_t i = 0; i < px_dataset_count(r->set); i++) {
        if (px_dataset_pixels(r->set, i, pixels, NULL) != PX_OK)
            return NULL;
        for (int k = 0; k < 12; k++)
            r->sum += (double)pixels[k];
    }
    return r;
}

static void test_many_threads(void **state)
{
    (void)state;
    write_folders("par");
    assert_true(run_python("import zipfile, os\n"
                           "with zipfile.ZipFile('par.zip', 'w', 8) as z:\n"
                           "  for d, _, fs in os.walk('par'):\n"
                           "    for f in fs: z.write(os.path.join(d, f))\n"));
    static const char *const specs[] = {"par", "par.zip", "digits"};
    for (size_t s = 0; s < COUNT(specs); s++) {
        const px_data_options options = {.limit = 200};
        px_dataset *set = open_set(specs[s], &options);
        pthread_t threads[4];
        reader readers[4];
        for (int i = 0; i < 4; i++) {
            readers[i] = (reader){set, 0.0};
            assert_int_equal(pthread_create(&threads[i], NULL, read_all, &readers[i]), 0);
        }
        for (int i = 0; i < 4; i++) {
            void *result = NULL;
            pthread_join(threads[i], &result);
            assert_non_null(result);
            assert_true(readers[i].sum == readers[0].sum);
        }
        px_dataset_close(set);
    }
}

static void test_real_cifar_archive(void **state)
{
    (void)state;
    static const int64_t counts[] = {10000, 50000};
    static const char *const splits[] = {"test", "train"};
    static float pixels[3072];
    char path[512];
    px_error err = {0};
    if (!shared_path("data/cifar10/cifar10-jpeg.tar.xz", path, sizeof path))
        skip();
    for (int s = 0; s < 2; s++) {
        const px_data_options options = {.split = splits[s]};
        int seen[10] = {0};
        px_dataset *set = open_set(path, &options);
        assert_int_equal(px_dataset_count(set), counts[s]);
        assert_string_equal(px_dataset_class_name(set, 0), "airplane");
        for (int64_t i = 0; i < counts[s]; i++)
            seen[px_dataset_label(set, i)]++;
        for (int c = 0; c < 10; c++)
            assert_int_equal(seen[c], counts[s] / 10);
        for (int i = 0; i < 10; i++)
            assert_int_equal(px_dataset_pixels(set, i, pixels, &err), PX_OK);
        px_dataset_close(set);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_class_folders),
        cmocka_unit_test(test_archives),
        cmocka_unit_test(test_broken_archives),
        cmocka_unit_test(test_sizes_and_channels),
        cmocka_unit_test(test_bad_pictures),
        cmocka_unit_test(test_cifar),
        cmocka_unit_test(test_arrays),
        cmocka_unit_test(test_array_labels_are_checked),
        cmocka_unit_test(test_one_hot),
        cmocka_unit_test(test_skip_damaged),
        cmocka_unit_test(test_sizes_are_said),
        cmocka_unit_test(test_foreign_formats),
        cmocka_unit_test(test_targets),
        cmocka_unit_test(test_targets_are_checked),
        cmocka_unit_test(test_packed_and_fortran_arrays),
        cmocka_unit_test(test_many_threads),
        cmocka_unit_test(test_real_cifar_archive),
    };
    return cmocka_run_group_tests(tests, enter_folder, leave_folder);
}
