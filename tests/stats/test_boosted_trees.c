/* tests/stats/test_boosted_trees.c - by hand, against scikit-learn, and for any number of threads
 */
/* SPDX-License-Identifier: Apache-2.0 */
#include "cmocka_all.h"

#include "base/memory.h"
#include "boosted_trees_golden.h"
#include "stats/boosted_trees.h"
#include "stats_values.h"

#include <stdlib.h>

enum { N = 3000, D = 6, HALF = N / 2 };

static pxi_boosted *fit(const float *x, const bool *y, size_t n, size_t d,
                        const pxi_boost_options *options)
{
    pxi_boosted *model = NULL;
    px_error err = {0};
    if (pxi_boosted_fit(x, y, n, d, options, &model, &err) != PX_OK)
        fail_msg("%s", err.message);
    return model;
}

static pxi_boost_options by_hand(int trees, int depth)
{
    return (pxi_boost_options){.trees = trees,
                               .depth = depth,
                               .bins = 256,
                               .rate = 1.0,
                               .lambda = 1.0,
                               .columns = 1.0,
                               .threads = 1};
}

static void assert_score(const pxi_boosted *model, const float *row, double want)
{
    const double got = pxi_boosted_score(model, row);
    if (!(fabs(got - want) < 1e-12))
        fail_msg("row %g: %.15g, not %.15g", (double)row[0], got, want);
}

static void test_by_hand(void **state)
{
    (void)state;
    /* one cut; the second feature is the same and comes later; g = +-1/2, h = 1/4 */
    static const float two[] = {0, 0, 0, 0, 1, 1, 1, 1};
    static const bool half[] = {false, false, true, true};
    pxi_boost_options options = by_hand(1, 1);
    pxi_boosted *model = fit(two, half, 4, 2, &options);
    double gains[2];
    pxi_boosted_gains(model, gains);
    assert_true(fabs(gains[0] - 4.0 / 3.0) < 1e-12 && gains[1] == 0.0);
    assert_score(model, &two[0], -2.0 / 3.0);
    assert_score(model, &two[4], 2.0 / 3.0);
    static const float near_left[] = {0.5f, 9}, near_right[] = {0.50001f, -9}, none[] = {NAN, 0};
    assert_score(model, near_left, -2.0 / 3.0);
    assert_score(model, near_right, 2.0 / 3.0);
    assert_score(model, none, 2.0 / 3.0);
    pxi_boosted_free(model);

    /* a second tree on what the first left */
    options = by_hand(2, 3);
    model = fit(two, half, 4, 2, &options);
    const double p = 1.0 / (1.0 + exp(-2.0 / 3.0));
    assert_score(model, &two[4], 2.0 / 3.0 + 2.0 * (1.0 - p) / (2.0 * p * (1.0 - p) + 1.0));
    pxi_boosted_free(model);

    /* an uneven start, ln 1/3: g = 1/4 or -3/4, h = 3/16; leaves of 3 and of 1 */
    static const float four[] = {0, 1, 2, 3};
    static const bool last[] = {false, false, false, true};
    options = by_hand(1, 1);
    model = fit(four, last, 4, 1, &options);
    assert_score(model, &four[2], log(1.0 / 3.0) - 0.48);
    assert_score(model, &four[3], log(1.0 / 3.0) + 0.75 / 1.1875);
    pxi_boosted_free(model);
    /* a leaf needs so much hessian: the cut moves to the middle, or there is none */
    options.min_hessian = 0.3;
    model = fit(four, last, 4, 1, &options);
    assert_score(model, &four[1], log(1.0 / 3.0) - 0.5 / 1.375);
    assert_score(model, &four[2], log(1.0 / 3.0) + 0.5 / 1.375);
    pxi_boosted_free(model);
    static const bool first[] = {true, false, false, false};
    model = fit(four, first, 4, 1, &options);
    assert_score(model, &four[1], log(1.0 / 3.0) + 0.5 / 1.375);
    pxi_boosted_free(model);
    options.min_hessian = 1.0;
    model = fit(four, last, 4, 1, &options);
    assert_score(model, &four[0], log(1.0 / 3.0));
    assert_score(model, &four[3], log(1.0 / 3.0));
    pxi_boosted_free(model);

    /* NaN is above all numbers, and may be told from them */
    static const float holes[] = {5, INFINITY, NAN, NAN};
    options = by_hand(1, 1);
    model = fit(holes, half, 4, 1, &options);
    assert_score(model, &holes[0], -2.0 / 3.0);
    assert_score(model, &holes[1], -2.0 / 3.0);
    assert_score(model, &holes[2], 2.0 / 3.0);
    pxi_boosted_free(model);
}

/* As make_boosted_trees.py makes them. */
static int make_rows(unsigned grid, float *x, bool *y)
{
    int yes = 0;
    for (uint32_t i = 0; i < N; i++) {
        float *row = x + i * D, u[D];
        for (uint32_t j = 0; j < D; j++) {
            row[j] = (float)stats_value(i * D + j, 9, grid);
            u[j] = row[j] / (grid ? (float)(grid - 1) : 1.0f);
        }
        const double signal = 2.0 * (double)u[0] - 1.0 +
                              (2.0 * (double)u[1] - 1.0) * (2.0 * (double)u[2] - 1.0) * 2.0 +
                              (u[3] > 0.75f);
        y[i] = stats_value(i, 10, 0) < 1.0 / (1.0 + exp(-3.0 * signal));
        yes += y[i];
    }
    return yes;
}

static double auc(const double *score, const bool *y, size_t n)
{
    double won = 0.0, pairs = 0.0;
    for (size_t i = 0; i < n; i++)
        for (size_t k = 0; k < n; k++)
            if (y[i] && !y[k]) {
                won += score[i] > score[k] ? 1.0 : score[i] == score[k] ? 0.5 : 0.0;
                pairs++;
            }
    return won / pairs;
}

static void score_rows(const pxi_boosted *model, const float *x, double *scores)
{
    for (size_t i = 0; i < HALF; i++)
        scores[i] = pxi_boosted_score(model, x + i * D);
}

static void test_scikit_learn(void **state)
{
    (void)state;
    static float x[N * D];
    static bool y[N];
    static double scores[HALF];
    pxi_boost_options options = pxi_boost_options_default();
    options.columns = 1.0;
    options.min_hessian = 1e-3; /* scikit-learn's, which it does not let one set */
    assert_int_equal(make_rows(13, x, y), COARSE_YES);
    pxi_boosted *model = fit(x, y, HALF, D, &options);
    score_rows(model, x + HALF * D, scores);
    pxi_boosted_free(model);
    /* its gradients are float32: a near tie may go the other way, and moves a few rows a little */
    size_t apart = 0;
    for (size_t i = 0; i < PX_LEN(coarse_scores); i++) {
        const double difference = fabs(scores[i] - coarse_scores[i]);
        apart += difference <= 1e-4 ? 0 : 1;
        if (!(difference <= 0.1))
            fail_msg("row %zu: %.9g, not %.9g", i, scores[i], coarse_scores[i]);
    }
    if (apart > PX_LEN(coarse_scores) / 20)
        fail_msg("%zu of %zu scores differ", apart, PX_LEN(coarse_scores));
    assert_true(fabs(auc(scores, y + HALF, HALF) - coarse_auc) < 1e-4);

    options = pxi_boost_options_default(); /* as PRIMA has them */
    options.columns = 1.0;
    assert_int_equal(make_rows(0, x, y), FINE_YES);
    model = fit(x, y, HALF, D, &options);
    score_rows(model, x + HALF * D, scores);
    pxi_boosted_free(model);
    const double got = auc(scores, y + HALF, HALF);
    if (!(got > fine_auc - 0.005))
        fail_msg("AUC %.6f, scikit-learn's %.6f", got, fine_auc);
}

static void test_threads_and_seeds(void **state)
{
    (void)state;
    static float x[N * D];
    static bool y[N];
    static double scores[4][HALF];
    make_rows(0, x, y);
    for (int k = 0; k < 4; k++) {
        pxi_boost_options options = pxi_boost_options_default();
        options.trees = 20;
        options.bins = k == 3 ? 16 : 256;
        options.threads = k == 1 ? 3 : 1;
        options.seed = k == 2 ? 7 : 1;
        pxi_boosted *model = fit(x, y, HALF, D, &options);
        score_rows(model, x + HALF * D, scores[k]);
        pxi_boosted_free(model);
        assert_true(auc(scores[k], y + HALF, HALF) > 0.8);
    }
    assert_memory_equal(scores[0], scores[1], sizeof scores[0]);
    assert_memory_not_equal(scores[0], scores[2], sizeof scores[0]);
    assert_memory_not_equal(scores[0], scores[3], sizeof scores[0]);
}

static void test_refused(void **state)
{
    (void)state;
    static const float x[] = {0, 1};
    static const bool all[] = {true, true}, both[] = {true, false};
    pxi_boosted *model = NULL;
    px_error err = {0};
    pxi_boost_options options = pxi_boost_options_default();
    assert_int_equal(pxi_boosted_fit(x, all, 2, 1, &options, &model, &err), PX_E_INPUT);
    assert_int_equal(pxi_boosted_fit(x, both, 0, 1, &options, &model, &err), PX_E_INPUT);
    assert_int_equal(pxi_boosted_fit(x, both, 2, 0, &options, &model, &err), PX_E_INPUT);
    options.depth = 17;
    assert_int_equal(pxi_boosted_fit(x, both, 2, 1, &options, &model, &err), PX_E_USAGE);
    options = pxi_boost_options_default();
    options.bins = 257;
    assert_int_equal(pxi_boosted_fit(x, both, 2, 1, &options, &model, &err), PX_E_USAGE);
    assert_null(model);
    pxi_boosted_free(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_by_hand),
        cmocka_unit_test(test_scikit_learn),
        cmocka_unit_test(test_threads_and_seeds),
        cmocka_unit_test(test_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
