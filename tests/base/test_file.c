/* tests/base/test_file.c */
/* SPDX-License-Identifier: Apache-2.0 */
#include "base/file.h"
#include "cmocka_all.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static char folder[64];

static int make_folder(void **state)
{
    (void)state;
    strcpy(folder, "/tmp/plexor-file-XXXXXX");
    return mkdtemp(folder) && chdir(folder) == 0 ? 0 : -1;
}

static int remove_folder(void **state)
{
    (void)state;
    return chdir("/") == 0 && rmdir(folder) == 0 ? 0 : -1; /* fails if anything was left behind */
}

static void test_round_trip(void **state)
{
    (void)state;
    char *bytes = NULL;
    size_t size = 0;
    px_error err = {0};
    assert_int_equal(pxi_file_write("x", "a\0b", 3, &err), PX_OK);
    assert_int_equal(pxi_file_read("x", 3, &bytes, &size, &err), PX_OK);
    assert_int_equal(size, 3);
    assert_memory_equal(bytes, "a\0b", 4);
    free(bytes);
    unlink("x");
}

static void test_caps_and_kinds(void **state)
{
    (void)state;
    char *bytes = NULL;
    size_t size = 0;
    px_error err = {0};
    assert_int_equal(pxi_file_write("x", "1234", 4, &err), PX_OK);
    assert_int_equal(pxi_file_read("x", 3, &bytes, &size, &err), PX_E_INPUT);
    assert_string_equal(err.message, "'x': has 4 bytes, the limit is 3");
    assert_int_equal(pxi_file_read("/dev/zero", 100000, &bytes, &size, &err), PX_E_INPUT);
    assert_int_equal(pxi_file_read(".", 10, &bytes, &size, &err), PX_E_INPUT);
    assert_int_equal(pxi_file_read("absent", 10, &bytes, &size, &err), PX_E_INPUT);
    assert_string_equal(err.message, "'absent': cannot open: No such file or directory");
    assert_null(bytes);
    assert_int_equal(pxi_file_write(".", "", 0, &err), PX_E_INPUT);
    assert_int_equal(pxi_file_write("absent/x", "", 0, &err), PX_E_INPUT);
    assert_int_equal(pxi_file_write("", "", 0, &err), PX_E_USAGE);
    unlink("x");
}

/* The old content stays until commit, links stay links, the mode stays, no temporary is left. */
static void test_whole_or_not_at_all(void **state)
{
    (void)state;
    char *bytes = NULL;
    size_t size = 0;
    struct stat info;
    px_error err = {0};
    px_file_writer writer = {0};
    assert_int_equal(pxi_file_write("target", "old", 3, &err), PX_OK);
    assert_int_equal(chmod("target", 0640), 0);
    assert_int_equal(symlink("target", "link"), 0);

    assert_int_equal(pxi_file_create("link", &writer, &err), PX_OK);
    fputs("new", writer.stream);
    pxi_file_abandon(&writer);
    assert_int_equal(pxi_file_read("target", 10, &bytes, &size, &err), PX_OK);
    assert_string_equal(bytes, "old");
    free(bytes);

    assert_int_equal(pxi_file_write("link", "new", 3, &err), PX_OK);
    assert_int_equal(lstat("link", &info), 0);
    assert_true(S_ISLNK(info.st_mode));
    assert_int_equal(stat("target", &info), 0);
    assert_int_equal(info.st_mode & 0777, 0640);
    assert_int_equal(pxi_file_read("target", 10, &bytes, &size, &err), PX_OK);
    assert_string_equal(bytes, "new");
    free(bytes);
    unlink("link");
    unlink("target");
}

static void test_devices(void **state)
{
    (void)state;
    px_error err = {0};
    assert_int_equal(pxi_file_write("/dev/null", "x", 1, &err), PX_OK);
    assert_int_equal(pxi_file_write("/dev/full", "x", 1, &err), PX_E_IO);
    assert_string_equal(err.message, "'/dev/full': cannot write: No space left on device");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_round_trip),
        cmocka_unit_test(test_caps_and_kinds),
        cmocka_unit_test(test_whole_or_not_at_all),
        cmocka_unit_test(test_devices),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
