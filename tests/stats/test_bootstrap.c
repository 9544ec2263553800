/* tests/stats/test_bootstrap.c - intervals: their width, their seed, their coverage */
#include "cmocka_all.h"

#include "base/memory.h"
#include <internal/rng.h>
#include <internal/stats.h>

#include <math.h>

static px_interval run(const double *x, size_t count, px_bootstrap_options options)
{
    px_interval interval;
    px_error err = {0};
    assert_int_equal(px_bootstrap(x, count, &options, &interval, &err), PX_OK);
    return interval;
}

static void test_mean(void **state)
{
    (void)state;
    enum { N = 400 };
    double x[N];
    px_random random = px_rng(1, PX_RNG_TEST, 0, 0);
    for (size_t i = 0; i < N; i++)
        x[i] = px_rng_normal(&random);
    px_bootstrap_options options = px_bootstrap_options_default();
    options.resamples = 4000;
    const px_interval a = run(x, N, options), b = run(x, N, options);
    assert_true(a.low == b.low && a.high == b.high);
    const double half = 1.96 * px_standard_deviation(x, N) / sqrt(N), mean = px_mean(x, N);
    assert_true(fabs(a.low - (mean - half)) < 0.1 * half);
    assert_true(fabs(a.high - (mean + half)) < 0.1 * half);
    options.seed = 2;
    assert_true(run(x, N, options).low != a.low);
    options.seed = 0;
    options.stream = 1;
    assert_true(run(x, N, options).low != a.low);
    options.stream = 0;
    options.level = 0.5;
    const px_interval narrow = run(x, N, options);
    assert_true(narrow.low > a.low && narrow.high < a.high);
}

static double least(const double *values, size_t count, void *context)
{
    double best = INFINITY;
    (*(int *)context)++;
    for (size_t i = 0; i < count; i++)
        best = fmin(best, values[i]);
    return best;
}

static void test_statistic_and_edges(void **state)
{
    (void)state;
    static const double x[] = {3, 1, 2}, broken[] = {1, NAN};
    int calls = 0;
    px_bootstrap_options options = px_bootstrap_options_default();
    options.resamples = 200;
    options.statistic = least;
    options.context = &calls;
    const px_interval interval = run(x, 3, options);
    assert_true(interval.low == 1.0 && interval.high <= 3.0 && calls == 200);
    options.statistic = NULL;
    assert_true(isnan(run(x, 0, options).low) && isnan(run(broken, 2, options).high));
    const px_interval one = run(x, 1, options);
    assert_true(one.low == 3.0 && one.high == 3.0);
    px_interval untouched = {5, 6};
    px_error err = {0};
    options.level = 1.0;
    assert_int_equal(px_bootstrap(x, 3, &options, &untouched, &err), PX_E_USAGE);
    options.level = 0.9;
    options.resamples = 0;
    assert_int_equal(px_bootstrap(x, 3, &options, &untouched, &err), PX_E_USAGE);
    assert_true(untouched.low == 5 && untouched.high == 6);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_mean),
                                       cmocka_unit_test(test_statistic_and_edges)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
