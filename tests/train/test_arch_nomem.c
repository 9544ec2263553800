/* tests/train/test_arch_nomem.c - each allocation of making a network fails in turn */
/* SPDX-License-Identifier: Apache-2.0 */
#include "failing_alloc.h"

#include <internal/arch.h>

#include "base/memory.h"
#include "cmocka_all.h"

static void test_build(void **state)
{
    (void)state;
    const char *const names[] = {"lenet1-valid", "resnet8", "mlp-2x3"};
    for (size_t i = 0; i < PX_LEN(names); i++) {
        bool failed = true;
        for (long k = 0; failed; k++) {
            px_model *model = NULL;
            px_error err = {0};
            fail_at(k);
            const px_status status = px_arch_build(names[i], NULL, &model, &err);
            failed = fail_never();
            if (status != (failed ? PX_E_NOMEM : PX_OK) || !model != failed)
                fail_msg("%s, allocation %ld: '%s'", names[i], k, err.message);
            px_model_free(model);
            assert_true(failed || k > 50);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_build)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
