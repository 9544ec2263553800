/* tests/cover/test_cover_nomem.c - each allocation fails in turn: learning, preparing, observing,
 * files and merging, with every criterion
 *
 * Whatever fails says PX_E_NOMEM and leaves nothing behind (the leak checker watches).
 */
/* SPDX-License-Identifier: Apache-2.0 */
#include "cover_helpers.h"
#include "failing_alloc.h"

#include <internal/cover.h>
#include <stdlib.h>

enum { INPUTS = 12, TRAIN = 60 };

typedef struct fixture {
    px_model *model;
    small_data train, test;
    px_profile *profile;
} fixture;

static int set_up(void **state)
{
    static fixture f;
    f.model = small_net(7, 2);
    f.train = small_digits(f.model, "train", TRAIN, 0);
    f.test = small_digits(f.model, "test", INPUTS, 0);
    f.profile = profile_make(f.model, "all", &f.train, 1);
    *state = &f;
    return 0;
}

static int tear_down(void **state)
{
    fixture *f = *state;
    px_profile_free(f->profile);
    small_close(&f->train);
    small_close(&f->test);
    px_model_free(f->model);
    return 0;
}

static px_status learn(const void *context, px_error *err)
{
    const fixture *f = context;
    const px_cover_options options = px_cover_options_default();
    px_profile_options make = px_profile_options_default();
    px_lessons lessons = {0};
    px_profile *profile = NULL;
    make.threads = 1;
    PX_TRY(px_cover_lessons(f->model, NULL, &options, &lessons, err));
    const px_status status =
        px_profile_make(f->model, &lessons, f->train.set, &f->train.pre, &make, &profile, err);
    px_profile_free(profile);
    px_lessons_free(&lessons);
    return status;
}

static px_status observe(const void *context, px_error *err)
{
    const fixture *f = context;
    px_cover_options options = px_cover_options_default();
    px_cover_run_options run = px_cover_run_options_default();
    px_cover *cover = NULL;
    options.profile = f->profile;
    options.threads = 1;
    run.curve_points = 2;
    PX_TRY(px_cover_new(f->model, NULL, &options, &cover, err));
    px_cover_gap *gaps = NULL;
    size_t gap_count = 0;
    px_status status = px_cover_run(cover, f->test.set, &f->test.pre, &run, NULL, err);
    if (status == PX_OK)
        status = px_cover_gaps(cover, &gaps, &gap_count, err);
    px_cover_gaps_free(gaps, gap_count);
    px_cover_free(cover);
    return status;
}

static px_status files(const void *context, px_error *err)
{
    const fixture *f = context;
    char path[TEST_PATH];
    px_profile *profile = NULL;
    test_path("nomem.profile", path);
    PX_TRY(px_profile_save(f->profile, path, err));
    PX_TRY(px_profile_open(path, &profile, err));
    px_profile_free(profile);
    return PX_OK;
}

static px_cover *seen; /* one that has observed the inputs, and its file */

static px_status states(const void *context, px_error *err)
{
    const fixture *f = context;
    (void)f;
    char path[TEST_PATH];
    px_cover *a = NULL, *b = NULL;
    test_path("nomem.state", path);
    px_status status = px_cover_save(seen, path, err);
    if (status == PX_OK)
        status = px_cover_open(path, &a, err);
    if (status == PX_OK)
        status = px_cover_open(test_path("empty.state", path), &b, err);
    if (status == PX_OK)
        status = px_cover_merge(a, b, err);
    px_cover_free(a);
    px_cover_free(b);
    return status;
}

static void test_learn(void **state)
{
    fail_in_turn(learn, *state, 200, "learning");
}

static void test_observe(void **state)
{
    fail_in_turn(observe, *state, 200, "observing");
}

static void test_files(void **state)
{
    fail_in_turn(files, *state, 200, "profile files");
}

static void test_states(void **state)
{
    const fixture *f = *state;
    char path[TEST_PATH];
    px_error err = {0};
    seen = cover_make(f->model, "all", f->profile, 1);
    assert_int_equal(px_cover_save(seen, test_path("empty.state", path), &err), PX_OK);
    cover_observe(seen, &f->test, 0, 1);
    fail_in_turn(states, f, 200, "states");
    px_cover_free(seen);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_learn),
        cmocka_unit_test(test_observe),
        cmocka_unit_test(test_files),
        cmocka_unit_test(test_states),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
