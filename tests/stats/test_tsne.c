/* tests/stats/test_tsne.c - t-SNE: by hand, against scikit-learn, against differences, any threads
 */
/* SPDX-License-Identifier: Apache-2.0 */
#include "base/memory.h"
#include "cmocka_all.h"
#include "stats/exp_log.h"
#include "stats/principal.h"
#include "stats/tsne_internal.h"
#include "tsne_golden.h"

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

static double dense_at(const pxi_dense *dense, size_t i, size_t j)
{
    const size_t high = PX_MAX(i, j), low = PX_MIN(i, j);
    const size_t tile = pxi_tile(high / PXI_TILE, low / PXI_TILE);
    return (double)dense->p[(tile * PXI_TILE + high % PXI_TILE) * PXI_TILE + low % PXI_TILE];
}

static double sparse_at(const pxi_sparse *sparse, size_t i, size_t j)
{
    for (size_t e = sparse->row[i]; e < sparse->row[i + 1]; e++)
        if (sparse->column[e] == j)
            return sparse->p[e];
    return 0.0;
}

static double *as_doubles(const float *x, size_t count)
{
    double *out = take(count, sizeof *out);
    for (size_t i = 0; i < count; i++)
        out[i] = (double)x[i];
    return out;
}

static float *digits_points(void)
{
    float *x = take(digits_n * digits_d, sizeof *x);
    for (size_t i = 0; i < digits_n; i++)
        for (size_t j = 0; j < digits_d; j++)
            x[i * digits_d + j] = (float)(golden_digits[i][j] - 'A');
    return x;
}

static double *random_plane(uint32_t item, size_t n, double size)
{
    double *y = take(2 * n, sizeof *y);
    px_random random = px_rng(5, PX_RNG_TEST, item, 0);
    for (size_t i = 0; i < 2 * n; i++)
        y[i] = size * px_rng_normal(&random);
    return y;
}

static void test_exp_log(void **state)
{
    (void)state;
    for (double x = 0.0; x < 705.0; x = x * 1.01 + 1e-6) {
        assert_near(pxi_exp_down(-x) / exp(-x), 1.0, 2e-15, "exp of minus", (size_t)x);
        assert_near(pxi_log(1.0 + x), log(1.0 + x), 1e-15 * fmax(1.0, log(1.0 + x)), "log 1 +",
                    (size_t)x);
        if (x > 0.0)
            assert_near(pxi_log(x * 1e-12), log(x * 1e-12), 2e-14, "log of small", (size_t)x);
    }
    assert_true(pxi_exp_down(0.0) == 1.0 && pxi_exp_down(-1e6) < 1e-300);
    assert_true(pxi_log(1.0) == 0.0);
}

/* The numbers of LGR G.1. */
static void test_three_points(void **state)
{
    (void)state;
    static const double x[] = {0, 0, 1, 0, 0, 2}, y[] = {0, 1, 0, 0, 0, 1};
    static const double beta[] = {.60433176, .45324882, 1.81299529};
    static const double distances[3][2] = {{1, 4}, {1, 5}, {5, 4}};
    static const double want[] = {-.19814900, .09382744, .10432155,
                                  .04166667,  .10432155, -.14598822};
    px_error err = {0};
    for (size_t i = 0; i < 3; i++) {
        const pxi_bandwidth b = pxi_tsne_bandwidth(distances[i], 2, 1.5);
        assert_near(b.beta, beta[i], 2e-8, "beta", i);
        assert_near(1.0 / b.sum, .85972349, 1e-8, "nearer", i);
        assert_false(b.vague);
    }
    pxi_dense dense = {0};
    pxi_exact_map map = {0};
    assert_int_equal(pxi_dense_init(&dense, x, 3, 2, 1.5, NULL, &err), PX_OK);
    assert_near(dense_at(&dense, 0, 1), .28657450, 2e-8, "p", 12);
    assert_near(dense_at(&dense, 0, 2), .16666667, 2e-8, "p", 13);
    assert_near(dense_at(&dense, 1, 2), .04675884, 2e-8, "p", 23);
    assert_true(dense_at(&dense, 1, 1) == 0.0);
    double gradient[6], kl = NAN;
    assert_int_equal(pxi_exact_map_init(&map, &dense, &err), PX_OK);
    assert_int_equal(pxi_exact_gradient(&map, y, 1.0, NULL, gradient, &kl, &err), PX_OK);
    for (size_t i = 0; i < 6; i++)
        assert_near(gradient[i], want[i], 5e-8, "gradient", i);
    assert_near(kl, .11192317, 5e-8, "divergence", 0);
    pxi_exact_map_done(&map);
    pxi_dense_done(&dense);
}

static void test_affinities(void **state)
{
    (void)state;
    px_error err = {0};
    pxi_dense dense = {0};
    pxi_sparse sparse = {0};
    double *x = as_doubles(golden_x, golden_n * golden_d), sum = 0.0, near_sum = 0.0;
    assert_int_equal(pxi_dense_init(&dense, x, golden_n, golden_d, golden_perplexity, NULL, &err),
                     PX_OK);
    assert_int_equal(
        pxi_sparse_init(&sparse, x, golden_n, golden_d, golden_perplexity, golden_near, NULL, &err),
        PX_OK);
    assert_int_equal(dense.vague + sparse.vague, 0);
    for (size_t i = 0, at = 0; i < golden_n; i++)
        for (size_t j = 0; j < i; j++, at++) {
            const double p = dense_at(&dense, i, j), near = sparse_at(&sparse, i, j);
            assert_near(p, fmax(golden_p[at], 1e-12), 1e-7 * golden_p[at] + 1e-18, "p of pair", at);
            assert_near(p, golden_sklearn_p[at], 2e-4 * golden_sklearn_p[at] + 1e-9,
                        "scikit-learn's p of pair", at);
            assert_near(near, golden_sklearn_near_p[at], 2e-4 * golden_sklearn_near_p[at] + 1e-9,
                        "scikit-learn's near p of pair", at);
            assert_true(near == sparse_at(&sparse, j, i));
            sum += 2.0 * p;
            near_sum += 2.0 * near;
        }
    assert_near(sum, 1.0, 1e-6, "sum of p", 0);
    assert_near(near_sum, 1.0, 1e-12, "sum of near p", 0);
    pxi_dense_done(&dense);
    pxi_sparse_done(&sparse);
    free(x);
}

static void test_principal(void **state)
{
    (void)state;
    px_error err = {0};
    double *x = NULL, *scores = take(golden_n * 3, sizeof *scores), variance[3];
    assert_int_equal(pxi_centred(golden_x, golden_n, golden_d, &x, &err), PX_OK);
    assert_int_equal(pxi_principal(x, golden_n, golden_d, 3, 0, NULL, scores, variance, &err),
                     PX_OK);
    for (size_t c = 0; c < 3; c++)
        assert_near(variance[c], golden_variance[c], 1e-9 * golden_variance[0], "variance", c);
    for (size_t i = 0; i < golden_n * 3; i++)
        assert_near(fabs(scores[i]), fabs(golden_scores[i]), 1e-6, "score", i);
    free(scores);
    free(x);

    /* more dimensions than the search has vectors: the same as among all of them */
    float *digits = digits_points();
    double *few = take(digits_n * 2, sizeof *few), *many = take(digits_n * 60, sizeof *many);
    double two[2], sixty[60];
    assert_int_equal(pxi_centred(digits, digits_n, digits_d, &x, &err), PX_OK);
    assert_int_equal(pxi_principal(x, digits_n, digits_d, 2, 0, NULL, few, two, &err), PX_OK);
    assert_int_equal(pxi_principal(x, digits_n, digits_d, 60, 0, NULL, many, sixty, &err), PX_OK);
    for (size_t c = 0; c < 2; c++)
        assert_near(two[c], sixty[c], 1e-7 * sixty[0], "variance of digits", c);
    for (size_t i = 0; i < digits_n; i++)
        for (size_t c = 0; c < 2; c++)
            assert_near(few[2 * i + c], many[60 * i + c], 1e-2, "score of digit", i);
    free(x);
    free(few);
    free(many);
    free(digits);
}

/* The divergence again, by its definition. */
static double plain_kl(const pxi_dense *dense, const double *y)
{
    const size_t n = dense->n;
    double z = 0.0, kl = 0.0;
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < n; j++)
            if (i != j)
                z += 1.0 / (1.0 + pow(y[i] - y[j], 2) + pow(y[n + i] - y[n + j], 2));
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < n; j++)
            if (i != j) {
                const double w = 1.0 / (1.0 + pow(y[i] - y[j], 2) + pow(y[n + i] - y[n + j], 2));
                const double p = dense_at(dense, i, j);
                kl += p * log(p * z / w);
            }
    return kl;
}

static void test_gradient(void **state)
{
    (void)state;
    px_error err = {0};
    float *digits = digits_points();
    double *x = as_doubles(digits, digits_n * digits_d), *y = random_plane(1, digits_n, 3.0);
    double *gradient = take(2 * digits_n, sizeof *gradient), kl = NAN;
    double *strong = take(2 * digits_n, sizeof *strong);
    pxi_dense dense = {0};
    pxi_exact_map map = {0};
    assert_int_equal(pxi_dense_init(&dense, x, digits_n, digits_d, 20.0, NULL, &err), PX_OK);
    assert_int_equal(pxi_exact_map_init(&map, &dense, &err), PX_OK);
    assert_int_equal(pxi_exact_gradient(&map, y, 12.0, NULL, strong, NULL, &err), PX_OK);
    assert_int_equal(pxi_exact_gradient(&map, y, 1.0, NULL, gradient, &kl, &err), PX_OK);
    assert_near(kl, plain_kl(&dense, y), 1e-6, "divergence", 0); /* p are floats */
    for (size_t i = 0; i < 2 * digits_n; i += 37) {              /* both tiles, both coordinates */
        const double before = y[i], h = 1e-4;
        y[i] = before + h;
        const double up = plain_kl(&dense, y);
        y[i] = before - h;
        const double down = plain_kl(&dense, y);
        y[i] = before;
        assert_near(gradient[i], (up - down) / (2.0 * h), 2e-7, "gradient", i);
    }
    /* exaggeration multiplies attraction alone: pull = (strong - gradient) / 11 */
    double pull[2] = {0.0, 0.0};
    for (size_t j = 0; j < digits_n; j++)
        if (j != 7) {
            const double dx = y[7] - y[j], dy = y[digits_n + 7] - y[digits_n + j];
            const double f = 4.0 * dense_at(&dense, 7, j) / (1.0 + dx * dx + dy * dy);
            pull[0] += f * dx;
            pull[1] += f * dy;
        }
    for (size_t c = 0; c < 2; c++) {
        const size_t at = c * digits_n + 7;
        assert_near((strong[at] - gradient[at]) / 11.0, pull[c], 1e-10, "attraction", c);
    }
    pxi_exact_map_done(&map);
    pxi_dense_done(&dense);
    free(digits);
    free(x);
    free(y);
    free(gradient);
    free(strong);
}

static void test_tree(void **state)
{
    (void)state;
    static const struct {
        double theta, most; /* relative error of the gradient's length */
    } cases[] = {{0.0, 1e-12}, {0.2, 2e-3}, {0.5, 2e-2}, {0.8, 8e-2}};
    px_error err = {0};
    float *digits = digits_points();
    double *x = as_doubles(digits, digits_n * digits_d), *y = random_plane(2, digits_n, 5.0);
    for (size_t i = 0; i < 12; i++) { /* coincident points, more than a leaf takes */
        y[i] = y[20];
        y[digits_n + i] = y[digits_n + 20];
    }
    double *want = take(2 * digits_n, sizeof *want), *got = take(2 * digits_n, sizeof *got);
    pxi_sparse sparse = {0};
    assert_int_equal(pxi_sparse_init(&sparse, x, digits_n, digits_d, 20.0, 60, NULL, &err), PX_OK);
    double z = 0.0, want_kl = 0.0;
    for (size_t i = 0; i < digits_n; i++)
        for (size_t j = 0; j < digits_n; j++)
            if (i != j)
                z += 1.0 / (1.0 + pow(y[i] - y[j], 2) + pow(y[digits_n + i] - y[digits_n + j], 2));
    for (size_t i = 0; i < digits_n; i++)
        for (size_t j = 0; j < digits_n; j++) {
            const double dx = y[i] - y[j], dy = y[digits_n + i] - y[digits_n + j];
            const double w = 1.0 / (1.0 + dx * dx + dy * dy), p = sparse_at(&sparse, i, j);
            want[i] += 4.0 * (p - w / z) * w * dx;
            want[digits_n + i] += 4.0 * (p - w / z) * w * dy;
            want_kl += p > 0.0 ? p * log(p * z / w) : 0.0;
        }
    for (size_t c = 0; c < PX_LEN(cases); c++) {
        pxi_tree_map map = {0};
        double kl = NAN, off = 0.0, size = 0.0;
        assert_int_equal(pxi_tree_map_init(&map, &sparse, cases[c].theta, &err), PX_OK);
        assert_int_equal(pxi_tree_gradient(&map, y, 1.0, NULL, got, &kl, &err), PX_OK);
        for (size_t i = 0; i < 2 * digits_n; i++) {
            off += pow(got[i] - want[i], 2);
            size += want[i] * want[i];
        }
        if (!(sqrt(off / size) <= cases[c].most))
            fail_msg("theta %g: off by %g of the gradient", cases[c].theta, sqrt(off / size));
        assert_near(kl, want_kl, cases[c].theta > 0.0 ? 2e-2 : 1e-10, "divergence", c);
        pxi_tree_map_done(&map);
    }
    pxi_sparse_done(&sparse);
    free(digits);
    free(x);
    free(y);
    free(want);
    free(got);
}

static void test_trustworthiness(void **state)
{
    (void)state;
    px_error err = {0};
    float *digits = digits_points();
    double *x = NULL, *plane = take(2 * digits_n, sizeof *plane), variance[2], got = NAN;
    assert_int_equal(pxi_centred(digits, digits_n, digits_d, &x, &err), PX_OK);
    assert_int_equal(pxi_principal(x, digits_n, digits_d, 2, 0, NULL, plane, variance, &err),
                     PX_OK);
    static const struct {
        int k;
        size_t sample;
        double tolerance;
    } cases[] = {{5, 0, 2e-5}, {12, 0, 2e-5}, {5, 100, 0.03}};
    for (size_t c = 0; c < PX_LEN(cases); c++) {
        assert_int_equal(px_trustworthiness(digits, digits_n, digits_d, plane, cases[c].k,
                                            cases[c].sample, 2, &got, &err),
                         PX_OK);
        assert_near(got, cases[c].k == 5 ? golden_trust5 : golden_trust12, cases[c].tolerance,
                    "trustworthiness", c);
    }
    assert_int_equal(px_trustworthiness(digits, 10, digits_d, plane, 5, 0, 1, &got, &err),
                     PX_E_USAGE);
    free(x);
    free(plane);
    free(digits);
}

/* A last digit decides which of many valleys a map ends in, some of which are a twentieth higher
 * than others: of five maps of points that hardly differ the best is as good as scikit-learn's one,
 * and none is much worse. */
static void assert_divergence(const px_tsne_options *options, double first, double wanted)
{
    double least = first, most = first;
    for (int k = 1; k < 5; k++) {
        float *near = digits_points();
        px_tsne_map map = {0};
        px_error err = {0};
        near[5] += 1e-5f * (float)k;
        assert_int_equal(px_tsne(near, digits_n, digits_d, options, &map, &err), PX_OK);
        least = PX_MIN(map.kl, least);
        most = PX_MAX(map.kl, most);
        px_tsne_map_done(&map);
        free(near);
    }
    if (!(least <= 1.03 * wanted && most <= 1.12 * wanted))
        fail_msg("divergence %g to %g, scikit-learn's %g", least, most, wanted);
}

static void test_digits(void **state)
{
    (void)state;
    static const struct {
        px_tsne_method method;
        double kl, trust;
    } cases[] = {{PX_TSNE_ALL_PAIRS, golden_exact_kl, golden_exact_trust},
                 {PX_TSNE_BARNES_HUT, golden_barnes_hut_kl, golden_barnes_hut_trust}};
    px_error err = {0};
    float *digits = digits_points();
    for (size_t c = 0; c < PX_LEN(cases); c++) {
        px_tsne_options options = px_tsne_options_default();
        options.components = 0;
        options.method = cases[c].method;
        px_tsne_map map[3] = {{0}};
        double trust = NAN;
        for (int t = 0; t < 3; t++) {
            options.threads = t + 1;
            assert_int_equal(px_tsne(digits, digits_n, digits_d, &options, &map[t], &err), PX_OK);
            assert_int_equal(map[t].count, digits_n);
            if (memcmp(map[t].y, map[0].y, 2 * digits_n * sizeof *map[t].y) != 0)
                fail_msg("case %zu: %d threads make another map", c, t + 1);
        }
        assert_divergence(&options, map[0].kl, cases[c].kl);
        assert_int_equal(
            px_trustworthiness(digits, digits_n, digits_d, map[0].y, 5, 0, 2, &trust, &err), PX_OK);
        assert_near(trust, cases[c].trust, 5e-3, "trustworthiness", c);
        double mean[2] = {0.0, 0.0};
        for (size_t i = 0; i < 2 * digits_n; i++)
            mean[i % 2] += map[0].y[i] / digits_n;
        assert_true(fabs(mean[0]) < 1e-9 && fabs(mean[1]) < 1e-9);
        assert_int_equal(map[0].vague, 0);
        assert_int_equal(map[0].exact, cases[c].method == PX_TSNE_ALL_PAIRS);
        assert_int_equal(map[0].dimensions, digits_d);
        for (int t = 0; t < 3; t++)
            px_tsne_map_done(&map[t]);
    }
    free(digits);
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
        double perplexity;
        int iterations;
        float odd; /* of the first value */
        bool same;
        px_status status;
    } cases[] = {
        {"three points", "made of 4", 3, 1, 60, 0, false, PX_E_USAGE},
        {"too perplexed", "more than 60 points", n, 20, 60, 0, false, PX_E_USAGE},
        {"no perplexity", "perplexity", n, 0.5, 60, 0, false, PX_E_USAGE},
        {"NaN perplexity", "perplexity", n, NAN, 60, 0, false, PX_E_USAGE},
        {"no iterations", "iterations", n, 5, 0, 0, false, PX_E_USAGE},
        {"NaN", "value 0 of point 0 is nan", n, 5, 60, NAN, false, PX_E_INPUT},
        {"infinity", "value 0 of point 0 is inf", n, 5, 60, INFINITY, false, PX_E_INPUT},
        {"too large", "finite values", n, 5, 60, 1e20f, false, PX_E_INPUT},
        {"all the same", "60 points are the same", n, 5, 60, 0, true, PX_E_INPUT},
        {"cancelled", "cancelled after 3 of 60", n, 5, 60, 0, false, PX_E_CANCELLED},
    };
    px_error early = {0}; /* settings are looked at before the points are */
    px_tsne_options pairs = px_tsne_options_default();
    pairs.method = PX_TSNE_ALL_PAIRS;
    assert_int_equal(px_tsne(NULL, PX_TSNE_EXACT_MOST + 1, d, &pairs, NULL, &early), PX_E_USAGE);
    assert_non_null(strstr(early.message, "all pairs of 20001 points"));
    px_random random = px_rng(1, PX_RNG_TEST, 9, 0);
    float x[n * d], same[n * d];
    for (size_t i = 0; i < n * d; i++) {
        x[i] = (float)px_rng_normal(&random);
        same[i] = 0.1f * (float)(i % d);
    }
    for (size_t c = 0; c < PX_LEN(cases); c++) {
        px_error err = {0};
        px_tsne_map map = {0};
        px_tsne_options options = px_tsne_options_default();
        int64_t done = 0;
        options.perplexity = cases[c].perplexity;
        options.iterations = cases[c].iterations;
        options.progress = stop_at_third;
        options.progress_context = &done;
        options.threads = 1;
        const float before = x[0];
        x[0] = cases[c].odd != 0.0f ? cases[c].odd : before;
        const px_status status =
            px_tsne(cases[c].same ? same : x, cases[c].n, d, &options, &map, &err);
        x[0] = before;
        if (status != cases[c].status || !strstr(err.message, cases[c].says))
            fail_msg("case '%s': status %d, '%s'", cases[c].name, (int)status, err.message);
        assert_null(map.y);
    }
}

/* Duplicates are allowed, and said; points on a line still get two dimensions. */
static void test_odd_points(void **state)
{
    (void)state;
    enum { n = 60 };
    px_error err = {0};
    for (int c = 0; c < 4; c++) {
        float x[n * 2] = {0};
        for (size_t i = 0; i < n; i++) {
            x[2 * i] = (float)(c < 2 ? i / 20 : i);        /* 20 of each, or all apart */
            x[2 * i + 1] = c < 2 ? (float)(i / 40) : 0.0f; /* not on a line, or on one */
        }
        px_tsne_options options = px_tsne_options_default();
        px_tsne_map map = {0};
        options.perplexity = 8;
        options.iterations = 300;
        options.threads = 1;
        options.method = c % 2 ? PX_TSNE_BARNES_HUT : PX_TSNE_ALL_PAIRS;
        if (px_tsne(x, n, 2, &options, &map, &err) != PX_OK)
            fail_msg("case %d: %s", c, err.message);
        assert_int_equal(map.vague, c < 2 ? n : 0);
        double spread = 0.0;
        for (size_t i = 0; i < n; i++) {
            assert_true(isfinite(map.y[2 * i]) && isfinite(map.y[2 * i + 1]));
            spread = fmax(spread, fabs(map.y[2 * i + 1]));
        }
        assert_true(c < 2 || spread > 0.1);
        px_tsne_map_done(&map);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_exp_log),         cmocka_unit_test(test_three_points),
        cmocka_unit_test(test_affinities),      cmocka_unit_test(test_principal),
        cmocka_unit_test(test_gradient),        cmocka_unit_test(test_tree),
        cmocka_unit_test(test_trustworthiness), cmocka_unit_test(test_digits),
        cmocka_unit_test(test_refusals),        cmocka_unit_test(test_odd_points),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
