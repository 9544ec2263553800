/* tests/select/test_select_nomem.c - each allocation fails in turn: learning, preparing, running,
 * ranking, evaluating and files
 *
 * Whatever fails says PX_E_NOMEM and leaves nothing behind (the leak checker watches).
 */
/* SPDX-License-Identifier: Apache-2.0 */
#include "cover_helpers.h"
#include "failing_alloc.h"

#include <internal/select.h>
#include <stdlib.h>

enum { CANDIDATES = 12, TRAIN = 60 };

typedef struct fixture {
    px_model *model;
    small_data train, test;
    px_profile *profile;
} fixture;

static px_select_options options_for(const fixture *f)
{
    static const char *const settings[] = {"nss.seeds=2", "nss.subset=50"};
    px_select_options options = px_select_options_default();
    options.selectors = "nss,random,kmnc,gini";
    options.settings = settings;
    options.setting_count = 2;
    options.profile = f->profile;
    options.threads = 1;
    return options;
}

static px_status learn(const fixture *f, px_profile **out, px_error *err)
{
    px_lessons lessons = {0};
    px_profile_options make = px_profile_options_default();
    px_select_options options = options_for(f);
    options.profile = NULL;
    make.threads = 1;
    PX_TRY(px_select_lessons(f->model, f->test.set, &f->test.pre, &options, &lessons, err));
    const px_status status =
        px_profile_make(f->model, &lessons, f->train.set, &f->train.pre, &make, out, err);
    px_lessons_free(&lessons);
    return status;
}

static int set_up(void **state)
{
    static fixture f;
    px_error err = {0};
    f.model = small_net(7, 2);
    f.train = small_digits(f.model, "train", TRAIN, 0);
    f.test = small_digits(f.model, "test", CANDIDATES, 0);
    *state = &f;
    return learn(&f, &f.profile, &err) != PX_OK;
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

static px_status lessons(const void *context, px_error *err)
{
    const fixture *f = context;
    px_profile *profile = NULL;
    const px_status status = learn(f, &profile, err);
    px_profile_free(profile);
    return status;
}

static px_status ranked(const fixture *f, int64_t keep, bool stratify, bool evaluate, px_error *err)
{
    px_select *select = NULL;
    px_evaluation evaluation;
    char path[TEST_PATH];
    px_select_options options = options_for(f);
    options.keep = keep;
    options.stratify = stratify;
    px_status status = px_select_new(f->model, f->test.set, &f->test.pre, &options, &select, err);
    if (status == PX_OK)
        status = px_select_run(select, NULL, NULL, err);
    if (status == PX_OK)
        status = px_select_save(select, 0, 5, test_path("nomem.csv", path), err);
    if (status == PX_OK && evaluate)
        status = px_select_evaluate(select, 1, &evaluation, err);
    if (status == PX_OK && evaluate)
        status = px_select_save_curve(select, PX_FAULT_TYPES, 50.0,
                                      test_path("nomem-curve.csv", path), err);
    px_select_free(select);
    return status;
}

static px_status whole(const void *context, px_error *err)
{
    const fixture *f = context;
    return ranked(f, 0, false, true, err);
}

static px_status best(const void *context, px_error *err)
{
    const fixture *f = context;
    return ranked(f, 5, true, false, err);
}

static void test_lessons(void **state)
{
    fail_in_turn(lessons, *state, 100, "lessons");
}

static void test_whole(void **state)
{
    fail_in_turn(whole, *state, 100, "whole rankings");
}

static void test_best(void **state)
{
    fail_in_turn(best, *state, 100, "the best, in turns");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_lessons),
        cmocka_unit_test(test_whole),
        cmocka_unit_test(test_best),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
