/* tests/cover/test_crit_nomem.c - every allocation of a criterion may fail */
/* SPDX-License-Identifier: Apache-2.0 */
#include "crit_helpers.h"
#include "failing_alloc.h"

#include "base/memory.h"

#include <stdlib.h>
#include <string.h>

enum { ROWS = 300, WIDTH = 33 };
#define LAYOUT LAYERS(16, 5, 1, 11)

static const struct {
    const char *id, *settings[3];
} kinds[] = {
    {"nc", {NULL}},
    {"nc", {"nc.variant=suite"}},
    {"kmnc", {"kmnc.k=50"}},
    {"nbc", {"nbc.variant=buckets"}},
    {"snac", {NULL}},
    {"tknc", {"tknc.k=2"}},
    {"tknc", {"tknc.k=3", "tknc.variant=pattern-count"}},
    {"tknp", {"tknp.k=2"}},
    {"cc", {"cc.t=20"}},
    {"nlc", {NULL}},
    {"nlc-guided", {NULL}},
};

/* A state's whole life: opened, filled, asked, merged, loaded from `file`. */
static px_status live(const crit *c, const px_npz *file, const px_rows *rows, px_error *err)
{
    const px_criterion *criterion = c->criterion;
    void *one = NULL, *two = NULL, *alone = NULL;
    px_status status = criterion->open(c->prepared, &one, err);
    if (status == PX_OK)
        status = criterion->observe(one, rows, err);
    if (status == PX_OK) {
        (void)criterion->gain(one, rows, 3);
        (void)criterion->value(one);
        status = criterion->open(c->prepared, &two, err);
    }
    if (status == PX_OK)
        status = criterion->load(two, file, "x", err);
    if (status == PX_OK)
        status = criterion->open(NULL, &alone, err);
    if (status == PX_OK)
        status = criterion->load(alone, file, "x", err);
    if (status == PX_OK)
        status = criterion->merge(one, two, err);
    if (status == PX_OK)
        status = criterion->merge(alone, one, err);
    criterion->close(one);
    criterion->close(two);
    criterion->close(alone);
    return status;
}

static px_status prepare(const crit *c, px_error *err)
{
    const char *learned[1] = {c->criterion->learners ? c->section : NULL};
    const px_criterion_request request = {.extractor = &c->extractor,
                                          .config = c->config,
                                          .profile = c->profile,
                                          .learned = learned,
                                          .threads = 1};
    void *prepared = NULL;
    const px_status status = c->criterion->prepare(&request, &prepared, err);
    if (status == PX_OK)
        c->criterion->release(prepared);
    return status;
}

static void test_nomem(void **state)
{
    (void)state;
    float *train = crit_random(1, 100, WIDTH, false), *x = crit_random(2, ROWS, WIDTH, true);
    const crit_table table = {.values = x, .count = ROWS};
    for (size_t i = 0; i < PX_LEN(kinds); i++) {
        crit *c = crit_new(kinds[i].id, kinds[i].settings, LAYOUT,
                           (crit_table){.values = train, .count = 100});
        px_error err = {0};
        crit_observe(c, table);
        size_t size;
        free(crit_save(c, c->state, &size));
        px_npz *file = NULL;
        assert_int_equal(px_npz_open(crit_file(), &file, &err), PX_OK);
        px_rows rows = crit_rows(c, table, 0, ROWS);
        for (int part = 0; part < 2; part++) {
            px_status status;
            long k = 0;
            for (; fail_at(k), err = (px_error){0},
                               status = part ? live(c, file, &rows, &err) : prepare(c, &err),
                               fail_never();
                 k++)
                /* gain() cannot report and gives NaN */
                if (status != PX_E_NOMEM && !(status == PX_OK && strcmp(kinds[i].id, "nlc") == 0))
                    fail_msg("'%s', part %d, allocation %ld: status %d, %s", kinds[i].id, part, k,
                             (int)status, err.message);
            if (status != PX_OK || k == 0)
                fail_msg("'%s', part %d: %s", kinds[i].id, part, err.message);
        }
        crit_rows_done(&rows);
        px_npz_close(file);
        remove(crit_file());
        crit_free(c);
    }
    free(train);
    free(x);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_nomem),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
