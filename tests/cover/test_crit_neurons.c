/* tests/cover/test_crit_neurons.c - worked examples of NC, KMNC, NBC and SNAC (CSM A.1 to A.4) */
/* SPDX-License-Identifier: Apache-2.0 */
#include "crit_helpers.h"

#include "base/memory.h"

#include <internal/cover.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* --- TV-A1 --------------------------------------------------------------------------------------
 * A convolution of two channels, 2x2, and a dense layer of three; two inputs.
 */
static const float nc_chan[][5] = {{2, 1, -1, 0.5f, 2}, {1, 1, 0.9f, -0.5f, 1.9f}};
static const float nc_unit[][11] = {{0, 2, 4, 2, -2, 0, 0, 6, -1, 0.5f, 2},
                                    {1, 1, 1, 1, 3, -1, -1, 3, 0.9f, -0.5f, 1.9f}};
static const float nc_scaled[][5] = {{0.5f, 0.375f, 0, 0.5f, 1}, {0.5f, 0.5f, 0.583333f, 0, 1}};
static const float nc_rescaled[][5] = {{1, 0, 0, 0.5f, 1}, {0, 0, 0.583333f, 0, 1}};

static const struct {
    const char *name, *t, *variant;
    bool unit;
    const float *rows;
    int64_t covered;
} nc_cases[] = {
    {"raw chan, 0", "nc.t=0", "nc.variant=raw", false, &nc_chan[0][0], 5},
    {"raw chan, 0.5", "nc.t=0.5", "nc.variant=raw", false, &nc_chan[0][0], 4},
    {"raw chan, 0.75", "nc.t=0.75", "nc.variant=raw", false, &nc_chan[0][0], 4},
    {"raw unit, 0", "nc.t=0", "nc.variant=raw", true, &nc_unit[0][0], 9},
    {"raw unit, 0.5", "nc.t=0.5", "nc.variant=raw", true, &nc_unit[0][0], 8},
    {"raw unit, 0.75", "nc.t=0.75", "nc.variant=raw", true, &nc_unit[0][0], 8},
    {"scaled, 0", "nc.t=0", "nc.variant=scaled", false, &nc_scaled[0][0], 5},
    {"scaled, 0.5", "nc.t=0.5", "nc.variant=scaled", false, &nc_scaled[0][0], 2},
    {"scaled, 0.75", "nc.t=0.75", "nc.variant=scaled", false, &nc_scaled[0][0], 1},
    {"rescaled, 0", "nc.t=0", "nc.variant=rescaled", false, &nc_rescaled[0][0], 4},
    {"rescaled, 0.5", "nc.t=0.5", "nc.variant=rescaled", false, &nc_rescaled[0][0], 3},
    {"rescaled, 0.75", "nc.t=0.75", "nc.variant=rescaled", false, &nc_rescaled[0][0], 2},
    {"suite unit, 0", "nc.t=0", "nc.variant=suite", true, &nc_unit[0][0], 11},
    {"suite unit, 0.5", "nc.t=0.5", "nc.variant=suite", true, &nc_unit[0][0], 5},
    {"suite unit, 0.75", "nc.t=0.75", "nc.variant=suite", true, &nc_unit[0][0], 2},
    {"sigmoid, 0", "nc.t=0", "nc.variant=sigmoid", false, &nc_chan[0][0], 5},
    {"sigmoid, 0.5", "nc.t=0.5", "nc.variant=sigmoid", false, &nc_chan[0][0], 5},
    {"sigmoid, 0.75", "nc.t=0.75", "nc.variant=sigmoid", false, &nc_chan[0][0], 2},
};

static void test_nc(void **state)
{
    (void)state;
    for (size_t i = 0; i < PX_LEN(nc_cases); i++) {
        crit *c = crit_new("nc", (const char *[]){nc_cases[i].t, nc_cases[i].variant, NULL},
                           nc_cases[i].unit ? LAYERS(8, 3) : LAYERS(2, 3), (crit_table){0});
        crit_observe(c, (crit_table){.values = nc_cases[i].rows, .count = 2});
        const px_coverage got = crit_value(c);
        if (got.covered != nc_cases[i].covered || got.total != c->extractor.width ||
            got.value != (double)got.covered / (double)got.total)
            fail_msg("case '%s': %lld of %lld, %g", nc_cases[i].name, (long long)got.covered,
                     (long long)got.total, got.value);
        const px_coverage one = c->criterion->layer_value(c->state, 0);
        const px_coverage two = c->criterion->layer_value(c->state, 1);
        if (one.covered + two.covered != got.covered || one.total + two.total != got.total)
            fail_msg("case '%s': layers do not add up", nc_cases[i].name);
        bool covered[11];
        c->criterion->neurons_covered(c->state, covered);
        int64_t count = 0;
        for (int64_t n = 0; n < c->extractor.width; n++)
            count += covered[n];
        if (count != got.covered)
            fail_msg("case '%s': %lld neurons called covered", nc_cases[i].name, (long long)count);
        crit_free(c);
    }
}

static void test_nc_views(void **state)
{
    (void)state;
    static const struct {
        const char *variant;
        px_neurons neurons;
    } cases[] = {{"nc.variant=raw", PX_VIEW_CHAN},
                 {"nc.variant=scaled", PX_VIEW_CHAN_SCALED},
                 {"nc.variant=rescaled", PX_VIEW_CHAN_RESCALED},
                 {"nc.variant=suite", PX_VIEW_UNIT},
                 {"nc.variant=sigmoid", PX_VIEW_CHAN}};
    const px_criterion *nc = px_criterion_find("nc");
    for (size_t i = 0; i < PX_LEN(cases); i++) {
        px_probe_options options = px_probe_options_default();
        px_error err = {0};
        void *config = NULL;
        assert_int_equal(px_criterion_configure(nc, NULL, &cases[i].variant, 1, &config, &err),
                         PX_OK);
        nc->choose(config, &options);
        free(config);
        assert_int_equal(options.neurons, cases[i].neurons);
    }
}

/* Equal is not above, also where the threshold is no float; a NaN covers nothing. */
static void test_nc_edges(void **state)
{
    (void)state;
    static const float rows[][3] = {{0.1f, 0.5f, 0.5000001f}, {NAN, 9, 9}, {9, INFINITY, 9}};
    crit *c = crit_new("nc", (const char *[]){"nc.t=0.5", NULL}, LAYERS(3), (crit_table){0});
    crit_observe(c, TABLE(rows));
    assert_int_equal(crit_value(c).covered, 1);
    crit_free(c);
    c = crit_new("nc", (const char *[]){"nc.t=0.1", NULL}, LAYERS(3), (crit_table){0});
    crit_observe(c, TABLE(rows)); /* 0.1f is above 0.1 */
    assert_int_equal(crit_value(c).covered, 3);
    crit_free(c);
}

/* A suite's scale may stretch, and then neurons are lost again. */
static void test_nc_suite_shrinks(void **state)
{
    (void)state;
    static const float first[][2] = {{0, 1}}, second[][2] = {{10, 0}};
    crit *c =
        crit_new("nc", (const char *[]){"nc.variant=suite", NULL}, LAYERS(2), (crit_table){0});
    assert_int_equal(crit_value(c).covered, 0);
    crit_observe(c, TABLE(first));
    assert_int_equal(crit_value(c).covered, 1);
    px_rows rows = crit_rows(c, TABLE(second), 0, 1);
    assert_true(c->criterion->gain(c->state, &rows, 0) == 0.0); /* one won, one lost */
    crit_rows_done(&rows);
    crit_observe(c, TABLE(second));
    bool covered[2];
    c->criterion->neurons_covered(c->state, covered);
    assert_true(covered[0] && !covered[1]);
    crit_free(c);
}

/* --- TV-A2 ----------------------------------------------------------------------------------- */
static const float kmnc_range[][1] = {{0}, {10}};
static const float kmnc_values[][1] = {{-1}, {0}, {2}, {3.9f}, {4}, {10}, {12}};

static const struct {
    const char *variant;
    int section[7]; /* 0-based; -1: none */
    int64_t covered;
} kmnc_cases[] = {
    {"canonical", {-1, 0, 1, 1, 2, 4, -1}, 4},  {"ceil", {-1, -1, 0, 1, 1, 4, -1}, 3},
    {"half-open", {-1, 0, 1, 1, 2, -1, -1}, 3}, {"upper-open", {-1, 0, 1, 1, 2, -1, -1}, 3},
    {"digitize", {0, 1, 1, 2, 2, 5, 5}, 4},
};

static void test_kmnc(void **state)
{
    (void)state;
    for (size_t i = 0; i < PX_LEN(kmnc_cases); i++) {
        char variant[40];
        snprintf(variant, sizeof variant, "kmnc.variant=%s", kmnc_cases[i].variant);
        crit *c = crit_new("kmnc", (const char *[]){"kmnc.k=5", variant, NULL}, LAYERS(1),
                           TABLE(kmnc_range));
        crit_observe(c, TABLE(kmnc_values));
        const px_coverage got = crit_value(c);
        if (got.covered != kmnc_cases[i].covered || got.total != 5)
            fail_msg("'%s': %lld of %lld", kmnc_cases[i].variant, (long long)got.covered,
                     (long long)got.total);
        for (int v = 0; v < 7; v++) /* value v covers what a value of the same section did */
            for (int w = 0; w < 7; w++) {
                void *one = crit_state(c);
                crit_observe_into(c, one, TABLE(kmnc_values), v, 1);
                px_rows rows = crit_rows(c, TABLE(kmnc_values), w, 1);
                const double gain = c->criterion->gain(one, &rows, 0);
                const int *section = kmnc_cases[i].section;
                const bool wins = section[w] >= 0 && section[w] != section[v];
                if (gain != (wins ? 0.2 : 0.0))
                    fail_msg("'%s': value %d after %d adds %g", kmnc_cases[i].variant, w, v, gain);
                crit_rows_done(&rows);
                c->criterion->close(one);
            }
        crit_free(c);
    }
}

/* Neurons without a range: in the denominator unless they are to be excluded. */
static void test_kmnc_dead(void **state)
{
    (void)state;
    static const float range[][2] = {{0, 3}, {10, 3}}, values[][2] = {{5, 3}, {7, 4}};
    crit *c = crit_new("kmnc", (const char *[]){"kmnc.k=5", NULL}, LAYERS(2), TABLE(range));
    crit_observe(c, TABLE(values));
    assert_int_equal(crit_value(c).covered, 2);
    assert_int_equal(crit_value(c).total, 10);
    px_text text = {0};
    c->criterion->remark(c->state, &text);
    assert_non_null(strstr(px_text_get(&text), "1 of 2 neurons never change"));
    px_text_done(&text);
    crit_free(c);
    c = crit_new("kmnc", (const char *[]){"kmnc.k=5", "kmnc.dead=exclude", NULL}, LAYERS(1, 1),
                 TABLE(range));
    crit_observe(c, TABLE(values));
    assert_int_equal(crit_value(c).covered, 2);
    assert_int_equal(crit_value(c).total, 5);
    assert_int_equal(c->criterion->layer_value(c->state, 1).total, 0);
    assert_true(c->criterion->layer_value(c->state, 1).value == 0.0);
    crit_free(c);
}

/* --- TV-A3 ----------------------------------------------------------------------------------- */
static const float corner_range[][3] = {{0, -1, 2}, {1, 1, 2}};
static const float corner_values[][3] = {{1.2f, -1, 2}, {0.5f, -1.5f, 2}, {1, 1, 2.5f}};

static const struct {
    const char *id, *setting;
    int64_t covered, total;
} corner_cases[] = {
    {"nbc", "nbc.variant=canonical", 3, 6},
    {"snac", "snac.variant=canonical", 2, 3},
    {"nbc", "nbc.variant=ge", 5, 6},
    {"snac", "snac.variant=ge", 3, 3},
    /* sd 0.5, 1 and 0: only neuron 2 is beyond high + sd, and none below */
    {"nbc", "nbc.s=1", 1, 6},
    {"snac", "snac.s=1", 1, 3},
    /* sd 0.5: 1.2 is not above 1 + 0.15 * 0.5, 1.2 > 1.075: it is; -1.5 < -1 - 0.15 */
    {"nbc", "nbc.s=0.15", 3, 6},
    /* steps of 0.001, 0.002 and 0.05: 0.2, 0.5 and 0.5 outwards are all in the last bucket */
    {"nbc", "nbc.variant=buckets", 3, 33},
    {"snac", "snac.variant=buckets", 2, 33},
};

static void test_corners(void **state)
{
    (void)state;
    for (size_t i = 0; i < PX_LEN(corner_cases); i++) {
        crit *c = crit_new(corner_cases[i].id, (const char *[]){corner_cases[i].setting, NULL},
                           LAYERS(2, 1), TABLE(corner_range));
        crit_observe(c, TABLE(corner_values));
        const px_coverage got = crit_value(c);
        if (got.covered != corner_cases[i].covered || got.total != corner_cases[i].total)
            fail_msg("'%s': %lld of %lld", corner_cases[i].setting, (long long)got.covered,
                     (long long)got.total);
        crit_free(c);
    }
}

/* DeepHunter's buckets: 11, the last without an end, shared by both corners. */
static void test_buckets(void **state)
{
    (void)state;
    static const float range[][1] = {{0}, {1000}};
    static const struct {
        float value;
        int bucket; /* -1: inside */
    } cases[] = {{500, -1},    {1000, -1},   {1000.5f, 0}, {-0.5f, 0},
                 {1001.5f, 1}, {1009.5f, 9}, {-10.5f, 10}, {99999, 10}};
    for (size_t i = 0; i < PX_LEN(cases); i++)
        for (size_t j = 0; j < PX_LEN(cases); j++) {
            const float rows[][1] = {{cases[i].value}, {cases[j].value}};
            crit *c = crit_new("nbc", (const char *[]){"nbc.variant=buckets", NULL}, LAYERS(1),
                               TABLE(range));
            crit_observe(c, TABLE(rows));
            const int wanted = (cases[i].bucket >= 0) +
                               (cases[j].bucket >= 0 && cases[j].bucket != cases[i].bucket);
            if (crit_value(c).covered != wanted)
                fail_msg("%g and %g cover %lld buckets", (double)rows[0][0], (double)rows[1][0],
                         (long long)crit_value(c).covered);
            crit_free(c);
        }
}

/* Training data lie within their own ranges, and reach both ends of each. */
static void test_profiling_data(void **state)
{
    (void)state;
    enum { ROWS = 300, WIDTH = 9 };
    float *x = crit_random(5, ROWS, WIDTH, true);
    const crit_table table = {.values = x, .count = ROWS};
    for (int i = 0; i < 2; i++) {
        crit *c = crit_new(i ? "snac" : "nbc", NULL, LAYERS(4, 5), table);
        crit_observe(c, table);
        assert_int_equal(crit_value(c).covered, 0);
        crit_free(c);
    }
    crit *c = crit_new("kmnc", (const char *[]){"kmnc.k=7", NULL}, LAYERS(4, 5), table);
    crit_observe(c, table);
    for (int64_t n = 0; n < WIDTH; n++) {
        float least = INFINITY, most = -INFINITY;
        for (int64_t i = 0; i < ROWS; i++) {
            bool fine = true;
            for (int64_t k = 0; k < WIDTH; k++)
                fine &= isfinite(x[i * WIDTH + k]) != 0;
            least = fine ? fminf(least, x[i * WIDTH + n]) : least;
            most = fine ? fmaxf(most, x[i * WIDTH + n]) : most;
        }
        for (int end = 0; end < 2; end++) { /* its section is one, and was covered */
            float row[WIDTH];
            for (int64_t k = 0; k < WIDTH; k++)
                row[k] = 1e6f;
            row[n] = end ? most : least;
            px_rows rows = crit_rows(c, (crit_table){.values = row, .count = 1}, 0, 1);
            void *empty = crit_state(c);
            assert_true(c->criterion->gain(empty, &rows, 0) == 1.0 / (7 * WIDTH));
            assert_true(c->criterion->gain(c->state, &rows, 0) == 0.0);
            c->criterion->close(empty);
            crit_rows_done(&rows);
        }
    }
    crit_free(c);
    free(x);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_nc),
        cmocka_unit_test(test_nc_views),
        cmocka_unit_test(test_nc_edges),
        cmocka_unit_test(test_nc_suite_shrinks),
        cmocka_unit_test(test_kmnc),
        cmocka_unit_test(test_kmnc_dead),
        cmocka_unit_test(test_corners),
        cmocka_unit_test(test_buckets),
        cmocka_unit_test(test_profiling_data),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
