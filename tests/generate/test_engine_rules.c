/* tests/generate/test_engine_rules.c - worked examples of what gradient engines are made of: the
 * checks of LGR D.9 to D.11, and hand-made ones
 */
/* SPDX-License-Identifier: Apache-2.0 */
#include "generate_helpers.h"

#include "base/memory.h"
#include "generate/adapt_evolve.h"
#include "generate/ascent.h"
#include "generate/deepxplore_rules.h"
#include "generate/dlfuzz_neurons.h"

#include <internal/rng.h>
#include <math.h>
#include <string.h>

static void near(const char *name, double got, double want, double within)
{
    if (!(fabs(got - want) <= within))
        fail_msg("%s: %.9g, expected %.9g", name, got, want);
}

/* --- steps ------------------------------------------------------------------------------------ */

static void test_normalise(void **state)
{
    (void)state;
    float g[4] = {3, -4, 0, 0};
    assert_true(pxi_ascent_normalise(g, 4));
    near("LGR D.9", (double)g[0], 1.1999952, 1e-7);
    near("LGR D.9", (double)g[1], -1.5999936, 1e-7);
    near("LGR D.9", (double)g[2], 0.0, 0.0);
    float zero[2] = {0, 0};
    assert_true(pxi_ascent_normalise(zero, 2));
    near("a flat place", (double)zero[0], 0.0, 0.0);
    float bad[2] = {1, NAN}, huge[2] = {3e38f, 3e38f};
    assert_false(pxi_ascent_normalise(bad, 2));
    near("nothing changed", (double)bad[0], 1.0, 0.0);
    assert_true(pxi_ascent_normalise(huge, 2));
    near("large values", (double)huge[0], 1.0, 1e-6);
}

static void test_move(void **state)
{
    (void)state;
    const float g[3] = {1.0f, -2.0f, 0.5f};
    float levels[3] = {250.0f, 3.0f, 10.0f};
    pxi_ascent_move(g, 10.0, 0.0, 255.0, levels, 3);
    near("cut above", (double)levels[0], 255.0, 0.0);
    near("cut below", (double)levels[1], 0.0, 0.0);
    near("within", (double)levels[2], 15.0, 0.0);
    pxi_ascent_move(g, 10.0, -(double)INFINITY, (double)INFINITY, levels, 3);
    near("no bounds", (double)levels[0], 265.0, 0.0);

    const float start[2] = {3, 4}, now[2] = {3, 5}, none[2] = {0, 0};
    near("distance", pxi_ascent_distance(start, now, 2), 0.2, 1e-12);
    assert_true(isinf(pxi_ascent_distance(none, now, 2)));

    const float scores[6] = {1, 5, 2, 5, -1, 3};
    int order[6];
    const int want[6] = {1, 3, 5, 2, 0, 4};
    pxi_ascent_ranking(scores, 6, order, 6);
    assert_memory_equal(order, want, sizeof want);
}

static void test_constraints(void **state)
{
    (void)state;
    static const float given[9] = {1, -2, 3, 4, -5, 6, -7, -8, -9};
    const pxi_box corner = {1, 1, 2, 2}, outside = {2, 2, 5, 5};
    float g[9];
    memcpy(g, given, sizeof g);
    pxi_xplore_constrain(PXI_XPLORE_LIGHT, &corner, 1, 3, 3, g);
    for (int i = 0; i < 9; i++)
        near("light", (double)g[i], -1.888889, 1e-6);
    memcpy(g, given, sizeof g);
    pxi_xplore_constrain(PXI_XPLORE_BLACKOUT, &corner, 1, 3, 3, g); /* mean -4 */
    for (int i = 0; i < 9; i++)
        near("blackout", (double)g[i], i / 3 >= 1 && i % 3 >= 1 ? -1.0 : 0.0, 0.0);
    memcpy(g, given, sizeof g);
    const pxi_box above = {0, 2, 2, 1}; /* 3 and 6: nothing changes */
    pxi_xplore_constrain(PXI_XPLORE_BLACKOUT, &above, 1, 3, 3, g);
    for (int i = 0; i < 9; i++)
        near("blackout of a rise", (double)g[i], 0.0, 0.0);
    memcpy(g, given, sizeof g);
    pxi_xplore_constrain(PXI_XPLORE_OCCL, &corner, 1, 3, 3, g);
    for (int i = 0; i < 9; i++)
        near("occl", (double)g[i], i / 3 >= 1 && i % 3 >= 1 ? (double)given[i] : 0.0, 0.0);
    memcpy(g, given, sizeof g);
    pxi_xplore_constrain(PXI_XPLORE_BLACKOUT, &outside, 1, 3, 3, g); /* cut to one pixel */
    near("a box that sticks out", (double)g[8], -1.0, 0.0);
    near("a box that sticks out", (double)g[4], 0.0, 0.0);
    memcpy(g, given, sizeof g);
    pxi_xplore_constrain(PXI_XPLORE_NONE, &corner, 1, 3, 3, g);
    assert_memory_equal(g, given, sizeof g);

    float colours[8] = {1, 1, 1, 1, -3, -3, -3, -3}; /* two planes: one mean over both */
    pxi_xplore_constrain(PXI_XPLORE_LIGHT, &corner, 2, 2, 2, colours);
    near("light of two planes", (double)colours[0], -1.0, 1e-6);
    near("light of two planes", (double)colours[7], -1.0, 1e-6);
}

/* --- DLFuzz ----------------------------------------------------------------------------------- */

static void test_dlfuzz_weights(void **state)
{
    (void)state;
    const int64_t times[4] = {0, 3, 1, 6}, same[2] = {2, 2}, never[2] = {0, 0};
    const double often[4] = {0, .3, .1, .6}, rare[4] = {.42857143, .21428571, .35714286, 0};
    double got[4];
    pxi_dlfuzz_often(times, 4, got);
    for (int i = 0; i < 4; i++)
        near("often", got[i], often[i], 1e-8);
    pxi_dlfuzz_rare(times, 4, got);
    for (int i = 0; i < 4; i++)
        near("rare", got[i], rare[i], 1e-8);
    pxi_dlfuzz_rare(same, 2, got);
    near("all the same", got[0] + got[1], 0.0, 0.0);
    pxi_dlfuzz_often(never, 2, got);
    near("never", got[0] + got[1], 0.0, 0.0);
}

enum { UNITS = 40 };

static void test_dlfuzz_choose(void **state)
{
    (void)state;
    int64_t times[UNITS], places[UNITS], layer_weight_order[4] = {7, 9, 11, 13};
    float values[UNITS];
    double weights[UNITS];
    int64_t covered = 0;
    for (int i = 0; i < UNITS; i++) {
        times[i] = i % 4; /* a quarter never fired */
        covered += times[i] > 0;
        values[i] = (float)i / UNITS;
    }
    pxi_unit_tally tally = {.count = UNITS, .covered = covered, .times = times};
    const struct {
        const char *name;
        int strategies, neurons;
        size_t count;
    } cases[] = {
        {"none", PXI_DLFUZZ_NONE, 5, 5},     {"none has ten", PXI_DLFUZZ_NONE, 30, 10},
        {"often", PXI_DLFUZZ_OFTEN, 10, 10}, {"often has thirty", PXI_DLFUZZ_OFTEN, 40, 30},
        {"rare", PXI_DLFUZZ_RARE, 10, 10},   {"weight", PXI_DLFUZZ_WEIGHT, 10, 4},
        {"near", PXI_DLFUZZ_NEAR, 7, 7},     {"all four", 15, 10, 10},
        {"nothing wanted", 15, 0, 0},
    };
    for (size_t i = 0; i < PX_LEN(cases); i++) {
        const pxi_dlfuzz_choice choice = {
            .strategies = cases[i].strategies,
            .neurons = cases[i].neurons,
            .threshold = 0.5,
            .tally = &tally,
            .values = values,
            .heavy = layer_weight_order,
            .heavy_count = 4,
            .weights = weights,
            .places = places,
        };
        pxi_term terms[UNITS], again[UNITS];
        px_random random = px_rng(3, PX_RNG_DLFUZZ, (uint32_t)i, 0), same = random;
        const size_t count = pxi_dlfuzz_choose(&choice, 0.5f, &random, terms);
        if (count != cases[i].count)
            fail_msg("case '%s': %zu neurons", cases[i].name, count);
        assert_int_equal(pxi_dlfuzz_choose(&choice, 0.5f, &same, again), count);
        for (size_t t = 0; t < count; t++) {
            const int64_t unit = terms[t].at;
            bool good = unit >= 0 && unit < UNITS && unit == again[t].at;
            for (size_t u = 0; u < t && cases[i].strategies != 15; u++)
                good &= terms[u].at != unit;
            const float sign = terms[t].weight > 0 ? 1.0f : -1.0f;
            near(cases[i].name, fabs((double)terms[t].weight), 0.5, 0.0);
            switch (cases[i].strategies) {
            case PXI_DLFUZZ_NONE:
                good &= times[unit] == 0;
                break;
            case PXI_DLFUZZ_OFTEN:
                good &= times[unit] > 0;
                break;
            case PXI_DLFUZZ_RARE:
                good &= times[unit] < 3;
                break;
            case PXI_DLFUZZ_WEIGHT:
                good &= unit >= 7 && unit <= 13 && unit % 2;
                break;
            case PXI_DLFUZZ_NEAR:
                good &= sign > 0 ? values[unit] > 0.5f && values[unit] < 0.75f
                                 : values[unit] > 0.3f && values[unit] < 0.5f;
                good &= sign > 0 ? t < 4 : t >= 4;
                break;
            default:
                break;
            }
            if (!good)
                fail_msg("case '%s': neuron %d of weight %g", cases[i].name, (int)unit,
                         (double)terms[t].weight);
        }
    }

    /* before anything fired it is one, any; once all did, any again */
    int64_t zero[UNITS] = {0};
    pxi_unit_tally fresh = {.count = UNITS, .times = zero};
    pxi_dlfuzz_choice choice = {.strategies = PXI_DLFUZZ_OFTEN,
                                .neurons = 10,
                                .tally = &fresh,
                                .values = values,
                                .weights = weights,
                                .places = places};
    pxi_term terms[UNITS];
    px_random random = px_rng(3, PX_RNG_DLFUZZ, 99, 0);
    assert_int_equal(pxi_dlfuzz_choose(&choice, 1.0f, &random, terms), 1);
    for (int i = 0; i < UNITS; i++)
        zero[i] = 1;
    fresh.covered = UNITS;
    choice.strategies = PXI_DLFUZZ_NONE;
    assert_int_equal(pxi_dlfuzz_choose(&choice, 1.0f, &random, terms), 10);
}

/* The frequent come in proportion: 6 of 10 draws, 3, 1 and never. */
static void test_dlfuzz_proportion(void **state)
{
    (void)state;
    int64_t times[4] = {0, 3, 1, 6}, places[4];
    double weights[4];
    float values[4] = {0};
    pxi_unit_tally tally = {.count = 4, .covered = 3, .times = times};
    const pxi_dlfuzz_choice choice = {.strategies = PXI_DLFUZZ_OFTEN,
                                      .neurons = 1,
                                      .tally = &tally,
                                      .values = values,
                                      .weights = weights,
                                      .places = places};
    int hits[4] = {0};
    for (uint32_t i = 0; i < 4000; i++) {
        px_random random = px_rng(1, PX_RNG_DLFUZZ, i, 0);
        pxi_term term;
        assert_int_equal(pxi_dlfuzz_choose(&choice, 1.0f, &random, &term), 1);
        hits[term.at]++;
    }
    assert_int_equal(hits[0], 0);
    assert_in_range(hits[1], 1080, 1320);
    assert_in_range(hits[2], 320, 480);
    assert_in_range(hits[3], 2280, 2520);
}

static void test_tally(void **state)
{
    (void)state;
    pxi_unit_tally tally = {0};
    assert_int_equal(pxi_unit_tally_init(&tally, 3, NULL), PX_OK);
    const float a[3] = {0.5f, 0.6f, NAN}, b[3] = {0.9f, 0.9f, 0.1f};
    assert_int_equal(pxi_unit_tally_add(&tally, a, 0.5), 1); /* equal is not above */
    assert_int_equal(pxi_unit_tally_add(&tally, b, 0.5), 1);
    assert_int_equal(tally.covered, 2);
    const int64_t times[3] = {1, 2, 0};
    assert_memory_equal(tally.times, times, sizeof times);
    pxi_unit_tally_done(&tally);
}

/* --- ADAPT ------------------------------------------------------------------------------------ */

static void test_adapt_features(void **state)
{
    (void)state;
    /* 20 units in 4 layers of 5; weights fall with the index, so unit i has rank i */
    enum { COUNT = 20 };
    int layer[COUNT];
    uint8_t kind[COUNT];
    double weight[COUNT];
    uint32_t fixed[COUNT], code[COUNT], all[COUNT];
    int64_t times[COUNT];
    bool faulty[COUNT] = {false};
    for (int i = 0; i < COUNT; i++) {
        layer[i] = i / 5;
        kind[i] = (uint8_t)(layer[i] == 0   ? PXI_UNIT_CONV
                            : layer[i] == 1 ? PXI_UNIT_POOL
                            : layer[i] == 2 ? PXI_UNIT_DENSE
                                            : PXI_UNIT_ACTIVATION);
        weight[i] = 10.0 - i;
        times[i] = i; /* unit 0 never fired; unit 19 most often */
    }
    faulty[4] = true;
    const pxi_unit_facts facts = {
        .count = COUNT, .layers = 4, .layer = layer, .kind = kind, .weight = weight};
    assert_true(pxi_adapt_fixed(&facts, false, fixed));
    assert_true(pxi_adapt_fixed(&facts, true, code));
    for (int i = 0; i < COUNT; i++) {
        const int band = i / 2 < 5 ? 4 + i / 2 : 9;
        const uint32_t want = 1u << (i / 5) | 1u << band | 1u << (10 + kind[i]);
        if (fixed[i] != want)
            fail_msg("unit %d: features %x, expected %x", i, fixed[i], want);
        if (code[i] != (want & ~(1u << 7)))
            fail_msg("unit %d in the published way: %x", i, code[i]);
    }
    assert_true(pxi_adapt_features(fixed, times, faulty, COUNT, all));
    assert_int_equal(all[0] >> 17, 2);                /* never */
    assert_int_equal(all[4] >> 17 & 1, 1);            /* on a fault */
    assert_int_equal(all[19] >> 17, 1u << (19 - 17)); /* the first tenth */
    assert_int_equal(all[1] >> 17, 1u << (28 - 17));  /* the last: 18 * 10 / 19 = 9 */
    assert_int_equal(all[17] >> 17, 1u << (20 - 17)); /* rank 2 of 19: the second */

    double w[PXI_ADAPT_FEATURES] = {0};
    w[1] = 1.0;  /* second quarter */
    w[18] = 2.0; /* never fired */
    w[19] = 1.0;
    near("score", pxi_adapt_score(all[0], w), 2.0, 0.0);
    int64_t best[4];
    pxi_adapt_best(all, COUNT, w, 4, best);
    const int64_t want[4] = {0, 5, 6, 7};
    assert_memory_equal(best, want, sizeof want);
}

static void test_adapt_greedy(void **state)
{
    (void)state;
    size_t out[4];
    uint64_t seen[1];
    bool taken[4];
    const uint64_t spec[3] = {1u << 1 | 1u << 2, 1u << 2 | 1u << 3 | 1u << 4, 1u << 4 | 1u << 5};
    const size_t order[3] = {1, 0, 2};
    pxi_adapt_greedy(spec, 3, 1, 3, seen, taken, out);
    assert_memory_equal(out, order, sizeof order);
    /* the first covers all: the others follow by size */
    const uint64_t nested[4] = {0xff, 0x1, 0x7, 0};
    const size_t sizes[4] = {0, 2, 1, 3};
    pxi_adapt_greedy(nested, 4, 1, 4, seen, taken, out);
    assert_memory_equal(out, sizes, sizeof sizes);
    const uint64_t empty[2] = {0, 0};
    pxi_adapt_greedy(empty, 2, 1, 2, seen, taken, out);
    assert_int_equal(out[0], 0);
    assert_int_equal(out[1], 1);
}

static void test_adapt_children(void **state)
{
    (void)state;
    enum { PARENTS = 6, CHILDREN = 12 };
    pxi_adapt_vector parents[PARENTS], children[CHILDREN], again[CHILDREN];
    int64_t order[2 * PARENTS];
    for (int p = 0; p < PARENTS; p++)
        for (int i = 0; i < PXI_ADAPT_FEATURES; i++)
            parents[p].w[i] = p - 2.5;
    px_random random = px_rng(1, PX_RNG_ADAPT, 0, 1), same = random;
    pxi_adapt_children(parents, PARENTS, 0.0, &random, order, children, CHILDREN);
    for (int c = 0; c < CHILDREN; c += 2)
        for (int i = 0; i < PXI_ADAPT_FEATURES; i++) { /* both weights of the pair, one each */
            const double a = parents[order[c / 2]].w[i], b = parents[order[PARENTS + c / 2]].w[i];
            const double x = children[c].w[i], y = children[c + 1].w[i];
            if (!((x == a && y == b) || (x == b && y == a)))
                fail_msg("children %d: %g and %g of %g and %g", c, x, y, a, b);
        }
    pxi_adapt_children(parents, PARENTS, 0.0, &same, order, again, CHILDREN);
    assert_memory_equal(children, again, sizeof again);

    double sum = 0.0, squares = 0.0, most = 0.0;
    for (int p = 0; p < PARENTS; p++)
        for (int i = 0; i < PXI_ADAPT_FEATURES; i++)
            parents[p].w[i] = i < 10 ? 4.9 : 0.0;
    pxi_adapt_children(parents, PARENTS, 1.0, &random, order, children, CHILDREN - 1);
    for (int c = 0; c < CHILDREN - 1; c++)
        for (int i = 0; i < PXI_ADAPT_FEATURES; i++) {
            most = fmax(most, fabs(children[c].w[i]));
            sum += i < 10 ? 0.0 : children[c].w[i];
            squares += i < 10 ? 0.0 : children[c].w[i] * children[c].w[i];
        }
    near("within the bound", most, 5.0, 0.0);
    near("mean of the noise", sum / (11 * 19), 0.0, 0.3);
    near("its deviation", sqrt(squares / (11 * 19)), 1.0, 0.2);
    px_random draw = px_rng(1, PX_RNG_ADAPT, 0, 0);
    for (int n = 0; n < 50; n++) {
        const pxi_adapt_vector v = pxi_adapt_random(&draw);
        for (int i = 0; i < PXI_ADAPT_FEATURES; i++)
            assert_true(fabs(v.w[i]) <= PXI_ADAPT_BOUND);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_normalise),     cmocka_unit_test(test_move),
        cmocka_unit_test(test_constraints),   cmocka_unit_test(test_dlfuzz_weights),
        cmocka_unit_test(test_dlfuzz_choose), cmocka_unit_test(test_dlfuzz_proportion),
        cmocka_unit_test(test_tally),         cmocka_unit_test(test_adapt_features),
        cmocka_unit_test(test_adapt_greedy),  cmocka_unit_test(test_adapt_children),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
