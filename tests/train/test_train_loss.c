/* tests/train/test_train_loss.c - losses and their gradients against PyTorch, and where it is hard
 */
/* SPDX-License-Identifier: Apache-2.0 */
#include "base/memory.h"
#include "cmocka_all.h"

#include <internal/arch.h>
#include <internal/engine.h>
#include <internal/optimizer.h>
#include <internal/rng.h>
#include <math.h>
#include <string.h>

#include "golden/golden_losses.h"

static px_loss parse(const char *spec)
{
    px_loss loss;
    px_error err = {0};
    if (px_loss_parse(spec, &loss, &err) != PX_OK)
        fail_msg("'%s': %s", spec, err.message);
    return loss;
}

static void test_torch(void **state)
{
    (void)state;
    for (size_t k = 0; k < PX_LEN(golden_losses); k++) {
        const px_loss loss = parse(golden_losses[k].spec);
        const float *target = golden_losses[k].label < 0 ? golden_losses[k].target : NULL;
        float gradient[GOLDEN_CLASSES];
        const double got = px_loss_sample(&loss, golden_losses[k].scores, GOLDEN_CLASSES,
                                          golden_losses[k].probabilities, golden_losses[k].label,
                                          target, gradient);
        /* sums of 3e4 in double; gradients in float */
        if (!(fabs(got - golden_losses[k].loss) <= 1e-12 * fabs(golden_losses[k].loss) + 1e-15))
            fail_msg("'%s' of %s, label %d: %.17g, PyTorch has %.17g", golden_losses[k].spec,
                     golden_losses[k].name, golden_losses[k].label, got, golden_losses[k].loss);
        for (int c = 0; c < GOLDEN_CLASSES; c++) {
            const double want = golden_losses[k].gradient[c];
            if (!(fabs((double)gradient[c] - want) <= 1e-7 * fabs(want) + 1e-15))
                fail_msg("'%s' of %s, label %d, gradient %d: %.9g, PyTorch has %.9g",
                         golden_losses[k].spec, golden_losses[k].name, golden_losses[k].label, c,
                         (double)gradient[c], want);
        }
        assert_true(px_loss_sample(&loss, golden_losses[k].scores, GOLDEN_CLASSES,
                                   golden_losses[k].probabilities, golden_losses[k].label, target,
                                   NULL) == got);
    }
}

/* Where PyTorch's p - 1 is nothing, there is still a direction; the same as the engine's loss. */
static void test_confident_answers_keep_their_gradient(void **state)
{
    (void)state;
    static const float rows[][3] = {{40, 0, 0}, {80, 0, 1}, {100, 0, 0}, {0, 85, 0}, {1, 2, 3}};
    const px_loss loss = parse("cross-entropy"), square = parse("mse");
    for (size_t k = 0; k < PX_LEN(rows); k++)
        for (int label = 0; label < 3; label++) {
            float got[3], want[3];
            const double a = px_loss_sample(&loss, rows[k], 3, false, label, NULL, got);
            const double b = px_softmax_loss(rows[k], 3, label, want);
            assert_true(fabs(a - b) <= 1e-14 * b);
            for (int c = 0; c < 3; c++)
                if (!(fabsf(got[c] - want[c]) <= 2e-7f * fabsf(want[c])))
                    fail_msg("row %zu, label %d: %g, not %g", k, label, (double)got[c],
                             (double)want[c]);
            /* d = -q with q the other probability: gradient -p q (q + ...), never exactly zero */
            const int best = px_argmax(rows[k], 3);
            px_loss_sample(&square, rows[k], 3, false, best, NULL, got);
            if (rows[k][best] <= 40.0f)
                assert_true(got[best] < 0.0f);
        }
}

static void test_not_numbers_are_seen(void **state)
{
    (void)state;
    static const float rows[][3] = {
        {NAN, 0, 0}, {0, NAN, 0}, {INFINITY, 0, 0}, {-INFINITY, -INFINITY, -INFINITY}};
    static const char *const specs[] = {"cross-entropy", "cross-entropy:smoothing=0.1", "mse"};
    for (size_t s = 0; s < PX_LEN(specs); s++)
        for (size_t k = 0; k < PX_LEN(rows); k++)
            for (int label = 0; label < 3; label++) {
                const px_loss loss = parse(specs[s]);
                float g[3];
                const double value = px_loss_sample(&loss, rows[k], 3, false, label, NULL, g);
                if (!isnan(value) || !(isnan(g[0]) || isnan(g[1]) || isnan(g[2])))
                    fail_msg("'%s', row %zu, label %d: %g", specs[s], k, label, value);
            }
}

/* Every loss against differences, away from what the golden rows have. */
static void test_gradients_by_differences(void **state)
{
    (void)state;
    enum { CLASSES = 17 };
    static const char *const specs[] = {"cross-entropy", "cross-entropy:smoothing=0.3", "mse",
                                        "mse:softmax=0"};
    px_random r = px_rng(7, PX_RNG_TEST, 0, 0);
    for (size_t s = 0; s < PX_LEN(specs); s++)
        for (int soft = 0; soft < 2; soft++) {
            const px_loss loss = parse(specs[s]);
            float z[CLASSES], target[CLASSES], g[CLASSES];
            for (int c = 0; c < CLASSES; c++) {
                z[c] = (float)(2.0 * px_rng_normal(&r));
                target[c] = (float)px_rng_u01(&r);
            }
            const float *t = soft ? target : NULL;
            px_loss_sample(&loss, z, CLASSES, false, 4, t, g);
            for (int c = 0; c < CLASSES; c++) {
                const float kept = z[c], step = 1.0f / 256;
                z[c] = kept + step;
                const double up = px_loss_sample(&loss, z, CLASSES, false, 4, t, NULL);
                const double width = (double)z[c];
                z[c] = kept - step;
                const double down = px_loss_sample(&loss, z, CLASSES, false, 4, t, NULL);
                const double slope = (up - down) / (width - (double)z[c]);
                z[c] = kept;
                if (!(fabs(slope - (double)g[c]) < 1e-4))
                    fail_msg("'%s', class %d: %g, difference %g", specs[s], c, (double)g[c], slope);
            }
        }
}

/* On a session: rows by rows what px_loss_sample() gives, scaled and added. */
static void test_seeds(void **state)
{
    (void)state;
    enum { BATCH = 4, SAMPLES = 3, CLASSES = 10 };
    px_model *model = NULL;
    px_plan *plan = NULL;
    px_session *session = NULL;
    px_scores scores;
    px_error err = {0};
    assert_int_equal(px_arch_build("mlp-5x30", NULL, &model, &err), PX_OK);
    assert_int_equal(px_model_scores(model, &scores, &err), PX_OK);
    px_plan_options options = px_plan_options_default();
    options.batch = BATCH;
    options.input_grad = true;
    options.keep = &scores.value;
    options.keep_count = 1;
    assert_int_equal(px_plan_new(model, &options, &plan, &err), PX_OK);
    assert_int_equal(px_session_new(plan, &session, &err), PX_OK);
    float *x = px_session_input(session, 0);
    const px_shape shape = px_plan_feed_shape(plan, 0);
    px_random r = px_rng(1, PX_RNG_TEST, 0, 0);
    for (int64_t i = 0; i < px_shape_count(&shape); i++)
        x[i] = (float)px_rng_normal(&r);
    assert_int_equal(px_session_forward(session, &err), PX_OK);

    const int64_t labels[SAMPLES] = {0, 9, 4};
    float targets[SAMPLES * CLASSES];
    for (int i = 0; i < SAMPLES * CLASSES; i++)
        targets[i] = (float)px_rng_u01(&r);
    const px_loss loss = parse("cross-entropy:smoothing=0.1");
    const px_view view = px_session_view(session, scores.value);
    for (int soft = 0; soft < 2; soft++) {
        double losses[SAMPLES];
        int64_t predictions[SAMPLES];
        assert_int_equal(px_session_seed_clear(session, &err), PX_OK);
        for (int twice = 0; twice < 2; twice++)
            assert_int_equal(px_loss_seed(&loss, session, &scores, soft ? NULL : labels,
                                          soft ? targets : NULL, SAMPLES, 0.125, losses,
                                          predictions, &err),
                             PX_OK);
        const px_place seed = px_session_seed(session, scores.value);
        for (int i = 0; i < BATCH; i++) {
            float row[CLASSES], gradient[CLASSES] = {0};
            for (int c = 0; c < CLASSES; c++)
                row[c] = view.data[i * view.stride[0] + c * view.stride[1]];
            if (i < SAMPLES) {
                const double want = px_loss_sample(&loss, row, CLASSES, false, labels[i],
                                                   soft ? targets + i * CLASSES : NULL, gradient);
                assert_true(losses[i] == want);
                assert_int_equal(predictions[i], px_argmax(row, CLASSES));
            }
            for (int c = 0; c < CLASSES; c++)
                assert_true(seed.data[i * seed.stride[0] + c * seed.stride[1]] ==
                            0.25f * gradient[c]);
        }
    }

    const int64_t bad[] = {0, 10, -1};
    assert_int_equal(px_loss_seed(&loss, session, &scores, bad, NULL, 2, 1.0, NULL, NULL, &err),
                     PX_E_MISMATCH);
    assert_non_null(strstr(err.message, "label 10 is outside the network's classes 0..9"));
    assert_int_equal(px_loss_seed(&loss, session, &scores, bad + 2, NULL, 1, 1.0, NULL, NULL, &err),
                     PX_E_MISMATCH);
    assert_int_equal(px_loss_seed(&loss, session, &scores, NULL, NULL, 1, 1.0, NULL, NULL, &err),
                     PX_E_USAGE);
    assert_int_equal(
        px_loss_seed(&loss, session, &scores, labels, NULL, BATCH + 1, 1.0, NULL, NULL, &err),
        PX_E_USAGE);
    px_session_free(session);
    px_plan_free(plan);
    px_model_free(model);
}

static void test_specs_are_read_strictly(void **state)
{
    (void)state;
    static const struct {
        const char *spec, *words;
    } cases[] = {
        {"crossentropy", "there is no loss 'crossentropy'; there are cross-entropy, mse"},
        {"cross-entropy:smoothing=2", "smoothing must be at least 0 and at most 1"},
        {"mse:smoothing=0.1", "loss 'mse' has no setting 'smoothing'; it has softmax"},
        {"mse:softmax=2", "softmax is 0 or 1"},
    };
    for (size_t k = 0; k < PX_LEN(cases); k++) {
        px_loss loss;
        px_error err = {0};
        assert_int_equal(px_loss_parse(cases[k].spec, &loss, &err), PX_E_USAGE);
        if (!strstr(err.message, cases[k].words))
            fail_msg("'%s': '%s'", cases[k].spec, err.message);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_torch),
        cmocka_unit_test(test_confident_answers_keep_their_gradient),
        cmocka_unit_test(test_not_numbers_are_seen),
        cmocka_unit_test(test_gradients_by_differences),
        cmocka_unit_test(test_seeds),
        cmocka_unit_test(test_specs_are_read_strictly),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
