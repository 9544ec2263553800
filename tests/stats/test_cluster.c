/* tests/stats/test_cluster.c - products, factors, k-means, silhouettes and mixtures */
/* SPDX-License-Identifier: Apache-2.0 */
#include "base/memory.h"
#include "cmocka_all.h"
#include "stats/mixture.h"
#include <internal/kmeans.h>

#include <internal/rng.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static double *random_values(uint32_t item, size_t count)
{
    double *x = pxi_calloc(count, sizeof *x);
    assert_non_null(x);
    px_random random = px_rng(3, PX_RNG_TEST, item, 0);
    for (size_t i = 0; i < count; i++)
        x[i] = px_rng_normal(&random);
    return x;
}

static void assert_near(double got, double want, double tolerance, const char *what)
{
    if (!(fabs(got - want) <= tolerance))
        fail_msg("%s: %.12g, not %.12g", what, got, want);
}

static void test_product(void **state)
{
    (void)state;
    static const struct {
        size_t rows, columns, k;
    } cases[] = {{1, 1, 1}, {3, 5, 2}, {9, 16, 7}, {17, 33, 64}, {20, 40, 1300}, {2, 3, 0}};
    for (size_t c = 0; c < PX_LEN(cases); c++) {
        const size_t m = cases[c].rows, n = cases[c].columns, k = cases[c].k;
        double *a = random_values(1, m * k), *b = random_values(2, n * k);
        double *start = random_values(3, m * (n + 1));
        pxi_panels panels = {0};
        px_error err = {0};
        assert_int_equal(pxi_panels_init(&panels, n, k, &err), PX_OK);
        pxi_panels_fill(&panels, 0, n, b, k);
        for (int mode = PXI_PUT; mode <= PXI_TAKE; mode++) {
            double *got = pxi_calloc(m * (n + 1), sizeof *got);
            double *alone = pxi_calloc(n + 1, sizeof *alone);
            memcpy(got, start, m * (n + 1) * sizeof *got);
            pxi_product(&panels, 0, n, a, k, m, got, n + 1, (pxi_product_mode)mode);
            for (size_t i = 0; i < m; i++) {
                memcpy(alone, start + i * (n + 1), (n + 1) * sizeof *alone);
                pxi_product(&panels, 0, n, a + i * k, k, 1, alone, n + 1, (pxi_product_mode)mode);
                assert_memory_equal(alone, got + i * (n + 1), (n + 1) * sizeof *alone);
                for (size_t j = 0; j < n; j++) {
                    long double sum = 0.0L;
                    for (size_t e = 0; e < k; e++)
                        sum += (long double)a[i * k + e] * (long double)b[j * k + e];
                    const double before = mode == PXI_PUT ? 0.0 : start[i * (n + 1) + j];
                    const double want = before + (double)(mode == PXI_TAKE ? -sum : sum);
                    assert_near(got[i * (n + 1) + j], want, 1e-12 * (double)(k + 1), "product");
                }
                assert_true(got[i * (n + 1) + n] == start[i * (n + 1) + n]); /* not written */
            }
            free(got);
            free(alone);
        }
        pxi_panels_done(&panels);
        free(a);
        free(b);
        free(start);
    }
}

static void test_cholesky(void **state)
{
    (void)state;
    static const size_t sizes[] = {1, 2, 63, 64, 65, 150};
    for (size_t c = 0; c < PX_LEN(sizes); c++) {
        const size_t d = sizes[c];
        px_error err = {0};
        double *x = random_values(4, 2 * d * d), *s = pxi_calloc(d * d, sizeof *s);
        double *factor = pxi_calloc(d * d, sizeof *factor);
        for (size_t i = 0; i < d; i++)
            for (size_t j = 0; j < d; j++)
                for (size_t k = 0; k < 2 * d; k++)
                    s[i * d + j] += x[i * 2 * d + k] * x[j * 2 * d + k];
        double ridge;
        assert_int_equal(pxi_cholesky_ridge(s, d, false, factor, &ridge, &err), PX_OK);
        assert_true(ridge == 0.0);
        double log_det = 0.0;
        for (size_t i = 0; i < d; i++) {
            log_det += log(factor[i * d + i]);
            for (size_t j = 0; j < d; j++)
                assert_near(pxi_dot(factor + i * d, factor + j * d, d), s[i * d + j],
                            1e-11 * (double)d, "R R^T");
        }
        pxi_whitener whitener;
        assert_int_equal(pxi_whitener_init(&whitener, factor, d, 2.0, &err), PX_OK);
        assert_near(whitener.log_det, log_det - (double)d * log(2.0), 1e-9, "log det");
        double *white = pxi_calloc(d, sizeof *white);
        pxi_whiten(&whitener, x, 1, white);
        for (size_t i = 0; i < d; i++)
            assert_near(pxi_dot(factor + i * d, white, d), 2.0 * x[i], 1e-9 * (double)d, "R w");
        /* two equal rows: not definite, and the ridge is what it is said to be */
        if (d > 1) {
            double trace = 0.0;
            for (size_t i = 0; i < d; i++) {
                s[(d - 1) * d + i] = s[i * d + d - 1] = s[i * d];
            }
            s[(d - 1) * d + d - 1] = s[0];
            for (size_t i = 0; i < d; i++)
                trace += s[i * d + i];
            assert_int_equal(pxi_cholesky_ridge(s, d, false, factor, &ridge, &err), PX_OK);
            assert_near(ridge, 1e-6 * trace / (double)d, 1e-9 * ridge, "ridge");
        }
        memset(s, 0, d * d * sizeof *s);
        assert_int_equal(pxi_cholesky_ridge(s, d, false, factor, &ridge, &err), PX_OK);
        assert_true(isnan(ridge));
        s[0] = NAN;
        assert_int_equal(pxi_cholesky_ridge(s, d, false, factor, &ridge, &err), PX_OK);
        assert_true(isnan(ridge));
        pxi_whitener_done(&whitener);
        free(white);
        free(factor);
        free(s);
        free(x);
    }
}

static void test_kmeans_ties(void **state)
{
    (void)state;
    static const double centres[][2] = {{3, 0}, {-1, 0}, {1, 0}, {-1, 0}};
    static const struct {
        double x[2];
        int nearest;
    } cases[] = {{{0, 0}, 1}, {{-1, 0}, 1}, {{2, 0}, 0}, {{1, 5}, 2}, {{1, 0}, 2}};
    for (size_t i = 0; i < PX_LEN(cases); i++) {
        double distance2;
        const int got = pxi_kmeans_nearest(centres[0], 4, 2, cases[i].x, &distance2);
        if (got != cases[i].nearest)
            fail_msg("case %zu: centre %d at %g", i, got, distance2);
    }
    /* Whatever the seeding: the point in the middle is with the lower centre. */
    static const double line[] = {-1, 0, 1};
    for (uint64_t seed = 0; seed < 16; seed++) {
        const pxi_kmeans_options options = {.k = 2, .restarts = 1, .iterations = 1, .seed = seed};
        pxi_kmeans fit = {0};
        px_error err = {0};
        assert_int_equal(pxi_kmeans_fit(line, 3, 1, &options, NULL, &fit, &err), PX_OK);
        for (int i = 0; i < 3; i++)
            if (fabs(line[i] - fit.centre[0]) == fabs(line[i] - fit.centre[1]))
                assert_int_equal(fit.label[i], 0);
        pxi_kmeans_done(&fit);
    }
}

/* TV-A8b: densities of a given mixture. */
static void test_mixture_density(void **state)
{
    (void)state;
    static const double weight[] = {.6, .4}, mean[] = {0, 0, 3, 0};
    static const double covariance[] = {1, 0, 0, 1, 2, .5, .5, 1};
    static const double x[] = {0, 0, 1.5, 0, 6, 6};
    static const double want[] = {2.310910662, 2.876971693, 21.033975662};
    pxi_mixture mixture;
    px_error err = {0};
    assert_int_equal(pxi_mixture_init(&mixture, 2, 2, weight, mean, covariance, &err), PX_OK);
    double got[3];
    assert_int_equal(pxi_mixture_log(&mixture, x, 3, got, NULL, &err), PX_OK);
    for (int i = 0; i < 3; i++)
        assert_near(-got[i], want[i], 1e-9 * want[i], "MLSA");
    pxi_mixture_done(&mixture);
}

/* TV-A8b: one step of EM. */
static void test_mixture_step(void **state)
{
    (void)state;
    static const double weight[] = {.5, .5}, mean[] = {0, 5}, variance[] = {1, 1};
    static const double x[] = {0, 1, 4, 5};
    pxi_mixture mixture;
    px_error err = {0};
    double likelihood;
    assert_int_equal(pxi_mixture_init(&mixture, 2, 1, weight, mean, variance, &err), PX_OK);
    assert_int_equal(pxi_mixture_step(&mixture, x, 4, 1e-6, &likelihood, &err), PX_OK);
    assert_near(likelihood, -7.447229539, 1e-9, "log-likelihood");
    assert_near(mixture.mean[0], 0.500838485, 1e-9, "mean");
    assert_near(mixture.mean[1], 4.499161515, 1e-9, "mean");
    assert_near(mixture.covariance[0], 0.253354235, 1e-9, "variance");
    assert_near(mixture.covariance[1], 0.253354235, 1e-9, "variance");
    assert_near(mixture.weight[0], 0.5, 1e-12, "weight");
    pxi_mixture_done(&mixture);
}

static void test_mixture_fit(void **state)
{
    (void)state;
    enum { N = 600, D = 3 };
    double *x = random_values(5, (size_t)N * D);
    for (int i = 0; i < N; i++)
        for (int j = 0; j < D; j++)
            x[i * D + j] = i % 3 ? x[i * D + j] : 0.5 * x[i * D + j] + 12.0;
    pxi_mixture_options options = {
        .g = 2, .ridge = 1e-6, .tolerance = 1e-3, .iterations = 100, .seed = 1};
    pxi_mixture mixture;
    px_error err = {0};
    assert_int_equal(pxi_mixture_fit(x, N, D, &options, &mixture, &err), PX_OK);
    const int far = mixture.mean[0] > 6.0 ? 0 : 1;
    assert_near(mixture.weight[far], 1.0 / 3.0, 1e-6, "weight");
    assert_near(mixture.mean[far * D], 12.0, 0.2, "mean");
    assert_near(mixture.covariance[far * D * D], 0.25, 0.06, "variance");
    assert_true(mixture.iterations < 10);
    pxi_mixture_done(&mixture);
    /* 7 points do not carry two components of 3 neurons; nor do equal points */
    assert_int_equal(pxi_mixture_fit(x, 7, D, &options, &mixture, &err), PX_OK);
    assert_int_equal(mixture.g, 1);
    pxi_mixture_done(&mixture);
    for (int i = 0; i < N * D; i++)
        x[i] = 2.0;
    assert_int_equal(pxi_mixture_fit(x, N, D, &options, &mixture, &err), PX_OK);
    assert_int_equal(mixture.g, 1);
    assert_near(mixture.covariance[0], 1e-6, 1e-12, "variance");
    pxi_mixture_done(&mixture);
    free(x);
}

/* A component that explains nothing starts anew where the others explain least. */
static void test_mixture_empty(void **state)
{
    (void)state;
    static const double weight[] = {.5, .5}, mean[] = {0, 1e9}, variance[] = {1, 1e-6};
    static const double x[] = {0, .5, -.5, .25, 40};
    pxi_mixture mixture;
    px_error err = {0};
    double likelihood;
    assert_int_equal(pxi_mixture_init(&mixture, 2, 1, weight, mean, variance, &err), PX_OK);
    assert_int_equal(pxi_mixture_step(&mixture, x, 5, 1e-6, &likelihood, &err), PX_OK);
    assert_near(mixture.mean[1], 40.0, 0.0, "mean");
    assert_near(mixture.weight[0] + mixture.weight[1], 1.0, 1e-12, "weights");
    pxi_mixture_done(&mixture);
}

/* TV-A8c. */
static void test_silhouette(void **state)
{
    (void)state;
    static const double x[] = {0, 0, 0, 1, 1, 0, 5, 5, 5, 6, 6, 5};
    static const int halves[] = {0, 0, 0, 1, 1, 1}, alone[] = {0, 0, 2, 1, 1, 1}, one[6] = {0};
    const int *labels[] = {halves, alone, one};
    static const int k[] = {2, 3, 1};
    double got[3];
    px_error err = {0};
    assert_int_equal(pxi_silhouette(x, 6, 2, labels, k, 3, NULL, got, &err), PX_OK);
    assert_near(got[0], 0.839816331, 1e-9, "3/3");
    assert_near(got[1], 0.466435531, 1e-9, "2/3/1");
    assert_true(isnan(got[2]));
}

static void test_kmeans(void **state)
{
    (void)state;
    enum { N = 900, D = 5 };
    double *x = random_values(6, (size_t)N * D);
    for (int i = 0; i < N; i++)
        x[i * D + i % 3] += 20.0;
    pxi_kmeans_options options = {.k = 3, .restarts = 10, .iterations = 300, .seed = 5};
    pxi_kmeans alone, pooled;
    px_error err = {0};
    px_pool *pool = NULL;
    assert_int_equal(pxi_pool_new(2, &pool, &err), PX_OK);
    assert_int_equal(pxi_kmeans_fit(x, N, D, &options, NULL, &alone, &err), PX_OK);
    assert_int_equal(pxi_kmeans_fit(x, N, D, &options, pool, &pooled, &err), PX_OK);
    assert_int_equal(alone.k, 3);
    assert_memory_equal(alone.centre, pooled.centre, 3 * D * sizeof(double));
    assert_memory_equal(alone.label, pooled.label, N * sizeof(int));
    for (int i = 3; i < N; i++)
        assert_int_equal(alone.label[i], alone.label[i % 3]);
    double within = 0.0; /* by definition */
    for (int i = 0; i < N; i++)
        for (int j = 0; j < D; j++) {
            const double by = x[i * D + j] - alone.centre[alone.label[i] * D + j];
            within += by * by;
        }
    assert_near(alone.inertia, within, 1e-8 * within, "inertia");
    pxi_kmeans_done(&alone);
    pxi_kmeans_done(&pooled);
    pxi_pool_free(pool);
    /* as many clusters as distinct points, no more */
    for (int i = 0; i < N * D; i++)
        x[i] = (double)(i / D % 2);
    options.k = 5;
    assert_int_equal(pxi_kmeans_fit(x, N, D, &options, NULL, &alone, &err), PX_OK);
    assert_int_equal(alone.k, 2);
    assert_near(alone.inertia, 0.0, 0.0, "inertia");
    pxi_kmeans_done(&alone);
    free(x);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_product),       cmocka_unit_test(test_cholesky),
        cmocka_unit_test(test_kmeans_ties),   cmocka_unit_test(test_mixture_density),
        cmocka_unit_test(test_mixture_step),  cmocka_unit_test(test_mixture_fit),
        cmocka_unit_test(test_mixture_empty), cmocka_unit_test(test_silhouette),
        cmocka_unit_test(test_kmeans),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
