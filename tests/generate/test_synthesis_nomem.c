/* tests/generate/test_synthesis_nomem.c - each allocation of a synthesis fails in turn
 *
 * Whatever fails says PX_E_NOMEM and leaves nothing behind (the leak checker watches).
 */
/* SPDX-License-Identifier: Apache-2.0 */
#include "generate_helpers.h"

#include "failing_alloc.h"

#include <stdlib.h>
#include <unistd.h>

static px_status work(const scene *s, const char *path, px_error *err)
{
    const px_synthesis_folder_options how = {.pictures = 1, .sheet = 1, .title = "a title"};
    px_synthesis_options options = px_synthesis_options_default();
    px_synthesis_job job = raise_job(s);
    px_synthesis_folder *folder = NULL;
    px_synthesis *made = NULL;
    int64_t *inputs = NULL, count = 0;
    int64_t predictions[RAISE_ROWS];
    for (int i = 0; i < RAISE_ROWS; i++)
        predictions[i] = px_dataset_label(s->set, i);
    const px_synthesis_choice choice = {.predictions = predictions, .classes = 4, .per_class = 2};
    PX_TRY(px_synthesis_choose(s->set, &choice, &inputs, &count, err));
    job.inputs = inputs;
    job.count = count;
    options.threads = 1;
    options.batch = 2;
    px_status status =
        px_synthesis_folder_new(path, s->set, &s->pre, &options, count, &how, &folder, err);
    options.emit = px_synthesis_folder_add;
    options.emit_context = folder;
    if (status == PX_OK)
        status = px_synthesize(&job, &options, &made, err);
    if (status == PX_OK) {
        status = px_synthesis_folder_commit(folder, made, "{}", err);
        folder = NULL;
    }
    px_synthesis_folder_abandon(folder);
    px_synthesis_free(made);
    free(inputs);
    return status;
}

static void test_each_allocation_may_fail(void **state)
{
    (void)state;
    char path[GENERATE_PATH];
    test_path("out", path);
    scene s = raise_scene("pre");
    px_error err = {0};
    bool failed = true;
    for (long k = 0; failed; k++) {
        fail_at(k);
        const px_status status = work(&s, path, &err);
        failed = fail_never();
        if (status != (failed ? PX_E_NOMEM : PX_OK))
            fail_msg("allocation %ld: status %d, '%s'", k, (int)status, err.message);
        assert_int_equal(access(path, F_OK) == 0, !failed);
    }
    scene_close(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_each_allocation_may_fail)};
    const int failed = cmocka_run_group_tests(tests, NULL, NULL);
    test_folder_remove();
    return failed;
}
