/* tests/engine/test_loss.c - cross-entropy where float32 is hard on it */
/* SPDX-License-Identifier: Apache-2.0 */
#include "base/memory.h"
#include "cmocka_all.h"

#include <internal/engine.h>
#include <math.h>

static void test_argmax(void **state)
{
    (void)state;
    static const struct {
        float scores[3];
        int expected;
    } cases[] = {
        {{1, 3, 2}, 1},     {{2, 2, 1}, 0}, /* the lowest of equals */
        {{NAN, -1, -2}, 1}, {{NAN, NAN, NAN}, -1}, {{-INFINITY, -INFINITY, NAN}, 0},
    };
    for (size_t i = 0; i < PX_LEN(cases); i++)
        assert_int_equal(px_argmax(cases[i].scores, 3), cases[i].expected);
}

static const struct {
    const char *name;
    float z[3];
    int64_t label;
    double loss, at_label; /* worked in extended precision */
} rows[] = {
    {"uniform", {0, 0, 0}, 1, 1.0986122886681098, -2.0 / 3},
    {"shifted", {1000, 1000, 1000}, 2, 1.0986122886681098, -2.0 / 3},
    {"right and sure", {40, 0, 0}, 0, 8.496708510583178e-18, -8.496708510583178e-18},
    {"right and very sure", {100, 0, 0}, 0, 7.440151952041672e-44, -7.440151952041672e-44},
    {"wrong and very sure", {200, 0, 0}, 1, 200, -1},
};

static void test_softmax_loss(void **state)
{
    (void)state;
    for (size_t i = 0; i < PX_LEN(rows); i++) {
        float g[3];
        const double loss = px_softmax_loss(rows[i].z, 3, rows[i].label, g);
        if (fabs(loss - rows[i].loss) > 1e-12 * rows[i].loss)
            fail_msg("'%s': loss %.17g", rows[i].name, loss);
        /* never zero: the gradient of a confident answer still has a direction */
        if (fabs(g[rows[i].label] - rows[i].at_label) > 1e-2 * fabs(rows[i].at_label) &&
            rows[i].at_label < -1e-37)
            fail_msg("'%s': gradient %.9g", rows[i].name, (double)g[rows[i].label]);
        if (g[rows[i].label] == 0.0f)
            fail_msg("'%s': the gradient vanished", rows[i].name);
        const double sum = (double)g[0] + (double)g[1] + (double)g[2];
        if (fabs(sum) > 1e-7)
            fail_msg("'%s': gradients sum to %g", rows[i].name, sum);
    }
}

static void test_not_numbers_are_seen(void **state)
{
    (void)state;
    const float rows_nan[][3] = {
        {NAN, 0, 0}, {0, NAN, 0}, {INFINITY, 0, 0}, {-INFINITY, -INFINITY, -INFINITY}};
    for (size_t i = 0; i < PX_LEN(rows_nan); i++)
        for (int label = 0; label < 2; label++)
            if (isfinite(px_softmax_loss(rows_nan[i], 3, label, NULL)))
                fail_msg("row %zu, label %d", i, label);
}

static void test_finite_differences(void **state)
{
    (void)state;
    const float z[4] = {0.5f, -1.25f, 2.0f, 0.0f};
    for (int64_t label = 0; label < 4; label++) {
        float g[4];
        px_softmax_loss(z, 4, label, g);
        for (int c = 0; c < 4; c++) {
            const float h = 0x1p-8f; /* exact in float */
            float up[4], down[4];
            for (int k = 0; k < 4; k++) {
                up[k] = z[k] + (k == c ? h : 0.0f);
                down[k] = z[k] - (k == c ? h : 0.0f);
            }
            const double slope =
                (px_softmax_loss(up, 4, label, NULL) - px_softmax_loss(down, 4, label, NULL)) /
                (2.0 * (double)h);
            if (fabs(slope - (double)g[c]) > 1e-5)
                fail_msg("label %d, logit %d: %g against %g", (int)label, c, (double)g[c], slope);
        }
    }
}

static void test_probabilities(void **state)
{
    (void)state;
    const float p[3] = {0.25f, 0.75f, 0.0f};
    float g[3];
    assert_true(fabs(px_probability_loss(p, 3, 0, g) - 1.3862943611198906) < 1e-12);
    assert_true(g[0] == -4.0f && g[1] == 0.0f && g[2] == 0.0f);
    assert_true(isfinite(px_probability_loss(p, 3, 2, g)) && isfinite(g[2]));
}

static void test_operators_are_sorted(void **state)
{
    (void)state;
    double peak = 0;
    assert_true(px_operator_count() > 0);
    for (size_t i = 0; i < px_operator_count(); i++)
        assert_true(px_operator_get(i).since >= 1 && px_operator_get(i).gradient);
    assert_int_equal(px_peak_gflops(1, &peak, NULL), PX_OK);
    assert_true(peak > 0.01);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_argmax),
        cmocka_unit_test(test_softmax_loss),
        cmocka_unit_test(test_not_numbers_are_seen),
        cmocka_unit_test(test_finite_differences),
        cmocka_unit_test(test_probabilities),
        cmocka_unit_test(test_operators_are_sorted),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
