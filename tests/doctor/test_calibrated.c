/* tests/doctor/test_calibrated.c - the loss that does not count confidence */
/* SPDX-License-Identifier: Apache-2.0 */
#include "cmocka_all.h"
#include "doctor/doctor_internal.h"

#include <math.h>

enum { INPUTS = 400, CLASSES = 3 };

typedef struct answers {
    px_predictions said;
    int64_t label[INPUTS];
    float probabilities[INPUTS * CLASSES];
} answers;

/* Scores times `sharp`, as a network gives that is so much surer of the same answers: every fourth
 * is wrong. */
static void answers_make(answers *a, double sharp)
{
    *a = (answers){.said = {.scores = {.classes = CLASSES}, .count = INPUTS}};
    a->said.label = a->label;
    a->said.probabilities = a->probabilities;
    for (int i = 0; i < INPUTS; i++) {
        const int answer = i % CLASSES;
        a->label[i] = i % 4 == 0 ? (answer + 1) % CLASSES : answer;
        double sum = 0.0;
        for (int c = 0; c < CLASSES; c++)
            sum += exp(sharp * (c == answer));
        for (int c = 0; c < CLASSES; c++)
            a->probabilities[i * CLASSES + c] = (float)(exp(sharp * (c == answer)) / sum);
    }
}

static double mean_loss(const answers *a)
{
    double loss[INPUTS], sum = 0.0;
    assert_int_equal(pxi_calibrated_loss(&a->said, loss, NULL), PX_OK);
    for (int i = 0; i < INPUTS; i++)
        sum += loss[i];
    return sum / INPUTS;
}

/* Three of four are right, so that 3/4 for the answer and 1/8 for each other is the lowest loss. */
static void test_confidence_does_not_count(void **state)
{
    (void)state;
    const double entropy = -(0.75 * log(0.75) + 0.25 * log(0.125));
    static const double sharp[] = {0.1, 1.0, 3.0, 30.0};
    answers a;
    for (size_t i = 0; i < PX_LEN(sharp); i++) {
        answers_make(&a, sharp[i]);
        if (fabs(mean_loss(&a) - entropy) > 1e-6)
            fail_msg("sharp %g: %.9f, expected %.9f", sharp[i], mean_loss(&a), entropy);
    }
}

/* An answer that is not a number is worth as much as guessing. */
static void test_not_numbers(void **state)
{
    (void)state;
    answers a;
    answers_make(&a, 1.0);
    for (int i = 0; i < INPUTS * CLASSES; i++)
        a.probabilities[i] = NAN;
    assert_true(fabs(mean_loss(&a) - log(CLASSES)) < 1e-9);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_confidence_does_not_count),
        cmocka_unit_test(test_not_numbers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
