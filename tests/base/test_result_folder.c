/* tests/base/test_result_folder.c - folders that appear whole, and what is left of them otherwise
 *
 * remove() is slow here: a hundred files take a second.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#include "cmocka_all.h"

#include <dirent.h>
#include <internal/folder.h>
#include <plexor/system.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { FILES = 200 };
static char place[64];

int __real_remove(const char *path);
int __wrap_remove(const char *path);

int __wrap_remove(const char *path)
{
    nanosleep(&(struct timespec){.tv_nsec = 10000000}, NULL);
    return __real_remove(path);
}

static bool yes(void)
{
    return true;
}

static int make_place(void **state)
{
    (void)state;
    strcpy(place, "/tmp/plexor-folder-XXXXXX");
    return mkdtemp(place) && chdir(place) == 0 ? 0 : -1;
}

static int remove_place(void **state)
{
    (void)state;
    px_cancel_when(NULL);
    return chdir("/") == 0 && rmdir(place) == 0 ? 0 : -1; /* fails if anything was left behind */
}

static int count_entries(const char *path)
{
    DIR *dir = opendir(path);
    int count = 0;
    assert_non_null(dir);
    for (const struct dirent *entry; (entry = readdir(dir)) != NULL;)
        count += entry->d_name[0] != '.';
    closedir(dir);
    return count;
}

static px_folder *begin(void)
{
    px_folder *folder = NULL;
    assert_int_equal(px_folder_begin("out", "export", /* fresh= */ false, &folder, NULL), PX_OK);
    return folder;
}

static px_folder *fill(int files)
{
    px_folder *folder = begin();
    for (int i = 0; i < files; i++) {
        char path[128];
        snprintf(path, sizeof path, "%s/%d", px_folder_path(folder), i);
        FILE *file = fopen(path, "w");
        assert_non_null(file);
        fclose(file);
    }
    return folder;
}

static void test_abandoned(void **state)
{
    (void)state;
    px_folder_abandon(fill(3));
    assert_int_equal(count_entries("."), 0);
}

/* Two seconds of removing; whoever asked to stop waits less than one, and the next run sweeps. */
static void test_interrupted(void **state)
{
    (void)state;
    px_folder *folder = fill(FILES);
    px_cancel_when(yes);
    const double start = px_clock_s();
    px_folder_abandon(folder);
    const double took = px_clock_s() - start;
    assert_true(took < 1.0);
    assert_int_equal(count_entries("."), 1);
    px_cancel_when(NULL);
    folder = begin();
    assert_int_equal(count_entries("."), 1); /* its own */
    assert_int_equal(count_entries(px_folder_path(folder)), 0);
    px_folder_abandon(folder);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_abandoned, make_place, remove_place),
        cmocka_unit_test_setup_teardown(test_interrupted, make_place, remove_place),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
