/* tests/train/test_schedule.c - learning rates of whole runs against PyTorch */
/* SPDX-License-Identifier: Apache-2.0 */
#include "base/memory.h"
#include "cmocka_all.h"

#include <internal/optimizer.h>
#include <math.h>
#include <plexor/text.h>
#include <string.h>

#include "golden/golden_schedules.h"

static px_schedule *make(const char *spec, double lr, int64_t steps_per_epoch, int64_t epochs)
{
    px_schedule *schedule = NULL;
    px_error err = {0};
    if (px_schedule_new(spec, lr, steps_per_epoch, epochs, &schedule, &err) != PX_OK)
        fail_msg("'%s': %s", spec, err.message);
    return schedule;
}

static bool near(double got, double want)
{
    return isnan(want) ? isnan(got) : fabs(got - want) <= 1e-12 * fabs(want);
}

static void test_torch(void **state)
{
    (void)state;
    for (size_t k = 0; k < PX_LEN(golden_schedules); k++) {
        const int64_t steps = golden_schedules[k].steps_per_epoch * golden_schedules[k].epochs;
        px_schedule *s = make(golden_schedules[k].spec, golden_schedules[k].lr,
                              golden_schedules[k].steps_per_epoch, golden_schedules[k].epochs);
        assert_false(px_schedule_report(s, 1.0));
        for (int64_t t = steps - 1; t >= 0; t--) { /* in any order */
            const px_pace pace = px_schedule_at(s, t);
            if (!near(pace.lr, golden_schedules[k].rates[t]) ||
                !near(pace.momentum, golden_schedules[k].momenta[t]))
                fail_msg("'%s', step %d: rate %.17g, momentum %g; PyTorch has %.17g, %g",
                         golden_schedules[k].spec, (int)t, pace.lr, pace.momentum,
                         golden_schedules[k].rates[t], golden_schedules[k].momenta[t]);
        }
        assert_true(px_schedule_at(s, steps).lr == px_schedule_at(s, steps - 1).lr);
        assert_true(px_schedule_at(s, INT64_MAX).lr == px_schedule_at(s, steps - 1).lr);
        px_schedule_free(s);
    }
}

/* Through a checkpoint at every epoch. */
static void test_plateau(void **state)
{
    (void)state;
    for (size_t k = 0; k < PX_LEN(golden_plateaus); k++) {
        px_schedule *s = make(golden_plateaus[k].spec, 0.1, 10, golden_plateaus[k].epochs);
        assert_true(px_schedule_listens(s));
        double before = 0.1;
        for (int e = 0; e < golden_plateaus[k].epochs; e++) {
            const bool fell = px_schedule_report(s, golden_plateaus[k].values[e]);
            const double got = px_schedule_at(s, 0).lr;
            if (!near(got, golden_plateaus[k].rates[e]) || fell != (got < before))
                fail_msg("'%s', epoch %d: %.17g, PyTorch has %.17g", golden_plateaus[k].spec, e,
                         got, golden_plateaus[k].rates[e]);
            before = got;
            px_schedule *next = make(golden_plateaus[k].spec, 0.1, 10, golden_plateaus[k].epochs);
            const px_tensor saved = px_schedule_state(s);
            assert_int_equal(px_schedule_restore(next, &saved, NULL), PX_OK);
            px_schedule_free(s);
            s = next;
        }
        px_schedule_free(s);
    }
}

static void test_foreign_states_are_refused(void **state)
{
    (void)state;
    px_schedule *s = make("plateau", 0.1, 1, 1);
    px_tensor own = px_schedule_state(s);
    double numbers[4];
    memcpy(numbers, own.data, sizeof numbers);
    px_tensor given = {PX_FLOAT64, own.shape, numbers};
    const double bad[4][2] = {{0.2, NAN}, {NAN, NAN}, {-1, NAN}, {-1, 1e300}};
    for (int i = 0; i < 4; i++)
        for (int j = 0; j < 2; j++) {
            memcpy(numbers, own.data, sizeof numbers);
            numbers[i] = bad[i][j];
            assert_int_equal(px_schedule_restore(s, &given, NULL), PX_E_MISMATCH);
        }
    memcpy(numbers, own.data, sizeof numbers);
    assert_int_equal(px_schedule_restore(s, &given, NULL), PX_OK);
    given.shape.dim[0] = 3;
    assert_int_equal(px_schedule_restore(s, &given, NULL), PX_E_MISMATCH);
    given.shape.dim[0] = 4;
    given.dtype = PX_FLOAT32;
    assert_int_equal(px_schedule_restore(s, &given, NULL), PX_E_MISMATCH);
    px_schedule_free(s);
}

/* Runs so short that a phase has no length. */
static void test_short_runs_stay_finite(void **state)
{
    (void)state;
    static const char *const specs[] = {
        "onecycle", "onecycle:rise=0", "onecycle:rise=1",     "onecycle:rise=0.5",
        "cosine",   "warmup:5+cosine", "warmup:1e-9+onecycle"};
    for (size_t k = 0; k < PX_LEN(specs); k++)
        for (int64_t steps = 1; steps < 5; steps++) {
            px_schedule *s = make(specs[k], 1.0, steps, 1);
            for (int64_t t = 0; t < steps; t++) {
                const double lr = px_schedule_at(s, t).lr;
                if (!(lr >= 0.0 && lr <= 1.0))
                    fail_msg("'%s', step %d of %d: %g", specs[k], (int)t, (int)steps, lr);
            }
            px_schedule_free(s);
        }
}

static const struct {
    const char *spec;
    double lr;
    const char *words;
} refusals[] = {
    {"cosin", 1, "there is no schedule 'cosin'; there are constant, step, cosine, onecycle"},
    {"constant:1", 1, "schedule 'constant' has no setting '1'; it has none"},
    {"constant", -1, "learning rate of -1"},
    {"constant", NAN, "learning rate of"},
    {"constant", INFINITY, "learning rate of"},
    {"step", 1, "needs epochs, as in 'step:20,30'"},
    {"step:factor=0.5", 1, "needs epochs"},
    {"step:1.5", 1, "whole numbers, not 1.5"},
    {"step:-1", 1, "whole numbers, not -1"},
    {"step:20,x", 1, "'x' in schedule 'step' is not a number"},
    {"step:20,30:0.1", 1, "'30:0.1' in schedule 'step' is not a number"},
    {"cosine:0.1", 0.01, "above the learning rate"},
    {"cosine:0,0", 0.01, "has no setting '0'"},
    {"onecycle:low=0.9,high=0.8", 1, "low=0.9 is above high=0.8"},
    {"onecycle:start=0", 1, "start must be at least 1"},
    {"plateau:1", 1, "factor must be above 0 and below 1"},
    {"plateau:0.1,2.5", 1, "patience must be a whole number"},
    {"plateau:0.1,factor=0.2", 1, "'factor' twice"},
    {"warmup:5", 1, "a schedule must follow"},
    {"warmup", 1, "a schedule must follow"},
    {"warmup:0+cosine", 1, "epochs must be above 0"},
    {"warmup:5+", 1, "a schedule must follow"},
    {"warmup:5+cosin", 1, "there is no schedule 'cosin'"},
    {"warmup:5+warmup:5+cosine", 1, "one warm-up is enough"},
};

static void test_specs_are_read_strictly(void **state)
{
    (void)state;
    px_schedule *s = NULL;
    for (size_t k = 0; k < PX_LEN(refusals); k++) {
        px_error err = {0};
        if (px_schedule_new(refusals[k].spec, refusals[k].lr, 10, 10, &s, &err) != PX_E_USAGE)
            fail_msg("'%s' is taken", refusals[k].spec);
        if (!strstr(err.message, refusals[k].words))
            fail_msg("'%s': '%s'", refusals[k].spec, err.message);
    }
    assert_int_equal(px_schedule_new("constant", 1, 0, 1, &s, NULL), PX_E_USAGE);
    assert_int_equal(px_schedule_new("constant", 1, 1, 0, &s, NULL), PX_E_USAGE);
    assert_int_equal(px_schedule_new("constant", 1, INT64_MAX, 2, &s, NULL), PX_E_USAGE);
    assert_null(s);
    px_text many = {0};
    px_text_add(&many, "step:1");
    for (int i = 0; i < 64; i++)
        px_text_add(&many, ",1");
    px_error err = {0};
    assert_int_equal(px_schedule_new(px_text_get(&many), 1, 1, 1, &s, &err), PX_E_USAGE);
    assert_non_null(strstr(err.message, "at most 64 epochs"));
    px_text_done(&many);
}

static void test_momentum_needs_an_optimizer_that_has_it(void **state)
{
    (void)state;
    static const struct {
        const char *schedule, *optimizer;
        px_status status;
    } cases[] = {
        {"onecycle", "sgd", PX_OK},
        {"onecycle:momentum=1", "sgd:momentum=0.9", PX_OK},
        {"onecycle:momentum=1", "adam", PX_OK},
        {"onecycle:momentum=1", "sgd", PX_E_MISMATCH},
        {"onecycle:momentum=1", "rmsprop", PX_E_MISMATCH},
        {"onecycle:momentum=1", "adagrad", PX_E_MISMATCH},
    };
    const px_shape one = {.rank = 0};
    for (size_t k = 0; k < PX_LEN(cases); k++) {
        px_schedule *s = make(cases[k].schedule, 0.1, 1, 1);
        px_optimizer *opt = NULL;
        assert_int_equal(px_optimizer_new(cases[k].optimizer, &one, 1, &opt, NULL), PX_OK);
        assert_int_equal(px_schedule_check(s, opt, NULL), cases[k].status);
        px_optimizer_free(opt);
        px_schedule_free(s);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_torch),
        cmocka_unit_test(test_plateau),
        cmocka_unit_test(test_foreign_states_are_refused),
        cmocka_unit_test(test_short_runs_stay_finite),
        cmocka_unit_test(test_specs_are_read_strictly),
        cmocka_unit_test(test_momentum_needs_an_optimizer_that_has_it),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
