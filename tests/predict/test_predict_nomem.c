/* tests/predict/test_predict_nomem.c - each allocation of a prediction and its evaluation fails */
/* SPDX-License-Identifier: Apache-2.0 */
#include "cover/cover_helpers.h"
#include "failing_alloc.h"

#include <plexor/eval.h>

static px_status predict_and_eval(const px_model *model, const small_data *digits, px_error *err)
{
    px_predict_options how = px_predict_options_default();
    px_predictions said = {0};
    px_eval eval = {0};
    how.threads = 1;
    how.probabilities = true;
    PX_TRY(px_predict(model, digits->set, &digits->pre, &how, &said, err));
    const px_status status = px_eval_make(&said, &eval, err);
    px_predictions_done(&said);
    px_eval_done(&eval);
    return status;
}

static void test_each_fails(void **state)
{
    (void)state;
    px_model *model = small_net(5, 3);
    small_data digits = small_digits(model, "test", 12, 0);
    bool failed = true;
    long k = 0;
    for (; failed; k++) {
        px_error err = {0};
        fail_at(k);
        const px_status status = predict_and_eval(model, &digits, &err);
        failed = fail_never();
        if (failed && status != PX_E_NOMEM)
            fail_msg("allocation %ld: status %d, '%s'", k, (int)status, err.message);
        if (!failed)
            assert_int_equal(status, PX_OK);
    }
    assert_true(k > 20);
    small_close(&digits);
    px_model_free(model);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_each_fails)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
