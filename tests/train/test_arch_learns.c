/* tests/train/test_arch_learns.c - every network of the zoo learns a batch by heart
 *
 * All parameters must have a gradient, and a few steps of Adam must make the loss smaller. The
 * largest are left out: they are made of the same layers.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#include "train_job.h"

#include <internal/arch.h>
#include <internal/engine.h>
#include <internal/rng.h>
#include <internal/weights.h>

#include "cmocka_all.h"

#include <math.h>

enum { FEW = 5000000, SIDE = 20, CLASSES = 4, BATCH = 8, STEPS = 8 };

static double mean_loss(const train_job *job)
{
    double sum = 0.0;
    for (int i = 0; i < BATCH; i++)
        sum += job->losses[i];
    return sum / BATCH;
}

/* Names a parameter whose gradient is missing, not a number, or zero throughout; NULL if none is.
 */
static const char *without_gradient(const train_job *job)
{
    for (size_t i = 0; i < px_weights_count(job->weights); i++) {
        const px_weight *weight = px_weights_get(job->weights, i);
        if (weight->role != PX_WEIGHT_PARAMETER)
            continue;
        const float *gradient = px_team_gradient(job->team, weight->value);
        double sum = 0.0;
        for (int64_t k = 0; k < px_shape_count(&weight->tensor.shape) && gradient; k++)
            sum += fabs((double)gradient[k]);
        if (!gradient || !isfinite(sum) || (sum == 0.0 && weight->tensor.shape.rank > 1))
            return weight->name;
    }
    return NULL;
}

static void learn(const char *name, const px_arch_options *options)
{
    static float inputs[BATCH * SIDE * SIDE];
    static const int64_t labels[BATCH] = {0, 1, 2, 3, 0, 1, 2, 3};
    px_random random = px_rng(11, PX_RNG_TEST, 0, 0);
    for (size_t i = 0; i < sizeof inputs / sizeof inputs[0]; i++)
        inputs[i] = (float)px_rng_u01(&random);
    px_model *model = NULL;
    train_job job = {0};
    px_error err = {0};
    if (px_arch_build(name, options, &model, &err) != PX_OK ||
        train_job_open(&job, model, "adam", BATCH, /* micro= */ 3, /* threads= */ 2, &err) != PX_OK)
        fail_msg("%s: %s", name, err.message);
    double first = 0.0;
    for (int step = 0; step < STEPS; step++) {
        if (train_job_step(&job, inputs, labels, 1e-3, &err) != PX_OK)
            fail_msg("%s, step %d: %s", name, step, err.message);
        if (step == 0) {
            first = mean_loss(&job);
            const char *dead = without_gradient(&job);
            if (dead)
                fail_msg("%s: '%s' has no gradient", name, dead);
        }
    }
    if (!(mean_loss(&job) < first - 0.01))
        fail_msg("%s: the loss went from %g to %g", name, first, mean_loss(&job));
    train_job_close(&job);
    px_model_free(model);
}

static void test_learns(void **state)
{
    (void)state;
    px_arch_options options = px_arch_options_default();
    options.channels = 1;
    options.height = options.width = SIDE;
    options.classes = CLASSES;
    options.dropout = 0.0; /* with it the loss of so few steps goes up and down */
    int learnt = 0;
    for (size_t i = 0; i < px_arch_count(); i++) {
        const char *name = px_arch_get(i)->entry.id;
        int64_t parameters;
        if (px_arch_parameters(name, &options, &parameters, NULL, NULL) != PX_OK ||
            parameters > FEW)
            continue; /* 20x20 is too small for some */
        learn(name, &options);
        learnt++;
    }
    assert_true(learnt >= 20);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_learns)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
