/* tests/generate/test_swarm.c - places and bests of a swarm: LGR B.5 and the check of B.11 */
/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/memory.h"
#include "generate/swarm.h"

#include <math.h>
#include <string.h>

enum { SIZE = 40, PARTICLES = 12 };

static float seed[SIZE], low[SIZE], high[SIZE];

static pxi_swarm_rule usual(void)
{
    return (pxi_swarm_rule){.kind = PXI_SWARM_PSO,
                            .particles = PARTICLES,
                            .iters = 10,
                            .c1 = 2,
                            .c2 = 2,
                            .w_init = 0.4,
                            .w_end = 0.9,
                            .radius = 0.1,
                            .vmax = 0.1,
                            .bound = 0.1,
                            .mutate = 0.05,
                            .seed = 3};
}

static pxi_swarm begun(const pxi_swarm_rule *rule, uint32_t visit)
{
    px_error err = {0};
    pxi_swarm swarm = {0};
    for (size_t k = 0; k < SIZE; k++) {
        low[k] = k % 2 ? 0.0f : -4.0f; /* values have ranges of their own */
        high[k] = k % 2 ? 255.0f : 4.0f;
        seed[k] = k % 4 < 2 ? low[k] : 0.5f * (low[k] + high[k]);
    }
    assert_int_equal(pxi_swarm_room(&swarm, rule, SIZE, &err), PX_OK);
    pxi_swarm_begin(&swarm, seed, low, high, visit);
    for (size_t i = 0; i < rule->particles; i++)
        pxi_swarm_draw(&swarm, rule, i);
    return swarm;
}

static void advance(pxi_swarm *swarm, const pxi_swarm_rule *rule, int64_t g)
{
    for (size_t i = rule->particles; i-- > 0;) /* in whatever order */
        pxi_swarm_move(swarm, rule, g, i);
    pxi_swarm_moved(swarm, rule);
}

/* --- arithmetic ------------------------------------------------------------------------------ */

static void test_scalar(void **state)
{
    (void)state;
    const pxi_swarm_rule rule = usual();
    for (int g = 0; g <= 10; g++)
        assert_true(fabs(pxi_swarm_inertia(&rule, g) - (0.4 + 0.05 * g)) < 1e-12);
    const double w = pxi_swarm_inertia(&rule, 1), x = 0.5;
    const double v = pxi_swarm_speed(w, 0.1, 2 * 0.3, 0.6, 2 * 0.5, 0.9, x);
    assert_true(fabs(w - 0.45) < 1e-12);
    assert_true(fabs(v - 0.505) < 1e-12);
    assert_true(fabs(x + v - 1.005) < 1e-12);
    assert_true(pxi_swarm_cut(x + v, 0, 1) == 1.0);
    pxi_swarm_rule classic = rule;
    classic.w_init = 0.9;
    classic.w_end = 0.4;
    assert_true(fabs(pxi_swarm_inertia(&classic, 0) - 0.9) < 1e-12);
    assert_true(fabs(pxi_swarm_inertia(&classic, 10) - 0.4) < 1e-12);
}

/* The same through the swarm: one particle, whose draws are known from what they do. */
static void test_one_step(void **state)
{
    (void)state;
    pxi_swarm_rule rule = usual();
    rule.particles = 1;
    rule.fixed = true;
    pxi_swarm swarm = begun(&rule, 0);
    float before[SIZE];
    memcpy(before, swarm.speeds, sizeof before);
    pxi_swarm_judge(&swarm, &(double){0.25});
    pxi_swarm_move(&swarm, &rule, 1, 0); /* at its own best and the swarm's: inertia is all */
    for (size_t k = 0; k < SIZE; k++) {
        assert_true(fabsf(swarm.speeds[k] - 0.45f * before[k]) <= 1e-4f * fabsf(before[k]) + 1e-7f);
        assert_true(swarm.places[k] >= low[k] && swarm.places[k] <= high[k]);
        assert_true(swarm.bests[k] == seed[k]);
    }
    pxi_swarm_free(&swarm);
}

/* --- bests ----------------------------------------------------------------------------------- */

static void test_bests(void **state)
{
    (void)state;
    pxi_swarm_rule rule = usual();
    rule.particles = 3;
    pxi_swarm swarm = begun(&rule, 5);
    float first[SIZE];
    memcpy(first, pxi_swarm_at(&swarm, 1), sizeof first);
    assert_true(pxi_swarm_judge(&swarm, (double[]){0.25, 0.5, 0.5}));
    assert_int_equal(swarm.leader, 1); /* of equals the first */
    advance(&swarm, &rule, 1);
    assert_true(pxi_swarm_judge(&swarm, (double[]){0.5, 0.5, (double)NAN}));
    assert_int_equal(swarm.leader, 0);                                 /* now it is the first */
    assert_false(pxi_swarm_judge(&swarm, (double[]){0.5, 0.25, 0.5})); /* as good is no better */
    advance(&swarm, &rule, 2);
    assert_true(pxi_swarm_judge(&swarm, (double[]){0.125, 0.25, 0.75}));
    assert_int_equal(swarm.leader, 2);
    assert_memory_equal(pxi_swarm_best(&swarm), pxi_swarm_at(&swarm, 2), SIZE * sizeof(float));
    assert_memory_equal(swarm.bests + SIZE, first, sizeof first); /* value and place are apart */
    assert_true(swarm.best_fits[1] == 0.5 && swarm.fits[1] == 0.25);
    pxi_swarm_free(&swarm);
}

static void test_nan_is_nothing(void **state)
{
    (void)state;
    pxi_swarm_rule rule = usual();
    rule.particles = 2;
    pxi_swarm swarm = begun(&rule, 5);
    assert_true(pxi_swarm_judge(&swarm, (double[]){(double)NAN, (double)NAN}));
    assert_true(swarm.best_fits[0] == 0.0 && swarm.leader == 0);
    assert_true(pxi_swarm_judge(&swarm, (double[]){0.0, 0.125}));
    assert_int_equal(swarm.leader, 1);
    pxi_swarm_free(&swarm);
}

/* --- where particles may be ------------------------------------------------------------------ */

/* Something to climb: the sum of all values, in ranges. */
static void judge_by_sum(pxi_swarm *swarm)
{
    double fits[PARTICLES];
    for (size_t i = 0; i < swarm->particles; i++) {
        fits[i] = 0.0;
        for (size_t k = 0; k < SIZE; k++)
            fits[i] += (double)(pxi_swarm_at(swarm, i)[k] - low[k]) / (double)(high[k] - low[k]);
    }
    pxi_swarm_judge(swarm, fits);
}

static const struct {
    const char *name;
    pxi_swarm_kind kind;
    double bound, vmax;
    bool scalar, fixed;
} places[] = {
    {"pso", PXI_SWARM_PSO, 0.1, 0.1, false, false},
    {"pso, scalar", PXI_SWARM_PSO, 0.1, 0.1, true, false},
    {"pso, from the seed", PXI_SWARM_PSO, 0.05, 0.02, false, true},
    {"pso, no bound", PXI_SWARM_PSO, INFINITY, 0.1, false, false},
    {"pso, no bound at all", PXI_SWARM_PSO, INFINITY, INFINITY, false, false},
    {"pso, bound 0", PXI_SWARM_PSO, 0.0, 0.1, false, false},
    {"random", PXI_SWARM_RANDOM, 0.2, 0.1, false, false},
    {"random, no bound", PXI_SWARM_RANDOM, INFINITY, 0.1, false, false},
    {"ga", PXI_SWARM_GA, 0.1, 0.1, false, false},
    {"ga, no bound at all", PXI_SWARM_GA, INFINITY, INFINITY, false, true},
};

static void test_places(void **state)
{
    (void)state;
    for (size_t c = 0; c < PX_LEN(places); c++) {
        pxi_swarm_rule rule = usual();
        rule.kind = places[c].kind;
        rule.bound = places[c].bound;
        rule.vmax = places[c].vmax;
        rule.scalar = places[c].scalar;
        rule.fixed = places[c].fixed;
        pxi_swarm swarm = begun(&rule, 7), twin = begun(&rule, 7), other = begun(&rule, 8);
        double best = -1.0;
        for (int64_t g = 1; g <= rule.iters; g++) {
            for (size_t i = 0; i < PARTICLES; i++)
                for (size_t k = 0; k < SIZE; k++) {
                    const double x = (double)pxi_swarm_at(&swarm, i)[k];
                    const double range = (double)high[k] - (double)low[k];
                    const double far = fabs(x - (double)seed[k]);
                    if (x < (double)low[k] || x > (double)high[k] ||
                        far > rule.bound * range + 1e-5 * range)
                        fail_msg("'%s', iteration %d: value %zu is %g, from %g", places[c].name,
                                 (int)g, k, x, (double)seed[k]);
                    const double most = g == 1 ? rule.radius : rule.vmax; /* of steps */
                    if (rule.kind == PXI_SWARM_PSO &&
                        fabs((double)swarm.speeds[i * SIZE + k]) > most * range + 1e-4)
                        fail_msg("'%s': too fast", places[c].name);
                }
            judge_by_sum(&swarm);
            judge_by_sum(&twin);
            judge_by_sum(&other);
            assert_true(swarm.best_fits[swarm.leader] >= best); /* Gbest never gets worse */
            best = swarm.best_fits[swarm.leader];
            advance(&swarm, &rule, g);
            advance(&twin, &rule, g);
            advance(&other, &rule, g);
            assert_memory_equal(swarm.places, twin.places, PARTICLES * SIZE * sizeof(float));
        }
        if (rule.bound > 0.0)
            assert_memory_not_equal(swarm.places, other.places, PARTICLES * SIZE * sizeof(float));
        pxi_swarm_free(&swarm);
        pxi_swarm_free(&twin);
        pxi_swarm_free(&other);
    }
}

/* How fast particles begin follows from where they do, not from what limits their steps. */
static void test_first_speeds(void **state)
{
    (void)state;
    pxi_swarm_rule slow = usual(), free_ = usual(), wide = usual();
    slow.vmax = 0.01;
    free_.vmax = INFINITY;
    wide.radius = 0.2;
    wide.bound = INFINITY;
    pxi_swarm a = begun(&slow, 4), b = begun(&free_, 4), c = begun(&wide, 4);
    assert_memory_equal(a.speeds, b.speeds, PARTICLES * SIZE * sizeof(float));
    for (size_t k = 0; k < PARTICLES * SIZE; k++)
        assert_true(fabsf(c.speeds[k] - 2.0f * a.speeds[k]) <= 1e-4f * fabsf(c.speeds[k]) + 1e-6f);
    pxi_swarm_free(&a);
    pxi_swarm_free(&b);
    pxi_swarm_free(&c);
}

/* What says nothing is uniform, and another number for each place. */
static void test_chance(void **state)
{
    (void)state;
    const pxi_swarm_rule rule = usual();
    pxi_swarm swarm = begun(&rule, 4), other = begun(&rule, 5);
    double sum = 0.0, before = -1.0;
    for (int64_t g = 1; g <= rule.iters; g++)
        for (size_t i = 0; i < PARTICLES; i++) {
            const double u = pxi_swarm_chance(&swarm, &rule, g, i);
            assert_true(u >= 0.0 && u < 1.0 && u != before);
            assert_true(u == pxi_swarm_chance(&swarm, &rule, g, i));
            assert_true(u != pxi_swarm_chance(&other, &rule, g, i));
            before = u;
            sum += u;
        }
    const double n = (double)rule.iters * PARTICLES; /* 120: a standard error of 0.026 */
    assert_true(fabs(sum / n - 0.5) < 0.1);
    pxi_swarm_free(&swarm);
    pxi_swarm_free(&other);
}

/* What a swarm is for: with as many evaluations it comes further than places at random. */
static void test_climbs(void **state)
{
    (void)state;
    double reached[3];
    for (int kind = 0; kind < 3; kind++) {
        pxi_swarm_rule rule = usual();
        rule.kind = (pxi_swarm_kind)kind;
        rule.iters = 20;
        pxi_swarm swarm = begun(&rule, 1);
        for (int64_t g = 1; g <= rule.iters; g++) {
            judge_by_sum(&swarm);
            advance(&swarm, &rule, g);
        }
        reached[kind] = swarm.best_fits[swarm.leader];
        pxi_swarm_free(&swarm);
    }
    assert_true(reached[PXI_SWARM_PSO] > reached[PXI_SWARM_RANDOM] + 0.5);
    assert_true(reached[PXI_SWARM_GA] > reached[PXI_SWARM_RANDOM]);
}

/* A generation's first child is the best place there was. */
static void test_elite(void **state)
{
    (void)state;
    pxi_swarm_rule rule = usual();
    rule.kind = PXI_SWARM_GA;
    pxi_swarm swarm = begun(&rule, 2);
    judge_by_sum(&swarm);
    advance(&swarm, &rule, 1);
    assert_memory_equal(pxi_swarm_at(&swarm, 0), pxi_swarm_best(&swarm), SIZE * sizeof(float));
    pxi_swarm_free(&swarm);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_scalar), cmocka_unit_test(test_one_step),
        cmocka_unit_test(test_bests),  cmocka_unit_test(test_nan_is_nothing),
        cmocka_unit_test(test_places), cmocka_unit_test(test_climbs),
        cmocka_unit_test(test_elite),  cmocka_unit_test(test_first_speeds),
        cmocka_unit_test(test_chance),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
