/* tests/train/test_optimizer_nomem.c - each allocation of optimisers and schedules fails in turn */
/* SPDX-License-Identifier: Apache-2.0 */
#include "cmocka_all.h"
#include "failing_alloc.h"

#include <internal/optimizer.h>

static void test_each_allocation_may_fail(void **state)
{
    (void)state;
    const px_shape shapes[] = {{.rank = 2, .dim = {300, 100}}, {.rank = 1, .dim = {7}}};
    bool failed = true;
    for (long k = 0; failed; k++) {
        px_optimizer *optimizer = NULL;
        px_schedule *schedule = NULL;
        px_error err = {0};
        fail_at(k);
        px_status status =
            px_optimizer_new("rmsprop:centered=1,momentum=0.9", shapes, 2, &optimizer, &err);
        if (status == PX_OK)
            status = px_schedule_new("warmup:1+cosine", 0.1, 10, 10, &schedule, &err);
        failed = fail_never();
        px_optimizer_free(optimizer);
        px_schedule_free(schedule);
        if (status != (failed ? PX_E_NOMEM : PX_OK))
            fail_msg("allocation %ld: status %d, '%s'", k, (int)status, err.message);
    }
}

/* Messages that are made of several parts say less, but still something. */
static void test_refusals_without_memory(void **state)
{
    (void)state;
    static const char *const specs[] = {"nothing", "sgd:nothing=1"};
    const px_shape shape = {.rank = 1, .dim = {7}};
    for (int i = 0; i < 2; i++) {
        px_optimizer *optimizer = NULL;
        px_error err = {0};
        fail_at(0);
        const px_status status = px_optimizer_new(specs[i], &shape, 1, &optimizer, &err);
        assert_true(fail_never());
        assert_int_equal(status, PX_E_USAGE);
        assert_int_not_equal(err.message[0], '\0');
    }
}

/* More than there is. */
static void test_sizes_that_cannot_be(void **state)
{
    (void)state;
    px_optimizer *optimizer = NULL;
    px_error err = {0};
    const px_shape many[] = {
        {.rank = 1, .dim = {INT64_C(1) << 59}}, {.rank = 1, .dim = {INT64_C(1) << 59}},
        {.rank = 1, .dim = {INT64_C(1) << 59}}, {.rank = 1, .dim = {INT64_C(1) << 59}},
        {.rank = 1, .dim = {INT64_C(1) << 59}}, {.rank = 1, .dim = {INT64_C(1) << 59}},
        {.rank = 1, .dim = {INT64_C(1) << 59}}, {.rank = 1, .dim = {INT64_C(1) << 59}},
        {.rank = 1, .dim = {INT64_C(1) << 59}}};
    assert_int_equal(px_optimizer_new("adam", many, 9, &optimizer, &err), PX_E_NOMEM);
    assert_int_equal(px_optimizer_new("adam", many, 1, &optimizer, &err), PX_E_NOMEM);
    const px_shape negative = {.rank = 1, .dim = {-1}};
    assert_int_not_equal(px_optimizer_new("adam", &negative, 1, &optimizer, &err), PX_OK);
    assert_null(optimizer);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_each_allocation_may_fail),
        cmocka_unit_test(test_refusals_without_memory),
        cmocka_unit_test(test_sizes_that_cannot_be),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
