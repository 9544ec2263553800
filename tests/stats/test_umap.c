/* tests/stats/test_umap.c - UMAP: against a second implementation, any threads, odd points */
/* SPDX-License-Identifier: Apache-2.0 */
#include "base/memory.h"
#include "cmocka_all.h"
#include "stats/umap_internal.h"
#include "umap_golden.h"

#include <internal/rng.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static void assert_near(double got, double want, double tolerance, const char *what, size_t i)
{
    if (!(fabs(got - want) <= tolerance))
        fail_msg("%s %zu: %.12g, not %.12g", what, i, got, want);
}

static void *take(size_t count, size_t size)
{
    void *memory = pxi_calloc(count, size);
    assert_non_null(memory);
    return memory;
}

static void test_curve(void **state)
{
    (void)state;
    double a = 0.0, b = 0.0;
    pxi_umap_curve(0.1, 1.0, &a, &b); /* the authors' figures */
    assert_near(a, 1.576943, 1e-6, "a", 0);
    assert_near(b, 0.895061, 1e-6, "b", 0);
    for (size_t i = 0; i < PX_LEN(golden_curves); i++) {
        pxi_umap_curve(golden_curves[i].min_dist, golden_curves[i].spread, &a, &b);
        assert_near(a / golden_curves[i].a, 1.0, 1e-6, "a of curve", i);
        assert_near(b / golden_curves[i].b, 1.0, 1e-6, "b of curve", i);
    }
}

static void golden_neighbours(pxi_neighbours *near)
{
    px_error err = {0};
    double *x = take(golden_n * golden_d, sizeof *x);
    for (size_t i = 0; i < golden_n * golden_d; i++)
        x[i] = (double)golden_x[i];
    assert_int_equal(pxi_neighbours_init(near, x, golden_n, golden_d, golden_k - 1, NULL, &err),
                     PX_OK);
    free(x);
}

static void test_weights(void **state)
{
    (void)state;
    px_error err = {0};
    pxi_neighbours near = {0};
    pxi_sparse graph = {0};
    golden_neighbours(&near);
    assert_int_equal(pxi_umap_graph(&graph, &near, &err), PX_OK);
    for (size_t i = 0; i < golden_n; i++) { /* distances by now */
        const pxi_umap_band band =
            pxi_umap_bandwidth(near.distance2 + i * near.k, near.k, /* mean= */ 1.0);
        assert_near(band.rho, golden_bands[3 * i], 1e-10, "rho", i);
        assert_near(band.sigma, golden_bands[3 * i + 1], 1e-10, "sigma", i);
        assert_near(band.sigma, golden_bands[3 * i + 2], 1e-4, "root sigma", i);
        assert_false(band.vague);
    }
    assert_int_equal(graph.vague, 0);
    double whole[golden_n][golden_n] = {{0}};
    for (size_t i = 0; i < golden_n; i++)
        for (size_t e = graph.row[i]; e < graph.row[i + 1]; e++)
            whole[i][graph.column[e]] = graph.p[e];
    for (size_t i = 0, at = 0; i < golden_n; i++) {
        assert_true(whole[i][i] == 0.0);
        for (size_t j = 0; j < i; j++, at++) {
            assert_near(whole[i][j], golden_weights[at], 1e-10, "weight", at);
            assert_true(whole[i][j] == whole[j][i]);
        }
    }
    assert_true(whole[9][17] == 1.0); /* equal points */
    pxi_sparse_done(&graph);
    pxi_neighbours_done(&near);
}

/* Duplicates: no sigma makes the weights add up; its bound does. */
static void test_bands(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        double d[5], rho, sigma;
        bool vague;
    } cases[] = {
        {"all equal", {0, 0, 0, 0, 0}, 0.0, 2e-3, true},
        {"four equal", {0, 0, 0, 0, 3}, 3.0, 0.5e-3, true},
        {"all as near", {6, 6, 6, 6, 6}, 6.0, 5e-3, true},
    };
    for (size_t i = 0; i < PX_LEN(cases); i++) {
        const pxi_umap_band band = pxi_umap_bandwidth(cases[i].d, 5, /* mean= */ 2.0);
        if (band.rho != cases[i].rho || fabs(band.sigma - cases[i].sigma) > 1e-15 ||
            band.vague != cases[i].vague)
            fail_msg("case '%s': rho %g, sigma %g, vague %d", cases[i].name, band.rho, band.sigma,
                     band.vague);
    }
    static const double one[1] = {2.5}; /* log2(2) = 1: any sigma will do */
    assert_false(pxi_umap_bandwidth(one, 1, 1.0).vague);
    static const double near[5] = {1, 2, 3, 4, 5};
    const double unit = pxi_umap_bandwidth(near, 5, 1.0).sigma;
    double far[5];
    for (size_t i = 0; i < 5; i++) /* the scale does not matter, not even a wild one */
        far[i] = 0x1p-90 * near[i];
    assert_true(pxi_umap_bandwidth(far, 5, 1.0).sigma == 0x1p-90 * unit);
}

/* From points to a map of one epoch; and five epochs from a given start with a given curve. */
static void test_layouts(void **state)
{
    (void)state;
    px_error err = {0};
    px_umap_options options = px_umap_options_default();
    px_umap_map map = {0};
    options.neighbours = golden_k;
    options.epochs = 1;
    options.seed = golden_seed;
    options.threads = 1;
    assert_int_equal(px_umap(golden_x, golden_n, golden_d, &options, &map, &err), PX_OK);
    assert_int_equal(map.edges, golden_one_edges);
    assert_int_equal(map.epochs, 1);
    for (size_t i = 0; i < 2 * golden_n; i++)
        assert_near(map.y[i], golden_one[i], 1e-7, "one epoch, value", i);
    px_umap_map_done(&map);

    pxi_neighbours near = {0};
    pxi_sparse graph = {0};
    double y[2 * golden_n], mean[2] = {0.0, 0.0};
    memcpy(y, golden_start, sizeof y);
    pxi_umap_layout layout = {
        .n = golden_n, .y = y, .a = 1.5, .b = 0.9, .negatives = 5, .seed = golden_seed};
    golden_neighbours(&near);
    assert_int_equal(pxi_umap_graph(&graph, &near, &err), PX_OK);
    assert_int_equal(pxi_umap_edges(&graph, 5, &layout.edge, &layout.edge_count, &err), PX_OK);
    assert_int_equal(layout.edge_count, golden_five_edges);
    for (int epoch = 1; epoch <= 5; epoch++)
        pxi_umap_epoch(&layout, epoch, 1.0 - (epoch - 1) / 5.0);
    for (size_t i = 0; i < 2 * golden_n; i++)
        mean[i % 2] += y[i] / golden_n;
    for (size_t i = 0; i < 2 * golden_n; i++)
        assert_near(y[i] - mean[i % 2], golden_five[i], 1e-5, "five epochs, value", i);
    free(layout.edge);
    pxi_sparse_done(&graph);
    pxi_neighbours_done(&near);
}

/* Four clouds of 20 dimensions: the same bytes for any threads, clouds apart, neighbours kept. */
static void test_clouds(void **state)
{
    (void)state;
    enum { n = 300, d = 20, clouds = 4 };
    px_error err = {0};
    float *x = take(n * d, sizeof *x);
    px_random random = px_rng(8, PX_RNG_TEST, 1, 0);
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < d; j++)
            x[i * d + j] = (float)(px_rng_normal(&random) + (j % clouds == i % clouds ? 6.0 : 0.0));
    px_umap_map map[3] = {{0}}, other = {0};
    px_umap_options options = px_umap_options_default();
    for (int t = 0; t < 3; t++) {
        options.threads = t + 1;
        assert_int_equal(px_umap(x, n, d, &options, &map[t], &err), PX_OK);
        assert_memory_equal(map[t].y, map[0].y, 2 * n * sizeof *map[t].y);
    }
    assert_int_equal(map[0].epochs, 500);
    assert_int_equal(map[0].neighbours, 15);
    assert_int_equal(map[0].dimensions, d);
    assert_int_equal(map[0].vague, 0);
    options.seed = 1;
    assert_int_equal(px_umap(x, n, d, &options, &other, &err), PX_OK);
    assert_memory_not_equal(other.y, map[0].y, 2 * n * sizeof *other.y);
    double mean[2] = {0.0, 0.0}, trust = 0.0, chance = 0.0;
    for (size_t i = 0; i < 2 * n; i++)
        mean[i % 2] += map[0].y[i] / n;
    assert_true(fabs(mean[0]) < 1e-9 && fabs(mean[1]) < 1e-9);
    for (size_t i = 0; i < n; i++) { /* the nearest on the map is of the same cloud */
        size_t best = i;
        double least = INFINITY;
        for (size_t j = 0; j < n; j++) {
            const double dx = map[0].y[2 * i] - map[0].y[2 * j];
            const double dy = map[0].y[2 * i + 1] - map[0].y[2 * j + 1];
            if (j != i && dx * dx + dy * dy < least) {
                least = dx * dx + dy * dy;
                best = j;
            }
        }
        if (best % clouds != i % clouds)
            fail_msg("point %zu lies beside point %zu, of another cloud", i, best);
    }
    assert_int_equal(px_trustworthiness(x, n, d, map[0].y, 5, 0, 1, &trust, &err), PX_OK);
    for (size_t i = 0; i < 2 * n; i++)
        other.y[i] = px_rng_normal(&random);
    assert_int_equal(px_trustworthiness(x, n, d, other.y, 5, 0, 1, &chance, &err), PX_OK);
    if (!(trust > 0.85 && chance < 0.6))
        fail_msg("trustworthiness %g, of points at random %g", trust, chance);
    for (int t = 0; t < 3; t++)
        px_umap_map_done(&map[t]);
    px_umap_map_done(&other);
    free(x);
}

static bool stop_at_third(void *context, int64_t done, int64_t total)
{
    *(int64_t *)context = done;
    return total == 60 && done < 3;
}

static void test_refusals(void **state)
{
    (void)state;
    enum { n = 60, d = 3 };
    static const struct {
        const char *name, *says;
        size_t n;
        int neighbours, epochs;
        double min_dist, rate;
        float odd; /* of the first value */
        bool same;
        px_status status;
    } cases[] = {
        {"three points", "made of 4", 3, 15, 60, 0.1, 1, 0, false, PX_E_USAGE},
        {"nobody near", "2 to 1000 neighbours", n, 1, 60, 0.1, 1, 0, false, PX_E_USAGE},
        {"many near", "2 to 1000 neighbours", n, 1001, 60, 0.1, 1, 0, false, PX_E_USAGE},
        {"wide", "least distance of 0 to the spread", n, 15, 60, 1.5, 1, 0, false, PX_E_USAGE},
        {"NaN distance", "least distance", n, 15, 60, NAN, 1, 0, false, PX_E_USAGE},
        {"negative epochs", "1 to 100000 epochs", n, 15, -1, 0.1, 1, 0, false, PX_E_USAGE},
        {"no rate", "learning rate above 0", n, 15, 60, 0.1, 0, 0, false, PX_E_USAGE},
        {"NaN", "value 0 of point 0 is nan", n, 15, 60, 0.1, 1, NAN, false, PX_E_INPUT},
        {"infinity", "value 0 of point 0 is inf", n, 15, 60, 0.1, 1, INFINITY, false, PX_E_INPUT},
        {"all the same", "60 points are the same", n, 15, 60, 0.1, 1, 0, true, PX_E_INPUT},
        {"cancelled", "cancelled after 3 of 60", n, 15, 60, 0.1, 1, 0, false, PX_E_CANCELLED},
    };
    px_random random = px_rng(1, PX_RNG_TEST, 9, 0);
    float x[n * d], same[n * d];
    for (size_t i = 0; i < n * d; i++) {
        x[i] = (float)px_rng_normal(&random);
        same[i] = 0.1f * (float)(i % d);
    }
    for (size_t c = 0; c < PX_LEN(cases); c++) {
        px_error err = {0};
        px_umap_map map = {0};
        px_umap_options options = px_umap_options_default();
        int64_t done = 0;
        options.neighbours = cases[c].neighbours;
        options.epochs = cases[c].epochs;
        options.min_dist = cases[c].min_dist;
        options.learning_rate = cases[c].rate;
        options.progress = stop_at_third;
        options.progress_context = &done;
        options.threads = 1;
        const float before = x[0];
        x[0] = cases[c].odd != 0.0f ? cases[c].odd : before;
        const px_status status =
            px_umap(cases[c].same ? same : x, cases[c].n, d, &options, &map, &err);
        x[0] = before;
        if (status != cases[c].status || !strstr(err.message, cases[c].says))
            fail_msg("case '%s': status %d, '%s'", cases[c].name, (int)status, err.message);
        assert_null(map.y);
    }
}

/* Duplicates are allowed, and said; points on a line still get two dimensions; so few that all are
 * neighbours; a random start. */
static void test_odd_points(void **state)
{
    (void)state;
    enum { most = 60 };
    static const struct {
        const char *name;
        size_t n, of_each;
        bool line, random_start;
        size_t vague;
        int neighbours;
    } cases[] = {
        {"twenty of each", 60, 20, false, false, 60, 15},
        {"on a line", 60, 1, true, false, 0, 15},
        {"fewer than neighbours", 9, 1, false, false, 0, 9},
        {"four points", 4, 1, false, false, 0, 4},
        {"at random", 60, 1, false, true, 0, 15},
    };
    px_random random = px_rng(3, PX_RNG_TEST, 4, 0);
    float z[most];
    for (size_t i = 0; i < most; i++)
        z[i] = (float)px_rng_normal(&random);
    for (size_t c = 0; c < PX_LEN(cases); c++) {
        px_error err = {0};
        float x[most * 2] = {0};
        for (size_t i = 0; i < cases[c].n; i++) {
            x[2 * i] = (float)(i / cases[c].of_each) + (cases[c].of_each > 1 ? 0.0f : z[i]);
            x[2 * i + 1] = cases[c].line ? 0.0f : z[i / cases[c].of_each];
        }
        px_umap_options options = px_umap_options_default();
        px_umap_map map = {0};
        options.epochs = 200;
        options.threads = 1;
        options.random_start = cases[c].random_start;
        if (px_umap(x, cases[c].n, 2, &options, &map, &err) != PX_OK)
            fail_msg("case '%s': %s", cases[c].name, err.message);
        double spread[2] = {0.0, 0.0};
        for (size_t i = 0; i < 2 * cases[c].n; i++) {
            if (!isfinite(map.y[i]))
                fail_msg("case '%s': value %zu is %g", cases[c].name, i, map.y[i]);
            spread[i % 2] = fmax(spread[i % 2], fabs(map.y[i]));
        }
        if (map.vague != cases[c].vague || map.neighbours != cases[c].neighbours ||
            !(spread[0] > 0.1 && spread[1] > 0.1))
            fail_msg("case '%s': %zu vague, %d neighbours, %g by %g", cases[c].name, map.vague,
                     map.neighbours, spread[0], spread[1]);
        px_umap_map_done(&map);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_curve),      cmocka_unit_test(test_weights),
        cmocka_unit_test(test_bands),      cmocka_unit_test(test_layouts),
        cmocka_unit_test(test_clouds),     cmocka_unit_test(test_refusals),
        cmocka_unit_test(test_odd_points),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
