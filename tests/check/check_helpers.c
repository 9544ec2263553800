/* tests/check/check_helpers.c - small examinations in folders that go away */
/* SPDX-License-Identifier: Apache-2.0 */
#include "check_helpers.h"

#include <ftw.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

const char *check_folder_make(void)
{
    static char path[512];
    const char *base = getenv("TMPDIR");
    snprintf(path, sizeof path, "%s/plexor-check-XXXXXX", base && *base ? base : "/tmp");
    if (!mkdtemp(path))
        fail_msg("mkdtemp: no folder '%s'", path);
    return path;
}

static int remove_one(const char *path, const struct stat *facts, int kind, struct FTW *where)
{
    (void)facts;
    (void)kind;
    (void)where;
    return remove(path);
}

void check_folder_remove(const char *folder)
{
    nftw(folder, remove_one, 16, FTW_DEPTH | FTW_PHYS);
}

px_check_options check_options(const char *folder)
{
    px_check_options o = px_check_options_default();
    o.model = MODELS "/digits.onnx";
    o.data = "digits";
    o.read.limit = CHECK_LIMIT;
    o.folder = folder;
    o.train_limit = 200;
    o.minutes = 0.02;
    o.threads = 2;
    return o;
}

px_check *check_examined(const px_check_options *options)
{
    px_error err = {0};
    px_check *check = NULL;
    if (px_check_new(options, &check, &err) != PX_OK || px_check_run(check, &err) != PX_OK) {
        px_check_free(check);
        fail_msg("%s", err.message);
    }
    return check;
}

double check_number(const px_check *check, const char *stage, const char *path)
{
    const double number = px_check_number(check, stage, path);
    if (isnan(number))
        fail_msg("'%s' has no number '%s'", stage, path);
    return number;
}

const px_json_value *check_list(const px_check *check, const char *stage, const char *path)
{
    const px_json_value *list = pxi_json_path(px_check_result(check, stage), path);
    if (!list || list->kind != PX_JSON_ARRAY)
        fail_msg("'%s' has no list '%s'", stage, path);
    return list;
}
