/* tests/attack/test_attack_nomem.c - each allocation of an attack fails in turn
 *
 * Whatever fails says PX_E_NOMEM and leaves nothing behind (the leak checker watches).
 */
/* SPDX-License-Identifier: Apache-2.0 */
#include "attack_helpers.h"

#include "failing_alloc.h"

#include <internal/attack.h>
#include <stdlib.h>

static px_status work(const scene *s, const char *method, px_error *err)
{
    const px_attack_job job = {.model = s->model, .set = s->set, .pre = &s->pre};
    px_attack_options o = px_attack_options_default();
    px_attack *a = NULL;
    px_attack_summary sum;
    char *text = NULL;
    o.method = method;
    o.steps = 2;
    o.threads = 1;
    o.batch = 2;
    if (px_attack_method_find(method)->bounded)
        o.steps = 1;
    px_status status = px_attack_run(&job, &o, &a, err);
    if (status == PX_OK)
        status = px_attack_sum(a, &sum, err);
    if (status == PX_OK)
        status = px_attack_settings_text(&o, &text, err);
    free(text);
    px_attack_free(a);
    return status;
}

static void test_each_allocation_may_fail(void **state)
{
    (void)state;
    static const char *const methods[] = {"pgd", "deepfool", "jsma"};
    scene s = net_scene();
    for (size_t m = 0; m < sizeof methods / sizeof *methods; m++) {
        px_error err = {0};
        bool failed = true;
        for (long k = 0; failed; k++) {
            fail_at(k);
            const px_status status = work(&s, methods[m], &err);
            failed = fail_never();
            if (status != (failed ? PX_E_NOMEM : PX_OK))
                fail_msg("%s, allocation %ld: status %d, '%s'", methods[m], k, (int)status,
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
