/* tests/repair/test_repair_nomem.c - each allocation of a repair fails in turn
 *
 * Whatever fails says PX_E_NOMEM and leaves nothing behind (the leak checker watches).
 */
/* SPDX-License-Identifier: Apache-2.0 */
#include "repair_helpers.h"

#include "failing_alloc.h"

#include <internal/arch.h>
#include <internal/failures.h>
#include <internal/repair.h>
#include <stdlib.h>

static px_status work(const px_repair_options *options, px_error *err)
{
    px_repair *repair = NULL;
    px_model *after = NULL;
    px_status status = px_repair_new(options, &repair, err);
    if (status == PX_OK)
        status = px_repair_run(repair, err);
    if (status == PX_OK)
        status = px_repair_freeze(repair, NULL, 0, &after, err);
    px_model_free(after);
    px_repair_free(repair);
    return status;
}

static void test_each_allocation_may_fail(void **state)
{
    (void)state;
    px_arch_options small = px_arch_options_default();
    px_preprocess pre = {.scale = 1.0f / 255.0f, .channels = 1, .stddev = {1.0f}};
    px_dataset *train = open_digits("train", 0, 20), *added = open_digits("train", 100, 20);
    px_dataset *test = open_digits("test", 0, 10);
    px_model *model = NULL;
    px_error err = {0};
    small.classes = 10;
    if (px_arch_build("mlp-1x2", &small, &model, &err) != PX_OK)
        fail_msg("%s", err.message);
    px_repair_options options = px_repair_options_default();
    options.model = model;
    options.train = (px_feeder_set){.set = train, .pre = &pre};
    options.added = (px_feeder_set){.set = added, .pre = &pre};
    options.test = (px_judge_set){test, &pre};
    options.recipe = *px_repair_recipe_find("deepsensor");
    options.recipe.mix = PX_MIX_ONLY;
    options.recipe.epochs = 1;
    options.recipe.add_limit = 5;
    options.threads = 1;
    options.retries = 1;
    options.adversary.method = "pgd";
    options.adversary.steps = 2;
    options.robust_limit = 5;
    bool failed = true;
    for (long k = 0; failed; k++) {
        fail_at(k);
        const px_status status = work(&options, &err);
        failed = fail_never();
        if (status != (failed ? PX_E_NOMEM : PX_OK))
            fail_msg("allocation %ld: status %d, '%s'", k, (int)status, err.message);
    }
    px_model_free(model);
    px_dataset_close(train);
    px_dataset_close(added);
    px_dataset_close(test);
}

static px_status generate(const px_failures_options *options, px_error *err)
{
    px_failures *failures = NULL;
    const px_status status = px_failures_make(options, &failures, err);
    px_failures_free(failures);
    return status;
}

static void test_failures(void **state)
{
    (void)state;
    px_arch_options small = px_arch_options_default();
    px_preprocess pre = {.scale = 1.0f / 255.0f, .channels = 1, .stddev = {1.0f}};
    px_dataset *train = open_digits("train", 0, 12);
    px_model *model = NULL;
    px_error err = {0};
    small.classes = 10;
    if (px_arch_build("mlp-1x2", &small, &model, &err) != PX_OK)
        fail_msg("%s", err.message);
    px_failures_options options = px_failures_options_default();
    options.model = model;
    options.parents = (px_feeder_set){.set = train, .pre = &pre};
    options.threshold = 0.0;
    options.threads = 1;
    for (int pairwise = 0; pairwise < 2; pairwise++) {
        bool failed = true;
        options.pairwise = pairwise;
        for (long k = 0; failed; k++) {
            fail_at(k);
            const px_status status = generate(&options, &err);
            failed = fail_never();
            if (status != (failed ? PX_E_NOMEM : PX_OK))
                fail_msg("allocation %ld: status %d, '%s'", k, (int)status, err.message);
        }
    }
    px_model_free(model);
    px_dataset_close(train);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_each_allocation_may_fail),
        cmocka_unit_test(test_failures),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
