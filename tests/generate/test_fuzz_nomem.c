/* tests/generate/test_fuzz_nomem.c - allocations of a campaign fail in turn
 *
 * Whatever fails says PX_E_NOMEM and leaves nothing behind (the leak checker watches); what was
 * committed before is there and can be gone on with. PLEXOR_EVERY=1 for each allocation; else the
 * steps get longer.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#include "../data/data_helpers.h"
#include "fuzz_helpers.h"

#include "failing_alloc.h"

static px_status work(const fuzz_case *c, px_error *err)
{
    const px_fuzz_limits limits = {.turns = 2};
    return fuzz_case_run(c, &limits, NULL, err);
}

static void fails_in_turn(const fuzz_case *of)
{
    fuzz_case c = *of;
    px_error err = {0};
    const bool every = getenv("PLEXOR_EVERY") != NULL;
    bool failed = true;
    long runs = 0;
    for (long k = 0; failed; k += every ? 1 : 1 + k / 8, runs++) {
        char folder[64];
        snprintf(folder, sizeof folder, "run-%s-%ld", c.policy, k);
        c.folder = folder;
        c.resume = false;
        fail_at(k);
        px_status status = work(&c, &err);
        failed = fail_never();
        if (status != (failed ? PX_E_NOMEM : PX_OK))
            fail_msg("allocation %ld: status %d, '%s'", k, (int)status, err.message);
        c.resume = px_campaign_is(folder);
        if (runs % 8 == 0) {
            status = work(&c, &err);
            if (status != PX_OK)
                fail_msg("going on after allocation %ld: '%s'", k, err.message);
        }
    }
    assert_true(runs > 10);
}

static void test_allocations_may_fail(void **state)
{
    (void)state;
    fails_in_turn(
        &(fuzz_case){.policy = "deephunter", .threads = 1, .seeds = 4, .limit = 20, .seed = 1});
    fails_in_turn(&(fuzz_case){
        .policy = "nlc", .guide = "nc", .threads = 1, .seeds = 4, .limit = 20, .seed = 1});
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_allocations_may_fail)};
    return cmocka_run_group_tests(tests, enter_folder, leave_folder);
}
