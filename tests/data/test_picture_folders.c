/* tests/data/test_picture_folders.c - pictures in class folders and archives, through the front
 * door
 */
/* SPDX-License-Identifier: Apache-2.0 */
#include "data/dataset_helpers.h"
#include <internal/data.h>

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

/* What archives and headers say of sizes is believed before anything is unpacked. */
static void test_sizes_before_unpacking(void **state)
{
    (void)state;
    assert_true(run_python("import gzip, io, os, struct, tarfile, zipfile\n"
                           "with zipfile.ZipFile('huge.zip', 'w', 8) as z:\n"
                           "  z.writestr('test/a/x.png', bytes(100000))\n"
                           "data = bytearray(open('huge.zip', 'rb').read())\n"
                           "at = data.index(b'PK\\x01\\x02')\n"
                           "data[at + 24:at + 28] = struct.pack('<I', 1 << 29)\n"
                           "open('huge.zip', 'wb').write(data)\n"
                           "info = tarfile.TarInfo('test/a/x.png')\n"
                           "info.size = 1 << 29\n"
                           "with gzip.open('huge.tar.gz', 'wb') as g: g.write(info.tobuf())\n"
                           "os.mkdir('huge')\n"
                           "with gzip.open('huge/t10k-images-idx3-ubyte.gz', 'wb') as g:\n"
                           "  g.write(struct.pack('>IIII', 0x803, 10**7, 28, 28) + bytes(100000))\n"
                           "with gzip.open('huge/t10k-labels-idx1-ubyte.gz', 'wb') as g:\n"
                           "  g.write(struct.pack('>II', 0x801, 10**7) + bytes(100000))\n"));
    refuse("huge.zip", NULL, PX_E_INPUT,
           "536870912 bytes, more than the 268435456 that are accepted");
    refuse("huge.tar.gz", NULL, PX_E_INPUT,
           "536870912 bytes, more than the 268435456 that are accepted");
    refuse("huge", NULL, PX_E_INPUT, "can hold");
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
    write_text("empty/pictures.tar.xz", "x"); /* what downloads are */
    refuse("empty", NULL, PX_E_INPUT,
           "but an archive, which may be one: give 'empty/pictures.tar.xz'");
    refuse("absent", NULL, PX_E_INPUT, "no such file");
    write_text("what.bin", "x");
    refuse("what.bin", NULL, PX_E_INPUT, "not a data set");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_class_folders),          cmocka_unit_test(test_archives),
        cmocka_unit_test(test_broken_archives),        cmocka_unit_test(test_sizes_and_channels),
        cmocka_unit_test(test_skip_damaged),           cmocka_unit_test(test_sizes_are_said),
        cmocka_unit_test(test_foreign_formats),        cmocka_unit_test(test_bad_pictures),
        cmocka_unit_test(test_sizes_before_unpacking),
    };
    return cmocka_run_group_tests(tests, enter_folder, leave_folder);
}
