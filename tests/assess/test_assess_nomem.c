/* tests/assess/test_assess_nomem.c - each allocation of an assessment and of CLEVER fails in turn
 *
 * Whatever fails says PX_E_NOMEM and leaves nothing behind (the leak checker watches).
 */
/* SPDX-License-Identifier: Apache-2.0 */
#include "../attack/attack_helpers.h"

#include "failing_alloc.h"

#include <internal/assess.h>
#include <internal/clever.h>

static px_status work_assess(const scene *s, px_error *err)
{
    const px_assess_job job = {
        .model = s->model, .original = {s->set, &s->pre}, .adversarial = {s->set, &s->pre}};
    px_assess_options o = px_assess_options_default();
    px_assess *a = NULL;
    o.threads = 1;
    o.batch = 2;
    const px_status status = px_assess_run(&job, &o, &a, err);
    px_assess_free(a);
    return status;
}

static px_status work_clever(const scene *s, px_error *err)
{
    const px_clever_job job = {.model = s->model, .set = s->set, .pre = &s->pre};
    px_clever_options o = px_clever_options_default();
    px_clever_summary sum;
    px_clever *c = NULL;
    o.threads = 1;
    o.batches = 3;
    o.samples = 2;
    o.pool = 2;
    o.target = PX_CLEVER_SECOND;
    px_status status = px_clever_run(&job, &o, &c, err);
    if (status == PX_OK)
        status = px_clever_sum(c, &sum, err);
    px_clever_free(c);
    return status;
}

static void test_each_allocation_may_fail(void **state)
{
    (void)state;
    px_status (*const works[])(const scene *, px_error *) = {work_assess, work_clever};
    scene s = net_scene();
    for (size_t w = 0; w < sizeof works / sizeof *works; w++) {
        px_error err = {0};
        bool failed = true;
        for (long k = 0; failed; k++) {
            fail_at(k);
            const px_status status = works[w](&s, &err);
            failed = fail_never();
            if (status != (failed ? PX_E_NOMEM : PX_OK))
                fail_msg("work %zu, allocation %ld: status %d, '%s'", w, k, (int)status,
                         err.message);
        }
    }
    scene_close(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_each_allocation_may_fail)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
