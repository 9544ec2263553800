/* tests/data/test_classes.c - classes of data and of a network meet by name */
/* SPDX-License-Identifier: Apache-2.0 */
#include "data/class_map.h"
#include "data/data_helpers.h"
#include <internal/data.h>
#include <internal/picture.h>

#define COUNT(array) (sizeof(array) / sizeof(array)[0])
enum { MOST = 12 };

/* Class folders with one picture each, but for those that end in '/': these are empty. */
static void make_folders(const char *root, const char *const *classes)
{
    char path[256];
    px_error err = {0};
    const uint8_t pixel = 7;
    mkdir(root, 0777);
    for (size_t i = 0; classes[i]; i++) {
        snprintf(path, sizeof path, "%s/%s", root, classes[i]);
        const bool empty = path[strlen(path) - 1] == '/';
        mkdir(path, 0777);
        strcat(path, "/p.png");
        if (!empty)
            assert_int_equal(px_png_save(path, 1, 1, 1, &pixel, &err), PX_OK);
    }
}

static void remove_folders(const char *root)
{
    assert_int_equal(nftw(root, remove_one, 16, FTW_DEPTH | FTW_PHYS), 0);
}

static size_t names_count(const char *const *names)
{
    size_t count = 0;
    while (names[count])
        count++;
    return count;
}

static const struct {
    const char *what;
    const char *data[MOST];    /* folders, in byte order */
    const char *network[MOST]; /* in its own order */
    int labels[MOST];
    const char *remark; /* NULL: none */
} meets[] = {
    {"another order", {"a", "b", "c"}, {"c", "a", "b"}, {1, 2, 0}, NULL},
    {"one is absent",
     {"cat", "dog"},
     {"cat", "deer", "dog"},
     {0, 2},
     "the data have 2 of the network's 3 classes; 'deer' never comes"},
    {"several are absent",
     {"dog"},
     {"cat", "deer", "dog"},
     {2},
     "the data have 1 of the network's 3 classes; cat, deer never come"},
    {"case, blanks, lines", {"T-Shirt", "ankle_boot"}, {"Ankle Boot", "t shirt"}, {1, 0}, NULL},
    {"letter by letter beats folded", {"Cat", "cat"}, {"cat", "Cat"}, {1, 0}, NULL},
    {"two spellings of one class", {"Cat", "cat-"}, {"dog", "CAT"}, {1, 1}, "{*}'dog' never comes"},
    {"numbers are numbers, whatever their byte order",
     {"0", "1", "10", "2"},
     {"a", "b", "c", "d", "e", "f", "g", "h", "i", "j", "k"},
     {0, 1, 10, 2},
     "d, e, f, g, h, i, j never come"},
    {"numbers as names of both", {"1", "2", "3"}, {"3", "2", "1"}, {2, 1, 0}, NULL},
    {"numbers of classes with names", {"0", "2"}, {"a", "b", "c"}, {0, 2}, "{*}'b' never comes"},
    {"an empty folder has no say", {"a", "b", "zebra/"}, {"b", "a"}, {1, 0}, NULL},
};

static void test_meets(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(meets); i++) {
        px_dataset *set = NULL;
        px_error err = {0};
        px_data_options options = px_data_options_default();
        options.class_names = meets[i].network;
        options.class_count = (int)names_count(meets[i].network);
        make_folders("set", meets[i].data);
        const px_status status = px_dataset_open("set", &options, &set, &err);
        if (status != PX_OK)
            fail_msg("%s: %s", meets[i].what, err.message);
        assert_int_equal(px_dataset_class_count(set), options.class_count);
        for (int64_t k = 0; k < px_dataset_count(set); k++)
            if (px_dataset_label(set, k) != meets[i].labels[k])
                fail_msg("%s: label %d of sample %d", meets[i].what, (int)px_dataset_label(set, k),
                         (int)k);
        for (int c = 0; c < options.class_count; c++)
            assert_string_equal(px_dataset_class_name(set, c), meets[i].network[c]);
        const char *remark = px_dataset_remark_count(set) ? px_dataset_remark(set, 0) : NULL;
        const char *want = meets[i].remark;
        if ((want != NULL) != (remark != NULL) ||
            (want && !strstr(remark, strncmp(want, "{*}", 3) == 0 ? want + 3 : want)))
            fail_msg("%s: remark '%s'", meets[i].what, remark ? remark : "");
        px_dataset_close(set);
        remove_folders("set");
    }
}

static const struct {
    const char *what;
    const char *data[MOST], *network[MOST];
    const char *says[3];
    int64_t labels[MOST]; /* where any classes may come */
} clashes[] = {
    {"a slip",
     {"cat", "dgo"},
     {"cat", "dog"},
     {"'set': class 'dgo' is not one of the network's 2: cat, dog", "did you mean 'dog'?",
      "the data have cat, dgo"},
     {0, -1}},
    {"nothing near",
     {"cat", "kangaroo"},
     {"cat", "dog"},
     {"class 'kangaroo' is not one of the network's 2: cat, dog (the data"},
     {0, -1}},
    {"two of three",
     {"ant", "bee", "cat"},
     {"cat", "dog"},
     {"class 'ant' and 1 more of its 3"},
     {-1, -1, 0}},
    {"none at all",
     {"ant", "bee"},
     {"cat", "dog"},
     {"none of its classes (ant, bee) is one of the network's 2 (cat, dog)", "--classes LIST",
      "--classes none"},
     {-1, -1}},
    {"ambiguous",
     {"t_shirt"},
     {"T-shirt", "t shirt"},
     {"could be class 0 of the network ('T-shirt') or class 1 ('t shirt')"},
     {-1}},
    {"the network repeats itself",
     {"crane", "dog"},
     {"crane", "dog", "crane"},
     {"class 0", "class 2"},
     {-1, 1}},
    {"a number beyond",
     {"0", "1", "7"},
     {"a", "b"},
     {"class '7' is not one of the network's 2: a, b"},
     {0, 1, -1}},
    {"other numbers",
     {"0", "1"},
     {"1", "2"},
     {"class '0' is not one of the network's 2: 1, 2"},
     {-1, 0}},
};

static void test_clashes(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(clashes); i++) {
        px_dataset *set = NULL;
        px_error err = {0};
        px_data_options options = px_data_options_default();
        options.class_names = clashes[i].network;
        options.class_count = (int)names_count(clashes[i].network);
        make_folders("set", clashes[i].data);
        if (px_dataset_open("set", &options, &set, &err) != PX_E_MISMATCH)
            fail_msg("%s: '%s'", clashes[i].what, err.message);
        for (size_t k = 0; k < COUNT(clashes[i].says) && clashes[i].says[k]; k++)
            if (!strstr(err.message, clashes[i].says[k]))
                fail_msg("%s: '%s'", clashes[i].what, err.message);
        options.any_classes = true;
        assert_int_equal(px_dataset_open("set", &options, &set, NULL), PX_OK);
        assert_string_equal(px_dataset_class_match(set).unknown, err.message);
        for (int64_t k = 0; k < px_dataset_count(set); k++)
            if (px_dataset_label(set, k) != clashes[i].labels[k])
                fail_msg("%s: label %d of sample %d", clashes[i].what,
                         (int)px_dataset_label(set, k), (int)k);
        px_dataset_close(set);
        remove_folders("set");
    }
}

/* Long lists are cut, and the sentence stays whole. */
static void test_many_classes(void **state)
{
    (void)state;
    enum { CLASSES = 20000 };
    static char texts[CLASSES][24];
    static const char *names[CLASSES];
    px_error err = {0};
    px_dataset *set = NULL;
    px_data_options options = px_data_options_default();
    for (int i = 0; i < CLASSES; i++) {
        snprintf(texts[i], sizeof texts[i], "a class number %d", CLASSES - i);
        names[i] = texts[i];
    }
    options.class_names = names;
    options.class_count = CLASSES;
    make_folders("set", (const char *const[]){"A-class-number-20000", "a class number 1", NULL});
    assert_int_equal(px_dataset_open("set", &options, &set, &err), PX_OK);
    assert_int_equal(px_dataset_label(set, 0), 0);
    assert_int_equal(px_dataset_label(set, 1), CLASSES - 1);
    assert_non_null(strstr(px_dataset_remark(set, 0), " more never come"));
    px_dataset_close(set);
    mkdir("set/zebra", 0777);
    const uint8_t pixel = 0;
    assert_int_equal(px_png_save("set/zebra/1.png", 1, 1, 1, &pixel, &err), PX_OK);
    assert_int_equal(px_dataset_open("set", &options, &set, &err), PX_E_MISMATCH);
    assert_non_null(strstr(err.message, "class 'zebra' is not one of the network's 20000: "));
    assert_non_null(strstr(err.message, " more (the data have A-class-number-20000, "));
    remove_folders("set");
}

static void test_manifest_place(void **state)
{
    (void)state;
    static const char *const names[] = {"cat", "dog"};
    px_error err = {0};
    px_dataset *set = NULL;
    px_data_options options = px_data_options_default();
    const uint8_t pixel = 0;
    options.class_names = names;
    options.class_count = 2;
    assert_int_equal(px_png_save("p.png", 1, 1, 1, &pixel, &err), PX_OK);
    write_text("m.csv", "path,label\n\np.png,dog\np.png,\"dgo\"\np.png,cat\n");
    assert_int_equal(px_dataset_open("m.csv", &options, &set, &err), PX_E_MISMATCH);
    assert_non_null(strstr(err.message, "'m.csv': line 4: class 'dgo' is not one of"));
    write_text("m.csv", "path,label\np.png,1\n\np.png,2\n");
    assert_int_equal(px_dataset_open("m.csv", &options, &set, &err), PX_OK);
    assert_int_equal(px_dataset_check_labels(set, 2, &err), PX_E_MISMATCH);
    assert_non_null(strstr(err.message, "'m.csv': line 4: label 2 of sample 'p.png'"));
    px_dataset_close(set);
}

/* Only one side has names, and the numbers differ. */
static void test_doubt(void **state)
{
    (void)state;
    static const char *const names[] = {"a", "b", "c"};
    char text[PX_CLASSES_TEXT];
    px_error err = {0};
    px_dataset *set = NULL;
    px_data_options options = px_data_options_default();
    make_folders("set", (const char *const[]){"ant", "bee", NULL});
    assert_int_equal(px_dataset_open("set", &options, &set, &err), PX_OK);
    assert_null(px_dataset_classes_doubt(set, 2, text));
    assert_non_null(px_dataset_classes_doubt(set, 3, text));
    assert_non_null(strstr(text, "2 classes (ant, bee) and the network 3 without names"));
    assert_int_equal(px_dataset_check_labels(set, 1, &err), PX_E_MISMATCH);
    assert_non_null(strstr(err.message, "the data have 2 classes (ant, bee), the network 1"));
    px_dataset_close(set);
    write_text("m.csv", "p.png,0\np.png,1\n");
    options.class_names = names;
    options.class_count = 3;
    assert_int_equal(px_dataset_open("m.csv", &options, &set, &err), PX_OK);
    assert_non_null(px_dataset_classes_doubt(set, 3, text));
    assert_non_null(strstr(text, "the data have 2 classes and the network 3"));
    assert_non_null(px_dataset_classes_doubt(set, 4, text));
    assert_non_null(strstr(text, "has 4 classes and names for 3"));
    assert_string_equal(px_dataset_class_name(set, 2), "c");
    px_dataset_close(set);
    remove_folders("set");
}

static const struct {
    const char *text, *names; /* joined by '|'; NULL: refused */
} lists[] = {
    {"cat,dog", "cat|dog"},
    {" cat , the dog ", "cat|the dog"},
    {"lines.txt", "cat|a, b|dog"},
    {"list.json", "x|y"},
    {"map.json", "x|y"},
    {"cat", NULL},
    {"cat,,dog", NULL},
    {"empty.txt", NULL},
    {"bad.json", NULL},
};

static void test_lists(void **state)
{
    (void)state;
    write_text("lines.txt", "\xef\xbb\xbf"
                            "cat\r\na, b\n\ndog");
    write_text("list.json", "\n[\"x\", \"y\"]");
    write_text("map.json", "{\"1\": \"y\", \"0\": \"x\"}");
    write_text("bad.json", "[1, 2]");
    write_text("empty.txt", "\n\n");
    for (size_t i = 0; i < COUNT(lists); i++) {
        char **names = NULL, got[128] = "";
        int count = 0;
        px_error err = {0};
        const px_status status = px_class_names_read(lists[i].text, &names, &count, &err);
        if ((status == PX_OK) != (lists[i].names != NULL))
            fail_msg("%s: %s", lists[i].text, err.message);
        if (status != PX_OK) {
            assert_non_null(strstr(err.message, "--classes '"));
            continue;
        }
        for (int k = 0; k < count; k++)
            strcat(strcat(got, k ? "|" : ""), names[k]);
        assert_string_equal(got, lists[i].names);
        px_class_names_free(names, count);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_meets),        cmocka_unit_test(test_clashes),
        cmocka_unit_test(test_many_classes), cmocka_unit_test(test_manifest_place),
        cmocka_unit_test(test_doubt),        cmocka_unit_test(test_lists),
    };
    return cmocka_run_group_tests(tests, enter_folder, leave_folder);
}
