/* tests/data/data_helpers.h - a folder of its own for every test, and files in it */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TESTS_DATA_HELPERS_H
#define TESTS_DATA_HELPERS_H

#include "cmocka_all.h"

#include <fcntl.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static char test_folder[64];

/* Group set-up: the current folder is fresh and empty. */
static inline int enter_folder(void **state)
{
    (void)state;
    strcpy(test_folder, "/tmp/plexor-data-XXXXXX");
    return mkdtemp(test_folder) && chdir(test_folder) == 0 ? 0 : -1;
}

static inline int remove_one(const char *path, const struct stat *info, int kind, struct FTW *walk)
{
    (void)info;
    (void)kind;
    (void)walk;
    return remove(path);
}

static inline int leave_folder(void **state)
{
    (void)state;
    return chdir("/") == 0 ? nftw(test_folder, remove_one, 16, FTW_DEPTH | FTW_PHYS) : -1;
}

static inline void write_file(const char *path, const void *bytes, size_t size)
{
    FILE *file = fopen(path, "wb");
    if (!file || fwrite(bytes, 1, size, file) != size || fclose(file) != 0)
        fail_msg("cannot write '%s'", path);
}

static inline void write_text(const char *path, const char *text)
{
    write_file(path, text, strlen(text));
}

/* Runs one Python program; false where Python or a module that it needs is missing. Tests that
 * compare with numpy or PIL then skip and say so. */
static inline bool run_python(const char *program)
{
    write_text("program.py", program);
    return system("/usr/bin/python3 program.py >python.log 2>&1") == 0;
}

/* Where the real MNIST and CIFAR are, if they are: $PLEXOR_SHARED or shared/ beside the sources. */
static inline bool shared_path(const char *name, char *to, size_t room)
{
    const char *root = getenv("PLEXOR_SHARED");
    snprintf(to, room, "%s/%s", root ? root : SHARED, name);
    if (access(to, R_OK) == 0)
        return true;
    fprintf(stderr, "no '%s' here\n", to);
    return false;
}

#define SKIP_WITHOUT(module)                                       \
    do {                                                           \
        if (!run_python("import " module)) {                       \
            fprintf(stderr, "no Python module " module " here\n"); \
            skip();                                                \
        }                                                          \
    } while (0)

#endif
