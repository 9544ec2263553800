/* tests/train/test_feeder_nomem.c - each allocation of a feeder fails in turn */
/* SPDX-License-Identifier: Apache-2.0 */
#include "feeder_helpers.h"

#include "failing_alloc.h"

static void test_each_allocation_may_fail(void **state)
{
    (void)state;
    static const int64_t items[] = {1, 5, 9};
    made_set base = make_set(30, 5, PX_UINT8), added = make_set(10, 5, PX_UINT8);
    base.pre.channels_last = true; /* needs memory for the call */
    px_feeder_options options = feed(&base, &added, 8);
    options.mix = PX_MIX_FIXED;
    options.added.items = items;
    options.added.count = 3;
    options.augment = "crop:2,flip";
    options.pollute = options.label_noise = 0.2;
    options.patch_max = 2;
    bool failed = true;
    for (long k = 0; failed; k++) {
        px_feeder *feeder = NULL;
        px_error err = {0};
        float input[SIZE];
        int64_t label;
        fail_at(k);
        px_status status = px_feeder_new(&options, &feeder, &err);
        if (status == PX_OK)
            status = px_feeder_get(feeder, 0, 7, input, &label, &err);
        failed = fail_never();
        px_feeder_free(feeder);
        if (status != (failed ? PX_E_NOMEM : PX_OK))
            fail_msg("allocation %ld: status %d, '%s'", k, (int)status, err.message);
    }
    px_dataset_close(base.set);
    px_dataset_close(added.set);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_each_allocation_may_fail)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
