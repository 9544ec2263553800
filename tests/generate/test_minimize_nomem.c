/* tests/generate/test_minimize_nomem.c - allocations of minimizing fail in turn
 *
 * Whatever fails says PX_E_NOMEM and leaves nothing behind (the leak checker watches).
 */
/* SPDX-License-Identifier: Apache-2.0 */
#include "minimize_helpers.h"

#include "failing_alloc.h"

#include <stdlib.h>
#include <string.h>

typedef struct workshop {
    judge j;
    px_campaign *campaign;
    px_dataset *set;
    px_cover *cover;
    char folder[GENERATE_PATH];
} workshop;

static px_status inputs_work(const void *context, px_error *err)
{
    const workshop *w = context;
    px_minimize_options options = px_minimize_options_default();
    px_minimized few = {0};
    char csv[GENERATE_PATH];
    options.cover = w->cover;
    PX_TRY(px_minimize_inputs(w->campaign, w->set, &w->j.pre, &options, &few, err));
    const px_status status = px_minimized_csv(w->campaign, &few, test_path("few.csv", csv), err);
    px_minimized_done(&few);
    return status;
}

static px_status types_work(const void *context, px_error *err)
{
    const workshop *w = context;
    const px_minimize_options options = px_minimize_options_default();
    px_minimized few = {0};
    PX_TRY(px_minimize_inputs(w->campaign, w->set, &w->j.pre, &options, &few, err));
    px_minimized_done(&few);
    return PX_OK;
}

static px_status faults_work(const void *context, px_error *err)
{
    static int folders; /* a failure may leave a new one */
    const workshop *w = context;
    px_shrink_options options = px_shrink_options_default();
    px_campaign_input in = {0};
    px_shrunk_fault fault;
    char name[40], folder[GENERATE_PATH];
    snprintf(name, sizeof name, "small%d", folders++);
    options.threads = 1;
    options.executions = 40;
    PX_TRY(px_campaign_next(w->campaign, 0, PX_INPUT_FAULT, &in, NULL, NULL, err));
    PX_TRY(px_shrink_faults(w->campaign, w->j.model, &w->j.pre, &in.id, 1, &options, &fault, err));
    const px_status status =
        px_shrunk_save(w->campaign, &fault, 1, test_path(name, folder), false, err);
    px_shrunk_done(&fault);
    return status;
}

static void test_each_allocation_may_fail(void **state)
{
    (void)state;
    const px_shape shape = {4, {1, 1, DIGIT_SIDE, DIGIT_SIDE}};
    px_cover_options options = px_cover_options_default();
    px_error err = {0};
    workshop w = {.j = judge_open()};
    faulty_campaign(&w.j, test_path("run.campaign", w.folder), 2, 12);
    options.criteria = "nc,tknc";
    options.threads = 1;
    assert_int_equal(px_campaign_open(w.folder, PX_CAMPAIGN_READ, &w.campaign, &err), PX_OK);
    assert_int_equal(px_cover_new(w.j.model, &shape, &options, &w.cover, &err), PX_OK);
    w.set = campaign_set(&w.j, w.folder, "all");
    fail_in_turn(types_work, &w, 200, "fault types");
    fail_in_turn(inputs_work, &w, 500, "inputs");
    fail_in_turn(faults_work, &w, 500, "faults");
    px_cover_free(w.cover);
    px_dataset_close(w.set);
    px_campaign_close(w.campaign);
    judge_close(&w.j);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_each_allocation_may_fail)};
    const int failed = cmocka_run_group_tests(tests, NULL, NULL);
    test_folder_remove();
    return failed;
}
