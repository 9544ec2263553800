/* tests/data/test_manifest.c - CSV manifests: fields, columns, labels, splits, paths */
/* SPDX-License-Identifier: Apache-2.0 */
#include "data/data_helpers.h"
#include "data/manifest.h"
#include <internal/picture.h>
#include <plexor/data.h>

#define COUNT(array) (sizeof(array) / sizeof(array)[0])

/* What the rows should be, joined: "path=label/split;". */
static const struct {
    const char *name, *text, *rows;
} good[] = {
    {"two columns", "a.png,1\nb.png,2\n", "a.png=1/;b.png=2/;"},
    {"no end of line", "a.png,1\nb.png,2", "a.png=1/;b.png=2/;"},
    {"carriage returns", "a.png,1\r\nb.png,2\r\n", "a.png=1/;b.png=2/;"},
    {"blank lines", "\n\na.png,1\n\r\n\nb.png,2\n\n", "a.png=1/;b.png=2/;"},
    {"byte order mark",
     "\xef\xbb\xbf"
     "a.png,1\n",
     "a.png=1/;"},
    {"header", "path,label\na.png,cat\n", "a.png=cat/;"},
    {"header, other order", "Split,Class,id,File\ntest,dog,9,a.png\n", "a.png=dog/test;"},
    {"quotes", "\"a, b.png\",\"the \"\"cat\"\"\"\n", "a, b.png=the \"cat\"/;"},
    {"quoted line break", "\"a\nb.png\",\"x\"\r\nc.png,x", "a\nb.png=x/;c.png=x/;"},
    {"quoted, then end", "a.png,\"x\"", "a.png=x/;"},
    {"blanks around", "  a.png ,\t1  \n", "a.png=1/;"},
    {"paths only", "a.png\nb.png\n", "a.png=/;b.png=/;"},
    {"empty last field", "a.png,1,", "a.png=1/;"},
    {"third column", "a.png,1,train\nb.png,2,test\n", "a.png=1/train;b.png=2/test;"},
};

static void test_parses(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(good); i++) {
        char text[256], got[256] = "";
        pxi_manifest_row *rows = NULL;
        size_t count = 0, used = 0;
        px_error err = {0};
        strcpy(text, good[i].text);
        if (pxi_manifest_parse(text, strlen(text), "m.csv", &rows, &count, &err) != PX_OK)
            fail_msg("%s: %s", good[i].name, err.message);
        for (size_t k = 0; k < count; k++)
            used += (size_t)snprintf(got + used, sizeof got - used, "%s=%s/%s;", rows[k].path,
                                     rows[k].label, rows[k].split);
        if (strcmp(got, good[i].rows) != 0)
            fail_msg("%s: '%s'", good[i].name, got);
        free(rows);
    }
}

static const struct {
    const char *name, *text;
    size_t size;
    const char *says;
} bad[] = {
#define BAD(name, text, says)             \
    {                                     \
        name, text, sizeof text - 1, says \
    }
    BAD("empty", "", "no samples"),
    BAD("header only", "path,label\n", "no samples"),
    BAD("open quote", "a.png,1\n\"b.png,2\n", "line 2: a quote"),
    BAD("text after quote", "\"a\"b,1\n", "line 1: text after"),
    BAD("no path", "a.png,1\n,2\n", "line 2: no path"),
    BAD("no label", "a.png,1\nb.png\n", "line 2: 'b.png' has no label"),
    BAD("sudden label", "a.png\nb.png,1\n", "line 2: has a label"),
    BAD("binary", "a.png\0,1\n", "not a text"),
    BAD("stray carriage return", "\"a\"\rb,1\n", "carriage return"),
#undef BAD
};

static void test_refuses(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(bad); i++) {
        char text[256] = "";
        pxi_manifest_row *rows = NULL;
        size_t count = 0;
        px_error err = {0};
        memcpy(text, bad[i].text, bad[i].size);
        const px_status status =
            pxi_manifest_parse(text, bad[i].size, "m.csv", &rows, &count, &err);
        if (status != PX_E_INPUT || !strstr(err.message, bad[i].says) ||
            !strstr(err.message, "m.csv"))
            fail_msg("%s: %s '%s'", bad[i].name, px_status_name(status), err.message);
    }
}

static void write_pictures(void)
{
    static const char *const names[] = {"a.png", "sub/b.png", "c.png"};
    px_error err = {0};
    mkdir("sub", 0777);
    for (uint8_t i = 0; i < 3; i++)
        assert_int_equal(px_png_save(names[i], 1, 1, 1, &i, &err), PX_OK);
}

static const struct {
    const char *name, *text, *split;
    int64_t count;
    int classes;
    int labels[3];
    float pixels[3];
    const char *last; /* name of the last class */
} sets[] = {
    {"numbers", "a.png,2\nsub/b.png,0\nc.png,2\n", NULL, 3, 3, {2, 0, 2}, {0, 1, 2}, NULL},
    {"names", "c.png,dog\n./sub/b.png,ant\na.png,cat\n", NULL, 3, 3, {2, 0, 1}, {2, 1, 0}, "dog"},
    {"mixed is names", "a.png,2\nc.png,x\n", NULL, 2, 2, {0, 1}, {0, 2}, "x"},
    {"default split", "a.png,0,train\nc.png,7,test\n", NULL, 1, 8, {7}, {2}, NULL},
    {"train split", "a.png,x,train\nc.png,y,test\n", "training", 1, 2, {0}, {0}, "y"},
    {"no labels", "a.png\nc.png\n", NULL, 2, 0, {-1, -1}, {0, 2}, NULL},
};

static void test_sets(void **state)
{
    (void)state;
    write_pictures();
    for (size_t i = 0; i < COUNT(sets); i++) {
        px_dataset *set = NULL;
        px_error err = {0};
        const px_data_options options = {.split = sets[i].split};
        write_text("m.csv", sets[i].text);
        if (px_dataset_open("m.csv", &options, &set, &err) != PX_OK)
            fail_msg("%s: %s", sets[i].name, err.message);
        assert_int_equal(px_dataset_count(set), sets[i].count);
        if (px_dataset_class_count(set) != sets[i].classes)
            fail_msg("%s: %d classes", sets[i].name, px_dataset_class_count(set));
        for (int64_t k = 0; k < sets[i].count; k++) {
            float pixel;
            if (px_dataset_label(set, k) != sets[i].labels[k])
                fail_msg("%s: label %d", sets[i].name, (int)px_dataset_label(set, k));
            assert_int_equal(px_dataset_pixels(set, k, &pixel, &err), PX_OK);
            assert_true(pixel == sets[i].pixels[k]);
        }
        const char *last = px_dataset_class_name(set, sets[i].classes - 1);
        if (sets[i].last)
            assert_string_equal(last, sets[i].last);
        else
            assert_null(last);
        px_dataset_close(set);
    }
}

static const struct {
    const char *name, *text, *split, *says;
} unusable[] = {
    {"absent file", "nowhere.png,1\n", NULL, "nowhere.png"},
    {"endless file", "/dev/zero,1\n", NULL, "not a regular file"},
    {"folder", "sub,1\n", NULL, "not a regular file"},
    {"not a picture", "m.csv,1\n", NULL, "neither PNG nor JPEG"},
    {"huge label", "a.png,99999999999999\n", NULL, "out of range"},
    {"no such split", "a.png,1,train\n", "val", "it has train"},
    {"no splits", "a.png,1\n", "train", "has no splits"},
};

static void test_unusable(void **state)
{
    (void)state;
    write_pictures();
    for (size_t i = 0; i < COUNT(unusable); i++) {
        px_dataset *set = NULL;
        px_error err = {0};
        const px_data_options options = {.split = unusable[i].split};
        write_text("m.csv", unusable[i].text);
        const px_status status = px_dataset_open("m.csv", &options, &set, &err);
        const px_status wanted = unusable[i].split ? PX_E_USAGE : PX_E_INPUT;
        if (status != wanted || !strstr(err.message, unusable[i].says))
            fail_msg("%s: %s '%s'", unusable[i].name, px_status_name(status), err.message);
    }
}

static void test_in_folder_and_archive(void **state)
{
    (void)state;
    static const char *const specs[] = {"box", "box.zip", "box.tar"};
    mkdir("box", 0777);
    mkdir("box/pictures", 0777);
    const uint8_t pixel = 9;
    px_error err = {0};
    assert_int_equal(px_png_save("box/pictures/a.png", 1, 1, 1, &pixel, &err), PX_OK);
    write_text("box/labels.csv", "filename,label\npictures/a.png,4\n");
    assert_true(run_python("import zipfile, tarfile\n"
                           "with zipfile.ZipFile('box.zip', 'w') as z:\n"
                           "  z.write('box/labels.csv'); z.write('box/pictures/a.png')\n"
                           "with tarfile.open('box.tar', 'w') as t: t.add('box')\n"));
    for (size_t i = 0; i < COUNT(specs); i++) {
        px_dataset *set = NULL;
        float value;
        if (px_dataset_open(specs[i], NULL, &set, &err) != PX_OK)
            fail_msg("%s", err.message);
        assert_int_equal(px_dataset_label(set, 0), 4);
        assert_int_equal(px_dataset_pixels(set, 0, &value, &err), PX_OK);
        assert_true(value == 9.0f);
        px_dataset_close(set);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_parses),
        cmocka_unit_test(test_refuses),
        cmocka_unit_test(test_sets),
        cmocka_unit_test(test_unusable),
        cmocka_unit_test(test_in_folder_and_archive),
    };
    return cmocka_run_group_tests(tests, enter_folder, leave_folder);
}
