/* tests/predict/test_predict.c - predictions against the interpreter, once and again and again */
/* SPDX-License-Identifier: Apache-2.0 */
#include "cover/cover_helpers.h"

#include "cmocka_all.h"

#include <internal/weights.h>
#include <math.h>
#include <plexor/eval.h>
#include <stdlib.h>
#include <string.h>

enum { N = 60, CLASSES = 10 };

static px_model *model;
static small_data digits;

static int open_all(void **state)
{
    (void)state;
    model = small_net(5, 3);
    digits = small_digits(model, "test", N, 0);
    return 0;
}

static int close_all(void **state)
{
    (void)state;
    small_close(&digits);
    px_model_free(model);
    return 0;
}

/* The class scores of an input, by plain kernels. */
static void interpret(const px_model *of, int64_t index, float scores[CLASSES])
{
    const px_shape shape = {4, {1, 1, 28, 28}};
    px_tensor input = {0}, output = {0};
    px_error err = {0};
    assert_int_equal(px_tensor_init(&input, PX_FLOAT32, &shape, &err), PX_OK);
    assert_int_equal(px_dataset_input(digits.set, &digits.pre, index, input.data, &err), PX_OK);
    assert_int_equal(px_model_interpret(of, &input, &output, &err), PX_OK);
    memcpy(scores, output.data, CLASSES * sizeof *scores);
    px_tensor_done(&input);
    px_tensor_done(&output);
}

/* Prediction `at` is what the network says of input `index`. */
static void check_one(const px_predictions *said, const px_model *of, int64_t at, int64_t index)
{
    float z[CLASSES];
    double sum = 0.0;
    int best = 0, above = 0;
    const int64_t label = px_dataset_label(digits.set, index);
    interpret(of, index, z);
    for (int c = 0; c < CLASSES; c++) {
        best = z[c] > z[best] ? c : best;
        above += z[c] > z[label];
        sum += exp((double)z[c]);
    }
    assert_int_equal(said->label[at], label);
    assert_int_equal(said->predicted[at], best);
    assert_int_equal(said->near[at], above < 5);
    assert_int_equal(said->not_finite[at], 0);
    assert_true(fabs((double)said->confidence[at] - exp((double)z[best]) / sum) < 1e-5);
    assert_true(fabs((double)said->given[at] - exp((double)z[label]) / sum) < 1e-5);
    assert_true(fabs(said->loss[at] + log(exp((double)z[label]) / sum)) < 1e-5);
    for (int c = 0; said->probabilities && c < CLASSES; c++)
        assert_true(fabs((double)said->probabilities[at * CLASSES + c] - exp((double)z[c]) / sum) <
                    1e-5);
}

static void test_all_inputs(void **state)
{
    (void)state;
    px_predict_options how = px_predict_options_default();
    px_predictions said = {0};
    px_error err = {0};
    how.probabilities = true;
    how.threads = 3;
    how.batch = 7;
    assert_int_equal(px_predict(model, digits.set, &digits.pre, &how, &said, &err), PX_OK);
    assert_int_equal(said.count, N);
    assert_int_equal(said.scores.classes, CLASSES);
    assert_int_equal(said.batch, 7);
    for (int64_t i = 0; i < N; i++)
        check_one(&said, model, i, i);
    px_predictions_done(&said);
}

static void test_some_inputs(void **state)
{
    (void)state;
    static const int64_t wanted[] = {41, 3, 3, 17};
    px_predict_options how = px_predict_options_default();
    px_predictions said = {0};
    px_error err = {0};
    how.indices = wanted;
    how.index_count = 4;
    assert_int_equal(px_predict(model, digits.set, &digits.pre, &how, &said, &err), PX_OK);
    assert_int_equal(said.count, 4);
    assert_null(said.probabilities);
    for (int64_t i = 0; i < 4; i++)
        check_one(&said, model, i, wanted[i]);
    px_predictions_done(&said);
}

/* Every run reads the weights anew. */
static void test_while_weights_move(void **state)
{
    (void)state;
    px_predict_options how = px_predict_options_default();
    px_weights *weights = NULL;
    px_predictor *predictor = NULL;
    const px_predictions *said = NULL;
    px_error err = {0};
    assert_int_equal(px_weights_new(model, &weights, &err), PX_OK);
    how.weights = weights;
    how.threads = 2;
    assert_int_equal(px_predictor_new(model, digits.set, &digits.pre, &how, &predictor, &err),
                     PX_OK);
    for (int round = 0; round < 3; round++) {
        px_model *now = NULL;
        assert_int_equal(px_predictor_run(predictor, &said, &err), PX_OK);
        assert_int_equal(px_weights_freeze(weights, NULL, 0, &now, &err), PX_OK);
        for (int64_t i = 0; i < N; i += 7)
            check_one(said, now, i, i);
        px_model_free(now);
        for (size_t w = 0; w < px_weights_count(weights); w++) {
            px_weight *of = px_weights_get(weights, w);
            const int64_t count = px_shape_count(&of->tensor.shape);
            float *data = of->tensor.data;
            for (int64_t k = 0; k < count; k++)
                data[k] *= k % 3 ? 1.25f : -0.5f;
        }
    }
    px_predictor_free(predictor);
    px_predictor_free(NULL);
    px_weights_free(weights);
}

static bool stop_at_once(void *context, int64_t done, int64_t total)
{
    (void)context;
    (void)done;
    (void)total;
    return false;
}

static void test_cancelled(void **state)
{
    (void)state;
    px_predict_options how = px_predict_options_default();
    px_predictions said = {0};
    px_error err = {0};
    how.progress = stop_at_once;
    how.batch = 1;
    assert_int_equal(px_predict(model, digits.set, &digits.pre, &how, &said, &err), PX_E_CANCELLED);
    assert_null(said.label);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_all_inputs),
        cmocka_unit_test(test_some_inputs),
        cmocka_unit_test(test_while_weights_move),
        cmocka_unit_test(test_cancelled),
    };
    return cmocka_run_group_tests(tests, open_all, close_all);
}
