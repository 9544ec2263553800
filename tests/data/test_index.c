/* tests/data/test_index.c - indexes of class folders, and tar shards */
/* SPDX-License-Identifier: Apache-2.0 */
#include "data/dataset_helpers.h"

#include <internal/data.h>
#include <internal/data_index.h>

/* Everything that may be asked of two data sets is the same. */
static void check_same(const px_dataset *a, const px_dataset *b)
{
    char x[512], y[512];
    px_error err = {0};
    assert_int_equal(px_dataset_count(a), px_dataset_count(b));
    assert_int_equal(px_dataset_class_count(a), px_dataset_class_count(b));
    assert_string_equal(px_dataset_describe(a), px_dataset_describe(b));
    assert_true(px_dataset_hash(a) == px_dataset_hash(b));
    for (int64_t i = 0; i < px_dataset_count(a); i++) {
        float p[64], q[64];
        assert_string_equal(px_dataset_name(a, i, x, sizeof x), px_dataset_name(b, i, y, sizeof y));
        assert_int_equal(px_dataset_label(a, i), px_dataset_label(b, i));
        assert_int_equal(px_dataset_pixels(a, i, p, &err), PX_OK);
        assert_int_equal(px_dataset_pixels(b, i, q, &err), PX_OK);
        assert_memory_equal(p, q, 12 * sizeof *p);
    }
}

static px_index_made make_index(const char *spec, const char *split)
{
    px_index_made made;
    px_error err = {0};
    if (px_data_index(spec, split, NULL, NULL, &made, &err) != PX_OK)
        fail_msg("%s", err.message);
    return made;
}

static void refuse_index(const char *spec, px_status status, const char *says)
{
    px_index_made made;
    px_error err = {0};
    const px_status got = px_data_index(spec, NULL, NULL, NULL, &made, &err);
    if (got != status || !strstr(err.message, says))
        fail_msg("'%s': %s '%s'", spec, px_status_name(got), err.message);
}

/* The index is used, or it is not and a remark says `why`. */
static px_dataset *open_remarked(const char *spec, const char *why)
{
    px_dataset *set = open_set(spec, NULL);
    const size_t remarks = px_dataset_remark_count(set);
    if (why && (remarks != 1 || !strstr(px_dataset_remark(set, 0), why)))
        fail_msg("'%s': %s", spec, remarks ? px_dataset_remark(set, 0) : "no remark");
    if (!why && remarks)
        fail_msg("'%s': %s", spec, px_dataset_remark(set, 0));
    return set;
}

static void test_folders(void **state)
{
    (void)state;
    write_folders("set");
    px_dataset *plain = open_set("set", NULL);
    const px_index_made made = make_index("set", NULL);
    assert_int_equal(made.count, 6);
    assert_int_equal(made.class_count, 3);
    assert_int_equal(made.parts, 5); /* itself, test, and its classes */
    assert_string_equal(made.kind, "pictures");
    assert_non_null(strstr(made.path, "/set.plexor-index"));
    px_dataset *indexed = open_remarked("set/", NULL);
    check_same(plain, indexed);
    px_dataset_close(indexed);
    px_dataset_close(plain);
    const px_data_options train = {.split = "train"};
    plain = open_set("set", &train);
    assert_non_null(strstr(make_index("set", "train").path, "/set.train.plexor-index"));
    indexed = open_set("set", &train);
    check_same(plain, indexed);
    px_dataset_close(plain);
    px_dataset_close(indexed);
    refuse_index("program.py", PX_E_INPUT, "cannot open");
    write_text("one.csv", "set/test/ant/0.png,1\n");
    refuse_index("one.csv", PX_E_UNSUPPORTED, "class folders of pictures and tar shards");
}

/* A file that comes or goes makes an index old; it is used again once the folder is as it was. */
static void test_changes(void **state)
{
    (void)state;
    struct stat before;
    write_folders("chg");
    make_index("chg", NULL);
    assert_int_equal(stat("chg/test/bee", &before), 0);
    write_picture("chg/test/bee/1.png", 4, 3, 1, 11);
    px_dataset *set = open_remarked("chg", "is older than 'test/bee'");
    assert_int_equal(px_dataset_count(set), 7);
    px_dataset_close(set);
    unlink("chg/test/bee/1.png");
    const struct timespec times[] = {before.st_atim, before.st_mtim};
    assert_int_equal(utimensat(AT_FDCWD, "chg/test/bee", times, 0), 0);
    px_dataset_close(open_remarked("chg", NULL));
    mkdir("chg/test/dog", 0777); /* a class of its own */
    set = open_remarked("chg", "is older than 'test'");
    assert_int_equal(px_dataset_class_count(set), 4);
    px_dataset_close(set);
    make_index("chg", NULL);
    set = open_remarked("chg", NULL);
    assert_int_equal(px_dataset_class_count(set), 4);
    unlink("chg/test/cat/0.png"); /* under an open data set */
    px_error err = {0};
    float pixels[12];
    assert_int_equal(px_dataset_pixels(set, 2, pixels, &err), PX_E_INPUT);
    assert_non_null(strstr(err.message, "chg/test/cat/0.png"));
    px_dataset_close(set);
}

/* Whatever byte is another one: the index is as good as before, or is not used and that is said,
 * or opening, which reads the first input, fails with that sentence. */
static void test_damage(void **state)
{
    (void)state;
    static uint8_t bytes[1 << 16];
    write_folders("dmg");
    px_dataset *plain = open_set("dmg", NULL);
    make_index("dmg", NULL);
    FILE *file = fopen("dmg.plexor-index", "rb");
    assert_non_null(file);
    const size_t size = fread(bytes, 1, sizeof bytes, file);
    fclose(file);
    int unused = 0, spoilt = 0;
    for (size_t i = 0; i < size + 20; i++) {
        if (i < size)
            bytes[i] ^= 0x41;
        write_file("dmg.plexor-index", bytes, i < size ? size : (size * (i - size)) / 20);
        px_dataset *set = NULL;
        px_error opening = {0};
        if (px_dataset_open("dmg", NULL, &set, &opening) != PX_OK) {
            assert_int_equal(opening.status, PX_E_IO);
            assert_non_null(strstr(opening.message, "'plexor index' makes it anew"));
            bytes[i] ^= 0x41;
            spoilt++;
            continue;
        }
        assert_int_equal(px_dataset_count(set), 6);
        unused += px_dataset_remark_count(set) > 0;
        for (int64_t k = 0; k < 6; k++) {
            assert_int_equal(px_dataset_label(set, k), px_dataset_label(plain, k));
        }
        px_dataset_close(set);
        if (i < size)
            bytes[i] ^= 0x41;
    }
    assert_true(unused > 100 && spoilt > 100);
    px_dataset_close(plain);
}

/* --- shards ---------------------------------------------------------------------------------- */

/* Six pictures of 4 x 3 in two shards, as the programs do that make shards. */
static bool write_shards(const char *folder, const char *labels, const char *more)
{
    char program[4096];
    snprintf(program, sizeof program,
             "import io, os, sys, tarfile\n"
             "from PIL import Image\n"
             "os.makedirs('%s', exist_ok=True)\n"
             "def png(v):\n"
             "  f = io.BytesIO(); Image.new('L', (4, 3), v).save(f, 'png'); return f.getvalue()\n"
             "def put(t, name, data):\n"
             "  i = tarfile.TarInfo(name); i.size = len(data); i.mtime = 1.7e9 + 0.5\n"
             "  t.addfile(i, io.BytesIO(data))\n"
             "labels = %s\n"
             "for s in range(2):\n"
             "  f = (tarfile.PAX_FORMAT, tarfile.GNU_FORMAT)[s]\n"
             "  with tarfile.open('%s/s-%%03d.tar' %% s, 'w', format=f) as t:\n"
             "    for i in range(3 * s, 3 * s + 3):\n"
             "      key = ('k%%d' %% i, 'a/' * 60 + 'k%%d' %% i)[i %% 2]\n"
             "      put(t, key + '.txt', b'a caption')\n"
             "      put(t, key + '.png', png(10 * i))\n"
             "      if labels[i] is not None: put(t, key + labels[i][0], labels[i][1])\n"
             "%s",
             folder, labels, folder, more);
    return run_python(program);
}

static void check_shards(const char *spec, const int *labels, const char *name)
{
    char text[512];
    px_dataset *set = open_remarked(spec, NULL);
    assert_int_equal(px_dataset_count(set), 6);
    assert_int_equal(px_dataset_has_labels(set), labels != NULL);
    for (int i = 0; i < 6; i++) {
        float pixels[12];
        px_error err = {0};
        if (px_dataset_pixels(set, i, pixels, &err) != PX_OK)
            fail_msg("%s", err.message);
        assert_true(pixels[11] == (float)(10 * i));
        assert_int_equal(px_dataset_label(set, i), labels ? labels[i] : -1);
    }
    assert_string_equal(px_dataset_name(set, 4, text, sizeof text), name);
    px_dataset_close(set);
}

#define CLS "[('.cls', b'%d\\n' % (i % 3)) for i in range(6)]"

static void test_shards(void **state)
{
    (void)state;
    static const int numbers[] = {0, 1, 2, 0, 1, 2}, names[] = {1, 0, 2, 1, 0, 2};
    if (!write_shards("wds", CLS, ""))
        skip();
    check_shards("wds/s-{000..001}.tar", numbers, "s-001.tar/k4.png");
    check_shards("wds", numbers, "s-001.tar/k4.png");
    px_dataset *plain = open_set("wds/s-{000..001}.tar", NULL);
    const px_index_made made = make_index("wds/s-{000..001}.tar", NULL);
    assert_int_equal(made.parts, 2);
    assert_int_equal(made.count, 6);
    assert_string_equal(made.kind, "shards");
    assert_non_null(strstr(made.path, "/wds/s-{000..001}.tar.plexor-index"));
    px_dataset *indexed = open_remarked("wds/s-{000..001}.tar", NULL);
    check_same(plain, indexed);
    px_dataset_close(plain);
    px_dataset_close(indexed);
    assert_non_null(strstr(make_index("wds", NULL).path, "/wds.plexor-index"));
    check_shards("wds", numbers, "s-001.tar/k4.png");
    px_dataset *one = open_set("wds/s-001.tar", NULL);
    assert_int_equal(px_dataset_count(one), 3);
    px_dataset_close(one);
    const px_data_options train = {.split = "train"};
    refuse("wds", &train, PX_E_USAGE, "no splits");
    refuse("wds/s-{000..001}.tar", &train, PX_E_USAGE, "no splits");
    refuse("wds/s-{000..002}.tar", NULL, PX_E_INPUT, "s-002.tar");
    refuse("wds/s-{001..000}.tar", NULL, PX_E_USAGE, "ends before it begins");
    refuse("wds/s-{000..001}.tar.gz", NULL, PX_E_INPUT, "not compressed");
    assert_true(write_shards("nam",
                             "[('.json', b'{\"id\": 5, \"label\": \"%s\"}' % n) for n in "
                             "(b'bee', b'ant', b'cow') * 2]",
                             ""));
    check_shards("nam", names, "s-001.tar/k4.png");
    one = open_set("nam", NULL);
    assert_string_equal(px_dataset_class_name(one, 2), "cow");
    px_dataset_close(one);
    assert_true(write_shards("non", "[('.json', b'{\"caption\": \"a\"}')] * 6", ""));
    check_shards("non", NULL, "s-001.tar/k4.png");
    assert_true(write_shards("spl/train", CLS, "os.rename('spl/train', 'spl/val')\n"));
    assert_true(write_shards("spl/train", CLS, ""));
    one = open_set("spl", &train);
    assert_int_equal(px_dataset_count(one), 6);
    px_dataset_close(one);
    refuse("spl", NULL, PX_E_USAGE, "it has train, val");
}

static void test_bad_shards(void **state)
{
    (void)state;
    if (!write_shards("bad", "[('.cls', b'1')] * 5 + [None]", ""))
        skip();
    refuse("bad", NULL, PX_E_INPUT, "1 of 6 samples of the shards have no class, 'a/a/");
    assert_true(write_shards("cut", CLS,
                             "d = open('cut/s-001.tar', 'rb').read()\n"
                             "open('cut/s-001.tar', 'wb').write(d[:5000])\n"));
    refuse("cut", NULL, PX_E_INPUT, "cut/s-001.tar': damaged at byte ");
    assert_true(write_shards("gzp", CLS,
                             "import gzip\nd = open('gzp/s-001.tar', 'rb').read()\n"
                             "open('gzp/s-001.tar', 'wb').write(gzip.compress(d))\n"));
    refuse("gzp", NULL, PX_E_INPUT, "not an uncompressed tar file");
    assert_true(write_shards("emp", "[('.cls', b' ')] * 6", ""));
    refuse("emp", NULL, PX_E_INPUT, "k0.cls': holds no class");
    assert_true(write_shards("jsn", "[('.json', b'{')] * 6", ""));
    refuse("jsn", NULL, PX_E_INPUT, "k0.json': ");
    /* A shard that is put in later, and one that is changed. */
    assert_true(write_shards("new", CLS, ""));
    make_index("new", NULL);
    make_index("new/s-{000..001}.tar", NULL);
    px_dataset_close(open_remarked("new/s-{000..001}.tar", NULL));
    assert_int_equal(rename("new/s-000.tar", "new/s-002.tar"), 0);
    px_dataset_close(open_remarked("new", "is older than"));
    px_dataset *set = open_set("new/s-001.tar", NULL);
    px_error err = {0};
    float pixels[12];
    assert_int_equal(truncate("new/s-001.tar", 4096), 0);
    (void)px_dataset_pixels(set, 2, pixels, &err);
    px_dataset_close(set);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_folders),    cmocka_unit_test(test_changes),
        cmocka_unit_test(test_damage),     cmocka_unit_test(test_shards),
        cmocka_unit_test(test_bad_shards),
    };
    return cmocka_run_group_tests(tests, enter_folder, leave_folder);
}
