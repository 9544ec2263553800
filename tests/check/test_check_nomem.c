/* tests/check/test_check_nomem.c - allocations of an examination fail in turn
 *
 * There are too many to try them all: those at even distances, from another first one for each
 * task. Whatever fails says PX_E_NOMEM and leaves nothing behind (the leak checker watches), and
 * the folder can be gone on with.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#include "check_helpers.h"

#include "failing_alloc.h"

#include <string.h>

enum { TRIES = 20 };

static const struct {
    const char *only, *skip;
} tasks[] = {
    {"eval", NULL},
    {"cover", NULL},
    {"select", NULL},
    {"describe", NULL},
    {"attack,assess", "synthesize,fuzz,localize,profile"},
};

static px_status work(const char *folder, size_t task, px_error *err)
{
    px_check_options o = check_options(folder);
    px_check *check = NULL;
    o.only = tasks[task].only;
    o.skip = tasks[task].skip;
    o.read.limit = 40;
    o.train_limit = 40;
    o.gates = "accuracy=0.1";
    o.threads = 1;
    o.allow_chance = true;
    if (strstr(tasks[task].only, "eval") == NULL && strcmp(tasks[task].only, "select") != 0)
        o.gates = NULL;
    px_status status = px_check_new(&o, &check, err);
    if (status == PX_OK)
        status = px_check_run(check, err);
    px_check_free(check);
    return status;
}

static void test_allocations_fail(void **state)
{
    (void)state;
    for (size_t t = 0; t < PX_LEN(tasks); t++) {
        char folder[512];
        px_error err = {0};
        snprintf(folder, sizeof folder, "%s", check_folder_make());
        fail_at(1L << 60);
        if (work(folder, t, &err) != PX_OK) {
            fail_never();
            fail_msg("'%s': %s", tasks[t].only, err.message);
        }
        const long all = alloc_count, step = all / TRIES > 0 ? all / TRIES : 1;
        fail_never();
        check_folder_remove(folder);
        for (long k = (long)t; k < all; k += step) {
            snprintf(folder, sizeof folder, "%s", check_folder_make());
            fail_at(k);
            const px_status status = work(folder, t, &err);
            const bool failed = fail_never();
            if (status != PX_OK && (status != PX_E_NOMEM || !failed))
                fail_msg("'%s', allocation %ld: %s", tasks[t].only, k, err.message);
            if (status != PX_OK && work(folder, t, &err) != PX_OK)
                fail_msg("'%s' cannot go on after allocation %ld: %s", tasks[t].only, k,
                         err.message);
            check_folder_remove(folder);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_allocations_fail)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
