/* tests/attack/test_attack_vectors.c - worked examples of LGR E.8, and JSMA's pair by brute force
 */
/* SPDX-License-Identifier: Apache-2.0 */
#include "attack_helpers.h"

#include "attack/attack_internal.h"
#include "base/memory.h"

#include <internal/rng.h>
#include <math.h>
#include <string.h>

static const float point[1][2] = {{0.6f, 0.3f}};
static const int64_t label[1] = {0};

static const struct {
    const char *name, *method;
    px_norm norm;
    double eps, step_size;
    int64_t steps;
    const char *settings[2];
    double x[2], loss; /* loss NaN: not told */
    int predicted;     /* -1: not told */
} cases[] = {
    {"fgsm", "fgsm", PX_NORM_LINF, 0.1, NAN, 0, {0}, {0.5, 0.4}, 1.09868013, -1},
    {"bim, one step", "bim", PX_NORM_LINF, 0.1, 0.04, 1, {0}, {0.56, 0.34}, NAN, -1},
    {"bim, two steps", "bim", PX_NORM_LINF, 0.1, 0.04, 2, {0}, {0.52, 0.38}, NAN, -1},
    {"bim, three steps", "bim", PX_NORM_LINF, 0.1, 0.04, 3, {0}, {0.5, 0.4}, NAN, -1},
    {"deepfool, l2",
     "deepfool",
     PX_NORM_L2,
     NAN,
     NAN,
     1,
     {"deepfool.nudge=0"},
     {0.58593103, 0.33517241},
     NAN,
     2},
    {"deepfool, linf, without overshoot",
     "deepfool",
     PX_NORM_LINF,
     NAN,
     NAN,
     1,
     {"deepfool.overshoot=0"},
     {0.6 - 0.02857143 - 1e-4, 0.3 + 0.02857143 + 1e-4}, /* the nudge */
     NAN,
     -1},
};

static void test_cases(void **state)
{
    (void)state;
    for (size_t i = 0; i < PX_LEN(cases); i++) {
        scene s = affine_scene(point, label, 1, NULL);
        results r = results_new(1, 2);
        px_attack_options o = px_attack_options_default();
        o.method = cases[i].method;
        o.norm = cases[i].norm;
        o.eps = cases[i].eps;
        o.step_size = cases[i].step_size;
        o.steps = cases[i].steps;
        o.settings = cases[i].settings;
        o.setting_count = cases[i].settings[0] != NULL;
        o.threads = 1;
        o.emit = results_keep;
        o.emit_context = &r;
        px_attack *a = attack_well(&s, &o);
        const px_attack_row *row = px_attack_rows(a);
        assert_float_equal(row->loss_before, 0.91631719, 1e-6);
        if (fabs((double)r.exact[0] - cases[i].x[0]) > 1e-6 ||
            fabs((double)r.exact[1] - cases[i].x[1]) > 1e-6)
            fail_msg("'%s': %.8f %.8f", cases[i].name, (double)r.exact[0], (double)r.exact[1]);
        if (!isnan(cases[i].loss) && fabs(row->exact.loss - cases[i].loss) > 1e-6)
            fail_msg("'%s': loss %.8f", cases[i].name, row->exact.loss);
        if (cases[i].predicted >= 0 && row->exact.predicted != cases[i].predicted)
            fail_msg("'%s': seen as %d", cases[i].name, (int)row->exact.predicted);
        px_attack_free(a);
        results_free(&r);
        scene_close(&s);
    }
}

/* Where one of two values cannot go further, the other goes all the way to the boundary. */
static void test_deepfool_at_the_end(void **state)
{
    (void)state;
    static const char *const plain[] = {"deepfool.overshoot=0", "deepfool.nudge=0"};
    static const float corner[1][2] = {{0.0f, 0.05f}}; /* f = 0.025 by class 1, w = (-1.5, 1.5) */
    scene s = affine_scene(corner, label, 1, NULL);
    results r = results_new(1, 2);
    px_attack_options o = px_attack_options_default();
    o.method = "deepfool";
    o.norm = PX_NORM_LINF;
    o.steps = 1;
    o.settings = plain;
    o.setting_count = PX_LEN(plain);
    o.emit = results_keep;
    o.emit_context = &r;
    px_attack_free(attack_well(&s, &o));
    assert_true(r.exact[0] == 0.0f);
    assert_float_equal(r.exact[1], 0.05f + 0.025f / 1.5f, 1e-7f);
    results_free(&r);
    scene_close(&s);
}

/* One step from a given start. */
static void test_pgd_l2(void **state)
{
    (void)state;
    static const pxi_attack_method method = {.shown = {.iterates = true}};
    const float start[2] = {0.65f, 0.28f};
    float x[2], z[3], dz[3], g[2];
    memcpy(x, start, sizeof x);
    pxi_attack_run run = {.method = &method,
                          .eps = 0.1,
                          .step = 0.2,
                          .rule = {.whole = 1, .count = 2, .distance = 0.1, .high = 1},
                          .scores = {.classes = 3},
                          .options = {.norm = PX_NORM_L2}};
    pxi_slot slot = {.run = &run, .original = point[0], .x = x, .scores = z, .target = -1};
    for (int c = 0; c < 3; c++)
        z[c] = affine_w[2 * c] * x[0] + affine_w[2 * c + 1] * x[1] + affine_b[c];
    memset(dz, 0, sizeof dz);
    assert_true(pxi_descent_seed(&slot, 0, dz));
    for (int i = 0; i < 2; i++)
        g[i] = dz[0] * affine_w[i] + dz[1] * affine_w[2 + i] + dz[2] * affine_w[4 + i];
    assert_float_equal(g[0], -0.61599209, 1e-6);
    assert_float_equal(g[1], 1.04716878, 1e-6);
    pxi_descent_step(&slot, 0, g);
    assert_float_equal(x[0], 0.56803609, 1e-6);
    assert_float_equal(x[1], 0.39475394, 1e-6);
    const double d0 = (double)x[0] - (double)point[0][0], d1 = (double)x[1] - (double)point[0][1];
    assert_true(sqrt(d0 * d0 + d1 * d1) <= 0.1);
}

static void test_jsma_pair(void **state)
{
    (void)state;
    const float alpha[3] = {0.5f, -0.2f, 0.1f}, beta[3] = {-0.2f, 0.5f, -0.8f};
    const uint8_t all[3] = {1, 1, 1}, few[3] = {0, 1, 1};
    size_t p = 9, q = 9;
    assert_true(pxi_jsma_pair(alpha, beta, all, 3, &p, &q));
    assert_int_equal(p, 0);
    assert_int_equal(q, 2);
    assert_false(pxi_jsma_pair(alpha, beta, few, 3, &p, &q));
    assert_false(pxi_jsma_pair(alpha, beta, all, 1, &p, &q));
    assert_false(pxi_jsma_pair(alpha, beta, all, 0, &p, &q));
}

/* Passing over features by their bound changes nothing, nor do ties. */
static void test_jsma_pair_is_exact(void **state)
{
    (void)state;
    enum { MOST = 60 };
    for (uint32_t round = 0; round < 2000; round++) {
        px_random r = px_rng(1, PX_RNG_TEST, round, 0);
        const size_t count = 1 + px_rng_below(&r, MOST);
        float alpha[MOST], beta[MOST], best = 0.0f;
        uint8_t free[MOST];
        size_t p = 0, q = 0, want_p = 0, want_q = 0;
        const bool coarse = round % 2; /* many ties */
        for (size_t i = 0; i < count; i++) {
            alpha[i] = coarse ? (float)px_rng_below(&r, 5) - 2 : (float)px_rng_normal(&r);
            beta[i] = coarse ? (float)px_rng_below(&r, 5) - 2 : (float)px_rng_normal(&r);
            free[i] = px_rng_below(&r, 4) > 0;
        }
        for (size_t i = 0; i < count; i++)
            for (size_t k = i + 1; k < count; k++) {
                const float a = alpha[i] + alpha[k], b = beta[i] + beta[k];
                if (free[i] && free[k] && a > 0.0f && b < 0.0f && -(a * b) > best) {
                    best = -(a * b);
                    want_p = i;
                    want_q = k;
                }
            }
        const bool some = pxi_jsma_pair(alpha, beta, free, count, &p, &q);
        if (some != (best > 0.0f) || (some && (p != want_p || q != want_q)))
            fail_msg("round %d: (%zu, %zu) instead of (%zu, %zu)", (int)round, p, q, want_p,
                     want_q);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_cases),
        cmocka_unit_test(test_deepfool_at_the_end),
        cmocka_unit_test(test_pgd_l2),
        cmocka_unit_test(test_jsma_pair),
        cmocka_unit_test(test_jsma_pair_is_exact),
    };
    const int failed = cmocka_run_group_tests(tests, NULL, NULL);
    test_folder_remove();
    return failed;
}
