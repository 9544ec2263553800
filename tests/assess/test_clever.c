/* tests/assess/test_clever.c - CLEVER on a network that can be worked out (LGR E.8), and its
 * points */
/* SPDX-License-Identifier: Apache-2.0 */
#include "../attack/attack_helpers.h"

#include "assess/clever_internal.h"
#include "base/memory.h"

#include <internal/rng.h>
#include <math.h>
#include <string.h>

static const float point[2][2] = {{0.6f, 0.3f}, {0.6f, 0.3f}};

static px_clever_options small(void)
{
    px_clever_options o = px_clever_options_default();
    o.batches = 10;
    o.samples = 16;
    return o;
}

static px_clever *run(const scene *s, px_clever_options o)
{
    const px_clever_job job = {.model = s->model, .set = s->set, .pre = &s->pre};
    px_clever *c = NULL;
    px_error err = {0};
    check(px_clever_run(&job, &o, &c, &err), &err);
    return c;
}

/* The gradient is the same everywhere: scores are distances to the boundaries. */
static void test_affine(void **state)
{
    (void)state;
    static const int64_t labels[2] = {0, 0};
    static const struct {
        px_ball ball;
        double scores[2];
    } cases[] = {{PX_BALL_L2, {.25927249, .03713907}},
                 {PX_BALL_LINF, {.18333333, .02857143}},
                 {PX_BALL_L1, {.55 / 1.5, .04}}};
    scene s = affine_scene(point, labels, 2, NULL);
    for (size_t i = 0; i < PX_LEN(cases); i++) {
        px_clever_options o = small();
        o.ball = cases[i].ball;
        o.radius = 1.0;
        px_clever *c = run(&s, o);
        const px_clever_row *row = px_clever_rows(c);
        const px_clever_target *t = px_clever_targets(c) + row->first;
        assert_int_equal(row->count, 2);
        for (int k = 0; k < 2; k++)
            if (t[k].target != k + 1 || fabs(t[k].score - cases[i].scores[k]) > 1e-6 ||
                t[k].fit.note != PX_END_CONSTANT)
                fail_msg("%s, class %d: %.8f, not %.8f", px_ball_name(o.ball), t[k].target,
                         t[k].score, cases[i].scores[k]);
        assert_true(row->nearest == 1 && row->score == t[1].score);
        px_clever_free(c);
    }
    scene_close(&s);
}

static void test_targets_and_cap(void **state)
{
    (void)state;
    static const int64_t labels[2] = {0, 1};
    scene s = affine_scene(point, labels, 2, NULL);
    px_clever_summary sum;
    px_clever_options o = small();
    o.radius = 0.1;
    px_clever *c = run(&s, o);
    assert_int_equal(px_clever_sum(c, &sum, NULL), PX_OK);
    /* the second is of another class than its label: 0, counted apart */
    assert_true(sum.count == 1 && sum.wrong == 1 && sum.fits == 2 && sum.constant == 2);
    assert_true(px_clever_rows(c)[1].wrong && px_clever_rows(c)[1].score == 0.0);
    assert_true(fabs(sum.mean - .03713907) < 1e-6 && fabs(sum.mean_all - sum.mean / 2) < 1e-12);
    assert_true(px_clever_targets(c)[0].score == 0.1 && sum.capped == 0);
    assert_true(sum.points == 2 * 10 * 16);
    px_clever_free(c);
    o.target = 1;
    c = run(&s, o);
    assert_int_equal(px_clever_sum(c, &sum, NULL), PX_OK);
    assert_true(px_clever_rows(c)[0].score == 0.1 && sum.capped == 1 && sum.fits == 1);
    px_clever_free(c);
    o.target = PX_CLEVER_SECOND;
    c = run(&s, o);
    assert_int_equal(px_clever_targets(c)[0].target, 2);
    px_clever_free(c);
    o.target = 0; /* its own class */
    c = run(&s, o);
    assert_int_equal(px_clever_sum(c, &sum, NULL), PX_OK);
    assert_true(sum.skipped == 1 && sum.count == 0 && isnan(sum.mean) && sum.mean_all == 0.0);
    px_clever_free(c);
    scene_close(&s);
}

/* A real network: fits, pools, and the same bytes for any number of workers and rows at a time. */
static void test_threads(void **state)
{
    (void)state;
    scene s = net_scene();
    for (int pool = 0; pool <= 2; pool += 2) {
        px_clever *c[3] = {NULL};
        for (int k = 0; k < 3; k++) {
            px_clever_options o = small();
            o.pool = pool;
            o.penalised = pool > 0;
            o.threads = k + 1;
            o.batch = 3 * k + 1;
            o.batches = 30;
            c[k] = run(&s, o);
        }
        px_clever_summary sum;
        assert_int_equal(px_clever_sum(c[0], &sum, NULL), PX_OK);
        assert_true(sum.count + sum.wrong == NET_ROWS && sum.count > 0 && sum.mean > 0.0);
        assert_true(sum.fits == sum.count * (NET_CLASSES - 1));
        for (int k = 1; k < 3; k++) {
            assert_memory_equal(px_clever_rows(c[k]), px_clever_rows(c[0]),
                                (size_t)px_clever_count(c[0]) * sizeof(px_clever_row));
            for (int64_t t = 0; t < sum.fits; t++) {
                const px_clever_target *a = px_clever_targets(c[0]) + t,
                                       *b = px_clever_targets(c[k]) + t;
                assert_true(a->target == b->target && a->score == b->score &&
                            a->fit.location == b->fit.location && a->fit.note == b->fit.note &&
                            a->fit.largest == b->fit.largest);
                assert_true(a->fit.location >= a->fit.largest && a->fit.largest > 0.0);
                assert_true(a->score <= 3.0 && a->score > 0.0);
            }
        }
        for (int k = 0; k < 3; k++)
            px_clever_free(c[k]);
    }
    scene_close(&s);
}

/* Points lie in the ball and the range, and fill the ball evenly: (r / R)^D is uniform. */
static void test_points(void **state)
{
    (void)state;
    enum { POINTS = 4000, SIZE = 5 };
    const pxi_pixel_rule wide = {
        .count = SIZE, .channels = 1, .plane = SIZE, .low = -1e9, .high = 1e9};
    const pxi_pixel_rule narrow = {
        .count = SIZE, .channels = 1, .plane = SIZE, .low = 0, .high = 10};
    const float centre[SIZE] = {5, 5, 5, 5, 0};
    for (int ball = PX_BALL_L2; ball <= PX_BALL_L1; ball++) {
        double share = 0, signs = 0;
        for (uint32_t i = 0; i < POINTS; i++) {
            float x[SIZE];
            px_random r = px_rng(1, PX_RNG_TEST, (uint32_t)ball, i);
            pxi_ball_draw((px_ball)ball, 2.0, &wide, &r, centre, x);
            double length = 0;
            for (int k = 0; k < SIZE; k++) {
                const double d = fabs((double)x[k] - (double)centre[k]);
                length = ball == PX_BALL_L2     ? length + d * d
                         : ball == PX_BALL_LINF ? fmax(length, d)
                                                : length + d;
                signs += x[k] > centre[k] ? 1 : -1;
            }
            length = ball == PX_BALL_L2 ? sqrt(length) : length;
            assert_true(length <= 2.0 + 1e-5);
            share += pow(length / 2.0, SIZE) / POINTS;
            r = px_rng(1, PX_RNG_TEST, (uint32_t)ball, i);
            pxi_ball_draw((px_ball)ball, 20.0, &narrow, &r, centre, x);
            for (int k = 0; k < SIZE; k++)
                assert_true(x[k] >= 0 && x[k] <= 10);
        }
        if (fabs(share - 0.5) > 0.02 || fabs(signs) > 4 * sqrt(SIZE * POINTS))
            fail_msg("%s: mean (r/R)^D %g, signs %g", px_ball_name((px_ball)ball), share, signs);
    }
}

static void test_dual(void **state)
{
    (void)state;
    /* two channels, channels last, standard deviations 0.5 and 2 */
    pxi_pixel_rule rule = {
        .count = 4, .channels = 2, .plane = 2, .channels_last = true, .stddev = {0.5, 2}};
    const float g[4] = {1, -8, -2, 4};
    int64_t odd = 0;
    assert_true(fabs(pxi_ball_dual(PX_BALL_L2, &rule, g, &odd) - sqrt(4 + 16 + 16 + 4)) < 1e-12);
    assert_true(fabs(pxi_ball_dual(PX_BALL_LINF, &rule, g, &odd) - 12.0) < 1e-12);
    assert_true(fabs(pxi_ball_dual(PX_BALL_L1, &rule, g, &odd) - 4.0) < 1e-12 && odd == 0);
    const float broken[4] = {1, NAN, -2, INFINITY};
    assert_true(fabs(pxi_ball_dual(PX_BALL_L2, &rule, broken, &odd) - sqrt(20)) < 1e-12);
    assert_true(fabs(pxi_ball_dual(PX_BALL_L1, &rule, broken, &odd) - 4.0) < 1e-12 && odd == 4);
}

/* Nowhere a gradient: all that is known is the radius. */
static void test_flat(void **state)
{
    (void)state;
    static const int64_t labels[1] = {0};
    scene s = affine_scene(point, labels, 1, "Sign");
    const px_clever_job job = {.model = s.model, .set = s.set, .pre = &s.pre};
    px_clever *c = NULL;
    px_error err = {0};
    const px_clever_options o = small();
    assert_int_equal(px_clever_run(&job, &o, &c, &err), PX_E_UNSUPPORTED);
    assert_non_null(strstr(err.message, "'Sign'"));
    scene_close(&s);
    static const float dark[1][2] = {{0.5f, 0.5f}};
    s = affine_scene(dark, NULL, 1, NULL);
    px_clever_options far = small();
    far.radius = 1e-9; /* all points are the input itself, nearly */
    c = run(&s, far);
    assert_true(px_clever_rows(c)->score == 1e-9 && px_clever_rows(c)->label == -1);
    px_clever_free(c);
    scene_close(&s);
}

static void test_refused(void **state)
{
    (void)state;
    static const int64_t labels[1] = {0};
    scene s = affine_scene(point, labels, 1, NULL);
    const px_clever_job job = {.model = s.model, .set = s.set, .pre = &s.pre};
    px_clever_options cases[6];
    for (size_t i = 0; i < PX_LEN(cases); i++)
        cases[i] = small();
    cases[0].radius = 0;
    cases[1].radius = INFINITY;
    cases[2].batches = 1;
    cases[3].samples = 0;
    cases[4].target = 3;
    cases[5].pool = -1;
    for (size_t i = 0; i < PX_LEN(cases); i++) {
        px_clever *c = NULL;
        px_error err = {0};
        if (px_clever_run(&job, &cases[i], &c, &err) != PX_E_USAGE || c)
            fail_msg("case %zu: '%s'", i, err.message);
    }
    assert_string_equal(px_ball_name(PX_BALL_L1), "l1");
    scene_close(&s);
}

static int done(void **state)
{
    (void)state;
    test_folder_remove();
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_affine),  cmocka_unit_test(test_targets_and_cap),
        cmocka_unit_test(test_threads), cmocka_unit_test(test_points),
        cmocka_unit_test(test_dual),    cmocka_unit_test(test_flat),
        cmocka_unit_test(test_refused),
    };
    return cmocka_run_group_tests(tests, NULL, done);
}
