/* tests/cover/test_crit_layers.c - worked examples of TKNC, TKNP, CC and NLC (CSM A.5 to A.7, A.11)
 */
/* SPDX-License-Identifier: Apache-2.0 */
#include "crit_helpers.h"

#include "base/memory.h"
#include "cover/clusters.h"
#include "cover/pattern_set.h"
#include "cover/top_neurons.h"
#include <internal/rng.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* --- TV-A5 ----------------------------------------------------------------------------------- */
static const float top_rows[][6] = {
    {0.1f, 0.9f, 0.5f, 0.9f, 1, 2}, {0.7f, 0.2f, 0.7f, 0.1f, 2, 1}, {0.3f, 0.8f, 0.6f, 0.1f, 2, 1}};
static const float flat_rows[][6] = {{0, 0, 0, -0.0f, 1, 2}};

static const struct {
    const char *name, *id, *settings[3];
    bool flat;
    double value;
    int64_t covered, total;
} top_cases[] = {
    {"tknc 1", "tknc", {"tknc.k=1"}, false, 4.0 / 6, 4, 6},
    {"tknc 2", "tknc", {"tknc.k=2"}, false, 1, 6, 6},
    {"tknc of small layers", "tknc", {"tknc.k=50"}, false, 1, 6, 6},
    {"tknp 1", "tknp", {"tknp.k=1"}, false, 3, 3, 0},
    {"tknp 2", "tknp", {"tknp.k=2"}, false, 3, 3, 0},
    {"tknp of small layers", "tknp", {"tknp.k=4"}, false, 1, 1, 0},
    {"tknp ordered", "tknp", {"tknp.k=4", "tknp.variant=ordered"}, false, 3, 3, 0},
    /* (3 | 1), (2 | 0), (1 | 0): neurons 1, 2, 3 of the first, both of the second */
    {"tknc, ties to the end",
     "tknc",
     {"tknc.k=1", "tknc.variant=tail-index"},
     false,
     5.0 / 6,
     5,
     6},
    /* three and one sets of two */
    {"tknc patterns", "tknc", {"tknc.k=2", "tknc.variant=pattern-count"}, false, 4.0 / 6, 4, 0},
    {"tknc patterns of 1",
     "tknc",
     {"tknc.k=1", "tknc.variant=pattern-count"},
     false,
     4.0 / 6,
     4,
     0},
    {"all equal", "tknc", {"tknc.k=2"}, true, 4.0 / 6, 4, 6},
    {"all equal, skipped", "tknc", {"tknc.k=2", "tknc.constant=skip"}, true, 2.0 / 6, 2, 6},
};

static void test_top(void **state)
{
    (void)state;
    for (size_t i = 0; i < PX_LEN(top_cases); i++) {
        crit *c = crit_new(top_cases[i].id, top_cases[i].settings, LAYERS(4, 2), (crit_table){0});
        crit_observe(c, top_cases[i].flat ? TABLE(flat_rows) : TABLE(top_rows));
        const px_coverage got = crit_value(c);
        if (got.covered != top_cases[i].covered || got.total != top_cases[i].total ||
            fabs(got.value - top_cases[i].value) > 1e-15)
            fail_msg("case '%s': %lld of %lld, %g", top_cases[i].name, (long long)got.covered,
                     (long long)got.total, got.value);
        crit_free(c);
    }
}

static int by_value(const void *a, const void *b)
{
    const float *const *x = a, *const *y = b;
    if (**x != **y)
        return **x > **y ? -1 : 1;
    return *x < *y ? -1 : *x > *y;
}

/* Against a sort with the index as second key. */
static void test_selection(void **state)
{
    (void)state;
    enum { MOST = 200 };
    px_random r = px_rng(3, PX_RNG_TEST, 1, 1);
    for (int round = 0; round < 2000; round++) {
        const int64_t n = 1 + px_rng_below(&r, MOST), k = 1 + px_rng_below(&r, MOST);
        const bool tail = round % 2;
        const uint32_t kinds = 1 + px_rng_below(&r, 50); /* few: many ties */
        float x[MOST];
        const float *order[MOST];
        for (int64_t i = 0; i < n; i++) {
            const float scale = px_rng_below(&r, 3) ? 1.0f : 1e-30f;
            x[i] = ((float)px_rng_below(&r, kinds) - (float)(kinds / 2)) * scale;
            if (x[i] == 0.0f && px_rng_below(&r, 2))
                x[i] = -0.0f;
        }
        float mirrored[MOST]; /* the higher index wins: the same from behind */
        for (int64_t i = 0; i < n; i++)
            mirrored[i] = tail ? x[n - 1 - i] : x[i];
        for (int64_t i = 0; i < n; i++)
            order[i] = &mirrored[i];
        qsort(order, (size_t)n, sizeof *order, by_value);
        bool in[MOST] = {false};
        for (int64_t i = 0; i < PX_MIN(k, n); i++)
            in[tail ? n - 1 - (order[i] - mirrored) : order[i] - mirrored] = true;
        uint32_t indices[MOST];
        const pxi_top top = pxi_top_find(x, n, k);
        assert_int_equal(top.count, PX_MIN(k, n));
        pxi_top_list(x, n, &top, tail, indices);
        int64_t found = 0;
        for (int64_t i = 0; i < n; i++)
            if (in[i] && (found >= top.count || indices[found++] != i))
                fail_msg("round %d: %lld is missing", round, (long long)i);
        assert_int_equal(found, top.count);
        if (!tail) {
            pxi_top_rank(x, indices, top.count);
            for (int64_t i = 0; i < top.count; i++)
                assert_int_equal(indices[i], order[i] - mirrored);
        }
    }
}

static void test_pattern_set(void **state)
{
    (void)state;
    px_error err = {0};
    pxi_pattern_set set = {0}, other = {0};
    assert_false(pxi_pattern_set_has(&set, (pxi_pattern){0}));
    for (uint64_t i = 0; i < 5000; i++) { /* 0, 0 is one of them; many begin at the same place */
        const pxi_pattern p = {.low = i % 3 ? i : i << 40, .high = i % 7};
        assert_false(pxi_pattern_set_has(&set, p));
        assert_int_equal(pxi_pattern_set_add(&set, p, &err), PX_OK);
        assert_int_equal(pxi_pattern_set_add(&set, p, &err), PX_OK);
        assert_true(pxi_pattern_set_has(&set, p));
        assert_int_equal(set.count, i + 1);
    }
    assert_int_equal(pxi_pattern_set_join(&other, &set, &err), PX_OK);
    assert_int_equal(other.count, 5000);
    pxi_pattern_set_done(&set);
    pxi_pattern_set_done(&other);
}

/* --- TV-A7 ----------------------------------------------------------------------------------- */
static const float cc_points[][2] = {{0, 0}, {1, 1}, {3, 0}, {3, 1}, {0, 4}};
static const float cc_reverse[][2] = {{0, 4}, {3, 1}, {3, 0}, {1, 1}, {0, 0}};

static const struct {
    const char *t;
    bool reverse;
    int count;
    float centre[5][2];
} cc_cases[] = {
    {"cc.t=0", false, 5, {{0, 0}, {1, 1}, {3, 0}, {3, 1}, {0, 4}}},
    {"cc.t=1", false, 4, {{0, 0}, {1, 1}, {3, 0}, {0, 4}}},
    {"cc.t=4", false, 3, {{0, 0}, {3, 0}, {0, 4}}},
    {"cc.t=9", false, 3, {{0, 0}, {3, 1}, {0, 4}}},
    {"cc.t=10", false, 2, {{0, 0}, {0, 4}}},
    {"cc.t=10", true, 2, {{0, 4}, {3, 1}}},
};

static void test_cc(void **state)
{
    (void)state;
    for (size_t i = 0; i < PX_LEN(cc_cases); i++) {
        crit *c = crit_new("cc", (const char *[]){cc_cases[i].t, NULL}, LAYERS(2), (crit_table){0});
        crit_observe(c, cc_cases[i].reverse ? TABLE(cc_reverse) : TABLE(cc_points));
        if (crit_value(c).covered != cc_cases[i].count)
            fail_msg("'%s': %lld centres", cc_cases[i].t, (long long)crit_value(c).covered);
        size_t size;
        free(crit_save(c, c->state, &size));
        px_error err = {0};
        px_npz *file = NULL;
        assert_int_equal(px_npz_open(crit_file(), &file, &err), PX_OK);
        const float *centres = px_npz_get(file, "x/centres")->data;
        assert_memory_equal(centres, cc_cases[i].centre,
                            (size_t)cc_cases[i].count * sizeof cc_cases[i].centre[0]);
        px_npz_close(file);
        remove(crit_file());
        crit_free(c);
    }
}

/* What the float pass cannot tell is decided in double: against a plain double loop, with
 * distances that are just above, at and below the threshold. */
static void test_cc_close_calls(void **state)
{
    (void)state;
    enum { DIM = 37, POINTS = 300 };
    px_random r = px_rng(9, PX_RNG_TEST, 2, 1);
    px_error err = {0};
    pxi_clusters clusters = {.dim = DIM};
    static float points[POINTS][DIM];
    float base[DIM];
    for (int d = 0; d < DIM; d++)
        base[d] = (float)px_rng_normal(&r) * 100.0f;
    int64_t kept[POINTS], count = 0;
    for (int p = 0; p < POINTS; p++) {
        /* all at a distance near 2 from the base, along one axis, so squared differences vary in
         * the last bits only */
        for (int d = 0; d < DIM; d++)
            points[p][d] = base[d];
        points[p][p % DIM] += (float)(2.0 + 1e-5 * ((double)px_rng_below(&r, 9) - 4.0));
        bool near = false;
        for (int64_t k = 0; k < count && !near; k++) {
            double sum = 0.0;
            for (int d = 0; d < DIM; d++) {
                const double difference = (double)points[p][d] - (double)points[kept[k]][d];
                sum += difference * difference;
            }
            near = sum <= 8.0;
        }
        assert_int_equal(pxi_clusters_near(&clusters, points[p], 8.0), near);
        if (!near) {
            assert_int_equal(pxi_clusters_add(&clusters, points[p], &err), PX_OK);
            kept[count++] = p;
        }
    }
    assert_true(count > 2 && count < POINTS);
    float huge[DIM] = {0}; /* what overflows in float */
    huge[0] = 3e38f;
    assert_false(pxi_clusters_near(&clusters, huge, 1e30));
    assert_true(pxi_clusters_near(&clusters, huge, 1e77));
    pxi_clusters_done(&clusters);
}

/* --- TV-A11 ---------------------------------------------------------------------------------- */
static const float nlc_rows[][2] = {{1, 2}, {3, 2}, {2, 5}, {0, 0}, {4, 1}};

static void test_nlc(void **state)
{
    (void)state;
    crit *mean = crit_new("nlc", NULL, LAYERS(2), (crit_table){0});
    crit *sum = crit_new("nlc", (const char *[]){"nlc.norm=sum", NULL}, LAYERS(2), (crit_table){0});
    assert_true(crit_value(mean).value == 0.0);
    crit_observe_into(mean, mean->state, TABLE(nlc_rows), 0, 1);
    assert_true(crit_value(mean).value == 0.0);
    crit_observe_into(mean, mean->state, TABLE(nlc_rows), 1, 2);
    assert_true(fabs(crit_value(mean).value - 2.0 / 3) < 1e-15);
    crit_observe_into(mean, mean->state, TABLE(nlc_rows), 3, 2);
    crit_observe_into(sum, sum->state, TABLE(nlc_rows), 0, 5);
    assert_true(fabs(crit_value(mean).value - 1.4) < 1e-15);
    assert_true(fabs(crit_value(sum).value - 5.6) < 1e-14);
    crit_free(mean);
    crit_free(sum);
    /* one input at zero beforehand */
    static const float with_zero[][2] = {{0, 0}, {1, 2}, {3, 2}, {2, 5}};
    crit *start =
        crit_new("nlc", (const char *[]){"nlc.start=1", NULL}, LAYERS(2), (crit_table){0});
    mean = crit_new("nlc", NULL, LAYERS(2), (crit_table){0});
    crit_observe_into(start, start->state, TABLE(nlc_rows), 0, 3);
    crit_observe(mean, TABLE(with_zero));
    assert_true(fabs(crit_value(start).value - crit_value(mean).value) < 1e-15);
    crit_free(start);
    crit_free(mean);
}

/* Covariances against long double sums about the true mean, with means far above the spread. */
static void test_nlc_far_from_zero(void **state)
{
    (void)state;
    enum { ROWS = 700, WIDTH = 23 };
    float *x = crit_random(8, ROWS, WIDTH, false);
    for (int64_t i = 0; i < ROWS * WIDTH; i++)
        x[i] = x[i] * 0.1f + 5.0f * (float)(i % WIDTH);
    crit *c = crit_new("nlc", NULL, LAYERS(7, 16), (crit_table){0});
    crit_observe(c, (crit_table){.values = x, .count = ROWS});
    double wanted = 0.0;
    for (size_t l = 0; l < 2; l++) {
        const int64_t first = c->layers[l].offset, m = c->layers[l].count;
        long double norm = 0.0L;
        for (int64_t a = first; a < first + m; a++)
            for (int64_t b = first; b < first + m; b++) {
                long double sa = 0, sb = 0, s = 0;
                for (int64_t i = 0; i < ROWS; i++) {
                    sa += (long double)x[i * WIDTH + a] / ROWS;
                    sb += (long double)x[i * WIDTH + b] / ROWS;
                }
                for (int64_t i = 0; i < ROWS; i++)
                    s +=
                        ((long double)x[i * WIDTH + a] - sa) * ((long double)x[i * WIDTH + b] - sb);
                norm += fabsl(s / ROWS);
            }
        wanted += (double)(norm / (long double)(m * m));
    }
    const double got = crit_value(c).value;
    if (fabs(got - wanted) > 1e-9 * wanted)
        fail_msg("%.15g instead of %.15g", got, wanted);
    crit_free(c);
    free(x);
}

/* What does not fit the sums is said, not counted. */
static void test_nlc_overflow(void **state)
{
    (void)state;
    static const float rows[][2] = {{1e30f, 1}, {2, 3}};
    crit *c = crit_new("nlc", NULL, LAYERS(2), (crit_table){0});
    crit_observe(c, TABLE(rows));
    assert_true(isnan(crit_value(c).value));
    px_text text = {0};
    c->criterion->remark(c->state, &text);
    assert_non_null(strstr(px_text_get(&text), "no covariance"));
    px_text_done(&text);
    crit_free(c);
}

/* Guided: layers by themselves, only what widens them; the value never falls. */
static void test_nlc_guided(void **state)
{
    (void)state;
    static const float rows[][3] = {{0, 0, 5}, {2, 0, 5}, {1, 0, 9}, {1, 0, 7}};
    crit *c = crit_new("nlc-guided", NULL, LAYERS(2, 1), (crit_table){0});
    /* The second layer does not take the second input: 5 beside 5 gains nothing. The third is none
     * for the first layer, nor is the fourth for the second. */
    static const double values[] = {0, 0.25 * 1, 0.25 * 1 + 4, 0.25 * 1 + 4};
    for (int64_t i = 0; i < 4; i++) {
        px_rows row = crit_rows(c, TABLE(rows), i, 1);
        const double before = crit_value(c).value, gain = c->criterion->gain(c->state, &row, 0);
        crit_observe_into(c, c->state, TABLE(rows), i, 1);
        const double after = crit_value(c).value;
        crit_rows_done(&row);
        if (fabs(after - values[i]) > 1e-14 || fabs(gain - (after - before)) > 1e-14)
            fail_msg("after input %d: %.17g, gain %.17g", (int)i, after, gain);
    }
    crit_free(c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_top),
        cmocka_unit_test(test_selection),
        cmocka_unit_test(test_pattern_set),
        cmocka_unit_test(test_cc),
        cmocka_unit_test(test_cc_close_calls),
        cmocka_unit_test(test_nlc),
        cmocka_unit_test(test_nlc_far_from_zero),
        cmocka_unit_test(test_nlc_overflow),
        cmocka_unit_test(test_nlc_guided),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
